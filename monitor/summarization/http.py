"""A summarizer behind any JSON endpoint: a body template and a JMESPath for the answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import jmespath
import jmespath.exceptions

from monitor.errors import ConfigurationError
from monitor.ports import Clock
from monitor.records import Reason, Summary, SummaryTask
from monitor.summarization.answers import Answer, failed, unanswered, written
from monitor.summarization.calls import Call, Endpoint, TransportFactory
from monitor.summarization.limits import CallLimits, expected_tokens, utc_now
from monitor.summarization.naming import summarizer_name, text_hash
from monitor.summarization.prompts import checked_json_template, json_filled


class HttpSummarizer:
    """Posts `body` to `url` and reads the summary at `answer`.

    `body` is JSON in which `{document}` stands for a JSON string, or stands inside one; the
    document cannot break out of it. `answer`, `prompt_tokens` and `completion_tokens` are
    JMESPath expressions over the answer; a list of strings found by `answer` is joined.
    Raises `ConfigurationError` for a template or an expression that cannot work.
    """

    deterministic = False
    replays = False

    def __init__(
        self,
        *,
        url: str,
        body: str,
        answer: str,
        limits: CallLimits,
        prompt_tokens: str | None = None,
        completion_tokens: str | None = None,
        api_key: str | None = None,
        transport: TransportFactory | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._body = checked_json_template(body, field="body")
        self._path = answer
        self._answer = _compiled(answer, field="answer")
        self._prompt_tokens = _compiled(prompt_tokens or "`null`", field="prompt_tokens")
        self._completion_tokens = _compiled(
            completion_tokens or "`null`", field="completion_tokens"
        )
        self.endpoint = Endpoint(
            url,
            read=self._read,
            api_key=api_key,
            limits=limits,
            transport=transport,
            clock=clock,
        )
        self.name = summarizer_name("http", {"body": text_hash(body), "answer": answer})

    def summarize(self, tasks: Sequence[SummaryTask]) -> list[Summary]:
        """See `monitor.ports.Summarizer`; the calls of a batch run concurrently."""
        return self.endpoint.call_all([self._call(task) for task in tasks])

    def _call(self, task: SummaryTask) -> Call | Summary:
        if not task.document.strip():
            return unanswered(Reason.EMPTY_DOCUMENT)
        body = json_filled(self._body, task.document)
        return Call(
            body=json.dumps(json.loads(body)).encode(),
            expected_tokens=expected_tokens(len(body), {}),
        )

    def _read(self, payload: Any) -> Answer:
        found = _search(self._answer, payload)
        if isinstance(found, list) and found and all(isinstance(part, str) for part in found):
            found = " ".join(found)
        if found is None:
            return failed(f"the answer holds nothing at {self._path!r}")
        if not isinstance(found, str):
            return failed(f"what the answer holds at {self._path!r} is no text")
        return written(
            found,
            prompt_tokens=_search(self._prompt_tokens, payload),
            completion_tokens=_search(self._completion_tokens, payload),
        )


def _compiled(expression: str, *, field: str) -> Any:
    try:
        return jmespath.compile(expression)
    except jmespath.exceptions.JMESPathError as error:
        raise ConfigurationError(
            f"{field}: {expression!r} is no JMESPath expression; write it like 'choices[0].text'"
        ) from error


def _search(expression: Any, payload: Any) -> Any:
    try:
        return expression.search(payload)
    except jmespath.exceptions.JMESPathError:
        # A function met a value of another type than it takes: nothing was found there.
        return None
