"""Options that commands share, in groups that reach them as one value each; and FILEs."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from metrichub.catalog.registry import registry
from metrichub.data.columns import column_of_alias
from metrichub.data.files import formats
from metrichub.data.huggingface import DatasetAddress
from metrichub.data.location import STDIN, Location, short_names

if TYPE_CHECKING:
    from metrichub.data.quoting import Quoting
    from metrichub.report.rows import OutputChoice

_Function = TypeVar("_Function", bound=Callable[..., Any])


def option_group(
    name: str, group: type, *options: Callable[[_Function], _Function]
) -> Callable[[_Function], _Function]:
    """Add options, in the order of the help, whose values a command takes as `name`, a `group`.

    `group` is a dataclass with a field for each option that has a value.
    """
    taken = [field.name for field in fields(group)]

    def decorate(function: _Function) -> _Function:
        @wraps(function)
        def grouped(*args: Any, **values: Any) -> Any:
            gathered = group(**{field: values.pop(field) for field in taken})
            return function(*args, **values, **{name: gathered})

        decorated: Any = grouped
        for option in reversed(options):
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]  # wraps keeps what the function takes

    return decorate


def _column_names(
    _: click.Context, parameter: click.Parameter, texts: Sequence[str]
) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for pair in (pair for text in texts for pair in re.split(r",(?=\w+=)", text)):
        column, equals, name = pair.partition("=")
        if not equals or not column or not name:
            raise click.BadParameter(
                f"{pair!r} isn't COLUMN=NAME; write for example references=gold", param=parameter
            )
        column = column_of_alias(column)
        if chosen.setdefault(column, name) != name:
            raise click.BadParameter(
                f"{column} is mapped to {chosen[column]!r} and to {name!r}; choose one, or both as "
                f"{column}={chosen[column]}+{name}",
                param=parameter,
            )
    return chosen


def _conditions(
    _: click.Context, parameter: click.Parameter, texts: Sequence[str]
) -> dict[str, list[str]]:
    where: dict[str, list[str]] = {}
    for text in texts:
        column, equals, value = text.partition("=")
        if not equals or not column:
            raise click.BadParameter(f"{text!r} isn't COLUMN=VALUE", param=parameter)
        where.setdefault(column, []).append(value)
    return where


class _InputFormat(click.Choice[str]):
    """A format of files; plugins' are looked up when the option is used or explained."""

    def __init__(self) -> None:
        self.case_sensitive = True

    @property
    def choices(self) -> Sequence[str]:  # type: ignore[override]  # known when asked
        return formats()


@dataclass(frozen=True)
class MetricOptions:
    """Which metrics score which columns, and how."""

    metrics: Sequence[Any]
    columns: Mapping[str, str]
    where: Mapping[str, Sequence[str]]
    input_format: str | None
    quoting: Quoting | None
    keep: Sequence[str] = ()
    reduce: str | None = None
    extract: str | None = None
    extract_references: str | None = None
    workers: int = 1
    tries: str | None = None
    split: str | None = None
    subset: str | None = None

    def reading(self) -> dict[str, Any]:
        """How files are read, whichever samples are taken."""
        return {"format": self.input_format, "quoting": self.quoting}

    def addresses(self, files: Sequence[str]) -> tuple[str, ...]:
        """The files, where an address of a data set has the split and the subset that are chosen.

        Raises:
            UsageError: there is no address that they could be chosen for.
        """
        if not (self.split or self.subset):
            return tuple(files)
        of_data_sets = [Location.of(name).kind == "data set" for name in files]
        if not any(of_data_sets):
            raise click.UsageError("--split and --subset apply to data sets only; give hf://NAME")
        return tuple(
            str(DatasetAddress.parse(name).choosing(self.split, self.subset)) if chosen else name
            for name, chosen in zip(files, of_data_sets, strict=True)
        )


columns_option = click.option(
    "--columns",
    metavar="COLUMN=NAME",
    multiple=True,
    callback=_column_names,
    help="Read other names, as predictions=answer; several as "
    "predictions=answer,references=doc.gold.0.",
)
input_format_option = click.option(
    "--input-format",
    type=_InputFormat(),
    help="The format of the files.  [default: by their suffixes; jsonl for stdin]",
)
quoting_option = click.option(
    "--quoting",
    type=click.Choice(("standard", "none")),
    help="How cells of CSV and TSV are quoted: as CSV does, or not at all, so that quotes are "
    "text.  [default: standard; for TSV none, unless a CSV writer made it]",
)
where_option = click.option(
    "--where",
    metavar="COLUMN=VALUE",
    multiple=True,
    callback=_conditions,
    help="Take only some samples, as language=de; of one column, any of the values.",
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
        help="A metric, as bleu or 'bleu(max_order=2)'; also a preset, 'wer(whisper)', your "
        "own name, 'bleu2 = bleu(max_order=2)', or a module of Hugging Face evaluate, "
        "evaluate:./folder, whose code will run.",
    ),
    columns_option,
    click.option(
        "--keep",
        metavar="COLUMN",
        multiple=True,
        callback=lambda _, __, texts: [name for names in texts for name in names.split(",")],
        help="A column to keep in the report; repeatable.  [default: *, all with short values]",
    ),
    click.option(
        "--reduce",
        metavar="HOW",
        help="Reduce the scores of several candidates to one; HOW is best, worst, mean, max, min "
        "or first.  [default: best, or mean for metrics without a direction]",
    ),
    click.option(
        "--extract",
        metavar="HOW",
        help="Read the answer out of each prediction; HOW is answer, boxed, last_number, choice, "
        "\"after('Answer:')\", \"regex('[0-9]+')\", or as a program does: gsm8k-flexible, "
        "mmlu-pro and others.  [default: the whole prediction]",
    ),
    click.option(
        "--extract-references",
        metavar="HOW",
        help="The same for references, as boxed for worked solutions; also index, the place of the "
        "right choice, from 0, and label.  [default: the whole reference]",
    ),
    click.option(
        "--workers",
        metavar="N",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="The number of processes; the scores are the same.",
    ),
    input_format_option,
    quoting_option,
    click.option(
        "--tries",
        metavar="COLUMN",
        help="A row is a try of the task that COLUMN names.  [default: task_id for pass_at_k, "
        "pass_hat_k and majority_vote]",
    ),
    click.option("--split", metavar="NAME", help="The split of the data set hf://NAME to read."),
    click.option(
        "--subset", metavar="NAME", help="The subset (configuration) of the data set to read."
    ),
    where_option,
)
"""-m, --columns, --keep, --reduce, --extract, --workers, --where and others as `chosen`."""


