"""What `score` and `compare` share: choosing metrics, reading systems' files, measuring them."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from metrichub.catalog.requirements import optional_package
from metrichub.cli.groups import option_group
from metrichub.cli.judging import JudgeOptions
from metrichub.cli.program import Settings, note
from metrichub.cli.progress import progress
from metrichub.data import columns as names
from metrichub.data import source
from metrichub.data.files import formats
from metrichub.data.huggingface import DatasetAddress, is_address
from metrichub.data.reading import Reading
from metrichub.data.samples import Samples
from metrichub.errors import InputError, ScoringError

if TYPE_CHECKING:
    from metrichub.hub import Hub
    from metrichub.metric import Metric
    from metrichub.report.report import Report

_log = logging.getLogger("metrichub")


def _column_names(
    _: click.Context, parameter: click.Parameter, given: Sequence[str]
) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for pair in (pair for text in given for pair in re.split(r",(?=\w+=)", text)):
        column, equals, name = pair.partition("=")
        if not equals or not column or not name:
            raise click.BadParameter(
                f"{pair!r} isn't COLUMN=NAME; write for example references=gold", param=parameter
            )
        column = names.column_of_alias(column)
        if chosen.setdefault(column, name) != name:
            raise click.BadParameter(
                f"{column} is mapped to {chosen[column]!r} and to {name!r}; choose one (several "
                "references of a sample are a list in one column)",
                param=parameter,
            )
    return chosen


class _InputFormat(click.Choice[str]):
    """A format of files; plugins' are looked up when the option is used or explained."""

    def __init__(self) -> None:
        self.case_sensitive = True

    @property
    def choices(self) -> Sequence[str]:  # type: ignore[override]
        return formats()


@dataclass(frozen=True)
class MetricOptions:
    """Which metrics score which columns, and how."""

    metrics: Sequence[str]
    columns: Mapping[str, str]
    keep: Sequence[str]
    reduce: str | None
    workers: int
    input_format: str | None
    split: str | None
    subset: str | None

    def addresses(self, files: Sequence[str]) -> tuple[str, ...]:
        """The files, where an address of a data set has the split and the subset that are chosen.

        Raises:
            UsageError: there is no address that they could be chosen for.
        """
        if not (self.split or self.subset):
            return tuple(files)
        if not any(map(is_address, files)):
            raise click.UsageError("--split and --subset apply to data sets only; give hf://NAME")
        return tuple(
            str(DatasetAddress.parse(name).choosing(self.split, self.subset))
            if is_address(name)
            else name
            for name in files
        )


metric_options = option_group(
    "chosen",
    MetricOptions,
    click.option(
        "-m",
        "--metric",
        "metrics",
        metavar="SPEC",
        multiple=True,
        help="A metric: bleu, 'bleu(max_order=2)', the preset 'wer(whisper)' or 'bleu2 = "
        "bleu(max_order=2)'; or a module of Hugging Face evaluate, "
        "evaluate:./folder, whose code will run; repeatable.",
    ),
    click.option(
        "--columns",
        metavar="COLUMN=NAME",
        multiple=True,
        callback=_column_names,
        help="Which columns of the file to read: predictions=answer,references=doc.gold.0",
    ),
    click.option(
        "--keep",
        metavar="COLUMN",
        multiple=True,
        callback=lambda _, __, given: [name for names in given for name in names.split(",")],
        help="A column to keep in the report; repeatable.  [default: all with short values]",
    ),
    click.option(
        "--reduce",
        metavar="HOW",
        help="How to reduce several candidates of a sample to one score: best, worst, mean, max, "
        "min or first.  [default: best, or mean for metrics without a direction]",
    ),
    click.option(
        "--workers",
        metavar="N",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="The number of processes; the scores are the same.",
    ),
    click.option(
        "--input-format",
        type=_InputFormat(),
        help="The format of the files.  [default: by their suffixes; jsonl for stdin]",
    ),
    click.option("--split", metavar="NAME", help="The split of the data set hf://NAME to read."),
    click.option(
        "--subset", metavar="NAME", help="The subset (configuration) of the data set to read."
    ),
)
"""-m, --columns, --keep, --reduce, --workers and --input-format as `chosen`."""


CONFIDENCE = click.FloatRange(0, 1, min_open=True, max_open=True)
seed_option = click.option("--seed", type=int, default=12345, show_default=True)


@dataclass(frozen=True)
class ResamplingOptions:
    """How samples are drawn again for intervals and tests."""

    level: float
    resamples: int
    seed: int
    cluster: str | None


resampling_options = option_group(
    "resampling",
    ResamplingOptions,
    click.option(
        "--level",
        type=CONFIDENCE,
        default=0.95,
        show_default=True,
        help="The confidence level of the intervals.",
    ),
    click.option(
        "--resamples",
        type=click.IntRange(1),
        default=1000,
        show_default=True,
        help="The number of bootstrap resamples for an interval.",
    ),
    seed_option,
    click.option(
        "--cluster",
        metavar="COLUMN",
        help="Resample the samples that share a value of this column together, for example "
        "those of a document.",
    ),
)
"""--level, --resamples, --seed and --cluster as `resampling`."""


