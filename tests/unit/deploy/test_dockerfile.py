"""What can be said of the Dockerfile without building it; `tests/acceptance/test_image.py` does."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
DOCKERFILE = REPOSITORY / "deploy" / "docker" / "Dockerfile"
TEXT = DOCKERFILE.read_text()


def test_hadolint_finds_nothing() -> None:
    """Not even a matter of style."""
    hadolint = shutil.which("hadolint") or str(Path(sys.executable).with_name("hadolint"))
    if not Path(hadolint).exists():
        pytest.skip("hadolint is not installed")
    done = subprocess.run([hadolint, str(DOCKERFILE)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_last_stage_runs_as_nobody_in_particular() -> None:
    """By number: Kubernetes cannot check `runAsNonRoot` against a name."""
    last = TEXT.rpartition("\nFROM ")[2]
    users = re.findall(r"^USER (.*)$", last, re.MULTILINE)
    assert users == ["10001:10001"]
    after = last.partition("USER ")[2]
    assert not re.search(r"^(RUN|COPY)", after, re.MULTILINE)


def test_every_stage_has_the_same_pinned_base() -> None:
    """The environment is made in the one and used in the other."""
    bases = re.findall(r"^FROM (\S+)", TEXT, re.MULTILINE)
    assert len(bases) == 2
    assert len(set(bases)) == 1
    assert re.fullmatch(r"python:3\.11\.\d+-slim-bookworm", bases[0])


def test_what_is_copied_is_there_and_reaches_the_builder() -> None:
    """`.dockerignore` leaves everything out but what is named in it."""
    lines = (REPOSITORY / ".dockerignore").read_text().splitlines()
    kept = {line.removeprefix("!") for line in lines if line.startswith("!")}
    copied = [
        source
        for words in re.findall(r"^COPY (?!--from)(.*)$", TEXT, re.MULTILINE)
        for source in words.split()[:-1]
    ]
    assert copied
    for source in copied:
        assert (REPOSITORY / source).exists(), source
        assert any(fnmatch(source, pattern) for pattern in kept), source
    assert kept == set(copied)


def test_the_wheel_is_built_from_all_that_it_needs() -> None:
    """What pyproject.toml packs has to be in the build stage."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    forced = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    copied = re.findall(r"^COPY (?!--from)(.*)$", TEXT, re.MULTILINE)
    sources = [source for words in copied for source in words.split()[:-1]]
    for needed in (*forced, project["project"]["readme"]):
        assert any(needed == each or needed.startswith(f"{each}/") for each in sources), needed


def test_extras_of_the_image_exist() -> None:
    """pip only warns of an unknown extra."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    [extras] = re.findall(r"^ARG EXTRAS=(\S+)$", TEXT, re.MULTILINE)
    assert set(extras.split(",")) <= set(project["project"]["optional-dependencies"])


def test_the_image_asks_its_own_health() -> None:
    """Docker's counterpart of the probes; it depends on nothing remote."""
    assert re.search(r"^HEALTHCHECK .*\\\n\s+CMD .*127\.0\.0\.1:8318/healthz", TEXT, re.MULTILINE)
