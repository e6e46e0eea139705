"""Sentences, names and numbers of a text by plain rules: the demo's service loads no model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_BORDER = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]*[A-Z0-9])")
_TITLES = frozenset(
    _WORD.findall("Mr Mrs Ms Dr Prof Sen Rep Gen Col Lt Capt Sgt Gov St Jr Sr Inc Ltd Co No vs")
)
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?!\w|,\d)")
_CAPITAL = re.compile(r"[A-Z][\w'’.-]*(?:\s+(?:of\s+)?[A-Z][\w'’-]*)*")
_NO_NAMES = frozenset(
    _WORD.findall(
        "A An And As At But By Following For From He Her His I If In Into It Its Last "
        "Meanwhile More No Not Now Of On One Or Our She So Some That The Their Then There "
        "These They This Those To Two Under Up We What When Where Which While Who With You "
        "Your After Also All Although Another Any Before Both During Each Earlier Even Every "
        "Few However Many Most Other Since Three Until Monday Tuesday Wednesday Thursday "
        "Friday Saturday Sunday January February March April May June July August September "
        "October November December Mr Mrs Ms Dr AM PM "
    )
)
"""Capitalized words that name nothing, or whose exchange would make no fact wrong."""


def sentences(text: str) -> list[str]:
    """The sentences of a text; a border after a title or an initial is none.

    >>> sentences("Mr. Lee left at 4 p.m. on Monday. He came back.")
    ['Mr. Lee left at 4 p.m. on Monday.', 'He came back.']
    """
    made: list[str] = []
    begin = 0
    for border in _BORDER.finditer(text):
        last = text[begin : border.start()].rsplit(maxsplit=1)[-1:]
        word = last[0].rstrip(".") if last else ""
        if text[border.start() - 1] == "." and (word in _TITLES or len(word) == 1):
            continue
        made.append(text[begin : border.end()].strip())
        begin = border.end()
    made.append(text[begin:].strip())
    return [sentence for sentence in made if sentence]


def words(text: str) -> list[str]:
    """The words of a text, as written."""
    return _WORD.findall(text)


def known_names(text: str) -> frozenset[str]:
    """Words that the text capitalizes inside a sentence: they do not hang on its wording.

    >>> sorted(known_names("Rain fell on Sydney. Crews from Gunning came."))
    ['Gunning', 'Sydney']
    """
    inside = (word for sentence in sentences(text) for word in words(sentence)[1:])
    return frozenset(word for word in inside if word[0].isupper() and word not in _NO_NAMES)


def with_facts_replaced(
    text: str,
    *,
    names: frozenset[str],
    name: Callable[[str], str],
    number: Callable[[str], str],
) -> str:
    """The text with every name and every number in digits put through a function.

    A run of capitalized words is one name where it holds one of `names`; days, months and
    words that only begin a sentence are left alone.
    """

    def renamed(run: re.Match[str]) -> str:
        return "".join(_renamed(run.group(), names, name))

    return _NUMBER.sub(lambda found: number(found.group()), _CAPITAL.sub(renamed, text))


def numbers(text: str) -> list[str]:
    """Numbers written in digits, as written."""
    return _NUMBER.findall(text)


def _renamed(run: str, names: frozenset[str], name: Callable[[str], str]) -> Iterator[str]:
    parts = list(re.finditer(r"\S+", run))
    begin, end = 0, len(parts)
    while begin < end and not _is_name(parts[begin].group(), names):
        begin += 1
    while end > begin and not _is_name(parts[end - 1].group(), names):
        end -= 1
    if begin == end:
        yield run
        return
    first, last = parts[begin], parts[end - 1]
    core = run[first.start() : last.end()]
    stem = re.sub(r"(?:['’]s?|[.-])$", "", core)
    yield run[: first.start()]
    yield name(stem)
    yield core[len(stem) :] + run[last.end() :]


def _is_name(word: str, names: frozenset[str]) -> bool:
    return any(part in names for part in [*words(word), re.sub(r"['’]s?$", "", word)])
