"""What holds for every document that may come."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spacy.language import Language

from monitor.embedding.embedded import LANGUAGE, SENTENCE_ENCODER, WORD_VECTORS
from monitor.embedding.language import load_language
from monitor.embedding.sbert import load_encoder
from monitor.embedding.sentences import SentenceSplitter
from monitor.embedding.vectors import load_vectors
from monitor.perturbation.neighbours import Neighbours
from monitor.perturbation.perturber import SubstitutionPerturber

_WORDS = st.sampled_from(
    ["the", "company", "strong", "praised", "officials", "Paris", "rose", "quickly", "5%", "and",
     "an", "offer", "was", "well-known", "U.S.", "don't", "\U0001f600", "\u202e", "\n\n", "\t",
     "huge", "storm", ".", ",", '"', "results", "MINISTERS", "Large", "\x00"]
)  # fmt: skip
_DOCUMENTS = st.one_of(
    st.lists(_WORDS, max_size=40).map(" ".join),
    st.text(max_size=200),
)


@pytest.fixture(scope="module")
def language() -> Language:
    missing = [m for m in (LANGUAGE, SENTENCE_ENCODER, WORD_VECTORS) if not m.installed]
    if missing:
        pytest.skip(f"the embedded model {missing[0].distribution} is not installed")
    return load_language()


@pytest.fixture(scope="module")
def perturber(language: Language) -> SubstitutionPerturber:
    encoder = load_encoder(splitter=SentenceSplitter(language))
    return SubstitutionPerturber(language, Neighbours(load_vectors()), encoder)


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(document=_DOCUMENTS, seed=st.integers(0, 2**31))
def test_every_document_is_reworded_or_has_a_reason(
    perturber: SubstitutionPerturber, language: Language, document: str, seed: int
) -> None:
    """Never an exception; versions differ, align token by token, and restore the document."""
    made = perturber.perturb(document, seed=seed)
    assert (made.reason is None) == bool(made.perturbations)
    texts = [p.document for p in made.perturbations]
    assert len({*texts, document}) == len(texts) + 1
    for p in made.perturbations:
        assert 0 < p.share <= 1
        assert p.min_cosine >= 0.85
        restored = p.document
        for s in p.substitutions:
            end = s.start + len(s.replacement)
            assert restored[s.start : end] == s.replacement
            restored = restored[: s.start] + s.original + restored[end:]
        assert restored == document
        if not any("\ud800" <= c <= "\udfff" for c in document):
            before = [t.text for t in language.make_doc(document) if not t.is_space]
            after = [t.text for t in language.make_doc(p.document) if not t.is_space]
            changed = {s.index: s.replacement for s in p.substitutions}
            assert after == [changed.get(i, word) for i, word in enumerate(before)]
