"""The embedded models, loaded once; tests of words alone use a tiny vocabulary instead."""

from __future__ import annotations

import pytest
from gensim.models import KeyedVectors
from spacy.language import Language

from monitor.embedding.embedded import LANGUAGE, SENTENCE_ENCODER, WORD_VECTORS
from monitor.embedding.language import load_language
from monitor.embedding.sbert import SbertEncoder, load_encoder
from monitor.embedding.sentences import SentenceSplitter
from monitor.embedding.vectors import load_vectors
from monitor.perturbation.lexicon import Lexicon, load_lexicon
from monitor.perturbation.meaning import MeaningGuard
from monitor.perturbation.neighbours import Neighbours
from monitor.perturbation.perturber import SubstitutionPerturber


@pytest.fixture(scope="session")
def language() -> Language:
    if not LANGUAGE.installed:
        pytest.skip(f"the embedded spaCy model {LANGUAGE.distribution} is not installed")
    return load_language()


@pytest.fixture(scope="session")
def vectors() -> KeyedVectors:
    if not WORD_VECTORS.installed:
        pytest.skip(f"the embedded word vectors {WORD_VECTORS.distribution} are not installed")
    return load_vectors()


@pytest.fixture(scope="session")
def neighbours(vectors: KeyedVectors) -> Neighbours:
    return Neighbours(vectors)


@pytest.fixture(scope="session")
def encoder(language: Language) -> SbertEncoder:
    if not SENTENCE_ENCODER.installed:
        pytest.skip(f"the embedded encoder {SENTENCE_ENCODER.distribution} is not installed")
    return load_encoder(splitter=SentenceSplitter(language))


@pytest.fixture(scope="session")
def lexicon(language: Language) -> Lexicon:
    return load_lexicon(language)


@pytest.fixture(scope="session")
def guard(lexicon: Lexicon) -> MeaningGuard:
    return MeaningGuard(lexicon)


@pytest.fixture(scope="session")
def perturber(
    language: Language, neighbours: Neighbours, encoder: SbertEncoder
) -> SubstitutionPerturber:
    return SubstitutionPerturber(language, neighbours, encoder)
