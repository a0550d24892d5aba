"""Paired tests: which systems are better than which, of all pairs, corrected and in words.

The p-values of a metric are corrected over the pairs of systems and its headline outputs, together,
by a step-down over the resamples that all share (`resample.step_down`) or by Holm's method (1979).
A system's rank is one more than the number of systems that beat it, that is, are significantly
better; those of rank 1 none beats.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations, permutations
from math import isnan

from metrichub.catalog.frontmatter import Scale
from metrichub.catalog.requirements import CALIBRATION, optional_package
from metrichub.errors import ReportError, did_you_mean, listed
from metrichub.evaluation.buckets import BUCKETS
from metrichub.evaluation.draws import check_positive
from metrichub.evaluation.lengths import differing_lengths
from metrichub.evaluation.measurement import Measurement, Nested
from metrichub.evaluation.merge import check_clusters, comparable
from metrichub.evaluation.power import shown_by
from metrichub.evaluation.resample import check_confidence
from metrichub.evaluation.resampling_units import clusters
from metrichub.evaluation.significance import (
    HEADLINES_ONLY,
    MID_P,
    Comparison,
    Comparisons,
    Pair,
    PairTests,
    SignificanceOptions,
    beats,
    compare_pairs,
    p_text,
    withheld,
)

Ranks = dict[str, dict[str, dict[str, int]]]
"""Metric -> headline output -> system -> rank, 1 for the best."""
ROUGH_P = 10
"""Fewer clusters or buckets make p too small: with 8, .11 of equal systems differ at .05."""


@dataclass(frozen=True)
class PairedTests:
    """The paired tests of several systems on the same samples.

    `pairs[system, other]` holds metric -> output -> `Comparison` for every pair, `other` being the
    one that was named first; `ranks` metric -> headline output -> system -> rank, one more than
    the systems that are significantly better; `withheld` has why a metric, or an output alone,
    ranks none. `doubts` say if p is rough.
    """

    systems: tuple[str, ...]
    pairs: Mapping[Pair, Comparisons]
    ranks: Ranks
    withheld: Mapping[str, str]
    doubts: tuple[str, ...]
    options: SignificanceOptions
    reports: Mapping[str, Measurement] = field(repr=False)

    @property
    def left_out(self) -> bool:
        """Whether samples that only one of two systems has a score of were left out of a test."""
        return any(
            test.left_out
            for tests in self.pairs.values()
            for outputs in tests.values()
            for test in outputs.values()
        )

    def scores(self) -> dict[str, Nested]:
        """System -> metric -> output -> score of all its samples, as its report has it.

        A test is of those samples that both systems have scores of.
        """
        return {name: report.scores() for name, report in self.reports.items()}

    def compare(self, system: str, other: str) -> Comparisons:
        """The comparisons of one system with another, whichever was named first.

        Raises:
            ReportError: there is no such system.
        """
        self._check(system, other)
        if (system, other) in self.pairs:
            return self.pairs[system, other]
        tests = self.pairs[other, system]
        return {
            m: {o: test.turned() for o, test in outputs.items()} for m, outputs in tests.items()
        }

    def against(self, baseline: str) -> dict[str, Comparisons]:
        """The comparisons of every other system with this one.

        Raises:
            ReportError: there is no such system.
        """
        self._check(baseline)
        return {name: self.compare(name, baseline) for name in self.systems if name != baseline}

    def _check(self, *systems: str) -> None:
        for name in systems:
            if name not in self.systems:
                near = (
                    did_you_mean(str(name), self.systems) or f"; there are {listed(self.systems)}"
                )
                raise ReportError(f"no system {name!r}{near}")
        if len({*systems}) < len(systems):
            raise ReportError(f"{systems[0]} can't be compared with itself")


def paired_tests(
    systems: Mapping[str, Measurement],
    options: SignificanceOptions,
    metrics: str | Iterable[str] | None = None,
) -> PairedTests:
    """The tests of every pair of systems; see `metrichub.compare_all`."""
    check_confidence(options.confidence)
    check_positive("trials", options.trials)
    sides = {}
    for other, name in combinations(systems, 2):
        common = comparable(systems[name], systems[other], metrics)
        mine, theirs = systems[name].results, systems[other].results
        if metrics is not None or systems[name].buckets is None:
            for metric in common:
                mine[metric].check_units()
                theirs[metric].check_units()
        sides[name, other] = ({m: mine[m] for m in common}, {m: theirs[m] for m in common})
    clustered = [system.clustered(options.cluster) for system in systems.values()]
    # Their samples are the same: one that kept the column has the clusters of all.
    report, cluster = next((own for own in clustered if own[1] in own[0].metadata), clustered[0])
    if cluster is not None and cluster == options.cluster:
        check_clusters(cluster, report, [system for system, _ in clustered])
    options = options._replace(cluster=cluster)
    units = partial(report.units, cluster=cluster)
    tests = compare_pairs(sides, units, report.size, options)
    if options.calibrate is not None:
        tests = optional_package(CALIBRATION, "calibrate").calibrated(tests, systems, options)
    pairs = tests.compared
    ranked_outputs = [
        output
        for metric in dict.fromkeys(name for tests in pairs.values() for name in tests)
        for output in _headline_outputs(metric, systems, tests, options)
    ]
    rough = _about_few(report, cluster)
    _say_results(pairs, ranked_outputs, rough)
    ranks: Ranks = {}
    for output in ranked_outputs:
        ranks.setdefault(output.metric, {})[output.name] = output.ranks
    reasons = {output.about: output.reason for output in ranked_outputs if output.reason}
    doubts = (*rough, *tests.about)
    return PairedTests(tuple(systems), pairs, ranks, reasons, doubts, options, systems)


def _about_few(report: Measurement, cluster: str | None) -> tuple[str, ...]:
    """That p is rough, where few clusters or buckets of samples were swapped."""
    if report.buckets is not None:
        column, number = report.buckets.named, len(report.buckets.filled(BUCKETS))
    elif cluster is not None:
        column, number = repr(cluster), clusters(cluster, report.metadata).number
    else:
        return ()
    few = number < min(ROUGH_P, report.size)
    return (f"p is rough, as {column} has only {number} different values",) if few else ()


def _headline_outputs(
    metric: str,
    systems: Mapping[str, Measurement],
    pair_tests: PairTests,
    options: SignificanceOptions,
) -> list[RankedOutput]:
    """A metric's headline outputs with the tests of all pairs, their p-values corrected."""
    results = {name: s.results[metric] for name, s in systems.items() if metric in s.results}
    reason = withheld(results)
    of = next(iter(results.values())).metric
    pairs = pair_tests.compared
    tests = {pair: compared[metric] for pair, compared in pairs.items() if metric in compared}
    reasons = [test.withheld for of_pair in tests.values() for test in of_pair.values()]
    reason = reason or (reasons[0] if all(reasons) else None)
    names = [name for name in of.headline() if all(name in of_pair for of_pair in tests.values())]
    corrected, critical = pair_tests.corrected(metric, names, options)
    outputs = []
    for name in names:
        bound = partial(_length_bound, of.card.scale(name))
        output = RankedOutput(
            metric,
            of.card.name,
            name,
            of.card.better(name),
            options.confidence,
            {system: result.scores()[name] for system, result in results.items()},
            {
                (system, other): _shown(
                    replace(
                        t[name],
                        p=corrected[(system, other), name],
                        withheld=t[name].withheld
                        or bound({other: systems[other], system: systems[system]}),
                    ),
                    options.confidence,
                    critical,
                )
                for (system, other), t in tests.items()
            },
            reason or bound({system: systems[system] for system in results}),
            metric if reason else output_label(metric, of.card.name, name),
        )
        outputs.append(output)
    return outputs


