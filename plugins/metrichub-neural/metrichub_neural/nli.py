"""The judge `nli`: claims are verified by a model of entailment on this machine."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, NoReturn

from metrichub.authoring import (
    Choice,
    Fields,
    Grade,
    ModelFiles,
    OfflineJudge,
    Prompt,
    Range,
    Sampling,
    Verdict,
    find_model,
)
from metrichub.errors import JudgeUnavailable, MetrichubError
from metrichub_neural.engine.encoder import Dtype, ModelName
from metrichub_neural.engine.entailment import Answer, Question, choose_entailment, entailment_of
from metrichub_neural.engine.gathering import Gathering
from metrichub_neural.engine.light import has_only_onnx

_OFFLINE = OfflineJudge()
_SUPPORTED = "supported"
_SHOWN = 160


@dataclass(frozen=True, kw_only=True)
class NliJudge:
    """A judge that asks a model whether the evidence entails a claim: no key, no server.

    Claims are the sentences of a text, by the rules of the judge `offline`, which answers all else
    that rules can, too. It can't grade or choose.

    Attributes:
        model: The model, which classifies pairs and has a label "entailment": a name on the Hugging
            Face hub, such as "FacebookAI/roberta-large-mnli" (MIT) or
            "cross-encoder/nli-deberta-v3-base" (Apache 2.0), a folder, or an installed package; it
            has to be on this machine.
        revision: The commit of the hub, or the hash of a folder's files, that has to be used.
        threshold: From which probability of entailment on a claim is supported.
        dtype: The type of the model's numbers.
    """

    model: ModelName
    revision: str | None = None
    threshold: Annotated[float, Range(0, 1)] = 0.5
    dtype: Dtype = "float32"

    is_model = True
    note = None

    @property
    def label(self) -> str:
        """The files that are used, and all that bears on its verdicts."""
        files = self._files()
        engine = ", engine='light'" if has_only_onnx(files) else ""
        return (
            f"nli(model={files.name!r}, revision={files.revision!r}, threshold={self.threshold!r}, "
            f"dtype={self.dtype!r}{engine}, rules={_OFFLINE.label!r})"
        )

    def answers(self, question: str, prompt: Prompt) -> bool:
        """Whether it is a question for the model or for the rules."""
        return _OFFLINE.answers(question, prompt)  # type: ignore[arg-type]  # one of the four

    async def extract(self, prompt: Prompt, fields: Fields, limit: int | None = None) -> list[str]:
        """What the offline judge finds."""
        return await _OFFLINE.extract(prompt, fields, limit)

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        """A verdict on every item: by the model where claims are to be supported, else by rules.

        Affirmative from the threshold on; negative where the evidence contradicts an item more than
        it entails it; else undecided.
        """
        if prompt.rule != _SUPPORTED:
            return await _OFFLINE.verify(prompt, items, fields, verdicts)
        texts = tuple(
            text
            for field in fields.values()
            for text in ([field] if isinstance(field, str) else field)
        )
        try:
            files = self._files()
            answers = await _gathering(files, self.dtype)([Question(item, texts) for item in items])
        except (MetrichubError, ImportError) as error:
            raise JudgeUnavailable(str(error)) from error
        return [
            Verdict(place, item, self._word(answer, verdicts), _reason(answer))
            for place, (item, answer) in enumerate(zip(items, answers, strict=True))
        ]

    async def grade(
        self,
        prompt: Prompt,
        fields: Fields,
        scale: tuple[int, int],
        weighing: Sampling = Sampling(),  # noqa: B008  # immutable
    ) -> Grade:
        """Nothing: it knows entailment alone."""
        self._unable("grade", prompt)

    async def choose(self, prompt: Prompt, candidates: Sequence[str], fields: Fields) -> Choice:
        """Nothing: it knows entailment alone."""
        self._unable("choose", prompt)

    def _unable(self, what: str, prompt: Prompt) -> NoReturn:
        raise JudgeUnavailable(
            f"the judge nli can't {what} ({prompt.name}); set a model that answers in words: "
            "judge=\"openai(model='...')\", with base_url='http://...' for a server of your own"
        )

    def _files(self) -> ModelFiles:
        files = find_model(self.model, self.revision, needed_by="nli")
        choose_entailment(files)
        return files

    def _word(self, answer: Answer, verdicts: Sequence[str]) -> str:
        yes, no, *unknown = verdicts
        if answer.entailed >= self.threshold:
            return yes
        return no if answer.contradicted > answer.entailed else (unknown or [no])[0]


@lru_cache(maxsize=2)
def _gathering(files: ModelFiles, dtype: str) -> Gathering[Question, Answer]:
    return Gathering(lambda questions: entailment_of(files, dtype).answers(questions))


def _reason(answer: Answer) -> str:
    if not answer.window:
        return "there is no evidence"
    where = textwrap.shorten(answer.window, _SHOWN, placeholder=" …")
    cut = f"; claim and evidence were cut at {answer.cut_at} tokens" if answer.cut_at else ""
    return (
        f"entailed {answer.entailed:.2f}, contradicted {answer.contradicted:.2f}, "
        f"neither {answer.neutral:.2f}, by {where!r}{cut}"
    )
