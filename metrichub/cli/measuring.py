"""Measuring by commands: judges, a hub, a report for each system, and its notes."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrichub.catalog.requirements import optional_package
from metrichub.cli.output import progress
from metrichub.cli.program import Settings, note, printed_aside
from metrichub.cli.shared_options import MetricOptions, option_group
from metrichub.data.columns import column_of
from metrichub.data.files import read_log
from metrichub.data.location import Location
from metrichub.data.samples import Reading, Samples, expected_work
from metrichub.errors import InputError, listed, printable
from metrichub.models.resolve import VOTE_RULES

if TYPE_CHECKING:
    from metrichub.hub import Hub
    from metrichub.metric import Metric
    from metrichub.report.report import Report

_log = logging.getLogger("metrichub")


@dataclass(frozen=True)
class JudgeOptions:
    """The judge and embedder of metrics without their own, repeats, and limits of a run."""

    judge: tuple[str, ...]
    vote: str | None
    embedder: str | None
    language: str | None
    repeats: int
    max_errors: int | None
    max_calls: int | None
    max_tokens: int | None
    max_cost: float | None
    batch: Path | None

    def for_hub(self) -> dict[str, Any]:
        """The options of `Hub`."""
        judges = list(self.judge) if len(self.judge) > 1 else next(iter(self.judge), None)
        specs = {"judge": judges} | {n: getattr(self, n) for n in ("vote", "embedder", "language")}
        return {name: spec for name, spec in specs.items() if spec}

    def for_run(self) -> dict[str, Any]:
        """The options of `Hub.evaluate`."""
        names = ("repeats", "max_errors", "max_calls", "max_tokens", "max_cost", "batch")
        return {name: getattr(self, name) for name in names}


def _without_store(_: click.Context, __: click.Parameter, value: bool) -> None:
    if value:
        # Worker processes inherit it.
        os.environ["METRICHUB_NO_CACHE"] = "1"


judge_options = option_group(
    "judging",
    JudgeOptions,
    click.option(
        "--judge",
        metavar="SPEC",
        multiple=True,
        help="Judge by \"openai(model='…')\" or offline; for all metrics that need a judge, with "
        "base_url='http://127.0.0.1:8000/v1' for your own server. offline is a word-matching "
        "baseline. Repeat it for a panel of judges that vote.  [default: METRICHUB_JUDGE]",
    ),
    click.option(
        "--vote",
        type=click.Choice(VOTE_RULES),
        help="How to combine the verdicts of several judges: by majority, or by the mean of the "
        "votes.  [default: majority]",
    ),
    click.option(
        "--embedder",
        metavar="SPEC",
        help="Compare vectors of this embedder, likewise; offline is a baseline of n-grams.  "
        "[default: METRICHUB_EMBEDDER]",
    ),
    click.option(
        "--language",
        metavar="CODE",
        help="The language of the prompts for judges, for example zh; the texts may be in any "
        "language.  [default: en]",
    ),
    click.option(
        "--repeats",
        metavar="N",
        type=click.IntRange(1),
        default=1,
        help="Run judges N times and report the standard deviation between runs.",
    ),
    click.option(
        "--max-errors",
        metavar="N",
        type=click.IntRange(0),
        help="Stop when more than N samples have failed.  [default: never]",
    ),
    click.option(
        "--max-calls",
        metavar="N",
        type=click.IntRange(1),
        help="Stop before more than N requests to judges; retries count.  [default: never]",
    ),
    click.option(
        "--max-tokens",
        metavar="N",
        type=click.IntRange(1),
        help="Stop before the calls use more than N tokens.  [default: never]",
    ),
    click.option(
        "--max-cost",
        metavar="X",
        type=click.FloatRange(0, min_open=True),
        help="Stop before the calls cost more than X at the judge's prices.  [default: never]",
    ),
    click.option(
        "--batch",
        metavar="FOLDER",
        type=click.Path(file_okay=False, path_type=Path),
        help="Write the requests for models to a file in FOLDER, for OpenAI's Batch API or vllm "
        "run-batch, instead of calling a server. Put the answers into the same folder and repeat "
        "the command until it prints scores.",
    ),
    click.option(
        "--no-cache",
        is_flag=True,
        expose_value=False,
        callback=_without_store,
        help="Don't use the call store: neither reuse nor store judges' answers or models' scores.",
    ),
)
"""--judge, --vote, --embedder, --language, --repeats and --max-… as `judging`, and --no-cache."""


def chosen_hub(
    metrics: Sequence[Any], chosen: MetricOptions, example: str, judging: JudgeOptions
) -> Hub:
    """The hub of the chosen metrics; without any the error says how to choose."""
    if not metrics:
        raise click.UsageError(
            f"no metric is chosen; add -m NAME, for example: {example} -m chrf "
            "('metrichub list' shows all metrics), or --as-recorded for the numbers in another "
            "tool's log"
        )
    from metrichub.hub import Hub

    metrics = list(map(_with_module, metrics))
    options: dict[str, Any] = {"extract": chosen.extract, "reduce": chosen.reduce}
    options["extract_references"] = chosen.extract_references
    with printed_aside():
        hub = Hub(metrics, **options, **judging.for_hub())
    if settings := click.get_current_context().find_object(Settings):
        settings.asks_models = any(map(_asks_a_model, hub.metrics))
    return hub


def _with_module(metric: str | Metric) -> str | Metric:
    """The metric; a module of Hugging Face evaluate is loaded here alone, as that runs its code."""
    if not isinstance(metric, str) or "evaluate:" not in metric:
        return metric
    bridge = optional_package("metrichub.bridges.evaluate", metric)
    loaded: Metric | None = bridge.from_spec(metric)
    return loaded or metric


def _asks_a_model(metric: Metric) -> bool:
    """Whether the metric's judge or embedder is a model, whose answers are kept."""
    from metrichub.models.resolve import RESOLVERS, about

    services = {kind: getattr(metric, kind, None) for kind in RESOLVERS}
    return not os.environ.get("METRICHUB_NO_CACHE") and any(
        about(RESOLVERS[kind](spec)).is_model for kind, spec in services.items() if spec
    )


