"""Whether a document is written in letters that the language model reads."""

from __future__ import annotations

import unicodedata

_LATIN_LANGUAGES = frozenset(
    {"ca", "cs", "da", "de", "en", "es", "et", "fi", "fr", "hr", "hu", "id", "is", "it"}
    | {"lt", "lv", "nb", "nl", "no", "pl", "pt", "ro", "sk", "sl", "sq", "sv", "tr", "vi"}
)
_SAMPLE = 20_000
"""Letters that are looked at: enough to tell the script of any document."""


def is_readable(text: str, language: str | None) -> bool:
    """False where most letters are of another script than the language's.

    Only Latin is told apart; a text without letters, and a language that is written
    otherwise, count as readable.

    >>> is_readable("Rates rose.", "en"), is_readable("Ставки выросли.", "en")
    (True, False)
    """
    if language not in _LATIN_LANGUAGES:
        return True
    letters = latin = 0
    for character in text:
        if character.isalpha():
            letters += 1
            latin += character.isascii() or unicodedata.name(character, "").startswith("LATIN")
            if letters >= _SAMPLE:
                break
    return letters == 0 or 2 * latin >= letters
