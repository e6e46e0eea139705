"""Sentence-BERT embeddings, cached, bit for bit the same in every batch.

Reimers & Gurevych (2019), "Sentence-BERT". Texts of a batch are padded to its longest,
and padding changes the last bits of the others: a threshold on a cosine could then fall
one way today and the other way tomorrow. So only texts with the same number of model
tokens share a batch. Nothing is padded, rows do not depend on their neighbours, and no
time is lost, because no padding is computed.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from transformers.utils import logging as transformers_logging

from monitor.embedding.embedded import EMBEDDED, SENTENCE_ENCODER
from monitor.embedding.sentences import SentenceSplitter
from monitor.embedding.windows import windows
from monitor.errors import ModelUnavailable
from monitor.records import FloatArray, SummaryDistribution

KEY = "embedding.model"
_TOKENS_PER_BATCH = 1024
"""Batches of long texts are smaller: past the cache of a core a batch gets slower."""


def load_encoder(
    model: str = EMBEDDED,
    *,
    splitter: SentenceSplitter,
    allow_download: bool = False,
    threads: int | None = None,
    batch_size: int = 32,
    cache_size: int = 20_000,
) -> SbertEncoder:
    """An encoder from the embedded package, a folder, or a hub id that is already here.

    `threads` is set for all of torch in this process, `None` leaves what is set. Weights are
    read from safetensors only, and code that ships with a model is never run. Raises
    `ModelUnavailable`.
    """
    source = str(SENTENCE_ENCODER.folder(KEY)) if model == EMBEDDED else model
    # Untyped in transformers; a bar on standard error would break `--json` consumers.
    disable_progress: Callable[[], None] = transformers_logging.disable_progress_bar
    disable_progress()
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        loaded = SentenceTransformer(
            source,
            device="cpu",
            local_files_only=not allow_download,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True, "dtype": torch.float32},
        )
    except (OSError, ValueError, ImportError, KeyError) as error:
        raise ModelUnavailable(
            f"{KEY}: {model!r} is no sentence-transformers model that can be loaded from here "
            f"({type(error).__name__}); name a folder that holds it with safetensors weights, "
            f"allow downloads, or set {KEY} to {EMBEDDED!r}"
        ) from error
    label = (
        SENTENCE_ENCODER.distribution if model == EMBEDDED else model.rstrip("/\\").split("/")[-1]
    )
    return SbertEncoder(
        loaded, label=label, splitter=splitter, batch_size=batch_size, cache_size=cache_size
    )


class SbertEncoder:
    """The `Encoder` port over a sentence-transformers model."""

    name: str
    """`label#digest`: the digest of the weights tells two models of one name apart."""

    def __init__(
        self,
        model: SentenceTransformer,
        *,
        label: str,
        splitter: SentenceSplitter,
        batch_size: int = 32,
        cache_size: int = 20_000,
    ) -> None:
        self._model = model.eval()
        self._splitter = splitter
        self._batch_size = batch_size
        self._cache: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()
        self._cache_size = cache_size
        self.dimensions = int(model.get_embedding_dimension() or 0)
        """d, the length of a vector."""
        self.name = f"{label}#{_digest(model)}"

    def encode(self, sentences: Sequence[str]) -> FloatArray:
        """(n, d) unit vectors, float64 from float32 weights; equal texts give equal bits.

        A text longer than the model's limit is cut into windows at word boundaries; its
        vector is the mean of theirs, scaled back to unit length.
        """
        keys = [_key(sentence) for sentence in sentences]
        rows: dict[bytes, NDArray[np.float32]] = {}
        missing: dict[bytes, str] = {}
        for key, sentence in zip(keys, sentences, strict=True):
            cached = self._cache.get(key)
            if cached is None:
                missing[key] = sentence
            else:
                self._cache.move_to_end(key)
                rows[key] = cached
        if missing:
            computed = self._embed(list(missing.values()))
            rows.update(zip(missing, computed, strict=True))
            self._remember(zip(missing, computed, strict=True))
        result = np.empty((len(keys), self.dimensions), dtype=np.float64)
        for index, key in enumerate(keys):
            result[index] = rows[key]
        return _unit(result)

    def distributions(self, texts: Sequence[str]) -> list[SummaryDistribution | None]:
        """μ_y of each text, all sentences in one batch; `None` for a text without words."""
        split = self._splitter.split(texts)
        embeddings = iter(self.encode([s for sentences in split for s in sentences]))
        return [
            SummaryDistribution(
                sentences=tuple(sentences),
                embeddings=np.stack(list(islice(embeddings, len(sentences)))),
            )
            if sentences
            else None
            for sentences in split
        ]

    def _embed(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        limit = int(self._model.max_seq_length or 512)
        parts = windows(texts, self._model.tokenizer, limit=limit)
        flat = [part for pieces in parts for part in pieces]
        vectors = iter(self._forward([text for text, _ in flat], [size for _, size in flat]))
        whole = []
        for pieces in parts:
            rows = np.stack(list(islice(vectors, len(pieces))))
            mean = rows.mean(axis=0, keepdims=True)
            whole.append(rows[0] if len(pieces) == 1 else _unit(mean)[0].astype(np.float32))
        return whole

    def _forward(self, texts: Sequence[str], sizes: Sequence[int]) -> NDArray[np.float32]:
        result = np.empty((len(texts), self.dimensions), dtype=np.float32)
        with torch.inference_mode():
            for batch in _same_size(sizes, self._batch_size):
                result[batch] = self._model.encode(
                    [texts[index] for index in batch],
                    batch_size=len(batch),
                    show_progress_bar=False,
                    convert_to_numpy=True,
                    normalize_embeddings=True,
                )
        return result

    def _remember(self, items: Iterable[tuple[bytes, NDArray[np.float32]]]) -> None:
        self._cache.update(items)
        while len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)


def _same_size(sizes: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Batches of indices of equal size, short texts first."""
    groups: dict[int, list[int]] = defaultdict(list)
    for index, size in enumerate(sizes):
        groups[size].append(index)
    for size in sorted(groups):
        step = max(1, min(batch_size, _TOKENS_PER_BATCH // max(size, 1)))
        indices = groups[size]
        for start in range(0, len(indices), step):
            yield indices[start : start + step]


def _unit(rows: NDArray[np.floating]) -> FloatArray:
    """Rows scaled to length 1; a zero row stays zero."""
    wide: FloatArray = rows.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))[:, None]
    wide /= np.where(lengths > 0, lengths, 1.0)
    return wide


def _key(text: str) -> bytes:
    """Texts are kept as hashes only: the cache holds no content."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _digest(model: SentenceTransformer) -> str:
    """Eight hex digits over all weights, in the order of their names."""
    digest = hashlib.blake2b(digest_size=4)
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
