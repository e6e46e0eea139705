"""Records that are posted as such, from the body to the answer: one item may be refused alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response

from monitor.ingest import answers
from monitor.ingest.door import Door, content_type
from monitor.ingest.json_parts import Source
from monitor.ingest.redaction import Redaction
from monitor.ingest.submission import Submission
from monitor.ingest.tracestate import is_replay
from monitor.ports import Intake

Read = Callable[[str, Source], Submission]
"""From the content type and the body; raises `BodyRefused` or `MalformedInput`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Posting:
    """Takes in what a `Read` makes of a body."""

    door: Door
    intake: Intake
    redaction: Redaction | None
    """Applied before anything else sees a record; `None` where texts may be kept."""

    async def submit(self, request: Request, read: Read) -> Response:
        """How many records were accepted and sampled, and which items were not and why."""

        async def take() -> Response:
            async with self.door.body(request) as body:
                submission = await asyncio.to_thread(read, content_type(request), body)
                body.clear()  # up to 16 MiB that nothing needs any more
                if is_replay(request.headers.get("tracestate", "")):
                    submission = _inside_replay(submission)
                sampled = await self._sampled(submission)
            if submission.replays:
                self.intake.replay_ignored(submission.replays)
            return answers.submission_taken(submission, sampled=sampled)

        return await self.door.answered(take, refused)

    async def _sampled(self, submission: Submission) -> int:
        records, redaction = submission.records, self.redaction
        if redaction is not None:
            records = await asyncio.to_thread(
                lambda: tuple(redaction.record(record) for record in records)
            )
        return sum(await self.intake.take(records)) if records else 0


def _inside_replay(submission: Submission) -> Submission:
    """What is left of records that were posted inside of a replay.

    Whoever posts inside of the call that it reports is traced like it. A batch that only happened
    to be full then holds other calls, too: those that tell their own trace are known by that.
    """
    records = submission.records
    others = tuple(record for record in records if record.trace_id) if len(records) > 1 else ()
    replays = submission.replays + len(records) - len(others)
    return replace(submission, records=others, replays=replays)


def refused(status: int, message: str, retry_after: float | None) -> Response:
    """The refusal of a posted body, as JSON."""
    return answers.submission_refused(status, message, retry_after=retry_after)
