"""Negation inside a word: *likely* and *unlikely*, *careful* and *careless*."""

from __future__ import annotations

from monitor.perturbation.lexicon import Lexicon
from monitor.perturbation.wordlists import not_negated

_PREFIXES = (
    "un", "in", "im", "ir", "il", "non", "dis", "mis", "anti", "de", "mal", "counter",
    "contra", "a", "ab", "dys", "under", "over", "pseudo", "quasi", "ex", "half", "semi", "sub",
)  # fmt: skip
_POLES = (
    ("over", "under"), ("pre", "post"), ("pro", "anti"), ("im", "ex"), ("in", "ex"),
    ("in", "out"), ("up", "down"), ("ante", "post"), ("hyper", "hypo"), ("macro", "micro"),
    ("intro", "extro"), ("inter", "intra"), ("super", "sub"), ("fore", "hind"), ("en", "dis"),
    ("as", "des"), ("ac", "de"), ("ap", "de"), ("con", "dis"), ("as", "dis"), ("mono", "poly"),
    ("uni", "multi"), ("bi", "uni"), ("en", "de"), ("intra", "extra"), ("in", "de"),
    ("homo", "hetero"), ("on", "off"), ("maxi", "mini"), ("pro", "re"), ("ad", "de"),
)  # fmt: skip
_TWINS = (("ful", "less"), ("er", "ee"), ("or", "ee"), ("free", "ful"))

_POLAR_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "mis")


def negates(first: frozenset[str], second: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether two words, each given by all its base forms, differ by a negation.

    True where one is the other behind a negating prefix, where the prefixes or suffixes
    are the two poles of a pair (*import*, *export*; *employer*, *employee*), and where
    exactly one of them is negated (*strange*, *unusual* share no stem, and are refused:
    a word without negation is at hand more often than not).
    """
    if negated(first, lexicon) != negated(second, lexicon):
        return True
    return any(
        _derived(a, b) or _derived(b, a) or _poles(a, b) or _suffixes(a, b)
        for a in first
        for b in second
        if a != b
    )


def negated(forms: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether a word, given by its base forms, carries a negation inside."""
    return not forms & not_negated() and any(_negated(form, lexicon) for form in forms)


def _negated(word: str, lexicon: Lexicon) -> bool:
    if word.endswith("less") and len(word) > 6:
        return bool(lexicon.lemmas_as(word[:-4], "NOUN"))
    for prefix in _POLAR_PREFIXES:
        rest = word.removeprefix(prefix)
        if rest != word and len(rest) >= 4:
            parts = ("ADJ", "ADV", "VERB", "NOUN")
            if rest in not_negated() or any(lexicon.lemmas_as(rest, part) for part in parts):
                return True
    return False


def _derived(base: str, word: str) -> bool:
    """Whether `word` is `base` behind a negating prefix, hyphen or not."""
    if len(base) < 3 or not word.endswith(base):
        return False
    return word[: len(word) - len(base)].rstrip("-") in _PREFIXES


def _poles(first: str, second: str) -> bool:
    for left, right in _POLES:
        for one, other in ((left, right), (right, left)):
            if first.startswith(one) and second.startswith(other):
                stem = first[len(one) :].lstrip("-")
                if len(stem) >= 3 and stem == second[len(other) :].lstrip("-"):
                    return True
    return False


def _suffixes(first: str, second: str) -> bool:
    for left, right in _TWINS:
        for one, other in ((left, right), (right, left)):
            if (
                first.endswith(one)
                and second.endswith(other)
                and len(first) > len(one) + 2
                and first[: -len(one)] == second[: -len(other)]
            ):
                return True
    return any(second == first + ending or first == second + ending for ending in ("less", "-free"))
