"""The embedded encoder and language, loaded once."""

from __future__ import annotations

import pytest
from spacy.language import Language

from monitor.embedding.embedded import LANGUAGE, SENTENCE_ENCODER
from monitor.embedding.language import load_language
from monitor.embedding.sbert import SbertEncoder, load_encoder
from monitor.embedding.sentences import SentenceSplitter


@pytest.fixture(scope="session")
def language() -> Language:
    if not LANGUAGE.installed:
        pytest.skip(f"the embedded spaCy model {LANGUAGE.distribution} is not installed")
    return load_language()


@pytest.fixture(scope="session")
def splitter(language: Language) -> SentenceSplitter:
    return SentenceSplitter(language)


@pytest.fixture(scope="session")
def encoder(splitter: SentenceSplitter) -> SbertEncoder:
    if not SENTENCE_ENCODER.installed:
        pytest.skip(f"the embedded encoder {SENTENCE_ENCODER.distribution} is not installed")
    return load_encoder(splitter=splitter)
