"""Highlights: what a metric saw in single texts, to be shown to a reader.

Each function follows the one of the same purpose in the engine, for one row and with the places:
the tokens are the same, and so are the counts that it gives. The texts of all segments together
are the text itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple

from metrichub.text.column import Texts
from metrichub.text.edits.lcs import occurrences, subsequence
from metrichub.text.highlight.spans import TokenSpans, numbered, token_spans, tokens_of
from metrichub.text.ngrams.interning import intern_both
from metrichub.text.tokenize.tokenizers import Tokenizer

__all__ = [
    *("Step", "aligned", "aligned_after_shifts", "common_subsequence", "copied_fragments"),
    *("novel", "novel_where", "repeated", "shared", "shared_by_both"),
]

Step = dict[str, Any]
Kind = Literal["copied", "partly", "novel", "outside"]
Edit = Literal["equal", "substitute", "insert", "delete"]

_EDITS: dict[str, Edit] = {
    "equal": "equal",
    "replace": "substitute",
    "insert": "insert",
    "delete": "delete",
}
"""Kinds of edits by the names that rapidfuzz gives them."""


class Segment(NamedTuple):
    """A part of a text: tokens that the other text has, or hasn't, or what stands between tokens.

    `length` is the number of tokens in a row that both texts have: of the longest shared n-gram
    that goes over these tokens, or of the fragment that they are. A shorter n-gram than the
    longest that counts makes them "partly" copied.
    """

    text: str
    kind: Kind
    length: int


class EditOp(NamedTuple):
    """Tokens of an alignment that are treated alike, `size` of them; one side may be empty."""

    kind: Edit
    reference: str
    prediction: str
    size: int


def novel(
    prediction: str, others: Sequence[str], tokenizer: str, order: int, *, lower: bool = False
) -> Step:
    """The n-grams that occur in no other text, as `novel_ngrams` counts them.

    Tokens within an n-gram that another text has are marked as copied.
    """
    predicted = token_spans(prediction, tokenizer, lower=lower)
    texts = [text.lower() if lower else text for text in others]
    present = {gram for text in texts for gram in _grams(tokens_of(text, tokenizer), order)}
    grams = list(_grams(predicted.tokens, order))
    return novel_where(predicted, [gram not in present for gram in grams], order)


def novel_where(prediction: TokenSpans, new: Sequence[bool], order: int) -> Step:
    """The same, given whether each n-gram is new."""
    lengths = [0] * len(prediction.tokens)
    for start, is_new in enumerate(new):
        if not is_new:
            lengths[start : start + order] = [order] * order
    segments = _segments(prediction, lengths, order)
    return {"prediction": segments, "novel": sum(new), "total": len(new)}


def repeated(text: str, tokenizer: str, order: int) -> Step:
    """The n-grams that occurred earlier in the text; the distinct ones count as novel.

    Tokens within an n-gram that occurred earlier are marked as copied.
    """
    prediction, seen = token_spans(text, tokenizer), set[tuple[str, ...]]()
    new = []
    for gram in _grams(prediction.tokens, order):
        new.append(gram not in seen)
        seen.add(gram)
    return novel_where(prediction, new, order)


def shared(
    prediction: str,
    references: Sequence[str],
    tokenizer: str,
    orders: range,
    *,
    lower: bool = False,
) -> Step:
    """The n-grams that a reference also has, as often as `clipped_matches` counts them."""
    predicted = token_spans(prediction, tokenizer, lower=lower)
    reference = [tokens_of(text.lower() if lower else text, tokenizer) for text in references]
    lengths, ngrams = _matched(predicted.tokens, reference, orders)
    return {"prediction": _segments(predicted, lengths, orders[-1]), "ngrams": ngrams}


def shared_by_both(
    prediction: str, reference: str, tokenizer: str, orders: range, *, lower: bool = False
) -> Step:
    """The n-grams that both texts have, marked in both, as `shared_ngrams` counts them."""
    predicted = token_spans(prediction, tokenizer, lower=lower)
    expected = token_spans(reference, tokenizer, lower=lower)
    here, counts = _matched(predicted.tokens, [expected.tokens], orders)
    matched, others = _matched(expected.tokens, [predicted.tokens], orders)
    ngrams = [
        row | {"in_reference": other["in_prediction"]}
        for row, other in zip(counts, others, strict=True)
    ]
    return {
        "prediction": _segments(predicted, here, orders[-1]),
        "reference": _segments(expected, matched, orders[-1]),
        "ngrams": ngrams,
    }


def common_subsequence(prediction: str, reference: str, tokenizer: str) -> Step:
    """The tokens of one longest common subsequence, marked in both texts; `lcs` counts them."""
    predicted, expected = token_spans(prediction, tokenizer), token_spans(reference, tokenizer)
    first, second = numbered(predicted, expected)
    path = subsequence(occurrences(second), len(second), first)
    hits = [path >> i & 1 for i in range(len(second))]
    common = iter([token for token, matched in zip(second, hits, strict=True) if matched])
    here, awaited = [], next(common, None)
    for token in first:
        here.append(int(token == awaited))
        awaited = next(common, None) if token == awaited else awaited
    return {
        "prediction": _segments(predicted, here, 1),
        "reference": _segments(expected, hits, 1),
        "shared": sum(hits),
        "in_prediction": len(first),
        "in_reference": len(second),
    }


def copied_fragments(prediction: str, source: str, tokenizer: str, *, lower: bool = False) -> Step:
    """The extractive fragments of a prediction, as `fragments` finds them; one segment each."""
    predicted = token_spans(prediction, tokenizer, lower=lower)
    original = token_spans(source, tokenizer, lower=lower)
    first, second = numbered(predicted, original)
    lengths, labels = [0] * len(first), list(range(len(first)))
    for start, size in _fragments(first, second):
        lengths[start : start + size] = [size] * size
        labels[start : start + size] = [start] * size
    copied = sum(length > 0 for length in lengths)
    labels = [label if length else -1 for label, length in zip(labels, lengths, strict=True)]
    segments = _segments(predicted, lengths, 1, labels)
    return {"prediction": segments, "copied": copied, "total": len(lengths)}


def _matched(
    prediction: Sequence[str], others: Sequence[Sequence[str]], orders: range
) -> tuple[list[int], list[dict[str, int]]]:
    """The longest shared n-gram over each token, and for each order how many are shared.

    An n-gram counts as often as in the text that has most of it; the first ones do.
    """
    lengths = [0] * len(prediction)
    rows = []
    # N-grams are slices of strings with a character for each token that the prediction has.
    names = {token: chr(k) for k, token in enumerate(dict.fromkeys(prediction), 1)}
    mine, *theirs = (
        "".join([names.get(token, "\0") for token in tokens]) for tokens in (prediction, *others)
    )
    for order in orders:
        grams, marks = _slices(mine, order), [order] * order
        room = dict.fromkeys(grams, 0)
        for other in theirs:
            for gram, count in Counter(filter(room.__contains__, _slices(other, order))).items():
                room[gram] = max(room[gram], count)
        shared = 0
        for start, gram in enumerate(grams):
            if room[gram]:
                room[gram] -= 1
                shared += 1
                lengths[start : start + order] = marks
        rows.append({"n": order, "shared": shared, "in_prediction": len(grams)})
    return lengths, rows


def _slices(text: str, order: int) -> list[str]:
    return [text[start : start + order] for start in range(len(text) - order + 1)]


def _grams(tokens: Sequence[str], order: int) -> Iterator[tuple[str, ...]]:
    return zip(*(tokens[k:] for k in range(order)), strict=False)


def _segments(
    text: TokenSpans, lengths: Sequence[int], longest: int, labels: Sequence[int] | None = None
) -> list[Segment]:
    """The segments of a text whose tokens have these lengths; other labels, other segments."""

    def kind(length: int) -> Kind:
        return "novel" if not length else "copied" if length >= longest else "partly"

    keys = list(zip(labels or lengths, lengths, strict=True))
    return [
        Segment(part, "outside", 0) if group is None else Segment(part, kind(group[1]), group[1])
        for part, group in _parts(text, keys)
    ]


def _parts(text: TokenSpans, keys: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """The text in parts: tokens in a row with one key, and with None what is between parts."""
    end = 0
    for key, group in groupby(range(len(keys)), keys.__getitem__):
        places = list(group)
        start = text.spans[places[0]][0]
        if start > end:
            yield text.text[end:start], None
        end = text.spans[places[-1]][1]
        yield text.text[start:end], key
    if end < len(text.text):
        yield text.text[end:], None


def _fragments(prediction: Sequence[int], source: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where each fragment starts, and its length."""
    places: dict[int, list[int]] = {}
    for place, token in enumerate(source):
        places.setdefault(token, []).append(place)
    start = 0
    while start < len(prediction):
        longest = behind = 0
        for place in places.get(prediction[start], ()):
            if place >= behind:
                size = _run(prediction, start, source, place)
                longest, behind = max(longest, size), place + size
        if longest:
            yield start, longest
        start += max(longest, 1)