recorded_option = click.option(
    "--as-recorded",
    is_flag=True,
    help="Report the numbers in another tool's log; those of each sample.",
)


CONFIDENCE = click.FloatRange(0, 1, min_open=True, max_open=True)
seed_option = click.option(
    "--seed",
    type=int,
    default=12345,
    show_default=True,
    help="The seed of what is drawn at random.",
)


@dataclass(frozen=True)
class ResamplingOptions:
    """How samples are drawn again for intervals and tests."""

    confidence: float
    resamples: int
    seed: int
    cluster: str


resampling_options = option_group(
    "resampling",
    ResamplingOptions,
    click.option(
        "--confidence",
        type=CONFIDENCE,
        default=0.95,
        show_default=True,
        help="The confidence of the intervals.",
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
        default="auto",
        help="Resample what shares a value together; for example the samples of a document. With "
        "none, each is drawn separately.  [default: auto, the answers to one question]",
    ),
)
"""--confidence, --resamples, --seed and --cluster as `resampling`."""


calibrate_option = click.option(
    "--calibrate",
    metavar="COLUMN",
    help="Add an estimate of people's mean score, or test their difference of two systems, from "
    "their labels of a random part of the samples; compare reads a file of --sample-for-labels, "
    "too.",
)
"""--calibrate, as it was typed."""

detect_option = click.option(
    "--detect",
    metavar="METRIC=N",
    multiple=True,
    help="Say how many samples would show a true difference of N.",
)
"""--detect, as it was typed."""

key_option = click.option(
    "--key",
    metavar="COLUMN",
    multiple=True,
    callback=lambda _, __, texts: tuple(name for names in texts for name in names.split(",")),
    help="COLUMN identifies a sample. compare matches the samples of --systems or --common by it; "
    "else it is for large files: sums are kept in 1,000 buckets, and not every sample.",
)


max_words_option = click.option(
    "--max-words",
    metavar="N",
    type=click.IntRange(1),
    help="Leave out the samples in which a text of any system has over N words, and count them.",
)
"""--max-words, for all systems alike."""


@dataclass(frozen=True)
class Display:
    """Which outputs tables have, and how their numbers are shown."""

    outputs: OutputChoice
    with_intervals: bool
    percent: bool
    with_signatures: bool


display_options = option_group(
    "display",
    Display,
    click.option(
        "--outputs",
        type=click.Choice(("headline", "all")),
        default="headline",
        show_default=True,
        help="The outputs that tables and CSV show: the headline outputs of each metric's card, or "
        "all. JSON always contains all.",
    ),
    click.option("--intervals", "with_intervals", is_flag=True, help="Add confidence intervals."),
    click.option(
        "--percent",
        is_flag=True,
        help="Show scores from 0 to 1, and error rates, in percent; JSON and CSV keep fractions.",
    ),
    click.option(
        "--signature", "with_signatures", is_flag=True, help="Add each metric's signature."
    ),
)
"""--outputs, --intervals, --percent and --signature as `display`."""


def named_files(files: Sequence[str]) -> dict[str, str]:
    """The files by the names of their systems: those that were given, or short ones.

    Raises:
        UsageError: a file is given twice, two systems have one name, or a file that isn't there
            has a metric's name.
    """
    named = [_named(text) for text in files]
    paths = [path for _, path in named]
    _check(paths)
    unnamed = [path for name, path in named if not name]
    short = dict(zip(unnamed, short_names(unnamed, alone=len(files) == 1), strict=True))
    names = [name or short[path] for name, path in named]
    if twice := [name for name in names if names.count(name) > 1]:
        raise click.UsageError(f"two systems are called {twice[0]!r}; give them names: NAME=FILE")
    return dict(zip(names, paths, strict=True))


def _named(text: str) -> tuple[str, str]:
    """The name and the path of "ours=out.jsonl"; a path alone has no name."""
    match = re.fullmatch(r"([^=/\\]+)=(.+)", text)
    return (match[1].strip(), match[2]) if match and not Path(text).exists() else ("", text)


def _check(paths: Sequence[str]) -> None:
    if metrics := [path for path in paths if not Path(path).exists() and path in registry()]:
        chosen = click.get_current_context().params.get("metrics") or ()
        each = " ".join(f"-m {shlex.quote(spec)}" for spec in dict.fromkeys((*chosen, *metrics)))
        raise click.UsageError(
            f"{metrics[0]!r} is a metric, and no file has this name; write -m before each metric: "
            f"{each}"
        )
    places = [os.path.abspath(path) if os.path.exists(path) else path for path in paths]
    if twice := [path for path, at in zip(paths, places, strict=True) if places.count(at) > 1]:
        what = "standard input" if twice[0] == STDIN else twice[0]
        raise click.UsageError(f"{what} is given twice")
