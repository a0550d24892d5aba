"""The time of each metric beside Python's own `str.split` of the same texts.

    python -m benchmarks.split [--samples 3000]... [--rounds 5] [-m bleu]... [--data FOLDER]

Every metric without a judge or an embedder scores the first 300, 3,000 and 12,000 rows of
newstest2016, WebNLG and SummEval, no two of them alike, or rows generated from them
(`benchmarks.split_rows`); a column is split if the metric reads it, objects and numbers as JSON,
and its words are kept until all are there. Both take turns in one process, and processor time
counts: the ratio is that of the minima, the median that of the rounds' ratios. Without the corpora
in `--data` the cut of SummEval in `tests/data` is repeated instead, whose texts are longer. What a
process keeps, such as stems of words, is there from round two on.
"""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, cycle, islice
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.table import Table

from benchmarks.corpora import repeated
from benchmarks.exact_texts import SHARED, Corpus, corpora, distinct, programs
from benchmarks.split_rows import MAKERS, rows_of
from metrichub import Hub
from metrichub.catalog.registry import Entry, registry
from metrichub.data.columns import column_of

Columns = Mapping[str, Sequence[Any]]

SIZES = (300, 3_000, 12_000)
"""So many samples a metric scores, each of them once."""
_ELSEWHERE = {"math_equivalence"}
"""These work in processes of their own, whose time isn't counted."""
_CODE = {"codebleu"}
"""These read programs instead: the functions of a few modules of Python's library."""
_SHARE_OF_CODE = 20
"""A program has so many times the text of a sentence."""
_TURNS = 5
"""Splits are short, and so timed several times a round."""


class Times(NamedTuple):
    """Seconds of processor time of every round, of the metric and of `str.split`."""

    metric: list[float]
    split: list[float]

    @property
    def ratio(self) -> float:
        """That of the fastest rounds."""
        return min(self.metric) / min(self.split)

    @property
    def median(self) -> float:
        """The median over the rounds."""
        return median(
            measured / plain for measured, plain in zip(self.metric, self.split, strict=True)
        )


class Timed(NamedTuple):
    """A metric with the columns that it reads."""

    hub: Hub
    columns: Columns
    kind: str
    texts: Sequence[str]

    def score(self) -> object:
        """All scores, from raw columns."""
        return self.hub(self.columns)

    def split(self) -> list[list[str]]:
        """The words of every text of its columns, kept until all are split."""
        return [text.split() for text in self.texts]


@click.command()
@click.option("--samples", "sizes", multiple=True, default=SIZES, show_default=True)
@click.option("--rounds", default=5, show_default=True, help="Rounds; the fastest counts.")
@click.option("-m", "--metric", "specs", multiple=True, help="Only these, as specs.")
@click.option("--data", type=click.Path(path_type=Path), default=SHARED, help="Where corpora are.")
def main(sizes: tuple[int, ...], rounds: int, specs: tuple[str, ...], data: Path) -> None:
    """Print a table of ratios, the slowest metric first."""
    result = corpora(data)[:3]
    corpus = distinct(result, max(sizes))
    if not data.is_dir():
        click.echo(f"newstest2016 isn't here; the texts are those of {result[0].name}")
    columns, kinds = {}, {}
    for size in sizes:
        metrics = timed(specs, corpus, size)
        kinds = {name: metric.kind for name, metric in metrics.items()}
        columns[size] = _times(metrics, rounds)
    table = Table("metric", *(f"{size:,}" for size in sizes), "texts")
    for name in sorted(kinds, key=lambda name: -columns[sizes[-1]][name].ratio):
        ratios = (columns[size][name] for size in sizes)
        cells = (f"{each.ratio:.1f} ({each.median:.1f})" for each in ratios)
        table.add_row(name, *cells, kinds[name])
    console = Console(width=100)
    console.print(f"times str.split (median), {rounds} rounds, {load()}", table)
    for size in sizes:
        part = corpus.part(size)
        words = sum(len(text.split()) for text in part.first) / len(part.first)
        console.print(f"{size:,} samples of {words:.0f} words")


def load() -> str:
    """How busy the machine is, in words."""
    return f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores"


def _times(metrics: Mapping[str, Timed], rounds: int) -> dict[str, Times]:
    times = {name: Times([], []) for name in metrics}
    for _ in range(rounds):
        for name, metric in metrics.items():
            times[name].split.append(min(_seconds(metric.split) for _ in range(_TURNS)))
            times[name].metric.append(_seconds(metric.score))
    return times


def timed(specs: Sequence[str], corpus: Corpus, samples: int) -> dict[str, Timed]:
    """The metrics by their specs, with their columns; those of all installed cards of ours."""
    result = {}
    for spec in specs or [entry.name for entry in _asking_nobody()]:
        (metric,) = Hub(spec).metrics
        entry = registry().find(metric.card.name)
        kind, columns = _texts(entry, corpus, samples)
        needed = dict.fromkeys(map(column_of, metric.inputs()))
        read = {name: columns[name] for name in needed}
        texts = [text for item in chain.from_iterable(read.values()) for text in _several(item)]
        result[spec] = Timed(Hub(metric), read, kind, texts)
    return result


def _asking_nobody() -> Iterator[Entry]:
    for entry in registry().entries:
        card = entry.card
        if entry.distribution != "metrichub" or card.judge or card.embedder:
            continue
        if entry.name in _ELSEWHERE:
            click.echo(f"{entry.name} is left out: its own processes do the work")
        elif entry.lacking:
            click.echo(f"{entry.name} is left out: {entry.lacking}")
        else:
            yield entry


def _texts(entry: Entry, corpus: Corpus, samples: int) -> tuple[str, Columns]:
    """A metric's texts: sentences, rows generated from them, programs, or its card's samples."""
    sentences = _repeated(corpus, samples)
    if entry.name in MAKERS:
        rows = rows_of(MAKERS[entry.name], sentences["predictions"], sentences["references"])
        return "generated", {name: [row[name] for row in rows] for name in rows[0]}
    path = entry.folder / "samples.jsonl"
    if path.exists():
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        columns = {name: [_text(row[name]) for row in rows] for name in rows[0]}
        return "its own", {n: list(islice(cycle(c), samples)) for n, c in columns.items()}
    if entry.name in _CODE:
        return "programs", _repeated(programs(), max(1, samples // _SHARE_OF_CODE))
    return "sentences", sentences


def _several(item: Any) -> Sequence[str]:
    texts = item if isinstance(item, list) else (item,)
    return texts if all(isinstance(text, str) for text in texts) else (json.dumps(item),)


def _text(value: object) -> object:
    return value if isinstance(value, (str, list)) else json.dumps(value)


def _repeated(corpus: Corpus, samples: int) -> Columns:
    """One reference a sample."""
    columns = {
        "predictions": corpus.predictions,
        "references": corpus.first,
        "sources": corpus.sources,
    }
    return {name: repeated(texts, samples) for name, texts in columns.items()}


def _seconds(run: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    run()
    return time.process_time() - start


if __name__ == "__main__":
    main()
