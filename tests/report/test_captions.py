"""Captions and feet: how intervals and tests were made, what marks mean, and what has none."""

from __future__ import annotations

import re
from typing import Any

import pytest

from metrichub import Hub, Ranking, compare_all

HOW: dict[str, Any] = {"resamples": 50, "trials": 1234}
COLUMNS: dict[str, Any] = {"references": ["a b"] * 16, "doc": [*range(8)] * 2}
BOOTSTRAP, WILSON, MIXED = "wer", "exact_match", "edit_similarity"
BY_MIXED = "by Wilson's method with the bootstrap's standard error"
ABOUT = (
    "Tests: two-sided paired approximate randomization ({}), corrected over all pairs of systems "
    "and the headline outputs of a metric by a step-down over the resamples; significant at p ≤ {}."
)
TIE = "≈ not significantly worse than the best of the column (p > {})"


def ranked(metrics: Any, *texts: str, **options: Any) -> Ranking:
    """The ranking of A, B and so on, which say these texts and once in 16 samples "a b"."""
    hub = Hub(metrics)
    systems = {
        name: hub.evaluate(predictions=[text] * 15 + ["a b"], sources=["a c"] * 16, **COLUMNS)
        for name, text in zip("ABC", texts, strict=False)
    }
    return compare_all(systems, **{**HOW, **options})


@pytest.mark.parametrize(
    ("metrics", "cluster", "how"),
    [
        ([BOOTSTRAP], None, "by the bootstrap (50 resamples)"),
        ([BOOTSTRAP], "doc", "by the bootstrap (50 resamples that draw each doc whole)"),
        ([WILSON], None, "by Wilson's method"),
        ([MIXED], None, f"{BY_MIXED} (50 resamples)"),
        ([BOOTSTRAP, WILSON], None, "by the bootstrap (50 resamples) and by Wilson's method"),
        ([MIXED, WILSON], None, f"{BY_MIXED} (50 resamples) and by Wilson's method alone"),
        ([BOOTSTRAP, MIXED], None, f"by the bootstrap (50 resamples) and {BY_MIXED}"),
    ],
)
def test_a_caption_says_how_the_intervals_were_made(
    metrics: list[str], cluster: str | None, how: str
) -> None:
    ranking = ranked(metrics, "a x", "x x", confidence=0.9, cluster=cluster)
    assert f"16 samples. In brackets: 90% intervals {how}. " in ranking.to_markdown(intervals=True)
    assert "In brackets" not in ranking.to_markdown()
    assert ranking.tables()[1].head[2] == "difference [90% interval]"


@pytest.mark.parametrize(
    ("metric", "texts", "options", "marks", "trials", "p"),
    [
        ("wer", ["a b", "x x"], {}, "Bold: what is significantly better. ", "1,234 trials", ".05"),
        ("wer", ["a x", "a x"], {"confidence": 0.9}, "", "1,234 trials", ".1"),
        (
            "wer",
            ["a x", "a x", "a b"],
            {"confidence": 0.9, "trials": 12_340},
            "Bold: the best of the column. ",
            "12,340 trials",
            ".1",
        ),
        (
            "wer",
            ["a x", "a x", "a y"],
            {},
            "Bold: the best of the column. ",
            "1,234 trials",
            ".05",
        ),
        # Of abstractness neither more nor less is better.
        (
            "abstractness",
            ["a x", "a x", "a b"],
            {"confidence": 0.99, "cluster": "doc"},
            "",
            "1,234 trials, each doc swapped whole",
            ".01",
        ),
    ],
)
def test_a_caption_tells_marks_trials_units_level_and_result(
    metric: str, texts: list[str], options: Any, marks: str, trials: str, p: str
) -> None:
    ranking = ranked(metric, *texts, **options)
    table = ranking.captioned()
    assert table.caption == ranking.sentence
    assert table.method == f"16 samples. {marks}{ABOUT.format(trials, p)}"
    tied = f" · {TIE.format(p)}" if "≈" in marks and len(texts) > 2 else ""
    assert ranking.foot()[0] == f"16 samples{tied}"


