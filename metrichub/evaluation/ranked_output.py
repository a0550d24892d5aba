"""Ranked outputs: the ranks of systems by one output of a metric, and what its tests say in words.

A system ranks below others only if each of them beats it, so that some of one rank may beat others
of it: WMT's clusters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise, permutations
from math import isnan

from metrichub.errors import listed
from metrichub.evaluation.significance import Comparison, Pair

_LABELS = "\0"
"""Stands in a sentence for the outputs that it is about; no name of a system has it."""


def output_label(metric: str, card: str, output: str) -> str:
    """How a sentence or a table calls an output: bleu, rouge1, wer deletions."""
    if output == "score":
        return metric
    return output if metric == card and output.startswith(metric) else f"{metric} {output}"


def p_text(p: float, sign: str = "=") -> str:
    """A p-value as papers print it: "p = .0005", "p < .0001"."""
    if p < 1e-4:
        return "p < .0001"
    return f"p {sign} {f'{p:.4f}'.removeprefix('0').rstrip('0').rstrip('.')}"


@dataclass(frozen=True)
class RankedOutput:
    """One headline output: the score of every system, and the tests of all pairs."""

    metric: str
    card: str
    name: str
    better: str
    alpha: float
    scores: Mapping[str, float]
    tests: Mapping[Pair, Comparison]
    reason: str | None
    about: str
    """What the reason is about: the metric, or this output alone."""

    @property
    def label(self) -> str:
        """How a sentence calls it: bleu, rouge1, wer deletions."""
        return output_label(self.metric, self.card, self.name)

    @property
    def tested(self) -> bool:
        """Whether any pair has a test."""
        return any(not isnan(test.p) for test in self.tests.values())

    @cached_property
    def clusters(self) -> list[list[str]]:
        """The systems, best first, cut wherever all those before beat all those after."""
        if self.better == "neither" or self.reason:
            return []
        sign = -1 if self.better == "higher" else 1
        order = sorted(self.scores, key=lambda name: (isnan(s := sign * self.scores[name]), s))
        cuts = [k for k in range(1, len(order)) if self._all_beat(order[:k], order[k:])]
        return [order[i:j] for i, j in pairwise([0, *cuts, len(order)])]

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The rank of every system, 1 for the best cluster; empty where none can be ranked."""
        return {name: k for k, part in enumerate(self.clusters, start=1) for name in part}

    def beats(self, one: str, other: str) -> bool:
        """Whether one system is significantly better than another."""
        test = self._test(one, other)
        lead = test.difference if (one, other) in self.tests else -test.difference
        ahead = lead > 0 if self.better == "higher" else lead < 0
        return ahead and test.p <= self.alpha + 1e-12

    def told(self, pair: Pair, test: Comparison) -> Comparison:
        """The test with the ranks of both systems, and what it says in words."""
        one, other = pair
        said = self._said(one, other, test)
        rank, other_rank = self.ranks.get(one), self.ranks.get(other)
        return test._replace(sentence=said, rank=rank, other_rank=other_rank)

    def facts(self) -> Iterator[tuple[tuple[str, str], str]]:
        """What the ranks say: a sentence for one output and for several, and this one's label."""
        if self.reason:
            yield (f"no winner on {_LABELS}: {self.reason}",) * 2, self.about
        elif not self.tested:
            yield (f"{_LABELS} can't be tested",) * 2, self.label
        elif self.better == "neither":
            yield from self._differences()
        else:
            yield from self._order()

    def _differences(self) -> Iterator[tuple[tuple[str, str], str]]:
        """Which systems differ, where neither more nor less is better."""
        differ = [pair for pair, test in self.tests.items() if test.p <= self.alpha + 1e-12]
        if not differ:
            yield _not_apart(listed(self.scores)), self.label
            return
        p = max(self.tests[pair].p for pair in differ)
        between = ", and ".join(f"between {other} and {one}" for one, other in differ)
        text = (
            f"{between} ({p_text(p, '≤' if differ[1:] else '=')}); neither more nor less is better"
        )
        yield (f"{_LABELS} differs {text}", f"{_LABELS} differ {text}"), self.label

    def _order(self) -> Iterator[tuple[tuple[str, str], str]]:
        if len(self.clusters) > 1:
            ranks = self.ranks
            across = [test.p for (a, b), test in self.tests.items() if ranks[a] != ranks[b]]
            p = p_text(max(across), "=" if len(across) == 1 else "≤")
            yield (f"{_chain(self.clusters)} on {_LABELS}",) * 2, f"{self.label} ({p})"
        for part in self.clusters:
            names = [name for name in self.scores if name in part]
            apart = [listed(names)]
            if won := [pair for pair in permutations(names, 2) if self.beats(*pair)]:
                pairs = combinations(names, 2)
                apart = [listed(p) for p in pairs if not {p, p[::-1]} & set(won)]
            for one, other in won:
                p = p_text(self._test(one, other).p)
                yield (f"{one} beats {other} on {_LABELS}",) * 2, f"{self.label} ({p})"
            if len(part) > 1:
                yield _not_apart(" or ".join(apart)), self.label

    def _test(self, one: str, other: str) -> Comparison:
        return self.tests.get((one, other)) or self.tests[other, one]

    def _all_beat(self, above: Sequence[str], below: Sequence[str]) -> bool:
        return all(self.beats(one, other) for one in above for other in below)

    def _said(self, one: str, other: str, test: Comparison) -> str | None:
        if test.withheld:
            return f"no winner on {self.label}: {test.withheld}"
        if isnan(test.p):
            return f"{self.label} has no test of {one} and {other}"
        if self.better == "neither":
            return None
        for winner, loser in ((one, other), (other, one)):
            if self.beats(winner, loser):
                return f"{winner} beats {loser} on {self.label} ({p_text(test.p)})"
        p = p_text(test.p)
        return f"no significant difference between {other} and {one} on {self.label} ({p})"


def in_words(outputs: Sequence[RankedOutput]) -> tuple[str, ...]:
    """What the headline outputs say of the systems; outputs that say the same share a sentence."""
    facts: dict[tuple[str, str], list[str]] = {}
    for output in outputs:
        for fact, label in output.facts():
            facts.setdefault(fact, []).append(label)
    return tuple(
        (one if len(labels) == 1 else several).replace(_LABELS, listed(dict.fromkeys(labels)))
        for (one, several), labels in facts.items()
    )


def _not_apart(systems: str) -> tuple[str, str]:
    return (f"no significant difference between {systems} on {_LABELS}",) * 2


def _chain(clusters: Sequence[Sequence[str]]) -> str:
    """Such as "B and C beat A, which beats D"."""
    verbs = ["beats" if len(part) == 1 else "beat" for part in clusters]
    first, second, *others = map(listed, clusters)
    chain = f"{first} {verbs[0]} {second}"
    for verb, part in zip(verbs[1:], others, strict=False):
        chain += f", which {verb} {part}"
    return f"{chain}," if others else chain
