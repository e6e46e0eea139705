"""Everything about one stored record, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rich.text import Text

from monitor.cli.explained import print_checks, print_methods
from monitor.cli.marked import legend, styled
from monitor.cli.output import cell, interval, known, number, out, prose, table
from monitor.cli.output import facts as facts_table
from monitor.cli.record_words import unstable_words, unsupported_of
from monitor.investigate.diff import word_diff
from monitor.investigate.marking import coloured, with_facts, with_swaps
from monitor.investigate.noise_floor import above_floor
from monitor.investigate.record_parts import MethodFacts, RecordFacts, Scored, Version, Word

PLACES = 12
"""Words that are listed by their places where the document is not kept."""


def print_record(facts: RecordFacts, *, full: bool) -> None:
    """Numbers, then the document as it was explained, then what each rewording did.

    `full` prints every reworded document as a whole, too.
    """
    row = facts.record
    head = Text.assemble(cell(row.id), style="bold")
    out.print(head.append(cell(f"  {row.service} · {row.model} · {row.state}")))
    facts_table([fact for fact in _facts(facts) if fact[1] is not None])
    for missing in facts.missing:
        out.print(cell(f"{missing.what}: not shown, because {missing.why}"))
    if facts.score is not None and facts.score.checks:
        print_checks({check.name: check for check in facts.score.checks})
    if facts.methods:
        print_methods(facts.methods)
    _documents(facts)
    _summaries(facts)
    for version in facts.versions:
        _version(version, facts.score, full=full)
    _null_runs(facts)
    if facts.breaches:
        table(
            ["breach", "threshold", "state", "opened"],
            [(each.id, each.threshold, each.state, each.opened_at) for each in facts.breaches],
            title="\nIt contributed to",
        )


def _facts(facts: RecordFacts) -> list[tuple[str, Any]]:
    row, score = facts.record, facts.score
    found: list[tuple[str, Any]] = [
        ("received", row.received_at),
        ("release", row.release),
        ("category", row.category),
        ("trace", row.trace_id),
        ("span", row.span_id),
        ("reason", row.reason),
        ("detail", row.detail or None),
        ("stands for", f"{1 / row.probability:.1f} records"),
        ("HSS", interval(row.hss, row.hss_low, row.hss_high)),
        ("raw distance", row.raw_distance),
        ("null distance", row.null_distance),
        ("excess", row.excess),
        ("entity support", row.entity_support),
        ("number support", row.number_support),
        ("calibration", row.calibration_id),
    ]
    if score is None:
        return found
    return [
        *found,
        ("not in the document", unsupported_of(score.unsupported)),
        ("baseline", score.baseline),
        ("normalizer", _normalizer(score)),
        ("fingerprint", score.fingerprint),
        ("HSS unknown", score.hss_reason),
        ("no interval", score.interval_reason),
        ("no entity support", score.entity_reason),
        ("no number support", score.number_reason),
        ("core seconds", score.core_seconds),
        (
            "seconds",
            " · ".join(f"{stage} {took:.2f}" for stage, took in score.stage_seconds.items())
            or None,
        ),
    ]


def _normalizer(score: Scored) -> str | None:
    if score.normalizer is None:
        return None
    return f"{number(score.normalizer)} ({score.normalizer_category or 'pooled'})"


def _documents(facts: RecordFacts) -> None:
    """The document, coloured by each method that explains it; else plain; else its places."""
    explained = [method for method in facts.methods if method.words]
    if facts.document is None:
        _title("document")
        out.print("not kept")
        for method in explained:
            _places(method)
        return
    if not explained:
        _title("document")
        out.print(prose(facts.document))
    for method in explained:
        _title(f"document by {method.method}")
        marked = _marked(method)
        meaning = legend(underlined=any(word.unstable for word in marked))
        if meaning is not None:
            out.print(Text(meaning, style="dim"))
        out.print(styled(coloured(facts.document, marked)))
        words = unstable_words(method)
        if words is not None:
            out.print(Text("unstable: ", style="bold").append(cell(words)))


def _marked(method: MethodFacts) -> Sequence[Word]:
    """Its words; none is marked as unstable where that says nothing."""
    if above_floor(method):
        return method.words
    return [replace(word, unstable=False) for word in method.words]


def _places(method: MethodFacts) -> None:
    """The words that matter, by their places in the document."""
    words = sorted(_marked(method), key=lambda word: -abs(word.value))[:PLACES]
    table(
        ["characters", "attribution", "instability", ""],
        [
            (
                f"{word.start}–{word.end}",
                word.value,
                word.instability,
                "unstable" if word.unstable else "",
            )
            for word in words
        ],
        title=f"\nwords that {method.method} gives most weight, by their places",
    )


def _summaries(facts: RecordFacts) -> None:
    score = facts.score
    _title("summary")
    if facts.summary is None:
        out.print("not kept")
    else:
        out.print(styled(with_facts(facts.summary, score.unsupported if score else ())))
    if score is None or score.baseline_summary in {None, facts.summary}:
        return
    _title("baseline summary, by the re-summarizer")
    out.print(prose(score.baseline_summary or ""))


def _version(version: Version, score: Scored | None, *, full: bool) -> None:
    out.print()
    out.print(
        Text(f"{version.number}. {version.strength}", style="bold").append(
            f" · share {number(version.share)}{'' if version.reached else ', band not reached'}"
            f" · distance {known(version.distance)}"
            f" · of M {known(version.normalized)} · least cosine {number(version.min_cosine)}",
            style="",
        )
    )
    swaps = [
        f"{swap.original}→{swap.replacement}"
        if swap.original and swap.replacement
        else f"at {swap.start} (cosine {swap.similarity:.2f})"
        for swap in version.swaps
    ]
    out.print(Text("replaced: ", style="dim").append(cell(", ".join(swaps) or "nothing")))
    if full and version.document is not None:
        out.print(styled(with_swaps(version.document, version.swaps)))
    if version.summary is not None and score is not None and score.baseline_summary is not None:
        out.print(Text("summary: ", style="dim").append(_diff(score.baseline_summary, version)))
    elif version.reason is not None:
        out.print(
            Text("no summary: ", style="dim").append(cell(f"{version.reason} {version.detail}"))
        )
    if version.moves:
        baseline = score.baseline_sentences if score is not None else ()
        table(
            ["mass", "cost", "baseline sentence", "went to"],
            [
                (
                    move.mass,
                    move.cost,
                    _sentence(baseline, move.source),
                    _sentence(version.sentences, move.target),
                )
                for move in version.moves
            ],
        )


def _null_runs(facts: RecordFacts) -> None:
    if not facts.null_runs:
        return
    table(
        ["", "distance", "seconds", "", "summary"],
        [
            (
                run.source,
                run.distance,
                run.seconds,
                run.reason or "",
                run.summary if run.summary is not None else "not kept",
            )
            for run in facts.null_runs
        ],
        title="\nThe unchanged document, summarized again (serving noise)",
    )


def _diff(baseline: str, version: Version) -> Text:
    """What the summary lost and gained against the baseline, marked also without colour."""
    text = Text()
    for piece in word_diff(baseline, version.summary or ""):
        words = prose(piece.text)
        if piece.kind == "same":
            text.append(words)
            continue
        opened, closed, style = (
            ("[-", "-]", "red") if piece.kind == "gone" else ("{+", "+}", "green")
        )
        body = words.plain.strip()
        lead = words.plain[: len(words.plain) - len(words.plain.lstrip())]
        tail = words.plain[len(lead) + len(body) :]
        text.append(lead).append(f"{opened}{body}{closed}", style=style).append(tail)
    return text


def _sentence(sentences: Sequence[str | None], index: int) -> str:
    """A sentence, or its number where texts are not kept."""
    known = sentences[index] if index < len(sentences) else None
    return known if known is not None else f"sentence {index + 1}"


def _title(title: str) -> None:
    out.print()
    out.print(Text(title, style="bold"))
