"""What guides say and no client library is needed for."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor import configuration
from monitor.ingest.following import LineReader
from monitor.ingest.log_file import Line
from monitor.ingest.switches import content_switch
from monitor.stores import now

REPOSITORY = Path(__file__).resolve().parents[3]
GUIDES = REPOSITORY / "deploy" / "guides"
Guide = runpy.run_path(str(REPOSITORY / "tests" / "acceptance" / "guide.py"))["Guide"]


@pytest.mark.parametrize(
    ("name", "scope"),
    [
        ("openai-opentelemetry", "opentelemetry.util.genai.handler"),
        ("openllmetry", "opentelemetry.instrumentation.openai.v1"),
        ("openinference", "openinference.instrumentation.openai"),
        ("langchain", "openinference.instrumentation.langchain"),
        ("javascript", "@opentelemetry/instrumentation-openai"),
    ],
)
def test_guides_name_the_switch_that_the_log_names(name: str, scope: str) -> None:
    """Who follows the one must not be told something else by the other."""
    text = (GUIDES / f"{name}.md").read_text()
    for variable in re.findall(r"[A-Z_]{10,}", content_switch(scope)):
        assert variable in text


def test_the_keys_of_the_secret_are_those_that_manifests_read() -> None:
    """A missing key keeps a container from starting."""
    created = set(re.findall(r"--from-literal=([\w-]+)=", Guide("kubernetes").blocks["secret"]))
    manifests = [path.read_text() for path in (REPOSITORY / "deploy/kubernetes").rglob("*.yaml")]
    read = {
        key
        for text in manifests
        for key in re.findall(r"name: hss-monitor, key: ([\w-]+)", text)
        + re.findall(r"/run/secrets/hss-monitor/([\w-]+)", text)
    }
    assert read == created


def test_the_log_guide_reads_its_own_line(tmp_path: Path) -> None:
    """Its mapping and its example belong together."""
    guide = Guide("logs")
    file = tmp_path / "hss-monitor.yaml"
    file.write_text(guide.blocks["hss-monitor.yaml"])
    reader = LineReader(configuration.load(file).ingest.tail.fields)
    line = Line(text=guide.blocks["line"].strip().encode(), identity="x")
    record = reader.record(line, now=now)
    assert (record.document, record.summary) == ("The document.", "The summary.")
    assert (record.service, record.model) == ("newsroom", "m-1")
    assert record.started_at is not None


def test_the_replay_of_a_local_server_is_configured_with_known_keys(tmp_path: Path) -> None:
    """Unknown keys are errors."""
    file = tmp_path / "hss-monitor.yaml"
    file.write_text(Guide("local-servers").blocks["replay"])
    settings = configuration.load(file)
    assert settings.summarizer.limits.concurrency == 1
    # The guide tells how many calls a record takes: K, and one for each null run.
    strengths = settings.perturbation.strengths
    calls = strengths.low + strengths.moderate + strengths.high + settings.scoring.null_runs
    assert f"({calls} by default)" in Guide("local-servers").text


def test_the_collector_is_wired() -> None:
    """No Collector is to be had here: at least every part is declared, and every one is used."""
    collector: dict[str, Any] = yaml.safe_load(Guide("collector").blocks["collector.yaml"])
    pipelines = collector["service"]["pipelines"]
    for part in ("receivers", "processors", "exporters"):
        used = {name for pipeline in pipelines.values() for name in pipeline[part]}
        assert used == set(collector[part])
    exporter = collector["exporters"]["otlphttp/hss-monitor"]
    assert exporter["endpoint"] == "http://127.0.0.1:8318"


def test_the_inference_service_logs_both_halves() -> None:
    """To the endpoint that joins them, with the header that tells replays."""
    service = yaml.safe_load(Guide("kserve").blocks["inference-service.yaml"])
    logger = service["spec"]["predictor"]["logger"]
    assert logger["mode"] == "all"
    assert logger["url"].endswith(":8318/v1/cloudevents")
    assert logger["metadataHeaders"] == ["Tracestate"]


def test_the_compose_guide_sets_what_the_stack_asks_for() -> None:
    """Without a variable the stack does not start."""
    stack = (REPOSITORY / "deploy/compose/compose.yaml").read_text()
    needed = set(re.findall(r"\$\{(\w+):\?", stack))
    assert set(re.findall(r'echo "(\w+)=', Guide("docker").blocks["stack"])) == needed
    ports = set(re.findall(r"127\.0\.0\.1:(\d+):", stack))
    assert set(re.findall(r"<http://127\.0\.0\.1:(\d+)>", Guide("docker").text)) <= ports


def test_every_link_and_file_of_a_guide_is_there() -> None:
    """Files move."""
    for page in GUIDES.glob("*.md"):
        text = page.read_text()
        for link in re.findall(r"\]\(([^)#]+)", text):
            assert link.startswith("http") or (page.parent / link).exists(), (page.name, link)
        for path in re.findall(r"`?((?:deploy|grafana)/[\w./-]*\w)", text):
            assert (REPOSITORY / path).exists(), (page.name, path)


def test_examples_are_valid_json() -> None:
    """They are copied."""
    json.loads(Guide("logs").blocks["line"])
