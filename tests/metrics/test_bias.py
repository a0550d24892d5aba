"""Bias: what it shares with toxicity in one hub; its scores are tested with those of toxicity."""

from pathlib import Path

import pytest

from metrichub import Hub, load_metric
from tests.judge_stub import Stub
from tests.judge_toys import spec

pytestmark = pytest.mark.usefixtures("alone")


def test_bias_and_toxicity_extract_the_opinions_once(stub: Stub, tmp_path: Path) -> None:
    judge = spec(stub)
    hub = Hub([load_metric("bias", judge=judge), load_metric("toxicity", judge=judge)])
    # The stub says yes to all but what holds the word "unsupported".
    report = hub.evaluate(predictions=["One is mine. The other is unsupported."])
    assert report.scores() == {
        "bias": {"score": 0.5, "biased": 1.0},
        "toxicity": {"score": 0.5, "toxic": 1.0},
    }
    extractions = [asked for asked in stub.asked if "items" in asked.schema["properties"]]
    assert len(extractions) == 1
    assert len(stub.asked) == 3
    assert len({asked.system for asked in stub.asked}) == 3


def test_the_outputs_are_named_for_the_policy() -> None:
    assert load_metric("bias").outputs() == ("score", "biased")
    assert load_metric("toxicity").outputs() == ("score", "toxic")
