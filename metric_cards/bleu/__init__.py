"""BLEU: clipped n-gram precision with a brevity penalty, as in sacrebleu."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import numpy as np

from metric_cards.bleu.nltk_smoothing import FIFTH, METHODS, Counts, smoothed
from metrichub.authoring import OMIT_DEFAULT, Array, Metric, Range, Scores
from metrichub.errors import Doubt, ParameterError
from metrichub.text import (
    Integers,
    RaggedTexts,
    Texts,
    clipped_matches,
    closest_lengths,
    highlight,
    lengths,
)

_SMOOTH_VALUES = {"floor": 0.1, "add-k": 1.0, "exp": 0.0, "none": 0.0}


@dataclass(frozen=True, kw_only=True)
class Bleu(Metric):
    """Corpus BLEU (Papineni et al. 2002) as sacrebleu 2.6 computes it (Post 2018).

    Attributes:
        tokenize: The tokenizer, under its name in sacrebleu.
        smooth_method: How precisions without a match are smoothed (Chen and Cherry 2014); the
            methods named after nltk follow all conventions of that package.
        smooth_value: The value of `floor` (0.1 if None), the k of `add-k` (1 if None) or, in nltk's
            methods, the epsilon of method 1 (0.1 if None), the k of methods 4 and 7 and the alpha
            of method 6 (5 if None).
        max_order: The maximum order of n-grams.
        weights: One weight for each of the `max_order` orders; () for equal weights that sum to 1.
        effective_order: Whether orders that the prediction is too short for are left out.
        lowercase: Whether case is ignored.
        reference_length: Which reference's length a prediction's is compared with: the one closest
            to it, or the shortest.
    """

    tokenize: Literal[
        "13a", "intl", "zh", "char", "none", "ja-mecab", "ko-mecab", "flores101", "flores200", "spm"
    ] = "13a"
    smooth_method: Literal[
        "exp", "floor", "add-k", "none",
        "nltk-method0", "nltk-method1", "nltk-method2", "nltk-method3",
        "nltk-method4", "nltk-method5", "nltk-method6", "nltk-method7",
    ] = "exp"  # fmt: skip
    smooth_value: Annotated[float, Range(0)] | None = None
    max_order: Annotated[int, Range(1, 16)] = 4
    weights: tuple[Annotated[float, Range(0)], ...] = ()
    effective_order: bool = False
    lowercase: bool = False
    reference_length: Literal["closest", "shortest"] = field(
        default="closest", metadata=OMIT_DEFAULT
    )

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            ParameterError: If a value isn't allowed, or there isn't one weight for each order.
        """
        super().__post_init__()
        if self.weights and len(self.weights) != self.max_order:
            allowed = f"() or as many numbers as max_order, {self.max_order}"
            raise ParameterError(self.name, "weights", self.weights, allowed)

    def measure(self, prediction: Texts, references: RaggedTexts) -> dict[str, Array]:
        """Matches and totals of every order, (N, max_order), and both lengths, (N,).

        nltk's conventions need five orders, and one n-gram if a text is too short for any.
        """
        if self.lowercase:
            prediction, references = prediction.lower(), references.lower()
        orders = max(self.max_order, FIFTH) if self._nltk else self.max_order
        matches, totals = clipped_matches(prediction, references, self.tokenize, orders)
        return {
            "matches": matches,
            "totals": np.maximum(totals, 1) if self._nltk else totals,
            "length": lengths(prediction, self.tokenize),
            "reference_length": self._reference_lengths(prediction, references),
        }

    def score(
        self, matches: Array, totals: Array, length: Array, reference_length: Array
    ) -> Scores:
        """The geometric mean of the precisions times the brevity penalty; 0 without a match."""
        ratio = np.where(reference_length > 0, length / reference_length, np.nan)
        penalty = np.where(length < reference_length, np.exp(1 - 1 / ratio), 1.0)
        if self._nltk:
            precisions, valid = self._nltk_precisions(Counts(matches, totals, length))
        else:
            precisions, valid = self._precisions(matches.astype(float), totals.astype(float))
        weights = np.array(self.weights or [1 / self.max_order] * self.max_order)
        left_out = 0.0 if self.effective_order or self._nltk else -np.inf
        logs = np.where(valid, np.log(precisions), left_out)
        mean = np.where(weights > 0, weights * logs, 0.0).sum(axis=-1)
        if self.effective_order:
            mean = mean * weights.sum() / (valid * weights).sum(axis=-1)
        scores = {"score": np.where(matches.any(axis=-1), penalty * np.exp(mean), 0.0)}
        scores |= {f"precision_{n + 1}": precisions[..., n] for n in range(self.max_order)}
        return {**scores, "brevity_penalty": penalty, "length_ratio": ratio}

    def score_samples(
        self, matches: Array, totals: Array, length: Array, reference_length: Array
    ) -> Scores:
        """Sentence BLEU as sacrebleu's: without the orders that a text is too short for.

        nltk's methods keep nltk's convention, which `effective_order` chooses.
        """
        sentence = self if self._nltk else replace(self, effective_order=True)
        return sentence.score(matches, totals, length, reference_length)

    def undefined(self, totals: Mapping[str, Array]) -> bool:
        """Whether words match, and yet no prediction is long enough for an order that weighs."""
        matches = totals["matches"].astype(float)
        long_enough = totals["totals"].all()
        if long_enough or self._nltk or self.effective_order or not matches.any():
            return False
        with np.errstate(invalid="ignore"):
            _, valid = self._precisions(matches, totals["totals"].astype(float))
        weights = np.array(self.weights or [1] * self.max_order)
        return not valid[weights > 0].all()

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """That no prediction is long enough for the highest order, if so."""
        if not self.undefined(totals):
            return ()
        short = (
            f"no prediction has {self.max_order} tokens, so BLEU counts no {self.max_order}-gram "
            "and has no score, where sacrebleu prints 0; effective_order=True uses only the "
            "orders that the texts have, as samples() does"
        )
        return (Doubt(short, "short"),)

    def explain(self, prediction: str, references: Sequence[str]) -> highlight.Step:
        """The prediction with its matches marked, and their number for each order."""
        orders = range(1, self.max_order + 1)
        return highlight.shared(prediction, references, self.tokenize, orders, lower=self.lowercase)

    def outputs(self) -> tuple[str, ...]:
        """The score, one precision for each order, and the two parts of the brevity penalty."""
        precisions = (f"precision_{n + 1}" for n in range(self.max_order))
        return ("score", *precisions, "brevity_penalty", "length_ratio")

    def _reference_lengths(self, prediction: Texts, references: RaggedTexts) -> Integers:
        if self.reference_length == "closest":
            return closest_lengths(prediction, references, self.tokenize)
        sizes = lengths(references, self.tokenize)
        shortest: Integers = np.minimum.reduceat(sizes, references.offsets[:-1])
        return shortest

    @property
    def _nltk(self) -> bool:
        return self.smooth_method in METHODS

    def _nltk_precisions(self, counts: Counts) -> tuple[Array, Array]:
        """The smoothed precisions, and those that nltk takes the logarithm of."""
        precisions = smoothed(self.smooth_method, counts, self.max_order, self.smooth_value)
        valid = precisions != 0
        if self.effective_order:
            valid &= np.arange(self.max_order) < counts.length[..., None]
        return precisions, valid

    def _precisions(self, matches: Array, totals: Array) -> tuple[Array, Array]:
        """The smoothed precisions, and the orders up to the first without an n-gram."""
        value = self.smooth_value
        value = _SMOOTH_VALUES[self.smooth_method] if value is None else value
        # Nothing is smoothed where nothing matches.
        matched = matches.any(axis=-1, keepdims=True)
        if self.smooth_method == "add-k":
            added = np.where(np.arange(self.max_order) > 0, value, 0.0)
            matches, totals = matches + added, totals + added
        valid = totals > 0
        if not valid.all():
            valid = np.logical_and.accumulate(valid, axis=-1)
        missed = valid & (matches == 0)
        if self.smooth_method == "exp" and missed.any():
            matches = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), matches)
        elif self.smooth_method == "floor":
            matches = np.where(missed, value, matches)
        return np.where(valid & matched, matches / totals, 0.0), valid
