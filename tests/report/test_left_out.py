"""Samples without a score: which are unanswered, what tests leave out, and when nobody wins."""

import copy
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from metrichub import Hub, Report, compare_all, load_metric
from metrichub.authoring import Measured, Metric, Unscored
from metrichub.catalog.card import Card
from metrichub.catalog.frontmatter import Scale
from metrichub.errors import MetricError, ReportError
from metrichub.evaluation.merge import unranked
from metrichub.report.scoreboard import scores_in_full
from metrichub.text import Texts
from tests.report.test_page import Page

REFERENCES = ["a b", "c d", "e f", "g h"]
RIGHT = ["a b", "c d", "x y", "x y"]
"""Two right answers of four, and two wrong ones."""
SILENT = ["a b", "c d", "", ""]
"""The same with nothing in place of the wrong ones."""
FEW = {"resamples": 20, "trials": 20}
REASON = "the systems left different samples unanswered (right: 0, silent: 2)"


@dataclass(frozen=True, kw_only=True)
class Exact(Metric):
    """1 for an equal text, else 0; an empty prediction has no value, as an author may want it."""

    card = Card("exact", "Exact", "", ("prediction", "reference"), {"score": Scale(0, 1, "higher")})

    def observe(self, prediction: str, reference: str) -> float | Unscored:
        if not reference:
            return Unscored("the reference is empty")
        if not prediction:
            return Unscored("the prediction is empty", "empty")
        return float(prediction == reference)


@dataclass(frozen=True, kw_only=True)
class Columns(Metric):
    """The same over whole columns."""

    def measure(self, prediction: Texts, reference: Texts) -> Measured:
        equal = [float(p == r) if p else np.nan for p, r in zip(prediction, reference, strict=True)]
        empty = [i for i, text in enumerate(prediction) if not text]
        reasons = dict.fromkeys(empty, "the prediction is empty")
        return Measured({"score": np.array(equal)}, reasons, dict.fromkeys(empty, "empty"))


def measured(predictions: list[str], metric: Metric | None = None) -> Report:
    return Hub([metric or Exact()]).evaluate(predictions=predictions, references=REFERENCES)


@pytest.mark.parametrize("metric", [Exact(), Columns()])
def test_unanswered_samples_are_counted_apart(metric: Metric) -> None:
    report = measured(SILENT, metric)
    # 1 and 1; the empty ones aren't in the mean, and everyone is told so.
    assert report.scores()[metric.name] == {"score": 1.0}
    assert report.counts()[metric.name] == {"unanswered": 2}
    notes = report.notes()[metric.name]
    assert notes[0] == "2 unanswered: the prediction is empty"
    assert notes[1].startswith("2 of 4 samples are unanswered and left out of the mean")
    # A table counts those of each metric.
    both = Hub([metric, "exact_match"]).evaluate(predictions=SILENT, references=REFERENCES)
    table = scores_in_full({"": both})
    assert table.head == ["metric", "output", "score", "unanswered"]
    assert [row[3:] for row in table.rows] == [[2], [0]]


def test_a_sample_that_lacks_its_reference_is_no_ones_fault() -> None:
    report = Hub([Exact()]).evaluate(predictions=["", "a", ""], references=["a", "", ""])
    assert report.counts() == {"exact": {"unscored": 2, "unanswered": 1}}
    assert report.notes()["exact"][:2] == [
        "1 unanswered: the prediction is empty",
        "2 unscored: the reference is empty",
    ]
    # Without the samples, it isn't known which reason is of which kind.
    assert report.pool().notes()["exact"][:2] == [
        "2 without a score: the reference is empty",
        "1 without a score: the prediction is empty",
    ]


LEXICAL = ["ttr", "aun", "nid", "repetition", "self_bleu", "readability", "distinct"]
LONG = "the old cat sat on the mat and slept"


@pytest.mark.parametrize("metric", [*LEXICAL, "rouge", Exact()])
def test_a_sample_has_one_status_everywhere(metric: str | Metric, tmp_path: Path) -> None:
    texts = {"predictions": ["", LONG, LONG, "нет"], "references": [LONG, LONG, "", "да"]}
    report = Hub([metric]).evaluate(texts)
    ((name, counts),) = report.counts().items()
    why = [report.explain(name, sample)[:2] for sample in range(4)]
    lost = Counter((status, reason) for status, reason in why if status != "ok")
    assert lost
    assert {status for status, _ in lost} <= {"unanswered", "unscored"}
    # The report counts them so, and so do the notes,
    counted = Counter(status for status, _ in why)
    assert counts == {**counted - Counter(ok=4)}
    noted = [note for note in report.notes()[name] if re.match(r"\d+ \w+: ", note)]
    expected = {f"{n} {status}: {reason}" for (status, reason), n in lost.items()}
    assert {*noted} == expected
    assert len(noted) == len(expected)
    # a page,
    report.to_html(tmp_path / "a.html", resamples=9)
    problem = Page(tmp_path / "a.html").data["problems"][0][name]
    shown = {int(i): tuple(problem["reasons"][k]) for i, k in problem["samples"].items()}
    assert shown == {i: status for i, status in enumerate(why) if status[0] != "ok"}
    # and the parts of a report, put together.
    merged = report.take([0]).merge(report.take([1, 2, 3])).notes()[name]
    assert {*noted} <= {*merged}


