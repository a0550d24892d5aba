"""The text engine's definitions, written for one row and for reading, and texts to try them on."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

from hypothesis import strategies as st

PIECES = (
    *("a", "the", "The ", "an", "A", "cats", "dying", "relational", "don't", "(hi)", "x_y", "_"),
    *("...", "..", ".", ",", "1", "23", "-", "--", "5-", "5--3", "$5.", "1,000.50", "i.e.", "'"),
    *("\n", "-\n", "\n\n", " ", "  ", "\t", "\r", "\x0b", "\x1c", "\x85", "\xa0", "\u2001"),
    *("\u2028", "\u3000", "\x00", "\x08", "\x7f", "<skipped>", "<", "&amp;", "&lt;", "&", ";"),
    *("&quot;lt;", "é", "e\u0301", "İ", "K", "ſ", "ΑΣ", "ß", "“", "”", "—", "€", "©", "²", "½"),
    *("日本", "語。", "，", "ก็", "ひ", "カー", "々", "\u2f90", "\uff0c", "ا", "שלום", "٣", "Ⅷ"),
    *("😀", "👩\u200d👩", "\U00010000", "\ud800", "\udc00", "*", "```"),
    *("averylongword", "averyveryverylongword" * 5),
)
"""Text with every surprise that a tokenizer or an encoding has shown."""

any_character = st.characters(exclude_categories=())
texts = st.lists(st.sampled_from(PIECES) | any_character, max_size=12).map("".join)
ascii_texts = st.text(st.characters(codec="ascii"), max_size=30)
points = st.text("15., -aé日\n", max_size=10)
any_text = texts | ascii_texts | points
columns = st.lists(any_text, max_size=6)

word_texts = st.lists(st.sampled_from(["a", "b", "c", "d", "ee"]), max_size=15).map(" ".join)
"""Texts of few distinct words, which share many n-grams."""


def pairs(of: st.SearchStrategy[str]) -> st.SearchStrategy[list[tuple[str, str]]]:
    return st.lists(st.tuples(of, of), max_size=5)


def samples(of: st.SearchStrategy[str]) -> st.SearchStrategy[list[tuple[str, list[str]]]]:
    return st.lists(st.tuples(of, st.lists(of, max_size=4)), max_size=5)


def assigned(text: str) -> bool:
    """Whether all characters are in this Python's Unicode, so that no newer table differs."""
    return all(unicodedata.category(character) != "Cn" for character in text)


def ngrams(tokens: Sequence[str], order: int) -> list[tuple[str, ...]]:
    return [tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1)]


def clipped_matches(
    prediction: Sequence[str], references: Sequence[Sequence[str]], order: int
) -> int:
    best: Counter[tuple[str, ...]] = Counter()
    for reference in references:
        best |= Counter(ngrams(reference, order))
    return (Counter(ngrams(prediction, order)) & best).total()


def novel_ngrams(prediction: Sequence[str], references: Sequence[Sequence[str]], order: int) -> int:
    grams = {gram for reference in references for gram in ngrams(reference, order)}
    return sum(gram not in grams for gram in ngrams(prediction, order))


def closest_length(length: int, candidates: Sequence[int]) -> int:
    return min(candidates, key=lambda candidate: (abs(candidate - length), candidate), default=0)


def lcs(first: Sequence[str], second: Sequence[str]) -> int:
    row = [0] * (len(second) + 1)
    for token in first:
        above = row
        row = [0]
        for j, two in enumerate(second):
            row.append(above[j] + 1 if token == two else max(above[j + 1], row[j]))
    return row[-1]


def levenshtein(first: Sequence[str], second: Sequence[str]) -> int:
    row = list(range(len(second) + 1))
    for i, token in enumerate(first, start=1):
        above = row
        row = [i]
        for j, two in enumerate(second):
            row.append(min(above[j] + (token != two), above[j + 1] + 1, row[j] + 1))
    return row[-1]


def fragments(prediction: Sequence[str], source: Sequence[str]) -> list[int]:
    """The lengths of the extractive fragments; Grusky et al. (2018), figure 3, with the search
    in the source going on behind every run."""
    results = []
    i = 0
    while i < len(prediction):
        longest = j = 0
        while j < len(source):
            size = 0
            while prediction[i + size : i + size + 1] == source[j + size : j + size + 1] != []:
                size += 1
            longest = max(longest, size)
            j += max(size, 1)
        if longest:
            results.append(longest)
        i += max(longest, 1)
    return results
