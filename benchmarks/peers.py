"""metrichub beside the packages that people use today: the same pairs, one run, interleaved.

    python -m benchmarks.peers [--pairs 20000] [--repeats 5] [--only bleu]

Each side gets raw strings and gives the corpus score; the minimum of the repeats counts. Caches of
the peers are emptied before each run, since real corpora don't repeat themselves.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import click
from rich.console import Console
from rich.table import Table

from benchmarks.corpora import Pairs, generated, real
from benchmarks.rivals import LONG, RIVALS, Rival
from metrichub import Hub

T = TypeVar("T")


class Measurement(NamedTuple):
    """The best seconds of both sides, and the largest difference of their scores."""

    ours: float
    theirs: float
    difference: float


@click.command()
@click.option("--pairs", default=20_000, show_default=True, help="Pairs of texts.")
@click.option("--repeats", default=5, show_default=True, help="Runs; the fastest counts.")
@click.option("--only", multiple=True, help="Only the rows whose name contains this.")
@click.option("--most", default=2_000, show_default=True, help="Pairs for peers over 1 ms a pair.")
def main(pairs: int, repeats: int, only: tuple[str, ...], most: int) -> None:
    """Print a table of ratios for each corpus."""
    console = Console(width=110)
    documents = generated(max(pairs // 200, 1), words=700)
    for corpus, rivals in ((generated(pairs), RIVALS), (real(pairs), RIVALS), (documents, LONG)):
        if corpus is None:
            console.print("newstest2016 isn't here; only generated text was measured")
            continue
        size = len(corpus.predictions)
        title = f"{corpus.name}: {size} pairs of {corpus.words:.0f} words, best of {repeats}"
        table = Table(
            "metric", "peer", "pairs", "pairs/s", "peer's", "ratio", "difference", title=title
        )
        for rival in rivals:
            if only and not any(word in rival.name for word in only):
                continue
            part = _first(corpus, min(pairs, most) if rival.slow else pairs)
            found = measure(rival, part, repeats)
            size = len(part.predictions)
            table.add_row(
                *(rival.name, rival.package, str(size)),
                *(f"{size / found.ours:,.0f}", f"{size / found.theirs:,.0f}"),
                *(f"{found.theirs / found.ours:.1f}", f"{found.difference:.1e}"),
            )
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
    return Measurement(min(ours), min(theirs), difference)


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
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def _first(pairs: Pairs, number: int) -> Pairs:
    return Pairs(pairs.name, pairs.predictions[:number], pairs.references[:number])


if __name__ == "__main__":
    main()
