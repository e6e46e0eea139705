"""A batch of tasks through a model in this process: fit, generate, answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from monitor.records import Reason, Summary, SummaryTask
from monitor.summarization.generation import Generated
from monitor.summarization.length import Fitted, PromptLength
from monitor.summarization.prompts import encodable

Generate = Callable[[Sequence[str]], list[Generated]]
"""One batched generation over prompts that all fit."""


def summaries(
    tasks: Sequence[SummaryTask],
    *,
    length: PromptLength,
    generate: Generate,
    batch_size: int,
    time_limit: float,
) -> list[Summary]:
    """One answer a task, in order; `batch_size` documents share one generation.

    `seconds` of a summary is its share of its batch's time. A generation that fails fails
    its batch only, as `summarizer_error` with the name of the exception.
    """
    answers: list[Summary | None] = [None] * len(tasks)
    fitting: list[tuple[int, Fitted]] = []
    for place, task in enumerate(tasks):
        if not task.document.strip():
            answers[place] = _none(Reason.EMPTY_DOCUMENT)
        elif (fitted := length.fit(encodable(task.document))) is None:
            answers[place] = _none(
                Reason.TOO_LONG, f"longer than the {length.limit} tokens that the model takes"
            )
        else:
            fitting.append((place, fitted))
    for begin in range(0, len(fitting), batch_size):
        batch = fitting[begin : begin + batch_size]
        started = time.perf_counter()
        try:
            rows = generate([fitted.prompt for _, fitted in batch])
        except (RuntimeError, ValueError, IndexError) as error:
            for place, _ in batch:
                answers[place] = Summary(
                    text=None,
                    reason=Reason.SUMMARIZER_ERROR,
                    detail=f"the generation failed ({type(error).__name__})",
                )
            continue
        seconds = (time.perf_counter() - started) / len(batch)
        for (place, fitted), row in zip(batch, rows, strict=True):
            answers[place] = _answer(fitted, row, seconds=seconds, time_limit=time_limit)
    return [answer or _none(Reason.INTERNAL_ERROR) for answer in answers]


def _answer(fitted: Fitted, row: Generated, *, seconds: float, time_limit: float) -> Summary:
    reason, detail = None, ""
    if not row.finished:
        reason = Reason.SUMMARIZER_TIMEOUT
        detail = f"not finished within {time_limit:g} s, {row.tokens} tokens were made"
    elif not row.text:
        reason = Reason.EMPTY_SUMMARY
    return Summary(
        text=row.text if reason is None else None,
        reason=reason,
        detail=detail,
        seconds=seconds,
        prompt_tokens=fitted.tokens,
        completion_tokens=row.tokens,
        truncated=fitted.truncated,
    )


def _none(reason: Reason, detail: str = "") -> Summary:
    return Summary(text=None, reason=reason, detail=detail, attempts=0)
