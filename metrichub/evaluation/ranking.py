"""Ranking: which systems are better than which, of all pairs, corrected and in words.

Holm (1979) corrects the p-values over the pairs of systems and the headline outputs of a metric.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations

from metrichub.catalog.frontmatter import Scale
from metrichub.evaluation.buckets import BUCKETS
from metrichub.evaluation.lengths import differing_lengths
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.merge import check_clusters, comparable
from metrichub.evaluation.ranked_output import RankedOutput, in_words, output_label
from metrichub.evaluation.resample import check_level, check_positive, holm
from metrichub.evaluation.significance import (
    Comparisons,
    Pair,
    SignificanceOptions,
    compare_pairs,
    withheld,
)
from metrichub.evaluation.units import clusters

Ranks = dict[str, dict[str, dict[str, int]]]
"""Metric -> headline output -> system -> rank, 1 for the best."""
ROUGH_P = 10
"""Fewer clusters or buckets make p too small: with 8, .11 of equal systems differ at .05."""


@dataclass(frozen=True)
class PairedTests:
    """What paired tests say of several systems on the same samples.

    `pairs[system, other]` holds metric -> output -> `Comparison` for every pair, `other` being the
    one that was named first; `ranks` metric -> headline output -> system -> rank, below
    others only where each of them beats it; `withheld` has why a metric, or an output alone, ranks
    none. `scores` holds system -> metric -> output -> score of all its samples, as its report has
    it, while a test is of those that both systems have scores of. `sentences` sum it up, alike ones
    of several metrics as one.
    """

    systems: tuple[str, ...]
    pairs: Mapping[Pair, Comparisons]
    ranks: Ranks
    scores: Mapping[str, Mapping[str, Mapping[str, float]]]
    withheld: Mapping[str, str]
    sentences: tuple[str, ...]
    options: SignificanceOptions
    reports: Mapping[str, Measurement] = field(repr=False)

    @property
    def sentence(self) -> str:
        """All sentences as one."""
        return "; ".join(self.sentences)

    @property
    def left_out(self) -> bool:
        """Whether samples that only one of two systems has a score of were left out of a test."""
        return any(
            test.left_out
            for found in self.pairs.values()
            for outputs in found.values()
            for test in outputs.values()
        )

    def against(self, baseline: str) -> dict[str, Comparisons]:
        """The comparisons of every other system with one that was named before all of them."""
        return {name: found for (name, other), found in self.pairs.items() if other == baseline}


def paired_tests(
    systems: Mapping[str, Measurement],
    options: SignificanceOptions,
    metrics: str | Iterable[str] | None = None,
) -> PairedTests:
    """The tests of every pair of systems; see `metrichub.compare_all`."""
    check_level(options.level)
    check_positive("trials", options.trials)
    sides = {}
    for other, name in combinations(systems, 2):
        common = comparable(systems[name], systems[other], metrics)
        mine, theirs = systems[name].results, systems[other].results
        if metrics is not None or systems[name].buckets is None:
            for metric in common:
                mine[metric].check_testable()
                theirs[metric].check_testable()
        sides[name, other] = ({m: mine[m] for m in common}, {m: theirs[m] for m in common})
    first, *others = systems.values()
    if options.cluster is not None:
        check_clusters(options.cluster, first, others)
    # Their samples are the same: one that kept the column has the clusters of all.
    known = next((one for one in systems.values() if options.cluster in one.metadata), first)
    units = partial(known.units, cluster=options.cluster)
    pairs = compare_pairs(sides, units, first.size, options)
    found = [
        output
        for metric in dict.fromkeys(name for tests in pairs.values() for name in tests)
        for output in _headline_outputs(metric, systems, pairs, 1 - options.level)
    ]
    rough = _about_few(known, options.cluster)
    ranks: Ranks = {}
    for output in found:
        ranks.setdefault(output.metric, {})[output.name] = output.ranks
        for pair, test in output.tests.items():
            told = output.told(pair, test)
            sentence = "; ".join([told.sentence, *rough]) if told.sentence else None
            pairs[pair][output.metric][output.name] = told._replace(sentence=sentence)
    reasons = {output.about: output.reason for output in found if output.reason}
    scores = {
        name: {metric: result.scores() for metric, result in one.results.items()}
        for name, one in systems.items()
    }
    said = (*in_words(found), *rough)
    return PairedTests(tuple(systems), pairs, ranks, scores, reasons, said, options, systems)


def _about_few(one: Measurement, cluster: str | None) -> list[str]:
    """That p is rough, where few clusters or buckets of samples were swapped."""
    if one.buckets is not None:
        column, number = one.buckets.named, len(one.buckets.filled(BUCKETS))
    elif cluster is not None:
        column, number = repr(cluster), clusters(cluster, one.metadata).number
    else:
        return []
    few = number < min(ROUGH_P, one.size)
    return [f"p is rough, as {column} has only {number} different values"] if few else []


def _headline_outputs(
    metric: str,
    systems: Mapping[str, Measurement],
    pairs: Mapping[Pair, Comparisons],
    alpha: float,
) -> list[RankedOutput]:
    """A metric's headline outputs with the tests of all pairs, their p-values corrected."""
    results = {name: s.results[metric] for name, s in systems.items() if metric in s.results}
    whole = withheld(results)
    of = next(iter(results.values())).metric
    tests = {pair: found[metric] for pair, found in pairs.items() if metric in found}
    whole = whole or next((t.withheld for found in tests.values() for t in found.values()), None)
    names = [name for name in of.headline() if all(name in found for found in tests.values())]
    corrected = holm(
        {(pair, name): t[name].randomisation_p for pair, t in tests.items() for name in names}
    )
    found = []
    for name in names:
        bound = partial(_length_bound, of.card.scale(name))
        output = RankedOutput(
            metric,
            of.card.name,
            name,
            of.card.better(name),
            alpha,
            {system: result.scores()[name] for system, result in results.items()},
            {
                (one, other): t[name]._replace(
                    p=corrected[(one, other), name],
                    withheld=t[name].withheld or bound({other: systems[other], one: systems[one]}),
                )
                for (one, other), t in tests.items()
            },
            whole or bound({system: systems[system] for system in results}),
            metric if whole else output_label(metric, of.card.name, name),
        )
        found.append(output)
    return found


def _length_bound(scale: Scale | None, systems: Mapping[str, Measurement]) -> str | None:
    """Why systems can't be ranked by an output that falls or rises with length, if they can't."""
    if scale is None or scale.length_bound is None:
        return None
    lengths = differing_lengths({name: system.lengths for name, system in systems.items()})
    verb = scale.length_bound.removesuffix("s")
    return f"scores {verb} with length, and {lengths}" if lengths else None
