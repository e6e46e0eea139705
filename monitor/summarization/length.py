"""What happens to a document that is longer than a model takes: cut it, or leave it out.

A tokenizer's own truncation would cut the end of the *prompt*; here only the document is
cut, at a token border, and everything around it stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from monitor.errors import ConfigurationError, choices


class LengthPolicy(StrEnum):
    """The policy for a document that does not fit."""

    TRUNCATE = "truncate"
    """Cut its end and say so in `Summary.truncated`."""
    SKIP = "skip"
    """Answer `too_long`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fitted:
    """A prompt that the model takes whole."""

    prompt: str
    tokens: int
    truncated: bool


def checked_policy(value: str) -> LengthPolicy:
    """The policy of that name; raises `ConfigurationError`."""
    try:
        return LengthPolicy(value)
    except ValueError as error:
        raise ConfigurationError(
            f"too_long: {value!r} is unknown; use {choices(LengthPolicy)}"
        ) from error


class PromptLength:
    """Fits documents into prompts of at most `limit` tokens.

    `tokenize` gives the model's tokens of a rendered prompt, special ones included;
    `offsets` the (start, end) code points of each token of a bare document.
    Raises `ConfigurationError` where the prompt alone leaves no room for a document.
    """

    def __init__(
        self,
        *,
        limit: int,
        policy: LengthPolicy,
        render: Callable[[str], str],
        tokenize: Callable[[str], list[int]],
        offsets: Callable[[str], list[tuple[int, int]]],
    ) -> None:
        self.limit, self.policy = limit, policy
        self._render, self._tokenize, self._offsets = render, tokenize, offsets
        around = len(tokenize(render("")))
        if around >= limit:
            raise ConfigurationError(
                f"max_input_tokens: {limit} holds no document, the prompt alone takes {around}; "
                "shorten the prompt or max_new_tokens"
            )

    def fit(self, document: str) -> Fitted | None:
        """The prompt of a document, or of its beginning.

        `None` where it does not fit and the policy is `skip`, or nothing of it fits: the summary
        of an empty prompt would say nothing of it.
        """
        prompt = self._render(document)
        tokens = len(self._tokenize(prompt))
        if tokens <= self.limit:
            return Fitted(prompt=prompt, tokens=tokens, truncated=False)
        if self.policy is LengthPolicy.SKIP:
            return None
        borders = self._offsets(document)
        kept = min(len(borders), len(borders) - (tokens - self.limit))
        while kept > 0:
            prompt = self._render(document[: borders[kept - 1][1]])
            tokens = len(self._tokenize(prompt))
            if tokens <= self.limit:
                return Fitted(prompt=prompt, tokens=tokens, truncated=True)
            # A cut can split a token in two, and merge or part it from what follows.
            kept -= max(1, tokens - self.limit)
        return None


def input_limit(config: Any, tokenizer: Any) -> int | None:
    """The longest input that model and tokenizer tell of, in tokens; `None` where neither does.

    Tokenizers without a limit state an astronomically large one.
    """
    told = [
        getattr(config, name, None)
        for name in ("max_position_embeddings", "n_positions", "max_encoder_position_embeddings")
    ]
    told.append(getattr(tokenizer, "model_max_length", None))
    limits = [limit for limit in told if isinstance(limit, int) and 0 < limit < 10**9]
    return min(limits) if limits else None
