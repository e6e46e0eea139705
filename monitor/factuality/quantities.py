"""Numbers, dates and times in a text, read by value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from monitor.factuality.number_phrases import grouped
from monitor.factuality.number_words import (
    AMBIGUOUS_SUFFIXES,
    CURRENCIES,
    MONTHS,
    ORDINAL_SCALES,
    ORDINALS,
    SCALES,
    SHARES,
    SHORT_MONTHS,
    SUFFIX_SCALES,
    TENS,
    UNITS,
    WEEKDAYS,
)
from monitor.factuality.ranges import Quantity, Reading, with_ranges


def quantities(text: str) -> list[Quantity]:
    """All numbers, dates and times of an English text, in order.

    Equal by value: 1,000 = 1000 = one thousand; 5m = 5 million (or 5 metres);
    20% = 20 per cent; third = 3rd = 3; $5m = 5 million dollars; 14 March = March 14th;
    7.30pm = 19:30. A date is a pair of day and month, its year a number of its own.
    Stricter than a bare number: a share has to be a share, a price the same currency.

    Not read: signs (the hyphen of a range looks like a minus), rounding (about 1,000 is not
    1,012), Roman numerals, decimal commas, numbers inside codes (G20, 3f2a).

    >>> [q.text for q in quantities("On 14 March twenty-one of 1,000 voters, 2.1%, left.")]
    ['14 March', 'twenty-one', '1,000', '2.1%']
    """
    found = [quantity for match in _PATTERN.finditer(text) for quantity in _read(match, text)]
    return with_ranges(found, text)


def offered(text: str) -> frozenset[Reading]:
    """Everything that a document supports."""
    return frozenset(reading for quantity in quantities(text) for reading in quantity.offers)


def _alternatives(*tables: dict[str, int]) -> str:
    words = {word for table in tables for word in table}
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


_WORD = f"(?:{_alternatives(UNITS, TENS, SCALES, ORDINALS, ORDINAL_SCALES)})"
_MONTH = f"(?:{_alternatives(MONTHS)}|(?:{_alternatives(SHORT_MONTHS)})\\b\\.?)"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?(?![\d:%]|[.,]\d)"
_COIN = r"(?:dollars?|bucks?|usd|pounds?|gbp|euros?|eur|yen|rupees?)"
_TAIL = rf"""
    (?P<percent>\s?%|[\s-]?per\s?cent\b|\s?pct\b|pc\b|\s?percentage\s+points?\b)?
    (?:[\s-]*(?:(?:us|u\.s\.|american|australian|canadian)\s+)?(?P<coin>{_COIN})\b)?
