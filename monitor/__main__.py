"""`python -m monitor` and the `hss-monitor` command: run, and turn errors into exit codes."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from typing import Any

import typer

from monitor.cli import app
from monitor.cli.refusal import refusal
from monitor.errors import MonitorError

_WrongArguments: Any = typer.BadParameter.__mro__[2]
"""`ClickException`, the base of what Typer says about arguments: click's own class in older
versions of Typer, a private copy of it in newer ones."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Standard output, or a file that a command writes, has no room left."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 ok, 1 finding, 2 usage, 3 dependency, 70 internal error.

    Click ends with 1 when a command crashes, which would read as a finding; hence our own.
    """
    sys.exit(_run(arguments))


def _run(arguments: list[str] | None) -> int:
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal of another encoding shows `?` for what it lacks, and no crash.
        sys.stdout.reconfigure(errors="replace")
    try:
        result = app(arguments, standalone_mode=False)
    except typer.Abort:
        return _end("interrupted", 130)
    except _WrongArguments as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            return 2
        return _end(f"hss-monitor: {refusal(error)}", 2)
    except MonitorError as error:
        return _end(f"hss-monitor: {error}", error.exit_code)
    except SystemExit as error:
        # The reader of our output has gone (`| head`): closing quietly is what it expects, and
        # Typer's 1 would read as a finding.
        if isinstance(error.__context__, BrokenPipeError):
            return 0
        raise
    except OSError as error:
        if error.errno not in _FULL:
            return _defect()
        # What could not be written is still in the buffer, and would fail again on leaving.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return _end(f"hss-monitor: {error.strerror}; free some space", 3)
    except Exception:  # everything else is a defect, and must not look like a finding
        return _defect()
    return result if isinstance(result, int) else 0


def _defect() -> int:
    return _end(f"{traceback.format_exc()}hss-monitor: internal error, see above", 70)


def _end(last_words: str, code: int) -> int:
    """Say them and return the exit code, which holds also where standard error is full."""
    try:
        print(last_words, file=sys.stderr)  # noqa: T201 -- the last words of the command line
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    return code


if __name__ == "__main__":
    main()
