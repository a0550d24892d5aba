"""What commands share that ask judges: which judge, how often, and at what cost."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrichub.cli.output import emit, shown_as
from metrichub.cli.program import note
from metrichub.cli.shared_options import option_group
from metrichub.data.samples import Reading, Samples
from metrichub.errors import InputError
from metrichub.judge.protocol import VOTE_RULES
from metrichub.report.tables import Table

if TYPE_CHECKING:
    from metrichub.hub import Hub
    from metrichub.models.usage import Usage
    from metrichub.report.report import Report


@dataclass(frozen=True)
class JudgeOptions:
    """Which judge and embedder metrics without their own ask, how often, and when a run ends."""

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
        """What `Hub` takes of them."""
        judges = list(self.judge) if len(self.judge) > 1 else next(iter(self.judge), None)
        chosen = {"judge": judges, "vote": self.vote, "embedder": self.embedder}
        chosen["language"] = self.language
        return {name: spec for name, spec in chosen.items() if spec}

    def for_run(self) -> dict[str, Any]:
        """What `Hub.evaluate` takes of them."""
        return {
            "repeats": self.repeats,
            "max_errors": self.max_errors,
            "max_calls": self.max_calls,
            "max_tokens": self.max_tokens,
            "max_cost": self.max_cost,
            "batch": self.batch,
        }


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
        help="The judge for all metrics that need one: \"openai(model='…')\", with "
        "base_url='http://127.0.0.1:8000/v1' for your own server, or offline (a "
        "word-matching baseline). Repeat it for a panel of judges that vote.  "
        "[default: METRICHUB_JUDGE]",
    ),
    click.option(
        "--vote",
        type=click.Choice(VOTE_RULES),
        help="How to combine the verdicts of several judges, or of one judge with --repeats: by "
        "majority, or by the mean of the votes.  [default: majority for several judges]",
    ),
    click.option(
        "--embedder",
        metavar="SPEC",
        help="The embedder for all metrics that need one: \"openai(model='…')\", or offline "
        "(hashed n-grams, a baseline).  [default: METRICHUB_EMBEDDER]",
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
        help="Run judges N times and report the standard deviation between runs; with --vote, "
        "count one judge's N answers as votes in one run.",
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
        help="Stop before making more than N calls to judges.  [default: never]",
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
        help="Don't use the call store: neither reuse nor store judges' answers.",
    ),
)
"""--judge, --vote, --embedder, --language, --repeats and --max-… as `judging`, and --no-cache."""


def show_estimate(
    hub: Hub,
    systems: Mapping[str, Iterable[Samples]],
    columns: Mapping[str, str],
    repeats: int,
    form: str | None,
    output: Path | None,
) -> None:
    """Print what scoring these files would ask of models."""
    # Loads numpy, which --help does without.
    from metrichub.report.export import usage_counts

    found: dict[str, Usage] = {}
    for name, batches in systems.items():
        reading = Reading(batches, hub.needs(), columns)
        try:
            found[name] = hub.estimate(iter(reading), columns=columns, repeats=repeats)
        except InputError as error:
            raise reading.located(error) from error
    emit(
        shown_as(form, output),
        lambda: Table(
            ("file", "calls", "reused", "prompt tokens", "completion tokens", "money"),
            [_costs(name, usage) for name, usage in found.items()],
        ),
        lambda: {
            "estimate": {name: usage_counts(usage, seconds=False) for name, usage in found.items()}
        },
        output=output,
    )
    if any(usage.calls for usage in found.values()):
        note(
            "an estimate, right to an order of magnitude: a token is four bytes, a claim a sentence"
        )


def _costs(name: str, usage: Usage) -> Sequence[str]:
    money = "no prices given" if usage.money is None else f"{usage.money:,.4f}"
    tokens = (f"{usage.prompt_tokens:,}", f"{usage.completion_tokens:,}")
    return (name, f"{usage.calls:,}", f"{usage.cached:,}", *tokens, money)


def tell_usage(reports: Mapping[str, Report]) -> None:
    """Print on stderr what judges were asked."""
    for name, report in reports.items():
        if report.usage.calls or report.usage.cached:
            note(f"{name}: {report.usage}" if len(reports) > 1 else str(report.usage))
