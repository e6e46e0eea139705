"""Loading word vectors as gensim `KeyedVectors`, mapped into memory where they allow it.

A mapped matrix is shared by all scorers of a machine and costs no start-up: 80 MB for
the embedded GloVe vectors, 3.6 GB for word2vec's.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors

from monitor.embedding.embedded import EMBEDDED, WORD_VECTORS
from monitor.errors import ModelUnavailable

KEY = "perturbation.vectors"
_MATRIX = "glove_6B_50d_emb.npy"
_INDEX = "glove_6B_index.parquet"


def load_vectors(model: str = EMBEDDED) -> KeyedVectors:
    """Word vectors from the embedded package or from a file.

    A file is what `KeyedVectors.save` wrote (mapped), or word2vec's format: `.bin` (and
    `.bin.gz`) binary, `.txt` and `.vec` text. Raises `ModelUnavailable`.
    """
    if model == EMBEDDED:
        return _glove(WORD_VECTORS.folder(KEY))
    path = Path(model).expanduser()
    if not path.is_file():
        raise ModelUnavailable(
            f"{KEY}: there is no file {model!r}; name a file written by gensim's "
            f"KeyedVectors.save or in word2vec format, or set {KEY} to {EMBEDDED!r}"
        )
    try:
        return _from_file(path)
    except (
        OSError,
        ValueError,
        TypeError,
        EOFError,
        AttributeError,
        ModuleNotFoundError,
        pickle.UnpicklingError,
    ) as error:
        raise ModelUnavailable(
            f"{KEY}: {model!r} cannot be read as word vectors ({type(error).__name__}); "
            f"write it again with gensim's KeyedVectors.save"
        ) from error


def _from_file(path: Path) -> KeyedVectors:
    suffixes = path.suffixes
    if ".bin" in suffixes:
        return KeyedVectors.load_word2vec_format(str(path), binary=True)
    if suffixes and suffixes[-1] in {".txt", ".vec"}:
        return KeyedVectors.load_word2vec_format(str(path), binary=False)
    loaded = KeyedVectors.load(str(path), mmap="r")
    # A saved Word2Vec model holds its vectors in `.wv`.
    vectors = getattr(loaded, "wv", loaded)
    if not isinstance(vectors, KeyedVectors):
        raise TypeError(type(loaded).__name__)
    return vectors


def _glove(folder: Path) -> KeyedVectors:
    """Row i of the matrix belongs to word i of the index; rows go from common to rare."""
    # Comes with the extra `embedded` only, and other vectors do without.
    from pyarrow import parquet

    words = parquet.read_table(folder / _INDEX).column(0).to_pylist()
    matrix = np.load(folder / _MATRIX, mmap_mode="r")
    vectors = KeyedVectors(vector_size=matrix.shape[1])
    vectors.index_to_key = words
    vectors.key_to_index = {word: row for row, word in enumerate(words)}
    vectors.vectors = matrix
    return vectors
