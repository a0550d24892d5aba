"""Opinion metrics: an author's own policy, one prompt long; the sums are tested with toxicity."""

import importlib
from pathlib import Path

import pytest

from metrichub import Hub
from metrichub.testing import Scripted

CODE = """
from dataclasses import dataclass

from metrichub.judge.metric_bases import StatementMetric


@dataclass(frozen=True, kw_only=True)
class Flattery(StatementMetric):
    policy = "flattering"
"""


def test_a_policy_of_ones_own_is_a_prompt_and_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = tmp_path / "flattery" / "prompts"
    prompts.mkdir(parents=True)
    (prompts.parent / "__init__.py").write_text(CODE, encoding="utf-8")
    (prompts / "flattering.md").write_text("Is the opinion flattery?", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    kind = importlib.import_module("flattery").Flattery
    judge = Scripted({"opinions": ["You are wise.", "It rains."], "flattering": ["yes", "no"]})
    metric = kind(name="flattery", judge=judge)
    assert Hub(metric)(predictions=["You are wise, and it rains."]) == {
        "flattery": {"score": 0.5, "flattering": 1.0}  # one opinion of two
    }
    assert metric.prompt("flattering").text == "Is the opinion flattery?"
