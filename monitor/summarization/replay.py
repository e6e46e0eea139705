"""The captured request sent again with only its document replaced.

The live service must neither be hurt nor fed by it. So a replay asks for one unstreamed
answer that is not stored, offers no tools, carries nothing that names a user, goes to the
configured endpoint with the configured key only, has trace ids of its own under
`tracestate: hss=replay` (by which ingest knows it again), and pauses on the first trouble.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence

import structlog

from monitor.ports import Clock
from monitor.records import CapturedRequest, Message, Reason, Summary, SummaryTask
from monitor.replays import REQUEST_ID, TRACESTATE, replay_trace_id
from monitor.summarization.answers import chat_completion, unanswered
from monitor.summarization.calls import Call, Endpoint, TransportFactory
from monitor.summarization.circuit import Circuit
from monitor.summarization.limits import CallLimits, expected_tokens, utc_now
from monitor.summarization.naming import summarizer_name
from monitor.summarization.prompts import json_body

_log = structlog.get_logger(__name__)

GENERATION = frozenset(
    {
        "frequency_penalty",
        "logit_bias",
        "max_completion_tokens",
        "max_tokens",
        "min_p",
        "presence_penalty",
        "reasoning_effort",
        "repetition_penalty",
        "response_format",
        "seed",
        "stop",
        "temperature",
        "top_k",
        "top_p",
        "verbosity",
    }
)
"""The parameters that are replayed. A list of what is allowed, not of what is forbidden: a
parameter that stores, bills or names someone and that we never heard of stays out."""


class ReplaySummarizer:
    """Sends each task's captured request again, to `url` (the full one) only.

    `parameters` names further generation parameters that may be replayed; `sampled` is the
    sampled flag of the trace context (set, the service's own tracing records replays too);
    `ask_not_to_store` sends `store: false` (switch it off where the endpoint refuses fields
    it does not know; nothing asks for storing either way).
    While `circuit` is open every task is answered `summarizer_throttled` without a call.
    """

    deterministic = False
    replays = True

    def __init__(
        self,
        *,
        url: str,
        limits: CallLimits,
        api_key: str | None = None,
        sampled: bool = False,
        parameters: Collection[str] = (),
        ask_not_to_store: bool = True,
        circuit: Circuit | None = None,
        transport: TransportFactory | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self.circuit = circuit or Circuit(clock=clock)
        self._allowed = GENERATION | frozenset(parameters)
        self._flags = "01" if sampled else "00"
        self._ask_not_to_store = ask_not_to_store
        self._told: set[str] = set()
        self.endpoint = Endpoint(
            url,
            read=chat_completion,
            api_key=api_key,
            limits=limits,
            circuit=self.circuit,
            transport=transport,
            clock=clock,
        )
        # The request decides about model, prompt and parameters, record by record.
        self.name = summarizer_name("replay", {"request": "captured"})

    def summarize(self, tasks: Sequence[SummaryTask]) -> list[Summary]:
        """See `monitor.ports.Summarizer`; the calls of a batch run concurrently."""
        return self.endpoint.call_all([self._call(task) for task in tasks])

    def _call(self, task: SummaryTask) -> Call | Summary:
        if task.request is None or not task.request.messages:
            return unanswered(Reason.REQUEST_MISSING, "the record has no captured request")
        if not task.document.strip():
            return unanswered(Reason.EMPTY_DOCUMENT)
        if any(message.role in {"tool", "function"} for message in task.request.messages):
            return unanswered(Reason.TOOL_CALL, "the captured request holds a tool's answer")
        messages, last = replaced(task.request, task.original_document, task.document)
        if last is None:
            return unanswered(
                Reason.DOCUMENT_NOT_FOUND, "the captured messages do not hold the document"
            )
        if any(message.role == "assistant" for message in messages[last + 1 :]):
            return unanswered(Reason.DOCUMENT_NOT_LAST)
        parameters = self._parameters(task.request)
        body = {
            **parameters,
            "model": task.request.model,
            "messages": [
                {"role": message.role, "content": message.content} for message in messages
            ],
            "stream": False,
            "n": 1,
        }
        if self._ask_not_to_store:
            body["store"] = False
        content = json_body(body)
        if content is None:
            return unanswered(
                Reason.SUMMARIZER_ERROR, "a captured parameter has no JSON form (NaN, bytes)"
            )
        characters = sum(len(message.content) for message in messages)
        return Call(
            body=content,
            headers=trace_headers(self._flags),
            expected_tokens=expected_tokens(characters, parameters),
        )

    def _parameters(self, request: CapturedRequest) -> dict[str, object]:
        dropped = request.parameters.keys() - self._allowed - {"n", "stream", "store"}
        if new := sorted(dropped - self._told):
            self._told.update(new)
            _log.warning("replay_parameters_dropped", parameters=new)
        return {name: value for name, value in request.parameters.items() if name in self._allowed}


def replaced(
    request: CapturedRequest, original: str, document: str
) -> tuple[tuple[Message, ...], int | None]:
    """The messages with `document` wherever `original` stood, and the last message it was in.

    An occurrence counts only at word borders, so that a document of one short word is not
    replaced inside other words.
    """
    messages, last = [], None
    for index, message in enumerate(request.messages):
        content, count = _replaced_text(message.content, original, document)
        messages.append(Message(role=message.role, content=content))
        last = index if count else last
    return tuple(messages), last


def _replaced_text(text: str, original: str, document: str) -> tuple[str, int]:
    original, made, end, count = original.strip(), [], 0, 0
    position = text.find(original) if original else -1
    while position >= 0:
        after = position + len(original)
        if _inside_word(text, position) or _inside_word(text, after):
            position = text.find(original, position + 1)
            continue
        made += [text[end:position], document.strip()]
        end, count = after, count + 1
        position = text.find(original, after)
    return "".join([*made, text[end:]]), count


def _inside_word(text: str, border: int) -> bool:
    return 0 < border < len(text) and text[border - 1].isalnum() and text[border].isalnum()


def trace_headers(flags: str) -> dict[str, str]:
    """A W3C trace context of our own, never that of the captured call."""
    return {
        "traceparent": f"00-{replay_trace_id()}-{secrets.token_hex(8)}-{flags}",
        "tracestate": TRACESTATE,
        # KServe's logger keeps no trace state, but takes over this id.
        "ce-id": f"{REQUEST_ID}{secrets.token_hex(16)}",
    }
