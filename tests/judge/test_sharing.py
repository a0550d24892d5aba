"""Sharing: what several metrics of a hub ask for is asked for once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub
from metrichub.authoring import JudgeMetric
from tests.judge_stub import Stub
from tests.judge_toys import spec

SIZE = 20
METRICS = ["faithfulness", "factual_correctness", "noise_sensitivity", "summarization"]

# What each asks about one sample whose one passage is the source; a call with a star is one that
# no metric above it makes.
# faithfulness (2): *claims of the answer, *they against the passage.
# factual_correctness (4): claims of the answer, *they against the reference, *claims of the
# reference, *they against the answer.
# noise_sensitivity (5): claims of both texts, the answer's against the reference and against the
# passage, *the reference's against the passage.
# summarization (5): claims of the answer, they against the source, *questions, *answers out of the
# source, *answers out of the answer.
# One by one 2 + 4 + 5 + 5 = 16 calls, together 9.
ALONE = {"faithfulness": 2, "factual_correctness": 4, "noise_sensitivity": 5, "summarization": 5}
TOGETHER = 9


def columns(size: int = SIZE) -> dict[str, list[Any]]:
    sources = [f"Passage {i}. More of it {i}." for i in range(size)]
    return {
        "predictions": [f"Claim {i}. This is unsupported {i}." for i in range(size)],
        "references": [f"Claim {i}. Another one {i}." for i in range(size)],
        "sources": sources,
        "contexts": [[source] for source in sources],
    }


def calls(stub: Stub, metrics: str | list[str], **judge: Any) -> int:
    """How many calls a hub of these metrics makes on the samples."""
    before = len(stub.asked)
    report = Hub(metrics, judge=spec(stub, **judge)).evaluate(**columns())
    assert report.usage.calls == len(stub.asked) - before
    return report.usage.calls


def test_four_metrics_of_claims_make_at_most_60_percent_of_the_calls(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = {}
    for name in METRICS:
        # A store of its own, so that nothing is taken from the one before.
        monkeypatch.setenv("METRICHUB_CACHE", str(tmp_path / name))
        alone[name] = calls(stub, name)
    assert alone == {name: SIZE * each for name, each in ALONE.items()}
    monkeypatch.setenv("METRICHUB_CACHE", str(tmp_path / "together"))
    together = calls(stub, METRICS)
    assert together == SIZE * TOGETHER
    # 9 of 16 calls a sample: 56.25%.
    assert together <= 0.6 * sum(alone.values())


@dataclass(frozen=True, kw_only=True)
class Late(JudgeMetric):
    """A metric that asks for the claims after something else, when others have them already."""

    async def observe(self, prediction: str) -> float:
        await self.extract("claims", other=prediction)
        return float(len(await self.claims(prediction)))


def test_without_a_store_what_was_asked_for_is_shared_for_the_run(stub: Stub) -> None:
    # With one call at a time, the claims are there before the second metric asks for them.
    judge = spec(stub, cache=False, concurrency=1)
    hub = Hub([Late(name="one", judge=judge), Late(name="two", judge=judge)])
    assert hub(predictions=["One. Two."])["two"] == {"score": 2.0}
    assert len(stub.asked) == 2
    late = Hub([Late(judge=judge), f"faithfulness(judge={judge!r})"])
    report = late.evaluate(predictions=["One. Two."], contexts=[["One."]])
    # Claims, the other question, and the verdicts.
    assert (report.usage.calls, report.usage.cached) == (3, 1)
    # Another run asks anew.
    assert late.evaluate(predictions=["One. Two."], contexts=[["One."]]).usage.calls == 3
