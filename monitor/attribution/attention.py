"""Attention: how much of the summary's cross-attention lies on each source word."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from monitor.attribution.players import refusal
from monitor.attribution.subwords import subwords
from monitor.attribution.value import BudgetedValue
from monitor.records import Attribution, FloatArray, Reason


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class AttentionMethod:
    """φ(w) = mean over layers, heads and summary tokens of the attention on w's subwords.

    One teacher-forced forward pass, one evaluation. 0 ≤ φ and Σφ ≤ 1; what is missing lies
    on punctuation and special tokens (often most of it). Says where the decoder looked, not
    what its summary depends on (Jain & Wallace 2019), hence it stands beside SHAP and not in
    its place.

    Only encoder–decoder models have cross-attention: without one (`model=None`: a remote or
    an extractive summarizer; or a causal model) it is `unavailable`.
    """

    model: PreTrainedModel | None
    tokenizer: PreTrainedTokenizerBase | None
    limit: int | None = None
    """Longest input in tokens; `None` where it is not known."""
    name: str = "attention"
    random: bool = False

    def explain(self, value: BudgetedValue, *, seed: int) -> Attribution:
        """Reads document and summary from `value`, which it charges but does not call."""
        if self.model is None or self.tokenizer is None:
            return Attribution(values=None, reason=Reason.UNAVAILABLE)
        if not self.model.config.is_encoder_decoder:
            return Attribution(values=None, reason=Reason.UNAVAILABLE)
        if (refused := refusal(value, least=1)) is not None:
            return refused
        cut = value.segmentation
        value.spend(1)
        source = subwords(cut, self.tokenizer, limit=self.limit)
        target = self.tokenizer(
            text_target=value.summary, truncation=self.limit is not None, max_length=self.limit
        )
        mass = _cross_attention(
            self.model.train(mode=False), source.ids.tolist(), target["input_ids"]
        )
        on_words = source.words >= 0
        values = np.bincount(
            source.words[on_words], weights=mass[on_words], minlength=len(cut.words)
        )
        return Attribution(values=values.astype(np.float64), evaluations=1)


def _cross_attention(model: PreTrainedModel, source: list[int], target: list[int]) -> FloatArray:
    """Mean cross-attention on each source token, (tokens,), sums to 1."""
    # Fused attention kernels do not give weights out; the model is handed back as it came.
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        with torch.inference_mode():
            layers = model(
                input_ids=torch.tensor([source], device=model.device),
                labels=torch.tensor([target], device=model.device),
                output_attentions=True,
                use_cache=False,
            ).cross_attentions
    finally:
        model.set_attn_implementation(before)
    # layers × (1, heads, T, tokens)
    mean = torch.stack(list(layers)).float().mean(dim=(0, 1, 2, 3))
    return np.asarray(mean.cpu().numpy(), dtype=np.float64)
