"""Files with people's ratings: the scores of their samples, by metrics or from columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from metrichub import Hub
from metrichub.agreement.correlation import with_sources
from metrichub.agreement.mqm import rater_span_scores
from metrichub.agreement.of_report import judges_of, scores_by_label, sources_of, usual_labels
from metrichub.agreement.options import RatingOptions
from metrichub.agreement.rating_matrix import ITEMS, SYSTEMS
from metrichub.catalog.frontmatter import BETTER
from metrichub.catalog.parameters import parameters_of
from metrichub.catalog.registry import registry
from metrichub.cli.measuring import JudgeOptions, measure
from metrichub.cli.output import progress
from metrichub.cli.shared_options import MetricOptions
from metrichub.data import columns as names
from metrichub.data.columns import column_of, resolve
from metrichub.data.samples import Samples
from metrichub.errors import (
    InputError,
    MetrichubError,
    MissingColumn,
    ScoringError,
    did_you_mean,
    without_warnings,
)

if TYPE_CHECKING:
    from metrichub import Report
    from metrichub.agreement.agreement import Agreement

_REFERENCES = "references"
_MARK = re.compile("</?v>")


@dataclass
class RatedScores:
    """Scores of a file's samples by label, and the reports that they come from.

    `averaged` are the metrics whose scores are means over single references.
    """

    scores: dict[str, Any] = field(default_factory=dict)
    better: dict[str, str] = field(default_factory=dict)
    reports: list[Report] = field(default_factory=list)
    averaged: list[str] = field(default_factory=list)

    def cited(self, agreement: Agreement) -> Agreement:
        """The agreement with signatures, BibTeX, and how well judges agree with themselves."""
        signatures: dict[str, str] = {}
        citations, judges = [], []
        for report in self.reports:
            lines, bibtex = sources_of(report, agreement.metrics)
            signatures |= lines
            citations += bibtex
            judges += judges_of(report, agreement.metrics, agreement.confidence)
        for name in self.averaged:
            signatures[name] += "|mean of each"
        return with_sources(agreement, signatures, citations, judges=judges)


def column(samples: Samples, name: str) -> Sequence[Any]:
    """A column of the file.

    Raises:
        MissingColumn: there is none of this name; the text has near ones.
    """
    if name not in samples:
        columns = ", ".join(samples)
        raise MissingColumn(
            f"{samples.path}: there is no column {name!r}{did_you_mean(name, samples)} "
            f"(columns: {columns})"
        )
    return samples[name]


def one_row_an_output(
    samples: Samples, rater: str, keys: Iterable[str], ratings: Iterable[str]
) -> Samples:
    """The samples of a file that has a row for each rater, with lists of ratings instead."""
    column(samples, rater)
    labels = list(zip(*(column(samples, key) for key in keys), strict=True))
    rows: dict[Any, list[int]] = {}
    for at, label in enumerate(labels):
        rows.setdefault(label, []).append(at)
    outputs = samples.take([places[0] for places in rows.values()])
    by_rater = {
        name: [[values[at] for at in places] for places in rows.values()]
        for name, values in ((name, column(samples, name)) for name in ratings)
    }
    return replace(outputs, columns={**outputs.columns, **by_rater})


def one_row_an_error(
    samples: Samples, keys: Sequence[str], severity: str, category: str | None, rater: str | None
) -> Samples:
    """The samples of a file that has a row for each error that a rater marked, with a column "mqm".

    It has a score a rater. Marks of an error in the texts, `<v>` and `</v>`, are left out.
    """
    outputs = one_row_an_output(samples, severity, keys, ())
    segments = list(zip(*(column(samples, key) for key in keys), strict=True))
    categories = column(samples, category) if category else None
    raters = column(samples, rater) if rater else None
    scores = rater_span_scores(segments, column(samples, severity), categories, raters)
    columns: dict[str, list[Any]] = {
        name: [_MARK.sub("", value) if isinstance(value, str) else value for value in values]
        for name, values in outputs.columns.items()
    }
    columns["mqm"] = [list(scores[segment].values()) for segment in dict.fromkeys(segments)]
    return replace(outputs, columns=columns)


def labels(
    samples: Samples, rated: RatingOptions
) -> tuple[Sequence[Any] | None, Sequence[Any] | None]:
    """The item and the system of every sample, by the columns that were named or are usual."""
    return (
        column(samples, rated.item) if rated.item else usual_labels(samples, ITEMS),
        column(samples, rated.system) if rated.system else usual_labels(samples, SYSTEMS),
    )


def directions_of(rated: RatingOptions) -> dict[str, str]:
    """The directions of columns of scores, by `--better`."""
    directions = {name: "higher" for name in rated.score}
    for text in rated.better:
        name, _, direction = text.rpartition("=")
        if name not in directions or direction not in BETTER:
            raise click.UsageError(
                f"--better {text}: write COLUMN=higher, lower or neither, where COLUMN is a "
                f"--score{did_you_mean(name, rated.score)}"
            )
        directions[name] = direction
    return directions


def scores_of_metrics(
    hub: Hub,
    samples: Samples,
    chosen: MetricOptions,
    judging: JudgeOptions,
    *,
    each_reference: bool = False,
    all_outputs: bool = False,
) -> RatedScores:
    """The scores that a hub's metrics give the samples.

    With `each_reference`, metrics that read references see each alone, and a sample's score is the
    mean; the others run once.
    """
    of_references = [m for m in hub.metrics if _REFERENCES in map(column_of, m.inputs())]
    each = of_references if each_reference else []
    total = RatedScores(averaged=[metric.name for metric in each])
    for metrics in (each, [metric for metric in hub.metrics if metric not in each]):
        if not metrics:
            continue
        part = Hub(metrics, reduce=hub.reduce)
        inputs, rows = samples, None
        if metrics is each:
            inputs, rows = _one_reference_a_row(part, samples, chosen.columns)
        (report,) = measure(part, {samples.path: [inputs]}, chosen, judging, texts=True).values()
        scores, better = scores_by_label(report, all_outputs=all_outputs)
        if rows is not None:
            scores = {name: _means(values, rows, samples.size) for name, values in scores.items()}
        total.scores |= scores
        total.better |= better
        total.reports.append(report)
    order = [metric.name for metric in hub.metrics]
    names = sorted(total.scores, key=lambda label: order.index(label.partition(".")[0]))
    total.scores = {label: total.scores[label] for label in names}
    return total


def candidates(
    columns: Iterable[str],
    mapping: Mapping[str, str],
    services: Mapping[str, Any],
    reduce: Any = None,
) -> list[Hub]:
    """A hub of each installed metric that columns allow, without a model of its own.

    `services` may have a judge and an embedder; without them no metric is there that asks one.
    """
    names, hubs = list(columns), []
    for entry in registry().entries:
        with suppress(MetrichubError):
            asks = {"judge": entry.card.judge, "embedder": entry.card.embedder}
            if entry.lacking or any(asks[name] and name not in services for name in asks):
                continue
            if all(parameter.name != "model" for parameter in parameters_of(entry.load())):
                hub = Hub(entry.qualified, reduce=reduce, **services)
                resolve(hub.needs(), names, mapping)
                hubs.append(hub)
    return hubs


def scores_of_candidates(
    samples: Samples, chosen: MetricOptions, judging: JudgeOptions, rated: str
) -> RatedScores:
    """The scores of all outputs of every metric that the samples allow; see `candidates`.

    None reads the ratings. What fails reads something else in a column, such as calls.

    Raises:
        UsageError: they would need more calls of a judge than the budget has.
    """
    names = [name for name in samples if name != rated]
    hubs = candidates(names, chosen.columns, judging.for_hub(), chosen.reduce)
    calls = 0
    for hub in hubs if judging.max_calls is not None else ():
        with suppress(InputError):
            calls += hub.estimate(samples, columns=chosen.columns, repeats=judging.repeats).calls
    if judging.max_calls is not None and calls > judging.max_calls:
        more = f"more than --max-calls {judging.max_calls}; name metrics with -m and --choose"
        raise click.UsageError(f"the metrics need about {calls:,} calls of the judge, {more}")
    total = RatedScores()
    run = {"columns": chosen.columns, "workers": chosen.workers, **judging.for_run()}
    with progress(lambda: samples.size * len(hubs)) as advance:
        for hub in hubs:
            with suppress(InputError, ScoringError), without_warnings(notes=False):
                report = hub.evaluate(samples, texts=True, progress=advance, **run)
                scores, better = scores_by_label(report, all_outputs=True)
                total.scores |= scores
                total.better |= better
                total.reports.append(report)
    return total


def _one_reference_a_row(
    hub: Hub, samples: Samples, columns: Mapping[str, str]
) -> tuple[Samples, list[int]]:
    """The samples with one reference per row, and the sample of every row."""
    name = names.resolve(hub.needs(), samples, columns)[_REFERENCES]
    lists = [value if isinstance(value, (list, tuple)) else [value] for value in samples[name]]
    rows = [at for at, texts in enumerate(lists) for _ in texts]
    repeated = samples.take(rows)
    references = [text for texts in lists for text in texts]
    return replace(repeated, columns={**repeated.columns, name: references}), rows


def _means(values: Any, rows: Sequence[int], size: int) -> Any:
    """The mean score of each sample's rows, of those that have a score."""
    scored = ~np.isnan(values)
    sums = np.bincount(rows, np.where(scored, values, 0), minlength=size)
    with np.errstate(invalid="ignore"):
        return sums / np.bincount(rows, scored, minlength=size)
