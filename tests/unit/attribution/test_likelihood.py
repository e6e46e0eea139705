"""The likelihood of a summary on tiny models, against one forward pass a mask."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
)

from monitor.attribution.attention import AttentionMethod
from monitor.attribution.likelihood_value import LikelihoodEvaluator
from monitor.attribution.segmentation import segment
from monitor.attribution.shap_text import ShapMethod
from monitor.attribution.value import BudgetedValue, Outcome
from monitor.errors import UsageError
from monitor.records import Reason

DOCUMENT = "The bank raised rates. Markets fell on the news, traders said."
SUMMARY = "bank raised rates"


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    """Letters as subwords, so that words and tokens do not coincide."""
    letters = "abcdefghijklmnopqrstuvwxyzTMW0123456789.,"
    vocabulary = {token: i for i, token in enumerate(["<s>", "<pad>", "</s>", "<unk>", *letters])}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="<unk>"))
    backend.model = models.WordPiece(
        {**vocabulary, **{f"##{c}": len(vocabulary) + i for i, c in enumerate(letters)}},
        unk_token="<unk>",
    )
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=1024,
    )


@pytest.fixture(scope="module")
def bart() -> BartForConditionalGeneration:
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=100,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_position_embeddings=1024,
        init_std=0.5,
    )
    return BartForConditionalGeneration(config).eval()


@pytest.fixture(scope="module")
def gpt() -> GPT2LMHeadModel:
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=100, n_embd=32, n_layer=2, n_head=4, n_positions=1024, initializer_range=0.5
    )
    return GPT2LMHeadModel(config).eval()


def _random_masks(words: int, count: int) -> np.ndarray:
    masks = np.random.default_rng(1).random((count, words)) < 0.5
    return np.concatenate([masks, [[True] * words, [False] * words]])


def test_batched_values_equal_one_at_a_time_on_bart(bart: Any, tokenizer: Any) -> None:
    """The model's own loss is the mean negative log-probability: an independent reference."""
    cut = segment(DOCUMENT)
    masks = _random_masks(len(cut.words), 20)
    found = LikelihoodEvaluator(
        segmentation=cut, summary=SUMMARY, model=bart, tokenizer=tokenizer, limit=1024, batch_size=7
    ).evaluate(masks)
    encoded = tokenizer(DOCUMENT, return_offsets_mapping=True)
    labels = torch.tensor([tokenizer(SUMMARY)["input_ids"]])
    for mask, outcome in zip(masks, found, strict=True):
        hidden = [
            (start, end)
            for start, end, kept in zip(cut.starts, cut.ends, mask, strict=True)
            if not kept
        ]
        attention = [
            int(not any(a < end and start < b for start, end in hidden))
            for a, b in encoded["offset_mapping"]
        ]
        with torch.no_grad():
            loss = bart(
                input_ids=torch.tensor([encoded["input_ids"]]),
                attention_mask=torch.tensor([attention]),
                labels=labels,
            ).loss
        assert outcome.value == pytest.approx(-float(loss), abs=1e-5)
    assert np.std([outcome.value for outcome in found]) > 1e-3


def test_batched_values_equal_one_at_a_time_on_a_causal_model(gpt: Any, tokenizer: Any) -> None:
    """Here the loss covers the summary's tokens only, the rest being labelled −100."""
    cut = segment(DOCUMENT)
    masks = _random_masks(len(cut.words), 10)
    found = LikelihoodEvaluator(
        segmentation=cut,
        summary=SUMMARY,
        model=gpt,
        tokenizer=tokenizer,
        limit=1024,
        prefix="summarize",
        suffix="summary",
    ).evaluate(masks)
    before, document, after, target = (
        tokenizer(text)["input_ids"] for text in ("summarize", DOCUMENT, "summary", SUMMARY)
    )
    offsets = tokenizer(DOCUMENT, return_offsets_mapping=True)["offset_mapping"]
    ignored = [-100] * (len(before) + len(document) + len(after))
    for mask, outcome in zip(masks, found, strict=True):
        hidden = [
            (start, end)
            for start, end, kept in zip(cut.starts, cut.ends, mask, strict=True)
            if not kept
        ]
        visible = [int(not any(a < end and s < b for s, end in hidden)) for a, b in offsets]
        attention = [1] * len(before) + visible + [1] * (len(after) + len(target))
        with torch.no_grad():
            loss = gpt(
                input_ids=torch.tensor([before + document + after + target]),
                attention_mask=torch.tensor([attention]),
                labels=torch.tensor([ignored + target]),
            ).loss
        assert outcome.value == pytest.approx(-float(loss), abs=1e-5)


def test_one_forward_pass_for_a_batch_of_masks(bart: Any, tokenizer: Any) -> None:
    """What makes the likelihood affordable at all."""
    calls = []
    handle = bart.register_forward_hook(lambda *_: calls.append(1))
    evaluator = LikelihoodEvaluator(
        segmentation=segment(DOCUMENT),
        summary=SUMMARY,
        model=bart,
        tokenizer=tokenizer,
        limit=1024,
        batch_size=16,
    )
    evaluator.evaluate(_random_masks(11, 30))
    handle.remove()
    assert len(calls) == 2


