"""Captions and notes in words: how intervals were made, and which samples have no score."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import pytest

from metrichub import Hub
from metrichub.authoring import Metric
from metrichub.evaluation.explanation import Trace, agreement_notes
from metrichub.evaluation.lengths import LENGTHS_UNKNOWN
from metrichub.evaluation.paired_tests import paired_tests
from metrichub.evaluation.resample import Interval
from metrichub.evaluation.result import NO_SAMPLES
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.report.captions import (
    about_intervals,
    captioned,
    legend,
    signatures_of,
    without_intervals,
)
from metrichub.report.notes import shared_notes
from metrichub.report.scoreboard import OutputColumn, ScoreFormat, scoreboard
from metrichub.report.tables import Score, Table

BOOTSTRAP, MIXED, WILSON = (
    "bootstrap percentiles",
    "Wilson, bootstrap standard error",
    "Wilson",
)
BY_MIXED = "by Wilson's method with the bootstrap's standard error"


@pytest.mark.parametrize(
    ("methods", "how"),
    [
        ([BOOTSTRAP], "by the bootstrap (500 resamples)"),
        ([WILSON], "by Wilson's method"),
        ([MIXED], f"{BY_MIXED} (500 resamples)"),
        ([BOOTSTRAP, WILSON], "by the bootstrap (500 resamples) and by Wilson's method"),
        ([MIXED, WILSON], f"{BY_MIXED} (500 resamples) and by Wilson's method alone"),
        ([BOOTSTRAP, MIXED], f"by the bootstrap (500 resamples) and {BY_MIXED}"),
        ([""], ""),
    ],
)
def test_a_caption_says_how_the_intervals_were_made(methods: list[str], how: str) -> None:
    outputs = [f"o{k}" for k in range(len(methods))]
    columns = [OutputColumn("m", output, output, output, 1, 3) for output in outputs]
    intervals = {
        "a": {"m": {o: Interval(0, 1, 0.5, 0.1, m) for o, m in zip(outputs, methods, strict=True)}}
    }
    options = SignificanceOptions(level=0.9, resamples=500)
    said = about_intervals(columns, intervals, options)
    assert said == (f"In brackets: 90% intervals {how}." if how else "")
    whole = about_intervals(columns, intervals, options._replace(cluster="doc"))
    assert whole == said.replace("500 resamples", "500 resamples that draw each doc whole")


@pytest.mark.parametrize(("size", "said"), [(1, "1 sample."), (2, "2 samples.")])
def test_a_caption_counts_the_samples(size: int, said: str) -> None:
    report = Hub("wer").evaluate(predictions=["a"] * size, references=["a"] * size)
    table = captioned({"": report}, None, {}, ScoreFormat(), SignificanceOptions())
    assert table.caption == said


@pytest.mark.parametrize(("empty", "said"), [(1, "1 of 3 samples is"), (2, "2 of 3 samples are")])
def test_a_note_counts_what_is_unanswered(empty: int, said: str) -> None:
    texts = ["" if k < empty else "a b" for k in range(3)]
    notes = Hub("ttr").evaluate(predictions=texts).notes()["ttr"]
    assert any(note.startswith(f"{said} unanswered and left out of the mean") for note in notes)


@dataclass(frozen=True, kw_only=True)
class Forgetful(Metric):
    """Gives a score of texts of one word alone."""

    def observe(self, prediction: str) -> float | None:
        """One, or nothing."""
        return None if " " in prediction else 1.0


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (
            ["a b", "c d"],
            "2 unscored: the metric returned no score; is a `return` missing in its code?",
        ),
        (["a b", "c"], "1 unscored: the metric returned no score"),
    ],
)
def test_a_metric_that_never_gives_a_score_may_lack_a_return(texts: list[str], note: str) -> None:
    assert Hub(Forgetful()).evaluate(predictions=texts).notes()["forgetful"][0] == note


def legend_of(*scores: Score, level: float = 0.95) -> str:
    """The legend of a table with these scores, tested at a level."""
    reports = {name: Hub("wer").evaluate(TWELVE) for name in ("first", "second")}
    tests = paired_tests(reports, SignificanceOptions(level, 0, 99))
    return legend(Table(["system", "wer"], [["a", score] for score in scores]), tests)


TWELVE = {"predictions": ["a b"] * 12, "references": ["a c"] * 12}
RANKS = "in parentheses: ranks; a system ranks one below the lowest that beats it"
ABOUT = (
    "Tests: two-sided paired approximate randomization ({}), corrected by Holm's method over all "
    "pairs of systems and the headline outputs of a metric; significant at p ≤ {}."
)


@pytest.mark.parametrize(
    ("scores", "level", "said"),
    [
        ([Score("1"), Score("2")], 0.95, ""),
        # One of them is enough, as some metrics rank no system.
        ([Score("1", "(1)"), Score("2")], 0.95, RANKS),
        (
            [Score("1"), Score("2", mark="≈")],
            0.9,
            "≈: no significant difference from first (p > .1)",
        ),
        (
            [Score("1", "(1)"), Score("2", "(1)", "≈")],
            0.99,
            f"{RANKS}; ≈: no significant difference from first (p > .01)",
        ),
    ],
)
def test_a_legend_tells_the_marks_that_there_are(
    scores: list[Score], level: float, said: str
) -> None:
    assert legend_of(*scores, level=level) == said
    plain = legend(Table(["x"], [[score] for score in scores]), None)
    assert plain == (RANKS if scores[0].rank else "")


@pytest.mark.parametrize(
    ("ranks", "cluster", "level", "said"),
    [
        ({"first": 1, "second": 2}, None, 0.95, "Bold: the systems that rank first. "),
        ({"first": 1, "second": 1}, "doc", 0.9, ""),
    ],
)
def test_a_caption_of_tests_has_their_trials_units_and_level(
    ranks: dict[str, int], cluster: str | None, level: float, said: str
) -> None:
    columns = {**TWELVE, "doc": [*range(12)]}
    reports = {name: Hub("wer").evaluate(columns) for name in ranks}
    tests = paired_tests(reports, SignificanceOptions(level, 0, 1234, cluster=cluster))
    tests = replace(tests, ranks={"wer": {"score": ranks}})
    form = ScoreFormat()
    caption = captioned(reports, tests, {}, form, tests.options).caption
    marks = legend(scoreboard(reports, tests, {}, form), tests)
    # Equal systems: the second has the same scores as the first.
    p = {0.95: ".05", 0.9: ".1"}[level]
    assert marks.endswith(f"no significant difference from first (p > {p})")
    trials = "1,234 trials" + (", each doc swapped whole" if cluster else "")
    about = ABOUT.format(trials, p)
    result = f"Result: {tests.sentence}."
    assert caption == f"12 samples. {said}{marks[0].upper()}{marks[1:]}. {about} {result}"
    silent = replace(tests, sentences=())
    assert captioned(reports, silent, {}, form).caption == caption.removesuffix(f" {result}")


def test_reasons_for_no_interval_are_told_by_reason_with_the_systems_they_are_of() -> None:
    columns = [OutputColumn("m", o, f"label {o}", o, 1, 3) for o in ("x", "y", "z")]

    def of(*reasons: str | None) -> dict[str, dict[str, Interval]]:
        return {
            "m": {o: Interval(0, 1, 0, 0, "", why) for o, why in zip("xyz", reasons, strict=False)}
        }

    intervals = {"a": of("few", None, None), "b": of("few", "slow"), "c": of("few", "slow", "few")}
    lines = [
        "no interval for label x and label z of c: few",
        "no interval for label y of b and c: slow",
    ]
    assert without_intervals(columns, intervals) == lines
    assert without_intervals(columns, intervals, "the difference in ")[1] == (
        "no interval for the difference in label y of b and c: slow"
    )
    said = about_intervals(columns[:2], intervals)
    assert said == f"No interval for label x: few. N{lines[1][1:]}."
    # A system that lacks the metric has no interval to miss.
    assert without_intervals(columns[:1], {**intervals, "d": {}}) == [
        "no interval for label x: few"
    ]


def test_each_signature_is_given_once_in_the_order_of_the_systems() -> None:
    columns = {"predictions": ["a"], "references": ["a"]}
    one, other = Hub(["wer", "bleu"]).evaluate(columns), Hub(["bleu", "ttr"]).evaluate(columns)
    found = [text.partition("(")[0] for text in signatures_of({"a": one, "b": other})]
    assert found == ["wer", "bleu", "ttr"]


@pytest.mark.parametrize(("size", "noted"), [(0, False), (2, True)])
def test_a_metric_bound_to_length_notes_lengths_that_a_report_lacks(size: int, noted: bool) -> None:
    columns = {"predictions": ["a b"] * size, "references": ["a b"] * size}
    report = Hub(["distinct", "ttr", "exact_match"]).evaluate(columns)
    lacking = replace(report, lengths=None)
    # Of the outputs of ttr some are bound to length, and mtld isn't.
    for metric in ("distinct", "ttr"):
        assert (LENGTHS_UNKNOWN in lacking.notes().get(metric, ())) is noted
    assert LENGTHS_UNKNOWN not in report.notes().get("distinct", ())
    assert LENGTHS_UNKNOWN not in lacking.notes().get("exact_match", ())


COUNTED = ["2 failed: slow", "1 failed: gone", "1 pending: a batch", "3 cut: contexts"]


def test_notes_tell_what_failed_waits_and_was_cut_the_most_frequent_first() -> None:
    report = Hub("exact_match").evaluate(predictions=["a"] * 4, references=["a"] * 4)
    errors = {0: "gone", 1: "slow", 2: "slow"}
    trace = replace(Trace.of({}, errors, {}, {3: "a batch"}), cuts={"contexts": 3})
    assert replace(report, traces={"exact_match": trace}).notes()["exact_match"] == COUNTED
    votes = Counter({'["yes", "yes"]': 2, '["yes", "no"]': 1})
    voted = replace(report, traces={"exact_match": replace(trace, votes=votes)})
    assert voted.notes()["exact_match"] == [*COUNTED, *agreement_notes(votes)]


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"": 1}, "predictions has 1 empty cell, scored as text; if the value is missing, delete"),
        ({"nan": 2}, "predictions has 2 'nan' cells, scored as text; if the values are missing, "),
        ({"": 1, "nan": 1}, "predictions has 1 empty and 1 'nan' cells, scored as text; if the va"),
    ],
)
def test_blank_cells_are_counted_by_what_they_hold(counts: dict[str, int], said: str) -> None:
    report = Hub("exact_match").evaluate(predictions=["a"], references=["a"])
    (note,) = replace(report, blanks={"predictions": counts, "contexts": {"": 9}}).notes()[
        "exact_match"
    ]
    assert note.startswith(said)
    assert note.endswith("delete the row" if sum(counts.values()) == 1 else "delete the rows")


@pytest.mark.parametrize(
    ("column", "names", "said"),
    [
        (
            "predictions",
            ["messages"],
            "messages: the last text of the assistant; if those are other",
        ),
        ("references", ["answer"], "answer; if those are other texts, map references to another"),
        ("references", ["a", "b"], "a and b; if those are other texts"),
    ],
)
def test_columns_read_from_others_are_named(column: str, names: list[str], said: str) -> None:
    report = Hub("exact_match").evaluate(predictions=["a"], references=["a"])
    read = {column: tuple(names), "contexts": ("docs",)}
    (note,) = replace(report, read_from=read).notes()["exact_match"]
    assert note.startswith(f"{column} were read from {said}")


@pytest.mark.parametrize(
    ("metric", "predictions", "references", "said"),
    [
        ("exact_match", [["a b", "b c", "c"]], ["a b"], ["best of 3 candidates"]),
        ("wer", ["a"], [["a", "b c"]], ["best of 2 references"]),
        (
            "exact_match(normalization='squad')",
            [["a b", "c d"], ["a b"]],
            [["a b"], ["a b", "c d", "e f"]],
            ["best of 1 to 2 candidates and 1 to 3 references"],
        ),
        # Neither more nor less is better, so the mean counts; all references count together.
        ("abstractness", [["a b", "b c"]], [["a", "b"]], ["mean of 2 candidates"]),
        ("abstractness", ["a b"], [["a", "b"]], []),
        # All candidates count together.
        ("distinct", [["a b", "b c"]], ["a"], []),
        ("exact_match", ["a b"], [["a b"]], []),
    ],
)
def test_candidates_and_references_that_were_reduced_are_counted(
    metric: str, predictions: Any, references: Any, said: list[str]
) -> None:
    report = Hub(f"m = {metric}").evaluate(predictions=predictions, references=references)
    assert report.notes().get("m", []) == said
    assert report.pool().notes().get("m", []) == said


def test_messages_read_from_another_column_are_one_thing() -> None:
    report = Hub("call_repetition").evaluate(messages=[[{"role": "user", "content": "a"}]])
    notes = replace(report, read_from={"messages": ("chat",)}).notes()["call_repetition"]
    said = "messages were read from chat; if that is wrong, map messages to another column"
    assert said in notes


def test_passages_that_were_joined_are_said_to_be() -> None:
    report = Hub("exact_match").evaluate(predictions=["a"], references=["a"])
    (note,) = replace(report, read_from={"references": ("contexts",)}).notes()["exact_match"]
    assert note.startswith(
        "references were read from contexts, each sample's passages joined into one text; if those"
    )


def test_a_report_without_samples_says_so_and_no_more() -> None:
    (note,) = Hub("exact_match").evaluate(predictions=[], references=[]).notes()["exact_match"]
    assert note == NO_SAMPLES


def test_several_forms_of_unicode_are_noted_with_three_examples() -> None:
    report = Hub("exact_match").evaluate(predictions=["a"], references=["a"])
    report = replace(report, mixed_forms={"exact_match": ("á", "é", "í", "ó")})
    (note,) = report.notes()["exact_match"]
    assert note.startswith("the texts write á, é, í in several Unicode forms")


def test_what_is_noted_of_some_systems_names_them_in_order() -> None:
    one = Hub("exact_match").evaluate(predictions=["a"], references=["a"])
    blank = replace(one, blanks={"predictions": {"": 1}})
    forms = replace(blank, mixed_forms={"exact_match": ("é",)})
    found = shared_notes({"a": blank, "b": one, "c": forms})
    assert [(note.metric, note.text[:15], note.systems) for note in found] == [
        ("exact_match", "predictions has", ["a", "c"]),
        ("exact_match", "the texts write", ["c"]),
    ]


def test_lengths_are_not_missed_by_a_score_without_a_scale() -> None:
    def half(prediction: str) -> float:
        return 0.5

    report = Hub([half, "distinct"]).evaluate(predictions=["a b"])
    notes = replace(report, lengths=None).notes()
    assert LENGTHS_UNKNOWN in notes["distinct"]
    assert LENGTHS_UNKNOWN not in notes.get("half", ())


def test_a_metric_with_a_card_that_gave_no_score_is_not_asked_for_its_return() -> None:
    report = Hub("exact_match").evaluate(predictions=["a", "b"], references=["a", "b"])
    (result,) = report.results.values()
    silent = replace(report, results={"exact_match": replace(result, count=0, unscored=2)})
    assert silent.notes()["exact_match"][0] == "2 unscored: the metric returned no score"
