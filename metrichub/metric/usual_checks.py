"""The checks that every metric of texts gets; checks.toml has their words, patterns and bounds."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from metrichub.metric.checks import DISTRIBUTION, PROSE, Check, Rows, word_set
from metrichub.text import Texts

Doubtful = Sequence[bool]
"""Whether each row is doubtful; empty if none is."""
_NEAR, _APART, _FEW, _SHORT, _SOME, _STYLE = 0.6, 0.3, 5, 15, 0.15, 0.9
_NUMBER = re.compile(r"\d+")
_MARK = re.compile(r"[.,;:!?](?=\s|$)")
_TOKENIZED = re.compile(r"\w (?:[.,](?=\s|$)|n't\b)")
_SIGN = re.compile(r"[^\0-\x7f]|[<\[#&`~\\]|@@|^\s*(?:n|N|$|undefined)|^.{0,30}:", re.MULTILINE)


def nothing_to_find(rows: Rows) -> bool:
    """Whether no check of a few rows would find anything, seen at a glance."""
    return not any(_SIGN.search(rows.joined(name)) for name in ("predictions", "references"))


def _share(first: frozenset[str], second: frozenset[str]) -> float:
    """How many words both have, of those of the smaller."""
    return len(first & second) / max(min(len(first), len(second)), 1)


def _mean(numbers: Iterable[float]) -> float:
    values = [*numbers]
    return sum(values) / max(len(values), 1)


def _holds(pattern: str, signs: Iterable[str]) -> Callable[[Rows], Doubtful]:
    """Rows whose prediction has a pattern that none of its references has; it needs a sign."""
    compiled, anywhere = re.compile(pattern), re.compile(pattern, re.MULTILINE)

    def rows_of(rows: Rows) -> Doubtful:
        texts = rows.joined("predictions")
        if not any(sign in texts for sign in signs) or not anywhere.search(texts):
            return ()
        return [
            bool(compiled.search(text)) and not any(map(compiled.search, references))
            for text, references in zip(
                rows.first("predictions"), rows.all("references"), strict=True
            )
        ]

    return rows_of


def _repeated(rows: Rows) -> Doubtful:
    columns = [rows.all(name) for name in sorted(rows.columns)]
    keys = [tuple(map(tuple, row)) for row in zip(*columns, strict=True)]
    first_places = {key: place for place, key in reversed([*enumerate(keys)])}
    return [first_places[key] < place for place, key in enumerate(keys)]


def _empty(rows: Rows) -> Doubtful:
    pairs = zip(rows.first("predictions"), rows.all("references"), strict=True)
    return [not text.strip() and all(r.strip() for r in references) for text, references in pairs]


def _no_reference(rows: Rows) -> Doubtful:
    pairs = zip(rows.first("predictions"), rows.all("references"), strict=True)
    return [
        bool(references) and bool(text.strip()) and not any(r.strip() for r in references)
        for text, references in pairs
    ]


def _alike(column: str, other: str) -> Callable[[Rows], Doubtful]:
    """Rows that begin as most of a column do, while the rest and the other column differ."""

    def rows_of(rows: Rows) -> Doubtful:
        starts = [_start(text) for text in rows.first(column)]
        ((common, times),) = Counter(filter(None, starts)).most_common(1) or [((), 0)]
        alike = [start == common for start in starts]
        others = [start for start in starts if start != common]
        repeats = len({*others}) < 0.8 * len(others)
        pairs = zip(rows.first(other), alike, strict=True)
        beside = {_start(text) for text, is_alike in pairs if is_alike}
        same = other in rows.columns and len(beside) < times / 2
        return () if times < 2 or repeats or same else alike

    return rows_of


def _start(text: str) -> tuple[str, ...]:
    return tuple(_NUMBER.sub("0", " ".join(text.split(maxsplit=_FEW)[:_FEW])).split())


def _equal(rows: Rows) -> Doubtful:
    """Rows equal to a reference, where the others are far from theirs or none is left."""
    texts, references = rows.first("predictions"), rows.all("references")
    equal = [t in r and bool(t.strip()) for t, r in zip(texts, references, strict=True)]
    pairs = zip(equal, rows.words("predictions"), rows.words("references"), strict=True)
    alike = _mean(len(a & b) / max(len(a | b), 1) for same, a, b in pairs if not same)
    return () if alike > _NEAR else equal


def _copied(column: str) -> Callable[[Rows], Doubtful]:
    """Rows that begin with a text of another column, which their references don't do.

    Where references say the same at the same length, as in simplification, some copies are right.
    """

    def rows_of(rows: Rows) -> Doubtful:
        copies = [
            len(start) > _SHORT and text.startswith(start) and not any(map(start.__eq__, others))
            for text, start, others in zip(
                rows.first("predictions"), rows.first(column), rows.all("references"), strict=True
            )
        ]
        words = [*zip(rows.words(column), rows.words("references"), strict=True)]
        alike = _mean(len(a & b) / max(len(a | b), 1) for a, b in words)
        return () if alike > _NEAR / 2 and _mean(copies) < _SOME else copies

    return rows_of


def _shifted(rows: Rows) -> Doubtful:
    """Rows whose prediction belongs to the reference of the row before or after."""
    predictions, references = rows.words("predictions"), rows.words("references")
    doubtful = [False] * len(rows)
    for (i, row), (j, after) in pairwise(enumerate(rows.numbers)):
        if after != row + 1 or references[i] == references[j]:
            continue
        for mine, other in ((i, j), (j, i)):
            words = predictions[mine]
            # A text of few words may fit another row by chance.
            if len(words) > PROSE:
                far = _share(words, references[other]) - _share(words, references[mine])
                doubtful[mine] |= far > _APART
    return doubtful


def _tokenized_rows(texts: Iterable[str]) -> list[bool]:
    return [bool(_TOKENIZED.search(text)) for text in texts]


def _tokenized(column: str, other: str) -> Callable[[Rows], Doubtful]:
    """Rows with spaces before their marks, where the other column has none."""

    def rows_of(rows: Rows) -> Doubtful:
        if " ." not in rows.joined(column) and " ," not in rows.joined(column):
            return ()
        tokenized, others = (
            rows.cached(("tokenized", name), partial(_tokenized_rows, rows.first(name)))
            for name in (column, other)
        )
        alone = [mine and not its for mine, its in zip(tokenized, others, strict=True)]
        return alone if sum(others) < sum(tokenized) / 2 else ()

    return rows_of


def _script(rows: Rows) -> Doubtful:
    """Rows whose letters are in another script than those of their reference."""
    first, second = rows.first("predictions"), rows.first("references")
    if rows.joined("predictions").isascii() and rows.joined("references").isascii():
        return ()
    mine, others = (Texts([*map(_letters, texts)]) for texts in (first, second))
    apart = np.zeros(len(rows), bool)
    for script in {*mine.letters.beyond_ascii, *others.letters.beyond_ascii} - {"Latin", "emoji"}:
        apart |= mine.mostly({script}) != others.mostly({script})
    # Where any letters are of one block, both may be, as in Japanese.
    return [
        differs and bool(text) and _blocks(text).isdisjoint(_blocks(other))
        for differs, text, other in zip(apart.tolist(), mine, others, strict=True)
    ]


def _letters(text: str) -> str:
    """The letters of a text; one for all that are ASCII."""
    letters = filter(str.isalpha, text)
    return next(letters, "") if text.isascii() else "".join(letters)


def _blocks(letters: str) -> frozenset[int]:
    return frozenset(ord(letter) >> 7 for letter in letters)


def _language(rows: Rows) -> Doubtful:
    """Rows with none of the most frequent words of the references, of which their own has two."""
    predictions, references = rows.words("predictions"), rows.words("references")
    times = Counter(
        word for words in references for word in words if len(word) > 1 and not word.isdigit()
    )
    common = {word for word, n in times.most_common(25) if n >= 0.1 * len(rows)}
    return [
        len(words) > 4 and len(others & common) > 1 and not words & common
        for words, others in zip(predictions, references, strict=True)
    ]


def _cut_off(rows: Rows) -> Doubtful:
    """Rows as long as the longest, in characters or words, that end in a word unlike references."""
    texts, references = rows.first("predictions"), rows.first("references")
    open_ended = [
        t.rstrip()[-1:].isalnum() and not r.rstrip()[-1:].isalnum()
        for t, r in zip(texts, references, strict=True)
    ]
    best: Doubtful = ()
    for lengths in ([*map(len, texts)], [len(text.split()) for text in texts]):
        longest = max(lengths)
        at = [n == longest and end for n, end in zip(lengths, open_ended, strict=True)]
        # A few short texts are as long as the longest by chance.
        if longest > _SHORT or 2 * sum(at) > len(at):
            best = max(best, at, key=sum)
    # Where hardly any text has a mark at its end, that is how they are written.
    style = sum(open_ended) > _STYLE * len(rows) and 2 * sum(best) < len(rows)
    return best if sum(best) >= _FEW and not style else ()


def _unpunctuated(rows: Rows) -> Doubtful:
    """Rows without a mark whose reference has several."""
    texts, references = rows.first("predictions"), rows.first("references")
    return [
        len(text.split()) > _FEW and not _MARK.search(text) and len(_MARK.findall(reference)) > 1
        for text, reference in zip(texts, references, strict=True)
    ]


def _unused(rows: Rows) -> Doubtful:
    """Rows whose keywords have no word that any prediction has, and are in none as they stand."""
    words = frozenset[str]().union(*rows.words("predictions"))
    texts = rows.joined("predictions").lower()
    return [
        bool(row)
        and words.isdisjoint(word_set(" ".join(_values(row))))
        and not any(word.lower() in texts for word in _values(row))
        for row in rows.all("keywords")
    ]


def _one_reference(rows: Rows) -> Doubtful:
    return [len(r) > 1 and len({*r}) == 1 for r in rows.all("references")]


def _never_meet(column: str, other: str) -> Callable[[Rows], Doubtful]:
    """Rows none of whose values any row has in the other column.

    Where some do meet, only values of another form are counted: others may be wrong, not doubtful.
    """

    def rows_of(rows: Rows) -> Doubtful:
        mine, others = ([_values(row) for row in rows.all(name)] for name in (column, other))
        values = set().union(*others)
        never = [bool(row) and values.isdisjoint(row) for row in mine]
        if not values or all(never) or len(rows) < DISTRIBUTION:
            return never if values and all(never) else ()
        forms = set(map(_form, values))
        return [
            alone and forms.isdisjoint(map(_form, row))
            for alone, row in zip(never, mine, strict=True)
        ]

    return rows_of


def _values(texts: Sequence[str]) -> set[str]:
    """The labels or ids of a row, which may be one text of JSON: a list, or grades by id."""
    values = set(texts)
    for text in texts:
        if text[:1] in ("[", "{"):
            with suppress(ValueError, RecursionError):
                values = set(map(str, json.loads(text)))
    return values


def _form(value: str) -> str:
    """The form of a value: "a_9" of "doc_12"."""
    return _NUMBER.sub("9", re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]+", "A", value)))


def _same_as_sources(rows: Rows) -> Doubtful:
    pairs = zip(rows.all("references"), rows.first("sources"), strict=True)
    return [bool(source.strip()) and {*texts} == {source} for texts, source in pairs]


_FUNCTIONS: Mapping[str, Callable[[Rows], Doubtful]] = {
    "empty": _empty,
    "constant": _alike("predictions", "references"),
    "equal": _equal,
    "copied source": _copied("sources"),
    "copied prompt": _copied("questions"),
    "shifted": _shifted,
    "tokenized": _tokenized("predictions", "references"),
    "tokenized references": _tokenized("references", "predictions"),
    "script": _script,
    "language": _language,
    "cut off": _cut_off,
    "unpunctuated": _unpunctuated,
    "keywords": _unused,
    "repeated": _repeated,
    "empty references": _no_reference,
    "constant references": _alike("references", "predictions"),
    "one reference": _one_reference,
    "sources as references": _same_as_sources,
    "labels": _never_meet("predictions", "references"),
    "ids": _never_meet("retrieved", "relevants"),
}


NO_TEXTS = {"labels", "structure", "tries", "ranking", "recorded"}
"""The families of metrics that read no prose, for which only their own checks hold."""


@cache
def usual_checks(family: str) -> tuple[Check, ...]:
    """The checks of the metrics of a family, in the order in which they are said."""
    import tomllib

    table = tomllib.loads(Path(__file__).with_name("checks.toml").read_text(encoding="utf-8"))
    checks = []
    for name, fields in table.items():
        if fields.pop("family", "") == (family if family in NO_TEXTS else ""):
            pattern, signs = fields.pop("pattern", None), fields.pop("signs", ())
            if pattern is None:
                checks.append(Check(name, _FUNCTIONS[name], **fields))
            else:
                checks.append(Check(name, _holds(pattern, signs), **fields, everywhere=True))
    return tuple(checks)
