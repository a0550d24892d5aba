"""The file of single instances that Every Eval Ever keeps beside an aggregate: right or wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from metrichub.data.columns import column_of_alias
from metrichub.data.files import write_text
from metrichub.errors import MissingColumn, ParameterError, ReportError
from metrichub.report.report import Report

_INPUTS = ("questions", "sources")


class Ids(NamedTuple):
    """What joins instances and their aggregate."""

    schema: str
    evaluation: str
    dataset: str
    model: str

    def lines(self, report: Report, metric: str, correct_at: float | None, key: str) -> list[Any]:
        """An object of the schema for each sample that the metric scores.

        Raises:
            ReportError: no samples were kept, or the report has no such metric.
            MissingColumn: there is neither a question nor a source.
            ParameterError: scores other than 0 and 1 without a score that is right.
        """
        if metric not in report.results:
            raise ReportError(f"no metric {metric!r} in this report; it has {', '.join(report)}")
        texts = report.texts
        if texts is None:
            raise ReportError("instances need the samples: evaluate with samples=True, texts=True")
        scores = report.samples()[metric]["score"].tolist()
        if correct_at is None and not {s for s in scores if not math.isnan(s)} <= {0.0, 1.0}:
            allowed = f"the least score of {metric} that counts as right, as it isn't always 0 or 1"
            raise ParameterError(None, "correct_at", correct_at, allowed)
        raised = report.results[metric].metric.card.better("score") == "lower"
        asked, names = _asked(report), report.metadata.get(key)
        found = []
        for sample, score in enumerate(scores):
            if math.isnan(score):
                continue
            limit = 1.0 if correct_at is None else correct_at
            right = score <= limit if raised and correct_at is not None else score >= limit
            given = texts[sample]
            raw = asked[sample] if asked is not None else _raw(given)
            one = {"sample_id": str(sample if names is None else names[sample])}
            found.append(self._line(one, raw, given, metric) | _evaluation(score, right))
        return found

    def _line(
        self, one: Mapping[str, str], raw: str, given: Mapping[str, Any], metric: str
    ) -> dict[str, Any]:
        predictions = _listed(given["predictions"])
        return {
            "schema_version": self.schema,
            "evaluation_id": self.evaluation,
            "model_id": self.model,
            "evaluation_name": self.dataset,
            "evaluation_result_id": f"{self.dataset}/{metric}",
            **one,
            "interaction_type": "single_turn",
            "input": {"raw": raw, "reference": _listed(given.get("references", []))},
            "output": {"raw": predictions},
            "messages": None,
            "answer_attribution": [
                {
                    "turn_idx": 0,
                    "source": "output.raw",
                    "extracted_value": text,
                    "extraction_method": "none",
                    "is_terminal": True,
                }
                for text in predictions
            ],
        }


def write_lines(path: str | Path, lines: Sequence[Any]) -> None:
    """Write objects, one a line."""
    dumped = (json.dumps(line, ensure_ascii=False, allow_nan=False) for line in lines)
    write_text(path, "".join(f"{line}\n" for line in dumped))


def _evaluation(score: float, right: bool) -> dict[str, Any]:
    return {"evaluation": {"score": score, "is_correct": right}}


def _asked(report: Report) -> Sequence[str] | None:
    """What was asked, where no metric read it but the report has kept it."""
    for name, values in report.metadata.items():
        if column_of_alias(name) in _INPUTS and all(isinstance(text, str) for text in values):
            return [str(text) for text in values]
    return None


def _raw(given: Mapping[str, Any]) -> str:
    for name in _INPUTS:
        if name in given:
            return "\n".join(_listed(given[name]))
    raise MissingColumn(
        "instances need what the model was asked, questions or sources, and the report keeps "
        "neither; evaluate with keep=['id', 'question']"
    )


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
