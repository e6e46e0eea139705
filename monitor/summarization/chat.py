"""A summarizer behind an OpenAI-compatible chat endpoint, with a prompt of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from monitor.errors import ConfigurationError, choices
from monitor.ports import Clock
from monitor.records import Reason, Summary, SummaryTask
from monitor.summarization.answers import chat_completion, unanswered
from monitor.summarization.calls import Call, Endpoint, TransportFactory
from monitor.summarization.limits import CallLimits, expected_tokens, utc_now
from monitor.summarization.naming import summarizer_name, text_hash
from monitor.summarization.prompts import checked_template, filled, json_body

OURS = frozenset({"messages", "model", "n", "stream", "stream_options", "tools", "tool_choice"})
"""Parameters that a configuration must not set: they decide what comes back."""


class ChatSummarizer:
    """Asks `url` (the full one, as in `…/v1/chat/completions`) for each summary.

    `prompt` is the user message, with `{document}` for the text; `parameters` are sent as
    they are (`temperature`, `max_tokens`, …). A served model is not deterministic even at
    temperature 0. Raises `ConfigurationError` when constructed with what cannot work.
    """

    deterministic = False
    replays = False

    def __init__(
        self,
        *,
        url: str,
        model: str,
        prompt: str,
        parameters: Mapping[str, Any],
        limits: CallLimits,
        api_key: str | None = None,
        system: str | None = None,
        transport: TransportFactory | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._prompt = checked_template(prompt, field="prompt")
        self._system = system
        self._parameters = dict(parameters)
        if taken := sorted(OURS & self._parameters.keys()):
            raise ConfigurationError(
                f"parameters: {choices(taken)} is set by hss-monitor itself; leave it out"
            )
        if json_body(self._parameters) is None:
            raise ConfigurationError("parameters: have no JSON form; use plain values")
        self._model = model
        self.endpoint = Endpoint(
            url,
            read=chat_completion,
            api_key=api_key,
            limits=limits,
            transport=transport,
            clock=clock,
        )
        self.name = summarizer_name(
            "chat",
            {"model": model, "prompt": text_hash(prompt, system or ""), **self._parameters},
        )

    def summarize(self, tasks: Sequence[SummaryTask]) -> list[Summary]:
        """See `monitor.ports.Summarizer`; the calls of a batch run concurrently."""
        return self.endpoint.call_all([self._call(task) for task in tasks])

    def _call(self, task: SummaryTask) -> Call | Summary:
        if not task.document.strip():
            return unanswered(Reason.EMPTY_DOCUMENT)
        messages = [{"role": "user", "content": filled(self._prompt, task.document)}]
        if self._system is not None:
            messages.insert(0, {"role": "system", "content": self._system})
        body = {
            **self._parameters,
            "model": self._model,
            "messages": messages,
            "stream": False,
            "n": 1,
        }
        return Call(
            body=json_body(body) or b"",
            expected_tokens=expected_tokens(
                sum(len(message["content"]) for message in messages), self._parameters
            ),
        )