def measure(
    hub: Hub,
    systems: Mapping[str, Iterable[Samples]],
    chosen: MetricOptions,
    judging: JudgeOptions,
    *,
    samples: bool = True,
    texts: bool = False,
    key: Sequence[str] = (),
) -> dict[str, Report]:
    """Every system's report, one system after the other, under a progress bar."""
    needs = hub.needs()
    clusters = {click.get_current_context().params.get("cluster", "none")} - {"auto", "none", *key}
    readings = {name: Reading(batches, needs, chosen.columns) for name, batches in systems.items()}
    showing = progress(lambda: expected_work(readings.values(), len(hub.metrics)))
    with showing as advance, printed_aside():
        measured = hub.evaluate_all(
            readings,
            columns=chosen.columns,
            samples=samples,
            texts=texts,
            workers=chosen.workers,
            keep=[*(chosen.keep or "*"), *clusters],
            key=key,
            tries=chosen.tries,
            progress=advance,
            **judging.for_run(),
        )
    for name, reading in readings.items():
        shown = printable(Location.of(name).shown)
        columns = printable(", ".join(reading.columns))
        _log.info("%s: %d samples, columns %s", shown, reading.size, columns)
        _log.info("%s: measured with %s", shown, ", ".join(measured[name].results))
    if log := next((reading.log for reading in readings.values() if reading.log), None):
        _note_recorded(log, needs, chosen)
    return measured


def _note_recorded(path: str, needs: Iterable[str], chosen: MetricOptions) -> None:
    """Print on stderr which numbers a log has recorded that no metric reads.

    Nothing is said of logs that would have to be read from elsewhere, or from stdin, once more.
    """
    log = read_log(path, **chosen.reading()) if os.path.isfile(path) else None
    unread = [name for name in (log.recorded if log else ()) if column_of(name) not in needs]
    if unread:
        note(f"{path} also has {listed(unread)} as recorded; --as-recorded reports such numbers")


def with_logs(
    files: Mapping[str, str], chosen: MetricOptions, *, as_recorded: bool
) -> tuple[Mapping[str, str | Samples], MetricOptions]:
    """The systems, those in folders of logs each by its name, and the options with their metrics.

    Raises:
        UsageError: what metrics read is told, but there are none; or as `systems_of_logs`.
    """
    from metrichub.data.logs import may_be_logs, systems_of_logs
    from metrichub.metric import recorded_metrics

    if not (as_recorded or may_be_logs(files.values())):
        return files, chosen
    settings = chosen.extract or chosen.extract_references or chosen.columns
    if as_recorded and not chosen.metrics and settings:
        raise click.UsageError(
            "--extract and --columns say what metrics read, but --as-recorded reads the numbers as "
            "they are; add a metric with -m, or leave them out"
        )
    try:
        systems, recorded = systems_of_logs(
            files,
            as_recorded=as_recorded,
            rescored=bool(chosen.metrics),
            where=chosen.where,
            how=chosen.reading(),
        )
    except InputError as error:
        # What is wrong with a file keeps its own status.
        if type(error) is InputError:
            raise click.UsageError(str(error)) from error
        raise
    metrics = [*recorded_metrics(recorded), *chosen.metrics]
    return systems, replace(chosen, metrics=metrics)


def print_notes(reports: Mapping[str, Report]) -> None:
    """Print the notes of every report on stderr, each text once for the same systems."""
    # Loads numpy, which no help needs.
    from metrichub.report.notes import note_lines

    for line in note_lines(reports):
        note(line)


def print_unranked(reasons: Mapping[str, str]) -> None:
    """Print on stderr why no system is called the best: metric -> reason."""
    for reason, metrics in groupby(reasons, key=reasons.__getitem__):
        note(f"{', '.join(metrics)}: no winner: {reason}")


def print_usage(reports: Mapping[str, Report]) -> None:
    """Print on stderr the usage of judges."""
    for name, report in reports.items():
        if report.usage.calls or report.usage.cached:
            note(f"{name}: {report.usage}" if len(reports) > 1 else str(report.usage))
