"""`assert_scores`: what passes, what fails and what it says, and what is the caller's mistake."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from metrichub import Hub
from metrichub.authoring import Metric, Row
from metrichub.catalog.card import Card
from metrichub.errors import MetrichubError, ParameterError, ReportError, SpecError
from metrichub.evaluation.thresholds import Threshold
from metrichub.report.report import Report
from metrichub.testing import assert_scores
from tests.toy_metrics import Overlap, card


@dataclass(frozen=True, kw_only=True)
class Unlisted(Metric):
    """Twice as many outputs as its card lists."""

    card: ClassVar[Card] = card("unlisted", "prediction")

    def outputs(self) -> tuple[str, ...]:
        return "score", "extra"

    def observe(self, prediction: str) -> Row:
        return {"score": 1, "extra": 800}


HUB = Hub(["wer", "exact_match", Overlap(), "abstractness"])
COLUMNS = {
    "predictions": ["a b", "c", "x y"],
    "references": ["a b", "d", "a y"],
    "id": ["p", "q", "r"],
}
# Each text twice, as a sample of its own.
TWICE: dict[str, Any] = {n: [*row, *row] for n, row in COLUMNS.items()} | {"id": [*"pqrstu"]}
"""Enough samples for intervals."""


@pytest.fixture(scope="module")
def report() -> Report:
    # By hand: wer has 0 + 1 + 1 errors of 5 words, 0.4; exact_match 1 of 3; overlap 2 + 0 + 1 words
    # of 2 + 1 + 2, 0.6.
    return HUB.evaluate(COLUMNS)


@pytest.mark.parametrize(
    ("limits", "passes"),
    [
        ({"wer": "<= 0.4"}, True),
        ({"wer": "< 0.4"}, False),
        ({"wer": "<=0.39"}, False),
        ({"wer.score": " <  0.41 "}, True),
        ({"exact_match": "> 0.33"}, True),
        ({"exact_match": ">= 0.34"}, False),
        ({"overlap": ">= 0.6"}, True),
        ({"overlap": "> 0.6"}, False),
        # A number is at least that good: of wer lower, of the others higher.
        ({"wer": 0.4}, True),
        ({"wer": 0.39}, False),
        ({"wer": "0.39"}, False),
        ({"exact_match": 0.33}, True),
        ({"exact_match": 0.34}, False),
        ({"wer": 0.4, "exact_match": 0.33, "overlap": 0.6}, True),
        ({"wer": 0.4, "exact_match": 0.34, "overlap": 0.6}, False),
    ],
)
def test_scores_pass_or_fail(report: Report, limits: dict[str, Any], passes: bool) -> None:
    if passes:
        assert_scores(report, limits)
    else:
        with pytest.raises(AssertionError):
            assert_scores(report, limits)


@pytest.mark.parametrize("on", ["score", "interval"])
@pytest.mark.parametrize("metric", ["wer", "overlap"])
def test_the_worse_end_of_the_interval_counts(metric: str, on: Any) -> None:
    report = HUB.evaluate(TWICE)
    how: dict[str, Any] = {"confidence": 0.5, "resamples": 99, "seed": 7}
    interval = report.intervals(**how)[metric]["score"]
    score = report[metric]["score"]
    assert interval.low < score < interval.high
    sign, worse = ("<=", interval.high) if metric == "wer" else (">=", interval.low)
    assert_scores(report, {metric: f"{sign} {worse!r}"}, on=on, **how)
    # The score alone keeps a limit that lies between it and the worse end.
    between = {metric: f"{sign} {(score + worse) / 2!r}"}
    if on == "score":
        assert_scores(report, between, on=on, **how)
    else:
        with pytest.raises(AssertionError):
            assert_scores(report, between, on=on, **how)


def test_a_failure_says_how_far_off_and_shows_the_worst_samples(report: Report) -> None:
    with pytest.raises(AssertionError) as caught:
        assert_scores(report, {"wer": "<= 0.15", "exact_match": 0.3})
    # By hand: 0.4 - 0.15; c for d is 1 error of 1 word, x for a 1 of 2.
    assert str(caught.value).splitlines() == [
        "1 of 2 limits missed (3 samples):",
        "  wer.score is 0.4 and should be <= 0.15: 0.25 too high",
        "the worst samples by wer.score:",
        "  sample 1 (id q): 1",
        "    predictions: c",
        "    references: d",
        "  sample 2 (id r): 0.5",
        "    predictions: x y",
        "    references: a y",
    ]


def test_a_failure_of_an_interval_says_which_end_is_off(report: Report) -> None:
    how: dict[str, Any] = {"confidence": 0.9, "resamples": 50, "seed": 3}
    with pytest.raises(AssertionError) as caught:
        assert_scores(report, {"exact_match": ">= 0.33"}, on="interval", **how)
    # Wilson's interval of 1 of 3 with z = 1.6449.
    expected = (
        "exact_match.score is 0.3333, and all of its 90% interval, 0.07827 to 0.7465, should be "
        ">= 0.33: 0.2517 too low"
    )
    assert expected in str(caught.value)


def answers(right: int, samples: int = 200) -> Report:
    """A report of so many right answers; a wrong one has one error of two words."""
    return HUB.evaluate(
        predictions=["a cat"] * right + ["a dog"] * (samples - right),
        references=["a cat"] * samples,
        sources=["a cat"] * samples,
    )


def test_a_margin_from_a_baseline_has_to_be_shown() -> None:
    new, baseline = answers(158), answers(160)
    assert_scores(
        new, {"exact_match": ">= baseline - 0.05", "wer": "<=baseline+.02"}, baseline=baseline
    )
    # All of the interval has to meet the other limits alone.
    limits = {"exact_match": ">= baseline - 0.05", "wer": 0.2}
    assert_scores(new, limits, on="interval", baseline=baseline)
    with pytest.raises(AssertionError) as caught:
        assert_scores(
            new,
            {"exact_match": ">= baseline - 0.01", "wer": 0.1, "overlap": 0.1},
            baseline=baseline,
        )
    head, margin, other, *_ = str(caught.value).splitlines()
    assert head == "2 of 3 limits missed (200 samples):"
    # Tango's (1998) 90% interval of 0 : 2 of 200 ends at -0.02977, as of scipy's brentq.
    assert margin.startswith(
        "  the report may be worse than the baseline by more than 0.01 on exact_match (difference "
        "-0.01, with 95% confidence no less than -0.02977); about "
    )
    assert margin.endswith(" samples would show it of a system that is as good")
    assert other.startswith("  wer.score is 0.105 and should be <= 0.1")
    few = answers(6, 7)
    with pytest.raises(AssertionError, match="7 units are too few; a margin needs 8"):
        assert_scores(few, {"exact_match": ">= baseline - 0.5"}, baseline=few)


@pytest.mark.parametrize(
    ("name", "limit", "baseline", "error", "says"),
    [
        ("exact_match", "<= baseline + 0.1", True, SpecError, "write '>= baseline - 0.01'"),
        ("wer", ">= baseline - 0.1", True, SpecError, "write '<= baseline [+] 0.01'"),
        ("wer", "<= baseline + 1%", True, SpecError, "a number above 0 in the score's own unit"),
        ("wer", "<= baseline + 0", True, SpecError, "with a number above 0"),
        ("wer", "<= baseline + -1", True, SpecError, "with a number above 0"),
        ("wer", "<= baseline", True, SpecError, "write '<= baseline [+] 0.01'"),
        ("exact_match", ">= baseline - 0.1", False, ParameterError, "the report that '>= baseline"),
        ("abstractness", ">= baseline - 0.1", True, ReportError, "neither more nor less is better"),
        ("exact", ">= baseline - 0.1", True, ReportError, "no metric 'exact' is scored"),
    ],
)
def test_a_margin_that_says_nothing_is_refused(
    name: str, limit: str, baseline: bool, error: type[MetrichubError], says: str
) -> None:
    report = answers(9, 10)
    with pytest.raises(error, match=says):
        assert_scores(report, {name: limit}, baseline=report if baseline else None)


def test_a_baseline_of_other_samples_is_refused() -> None:
    with pytest.raises(ReportError, match="10 and 9 samples"):
        assert_scores(answers(9, 10), {"exact_match": ">= baseline - 0.1"}, baseline=answers(9, 9))


def test_long_texts_are_cut_and_lists_stand_on_one_line() -> None:
    report = HUB.evaluate(predictions=["a\n" * 300], references=[["b", "c\nd"]])
    with pytest.raises(AssertionError) as caught:
        assert_scores(report, {"exact_match": 1})
    lines = str(caught.value).splitlines()
    assert lines[-1] == "    references: b | c d"
    assert lines[-2] == f"    predictions: {('a ' * 100)[:199]}…"


def test_without_texts_or_samples_the_scores_alone_are_shown() -> None:
    for options, shown in (({"texts": False}, "  sample 1 (id q): 0"), ({"samples": False}, None)):
        report = HUB.evaluate(COLUMNS, **options)
        with pytest.raises(AssertionError) as caught:
            assert_scores(report, {"exact_match": 1})
        lines = str(caught.value).splitlines()
        assert lines[1].startswith(
            "  exact_match.score is 0.3333 and should be >= 1: 0.6667 too low"
        )
        assert "predictions" not in str(caught.value)
        assert lines[3:4] == ([shown] if shown else [])


def test_nan_keeps_no_limit() -> None:
    report = HUB.evaluate(predictions=[], references=[])
    for limit in (">= 0", "<= 1", "> 0", "< 1"):
        for on in ("score", "interval"):
            with pytest.raises(AssertionError, match=r"is nan"):
                assert_scores(report, {"exact_match": limit}, on=on)  # type: ignore[arg-type]  # a word


@pytest.mark.parametrize(
    ("limits", "error", "message"),
    [
        ({"wre": 1}, ReportError, "no metric 'wre' is scored; did you mean 'wer'"),
        ({"wer.mre": 1}, ReportError, "wer.mre: no such output; did you mean 'mer'"),
        ({"exact_match": 30}, ReportError, "outside [0, 1]; thresholds are fractions: write 0.3$"),
        # 300% isn't a share either.
        ({"exact_match": 300}, ReportError, "300 is outside [0, 1]$"),
        (
            {"exact_match": "high"},
            SpecError,
            "'high' isn't a valid limit of exact_match; write a number",
        ),
        ({"exact_match": "=> 1"}, SpecError, "'=> 1' isn't a valid limit"),
        ({"exact_match": "wer >= 1"}, SpecError, "'wer >= 1' isn't a valid limit"),
        ({"exact_match": ">= nan"}, SpecError, "'>= nan' isn't a valid limit"),
        ({"exact_match": None}, SpecError, "None isn't a valid limit"),
        ({"exact_match": True}, SpecError, "True isn't a valid limit"),
        (
            {"abstractness": 0.5},
            SpecError,
            "neither more nor less is better for abstractness; write the condition: '>= 0.5' or",
        ),
        ({}, SpecError, "limits is {} (dict); give at least one"),
        (["wer <= 1"], SpecError, "limits is ['wer <= 1'] (list)"),
    ],
)
def test_a_mistake_in_the_limits_is_no_failed_assertion(
    report: Report, limits: Any, error: type[MetrichubError], message: str
) -> None:
    with pytest.raises(error) as caught:
        assert_scores(report, limits)
    assert message in f"{caught.value}$"


def test_an_output_without_a_scale_takes_any_limit_and_has_no_direction() -> None:
    report = Hub(Unlisted()).evaluate(COLUMNS)
    assert_scores(report, {"unlisted.extra": "<= 900"})
    with pytest.raises(SpecError, match=r"better for unlisted.extra; write the condition"):
        assert_scores(report, {"unlisted.extra": 900})


def test_other_mistakes_are_told(report: Report) -> None:
    with pytest.raises(ParameterError, match="choose 'score' or 'interval'"):
        assert_scores(report, {"wer": 1}, on="intervals")  # type: ignore[arg-type]  # the mistake
    with pytest.raises(ReportError, match=r"pass a report, hub.evaluate\(...\), not"):
        assert_scores(report.scores(), {"wer": 1})  # type: ignore[arg-type]  # the mistake
    with pytest.raises(ReportError, match="pooled"):
        assert_scores(Report.of(report.pool()), {"wer": 1}, on="interval")
    alone = HUB.evaluate({name: values[:1] for name, values in COLUMNS.items()})
    with pytest.raises(AssertionError, match="no interval: 1 sample is too few; an interval needs"):
        assert_scores(alone, {"wer": 1}, on="interval")


def test_intervals_of_buckets_are_held_to_limits_too() -> None:
    report = HUB.evaluate(TWICE, samples=False)
    # By hand: no draw has more errors than words, and one of the first sample alone has none.
    assert_scores(report, {"wer": "<= 1"}, on="interval")
    with pytest.raises(AssertionError, match="all of its 95% interval"):
        assert_scores(report, {"wer": "<= 0.4"}, on="interval")


def test_pytest_shows_the_line_of_the_test(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text(
        "from metrichub import Hub\n"
        "from metrichub.testing import assert_scores\n"
        "def test_it():\n"
        "    report = Hub('wer').evaluate(predictions=['a'], references=['b'])\n"
        "    assert_scores(report, {'wer': '<= 0.5'})\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ran.returncode == 1
    assert ">       assert_scores(report, {'wer': '<= 0.5'})" in ran.stdout
    assert "wer.score is 1 and should be <= 0.5: 0.5 too high" in ran.stdout
    assert "raise AssertionError" not in ran.stdout


def test_it_needs_neither_pytest_nor_hypothesis() -> None:
    program = (
        "import sys\n"
        "sys.modules['pytest'] = sys.modules['hypothesis'] = None\n"
        "from metrichub import Hub\n"
        "from metrichub.testing import assert_scores\n"
        "assert_scores(Hub('wer').evaluate(predictions=['a'], references=['a']), {'wer': 0})\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bleu=0.3", ("bleu", "score", ">=", 0.3)),
        ("rouge.rougeL = 1e-2", ("rouge", "rougeL", ">=", 0.01)),
        ("wer<=0.2", ("wer", "score", "<=", 0.2)),
        ("wer < .2", ("wer", "score", "<", 0.2)),
        (" a>-1 ", ("a", "score", ">", -1.0)),
    ],
)
def test_a_threshold_is_a_name_a_sign_and_a_number(text: str, expected: tuple[Any, ...]) -> None:
    assert Threshold.parse(text, ">=") == expected


@pytest.mark.parametrize("text", ["", "wer", "wer=", "=1", "wer=x", "wer=nan", "wer==1", "a<1<2"])
def test_what_is_no_threshold_is_told(text: str) -> None:
    with pytest.raises(SpecError, match="isn't a valid threshold; write METRIC=NUMBER"):
        Threshold.parse(text, ">=")
