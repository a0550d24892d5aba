"""Two passes: what samples weigh together gives the same scores as all of them in one place."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report
from metrichub.catalog.card import Card
from metrichub.data.batch import Batch
from metrichub.errors import MetricError, ReportError, ScoringError
from metrichub.evaluation import measure, run
from metrichub.evaluation.merge import merged
from metrichub.evaluation.two_passes import Survey
from metrichub.metric import Array, CorpusMetric
from tests.machines import assert_equals_one_process, rounded, rows, unscored
from tests.toy_metrics import Rarity, card

METRICS = [
    *("bleu", "cider", "cider1 = cider(variant='cider')", "distinct"),
    *("nist", "nist2 = nist(convention='nltk')", "novelty", "novelty2 = novelty(n=2)", Rarity()),
]
HUB = Hub(METRICS)
WORDS = st.lists(st.sampled_from(["a", "b", "c", "0", ".", "é"]), max_size=6).map(" ".join)
SAMPLES = st.lists(
    st.fixed_dictionaries({"prediction": WORDS, "refs": st.lists(WORDS, min_size=1, max_size=3)}),
    max_size=9,
)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few samples each."""
    monkeypatch.setattr(run, "PART_CHARACTERS", 200)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    "options", [{}, {"key": "id"}, {"workers": 2}], ids=["by position", "by key", "two processes"]
)
def test_sums_have_the_scores_of_kept_samples(options: dict[str, Any]) -> None:
    found = [*rows(120), *unscored(3, 120)]
    kept, summed = HUB.evaluate(found), HUB.evaluate(found, samples=False, **options)
    np.testing.assert_equal(rounded(summed.scores()), rounded(kept.scores()))
    assert list(summed.results) == list(kept.results)
    # Counts are whole, so that no digit differs.
    assert summed["novelty"] == kept["novelty"]
    for name, result in summed.results.items():
        same = kept.results[name]
        assert (result.count, result.unscored) == (same.count, same.unscored)
        assert (result.reasons, result.unanswered) == (same.reasons, same.unanswered)


@given(st.lists(SAMPLES, max_size=4))
def test_parts_that_come_once_have_the_scores_of_all_together(parts: list[Any]) -> None:
    def coming() -> Iterator[Any]:
        yield from (part for part in parts if part)

    found = [row for part in parts for row in part]
    if found:
        kept, summed = HUB.evaluate(found), HUB.evaluate(coming(), samples=False)
        np.testing.assert_equal(rounded(summed.scores()), rounded(kept.scores()))


def test_no_sample_has_no_score() -> None:
    report = HUB.evaluate(predictions=[], references=[], samples=False)
    assert report.size == 0
    assert np.isnan([report[name]["score"] for name in report.results]).all()


def test_several_predictions_of_a_sample_are_all_weighed() -> None:
    found = [
        {"predictions": ["a b c", "d"], "references": ["a b", "c"]},
        {"predictions": ["b", "c a"], "references": ["b", "b a"]},
    ]
    kept, summed = HUB.evaluate(found), HUB.evaluate(found, samples=False)
    np.testing.assert_equal(rounded(summed.scores()), rounded(kept.scores()))
    # Of four predictions, only "d" has a word that occurs once.
    assert summed["rarity"] == {"score": 1 / 4}


def test_a_metric_that_weighs_needs_nothing_else() -> None:
    # "a" and "c" occur once: all of "c", half of "a b", none of "b b".
    report = Hub(Rarity()).evaluate(predictions=["a b", "c", "b b", ""])
    assert report["rarity"] == {"score": 0.5, "unscored": 1}
    np.testing.assert_equal(report.samples()["rarity"]["score"], [0.5, 1, 0, np.nan])
    again = Hub(Rarity()).evaluate(predictions=["a b", "c", "b b", ""], samples=False)
    assert again["rarity"] == report["rarity"]


