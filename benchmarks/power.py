"""How often tests err where nothing differs, and how often they find what does.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.power [--families 200] [--only families]

"families" has systems that are equal in truth: texts whose words are kept at random with one
probability. An error is any pair that differs significantly; at most .075 of the families of a row
should have one. "shares" is McNemar's mid-p beside the exact test, summed over all outcomes and
not simulated: errors where up to .6 of the samples differ should be at most .055. "shown" takes
the smallest difference that a first comparison says its samples would show, makes two systems that
differ by it in truth, and counts how often it is significant: about .8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import comb, isnan, sqrt

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from metrichub import Hub, Report, compare_all
from metrichub.evaluation.distributions import mcnemar_mid_p

Row = list[str]
ERRORS, OF_SHARES = 0.075, 0.055
"""The bounds of errors: of families, and of shares."""
KEPT, WORDS, TRIALS = 0.7, 6, 2000


def texts(
    random: np.random.Generator, samples: int, share: float, hard: np.ndarray | None = None
) -> list[str]:
    """Outputs that keep each of six words with a probability, which differs by the sample."""
    each = np.full(samples, share) if hard is None else np.clip(share + hard, 0.02, 0.98)
    keeps = random.random((samples, WORDS)) < each[:, None]
    words = np.array([f"w{k}" for k in range(WORDS)])
    return [" ".join(np.where(row, words, "x")) for row in keeps]


def measured(metric: str, outputs: list[str]) -> Report:
    """The report of outputs for references with all words; for shares, of their first word."""
    reference = " ".join(f"w{k}" for k in range(WORDS))
    if metric == "exact_match":
        outputs, reference = [text.split()[0] for text in outputs], "w0"
    return Hub(metric).evaluate(predictions=outputs, references=[reference] * len(outputs))


def families(number: int) -> Iterator[Row]:
    """How many families of equal systems have a pair that differs significantly."""
    for metric in ("exact_match", "token_f1", "wer"):
        for samples in (20, 50, 200):
            for systems in (3, 6, 12):
                random = np.random.default_rng([samples, systems, len(metric)])
                wrong = 0
                for _ in range(number):
                    hard = random.normal(0, 0.15, samples)
                    reports = {
                        f"s{k}": measured(metric, texts(random, samples, KEPT, hard))
                        for k in range(systems)
                    }
                    ranking = compare_all(reports, trials=TRIALS)
                    ranks = next(iter(ranking.ranks[metric].values()))
                    wrong += max(ranks.values()) > 1
                share = wrong / number
                error = sqrt(ERRORS * (1 - ERRORS) / number)
                # Two standard errors above the bound can't be chance.
                verdict = "" if share <= ERRORS + 2 * error else "above the bound"
                yield [metric, str(samples), str(systems), f"{share:.3f}", verdict]


def shares(_: int) -> Iterator[Row]:
    """The errors and the power of the mid-p and of the exact test."""
    for samples in (20, 50, 200, 500):
        for differing, difference in ((0.2, 0.0), (0.6, 0.0), (0.2, 0.1), (0.6, 0.2)):
            mid, exact = _power(samples, differing, difference)
            wrong = not difference and mid > OF_SHARES
            row = [str(samples), f"{differing}", f"{difference}", f"{mid:.3f}", f"{exact:.3f}"]
            yield [*row, "above the bound" if wrong else ""]


def _power(samples: int, differing: float, difference: float) -> tuple[float, float]:
    """In what share of all outcomes mid-p and the exact p are at most .05."""
    first = (differing + difference) / 2 / differing
    mid = exact = 0.0
    for k in range(samples + 1):
        of_k = comb(samples, k) * differing**k * (1 - differing) ** (samples - k)
        if of_k < 1e-12:
            continue
        for more in range(k + 1):
            chance = of_k * comb(k, more) * first**more * (1 - first) ** (k - more)
            less = k - more
            p = mcnemar_mid_p(more, less)
            observed = comb(k, min(more, less)) / 2**k
            mid += chance * (p <= 0.05)
            # The exact p has all of what was observed, on both sides.
            exact += chance * (min(1.0, p + observed) <= 0.05)
    return mid, exact


def shown(number: int) -> Iterator[Row]:
    """How often the smallest difference that samples are said to show is significant."""
    for metric, samples in (("exact_match", 100), ("token_f1", 100), ("wer", 100), ("wer", 400)):
        random = np.random.default_rng([samples, len(metric)])
        differences = []
        for _ in range(20):
            pair = [measured(metric, texts(random, samples, KEPT)) for _ in range(2)]
            (output, test), *_ = pair[0].compare(pair[1], trials=TRIALS)[metric].items()
            differences.append(test.shows)
        # A word that is kept more often by so much makes a score better by as much, or nearly.
        step = float(np.nanmean(differences))
        significant = 0
        for _ in range(number):
            a, b = (measured(metric, texts(random, samples, part)) for part in (KEPT, KEPT + step))
            p = b.compare(a, trials=TRIALS)[metric][output].p
            significant += not isnan(p) and p <= 0.05
        yield [metric, str(samples), f"{step:.3f}", f"{significant / number:.2f}"]


PARTS: dict[str, tuple[Callable[[int], Iterator[Row]], Row]] = {
    "families": (families, ["of", "samples", "systems", "any pair significant", ""]),
    "shares": (shares, ["samples", "differing", "difference", "mid-p", "exact", ""]),
    "shown": (shown, ["of", "samples", "said to be shown", "found"]),
}


@click.command()
@click.option("--families", "number", default=200, show_default=True, help="Runs of a row.")
@click.option("--only", type=click.Choice(list(PARTS)), multiple=True)
def main(number: int, only: tuple[str, ...]) -> None:
    """Print errors and power of the tests, and what is above its bound."""
    for name in only or PARTS:
        rows, head = PARTS[name]
        table = Table(*head, title=name)
        for row in rows(number):
            table.add_row(*row)
        Console(width=100).print(table)


if __name__ == "__main__":
    main()
