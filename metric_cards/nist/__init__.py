"""NIST: n-gram precision weighted by information, equal to mteval's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import exp, log, log2, nan
from typing import Annotated, Literal, NamedTuple

from metric_cards.nist.corpus import BETA, Corpus, Ngram, Row
from metrichub.authoring import CorpusMetric, Range, Resampler
from metrichub.text import RaggedTexts, Texts, highlight


class _Part(NamedTuple):
    """What one sample adds to one order."""

    information: float
    ngrams: int
    reference_length: float


@dataclass(frozen=True, kw_only=True)
class Nist(CorpusMetric):
    """NIST (Doddington 2002) as mteval-v13a.pl computes it.

    Attributes:
        tokenize: The tokenizer, by sacrebleu's name; "13a" is that of mteval.
        max_order: The maximum order of the n-grams.
        lowercase: Whether case is ignored; mteval ignores it unless it is run with `-c`.
        convention: The implementation to follow; `mteval` and `nltk` differ if there are several
            references, and for word pairs that start with "0".
    """

    tokenize: Literal[
        "13a", "intl", "zh", "char", "none", "ja-mecab", "ko-mecab", "flores101", "flores200", "spm"
    ] = "13a"
    max_order: Annotated[int, Range(1, 9)] = 5
    lowercase: bool = False
    convention: Literal["mteval", "nltk"] = "mteval"

    def measure(self, prediction: Texts, references: RaggedTexts) -> list[Row]:
        """The tokens of every sample; information is known once all references are."""
        if self.lowercase:
            prediction, references = prediction.lower(), references.lower()
        predicted = prediction.tokens(self.tokenize).all_strings()
        reference = references.items.tokens(self.tokenize).all_strings()
        spans = pairwise(references.offsets.tolist())
        return [(own, reference[a:b]) for own, (a, b) in zip(predicted, spans, strict=True)]

    def conclude(self, rows: Sequence[Row]) -> Mapping[str, float]:
        """The score of the corpus; `nan` if no reference has a token."""
        return self._concluded(rows, self._information(rows))

    def samples(self, rows: Sequence[Row]) -> Mapping[str, Sequence[float]]:
        """The score of each sample, with the information of all references."""
        information = self._information(rows)
        each = [self._concluded([row], information) for row in rows]
        return {name: [scores[name] for scores in each] for name in self.outputs()}

    def resampler(self, rows: Sequence[Row]) -> Resampler | None:
        """Counts of n-grams add up; not so the best of several references, which nltk takes."""
        if self.convention == "nltk" and any(len(references) > 1 for _, references in rows):
            return None
        return Corpus(rows, self.max_order, self._ignored()).scores

    def explain(self, prediction: str, references: Sequence[str]) -> highlight.Step:
        """The prediction with its matches marked, and their number for each order."""
        orders = range(1, self.max_order + 1)
        return highlight.shared(prediction, references, self.tokenize, orders, lower=self.lowercase)

    def _concluded(
        self, rows: Sequence[Row], information: Mapping[Ngram, float]
    ) -> dict[str, float]:
        precision = length = 0.0
        for order in range(1, self.max_order + 1):
            parts = [self._part(row, order, information) for row in rows]
            precision += sum(p.information for p in parts) / max(1, sum(p.ngrams for p in parts))
            length += sum(p.reference_length for p in parts)
        ratio = (
            self.max_order * sum(len(prediction) for prediction, _ in rows) / length
            if length
            else nan
        )
        penalty = _penalty(ratio)
        return {"score": precision * penalty, "length_penalty": penalty, "length_ratio": ratio}

    def _part(self, row: Row, order: int, information: Mapping[Ngram, float]) -> _Part:
        prediction, references = row
        own = Counter(_ngrams(prediction, order))
        if self.convention == "mteval":
            most = Counter[Ngram]()
            for reference in references:
                most |= Counter(_ngrams(reference, order))
            length = sum(map(len, references)) / len(references)
            return _Part(_sum(own & most, information), own.total(), length)
        return max(
            _Part(
                _sum(own & Counter(_ngrams(reference, order)), information),
                own.total(),
                len(reference),
            )
            for reference in references
        )

    def _information(self, rows: Sequence[Row]) -> dict[Ngram, float]:
        """The bits that the last word of each n-gram of the references adds to those before."""
        references = [reference for _, own in rows for reference in own]
        counts = Counter[Ngram]()
        for order in range(1, self.max_order + 1):
            counts.update(chain.from_iterable(_ngrams(text, order) for text in references))
        words = sum(map(len, references))
        ignored = self._ignored()
        return {
            gram: log2((words if gram[:-1] in ((), ignored) else counts[gram[:-1]]) / count)
            for gram, count in counts.items()
        }

    def _ignored(self) -> Ngram:
        """The context that is none: the word "0" is false in Perl."""
        return ("0",) if self.convention == "mteval" else ()


def _ngrams(tokens: list[str], order: int) -> Iterator[Ngram]:
    return zip(*(tokens[start:] for start in range(order)), strict=False)


def _sum(matches: Counter[Ngram], information: Mapping[Ngram, float]) -> float:
    return sum(count * information[gram] for gram, count in matches.items())


def _penalty(ratio: float) -> float:
    """1 for predictions that are long enough, 1/2 for those of two thirds of the length."""
    if 0 < ratio < 1:
        return exp(BETA * log(ratio) ** 2)
    return min(ratio, 1.0)