def test_budget_of_200_for_300_words_is_kept(bart: Any, tokenizer: Any) -> None:
    """Counted where the model is called, not where the budget is kept."""

    class Counting(LikelihoodEvaluator):
        rows = 0

        def evaluate(self, masks: np.ndarray) -> list[Outcome]:
            self.rows += len(masks)
            return super().evaluate(masks)

    document = " ".join(["T a b c d e f g h i j k l m n o p q r s."] * 15)
    evaluator = Counting(
        segmentation=segment(document), summary="a b", model=bart, tokenizer=tokenizer, limit=1024
    )
    value = BudgetedValue(evaluator, budget=200)
    found = ShapMethod().explain(value, seed=0)
    # Both are known by now: float32 gives a batch of another size other last digits.
    whole, none = value(np.array([[True] * 300, [False] * 300]))
    assert evaluator.rows == found.evaluations <= 200
    assert found.values.sum() == pytest.approx(whole - none, abs=1e-6)


def test_prompt_document_and_summary_share_the_context_of_a_causal_model(
    gpt: Any, tokenizer: Any
) -> None:
    """The document gives way: a longer row would have positions that the model never learned."""
    lengths = []
    handle = gpt.register_forward_pre_hook(
        lambda _, __, given: lengths.append(given["input_ids"].shape[1]), with_kwargs=True
    )
    evaluator = LikelihoodEvaluator(
        segmentation=segment(DOCUMENT),
        summary=SUMMARY,
        model=gpt,
        tokenizer=tokenizer,
        limit=50,
        prefix="summarize",
        suffix="summary",
    )
    evaluator.evaluate(np.ones((1, len(evaluator.segmentation.words)), dtype=bool))
    handle.remove()
    assert lengths == [50]


def test_words_past_the_models_limit_carry_nothing(bart: Any, tokenizer: Any) -> None:
    """5,000 words: what the model never saw cannot matter, and nothing crashes."""
    cut = segment(" ".join(["word"] * 5000))
    evaluator = LikelihoodEvaluator(
        segmentation=cut, summary=SUMMARY, model=bart, tokenizer=tokenizer, limit=1024
    )
    masks = np.ones((2, 5000), dtype=bool)
    masks[1, 1024:] = False
    first, second = evaluator.evaluate(masks)
    # Single precision: two rows of one batch may be summed in another order.
    assert first.value == pytest.approx(second.value, abs=1e-5)


def test_separation_is_the_transport_of_token_probabilities(bart: Any, tokenizer: Any) -> None:
    """In one dimension the optimal plan matches order statistics; the full document is at 0."""
    evaluator = LikelihoodEvaluator(
        segmentation=segment(DOCUMENT), summary=SUMMARY, model=bart, tokenizer=tokenizer, limit=1024
    )
    full = Outcome(value=0.0, output=np.array([0.2, 0.9]))
    other = Outcome(value=0.0, output=np.array([0.1, 0.4]))
    assert evaluator.separation(other, full) == pytest.approx(0.3)
    assert evaluator.separation(full, full) == 0.0


def test_attention_lies_on_the_words_of_their_subwords(bart: Any, tokenizer: Any) -> None:
    """Summed by hand from the model's own weights, special tokens and stops left out."""
    cut = segment(DOCUMENT)
    evaluator = LikelihoodEvaluator(
        segmentation=cut, summary=SUMMARY, model=bart, tokenizer=tokenizer, limit=1024
    )
    value = BudgetedValue(evaluator, budget=16)
    before = bart.config._attn_implementation
    found = AttentionMethod(model=bart, tokenizer=tokenizer, limit=1024).explain(value, seed=0)
    encoded = tokenizer(DOCUMENT, return_offsets_mapping=True)
    bart.set_attn_implementation("eager")
    with torch.no_grad():
        layers = bart(
            input_ids=torch.tensor([encoded["input_ids"]]),
            labels=torch.tensor([tokenizer(SUMMARY)["input_ids"]]),
            output_attentions=True,
        ).cross_attentions
    bart.set_attn_implementation(before)
    mass = torch.stack(layers).mean((0, 1, 2, 3)).tolist()
    expected = [
        sum(m for m, (a, b) in zip(mass, encoded["offset_mapping"], strict=True) if s <= a < e)
        for s, e in zip(cut.starts, cut.ends, strict=True)
    ]
    assert found.values == pytest.approx(expected, abs=1e-6)
    assert (found.evaluations, value.evaluations) == (1, 1)
    assert bart.config._attn_implementation == before


@pytest.mark.parametrize("kind", ["none", "causal"])
def test_attention_without_cross_attention_is_unavailable(
    kind: str, gpt: Any, tokenizer: Any, known_game: Any
) -> None:
    """A reason, never a 0."""
    value = BudgetedValue(known_game(lambda masks: masks.sum(axis=1), "two words"), budget=16)
    method = AttentionMethod(
        model=gpt if kind == "causal" else None, tokenizer=tokenizer, limit=1024
    )
    found = method.explain(value, seed=0)
    assert (found.values, found.reason) == (None, Reason.UNAVAILABLE)


def test_tokenizer_without_offsets_is_refused(bart: Any, tokenizer: Any) -> None:
    """Without offsets subwords cannot be given to words; the message names the remedy."""

    class Slow:
        is_fast = False
        bos_token = None

        def __call__(self, *_: Any, **__: Any) -> dict[str, list[int]]:
            return {"input_ids": [5]}

    with pytest.raises(UsageError, match="fast tokenizer"):
        LikelihoodEvaluator(
            segmentation=segment(DOCUMENT), summary=SUMMARY, model=bart, tokenizer=Slow(), limit=10
        )
