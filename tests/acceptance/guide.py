"""A guide's own blocks, and a stub of an OpenAI-compatible model for its code to call."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

GUIDES = Path(__file__).resolve().parents[2] / "deploy" / "guides"
SIDECAR = "http://127.0.0.1:8318"
"""As every guide writes it."""
SUMMARY = "The council approved a new bridge over the river. It will cost four million pounds."


class Guide:
    """A page whose fenced blocks are named behind their language: ```python summarize.py."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.text = (GUIDES / f"{name}.md").read_text()
        self.blocks: dict[str, str] = {
            found[1]: found[2]
            for found in re.finditer(r"^```\w+ (\S+)\n(.*?)^```$", self.text, re.M | re.S)
        }

    def packages(self) -> list[str]:
        """What its install command installs."""
        words = shlex.split(self.blocks["install"])
        assert words[:2] in (["pip", "install"], ["npm", "install"])
        return words[2:]

    def environment(self, sidecar: str) -> dict[str, str]:
        """The variables that it exports, for a sidecar elsewhere."""
        lines = self.blocks.get("environment", "").splitlines()
        pairs = [line.removeprefix("export ").partition("=") for line in lines]
        return {name: value.replace(SIDECAR, sidecar) for name, _, value in pairs}

    def program(self) -> tuple[str, str]:
        """File name and text of its code."""
        [(name, code)] = [
            item for item in self.blocks.items() if item[0].endswith((".py", ".cjs", ".mjs"))
        ]
        return name, code

    def write(self, folder: Path) -> Path:
        name, code = self.program()
        (folder / name).write_text(code)
        return folder / name

    def install(self, folder: Path) -> list[str]:
        """Install what it says into a place of its own; the interpreter that then runs it."""
        if "npm install" in self.blocks["install"]:
            npm = shutil.which("npm") or "npm"
            (folder / "package.json").write_text("{}")
            subprocess.run(
                [npm, "install", "--silent", "--no-audit", "--no-fund", *self.packages()],
                cwd=folder,
                check=True,
                timeout=600,
            )
            return ["node"]
        python = folder / "venv" / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *self.packages()], check=True, timeout=600
        )
        return [str(python)]


def surroundings() -> dict[str, str]:
    """The environment of a service: nothing of this one's that its libraries would read."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OTEL_", "OPENAI_", "TRACELOOP_", "OPENINFERENCE_", "PYTHON"))
        and not name.lower().endswith("_proxy")
    }


@contextmanager
def stub_model() -> Iterator[str]:
    """The base URL of a model that always answers with the same summary."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer: dict[str, Any] = {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1_790_000_000,
                "model": asked["model"],
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": "stop",
                        "message": {"role": "assistant", "content": SUMMARY, "refusal": None},
                        "logprobs": None,
                    }
                ],
                "usage": {"prompt_tokens": 90, "completion_tokens": 20, "total_tokens": 110},
            }
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
