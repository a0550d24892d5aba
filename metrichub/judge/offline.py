"""The offline judge: rules over words, numbers and negation. A baseline, not a model."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NoReturn

from metrichub.catalog.parameters import check_parameters
from metrichub.errors import JudgeUnavailable, MetricError
from metrichub.judge.offline_rules import content, lowercase_words, passages_of
from metrichub.judge.prompt_files import Prompt, Question
from metrichub.judge.protocol import ONCE, Choice, Fields, Grade, Sampling, Verdict, WeighedVerdict
from metrichub.judge.sentences import sentences

THRESHOLD = 0.8
"""The support from which the word for a claim is that it is supported."""
COVERED = 0.3
"""The fraction of content words from which a passage counts as being about a text."""
_RULES = {"extract": ("sentences", "questions", "names"), "verify": ("supported", "covers")}
_NAME = re.compile(r"\d+(?:[.,:]\d+)*%?|(?:[A-Z][\w’'-]*)(?: [A-Z][\w’'-]*)*")


@dataclass(frozen=True)
class OfflineJudge:
    """A deterministic judge without key, network or download, for `extract` and `verify`.

    A prompt names its rule in a comment `<!-- offline: RULE -->`. `extract` knows `sentences`,
    `questions` (a closed question from every sentence) and `names` (capitalized words
    and numbers), all from the first field. `verify` knows `supported` (the item's words, numbers
    and negation stand in the fields), which weighs its words, and `covers` (the item holds words of
    every field). A prompt without a rule needs a model.

    Attributes:
        version: The version of the rules, which signatures name: scores of different versions can't
            be compared.
    """

    is_model: ClassVar[bool] = False
    note: ClassVar[str] = (
        "judged offline by matching words: a baseline that recognizes no paraphrases"
    )

    version: Literal[3] = 3

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_parameters(self, "offline")

    @property
    def label(self) -> str:
        """The name and the version of the rules."""
        return f"offline(version={self.version})"

    def answers(self, question: Question, prompt: Prompt) -> bool:
        """Whether the prompt names a rule for the question."""
        return prompt.rule in _RULES.get(question, ())

    async def extract(self, prompt: Prompt, fields: Fields, limit: int | None = None) -> list[str]:
        """Sentences, questions or names of the first field."""
        if not self.answers("extract", prompt):
            self._unable(prompt)
        parts = [part for text in _texts(next(iter(fields.values()))) for part in sentences(text)]
        if prompt.rule == "questions":
            # Without words that a text would have to have, too.
            parts = [
                part.rstrip(".!?;: 。！？；：")
                + ("？" if part.endswith(("。", "！", "？")) else "?")
                for part in parts
            ]
        elif prompt.rule == "names":
            parts = list(dict.fromkeys(name for part in parts for name in _NAME.findall(part)))
        return parts[:limit]

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        """A verdict on each item, by the prompt's rule."""
        if not self.answers("verify", prompt):
            self._unable(prompt)
        rule = {"supported": _supported, "covers": _covers}[str(prompt.rule)]
        return [rule(i, item, fields, verdicts) for i, item in enumerate(items)]

    async def grade(
        self, prompt: Prompt, fields: Fields, scale: tuple[int, int], weighing: Sampling = ONCE
    ) -> Grade:
        """Not possible: rules can't grade."""
        self._unable(prompt)

    async def choose(self, prompt: Prompt, candidates: Sequence[str], fields: Fields) -> Choice:
        """Not possible: rules can't choose."""
        self._unable(prompt)

    def _unable(self, prompt: Prompt) -> NoReturn:
        by = f" by the rule {prompt.rule!r}" if prompt.rule else ""
        raise JudgeUnavailable(
            f"the offline judge can't answer the prompt {prompt.name!r}{by}; set a model: "
            "judge=\"openai(model='...')\", with base_url='http://...' for your own server"
        )


def _texts(field: str | Sequence[str]) -> list[str]:
    return [field] if isinstance(field, str) else list(field)


def _supported(place: int, item: str, fields: Fields, verdicts: Sequence[str]) -> WeighedVerdict:
    texts = tuple(text for field in fields.values() for text in _texts(field))
    support = passages_of(texts).support(item)
    where = textwrap.shorten(support.where, 160, placeholder=" …") if support.where else ""
    near = f"; nearest: {where!r}" if where else ""
    yes, no, unknown = _words(verdicts)
    if support.against:
        return WeighedVerdict(place, item, no, f"{support.against}{near}", {no: 1.0})
    # Sums of thirds don't meet the threshold exactly.
    word = yes if support.share >= THRESHOLD - 1e-9 else unknown
    weights = {yes: support.share, unknown: 1 - support.share}
    return WeighedVerdict(
        place, item, word, f"{support.share:.0%} of its words are there{near}", weights
    )


def _covers(place: int, item: str, fields: Fields, verdicts: Sequence[str]) -> Verdict:
    have = set(content(lowercase_words(item)))
    shares = []
    for field in fields.values():
        words = content([word for text in _texts(field) for word in lowercase_words(text)])
        shares.append(sum(word in have for word in words) / len(words) if words else 0.0)
    least = min(shares, default=0.0)
    yes, no, _ = _words(verdicts)
    return Verdict(place, item, yes if least >= COVERED else no, f"it has {least:.0%} of the words")


def _words(verdicts: Sequence[str]) -> tuple[str, str, str]:
    """The affirmative, negative and undecided word; without the last, undecided is negative."""
    if not verdicts:
        raise MetricError("verify needs a list of verdicts")
    last = len(verdicts) - 1
    return verdicts[0], verdicts[min(1, last)], verdicts[min(2, last)]
