"""Classification: scikit-learn's numbers, and what it does with predictions that are no label."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from metrichub import Hub, load_metric
from metrichub.errors import InputError, ParameterError
from tests.vectors import answer_vectors

# What scikit-learn says of a single label, and what its older versions let numpy say.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*label:UserWarning"),
    pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning:sklearn"),
]

GOLDENS = [case.values[0] for case in answer_vectors("classification")]
LM_EVAL = [case.values[0] for case in answer_vectors("f1, mcc (lm-eval aggregation)")]
AVERAGES, RATES = ("micro", "macro", "weighted"), ("precision", "recall", "f1")
INVALID, FORMS = GOLDENS[3], GOLDENS[5]


def evaluated(predictions: Any, references: Any, **options: Any) -> Any:
    extract = options.pop("extract", None)
    hub = Hub(load_metric("classification", **options), extract=extract)
    return hub.evaluate(predictions=predictions, references=references)


def scores(predictions: Any, references: Any, **options: Any) -> dict[str, float]:
    scores: dict[str, float] = evaluated(predictions, references, **options)["classification"]
    return scores


def assert_golden(scores: dict[str, float], expected: dict[str, Any]) -> None:
    plain = ("accuracy", "balanced_accuracy", "mcc", "kappa", "kappa_quadratic")
    flat = {name: float(expected[name]) for name in plain}
    flat |= {f"{a}_{rate}": expected[a][rate] for a in AVERAGES for rate in RATES}
    for name, value in flat.items():
        assert scores[name] == pytest.approx(value, nan_ok=True), name


@pytest.mark.parametrize("row", GOLDENS[:3] + GOLDENS[4:5])
def test_all_scores_are_those_of_scikit_learn(row: dict[str, Any]) -> None:
    inputs, expected = row["inputs"], row["expected"]
    report = evaluated(**inputs)
    assert_golden(report["classification"], expected)
    tables = report.tables()["classification"]
    head, *matrix = tables["confusion matrix"]
    assert head == ["reference", *(f"predicted {label}" for label in expected["labels"])]
    assert matrix == [
        [label, *row] for label, row in zip(expected["labels"], expected["confusion"], strict=True)
    ]
    _, *by_label = tables["labels"]
    assert {name: counts[2] for name, _, _, _, *counts in by_label} == {
        label: label_rates["support"] for label, label_rates in expected["per_label"].items()
    }
    for label, *rates in (numbers[:4] for numbers in by_label):
        label_scores = expected["per_label"][label]
        assert rates == pytest.approx([label_scores[rate] for rate in RATES])
    gold_only = sorted({*inputs["references"]})
    macro_f1 = scores(**inputs, labels=gold_only)["macro_f1"]
    assert macro_f1 == pytest.approx(expected["macro_f1_gold_labels_only"])


def test_nothing_extracted_is_a_miss_and_no_class() -> None:
    # lm-eval's "[invalid]" is a third class of scikit-learn's: macro F1 is .3 there, and here .45,
    # as if scikit-learn were told the labels. MCC and kappa are the same.
    inputs, expected = INVALID["inputs"], INVALID["expected"]
    replies = [f"Answer: {p}" if p != "[invalid]" else "no\nidea" for p in inputs["predictions"]]
    report = evaluated(replies, inputs["references"], extract="after('Answer:')")
    classified = report["classification"]
    assert classified["macro_f1"] == pytest.approx(expected["macro_f1_gold_labels_only"]) == 0.45
    assert expected["macro"]["f1"] == pytest.approx(0.3)
    for name in ("accuracy", "mcc", "kappa"):
        assert classified[name] == pytest.approx(expected[name])
    assert classified["weighted_f1"] == pytest.approx(expected["weighted"]["f1"])
    # Four of five predictions have a label, and two are right.
    assert (classified["micro_precision"], classified["micro_recall"]) == (2 / 4, 2 / 5)
    assert report.counts()["classification"]["unextracted"] == 1
    assert report.tables()["classification"]["confusion matrix"] == [
        ["reference", "predicted no", "predicted yes", "predicted no label"],
        ["no", 1, 1, 1],
        ["yes", 1, 1, 0],
    ]
    # As a text it is a class, as in scikit-learn.
    assert_golden(scores(**inputs), expected)


def test_no_label_disagrees_as_far_as_can_be() -> None:
    # References 0, 1, 2, 2 and predictions 0, none, 2, 2: the distance of none is 2, the largest.
    # Linear: observed 2/4; by chance (0 1 2 2 against 0 2 2 and none, 16 pairs): |i - j| sums to
    # 4 + 3 + 2 + 2 = 11, and 4 * 2 for none, 19/16 together; 1 - (1/2) / (19/16) = 11/19.
    result = scores(["0", "?", "2", "2"], ["0", "1", "2", "2"], labels=[0, 1, 2])
    assert result["kappa_linear"] == pytest.approx(11 / 19)


def test_labels_in_other_unicode_forms_are_equal() -> None:
    # scikit-learn takes é and é for two labels, and a third of these for a miss.
    inputs = FORMS["inputs"]
    assert len({*inputs["predictions"]}) == 3
    report = evaluated(**inputs)
    assert report["classification"]["accuracy"] == 1
    assert report["classification"]["kappa"] == 1
    assert FORMS["expected"]["accuracy"] == pytest.approx(2 / 3)
    assert not report.notes()
    assert scores(**inputs, labels=[unicodedata.normalize("NFD", "é"), "Ａ"])["macro_f1"] == 1


@pytest.mark.parametrize(
    ("label", "other", "equal"),
    [
        (1, "1", True),
        (1, "1.0", True),
        (1, 1.0, True),
        (np.int64(1), "1.0", True),
        (1.0, "1", True),
        (1.0, "1.0", True),
        ("1", "1.0", True),
        (-3, "-3.0", True),
        (0, "0.0", True),
        (10, "10.0", True),
        (1.5, "1.5", True),
        (1, "01", False),
        (1, "1.00", False),
        (1, "1.", False),
        (1, " 1.0", False),
        (1, "+1.0", False),
        (1, "1.0.0", False),
        (1, "v1.0", False),
        (10, "1.0", False),
        (1.5, "1.50", False),
        ("01.0", "1.0", False),
        ("True", 1, False),
    ],
)
def test_a_whole_number_is_one_label_however_it_is_written(
    label: Any, other: Any, equal: bool
) -> None:
    for pair in ((label, other), (other, label)):
        assert scores(*([value] for value in pair))["accuracy"] == equal
        if equal:
            labels = ["2.0", "1.0", "0", "1.5", "-3", 10]
            assert scores(*([value] for value in pair), labels=labels)["accuracy"] == 1


def test_a_frame_and_its_csv_have_the_same_labels(tmp_path: Path) -> None:
    frame = pd.DataFrame({"prediction": [1, 2, 3, 3], "reference": [1, 2, 3, 1]})
    gaps = pd.DataFrame({"reference": [1, 2, 3, 1, None]})  # pandas makes floats of these
    gaps.to_csv(tmp_path / "gaps.csv", index=False)
    written = (tmp_path / "gaps.csv").read_text().splitlines()[1:5]
    assert written == ["1.0", "2.0", "3.0", "1.0"]
    for references in (frame["reference"], gaps["reference"][:4], written):
        report = evaluated(frame["prediction"].tolist(), list(references))
        # 3 of 4; kappa by hand: 3 of 4 observed, (2 * 1 + 1 * 1 + 1 * 2) / 16 by chance.
        assert report["classification"]["accuracy"] == 3 / 4
        assert report["classification"]["kappa"] == pytest.approx(1 - (1 / 4) / (1 - 5 / 16))
        assert report.tables()["classification"]["labels"][1][0] == "1"
    with pytest.raises(ParameterError, match="different labels"):
        load_metric("classification", labels=["1", "1.0"])


@pytest.mark.parametrize("row", LM_EVAL)
def test_binary_f1_and_mcc_are_those_of_lm_eval(row: dict[str, Any]) -> None:
    report = evaluated(**row["inputs"])
    expected = row["expected"]
    assert report["classification"]["mcc"] == pytest.approx(expected["mcc"])
    if isinstance(expected["f1"], dict):
        assert len({*row["inputs"]["references"]}) == 3
        return
    # lm-eval's f1 is that of the label 1, a row of the table of labels; 0 where there is none.
    rows = report.tables()["classification"]["labels"][1:]
    assert {label: f1 for label, _, _, f1, *_ in rows}.get("1", 0.0) == expected["f1"]


LABELS = st.sampled_from(["a", "b", "c", "10", "9"])
NUMBERS = st.integers(0, 4)


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=12), st.booleans())
def test_any_labels_score_as_in_scikit_learn(pairs: list[tuple[str, str]], listed: bool) -> None:
    predictions, references = (list(column) for column in zip(*pairs, strict=True))
    labels = [*"cab", "10", "9"] if listed else sorted({*predictions, *references})
    options = {"labels": labels} if listed else {}
    result = scores(predictions, references, **options)
    assert result["accuracy"] == pytest.approx(sk.accuracy_score(references, predictions))
    assert result["mcc"] == pytest.approx(sk.matthews_corrcoef(references, predictions))
    recalls = sk.recall_score(
        references, predictions, labels=sorted({*references}), average="macro", zero_division=0
    )
    assert result["balanced_accuracy"] == pytest.approx(recalls)
    for average in AVERAGES:
        expected = sk.precision_recall_fscore_support(
            references, predictions, labels=labels, average=average, zero_division=0
        )[:3]
        assert [result[f"{average}_{rate}"] for rate in RATES] == pytest.approx(expected)
    weighted = {"kappa": None} | ({"kappa_linear": "linear"} if listed else {})
    for name, weights in weighted.items():
        kappa = sk.cohen_kappa_score(references, predictions, labels=labels, weights=weights)
        assert result[name] == pytest.approx(kappa, nan_ok=True), name


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=12))
def test_weighted_kappa_takes_numbers_in_their_order(pairs: list[tuple[int, int]]) -> None:
    pairs = [(10 * a, 10 * b) for a, b in pairs]
    predictions, references = (list(column) for column in zip(*pairs, strict=True))
    result = scores(predictions, references)
    for weights in ("linear", "quadratic"):
        kappa = sk.cohen_kappa_score(references, predictions, weights=weights)
        assert result[f"kappa_{weights}"] == pytest.approx(kappa, nan_ok=True)


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=12))
def test_labels_that_are_not_among_those_named_are_wrong_and_of_no_class(
    pairs: list[tuple[str, str]],
) -> None:
    pairs = [(p, r if r in "ab" else "a") for p, r in pairs]
    predictions, references = (list(column) for column in zip(*pairs, strict=True))
    result = scores(predictions, references, labels=["a", "b"])
    for average in AVERAGES:
        expected = sk.precision_recall_fscore_support(
            references, predictions, labels=["a", "b"], average=average, zero_division=0
        )[:3]
        assert [result[f"{average}_{rate}"] for rate in RATES] == pytest.approx(expected)
    assert result["accuracy"] == pytest.approx(sk.accuracy_score(references, predictions))


def test_numbers_and_truth_values_are_labels_also_alone_in_a_list() -> None:
    assert scores([1, 2.0, True, "x"], [["1"], [2], ["True"], np.float64(3)])["accuracy"] == 0.75
    huge = 10**400
    assert scores([huge, np.array(["a"])], [str(huge), np.str_("a")])["accuracy"] == 1


@pytest.mark.parametrize(
    ("predictions", "references", "options", "message"),
    [
        (["a"], ["z"], {"labels": ["a", "b"]}, r"the reference 'z' isn't one of \('a', 'b'\)"),
        (["z"], ["a"], {"labels": ["a"], "unknown": "error"}, "the prediction 'z' isn't one"),
        (["a"], [["a", "z"]], {"labels": ["a"]}, "the reference 'z' isn't one of"),
        (["a"], [None], {}, r"references\[0\] is None, not a label"),
        ([float("nan")], ["a"], {}, r"predictions\[0\] is nan \(float\), not a label"),
        ([{}], ["a"], {}, r"predictions\[0\] is {} \(dict\), not a label"),
    ],
)
def test_what_is_no_label_is_named(
    predictions: Any, references: Any, options: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        scores(predictions, references, **options)


def test_of_several_references_any_will_do_and_else_the_first_counts() -> None:
    report = evaluated(["b", "c", "c"], [["a", "b"], ["a", "b"], "c"])
    assert report["classification"]["accuracy"] == 2 / 3
    assert report.samples()["classification"]["score"].tolist() == [1, 0, 1]
    _, *matrix = report.tables()["classification"]["confusion matrix"]
    assert matrix == [["a", 0, 0, 1], ["b", 0, 1, 0], ["c", 0, 0, 1]]
    both = Hub(["classification", "exact_match"])(predictions=["b"], references=[["a", "b"]])
    assert both["classification"]["accuracy"] == both["exact_match"]["score"] == 1


def test_score_reports_what_the_mode_says() -> None:
    for mode in ("macro_f1", "kappa_linear", "mcc"):
        metric = load_metric("classification", mode=mode)
        scores = Hub(metric)(predictions=[*"aabbc"], references=[*"abbcc"])["classification"]
        assert scores["score"] == scores[mode] != scores["accuracy"]
        assert metric.card.scale("score") == metric.card.scale(mode)


def test_a_table_shows_the_most_frequent_labels_and_sums_the_rest() -> None:
    predictions = [f"label {number}" for number in range(300)]
    matrix, rates = evaluated(predictions, ["right"] * 300).tables()["classification"].values()
    assert len(matrix) == len(matrix[0]) == 1 + 30 + 1
    assert sum(sum(row[1:]) for row in matrix[1:]) == 300
    assert rates[-1] == ["201 others", 0, 0, 0, 0, 201, 0]
    assert len(rates) == 1 + 100 + 1


def test_replies_that_all_differ_need_no_matrix_of_labels() -> None:
    # 50,000 labels times as many would be 20 GB.
    predictions = [f"reply {number}" for number in range(50_000)]
    result = scores(predictions, ["a"] * 50_000)
    assert result["accuracy"] == 0
    assert result["macro_recall"] == 0


@pytest.mark.parametrize("positive", ["spam", "ham"])
@given(pairs=st.lists(st.tuples(*[st.sampled_from(["spam", "ham"])] * 2), min_size=1, max_size=20))
def test_the_rates_of_the_positive_label_are_those_of_scikit_learn(
    positive: str, pairs: list[tuple[str, str]]
) -> None:
    predictions, references = map(list, zip(*pairs, strict=True))
    result = scores(predictions, references, labels=["spam", "ham"], positive=positive)
    for name, expected in zip(
        RATES,
        sk.precision_recall_fscore_support(
            references, predictions, labels=[positive], zero_division=0
        ),
        strict=False,
    ):
        assert result[name] == pytest.approx(expected[0])


def test_the_positive_label_may_be_a_number_and_has_to_occur() -> None:
    # Of two predicted 1s, one is right; of two expected, one is found.
    result = scores([1, 0, 1], [1, 1, 0], positive=1)
    assert [result[name] for name in RATES] == [1 / 2, 1 / 2, 1 / 2]
    assert np.isnan(scores(["yes"], ["no"], positive="Yes")["f1"])
    with pytest.raises(ParameterError, match=r"one of \('yes', 'no'\)"):
        load_metric("classification", labels=["yes", "no"], positive="Yes")
    assert "f1" not in scores(["yes"], ["no"])


def test_few_samples_of_the_positive_label_give_no_interval() -> None:
    labels = {"predictions": ["no"] * 40 + ["yes"] * 4, "references": ["no"] * 40 + ["yes"] * 4}
    intervals = evaluated(**labels, positive="yes").intervals(resamples=50)["classification"]
    assert intervals["accuracy"].low > 0.9
    assert np.isnan(intervals["f1"].low)


def test_a_positive_label_that_no_sample_has_is_told() -> None:
    columns = {"predictions": ["spam", "ham"], "references": ["spam", "spam"]}
    notes = Hub("classification(positive='Spam')").evaluate(**columns).notes()
    assert notes["classification"][0] == "no sample has the label 'Spam'; did you mean 'spam'?"
    assert not Hub("classification(positive='spam')").evaluate(**columns).notes()
