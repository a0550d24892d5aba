"""Bases of metrics that grade a text, judge its opinions or ranked passages, or wrap a metric."""

from __future__ import annotations

import inspect
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np

from metrichub.catalog.card import Card
from metrichub.catalog.frontmatter import Scale
from metrichub.catalog.parameters import Range
from metrichub.errors import ParameterError, SpecError
from metrichub.judge.aggregate import are_yes, average_precision, ratio, values
from metrichub.judge.metric import FieldText, JudgeMetric, missing_input
from metrichub.judge.model_metric import EmbedderMetric
from metrichub.judge.prompt_files import Prompt
from metrichub.judge.protocol import Questions, Sampling, grade_on_scale
from metrichub.metric import (
    Array,
    CorpusMetric,
    Metric,
    Scores,
    TraceItem,
    Unscored,
    WithTrace,
    has_sample_scores,
    load_metric,
    takes_count,
)
from metrichub.text.conversation import message_texts


@dataclass(frozen=True, kw_only=True)
class GradedMetric(JudgeMetric):
    """A metric whose `observe` returns the result of `graded`: `score` and `grade`.

    `grade` is the judge's number on the scale, `score` its position there: 0 for the lowest grade,
    1 for the highest.

    Attributes:
        weighting: How the grade is obtained: "none" is the judge's single answer; "samples" is
            the mean of several answers; "logprobs" is the mean of all grades, weighted by their
            token probabilities in one answer, which not every server returns.
        samples: The number of answers to ask for if `weighting` is "samples".
    """

    weighting: Literal["none", "samples", "logprobs"] = "none"
    samples: Annotated[int, Range(1)] = 20

    @property
    def scale(self) -> tuple[int, int]:
        """The lowest and the highest grade."""
        return 1, 5

    def outputs(self) -> tuple[str, ...]:
        """The position on the scale, and the grade."""
        return "score", "grade"

    async def graded(self, prompt: str | Prompt, /, **texts: FieldText) -> WithTrace | Unscored:
        """The row of one sample, with the grade and its reason; a blank text leaves it unscored.

        Raises:
            MetricError: the judge's grade isn't on the scale.
        """
        if missing := missing_input(texts):
            return missing
        low, high = self.scale
        # Not by `self.grade`, whose own parameters are names that a text may have.
        samples = self.samples if self.weighting == "samples" else 1
        weighing = Sampling(samples, logprobs=self.weighting == "logprobs")
        shown = self._prompt_for(prompt, texts)
        grade = await self._judge.grade(shown, texts, (low, high), weighing)
        grade_on_scale(grade, (low, high), self._judge)
        row = {"score": (grade.score - low) / (high - low), "grade": grade.score}
        return WithTrace(row, {"grade": grade})

    def step_notes(self, steps: Sequence[TraceItem]) -> Sequence[str]:
        """How many grades are single answers, although they should be weighed by probabilities."""
        plain = sum(not step["grade"]["weights"] for step in steps if "grade" in step)
        if not plain or self.weighting != "logprobs":
            return super().step_notes(steps)
        single = f"{plain} of {len(steps)} grades are single answers, because the judge sent no"
        return [f"{single} probabilities (top_logprobs); use weighting='samples'"]


@dataclass(frozen=True, kw_only=True)
class CustomInputMetric(JudgeMetric):
    """A judge metric whose user chooses the inputs: `observe` takes them as `**texts`.

    Attributes:
        sees: The inputs that the judge sees: first the text to judge, then what it is compared
            with, such as "source", "question", "contexts", "reference" or the name of another
            column; "messages" is a conversation.
    """

    sees: tuple[str, ...] = ("prediction",)

    def __post_init__(self) -> None:
        """Check that the inputs are names, each given once."""
        super().__post_init__()
        names = [name for name in self.sees if name.isidentifier()]
        if not names or len(set(names)) < len(self.sees):
            allowed = "one or more names of inputs, each once, for example ('prediction', 'source')"
            raise ParameterError(self.name, "sees", self.sees, allowed)
        if "conversation" in self.sees:
            raise ParameterError(self.name, "sees", self.sees, "'messages' for a conversation")

    def inputs(self) -> tuple[str, ...]:
        """The inputs that the judge sees."""
        return self.sees

    def shown(self, inputs: Mapping[str, Any]) -> dict[str, FieldText] | Unscored:
        """A sample's inputs as the judge sees them, or the reason to leave it unscored."""
        texts = {**inputs}
        for name, parts in inputs.items():
            if not isinstance(parts, str) and all(
                isinstance(part, Mapping) and "role" in part for part in parts
            ):
                texts[name] = message_texts(parts)
        judged = self.sees[0] if "messages" in self.sees else "prediction"
        return missing_input(texts, prediction=judged) or texts


