"""The vocabulary of numbers and dates, in figures and in words."""

from __future__ import annotations

from decimal import Decimal

UNITS = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
} | {"nil": 0}
TENS = {
    word: 10 * value
    for value, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
SCALES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
ORDINALS = {
    word: value
    for value, word in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
            "thirteenth",
            "fourteenth",
            "fifteenth",
            "sixteenth",
            "seventeenth",
            "eighteenth",
            "nineteenth",
        ],
        start=1,
    )
} | {word[:-1] + "ieth": value for word, value in TENS.items()}
ORDINAL_SCALES = {"hundredth": 100, "thousandth": 10**3, "millionth": 10**6}

SUFFIX_SCALES = {
    "k": 10**3,
    "m": 10**6,
    "mn": 10**6,
    "mln": 10**6,
    "b": 10**9,
    "bn": 10**9,
    "tn": 10**12,
}
"""Written without a space behind a figure."""
AMBIGUOUS_SUFFIXES = frozenset({"k", "m", "b"})
"""5m is five million or five metres: both readings count."""

SHARES = {"half": (Decimal("0.5"), Decimal(50)), "quarter": (Decimal("0.25"), Decimal(25))}
"""As a number and in per cent; in a document only, since "the second half" is no share."""

CURRENCIES = {
    "$": "dollar",
    "£": "pound",
    "€": "euro",
    "¥": "yen",
    "₹": "rupee",
    "dollar": "dollar",
    "buck": "dollar",
    "usd": "dollar",
    "pound": "pound",
    "gbp": "pound",
    "euro": "euro",
    "eur": "euro",
    "yen": "yen",
    "rupee": "rupee",
}
"""All dollars are one: texts rarely repeat which."""

MONTHS = {
    name: number
    for number, name in enumerate(
        [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ],
        start=1,
    )
}
SHORT_MONTHS = {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}
WEEKDAYS = {
    name: number
    for number, name in enumerate(
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    )
}
