"""Metrics as `torchmetrics.Metric`, in parts, in collections, and in two processes."""

from __future__ import annotations

import copy
import json
import math
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, OpenAIJudge
from metrichub.bridges.torchmetrics import metric
from tests.bridges import guide
from tests.bridges.hosts import needs

pytestmark = needs("torch", "torch", "torchmetrics")

import torch  # noqa: E402  # after the skip
import torchmetrics  # noqa: E402

PREDICTIONS = ["the cat sat on the mat", "it rains in spring", "a dog", "", "the dog ran"]
REFERENCES = [["the cat sat on a mat", "the cat"], ["it rains"], ["a dog"], ["no"], ["the dog"]]
METRICS = ["bleu", "chrf", "rouge", "wer", "ter", "distinct", "cider"]


def updated(module: Any, *cuts: int) -> Any:
    ends = [0, *cuts, len(PREDICTIONS)]
    for start, end in zip(ends, ends[1:]):  # noqa: B905, RUF007  # each with its next
        module.update(PREDICTIONS[start:end], REFERENCES[start:end])
    return module


def corpus(name: str) -> float:
    return Hub(name)(predictions=PREDICTIONS, references=REFERENCES)[name]["score"]


@pytest.mark.parametrize("name", METRICS)
def test_the_score_is_that_of_the_corpus_however_it_is_cut(name: str) -> None:
    for cuts in ((), (2,), (1, 1, 4)):
        result = updated(metric(name, outputs="score"), *cuts).compute()
        assert result.dtype is torch.float64
        assert result.item() == pytest.approx(corpus(name), rel=1e-12)


def test_states_of_what_adds_up_keep_their_size() -> None:
    module = metric("bleu")
    sizes = []
    for _ in range(3):
        updated(module, 2)
        sizes.append(sum(state.numel() for state in module.metric_state.values()))
    assert sizes == sizes[:1] * 3
    assert all(isinstance(state, torch.Tensor) for state in module.metric_state.values())
    assert {state.dtype for state in module.metric_state.values()} == {torch.int64}


def test_nothing_measured_is_nan_and_reset_forgets() -> None:
    for name in METRICS:
        module = metric(name, outputs="score")
        assert math.isnan(module.compute())
        updated(module).reset()
        assert math.isnan(module.compute())


def test_a_batch_without_a_scored_sample_changes_nothing() -> None:
    module = metric("rouge", outputs="score")
    module.update(["a"], ["🙂"])
    assert math.isnan(module.compute())
    updated(module)
    module.update(["a"], ["🙂"])
    assert module.compute().item() == corpus("rouge")


@pytest.mark.parametrize("name", ["bleu", "distinct"])
def test_forward_gives_the_batch_and_keeps_the_whole(name: str) -> None:
    module = metric(name, outputs="score")
    batch = module(PREDICTIONS[:2], REFERENCES[:2]).item()
    assert batch == Hub(name)(predictions=PREDICTIONS[:2], references=REFERENCES[:2])[name]["score"]
    module(PREDICTIONS[2:], REFERENCES[2:])
    assert module.compute().item() == pytest.approx(corpus(name), rel=1e-12)


def test_several_metrics_and_outputs_are_a_dictionary() -> None:
    result = updated(metric(["bleu", "wer"])).compute()
    assert {name: v.item() for name, v in result.items()} == {n: corpus(n) for n in ("bleu", "wer")}
    every = updated(metric("bleu", outputs="all"), 3).compute()
    scores = Hub("bleu")(predictions=PREDICTIONS, references=REFERENCES)["bleu"]
    assert every["bleu_precision_1"].item() == scores["precision_1"]
    assert len(every) == len(scores)


def test_a_collection_shows_each_under_its_name_and_its_headline_outputs() -> None:
    collected = torchmetrics.MetricCollection({name: metric(name) for name in METRICS})
    collected.update(PREDICTIONS[:2], REFERENCES[:2])
    collected.update(PREDICTIONS[2:], REFERENCES[2:])
    result = {name: value.item() for name, value in collected.compute().items()}
    # As on their cards; what isn't named here has its score alone.
    headline = {"rouge": ("rouge1", "rouge2", "rougeL", "rougeLsum")}
    headline |= {"distinct": ("distinct_1", "distinct_2")}
    expected = {name: corpus(name) for name in METRICS}
    for name, outputs in headline.items():
        scores = Hub(name)(predictions=PREDICTIONS, references=REFERENCES)[name]
        expected |= {f"{name}_{output}": scores[output] for output in outputs}
    assert result == pytest.approx(expected, rel=1e-12)