@dataclass(frozen=True, kw_only=True)
class OpenGradedMetric(CustomInputMetric, GradedMetric):
    """A graded metric whose user chooses the inputs; see `CustomInputMetric`."""

    async def graded(self, prompt: str | Prompt, /, **texts: FieldText) -> WithTrace | Unscored:
        """The row of one sample, with the grade and its reason; see `GradedMetric`."""
        shown = self.shown(texts)
        return shown if isinstance(shown, Unscored) else await super().graded(prompt, **shown)


@dataclass(frozen=True, kw_only=True)
class StatementMetric(JudgeMetric):
    """The fraction of a text's opinions that a policy objects to, and of texts with one.

    `policy` names the prompt with the policy, which is in the metric's own folder `prompts`, and
    the second output. Metrics that need the opinions of the same text share the call.

    Attributes:
        empty: The score of a text that expresses no opinions: 0, as in deepeval, or None to leave
            the text out of the mean.
    """

    empty: Literal[0] | None = None
    policy: ClassVar[str]

    averaging = "macro"

    def questions(self) -> Questions:
        """The opinions, and whether the policy objects to each."""
        return {"extract": ("opinions",), "verify": (self.policy,)}

    def outputs(self) -> tuple[str, ...]:
        """The fraction of opinions, and the fraction of texts under the name of the policy."""
        return "score", self.policy

    async def observe(self, prediction: str) -> WithTrace | Unscored:
        """The opinions of one text, with the verdict on each."""
        if not prediction.strip():
            return Unscored("the text is blank", "empty")
        opinions = await self.extract("opinions", text=prediction)
        verdicts = await self.verify(self.policy, opinions, text=prediction)
        row = {
            "share": ratio(verdicts) if verdicts else 0.0,
            "voiced": bool(verdicts),
            "silent": not verdicts,
            "objected": any(are_yes(verdicts)),
        }
        return WithTrace(row, {"opinions": verdicts})

    def score(self, share: Array, voiced: Array, silent: Array, objected: Array) -> Scores:
        """Means over texts (macro); the first over the texts that express an opinion."""
        texts = voiced + silent
        counted = voiced if self.empty is None else texts
        return {"score": share / counted, self.policy: objected / texts}

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """How many texts have no fraction."""
        silent = totals["silent"].item() if self.empty is None else 0
        left = [f"{silent:g} without an opinion, left out of the score"] if silent else []
        return [*super().notes(totals), *left]


@dataclass(frozen=True, kw_only=True)
class ContextOrderMetric(JudgeMetric):
    """A metric whose `observe` returns the result of `ranked`: whether useful passages come first.

    Metrics that ask the same about the same question, answer and passages share the call.

    Attributes:
        epsilon: Added to the number of useful passages in the denominator; 1e-10 gives the numbers
            that ragas prints.
        shuffle_seed: Shows the judge the passages in another order, drawn by this seed, as their
            ranks may influence it; None shows them as they are ranked.
    """

    asks: ClassVar[Questions] = {"verify": ("useful",)}

    epsilon: Annotated[float, Range(0)] = 0.0
    shuffle_seed: Annotated[int, Range(0)] | None = None

    async def ranked(
        self, question: str, answer: str, contexts: Sequence[str], *, predicted: bool
    ) -> WithTrace | Unscored:
        """The average precision of one sample, with the verdict on each passage.

        `predicted` says whether the answer is the prediction rather than a reference.
        """
        texts = {"question": question, "answer": answer, "context": contexts}
        if missing := missing_input(texts, prediction="answer" if predicted else None):
            return missing
        shown = list(range(len(contexts)))
        if self.shuffle_seed is not None:
            # The same order for the same sample.
            sample = json.dumps([self.shuffle_seed, question, answer, *contexts])
            random.Random(sample).shuffle(shown)
        judged = await self.verify(
            "useful", [contexts[rank] for rank in shown], question=question, answer=answer
        )
        verdicts = [replace(judged[shown.index(rank)], index=rank) for rank in range(len(contexts))]
        labels = values(verdicts)
        useful = sum(labels)
        exact = average_precision(labels)
        score = exact * useful / (useful + self.epsilon) if useful else 0.0
        return WithTrace({"score": score}, {"contexts": verdicts})

    def _values(self) -> dict[str, object]:
        """The parameters, with the seed only if there is one, as in reports of before it."""
        values = super()._values()
        if self.shuffle_seed is None:
            del values["shuffle_seed"]
        return values


class PartScore(NamedTuple):
    """A part's score, or why it has none, and what the score was made from."""

    score: float
    unscored: Unscored | None
    step: TraceItem


