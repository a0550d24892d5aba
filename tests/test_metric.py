"""Metrics: how the framework reads what an author writes, and what it says of a mistake."""

import importlib
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import FrozenInstanceError, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from metrichub.catalog.card import Card
from metrichub.catalog.frontmatter import Scale
from metrichub.errors import MetricError, ParameterError
from metrichub.evaluation.observation import scores_of
from metrichub.metric import CorpusMetric, Measured, Metric, Unscored
from tests.toy_metrics import Errors, Known, Length, Overlap, Variety, card

words = st.lists(st.sampled_from("abc"), max_size=4).map(" ".join)
pairs = st.lists(st.tuples(words, words), min_size=1, max_size=6)


def evaluated(metric: Metric, *predictions: str) -> Report:
    return Hub(metric).evaluate(predictions=predictions)


def scored(metric: Metric, *predictions: str) -> Mapping[str, float]:
    return evaluated(metric, *predictions)[metric.name]


# What the parameters say.


def test_the_inputs_are_the_parameters_of_observe_or_measure() -> None:
    assert Overlap().inputs() == ("prediction", "reference")
    assert Known().inputs() == ("prediction", "references")


def test_the_statistics_are_the_parameters_of_score() -> None:
    assert Overlap.statistics() == ("shared", "wanted")
    assert Length.statistics() is None


def test_a_metric_of_a_module_without_a_file_has_a_card_of_its_name() -> None:
    class OneWord(Metric):
        __module__ = "builtins"

        def observe(self, prediction: str) -> float:
            return float(len(prediction.split()) == 1)

    assert OneWord.card.name == "one_word"
    assert scored(OneWord(), "a", "b c") == {"score": 0.5}


def test_the_label_says_what_a_parameter_stands_for() -> None:
    class Newest(Overlap):
        def resolved(self) -> Mapping[str, object]:
            return {"weight": 2.0 if self.weight == 1.0 else self.weight}

    assert Newest().label() == "overlap(lower=False, weight=2.0, ignored=())"
    columns = {"predictions": ["a"], "references": ["a"]}
    first, two = (Hub(Newest(weight=weight)).evaluate(columns) for weight in (1.0, 2.0))
    assert first.signatures() == two.signatures()


def test_the_label_shows_every_parameter_and_the_alias() -> None:
    assert Overlap(lower=True).label() == "overlap(lower=True, weight=1.0, ignored=())"
    assert Variety(name="v").label() == "v = variety"


@pytest.mark.parametrize(
    ("named", "names", "expected"),
    [
        (("part", "score"), ("score", "part"), ("part", "score")),
        (("score", "part"), ("score",), ("score",)),
        (("part",), ("score",), ("score",)),
        (("order_n",), ("score", "order_1", "order_2"), ("order_1", "order_2")),
        (("order_2", "score"), ("score", "order_1", "order_2"), ("order_2", "score")),
        (("order_n", "order_2"), ("score", "order_1", "order_2"), ("order_1", "order_2")),
    ],
)
def test_the_headline_is_that_of_the_card_as_far_as_the_metric_gives_it(
    named: tuple[str, ...], names: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Parts(Metric):
        card: ClassVar[Any] = replace(card("parts", "prediction"), headline=named)

        def outputs(self) -> tuple[str, ...]:
            return names

        def observe(self, prediction: str) -> float:
            return 1.0

    assert Parts().headline() == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("bleu", ("score",)),
        ("rouge", ("rouge1", "rouge2", "rougeL", "rougeLsum")),
        ("rouge(variant='rouge2')", ("rouge1", "rouge2", "rougeL", "rougeLsum")),
        ("rouge(variant='rougeW')", ("score", "rouge1", "rouge2", "rougeL", "rougeLsum")),
        ("distinct", ("distinct_1", "distinct_2")),
        ("distinct(n=3)", ("score", "distinct_1", "distinct_2")),
    ],
)
def test_a_chosen_variant_is_in_the_headline(spec: str, expected: tuple[str, ...]) -> None:
    assert load_metric(spec).headline() == expected


