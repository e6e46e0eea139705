"""Encoder–decoder models of the transformers library (BART, PEGASUS, T5, …)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from transformers import AutoModelForSeq2SeqLM

from monitor.errors import ConfigurationError
from monitor.records import Summary, SummaryTask
from monitor.summarization.batches import BatchedGeneration
from monitor.summarization.generation import (
    LoadedModel,
    generation_parameters,
    load,
    token_offsets,
)
from monitor.summarization.length import PromptLength, checked_policy
from monitor.summarization.naming import summarizer_name, text_hash
from monitor.summarization.prompts import PLACEHOLDER, checked_template, filled


class Seq2SeqSummarizer:
    """Summarizes with a model from a folder or hub id, `batch_size` documents at a time.

    `num_beams=1` is greedy search; further parameters of transformers' `generate` come by
    keyword. `time_limit` is in seconds, for each batch. `prompt` wraps the document where the
    model wants it (`summarize: {document}` for T5). `max_input_tokens` overrides the limit that
    the model tells.
    Deterministic unless `do_sample=True`: the same batch gives the same summaries. Padding
    beside longer documents may change the last bits of a probability, and so, rarely, a tie.
    Raises `ModelUnavailable` or `ConfigurationError` when constructed.
    """

    replays = False

    def __init__(
        self,
        *,
        model: str,
        num_beams: int,
        max_new_tokens: int,
        batch_size: int,
        too_long: str,
        time_limit: float,
        prompt: str = PLACEHOLDER,
        max_input_tokens: int | None = None,
        allow_download: bool = False,
        device: str = "cpu",
        dtype: str = "float32",
        **generation: object,
    ) -> None:
        policy = checked_policy(too_long)
        render = partial(filled, checked_template(prompt, field="prompt"))
        self.loaded: LoadedModel = load(
            model,
            key="summarizer.seq2seq.model",
            auto=AutoModelForSeq2SeqLM,
            allow_download=allow_download,
            device=device,
            dtype=dtype,
        )
        """Model and tokenizer, for value functions that need probabilities."""
        limit = max_input_tokens or self.loaded.input_limit
        if limit is None:
            raise ConfigurationError(
                f"max_input_tokens: {model!r} tells no limit; set what it was trained with"
            )
        tokenizer = self.loaded.tokenizer
        given = {"num_beams": num_beams, "max_new_tokens": max_new_tokens, **generation}
        parameters = generation_parameters(given)
        self._generation = BatchedGeneration(
            loaded=self.loaded,
            length=PromptLength(
                limit=limit,
                policy=policy,
                render=render,
                tokenize=lambda text: list(tokenizer(text, verbose=False)["input_ids"]),
                offsets=partial(token_offsets, tokenizer),
            ),
            parameters=parameters,
            special_tokens=True,
            skip=1,
            batch_size=batch_size,
            time_limit=time_limit,
        )
        self.deterministic = not parameters["do_sample"]
        self.name = summarizer_name(
            "seq2seq",
            {**self.loaded.identity, "prompt": text_hash(prompt), "too_long": policy, **given},
        )

    def summarize(self, tasks: Sequence[SummaryTask]) -> list[Summary]:
        """See `monitor.ports.Summarizer`; the time limit holds for each batch."""
        return self._generation.summaries(tasks)
