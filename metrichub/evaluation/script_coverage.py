"""Letters: how many a metric's tokenizers don't cut or drop, and what follows from that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metrichub.catalog.frontmatter import UNREAD_LETTERS
from metrichub.catalog.parameters import choices_of, parameters_of
from metrichub.data.batch import View
from metrichub.metric import Metric, Unscored
from metrichub.text import RaggedTexts, Texts, row_sums
from metrichub.text.scripts import EMOJI, LATIN, OTHER, dropped_scripts, treatment
from metrichub.text.tokenize.reference import TOKENIZERS, category
from metrichub.text.tokenize.tokenizers import SACREBLEU, Tokenizer
from metrichub.text.unicode import mixed_forms

LOST = 0.1
"""The share of the letters from which on a reader is told that they aren't cut or are dropped."""
DROPPED = 0.01
"""The same for dropped letters: each leaves a word in pieces."""

DROPS = ("the tokenizer drops", "the normalizer drops")
"""How reasons begin for which a sample is unscored as its letters, or their marks, are dropped."""
UNREAD = "the tokenizer drops over half of every reference's letters and digits"
_UNREAD_PREDICTION = "the tokenizer drops over half of the prediction's letters and digits"

_CUTTING = ("zh", "ja-mecab", "unicode", "intl", "char", "mixed")
"""Tokenizers for scripts without spaces, the most fitting first."""
_SWITCHES = (({"normalized": True, "asian_support": True}, {"Han"}),)
"""Options that split scripts, by the names that sacrebleu gives them, and these scripts."""


@dataclass(frozen=True)
class LetterCounts:
    """Letters in all, and by script those that a tokenizer joins into one token, or drops."""

    total: int
    uncut: Counter[str]
    dropped: Counter[str]

    def __add__(self, other: LetterCounts) -> LetterCounts:
        """The letters of both."""
        return LetterCounts(
            self.total + other.total, self.uncut + other.uncut, self.dropped + other.dropped
        )

    @property
    def lost(self) -> Counter[str]:
        """The letters that don't count as they should, by script."""
        return self.uncut + self.dropped

    @property
    def lost_share(self) -> float:
        """The share of such letters."""
        return self.lost.total() / max(self.total, 1)


ByTokenizer = Mapping[str, LetterCounts]
"""Counts of letters by the names of tokenizers."""


def seen_texts(view: View) -> list[Texts]:
    """The columns of texts that a metric saw, each once and whole."""
    columns: dict[int, Texts] = {}
    for argument in view.arguments.values():
        texts = getattr(argument, "items", argument)
        if isinstance(texts, Texts):
            whole = texts.whole
            columns[id(whole)] = whole
    return list(columns.values())


def known_tokenizer(metric: Metric) -> Tokenizer | None:
    """The tokenizer that a metric declares, if that is one of metrichub's or a function."""
    declared = metric.declared_tokenizer()
    known = callable(declared) or declared in TOKENIZERS or declared in SACREBLEU
    return declared if known else None


def letters_of(tokenizer: Tokenizer | None, columns: Iterable[Texts]) -> ByTokenizer:
    """How many letters of some columns a tokenizer doesn't split or drops; empty without one."""
    if tokenizer is None:
        return {}
    total, uncut, dropped = 0, Counter[str](), Counter[str]()
    for column in columns:
        counts = column.letters
        total += counts.total
        for script, number in counts.joined.items():
            uncut[script] += number if treatment(tokenizer, script) == "uncut" else 0
        for script, number in counts.beyond_ascii.items():
            dropped[script] += number if treatment(tokenizer, script) == "dropped" else 0
    name = tokenizer if isinstance(tokenizer, str) else tokenizer.__name__
    return {name: LetterCounts(total, +uncut, +dropped)}


def mixed_forms_of(metric: Metric, columns: Sequence[Texts]) -> tuple[str, ...]:
    """The characters that a metric saw in several Unicode forms, if they aren't equal to it."""
    if metric.normalizes_unicode or not any([texts.may_be_decomposed for texts in columns]):
        return ()
    return tuple(sorted(mixed_forms(columns)))


