"""A batch of tasks through a model in this process: fit, generate, answer."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from monitor.records import Reason, Summary, SummaryTask
from monitor.summarization.answers import unanswered
from monitor.summarization.generation import Deadline, Generated, LoadedModel, generate
from monitor.summarization.length import Fitted, PromptLength
from monitor.summarization.prompts import encodable


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchedGeneration:
    """A model in this process, and how it is asked."""

    loaded: LoadedModel
    length: PromptLength
    """Fits a document into a prompt."""
    parameters: Mapping[str, object]
    """Of transformers' `generate`."""
    special_tokens: bool
    """Whether the tokenizer adds them: not where a chat template writes them."""
    skip: int | None
    """Leading ids of a row that are not generated, as `generate` takes it."""
    batch_size: int
    """Documents that share one generation."""
    time_limit: float
    """Seconds for each batch."""

    def summaries(self, tasks: Sequence[SummaryTask]) -> list[Summary]:
        """One answer a task, in order.

        `seconds` of a summary is its share of its batch's time. A generation that fails fails
        its batch only, as `summarizer_error` with the name of the exception.
        """
        answers: list[Summary | None] = [None] * len(tasks)
        fitting: list[tuple[int, Fitted]] = []
        for place, task in enumerate(tasks):
            if not task.document.strip():
                answers[place] = unanswered(Reason.EMPTY_DOCUMENT)
            elif (fitted := self.length.fit(encodable(task.document))) is None:
                answers[place] = unanswered(
                    Reason.TOO_LONG,
                    f"longer than the {self.length.limit} tokens that the model takes",
                )
            else:
                fitting.append((place, fitted))
        for begin in range(0, len(fitting), self.batch_size):
            batch = fitting[begin : begin + self.batch_size]
            made = self._batch([fitted for _, fitted in batch])
            for (place, _), answer in zip(batch, made, strict=True):
                answers[place] = answer
        return [answer or unanswered(Reason.INTERNAL_ERROR) for answer in answers]

    def _batch(self, batch: Sequence[Fitted]) -> list[Summary]:
        started = time.perf_counter()
        try:
            rows = generate(
                self.loaded,
                [fitted.prompt for fitted in batch],
                parameters=self.parameters,
                deadline=Deadline(self.time_limit),
                special_tokens=self.special_tokens,
                skip=self.skip,
            )
        except (RuntimeError, ValueError, IndexError) as error:
            # The kind only: a message may quote the document.
            detail = f"the generation failed ({type(error).__name__})"
            failed = Summary(text=None, reason=Reason.SUMMARIZER_ERROR, detail=detail)
            return [failed] * len(batch)
        seconds = (time.perf_counter() - started) / len(batch)
        return [
            self._answer(fitted, row, seconds=seconds)
            for fitted, row in zip(batch, rows, strict=True)
        ]

    def _answer(self, fitted: Fitted, row: Generated, *, seconds: float) -> Summary:
        reason, detail = None, ""
        if not row.finished:
            reason = Reason.SUMMARIZER_TIMEOUT
            detail = f"not finished within {self.time_limit:g} s, {row.tokens} tokens were made"
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
