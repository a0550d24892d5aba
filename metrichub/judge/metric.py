"""JudgeMetric: a metric that is arithmetic over a judge's typed answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

from metrichub.catalog.parameters import REQUIRED, LocalPath
from metrichub.errors import ParameterError
from metrichub.judge import prompt_files
from metrichub.judge.model_metric import ModelMetric
from metrichub.judge.panel import Panel
from metrichub.judge.prompt_files import ENGLISH, SHARED_PROMPTS, Prompt
from metrichub.judge.protocol import (
    ONCE,
    Choice,
    Grade,
    Judge,
    Questions,
    Sampling,
    Verdict,
    all_verdicts,
)
from metrichub.metric import Array, Unscored
from metrichub.models.resolve import about, judge_of

FieldText = str | Sequence[str]
"""A text or several, which a judge sees under one name."""
YES_NO = ("yes", "no")
SUPPORT = ("yes", "no", "idk")
"""Supported, contradicted, and neither."""


@dataclass(frozen=True, kw_only=True)
class JudgeMetric(ModelMetric):
    """A metric that asks a judge: `async def observe` calls `extract`, `verify`, `grade`, `choose`.

    Prompts are Markdown files in the folder `prompts` next to the metric's code; those that several
    metrics share ("claims") come with metrichub. `asks` lists the prompts by question: `{"extract":
    ("claims",), "verify": ("supported",)}`.

    Attributes:
        judge: The judge: "offline" (a rule-based baseline, no model), "openai", a spec such as
            "openai(model='…', base_url='http://127.0.0.1:8000/v1')", or a judge object. Required
            unless the hub has one.
        prompts: A folder of Markdown files that replace the metric's prompts of the same names,
            for another language or another wording, and of examples to show a model, such as
            claims.examples.jsonl.
        language: The language of the metric's prompts, such as "zh" for Chinese; the texts may be
            in any. Prompts of the user's own take their place. None is the language of the hub, or
            else English.
    """

    asks: ClassVar[Questions] = {}

    judge: str | Judge | None = field(default=None, metadata=REQUIRED)
    prompts: Annotated[str | None, LocalPath()] = None
    language: str | None = None

    def __post_init__(self) -> None:
        """Check the parameters, the judge's own, the language, and the folder of prompts."""
        if isinstance(self.judge, (list, tuple)):
            object.__setattr__(self, "judge", judge_of(self.judge))
        super().__post_init__()
        if self.language is not None:
            object.__setattr__(self, "language", self._match_language(self.language))
        self._check_prompts()

    def _check_prompts(self) -> None:
        if self.prompts is None:
            return
        names = self._user_prompts().keys() | self._user_examples().keys()
        asked = self._english_prompts().keys()
        if not names or names - asked:
            wrong = ", ".join(sorted(names - asked)) or "nothing"
            named = ", ".join(sorted(asked))
            problem = f"a folder of Markdown files named {named} (it has: {wrong})"
            raise ParameterError(self.name, "prompts", self.prompts, problem)
        for name in self._user_prompts():
            packaged = prompt_files.packaged(self._english(name))
            if wrong_slots := prompt_files.slot_problem(self.prompt(name), packaged):
                raise ParameterError(self.name, "prompts", self.prompts, wrong_slots)
        self._check_examples(names)

    def _user_prompts(self) -> dict[str, Path]:
        """The prompts that the user gave, by name."""
        return prompt_files.user_files(self.prompts, ".md")

    def _user_examples(self) -> dict[str, Path]:
        """The files of examples that the user gave, by the names of their prompts."""
        return prompt_files.user_files(self.prompts, prompt_files.SUFFIX)

    @classmethod
    @cache
    def _english_prompts(cls) -> Mapping[str, Path]:
        """The English prompts that the metric may ask, by name: its own before the shared ones."""
        owners = (owner for owner in reversed(cls.__mro__) if issubclass(owner, JudgeMetric))
        return prompt_files.prompts_of(owners)

    def _english(self, name: str) -> Path:
        """The English prompt of this name."""
        return self._english_prompts().get(name, SHARED_PROMPTS / f"{name}.md")

    def _match_language(self, language: str) -> str:
        """The language by its own name: "zh" for "zh-CN".

        Raises:
            ParameterError: there isn't every prompt that is asked in the language.
        """
        names = {name for names in self.questions().values() for name in names}
        packaged = names - self._user_prompts().keys()
        languages = [prompt_files.languages(self._english(name)) for name in packaged]
        common = frozenset.intersection(*languages) if languages else {ENGLISH, language}
        matched = prompt_files.match_language(language, common)
        if matched not in common:
            allowed = f"{' or '.join(sorted(common))}, or give your own prompts (prompts='folder')"
            raise ParameterError(self.name, "language", language, allowed)
        return matched

    def _check_examples(self, prompts: Iterable[str]) -> None:
        """Read the user's prompts; examples have to reply to the question that the prompt asks."""
        questions = {name: kind for kind, names in self.questions().items() for name in names}
        for name in sorted(prompts):
            for shown in self.prompt(name).examples:
                asked = questions.get(name, shown.question)
                if shown.question != asked:
                    allowed = (
                        f"examples of {name} that reply to {asked!r}, not to {shown.question!r}"
                    )
                    raise ParameterError(self.name, "prompts", self.prompts, allowed)

    def _values(self) -> dict[str, object]:
        """The parameters: the user's own prompts with their hashes, a language if not English."""
        values = super()._values()
        names = sorted(self._user_prompts().keys() | self._user_examples().keys())
        prompts = [f"{name}:{self.prompt(name).sha}" for name in names]
        del values["prompts"]
        if self.language in (None, ENGLISH):
            del values["language"]
        return values | ({"prompts": " ".join(prompts)} if prompts else {})

    def votes(self) -> bool:
        """Whether several judges can vote: the metric asks for more than extraction."""
        return "judge" in self.models() and bool(self.questions().keys() - {"extract"})

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """The judge's and the embedder's notes about themselves, and a panel's missing votes."""
        notes = super().notes(totals)
        if "judge" in self.models() and not self.votes() and isinstance(self._judge, Panel):
            alone = "needs no verdicts, so only the first judge of the panel was called"
            return [*notes, f"{self.name} {alone}"]
        return notes

    def questions(self) -> Questions:
        """The prompts for the judge, by question: `asks`, unless they depend on a parameter."""
        return self.asks

    def prompt(self, name: str) -> Prompt:
        """The prompt with this name: the user's, the metric's own, or the shared one.

        Its examples are in the file next to it, unless the user has set others.
        """
        path = prompt_files.in_language(self._english(name), self.language or ENGLISH)
        if self.prompts is None:
            return prompt_files.packaged(path)
        return Prompt.read(self._user_prompts().get(name, path), self._user_examples().get(name))

    def templates(self) -> Mapping[str, Any]:
        """The prompts that it may ask, with their examples; {} if no model is asked."""
        if "judge" not in self.models() or self.judge is None or not about(self._judge).is_model:
            return {}
        names = dict.fromkeys(name for prompts in self.questions().values() for name in prompts)
        return {name: prompt_files.template(self.prompt(name)) for name in names}

    async def claims(self, text: str) -> list[str]:
        """The claims of a text; metrics that need the claims of the same text share the call."""
        return await self.extract("claims", text=text)

    async def support(self, claims: Sequence[str], evidence: Sequence[str]) -> list[Verdict]:
        """Whether the evidence supports each claim: "yes", "no" (it contradicts it) or "idk".

        No evidence, or a blank one, neither supports nor contradicts anything, and asks no judge.
        """
        if not any(text.strip() for text in evidence):
            return [Verdict(i, claim, "idk", "no evidence") for i, claim in enumerate(claims)]
        return await self.verify("supported", claims, verdicts=SUPPORT, evidence=evidence)

    async def checked_claims(self, text: str, evidence: Sequence[str]) -> list[Verdict]:
        """The verdict of `support` on each of a text's claims; empty if the text makes none."""
        return await self.support(await self.claims(text), evidence)

    async def extract(
        self, prompt: str | Prompt, *, limit: int | None = None, **fields: FieldText
    ) -> list[str]:
        """The texts that the judge finds in the fields, at most `limit`."""
        items = await self._judge.extract(self._prompt_for(prompt, fields), fields, limit)
        return list(items)[:limit]

    async def verify(
        self,
        prompt: str | Prompt,
        items: Sequence[str],
        *,
        verdicts: Sequence[str] = YES_NO,
        **fields: FieldText,
    ) -> list[Verdict]:
        """The judge's verdict on each item, in order; without items, no judge is called.

        `verdicts` are the words to choose from: affirmative, negative and, if there is one,
        undecided.
        """
        if not items:
            return []
        judge = self._judge
        return all_verdicts(
            await judge.verify(self._prompt_for(prompt, fields, verdicts), items, fields, verdicts),
            items,
            verdicts,
            judge,
        )

    async def grade(
        self,
        prompt: str | Prompt,
        *,
        scale: tuple[int, int],
        weighing: Sampling = ONCE,
        **fields: FieldText,
    ) -> Grade:
        """The judge's number on the scale: an integer, unless it is a weighted mean."""
        return await self._judge.grade(self._prompt_for(prompt, fields), fields, scale, weighing)

    async def choose(
        self, prompt: str | Prompt, candidates: Sequence[str], **fields: FieldText
    ) -> Choice:
        """The better of two candidates, asked in both orders; if the answers differ, a tie."""
        shown = self._prompt_for(prompt, fields)
        first, second = await asyncio.gather(
            self._judge.choose(shown, candidates, fields),
            self._judge.choose(shown, candidates[::-1], fields),
        )
        mirrored = None if second.winner is None else 1 - second.winner
        if first.winner == mirrored:
            return first
        reason = f"the order decided: {first.reason} / {second.reason}"
        place = first.winner if first.winner == second.winner else None
        return Choice(None, reason, agreed=False, place=place)

    def _prompt_for(
        self, prompt: str | Prompt, fields: Mapping[str, FieldText], verdicts: Sequence[str] = ()
    ) -> Prompt:
        """The prompt, whose examples have to be of the fields and the words that are asked for."""
        chosen = self.prompt(prompt) if isinstance(prompt, str) else prompt
        if self.prompts and (
            wrong := prompt_files.example_problem(chosen, frozenset(fields), tuple(verdicts))
        ):
            raise ParameterError(self.name, "prompts", self.prompts, wrong)
        return chosen

    @property
    def _judge(self) -> Judge:
        return cast(Judge, self._service("judge"))


def missing_input(
    texts: Mapping[str, FieldText], *, prediction: str | None = "prediction"
) -> Unscored | None:
    """The reason to leave a sample unscored of which a text is blank or a list has none, if any.

    `prediction` names the text under evaluation, which is checked last: if a sample lacks something
    else too, that isn't the answer's fault. A lack of "context" is the retriever's.
    """
    kinds = {"context": "no_contexts", prediction: "empty"}
    for name, text in sorted(texts.items(), key=lambda item: item[0] == prediction):
        if not any(part.strip() for part in ([text] if isinstance(text, str) else text)):
            reason = f"there {'are' if name.endswith('s') else 'is'} no {name}"
            return Unscored(reason, kinds.get(name))
    return None


def no_claims(text: str) -> Unscored:
    """The row of a text without claims: unanswered for a prediction, unscored for other texts."""
    return Unscored(f"the {text} makes no claim", "no_claims" if text == "prediction" else None)
