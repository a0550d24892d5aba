"""What judges take and give: prompts, verdicts, grades, choices, and the protocol itself."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from metrichub.catalog.kinds import choices_of
from metrichub.errors import MetricError
from metrichub.judge.examples import SUFFIX, FewShot, read_examples
from metrichub.judge.examples import Question as Question

Fields = Mapping[str, str | Sequence[str]]
"""The texts under evaluation, by the names that the prompt uses for them."""

Questions = Mapping[Question, tuple[str, ...]]
"""The names of the prompts that are asked by each question."""

VoteRule = Literal["majority", "mean"]
"""How several votes decide."""
VOTE_RULES: tuple[VoteRule, ...] = choices_of(VoteRule)

SHARED_PROMPTS = Path(__file__).parent / "prompts"
"""The prompts that come with the hub, for metrics to share."""

_SLOT = re.compile(r"\{\{(\w+)\}\}")
_RULE = re.compile(r"<!--\s*offline:\s*(\w+)\s*-->\s*")


def without_rule(text: str) -> str:
    """What a model is told of a prompt's file: all but the offline judge's rule."""
    return _RULE.sub("", text, count=1)


def slots_of(text: str) -> frozenset[str]:
    """The names of a prompt's slots, such as `criteria` of `{{criteria}}`."""
    return frozenset(_SLOT.findall(text))


@dataclass(frozen=True)
class Prompt:
    """An instruction to a judge, in Markdown. `rule` is what a judge without a model does.

    `examples` are shown to a model before the data.
    """

    name: str
    text: str
    rule: str | None = None
    examples: tuple[FewShot, ...] = ()

    @property
    def sha(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of the text and the examples."""
        parts = [self.text, *(part for shown in self.examples for part in shown)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def filled(self, **slots: str) -> Prompt:
        """The prompt with a text for each of its slots, such as `{{criteria}}`.

        What fills a slot is an instruction, from the user of the metric; texts under evaluation are
        fields, never slots.

        Raises:
            MetricError: the prompt has other slots.
        """
        if slots.keys() != (asked := slots_of(self.text)):
            raise MetricError(
                f"the prompt {self.name!r} has the slots {', '.join(sorted(asked)) or 'none'}, not "
                f"{', '.join(sorted(slots)) or 'none'}"
            )
        return replace(self, text=_SLOT.sub(lambda slot: slots[slot[1]], self.text))

    @staticmethod
    def read(path: Path, examples: Path | None = None) -> Prompt:
        """The prompt in a Markdown file; its name is the file's.

        A first line `<!-- offline: covers -->` gives the rule and is no part of the text. Examples
        are read from the file beside it, such as claims.examples.jsonl, or from the one given.

        Raises:
            MetricError: a file can't be read, or holds no examples.
        """
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it isn't UTF-8"
            raise MetricError(f"the prompt {path} can't be read: {why}") from error
        rule = _RULE.match(text)
        shown = read_examples(examples or path.with_name(path.stem + SUFFIX))
        return Prompt(path.stem, without_rule(text).strip(), rule[1] if rule else None, shown)


@dataclass(frozen=True)
class Verdict:
    """A judge's word on one item, and its reason."""

    index: int
    item: str
    verdict: str
    reason: str


@dataclass(frozen=True)
class WeighedVerdict(Verdict):
    """A verdict of a judge that weighs the words: `weights` holds the fraction of each.

    Scores count the fractions, which sum to 1; `verdict` is the word for those who read it.
    """

    weights: Mapping[str, float] = field(hash=False)


class Grade(NamedTuple):
    """A number on the scale that was asked for, and its reason.

    `weights` holds the fraction of each score where several were asked for or weighed; `score` is
    then their mean.
    """

    score: float
    reason: str
    weights: Mapping[int, float] = MappingProxyType({})

    @classmethod
    def of(cls, weights: Mapping[int, float], reason: str) -> Grade:
        """The mean of weighted scores, the weights made to sum to 1 (Liu et al., 2023, eq. 1)."""
        whole = sum(weights.values())
        shares = {score: weight / whole for score, weight in weights.items()}
        return cls(sum(score * share for score, share in shares.items()), reason, shares)


class Sampling(NamedTuple):
    """How a grade is made: out of `samples` answers, or of one answer's token probabilities."""

    samples: int = 1
    logprobs: bool = False


class Choice(NamedTuple):
    """The position of the better candidate, None for a tie, and the reason.

    `agreed` is False where the judge was asked in both orders and its answers differ.
    """

    winner: int | None
    reason: str
    agreed: bool = True


@runtime_checkable
class Judge(Protocol):
    """What answers the four questions; any object with these methods will do.

    A call that fails raises `JudgeError`, or `JudgeUnavailable` where every later call would fail.
    A judge that isn't a model, or can't answer everything, says so as `SelfDescribed` does.
    """

    @property
    def label(self) -> str:
        """What signatures say of the judge: a spec with all that bears on its answers, no key."""
        ...

    async def extract(self, prompt: Prompt, fields: Fields, limit: int | None = None) -> list[str]:
        """What the prompt asks for out of the fields, at most `limit` texts."""
        ...

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        """One verdict for every item, in the order of the items.

        `verdicts` are the words to choose from: the affirmative first, then the negative, then
        undecided, if there is such a word.
        """
        ...

    async def grade(
        self,
        prompt: Prompt,
        fields: Fields,
        scale: tuple[int, int],
        weighing: Sampling = Sampling(),  # noqa: B008  # immutable
    ) -> Grade:
        """A number from the first of the scale to the last."""
        ...

    async def choose(self, prompt: Prompt, candidates: Sequence[str], fields: Fields) -> Choice:
        """The better of two candidates, as they stand."""
        ...


@runtime_checkable
class SelfDescribed(Judge, Protocol):
    """A judge that says what it is; one that doesn't is taken for a model that can answer all."""

    @property
    def is_model(self) -> bool:
        """Whether it understands what it reads, as a model does and rules don't."""
        ...

    @property
    def note(self) -> str | None:
        """What a reader of its scores has to know, for the notes of a report; None for a model."""
        ...

    def answers(self, question: Question, prompt: Prompt) -> bool:
        """Whether it can answer this prompt."""
        ...


def all_verdicts(
    found: list[Verdict], items: Sequence[str], verdicts: Sequence[str], judge: Judge
) -> list[Verdict]:
    """The verdicts that a judge gave, one for every item in their order.

    Raises:
        MetricError: the judge left one out, changed their order, or used a word of its own, which
            would count for no word that it was asked for.
    """
    if [verdict.index for verdict in found] != list(range(len(items))):
        raise MetricError(f"the judge {judge.label} gave no verdict for every item")
    if strange := next((one for one in found if one.verdict not in verdicts), None):
        raise MetricError(
            f"the judge {judge.label} gave the verdict {strange.verdict!r}, which is none of "
            f"{', '.join(map(repr, verdicts))}"
        )
    return found
