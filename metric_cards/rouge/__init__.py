"""ROUGE: n-grams and common subsequences that a text shares with its references."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metric_cards.rouge.skip import skip_bigram_matches, weighted_lcs
from metrichub.authoring import OMIT_DEFAULT, Array, Measured, Metric, Range, Scores
from metrichub.errors import Doubt
from metrichub.text import (
    Classes,
    Integers,
    RaggedTexts,
    Texts,
    category,
    clipped_matches,
    highlight,
    lcs,
    lengths,
    porter,
    row_sums,
    segments,
    union_lcs,
)

TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
"""What is always given; statistics hold the chosen variant first, then these."""

_OUTPUTS = (
    ("score", "precision", "recall"),
    *((name, f"{name}_precision", f"{name}_recall") for name in TYPES),
)
_ORDERS = {f"rouge{n}": n for n in range(1, 10)}
_OTHER, _SYMBOL = 1, 2
_WIDE = Classes(lambda c: _SYMBOL if category(c) == "S" else _OTHER)
_MARK = "<n>"
_SYMBOLS_ALONE = "no reference has a letter or a digit, only symbols"


class _Counts(NamedTuple):
    """The counts that a pair shares, and those of its texts, (P, 5) for the variant and types."""

    shared: Array
    predicted: Array
    referenced: Array


@dataclass(frozen=True, kw_only=True)
class Rouge(Metric):
    """ROUGE (Lin 2004): N, L and Lsum equal to rouge-score 0.1.2, W, S and SU to ROUGE-1.5.5.

    Attributes:
        variant: The type that `score`, `precision` and `recall` report.
        tokenizer: Tokens are runs of a to z and 0 to 9 (`rouge`), runs of letters and digits of
            every script (`unicode`), or the words that captions are read as (`ptb`, as in cider).
        stemmer: Whether tokens of more than three letters are reduced to their Porter stem.
        split_summaries: Whether `rougeLsum` also splits texts into sentences with sentencex, and
            not only at line breaks.
        gap: The maximum number of tokens between the two tokens of a skip-bigram, for `rougeS` and
            `rougeSU`.
        weight: The exponent of `rougeW`: a run of k tokens counts as k to this power.
        letters: Whether a sample is unscored if the tokenizer drops over half of the letters and
            digits of every reference (`required`), or scored as in rouge-score (`official`).
        beta: How many times as much recall weighs as precision in F.
        accumulate: What several references give: the scores of the one with the best F (`best`),
            their means (`avg`), or the best precision and the best recall, each of any (`max`).
        newline: What stands for a line break in the texts, such as Pegasus's `<n>`; it is replaced
            before anything else.
    """

    variant: Literal[
        "rouge1", "rouge2", "rouge3", "rouge4", "rouge5", "rouge6", "rouge7", "rouge8", "rouge9",
        "rougeL", "rougeLsum", "rougeW", "rougeS", "rougeSU",
    ] = "rougeL"  # fmt: skip
    tokenizer: Literal["rouge", "unicode", "ptb"] = "rouge"
    stemmer: bool = False
    split_summaries: bool = False
    gap: Annotated[int, Range(0)] = 4
    weight: Annotated[float, Range(1)] = 1.2
    letters: Literal["required", "official"] = "required"
    beta: Annotated[float, Range(0)] = field(default=1.0, metadata=OMIT_DEFAULT)
    accumulate: Literal["best", "avg", "max"] = field(default="best", metadata=OMIT_DEFAULT)
    newline: str = field(default="", metadata=OMIT_DEFAULT)

    averaging = "macro"

    def drops_letters(self) -> bool:
        """Whether samples are scored whatever letters their references are in."""
        return self.letters == "official"

    def headline(self) -> tuple[str, ...]:
        """The types that are always given, behind the variant if it is another."""
        named = super().headline()
        return named if self.variant in named else ("score", *named)

    def measure(self, prediction: Texts, references: RaggedTexts) -> Measured:
        """Precision, recall and F of the variant and of each type, (N, 5)."""
        if self.newline:
            prediction = self._broken(prediction)
            references = RaggedTexts(self._broken(references.items), references.offsets)
        shared, predicted, referenced = self._counts(prediction, references)
        precision, recall = shared / np.maximum(predicted, 1), shared / np.maximum(referenced, 1)
        starts = references.offsets[:-1]
        if self.accumulate == "max":
            precision = np.maximum.reduceat(precision, starts)
            recall = np.maximum.reduceat(recall, starts)
        fmeasure = self._f(precision, recall)
        rows = {"precision": precision, "recall": recall, "fmeasure": fmeasure}
        if self.accumulate == "best":
            best = _first_best(fmeasure, references)
            rows = {name: np.take_along_axis(values, best, 0) for name, values in rows.items()}
        elif self.accumulate == "avg":
            counts = references.counts[:, None]
            rows = {name: np.add.reduceat(v, starts) / counts for name, v in rows.items()}
        symbols = [] if self.letters == "official" else self._only_symbols(references)
        rows["fmeasure"][symbols] = np.nan
        items, joined = references.items, "".join(prediction)
        if ". " in joined and "\n" not in joined:
            rows["noted_unbroken"] = np.ones(len(prediction), np.int64)
        if _MARK in joined or _MARK in "".join(items):
            rows["noted_marked"] = _marked(prediction) | (
                row_sums(_marked(items), references.offsets) > 0
            )
        return Measured(rows, dict.fromkeys(symbols, _SYMBOLS_ALONE))

    def score(self, precision: Array, recall: Array, fmeasure: Array, count: Array) -> Scores:
        """The means over the samples (macro)."""
        sums: dict[str, Array] = {}
        for i, names in enumerate(_OUTPUTS):
            sums |= zip(names, (fmeasure[..., i], precision[..., i], recall[..., i]), strict=True)
        return {name: total / count for name, total in sums.items()}

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """Marks of line breaks that are read as words, and that Lsum without any is L."""
        notes: list[str] = []
        if marked := int(totals.get("noted_marked", 0)):
            have = "sample has" if marked == 1 else "samples have"
            what = f"{marked} {have} {_MARK!r}, which counts as the word 'n' and ends no sentence"
            notes.append(
                Doubt(f"{what}; newline={_MARK!r} reads it as a line break", "line breaks")
            )
        types = np.stack([totals[name] for name in ("precision", "recall", "fmeasure")])
        alike = types[:, 1 + TYPES.index("rougeL")] == types[:, 1 + TYPES.index("rougeLsum")]
        asked = self.variant == "rougeLsum" and not self.split_summaries
        if asked and "noted_unbroken" in totals and alike.all():
            notes.append(
                "rougeLsum equals rougeL, as it does for texts without line breaks; "
                "split_summaries=True splits texts into sentences"
            )
        return notes

    def explain(self, prediction: str, references: Sequence[str]) -> highlight.Step:
        """The match with the variant's best reference, marked in both texts.

        That is one longest common subsequence, n-grams, or the tokens for the other variants.
        """
        prediction, *references = self._broken(Texts([prediction, *references]))
        best, *others = references
        if others:
            predicted = Texts([prediction] * len(references))
            rows = self.measure(predicted, RaggedTexts.of([[r] for r in references])).statistics
            best = references[int(rows["fmeasure"][:, 0].argmax())]
        tokenizer = self.declared_tokenizer()
        prediction, best = self._read(Texts([prediction, best]))
        if self.variant == "rougeL":
            return highlight.common_subsequence(prediction, best, tokenizer)
        order = _ORDERS.get(self.variant, 1)
        return highlight.shared_by_both(prediction, best, tokenizer, range(order, order + 1))

    def declared_tokenizer(self) -> str:
        """The tokenizer of the texts; the words of captions have spaces between them."""
        if self.tokenizer == "ptb":
            return "whitespace"
        return f"{self.tokenizer}-stem" if self.stemmer else self.tokenizer

    def _read(self, texts: Texts) -> Texts:
        """The texts, or with `ptb` their words with spaces between them, line by line."""
        if self.tokenizer != "ptb":
            return texts
        key = ("caption words", self.stemmer)
        return texts.cached(key, lambda: _caption_words(texts, _stem if self.stemmer else str))

    def _broken(self, texts: Texts) -> Texts:
        """The texts with their line breaks."""
        if not self.newline:
            return texts
        key = ("newline", self.newline)
        return texts.cached(key, lambda: Texts([t.replace(self.newline, "\n") for t in texts]))

    def _f(self, precision: NDArray[np.float64], recall: NDArray[np.float64]) -> Array:
        squared = self.beta**2
        both = recall + squared * precision
        return (1 + squared) * precision * recall / np.where(both > 0, both, 1)

    def _counts(self, prediction: Texts, references: RaggedTexts) -> _Counts:
        tokenizer = self.declared_tokenizer()
        reference = self._read(references.items)
        predicted = self._read(prediction).take(references.rows)
        longest = max(2, _ORDERS.get(self.variant, 1))
        matches = clipped_matches(predicted, reference, tokenizer, longest).matches
        shared = {name: matches[:, n - 1] for name, n in _ORDERS.items() if n <= longest}
        shared["rougeL"] = lcs(predicted, reference, tokenizer)
        shared["rougeLsum"] = self._summary(prediction, references, tokenizer, shared["rougeL"])
        names = [name for name in (self.variant, *TYPES) if name in shared]
        fewer = np.array([_ORDERS.get(name, 1) - 1 for name in names])
        counts = _Counts(
            np.stack([shared[name] for name in names], axis=1),
            np.maximum(lengths(predicted, tokenizer)[:, None] - fewer, 0),
            np.maximum(lengths(reference, tokenizer)[:, None] - fewer, 0),
        )
        if self.variant in shared:
            return counts
        special = self._own_counts(predicted, reference, tokenizer)
        pairs = zip(special, counts, strict=True)
        return _Counts(*(np.column_stack((mine, others)) for mine, others in pairs))

    def _own_counts(self, prediction: Texts, reference: Texts, tokenizer: str) -> _Counts:
        """The counts of ROUGE-W, -S and -SU as ROUGE-1.5.5 takes them, (P,) each."""
        if self.variant != "rougeW":
            single = self.variant == "rougeSU"
            return _Counts(*skip_bigram_matches(prediction, reference, tokenizer, self.gap, single))
        worth = weighted_lcs(prediction, reference, tokenizer, self.weight).runs ** (
            1 / self.weight
        )
        # The program divides by f of the reference's length, and for the precision by the length.
        return _Counts(
            worth, lengths(prediction, tokenizer), lengths(reference, tokenizer) ** self.weight
        )

    def _summary(
        self, prediction: Texts, references: RaggedTexts, tokenizer: str, lcs_hits: Integers
    ) -> Integers:
        """The hits of ROUGE-Lsum, (P,): those of ROUGE-L where both texts are one sentence."""
        predicted, reference = prediction, references.items
        if self.split_summaries:
            predicted, reference = _split(predicted), _split(reference)
        predicted, reference = self._read(predicted), self._read(reference)
        several = np.array(["\n" in text for text in predicted], np.bool_)[references.rows]
        several |= np.array(["\n" in text for text in reference], np.bool_)
        rows = np.flatnonzero(several)
        if not len(rows):
            return lcs_hits
        hits = lcs_hits.copy()
        predicted, reference = predicted.take(references.rows[rows]), reference.take(rows)
        hits[rows] = union_lcs(predicted, reference, tokenizer).hits
        return hits

    def _only_symbols(self, references: RaggedTexts) -> list[int]:
        """The samples whose references have symbols and nothing that is read."""
        read = lengths(self._read(references.items), self.declared_tokenizer())
        none_read = row_sums(read, references.offsets) == 0
        if not none_read.any():
            return []
        characters = references.items.lower().characters
        wide = np.flatnonzero(characters.codes >= 128)
        symbols = wide[_WIDE(characters.codes[wide]) == _SYMBOL]
        number = row_sums(np.diff(np.searchsorted(symbols, characters.rows)), references.offsets)
        rows: list[int] = np.flatnonzero(none_read & (number > 0)).tolist()
        return rows


def _marked(texts: Texts) -> Integers:
    """1 for each text with the mark that Pegasus writes for a line break, else 0, (N,)."""
    return np.fromiter((_MARK in text for text in texts), np.int64, len(texts))


def _caption_words(texts: Texts, stem: Callable[[str], str]) -> Texts:
    from metric_cards._bases.ptb import words_by_chunk

    def words(line: str) -> str:
        return " ".join(map(stem, " ".join(words_by_chunk(line)).split()))

    return Texts(["\n".join(map(words, text.split("\n"))) for text in texts])


def _stem(word: str) -> str:
    return porter(word) if len(word) > 3 else word


def _split(texts: Texts) -> Texts:
    """The texts with one sentence a line, after sentencex's rules for English."""
    return texts.cached("sentencex", lambda: Texts([_lines(text) for text in texts]))


def _lines(text: str) -> str:
    return "\n".join(sentence for line in text.split("\n") for sentence in segments(line))


def _first_best(fmeasure: NDArray[np.float64], references: RaggedTexts) -> NDArray[np.int64]:
    """The pair that each sample's types take, (N, 5)."""
    pairs = np.arange(len(fmeasure))[:, None]
    starts = references.offsets[:-1]
    best = np.maximum.reduceat(fmeasure, starts)[references.rows]
    chosen: NDArray[np.int64] = np.minimum.reduceat(
        np.where(fmeasure == best, pairs, len(pairs)), starts
    )
    return chosen
