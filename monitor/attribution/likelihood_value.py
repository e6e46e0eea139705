"""The value function for models loaded here: how likely the summary stays."""

from __future__ import annotations

import inspect

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from monitor.attribution.segmentation import BoolArray, Segmentation
from monitor.attribution.subwords import subwords
from monitor.attribution.value import Outcome
from monitor.records import FloatArray


class LikelihoodEvaluator:
    """v(S) = (1/T) Σₜ log p(yₜ | y_<t, document with only the words S), in nats, ≤ 0.

    Teacher-forced: the summary y is given, nothing is generated, and a batch of masks is one
    forward pass. Masked words are hidden from attention; their positions stay, so every
    row has the same length, nothing is padded, and the words behind a masked one do not
    move. Works with encoder–decoder and with causal models; a causal one reads
    `prefix + document + suffix + y`, and the suffix keeps something to attend to where
    all words are masked.

    The separation from the full document is the one-dimensional Wasserstein distance of the
    T token probabilities, mean |p₍ₜ₎ − q₍ₜ₎| over their order statistics, bounded by 1: a
    likelihood has no embedded sentences to transport.
    """

    def __init__(
        self,
        *,
        segmentation: Segmentation,
        summary: str,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        limit: int | None,
        batch_size: int = 16,
        prefix: str = "",
        suffix: str = "\n\nSummary:",
    ) -> None:
        """Puts the model into evaluation mode, for dropout would make v random.

        `limit` is the longest input in tokens, `None` where it is not known: what lies behind
        it is cut. `summary` must hold at least one token; `prefix` and `suffix` are for causal
        models (where a chat template is due, render it into them). Raises `UsageError` for a
        tokenizer without offsets.
        """
        self.segmentation = segmentation
        self.summary = summary
        self._model = model.train(mode=False)
        self._batch_size = batch_size
        self._paired = bool(model.config.is_encoder_decoder)
        target = tokenizer(text_target=summary, truncation=limit is not None, max_length=limit)
        if self._paired:
            self._before, self._after = np.empty(0, np.int64), np.empty(0, np.int64)
            self._target = np.array(target["input_ids"], dtype=np.int64)
        else:
            own_start = prefix.startswith(tokenizer.bos_token or "\0")
            self._before = _ids(tokenizer, prefix, special_tokens=not own_start)
            self._after = _ids(tokenizer, suffix)
            self._target = _ids(tokenizer, summary)
            if limit is not None:
                around = len(self._before) + len(self._after) + len(self._target)
                limit = max(limit - around, 1)
        self._source = subwords(segmentation, tokenizer, limit=limit, special_tokens=self._paired)
        # Logits of the document's own tokens are not needed, and are the larger part.
        self._keeps_logits = "logits_to_keep" in inspect.signature(model.forward).parameters

    def evaluate(self, masks: BoolArray) -> list[Outcome]:
        outcomes = []
        for start in range(0, len(masks), self._batch_size):
            for row in self._log_probabilities(masks[start : start + self._batch_size]):
                outcomes.append(Outcome(value=float(row.mean()), output=np.sort(np.exp(row))))
        return outcomes

    def separation(self, outcome: Outcome, full: Outcome) -> float:
        return min(float(np.mean(np.abs(outcome.output - full.output))), 1.0)

    def _log_probabilities(self, masks: BoolArray) -> FloatArray:
        """(n, T) for one batch."""
        visible = torch.from_numpy(self._source.visible(masks)).long()
        # Some models reshape labels in place of copying them: an expanded view is refused.
        target = torch.from_numpy(self._target).expand(len(masks), -1).contiguous()
        source = torch.from_numpy(self._source.ids).expand(len(masks), -1)
        device = self._model.device
        with torch.inference_mode():
            if self._paired:
                logits = self._model(
                    input_ids=source.to(device),
                    attention_mask=visible.to(device),
                    labels=target.to(device),
                    use_cache=False,
                ).logits
            else:
                logits = self._causal_logits(source, visible, target)
            chosen = logits.float().log_softmax(-1).gather(-1, target.to(device).unsqueeze(-1))
        return np.asarray(chosen.squeeze(-1).cpu().numpy(), dtype=np.float64)

    def _causal_logits(
        self, source: torch.Tensor, visible: torch.Tensor, target: torch.Tensor
    ) -> torch.Tensor:
        rows = len(source)
        before = torch.from_numpy(self._before).expand(rows, -1)
        after = torch.from_numpy(self._after).expand(rows, -1)
        ids = torch.cat([before, source, after, target], dim=1)
        attention = torch.cat(
            [torch.ones_like(before), visible, torch.ones_like(after), torch.ones_like(target)],
            dim=1,
        )
        options = {"logits_to_keep": target.shape[1] + 1} if self._keeps_logits else {}
        logits: torch.Tensor = self._model(
            input_ids=ids.to(self._model.device),
            attention_mask=attention.to(self._model.device),
            # Given, because some models would count positions over visible tokens only.
            position_ids=torch.arange(ids.shape[1], device=self._model.device).expand(rows, -1),
            use_cache=False,
            **options,
        ).logits
        return logits[:, -target.shape[1] - 1 : -1]


def _ids(
    tokenizer: PreTrainedTokenizerBase, text: str, *, special_tokens: bool = False
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    ids = tokenizer(text, add_special_tokens=special_tokens, verbose=False)["input_ids"]
    return np.array(ids, dtype=np.int64)
