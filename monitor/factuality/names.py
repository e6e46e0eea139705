"""Whether a document holds a name that a summary uses."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from monitor.factuality.nations import LONGEST, NATIONS

_WORDS = re.compile(r"(?:[A-Z]\.){2,}|[A-Z](?:\.[A-Z])+\b|[^\W_]+")
_SEPARATORS = re.compile(r"\s*[,;:/|()\[\]\n]\s*|\s+(?:and|&|or|vs?\.?)\s+")
_POSSESSIVE = re.compile(r"(?<=\w)['’](?:s|S)?(?!\w)")
_HONORIFICS = frozenset(
    {
        "mr", "mrs", "ms", "miss", "dr", "prof", "professor", "sir", "dame", "lord", "lady",
        "president", "chancellor", "minister", "prime", "judge", "justice", "senator", "sen",
        "rep", "congressman", "congresswoman", "governor", "gov", "king", "queen", "prince",
        "princess", "pope", "captain", "sergeant", "officer", "detective", "coach",
    }
)  # fmt: skip
_ARTICLES = frozenset({"the", "a", "an"})
_SMALL = frozenset({"of", "the", "for", "and", "in", "on", "to", "de", "la", "du", "von", "van"})
_MIDDLE = 2
"""Words that may stand between two parts of a person's name: middle names and initials."""
_SLACK = 3
"""Extra words in a window that holds all parts of another name, such as "of the"."""
_LONGEST_ACRONYM = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class _Word:
    raw: str
    key: str
    """Case-folded, without accents and dots; one word for all names of a country."""


class NameIndex:
    """The words of one document, for looking up names.

    A name is supported where, in this order,
    1. it stands in the document as it is (case ignored for names longer than an acronym);
    2. all its parts stand together: those of a person in order, with at most two words in
       between (so *John Jones* is not supported by *John Smith* and *Mary Jones*), those of
       other names in any order within a window (*Oxford University*, *University of
       Oxford*); a part alone, such as a surname, counts by itself;
    3. it is an acronym of words of the document, or the document holds its acronym.

    Parts are compared without case, accents and possessives; titles, articles and single
    initials do not count; names of countries and their people are one (`nations`), other
    plurals are tried with and without -s. A list ("Stoke and Leeds") is several names.

    Not seen: that a name which is in the document is said of the wrong person or thing;
    nicknames (*Bill* for *William*) and translated names count as unsupported.
    """

    def __init__(self, document: str) -> None:
        self._flat = _flat(document)
        self._folded = self._flat.casefold()
        raw = _raw_words(document)
        # All-capital or all-small texts say nothing by case.
        self._caseless = len({word[0].isupper() for word in raw if word[0].isalpha()}) < 2
        self._raw = raw
        self._words = _words(raw)
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(self._words):
            self._places[word.key].append(place)

    def supports(self, name: str, *, person: bool = False) -> bool:
        """Whether the document holds the name, or every name of a list of names."""
        if self._verbatim(name):
            return True
        pieces = [piece for piece in _SEPARATORS.split(_flat(name)) if piece]
        return all(self._supports_one(piece, person) for piece in pieces)

    def _supports_one(self, name: str, person: bool) -> bool:
        raw = _significant(_raw_words(name))
        if not raw:
            return True
        if self._verbatim(name) or self._together(_words(raw), person):
            return True
        if len(raw) == 1:
            return self._spelled_out(raw[0]) or self._inside(raw[0])
        return not person and self._abbreviated(raw)

    def _verbatim(self, name: str) -> bool:
        flat = _flat(name)
        if len(flat) <= _LONGEST_ACRONYM and flat.isupper() and not self._caseless:
            return re.search(rf"(?<!\w){re.escape(flat)}(?!\w)", self._flat) is not None
        folded = flat.casefold()
        return re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", self._folded) is not None

    def _together(self, parts: Sequence[_Word], person: bool) -> bool:
        places = [self._of(part) for part in parts]
        if not all(places):
            return False
        if person:
            reached = set(places[0])
            for later in places[1:]:
                reached = {
                    place
                    for place in later
                    if any(place - step in reached for step in range(1, _MIDDLE + 2))
                }
            return bool(reached)
        reach = len(parts) + _SLACK
        rarest = min(places, key=len)
        return any(
            all(any(abs(place - other) < reach for other in each) for each in places)
            for place in rarest
        )

    def _of(self, part: _Word) -> list[int]:
        keys = (
            {part.key, part.key + "s", part.key.removesuffix("s")}
            if len(part.key) > 3
            else {part.key}
        )
        found = [place for key in sorted(keys) for place in self._places.get(key, ())]
        if part.raw.isupper() and len(part.raw) <= _LONGEST_ACRONYM and not self._caseless:
            # WHO is not "who".
            found = [place for place in found if not self._words[place].raw.islower()]
        return found

    def _spelled_out(self, acronym: str) -> bool:
        """WHO in the summary, World Health Organization in the document."""
        letters = acronym.replace(".", "")
        if not (letters.isupper() and 2 <= len(letters) <= _LONGEST_ACRONYM):
            return False
        words = [word for word in self._raw if word.casefold() not in _SMALL]
        initials = "".join(word[0] if word[0].isupper() else " " for word in words)
        return letters in initials

    def _abbreviated(self, parts: Sequence[str]) -> bool:
        """World Health Organization in the summary, WHO in the document."""
        initials = "".join(part[0] for part in parts)
        return initials.isupper() and any(word.replace(".", "") == initials for word in self._raw)

    def _inside(self, part: str) -> bool:
        """In scripts without blanks a name stands inside a longer run of letters."""
        return part.upper() == part.lower() and not part.isdecimal() and part in self._flat


def _flat(text: str) -> str:
    return " ".join(text.replace("’", "'").split())


def _raw_words(text: str) -> list[str]:
    return _WORDS.findall(_POSSESSIVE.sub(" ", text))


def _significant(words: list[str]) -> list[str]:
    """The parts of a name that have to be found."""
    rest = list(words)
    while len(rest) > 1 and rest[0].casefold().rstrip(".") in _HONORIFICS | _ARTICLES:
        rest = rest[1:]
    if len(rest) == 1 and rest[0].casefold() in _ARTICLES:
        return []
    # Small words inside a name ("University of Oxford") and words that the entity
    # recognizer took in by mistake are not part of it.
    named = [word for word in rest if not word.islower()]
    rest = named or [word for word in rest if word not in _SMALL]
    # A middle initial may be missing: John F. Kennedy is John Kennedy.
    full = [word for word in rest if len(word.replace(".", "")) > 1 or word.isdecimal()]
    return full if full and len(rest) > 1 and "." not in "".join(full) else rest


def _words(raw: Sequence[str]) -> list[_Word]:
    keys = [_key(word) for word in raw]
    words: list[_Word] = []
    place = 0
    while place < len(keys):
        for length in range(min(LONGEST, len(keys) - place), 0, -1):
            nation = NATIONS.get(tuple(keys[place : place + length]))
            # The pronoun is no country.
            if nation is not None and raw[place] not in {"us", "Us"}:
                words.append(_Word(raw=raw[place], key=nation))
                place += length
                break
        else:
            words.append(_Word(raw=raw[place], key=keys[place]))
            place += 1
    return words


def _key(word: str) -> str:
    plain = unicodedata.normalize("NFKD", word.replace(".", ""))
    return "".join(letter for letter in plain if not unicodedata.combining(letter)).casefold()