def test_one_output_of_a_metric_with_several_is_a_tensor_on_request() -> None:
    assert updated(metric("rouge", outputs="score")).compute().item() == corpus("rouge")
    assert set(updated(metric("rouge")).compute()) > {"rouge", "rouge_rouge1"}


def test_parameters_keep_metrics_of_a_collection_apart() -> None:
    # After a first batch without capitals their states are equal, and a collection would then
    # update one for both.
    specs = {"cased": "bleu", "lower": "bleu(lowercase=True)"}
    collected = torchmetrics.MetricCollection({k: metric(spec) for k, spec in specs.items()})
    first, second = (["a cat sat on it"], ["a cat sat on it"]), (["A DOG ran"], ["a dog ran"])
    for predictions, references in (first, second):
        collected.update(predictions, references)
    columns = {"predictions": first[0] + second[0], "references": first[1] + second[1]}
    result = {name: value.item() for name, value in collected.compute().items()}
    assert result == {k: Hub(spec)(**columns)["bleu"]["score"] for k, spec in specs.items()}
    assert result["cased"] < result["lower"]


def test_the_direction_is_that_of_the_card() -> None:
    assert metric("bleu").higher_is_better is True
    assert metric("wer").higher_is_better is False
    assert metric("abstractness").higher_is_better is None
    assert metric(["bleu", "wer"]).higher_is_better is None


@pytest.mark.parametrize("name", ["bleu", "distinct"])
def test_copies_and_pickles_go_on(name: str) -> None:
    first = metric(name, outputs="score")
    first.update(PREDICTIONS[:2], REFERENCES[:2])
    for other in (copy.deepcopy(first), pickle.loads(pickle.dumps(first)), first.clone()):
        other.update(PREDICTIONS[2:], REFERENCES[2:])
        assert other.compute().item() == pytest.approx(corpus(name), rel=1e-12)


def test_other_columns_are_given_by_their_names() -> None:
    module = metric("coverage")
    module.update(["a cat sat"], sources=["the cat sat down"])
    score = Hub("coverage")(predictions=["a cat sat"], sources=["the cat sat down"])
    assert module.compute().item() == score["coverage"]["score"]


def test_a_judge_is_asked_only_about_samples() -> None:
    asked = metric(Hub("faithfulness", judge="offline"))
    columns = {"contexts": [["The cat sat on a mat."]]}
    asked.update(["The cat sat on a mat."], **columns)
    assert asked.compute().item() == 1.0
    # A model that isn't there would be an error already here.
    assert metric(Hub("faithfulness", judge=OpenAIJudge(model="m", base_url="http://127.0.0.1:9")))


SCRIPT = """
import json, sys, torch, torch.distributed as dist
from metrichub.bridges.torchmetrics import metric
rank, place, parts = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
dist.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=2)
found = {}
for name in ("bleu", "rouge", "distinct", "cider"):
    one = metric(name, outputs="score")
    for predictions, references in parts[rank]:
        one.update(predictions, references)
    found[name] = [one.compute().item()]
    # Each has its own share again after it.
    one.reset()
    for predictions, references in parts[rank]:
        one.update(predictions, references)
    found[name].append(one.compute().item())
print(json.dumps(found))
dist.destroy_process_group()
"""


@pytest.mark.parametrize("cut", [2, 4, 5])
def test_two_processes_with_uneven_shares_equal_one(cut: int, tmp_path: Path) -> None:
    # With 5 of 5 the second process has no sample at all.
    first = [[PREDICTIONS[:1], REFERENCES[:1]], [PREDICTIONS[1:cut], REFERENCES[1:cut]]]
    others = [[PREDICTIONS[cut:], REFERENCES[cut:]]] if cut < len(PREDICTIONS) else []
    command = [sys.executable, "-c", SCRIPT]
    running = [
        subprocess.Popen(
            [*command, str(rank), str(tmp_path / "meet"), json.dumps([first, others])],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in (0, 1)
    ]  # fmt: skip
    for process in running:
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
        document = json.loads(out.splitlines()[-1])
        assert document == {n: pytest.approx([corpus(n)] * 2, rel=1e-12) for n in document}
        assert len(document) == 4


def test_the_line_of_the_guide() -> None:
    collected = guide.run("bridges.torchmetrics", MetricCollection=torchmetrics.MetricCollection)
    collected.update(PREDICTIONS, REFERENCES)
    result = {name: value.item() for name, value in collected.compute().items()}
    assert result == pytest.approx({name: corpus(name) for name in ("bleu", "wer")}, rel=1e-12)
