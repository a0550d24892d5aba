"""The type-token ratio and its relatives: how varied the vocabulary of a text is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Annotated, Literal

import numpy as np

from metric_cards.ttr.diversity import counted, equal_words, mattr, msttr, previous
from metric_cards.ttr.mtld import mtld
from metrichub.authoring import Array, Measured, Metric, Range, Scores
from metrichub.errors import Doubt
from metrichub.text import Texts, intern_one

_ENOUGH = 100
"""The words from which on MTLD and HD-D are reliable (McCarthy and Jarvis 2010)."""
OUTPUTS = (
    *("score", "root_ttr", "corrected_ttr", "log_ttr", "maas", "msttr", "mattr"),
    *("mtld", "hdd", "yule_k", "yule_i", "simpson_d"),
)


@dataclass(frozen=True, kw_only=True)
class TypeTokenRatio(Metric):
    """Twelve indices of lexical diversity, each the mean of the texts where it is defined (macro).

    Attributes:
        window: The number of words in a window of MATTR and in a segment of MSTTR.
        threshold: The TTR at which a factor of MTLD is complete.
        sample: The number of words that HD-D draws.
        mtld: The variant of MTLD; the last two start a factor at every word and take the mean of
            their lengths.
        tokenizer: How texts are split into words; case is always ignored.
    """

    window: Annotated[int, Range(1)] = 50
    threshold: Annotated[float, Range(0.01, 0.99)] = 0.72
    sample: Annotated[int, Range(1)] = 42
    mtld: Literal["mccarthy-jarvis", "lexical-diversity", "wrap", "bidirectional"] = (
        "mccarthy-jarvis"
    )
    tokenizer: Literal["unicode", "13a", "intl", "zh", "char", "whitespace"] = "unicode"

    averaging = "macro"

    def measure(self, prediction: Texts) -> Measured:
        """The indices of every text, and which of them are defined, each (N, 12)."""
        words = intern_one(prediction.lower(), self.tokenizer)
        equal = equal_words(words)
        before = previous(words, equal)
        indices = {
            **counted(words, equal, self.sample),
            "msttr": msttr(words, before, self.window),
            "mattr": mattr(words, before, self.window),
            "mtld": mtld(words, before, self.threshold, self.mtld),
        }
        values = np.stack([indices[name] for name in OUTPUTS], axis=1)
        empty = np.flatnonzero(np.diff(words.offsets) == 0).tolist()
        values[empty] = nan
        defined = ~np.isnan(values)
        reasons = dict.fromkeys(empty, "the text has no words")
        values = np.where(defined | ~defined.any(axis=1, keepdims=True), values, 0.0)
        kinds = dict.fromkeys(empty, "no_tokens")
        rows = {"values": values, "defined": defined}
        for name, enough in (("noted_mtld", _ENOUGH), ("noted_hdd", self.sample)):
            short = np.diff(words.offsets) < enough
            if short.any():
                rows[name] = short.astype(np.int64)
        return Measured(rows, reasons, kinds)

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """How many texts are too short for MTLD and HD-D."""
        texts, shorter = (int(totals.get(name, 0)) for name in ("noted_mtld", "noted_hdd"))
        if not texts:
            return ()
        what = f"{'1 text has' if texts == 1 else f'{texts} texts have'} fewer than {_ENOUGH} words"
        drawn = f", {shorter} of them fewer than hdd's {self.sample}" if shorter else ""
        doubt = (
            f"{what}{drawn}, where mtld and hdd aren't reliable; score longer texts, or use mattr"
        )
        return (Doubt(doubt, "short"),)

    def score(self, values: Array, defined: Array) -> Scores:
        """The mean of each index over the texts that have it; `nan` where none has."""
        return {name: values[..., i] / defined[..., i] for i, name in enumerate(OUTPUTS)}
