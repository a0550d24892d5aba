"""CodeBLEU: n-grams, keywords, syntax and data flow that a program shares with its references."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from metric_cards.codebleu.programs import reader
from metrichub.authoring import Array, Metric, Range, Scores
from metrichub.errors import ParameterError
from metrichub.text import RaggedTexts, Texts, clipped_matches, closest_lengths, lengths

_ORDERS = np.arange(4)


@dataclass(frozen=True, kw_only=True)
class CodeBleu(Metric):
    """CodeBLEU (Ren et al. 2020), as in codebleu 0.7.0; all four parts pool their counts.

    Attributes:
        language: The programming language, which determines the parser and the keywords.
        weights: The weights of n-grams, weighted n-grams, syntax and data flow; they must sum to 1.
        no_dataflow: The value of a data-flow match of 0 in the score: `one`, as in codebleu, or
            `nothing`. With `nothing`, the part is left out, and the weights of the others are
            raised, only if no reference has a data flow.
    """

    tokenizer: ClassVar[str] = "whitespace"

    language: Literal[
        "c", "c_sharp", "cpp", "go", "java", "javascript", "php", "python", "ruby", "rust"
    ] = "python"
    weights: tuple[Annotated[float, Range(0, 1)], ...] = (0.25, 0.25, 0.25, 0.25)
    no_dataflow: Literal["one", "nothing"] = "one"

    def __post_init__(self) -> None:
        """Check that there are four weights and that they sum to 1."""
        super().__post_init__()
        if len(self.weights) != 4 or not np.isclose(sum(self.weights), 1):
            raise ParameterError(
                self.name, "weights", self.weights, "four numbers from 0 to 1 that sum to 1"
            )

    def measure(self, prediction: Texts, references: RaggedTexts) -> dict[str, Array]:
        """Counts of n-grams of order 1 to 4, (N, 4), of lengths, subtrees and flows, (N,)."""
        grams = clipped_matches(prediction, references, self.tokenizer, 4)
        recalled, recallable = self._recalled(prediction, references)
        pairs = zip(prediction, references, strict=True)
        programs = [reader(self.language).shared(p, group) for p, group in pairs]
        counts = np.array(programs, np.int64).reshape(-1, 4).T
        return {
            "matches": grams.matches,
            "totals": np.maximum(grams.totals, 1),
            "recalled": recalled,
            "wanted": recallable,
            "length": lengths(prediction, self.tokenizer),
            "closest": closest_lengths(prediction, references, self.tokenizer),
            **dict(zip(("subtrees", "all_subtrees", "flows", "all_flows"), counts, strict=True)),
        }

    def score(  # noqa: PLR0913  # the statistics by name
        self,
        matches: Array,
        totals: Array,
        recalled: Array,
        wanted: Array,
        length: Array,
        closest: Array,
        subtrees: Array,
        all_subtrees: Array,
        flows: Array,
        all_flows: Array,
        count: Array,
    ) -> Scores:
        """The weighted mean of the four parts; a data-flow match without any flow is 0."""
        parts = {
            "ngram_match": _penalty(length, closest) * _mean(matches, totals),
            # codebleu takes every reference of this part for two words long.
            "weighted_ngram_match": _penalty(length, 2 * count) * _mean(recalled, wanted),
            "syntax_match": subtrees / all_subtrees,
            "dataflow_match": flows / np.maximum(all_flows, 1),
        }
        values = np.stack(list(parts.values()), axis=-1)
        weights = np.broadcast_to(np.array(self.weights), values.shape).copy()
        if self.no_dataflow == "one":
            values[..., 3] = np.where(flows == 0, 1, values[..., 3])
        else:
            weights[..., 3] *= all_flows > 0
        return {"score": (weights * values).sum(axis=-1) / weights.sum(axis=-1), **parts}

    def _recalled(self, prediction: Texts, references: RaggedTexts) -> tuple[Array, Array]:
        """The references' n-grams that the prediction has, and all of them, (N, 4) each.

        Single tokens that aren't keywords have a weight of 0.2.
        """
        predicted, reference = prediction.take(references.rows), references.items
        ours, theirs = self._keywords(predicted), self._keywords(reference)
        matches = clipped_matches(predicted, reference, "whitespace", 4).matches.astype(float)
        keywords = clipped_matches(ours, theirs, "whitespace", 1).matches[:, 0]
        matches[:, 0] = 0.2 * matches[:, 0] + 0.8 * keywords
        totals = np.maximum(lengths(reference, "whitespace")[:, None] - _ORDERS, 0).astype(float)
        totals[:, 0] = 0.2 * totals[:, 0] + 0.8 * lengths(theirs, "whitespace")
        totals = np.maximum(totals, 1)
        starts = references.offsets[:-1]
        return np.add.reduceat(matches, starts), np.add.reduceat(totals, starts)

    def _keywords(self, texts: Texts) -> Texts:
        keywords = reader(self.language).keywords
        return Texts([" ".join(w for w in text.split() if w in keywords) for text in texts])


def _penalty(length: Array, closest: Array) -> Array:
    """BLEU's penalty for predictions that are shorter than their references."""
    penalty: Array = np.where(length < closest, np.exp(1 - closest / length), 1.0)
    return penalty


def _mean(counts: Array, totals: Array) -> Array:
    """The geometric mean of the fractions, with 0.1 for a count of 0; 0 without a single token."""
    logs = np.log(np.where(counts == 0, 0.1, counts) / totals)
    mean: Array = np.where(counts[..., 0] > 0, np.exp(logs.mean(axis=-1)), 0.0)
    return mean
