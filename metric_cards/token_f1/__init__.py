"""Token F1: the overlap of prediction and reference as bags of tokens, as SQuAD scores answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from metric_cards._bases.answer_texts import blanked
from metrichub.authoring import OMIT_DEFAULT, Array, Metric
from metrichub.errors import Doubt
from metrichub.text import Texts, clipped_matches, highlight, lengths

_TOKENIZERS = {
    **{"squad": "squad", "words": "bag", "triviaqa": "squad"},
    **{"unicode": "unicode", "none": "none"},
}


@dataclass(frozen=True, kw_only=True)
class TokenF1(Metric):
    """F1 of shared tokens, averaged over samples (macro); Rajpurkar et al. (2016).

    Attributes:
        normalization: How texts are split into tokens. `squad`: lowercased words, without ASCII
            punctuation and the English articles. `words`: the same with articles. `triviaqa`: as
            `squad`, but punctuation and ‘ ’ ´ ` separate words. `unicode`: lowercased runs of
            letters, marks and digits of any script. `none`: the strings between whitespace.
        both_empty: The three scores if neither text has a token: 0 as in SQuAD 1.1, or 1 as in
            SQuAD 2.0.
        repeats: Whether a token that a text has twice counts twice. If False, texts are compared as
            sets of tokens.
    """

    normalization: Literal["squad", "words", "triviaqa", "unicode", "none"] = "squad"
    both_empty: Literal[0, 1] = 0
    repeats: bool = field(default=True, metadata=OMIT_DEFAULT)

    def declared_tokenizer(self) -> str:
        """The tokenizer of the normalization."""
        return _TOKENIZERS[self.normalization]

    def measure(self, prediction: Texts, reference: Texts) -> dict[str, Array]:
        """F1, precision and recall of every prediction, (N,)."""
        tokenizer = self.declared_tokenizer()
        originals = reference
        prediction, reference = self._prepared(prediction), self._prepared(reference)
        shared = clipped_matches(prediction, reference, tokenizer, 1).matches[:, 0]
        predicted, expected = lengths(prediction, tokenizer), lengths(reference, tokenizer)
        bare = expected == 0
        noted = {}
        if bare.any():
            written = np.fromiter(map(bool, map(str.strip, originals)), np.bool_, len(originals))
            noted["noted_bare"] = bare & written
        agreed = self.both_empty * (predicted + expected == 0)
        shared, predicted, expected = shared + agreed, predicted + agreed, expected + agreed
        return {
            "score": 2 * shared / np.maximum(predicted + expected, 1),
            "precision": shared / np.maximum(predicted, 1),
            "recall": shared / np.maximum(expected, 1),
            **noted,
        }

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """How many references have no token."""
        bare = int(totals.get("noted_bare", 0))
        if not bare:
            return ()
        have = "1 reference has" if bare == 1 else f"{bare} references have"
        deletes = "such as 'A'" if self.normalization in ("squad", "triviaqa") else "such as '+'"
        only = "1 only if the prediction has none either" if self.both_empty else "0"
        keeps = "'words' keeps articles, and 'none' all" if "'A'" in deletes else "'none' keeps all"
        what = f"{have} no token left after normalization ({deletes}), and a score of {only}"
        return (Doubt(f"{what}; normalization={keeps}", "deleted answers"),)

    def explain(self, prediction: str, reference: str) -> highlight.Step:
        """Both texts with their shared tokens marked, and the counts."""
        first, other = self._prepared(Texts([prediction, reference]))
        return highlight.shared_by_both(first, other, self.declared_tokenizer(), range(1, 2))

    def _prepared(self, texts: Texts) -> Texts:
        """The texts as they are tokenized, each token once if they are compared as sets."""
        texts = blanked(texts) if self.normalization == "triviaqa" else texts
        if self.repeats:
            return texts
        rows = texts.tokens(self.declared_tokenizer()).all_strings()
        return Texts([" ".join(dict.fromkeys(tokens)) for tokens in rows])
