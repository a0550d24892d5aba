"""The headline: who scores highest, whom the tests can't tell from it, and what contradicts it.

It is what a terminal, a page, `print` and a gate begin with. The first sentence is about the first
output that ranks the systems, the second about what the others add. Every clause follows from the
scores, the tests and the reasons that the ranking holds; none says that a system *is* better, as a
metric says it, nor that systems are equal, as a difference that wasn't found may still be there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isnan, nan
from typing import TYPE_CHECKING, NamedTuple

from metrichub.errors import listed
from metrichub.evaluation.significance import Comparison, beats, p_text, verdict_of
from metrichub.report.rows import (
    EQUAL,
    OutputColumn,
    Row,
    ScoreFormat,
    merged_columns,
    ranks_of,
    test_of,
)

if TYPE_CHECKING:
    from metrichub.evaluation.paired_tests import PairedTests

LONGEST = 110
"""Longer first sentences name fewer systems."""
_NAMED = 4
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six",
            "seven", "eight", "nine", "ten", "eleven", "twelve")  # fmt: skip


class Headline(NamedTuple):
    """The result in a sentence or two, and the first of them without p, as a title."""

    sentences: tuple[str, ...]
    title: str

    def __str__(self) -> str:
        """The sentences as one text."""
        return " ".join(self.sentences)


def headline(tests: PairedTests, percent: bool = False) -> Headline:
    """The result of the tests on the headline outputs; the first that was compared ranks."""
    columns = merged_columns(tests.reports, ScoreFormat(percent=percent))
    compared = {metric for comparisons in tests.pairs.values() for metric in comparisons}
    columns = [column for column in columns if column.metric in compared] or columns
    first, *others = (Standing(tests, column) for column in columns)
    sentence, title = first.sentence(), first.sentence(with_p=False)
    if others and len(tests.systems) == 2 and all(s.state == "level" for s in (first, *others)):
        a, b = tests.systems
        either = "any" if len(columns) > 2 else "either"
        of = f"{either} of the {_count(len(columns))} {_noun(columns)}"
        sentence = title = f"No significant difference between {a} and {b} on {of}"
        others = []
    sentences = [sentence, *filter(None, [_second(first, others)])]
    return Headline(tuple(f"{text}." for text in sentences), title)


def headline_of_one(rows: Sequence[Row], confidence: float) -> Headline:
    """The score of one system on its first output, and on the others in a few words."""
    row, *others = rows
    name, interval = row.system, ""
    scores = [
        f"{number} on {label}" if name else f"{label} {number}"
        for number, label in ((_number(r.column, r.score), short_label(r.column)) for r in rows[:4])
    ]
    scores += [f"{len(rows) - 4} more below"] if len(rows) > 4 else []
    if row.interval and not isnan(row.interval.low):
        low, high = (_number(row.column, end) for end in row.interval.ends)
        interval = f", {100 * confidence:g}% interval {low} to {high}{',' if others else ''}"
    begin = f"{name} scores " if name else ""
    title = f"{begin}{listed(scores)}"
    more = f" and {listed(scores[1:])}" if others else ""
    sentence = f"{begin}{scores[0]}{interval}{more}" if interval else title
    return Headline((f"{sentence}.",), title)


@dataclass(frozen=True)
class Standing:
    """How systems stand by one output.

    `state` is "withheld" where a reason is known why none can be called better, "untested",
    "undirected" where neither more nor less is better, "level" without a significant difference,
    and otherwise "ordered".
    """

    tests: PairedTests
    column: OutputColumn

    @cached_property
    def state(self) -> str:
        """How far the order of the systems is known."""
        verdicts = {verdict_of(t, self.column.better, self._level) for t in self._tests.values()}
        if self.reason:
            return "withheld"
        if verdicts <= {"not tested", "no winner"}:
            return "untested"
        if self.column.better == "neither":
            return "undirected"
        return "ordered" if verdicts & {"better", "worse"} else "level"

    @property
    def reason(self) -> str | None:
        """Why none can be called better."""
        metric, label = self.column.metric, short_label(self.column)
        return self.tests.withheld.get(metric) or self.tests.withheld.get(label)

    @cached_property
    def all_scores(self) -> dict[str, float]:
        """The score of every system, of all its samples; `nan` where it has none."""
        metric, output, *_ = self.column
        return {
            name: report.results[metric].scores().get(output, nan) if metric in report else nan
            for name, report in self.tests.reports.items()
        }

    @cached_property
    def scores(self) -> dict[str, float]:
        """The score of every system that has one, best first; of two, those that are compared."""
        scores = {name: score for name, score in self.all_scores.items() if not isnan(score)}
        if len(self.tests.systems) == 2 and (test := self._only_test):
            (system, other), *_ = self._tests
            scores = {other: test.other, system: test.score}
        sign = 1 if self.column.better == "lower" else -1
        return dict(sorted(scores.items(), key=lambda item: sign * item[1]))

    def by_rank(self, systems: Iterable[str]) -> list[str]:
        """The systems by rank and score, the best first; as they come without ranks."""
        sign = 1 if self.column.better == "lower" else -1

        def place(system: str) -> tuple[float, float]:
            rank = self.ranks.get(system)
            return (rank, sign * self.all_scores[system]) if rank else (inf, 0.0)

        return sorted(systems, key=place)

    @property
    def ranks(self) -> Mapping[str, int]:
        """The rank of every system; none without a direction."""
        return ranks_of(self.tests, self.column)

    @cached_property
    def best(self) -> list[str]:
        """The systems with the best score."""
        top = next(iter(self.scores.values()), nan)
        return [name for name, score in self.scores.items() if score == top]

    @cached_property
    def lower(self) -> list[str]:
        """The systems that are significantly worse than all with the best score."""
        others = [name for name in self.scores if name not in self.best]
        return [name for name in others if all(self.beats(best, name) for best in self.best)]

    @cached_property
    def close(self) -> list[str]:
        """The systems that aren't significantly worse than the best."""
        return [name for name in self.scores if name not in {*self.best, *self.lower}]

    def test(self, system: str, other: str) -> Comparison | None:
        """The test of a system against another, whichever was named first."""
        if test := self._tests.get((system, other)):
            return test
        test = self._tests.get((other, system))
        return test and test.turned()

    def verdict(self, system: str, other: str) -> str:
        """The verdict on a system against another; see `verdict_of`."""
        return verdict_of(self.test(system, other), self.column.better, self._level)

    def beats(self, system: str, other: str) -> bool:
        """Whether a system is significantly better than another."""
        return beats(self._tests, (system, other), self.column.better, self._level)

    def mark(self, name: str) -> str:
        """How a system stands: "best", "worse" than the best, or "close"; "" if nothing is known.

        Of two systems the best is only marked where it differs.
        """
        if self.state != "ordered" and (self.state != "level" or len(self.tests.systems) == 2):
            return ""
        if name in self.best:
            return "best"
        return "worse" if name in self.lower else "close" if name in self.close else ""

    def sentence(self, with_p: bool = True) -> str:
        """The result by this output as a sentence, without a full stop."""
        label = short_label(self.column)
        if self.state == "withheld":
            metric = self.column.metric
            about = metric if metric in self.tests.withheld else label
            return f"{about} ranks no system: {self.reason}"
        if self.state == "untested":
            return f"{label} can't be tested: {self._listed(self.scores)}"
        if len(self.tests.systems) == 2:
            return self._of_two(label, with_p)
        if self.state == "undirected":
            (low, least), *_, (high, most) = sorted(self.scores.items(), key=lambda item: item[1])
            number = self._number
            return (
                f"{label} goes from {number(least)} ({low}) to {number(most)} ({high}); neither "
                "more nor less is better"
            )
        if self.state == "level":
            return self._none(label)
        for named in (_NAMED, 0):
            text = self._of_several(label, named)
            if len(text) <= LONGEST:
                break
        return text

    def _of_two(self, label: str, with_p: bool) -> str:
        test = self._only_test
        assert test
        (first, a), (second, b) = self.scores.items()
        if self.beats(second, first):
            first, second = second, first
        numbers = f"{self._number(a)} against {self._number(b)}"
        if by_people := not isnan(test.judged):
            numbers = f"{self._number(abs(test.difference))} apart by people's labels"
        p = f" ({p_text(test.p)})" if with_p else ""
        lacking = ""
        if test.left_out:
            of = f"{test.samples:,} of {test.samples + test.left_out:,} samples"
            lacking = f", on {of}: {test.left_out:,} have no score of both"
        if self.state == "undirected":
            differs = verdict_of(test, "neither", self._level) == "different"
            verb = "differs" if differs else "doesn't differ significantly"
            return (
                f"{label} {verb}: {self._listed(self.scores)}{p}{lacking}; neither more nor less "
                "is better"
            )
        if self.state == "level":
            one, two = (self._number(self.scores[name]) for name in self.tests.systems)
            if not by_people:
                numbers = f"{one} both" if one == two else f"{one} and {two}"
            between = listed(self.tests.systems)
            return f"No significant difference between {between} on {label}: {numbers}{p}{lacking}"
        down = self.column.better == "lower"
        verb = f"lower than {second} on {label}, where less is better" if down else ""
        verb = verb or f"higher than {second} on {label}"
        return f"{first} scores {verb}: {numbers}{p}{lacking}"

    def _none(self, label: str) -> str:
        """That no pair of several differs."""
        if len(self.scores) <= 3:
            return f"No significant difference on {label}: {self._listed(self.scores)}"
        ends = sorted(self.scores.values())
        return (
            f"No significant difference on {label} among the {len(self.scores)} systems: from "
            f"{self._number(ends[0])} to {self._number(ends[-1])}"
        )

    def _of_several(self, label: str, named: int) -> str:
        down = self.column.better == "lower"
        top = self._number(self.scores[self.best[0]])
        score = f"{top} both" if len(self.best) == 2 else f"{top} each"
        who = f"{_some(self.best, len(self.scores), named, other='')} score"
        if len(self.best) == 1:
            score, who = top, f"{who}s"
        text = f"{who} {'lowest' if down else 'highest'} on {label} ({score})"
        worse = "higher" if down else "lower"
        by = "by people's labels " if self.tests.options.calibrate is not None else ""
        if not self.close:
            if len(self.lower) <= 2:
                return f"{text}, {by}ahead of {self._listed(self.lower, brackets=True)}"
            return f"{text}, {by}ahead of all others"
        if not self.lower:
            return f"{text}, but {by}no other is significantly {worse}"
        others = len(self.close) + len(self.lower)
        close = _some(self.close, others, named)
        aren_t = "isn't" if len(self.close) == 1 else "aren't"
        lower = _some(self.lower, others, named, remaining=len(self.close) > named)
        are = "is" if len(self.lower) == 1 else "are"
        return f"{text}; {by}{close} {aren_t} significantly {worse}, {lower} {are}"

    def _listed(self, names: Iterable[str], brackets: bool = False) -> str:
        """Names with their scores."""
        form = "{} ({})" if brackets else "{} {}"
        scores = self.scores
        return listed([form.format(n, self._number(scores[n])) for n in names] or ["no scores"])

    def _number(self, value: float) -> str:
        return _number(self.column, value)

    @cached_property
    def _tests(self) -> Mapping[tuple[str, str], Comparison]:
        pairs = self.tests.pairs
        return {pair: test for pair in pairs if (test := test_of(self.tests, pair, self.column))}

    @property
    def _only_test(self) -> Comparison | None:
        return next(iter(self._tests.values()), None)

    @property
    def _level(self) -> float:
        return self.tests.options.confidence


