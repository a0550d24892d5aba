"""Metrics as modules of Hugging Face evaluate: alone, in parts, and combined."""

from __future__ import annotations

import math
from pathlib import Path

import evaluate
import pytest
import sacrebleu

from metrichub import Hub, ParameterError
from metrichub.bridges.evaluate import module
from tests.bridges import guide

PREDICTIONS = ["the cat sat on the mat", "it rains in spring", "a dog"]
ONE = ["the cat sat on a mat", "it rains in the spring", "a dog"]
MANY = [["the cat sat on a mat", "the cat"], ["it rains in the spring"], ["a dog", "dogs"]]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate.config, "HF_METRICS_CACHE", str(tmp_path))


def test_the_score_is_that_of_the_corpus() -> None:
    result = module("bleu", outputs="score").compute(predictions=PREDICTIONS, references=ONE)
    official = sacrebleu.corpus_bleu(PREDICTIONS, [ONE]).score / 100
    assert result == {"bleu": pytest.approx(official, abs=1e-12)}
    assert isinstance(result["bleu"], float)


@pytest.mark.parametrize("references", [ONE, MANY])
def test_samples_may_come_in_parts(references: list[str]) -> None:
    score = Hub("bleu")(predictions=PREDICTIONS, references=references)["bleu"]["score"]
    metric = module("bleu", outputs="score")
    for start in (0, 2):
        metric.add_batch(
            predictions=PREDICTIONS[start : start + 2], references=references[start : start + 2]
        )
    assert metric.compute() == {"bleu": score}
    for prediction, reference in zip(PREDICTIONS, references, strict=True):
        metric.add(prediction=prediction, reference=reference)
    assert metric.compute() == {"bleu": score}


def test_combined_keys_neither_clash_nor_move() -> None:
    alone = module("rouge").compute(predictions=PREDICTIONS, references=ONE)
    names = ["rouge", "bleu2 = bleu(max_order=2)", "bleu", "wer"]
    result = evaluate.combine([module(name) for name in names]).compute(
        predictions=PREDICTIONS, references=ONE
    )
    assert alone.items() <= result.items()
    hub = Hub(names)(predictions=PREDICTIONS, references=ONE)
    assert {name: result[name] for name in hub} == {name: hub[name]["score"] for name in hub}
    assert result["rouge_rouge1"] == hub["rouge"]["rouge1"]


def test_the_line_of_the_guide() -> None:
    combined = guide.run("evaluate.combine", evaluate=evaluate)
    result = combined.compute(predictions=PREDICTIONS, references=ONE)
    assert result["wer"] == 2 / 13
    assert result["bleu"] == module("bleu").compute(predictions=PREDICTIONS, references=ONE)["bleu"]


def test_outputs_are_chosen() -> None:
    columns = {"predictions": PREDICTIONS, "references": ONE}
    every = module("bleu", outputs="all").compute(**columns)
    scores = Hub("bleu")(**columns)["bleu"]
    assert every == {"bleu": scores.pop("score")} | {f"bleu_{k}": v for k, v in scores.items()}
    assert "bleu_precision_1" in every
    with pytest.raises(ParameterError, match="outputs='some' is not allowed"):
        module("bleu", outputs="some")  # type: ignore[arg-type]  # a wrong word


def test_a_hub_is_one_module_and_other_columns_are_read() -> None:
    metric = module(Hub(["coverage", "exact_match"]))
    columns = {"predictions": ["a cat sat"], "sources": ["the cat sat down"], "references": ["x"]}
    result = metric.compute(**columns)
    assert result == {n: s["score"] for n, s in Hub(["coverage", "exact_match"])(**columns).items()}
    assert metric.name == "metrichub"


def test_two_modules_of_one_process_keep_their_samples_apart() -> None:
    first, two = module("exact_match"), module("exact_match")
    first.add(prediction="a", reference="a")
    two.add(prediction="a", reference="b")
    assert (first.compute(), two.compute()) == ({"exact_match": 1.0}, {"exact_match": 0.0})


def test_no_score_is_nan_and_never_0() -> None:
    result = module("rouge").compute(predictions=["a"], references=["🙂"])
    assert math.isnan(result["rouge"])


def test_evaluate_shows_what_the_card_says() -> None:
    metric = module("bleu")
    assert "bleu" in metric.description
    assert "Papineni" in metric.citation
    assert metric.license
