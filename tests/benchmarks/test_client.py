"""The effect of `monitor.client` on the latency of the demo's summarization service.

pytest tests/benchmarks/test_client.py -m slow -s
"""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import pytest

from monitor.demo.news import news_documents
from monitor.demo.traffic import PROMPT

pytestmark = pytest.mark.slow

ROUNDS, REQUESTS = 6, 100
SERVICE = '''
import asyncio, json, socket, sys
import uvicorn
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from monitor.client import AsyncClient
from monitor.demo.news import news_documents
from monitor.demo.releases import Release
from monitor.demo.service import create_app, document_of

listener = socket.socket(fileno=int(sys.argv[1]))
app = create_app(exporter=InMemorySpanExporter, release=Release.GOOD, stock=["A sentence."])
if len(sys.argv) > 2:
    client = AsyncClient(sys.argv[2], service="demo", model="demo-news-1")
    served = app

    async def app(scope, receive, send):
        """Hands every summary over once it was sent, as a service would."""
        asked, answered = [], []

        async def hear():
            message = await receive()
            asked.append(message.get("body", b""))
            return message

        async def tell(message):
            answered.append(message.get("body", b""))
            await send(message)

        await served(scope, hear, tell)
        if scope["type"] == "http":
            request = json.loads(b"".join(asked))
            answer = json.loads(b"".join(answered))
            summary = answer["choices"][0]["message"]["content"]
            client.send(document_of(request["messages"]), summary, request=request)

uvicorn.Server(uvicorn.Config(app, access_log=False, lifespan="off")).run(sockets=[listener])
'''
SIDECAR = """
import socket, sys
import uvicorn
from fastapi import FastAPI

app = FastAPI()

@app.post("/v1/records")
async def records():
    return {"accepted": 1, "sampled": 0, "rejected": []}

listener = socket.socket(fileno=int(sys.argv[1]))
uvicorn.Server(uvicorn.Config(app, access_log=False, lifespan="off")).run(sockets=[listener])
"""


@contextmanager
def served(code: str, *arguments: str) -> Iterator[int]:
    """A program that serves on a port of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.set_inheritable(True)
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(listener.fileno()), *arguments],
            pass_fds=[listener.fileno()],
            stderr=subprocess.DEVNULL,
        )
        try:
            yield listener.getsockname()[1]
        finally:
            process.terminate()
            process.wait(20)


def _median(port: int, bodies: list[bytes]) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    took = []
    for body in bodies:
        began = time.perf_counter()
        connection.request("POST", "/v1/chat/completions", body)
        response = connection.getresponse()
        response.read()
        assert response.status == 200
        took.append(time.perf_counter() - began)
    connection.close()
    return median(took)


def test_the_median_latency_grows_by_less_than_a_millisecond(tmp_path: Path) -> None:
    """A service is not slowed down by its monitoring, also where the sidecar is away or hangs."""
    bodies = [
        json.dumps(
            {"model": "demo-news-1", "messages": [{"role": "user", "content": PROMPT + text}]}
        ).encode()
        for text in news_documents()[:REQUESTS]
    ]
    # A socket that nobody accepts from hangs; a port that nobody listens on refuses.
    with socket.create_server(("127.0.0.1", 0)) as hanging, socket.socket() as away:
        away.bind(("127.0.0.1", 0))
        hangs = f"http://127.0.0.1:{hanging.getsockname()[1]}"
        refuses = f"http://127.0.0.1:{away.getsockname()[1]}"
        with (
            served(SIDECAR) as sidecar,
            served(SERVICE) as alone,
            served(SERVICE, f"http://127.0.0.1:{sidecar}") as up,
            served(SERVICE, refuses) as down,
            served(SERVICE, hangs) as stuck,
        ):
            ports = {"alone": alone, "up": up, "down": down, "hanging": stuck}
            # Taken in turns, so that whatever else the machine does meets all alike.
            for port in ports.values():
                _median(port, bodies[:20])
            rounds = [
                {name: _median(port, bodies) for name, port in ports.items()} for _ in range(ROUNDS)
            ]
    medians = {name: median(each[name] for each in rounds) for name in ports}
    sys.stdout.write(f"{ {name: f'{1000 * value:.3f} ms' for name, value in medians.items()} }\n")
    assert all(value - medians["alone"] < 0.001 for value in medians.values())
