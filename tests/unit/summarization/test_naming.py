"""Names and digests for the fingerprint, and what importing this package loads."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from monitor.summarization.naming import folder_digest, summarizer_name


def test_names_do_not_depend_on_the_order_of_parameters():
    """A configuration file may list them in any order."""
    assert summarizer_name("k", {"a": 1, "b": 2}) == summarizer_name("k", {"b": 2, "a": 1})


def test_a_folder_that_was_copied_keeps_its_digest(tmp_path):
    """Another machine has the same model elsewhere."""
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "config.json").write_text("{}")
    (tmp_path / "one" / "model.safetensors").write_bytes(bytes(range(256)) * 40_000)
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    assert folder_digest(tmp_path / "one") == folder_digest(tmp_path / "two")


@pytest.mark.parametrize("changed", ["config.json", "model.safetensors"])
def test_a_model_that_was_trained_on_has_another_digest(tmp_path, changed):
    """Its summaries differ, so its scores need a calibration of their own."""
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"a" * 100_000)
    before = folder_digest(tmp_path)
    (tmp_path / changed).write_bytes((tmp_path / changed).read_bytes().replace(b"a", b"b") + b" ")
    assert folder_digest(tmp_path) != before


@pytest.mark.parametrize("module", ["replay", "chat", "http"])
def test_calling_a_service_loads_no_model_library(module):
    """A scorer that replays should start in a second and in little memory."""
    script = (
        f"import sys, monitor.summarization.{module}\n"
        "print(sorted({'torch','transformers','spacy','scipy','gensim'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
