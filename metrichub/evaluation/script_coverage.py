"""Letters: how many a metric's tokenizers don't cut or drop, and what follows from that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from metrichub.catalog.frontmatter import UNREAD_LETTERS
from metrichub.catalog.kinds import OneOf
from metrichub.catalog.parameters import parameters_of
from metrichub.data.batch import View
from metrichub.metric import Metric, Unscored
from metrichub.text import RaggedTexts, Texts, row_sums
from metrichub.text.column import Tokenizations
from metrichub.text.scripts import (
    EMOJI,
    LATIN,
    OTHER,
    ScriptCounts,
    dropped_scripts,
    treatment,
)
from metrichub.text.tokenize.reference import TOKENIZERS, category
from metrichub.text.tokenize.tokenizers import Tokenizer
from metrichub.text.unicode import mixed_forms

LOST = 0.1
"""The share of the letters from which on a reader is told that they aren't cut or are dropped."""
DROPPED = 0.01
"""The same for dropped letters: each leaves a word in pieces."""

UNREAD = "the tokenizer drops over half of every reference's letters and digits"
_UNREAD_PREDICTION = "the tokenizer drops over half of the prediction's letters and digits"

_CUTTING = ("zh", "ja-mecab", "unicode", "intl", "char")
"""Tokenizers for scripts without spaces, the most fitting first."""
_SWITCHES = (({"normalized": True, "asian_support": True}, {"Han"}),)
"""Options that split scripts, by the names that sacrebleu gives them, and these scripts."""


@dataclass(frozen=True)
class Letters:
    """Letters that a tokenizer was given; by script, those it left uncut and those it dropped."""

    total: int = 0
    uncut: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Letters) -> Letters:
        """The letters of both."""
        uncut, dropped = self.uncut + other.uncut, self.dropped + other.dropped
        return Letters(self.total + other.total, uncut, dropped)

    @classmethod
    def of(cls, counts: ScriptCounts, tokenizer: Tokenizer) -> Letters:
        """What a tokenizer does to the letters of a column."""
        if not counts.whole:
            return cls(counts.total)
        done = {script: treatment(tokenizer, script) for script in counts.whole}
        uncut = {script: n for script, n in counts.joined.items() if done[script] == "uncut"}
        dropped = {script: n for script, n in counts.whole.items() if done[script] == "dropped"}
        return cls(counts.total, Counter(uncut), Counter(dropped))

    @property
    def lost(self) -> float:
        """The share of all letters that are uncut or dropped."""
        return (self.uncut.total() + self.dropped.total()) / max(self.total, 1)


ByTokenizer = Mapping[str, Letters]


def seen_texts(view: View) -> dict[int, Texts]:
    """The columns of texts that a metric saw, by their numbers."""
    arguments = view.arguments.values()
    items = [
        argument.items if isinstance(argument, RaggedTexts) else argument for argument in arguments
    ]
    return {texts.number: texts for texts in items if isinstance(texts, Texts)}


def letters_of(
    metric: Metric, columns: Mapping[int, Texts], tokenized: Tokenizations
) -> ByTokenizer:
    """What a metric's tokenizers did to the letters of the columns that it saw.

    A column counts once, however often it was tokenized; where a metric prepares its texts, they
    count instead. One that tokenizes as it concludes is believed to use the tokenizer it declares.
    """
    if not tokenized and (declared := _declared(metric)):
        tokenized = {(number, declared): texts.letters for number, texts in columns.items()}
    cut: dict[Tokenizer, dict[int, ScriptCounts]] = {}
    for (number, tokenizer), counts in tokenized.items():
        cut.setdefault(tokenizer, {})[number] = counts
    letters: dict[str, Letters] = {}
    for tokenizer, prepared in cut.items():
        seen = [number for number in prepared if number in columns] or list(prepared)
        name = tokenizer if isinstance(tokenizer, str) else tokenizer.__name__
        letters[name] = Letters()
        for number in seen:
            letters[name] += Letters.of(prepared[number], tokenizer)
    return letters


def mixed_forms_of(columns: Mapping[int, Texts]) -> set[str]:
    """The characters that a metric saw in several Unicode forms."""
    if any([texts.may_be_decomposed for texts in columns.values()]):
        return mixed_forms(list(columns.values()))
    return set()


