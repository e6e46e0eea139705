"""Decoder-only models of the transformers library (Llama, Gemma, Qwen, …), by prompt."""

from __future__ import annotations

from collections.abc import Sequence

from transformers import AutoModelForCausalLM

from monitor.errors import ConfigurationError
from monitor.records import Summary, SummaryTask
from monitor.summarization.batches import summaries
from monitor.summarization.generation import (
    Deadline,
    Generated,
    LoadedModel,
    generate,
    generation_parameters,
    load,
)
from monitor.summarization.length import PromptLength, checked_policy, input_limit
from monitor.summarization.naming import summarizer_name, text_hash
from monitor.summarization.prompts import checked_template, filled

DEFAULT_PROMPT = "Summarize the following text.\n\n{document}\n\nSummary:"


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
        prompt: str = DEFAULT_PROMPT,
        chat_template: bool = True,
        num_beams: int = 1,
        max_new_tokens: int = 142,
        batch_size: int = 16,
        too_long: str = "truncate",
        max_input_tokens: int | None = None,
        time_limit: float = 120.0,
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
        context = input_limit(self.loaded.model.config, tokenizer)
        limit = max_input_tokens or (context - max_new_tokens if context else None)
        if limit is None or limit < 1:
            raise ConfigurationError(
                f"max_input_tokens: the context of {model!r} is {context} tokens and "
                f"max_new_tokens {max_new_tokens}; set max_input_tokens or a smaller answer"
            )
        self._length = PromptLength(
            limit=limit,
            policy=policy,
            render=self.render,
            tokenize=lambda text: list(
                tokenizer(text, add_special_tokens=not self._chat, verbose=False)["input_ids"]
            ),
            offsets=lambda text: list(
                tokenizer(
                    text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
                )["offset_mapping"]
            ),
        )
        given = {"num_beams": num_beams, "max_new_tokens": max_new_tokens, **generation}
        self._parameters = generation_parameters(given)
        self._parameters["pad_token_id"] = tokenizer.pad_token_id
        self._batch_size, self._time_limit = batch_size, time_limit
        self.deterministic = not self._parameters["do_sample"]
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
        return summaries(
            tasks,
            length=self._length,
            generate=self._generate,
            batch_size=self._batch_size,
            time_limit=self._time_limit,
        )

    def _generate(self, prompts: Sequence[str]) -> list[Generated]:
        return generate(
            self.loaded,
            prompts,
            parameters=self._parameters,
            deadline=Deadline(self._time_limit),
            special_tokens=not self._chat,
            skip=None,
        )
