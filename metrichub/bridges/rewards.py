"""Metrics as rewards in training: functions for TRL's trainers, for verl, and for verifiers.

GRPOTrainer(..., reward_funcs=bridges.rewards.reward("token_f1", references="answer"))
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from metrichub import Hub, Report
from metrichub.authoring import Metric
from metrichub.data.columns import column_of_alias
from metrichub.errors import Doubt, DoubtfulScore, SpecError, did_you_mean, without_warnings
from metrichub.evaluation.observation import is_async
from metrichub.evaluation.reuse import nothing_reused

__all__ = ["compute_score", "reward", "rubric_function"]

_LOOKED_AT = 100
"""Doubts are looked for in so many calls of a function, then in one of so many."""
_OF_TRL = ("prompts", "completions", "completion_ids", "environments")
_OF_VERIFIERS = ("prompt", "completion", "answer")


class _Rows(NamedTuple):
    """What a trainer asks to reward, and its other columns by name."""

    prompts: Sequence[Any]
    completions: Sequence[Any]
    others: Mapping[str, Any]


def reward(
    metric: str | Metric | Hub,
    *,
    references: str | None = None,
    columns: Mapping[str, str] | None = None,
    output: str = "score",
    **settings: Any,
) -> Callable[..., Any]:
    """A reward function of TRL's trainers: from completions to a number for each, or None.

    `references` names the column of the data set with the references, `columns` the others that
    the metric reads, as {"sources": "article"}; without, they are found by their usual names. The
    prompts are the questions, and with the completions the messages. `settings` are those of
    `Hub`, such as `extract="boxed"` or `judge="openai(…)"`; with a judge the function is a
    coroutine. The reward is the metric's `output`, or minus that where less is better.

    A completion without a score, such as one on which a judge failed, has None, so that TRL leaves
    it out. The share of these is logged as "NAME/unscored".

    Raises:
        SpecError: several metrics, no such output, or neither more nor less of it is better.
    """
    named = {"references": references} if references else {}
    scorer = _Scorer(metric, output, {**(columns or {}), **named}, settings)

    def rows(of_step: Mapping[str, Any]) -> _Rows:
        lists = {n: v for n, v in of_step.items() if isinstance(v, list) and n not in _OF_TRL}
        return _Rows(of_step["prompts"], of_step["completions"], lists)

    def rewards(values: list[float | None], of_step: Mapping[str, Any]) -> list[float | None]:
        if "log_metric" in of_step and values:
            of_step["log_metric"](f"{scorer.name}/unscored", values.count(None) / len(values))
        return values

    return scorer.function(rows, rewards)


def compute_score(
    metric: str | Metric | Hub,
    *,
    columns: Mapping[str, str] | None = None,
    output: str = "score",
    unscored: float = 0.0,
    **settings: Any,
) -> Callable[..., Any]:
    """A `compute_score` of verl: from a solution to {"score": …, "unscored": 0.0 or 1.0}.

    The ground truth is the reference, or the references; other columns are looked up in
    `extra_info`. A solution without a score gets `unscored`. The rest is as in `reward`.
    """

    def rows(of_call: Mapping[str, Any]) -> _Rows:
        others = {name: [value] for name, value in (of_call.get("extra_info") or {}).items()}
        others["references"] = [of_call["ground_truth"]]
        return _Rows([""], [of_call["solution_str"]], others)

    def score(values: list[float | None], _: Mapping[str, Any]) -> dict[str, float]:
        (value,) = values
        missing = value is None
        return {"score": unscored if value is None else value, "unscored": float(missing)}

    return _Scorer(metric, output, columns or {}, settings).function(rows, score)


def rubric_function(
    metric: str | Metric | Hub,
    *,
    columns: Mapping[str, str] | None = None,
    output: str = "score",
    unscored: float = 0.0,
    **settings: Any,
) -> Callable[..., Any]:
    """A function of a `Rubric` of verifiers, or for a `@vf.reward`: from a completion to a number.

    It takes `completion`, a text or messages, and by name what the metric reads beside it:
    `answer` is the reference, `prompt` the question. A completion without a score gets `unscored`.
    The rest is as in `reward`.
    """

    def rows(of_call: Mapping[str, Any]) -> _Rows:
        others = {name: [value] for name, value in of_call.items() if name not in _OF_VERIFIERS}
        if of_call.get("answer") is not None:
            others["references"] = [of_call["answer"]]
        return _Rows([of_call.get("prompt", "")], [of_call["completion"]], others)

    def score(values: list[float | None], _: Mapping[str, Any]) -> float:
        (value,) = values
        return unscored if value is None else value

    return _Scorer(metric, output, columns or {}, settings).function(rows, score)


class _Scorer:
    """One output of one metric as a reward."""

    def __init__(
        self,
        metric: str | Metric | Hub,
        output: str,
        columns: Mapping[str, str],
        settings: Mapping[str, Any],
    ) -> None:
        self.hub = metric if isinstance(metric, Hub) else Hub(metric, **settings)
        if len(self.hub.metrics) != 1:
            raise SpecError("a reward is one metric; give the trainer a function for each")
        (only,) = self.hub.metrics
        if output not in only.outputs():
            near = did_you_mean(output, only.outputs())
            raise SpecError(f"{only.name} has no output {output!r}{near}")
        better = only.card.better(output)
        if better == "neither":
            raise SpecError(
                f"{only.name}.{output} can't be a reward: neither more nor less is better"
            )
        self.name, self.output, self.columns = only.name, output, columns
        self.sign = -1.0 if better == "lower" else 1.0
        self._calls, self._warned = 0, set[str]()

    def function(
        self,
        rows: Callable[[Mapping[str, Any]], _Rows],
        result: Callable[[list[float | None], Mapping[str, Any]], Any],
    ) -> Callable[..., Any]:
        """A function of named arguments with the metric's name; a coroutine with a judge."""
        options: Any = {"columns": self.columns, "texts": False, "keep": []}

        def called(**arguments: Any) -> Any:
            with without_warnings(notes=self._looks()), nothing_reused():
                report = self.hub.evaluate(self._table(rows(arguments)), **options)
            return result(self._rewards(report), arguments)

        async def awaited(**arguments: Any) -> Any:
            with without_warnings(notes=self._looks()):
                report = await self.hub.aevaluate(self._table(rows(arguments)), **options)
            return result(self._rewards(report), arguments)

        function: Callable[..., Any] = awaited if is_async(self.hub.metrics[0]) else called
        function.__name__ = function.__qualname__ = self.name
        return function

    def _looks(self) -> bool:
        self._calls += 1
        return self._calls <= _LOOKED_AT or not self._calls % _LOOKED_AT

    def _table(self, rows: _Rows) -> dict[str, Any]:
        """The columns that the metric reads, by the names of the data set."""
        needs, chosen = self.hub.needs(), set(self.columns.values())
        table: dict[str, Any] = {}
        if "questions" in needs:
            table["questions"] = list(map(_text_of, rows.prompts))
        if "messages" in needs:
            pairs = zip(rows.prompts, rows.completions, strict=True)
            table["messages"] = [_messages(p, "user") + _messages(c, "assistant") for p, c in pairs]
        for name, values in rows.others.items():
            if name in chosen or column_of_alias(name) in needs.keys() - {"predictions"}:
                table[name] = values
        return table | {"predictions": list(map(_text_of, rows.completions))}

    def _rewards(self, report: Report) -> list[float | None]:
        """The reward of each sample; None without a score."""
        for note in report.notes().get(self.name, ()):
            check = note.check if isinstance(note, Doubt) else ""
            if check and check not in self._warned:
                self._warned.add(check)
                warnings.warn(f"{self.name}: {note}", DoubtfulScore, stacklevel=3)
        scores = report.samples()[self.name][self.output].tolist()
        return [None if math.isnan(score) else self.sign * score for score in scores]


def _messages(item: Any, role: str) -> list[Any]:
    return [{"role": role, "content": item}] if isinstance(item, str) else list(item)


def _text_of(item: Any) -> str:
    """A text as it is; of messages the text of the last."""
    if isinstance(item, str) or not item:
        return item or ""
    content = item[-1].get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)
