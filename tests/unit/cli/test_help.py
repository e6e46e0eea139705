"""Help that works for every command, and commands that start quickly."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import monitor
from monitor.cli import app

HEAVY = {"gensim", "lime", "pandas", "scipy", "sentence_transformers", "shap", "spacy", "torch"}


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command and group."""
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from _commands(below, (*path, name))


COMMANDS = list(_commands(typer.main.get_command(app)))


def test_the_commands_are_known() -> None:
    """The walk finds what it should, so that the tests below cannot pass by finding nothing."""
    assert {("run",), ("score",), ("records", "show"), ("config", "sample")} <= set(COMMANDS)


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: " ".join(path) or "hss-monitor")
def test_every_command_explains_itself(cli: Any, path: tuple[str, ...]) -> None:
    """A sentence, and every option with one of its own."""
    result = cli(*path, "--help")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Usage:")
    command = typer.main.get_command(app)
    for name in path:
        command = command.commands[name]  # type: ignore[attr-defined]  # a group has them
    assert command.help
    for option in command.params:
        assert getattr(option, "help", "") or option.param_type_name == "argument", option.name


def test_help_and_lists_load_no_heavy_library(config_file: Path) -> None:
    """They load for seconds; whoever asks at night has none to spare."""
    calls = [[*path, "--help"] for path in COMMANDS]
    calls += [["records", "list"], ["config", "show"], ["models", "list"], ["db", "check"]]
    calls += [["drift", "show"], ["thresholds", "show"], ["breaches", "list"]]
    script = (
        "import json, sys\n"
        "from monitor.__main__ import _run\n"
        "codes = [_run(call) for call in json.loads(sys.argv[1])]\n"
        f"print(*sorted({HEAVY!r} & sys.modules.keys()), file=sys.stderr)\n"
        "sys.exit(max(codes))"
    )
    told = subprocess.run(
        [sys.executable, "-c", script, json.dumps(calls)],
        cwd=Path(monitor.__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    # Notes for people come before it.
    assert (told.returncode, told.stderr.splitlines()[-1]) == (0, "")
