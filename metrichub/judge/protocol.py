"""The protocol of judges, and their verdicts, grades and choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, Protocol, runtime_checkable

from metrichub.errors import MetricError
from metrichub.judge.prompt_files import Prompt, Question

Fields = Mapping[str, str | Sequence[str]]
"""The texts under evaluation, by the names that the prompt uses for them."""

Questions = Mapping[Question, tuple[str, ...]]
"""The names of the prompts that are asked by each question."""

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Verdict:
    """A judge's verdict on one item, and its reason."""

    index: int
    item: str
    verdict: str
    reason: str


@dataclass(frozen=True)
class WeighedVerdict(Verdict):
    """A verdict with weights: `weights` has the fraction of each word.

    Scores use the fractions, which sum to 1; `verdict` is the word to show to readers.
    """

    weights: Mapping[str, float] = field(hash=False)


class Grade(NamedTuple):
    """A number on the requested scale, and its reason.

    If there were several answers or weights, `weights` holds the fraction of each score, and
    `score` is their mean.
    """

    score: float
    reason: str
    weights: Mapping[int, float] = MappingProxyType({})

    @classmethod
    def of(cls, weights: Mapping[int, float], reason: str) -> Grade:
        """The mean of the scores by weights, normalized to sum to 1 (Liu et al., 2023, eq. 1)."""
        total = sum(weights.values())
        shares = {score: weight / total for score, weight in weights.items()}
        return cls(sum(score * share for score, share in shares.items()), reason, shares)


class Sampling(NamedTuple):
    """How a grade is computed: from `samples` answers, or from one answer's token probabilities."""

    samples: int = 1
    logprobs: bool = False


ONCE = Sampling()
"""A grade of one answer."""


class Choice(NamedTuple):
    """The position of the better candidate, or None for a tie, and the reason.

    `agreed` is False if the judge was asked in both orders and its answers differ. `place` is that
    of the candidate which it preferred both times, 0 where it was the one shown first.
    """

    winner: int | None
    reason: str
    agreed: bool = True
    place: int | None = None


@runtime_checkable
class Judge(Protocol):
    """A judge, which answers four kinds of questions; any object with these methods will do.

    A call that fails raises `JudgeError`, or `JudgeUnavailable` if every later call would fail too.
    A judge that isn't a model, or can't answer everything, declares it with `SelfDescribed`.
    """

    @property
    def label(self) -> str:
        """The judge in signatures: a spec with all that affects its answers, without keys."""
        ...

    async def extract(self, prompt: Prompt, fields: Fields, limit: int | None = None) -> list[str]:
        """The texts that the prompt asks for, found in the fields; at most `limit`."""
        ...

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        """One verdict per item, in the order of the items.

        `verdicts` are the words to choose from: affirmative, negative and, if there is one,
        undecided.
        """
        ...

    async def grade(
        self, prompt: Prompt, fields: Fields, scale: tuple[int, int], weighing: Sampling = ONCE
    ) -> Grade:
        """A number on the scale, which goes from its first to its last number."""
        ...

    async def choose(self, prompt: Prompt, candidates: Sequence[str], fields: Fields) -> Choice:
        """The better of two candidates, in the order given."""
        ...


@runtime_checkable
class SelfDescribed(Judge, Protocol):
    """A judge that describes itself; others are taken for models that can answer everything."""

    @property
    def is_model(self) -> bool:
        """Whether it is a model, which understands what it reads, rather than rules."""
        ...

    @property
    def note(self) -> str | None:
        """A note for readers of its scores, which reports show; None for a model."""
        ...

    def answers(self, question: Question, prompt: Prompt) -> bool:
        """Whether it can answer this prompt."""
        ...


def all_verdicts(
    answers: list[Verdict], items: Sequence[str], verdicts: Sequence[str], judge: Judge
) -> list[Verdict]:
    """The verdicts that a judge gave, one for every item in their order.

    Raises:
        MetricError: the judge left one out, changed their order, or used a word of its own, which
            would count for no word that it was asked for.
    """
    if [verdict.index for verdict in answers] != list(range(len(items))):
        raise MetricError(f"the judge {judge.label} didn't return a verdict for every item")
    if strange := next((answer for answer in answers if answer.verdict not in verdicts), None):
        raise MetricError(
            f"the judge {judge.label} returned the verdict {strange.verdict!r}, which is none of "
            f"{', '.join(map(repr, verdicts))}"
        )
    return answers


def grade_on_scale(grade: Grade, scale: tuple[int, int], judge: Judge) -> Grade:
    """The grade that a judge gave.

    Raises:
        MetricError: it isn't on the scale.
    """
    low, high = scale
    if not low - _ROUNDING <= grade.score <= high + _ROUNDING:
        raise MetricError(
            f"the judge {judge.label} returned {grade.score:g} on a scale of {low} to {high}"
        )
    return grade