key_option = click.option(
    "--key",
    metavar="COLUMN",
    multiple=True,
    callback=lambda _, __, given: tuple(name for names in given for name in names.split(",")),
    help="For large files: keep sums in 1,000 buckets instead of every sample. COLUMN identifies "
    "a sample and decides its bucket.",
)


def chosen_hub(
    metrics: Sequence[Any], reduce: str | None, example: str, judging: JudgeOptions
) -> Hub:
    """The hub of the chosen metrics; without any the error says how to choose."""
    if not metrics:
        raise click.UsageError(
            f"no metric is chosen; add -m NAME, for example: {example} -m abstractness "
            "('metrichub list' shows all metrics)"
        )
    from metrichub.hub import Hub

    metrics = list(map(_with_module, metrics))
    hub = Hub(metrics, reduce_fn=reduce, **judging.for_hub())  # type: ignore[arg-type]  # Hub checks the word
    if settings := click.get_current_context().find_object(Settings):
        settings.asks_models = any(map(_asks_a_model, hub.metrics))
    return hub


def _with_module(metric: str | Metric) -> str | Metric:
    """The metric; a module of Hugging Face evaluate is loaded here alone, as that runs its code."""
    if not isinstance(metric, str) or "evaluate:" not in metric:
        return metric
    bridge = optional_package("metrichub.bridges.evaluate", metric)
    found: Metric | None = bridge.from_spec(metric)
    return found or metric


def _asks_a_model(metric: Metric) -> bool:
    """Whether the metric's judge or embedder is a model, whose answers are kept."""
    asked = [getattr(metric, kind, None) for kind in ("judge", "embedder")]
    if os.environ.get("METRICHUB_NO_CACHE") or not any(asked):
        return False
    from metrichub.models.resolve import about, embedder_of, judge_of

    judge, embedder = asked
    found = [judge and judge_of(judge), embedder and embedder_of(embedder)]
    return any(about(one).is_model for one in found if one)


class System(NamedTuple):
    """What was measured of a file."""

    report: Report

    @property
    def ids(self) -> Sequence[Any] | None:
        """The ids of the samples, if they have any."""
        return self.report.metadata.get("id")


def measure(
    hub: Hub,
    systems: Mapping[str, Iterable[Samples]],
    chosen: MetricOptions,
    judging: JudgeOptions,
    *,
    samples: bool = True,
    texts: bool = False,
    key: Sequence[str] = (),
) -> dict[str, System]:
    """Every system's report, one system after the other, under a progress bar."""
    needs = hub.needs()
    readings = {name: Reading(batches, needs, chosen.columns) for name, batches in systems.items()}
    measured: dict[str, System] = {}
    options, rounds = judging.for_run(), None
    if judging.batch is not None:
        from metrichub.models.batch import BatchRun

        # Of all systems together, so that each round is sent once.
        rounds = options["batch"] = BatchRun(judging.batch)
    with progress(lambda: _expected(list(readings.values()), len(hub.metrics))) as advance:
        for name, reading in readings.items():
            try:
                report = hub.evaluate(
                    iter(reading),
                    columns=chosen.columns,
                    samples=samples,
                    texts=texts,
                    workers=chosen.workers,
                    keep=chosen.keep or None,
                    key=key,
                    progress=advance,
                    **options,
                )
            except InputError as error:
                raise reading.located(error) from error
            except ScoringError as error:
                where = f"{reading.place(error.sample) or source.display_path(name)}: "
                said = ScoringError(f"{where}{error.metric}", error.problem, error.sample)
                raise said from error.__cause__
            size, found = reading.size, ", ".join(reading.columns)
            _log.info("%s: %d samples, columns %s", source.display_path(name), size, found)
            _log.info("%s: measured with %s", source.display_path(name), ", ".join(report.results))
            measured[name] = System(report)
    if rounds is not None:
        rounds.finish({name: system.report for name, system in measured.items()})
    return measured


def _expected(readings: Sequence[Reading], metrics: int) -> float | None:
    """About how much there is to do; a file that isn't begun is taken to be like the last one."""
    total, last = 0.0, None
    for reading in readings:
        if reading.size:
            last = reading.expected
        if last is None:
            return None
        total += last * metrics
    return total


def tell_notes(reports: Mapping[str, Report]) -> None:
    """Print the notes of every report on stderr, each text once for all metrics of a report."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, report in reports.items():
        for metric, notes in report.notes().items():
            for text in notes:
                found.setdefault((name, text), []).append(metric)
    told: dict[str, list[str]] = {}
    for (name, text), metrics in found.items():
        told.setdefault(f"{', '.join(metrics)}: {text}", []).append(name)
    for text, systems in told.items():
        note(text if len(systems) == len(reports) else f"{', '.join(systems)}: {text}")


def tell_unranked(reasons: Mapping[str, str]) -> None:
    """Print on stderr why no system is called the best: metric -> reason."""
    for reason, metrics in groupby(reasons, key=reasons.__getitem__):
        note(f"{', '.join(metrics)}: no winner: {reason}")
