"""Intervals of corpus metrics by their resampler, beside a conclusion from each resample's rows.

    python -m benchmarks.resampling [--pairs 3000] [--resamples 1000] [--concluded 3] [-m cider]

Both sides get the same resamples in turn, and processor time counts. A conclusion from the rows is
what a corpus metric without a `resampler` does; it is made of the first resamples only, and its
time is that of so many times more.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.corpora import Pairs, generated
from metrichub import Hub
from metrichub.evaluation.draws import draws
from metrichub.evaluation.resample import SEED
from metrichub.evaluation.result_rows import RowsResult

METRICS = ("cider", "nist", "self_bleu", "novelty")
T = TypeVar("T")


class Compared(NamedTuple):
    """Seconds of all resamples by the resampler and by conclusions, and how far they differ."""

    resampled: float
    concluded: float
    difference: float


@click.command()
@click.option("--pairs", default=3_000, show_default=True, help="Pairs of texts.")
@click.option("--resamples", default=1_000, show_default=True, help="Resamples of each metric.")
@click.option("--concluded", default=3, show_default=True, help="Conclusions from rows.")
@click.option("-m", "--metric", "metrics", multiple=True, default=METRICS)
def main(pairs: int, resamples: int, concluded: int, metrics: tuple[str, ...]) -> None:
    """Print one row a metric."""
    corpus = generated(pairs)
    table = Table(
        *("metric", "resampler, s", "conclusions, s", "ratio", "difference"),
        title=f"{resamples} resamples of {pairs} pairs of {corpus.words:.0f} words",
    )
    for metric in metrics:
        compared = measure(metric, corpus, resamples, concluded)
        table.add_row(
            *(metric, f"{compared.resampled:.1f}", f"{compared.concluded:,.0f}"),
            *(f"{compared.concluded / compared.resampled:,.0f}", f"{compared.difference:.1e}"),
        )
    Console(width=100).print(table)


def measure(spec: str, pairs: Pairs, resamples: int, concluded: int) -> Compared:
    """Both sides of one metric."""
    report = Hub(spec).evaluate(predictions=pairs.predictions, references=pairs.references)
    (result,) = report.results.values()
    assert isinstance(result, RowsResult)
    conclude = result.metric.conclude  # type: ignore[attr-defined]  # of a corpus metric
    seconds, resampled = _timed(result.resampler)
    nothing = np.zeros((0, 0))
    slow, difference, left = 0.0, 0.0, concluded
    for draw in draws(report.size, resamples, SEED):
        took, outputs = _timed(partial(resampled.drawn, draw.weights, nothing))
        seconds, scores = seconds + took, outputs["score"]
        for score, numbers in list(zip(scores, draw.index, strict=True))[:left]:
            rows = [result.rows[number] for number in numbers.tolist()]
            took, actual = _timed(partial(conclude, rows))
            slow += took
            difference = max(difference, abs(float(score) - actual["score"]))
            left -= 1
    return Compared(seconds, slow / (concluded - left) * resamples, difference)


def _timed(run: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


if __name__ == "__main__":
    main()
