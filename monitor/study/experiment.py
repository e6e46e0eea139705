"""How well perturbations keep their promises, measured over real documents.

Nothing is taken from the perturber but the documents it made: both versions are parsed
anew, compared token by token, and embedded anew, so that the figures would show a defect
of the perturber and not repeat it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from spacy.language import Language
from spacy.tokens import Doc, Token

from monitor.perturbation.eligibility import is_eligible
from monitor.perturbation.wordlists import opposite_pairs
from monitor.ports import Encoder, Perturber
from monitor.records import Perturbation, PerturbationSet, Reason, Strength

Distance = Callable[[str, Sequence[str]], Sequence[float | None]]
"""(document, its versions) → how far the summary of each version moved, W₁."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PerturbationFigures:
    """What came out for one strength."""

    strength: Strength
    documents: int
    words: int
    """Word tokens of all documents."""
    eligible: int
    """Those that may be replaced."""
    replaceable: int | None
    """Those with a replacement that passes alone in its sentence; `None` where not counted."""
    reached: int
    """Documents with a version in the band."""
    reasons: Mapping[Reason, int]
    """Why the others have none."""
    versions: int
    substitutions: int
    mean_share: float | None
    """Of the versions; `None` without one."""
    protected_changed: int
    """Tokens that differ although they were not eligible; must be 0."""
    misaligned: int
    """Versions that have another number of tokens than their document; must be 0."""
    opposites: int
    """Replaced words that are listed opposites of the originals; must be 0."""
    min_cosine: float | None
    """Least cosine of a changed sentence with its original, computed anew."""
    mean_distance: float | None
    """Mean W₁ of the versions; `None` where it was not measured."""
    core_seconds: float
    """CPU time of the perturber, all documents together."""

    @property
    def share_reached(self) -> float | None:
        """Documents that reach the band / documents."""
        return self.reached / self.documents if self.documents else None


def perturbation_figures(
    documents: Sequence[str],
    perturbers: Mapping[Strength, Perturber],
    *,
    language: Language,
    vocabulary: Container[str],
    encoder: Encoder,
    seed: int = 0,
    distance: Distance | None = None,
    progress: Callable[[Iterable[str]], Iterable[str]] = iter,
) -> list[PerturbationFigures]:
    """Figures for each strength, from a perturber that makes versions of that strength only.

    `progress` may wrap the documents of a strength to show how far it is.
    """
    return [
        _figures(
            strength,
            documents,
            perturber,
            _Inspector(language=language, vocabulary=vocabulary, encoder=encoder),
            seed=seed,
            distance=distance,
            progress=progress,
        )
        for strength, perturber in perturbers.items()
    ]


def format_perturbation_figures(figures: Sequence[PerturbationFigures]) -> str:
    """A plain table of the figures, one line a strength, and the reasons below it."""
    head = (
        f"{'strength':<10}{'documents':>10}{'in band':>9}{'share':>8}{'replaced':>10}"
        f"{'protected':>11}{'misaligned':>12}{'opposites':>11}{'min cos':>9}{'W1':>8}{'core-s':>9}"
    )
    lines = [head]
    for f in figures:
        lines.append(
            f"{f.strength.value:<10}{f.documents:>10}{_percent(f.share_reached):>9}"
            f"{_percent(f.mean_share):>8}{f.substitutions:>10}{f.protected_changed:>11}"
            f"{f.misaligned:>12}{f.opposites:>11}{_number(f.min_cosine):>9}"
            f"{_number(f.mean_distance):>8}{f.core_seconds:>9.1f}"
        )
    for f in figures:
        if f.reasons and f.words:
            lines.append(
                f"{f.strength.value}: of the words {_percent(f.eligible / f.words)} are eligible, "
                f"{_percent(f.replaceable / f.words if f.replaceable is not None else None)} have "
                "a replacement that passes alone in its sentence"
            )
        for reason, count in sorted(f.reasons.items()):
            lines.append(f"{f.strength.value}: {count} outside the band ({reason.value})")
    return "\n".join(lines)


def _figures(
    strength: Strength,
    documents: Sequence[str],
    perturber: Perturber,
    inspector: _Inspector,
    *,
    seed: int,
    distance: Distance | None,
    progress: Callable[[Iterable[str]], Iterable[str]],
) -> PerturbationFigures:
    reasons: Counter[Reason] = Counter()
    shares: list[float] = []
    distances: list[float] = []
    words = eligible = reached = substitutions = 0
    replaceable: int | None = 0
    seconds = 0.0
    for document in progress(documents):
        started = time.process_time()
        made = perturber.perturb(document, seed=seed)
        seconds += time.process_time() - started
        words += made.words
        eligible += made.eligible
        replaceable = _sum(replaceable, made.replaceable)
        versions = made.perturbations
        inspector.inspect(document, versions)
        shares += [version.share for version in versions]
        substitutions += sum(len(version.substitutions) for version in versions)
        if any(version.reached for version in versions):
            reached += 1
        else:
            reasons[_why_not(made)] += 1
        if distance is not None and versions:
            moved = distance(document, [version.document for version in versions])
            distances += [d for d in moved if d is not None]
    return PerturbationFigures(
        strength=strength,
        documents=len(documents),
        words=words,
        eligible=eligible,
        replaceable=replaceable,
        reached=reached,
        reasons=dict(reasons),
        versions=len(shares),
        substitutions=substitutions,
        mean_share=_mean(shares),
        protected_changed=inspector.protected_changed,
        misaligned=inspector.misaligned,
        opposites=inspector.opposites,
        min_cosine=inspector.min_cosine,
        mean_distance=_mean(distances),
        core_seconds=seconds,
    )


class _Inspector:
    """Compares documents with their versions and counts what must not be."""

    def __init__(self, *, language: Language, vocabulary: Container[str], encoder: Encoder) -> None:
        self._language = language
        self._vocabulary = vocabulary
        self._encoder = encoder
        self.protected_changed = 0
        self.misaligned = 0
        self.opposites = 0
        self.min_cosine: float | None = None

    def inspect(self, document: str, versions: Sequence[Perturbation]) -> None:
        if not versions:
            return
        before = self._language(document)
        for version in versions:
            after = self._language(version.document)
            if len(before) != len(after):
                self.misaligned += 1
                continue
            for old, new in zip(before, after, strict=True):
                if old.text_with_ws == new.text_with_ws:
                    continue
                if not is_eligible(old, self._vocabulary):
                    self.protected_changed += 1
                self.opposites += _listed(old, new)
            self._compare(before, after)

    def _compare(self, before: Doc, after: Doc) -> None:
        spans = [(s.start, s.end) for s in before.sents]
        pairs = [(before[a:b].text.strip(), after[a:b].text.strip()) for a, b in spans]
        changed = [pair for pair in pairs if pair[0] != pair[1]]
        if not changed:
            return
        vectors = self._encoder.encode([text for pair in changed for text in pair])
        least = float((vectors[0::2] * vectors[1::2]).sum(axis=1).min())
        self.min_cosine = least if self.min_cosine is None else min(self.min_cosine, least)


def _listed(old: Token, new: Token) -> bool:
    pairs = opposite_pairs()
    return any(
        frozenset({first, second}) in pairs
        for first in (old.lower_, old.lemma_.lower())
        for second in (new.lower_, new.lemma_.lower())
    )


def _why_not(made: PerturbationSet) -> Reason:
    return made.reason or Reason.STRENGTH_NOT_REACHED


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _sum(first: int | None, second: int | None) -> int | None:
    """Unknown as soon as one of the two is."""
    return None if first is None or second is None else first + second


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
