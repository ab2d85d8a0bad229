#!/usr/bin/env bash
# An allocation of SLURM as a Ray cluster for one run: sbatch configs/clusters/slurm.sh set.parquet [OPTIONS of pnono run]
#
# `ray symmetric-run` starts the head on the first node and workers on the others, waits until all are there, runs
# pnono on the head, and takes everything down again. Submitted again after a time limit, the run goes on: --resume.
#
#SBATCH --job-name=pnono
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=32
#SBATCH --mem=64G
#SBATCH --time=12:00:00
#SBATCH --exclusive
# Two minutes before the limit pnono is told to end in order:
#SBATCH --signal=B:TERM@120
#SBATCH --output=pnono-%j.log
set -euo pipefail

BIN=${BIN:-$PWD/.venv/bin} # an environment on a disk that all nodes see
OUT=${OUT:-runs/slurm} # the same for the job that goes on
PORT=${PORT:-6379}

# The nodes are shared with strangers, so the cluster asks for a token, new for each job, that only we can read.
umask 077
export RAY_AUTH_MODE=token
export RAY_AUTH_TOKEN_PATH=$PWD/.pnono-token-$SLURM_JOB_ID
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' > "$RAY_AUTH_TOKEN_PATH"
trap 'rm -f "$RAY_AUTH_TOKEN_PATH"' EXIT
export RAY_USAGE_STATS_ENABLED=0

# Compiled kernels on a disk of the node, not on NFS.
export NUMBA_CACHE_DIR=${NUMBA_CACHE_DIR:-${TMPDIR:-/tmp}/pnono-$USER}

head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
workers=$((SLURM_JOB_NUM_NODES * SLURM_CPUS_PER_TASK - 1)) # one core for the driver

# The nodes all open the same paths, so only names travel: --shared-data.
srun --kill-on-bad-exit=0 "$BIN/ray" symmetric-run \
    --address "$head:$PORT" --min-nodes "$SLURM_JOB_NUM_NODES" \
    --num-cpus "$SLURM_CPUS_PER_TASK" --num-gpus 0 --disable-usage-stats -- \
    "$BIN/pnono" run --engine ray --address auto --workers "$workers" --shared-data --out "$OUT" --resume "$@" &

# The shell hears the signal and hands it on to all steps; pnono keeps what is done.
trap 'scancel --signal=TERM "$SLURM_JOB_ID"' TERM
wait $! || wait $!
