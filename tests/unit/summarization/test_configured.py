"""A local model is loaded through the same configuration as a real one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import spacy
import yaml

from monitor import configuration
from monitor.errors import ModelUnavailable
from monitor.records import Reason, SummaryTask
from monitor.settings import Settings
from monitor.summarizers import summarizer_of


@pytest.fixture
def configured(tmp_path: Path) -> Callable[..., Settings]:
    """Settings of a file with a `summarizer` section of kind seq2seq."""

    def settings(**seq2seq: Any) -> Settings:
        file = tmp_path / "hss-monitor.yaml"
        file.write_text(yaml.safe_dump({"summarizer": {"kind": "seq2seq", "seq2seq": seq2seq}}))
        return configuration.load(file)

    return settings


@pytest.mark.parametrize("num_beams", [1, 2])
def test_a_saved_model_summarizes_all_versions_in_one_call(
    configured: Any, tiny_bart: Path, num_beams: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K summaries from one batched generate, greedy (1 beam) and by beam search."""
    settings = configured(model=str(tiny_bart), num_beams=num_beams, max_new_tokens=8)
    summarizer: Any = summarizer_of(settings, spacy.blank("en"))
    batches: list[int] = []
    generate = summarizer.loaded.model.generate

    def counted(*args: Any, **named: Any) -> Any:
        batches.append(len(named["input_ids"]))
        return generate(*args, **named)

    monkeypatch.setattr(summarizer.loaded.model, "generate", counted)
    versions = [f"the council approved plan number {number}" for number in range(8)]
    answers = summarizer.summarize(
        [SummaryTask(document=text, original_document=text) for text in versions]
    )
    assert batches == [8]
    assert [answer.reason for answer in answers if answer.text is None] in (
        [],
        [Reason.EMPTY_SUMMARY] * sum(answer.text is None for answer in answers),
    )


@pytest.mark.parametrize(("policy", "cut"), [("truncate", True), ("skip", False)])
def test_a_document_over_the_models_limit_follows_the_policy(
    configured: Any, tiny_bart: Path, policy: str, cut: bool
) -> None:
    """The model takes 64 tokens; what happens to 500 words is chosen and recorded."""
    settings = configured(model=str(tiny_bart), num_beams=1, max_new_tokens=8, too_long=policy)
    text = "council " * 500
    (answer,) = summarizer_of(settings, spacy.blank("en")).summarize(
        [SummaryTask(document=text, original_document=text)]
    )
    assert answer.truncated is cut
    assert (answer.reason is Reason.TOO_LONG) is not cut


def test_a_missing_folder_names_key_value_and_remedy(configured: Any, tmp_path: Path) -> None:
    """The scorer must not fall back to a download or to another model."""
    missing = tmp_path / "no-model"
    with pytest.raises(ModelUnavailable, match="no-model"):
        summarizer_of(configured(model=str(missing)), spacy.blank("en"))


def test_a_gpu_that_is_not_there_is_told(
    configured: Any, tiny_bart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scorer that ran on the CPU instead would be many times slower, and say nothing."""
    monkeypatch.setenv("HSS_MONITOR__MODELS__DEVICE", "cuda")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ModelUnavailable, match=r"models\.device: 'cuda'"):
        summarizer_of(configured(model=str(tiny_bart)), spacy.blank("en"))


def test_the_configured_device_reaches_the_model(
    configured: Any, tiny_bart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that nothing reads would leave the GPU idle."""
    monkeypatch.setenv("HSS_MONITOR__MODELS__DEVICE", "cuda")
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    moved: list[str] = []
    monkeypatch.setattr("torch.nn.Module.to", lambda module, device: moved.append(device) or module)
    summarizer_of(configured(model=str(tiny_bart)), spacy.blank("en"))
    assert moved == ["cuda"]


class _Counting(BaseHTTPRequestHandler):
    """Tells a summary and how many tokens it took."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = b'{"summary": "short", "usage": {"in": 40, "out": 2}}'
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keeps the output of the tests clean."""


def test_an_http_endpoint_tells_its_tokens_where_the_configuration_says(tmp_path: Path) -> None:
    """Without them the token budget is an estimate, and `doctor` knows no cost."""
    with HTTPServer(("127.0.0.1", 0), _Counting) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        http = {
            "url": f"http://127.0.0.1:{server.server_port}/",
            "prompt_tokens": "usage.in",
            "completion_tokens": "usage.out",
        }
        file = tmp_path / "hss-monitor.yaml"
        file.write_text(yaml.safe_dump({"summarizer": {"kind": "http", "http": http}}))
        summarizer = summarizer_of(configuration.load(file), spacy.blank("en"))
        (answer,) = summarizer.summarize([SummaryTask(document="text", original_document="text")])
        server.shutdown()
    assert (answer.text, answer.prompt_tokens, answer.completion_tokens) == ("short", 40, 2)


def test_a_task_may_take_as_long_as_all_its_attempts() -> None:
    """With the time of one attempt a first one that is slow and fails would be the last."""
    summarizer: Any = summarizer_of(
        Settings(
            summarizer={
                "kind": "chat",
                "chat": {"url": "http://llm.test/v1", "model": "m"},
                "timeout_seconds": 20,
                "attempts": 3,
            }
        ),
        spacy.blank("en"),
    )
    limits = summarizer.endpoint.limits
    assert (limits.timeout, limits.attempts, limits.time_limit) == (20, 3, 60)
