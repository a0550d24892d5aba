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
    from metrichub.judge.protocol import Choice as Choice
    from metrichub.judge.protocol import Grade as Grade
    from metrichub.judge.protocol import Judge as Judge
    from metrichub.judge.protocol import Prompt as Prompt
    from metrichub.judge.protocol import Question as Question
    from metrichub.judge.protocol import Questions as Questions
    from metrichub.judge.protocol import Verdict as Verdict
    from metrichub.judge.protocol import Weighing as Weighing
    from metrichub.judge.scripted import Recorded as Recorded
    from metrichub.judge.scripted import Scripted as Scripted
    from metrichub.models.usage import Usage as Usage

_HOMES = {
    "ChanceJudge": "judge.chance",
    "Choice": "judge.protocol",
    "EmbedderMetric": "judge.metric",
    "Explained": "evaluation.explanation",
    "Grade": "judge.protocol",
    "Judge": "judge.protocol",
    "JudgeMetric": "judge.metric",
    "OfflineJudge": "judge.offline",
    "OpenAIJudge": "judge.openai",
    "Prompt": "judge.protocol",
    "Question": "judge.protocol",
    "Questions": "judge.protocol",
    "Recorded": "judge.scripted",
    "Scripted": "judge.scripted",
    "Usage": "models.usage",
    "Verdict": "judge.protocol",
    "Weighing": "judge.protocol",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'metrichub.judge' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"metrichub.{_HOMES[name]}"), name)
