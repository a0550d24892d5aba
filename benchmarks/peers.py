"""metrichub beside the packages that people use today: the same pairs, one run, interleaved.

    python -m benchmarks.peers [--pairs 3000]... [--repeats 5] [--only bleu]... [--calls]

Each side gets raw strings and gives the corpus score. Both take turns in one process, and processor
time counts: the ratio is that of the minima, the median that of the repeats' ratios. The peers'
caches are emptied before each run, and no two pairs are alike, since real corpora don't repeat
themselves. Real texts are the first of newstest2016, WebNLG and SummEval.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, NamedTuple, TypeVar

import click
from rich.console import Console
from rich.table import Table

from benchmarks.corpora import Pairs, generated, real
from benchmarks.rivals import LONG, RIVALS, Rival
from benchmarks.split import SIZES, load
from metrichub import Hub

T = TypeVar("T")
FEW = (1, 2, 8, 64, 300)
"""Pairs a call."""


class Measurement(NamedTuple):
    """The seconds of processor time of both sides, and the largest difference of their scores."""

    ours: list[float]
    theirs: list[float]
    difference: float

    @property
    def ratio(self) -> float:
        """How many times as long the peer takes, by the fastest runs."""
        return min(self.theirs) / min(self.ours)

    @property
    def median(self) -> float:
        """The same, the median over all runs."""
        return median(theirs / ours for theirs, ours in zip(self.theirs, self.ours, strict=True))


@click.command()
@click.option("--pairs", "sizes", multiple=True, default=SIZES, show_default=True)
@click.option("--repeats", default=5, show_default=True, help="Runs of each side.")
@click.option("--only", multiple=True, help="Only the rows whose name contains this.")
@click.option("--calls", is_flag=True, help="Only calls with one pair or a few.")
@click.option("--most", default=3_000, show_default=True, help="Pairs up to which slow peers run.")
def main(
    sizes: tuple[int, ...], repeats: int, only: tuple[str, ...], calls: bool, most: int
) -> None:
    """Print a table of ratios for each corpus."""
    console = Console(width=110)
    chosen_rivals = [
        rival for rival in RIVALS if not only or any(word in rival.name for word in only)
    ]
    console.print(_few(chosen_rivals, generated(3_000, words=20), repeats))
    if calls:
        return
    for size in sizes:
        documents = generated(max(size // 200, 1), words=700)
        for corpus, rivals in ((generated(size), RIVALS), (real(size), RIVALS), (documents, LONG)):
            if corpus is None:
                console.print("newstest2016 isn't here; only generated text was measured")
                continue
            table = Table(
                *("metric", "peer", "pairs/s", "peer's", "ratio", "median", "difference"),
                title=f"{len(corpus.predictions):,} pairs of {corpus.name}, {corpus.words:.0f} "
                f"words, {repeats} repeats, {load()}",
            )
            for rival in rivals:
                chosen = not only or any(word in rival.name for word in only)
                if chosen and not (rival.slow and size > most):
                    value = measure(rival, corpus, repeats)
                    speeds = (len(corpus.predictions) / min(s) for s in (value.ours, value.theirs))
                    table.add_row(
                        *(rival.name, rival.package, *(f"{speed:,.0f}" for speed in speeds)),
                        *(f"{value.ratio:.1f}", f"{value.median:.1f}", f"{value.difference:.1e}"),
                    )
            if table.rows:
                console.print(table)
    if not only or "intervals" in only:
        console.print(_intervals(generated(2_000), repeats))


def measure(rival: Rival, pairs: Pairs, repeats: int) -> Measurement:
    """Both sides in turn, `repeats` times each."""
    hub, peer = Hub(metrics=list(rival.specs)), rival.make()
    columns: dict[str, Any] = {"predictions": pairs.predictions, "references": pairs.references}
    columns["sources"] = pairs.references
    ours, theirs, difference = [], [], 0.0
    for _ in range(repeats):
        seconds, scores = _timed(lambda: rival.read(hub(**columns)))
        ours.append(seconds)
        rival.forget()
        seconds, expected = _timed(lambda: peer(pairs.predictions, pairs.references))
        theirs.append(seconds)
        difference = max(abs(a - b) for a, b in zip(scores, expected, strict=True))
    return Measurement(ours, theirs, difference)


def _few(rivals: Sequence[Rival], pairs: Pairs, repeats: int) -> Table:
    """A table of calls with one pair or a few: microseconds a call, and the ratio to the peer's."""
    table = Table(
        *("metric", "peer", *(f"{size} a call" for size in FEW)),
        title=f"microseconds a call, and times the peer's; {load()}",
    )
    for rival in rivals:
        cells = [_of_calls(rival, pairs, size, repeats) for size in FEW]
        table.add_row(rival.name, rival.package, *cells)
    return table


def _of_calls(rival: Rival, pairs: Pairs, size: int, repeats: int) -> str:
    hub, peer = Hub(metrics=list(rival.specs)), rival.make()
    # A hub looks for doubts in its first hundred samples.
    hub(predictions=pairs.predictions[:100], references=pairs.references[:100])
    starts = range(0, min(len(pairs.predictions), 120 * size), size)
    parts = [
        (pairs.predictions[start : start + size], pairs.references[start : start + size])
        for start in starts
    ]
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(_timed(lambda: [hub(predictions=p, references=r) for p, r in parts])[0])
        rival.forget()
        theirs.append(_timed(lambda: [peer(p, r) for p, r in parts])[0])
    return f"{min(ours) / len(parts) * 1e6:,.0f} ({min(ours) / min(theirs):.2f})"


def _intervals(pairs: Pairs, repeats: int) -> str:
    """How much sooner 1000 resamples of BLEU are there than sacrebleu's."""
    import sacrebleu
    from sacrebleu.significance import _bootstrap_resample

    report = Hub("bleu").evaluate(predictions=pairs.predictions, references=pairs.references)
    metric = sacrebleu.BLEU()
    statistics = metric._extract_corpus_statistics(  # noqa: SLF001  # as its own test does
        pairs.predictions, [pairs.references]
    )
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(_timed(lambda: [report.intervals()["bleu"]["score"].mean])[0])
        theirs.append(_timed(lambda: _bootstrap_resample(statistics, metric))[0])
    ratio = min(theirs) / min(ours)
    return f"intervals of BLEU, 1000 resamples of 2000 pairs: {ratio:.1f} times sacrebleu's speed"


def _timed(run: Callable[[], T]) -> tuple[float, T]:
    gc.collect()
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


if __name__ == "__main__":
    main()
