"""Reports written as JSON files: no pickle, whole or not at all."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from metrichub.catalog.parameters import off_default
from metrichub.catalog.registry import origin
from metrichub.catalog.spec import Spec
from metrichub.data.files import replacing, write_text
from metrichub.data.values import json_value
from metrichub.errors import ReportError, what
from metrichub.evaluation.buckets import BucketSizes
from metrichub.evaluation.facts import FACTS
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.result import Result
from metrichub.metric import Array

ANY_FORMAT = "metrichub-report-"
FORMAT = f"{ANY_FORMAT}1"
PACKED = ".gz"


def save(report: Measurement, path: str | Path) -> None:
    """Write a report; see `Report.save`."""
    text = f"{file_text(report)}\n"
    if Path(path).suffix.lower() != PACKED:
        write_text(path, text)
        return
    with replacing(path) as new:
        # Without the time, so that one report has one file.
        new.write_bytes(gzip.compress(text.encode("ascii"), mtime=0))


def file_text(report: Measurement) -> str:
    """The text of a report's file.

    Raises:
        ReportError: a metric's parameters or rows can't be written as JSON.
    """
    return _json(
        lambda: {
            "format": FORMAT,
            # Facts, to whose values the places are given here.
            "segments": (),
            "candidates": {},
            **_statistics(report),
            "prompts": _prompts(report),
            "evidence": json_value(report.traces),
            **{
                fact.name: json_value(report.facts.get(fact.name, fact.empty))
                for fact in FACTS
                if fact.read and (not fact.rare or report.facts.get(fact.name))
            },
        }
    )


def statistics(report: Measurement) -> str:
    """What two equal reports share, as text: statistics and signatures.

    Raises:
        ReportError: a metric's parameters or rows can't be written as JSON.
    """
    return _json(lambda: _statistics(report))


def _statistics(report: Measurement) -> dict[str, Any]:
    return {
        "size": report.size,
        "results": {name: _plain(result) for name, result in report.results.items()},
        "runs": {name: [_plain(run) for run in runs] for name, runs in report.runs.items()},
        "buckets": _buckets(report.buckets),
    }


def _json(parts: Callable[[], Mapping[str, Any]]) -> str:
    try:
        # ASCII only: a lone surrogate in a row has no UTF-8.
        return json.dumps(parts(), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ReportError(f"the report can't be written as JSON: {error}") from error


def _plain(result: Result) -> dict[str, Any]:
    entry = origin(type(result.metric))
    # A judge or embedder that was given as an object is kept as the spec that it says it is.
    parameters = {key: getattr(v, "label", v) for key, v in off_default(result.metric).items()}
    spec = Spec(entry.qualified if entry else result.metric.card.name, parameters)
    saved = result.saved()
    plain = {name: encode(saved[name]) for name, encode in _ENCODED.items() if name in saved}
    return {
        "metric": spec.metric,
        "parameters": spec.parameters,
        "signature": str(result.signature),
        "count": result.count,
        "unscored": result.unscored,
        "reasons": result.reasons,
        "unanswered": result.unanswered,
        "scores": json_value(result.scores()),
        **saved,
        **plain,
    }


def _prompts(report: Measurement) -> list[dict[str, Any]]:
    """Each prompt once, with the metrics whose judge it was for."""
    prompts: dict[tuple[str, str], dict[str, Any]] = {}
    for metric, templates in report.prompts().items():
        for name, template in templates.items():
            prompt = {"name": name, "metrics": [], **template}
            prompts.setdefault((name, json.dumps(template)), prompt)["metrics"].append(metric)
    return list(prompts.values())


def _buckets(buckets: BucketSizes | None) -> dict[str, Any] | None:
    if buckets is None:
        return None
    prints = {name: values.tolist() for name, values in buckets.prints.items()}
    return {"key": buckets.key, "sizes": buckets.sizes.tolist(), "prints": prints}


def _tagged(value: object) -> object:
    """Part of a row in the types of JSON; tuples, mappings and `nan` come back as they are."""
    if type(value) is tuple:
        return {"tuple": [_tagged(item) for item in value]}
    if isinstance(value, list):
        return [_tagged(item) for item in value]
    if isinstance(value, dict):
        return {"mapping": [[_tagged(key), _tagged(item)] for key, item in value.items()]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    if isinstance(value, np.ndarray):
        return {"array": [value.dtype.str, _tagged(value.tolist())]}
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError(f"a row holds {what(value)}")


def _arrays(arrays: Mapping[str, Array]) -> dict[str, Any]:
    return {
        name: {"type": array.dtype.kind, "shape": array.shape, "values": array.ravel().tolist()}
        for name, array in ((name, np.asarray(values)) for name, values in arrays.items())
    }


_ENCODED: dict[str, Callable[[Any], Any]] = {
    "totals": _arrays,
    "statistics": _arrays,
    "buckets": _arrays,
    "rows": lambda rows: [_tagged(row) for row in rows],
    "final": json_value,
}
"""How a file holds the parts of a result that aren't JSON as they are."""
