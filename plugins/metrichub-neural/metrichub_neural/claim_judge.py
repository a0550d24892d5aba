"""ClaimJudge: what the judges share that verify claims by a model on this machine."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, NoReturn

from metrichub.authoring import (
    Choice,
    Fields,
    Grade,
    OfflineJudge,
    Prompt,
    Range,
    Sampling,
    Verdict,
)
from metrichub.errors import JudgeUnavailable, MetrichubError
from metrichub_neural.engine.encoder import Dtype, ModelName
from metrichub_neural.engine.flaws import CUT, FlawsCounted
from metrichub_neural.engine.gathering import Gathering
from metrichub_neural.engine.whole import known_files
from metrichub_neural.local_models import ModelFiles

OFFLINE = OfflineJudge()
_SUPPORTED = "supported"
_SHOWN = 160


@dataclass(frozen=True, kw_only=True)
class ClaimJudge(FlawsCounted):
    """A judge that asks a model whether texts support claims: no key, no server.

    Claims are the sentences of a text, by the rules of the judge `offline`, which answers all else
    that rules can, too. It can't grade or choose.

    Attributes:
        model: The model; it has to be on this machine.
        revision: The commit of the hub, or the hash of a folder's files, that has to be used.
        threshold: From which probability on a claim is supported.
        dtype: The type of the model's numbers.
    """

    model: ModelName
    revision: str | None = None
    threshold: Annotated[float, Range(0, 1)] = 0.5
    dtype: Dtype = "float32"

    reads = "claims with their evidence"
    is_model = True

    def answered(self, files: ModelFiles, questions: Sequence[Any]) -> Sequence[Any]:
        """The model's answers to the questions of several samples."""
        raise NotImplementedError  # a judge asks its own model

    async def judged(
        self, items: Sequence[str], texts: tuple[str, ...], verdicts: Sequence[str]
    ) -> list[tuple[str, str]]:
        """The verdict on each item by the model, and its reason."""
        raise NotImplementedError  # a judge's own words

    def answers(self, question: str, prompt: Prompt) -> bool:
        """Whether it is a question for the model or for the rules."""
        return OFFLINE.answers(question, prompt)  # type: ignore[arg-type]  # one of the four

    async def extract(self, prompt: Prompt, fields: Fields, limit: int | None = None) -> list[str]:
        """The offline judge's list."""
        return await OFFLINE.extract(prompt, fields, limit)

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        """A verdict on every item: by the model where claims are to be supported, else by rules."""
        if prompt.rule != _SUPPORTED:
            return await OFFLINE.verify(prompt, items, fields, verdicts)
        texts = tuple(
            text
            for field in fields.values()
            for text in ([field] if isinstance(field, str) else field)
        )
        try:
            answers = await self.judged(items, texts, verdicts)
        except (MetrichubError, ImportError) as error:
            raise JudgeUnavailable(str(error)) from error
        return [
            Verdict(place, item, *answer)
            for place, (item, answer) in enumerate(zip(items, answers, strict=True))
        ]

    async def grade(
        self,
        prompt: Prompt,
        fields: Fields,
        scale: tuple[int, int],
        weighing: Sampling = Sampling(),  # noqa: B008  # immutable
    ) -> Grade:
        """Nothing: it knows claims alone."""
        self._unable("grade", prompt)

    async def choose(self, prompt: Prompt, candidates: Sequence[str], fields: Fields) -> Choice:
        """Nothing: it knows claims alone."""
        self._unable("choose", prompt)

    def files(self) -> ModelFiles:
        """The model's files, found and not loaded.

        Raises:
            MissingModel: it isn't on this machine.
        """
        # The default is that of the metric of this name.
        models = [getattr(type(self), "model", "")]
        return known_files(self.model, self.revision, self.kind, models, self.kind)

    def settings(self) -> str:
        """The part of its label that names the files and settings on which its verdicts depend."""
        files = self.files()
        return (
            f"model={files.name!r}, revision={files.revision!r}, threshold={self.threshold!r}, "
            f"dtype={self.dtype!r}"
        )

    def reason(self, item: str, numbers: str, evidence: str, flaws: int) -> str:
        """A verdict's reason: a model's numbers, the evidence, and whether it was cut."""
        if not evidence:
            return "there is no evidence"
        where = textwrap.shorten(evidence, _SHOWN, placeholder=" …")
        self.count_flaws([((item, evidence), flaws)])
        cut = "; claim and evidence were longer than the model takes" if flaws & CUT else ""
        return f"{numbers}, by {where!r}{cut}"

    def _unable(self, what: str, prompt: Prompt) -> NoReturn:
        raise JudgeUnavailable(
            f"the judge {self.kind} can't {what} ({prompt.name}); set a model that answers in "
            "words: judge=\"openai(model='...')\", with base_url='http://...' for a server of your "
            "own"
        )


@cache
def gathering_of(judge: ClaimJudge, files: ModelFiles) -> Gathering[Any, Any]:
    """The judge that answers the questions of all samples together, by these files."""
    return Gathering(lambda questions: judge.answered(files, questions))