def unread_rows(metric: Metric, tokenizer: Tokenizer | None, view: View) -> dict[int, Unscored]:
    """The rows that have no score because the tokenizer drops over half of the letters and digits.

    It has to do so in every reference that has any. Without references, the prediction decides, if
    the card lists that reason.
    """
    if tokenizer is None:
        return {}
    seen, unscored = view.arguments, Unscored(UNREAD)
    argument = seen.get("reference", seen.get("references"))
    if argument is None and UNREAD_LETTERS in metric.card.undefined_for:
        unscored = Unscored(_UNREAD_PREDICTION, UNREAD_LETTERS)
        argument = seen.get("prediction", seen.get("predictions"))
    texts = argument.items if isinstance(argument, RaggedTexts) else argument
    if not isinstance(texts, Texts) or metric.drops_letters():
        return {}
    dropped = dropped_scripts(tokenizer)
    if not dropped & texts.letters.beyond_ascii.keys():
        return {}
    lost = texts.mostly(dropped)
    if isinstance(argument, RaggedTexts):
        items, lost = lost, row_sums(lost, argument.offsets) > 0
        for item in np.flatnonzero(~items & lost[argument.rows]).tolist():
            if any(category(character) in "LN" for character in texts[item]):
                lost[argument.rows[item]] = False
    return dict.fromkeys(np.flatnonzero(lost).tolist(), unscored)


def notes(metric: Metric, letters: ByTokenizer) -> list[str]:
    """The notes on letters that a metric doesn't split or drops, with the parameters to choose.

    Of several tokenizers, which older reports have, the best counts.
    """
    best = min(letters.values(), key=lambda counts: counts.lost_share, default=None)
    if best is None:
        return []
    dropped, lost, share = best.dropped, best.lost, best.lost_share
    if share <= LOST and dropped.total() - dropped[EMOJI] <= DROPPED * best.total:
        return []
    scripts = [script for script, n in lost.most_common() if n > LOST * lost.total()]
    spelled = [script for script in scripts if script not in (OTHER, LATIN)]
    named = ", ".join(spelled) + (" and others" if len(spelled) < len(scripts) else "")
    letters_of_them = f"{share:.1%} of the letters{f' ({named})' if spelled else ''}"
    if dropped.total() > best.uncut.total():
        why = "were dropped by the tokenizer"
    else:
        why = "are in scripts without spaces, which the tokenizer doesn't split into words"
    return [f"{letters_of_them} {why}; {_advice(metric, scripts)}"]


def _advice(metric: Metric, scripts: Sequence[str]) -> str:
    choice = _remedy(metric, scripts)
    if choice:
        return f"choose {choice}"
    compares = {"reference", "references"} & {*metric.inputs()}
    if compares and metric.card.scores["score"].better != "neither":
        return "use a character metric, for example chrf or cer"
    return "the metric offers no tokenizer for them"


def _remedy(metric: Metric, scripts: Sequence[str]) -> str | None:
    """The parameters with which a metric loses none of the scripts, as they would be written."""
    for parameter in parameters_of(type(metric)):
        # A language may be "zh", too.
        choices = choices_of(parameter.hint) if parameter.name != "language" else ()
        for name in _CUTTING:
            other = name in choices and name != getattr(metric, parameter.name)
            if other and _reads(name, scripts):
                return f"{parameter.name}={name!r}"
    for options, read in _SWITCHES:
        if read.issuperset(scripts) and all(hasattr(metric, name) for name in options):
            new = {name: value for name, value in options.items() if getattr(metric, name) != value}
            return ", ".join(f"{name}={value!r}" for name, value in new.items()) or None
    return None


def _reads(tokenizer: str, scripts: Sequence[str]) -> bool:
    """Whether a tokenizer splits the scripts that have no spaces, and drops no other."""
    if tokenizer == "ja-mecab":
        return "kana" in scripts and {*scripts} <= {"kana", "Han"}
    unspaced = {*scripts} - {OTHER, LATIN}
    return all(treatment(tokenizer, script) == "cut" for script in unspaced) and all(
        treatment(tokenizer, script) != "dropped" for script in scripts
    )
