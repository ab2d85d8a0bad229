"""The static page: HTML, JavaScript and the solver as one WebAssembly module, for any web server, file host or disk."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from .wasm import kept, module

PAGE = Path(__file__).parent / "page"
SHARED = Path(__file__).parent / "assets"
"""What the server's pages use too."""

MODULE = "pnono.wasm"


def layout() -> dict[str, Any]:
    """Where numbers stand that the page and the module share, and what they mean; see solver.js."""
    from PIL.ImageColor import colormap

    from ..attempt import STAGES, Plan
    from ..formats.common.shades import APART
    from ..formats.json import PAIRS
    from ..kernels import board, workspace
    from ..kernels.fit import FITS
    from ..kernels.layout import FIRST_LEVELS
    from ..kernels.solve import LINE_BIT, PROBE_BIT, SEARCH_BIT

    counts = [""] * board.N_COUNTS
    for name in ("n_rounds", "n_lines", "n_probes", "n_branches", "n_conflicts", "n_skipped", "witness", "n_depth"):
        counts[getattr(board, name.upper()) - board.COUNTS] = name
    status = {name: int(getattr(board, name)) for name in ("OPEN", "SOLVED", "CONTRADICTION", "FULL_STACK", "SPENT")}
    return {
        "places": workspace.PLACE,
        "size": len(workspace.FIELDS),
        "families": workspace.FAMILIES,
        "status": status | {"FITS": FITS},
        "stages": STAGES,
        "counts": counts,
        "lines": LINE_BIT,
        "all": LINE_BIT | PROBE_BIT | SEARCH_BIT,
        "levels": FIRST_LEVELS,
        "probes": Plan().probes,
        "pairs": PAIRS,
        "apart": APART,
        "shades": {name: int(shade[1:], 16) for name, shade in colormap.items() if isinstance(shade, str)},
    }


def is_made() -> bool:
    """True when the module need not be made first."""
    place = kept()
    return place is not None and place.exists()


def files() -> dict[str, bytes]:
    """The page as contents by file name. Errors: NoTool."""
    wasm = module()
    own = [path for path in sorted(PAGE.iterdir()) if path.suffix in (".css", ".html", ".js")]
    made = {path.name: path.read_bytes() for path in (*own, SHARED / "style.css", SHARED / "icon.svg")}
    made["grid.js"] = _classic((SHARED / "grid.js").read_text(encoding="utf-8")).encode()
    made["layout.js"] = f"const LAYOUT = {json.dumps(layout())};\n".encode()
    made[MODULE] = wasm
    made[f"{MODULE}.js"] = f'globalThis.PNONO_WASM = "{base64.b64encode(wasm).decode()}";\n'.encode()
    return made


def _classic(text: str) -> str:
    """A module of JavaScript without imports, whose exports stand in its last line, as a classic script.

    A page that is opened from disk may load no modules.
    """
    body, _, names = text.rstrip().removesuffix("};").rpartition("export {")
    return f"const {{{names}}} = (() => {{\n{body}return {{{names}}};\n}})();\n"


def write(folder: Path) -> dict[str, int]:
    """Write the page into a folder, made if need be; other files in it stay. Returns the bytes of each file.

    Errors: NoTool; OSError.
    """
    made = files()
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in made.items():
        (folder / name).write_bytes(content)
    return {name: len(content) for name, content in made.items()}
