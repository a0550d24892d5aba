"""Judges: who answers typed questions about texts, and the metrics that ask them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metrichub.evaluation.explanation import Explained as Explained
    from metrichub.judge.chance import ChanceJudge as ChanceJudge
    from metrichub.judge.metric import EmbedderMetric as EmbedderMetric
    from metrichub.judge.metric import JudgeMetric as JudgeMetric
    from metrichub.judge.offline import OfflineJudge as OfflineJudge
    from metrichub.judge.openai import OpenAIJudge as OpenAIJudge
    from metrichub.judge.scripted import Recorded as Recorded
    from metrichub.judge.scripted import Scripted as Scripted
    from metrichub.judge.types import Choice as Choice
    from metrichub.judge.types import Grade as Grade
    from metrichub.judge.types import Judge as Judge
    from metrichub.judge.types import Prompt as Prompt
    from metrichub.judge.types import Verdict as Verdict
    from metrichub.judge.types import Weighing as Weighing
    from metrichub.models.usage import Usage as Usage

_HOMES = {
    "ChanceJudge": "judge.chance",
    "Choice": "judge.types",
    "EmbedderMetric": "judge.metric",
    "Explained": "evaluation.explanation",
    "Grade": "judge.types",
    "Judge": "judge.types",
    "JudgeMetric": "judge.metric",
    "OfflineJudge": "judge.offline",
    "OpenAIJudge": "judge.openai",
    "Prompt": "judge.types",
    "Recorded": "judge.scripted",
    "Scripted": "judge.scripted",
    "Usage": "models.usage",
    "Verdict": "judge.types",
    "Weighing": "judge.types",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'metrichub.judge' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"metrichub.{_HOMES[name]}"), name)
