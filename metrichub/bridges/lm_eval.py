"""lm-evaluation-harness: the functions and YAML lines that a task needs for other metrics.

    # scores.py, next to the YAML
    globals().update(bridges.lm_eval.functions(["bleu", "rouge"], references="answers"))

Metrics aren't registered with the harness, because it would turn each score into 0 or 1 if there
are several targets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from metrichub import Hub
from metrichub.authoring import Metric
from metrichub.bridges._hub_scores import (
    Metrics,
    OutputChoice,
    check_outputs,
    flat,
    hub_of,
    keys_of,
)
from metrichub.data import columns as names
from metrichub.errors import InputError, MetricError, what

__all__ = ["functions", "yaml"]

Functions = dict[str, Callable[..., Any]]


def functions(metrics: Metrics, *, outputs: OutputChoice = "score", **columns: str) -> Functions:
    """`process_results` and an aggregation for each score, under the names that `yaml` writes.

    `columns` map columns to fields of a document: references="answers"; fields with usual names are
    recognized. The prediction is the filter's output, or several.

    Raises:
        MetricError: a metric has the name of another of these functions.
    """
    check_outputs(outputs)
    hub = hub_of(metrics)
    needs = {column: name for column, name in hub.needs().items() if column != "predictions"}
    by_name: Functions = {"process_results": partial(_process, hub, outputs, needs, columns)}
    for metric in hub.metrics:
        for key in keys_of(metric, outputs, metric.outputs()):
            if key in by_name:
                raise MetricError(f"two functions would be called {key!r}; give the metric a name")
            by_name[key] = partial(_corpus, metric, key, outputs)
    return by_name


def yaml(metrics: Metrics, *, module: str = "scores", outputs: OutputChoice = "score") -> str:
    """The lines for the task's YAML, with the functions in `module`.py next to it."""
    check_outputs(outputs)
    lines = [f"process_results: !function {module}.process_results", "metric_list:"]
    for metric in hub_of(metrics).metrics:
        for key, output in keys_of(metric, outputs, metric.outputs()).items():
            lines += [f"  - metric: {key}", f"    aggregation: !function {module}.{key}"]
            better = metric.card.better(output)
            if better != "neither":
                lines.append(f"    higher_is_better: {str(better == 'higher').lower()}")
    return "".join(f"{line}\n" for line in lines)


def _process(
    hub: Hub,
    outputs: OutputChoice,
    needs: Mapping[str, str],
    mapping: Mapping[str, str],
    doc: Mapping[str, Any],
    results: Sequence[Any],
) -> dict[str, dict[str, Any]]:
    """The columns of a sample for each aggregation, in the types of JSON for the harness's log."""
    prediction = results[0] if results else None
    texts = prediction if isinstance(prediction, list) else [prediction]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise InputError(
            f"the harness returned {what(prediction)}, not text; metrics need tasks "
            "with output_type: generate_until"
        )
    chosen = names.resolve(needs, doc, mapping)
    sample = {"predictions": prediction} | {column: doc[name] for column, name in chosen.items()}
    return {
        key: {column: sample[column] for column in Hub(metric).needs()}
        for metric in hub.metrics
        for key in keys_of(metric, outputs, metric.outputs())
    }


def _corpus(metric: Metric, key: str, outputs: OutputChoice, samples: Sequence[Any]) -> float:
    """The score of all samples together."""
    return flat(Hub(metric).evaluate(list(samples), samples=False), outputs)[key]
