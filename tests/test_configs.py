"""The cluster files in `configs/clusters`: each is what the tool that reads it expects, and names no unknown option."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import ValidationError, validate

from parallel_nono import cli

CLUSTERS = Path(__file__).parents[1] / "configs/clusters"
FILES = sorted(path.name for path in CLUSTERS.iterdir())


def text(name: str) -> str:
    return (CLUSTERS / name).read_text(encoding="utf-8")


def commands(name: str, program: str) -> list[list[str]]:
    """All calls of a program in a file, its comments and its continued lines included."""
    whole = re.sub(r"\\\n\s*#?", " ", text(name))
    whole = re.sub(r">-\n", "", whole)
    found = re.findall(
        rf"""(?:^|[\s"'`/])(?:\$\{{BIN\}})?{program}["']? ([^`'\n&|;#]*(?:\n +--[^`'\n&|;#]*)*)""", whole
    )
    return [shlex.split(re.sub(r"\$\{?\w+[^ \"]*|\$@", "1", words.replace('"', ""))) for words in found]


def test_every_file_is_told_of() -> None:
    told = re.findall(r"(?m)^\| `([^`]+)`", text("README.md"))
    assert sorted([*told, "README.md"]) == FILES


@pytest.mark.parametrize("name", FILES)
def test_every_pnono_command_is_understood(name: str) -> None:
    known = cli.command().commands
    for words in commands(name, "pnono"):
        if words[:1] != ["run"]:
            continue
        if "--config" in words:  # read before the command is; see below
            del words[words.index("--config") : words.index("--config") + 2]
        arguments = [*words[1:], "puzzles.non"]
        with known["run"].make_context("run", arguments) as context:
            assert context.params["paths"]


def test_the_commands_are_found() -> None:
    """The test above must not pass because nothing was looked at."""
    counts = {name: len([words for words in commands(name, "pnono") if words[:1] == ["run"]]) for name in FILES}
    assert min(counts.values()) >= 1, counts
    assert commands("kuberay-rayjob.yaml", "pnono")[0][:6] == [
        *("run", "/puzzles/set.parquet", "--engine", "ray", "--address", "auto"),
    ]


def test_the_single_machine_file_is_a_configuration() -> None:
    with cli.command().make_context(
        "pnono", ["--config", str(CLUSTERS / "single-machine.toml"), "run", "puzzles.non"]
    ) as context:
        assert context.default_map is not None
        assert context.default_map["run"]["engine"] == "ray"
    options = tomllib.loads(text("single-machine.toml"))["run"]
    assert {"engine", "workers", "seconds", "memory", "resume"} == set(options)


def test_ray_accepts_the_file_for_a_cloud() -> None:
    import ray
    from ray.autoscaler._private.util import fillout_defaults, validate_config

    config = yaml.safe_load(text("cloud.yaml"))
    schema = json.loads((Path(ray.__file__).parent / "autoscaler/ray-schema.json").read_text())
    validate(config, schema)
    with pytest.raises(ValidationError):
        validate({**config, "min_worker": 3}, schema)
    filled = fillout_defaults(config)  # as `ray up` does
    validate_config(filled)
    with pytest.raises(ValueError):
        validate_config({**filled, "head_node_type": "none"})
    assert filled["available_node_types"]["worker"]["max_workers"] <= config["max_workers"]


def test_the_cloud_machines_ask_for_the_token() -> None:
    config = yaml.safe_load(text("cloud.yaml"))
    assert any(path.endswith(".ray/auth_token") for path in config["file_mounts"])
    assert any("RAY_AUTH_MODE=token" in command for command in config["setup_commands"])


CONTAINER = {
    "type": "object",
    "required": ["name", "image", "resources"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "image": {"type": "string"},
        "env": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "value"],
                "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
            },
        },
        "resources": {"type": "object", "required": ["limits", "requests"]},
        "volumeMounts": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "mountPath"],
                "additionalProperties": False,
                "properties": {
                    "name": {"type": "string"},
                    "mountPath": {"type": "string", "pattern": "^/"},
                    "readOnly": {"type": "boolean"},
                },
            },
        },
    },
}
POD = {
    "type": "object",
    "required": ["spec"],
    "additionalProperties": False,
    "properties": {
        "metadata": {"type": "object"},
        "spec": {
            "type": "object",
            "required": ["containers"],
            "additionalProperties": False,
            "properties": {
                "containers": {"type": "array", "minItems": 1, "items": CONTAINER},
                "volumes": {"type": "array", "items": {"type": "object", "required": ["name"]}},
            },
        },
    },
}
PARAMETERS = {
    "type": "object",
    "additionalProperties": {"type": "string"},
}  # numbers in quotes, or the API refuses them
NATURAL = {"type": "integer", "minimum": 0}
RAYJOB: dict[str, Any] = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "additionalProperties": False,
    "properties": {
        "apiVersion": {"const": "ray.io/v1"},
        "kind": {"const": "RayJob"},
        "metadata": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string", "pattern": "^[a-z0-9]([a-z0-9-]{0,45}[a-z0-9])?$"}},
        },
        "spec": {
            "type": "object",
            "required": ["entrypoint", "rayClusterSpec"],
            "additionalProperties": False,
            "properties": {
                "entrypoint": {"type": "string"},
                "runtimeEnvYAML": {"type": "string"},
                "submissionMode": {"enum": ["K8sJobMode", "HTTPMode", "InteractiveMode", "SidecarMode"]},
                "backoffLimit": NATURAL,
                "activeDeadlineSeconds": NATURAL,
                "shutdownAfterJobFinishes": {"type": "boolean"},
                "ttlSecondsAfterFinished": NATURAL,
                "rayClusterSpec": {
                    "type": "object",
                    "required": ["headGroupSpec"],
                    "additionalProperties": False,
                    "properties": {
                        "rayVersion": {"type": "string"},
                        "authOptions": {
                            "type": "object",
                            "additionalProperties": False,
                            "properties": {"mode": {"enum": ["disabled", "token"]}},
                        },
                        "headGroupSpec": {
                            "type": "object",
                            "required": ["rayStartParams", "template"],
                            "additionalProperties": False,
                            "properties": {"rayStartParams": PARAMETERS, "template": POD},
                        },
                        "workerGroupSpecs": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "required": ["groupName", "rayStartParams", "template"],
                                "additionalProperties": False,
                                "properties": {
                                    "groupName": {"type": "string"},
                                    "replicas": NATURAL,
                                    "minReplicas": NATURAL,
                                    "maxReplicas": NATURAL,
                                    "rayStartParams": PARAMETERS,
                                    "template": POD,
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}
"""The fields of the RayJob of KubeRay that are used here; a field that it does not know, it drops in silence."""


def test_the_rayjob_has_the_fields_of_kuberay_and_its_parts_fit() -> None:
    job = yaml.safe_load(text("kuberay-rayjob.yaml"))
    validate(job, RAYJOB)
    with pytest.raises(ValidationError):
        validate({**job, "spec": {**job["spec"], "entryPoint": "x"}}, RAYJOB)
    cluster = job["spec"]["rayClusterSpec"]
    assert cluster["authOptions"] == {"mode": "token"}
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    for group in groups:
        pod = group["template"]["spec"]
        mounted = {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["volumes"]}
    cores = int(groups[0]["rayStartParams"]["num-cpus"])
    cores += sum(
        group["replicas"] * int(group["template"]["spec"]["containers"][0]["resources"]["limits"]["cpu"])
        for group in groups[1:]
    )
    words = shlex.split(job["spec"]["entrypoint"])
    assert int(words[words.index("--workers") + 1]) == cores


def ray_options(command: str) -> set[str]:
    from ray.scripts import scripts

    return {option for parameter in scripts.cli.commands[command].params for option in parameter.opts}


@pytest.mark.parametrize("name", ["several-machines.sh", "slurm.sh", "cloud.yaml"])
def test_scripts_are_sound_and_ray_knows_their_options(name: str) -> None:
    if name.endswith(".sh"):
        assert os.access(CLUSTERS / name, os.X_OK)
        subprocess.run(["bash", "-n", CLUSTERS / name], check=True)
    known = {"symmetric-run": ray_options("start") | {"--min-nodes"}, "start": ray_options("start")}
    seen = 0
    lines = re.sub(r"\\\n", " ", text(name))
    for command, words in re.findall(r"""ray"? (start|symmetric-run)\b(.*)""", lines):
        words = words.partition(" -- ")[0]
        options = set(re.findall(r"(?<=\s)--[a-z-]+", words))
        assert options <= known[command], options - known[command]
        seen += 1
    assert seen


def test_the_script_for_several_machines_says_what_is_missing(tmp_path: Path) -> None:
    script = CLUSTERS / "several-machines.sh"
    environment = {**os.environ, "HOME": str(tmp_path), "BIN": str(Path(sys.executable).parent) + "/"}
    environment.pop("RAY_AUTH_TOKEN_PATH", None)
    ended = subprocess.run([script, "head"], capture_output=True, text=True, env=environment)
    assert (ended.returncode, ended.stdout) == (69, "")
    assert "no token in" in ended.stderr
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray/auth_token").write_text("x" * 32)
    for words, code in (([], 2), (["worker"], 1)):
        ended = subprocess.run([script, *words], capture_output=True, text=True, env=environment)
        assert ended.returncode == code
        assert "head" in ended.stderr


SBATCH = ("job-name", "nodes", "ntasks-per-node", "cpus-per-task", "mem", "time", "exclusive", "signal", "output")


def test_the_slurm_script_runs_one_head_and_as_many_workers_as_there_are_cores(tmp_path: Path) -> None:
    """With stand-ins for SLURM's programs and for ray, which write down what they are told."""
    assert set(re.findall(r"(?m)^#SBATCH --([a-z-]+)", text("slurm.sh"))) == set(SBATCH)
    (tmp_path / "bin").mkdir()
    for name, body in (
        ("scontrol", 'printf "n1\\nn2\\n"'),
        (
            "srun",
            'echo "$RAY_AUTH_MODE $(stat -c %a "$RAY_AUTH_TOKEN_PATH") $(wc -c < "$RAY_AUTH_TOKEN_PATH") $@" > told',
        ),
        ("scancel", "true"),
    ):
        path = tmp_path / "bin" / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "BIN": "/opt/bin",
        "USER": "someone",
        "SLURM_JOB_ID": "7",
        "SLURM_JOB_NODELIST": "n[1-2]",
        "SLURM_JOB_NUM_NODES": "2",
        "SLURM_CPUS_PER_TASK": "32",
    }
    command = [CLUSTERS / "slurm.sh", "set.parquet", "--seconds", "5"]
    subprocess.run(command, check=True, cwd=tmp_path, env=environment, timeout=30)
    mode, rights, size, *words = (tmp_path / "told").read_text().split()
    assert (mode, rights, size) == ("token", "600", "64")
    start, pnono = " ".join(words).split(" -- ")
    assert "/opt/bin/ray symmetric-run --address n1:6379 --min-nodes 2 --num-cpus 32" in start
    assert pnono.startswith("/opt/bin/pnono run --engine ray --address auto --workers 63 ")
    assert pnono.endswith("--resume set.parquet --seconds 5")
    assert not (tmp_path / ".pnono-token-7").exists()
