"""inspect: scores for a log, for inspect to apply and show.

report = hub.evaluate(metrichub.read("run.eval"))
bridges.inspect_ai.write_scores(report, "scores.jsonl")
scorer = precomputed_scores("scores.jsonl", metrics=bridges.inspect_ai.metrics(report))
inspect_ai.score(read_eval_log("run.eval"), scorer)
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from metrichub import Report
from metrichub.data.files import write_text
from metrichub.errors import MissingDependency, ReportError

__all__ = ["metrics", "write_scores"]


def write_scores(
    report: Report,
    path: str | Path,
    *,
    ids: Sequence[Any] | None = None,
    epochs: Sequence[int] | None = None,
) -> None:
    """Write the scores of every sample as `precomputed_scores` of inspect reads them (.jsonl).

    Ids and epochs are by default those that the report kept from inspect's log. A sample without a
    score has none in inspect either.

    Raises:
        ReportError: the report is pooled, or its samples have no ids.
    """
    ids = _column(report, "id", ids)
    epochs = _column(report, "epoch", epochs) if epochs or "epoch" in report.metadata else None
    samples = report.samples()
    records = []
    for number, sample in enumerate(ids):
        value = {name: float(scores["score"][number]) for name, scores in samples.items()}
        why = {name: result.why(number) for name, result in report.results.items()}
        record: dict[str, Any] = {"id": sample}
        if epochs is not None:
            record["epoch"] = epochs[number]
        # inspect takes null for 0, and NaN, which it reads as Python writes it, for no score.
        record["value"] = value
        if reasons := {name: reason for name, reason in why.items() if reason}:
            record["metadata"] = {"unscored": reasons}
        records.append(f"{json.dumps(record)}\n")
    write_text(path, "".join(records))


def metrics(report: Report) -> dict[str, list[Any]]:
    """The `metrics` argument of `precomputed_scores`: what inspect shows for each metric.

    For a macro metric, that is inspect's own mean, with its standard error. For others, the mean of
    the samples isn't the score; inspect shows the corpus score as "corpus", or nothing if it
    applies the scores to other samples than those of the report.
    """
    try:
        from inspect_ai.scorer import mean, stderr
    except ImportError:
        raise MissingDependency("metrichub.bridges.inspect_ai", "inspect_ai") from None
    ids = list(map(str, _column(report, "id", None)))
    shown: dict[str, list[Any]] = {}
    for name, result in report.results.items():
        scores = report.samples()[name]["score"].tolist()
        left_out = {
            sample_id for sample_id, score in zip(ids, scores, strict=True) if math.isnan(score)
        }
        scored = {
            sample_id for sample_id, score in zip(ids, scores, strict=True) if not math.isnan(score)
        }
        # Of samples with a score in some epochs only, inspect would take the mean of means.
        even = not left_out & scored
        if result.metric.averaging == "macro" and even:
            shown[name] = [mean(), stderr()]
        else:
            shown[name] = [_corpus()(score=result.scores()["score"], samples=len(scored))]
    return shown


def _column(report: Report, name: str, values: Sequence[Any] | None) -> Sequence[Any]:
    column = report.metadata.get(name) if values is None else values
    if column is None:
        raise ReportError(
            f"the report's samples have no column {name!r}; score an inspect log, or pass {name}s"
        )
    if len(column) != report.size:
        raise ReportError(f"{len(column)} {name}s are given for {report.size} samples")
    return column


@cache
def _corpus() -> Any:
    """A metric of inspect that shows a corpus score which is known."""
    from inspect_ai.scorer import metric

    @metric(name="corpus")  # type: ignore[untyped-decorator]  # inspect isn't a dependency
    def corpus(score: float, samples: int) -> Any:
        def shown(scores: Sequence[Any]) -> float:
            return score if len(scores) == samples else float("nan")

        return shown

    return corpus
