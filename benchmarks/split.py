"""What each metric takes beside Python's own `str.split` of the same texts.

    python -m benchmarks.split [--samples 12000] [--rounds 5] [-m bleu] [--data FOLDER]

Every metric without a judge or an embedder scores the texts of newstest2016, repeated; a column
is split if the metric reads it, and its words are kept until all are there. Both take turns in one
process, and processor time counts: the ratio is that of the minima, the median that of the rounds'
ratios. Without the corpus in `--data` the cut of SummEval in `tests/data` is repeated instead,
whose texts are longer. What a process keeps, such as stems of words, is there from round two on.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, cycle, islice
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.table import Table

from benchmarks.exact_texts import SHARED, Corpus, corpora, programs
from metrichub import Hub
from metrichub.catalog.registry import Entry, registry
from metrichub.data.columns import column_of

Columns = Mapping[str, Sequence[Any]]

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
        return median(own / plain for own, plain in zip(self.metric, self.split, strict=True))


class Timed(NamedTuple):
    """A metric with the columns that it reads."""

    hub: Hub
    columns: Columns
    kind: str

    def score(self) -> object:
        """All scores, from raw strings."""
        return self.hub(self.columns)

    def split(self) -> list[list[str]]:
        """The words of every text of its columns, kept until all are split."""
        items = chain.from_iterable(self.columns.values())
        return [text.split() for item in items for text in _several(item)]


@click.command()
@click.option("--samples", default=12_000, show_default=True, help="Samples.")
@click.option("--rounds", default=5, show_default=True, help="Rounds; the fastest counts.")
@click.option("-m", "--metric", "specs", multiple=True, help="Only these, as specs.")
@click.option("--data", type=click.Path(path_type=Path), default=SHARED, help="Where corpora are.")
def main(samples: int, rounds: int, specs: tuple[str, ...], data: Path) -> None:
    """Print a table of ratios, the slowest metric first."""
    corpus = corpora(data)[0]
    if not data.is_dir():
        click.echo(f"newstest2016 isn't here; the texts are those of {corpus.name}")
    metrics = timed(specs, corpus, samples)
    times: dict[str, Times] = {name: Times([], []) for name in metrics}
    for _ in range(rounds):
        for name, metric in metrics.items():
            times[name].split.append(min(_seconds(metric.split) for _ in range(_TURNS)))
            times[name].metric.append(_seconds(metric.score))
    words = sum(len(text.split()) for text in corpus.first) / len(corpus.first)
    title = f"{samples} samples of {words:.0f} words ({corpus.name}, repeated), {rounds} rounds"
    table = Table("metric", "times str.split", "median", "texts", title=title)
    for name, found in sorted(times.items(), key=lambda item: -item[1].ratio):
        table.add_row(name, f"{found.ratio:.1f}", f"{found.median:.1f}", metrics[name].kind)
    Console(width=100).print(table)


def timed(specs: Sequence[str], corpus: Corpus, samples: int) -> dict[str, Timed]:
    """The metrics by their specs, with their columns; those of all installed cards of ours."""
    found = {}
    for spec in specs or [entry.name for entry in _asking_nobody()]:
        (metric,) = Hub(spec).metrics
        entry = registry().find(metric.card.name)
        kind, columns = _texts(entry, corpus, samples)
        needed = dict.fromkeys(map(column_of, metric.inputs()))
        found[spec] = Timed(Hub(metric), {name: columns[name] for name in needed}, kind)
    return found


def _asking_nobody() -> Iterator[Entry]:
    for entry in registry().entries:
        card = entry.card
        if entry.distribution != "metrichub" or card.judge or card.embedder:
            continue
        if entry.lacking:
            click.echo(f"{entry.name} is left out: {entry.lacking}")
        else:
            yield entry


def _texts(entry: Entry, corpus: Corpus, samples: int) -> tuple[str, Columns]:
    """What a metric reads: sentences, programs, or the samples beside its card, repeated."""
    own = entry.folder / "samples.jsonl"
    if own.exists():
        rows = [json.loads(line) for line in own.read_text(encoding="utf-8").splitlines()]
        columns = {name: [_text(row[name]) for row in rows] for name in rows[0]}
        return "its own", {n: list(islice(cycle(c), samples)) for n, c in columns.items()}
    if entry.name in _CODE:
        return "programs", _repeated(programs(), max(1, samples // _SHARE_OF_CODE))
    return "sentences", _repeated(corpus, samples)


def _several(item: Any) -> Sequence[str]:
    return item if isinstance(item, list) else (item,)


def _text(value: object) -> object:
    return value if isinstance(value, (str, list)) else json.dumps(value)


def _repeated(corpus: Corpus, samples: int) -> Columns:
    """One reference a sample; every repetition starts with one more space."""
    size = len(corpus.predictions)
    spaces = [" " * (number // size) for number in range(samples)]
    columns = {
        "predictions": corpus.predictions,
        "references": corpus.first,
        "sources": corpus.sources,
    }
    return {
        name: [space + text for space, text in zip(spaces, cycle(texts), strict=False)]
        for name, texts in columns.items()
    }


def _seconds(run: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    run()
    return time.process_time() - start


if __name__ == "__main__":
    main()