def test_counts_survive_saving_merging_and_pooling(tmp_path: Path) -> None:
    report = Hub("faithfulness", judge="offline").evaluate(
        predictions=["It rains.", ""], contexts=[["It rains."], ["It rains."]]
    )
    assert report.counts()["faithfulness"]["unanswered"] == 1
    report.save(tmp_path / "report.json")
    for other in (Report.load(tmp_path / "report.json"), report.pool()):
        assert other.scores() == report.scores()
        assert other.counts() == report.counts()
        assert other.merge(copy.copy(other)).counts()["faithfulness"]["unanswered"] == 2
    assert report.merge(copy.copy(report)).results["faithfulness"].unanswered == {"no_claims": 2}


def test_no_system_wins_where_another_left_more_unanswered() -> None:
    systems = {"right": measured(RIGHT), "silent": measured(SILENT)}
    comparison = systems["silent"].compare(systems["right"], **FEW)["exact"]["score"]
    # On the two samples that both answered, both are right.
    assert (comparison.score, comparison.other, comparison.difference) == (1.0, 1.0, 0.0)
    assert (comparison.samples, comparison.left_out) == (2, 2)
    assert comparison.withheld == REASON.replace("right", "the other system").replace(
        "silent", "this system"
    )
    assert comparison.randomization_p == 1.0
    same = systems["silent"].compare(systems["silent"], **FEW)["exact"]["score"]
    assert same.withheld is None
    assert unranked(systems) == {"exact": REASON}
    ranking = compare_all(systems, **FEW)
    assert ranking.ranks == {"exact": {"score": {}}}
    assert list(ranking.withheld) == ["exact"]
    assert ranking.sentence == f"exact ranks no system: {REASON}."
    assert not ranking.table().best
    pooled = {name: report.pool() for name, report in systems.items()}
    assert unranked(pooled) == {"exact": REASON}
    assert unranked(dict.fromkeys("ab", pooled["silent"])) == {}


def test_a_metric_whose_card_says_so_ranks_no_system() -> None:
    reason = "its threshold is fitted to the samples that are scored"
    columns = {"references": REFERENCES * 4, "no_answer_probabilities": [0.1, 0.2, 0.3, 0.4] * 4}
    texts = {"right": REFERENCES * 4, "half": RIGHT * 4, "none": ["no"] * 16}
    hub = Hub(["squad_v2_best", "exact_match"])
    systems = {name: hub.evaluate(predictions=text, **columns) for name, text in texts.items()}
    ranking = compare_all(systems, resamples=20)
    # Each beats the next by the exact matches of 16 samples.
    assert ranking.ranks["exact_match"]["score"] == {"right": 1, "half": 2, "none": 3}
    assert ranking.ranks["squad_v2_best"] == {"score": {}, "best_exact": {}}
    assert ranking.withheld == unranked(systems) == {"squad_v2_best": reason}
    tests = systems["half"].compare(systems["none"], resamples=20)["squad_v2_best"]
    for output in ("score", "best_exact", "f1_threshold"):
        assert tests[output].withheld == reason
        assert tests[output].rank is None
        assert "beats" not in str(tests[output].sentence)
    assert "beats" not in compare_all(systems, metrics="squad_v2_best", **FEW).sentence
    assert f"Systems aren't ranked by it: {reason}." in load_metric("squad_v2_best").card.body


def test_other_samples_are_no_comparison() -> None:
    hub = Hub("exact_match")
    first = hub.evaluate(predictions=["a"] * 9, references=["a"] * 9)
    same = hub.evaluate(predictions=["b"] * 9, references=["a"] * 9)
    other = hub.evaluate(predictions=["b"] * 9, references=["a b"] * 9)
    assert compare_all({"one": first, "same": same}).ranks["exact_match"]["score"]["one"] == 1
    assert "different references" in unranked({"one": first, "other": other})["exact_match"]


def test_nonsense_in_place_of_the_worst_outputs_raises_no_rouge() -> None:
    rouge = Hub("rouge")
    honest = rouge(predictions=RIGHT, references=REFERENCES)["rouge"]
    foreign = [text if text != "x y" else "Не знаю." for text in RIGHT]
    assert rouge(predictions=foreign, references=REFERENCES)["rouge"] == honest


def test_a_card_that_does_not_list_what_its_code_leaves_out_is_named() -> None:
    liar = type("Liar", (Columns,), {"card": load_metric("exact_match").card})
    with pytest.raises(MetricError, match=r"add undefined_for: \[empty\] to its front matter"):
        Hub([liar()]).evaluate(predictions=[""], references=["a"])


@pytest.mark.parametrize("sample", [-1, 4])
def test_a_sample_that_is_not_there_is_not_explained(sample: int) -> None:
    with pytest.raises(ReportError, match=f"has no sample {sample}; it has 4, numbered from 0"):
        measured(RIGHT).explain("exact", sample)
