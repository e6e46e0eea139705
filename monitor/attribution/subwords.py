"""Which subword tokens of a model stand for which words of a document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from transformers import PreTrainedTokenizerBase

from monitor.attribution.segmentation import BoolArray, IntArray, Segmentation
from monitor.errors import UsageError


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Subwords:
    """A document as a model's tokens."""

    ids: IntArray
    """(tokens,)."""
    words: IntArray
    """(tokens,): the word of each token, −1 for special tokens and punctuation."""

    def visible(self, masks: BoolArray) -> BoolArray:
        """(n, words) → (n, tokens): a token is hidden with its word; others always stay."""
        # The column of True stands at index −1, where tokens without a word point.
        always = np.ones((len(masks), 1), dtype=bool)
        return np.concatenate([masks, always], axis=1)[:, self.words]


def subwords(
    segmentation: Segmentation,
    tokenizer: PreTrainedTokenizerBase,
    *,
    limit: int | None,
    special_tokens: bool = True,
) -> Subwords:
    """Tokenize a document and align tokens to words by their code-point offsets.

    Tokens past `limit` are cut, as the model would do: words behind it carry exactly 0.
    A token over several words belongs to the first. Raises `UsageError` for a tokenizer
    that gives no offsets.
    """
    if not tokenizer.is_fast:
        raise UsageError(
            f"tokenizer: {type(tokenizer).__name__} gives no character offsets; use the fast "
            "tokenizer of this model (a folder with tokenizer.json)"
        )
    encoded = tokenizer(
        segmentation.document,
        add_special_tokens=special_tokens,
        return_offsets_mapping=True,
        truncation=limit is not None,
        max_length=limit,
        verbose=False,
    )
    offsets = np.array(encoded["offset_mapping"], dtype=np.int64).reshape(-1, 2)
    word = np.searchsorted(segmentation.ends, offsets[:, 0], "right")
    starts = np.append(segmentation.starts, np.iinfo(np.int64).max)
    belongs = (offsets[:, 1] > offsets[:, 0]) & (starts[word] < offsets[:, 1])
    return Subwords(
        ids=np.array(encoded["input_ids"], dtype=np.int64), words=np.where(belongs, word, -1)
    )