def _shown(test: Comparison, confidence: float, critical: float | None) -> Comparison:
    """The test with the smallest true difference that its samples would show."""
    if test.withheld:
        return test
    differing = test.differing if test.test == MID_P else None
    return replace(test, shows=shown_by(test.se, test.units, confidence, critical, differing))


def _say_results(
    pairs: Mapping[Pair, Comparisons], ranked: Iterable[RankedOutput], rough: Sequence[str]
) -> None:
    """Add the ranks and the sentence to each test; other outputs have none."""
    for output in ranked:
        for pair, test in output.tests.items():
            comparisons = pairs[pair][output.metric]
            comparisons[output.name] = output.ranked(pair, test, rough)
            # ROUGE's `score` isn't a headline output, but has the same scores as rougeL, which is.
            if isnan(comparisons["score"].p) and _alike(test, comparisons["score"]):
                comparisons["score"] = replace(output, name="score").ranked(pair, test, rough)
    for compared in (outputs for tests in pairs.values() for outputs in tests.values()):
        for name, test in compared.items():
            said = test.sentence or test.withheld
            if isnan(test.p) and not (said or isnan(test.randomization_p)):
                compared[name] = replace(test, sentence=HEADLINES_ONLY)


def _alike(test: Comparison, other: Comparison) -> bool:
    """Whether two outputs have the same scores, as far as a test can tell."""
    fields = ("score", "other", "randomization_p", "interval")
    return all(getattr(test, field) == getattr(other, field) for field in fields)


