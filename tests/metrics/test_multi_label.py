"""Multi-label: scikit-learn's numbers of sets of labels, but for samples without any."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from metric_cards._bases import label_sums
from metrichub import Hub, Report, load_metric
from metrichub.errors import InputError
from tests.vectors import answer_vectors

RATES = ("precision", "recall", "f1")
NAMES = "abc"


def evaluated(predictions: Any, references: Any, **options: Any) -> Report:
    extract = options.pop("extract", None)
    hub = Hub(load_metric("multi_label", **options), extract=extract)
    return hub.evaluate(predictions=predictions, references=references)


def scores(predictions: Any, references: Any, **options: Any) -> dict[str, float]:
    return evaluated(predictions, references, **options)["multi_label"]


def named(rows: Any) -> list[list[str]]:
    return [[NAMES[label] for label in np.flatnonzero(row)] for row in rows]


@pytest.mark.parametrize("row", answer_vectors("multi_label"))
def test_the_numbers_are_those_of_scikit_learn_but_for_empty_samples(row: dict[str, Any]) -> None:
    expected, columns = row["expected"], {k: named(rows) for k, rows in row["inputs"].items()}
    number = len(row["inputs"]["references"][0])
    result = scores(**columns, labels=list(NAMES[:number]))
    for name in ("subset_accuracy", "hamming_loss"):
        assert result[name] == pytest.approx(expected[name]), name
    for average in ("micro", "macro", "weighted"):
        for rate in RATES:
            assert result[f"{average}_{rate}"] == pytest.approx(expected[average][rate])
    # Where both are empty scikit-learn's default gives 0, and we 1, as it does if it is told so.
    assert result["samples_f1"] == pytest.approx(expected["f1_samples_zero_division_1"])
    size = len(columns["references"])
    empty = sum(not p and not r for p, r in zip(*columns.values(), strict=True)) / size
    for name, rates in {"jaccard": expected["jaccard_samples"], **expected["samples"]}.items():
        output = name if name == "jaccard" else f"samples_{name}"
        assert result[output] == pytest.approx(rates + empty)


INDICATORS = st.lists(
    st.tuples(*[st.lists(st.integers(0, 1), min_size=3, max_size=3)] * 2), min_size=1, max_size=9
)


@given(INDICATORS)
def test_any_sets_score_as_in_scikit_learn(pairs: list[tuple[list[int], list[int]]]) -> None:
    predicted, expected = (np.array(column) for column in zip(*pairs, strict=True))
    result = scores(named(predicted), named(expected), labels=list(NAMES))
    assert result["subset_accuracy"] == pytest.approx(sk.accuracy_score(expected, predicted))
    assert result["hamming_loss"] == pytest.approx(sk.hamming_loss(expected, predicted))
    jaccard = sk.jaccard_score(expected, predicted, average="samples", zero_division=1)
    assert result["jaccard"] == pytest.approx(jaccard)
    for average in ("micro", "macro", "weighted", "samples"):
        rates = sk.precision_recall_fscore_support(
            expected, predicted, average=average, zero_division=0
        )[:3]
        if average == "weighted" and not expected.any():
            assert np.isnan(result["weighted_f1"])
        elif average != "samples":
            assert [result[f"{average}_{rate}"] for rate in RATES] == pytest.approx(rates), average
    empty = (~predicted.any(axis=1) & ~expected.any(axis=1)).mean()
    rates = sk.f1_score(expected, predicted, average="samples", zero_division=0)
    assert result["samples_f1"] == pytest.approx(rates + empty)


def test_a_reply_from_which_nothing_was_extracted_is_wrong_in_every_label() -> None:
    replies = ["Answer: a, b", "no\nidea"]
    report = evaluated(replies, [["a", "b"], []], extract="after('Answer:')")
    scores = report["multi_label"]
    # An empty set would have been right.
    assert (scores["subset_accuracy"], scores["samples_f1"], scores["jaccard"]) == (0.5, 0.5, 0.5)
    assert scores["hamming_loss"] == 0.5
    assert scores["micro_f1"] == 1
    assert report.counts()["multi_label"]["unextracted"] == 1


def test_lists_json_and_separated_texts_are_the_same_labels() -> None:
    ways = [
        *(["b", 1, "c d"], '["b", 1, "c d"]', "b, 1, c d", " c d ,b,1,b"),
        *('Labels:\n```json\n["c d", "b", 1.0]\n```', ("1", "b", "c d")),
        # As data frames write lists and arrays.
        *("['b', 1, 'c d']", "['b' 1 'c d']"),
    ]
    for way in ways:
        assert scores([way], [["b", "1", "c d"]])["subset_accuracy"] == 1
    assert scores(["New York, NY"], ["New York, NY"], separator=None)["micro_f1"] == 1
    assert list(evaluated(["a, b"], ["a"], separator=None).tables()["multi_label"]) == ["labels"]
    assert scores([["a, b"]], [["a", "b"]])["micro_f1"] == 0


def test_what_isnt_a_label_is_a_wrong_one_in_a_prediction() -> None:
    result = scores(['["a", {"b": 1}, null]'], [["a"]])
    assert result["micro_precision"] == pytest.approx(1 / 3)


def test_a_label_that_isnt_listed_is_wrong_or_refused() -> None:
    result = scores([["a", "z"]], [["a", "b"]], labels=["a", "b"])
    # b and z are wrong, of three labels; macro is of a and b.
    assert (result["hamming_loss"], result["macro_recall"]) == (pytest.approx(2 / 3), 0.5)
    assert result["micro_precision"] == 0.5
    with pytest.raises(InputError, match=r"the reference 'z' isn't one of \('a',\)"):
        scores(["a"], ["z"], labels=["a"])
    with pytest.raises(InputError, match="the prediction 'z' isn't one of"):
        scores(["z"], ["a"], labels=["a"], unknown="error")


def test_lower_is_better_where_the_loss_is_the_score() -> None:
    report = evaluated([["a"], []], [["a"], ["b"]], mode="hamming_loss")
    assert report["multi_label"]["score"] == report["multi_label"]["hamming_loss"] == 0.25
    scale = report.results["multi_label"].scale("score")
    assert scale is not None
    assert scale.better == "lower"
    assert report.samples()["multi_label"]["score"].tolist() == [0, 0.5]


def test_samples_have_their_own_rates() -> None:
    report = evaluated([["a"], [], ["a", "b"]], [["a", "b"], [], ["c"]])
    samples = report.samples()["multi_label"]
    assert samples["macro_f1"].tolist() == pytest.approx([2 / 3, 1, 0])
    assert samples["samples_precision"].tolist() == [1, 1, 0]


def test_several_sets_are_several_predictions_or_references() -> None:
    # Of the references the best counts: 1 of 2 and 1. Each of the predictions does.
    result = scores([[["a"], ["b", "c"]]], [["b", "c"]])
    assert (result["micro_precision"], result["micro_recall"]) == (2 / 3, 2 / 4)
    assert scores([["b"]], [[["a"], ["b", "c"], ["b", "d"]]])["samples_f1"] == pytest.approx(2 / 3)
    loss = scores([["b", "c"]], [[["a"], ["b", "c"]]], mode="hamming_loss")
    assert loss["score"] == 0
    beside = Hub(["multi_label", "exact_match"])(predictions=['["a"]'], references=[['["a"]']])
    assert beside["multi_label"]["micro_f1"] == 1


def test_arrays_are_sets_and_what_isnt_a_label_is_refused() -> None:
    assert scores([np.array([1, 2])], [np.array(["2", "1"])])["subset_accuracy"] == 1
    for value in (None, {"a": 1}, ["a", None], ["a", float("nan")], {"a"}):
        with pytest.raises(InputError, match=r"references\[0\] is .*, not a label"):
            scores([["a"]], [value])


def test_many_labels_are_summed_without_a_matrix_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = load_metric("multi_label").observe("a, b", ["b"]), {"labels": {}, "sums": [1] * 8}
    weights = np.array([[1, 1], [0, 2], [3, 0]])
    dense = load_metric("multi_label").resampler(rows)(weights)
    monkeypatch.setattr(label_sums, "DENSE", 0)
    sparse = load_metric("multi_label").resampler(rows)(weights)
    for name, values in dense.items():
        assert values.tolist() == pytest.approx(sparse[name].tolist(), nan_ok=True), name
    # Of two rows, the second without a label: F1 2/3, none, and 2/3 again.
    assert dense["micro_f1"].tolist() == pytest.approx([2 / 3, 0, 2 / 3])


def test_a_list_is_read_behind_thinking() -> None:
    thinking = '<think>["b"] or ["a"]?</think>\n'
    hub = Hub("multi_label")(predictions=[thinking + '["a"]'], references=[["a"]])
    assert hub["multi_label"]["subset_accuracy"] == 1
