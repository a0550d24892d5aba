"""Calibrated differences: against numpy and ppi-python, what is said of them, and the labels."""

from __future__ import annotations

import csv
import json
from math import isnan, nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from metrichub import Hub, Report, compare_all
from metrichub.errors import InputError, MissingColumn
from metrichub.evaluation.significance import p_text
from tests.commands import error, run, write
from tests.vectors import DATA

VECTORS = [json.loads(line) for line in (DATA / "ppi_differences.jsonl").read_text().splitlines()]
HUB = Hub("recorded(column='grade', better='higher')")
RANDOM = "labels must be a random choice of the samples"
ONE_BY_ONE = "by Student's t of calibrated differences, with labels of {} samples; " + RANDOM


def report(judge: Any, people: Any, **columns: Any) -> Report:
    """A system by the scores of its judge, with people's labels, `nan` for none."""
    labels = [None if isnan(label) else float(label) for label in people]
    return HUB.evaluate({"grade": list(map(float, judge)), "good": labels, **columns})


def systems(seed: int = 1, size: int = 120, labels: int = 40, bias: float = 1.0) -> dict[str, Any]:
    """Two systems: people prefer the second by half a point, and the judge the first."""
    random = np.random.default_rng(seed)
    alike = random.normal(size=size)
    people = [np.round(alike + random.normal(size=size) + gap, 1) for gap in (0, 0.5)]
    judge = [np.round(label + random.normal(size=size) * 0.5, 1) for label in people]
    judge[0] = judge[0] + bias
    for grades in people:
        grades[labels:] = nan
    return {"judge": judge, "people": people}


def by_hand(judge: np.ndarray, people: np.ndarray) -> tuple[float, float, float]:
    """The mean by PPI++ with its variance and degrees of freedom, from the definitions."""
    labelled = ~np.isnan(people)
    y, f, u = people[labelled], judge[labelled], judge[~labelled]
    n, others = len(y), len(u)
    weight = np.cov(y, f, bias=True)[0, 1] / ((1 + n / others) * np.var(judge, ddof=1))
    weight = min(max(weight, 0), 1)
    mean = y.mean() + weight * (u.mean() - f.mean())
    # The weight that was chosen takes one more degree of freedom.
    freedom = n - 1 - (weight > 0)
    of_labels = ((y - weight * f - (y - weight * f).mean()) ** 2).sum() / freedom / n
    of_others = weight**2 * np.var(u, ddof=1) / others
    squares = of_labels**2 / freedom + of_others**2 / (others - 1)
    return mean, of_labels + of_others, (of_labels + of_others) ** 2 / squares


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: str(len(v["inputs"]["human_difference"])))
def test_a_calibrated_difference_is_that_of_ppi_python(vector: dict[str, Any]) -> None:
    inputs, expected = vector["inputs"], vector["expected"]
    others = inputs["judge_difference_others"]
    judge = np.array([*inputs["judge_difference_labelled"], *others])
    people = np.array([*inputs["human_difference"], *[nan] * len(others)])
    # The difference from a system whose scores and labels are all 0.
    none = report(judge * 0, people * 0)
    test = report(judge, people).compare(none, calibrate="good")["grade"]["score"]
    assert test.difference == pytest.approx(expected["tuned"])
    assert test.judged == pytest.approx(expected["judge_alone"])
    assert test.units == len(inputs["human_difference"])
    # Its interval is of normal quantiles, and of variances that aren't corrected for n: narrower.
    low, high = expected["tuned_ci"]
    assert 1 < (test.interval.high - test.interval.low) / (high - low) < 1.2


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_differences_of_labels_are_corrected_by_those_of_the_judge(level: float) -> None:
    result = systems()
    first, second = (report(*of) for of in zip(*result.values(), strict=True))
    ranking = compare_all({"A": first, "B": second}, confidence=level, calibrate="good")
    test = ranking.pairs["B", "A"]["grade"]["score"]
    (judge, people) = (result[kind][1] - result[kind][0] for kind in ("judge", "people"))
    difference, variance, freedom = by_hand(judge, people)
    p = 2 * scipy.stats.t.sf(abs(difference) / sqrt(variance), freedom)
    ends = scipy.stats.t.interval(level, freedom, difference, sqrt(variance))
    assert (test.difference, test.se, test.p) == pytest.approx((difference, sqrt(variance), p))
    assert test.interval.ends == pytest.approx(ends)
    assert test.judged == pytest.approx(judge.mean())
    # The judge has it the other way round, and significantly.
    assert test.judged < 0 < test.difference
    assert first.compare(second)["grade"]["score"].p < 0.001
    message = f"B scores higher than A on grade: {difference:.3f} apart by people's labels"
    assert ranking.sentence == f"{message} ({p_text(p)})."
    assert ranking.doubts == (ONE_BY_ONE.format(40),)
    assert ranking.ranks == {"grade": {"score": {"A": 2, "B": 1}}}
    # The other way round, everything changes its sign.
    turned = first.compare(second, confidence=level, calibrate="good")["grade"]["score"]
    assert (turned.difference, turned.p) == pytest.approx((-difference, p))
    assert turned.sentence is not None
    assert turned.sentence.startswith("the other system beats this system on grade")