def test_sums_have_intervals_of_weights_that_stay() -> None:
    # Each word occurs once, so that the share is 1 whatever is drawn; were the words counted anew,
    # those of a sample that is drawn twice would be no rare ones.
    found = {"predictions": ["a", "b", "c", "d", "e"]}
    summed = Hub(Rarity()).evaluate(**found, samples=False)
    assert summed.intervals(resamples=50)["rarity"]["score"].mean == 1
    assert Hub(Rarity()).evaluate(**found).intervals(resamples=50)["rarity"]["score"].mean < 1
    said = "intervals and tests use the weights from all samples, and don't resample them"
    assert summed.notes() == {"rarity": [said]}


def test_samples_of_several_parts_are_drawn_apart() -> None:
    # "a" is rare and "b" isn't: drawn by themselves they give 0, .5 or 1, and together always .5.
    parts = [{"predictions": ["a"]}, {"predictions": ["b b"]}]
    found = Hub(Rarity()).evaluate(iter(parts), samples=False).intervals(resamples=50)
    assert found["rarity"]["score"].std > 0.2


def test_systems_are_compared_by_their_sums() -> None:
    one, other = rows(60), [{**row, "prediction": row["refs"][0]} for row in rows(60)]
    hub = Hub(["cider", "nist", "novelty"])
    summed = [hub.evaluate(found, samples=False, key="id") for found in (one, other)]
    kept = [hub.evaluate(found) for found in (one, other)]
    for name in ("cider", "nist", "novelty"):
        found, same = (a.compare(b, trials=50)[name]["score"] for a, b in (summed, kept))
        assert found.difference == pytest.approx(same.difference, abs=1e-12)
        assert found.p == same.p == 1 / 51


def test_a_saved_report_has_the_same_scores_and_intervals(tmp_path: Path) -> None:
    report = HUB.evaluate(rows(30), samples=False, key="id")
    report.save(tmp_path / "report.json")
    again = Report.load(tmp_path / "report.json", metrics=[Rarity()])
    assert again.scores() == report.scores()
    assert again == report
    named = ["cider", "nist", "novelty"]
    found, same = (r.intervals(metrics=named, resamples=20) for r in (again, report))
    assert found == same


@pytest.mark.parametrize("again", [False, True], ids=["measured", "saved"])
def test_sums_of_two_corpora_do_not_merge(again: bool, tmp_path: Path) -> None:
    parts = [Hub("cider").evaluate(rows(5, start), samples=False) for start in (0, 5)]
    if again:
        for number, part in enumerate(parts):
            part.save(tmp_path / f"{number}.json")
        parts = [Report.load(tmp_path / f"{number}.json") for number in (0, 1)]
    with pytest.raises(ReportError, match="cider: reports without samples can't be merged"):
        parts[0].merge(parts[1])
    with pytest.raises(ReportError, match="cider: reports without samples can't be merged"):
        parts[0].pool().merge(parts[1].pool())


def test_kept_samples_and_sums_are_not_compared() -> None:
    kept, summed = (Hub("cider").evaluate(rows(5), samples=samples) for samples in (True, False))
    for one, other in ((kept, summed), (summed, kept)):
        with pytest.raises(ReportError, match=r"pooled|samples"):
            one.compare(other, trials=10)


