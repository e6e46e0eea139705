"""Cutting texts that are longer than an encoder takes: nothing is dropped silently."""

from __future__ import annotations

import re
from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

_SURROGATE = re.compile("[\ud800-\udfff]")

Window = tuple[str, int]
"""A piece of text and the number of model tokens it takes, special ones included."""


def windows(
    texts: Sequence[str], tokenizer: PreTrainedTokenizerBase, *, limit: int
) -> list[list[Window]]:
    """Each text as windows of about equal length, at most `limit` tokens each.

    A text within the limit is one window, unchanged. Cuts fall where a word begins, or
    inside a word that is longer than a window by itself.
    """
    encoded = tokenizer(
        [_encodable(text) for text in texts],
        add_special_tokens=True,
        truncation=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        verbose=False,
    )
    result = []
    for text, ids, offsets in zip(
        texts, encoded["input_ids"], encoded["offset_mapping"], strict=True
    ):
        if len(ids) <= limit:
            result.append([(_encodable(text), len(ids))])
            continue
        # Special tokens have empty spans.
        spans = [span for span in offsets if span[1] > span[0]]
        pieces = _cut(_encodable(text), spans, limit - (len(ids) - len(spans)))
        result.append([w for part in windows(pieces, tokenizer, limit=limit) for w in part])
    return result


def _cut(text: str, spans: Sequence[tuple[int, int]], size: int) -> list[str]:
    """Split into the fewest pieces of at most `size` tokens, evenly."""
    count = -(-len(spans) // max(size, 1))
    step = -(-len(spans) // count)
    pieces, start = [], 0
    while start < len(spans):
        end = min(start + step, len(spans))
        if end < len(spans):
            # Back to a token that follows a gap in the text, so that no word is cut.
            word = next((i for i in range(end, start, -1) if spans[i - 1][1] < spans[i][0]), end)
            end = word if word > start else end
        last = spans[end][0] if end < len(spans) else len(text)
        pieces.append(text[spans[start][0] : last].rstrip())
        start = end
    return pieces


def _encodable(text: str) -> str:
    """Lone surrogates cannot be encoded as UTF-8; they stand for a character that is lost."""
    return _SURROGATE.sub("\ufffd", text)
