"""The versions of one document, searched side by side, each until it differs from the others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from monitor.perturbation.composition import Checks, Variant
from monitor.perturbation.search import Position, Search
from monitor.records import Perturbation, Strength, Substitution

_ROUNDS_TO_TARGET = 4
_ROUNDS_TO_BAND = 6
"""Proposals made to reach the middle of the band, and then to reach the band at all."""
_MARGIN = 0.01
"""Cosine above γ that a sum of effects must promise: about its error for four words."""
_SHARPNESS = 2.0
"""How much the least harmful replacements are favoured: chance ∝ harm^−2 for few words."""
_REDRAWS = 4
"""Times that a version is drawn anew because it equals another one."""


def versions_of(
    document: str,
    wanted: Sequence[Strength],
    *,
    words: int,
    positions: Sequence[Position],
    checks: Checks,
    gamma: float,
    seed: int,
) -> tuple[Perturbation, ...]:
    """At most one version for each wanted strength, in that order, all different.

    One that equals another is drawn anew, and may fail to differ. `words` are the word tokens
    of the document: the denominator of each version's share.
    """
    found: dict[int, Perturbation] = {}
    reachable: dict[int, int] = {}
    originals = {p.sentence: checks.original(p.sentence) for p in positions}
    for draw in range(_REDRAWS + 1 if positions else 0):
        seen = {made.document for made in found.values()} | {document}
        lacking = [number for number in range(len(wanted)) if number not in found]
        searches = []
        for number in lacking:
            least, target = _goal(words, wanted[number])
            # Where everything that can be replaced was replaced, the same again would
            # come out: other words are favoured, and in the end fewer are taken.
            most = max(1, reachable.get(number, target) - max(0, draw - 1))
            searches.append(
                Search(
                    positions=positions,
                    originals=originals,
                    target=min(target, most),
                    least=least,
                    gamma=gamma,
                    rng=_rng(document, seed, number, draw),
                    sharpness=_SHARPNESS / (1 + draw),
                )
            )
        _run(searches, checks)
        for number, search in zip(lacking, searches, strict=True):
            made = _perturbation(document, words, wanted[number], search)
            reachable.setdefault(number, search.count)
            if made.document not in seen:
                seen.add(made.document)
                found[number] = made
        if len(found) == len(wanted):
            break
    return tuple(found[number] for number in sorted(found))


def _run(searches: Sequence[Search], checks: Checks) -> None:
    """Rounds of proposing and judging, for all versions at once.

    First each version draws its words at random; those that lie below their band when
    that is done are filled with as many words as their sentences can bear.
    """
    for _ in range(_ROUNDS_TO_TARGET):
        if not _round(searches, checks, lambda search: search.propose(margin=_MARGIN)):
            break
    for _ in range(_ROUNDS_TO_BAND):
        below = [search for search in searches if search.count < search.least]
        if not _round(below, checks, Search.pack):
            break


def _round(
    searches: Sequence[Search], checks: Checks, propose: Callable[[Search], list[Variant]]
) -> bool:
    """One round; False where nothing was proposed."""
    proposals = [variant for search in searches for variant in propose(search)]
    verdicts = checks.judge(proposals)
    for search in searches:
        search.learn(verdicts)
    return bool(proposals)


def _goal(words: int, strength: Strength) -> tuple[int, int]:
    """(Least, wanted) replacements: the count in the band that is nearest to its middle.

    In a text so short that no count lies in the band it is the nearest one, at least 1.
    """
    low, high = strength.band
    middle = (low + high) / 2 * words
    counts = range(max(1, int(low * words)), int(high * words) + 2)
    inside = [count for count in counts if strength.contains(count / words)]
    if not inside:
        wanted = max(1, round(middle))
        return wanted, wanted
    return inside[0], min(inside, key=lambda count: (abs(count - middle), count))


def _perturbation(document: str, words: int, strength: Strength, search: Search) -> Perturbation:
    pieces, end, substitutions = [], 0, []
    for pick in search.picks():
        position = pick.position
        pieces += [document[end : position.start], pick.option.word]
        end = position.start + len(position.text)
        substitutions.append(
            Substitution(
                index=position.index,
                original=position.text,
                replacement=pick.option.word,
                similarity=pick.option.candidate.similarity,
                start=position.start,
            )
        )
    share = len(substitutions) / words
    return Perturbation(
        strength=strength,
        share=share,
        reached=strength.contains(share),
        substitutions=tuple(substitutions),
        document="".join([*pieces, document[end:]]),
        min_cosine=search.min_cosine,
    )


def _rng(document: str, seed: int, number: int, draw: int) -> np.random.Generator:
    """Chance that depends on the document, the seed and the version, and on nothing else."""
    digest = hashlib.blake2b(document.encode("utf-8", "surrogatepass"), digest_size=16)
    words = np.frombuffer(digest.digest(), dtype=np.uint32).tolist()
    return np.random.default_rng([*words, seed, number, draw])