@pytest.mark.parametrize(("size", "message"), [(1, "1 sample."), (1200, "1,200 samples.")])
def test_a_caption_counts_the_samples(size: int, message: str) -> None:
    report = Hub("wer").evaluate(predictions=["a"] * size, references=["a"] * size)
    assert report.to_markdown().splitlines()[4] == message


NONE = "no interval for"
SAME = "all resamples have the same"


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        ({}, [f"{NONE} the difference in wer: {SAME} difference"]),
        (
            {"intervals": True},
            [
                f"{NONE} the difference in wer: {SAME} difference",
                f"{NONE} wer: {SAME} score",
            ],
        ),
        (
            {"outputs": "all"},
            [
                f"{NONE} the difference in wer, wer mer, wer wil, wer wip, wer hits, "
                "wer substitutions, wer deletions and wer insertions: "
                f"{SAME} difference",
                "only headline outputs have a corrected p and ranks",
            ],
        ),
    ],
)
def test_the_foot_has_the_marks_then_what_lacks_an_interval(
    asked: dict[str, Any], lines: list[str]
) -> None:
    # Every sample of A is right, and of B one word of two is wrong in each.
    texts = {"A": ["a b"] * 16, "B": ["a x"] * 16}
    hub = Hub("wer")
    systems = {name: hub.evaluate(predictions=part, **COLUMNS) for name, part in texts.items()}
    ranking = compare_all(systems, resamples=50, trials=10_000)
    foot = ranking.foot(**asked)
    assert foot == ["16 samples", *lines]
    # Of several systems no differences are shown, whose intervals could be missed.
    three = {**systems, "C": hub.evaluate(predictions=["a b", "x x"] * 8, **COLUMNS)}
    shown = " ".join(compare_all(three, resamples=50, trials=10_000).foot(**asked))
    assert "the difference in" not in shown


FEW = "p is rough, as 'doc' has only 9 different values"


@pytest.mark.parametrize(
    ("cluster", "options"), [({}, {"cluster": "doc"}), ({"samples": False, "key": "doc"}, {})]
)
def test_p_is_called_rough_below_ten_clusters_or_buckets(cluster: Any, options: Any) -> None:
    def of_documents(number: int) -> Ranking:
        rows = [{"doc": i % number, "reference": "a b", "id": i} for i in range(20)]
        systems = {
            name: Hub("wer").evaluate([{**row, "prediction": text} for row in rows], **cluster)
            for name, text in {"A": "a b", "B": "a"}.items()
        }
        return compare_all(systems, **options)

    few = of_documents(9)
    assert few.doubts == (FEW,)
    assert FEW in few.foot()
    sentence = few.reports["A"].compare(few.reports["B"], **options)["wer"]["score"].sentence
    assert sentence is not None
    assert sentence.endswith(f"; {FEW}")
    assert not of_documents(10).doubts


@pytest.mark.parametrize(
    ("metric", "systems", "corrected"),
    [("wer", 2, False), ("wer", 3, True), ("drop_f1", 2, True), ("rouge", 2, True)],
)
def test_p_is_corrected_where_there_are_several_pairs_or_headline_outputs(
    metric: str, systems: int, corrected: bool
) -> None:
    _, tests = ranked(metric, *["a b", "a x", "x x"][:systems]).tables()
    message = "; p is corrected for several tests, the intervals aren't"
    assert tests.caption == f"Differences{message * corrected}"


def test_p_follows_the_scores_of_the_second_of_two_systems() -> None:
    two = ranked("wer", "a b", "x x").captioned()
    # Both words of 15 texts of 16 are wrong: 30 of 32.
    (p,) = re.findall(r"\(p .*?\)", two.caption)
    assert [[str(cell) for cell in row] for row in two.rows] == [
        ["A", "0.000"],
        ["B", f"0.938 {p}"],
    ]
    assert two.best == {(0, 1)}
    three = ranked("wer", "a b", "x x", "a x").captioned()
    assert not [cell for row in three.rows for cell in row if "p " in str(cell)]
    # Nothing was tested of what has one value for all.
    same = ranked("wer", "a b", "a b").captioned()
    assert str(same.rows[1][1]) == "0.000 (p = 1)"
