"""Slices: the scores of groups of samples, their intervals, and paired tests in each."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from math import isnan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from metrichub import Hub, Report
from metrichub.evaluation.resample import holm
from metrichub.evaluation.significance import SignificanceOptions, p_text
from metrichub.report import slices as module
from metrichub.report.groupings import Grouping, groupings_of
from metrichub.report.slices import Slices, slices_of
from tests.toy_metrics import Variety

OPTIONS = SignificanceOptions(resamples=30, trials=99)
SIZE = 24
FEWEST, TRIALS_A_TEST = 20, 40


def report(right: int, domain: Any, metric: str = "exact_match", **more: Any) -> Report:
    """Of samples of these domains the first `right` are right."""
    texts = ["a b"] * right + ["a x"] * (len(domain) - right)
    columns = {"predictions": texts, "references": ["a b"] * len(domain), "domain": [*domain]}
    return Hub(metric).evaluate({**columns, **more})


def sliced(
    systems: dict[str, Report], options: SignificanceOptions = OPTIONS, tested: bool = True
) -> Slices:
    """The slices by domain, with tests of b against a where both are there."""
    groupings = groupings_of(systems, by="domain")[:1]
    pair = ("b", "a") if tested and len(systems) > 1 else None
    return slices_of(systems, groupings, pair, options)


def test_groups_have_the_scores_and_intervals_of_their_samples_alone() -> None:
    scored = report(12, ["de", "en", None] * 8)
    slices = sliced({"": scored})
    assert [(part.value, part.size) for part in slices.slices] == [
        *(("de", 8), ("en", 8), ("no value", 8))
    ]
    assert [part.scores[""]["exact_match"]["score"] for part in slices.slices] == [0.5, 0.5, 0.5]
    expected = scored.by("domain")["de"].intervals(resamples=30)["exact_match"]["score"]
    assert slices.slices[0].intervals["exact_match"]["score"] == expected
    assert not slices.slices[0].tests
    assert (slices.pair, slices.trials) == (None, 0)
    # Metrics that read an answer have slices too, and a value of no sample makes none.
    answers = Hub("exact_match(extract='last_number')").evaluate(
        {"predictions": ["It is 4.", "Who?"] * 12, "references": ["4"] * 24, "n": [*"xxyy"] * 6}
    )
    grouping = groupings_of({"": answers}, by="n")[0]
    parts = slices_of({"": answers}, [grouping._replace(values=["x", "y", "z"])], None, OPTIONS)
    scores = [next(iter(part.scores[""].values()))["score"] for part in parts.slices]
    assert scores == [0.5, 0.5]


@pytest.mark.parametrize(("most", "drawn"), [(SIZE, True), (SIZE - 1, False)])
def test_slices_of_very_many_samples_have_scores_alone(
    most: int, drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_SAMPLES", most)
    first, other = report(12, "x" * SIZE), report(3, "x" * SIZE)
    (alone,) = sliced({"": first}).slices
    assert alone.scores[""]["exact_match"]["score"] == 12 / SIZE
    assert bool(alone.intervals) == drawn
    pair = sliced({"a": first, "b": other})
    assert bool(pair.slices[0].tests) == bool(pair.trials) == drawn


def test_many_samples_take_fewer_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of three slices of 8 samples none is tested, and one metric is scored.
    monkeypatch.setattr(module, "_WORK", 48 * SIZE)
    assert sliced({"a": report(12, "xyz" * 8), "b": report(3, "xyz" * 8)}).trials == 0
    assert sliced({"a": report(12, "x" * SIZE), "b": report(3, "x" * SIZE)}).trials == 48


def test_there_are_trials_enough_for_a_small_p_after_the_correction() -> None:
    domain = [f"d{i % 10}" for i in range(10 * FEWEST)]
    systems = {"a": report(0, domain), "b": report(len(domain), domain)}
    slices = sliced(systems, OPTIONS._replace(trials=20))
    assert slices.trials == TRIALS_A_TEST * 10
    assert all(part.tests["exact_match"]["score"].p < 0.05 for part in slices.slices)


def test_p_is_corrected_over_all_slices_of_a_metric() -> None:
    domain = [*"xyz"] * FEWEST
    # B is right where A is wrong, in x always, in y in a quarter of the samples, in z never.
    better = [i % 3 == 0 or i % 12 == 1 for i in range(len(domain))]
    empty = report(0, domain)
    texts = ["a b" if right else "a x" for right in better]
    other = report(0, domain, predictions=texts)
    slices = sliced({"a": empty, "b": other})
    alone = {
        value: part.compare(empty.by("domain")[value], trials=slices.trials, resamples=30)
        for value, part in other.by("domain").items()
    }
    single = {value: row["exact_match"]["score"].randomization_p for value, row in alone.items()}
    assert single["x"] < single["y"] < single["z"] == 1
    tests = {part.value: part.tests["exact_match"]["score"] for part in slices.slices}
    assert {value: test.p for value, test in tests.items()} == holm(single)
    assert tests["x"].p == 3 * single["x"]
    assert tests["x"].interval == alone["x"]["exact_match"]["score"].interval


def test_small_slices_have_neither_tests_nor_intervals_and_do_not_count() -> None:
    domain = "x" * FEWEST + "y" * FEWEST + "z" * (FEWEST - 1)
    systems = {"a": report(0, domain), "b": report(9, domain)}
    x, y, z = sliced(systems).slices
    assert [bool(part.tests) for part in (x, y, z)] == [True, True, False]
    test = x.tests["exact_match"]["score"]
    assert test.p == 2 * test.randomization_p
    untested = sliced(systems, tested=False)
    assert not any(part.tests or part.intervals for part in (*untested.slices, z))


def test_slices_of_too_few_scored_samples_or_withheld_ones_do_not_count() -> None:
    # An empty text has no score: x lacks one of one system alone, y of both, and 19 are left.
    texts = ["a a", "b b b", "c d"] * FEWEST
    other, domain = [text.replace("a a", "a c") for text in texts], sorted("xyz" * FEWEST)
    other[0] = texts[FEWEST] = other[FEWEST] = ""
    systems = {
        name: report(0, domain, "ttr", predictions=column)
        for name, column in (("a", texts), ("b", other))
    }
    slices = sliced(systems)
    of_z = slices.slices[2].tests["ttr"]
    x, y, z = (part.tests["ttr"]["score"] for part in slices.slices)
    assert (x.samples, y.samples, z.samples) == (19, 19, 20)
    assert [bool(test.withheld) for test in (x, y)] == [True, False]
    assert isnan(x.p)
    assert isnan(y.p)
    corrected = holm({o: t.randomization_p for o, t in of_z.items() if not isnan(t.p)})
    assert z.p == corrected["score"]


def test_clusters_of_a_slice_are_drawn_and_swapped_whole() -> None:
    # All of y are of one document, of which nothing can be drawn.
    domain, doc = "x" * 20 + "y" * 20, [*range(20)] + [7] * 20
    systems = {name: report(n, domain, doc=doc) for name, n in (("a", 40), ("b", 10))}
    options = OPTIONS._replace(cluster="doc")
    slices = sliced(systems, options).slices
    assert [bool(part.tests) for part in slices] == [True, False]
    alone = sliced({"a": systems["b"]}, options).slices
    assert [bool(part.intervals) for part in alone] == [True, False]


def test_clusters_that_one_system_has_hold_for_the_other() -> None:
    domain = "x" * 20 + "y" * 20
    systems = {"a": report(40, domain, doc=[*range(40)]), "b": report(10, domain)}
    slices = sliced(systems, OPTIONS._replace(cluster="doc"))
    assert slices.sentence.startswith("b is weaker against a where domain is y (exact_match, p")
    assert [bool(part.tests) for part in slices.slices] == [True, True]


def test_metrics_that_do_not_add_up_have_slices_without_intervals_and_tests() -> None:
    columns = {"predictions": ["a b"] * 40, "references": ["a b"] * 40, "domain": ["x", "y"] * 20}
    slices = sliced({"": Hub([Variety(), "exact_match"]).evaluate(columns)})
    assert slices.trials == 0
    for part in slices.slices:
        assert list(part.scores[""]) == ["variety", "exact_match"]
        assert list(part.intervals) == ["exact_match"]
    alone = Hub(Variety()).evaluate(columns)
    slices = sliced({"a": alone, "b": alone}, OPTIONS._replace(trials=50))
    # Without a test the swaps are as many as were asked for, not 40 for each of two slices.
    assert (slices.trials, [dict(part.tests) for part in slices.slices]) == (50, [{}, {}])


def test_rows_of_slices_have_the_tests_that_have_a_p() -> None:
    domain = "x" * 20 + "y" * 9
    systems = {"a": report(29, domain, "wer"), "b": report(0, domain, "wer")}
    slices = sliced(systems)
    # Outputs beside the headline have no p, and don't count.
    tests = slices.slices[0].tests["wer"]
    assert [name for name, test in tests.items() if not isnan(test.p)] == ["score"]
    test = tests["score"]
    assert test.p == test.randomization_p
    low, high = test.interval.ends
    (row,) = slices.rows()
    assert row == {
        "column": "domain",
        "value": "x",
        "samples": 20,
        "system": "b",
        "metric": "wer",
        "scores": {name: entry.take(range(20)).scores()["wer"] for name, entry in systems.items()},
        "tests": {"score": {"difference": 0.5, "low": low, "high": high, "p": test.p}},
    }
    table = slices.table(systems)
    assert table.head == ["domain", "samples", "metric", "a", "b", "difference", "p"]
    assert table.caption == (
        "Difference of b from a by domain; p is corrected over all slices of at least 20 samples; "
        f"{NONE}"
    )
    # No random swap of 99 is as extreme: p is 1 of 100; the small slice has none.
    assert [[str(cell) for cell in row] for row in table.rows] == [
        ["x", "20", "wer ↓", "0.000", "0.500", "+0.500 [–]", ".010"],
        ["y", "9", "wer ↓", "0.000", "0.500", "–", "–"],
    ]
    # Of several groupings the first names the table.
    kind = groupings_of(systems, by="domain")[0]
    both = [kind, Grouping("other", "other", ["all"], np.zeros(29, np.int64))]
    assert slices_of(systems, both, ("b", "a"), OPTIONS).table(systems).head[0] == "domain"
    assert slices_of(systems, [], ("b", "a"), OPTIONS).table(systems).head[0] == ""


def heading(path: Path, systems: dict[str, Report], **how: Any) -> str:
    """The text beside the heading "Slices" on the page."""
    (name, first), *others = systems.items()
    first.to_html(path, name=name, others=dict(others), trials=2_000, resamples=30, **how)
    match = re.search(r'id="slices-heading">Slices</h2>(?: <span>(.*?)</span>)?', path.read_text())
    assert match
    return html.unescape(match[1] or "")


NONE = "no slice differs significantly from the rest"


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        # Both are right on all of "same"; on "other" one is right on all and one on none.
        (60, 30, "two is weaker against one where domain is other (exact_match, p < .001)"),
        (30, 60, "two is weaker against one where domain is same (exact_match, p < .001)"),
        (60, 60, NONE),
        # Two loses everywhere, which makes no slice weaker than the rest.
        (60, 0, NONE),
    ],
)
def test_the_heading_names_a_slice_that_differs_from_the_rest(
    tmp_path: Path, first: int, second: int, says: str
) -> None:
    left, two = (report(n, ["same"] * 30 + ["other"] * 30) for n in (first, second))
    assert heading(tmp_path / "page.html", {"one": left, "two": two}) == says


def p_of_slice(right: Sequence[int], inside: int, cluster: int = 1) -> float:
    """The p-value of the first samples against the rest: Student's t, by the larger error.

    Of samples in clusters of equal size that lie within a side. Pooled variance, as of a t-test of
    two samples; and the squares of what clusters add, with n/(n - 1) for the smaller side's n.
    """
    sides = [np.array(right[:inside], float), np.array(right[inside:], float)]
    units = min(len(side) for side in sides) // cluster
    pooled = np.array(right, float).var(ddof=1) * sum(1 / len(side) for side in sides)
    value = (
        units
        / (units - 1)
        * sum(
            float((((side - side.mean()).reshape(-1, cluster).sum(axis=1) / len(side)) ** 2).sum())
            for side in sides
        )
    )
    t = (sides[0].mean() - sides[1].mean()) / sqrt(max(pooled, value))
    return float(2 * scipy_stats.t.sf(abs(t), units - 1))


# Which of the first 20 samples, of the domain x, and of 80 others, of y, are right.
X, Y = [1] * 8 + [0] * 12, [1] * 72 + [0] * 8


@pytest.mark.parametrize(
    ("right", "cluster", "says"),
    [
        ([*X, *Y], 1, "weaker where domain is x (exact_match, p"),
        # All 20 of 20, and 72 of 80: Fisher's exact test has .20.
        ([1] * 20 + Y, 1, NONE),
        # Four documents of x, each right or wrong as a whole, and sixteen of y.
        ([1] * 5 + [0] * 15 + Y, 5, NONE),
        ([1] * 5 + [0] * 15 + Y, 1, "weaker where domain is x (exact_match, p"),
    ],
)
def test_the_slices_of_one_system_are_tested_against_the_rest(
    tmp_path: Path, right: list[int], cluster: int, says: str
) -> None:
    texts = ["a b" if is_right else "a x" for is_right in right]
    doc = [k // cluster for k in range(100)]
    system = report(0, "x" * 20 + "y" * 80, predictions=texts, doc=doc)
    text = heading(
        tmp_path / "page.html", {"": system}, by="domain", cluster="doc" if cluster > 1 else None
    )
    # Twice by Holm for two slices, which are each other's rest.
    p = min(1.0, 2 * p_of_slice(right, 20, cluster))
    assert text == (says if says == NONE else f"{says} {p_text(p).removeprefix('p ')})")
    assert (p > 0.05) == (says == NONE)


def test_few_errors_are_strong_and_no_direction_or_too_few_samples_name_no_slice(
    tmp_path: Path,
) -> None:
    page, domain = tmp_path / "page.html", "x" * 40 + "y" * 40
    assert "weaker where domain is y (wer, p" in heading(page, {"": report(40, domain, "wer")})
    source = ["a b"] * 80
    alone = report(40, domain, "abstractness", sources=source)
    assert heading(page, {"": alone}, by="domain") == ""
    assert heading(page, {"": report(10, "x" * 19 + "y" * 19)}, by="domain") == ""


@pytest.mark.parametrize("metric", ["exact_match", "wer", "bleu", "chrf"])
def test_what_a_sample_adds_is_told_by_leaving_it_out(metric: str) -> None:
    rng = np.random.default_rng(7)
    texts = [" ".join(rng.choice([*"abcd"], 4 + k)) for k in range(6)]
    references = [" ".join(rng.choice([*"abcd"], 5 + k)) for k in range(6)]
    references[2] = texts[2]

    def score(rows: Sequence[int]) -> float:
        columns = [[column[k] for k in rows] for column in (texts, references)]
        report = Hub(metric).evaluate(predictions=columns[0], references=columns[1])
        return float(report[metric]["score"])

    report = Hub(metric).evaluate(predictions=texts, references=references)
    expected = [6 * score(range(6)) - 5 * score([i for i in range(6) if i != k]) for k in range(6)]
    assert report.results[metric].added()["score"] == pytest.approx(expected)


def test_bins_stand_in_their_order_on_the_page(tmp_path: Path) -> None:
    # The longest texts differ most, the shortest least.
    texts = ["a " * (k // 20 + 1) for k in range(80)]
    columns = {"references": texts, "year": [2019 + (k // 20) % 2 for k in range(80)]}
    first, two = (
        Hub("wer").evaluate({"predictions": predictions, **columns})
        for predictions in (texts, ["a"] * 80)
    )
    path = tmp_path / "page.html"
    assert "two is weaker against one where" in heading(path, {"one": first, "two": two})
    labels = re.findall(
        r'data-select="[^"]*">(.*?)</button>', path.read_text().split("slices-1")[1]
    )
    assert labels[:6] == ["2019", "2020", "1", "2", "3", "4"]