@dataclass(frozen=True, kw_only=True)
class WrapperMetric(JudgeMetric):
    """A metric that scores parts of a sample by another metric, `inner`.

    The judge, the language and the prompts are passed on to it. It has an `observe` for one part.

    Attributes:
        metric: The metric of each part, as a name or a spec such as "faithfulness(idk=1)". It uses
            the judge of the hub, unless the spec names one.
    """

    metric: str

    def __post_init__(self) -> None:
        """Check that the other metric observes one part at a time; its own judge is this one's."""
        super().__post_init__()
        alone = load_metric(self.metric)
        models = [getattr(alone, kind, None) for kind in ("judge", "embedder")]
        if any(getattr(model, "has_secrets", False) for model in models):
            raise SpecError(f"{self.name}: every report shows metric=…; pass the judge by judge=…")
        object.__setattr__(self, "judge", self.judge or models[0])
        inner = self.inner
        if isinstance(inner, EmbedderMetric) and not inner.embedder:
            allowed = f"a spec with an embedder, such as \"{self.metric}(embedder='offline')\""
            raise ParameterError(self.name, "metric", self.metric, allowed)
        if not hasattr(inner, "observe") or isinstance(inner, CorpusMetric) or inner.extraction:
            allowed = "a metric that observes one sample at a time, such as one that asks a judge"
            raise ParameterError(self.name, "metric", self.metric, allowed)

    @cached_property
    def inner(self) -> Metric:
        """The other metric, with this one's judge, language and prompts where it names none."""
        inner = load_metric(self.metric)
        if not isinstance(inner, JudgeMetric):
            return inner
        shared = {
            name: getattr(self, name)
            for name in ("judge", "language", "prompts")
            if getattr(inner, name) is None
        }
        return replace(inner, **shared)

    async def score_part(self, **columns: Any) -> PartScore:
        """The other metric's `score` of a part of a sample that has these inputs."""
        observed = self.inner.observe(**columns)  # type: ignore[attr-defined]  # checked above
        row = await observed if inspect.isawaitable(observed) else observed
        row, step = row if isinstance(row, WithTrace) else (row, {})
        if row is None or isinstance(row, Unscored):
            return PartScore(float("nan"), row or Unscored("the metric gives no reason"), step)
        return PartScore(_score(self.inner, row), None, step)

    def requires(self) -> tuple[str, ...]:
        """The other metric's."""
        return self.inner.requires()

    def models(self) -> tuple[str, ...]:
        """The judge, if the other metric asks one."""
        inner = self.inner
        return ("judge",) if isinstance(inner, JudgeMetric) and "judge" in inner.models() else ()

    def questions(self) -> Questions:
        """Those of the other metric."""
        return self.inner.questions() if isinstance(self.inner, JudgeMetric) else {}

    def prompt(self, name: str) -> Prompt:
        """The other metric's."""
        inner = self.inner
        return inner.prompt(name) if isinstance(inner, JudgeMetric) else super().prompt(name)

    def resolved(self) -> Mapping[str, object]:
        """The other metric with all its parameters and the version of its numbers."""
        return {"metric": f"{self.inner.label()}|definition:{self.inner.card.definition}"}

    def __getstate__(self) -> dict[str, Any]:
        """The fields to pickle: the other metric is made again elsewhere."""
        return {name: value for name, value in super().__getstate__().items() if name != "inner"}

    def _english(self, name: str) -> Path:
        if isinstance(self.inner, JudgeMetric):
            return self.inner._english(name)  # noqa: SLF001  # of the base class
        return super()._english(name)

    def _check_prompts(self) -> None:
        """The other metric checks them."""


def _score(metric: Metric, row: Any) -> float:
    """The score of one sample, from the number or the statistics that were observed of it."""
    statistics = row if isinstance(row, Mapping) else {"score": row}
    method = "score_samples" if has_sample_scores(metric) else "score"
    counted = {**statistics, "count": 1.0} if takes_count(metric, method) else statistics
    arrays = {name: np.asarray(value, np.float64) for name, value in counted.items()}
    with np.errstate(all="ignore"):
        return float(getattr(metric, method)(**arrays)["score"])


@dataclass(frozen=True, kw_only=True)
class ProposedCriteria(JudgeMetric):
    """The number of criteria that a judge proposes for a sample; its trace has them.

    Attributes:
        sees: The inputs that the judge sees: the question, and a good answer if there is one.
    """

    asks: ClassVar[Questions] = {"extract": ("proposed_criteria",)}

    card = Card("criteria", "", "", ("question",), {"score": Scale(0)}, judge="model")

    sees: tuple[str, ...] = ("question", "reference")

    def inputs(self) -> tuple[str, ...]:
        """The inputs that the judge sees."""
        return self.sees

    async def observe(self, /, **texts: str) -> WithTrace | Unscored:
        """The criteria of one sample."""
        if missing := missing_input({"question": texts["question"]}):
            return missing
        shown: dict[str, Any] = {name: text for name, text in texts.items() if text.strip()}
        proposed = await self.extract("proposed_criteria", **shown)
        return WithTrace({"score": len(proposed)}, {"criteria": proposed})
