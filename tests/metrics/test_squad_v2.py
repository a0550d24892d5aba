"""SQuAD 2.0: the numbers of its script, and the best thresholds with equal probabilities right."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, InputError, load_metric
from metrichub.errors import MissingColumn
from tests.oracles.squad import normal
from tests.vectors import answer_vectors

# By the vector's note and the output: the script walks through equal probabilities one by one.
OURS = {
    ("ties in the probability", "best_exact"): 50,
    ("ties in the probability", "best_exact_thresh"): 0,
    ("ties in the probability", "best_f1"): 50,
    ("ties in the probability", "best_f1_thresh"): 0,
}
BEST = {
    "score": "best_f1",
    "best_exact": "best_exact",
    "f1_threshold": "best_f1_thresh",
    "exact_threshold": "best_exact_thresh",
}


def columns(row: dict[str, Any]) -> dict[str, Any]:
    return dict(row["inputs"])


@pytest.mark.parametrize("row", answer_vectors("squad_v2"))
def test_equals_the_script(row: dict[str, Any]) -> None:
    threshold, expected = row["params"]["no_answer_threshold"], row["expected"]
    hub = Hub([f"squad_v2(threshold={threshold})", "squad_v2_best"])
    scores = hub(**columns(row))
    first, best = scores["squad_v2"], scores["squad_v2_best"]
    assert first["score"] * 100 == pytest.approx(expected["f1"])
    for name in ("exact", "HasAns_f1", "HasAns_exact", "NoAns_exact"):
        value = expected.get(name, math.nan)
        assert first[name] * 100 == pytest.approx(value, nan_ok=True), name
    # The script's F1 of questions without an answer is their exact match.
    assert expected.get("NoAns_f1") == expected.get("NoAns_exact")
    for name, official in BEST.items():
        value = OURS.get((row.get("note", ""), official), expected[official])
        scale = 1 if "thresh" in official else 100
        assert best[name] * scale == pytest.approx(value), name


def test_without_a_threshold_no_probability_is_read() -> None:
    samples = columns(answer_vectors("squad_v2")[0].values[0])
    with_all = Hub("squad_v2(threshold=1.0)")(**samples)
    del samples["no_answer_probabilities"]
    assert Hub("squad_v2")(**samples) == with_all
    with pytest.raises(MissingColumn, match="no_answer_probabilities"):
        Hub("squad_v2(threshold=0.5)")(**samples)


TEXTS = st.sampled_from(["", "the", "...", "a cat", "Cat!", "cat dog", "dog", "  ", "Émile", "12"])
QUESTIONS = st.lists(
    st.tuples(
        TEXTS,
        st.lists(TEXTS.filter(bool), max_size=3),
        st.sampled_from([0.0, 0.1, 0.25, 0.25, 0.5, 1.0]),
    ),
    min_size=1,
    max_size=12,
)


def f1(gold: str, prediction: str) -> float:
    """F1 of two texts as evaluate-v2.0.py defines it."""
    expected, predicted = normal(gold).split(), normal(prediction).split()
    if not expected or not predicted:
        return float(expected == predicted)
    shared = sum((Counter(expected) & Counter(predicted)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(predicted), shared / len(expected)
    return 2 * precision * recall / (precision + recall)


def raw_scores(prediction: str, references: list[str]) -> tuple[float, float]:
    golds = [gold for gold in references if normal(gold)] or [""]
    exact = max(float(normal(gold) == normal(prediction)) for gold in golds)
    return max(f1(gold, prediction) for gold in golds), exact


@given(QUESTIONS, st.sampled_from([None, 0.0, 0.1, 0.2, 0.5, 1.0]))
def test_equals_the_definition_on_any_questions(
    questions: list[tuple[str, list[str], float]], threshold: float | None
) -> None:
    pairs = []
    for prediction, references, number in questions:
        silent = threshold is not None and number > threshold
        pair = (float(not references),) * 2 if silent else raw_scores(prediction, references)
        pairs.append((*pair, bool(references)))
    expected = {"score": [p[0] for p in pairs], "exact": [p[1] for p in pairs]}
    for place, name in ((0, "HasAns_f1"), (1, "HasAns_exact")):
        expected[name] = [p[place] for p in pairs if p[2]]
    expected["NoAns_exact"] = [p[1] for p in pairs if not p[2]]
    scores = Hub(load_metric("squad_v2", threshold=threshold))(
        predictions=[q[0] for q in questions],
        references=[q[1] for q in questions],
        no_answer_probabilities=[q[2] for q in questions],
    )["squad_v2"]
    for name, values in expected.items():
        mean = sum(values) / len(values) if values else math.nan
        assert scores[name] == pytest.approx(mean, nan_ok=True), name


@given(QUESTIONS)
def test_the_best_thresholds_are_the_best_of_all(
    questions: list[tuple[str, list[str], float]],
) -> None:
    samples = {
        "predictions": [q[0] for q in questions],
        "references": [q[1] for q in questions],
        "no_answer_probabilities": [q[2] for q in questions],
    }
    report = Hub("squad_v2_best").evaluate(**samples)
    best = report.scores()["squad_v2_best"]
    names = [f"s{place} = squad_v2(threshold={t})" for place, t in enumerate(np.arange(0, 21) / 20)]
    all_of_them = Hub(names)(**samples).values()
    for ours, name, threshold in (
        ("score", "score", "f1_threshold"),
        ("best_exact", "exact", "exact_threshold"),
    ):
        assert best[ours] == pytest.approx(max(scores[name] for scores in all_of_them))
        at = Hub(load_metric("squad_v2", threshold=best[threshold]))(**samples)["squad_v2"]
        assert at[name] == pytest.approx(best[ours])
        assert report.samples()["squad_v2_best"][ours].mean() == pytest.approx(best[ours])


def test_a_question_without_references_has_no_answer_however_it_is_written() -> None:
    none: list[Any] = [[], "", [""], {"text": [], "answer_start": []}]
    for references in none:
        scores = Hub("squad_v2")(predictions=["", "x"], references=[references, ["x"]])["squad_v2"]
        assert (scores["NoAns_exact"], scores["HasAns_exact"]) == (1, 1), references
    # An answer of which the normalization leaves nothing is still one.
    scores = Hub("squad_v2")(predictions=["the"], references=[["..."]])["squad_v2"]
    assert scores["HasAns_exact"] == 1
    assert math.isnan(scores["NoAns_exact"])


def test_answers_are_read_as_squad_has_them(tmp_path: Path) -> None:
    data = {"text": ["Oslo", "in Oslo"], "answer_start": [1, 3]}
    file = [{"text": "Oslo", "answer_start": 1}]
    rows = [{"prediction": "oslo", "answers": answers} for answers in (data, file)]
    assert Hub("squad_v2")(rows)["squad_v2"]["score"] == 1
    for wrong in ([{"start": 1}], {"text": "Oslo"}, [3], {"texts": []}):
        with pytest.raises(InputError, match=r"references\[0\] isn't a list of answers"):
            Hub("squad_v2")(predictions=["x"], references=[wrong])


def test_nothing_extracted_is_wrong_and_no_silence() -> None:
    hub = Hub(["squad_v2", "squad_v2_best"], extract="after('Answer:')")
    report = hub.evaluate(
        predictions=["I don't know", "Answer: x"],
        references=[[], ["x"]],
        no_answer_probabilities=[0.0, 0.0],
    )
    assert report["squad_v2"]["score"] == 0.5
    assert report["squad_v2"]["NoAns_exact"] == 0
    assert report.counts()["squad_v2"]["unextracted"] == 1
    assert report["squad_v2_best"]["score"] == 0.5


def test_two_systems_have_probabilities_of_their_own() -> None:
    hub = Hub("squad_v2(threshold=0.5)")
    questions = {"id": list(range(20)), "references": [["x"], []] * 10}
    sure = hub.evaluate(
        **questions, predictions=["x"] * 20, no_answer_probabilities=[0.1, 0.9] * 10
    )
    unsure = hub.evaluate(
        **questions, predictions=["x"] * 20, no_answer_probabilities=[0.9, 0.1] * 10
    )
    assert sure.compare(unsure)["squad_v2"]["score"].difference == 1


@pytest.mark.parametrize("number", [1.5, -0.1, "high", None, math.nan])
@pytest.mark.parametrize("metric", ["squad_v2(threshold=0.5)", "squad_v2_best"])
def test_a_probability_out_of_its_range_is_one_line(metric: str, number: object) -> None:
    with pytest.raises(InputError, match=r"squad_v2.*no_answer_probabilities has .* from 0 to 1"):
        Hub(metric)(predictions=["x"], references=["x"], no_answer_probabilities=[number])
