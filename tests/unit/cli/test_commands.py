"""What each command prints, and where."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from monitor import configuration
from monitor.factuality.comparator import Unavailable
from monitor.settings import Settings

RECORD = {"document": "d", "summary": "s", "service": "news", "model": "m"}


def test_a_valid_configuration_is_said_so(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On standard error: there is no result. Nobody takes it for a file that was not read."""
    file = tmp_path / "my.yaml"
    file.write_text("sampling: {rate: 0.1}", encoding="utf-8")
    result = cli("config", "check", "--config", str(file))
    said = f"the configuration ({file} and environment) is valid\n"
    assert (result.code, result.out, result.err) == (0, "", said)
    monkeypatch.delenv("HSS_MONITOR_CONFIG")
    result = cli("config", "check")
    said = "no --config was given; the defaults and the environment are valid\n"
    assert (result.code, result.out, result.err) == (0, "", said)


@pytest.mark.parametrize(("backend", "code"), [("local", 2), ("none", 0)])
def test_a_front_without_scorers_needs_no_key_of_their_summarizer(
    cli: Any, tmp_path: Path, backend: str, code: int
) -> None:
    """The key is mounted where it is used; a check before the start must not ask for it here."""
    file = tmp_path / "my.yaml"
    replay = {"url": "https://llm.example/v1", "api_key_file": str(tmp_path / "absent")}
    file.write_text(
        yaml.safe_dump(
            {
                "summarizer": {"kind": "replay", "replay": replay},
                "execution": {"backend": backend},
            }
        ),
        encoding="utf-8",
    )
    assert cli("config", "check", "--config", str(file)).code == code


def test_show_prints_what_is_in_force_and_no_secret(cli: Any, monkeypatch: Any) -> None:
    """The environment wins over the file; keys and passwords are hidden in both forms."""
    monkeypatch.setenv("HSS_MONITOR__SAMPLING__RATE", "0.25")
    monkeypatch.setenv("HSS_MONITOR__SUMMARIZER__CHAT__API_KEY", "hunter2")
    monkeypatch.setenv("HSS_MONITOR__DATABASE__URL", "postgresql://u:hunter2@db/x?password=hunter2")
    plain, lines = cli("config", "show"), cli("config", "show", "--json")
    assert (plain.code, lines.code) == (0, 0)
    [shown] = lines.objects
    assert yaml.safe_load(plain.out) == shown
    assert shown["sampling"]["rate"] == 0.25
    assert "hunter2" not in plain.out + lines.out


def test_the_sample_sets_every_key_to_its_default(cli: Any) -> None:
    """It can be started from without reading anything else."""
    result = cli("config", "sample")
    assert result.code == 0
    assert Settings(**yaml.safe_load(result.out)) == Settings()
    assert result.out == configuration.sample()


def test_ingest_queues_each_record_once(add_records: Any) -> None:
    """A file may be ingested again after an interruption; what was known is told apart."""
    first = add_records([{"id": "a", **RECORD}, {"id": "b", **RECORD}])
    again = add_records([{"id": "b", **RECORD}, {"id": "c", **RECORD}])
    assert first.objects == [{"accepted": 2, "sampled": 2, "known": 0, "rejected": 0, "replays": 0}]
    assert again.objects == [{"accepted": 1, "sampled": 1, "known": 1, "rejected": 0, "replays": 0}]
    assert (first.code, again.code) == (0, 0)


def test_ingest_names_the_lines_that_it_rejects(add_records: Any, cli: Any) -> None:
    """By their number in the file, also beyond the first chunk; the others are queued."""
    result = add_records([RECORD] * 250 + [{**RECORD, "summary": 5}, 7])
    assert result.code == 1
    assert result.objects == [
        {"accepted": 250, "sampled": 250, "known": 0, "rejected": 2, "replays": 0}
    ]
    assert "record 251: summary" in result.err
    assert "record 252: body" in result.err
    assert len(cli("records", "list", "--limit", "1000", "--json").objects) == 250


def test_records_are_listed_newest_first_and_filtered(
    add_records: Any, score_all: Any, cli: Any
) -> None:
    """One object a line, with what a script needs."""
    add_records([{"id": "old", **RECORD}])
    score_all(0.8)
    add_records([{"id": "new", **RECORD, "service": "mail"}])

    def ids(*options: str) -> list[str]:
        return [row["id"] for row in cli("records", "list", "--json", *options).objects]

    assert ids() == ["new", "old"]
    assert ids("--limit", "1") == ["new"]
    assert ids("--service", "news") == ["old"]
    assert ids("--state", "queued") == ["new"]
    assert ids("--min-hss", "0.5") == ["old"]
    assert ids("--until", "1h") == []
    assert ids("--reason", "too_long") == []
    assert ids("--release", "1.0") == []
    assert ids("--since", "1h") == ["new", "old"]
    [row] = cli("records", "list", "--json", "--state", "scored").objects
    wanted = {"id", "service", "model", "category", "state", "reason", "hss", "received_at"}
    assert wanted <= row.keys()
    assert (row["hss"], row["reason"], row["category"]) == (0.8, None, "news")


def test_a_record_is_shown_with_its_texts(add_records: Any, cli: Any) -> None:
    """For a script and for a person; control characters do not reach a terminal."""
    add_records([{"id": "a", **RECORD, "document": "one \x1b[31m two", "summary": "[bold]three"}])
    [shown] = cli("records", "show", "a", "--json").objects
    assert shown["row"]["id"] == "a"
    assert shown["document"] == "one \x1b[31m two"
    printed = cli("records", "show", "a")
    assert printed.code == 0
    assert "one" in printed.out
    assert "[bold]three" in printed.out, "a text is never read as markup"
    assert "\x1b" not in printed.out


