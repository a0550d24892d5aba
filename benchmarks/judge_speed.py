"""One run of one tool against the server for measurements, in a process of its own.

    python -m benchmarks.judge_speed '["metrichub", "http://127.0.0.1:8000", 200, 3, 16]'

Each tool is called as its documentation says, with three metrics: faithfulness, the ranking of the
passages, and the relevancy of the answer.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
import urllib.request
from collections.abc import Callable
from typing import Any, NamedTuple

MODEL = "gpt-4o-mini"
EMBEDDER = "text-embedding-3-small"
KEY = "sk-none"


class Run(NamedTuple):
    """A tool, the server, how many samples and passages a sample, and how much at a time."""

    tool: str
    url: str
    samples: int
    passages: int
    workers: int


class Cost(NamedTuple):
    """Seconds, seconds of computing, calls for chats and for vectors, and the most at a time."""

    seconds: float
    computing: float
    chats: int
    embeddings: int
    most: int

    @property
    def calls(self) -> int:
        """All calls."""
        return self.chats + self.embeddings


class Sample(NamedTuple):
    """A question, an answer and the passages that it was given."""

    question: str
    answer: str
    passages: list[str]


def samples(run: Run, what: str = "bridge") -> list[Sample]:
    """Samples that differ, so that no cache helps."""
    return [
        Sample(
            f"What is known about the {what} number {i}?",
            f"The {what} number {i} was opened in {1800 + i}. It carries a road. It is old.",
            [
                f"Passage {p} says that the {what} number {i} was opened in {1800 + i}."
                for p in range(run.passages)
            ],
        )
        for i in range(run.samples)
    ]


def metrichub(run: Run, rows: list[Sample]) -> list[float]:
    """Ours, in one hub; judge and embedder together ask as much at a time as is allowed."""
    from metrichub import Hub

    server, vectors = f"base_url='{run.url}/v1'", max(run.workers // 4, 1)
    hub = Hub(
        ["faithfulness", "context_utilization", "answer_relevancy"],
        judge=f"openai(model='{MODEL}', {server}, concurrency={run.workers - vectors})",
        embedder=f"openai(model='{EMBEDDER}', {server}, concurrency={vectors})",
    )
    scores = hub(
        questions=[sample.question for sample in rows],
        predictions=[sample.answer for sample in rows],
        contexts=[sample.passages for sample in rows],
    )
    return [scores[metric.name]["score"] for metric in hub.metrics]


def ragas(run: Run, rows: list[Sample]) -> list[float]:
    """Its collections; as many jobs at a time, a job being one metric on one sample.

    That is the limit that its own executor sets; the collections have none of their own.
    """
    from openai import AsyncOpenAI
    from ragas.embeddings.openai_provider import OpenAIEmbeddings
    from ragas.llms import llm_factory
    from ragas.metrics.collections import (
        AnswerRelevancy,
        ContextPrecisionWithoutReference,
        Faithfulness,
    )

    async def scored() -> list[float]:
        client = AsyncOpenAI(base_url=f"{run.url}/v1", api_key=KEY)
        llm = llm_factory(MODEL, client=client)
        vectors = OpenAIEmbeddings(client=client, model=EMBEDDER)
        slots = asyncio.Semaphore(run.workers)

        async def job(metric: Any, **inputs: Any) -> float:
            async with slots:
                return float((await metric.ascore(**inputs)).value)

        asked = [
            [
                job(
                    metric,
                    user_input=sample.question,
                    response=sample.answer,
                    **({} if alone else {"retrieved_contexts": sample.passages}),
                )
                for sample in rows
            ]
            for metric, alone in (
                (Faithfulness(llm=llm), False),
                (ContextPrecisionWithoutReference(llm=llm), False),
                (AnswerRelevancy(llm=llm, embeddings=vectors), True),
            )
        ]
        result = await asyncio.gather(*(asyncio.gather(*jobs) for jobs in asked))
        await client.close()
        return [sum(values) / len(values) for values in result]

    return asyncio.run(scored())


def deepeval(run: Run, inputs: list[Sample], reasons: bool = True) -> list[float]:
    """Its `evaluate`, with the metrics nearest to ours; as many test cases at a time.

    It ranks passages by a reference only, which the answer stands in for; its answer relevancy
    is made of verdicts, without vectors.
    """
    from deepeval import evaluate
    from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
    from deepeval.metrics import (
        AnswerRelevancyMetric,
        ContextualPrecisionMetric,
        FaithfulnessMetric,
    )
    from deepeval.models import GPTModel
    from deepeval.test_case import LLMTestCase

    model = GPTModel(model=MODEL, api_key=KEY, base_url=f"{run.url}/v1")
    kinds = (FaithfulnessMetric, ContextualPrecisionMetric, AnswerRelevancyMetric)
    done = evaluate(
        [
            LLMTestCase(
                input=sample.question,
                actual_output=sample.answer,
                expected_output=sample.answer,
                retrieval_context=sample.passages,
            )
            for sample in inputs
        ],
        [kind(model=model, include_reason=reasons) for kind in kinds],
        async_config=AsyncConfig(max_concurrent=run.workers),
        cache_config=CacheConfig(write_cache=False),
        display_config=DisplayConfig(
            show_indicator=False, print_results=False, inspect_after_run=False
        ),
    )
    rows = [[data.score for data in result.metrics_data] for result in done.test_results]
    return [sum(column) / len(column) for column in zip(*rows, strict=True)]


def deepeval_without_reasons(run: Run, rows: list[Sample]) -> list[float]:
    """The same without the call that words a reason for each score."""
    return deepeval(run, rows, reasons=False)


TOOLS: dict[str, Callable[[Run, list[Sample]], list[float]]] = {
    "metrichub": metrichub,
    "ragas": ragas,
    "deepeval": deepeval,
    "deepeval, no reasons": deepeval_without_reasons,
}


def measure(run: Run) -> Cost:
    """The cost of a run in this process, after a small one that loads all modules."""
    tool = TOOLS[run.tool]
    tool(run, samples(run._replace(samples=2), "tunnel"))
    urllib.request.urlopen(f"{run.url}/reset", b"{}").read()
    rows = samples(run)
    start, computing = time.perf_counter(), time.process_time()
    values = tool(run, rows)
    cost = time.perf_counter() - start, time.process_time() - computing
    # A number that isn't one means that calls failed, and then the time means nothing.
    if not all(0 <= value <= 1 for value in values):
        raise SystemExit(f"{run.tool} gave {values}")
    counts = json.loads(urllib.request.urlopen(f"{run.url}/counts").read())
    return Cost(*cost, **counts)


if __name__ == "__main__":
    print(json.dumps(measure(Run(*json.loads(sys.argv[1])))))