def _second(first: Standing, others: Sequence[Standing]) -> str:
    """The sentence on the other outputs: why one ranks none, or if they agree with the first."""
    for reason in (
        standing.reason for standing in others if standing.reason not in (None, first.reason)
    ):
        metrics = dict.fromkeys(
            standing.column.metric for standing in others if standing.reason == reason
        )
        labels = [short_label(standing.column) for standing in others if standing.reason == reason]
        labels = [*metrics] if len(metrics) < len(labels) else labels
        return f"{listed(labels)} {'ranks' if len(labels) == 1 else 'rank'} no system: {reason}"
    ranking = [standing for standing in others if standing.state in ("ordered", "level")]
    if first.state not in ("ordered", "level"):
        return next((standing.sentence() for standing in ranking), "")
    if ahead := _ahead(first, others):
        return "; ".join([ahead[0], *(f"o{text[1:]}" for text in ahead[1:])])
    if len(first.tests.systems) > 2 or not ranking or first.state == "level":
        return ""
    if level := [standing for standing in ranking if standing.state == "level"]:
        return f"No significant difference on {_outputs(level, others)}"
    text = _outputs(ranking, others)
    text = f"T{text[1:]}" if text.startswith("the other") else text
    return f"{text} {'agrees' if len(ranking) == 1 else 'agree'}"


