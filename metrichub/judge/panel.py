"""Panel: several judges as one, whose votes decide."""

from __future__ import annotations

import asyncio
import math
import statistics
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from metrichub.catalog.parameters import check_parameters
from metrichub.errors import JudgeError, ParameterError
from metrichub.judge.prompt_files import Prompt, Question
from metrichub.judge.protocol import (
    Choice,
    Fields,
    Grade,
    Judge,
    Sampling,
    Verdict,
    WeighedVerdict,
    all_verdicts,
    grade_on_scale,
)
from metrichub.models.failures import AnswerPending
from metrichub.models.resolve import VoteRule, about, judge_of, safe_to_show

T = TypeVar("T")
_FEWEST = 2


class Vote(NamedTuple):
    """What one judge of a panel said of an item; `verdict` is None where its call failed."""

    judge: str
    verdict: str | None
    reason: str


@dataclass(frozen=True)
class PanelVerdict(WeighedVerdict):
    """What a panel decided on one item, and how each of its judges voted."""

    votes: tuple[Vote, ...]


class _Answers(NamedTuple, Generic[T]):
    """All who were asked, the answers of those who gave one, and the causes of the others."""

    voters: Sequence[str]
    received: Mapping[str, T]
    failed: Mapping[str, str]

    def with_failures(self, head: str) -> str:
        """A reason, with those who gave no answer."""
        silent = (f"no answer of {judge}: {cause}" for judge, cause in self.failed.items())
        return "; ".join([head, *silent])


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A judge that asks several judges and answers as they voted.

    The first judge extracts, or the next one where its call fails, so that all give their verdicts
    on the same items. A judge whose call fails has no vote; the call of the panel fails unless more
    than half of its judges answered.

    Attributes:
        judges: Two or more judges, as specs or objects, each of them once.
        vote: "majority" takes the most frequent answer: tied verdicts count in equal parts, a
            grade without a majority is the median, and a tied choice is a tie. "mean" counts each
            verdict by the fraction of the votes and takes the mean of the grades; choices are the
            majority's.
    """

    judges: tuple[str | Judge, ...]
    vote: VoteRule = "majority"

    def __post_init__(self) -> None:
        """Check the parameters, and those of the judges."""
        check_parameters(self, "panel")
        judges = tuple(safe_to_show(judge, judge_of) for judge in self.judges)
        object.__setattr__(self, "judges", judges)
        members = self.members
        labels = [judge.label for judge in members]
        if any(isinstance(judge, Panel) for judge in members):
            raise ParameterError("panel", "judges", labels, "judges that aren't panels themselves")
        again = "to ask one judge several times, evaluate with repeats=3"
        if len(labels) < _FEWEST:
            raise ParameterError("panel", "judges", labels, f"two or more; {again}")
        label, times = Counter(labels).most_common(1)[0]
        if times > 1:
            raise ParameterError("panel", "judges", labels, f"{label} once; {again}")

    @property
    def members(self) -> tuple[Judge, ...]:
        """The judges themselves."""
        return tuple(judge_of(judge) for judge in self.judges)

    @property
    def label(self) -> str:
        """The labels of all judges, and the vote."""
        return f"panel(judges={[judge.label for judge in self.members]!r}, vote={self.vote!r})"

    @property
    def is_model(self) -> bool:
        """Whether any of the judges is a model."""
        return any(about(judge).is_model for judge in self.members)

    @property
    def note(self) -> str | None:
        """What the judges have to say of themselves."""
        notes = dict.fromkeys(filter(None, (about(judge).note for judge in self.members)))
        return "; ".join(notes) or None

    def answers(self, question: Question, prompt: Prompt) -> bool:
        """Whether all who are asked can answer."""
        return all(about(judge).answers(question, prompt) for judge in self.members_for(question))

    def members_for(self, question: Question) -> tuple[Judge, ...]:
        """Who is asked: the first to extract, everyone otherwise."""
        return self.members[:1] if question == "extract" else self.members

    def ready(self) -> None:
        """Raise what a call would, as far as that is known without one."""
        for judge in self.members:
            if hasattr(judge, "ready"):
                judge.ready()

    async def extract(self, prompt: Prompt, fields: Fields, limit: int | None = None) -> list[str]:
        """What the first judge finds that answers.

        Raises:
            JudgeError: none did, or one failed in a way that ends the run.
        """
        causes: list[str] = []
        for judge in self.members:
            if not about(judge).answers("extract", prompt):
                continue
            try:
                return await judge.extract(prompt, fields, limit)
            except JudgeError as error:
                if error.ends_the_run or isinstance(error, AnswerPending):
                    raise
                causes.append(str(error))
        raise JudgeError(f"none of the panel's judges answered: {'; '.join(causes)}")

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        """What was decided on every item, with the votes."""

        async def verified(judge: Judge) -> list[Verdict]:
            judged = await judge.verify(prompt, items, fields, verdicts)
            return all_verdicts(judged, items, verdicts, judge)

        answers = await self._ask(verified)
        return [self._decided(answers, i, item, verdicts) for i, item in enumerate(items)]

    async def grade(
        self,
        prompt: Prompt,
        fields: Fields,
        scale: tuple[int, int],
        weighing: Sampling = Sampling(),  # noqa: B008  # immutable
    ) -> Grade:
        """The most frequent grade, or the median where several are; or the mean of the grades."""

        async def graded(judge: Judge) -> Grade:
            grade = await judge.grade(prompt, fields, scale, weighing)
            return grade_on_scale(grade, scale, judge)

        answers = await self._ask(graded)
        grades = list(answers.received.values())
        listing = "; ".join(
            f"{by}: {grade.score:g} ({grade.reason})" for by, grade in answers.received.items()
        )
        if self.vote == "mean":
            mean = statistics.fmean(grade.score for grade in grades)
            return Grade(mean, answers.with_failures(f"the mean of {listing}"), _mixed(grades))
        first = _heaviest(Counter(grade.score for grade in grades))
        if len(first) == 1:
            return Grade(first[0], answers.with_failures(f"the most frequent of {listing}"))
        median = statistics.median(grade.score for grade in grades)
        return Grade(median, answers.with_failures(f"no majority, so the median of {listing}"))

    async def choose(self, prompt: Prompt, candidates: Sequence[str], fields: Fields) -> Choice:
        """The candidate of most judges; a tie where as many say something else."""
        answers = await self._ask(lambda judge: judge.choose(prompt, candidates, fields))
        listing = "; ".join(
            f"{by}: {_named(choice)} ({choice.reason})" for by, choice in answers.received.items()
        )
        first = _heaviest(Counter(choice.winner for choice in answers.received.values()))
        if len(first) == 1:
            return Choice(first[0], answers.with_failures(listing))
        return Choice(None, answers.with_failures(f"no majority, so a tie: {listing}"))

    async def _ask(self, ask: Callable[[Judge], Awaitable[T]]) -> _Answers[T]:
        """The answers of all judges, who are asked at once.

        Raises:
            JudgeError: no more than half of the judges answered, or one failed in a way that ends
                the run.
        """
        received: dict[str, T] = {}
        failed: dict[str, str] = {}

        async def attempt(judge: Judge) -> tuple[T | None, JudgeError | None]:
            try:
                return await ask(judge), None
            except JudgeError as error:
                if error.ends_the_run:
                    raise
                return None, error

        members = self.members
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(attempt(judge)) for judge in members]
        except ExceptionGroup as errors:
            first = errors.exceptions[0]
            raise first from first.__cause__
        voters = [judge.label for judge in members]
        for voter, task in zip(voters, tasks, strict=True):
            answer, error = task.result()
            if isinstance(error, AnswerPending):
                raise error
            if error is not None:
                failed[voter] = str(error)
            else:
                received[voter] = answer  # type: ignore[assignment]  # no error, so an answer
        if 2 * len(received) <= len(members):
            causes = "; ".join(failed.values())
            raise JudgeError(
                f"{len(failed)} of {len(members)} judges of the panel failed: {causes}"
            )
        return _Answers(voters, received, failed)

    def _decided(
        self, answers: _Answers[list[Verdict]], place: int, item: str, words: Sequence[str]
    ) -> PanelVerdict:
        verdicts = {judge: each[place] for judge, each in answers.received.items()}
        counts = Counter(verdict.verdict for verdict in verdicts.values())
        if self.vote == "mean":
            weights = _shares(verdicts.values())
        else:
            first = _heaviest(counts)
            weights = {word: 1 / len(first) for word in first}
        tied = _heaviest(weights)
        # Of tied words the one that stands last is shown, as the first is the affirmative one.
        word = max(tied, key=lambda word: words.index(word) if word in words else -1)
        tally = ", ".join(f"{word} {n}" for word, n in counts.most_common())
        reasons = (verdict.reason for verdict in verdicts.values() if verdict.verdict == word)
        why = next(reasons, "")
        head = f"{tally}{', a tie' * (len(tied) > 1)}{f': {why}' if why else ''}"
        cast = {judge: Vote(judge, v.verdict, v.reason) for judge, v in verdicts.items()}
        silent = {judge: Vote(judge, None, cause) for judge, cause in answers.failed.items()}
        votes = tuple((cast | silent)[judge] for judge in answers.voters)
        return PanelVerdict(place, item, word, answers.with_failures(head), weights, votes)


def panel_of(judge: object, vote: Any = None) -> object:
    """The panel of a list of judges; anything else stands for itself.

    Raises:
        ParameterError: judges that make no panel.
    """
    if isinstance(judge, (list, tuple)):
        return Panel(judges=tuple(judge), vote=vote or "majority")
    return judge


def _heaviest(weights: Mapping[T, float]) -> list[T]:
    """The answers of the greatest weight, or of most votes; more than one where they are tied."""
    most = max(weights.values())
    return [answer for answer, weight in weights.items() if math.isclose(weight, most)]


def _shares(verdicts: Iterable[Verdict]) -> dict[str, float]:
    """The mean of the judges' fractions of each word; a plain verdict is wholly its word."""
    each = [
        verdict.weights if isinstance(verdict, WeighedVerdict) else {verdict.verdict: 1.0}
        for verdict in verdicts
    ]
    words = dict.fromkeys(word for weights in each for word in weights)
    return {word: sum(weights.get(word, 0.0) for weights in each) / len(each) for word in words}


def _mixed(grades: Sequence[Grade]) -> dict[int, float]:
    """The mean of the judges' fractions of each score; none where a judge's aren't known."""
    each = [
        [(float(score), weight) for score, weight in grade.weights.items()] or [(grade.score, 1.0)]
        for grade in grades
    ]
    parts = [(score, weight / len(each)) for weights in each for score, weight in weights]
    if any(score != int(score) for score, _ in parts):
        return {}
    mixed: dict[int, float] = {}
    for score, part in parts:
        mixed[int(score)] = mixed.get(int(score), 0.0) + part
    return mixed


def _named(choice: Choice) -> str:
    return "a tie" if choice.winner is None else f"the {('first', 'second')[choice.winner]}"
