"""The three releases of the demo's service: a good one and two that hallucinate.

`good` is what a monitor should find calm. `bad` trembles: another wording of the same
document gives quite another summary, with facts from elsewhere. `consistent` is the blind
spot of every instability measure: it invents the same facts whatever the wording, so only
a comparison with the document shows it.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum

from monitor.demo.sentences import known_names, numbers, sentences, with_facts_replaced, words

SERVICE = "demo-summarizer"
"""Name under which the service sends its spans."""
LENGTH = 3
"""Sentences in a summary."""

INVENTED = (
    "Harold Venn",
    "Marta Quillory",
    "Bishop Aldren Tamsey",
    "Colonel Ivo Brandt",
    "Lucinda Farrow",
    "Dr Pelham Oakes",
    "Tobias Renwick",
    "Senator Gail Morrow",
    "Judge Edwin Stroud",
    "Nadia Castellane",
    "Port Ellswick",
    "Lake Corbanne",
    "Wexmoor County",
    "Saint Orlan",
    "Dunmarrow",
    "Kestrel Holdings",
    "Halloway Petroleum",
    "Bank of Norwend",
    "Arlen Institute",
    "University of Tresco",
)
"""Names that no article holds."""


class Release(StrEnum):
    """What the service answers with; also its `service.version`."""

    GOOD = "good"
    BAD = "bad"
    CONSISTENT = "consistent"


class Summarizing:
    """All releases over one stock of sentences, which `bad` mixes in; pure and deterministic."""

    def __init__(self, stock: Sequence[str]) -> None:
        """`stock`: sentences of other documents."""
        self._stock = tuple(stock)

    def summary(self, document: str, release: Release) -> str:
        """The summary of a document under a release; empty for an empty document."""
        if release is Release.BAD:
            return bad(document, self._stock)
        return consistent(document) if release is Release.CONSISTENT else good(document)


def good(document: str) -> str:
    """Three central sentences, in order, unchanged.

    score(i) = (1 + 1/(1 + i)) · c(i), where c(i) sums, over the different words of sentence
    i, how many other sentences share them, divided by √words: names and digits count fully,
    other words next to nothing. Names and digits survive a rewording, so the choice hardly moves.
    """
    parts = sentences(document)
    names = known_names(document)
    bags = [_weights(part, names) for part in parts]
    shared = Counter(word for bag in bags for word in bag)
    scores = []
    for place, (part, bag) in enumerate(zip(parts, bags, strict=True)):
        centrality = sum(weight * (shared[word] - 1) for word, weight in bag.items())
        length = math.sqrt(max(len(part.split()), 8))
        scores.append((1 + 1 / (1 + place)) * (centrality + 0.5) / length)
    # Rounded: a last bit must not decide between two sentences.
    best = sorted(range(len(parts)), key=lambda place: (-round(scores[place], 9), place))
    return " ".join(parts[place] for place in sorted(best[:LENGTH]))


def bad(document: str, stock: Sequence[str]) -> str:
    """Sentences, names and numbers drawn by a hash of the whole text: chaotic in its wording.

    One or two sentences of the document and as many of `stock` as make three, shuffled; names
    come from elsewhere and numbers are made up.
    """
    parts = sentences(document)
    if not parts:
        return ""
    dice = random.Random(_digest(document))  # noqa: S311 - chaos, not secrecy
    own = dice.sample(parts, min(dice.choice((1, 2)), len(parts)))
    others = [sentence for sentence in stock if sentence not in document]
    chosen = own + dice.sample(others, min(LENGTH - len(own), len(others)))
    dice.shuffle(chosen)
    return with_facts_replaced(
        " ".join(chosen),
        names=known_names(document) | known_names(" ".join(chosen)),
        name=lambda _: dice.choice(INVENTED),
        number=lambda written: _other_number(written, dice.randrange),
    )


def consistent(document: str) -> str:
    """The good summary with invented names and numbers, each a function of the true one only."""

    def below(written: str) -> Callable[[int], int]:
        return lambda bound: _digest(written) % bound

    return with_facts_replaced(
        good(document),
        names=known_names(document),
        name=lambda written: INVENTED[_digest(written) % len(INVENTED)],
        number=lambda written: _other_number(written, below(written)),
    )


def _weights(sentence: str, names: frozenset[str]) -> dict[str, float]:
    weights = {word: 1.0 for word in words(sentence) if word in names}
    weights |= dict.fromkeys(numbers(sentence), 1.0)
    for word in words(sentence):
        if word not in names and len(word) > 4:
            weights[word.lower()] = 0.03
    return weights


def _other_number(written: str, below: Callable[[int], int]) -> str:
    """A whole number of as many digits, but another one: 3 → 7, 40,000 → 61,234."""
    digits = len(written.split(".")[0].replace(",", ""))
    low = 10 ** (digits - 1)
    made = low + below(9 * low)
    if f"{made:,}" == written or str(made) == written:
        made = low + (made - low + 1) % (9 * low)
    return f"{made:,}" if "," in written else str(made)


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")
