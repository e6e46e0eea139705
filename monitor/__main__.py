"""`python -m monitor` and the `hss-monitor` command: run, and turn errors into exit codes."""

from __future__ import annotations

import sys
import traceback
from typing import Any

import typer

from monitor.cli import app
from monitor.errors import MonitorError

_WrongArguments: Any = typer.BadParameter.__mro__[2]
"""`ClickException`, the base of what Typer says about arguments: click's own class in older
versions of Typer, a private copy of it in newer ones."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 ok, 1 finding, 2 usage, 3 dependency, 70 internal error.

    Click ends with 1 when a command crashes, which would read as a finding; hence our own.
    """
    sys.exit(_run(arguments))


def _run(arguments: list[str] | None) -> int:
    try:
        result = app(arguments, standalone_mode=False)
    except typer.Abort:
        print("interrupted", file=sys.stderr)  # noqa: T201 -- the last words of the command line
        return 130
    except _WrongArguments as error:
        error.show()
        return 2
    except MonitorError as error:
        print(f"hss-monitor: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    except SystemExit as error:
        # The reader of our output has gone (`| head`): closing quietly is what it expects, and
        # Typer's 1 would read as a finding.
        if isinstance(error.__context__, BrokenPipeError):
            return 0
        raise
    except Exception:  # everything else is a defect, and must not look like a finding
        traceback.print_exc()
        print("hss-monitor: internal error, see above", file=sys.stderr)  # noqa: T201
        return 70
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    main()
