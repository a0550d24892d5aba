"""Texts of a column go out in few calls, and each sample has its own vectors and error."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from metrichub import Hub
from metrichub.errors import JudgeError
from metrichub.models.embedders import EmbeddingColumn, Vectors, embed_together
from metrichub.models.loop import run
from metrichub.models.openai_embedder import OpenAIEmbedder
from metrichub.models.usage import Budget, Limits, UsageTracker, track_usage
from tests.judge_stub import Asked, Reply, Stub, answer, completion, embeddings, failure
from tests.judge_toys import spec


def embedder(stub: Stub, **more: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder(
        **({"model": "e", "base_url": stub.url, "max_retries": 0, "timeout": 60} | more)
    )


async def embedded(
    embedder: OpenAIEmbedder, *samples: list[str], budget: Budget | None = None
) -> tuple[list[Any], UsageTracker]:
    """What each sample's texts get or raise in one run, as rows of a metric."""
    with track_usage(budget=budget) as tracker:
        async with asyncio.TaskGroup() as group:
            column = EmbeddingColumn(len(samples), group)

            async def row(texts: list[str]) -> Any:
                with column.row():
                    return await embed_together(embedder, texts)

            rows = await asyncio.gather(*map(row, samples), return_exceptions=True)
        return rows, tracker


def inputs(stub: Stub) -> list[list[str]]:
    return [asked.body["input"] for asked in stub.asked if asked.path.endswith("/embeddings")]


def test_texts_of_several_samples_are_one_call_and_keep_their_order(stub: Stub) -> None:
    samples = [["one", "two words"], ["it has three"], ["two words", "four"]]
    result, tracker = run(embedded(embedder(stub), *samples))
    # The stub's vector of a text is its length and its number of words.
    expected = [[[len(t), len(t.split())] for t in texts] for texts in samples]
    assert [vectors.tolist() for vectors in result] == expected
    assert inputs(stub) == [["one", "two words", "it has three", "four"]]
    # The stub counts a token a text; "two words" is one text.
    assert (tracker.usage.calls, tracker.usage.prompt_tokens, tracker.usage.cached) == (1, 4, 0)


def test_texts_that_a_judge_writes_go_out_together_once_all_samples_have_theirs(stub: Stub) -> None:
    size = 8
    hub = Hub(
        "answer_relevancy",
        judge=spec(stub, concurrency=1),
        embedder=f"openai(model='e', base_url='{stub.url}')",
    )
    answers = [f"Number {i} is old." for i in range(size)]
    report = hub.evaluate(questions=[f"What is {i}?" for i in range(size)], predictions=answers)
    assert report.size == size
    # The judge answers one sample after another; the vectors of all follow in one call.
    assert len(stub.asked) == size + 1
    # A question and an answer each, and the number of questions, which the stub lists, too.
    assert [len(texts) for texts in inputs(stub)] == [2 * size + 1]
    assert report.usage.calls == size + 1


