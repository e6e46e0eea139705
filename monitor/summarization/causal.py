"""Decoder-only models of the transformers library (Llama, Gemma, Qwen, …), by prompt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from transformers import AutoModelForCausalLM

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
from monitor.summarization.prompts import checked_template, filled


class CausalSummarizer:
    """Continues `prompt`, in which `{document}` stands for the text.

    Where the tokenizer brings a chat template, the prompt becomes the user's turn of it
    (`chat_template=False` sends it bare). Prompt and answer share the model's context, so a
    document may take what `max_new_tokens` and the prompt leave. See `Seq2SeqSummarizer`
    for the other arguments, for determinism and for what is raised.
    """

    replays = False

    def __init__(
        self,
        *,
        model: str,
        prompt: str,
        num_beams: int,
        max_new_tokens: int,
        batch_size: int,
        too_long: str,
        time_limit: float,
        chat_template: bool = True,
        max_input_tokens: int | None = None,
        allow_download: bool = False,
        device: str = "cpu",
        dtype: str = "float32",
        **generation: object,
    ) -> None:
        policy = checked_policy(too_long)
        self._prompt = checked_template(prompt, field="prompt")
        self.loaded: LoadedModel = load(
            model,
            key="summarizer.causal.model",
            auto=AutoModelForCausalLM,
            allow_download=allow_download,
            device=device,
            dtype=dtype,
        )
        """Model and tokenizer, for value functions that need probabilities."""
        tokenizer = self.loaded.tokenizer
        # Generation continues at the right end, so rows are padded at the left.
        tokenizer.padding_side = "left"
        # A chat template writes the special tokens itself.
        self._chat = chat_template and tokenizer.chat_template is not None
        context = self.loaded.input_limit
        limit = max_input_tokens or (context - max_new_tokens if context else None)
        if limit is None or limit < 1:
            raise ConfigurationError(
                f"max_input_tokens: the context of {model!r} is {context} tokens and "
                f"max_new_tokens {max_new_tokens}; set max_input_tokens or a smaller answer"
            )
        given = {"num_beams": num_beams, "max_new_tokens": max_new_tokens, **generation}
        parameters = generation_parameters(given) | {"pad_token_id": tokenizer.pad_token_id}
        self._generation = BatchedGeneration(
            loaded=self.loaded,
            length=PromptLength(
                limit=limit,
                policy=policy,
                render=self.render,
                tokenize=lambda text: list(
                    tokenizer(text, add_special_tokens=not self._chat, verbose=False)["input_ids"]
                ),
                offsets=partial(token_offsets, tokenizer),
            ),
            parameters=parameters,
            special_tokens=not self._chat,
            skip=None,
            batch_size=batch_size,
            time_limit=time_limit,
        )
        self.deterministic = not parameters["do_sample"]
        self.name = summarizer_name(
            "causal",
            {
                **self.loaded.identity,
                "prompt": text_hash(prompt),
                "chat_template": self._chat,
                "too_long": policy,
                **given,
            },
        )

    def render(self, document: str) -> str:
        """The whole prompt of a document, as the model sees it."""
        prompt = filled(self._prompt, document)
        if not self._chat:
            return prompt
        rendered: str = self.loaded.tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}], tokenize=False, add_generation_prompt=True
        )
        return rendered

    def summarize(self, tasks: Sequence[SummaryTask]) -> list[Summary]:
        """See `monitor.ports.Summarizer`; the time limit holds for each batch."""
        return self._generation.summaries(tasks)
