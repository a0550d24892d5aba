"""Spelled-out numbers as digits, by the rules of Whisper's normalizer for English."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial

_SMALL = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_LARGE = (
    "thousand million billion trillion quadrillion quintillion sextillion septillion octillion "
    "nonillion decillion"
)
_ONES = {name: value for value, name in enumerate(_SMALL.split(), 1)}
_TENS = {
    name: 10 * value
    for value, name in enumerate(
        ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), 2
    )
}
_MULTIPLIERS = {"hundred": 100, **{name: 1000**k for k, name in enumerate(_LARGE.split(), 1)}}
_ZEROS = {"o", "oh", "zero"}
_SIGNS = {"minus": "-", "negative": "-", "plus": "+", "positive": "+"}
_CURRENCIES = {
    **{"pound": "£", "pounds": "£", "euro": "€", "euros": "€"},
    **{"dollar": "$", "dollars": "$", "cent": "¢", "cents": "¢"},
}
_ORDINALS = {
    **{"one": ("first", "st"), "two": ("second", "nd"), "three": ("third", "rd")},
    **{"five": ("fifth", "th"), "eight": ("eighth", "th"), "twelve": ("twelfth", "th")},
}
"""Those that don't end in "th" alone. To the rules, 9 is "nineth" and "ninth" no number."""

_NUMERIC = re.compile(r"\d+(?:\.\d+)?")
_HALF = re.compile(r"\band\s+a\s+half\b")
_LONGEST = 4000
"""Digits up to which a word is a number: Python converts 4,300, and a multiplier adds up to 33."""


def numbers_in_digits(text: str) -> str:
    """A text in lower case with its numbers in digits: "twenty one dollars" becomes "$21"."""
    if "half" in text:
        text = _halves(text)
    digits = any(map(text.__contains__, "0123456789"))
    if digits:
        text = re.sub(r"([a-z])([0-9])", r"\1 \2", text)
        text = re.sub(r"([0-9])([a-z])", r"\1 \2", text)
        text = re.sub(r"([0-9])\s+(st|nd|rd|th|s)\b", r"\1\2", text)
    words = text.split()
    if digits or not text.isascii() or not _NUMBER_WORDS.isdisjoint(words):
        text = " ".join(_Reader(words).read())
    text = re.sub(r"([€£$])([0-9]+) (?:and )?¢([0-9]{1,2})\b", _with_cents, text)
    text = re.sub(r"[€£$]0.([0-9]{1,2})\b", lambda cents: f"¢{int(cents[1])}", text)
    return re.sub(r"\b1(s?)\b", r"one\1", text) if "1" in text else text


def _halves(text: str) -> str:
    """The text with "point five" for "and a half" behind a number."""
    *first, last = _HALF.split(text)
    parts = []
    for part in first:
        if words := part.split():
            number = words[-1] in _DECIMALS or words[-1] in _MULTIPLIERS
            parts += [part, "point five" if number else "and a half"]
    return " ".join([*parts, last])


def _with_cents(match: re.Match[str]) -> str:
    return f"{match[1]}{match[2]}.{int(match[3]):02d}"


