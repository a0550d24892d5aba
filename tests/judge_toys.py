"""Metrics, columns and specs that the tests of judges share."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from metrichub import OpenAIJudge
from metrichub.authoring import JudgeMetric, Metric, Unscored, Verdict, WithTrace
from metrichub.errors import JudgeError
from metrichub.judge.prompt_files import Prompt
from metrichub.judge.protocol import Fields
from metrichub.testing import Scripted
from tests.judge_stub import Stub


def _options(stub: Stub, more: dict[str, Any]) -> dict[str, Any]:
    # The client waits five seconds for a connection, which a process on a busy machine can lose.
    return {"model": "stub", "base_url": stub.url, "max_retries": 0, "timeout": 60, **more}


def judge(stub: Stub, **more: Any) -> OpenAIJudge:
    return OpenAIJudge(**_options(stub, more))


def spec(stub: Stub, **more: Any) -> str:
    options = _options(stub, more)
    return f"openai({', '.join(f'{key}={value!r}' for key, value in options.items())})"


def columns(size: int) -> dict[str, list[Any]]:
    """Answers of two claims, of which the stub calls the second unsupported."""
    answers = [f"Claim {i}. This is unsupported {i}." for i in range(size)]
    return {"predictions": answers, "contexts": [[f"Passage {i}."] for i in range(size)]}


@dataclass(frozen=True)
class Listener(Scripted):
    """A judge that keeps the items that it is asked about, which are JSON, and the fields."""

    asked: list[tuple[list[Any], Fields]] = field(default_factory=list, hash=False)

    @property
    def items(self) -> list[Any]:
        """The items of all questions."""
        return [item for items, _ in self.asked for item in items]

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        self.asked.append((list(map(json.loads, items)), fields))
        return await super().verify(prompt, items, fields, verdicts)


@dataclass(frozen=True)
class Ruling(Scripted):
    """A judge that says yes to the items that a rule holds of; it keeps what it was asked."""

    rule: Callable[[str, Fields], bool] = field(default=lambda item, fields: True, hash=False)
    asked: list[tuple[list[str], Fields]] = field(default_factory=list, hash=False)
    prompts: list[Prompt] = field(default_factory=list, hash=False)

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        assert tuple(verdicts) == ("yes", "no")
        self.prompts.append(prompt)
        self.asked.append((list(items), fields))
        words = ["yes" if self.rule(item, fields) else "no" for item in items]
        return [Verdict(i, *pair, "so") for i, pair in enumerate(zip(items, words, strict=True))]


@dataclass(frozen=True, kw_only=True)
class Length(JudgeMetric):
    """A metric of the test's own: it fails, is undefined, or explains itself by its text."""

    async def observe(self, prediction: str) -> WithTrace | Unscored | float:
        if prediction.startswith("fail"):
            raise JudgeError(f"{prediction} went wrong")
        if prediction.startswith("none"):
            return Unscored("nothing to say")
        if prediction.startswith("undefined"):
            return WithTrace(Unscored("no verdict"), {"seen": prediction})
        results = [Verdict(0, prediction, "yes", "so")]
        return WithTrace(float(len(prediction)), {"letters": results, "pair": (1, None)})


@dataclass(frozen=True, kw_only=True)
class Chars(Metric):
    """A synchronous metric to stand beside the others."""

    def observe(self, prediction: str) -> float:
        return float(len(prediction))


TEXTS = ["abcd", "fail a", "none", "undefined", "ab"]