def test_labels_of_different_samples_are_two_calibrated_means() -> None:
    result = systems(labels=80)
    result["people"][0][40:], result["people"][1][:40] = nan, nan
    reports = [report(*of) for of in zip(*result.values(), strict=True)]
    ranking = compare_all(dict(zip("AB", reports, strict=True)), calibrate="good")
    test = ranking.pairs["B", "A"]["grade"]["score"]
    mine, theirs = (by_hand(result["judge"][k], result["people"][k]) for k in (1, 0))
    variance = mine[1] + theirs[1]
    freedom = variance**2 / (mine[1] ** 2 / mine[2] + theirs[1] ** 2 / theirs[2])
    ends = scipy.stats.t.interval(0.95, freedom, mine[0] - theirs[0], sqrt(variance))
    assert (test.difference, *test.interval.ends) == pytest.approx((mine[0] - theirs[0], *ends))
    assert ranking.doubts[-1] == (
        "by Student's t of two calibrated means, as no sample has labels of both systems, with "
        f"labels of 40 samples; {RANDOM}"
    )


def yes_no(differing: int, labels: int = 30, size: int = 60) -> list[Report]:
    """Two systems whose labels, 1 and 0, differ on so many of the labeled samples."""
    judge = [np.arange(size) % 2, np.arange(size) // 2 % 2]
    mine = [*[1] * labels, *[nan] * (size - labels)]
    theirs = [*[0] * differing, *mine[differing:]]
    return [report(judge[0], mine), report(judge[1], theirs)]


@pytest.mark.parametrize(
    ("report", "why"),
    [
        (yes_no(7), "the systems differ on 7 of 30 samples"),
        (yes_no(0), "the systems differ on 0 of 30 samples"),
        # All but 5 differ alike: the same difference has no variance.
        (yes_no(25), "labels differ from the most common one on 5 of 30 samples"),
        (yes_no(5, labels=7), "7 samples have labels of both"),
        (yes_no(0, labels=0), "0 samples have labels of both"),
    ],
)
def test_too_few_labels_name_no_winner(report: list[Report], why: str) -> None:
    ranking = compare_all(dict(zip("AB", report, strict=True)), calibrate="good")
    test = ranking.pairs["B", "A"]["grade"]["score"]
    assert ranking.sentence == f"grade ranks no system: {why}; a verdict takes 8."
    assert (test.withheld, ranking.ranks["grade"]["score"]) == (f"{why}; a verdict takes 8", {})
    assert np.isnan([test.p, *test.interval.ends]).all()
    assert "true difference" not in str(ranking)


@pytest.mark.parametrize("differing", [8, 22])
def test_from_8_labels_on_that_differ_there_is_a_verdict(differing: int) -> None:
    A, B = yes_no(differing)
    assert A.compare(B, calibrate="good")["grade"]["score"].p < 0.05


def test_a_sample_without_a_score_of_both_is_left_out() -> None:
    result = systems()
    alone = compare_all(
        {n: report(j[1:], p[1:]) for n, j, p in zip("AB", *result.values(), strict=True)},
        calibrate="good",
    )
    judge = [[None, *scores[1:]] for scores in result["judge"]]
    people = [[None if isnan(x) else float(x) for x in ratings] for ratings in result["people"]]
    sides = {
        n: HUB.evaluate({"grade": j, "good": p})
        for n, j, p in zip("AB", judge, people, strict=True)
    }
    more = compare_all(sides, calibrate="good")
    tests = [ranking.pairs["B", "A"]["grade"]["score"] for ranking in (alone, more)]
    assert tests[0].difference == tests[1].difference
    assert [test.units for test in tests] == [39, 39]


def test_of_several_systems_pairs_with_few_differences_have_no_winner() -> None:
    result = systems()
    A, B = (report(*of) for of in zip(*result.values(), strict=True))
    alike = result["people"][1].copy()
    alike[:3] += 1
    C = report(result["judge"][1] + 0.1, alike)
    ranking = compare_all({"A": A, "B": B, "C": C}, calibrate="good")
    withheld = ranking.pairs["C", "B"]["grade"]["score"].withheld
    assert withheld == "the systems differ on 3 of 40 samples; a verdict takes 8"
    assert ranking.ranks["grade"]["score"] == {"A": 3, "B": 1, "C": 1}
    # Two tests are left, by Holm's method: the smaller p is doubled.
    raw = [ranking.pairs[name, "A"]["grade"]["score"].randomization_p for name in "BC"]
    p = [ranking.pairs[name, "A"]["grade"]["score"].p for name in "BC"]
    assert min(p) == pytest.approx(2 * min(raw))
    assert max(p) == pytest.approx(max(max(raw), min(p)))
    assert "Student's t of calibrated differences" in ranking.to_markdown()
    assert "by Holm's method" in ranking.to_markdown()


def test_where_nothing_differs_labelled_samples_say_what_they_would_show() -> None:
    result = systems(labels=30)
    result["people"][1] -= 0.5
    ranking = compare_all(
        dict(zip("AB", (report(*of) for of in zip(*result.values(), strict=True)), strict=True)),
        calibrate="good",
    )
    test = ranking.pairs["B", "A"]["grade"]["score"]
    assert test.p > 0.05
    assert f"with 30 labeled samples, a true difference of at least {test.shows:.3f} in grade" in (
        str(ranking)
    )
    # A margin of calibrated differences is by their own error, one-sided at .025 below 100.
    margin = ranking.not_worse("B", "grade", 1.0)
    assert margin.p == pytest.approx(scipy.stats.t.sf((test.difference + 1.0) / test.se, 29))
    assert margin.confidence == 0.975


def test_samples_that_belong_together_are_refused() -> None:
    result = systems()
    names = [f"q{k // 2}" for k in range(120)]
    A, B = (report(*of, doc=names) for of in zip(*result.values(), strict=True))
    with pytest.raises(InputError, match="can't be calibrated where samples belong together"):
        A.compare(B, calibrate="good", cluster="doc")
    with pytest.raises(MissingColumn, match="the other system has no column 'god'"):
        A.compare(B, calibrate="god")
    A, B = (report(*of, id=names) for of in zip(*result.values(), strict=True))
    with pytest.raises(InputError, match="by a cluster or by an id that repeats"):
        A.compare(B, calibrate="good")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two systems of 60 answers with ids; B has each word twice as often, as a judge likes it."""
    monkeypatch.chdir(tmp_path)
    for name, right in (("a", 3), ("b", 2)):
        write(
            f"{name}.jsonl",
            [
                {"id": f"q{k}", "prediction": "yes" if k % right else "no", "reference": "yes",
                 "contexts": [f"é {k}"]}
                for k in range(60)
            ],
        )  # fmt: skip
    return tmp_path


def labelled(name: str, right: dict[str, int]) -> list[dict[str, str]]:
    """The rows of a file with labels, filled: yes but to every so manieth question of a system."""
    with Path(name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = "no" if int(row["id"][1:]) % right[row["system"]] == 0 else "Yes"
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return rows


DRAW = ("score", "a.jsonl", "b.jsonl", "--sample-for-labels", "40")


def test_labels_go_out_empty_and_come_back_filled(folder: Path) -> None:
    assert run(*DRAW, "-o", "labels.csv").exit_code == 0
    lines = list(csv.DictReader(Path("labels.csv").read_text(encoding="utf-8").splitlines()))
    assert [*lines[0]] == [
        *("id", "prediction", "reference", "contexts", "sample", "system", "label")
    ]
    assert {row["label"] for row in lines} == {""}
    drawn = [row["id"] for row in lines if row["system"] == "a"]
    assert drawn == [row["id"] for row in lines if row["system"] == "b"]
    assert len({*drawn}) == 40
    assert json.loads(lines[0]["contexts"]) == [f"é {drawn[0][1:]}"]
    empty = ("compare", "a.jsonl", "b.jsonl", "-m", "exact_match", "--calibrate", "labels.csv")
    assert "0 samples have labels of both" in run(*empty, "--format", "table").stdout
    rows = labelled("labels.csv", {"a": 2, "b": 7})
    # People say the opposite of what exact_match does: a loses on every second question.
    result = run(*empty, "--format", "table", "--fail-if-worse")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "calibrated difference [95% interval] (judge's own)" in result.stdout
    assert result.stdout.startswith("b scores higher than a on exact_match: ")
    assert ONE_BY_ONE.format(40) in result.stdout
    # The same as with labels in a column of each system's file.
    labels = {(row["system"], row["id"]): row["label"] for row in rows}
    for name in "ab":
        values = [json.loads(line) for line in Path(f"{name}.jsonl").read_text().splitlines()]
        write(f"{name}.jsonl", [{**row, "good": labels.get((name, row["id"]))} for row in values])
    column = ("compare", "a.jsonl", "b.jsonl", "-m", "exact_match", "--calibrate", "good")
    documents = [
        json.loads(run(*options, "--format", "json").stdout) for options in (empty, column)
    ]
    assert documents[0]["comparisons"] == documents[1]["comparisons"]
    test = documents[1]["comparisons"]["b"]["exact_match"]["score"]
    # Of the judge, b misses 30 of 60 and a 20.
    assert (test["judged"], test["units"]) == (pytest.approx(-10 / 60), 40)
    table = csv.DictReader(run(*column, "--format", "csv").stdout.splitlines())
    (row,) = (row for row in table if row["system"] == "b")
    assert float(row["difference"]) == test["difference"] > 0 > float(row["judge difference"])
    worse = run("compare", "b.jsonl", "a.jsonl", *column[3:], "--fail-if-worse")
    assert worse.exit_code == 1
    assert "metrichub: failed: a is worse than b on exact_match" in worse.stderr
    # Saved reports have the ids, and need nothing else.
    for name in "ab":
        run("score", f"{name}.jsonl", "-m", "exact_match", "--save", f"{name}.json")
    saved = run("compare", "a.json", "b.json", "--calibrate", "labels.csv", "--format", "json")
    assert json.loads(saved.stdout)["comparisons"] == documents[0]["comparisons"]


def test_samples_for_labels_are_drawn_by_a_seed(folder: Path) -> None:
    drawn = [run(*DRAW, *more).stdout for more in ((), (), ("--seed", "1"))]
    assert drawn[0] == drawn[1] != drawn[2]
    first = list(csv.DictReader(drawn[0].splitlines()))
    assert [row["label"] for row in first] == [""] * 80
    assert json.loads(first[0]["contexts"]) == [f"é {first[0]['sample']}"]
    assert run(*DRAW[:-1], "600", "-o", "every.json").exit_code == 0
    every = json.loads(Path("every.json").read_text(encoding="utf-8"))
    assert [row["sample"] for row in every if row["system"] == "b"] == [*range(60)]
    for option in ("--max-words=5", "--save=r.json", "--by=id"):
        assert "--sample-for-labels scores nothing" in error(run(*DRAW, option), 2)


def test_without_ids_labels_come_back_by_their_numbers(folder: Path) -> None:
    for name in "ab":
        rows = [json.loads(line) for line in Path(f"{name}.jsonl").read_text().splitlines()]
        for row in rows:
            del row["id"]
        write(f"{name}.jsonl", rows)
    rows = list(csv.DictReader(run(*DRAW).stdout.splitlines()))
    write("labels.jsonl", [{**row, "label": int(row["sample"]) % 4 == 0} for row in rows[::-1]])
    options = ("-m", "exact_match", "--calibrate", "labels.jsonl", "--format", "json")
    document = json.loads(run("compare", "a.jsonl", "b.jsonl", *options).stdout)
    assert document["comparisons"]["b"]["exact_match"]["score"]["units"] == 40


MISTAKES = [
    ("other=a.jsonl b.jsonl --calibrate labels.csv", 3, "labels.csv: a has no sample q"),
    ("a.jsonl b.jsonl --calibrate lables.csv", 3, "no such file; did you mean 'labels.csv'?"),
    ("a.jsonl b.jsonl --calibrate a.jsonl", 3, "a.jsonl: no column 'system'"),
    ("a.jsonl b.jsonl --calibrate good", 3, "a has no column 'good'"),
    ("a.jsonl b.jsonl --calibrate labels.csv --where reference=no", 3, "no"),
    ("a.jsonl b.jsonl --calibrate labels.csv --max-drop exact_match=1", 2, "--calibrate doesn't"),
    ("a.jsonl b.jsonl --calibrate labels.csv --by id", 2, "--calibrate doesn't go with"),
    ("a.jsonl b.jsonl --calibrate labels.csv --key id", 2, "--calibrate doesn't go with"),
    ("a.jsonl b.jsonl --calibrate labels.csv --report p.html", 2, "--calibrate doesn't go with"),
    ("a.jsonl b.jsonl --calibrate labels.csv --cluster id", 3, "where samples belong together"),
]


@pytest.mark.parametrize(("arguments", "status", "message"), MISTAKES)
def test_a_mistake_is_one_line(folder: Path, arguments: str, status: int, message: str) -> None:
    run(*DRAW, "-o", "labels.csv")
    assert message in error(run("compare", *arguments.split(), "-m", "exact_match"), status)


def test_samples_that_cannot_be_calibrated_are_not_given_to_people(folder: Path) -> None:
    rows = [json.loads(line) for line in Path("b.jsonl").read_text().splitlines()]
    write("b.jsonl", rows[1:])
    assert "are in all systems" in error(run(*DRAW, "-o", "labels.csv"), 3)
    for name in "ab":
        write(f"{name}.jsonl", [{**row, "id": "q"} for row in rows])
    assert "an id that repeats" in error(run(*DRAW, "-o", "labels.csv"), 3)
    assert not Path("labels.csv").exists()
