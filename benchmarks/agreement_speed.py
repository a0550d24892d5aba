"""Agreement beside the official tools in one run: `python -m benchmarks.agreement_speed`.

16 systems and 3,000 items. scipy's loop is what mt-metrics-eval runs for every item; nlpstats draws
and permutes with it, and is timed on few draws. It is taken where it is installed.
"""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats
from numpy.typing import NDArray

from metrichub.agreement import tau_b, value_at
from metrichub.agreement.bootstrap import Drawn, resampled
from metrichub.agreement.permutation import Swapped, permutation_test

SYSTEMS, ITEMS, DRAWS, FEW = 16, 3000, 1000, 2


def timed(run: Callable[[], Any], times: float = 1.0) -> float:
    """The processor seconds of a call, times how many calls it stands for."""
    start = time.process_time()
    run()
    return (time.process_time() - start) * times


def item_tau(x: NDArray[np.float64], z: NDArray[np.float64]) -> float:
    """Item-level tau-b as the official tools compute it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(
            np.nanmean([scipy.stats.kendalltau(a, b)[0] for a, b in zip(x.T, z.T, strict=True)])
        )


def rows() -> list[tuple[str, float, float]]:
    """The cases, the official seconds, and ours."""
    random = np.random.default_rng(0)
    human = np.round(random.normal(size=(SYSTEMS, ITEMS)))
    first, other = (human + random.normal(size=human.shape) for _ in range(2))
    assert abs(item_tau(first, human) - value_at("item", "tau_b", first, human).value) < 1e-9
    long = random.normal(size=(2, 100_000))
    results = [
        (
            "item tau-b",
            timed(lambda: item_tau(first, human)),
            timed(lambda: value_at("item", "tau_b", first, human)),
        ),
        (
            "pooled tau-b of 100,000",
            timed(lambda: scipy.stats.kendalltau(*long)),
            timed(lambda: tau_b(*long)),
        ),
        (
            f"{DRAWS} permutations of cells, item tau-b (scipy's loop, twice a draw)",
            timed(lambda: item_tau(first, human), 2 * DRAWS),
            timed(
                lambda: permutation_test(
                    "item", "tau_b", first, other, human, Swapped("cells", DRAWS)
                )
            ),
        ),
    ]
    ours = timed(lambda: resampled("item", "tau_b", first, human, Drawn("both", DRAWS)))
    try:
        from nlpstats.correlations import bootstrap
    except ImportError:
        results.append(
            (
                f"{DRAWS} draws of both, item tau-b (scipy's loop)",
                timed(lambda: item_tau(first, human), DRAWS),
                ours,
            )
        )
    else:

        def official() -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                bootstrap(first, human, "input", "kendall", "both", n_resamples=FEW)

        results.append(
            (f"{DRAWS} draws of both, item tau-b (nlpstats)", timed(official, DRAWS / FEW), ours)
        )
    return results


def main() -> None:
    """Print the table."""
    print("| what | official, s | metrichub, s | ratio |\n| --- | --- | --- | --- |")
    for what, official, ours in rows():
        print(f"| {what} | {official:.2f} | {ours:.3f} | {official / ours:.1f} |")
    print(f"\npeak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