def test_a_metric_without_a_card_is_named_after_its_class() -> None:
    @dataclass(frozen=True, kw_only=True)
    class WordCount(Metric):
        def observe(self, prediction: str) -> float:
            return len(prediction.split())

    assert WordCount().card == Card(
        "word_count", "WordCount", "", ("prediction",), {"score": Scale()}
    )
    assert scored(WordCount(), "a b", "c") == {"score": 1.5}


def test_a_page_beside_a_plain_module_is_no_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "README.md").write_text("# A project, not a card\n")
    code = "class Alone(Metric):\n    def observe(self, prediction):\n        return 1\n"
    code = f"from metrichub.metric import Metric\n{code}"
    (tmp_path / "plain_module.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.import_module("plain_module").Alone.card.name == "alone"


def test_a_score_of_its_own_is_micro_unless_the_metric_says_otherwise() -> None:
    class Micro(Metric):
        def score(self, total: Any) -> Any:
            return {"score": total}

    class Macro(Metric):
        averaging = "macro"

        def score(self, total: Any) -> Any:
            return {"score": total}

    class Corpus(CorpusMetric):
        def score(self, total: Any) -> Any:
            return {"score": total}

    averagings = [kind.averaging for kind in (Metric, Micro, Macro, CorpusMetric, Corpus)]
    assert averagings == ["macro", "micro", "macro", "corpus", "corpus"]


def test_the_card_beside_the_code_is_the_metrics_card() -> None:
    metric = load_metric("bleu")
    assert metric.card.path.parent.name == metric.name == metric.card.name == "bleu"


def test_a_metric_is_frozen_equal_by_value_hashable_and_picklable() -> None:
    metric = Overlap(lower=True)
    assert metric == Overlap(lower=True) != Overlap()
    assert pickle.loads(pickle.dumps(metric)) == metric
    assert len({metric, Overlap(lower=True)}) == 1
    with pytest.raises(FrozenInstanceError):
        metric.lower = False  # type: ignore[misc]  # frozen


def test_a_metric_checks_its_parameters_however_it_is_made() -> None:
    with pytest.raises(ParameterError, match="overlap: weight=3 is not allowed"):
        Overlap(weight=3)


# One function, five uses.


@given(pairs)
def test_score_of_a_row_of_all_rows_and_of_sums_agree_for_any_leading_axes(
    samples: list[tuple[str, str]],
) -> None:
    predictions, references = zip(*samples, strict=True)
    metric = Errors()
    result: Any = Hub(metric).evaluate(predictions=predictions, references=references)
    result = result.results["errors"]
    rows, count = result.rows.arrays, result.rows.scored.astype(float)
    each = scores_of(metric, rows, count)["score"]
    deep = scores_of(metric, {k: a[None, :, None] for k, a in rows.items()}, count[None, :, None])
    np.testing.assert_equal(deep["score"][0, :, 0], each)
    total = scores_of(metric, {k: a.sum(axis=0) for k, a in rows.items()}, count.sum())
    np.testing.assert_equal(float(total["score"]), result.scores()["score"])


@given(st.lists(st.text(max_size=3), min_size=1))
def test_the_default_score_is_the_mean_of_the_scored_samples(texts: list[str]) -> None:
    lengths = [len(text) for text in texts if text]
    report = Hub(Length(), block_characters=3).evaluate(predictions=texts)
    expected = np.mean(lengths) if lengths else np.nan
    np.testing.assert_allclose(report["length"]["score"], expected)
    assert report.counts()["length"].get("unscored", 0) == len(texts) - len(lengths)


def test_score_may_ask_for_the_number_of_scored_samples() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Spread(Metric):
        """The variance of the lengths: E[x²] - E[x]²."""

        def observe(self, prediction: str) -> Mapping[str, float] | None:
            return {"x": len(prediction), "square": len(prediction) ** 2} if prediction else None

        def score(self, x: Any, square: Any, count: Any) -> Any:
            return {"score": square / count - (x / count) ** 2}

    # Lengths 1 and 3: the mean is 2, the variance 1; the empty one is not counted.
    report = evaluated(Spread(name="spread"), "a", "", "abc")
    assert report.scores() == {"spread": {"score": 1.0}}
    assert report.counts() == {"spread": {"unscored": 1}}


# Unscored is counted and never zero.


def test_without_a_scored_sample_the_score_is_nan_and_score_is_not_asked() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Picky(Length):
        def score(self, score: Any) -> Any:
            raise AssertionError

    report = evaluated(Picky(), "", "")
    assert np.isnan(report["length"]["score"])
    assert report.counts() == {"length": {"unscored": 2}}


def test_samples_say_of_an_output_what_the_card_cannot() -> None:
    class Told(Metric):
        card = card("told", "prediction", outputs=["words"])

        def observe(self, prediction: str) -> Mapping[str, float]:
            return {"score": 1.0, "words": float(len(prediction.split()))}

        def scales(self, totals: Mapping[str, Any], count: int) -> Mapping[str, Scale]:
            return {"score": Scale(0, 1, "lower")} if totals["words"] > count else {}

    for text, better in (("a b", "lower"), ("a", "higher")):
        scale = Hub(Told()).evaluate(predictions=[text]).results["told"].scale
        assert [declared and declared.better for declared in map(scale, ("score", "words"))] == [
            better,
            "higher",
        ]


def test_none_nan_and_unscored_are_counted_and_never_zero() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Moody(Metric):
        def observe(self, prediction: str) -> Any:
            return {"none": None, "nan": float("nan"), "why": Unscored("no mood")}.get(
                prediction, 1.0
            )

    report = Hub(Moody()).evaluate(predictions=["none", "x", "nan", "why", "why"])
    assert report.scores() == {"moody": {"score": 1.0}}
    assert report.counts() == {"moody": {"unscored": 4}}
    np.testing.assert_equal(report.samples()["moody"]["score"], [np.nan, 1, np.nan, np.nan, np.nan])
    assert report.notes() == {
        "moody": ["2 unscored: no mood", "2 unscored: the metric returned no score"]
    }


def test_measure_gives_nan_and_a_reason_for_an_unscored_row() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Halves(Metric):
        def measure(self, prediction: Sequence[str]) -> Measured:
            lengths = np.array([len(p) / 2 if p else np.nan for p in prediction])
            return Measured(
                {"score": lengths}, {i: "empty" for i, p in enumerate(prediction) if not p}
            )

    report = Hub(Halves(), block_characters=1).evaluate(predictions=["ab", "", "abcd"])
    assert report.scores() == {"halves": {"score": 1.5}}
    assert report.counts() == {"halves": {"unscored": 1}}
    assert report.notes() == {"halves": ["1 unscored: empty"]}


def test_a_vector_keeps_its_shape_where_the_first_samples_are_unscored() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Pair(Metric):
        def observe(self, prediction: str) -> Any:
            return {"pair": [len(prediction), 1]} if prediction else None

        def score(self, pair: Any) -> Any:
            return {"score": pair[..., 0] / pair[..., 1]}

    for characters in (1, 100):
        report = Hub(Pair(), block_characters=characters).evaluate(predictions=["", "", "ab"])
        assert report.scores() == {"pair": {"score": 2.0}}
        assert report.counts() == {"pair": {"unscored": 2}}


@pytest.mark.parametrize(
    "number", [3, 3.0, np.int64(3), np.float32(3), np.float64(3), True], ids=repr
)
def test_observe_may_give_one_number_of_any_kind(number: Any) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Same(Metric):
        def observe(self, prediction: str) -> Any:
            return number

    assert scored(Same(), "a", "b") == {"score": float(number)}


# Corpus metrics.


@given(st.lists(words, min_size=1, max_size=6))
def test_a_corpus_metric_concludes_from_the_rows_of_all_samples(texts: list[str]) -> None:
    everything = " ".join(texts).split()
    report = Hub(Variety(), block_characters=3).evaluate(predictions=texts)
    expected = len(set(everything)) / len(everything) if everything else np.nan
    np.testing.assert_equal(report.scores()["variety"]["score"], expected)
    assert report.results["variety"].unscored == sum(not text.split() for text in texts)
    each = [len(set(t.split())) / len(t.split()) if t.split() else np.nan for t in texts]
    np.testing.assert_equal(report.samples()["variety"]["score"], each)


def test_a_sample_of_a_corpus_metric_is_the_mean_of_its_candidates() -> None:
    report = Hub(Variety()).evaluate(predictions=[["a a", "a b"], ["c"]])
    assert report.samples()["variety"]["score"].tolist() == [0.75, 1.0]
    assert report.scores() == {"variety": {"score": 3 / 5}}


@dataclass(frozen=True, kw_only=True)
class Median(CorpusMetric):
    """The median length: its rows are bare numbers, and some have no length."""

    def observe(self, prediction: str) -> Any:
        return len(prediction) if prediction else Unscored("empty")

    def conclude(self, rows: Sequence[Any]) -> Mapping[str, float]:
        return {"score": float(np.median(rows))}


def test_a_corpus_metric_may_say_why_a_row_is_unscored() -> None:
    hub = Hub(Median())
    first, other = hub.evaluate(predictions=["a", ""]), hub.evaluate(predictions=["", ["", "ccc"]])
    assert first.scores() == {"median": {"score": 1.0}}
    assert first.counts() == {"median": {"unscored": 1}}
    assert first.notes() == {"median": ["1 unscored: empty"]}
    merged = first.merge(other)
    assert merged.scores() == {"median": {"score": 2.0}}
    assert merged.counts() == {"median": {"unscored": 2}}
    assert merged.notes() == {"median": ["2 unscored: empty"]}
    assert merged.pool().notes() == merged.notes()


def test_a_corpus_metric_that_measures_gives_a_row_a_sample() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Shortest(CorpusMetric):
        def measure(self, prediction: Sequence[str]) -> Sequence[Any]:
            return [len(text) for text in prediction][: None if self.name == "shortest" else 1]

        def conclude(self, rows: Sequence[Any]) -> Mapping[str, float]:
            return {"score": min(rows)}

    assert scored(Shortest(), "aaa", "bb") == {"score": 2.0}
    with pytest.raises(MetricError, match="bad: measure returned 1 rows for 2"):
        scored(Shortest(name="bad"), "aaa", "bb")


# An author's mistakes.


@dataclass(frozen=True, kw_only=True)
class Bad(Metric):
    """A metric with a statistic `a`, to be broken."""

    card: ClassVar[Card] = card("bad", "prediction", better="neither")

    def score(self, a: Any) -> Any:
        return {"score": a}


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (
            {"measure": lambda self, prediction: {"b": [1]}},
            "bad: measure returned b, but score asks for a",
        ),
        (
            {"measure": lambda self, prediction: {"a": [1], "b": [1]}},
            "bad: measure returned a, b, but score asks for a",
        ),
        ({"measure": lambda self, prediction: {"a": []}}, "the statistic 'a' has shape"),
        ({"observe": lambda self, prediction: {"b": 1}}, "bad returned no 'a'"),
        (
            {"observe": lambda self, prediction: "one"},
            "bad returned 'one' .str., not a number or",
        ),
        (
            {"observe": lambda self, prediction: {"a": [1] * len(prediction)}},
            "bad: the statistic 'a' doesn't have the same shape",
        ),
        (
            {
                "observe": lambda self, prediction: {"a": 1},
                "score": lambda self, a: {"other": a},
            },
            "bad: score returned other, but its outputs are score",
        ),
        ({}, "Broken has neither observe nor measure"),
        (
            {
                "observe": lambda self, prediction: 1.0,
                "measure": lambda self, prediction: {"a": [1]},
            },
            "Broken has observe and measure",
        ),
    ],
)
def test_a_mistake_of_the_author_names_metric_and_mistake(
    methods: dict[str, Any], message: str
) -> None:
    with pytest.raises(MetricError, match=message):
        Hub(type("Broken", (Bad,), methods)())(predictions=["a", "bb"])