class _Reader:
    """Reads words from left to right.

    Attributes:
        value: the number read so far, as a text where its digits were strung together.
        prefix: what goes before the next word that is written.
    """

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._place = 0
        self._written: list[str] = []
        self.value: int | str | None = None
        self.prefix = ""

    def read(self) -> list[str]:
        """The words, with numbers in digits."""
        while self._place < len(self._words):
            word = self._words[self._place]
            if word in _READ:
                _READ[word](self, word)
            elif word.isalpha() or not self._digits(word):
                self.write()
                self.write(word)
            self._place += 1
        self.write()
        return self._written

    def write(self, text: int | str | None = None, suffix: str = "") -> None:
        """Write a text, or else the number read so far, if any, which ends it."""
        text = self.value if text is None else text
        if text is not None:
            self._written.append(f"{self.prefix}{text}{suffix}")
            self.value, self.prefix = None, ""

    def zero(self, word: str) -> None:
        """Read a zero, which strings digits together."""
        self.value = f"{self.value or ''}0"

    def small(self, word: str, number: int, suffix: str = "") -> None:
        """Read a number from 1 to 19; a suffix ends it."""
        value, before = self.value, self._neighbour(-1)
        if value is None:
            self.value = number
        elif isinstance(value, str) and before in _TENS and number < 10:
            self.value = f"{value[:-1]}{number}"
        elif isinstance(value, str) or before in _ONES:
            self.value = f"{value}{number}"
        else:
            self.value = _added(value, number, 10 if number < 10 else 100)
        if suffix:
            self.write(suffix=suffix)

    def ten(self, word: str, number: int, suffix: str = "") -> None:
        """Read a number from 20 to 90; a suffix ends it."""
        value = self.value
        self.value = number if value is None else _added(value, number, 100)
        if suffix:
            self.write(suffix=suffix)

    def multiplier(self, word: str, number: int, suffix: str = "") -> None:
        """Read a power of ten, which multiplies what is below a thousand; a suffix ends it."""
        value = self.value
        if value is None:
            self.value = number
        elif isinstance(value, int):
            self.value = value // 1000 * 1000 + value % 1000 * number
        elif (product := _product(value, number)) is not None:
            self.value = product
        else:
            self.write()
            self.value = number
        if suffix:
            self.write(suffix=suffix)

    def sign(self, word: str) -> None:
        """Read a word for a sign, which is one before a number."""
        self.write()
        if self._number_follows():
            self.prefix = _SIGNS[word]
        else:
            self.write(word)

    def currency(self, word: str) -> None:
        """Read a currency, whose sign goes before the number that it follows."""
        if self.value is None:
            self.write(word)
        else:
            self.prefix = _CURRENCIES[word]
            self.write()

    def percent(self, word: str) -> None:
        """Read "percent", or "per" with "cent" behind it, after a number."""
        if self.value is not None and word == "percent":
            self.write(suffix="%")
        elif self.value is not None and self._neighbour(1) == "cent":
            self.write(suffix="%")
            self._place += 1
        else:
            self.write()
            self.write(word)

    def conjunction(self, word: str) -> None:
        """Read "and", which vanishes between a multiplier and a number."""
        if not self._number_follows() or self._neighbour(-1) not in _MULTIPLIERS:
            self.write()
            self.write(word)

    def repetition(self, word: str) -> None:
        """Read "double" or "triple", for the digit behind it."""
        following = self._neighbour(1)
        if following in _ONES or following in _ZEROS:
            digits = str(_ONES.get(following, 0)) * (2 if word == "double" else 3)
            self.value = f"{self.value or ''}{digits}"
            self._place += 1
        else:
            self.write()
            self.write(word)

    def point(self, word: str) -> None:
        """Read "point", which vanishes before a number that can't be a decimal."""
        following = self._neighbour(1)
        if not self._number_follows():
            self.write()
            self.write(word)
        elif following in _DECIMALS or _NUMERIC.fullmatch(following):
            self.value = f"{self.value or ''}."

    def _digits(self, word: str) -> bool:
        """Read a number in digits, maybe behind a sign; False if it is none."""
        sign = word[0] if word[0] in "-+£€$¢" else ""
        number = word[len(sign) :]
        if not _NUMERIC.fullmatch(number):
            return False
        if isinstance(self.value, str) and self.value.endswith("."):
            self.value += word
            return True
        self.write()
        self.prefix = sign or self.prefix
        units, _, decimals = number.partition(".")
        integer = len(number) <= _LONGEST and not int(decimals or 0)
        self.value = int(units) if integer else number
        return True

    def _neighbour(self, step: int) -> str:
        """The word before or after this one; "" at an end."""
        place = self._place + step
        return self._words[place] if 0 <= place < len(self._words) else ""

    def _number_follows(self) -> bool:
        following = self._neighbour(1)
        return following in _READ or _NUMERIC.fullmatch(following) is not None


def _added(value: int | str, number: int, room: int) -> int | str:
    """The sum if the number fits into the value's zeros, else its digits behind the value's."""
    if isinstance(value, int) and value % room == 0:
        return value + number
    return f"{value}{number}"


def _product(value: str, number: int) -> int | None:
    """The product of a number in digits and an integer, if it is an integer too."""
    if len(value) > _LONGEST:
        return None
    try:
        product = Fraction(value) * number
    except ValueError:
        return None
    return product.numerator if product.denominator == 1 else None


def _readings() -> dict[str, Callable[[_Reader, str], None]]:
    """How each word that may belong to a number is read."""
    readings: dict[str, Callable[[_Reader, str], None]] = {
        **dict.fromkeys(_ZEROS, _Reader.zero),
        **dict.fromkeys(_SIGNS, _Reader.sign),
        **dict.fromkeys(_CURRENCIES, _Reader.currency),
        **dict.fromkeys(("per", "percent"), _Reader.percent),
        **{"and": _Reader.conjunction, "point": _Reader.point},
        **dict.fromkeys(("double", "triple"), _Reader.repetition),
        "zeroth": partial(_Reader.small, number=0, suffix="th"),
    }
    kinds = ((_ONES, _Reader.small), (_TENS, _Reader.ten), (_MULTIPLIERS, _Reader.multiplier))
    for names, read in kinds:
        for name, number in names.items():
            stem = name[:-1] + "ie" if names is _TENS else name
            plural = stem + ("es" if name == "six" else "s")
            ordinal, suffix = _ORDINALS.get(name, (stem + "th", "th"))
            readings[name] = partial(read, number=number)
            readings[plural] = partial(read, number=number, suffix="s")
            readings[ordinal] = partial(read, number=number, suffix=suffix)
    return readings


_DECIMALS = {*_ONES, *_TENS, *_ZEROS}
_READ = _readings()
_NUMBER_WORDS = _READ.keys() - {"and"}