@dataclass(frozen=True, kw_only=True)
class Odd(CorpusMetric):
    """Gives what it is told to."""

    card: ClassVar[Card] = card("odd", "prediction")
    what: str

    def observe(self, prediction: str) -> str:
        """The text."""
        return prediction

    def survey(self, rows: Sequence[Any]) -> Any:
        """A set, which doesn't add up, a division by 0, or a number."""
        if self.what == "raise":
            raise ZeroDivisionError
        return set(rows) if self.what == "set" else 0

    def weigh(self, rows: Sequence[Any], corpus: Any) -> Mapping[str, Array]:
        """Of a wrong name, a wrong shape, or nothing."""
        return {
            "name": {"other": np.ones(len(rows))},
            "shape": {"right": np.ones(len(rows) + 1)},
            "nan": {"right": np.full(len(rows), np.nan)},
        }.get(self.what, {})

    def score(self, right: Array) -> Mapping[str, Array]:
        """What is right."""
        return {"score": right}


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    ("odd", "error", "said"),
    [
        (
            "set",
            MetricError,
            r"odd: survey returned .*, which \+ can't add up; return a Counter",
        ),
        ("raise", ScoringError, "odd failed: ZeroDivisionError"),
        ("name", MetricError, "odd: weigh returned other, but score asks for right"),
        ("shape", MetricError, r"'right' has shape \(\d+,\)"),
        ("nan", MetricError, "odd: weigh returned nan; leave rows without a score out"),
    ],
)
def test_a_metric_that_weighs_wrongly_is_named(odd: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        Hub(Odd(what=odd)).evaluate(predictions=["a word " * 20] * 5, samples=False)


def test_a_part_is_added_few_times() -> None:
    added: list[int] = []

    @dataclass(frozen=True)
    class Counted:
        parts: int

        def __add__(self, other: Counted) -> Counted:
            added.append(self.parts + other.parts)
            return Counted(added[-1])

    survey = Survey(Rarity())
    for _ in range(64):
        survey.add(Counted(1))
    assert survey.total() == Counted(64)
    # A tree of 64 leaves has 6 levels, and each adds all parts once.
    assert sum(added) == 6 * 64
    assert Survey(Rarity()).total() == Counter()


def batch_of(*predictions: str) -> Batch:
    """Samples of predictions alone."""
    return Batch.from_data({"predictions": predictions}, {"predictions": "rarity"})


def test_parts_that_are_to_be_merged_are_weighed_after_the_merge() -> None:
    # Of "a b", "c" and "b b" the words "a" and "c" are rare: half, all and nothing of them. By
    # itself the first part has no other "b", so that all of it is rare.
    parts_of = (["a b"], ["c", "b b"])
    work = measure.Measure([Rarity()], None, 1000)
    parts = [
        run.measured(work, [batch_of(*texts)], samples=False, condensed=True) for texts in parts_of
    ]
    assert merged(parts).results["rarity"].scores() == {"score": 0.5}


@pytest.mark.parametrize("texts", [True, False])
def test_parts_that_are_summed_are_not_held(texts: bool) -> None:
    freed: list[int] = []

    def coming() -> Iterator[Batch]:
        for number in range(20):
            batch = batch_of("a b")
            weakref.finalize(batch, freed.append, number)
            yield batch
        assert len(freed) > 10

    run.measured(measure.Measure([Rarity()], None, 1000), coming(), samples=False, texts=texts)


@pytest.mark.usefixtures("small_parts")
def test_the_rows_of_all_samples_are_never_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    weigh = Rarity.weigh

    def counted(self: Rarity, found: Sequence[Any], corpus: Any) -> Mapping[str, Array]:
        seen.append(len(found))
        return weigh(self, found, corpus)

    monkeypatch.setattr(Rarity, "weigh", counted)
    Hub(Rarity()).evaluate(predictions=["a b c d"] * 500, samples=False)
    assert sum(seen) == 500
    # Parts of 200 characters, of 7 each.
    assert max(seen) < 60


def test_metrics_of_one_pass_and_of_two_go_together() -> None:
    found = rows(40)
    hub = Hub([Rarity(), "bleu", "cider"])
    assert_equals_one_process(hub.evaluate(found, samples=False, key="id"), found, hub)


def test_a_corpus_metric_without_any_conclusion_is_named() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Silent(CorpusMetric):
        card: ClassVar[Card] = card("silent", "prediction")

        def observe(self, prediction: str) -> str:
            return prediction

    with pytest.raises(MetricError, match="Silent has no `conclude`"):
        Hub(Silent())(predictions=["a"])
    with pytest.raises(MetricError, match="Silent has no `weigh`"):
        Silent().weigh(["a"], 0)
    # What a metric needn't write says nothing.
    assert Silent().survey(["a"]) == 0
    assert Silent().unscored(["a"]) == {}
    assert Silent().tables(["a"]) == {}
    assert Silent().notes_of_rows(["a"]) == ()
    assert Silent().condense(["a"]) == ["a"]
