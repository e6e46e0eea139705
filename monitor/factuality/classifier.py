"""A transformers classifier of (text, statement) pairs: the `PairModel` port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from monitor.errors import MalformedInput, ModelUnavailable
from monitor.records import FloatArray

TOKENS_PER_BATCH = 8192
"""Padded tokens in one forward pass, so that long pairs do not fill the memory."""
OFFSET_FAMILIES = frozenset({"roberta", "xlm-roberta", "camembert", "longformer"})
"""Their position table begins after the padding index: it holds two fewer tokens."""


class PairClassifier:
    """`PairModel` over a sequence classification model in a folder or on the hub."""

    def __init__(self, model: Any, tokenizer: Any, *, batch_size: int = 32) -> None:
        """`model` and `tokenizer` are transformers' own, whose classes carry no types."""
        self._model = model.eval()
        self._tokenizer = tokenizer
        self._batch_size = batch_size
        names: Mapping[int, str] = model.config.id2label
        self.labels: Sequence[str] = tuple(names[index] for index in sorted(names))
        positions = int(getattr(model.config, "max_position_embeddings", 512))
        if model.config.model_type in OFFSET_FAMILIES:
            positions -= 2
        self._longest = min(positions, int(tokenizer.model_max_length))
        self.room = self._longest - int(tokenizer.num_special_tokens_to_add(pair=True))

    def tokens(self, text: str) -> int:
        """Length of a text alone, without special tokens."""
        return len(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """Softmax over the labels, in batches of pairs of similar length.

        Raises `MalformedInput` for a pair that is longer than the model reads.
        """
        result = np.empty((len(pairs), len(self.labels)))
        if not pairs:
            return result
        first, second = zip(*pairs, strict=True)
        encoded = self._tokenizer(list(first), list(second), truncation=False, verbose=False)
        lengths = [len(ids) for ids in encoded["input_ids"]]
        if max(lengths) > self._longest:
            raise MalformedInput(
                "pairs",
                f"one has {max(lengths)} tokens, the model reads {self._longest}",
                "cut its text into blocks first",
            )
        # By length, so that little is padded; the answers are put back in order.
        order = sorted(range(len(pairs)), key=lambda index: -lengths[index])
        start = 0
        while start < len(order):
            size = max(1, min(self._batch_size, TOKENS_PER_BATCH // lengths[order[start]]))
            chosen = order[start : start + size]
            batch = self._tokenizer.pad(
                {name: [values[index] for index in chosen] for name, values in encoded.items()},
                return_tensors="pt",
            )
            with torch.inference_mode():
                logits = self._model(**batch).logits
            result[chosen] = torch.softmax(logits.double(), dim=-1).numpy()
            start += size
        return result


def load_classifier(
    source: str, *, key: str, allow_download: bool = False, batch_size: int = 32
) -> PairClassifier:
    """A classifier from a folder or a hub id; `key` is the setting that names it.

    Safetensors only, float32, and no code of the model's own. Raises `ModelUnavailable`
    where it is not there, or holds no trained classification head (transformers would
    draw one at random and go on).
    """
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            source, local_files_only=not allow_download, trust_remote_code=False
        )
        model, info = AutoModelForSequenceClassification.from_pretrained(
            source,
            local_files_only=not allow_download,
            trust_remote_code=False,
            use_safetensors=True,
            dtype=torch.float32,
            output_loading_info=True,
        )
    except (OSError, ValueError, ImportError, KeyError) as error:
        raise ModelUnavailable(
            f"{key}: {source!r} is no classifier that can be loaded from here "
            f"({type(error).__name__}); name a folder that holds it with safetensors weights, "
            "or allow downloads"
        ) from error
    if info["missing_keys"]:
        raise ModelUnavailable(
            f"{key}: {source!r} has no weights for {sorted(info['missing_keys'])[0]!r}; "
            "choose a model that was trained for classification"
        )
    return PairClassifier(model, tokenizer, batch_size=batch_size)