def _ahead(first: Standing, others: Sequence[Standing]) -> list[str]:
    """On which outputs others than the first ones are ahead, and of whom."""
    leads: dict[str, list[Standing]] = {}
    for standing in others:
        if standing.state != "ordered":
            continue
        ahead = [name for name in standing.best if first.state == "level" or name not in first.best]
        behind = [name for name in first.best if name in standing.lower]
        whom = behind if first.state == "ordered" else standing.lower
        if not ahead or not whom:
            continue
        if not standing.close and len(standing.scores) > 2:
            of = f" of {'both' if len(standing.lower) == 2 else 'all'} others"
        else:
            of = f" of {listed(whom)}"
        text = f"{listed(ahead)} {'is' if len(ahead) == 1 else 'are'} ahead{of}"
        leads.setdefault(text, []).append(standing)
    return [f"On {_outputs(standings, others, _NAMED)} {text}" for text, standings in leads.items()]


def _outputs(of: Sequence[Standing], others: Sequence[Standing], most: int = 2) -> str:
    """Some of the other outputs: by their names, or as a number of them where they are more."""
    if len(of) <= most:
        return listed([short_label(standing.column) for standing in of])
    noun = _noun([standing.column for standing in others])
    if len(of) == len(others):
        return f"the other {_count(len(of))} {noun}"
    return f"{_count(len(of))} of the other {_count(len(others))} {noun}"


def _noun(columns: Sequence[OutputColumn]) -> str:
    """The word for these outputs: "scores" where a metric has several of them, else "metrics"."""
    return "metrics" if len({c.metric for c in columns}) == len(columns) else "scores"


def _some(
    names: Sequence[str],
    of: int,
    most: int = _NAMED,
    remaining: bool = False,
    other: str = "other ",
) -> str:
    """Names, or how many they are where they are more; `remaining` ones as what is left of them."""
    if len(names) <= max(most, 1):
        return listed(names)
    return f"the other {_count(len(names))}" if remaining else f"{len(names)} of the {other}{of}"


def _count(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def short_label(column: OutputColumn) -> str:
    """The output's own name, of those that are equal the first."""
    return column.label.split(EQUAL)[0]


def short_head(column: OutputColumn) -> str:
    """The head of a column, of outputs that are equal that of the first."""
    return f"{short_label(column)}{column.head.removeprefix(column.label)}"


def _number(column: OutputColumn, value: float) -> str:
    return f"{column.number(value)}{'%' if column.factor == 100 else ''}"