def unread_rows(
    metric: Metric, view: View, columns: Mapping[int, Texts], tokenized: Tokenizations
) -> dict[int, Unscored]:
    """The rows that have no score because the tokenizer drops over half of the letters and digits.

    It has to do so in every reference that has any. Without references, the prediction decides, if
    the card lists that reason. Several tokenizers drop what all of them drop.
    """
    seen, unscored = view.arguments, Unscored(UNREAD)
    argument = seen.get("reference", seen.get("references"))
    if argument is None and UNREAD_LETTERS in metric.card.undefined_for:
        unscored = Unscored(_UNREAD_PREDICTION, UNREAD_LETTERS)
        argument = seen.get("prediction", seen.get("predictions"))
    if argument is None or metric.drops_letters():
        return {}
    texts = argument.items if isinstance(argument, RaggedTexts) else argument
    if not isinstance(texts, Texts):
        return {}
    dropped = _dropped(metric, texts, columns, tokenized)
    if not dropped & texts.letters.whole.keys():
        return {}
    lost = texts.mostly(dropped)
    if isinstance(argument, RaggedTexts):
        items, lost = lost, row_sums(lost, argument.offsets) > 0
        read = np.flatnonzero(~items & lost[argument.rows]).tolist()
        lost[[argument.rows[item] for item in read if _has_letters(texts[item])]] = False
    return dict.fromkeys(np.flatnonzero(lost).tolist(), unscored)


def _has_letters(text: str) -> bool:
    return any(category(character) in "LN" for character in text)


def _dropped(
    metric: Metric, texts: Texts, seen: Container[int], tokenized: Tokenizations
) -> frozenset[str]:
    """The scripts that are dropped by all tokenizers of a column, or of texts made from it."""
    tokenizers = {by for number, by in tokenized if number == texts.number}
    tokenizers = tokenizers or {by for number, by in tokenized if number not in seen}
    if not tokenized and (declared := _declared(metric)):
        tokenizers = {declared}
    every = [dropped_scripts(by) for by in tokenizers]
    return frozenset.intersection(*every) if every else frozenset()


def summed(parts: Iterable[ByTokenizer]) -> dict[str, Letters]:
    """The letters of several parts, by tokenizer."""
    totals: dict[str, Letters] = {}
    for part in parts:
        for name, letters in part.items():
            totals[name] = totals.get(name, Letters()) + letters
    return totals


def notes(metric: Metric, letters: ByTokenizer) -> list[str]:
    """What a reader has to know of a metric's letters, with the parameters to choose.

    A metric with several tokenizers is as good as the best of them.
    """
    best = min(letters.values(), key=lambda counted: counted.lost, default=Letters())
    dropped = best.dropped.total() - best.dropped[EMOJI]
    if best.lost <= LOST and dropped <= DROPPED * best.total:
        return []
    lost = best.uncut + best.dropped
    scripts = [script for script, n in lost.most_common() if n > LOST * lost.total()]
    known = [script for script in scripts if script not in (OTHER, LATIN)]
    named = ", ".join(known) + " and others" * (0 < len(known) < len(scripts))
    letters_of_them = f"{best.lost:.1%} of the letters{f' ({named})' * bool(named)}"
    if best.dropped.total() > best.uncut.total():
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
        return "use a metric of characters, for example chrf or cer"
    return "the metric offers no tokenizer for them"


def _declared(metric: Metric) -> str | None:
    chosen = (getattr(metric, name, None) for name in ("tokenizer", "tokenize"))
    return next((name for name in chosen if isinstance(name, str) and name in TOKENIZERS), None)


def _remedy(metric: Metric, scripts: Sequence[str]) -> str | None:
    """The parameters with which a metric loses none of the scripts, as they would be written."""
    for parameter in parameters_of(type(metric)):
        # A language may be "zh", too.
        kinds = parameter.values.kinds if parameter.name != "language" else ()
        known = {name for kind in kinds if isinstance(kind, OneOf) for name in kind.choices}
        for name in _CUTTING:
            if name in known - {getattr(metric, parameter.name)} and _reads(name, scripts):
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