"""
_FIGURE = r"(?:\d{1,3}(?:,\d{3})+|\d{1,40})(?:\.\d{1,40})?"
# One alternative a form, the longest first, since a regular expression takes the first.
_PATTERN = re.compile(
    rf"""
    (?<![\w])(?P<iso>(?P<y>\d{{4}})-(?P<mo>[01]\d)-(?P<d>[0-3]\d))(?!\d)
  | (?<![\w/.])(?P<slash>(?P<s1>\d{{1,2}})[/.](?P<s2>\d{{1,2}})[/.](?P<s3>\d{{4}}|\d{{2}}))(?![\d/])
  | \b(?P<day>{_DAY})\s+(?:of\s+)?(?P<month>{_MONTH})(?!\w)
  | \b(?P<month2>{_MONTH})\s+(?:the\s+)?(?P<day2>{_DAY})(?!\w)
  | \b(?P<year_month>{_MONTH})(?=,?\s+\d{{4}}\b)
  | \b(?P<lone_month>{_alternatives(MONTHS)})\b
  | \b(?P<weekday>{_alternatives(WEEKDAYS)})s?\b
  | (?<![\w.])(?P<hour>\d{{1,2}})(?:[:.](?P<minute>[0-5]\d))?\s?(?P<half>[ap])(?:\.\s?m\.|m\b)
  | (?<![\w.:])(?P<hour2>[01]?\d|2[0-4]):(?P<minute2>[0-5]\d)(?![\d:])
  | (?<![\w.])(?P<hour3>\d{{1,2}})\s?o['’]clock\b
  | (?:(?P<symbol>[$£€¥₹])\s?)?(?<![\w])(?<!\d[.,])(?P<figure>{_FIGURE})(?!\d|[.,]\d|[^\W\d_]+\d)
    (?P<decade>['’]?s\b)?(?P<nth>(?:st|nd|rd|th)\b)?
    (?P<suffix>(?:{_alternatives(SUFFIX_SCALES)})\b)?
    (?P<scales>(?:[\s-]*(?:{_alternatives(SCALES)})\b)*)
    {_TAIL}
  | \b(?P<words>(?:half\s+a\s+(?={_alternatives(SCALES)})|an?\s+(?={_alternatives(SCALES)}))?
    {_WORD}(?:(?:\s+and\s+|[\s-]+){_WORD})*)\b
    {_TAIL.replace("percent>", "percent2>").replace("coin>", "coin2>")}
  | \b(?P<share>half|quarter)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_AFTER = re.compile(
    r"\b(?:in|since|until|till|by|of|last|next|this|early|late|mid|from|to|through)[\s-]+$",
    re.IGNORECASE,
)

_UNIT_BEFORE = re.compile(r"(?:\d|\ba|\bper|\bsplit|\beach|\bevery)[\s-]+$", re.IGNORECASE)


def _read(match: re.Match[str], text: str) -> Iterator[Quantity]:
    group = match.group
    if group("iso"):
        yield _date(match, [(int(group("mo")), int(group("d")))], group("y"))
    elif group("slash"):
        one, two = int(group("s1")), int(group("s2"))
        days = [(m, d) for m, d in ((two, one), (one, two)) if 1 <= m <= 12 and 1 <= d <= 31]
        if days:
            yield _date(match, days, group("s3"))
    elif group("day") or group("day2"):
        month = _month(group("month") or group("month2"))
        figures = re.match(r"\d+", group("day") or group("day2"))
        if figures:
            yield _date(match, [(month, int(figures.group()))], None)
    elif group("year_month") or group("lone_month"):
        yield from _lone_month(match, text)
    elif group("weekday"):
        reading: Reading = ("weekday", WEEKDAYS[group("weekday").lower()])
        yield _quantity(match, {reading})
    elif group("hour") or group("hour2") or group("hour3"):
        yield from _time(match)
    elif group("figure"):
        yield _figure(match)
    elif group("words"):
        yield from _words(match, text)
    elif group("share"):
        number, percent = SHARES[group("share").lower()]
        yield _quantity(match, set(), {("number", number), ("percent", percent)})


def _quantity(
    match: re.Match[str], demands: set[Reading], offers: set[Reading] | None = None
) -> Quantity:
    return Quantity(
        text=match.group(),
        start=match.start(),
        demands=frozenset(demands),
        offers=frozenset(demands | (offers or set())),
    )


def _month(name: str) -> int:
    lower = name.lower().rstrip(".")
    return MONTHS.get(lower) or SHORT_MONTHS[lower]


def _date(match: re.Match[str], days: list[tuple[int, int]], year: str | None) -> Quantity:
    demands: set[Reading] = {("day", month, day) for month, day in days}
    offers: set[Reading] = set()
    for month, day in days:
        offers |= {("month", month), ("number", Decimal(day))}
    if year is not None:
        numbers = [Decimal(year)] if len(year) == 4 else [Decimal(f"{c}{year}") for c in (19, 20)]
        offers |= {("number", number) for number in numbers}
    return _quantity(match, demands, offers)


def _lone_month(match: re.Match[str], text: str) -> Iterator[Quantity]:
    name = match.group().lower().rstrip(".")
    reading: Reading = ("month", _month(match.group()))
    if match.group("year_month") or name not in {"may", "march", "august"}:
        yield _quantity(match, {reading})
    elif match.group()[0].isupper():
        # "May" and "March" are months for sure only behind a word such as "in" or "last".
        sure = _AFTER.search(text, max(0, match.start() - 12), match.start()) is not None
        yield _quantity(match, {reading} if sure else set(), {reading})


def _time(match: re.Match[str]) -> Iterator[Quantity]:
    hour = int(match.group("hour") or match.group("hour2") or match.group("hour3"))
    minute = int(match.group("minute") or match.group("minute2") or 0)
    if hour > 24:
        return
    half = (match.group("half") or "").lower()
    hours = {hour % 12 + (12 if half == "p" else 0)} if half else {hour % 24, (hour + 12) % 24}
    if not half and hour > 12:
        hours = {hour % 24}
    demands: set[Reading] = {("time", each, minute) for each in hours}
    yield _quantity(match, demands, {("number", Decimal(hour))})


def _valued(
    match: re.Match[str], values: set[Decimal], percent: str | None, coin: str | None
) -> tuple[set[Reading], set[Reading]]:
    numbers: set[Reading] = {("number", value) for value in values}
    if percent:
        return {("percent", value) for value in values}, numbers
    if coin:
        currency = CURRENCIES[coin.lower().removesuffix("s")]
        return {(currency, value) for value in values}, numbers
    return numbers, set()


def _figure(match: re.Match[str]) -> Quantity:
    group = match.group
    value = Decimal(group("figure").replace(",", ""))
    if group("decade") and value % 10 == 0 and value < 2100:
        century: Reading = ("decade", int(value) % 100)
        return _quantity(match, {century, ("number", value)})
    for scale in re.findall(r"[a-z]+", group("scales").lower()):
        value *= SCALES[scale]
    values = {value}
    suffix = (group("suffix") or "").lower()
    if suffix:
        values.add(value * SUFFIX_SCALES[suffix])
        if suffix not in AMBIGUOUS_SUFFIXES or group("symbol"):
            values.discard(value)
    return _quantity(
        match, *_valued(match, values, group("percent"), group("symbol") or group("coin"))
    )


def _words(match: re.Match[str], text: str) -> Iterator[Quantity]:
    phrase, start = match.group("words"), match.start()
    pieces = [(piece.group(), piece.start()) for piece in re.finditer(r"[^\W\d_]+", phrase)]
    numbers = grouped([word for word, _ in pieces])
    for index, (value, first, last) in enumerate(numbers):
        words = [word.lower() for word, _ in pieces[first : last + 1]]
        begin = start + pieces[first][1]
        final = index == len(numbers) - 1
        end = match.end() if final else start + pieces[last][1] + len(pieces[last][0])
        demands, offers = _valued(
            match,
            {value},
            match.group("percent2") if final else None,
            match.group("coin2") if final else None,
        )
        measured = final and (match.group("percent2") or match.group("coin2"))
        vague = words == ["one"] or (len(words) == 1 and words[0] in SCALES)
        if not measured and (vague or _is_unit_of_time(words, index, text[:begin])):
            demands, offers = set(), demands | offers
        yield Quantity(
            text=text[begin:end],
            start=begin,
            demands=frozenset(demands),
            offers=frozenset(demands | offers),
        )


def _is_unit_of_time(words: list[str], index: int, before: str) -> bool:
    """Whether "second" is a length of time, as in "a split second" or "per second"."""
    return words == ["second"] and (index > 0 or _UNIT_BEFORE.search(before[-9:]) is not None)
