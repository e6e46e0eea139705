"""What a record's page cannot show, and why."""

from __future__ import annotations

from monitor.investigate.record_parts import Missing
from monitor.records import CapturedRequest, Reason
from monitor.storage.content import ContentMode
from monitor.storage.detail import RecordDetail


def missing_parts(
    detail: RecordDetail, request: CapturedRequest | None, *, texts: bool
) -> list[Missing]:
    """In the order of the page; `texts` says whether this reader may see them."""
    found = []
    if not texts:
        why = "texts are shown to investigators only (access.texts)"
        found.append(Missing(what="every text", why=why))
    elif detail.erased_at is not None and not detail.content_mode.keeps_texts:
        found.append(
            Missing(
                what="every text",
                why="only hashes are kept (storage.mode: hash_only); the texts were erased when "
                "the record was finished. Words, swaps and unsupported facts are positions",
            )
        )
    elif not detail.content_mode.keeps_texts:
        why = "queued texts are sealed, and only hashes are kept (storage.mode: hash_only)"
        found.append(Missing(what="every text", why=why))
    elif detail.erased_at is not None:
        why = f"erased at {detail.erased_at:%Y-%m-%d %H:%M} UTC (storage.keep_texts_days)"
        found.append(Missing(what="every text", why=why))
    elif detail.content_mode is ContentMode.REDACTED:
        why = (
            "e-mail addresses, phone and card numbers and configured patterns were replaced "
            "before anything was stored (storage.mode: redacted)"
        )
        found.append(Missing(what="parts of the texts", why=why))
    if texts and request is None and detail.document is not None:
        found.append(_without_request(detail))
    if detail.score is None:
        why = (
            "no scorer has finished it yet"
            if detail.row.finished_at is None
            else f"it ended without a result: {detail.row.reason or 'no reason was noted'}"
        )
        found.append(Missing(what="the score", why=why))
    elif detail.row.hss is None:
        found.append(Missing(what="HSS", why=str(detail.score.hss_reason or "no reason noted")))
    if detail.score is not None and not detail.attributions:
        found.append(_without_attributions(detail.score.shap_reason))
    return found


def _without_request(detail: RecordDetail) -> Missing:
    """A fault only where the summarizer would have had to replay it."""
    reasons = {detail.row.reason, *(run.reason for run in detail.perturbations)}
    if Reason.REQUEST_MISSING in reasons:
        why = "the record came without its request, so it cannot be replayed"
        return Missing(what="the request", why=why)
    why = "the record came without it; nothing was replayed"
    return Missing(what="the request", why=why, usual=True)


def _without_attributions(reason: Reason | None) -> Missing:
    what = "attributions"
    if reason is None:
        why = "no attribution method is configured (attribution.methods)"
        return Missing(what=what, why=why, usual=True)
    if reason is Reason.NOT_SELECTED:
        why = "the policy did not select this record (attribution.share, above_hss, in_breach)"
        return Missing(what=what, why=why, usual=True)
    return Missing(what=what, why=f"SHAP: {reason.value.replace('_', ' ')}")
