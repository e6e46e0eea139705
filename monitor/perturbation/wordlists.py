"""Reading the word lists that ship beside this file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

_LISTS = ("opposites.tsv", "siblings.tsv", "synonyms.tsv", "names.tsv", "not_negated.tsv")


@dataclass(frozen=True, kw_only=True, slots=True)
class ContrastSet:
    """Words that exclude each other."""

    name: str
    kind: str
    """`open`, `closed` or `fact`: see `siblings.tsv`."""
    slots: tuple[frozenset[str], ...]
    """Words of one slot may stand for each other, words of two slots never."""


@cache
def opposites() -> tuple[ContrastSet, ...]:
    """`opposites.tsv`: two slots each."""
    return tuple(
        ContrastSet(
            name=f"opposites-{number}",
            kind="open",
            slots=(frozenset(left.split()), frozenset(right.split())),
        )
        for number, (left, right) in enumerate(_rows("opposites.tsv"), start=1)
    )


@cache
def siblings() -> tuple[ContrastSet, ...]:
    """`siblings.tsv`: the members of closed and half-closed classes."""
    return tuple(
        ContrastSet(
            name=name,
            kind=kind,
            slots=tuple(frozenset(slot.split()) for slot in slots.split(" | ")),
        )
        for name, kind, slots in _rows("siblings.tsv")
    )


@cache
def names() -> frozenset[str]:
    """`names.tsv`: nationalities, countries, places, people, organisations, creeds."""
    return frozenset(word for _, words in _rows("names.tsv") for word in words.split())


@cache
def synonyms() -> Mapping[tuple[str, str], frozenset[str]]:
    """`synonyms.tsv`: (part of speech, base form) → the base forms, and plurals, that may stand
    for it."""
    found: dict[tuple[str, str], set[str]] = {}
    for part, words, *others in _rows("synonyms.tsv"):
        for word in words.split():
            stand_ins = found.setdefault((part.upper(), word), set())
            stand_ins.update((others[0] if others else words).split())
            stand_ins.discard(word)
    return {key: frozenset(stand_ins) for key, stand_ins in found.items()}


@cache
def not_negated() -> frozenset[str]:
    """`not_negated.tsv`: *important*, *discuss* and other words without a hidden negation."""
    return frozenset(word for (line,) in _rows("not_negated.tsv") for word in line.split())


@cache
def opposite_pairs() -> frozenset[frozenset[str]]:
    """Every listed pair of opposites, unordered."""
    return frozenset(
        frozenset({left, right})
        for contrast in opposites()
        for left in contrast.slots[0]
        for right in contrast.slots[1]
        if left != right
    )


@cache
def digest() -> str:
    """Eight hex digits over all lists: other lists make other perturbations."""
    hashed = hashlib.blake2b(digest_size=4)
    for name in _LISTS:
        hashed.update(_text(name).encode())
    return hashed.hexdigest()


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _rows(name: str) -> list[list[str]]:
    lines = (line for line in _text(name).splitlines() if line and not line.startswith("#"))
    return [line.split("\t") for line in lines]