def test_a_call_goes_out_when_it_is_full(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrichub.models.openai_embedder.LARGEST", 3)
    result, _ = run(embedded(embedder(stub), [f"text {i}" for i in range(8)]))
    assert len(result[0]) == 8
    assert sorted(len(texts) for texts in inputs(stub)) == [2, 3, 3]


def test_each_text_is_kept_by_itself(stub: Stub) -> None:
    run(embedded(embedder(stub), ["one", "two"]))
    result, tracker = run(embedded(embedder(stub), ["two", "three", "one"]))
    assert inputs(stub) == [["one", "two"], ["three"]]
    assert result[0].tolist() == [[3, 1], [5, 1], [3, 1]]
    assert (tracker.usage.calls, tracker.usage.cached) == (1, 2)


def refusing(what: Any) -> Any:
    def fault(asked: Asked) -> Reply:
        if what(asked.body["input"]):
            return failure(400, "This model's maximum context length is 8 tokens")(asked)
        return embeddings(asked)

    return fault


@pytest.mark.parametrize("refused", [True, False])
def test_a_text_that_is_refused_costs_its_sample_alone(stub: Stub, refused: bool) -> None:
    if refused:
        run(embedded(embedder(stub), ["first"]))
    stub.always = refusing(lambda texts: "long" in texts)
    samples = [["a"], ["b", "c"], ["long", "d"], ["e"], ["f"]]
    result, _ = run(embedded(embedder(stub), *samples))
    assert [isinstance(row, JudgeError) for row in result] == [False, False, True, False, False]
    assert "maximum context length" in str(result[2])
    assert result[1].tolist() == [[1, 1], [1, 1]]


def test_a_call_that_fails_is_made_for_each_sample_by_itself(stub: Stub) -> None:
    def failing(asked: Asked) -> Reply:
        return (failure(500) if "b" in asked.body["input"] else embeddings)(asked)

    stub.always = failing
    result, _ = run(embedded(embedder(stub), ["a"], ["b", "c"], ["d", "e"]))
    assert [isinstance(vector, JudgeError) for vector in result] == [False, True, False]
    assert sorted(inputs(stub)[1:]) == [["a"], ["b", "c"], ["d", "e"]]
    # One sample alone is not asked for again: the client itself has tried.
    run(embedded(embedder(stub), ["b", "f"]))
    assert len(stub.asked) == 5


def test_a_sample_that_failed_before_holds_up_no_other(stub: Stub) -> None:
    client = embedder(stub)

    async def main() -> list[Any]:
        async with asyncio.TaskGroup() as group:
            column = EmbeddingColumn(3, group)

            async def row(texts: list[str]) -> Any:
                with column.row():
                    if not texts:
                        raise JudgeError("no answer of the judge")
                    return await embed_together(client, texts)

            return await asyncio.gather(row(["a"]), row(["b"]), row([]), return_exceptions=True)

    *vectors, failed = run(main())
    assert [vector.tolist() for vector in vectors] == [[[1, 1]], [[1, 1]]]
    assert isinstance(failed, JudgeError)
    assert inputs(stub) == [["a", "b"]]


def test_an_embedder_of_the_users_own_gets_the_column_too() -> None:
    columns: list[Sequence[str]] = []

    class Lengths:
        label = "lengths"

        async def embed(self, texts: Sequence[str]) -> Vectors:
            columns.append(texts)
            return np.array([[len(text), 1.0] for text in texts])

    hub = Hub("semantic_similarity", embedder=Lengths())
    report = hub.evaluate(predictions=["a", "bb", "a"], references=["a", "a", "bb"])
    assert columns == [["a", "bb"]]
    # The cosine of (1, 1) and (2, 1) is 3 / sqrt(10).
    unequal = 3 / 10**0.5
    assert report.samples()["semantic_similarity"]["score"] == pytest.approx([1, unequal, unequal])


def test_how_many_texts_a_server_takes_is_learned(stub: Stub) -> None:
    stub.always = refusing(lambda texts: len(texts) > 4)
    client = embedder(stub)
    result, _ = run(embedded(client, *([f"text {i}"] for i in range(16))))
    assert [vectors.shape for vectors in result] == [(1, 2)] * 16
    before = len(stub.asked)
    run(embedded(client, [f"more {i}" for i in range(16)]))
    # 16 are refused, and then 8; what comes later goes in fours.
    assert [len(texts) for texts in inputs(stub)[before:]] == [4, 4, 4, 4]


def test_a_call_that_nobody_waits_for_is_given_up(stub: Stub) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def held(call: Asked) -> Reply:
        asked.set()
        go_on.wait(30)
        return embeddings(call)

    async def main() -> int:
        client = embedder(stub)
        with track_usage() as tracker:
            task = asyncio.create_task(client.embed(["one", "two"]))
            await asyncio.to_thread(asked.wait, 30)
            task.cancel()
            await asyncio.wait([task])
            # It had the only slot, which is free.
            stub.always = None
            await client.embed(["three"])
            return tracker.asking

    stub.always = held
    assert run(main()) == 0
    go_on.set()


def test_runs_share_no_call_and_each_pays_for_its_own(stub: Stub) -> None:
    async def main() -> list[UsageTracker]:
        client = embedder(stub)
        done = await asyncio.gather(embedded(client, ["one", "two"]), embedded(client, ["three"]))
        return [tracker for _, tracker in done]

    assert [tracker.usage.calls for tracker in run(main())] == [1, 1]
    assert sorted(inputs(stub)) == [["one", "two"], ["three"]]


def test_a_budget_counts_a_call_for_all_its_texts(stub: Stub) -> None:
    samples = [["one"], ["two"], ["three"]]
    result, _ = run(embedded(embedder(stub), *samples, budget=Budget(Limits(max_calls=1))))
    assert [vectors.shape for vectors in result] == [(1, 2)] * 3
    # "one" and "two" take 2 tokens each, with their quotes, "three" too: 6.
    budget = Budget(Limits(max_tokens=5))
    refused, tracker = run(embedded(embedder(stub, cache=False), *samples, budget=budget))
    assert all("would exceed max_tokens=5" in str(error) for error in refused)
    assert tracker.usage.calls == 0
    budget = Budget(Limits(max_tokens=6))
    result, _ = run(embedded(embedder(stub, cache=False), *samples, budget=budget))
    assert [vectors.shape for vectors in result] == [(1, 2)] * 3


def test_an_estimate_counts_the_calls_that_the_run_makes(stub: Stub) -> None:
    hub = Hub(
        "answer_relevancy", judge=spec(stub), embedder=f"openai(model='e', base_url='{stub.url}')"
    )
    columns = {"questions": ["What?", "Who?"], "predictions": ["It is one.", "It is two."]}
    expected = hub.estimate(**columns)
    # For each sample a call of the judge, and one of the embedder for both.
    assert expected.calls == 3
    assert hub.evaluate(**columns).usage.calls == 3


def test_answers_are_those_of_one_call_a_sample(stub: Stub) -> None:
    def judged(asked: Asked) -> Reply:
        if asked.path.endswith("/embeddings"):
            return embeddings(asked)
        return completion(json.dumps(answer(asked)))

    stub.always = judged
    inputs = {"questions": ["What?", "Who is it?"], "predictions": ["It is one.", "It is two."]}
    together = Hub("answer_relevancy", judge=spec(stub), embedder=embedder(stub)).evaluate(**inputs)
    alone = [
        Hub(
            "answer_relevancy", judge=spec(stub, cache=False), embedder=embedder(stub, cache=False)
        ).evaluate(**{name: [texts[i]] for name, texts in inputs.items()})
        for i in range(2)
    ]
    result = together.samples()["answer_relevancy"]["score"].tolist()
    assert result == [report.samples()["answer_relevancy"]["score"].tolist()[0] for report in alone]
