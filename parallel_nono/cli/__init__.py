"""The command line: arguments to options to calls. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from .. import __version__
from ..start import prepare
from . import debug
from .commands import LINES, Commands
from .config import load
from .exits import MEANINGS, Code, Failure

EXIT_CODES = "\n".join(f"{code:>5}  {meaning}" for code, meaning in MEANINGS.items())


class Group(TyperGroup):
    """The program: its commands are imported when they are wanted, and every way in which one can fail becomes one
    line on stderr and an exit code."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": Commands()})

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """As typer does, without a command."""
        limit = formatter.width - 6 - max(map(len, LINES))
        rows = [(name, TyperCommand(name, help=line).get_short_help_str(limit)) for name, line in LINES.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

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
        except Exception as error:
            if hasattr(error, "format_message"):  # typer's own: the command line is wrong
                raise
            _fail(ctx, *_meaning(error))


def _meaning(error: Exception) -> tuple[Code, str]:
    """The exit code of what ended a command, and the line for people."""
    from ..batch.options import InvalidOption
    from ..extras import EXTRAS, missing
    from ..kernels.native import NoMachineCode
    from ..puzzle import InvalidPuzzle
    from .common import failure_of

    match error:
        case Failure():
            return error.code, str(error)
        case InvalidOption():
            return Code.USAGE, str(failure_of(error))
        case InvalidPuzzle():
            return Code.INVALID, str(error)
        case OSError():
            return _of_os(error)
        case NoMachineCode():
            return Code.UNAVAILABLE, str(error)
        case ImportError() if (module := (error.name or "").partition(".")[0]) in EXTRAS:
            return Code.UNAVAILABLE, missing(module)
        case _:  # the last line of defence: whatever else goes wrong is a fault of ours
            return Code.BUG, _internal(error)


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
    from ..pictures.door import say

    say(f"pnono: {message}", file=sys.stderr)


def _version(wanted: bool) -> None:
    if wanted:
        from ..pictures.door import say

        say(f"pnono {__version__}")
        raise typer.Exit(Code.FINE)


def _debug(context: typer.Context, wanted: bool) -> bool:
    debug.wanted = debug.wanted or wanted
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


def command() -> Any:
    """The whole command line, `--config` and `--debug` allowed before and after the name of a command."""
    group: Any = typer.main.get_command(app)
    group.commands.share(group.params)
    return group


def entry() -> None:
    """Entry point of `pnono`."""
    prepare()
    main()


def main(arguments: list[str] | None = None) -> None:
    """The command line; always ends in SystemExit."""
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    debug.wanted = False
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
