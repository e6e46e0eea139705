"""Runbooks: one for each alert, with commands that exist."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
import typer
from fastapi import FastAPI
from fastapi.testclient import TestClient

from monitor.cli import app
from monitor.mixin.alerts import Alert
from monitor.mixin.runbooks import runbooks, runbooks_router

SECTIONS = ("**Means:**", "**Do first", "**Likely causes", "**Silence rightly:**", "**When it is")


def test_every_alert_has_a_runbook_and_every_runbook_an_alert(rules: list[Alert]) -> None:
    """A link that leads nowhere is found at 3 a.m."""
    assert set(runbooks()) == {alert.name for alert in rules}


@pytest.mark.parametrize("name", sorted(runbooks()))
def test_a_runbook_answers_the_same_questions(name: str) -> None:
    """What it means, three things to do first, why, how to silence, when it is wrong."""
    text = runbooks()[name]
    assert text.startswith(f"# {name}\n")
    assert [section for section in SECTIONS if text.count(section) != 1] == []
    steps = text.partition("**Do first")[2].partition("**Likely causes")[0]
    assert re.findall(r"^(\d)\.", steps, flags=re.M) == ["1", "2", "3"]


def _commands(text: str) -> list[list[str]]:
    flat = re.sub(r"\s+", " ", text)
    return [shlex.split(found) for found in re.findall(r"`hss-monitor ([^`]+)`", flat)]


@pytest.mark.parametrize("name", sorted(runbooks()))
def test_its_commands_exist(name: str) -> None:
    """Sub-commands and options are those of this version; nothing is run."""
    commands = _commands(runbooks()[name])
    assert commands
    for words in commands:
        command: Any = typer.main.get_command(app)
        while hasattr(command, "commands"):
            command = command.commands[words.pop(0)]
        options = {option for parameter in command.params for option in parameter.opts}
        options |= {o for parameter in command.params for o in parameter.secondary_opts}
        assert [word for word in words if word.startswith("-") and word not in options] == []


def test_the_sidecar_serves_them() -> None:
    """Where people work without the internet the alert's link still works."""
    served = FastAPI()
    served.include_router(runbooks_router())
    client = TestClient(served)
    answer = client.get("/runbooks/HssDrift.md")
    assert (answer.status_code, answer.text) == (200, runbooks()["HssDrift"])
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert client.get("/runbooks/HssNothing.md").status_code == 404