def _length_bound(scale: Scale | None, systems: Mapping[str, Measurement]) -> str | None:
    """Why systems can't be ranked by an output that falls or rises with length, if they can't."""
    if scale is None or scale.length_bound is None:
        return None
    lengths = differing_lengths({name: system.lengths for name, system in systems.items()})
    verb = scale.length_bound.removesuffix("s")
    return f"scores {verb} with length, and {lengths}" if lengths else None


def output_label(metric: str, card: str, output: str) -> str:
    """How a sentence or a table calls an output: bleu, rouge1, wer deletions."""
    if output == "score":
        return metric
    return output if metric == card and output.startswith(metric) else f"{metric} {output}"


@dataclass(frozen=True)
class RankedOutput:
    """One headline output: the score of every system, and the tests of all pairs."""

    metric: str
    card: str
    name: str
    better: str
    confidence: float
    scores: Mapping[str, float]
    tests: Mapping[Pair, Comparison]
    reason: str | None
    about: str
    """The subject of the reason: the metric, or this output alone."""

    @property
    def label(self) -> str:
        """How a sentence calls it: bleu, rouge1, wer deletions."""
        return output_label(self.metric, self.card, self.name)

    @cached_property
    def ranks(self) -> dict[str, int]:
        """One more than the systems that beat each; empty where none can be ranked."""
        if self.better == "neither" or self.reason:
            return {}
        ranks = dict.fromkeys(self.scores, 1)
        for pair in permutations(ranks, 2):
            ranks[pair[1]] += self.beats(*pair)
        return ranks

    def beats(self, system: str, other: str) -> bool:
        """Whether one system is significantly better than another."""
        return beats(self.tests, (system, other), self.better, self.confidence)

    def ranked(self, pair: Pair, test: Comparison, about: Sequence[str] = ()) -> Comparison:
        """The test with the ranks of both systems, and what it says in words."""
        system, other = pair
        result = self._sentence(system, other, test)
        sentence = "; ".join([result, *about]) if result else None
        rank, other_rank = self.ranks.get(system), self.ranks.get(other)
        return replace(test, sentence=sentence, rank=rank, other_rank=other_rank)

    def _sentence(self, system: str, other: str, test: Comparison) -> str | None:
        if test.withheld:
            return f"no winner on {self.label}: {test.withheld}"
        if isnan(test.p):
            return f"{self.label} has no test of {system} and {other}"
        if self.better == "neither":
            return None
        for winner, loser in ((system, other), (other, system)):
            if self.beats(winner, loser):
                return f"{winner} beats {loser} on {self.label} ({p_text(test.p)})"
        p = p_text(test.p)
        return f"no significant difference between {other} and {system} on {self.label} ({p})"
