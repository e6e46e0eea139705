"""`hss-monitor study factuality`: its refusals, and one run over a sample of real data."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from monitor.cli.factuality import _read, factuality
from monitor.errors import MalformedInput, UsageError
from monitor.study.discrimination import figures
from monitor.study.labelled import CAVEATS, DATA_SETS, read_labelled

DATA = Path(__file__).parents[4] / "shared" / "data"


def test_a_folder_without_any_of_the_files_is_refused(tmp_path) -> None:
    """The message names the files that are looked for."""
    with pytest.raises(UsageError, match=r"holds none of 'frank_valid\.jsonl'"):
        factuality(data=tmp_path)


def test_a_bad_line_is_refused_before_a_model_is_loaded(tmp_path) -> None:
    """With the name of the file, since there are four."""
    (tmp_path / "summeval.jsonl").write_text('{"document": "x"}\n', encoding="utf-8")
    with pytest.raises(MalformedInput, match=r"summeval\.jsonl, line 1: summary"):
        factuality(data=tmp_path)


def test_only_a_line_feed_ends_a_row(tmp_path) -> None:
    """JSON strings may hold the line separators of Unicode."""
    text = "a\u2028b"
    row = {"document": text, "summary": "s", "model": "m", "label": 0}
    line = json.dumps(row, ensure_ascii=False)
    (tmp_path / "summeval.jsonl").write_text(f"{line}\n{line}\n", encoding="utf-8")
    ((_, rows),) = _read(tmp_path)
    assert [each.document for each in rows] == [text, text]


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="no ../shared/data beside the project")
def test_a_sample_of_real_data_gives_every_figure_with_its_caveats() -> None:
    """Also with a model that is not there: the check is unavailable and the rest goes on."""
    command = [sys.executable, "-m", "monitor", "study", "factuality", "--data", str(DATA)]
    command += ["--limit", "30", "--json", "--summac-model", "no/such/model"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    found = {each["dataset"]: each for each in map(json.loads, run.stdout.splitlines())}
    assert list(found) == [collection.name for collection in DATA_SETS]
    for each in found.values():
        assert each["caveats"] == list(CAVEATS)
        checks = {figure["check"]: figure for figure in each["figures"]}
        assert list(checks)[:2] == ["novel_bigrams", "summary_length"]
        assert (checks["summac"]["auroc"], checks["summac"]["reason"]) == (None, "unavailable")
        assert "--summac-model: 'no/such/model'" in checks["summac"]["detail"]
        assert checks["factcc"]["detail"] == "no model is configured for factcc"
        trivial = checks["novel_bigrams"]
        assert trivial["auroc"] == trivial["novel_bigrams_auroc"]
        assert trivial["known"] == each["rows"]
        support = checks["entity_support"]
        assert support["known"] + sum(support["missing"].values()) == each["rows"]
        for figure in checks.values():
            if figure["low"] is not None:
                assert figure["low"] <= figure["auroc"] <= figure["high"]


@pytest.mark.skipif(not DATA.is_dir(), reason="no ../shared/data beside the project")
@pytest.mark.parametrize(
    ("name", "expected"),
    [("summeval", 0.85), ("frank_valid", 0.73), ("storysumm_val", 0.63), ("summedits", 0.45)],
)
def test_the_bigram_baseline_is_what_the_data_set_states(name, expected) -> None:
    """The figures that stand beside the data, to two digits; computed there by other code."""
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    first = figures(read_labelled(lines, name=name), {}, resamples=100)[0]
    assert round(first.auroc, 2) == expected
