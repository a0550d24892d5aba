"""Value keys: what is equal for two values that a comparator takes to be equal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable
from decimal import Decimal, InvalidOperation

_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][-+]?\d{1,4})?")


def value_key(value: object, comparator: str) -> Hashable:
    """The key of a text, a number or a truth value.

    `exact` tells 1 from "1" and from true, and compares texts in Unicode's form NFC; `text`
    compares texts without case and runs of blanks; `number` does so with what isn't a number.
    """
    if comparator == "number" and not isinstance(value, bool):
        number = _number(str(value))
        return folded(str(value)) if number is None else number
    if comparator != "exact":
        return folded(str(value))
    if isinstance(value, bool):
        return ("boolean", value)
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def folded(text: str) -> str:
    """The text in the form NFC without case and runs of blanks."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _number(text: str) -> Decimal | None:
    """The number that a text is, with commas between groups of three digits at most."""
    text = text.strip().replace("\N{MINUS SIGN}", "-")
    if not _NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:
        return None