def _run(first: Sequence[int], i: int, second: Sequence[int], j: int) -> int:
    """How many tokens are the same from i and from j on."""
    size, room = 0, min(len(first) - i, len(second) - j)
    while size < room and first[i + size] == second[j + size]:
        size += 1
    return size


def aligned(prediction: str, reference: str, tokenizer: Tokenizer) -> Step:
    """The edits that turn the reference into the prediction, as `edits` finds them."""
    return _alignment(token_spans(prediction, tokenizer), token_spans(reference, tokenizer))


def aligned_after_shifts(prediction: str, reference: str, tokenizer: str) -> Step:
    """The shifts that `shift_edits` makes in the prediction, and the edits after them.

    `edits` counts both.
    """
    from metrichub.text.edits.shifts import shifts_made

    predicted, expected = token_spans(prediction, tokenizer), token_spans(reference, tokenizer)
    pair = intern_both(Texts([prediction]), Texts([reference]), tokenizer).strings
    words, shifts = list(predicted.tokens), []
    for shift in shifts_made(*pair):
        shifts.append(" ".join(words[shift.start : shift.end]))
        words = shift(words)
    moved = token_spans(" ".join(words), "whitespace") if shifts else predicted
    alignment = _alignment(moved, expected)
    return {"shifted": shifts, **alignment, "edits": alignment["edits"] + len(shifts)}


def _alignment(prediction: TokenSpans, reference: TokenSpans) -> Step:
    from rapidfuzz.distance import Levenshtein

    first, second = numbered(prediction, reference)
    ours, theirs = _edges(prediction), _edges(reference)
    runs = []
    for edit in Levenshtein.opcodes(second, first):
        expected = reference.text[theirs[edit.src_start] : theirs[edit.src_end]]
        predicted = prediction.text[ours[edit.dest_start] : ours[edit.dest_end]]
        size = max(edit.src_end - edit.src_start, edit.dest_end - edit.dest_start)
        runs.append(EditOp(_EDITS[edit.tag], expected, predicted, size))
    return {"alignment": runs, "edits": sum(run.size for run in runs if run.kind != "equal")}


def _edges(text: TokenSpans) -> list[int]:
    """Where the part of each token begins, white space behind a token being part of it."""
    starts = [start for start, _ in text.spans]
    return [0, *starts[1:], len(text.text)]
