"""Entailment: how far a text follows from others, by a model that reads both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from metrichub.authoring import sentences
from metrichub.errors import ModelError
from metrichub_neural.engine.classifier import Classifier, classifier_of, label_at
from metrichub_neural.engine.flaws import flaws_of
from metrichub_neural.engine.settings import read_config
from metrichub_neural.engine.tokens import Tokenizer
from metrichub_neural.local_models import ModelFiles

_FRAME = 4
"""How many tokens a pair's frame takes at most."""

_VITAMINC = (
    "tals/albert-base-vitaminc-mnli",
    "tals/albert-xlarge-vitaminc",
    "tals/albert-xlarge-vitaminc-mnli",
)
"""Models whose places SummaC's program has, whatever their labels are called."""


class Question(NamedTuple):
    """Whether an item follows from texts."""

    item: str
    texts: tuple[str, ...]


class Answer(NamedTuple):
    """The probabilities of the window of the texts that supports an item best.

    Attributes:
        entailed: The largest probability that a window entails the item.
        contradicted: The largest one that a window contradicts it.
        window: The window that entails it most, or contradicts it most if that is likelier.
        neutral: The probability of neither there.
        flaws: Those of a window with the item; see `engine.flaws`.
    """

    entailed: float
    contradicted: float
    neutral: float
    window: str
    flaws: int = 0


class Entailment:
    """A classifier of pairs whose labels are read by name, never by position."""

    def __init__(self, classifier: Classifier, yes: int, no: int | None) -> None:
        self._classifier, self._yes, self._no = classifier, yes, no

    def answers(
        self,
        questions: Sequence[Question],
        split: Callable[[str], Sequence[str]] | None = None,
        limit: int | None = None,
    ) -> list[Answer]:
        """The answer to every question; one whose texts have no sentence is neither.

        The windows of a text are as many sentences as fit; or what `split` makes of it, cut where
        they and the item have more tokens than the `limit`.
        """
        if split:
            texts = {text for question in questions for text in question.texts}
            parts = {text: split(text) for text in texts}
            windows = [
                [part for text in question.texts for part in parts[text]] for question in questions
            ]
        else:
            windows = [self._windows(question) for question in questions]
        pairs = [
            (window, question.item)
            for question, parts_of_question in zip(questions, windows, strict=True)
            for window in parts_of_question
        ]
        results = iter(self._classifier.of_pairs(pairs, limit, only_first=split is not None))
        answers = []
        for parts_of_question in windows:
            rows = [next(results) for _ in parts_of_question]
            probabilities = [row.probabilities for row in rows]
            yes = [float(row[self._yes]) for row in probabilities]
            no = [0.0 if self._no is None else float(row[self._no]) for row in probabilities]
            flaws = flaws_of(rows)
            answers.append(best_of(parts_of_question, yes, no)._replace(flaws=flaws))
        return answers

    def _windows(self, question: Question) -> list[str]:
        """Whole sentences of the texts, as many as fit beside the item, each cut sharing one."""
        tokenizer = self._classifier.tokenizer
        (item,) = tokenizer.bare([question.item])
        room = max(1, tokenizer.limit - len(item) - _FRAME)
        windows: list[str] = []
        for text in question.texts:
            parts, counts = self._sentences(text)
            start = 0
            while start < len(parts):
                stop, used = start + 1, counts[start]
                while stop < len(parts) and used + counts[stop] <= room:
                    used += counts[stop]
                    stop += 1
                windows.append(" ".join(parts[start:stop]))
                # The last sentence begins the next window too, unless it is all of this one.
                start = stop if stop == len(parts) or stop - 1 == start else stop - 1
        return windows

    def _sentences(self, text: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        return _counted(self._classifier.tokenizer, text)


def choose_entailment(files: ModelFiles) -> tuple[int, int | None]:
    """The places of a model's labels for entailment and contradiction.

    Raises:
        ModelError: its labels name no entailment.
    """
    yes, no = label_at(files, "entail", "support"), label_at(files, "contradict", "refut")
    if yes is None and files.name in _VITAMINC:
        return 0, 1
    if yes is None:
        labels = read_config(files).get("id2label") or {}
        names = ", ".join(map(str, labels.values())) or "none"
        raise ModelError(f"{files.name} has no label for entailment (it has: {names})")
    return yes, no


def entailment_of(files: ModelFiles, dtype: str) -> Entailment:
    """The model in some files, loaded once a process."""
    places = choose_entailment(files)
    return Entailment(classifier_of(files, dtype), *places)


@lru_cache(maxsize=4096)
def _counted(tokenizer: Tokenizer, text: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    parts = sentences(text)
    return tuple(parts), tuple(map(len, tokenizer.bare(parts)))


def best_of(windows: Sequence[str], yes: Sequence[float], no: Sequence[float]) -> Answer:
    """The answer to a question whose windows entail and contradict its item so probably."""
    if not windows:
        return Answer(0.0, 0.0, 1.0, "")
    entailed, contradicted = max(yes), max(no)
    at = yes.index(entailed) if entailed >= contradicted else no.index(contradicted)
    return Answer(entailed, contradicted, max(0.0, 1 - yes[at] - no[at]), windows[at])
