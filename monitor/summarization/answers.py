"""What the JSON of an endpoint says: a summary, or why it is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from monitor.records import Reason, Summary


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A summary with its token counts, or the reason why there is none."""

    text: str | None
    reason: Reason | None = None
    detail: str = ""
    """For people; never a text."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


def failed(detail: str, reason: Reason = Reason.SUMMARIZER_ERROR) -> Answer:
    """An answer without a text."""
    return Answer(text=None, reason=reason, detail=detail)


def unanswered(reason: Reason, detail: str = "") -> Summary:
    """The summary of a task for which nothing was called."""
    return Summary(text=None, reason=reason, detail=detail, attempts=0)


def written(text: str, *, prompt_tokens: object = None, completion_tokens: object = None) -> Answer:
    """An answer with a text; one of blanks only is `empty_summary`."""
    stripped = text.strip()
    return Answer(
        text=stripped or None,
        reason=None if stripped else Reason.EMPTY_SUMMARY,
        prompt_tokens=count(prompt_tokens),
        completion_tokens=count(completion_tokens),
    )


def chat_completion(payload: Any) -> Answer:
    """Read the first choice of an OpenAI chat completion; any JSON is taken, none raises.

    An answer that calls a tool is no summary, even where it also holds text. Of a content
    in parts only the text parts count (a reasoning part is not the summary).
    """
    try:
        choice = payload["choices"][0]
        message = choice["message"]
        content = message.get("content")
        calls_tool = bool(message.get("tool_calls") or message.get("function_call"))
    except (KeyError, IndexError, TypeError, AttributeError):
        return failed("the answer is no chat completion (no choices[0].message)")
    usage = payload.get("usage")
    told = usage if isinstance(usage, dict) else {}
    answer = written(
        _joined(content),
        prompt_tokens=told.get("prompt_tokens"),
        completion_tokens=told.get("completion_tokens"),
    )
    if calls_tool:
        return _without_text(answer, Reason.TOOL_CALL, "the answer calls a tool")
    if message.get("refusal"):
        return _without_text(answer, Reason.SUMMARIZER_ERROR, "the model refused")
    if answer.text is None and choice.get("finish_reason") == "content_filter":
        return _without_text(answer, Reason.SUMMARIZER_ERROR, "a content filter took the answer")
    if answer.text is None:
        finish = choice.get("finish_reason")
        hint = "; raise max_tokens" if finish == "length" else ""
        return _without_text(answer, Reason.EMPTY_SUMMARY, f"the answer is empty{hint}")
    return answer


def count(value: object) -> int | None:
    """A token count, or `None` for anything that is not one.

    >>> count(7), count("7"), count(True), count(-1)
    (7, None, None, None)
    """
    return value if type(value) is int and value >= 0 else None


def _joined(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def _without_text(answer: Answer, reason: Reason, detail: str) -> Answer:
    # The tokens were spent all the same, and the budget has to know.
    return Answer(
        text=None,
        reason=reason,
        detail=detail,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
    )
