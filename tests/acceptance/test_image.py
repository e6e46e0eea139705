"""The Dockerfile's own instructions, carried out without an engine.

Its base image is not to be had without one, so a Debian made with debootstrap stands in for it,
and packages come from a folder of wheels instead of the network. All else is what a build does:
the same commands, the same copies within what `.dockerignore` leaves; and then what a container
does: the same entry point as the same user, in a root file system that cannot be written.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).resolve().parents[2]
DOCKERFILE = REPOSITORY / "deploy" / "docker" / "Dockerfile"
PORT = 8318


def instructions() -> list[tuple[str, str]]:
    """(instruction, what follows), continued lines joined."""
    text = re.sub(r"^\s*#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in lines if line.strip()]


@dataclass
class Stage:
    """A root file system that instructions are carried out in."""

    root: Path
    environment: dict[str, str] = field(
        default_factory=lambda: {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
    )
    arguments: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    user: str = "0:0"
    settings: dict[str, str] = field(default_factory=dict)
    """ENTRYPOINT, CMD and HEALTHCHECK, as they are written."""

    def do(self, instruction: str, rest: str, stages: dict[str, Stage]) -> None:
        match instruction:
            case "ARG":
                name, _, value = rest.partition("=")
                self.arguments[name] = value.strip('"')
            case "ENV":
                for pair in shlex.split(rest):
                    name, _, value = pair.partition("=")
                    self.environment[name] = value.replace("$PATH", self.environment["PATH"])
            case "WORKDIR":
                self.folder = rest
                self.inside(rest).mkdir(parents=True, exist_ok=True)
            case "RUN":
                self.run("/bin/bash", "-o", "pipefail", "-c", rest)
            case "COPY":
                self._copy(rest.split(), stages)
            case "USER":
                self.user = rest
            case "ENTRYPOINT" | "CMD" | "HEALTHCHECK":
                self.settings[instruction] = rest
            case "SHELL" | "EXPOSE" | "VOLUME":
                pass
            case _:
                raise AssertionError(f"{instruction} is not known here")

    def inside(self, path: str) -> Path:
        return self.root / str(Path("/") / self.folder / path).lstrip("/")

    def run(self, *command: str) -> None:
        environment = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/wheels", "HOME": "/root"}
        told = [
            f"{k}={v}" for k, v in {**environment, **self.arguments, **self.environment}.items()
        ]
        inner = shlex.join(["env", "-i", *told, *command])
        subprocess.run(
            ["chroot", self.root, "/bin/sh", "-c", f"cd {self.folder} && exec {inner}"],
            check=True,
            timeout=900,
        )

    def _copy(self, words: list[str], stages: dict[str, Stage]) -> None:
        flags = [word for word in words if word.startswith("--")]
        *sources, target = [word for word in words if not word.startswith("--")]
        if flags:
            [flag] = flags
            origin = stages[flag.removeprefix("--from=")].root
        else:
            origin = REPOSITORY
        for source in sources:
            found = origin / source.lstrip("/")
            if not flags:
                assert not ignored(source), f"{source} is left out by .dockerignore"
            into = self.inside(target)
            into = into / found.name if target.endswith("/") else into
            into.parent.mkdir(parents=True, exist_ok=True)
            if found.is_dir():
                skip = shutil.ignore_patterns("__pycache__") if not flags else None
                shutil.copytree(found, into, symlinks=True, dirs_exist_ok=True, ignore=skip)
            else:
                shutil.copy2(found, into)


def ignored(path: str) -> bool:
    """Whether `.dockerignore` keeps a path from the builder; the last line that fits decides."""
    answer = False
    for line in (REPOSITORY / ".dockerignore").read_text().splitlines():
        pattern = line.strip().removeprefix("!")
        if not pattern or pattern.startswith("#"):
            continue
        if fnmatch(path, pattern) or path.startswith(f"{pattern}/"):
            answer = not line.strip().startswith("!")
    return answer


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that the build installs, fetched by the pip that is set up here."""
    folder = tmp_path_factory.mktemp("wheels")
    constraints = str(REPOSITORY / "deploy" / "constraints.txt")
    wanted = ["torch", f"{REPOSITORY}[embedded,postgres]", "hatchling>=1.27"]
    for each in wanted:
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "wheel",
                "--quiet",
                "-w",
                folder,
                "-c",
                constraints,
                each,
            ],
            check=True,
            timeout=900,
        )
    next(folder.glob("hss_monitor-*.whl")).unlink()  # the build makes its own
    return folder


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Stage:
    """The last stage, built."""
    if os.getuid() != 0 or not shutil.which("debootstrap"):
        pytest.skip("needs root and debootstrap")
    folder = tmp_path_factory.mktemp("image")
    base = folder / "base"
    included = "--include=python3,python3-venv,ca-certificates"
    subprocess.run(
        ["debootstrap", "--variant=minbase", included, "bookworm", base],
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=900,
    )
    (base / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    stages: dict[str, Stage] = {}
    for instruction, rest in instructions():
        if instruction == "FROM":
            image, _, name = rest.partition(" AS ")
            assert re.fullmatch(r"python:3\.11\.\d+-slim-bookworm", image)
            stage = Stage(root=folder / (name or "last"))
            subprocess.run(["cp", "-a", base, stage.root], check=True)
            shutil.copytree(wheels, stage.root / "wheels", copy_function=os.link)
            stages[name or "last"] = stage
        else:
            stage.do(instruction, rest, stages)
    return stages["last"]


@pytest.fixture(scope="module")
def container(image: Stage) -> Iterator[subprocess.Popen[bytes]]:
    """The entry point in the built root, read-only but for /tmp and the data folder."""
    root, data = image.root, image.inside("/var/lib/hss-monitor")
    told = [f"{name}={value}" for name, value in image.environment.items()]
    command = json.loads(image.settings["ENTRYPOINT"]) + json.loads(image.settings["CMD"])
    user, group = image.user.split(":")
    script = f"""
        set -e
        mount --bind {root} {root}
        mount -o remount,ro,bind {root}
        mount -t tmpfs -o mode=1777 tmpfs {root / "tmp"}
        mount -t tmpfs -o uid={user},gid={group} tmpfs {data}
        mount -t proc proc {root}/proc
        mount --bind /dev {root}/dev
        exec chroot --userspec={image.user} {root} /bin/sh -c \\
          'cd {image.folder} && exec env -i {shlex.join(told)} {shlex.join(command)}'
    """
    process = subprocess.Popen(["unshare", "--mount", "/bin/bash", "-c", script])
    yield process
    process.terminate()
    process.wait(60)


def wait_for(condition: Any, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.5)


def test_the_image_has_no_compiler_and_no_installer(image: Stage) -> None:
    """What a program cannot be built with, an intruder cannot build with either."""
    for program in ("gcc", "cc", "g++", "make", "ld"):
        assert not list(image.root.glob(f"usr/bin/{program}"))
    assert not (image.root / "opt/venv/bin/pip").exists()


def test_a_container_scores_without_writing_to_its_root(
    image: Stage, container: subprocess.Popen[bytes]
) -> None:
    """The embedded models are baked in, and load from a root that cannot be written."""
    url = f"http://127.0.0.1:{PORT}"

    def healthy() -> bool:
        assert container.poll() is None
        try:
            return httpx.get(f"{url}/healthz").status_code == 200
        except httpx.TransportError:
            return False

    wait_for(healthy, 60)
    probe = json.loads(image.settings["HEALTHCHECK"].partition("CMD ")[2])
    image.run(*probe)
    record = {
        "id": "one",
        "document": "The council of the old town approved a new bridge over the river on Monday. "
        "Work begins in spring and will cost four million pounds. Residents had asked for it "
        "for many years, as the old bridge is narrow and closed to heavy vehicles.",
        "summary": "The council approved a new bridge.",
        "service": "newsroom",
        "model": "m-1",
    }
    taken = httpx.post(f"{url}/v1/records", json=record).json()
    assert taken == {"accepted": 1, "sampled": 1, "rejected": []}
    wait_for(
        lambda: 'hss_queue_records{state="scored"} 1.0' in httpx.get(f"{url}/metrics").text, 120
    )
    status = Path(f"/proc/{container.pid}/status").read_text()
    assert re.search(r"^Uid:\s+10001\s+10001", status, re.MULTILINE)