def test_the_table_is_for_people(add_records: Any, cli: Any) -> None:
    """Unknown is a dash; a hint that there is more goes to standard error."""
    add_records([{"id": f"r{n}", **RECORD} for n in range(3)])
    result = cli("records", "list", "--limit", "2")
    header, *rows = result.out.splitlines()
    assert header.split()[:3] == ["received", "id", "service"]
    # HSS never stands alone: it does not see what is invented the same way each time.
    assert header.split()[-3:] == ["HSS", "entities", "numbers"]
    assert len(rows) == 2
    assert "–" in rows[0]
    assert "--limit" in result.err


def test_the_schema_is_brought_up_to_date_once(cli: Any, config_file: Path) -> None:
    """Upgrading twice does nothing the second time."""
    config_file.with_name("hss.db").write_bytes(b"")
    before = cli("db", "check", "--json")
    assert (before.code, before.objects[0]["revision"]) == (1, None)
    first, second = cli("db", "upgrade"), cli("db", "upgrade")
    assert (first.code, second.code) == (0, 0)
    assert "(none) →" in first.err
    assert "is current" in second.err
    after = cli("db", "check", "--json")
    [report] = after.objects
    assert after.code == 0
    assert report["revision"] == report["needed"]
    assert cli("db", "check").code == 0


def test_prune_says_what_it_erased(add_records: Any, score_all: Any, cli: Any) -> None:
    """And erases only what the configuration lets go."""
    add_records([{"id": "a", **RECORD}])
    score_all(None)
    kept = cli("db", "prune", "--json")
    assert (kept.code, kept.objects[0]["texts_erased"]) == (0, 0)


def test_prune_counts_all_that_goes_in_words(
    add_records: Any, score_all: Any, cli: Any, monkeypatch: Any
) -> None:
    """Whoever looks for a breach that went with its records finds out here."""
    add_records([{"id": "a", **RECORD}])
    score_all(None)
    assert cli("records", "show", "a").code == 0
    monkeypatch.setenv("HSS_MONITOR__STORAGE__KEEP_RECORDS_DAYS", "1e-9")
    told = cli("db", "prune").err
    assert "1 records, 0 breaches, 0 sampling epochs, 1 noted views" in " ".join(told.split())


def test_prune_erases_what_is_older_than_the_configuration_keeps(
    add_records: Any, score_all: Any, cli: Any, monkeypatch: Any
) -> None:
    """A millisecond is a fraction of a day, too."""
    add_records([{"id": "a", **RECORD}])
    score_all(None)
    monkeypatch.setenv("HSS_MONITOR__STORAGE__KEEP_TEXTS_DAYS", "1e-9")
    erased = cli("db", "prune", "--json")
    assert erased.objects[0]["texts_erased"] == 1
    [shown] = cli("records", "show", "a", "--json").objects
    assert (shown["document"], shown["summary"]) == (None, None)


def test_models_are_listed_by_their_keys(cli: Any) -> None:
    """Without loading any of them."""
    rows = cli("models", "list", "--json").objects
    assert [row["key"] for row in rows][-1] == "summarizer.textrank"
    assert cli("models", "list").code == 0


def test_a_configured_check_is_listed_and_checked_like_any_model(
    cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scoring goes on without it, so nobody else would say that its folder is wrong."""
    monkeypatch.setenv("HSS_MONITOR__FACTUALITY__SUMMAC_MODEL", "/models/nli")
    bench = SimpleNamespace(
        comparators=[Unavailable("factcc", "none is configured"), Unavailable("summac", "gone")],
        fingerprint="",
        made_of={},
    )
    monkeypatch.setattr("monitor.workbench.build", lambda *_: bench)
    rows = cli("models", "list", "--json").objects
    assert {"key": "factuality.summac_model", "model": "/models/nli"} in rows
    checked = cli("models", "check")
    assert (checked.code, "gone" in checked.err) == (3, True)


def test_doctor_advises_what_keeps_records_from_being_scored(cli: Any, add_records: Any) -> None:
    """Nothing answers here, and the document is suspiciously short."""
    add_records([{"id": "a", **RECORD}])
    [told] = cli("doctor", "--json").objects
    assert told["sidecar"] is None
    assert told["states"]["queued"] == 1
    assert told["documents"][0]["begins"] == "d"
    advice = " ".join(told["advice"])
    assert "hss-monitor run" in advice
    assert "ingest.extraction" in advice


def test_calibrate_needs_scored_records(cli: Any, add_records: Any) -> None:
    """An empty window, and one without distances, are said to be so."""
    add_records([{"id": "a", **RECORD}])
    result = cli("calibrate", "--json", "--since", "1h")
    assert (result.code, result.out) == (2, "")
    assert "--since" in result.err
    assert cli("calibrations", "list", "--json").objects == []


@pytest.mark.parametrize("name", ["records.jsonl", "-"])
def test_a_file_that_is_no_json_is_rejected_line_by_line(
    cli: Any, tmp_path: Path, monkeypatch: Any, name: str
) -> None:
    """From a file and from standard input."""
    lines = [json.dumps({"id": "good", **RECORD}), "{broken", ""]
    file = tmp_path / "records.jsonl"
    file.write_text("\n".join(lines))
    with file.open() as source:
        monkeypatch.setattr("sys.stdin", source)
        result = cli("ingest", name, "--json")
    assert result.objects == [
        {"accepted": 1, "sampled": 1, "known": 0, "rejected": 1, "replays": 0}
    ]
    assert "record 2" in result.err
