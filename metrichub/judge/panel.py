"""Panel: several judges as one, whose votes decide."""

from __future__ import annotations

import asyncio
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from metrichub.catalog.parameters import check_parameters
from metrichub.errors import JudgeError, ParameterError
from metrichub.judge.prompt_files import Prompt, Question
from metrichub.judge.protocol import (
    ONCE,
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
ASK_AGAIN = "to ask one judge several times, evaluate with repeats=3"


class Vote(NamedTuple):
    """The verdict of one judge of a panel on an item; None where its call failed."""

    judge: str
    verdict: str | None
    reason: str


@dataclass(frozen=True)
class PanelVerdict(WeighedVerdict):
    """The verdict of a panel on one item, and the votes of its judges."""

    votes: tuple[Vote, ...]


class _Answers(NamedTuple, Generic[T]):
    """The answers of the judges by their labels, and the causes of the calls that failed."""

    received: Mapping[str, T]
    failed: Mapping[str, str]

    def with_failures(self, reason: str) -> str:
        """The reason for a decision, with the judges that gave no answer."""
        failures = (f"no answer of {judge}: {cause}" for judge, cause in self.failed.items())
        return "; ".join([reason, *failures])


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
        if len(labels) < 2:
            raise ParameterError("panel", "judges", labels, f"two or more; {ASK_AGAIN}")
        label, times = Counter(labels).most_common(1)[0]
        if times > 1:
            raise ParameterError("panel", "judges", labels, f"{label} once; {ASK_AGAIN}")

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
        """The notes of the judges, each once."""
        notes = dict.fromkeys(filter(None, (about(judge).note for judge in self.members)))
        return "; ".join(notes) or None

    def answers(self, question: Question, prompt: Prompt) -> bool:
        """Whether all judges that are asked can answer."""
        return all(about(judge).answers(question, prompt) for judge in self.members_for(question))

    def members_for(self, question: Question) -> tuple[Judge, ...]:
        """The judges that are asked: the first to extract, all of them otherwise."""
        return self.members[:1] if question == "extract" else self.members

    def ready(self) -> None:
        """Raise what a call would, as far as that is known without one."""
        for judge in self.members:
            if hasattr(judge, "ready"):
                judge.ready()

    async def extract(self, prompt: Prompt, fields: Fields, limit: int | None = None) -> list[str]:
        """The texts of the first judge that answers.

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
        """The panel's verdict on every item, with the votes."""

        async def verified(judge: Judge) -> list[Verdict]:
            judged = await judge.verify(prompt, items, fields, verdicts)
            return all_verdicts(judged, items, verdicts, judge)

        answers = await self._ask(verified)
        return [self._decided(answers, i, item, verdicts) for i, item in enumerate(items)]

    async def grade(
        self, prompt: Prompt, fields: Fields, scale: tuple[int, int], weighing: Sampling = ONCE
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
        """The candidate of most judges; a tie where no answer is the most frequent."""
        answers = await self._ask(lambda judge: judge.choose(prompt, candidates, fields))
        listing = "; ".join(
            f"{by}: {_named(choice)} ({choice.reason})" for by, choice in answers.received.items()
        )
        first = _heaviest(Counter(choice.winner for choice in answers.received.values()))
        if len(first) == 1:
            return Choice(first[0], answers.with_failures(listing))
        return Choice(None, answers.with_failures(f"no majority, so a tie: {listing}"))

    async def _ask(self, ask: Callable[[Judge], Awaitable[T]]) -> _Answers[T]:
        """The answers of all judges, asked at once.

        Raises:
            JudgeError: no more than half of the judges answered, or one failed in a way that ends
                the run.
        """

        async def answer_of(judge: Judge) -> T | JudgeError:
            try:
                return await ask(judge)
            except JudgeError as error:
                if error.ends_the_run:
                    raise
                return error

        try:
            async with asyncio.TaskGroup() as group:
                tasks = {judge.label: group.create_task(answer_of(judge)) for judge in self.members}
        except ExceptionGroup as errors:
            first = errors.exceptions[0]
            raise first from first.__cause__
        received: dict[str, T] = {}
        failed: dict[str, str] = {}
        for judge, task in tasks.items():
            answer = task.result()
            if isinstance(answer, AnswerPending):
                raise answer
            if isinstance(answer, JudgeError):
                failed[judge] = str(answer)
            else:
                received[judge] = answer
        if 2 * len(received) <= len(tasks):
            causes = "; ".join(failed.values())
            raise JudgeError(f"{len(failed)} of {len(tasks)} judges of the panel failed: {causes}")
        return _Answers(received, failed)

    def _decided(
        self, answers: _Answers[list[Verdict]], place: int, item: str, words: Sequence[str]
    ) -> PanelVerdict:
        verdicts = {judge: judged[place] for judge, judged in answers.received.items()}
        counts = Counter(verdict.verdict for verdict in verdicts.values())
        if self.vote == "mean":
            weights = _mean_weights(verdicts.values())
        else:
            first = _heaviest(counts)
            weights = {word: 1 / len(first) for word in first}
        tied = _heaviest(weights)
        # Of tied words the one that stands last is shown, as the first is the affirmative one.
        word = max(tied, key=lambda word: words.index(word) if word in words else -1)
        reason = ", ".join(f"{word} {number}" for word, number in counts.most_common())
        if len(tied) > 1:
            reason += ", a tie"
        if why := next((v.reason for v in verdicts.values() if v.verdict == word), ""):
            reason += f": {why}"
        votes = tuple(
            Vote(judge.label, verdict.verdict, verdict.reason)
            if (verdict := verdicts.get(judge.label))
            else Vote(judge.label, None, answers.failed[judge.label])
            for judge in self.members
        )
        return PanelVerdict(place, item, word, answers.with_failures(reason), weights, votes)


def _heaviest(weights: Mapping[T, float]) -> list[T]:
    """The answers of the greatest weight or with most votes: several where they are tied."""
    largest = max(weights.values())
    return [answer for answer, weight in weights.items() if math.isclose(weight, largest)]


def _mean_weights(verdicts: Collection[Verdict]) -> dict[str, float]:
    """The mean of the judges' weights of each word; a plain verdict has the weight 1."""
    total = defaultdict[str, float](float)
    for verdict in verdicts:
        if isinstance(verdict, WeighedVerdict):
            for word, weight in verdict.weights.items():
                total[word] += weight
        else:
            total[verdict.verdict] += 1
    return {word: weight / len(verdicts) for word, weight in total.items()}


def _mixed(grades: Sequence[Grade]) -> dict[int, float]:
    """The mean of the judges' weights of each score; none unless all scores are whole numbers."""
    mixed = defaultdict[float, float](float)
    for grade in grades:
        for score, weight in grade.weights.items():
            mixed[score] += weight / len(grades)
        if not grade.weights:
            mixed[grade.score] += 1 / len(grades)
    if any(score != int(score) for score in mixed):
        return {}
    return {int(score): weight for score, weight in mixed.items()}


def _named(choice: Choice) -> str:
    return "a tie" if choice.winner is None else f"the {('first', 'second')[choice.winner]}"
