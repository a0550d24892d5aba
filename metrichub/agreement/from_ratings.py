"""Files with people's ratings: the scores of their samples, by metrics or as they are there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import click

from metrichub.agreement.options import RatingOptions
from metrichub.catalog.frontmatter import BETTER
from metrichub.cli.measuring import JudgeOptions, measure
from metrichub.cli.shared_options import MetricOptions
from metrichub.data import columns as names
from metrichub.data.columns import column_of
from metrichub.data.samples import Samples
from metrichub.errors import MissingColumn, did_you_mean

if TYPE_CHECKING:
    from metrichub import Hub, Report
    from metrichub.agreement.agreement import Agreement

_REFERENCES = "references"
_MARK = re.compile("</?v>")


@dataclass
class RatedScores:
    """Scores of a file's samples by their labels, with what is to be said and cited of them."""

    scores: dict[str, Any] = field(default_factory=dict)
    better: dict[str, str] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)
    citations: list[str] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)

    def cited(self, agreement: Agreement) -> Agreement:
        """Their agreement with signatures, BibTeX, and how well judges agree with themselves."""
        from metrichub.agreement.correlation import with_sources
        from metrichub.agreement.of_report import judges_of

        judges = [
            judge
            for report in self.reports
            for judge in judges_of(report, agreement.metrics, agreement.confidence)
        ]
        return with_sources(agreement, self.signatures, self.citations, judges=judges)


def column(samples: Samples, name: str) -> Sequence[Any]:
    """A column of the file.

    Raises:
        MissingColumn: there is none of this name; the text has near ones.
    """
    if name not in samples:
        known = ", ".join(samples)
        raise MissingColumn(
            f"{samples.path}: there is no column {name!r}{did_you_mean(name, samples)} "
            f"(columns: {known})"
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
    rated = {name: column(samples, name) for name in ratings}
    columns = {
        name: [
            [values[at] for at in places] if name in rated else values[places[0]]
            for places in rows.values()
        ]
        for name, values in samples.columns.items()
    }
    lines = samples.lines and [samples.lines[places[0]] for places in rows.values()]
    return replace(samples, columns=columns, lines=lines or None)


def one_row_an_error(
    samples: Samples, keys: Sequence[str], severity: str, category: str | None, rater: str | None
) -> Samples:
    """The samples of a file that has a row for each error that a rater marked, with a column "mqm".

    It has a score a rater. Marks of an error in the texts, `<v>` and `</v>`, are left out.
    """
    from metrichub.agreement.mqm import rater_span_scores

    outputs = one_row_an_output(samples, severity, keys, ())
    segments = list(zip(*(column(samples, key) for key in keys), strict=True))
    kinds, who = (column(samples, name) if name else None for name in (category, rater))
    scores = rater_span_scores(segments, column(samples, severity), kinds, who)
    unmarked = {
        name: [_MARK.sub("", value) if isinstance(value, str) else value for value in values]
        for name, values in outputs.columns.items()
    }
    rated = [list(scores[segment].values()) for segment in dict.fromkeys(segments)]
    return replace(outputs, columns={**unmarked, "mqm": rated})


def labels(
    samples: Samples, rated: RatingOptions
) -> tuple[Sequence[Any] | None, Sequence[Any] | None]:
    """The item and the system of every sample, by the columns that were named or are usual."""
    from metrichub.agreement.layout import ITEMS, SYSTEMS
    from metrichub.agreement.of_report import usual_labels

    return (
        column(samples, rated.item) if rated.item else usual_labels(samples, ITEMS),
        column(samples, rated.system) if rated.system else usual_labels(samples, SYSTEMS),
    )


def directions_of(rated: RatingOptions) -> dict[str, str]:
    """The directions of columns of scores, by `--better`."""
    return dict(_direction(text, rated.score) for text in rated.better)


def _direction(text: str, known: Sequence[str]) -> tuple[str, str]:
    name, _, direction = text.rpartition("=")
    if name not in known or direction not in BETTER:
        raise click.UsageError(
            f"--better {text}: write COLUMN=higher, lower or neither, where COLUMN is a --score"
            f"{did_you_mean(name, known)}"
        )
    return name, direction


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
    from metrichub import Hub
    from metrichub.agreement.of_report import scores_by_label, sources_of

    parts: list[tuple[list[Any], bool]] = [(list(hub.metrics), False)]
    if each_reference:
        reading = [m for m in hub.metrics if _REFERENCES in map(column_of, m.inputs())]
        parts = [(reading, True), ([m for m in hub.metrics if m not in reading], False)]
    total = RatedScores()
    for metrics, each in parts:
        if not metrics:
            continue
        part = Hub(metrics, reduce=hub.reduce)
        inputs, rows = _apart(part, samples, chosen.columns) if each else (samples, None)
        (report,) = measure(part, {samples.path: [inputs]}, chosen, judging, texts=True).values()
        scores, better = scores_by_label(report, all_outputs=all_outputs)
        signatures, citations = sources_of(report, scores)
        if rows is not None:
            scores = {name: _means(values, rows, samples.size) for name, values in scores.items()}
            signatures = {name: f"{line}|mean of each" for name, line in signatures.items()}
        total.scores |= scores
        total.better |= better
        total.signatures |= signatures
        total.citations += citations
        total.reports.append(report)
    order = [metric.name for metric in hub.metrics]
    labels = sorted(total.scores, key=lambda label: order.index(label.partition(".")[0]))
    total.scores = {label: total.scores[label] for label in labels}
    return total


def _apart(hub: Hub, samples: Samples, columns: Mapping[str, str]) -> tuple[Samples, list[int]]:
    """The samples with one reference per row, and the sample of every row."""
    name = names.resolve(hub.needs(), samples, columns)[_REFERENCES]
    lists = [value if isinstance(value, (list, tuple)) else [value] for value in samples[name]]
    rows = [at for at, texts in enumerate(lists) for _ in texts]
    repeated = {key: [values[at] for at in rows] for key, values in samples.columns.items()}
    repeated[name] = [text for texts in lists for text in texts]
    lines = samples.lines and [samples.lines[at] for at in rows]
    return replace(samples, columns=repeated, lines=lines or None), rows


def _means(values: Any, rows: Sequence[int], size: int) -> Any:
    """The mean of each sample's rows that have a score, of so many samples."""
    import numpy as np

    there = ~np.isnan(values)
    sums = np.bincount(rows, np.where(there, values, 0), minlength=size)
    with np.errstate(invalid="ignore"):
        return sums / np.bincount(rows, there, minlength=size)
