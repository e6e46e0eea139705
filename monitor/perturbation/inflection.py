"""Carrying over what a replaced word showed: its inflection, its capitals, its article."""

from __future__ import annotations

from itertools import takewhile

from monitor.perturbation.lexicon import Lexicon

_VOWELS = frozenset("aeiou")
_SIBILANTS = ("s", "x", "z", "ch", "sh")


def inflect(lemma: str, tag: str, part: str, lexicon: Lexicon) -> tuple[str, ...]:
    """The forms of a base form that a Penn tag may stand for; best first, maybe none.

    Where past tense and participle differ (*took*, *taken*) both are given: the tagger
    decides in the sentence.
    """
    irregular = lexicon.irregular(lemma, part)
    if tag in {"NN", "VB", "VBP", "JJ", "RB"}:
        return (lemma,)
    if tag == "NNS":
        return irregular or (_with_s(lemma),)
    if tag == "VBZ":
        return (_with_s(lemma),)
    if tag == "VBG":
        return tuple(f for f in irregular if f.endswith("ing")) or (_joined(lemma, "ing"),)
    if tag in {"VBD", "VBN"}:
        past = tuple(f for f in irregular if not f.endswith(("ing", "s")) or f.endswith("ss"))
        distinct = tuple(f for f in past if _is_participle(f, lemma) == (tag == "VBN"))
        return distinct or past or (_joined(lemma, "ed"),)
    if tag in {"JJR", "RBR"}:
        return tuple(f for f in irregular if f.endswith("r")) or (_joined(lemma, "er"),)
    if tag in {"JJS", "RBS"}:
        return tuple(f for f in irregular if f.endswith("st")) or (_joined(lemma, "est"),)
    return ()


def _is_participle(form: str, lemma: str) -> bool:
    """Whether an irregular form is a participle only: *taken*, *gone*, *drunk*, not *took*.

    Said of one of two forms; where there is but one it serves for both.
    """
    return form.endswith(("n", "ne")) or ("u" in form and "u" not in lemma and form[-1] in "gkm")


def same_family(first: str, second: str) -> bool:
    """Whether two words share their stem: *fire* and *firing*, *capture* and *recapture*.

    They have other base forms by the book, but the one only shifts the class of the other
    (*terrorism*, *terrorist*) or adds to it: that is no rewording.

    >>> same_family("terrorism", "terrorist"), same_family("car", "cart"), same_family("a", "b")
    (True, True, False)
    """
    short, long = sorted((first, second), key=len)
    stem = short[:-1] if short[-1:] in {"e", "y"} and len(short) > 3 else short
    if len(stem) >= 3 and (long.startswith(stem) or (len(short) > 3 and long.endswith(short))):
        return True
    shared = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    )
    return shared >= 4 and shared >= 0.55 * len(long)


def match_case(original: str, replacement: str) -> str:
    """Lower-case `replacement` in the capitals of `original`.

    >>> match_case("Fire", "blaze"), match_case("FIRE", "blaze"), match_case("fire", "blaze")
    ('Blaze', 'BLAZE', 'blaze')
    """
    if len(original) > 1 and original.isupper():
        return replacement.upper()
    if original[:1].isupper():
        return replacement[:1].upper() + replacement[1:]
    return replacement


def takes_an(word: str) -> bool:
    """Whether a word is preceded by *an*: by its sound, as far as spelling tells it.

    >>> [takes_an(word) for word in ("hour", "house", "union", "umbrella", "one")]
    [True, False, False, True, False]
    """
    lower = word.lower()
    if lower.startswith(("hour", "honest", "honor", "honour", "heir")):
        return True
    if lower.startswith(("eu", "ew", "one", "once", "use", "usa", "usu", "uti", "ubi", "ur")):
        return lower.startswith(("urg", "urb", "urn"))
    if lower.startswith("uni"):
        return lower.startswith(("unim", "unin", "unid"))
    return lower[:1] in _VOWELS


def _with_s(lemma: str) -> str:
    if lemma.endswith(_SIBILANTS):
        return lemma + "es"
    if lemma.endswith("y") and lemma[-2:-1] not in _VOWELS:
        return lemma[:-1] + "ies"
    if lemma.endswith("o") and lemma[-2:-1] not in _VOWELS:
        return lemma + "es"
    return lemma + "s"


def _joined(lemma: str, ending: str) -> str:
    """Regular spelling; doubled consonants stand among the lexicon's irregular forms."""
    if lemma.endswith("e") and not (ending == "ing" and lemma.endswith(("ee", "oe", "ye"))):
        return lemma[:-1] + ending
    if lemma.endswith("y") and lemma[-2:-1] not in _VOWELS and ending != "ing":
        return lemma[:-1] + "i" + ending
    return lemma + ending
