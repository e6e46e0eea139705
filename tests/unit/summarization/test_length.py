"""Documents that are longer than a model takes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from monitor.errors import ConfigurationError
from monitor.summarization.length import LengthPolicy, PromptLength, checked_policy, input_limit


def words(limit, policy=LengthPolicy.TRUNCATE, render=lambda text: f"Sum: {text} End"):
    """A model whose tokens are words."""

    def offsets(text):
        import re

        return [match.span() for match in re.finditer(r"\S+", text)]

    return PromptLength(
        limit=limit,
        policy=policy,
        render=render,
        tokenize=lambda text: [0] * len(text.split()),
        offsets=offsets,
    )


def test_a_document_that_fits_is_left_alone():
    """Exactly at the limit: 4 words and 2 of the prompt."""
    fitted = words(6).fit("one two three four")
    assert (fitted.prompt, fitted.tokens, fitted.truncated) == (
        "Sum: one two three four End",
        6,
        False,
    )


def test_only_the_document_is_cut():
    """A tokenizer's own truncation would cut `End`, the part that asks for the summary."""
    fitted = words(6).fit("one two three four five")
    assert (fitted.prompt, fitted.tokens, fitted.truncated) == (
        "Sum: one two three four End",
        6,
        True,
    )


def test_a_document_of_which_no_token_fits_is_left_out():
    """A summary of an empty prompt would be taken for one of the document."""
    # The tokenizer parts what stands alone from what stands in a prompt: one token, or four.
    fitting = PromptLength(
        limit=4,
        policy=LengthPolicy.TRUNCATE,
        render=lambda text: f"Sum: {text}",
        tokenize=lambda text: [0] * (1 if text == "Sum: " else len(text)),
        offsets=lambda text: [(0, len(text))],
    )
    assert fitting.fit("word") is None


def test_skip_leaves_it_out():
    """The reason is the caller's: there is no prompt."""
    assert words(6, LengthPolicy.SKIP).fit("one two three four five") is None


def test_a_prompt_that_fills_the_model_is_refused():
    """Else every document would be cut to nothing."""
    with pytest.raises(ConfigurationError, match="max_input_tokens"):
        words(2)


def test_an_unknown_policy_names_the_choices():
    """The list of choices is computed, not typed."""
    with pytest.raises(ConfigurationError, match="'truncate' or 'skip'"):
        checked_policy("cut")


@pytest.mark.parametrize(
    ("config", "tokenizer", "limit"),
    [
        ({"max_position_embeddings": 1024}, 1024, 1024),
        ({"max_position_embeddings": 1024}, 512, 512),
        ({"n_positions": 2048}, int(1e30), 2048),
        ({"max_encoder_position_embeddings": 4096}, int(1e30), 4096),
        ({}, int(1e30), None),
    ],
)
def test_the_least_limit_that_is_told_counts(config, tokenizer, limit):
    """Tokenizers without a limit state 10³⁰."""
    told = input_limit(SimpleNamespace(**config), SimpleNamespace(model_max_length=tokenizer))
    assert told == limit
