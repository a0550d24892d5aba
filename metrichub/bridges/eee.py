"""Every Eval Ever: a report as a JSON file for its data store (schema 0.3.0).

bridges.eee.write(report, "result.json", model="mistralai/Mistral-7B-v0.1",
                  dataset="summeval", organization="a university")
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from metrichub import Interval, Report
from metrichub.authoring import JudgeMetric, Metric, judge_of
from metrichub.bridges._hub_scores import OutputChoice, check_outputs, keys_of
from metrichub.data.columns import column_of_alias
from metrichub.data.files import write_text
from metrichub.errors import MissingColumn, ParameterError, ReportError

__all__ = ["write", "write_instances"]

SCHEMA = "0.3.0"
_LEVEL, _RESAMPLES = 0.95, 1000
_INPUTS = ("questions", "sources")

Relationship = Literal["first_party", "third_party", "collaborative", "other"]
"""The relations of an evaluator to the model's maker."""
Deployment = Literal["self_deployed", "externally_managed", "unknown"]
Availability = Literal["open_weights", "closed_weights", "unknown"]


def write(  # noqa: PLR0913  # the fields of the schema, each by its name
    report: Report,
    path: str | Path,
    *,
    model: str,
    dataset: str,
    organization: str,
    relationship: Relationship = "other",
    deployment: Deployment = "unknown",
    availability: Availability = "unknown",
    url: str | Sequence[str] | None = None,
    hf_repo: str | None = None,
    split: str | None = None,
    outputs: OutputChoice = "headline",
    intervals: bool = True,
    timestamp: float | None = None,
) -> None:
    """Write a report as an aggregate file of Every Eval Ever, with a result for each score.

    `model` is its name on the Hugging Face Hub; `url` or `hf_repo` locates the data set, which
    otherwise counts as private. Outputs that are `nan` are left out. Results have bootstrap
    intervals unless `intervals` is False. `timestamp` is the time of writing, in seconds since
    1970.

    Raises:
        ReportError: no output has a score, or intervals of a pooled report.
    """
    check_outputs(outputs)
    if url is not None and hf_repo is not None:
        raise ParameterError(None, "hf_repo", hf_repo, "either url or hf_repo")
    stamp = f"{time.time() if timestamp is None else timestamp:.0f}"
    drawn = report.intervals(confidence=_LEVEL, resamples=_RESAMPLES) if intervals else {}
    source = _source(dataset, report.size, url, hf_repo, split)
    scored = {
        key: (name, output)
        for name, result in report.results.items()
        for key, output in keys_of(result.metric, outputs, result.scores()).items()
        if not math.isnan(result.scores()[output])
    }
    if not scored:
        raise ReportError("no metric has a score in this report, so there is nothing to write")
    from importlib_metadata import version

    document = {
        "schema_version": SCHEMA,
        "evaluation_id": f"{dataset}/{model}/{stamp}",
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": relationship,
        },
        "eval_library": {"name": "metrichub", "version": version("metrichub")},
        "model_info": _model_info(model, deployment, availability),
        "evaluation_results": [
            {
                "evaluation_result_id": f"{dataset}/{key}",
                "evaluation_name": dataset,
                "source_data": source,
                **_result(report, name, output, drawn.get(name, {}).get(output)),
            }
            for key, (name, output) in scored.items()
        ],
    }
    write_text(path, json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def write_instances(
    report: Report,
    path: str | Path,
    *,
    metric: str,
    model: str,
    dataset: str,
    timestamp: float,
    correct_at: float | None = None,
    key: str = "id",
) -> None:
    """Write the file of single instances (JSON Lines), which says whether each sample is right.

    One metric decides: by 0 and 1, or by `correct_at`, the lowest score that is right, or the
    highest where lower is better. `model`, `dataset` and `timestamp` are those of the aggregate.
    `key` is the column with the samples' ids; by default they are numbered. Samples without a score
    are left out.

    Raises:
        ReportError: the report keeps no samples, or doesn't have the metric.
        MissingColumn: the report has no question and no source.
        ParameterError: there are scores other than 0 and 1, and no `correct_at`.
    """
    ids = _Ids(f"{dataset}/{model}/{timestamp:.0f}", dataset, model)
    instances = _instances(report, ids, metric, correct_at, key)
    lines = (json.dumps(line, ensure_ascii=False, allow_nan=False) for line in instances)
    write_text(path, "".join(f"{line}\n" for line in lines))


def _source(
    dataset: str,
    samples: int,
    url: str | Sequence[str] | None,
    hf_repo: str | None,
    split: str | None,
) -> dict[str, Any]:
    if hf_repo is not None:
        source = {"dataset_name": dataset, "source_type": "hf_dataset", "hf_repo": hf_repo}
        return source | {"samples_number": samples} | ({"hf_split": split} if split else {})
    details = {"samples": str(samples)} | ({"split": split} if split else {})
    kind: dict[str, Any] = {"source_type": "other"}
    if url is not None:
        kind = {"source_type": "url", "url": [url] if isinstance(url, str) else list(url)}
    return {"dataset_name": dataset, **kind, "additional_details": details}


def _model_info(name: str, deployment: str, availability: str) -> dict[str, Any]:
    details = {"deployment_type": deployment, "model_availability": availability}
    return {"name": name, "id": name, "additional_details": details}


def _result(report: Report, name: str, output: str, interval: Interval | None) -> dict[str, Any]:
    result = report.results[name]
    metric, scale = result.metric, result.metric.card.scale(output)
    better = metric.card.better(output)
    config: dict[str, Any] = {
        "evaluation_description": metric.card.summary,
        "metric_id": metric.card.name if output == "score" else f"{metric.card.name}.{output}",
        "metric_name": name if output == "score" else f"{name}.{output}",
        "lower_is_better": better == "lower",
        "score_type": "continuous",
        "min_score": None if scale is None else "-Infinity" if scale.low is None else scale.low,
        "max_score": None if scale is None else "Infinity" if scale.high is None else scale.high,
        "additional_details": {
            "signature": report.signatures()[name],
            "better": better,
            "averaging": metric.averaging,
        },
    }
    if judged := _llm_scoring(metric, result.signature.templates):
        config["llm_scoring"] = judged
    details = {"samples": str(report.size), "unscored": str(result.unscored)}
    score_details: dict[str, Any] = {"score": result.scores()[output], "details": details}
    if interval and all(map(math.isfinite, (interval.low, interval.high, interval.std))):
        score_details["uncertainty"] = _uncertainty(interval, result.count)
    return {"metric_config": config, "score_details": score_details}


def _uncertainty(interval: Interval, count: int) -> dict[str, Any]:
    return {
        "standard_error": {"value": interval.std, "method": "bootstrap"},
        "confidence_interval": {
            "lower": interval.low,
            "upper": interval.high,
            "confidence_level": _LEVEL,
            "method": interval.method,
        },
        "num_samples": count,
        "num_bootstrap_samples": _RESAMPLES,
    }


def _llm_scoring(metric: Metric, prompts: Mapping[str, Any]) -> dict[str, Any] | None:
    """The models that were asked, and the prompts; None where no model was."""
    if not isinstance(metric, JudgeMetric) or metric.judge is None:
        return None
    judge = judge_of(metric.judge)
    models = [
        member for member in getattr(judge, "members", [judge]) if getattr(member, "is_model", True)
    ]
    if not models:
        return None
    return {
        "judges": [
            {"model_info": _model_info(_name(model), "unknown", "unknown")} for model in models
        ],
        "input_prompt": "\n\n".join(prompt["text"] for prompt in prompts.values()) or "unknown",
        "additional_details": {"judge": str(getattr(judge, "label", judge))},
    }


def _name(judge: object) -> str:
    return str(getattr(judge, "model", None) or getattr(judge, "label", type(judge).__name__))


class _Ids(NamedTuple):
    """The ids that join instances and their aggregate."""

    evaluation: str
    dataset: str
    model: str


def _instances(
    report: Report, ids: _Ids, metric: str, correct_at: float | None, key: str
) -> Iterator[dict[str, Any]]:
    """An object of the schema for each sample that the metric scores."""
    if metric not in report.results:
        raise ReportError(f"no metric {metric!r} in this report; it has {', '.join(report)}")
    if report.texts is None:
        raise ReportError("instances need the samples: evaluate with samples=True, texts=True")
    scores = report.samples()[metric]["score"].tolist()
    if correct_at is None and not {s for s in scores if not math.isnan(s)} <= {0.0, 1.0}:
        allowed = f"the least score of {metric} that counts as right, as it isn't always 0 or 1"
        raise ParameterError(None, "correct_at", correct_at, allowed)
    is_error = report.results[metric].metric.card.better("score") == "lower"
    inputs, names = _kept_inputs(report), report.metadata.get(key)
    for number, score in enumerate(scores):
        if math.isnan(score):
            continue
        limit = 1.0 if correct_at is None else correct_at
        is_right = score <= limit if is_error and correct_at is not None else score >= limit
        sample = report.texts[number]
        predictions = _listed(sample["predictions"])
        yield {
            "schema_version": SCHEMA,
            "evaluation_id": ids.evaluation,
            "model_id": ids.model,
            "evaluation_name": ids.dataset,
            "evaluation_result_id": f"{ids.dataset}/{metric}",
            "sample_id": str(number if names is None else names[number]),
            "interaction_type": "single_turn",
            "input": {
                "raw": _input_of(sample) if inputs is None else inputs[number],
                "reference": _listed(sample.get("references", [])),
            },
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
            "evaluation": {"score": score, "is_correct": is_right},
        }


def _kept_inputs(report: Report) -> Sequence[str] | None:
    """The questions or sources among the report's other columns, or None."""
    for name, values in report.metadata.items():
        if column_of_alias(name) in _INPUTS and all(isinstance(text, str) for text in values):
            return [str(text) for text in values]
    return None


def _input_of(sample: Mapping[str, Any]) -> str:
    for name in _INPUTS:
        if name in sample:
            return "\n".join(_listed(sample[name]))
    raise MissingColumn(
        "instances need what the model was asked, questions or sources, and the report keeps "
        "neither; evaluate with keep=['id', 'question']"
    )


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
