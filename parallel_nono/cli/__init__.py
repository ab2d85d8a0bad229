"""The command line: arguments to options to calls. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import os
import sys
from copy import copy
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from ..batch.options import InvalidOption
from ..extras import EXTRAS, missing
from ..pictures.door import say
from ..puzzle import InvalidPuzzle
from ..start import prepare
from .check import check
from .cnf import cnf
from .common import failure_of
from .compact import compact
from .compare import compare
from .config import COMMON, load
from .convert import convert
from .draw import draw
from .exits import MEANINGS, Code, Failure
from .fetch import fetch
from .formats import formats
from .from_image import from_image
from .generate import generate
from .line import line
from .lint import lint
from .packs import pack, unpack
from .report import report
from .run import run
from .serve import serve
from .solve import solve
from .watch import watch
from .web import web

EXIT_CODES = "\n".join(f"{code:>5}  {meaning}" for code, meaning in MEANINGS.items())


class Group(TyperGroup):
    """The program: every way in which a command can fail becomes one line on stderr and an exit code."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except (typer.Exit, typer.Abort):
            raise
        except BrokenPipeError:
            _drop_output()
            raise typer.Exit(Code.PIPE) from None
        except KeyboardInterrupt:
            _fail(ctx, Code.INTERRUPTED, "interrupted")
        except Failure as failure:
            _fail(ctx, failure.code, str(failure))
        except InvalidOption as error:
            _fail(ctx, Code.USAGE, str(failure_of(error)))
        except InvalidPuzzle as error:
            _fail(ctx, Code.INVALID, str(error))
        except OSError as error:
            _fail(ctx, *_of_os(error))
        except ImportError as error:
            module = (error.name or "").partition(".")[0]
            if module not in EXTRAS:
                _fail(ctx, Code.BUG, _internal(error))
            _fail(ctx, Code.UNAVAILABLE, missing(module))
        except Exception as error:  # the last line of defence: whatever else goes wrong is a fault of ours
            if hasattr(error, "format_message"):  # typer's own: the command line is wrong
                raise
            _fail(ctx, Code.BUG, _internal(error))


def _internal(error: Exception) -> str:
    return f"internal error: {type(error).__name__}: {error} (the same with --debug shows where)"


def _fail(context: typer.Context, code: Code, message: str) -> None:
    if context.meta.get("pnono.debug"):
        import traceback

        traceback.print_exc()
    _say(message)
    raise typer.Exit(code)


def _of_os(error: OSError) -> tuple[Code, str]:
    """A failure of the system: without a file name it was the standard output."""
    what = error.strerror or str(error)
    if error.filename is None:
        _drop_output()
        return Code.UNWRITABLE, f"standard output: can't be written: {what}"
    return Code.INVALID, f"{os.fsdecode(error.filename)}: can't be read: {what}"


def _drop_output() -> None:
    """What is still buffered would fail again when Python closes the stream."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str) -> None:
    say(f"pnono: {message}", file=sys.stderr)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"pnono {__version__}")
        raise typer.Exit(Code.FINE)


def _debug(context: typer.Context, wanted: bool) -> bool:
    context.meta["pnono.debug"] = wanted or context.meta.get("pnono.debug", False)
    return wanted


app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode=None,  # plain text: quicker, and readable everywhere
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"\b\nExit codes:\n{EXIT_CODES}",
)


@app.callback()
def pnono(
    config: Annotated[
        Path | None,
        typer.Option("--config", is_eager=True, callback=load, help="TOML file with values for the options."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", is_eager=True, callback=_debug, help="Show tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """Solve, check, convert and generate nonograms; run thousands of them and keep the results.

    \b
    pnono run --workers 8 datasets/     try every puzzle, write one row for each
    pnono solve cat.non                 show the result of one
    pnono COMMAND --help                say more, with examples
    """


for _command in (
    run,
    report,
    compare,
    compact,
    solve,
    line,
    check,
    convert,
    pack,
    unpack,
    generate,
    formats,
    draw,
    from_image,
    lint,
    cnf,
    fetch,
    serve,
    watch,
):
    app.command()(_command)
app.add_typer(web, name="web")


def command() -> Any:
    """The whole command line, `--config` and `--debug` allowed before and after the name of a command."""
    group = typer.main.get_command(app)
    common = [copy(option) for option in group.params if option.name in COMMON]
    for option in common:
        option.expose_value = False
    for one in group.commands.values():  # type: ignore[attr-defined]
        for inner in (one, *getattr(one, "commands", {}).values()):
            inner.params += common
    return group


def entry() -> None:
    """Entry point of `pnono`."""
    prepare()
    main()


def main(arguments: list[str] | None = None) -> None:
    """The command line; always ends in SystemExit."""
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        code = command().main(arguments, "pnono", standalone_mode=False)
    except Failure as failure:  # of an option before the command
        _say(str(failure))
        code = failure.code
    except Exception as error:  # only typer's own errors come this far: the others end in `Group.invoke`
        if not hasattr(error, "format_message"):
            raise
        context = getattr(error, "ctx", None)
        place = context.command_path if context else "pnono"
        _say(f"{error.format_message()} (see `{place} --help`)")
        code = Code.USAGE
    except KeyboardInterrupt:  # before the command began
        code = Code.INTERRUPTED
    code = _flushed(code or 0)
    _leave_abandoned(code)
    sys.exit(code)


def _flushed(code: int) -> int:
    """The exit code, once what was printed last is out; else another one."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return code or Code.PIPE
    except OSError as error:
        what, message = _of_os(error)
        _say(message)
        return code or what
    return code


def _leave_abandoned(code: int) -> None:
    """End the process at once if an engine said so, and the processes that it started."""
    engines = sys.modules.get("parallel_nono.engine")
    if engines is not None and engines.ABANDONED:
        from .run import leave

        sys.stdout.flush()
        sys.stderr.flush()
        leave(code)
