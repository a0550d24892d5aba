"""The same verdicts for us and for another tool: both make their number of what they are given.

A tool's model is replaced by one that returns given objects, so that only its arithmetic is left.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub import Hub
from metrichub.judge.protocol import Fields
from metrichub.testing import Scripted

QUESTION, ANSWER, REFERENCE = "the question", "the answer", "the reference"
Objects = Mapping[str, Sequence[Mapping[str, Any]]]


class Case(NamedTuple):
    """Verdicts on everything that a judge can be asked about one sample, drawn at random."""

    claims: list[str]
    facts: list[bool]
    useful: list[bool]
    statements: list[list[bool]]
    clashes: list[bool]
    its: list[bool]
    mine: list[bool]
    evaded: list[bool]
    vectors: list[list[float]]
    entities: tuple[list[str], list[str]]
    lengths: tuple[int, int]

    @classmethod
    def drawn(cls, seed: int) -> Case:
        """The case of a seed; every list has at least one entry."""
        source = random.Random(seed)

        def flags(most: int) -> list[bool]:
            return [source.random() < 0.6 for _ in range(source.randint(1, most))]

        passages = flags(6)
        questions = flags(8)
        names = [f"name {i}" for i in range(9)]
        return cls(
            claims=[source.choice(["yes", "no", "idk"]) for _ in range(source.randint(1, 9))],
            facts=flags(9),
            useful=passages,
            statements=[flags(5) for _ in passages],
            clashes=[source.random() < 0.3 for _ in passages],
            its=questions,
            mine=[source.random() < 0.5 for _ in questions],
            evaded=[source.random() < 0.4 for _ in range(3)],
            vectors=[[source.gauss(0, 1) for _ in range(8)] for _ in range(4)],
            entities=(
                source.sample(names, source.randint(1, 6)),
                source.sample(names, source.randint(1, 6)),
            ),
            lengths=(source.randint(1, 400), source.randint(1, 400)),
        )

    @property
    def passages(self) -> list[str]:
        """The passages, in their order."""
        return [f"passage {i}" for i in range(len(self.useful))]

    @property
    def summary(self) -> str:
        """The text under evaluation where it is a summary."""
        return "s" * self.lengths[0]

    @property
    def source(self) -> str:
        """The text that the summary is of."""
        return "t" * self.lengths[1]


def words(flags: Sequence[bool]) -> list[str]:
    """Yes and no."""
    return ["yes" if flag else "no" for flag in flags]


def answers(case: Case) -> dict[str, Any]:
    """Our judge's answers, by their prompts."""

    def claims(fields: Fields) -> list[str]:
        if fields["text"] in case.passages:
            place = case.passages.index(str(fields["text"]))
            return [f"{place} {i}" for i in range(len(case.statements[place]))]
        number = len(case.facts if fields["text"] == REFERENCE else case.claims)
        return [f"claim {i}" for i in range(number)]

    def questions(fields: Fields) -> list[str]:
        number = len(case.evaded) if "answer" in fields else len(case.its)
        return [f"{i}?" for i in range(number)]

    def answered(fields: Fields) -> list[str]:
        return words(case.its if fields.get("text") == case.source else case.mine)

    def entities(fields: Fields) -> list[str]:
        return case.entities[0 if fields["text"] == REFERENCE else 1]

    return {
        "claims": claims,
        "supported": case.claims,
        "useful": words(case.useful),
        "keyphrases": ["a phrase"],
        "questions": questions,
        "answered": answered,
        "evaded": words(case.evaded),
        "entities": entities,
        "contradicted": ["contradicted" if clash else "compatible" for clash in case.clashes],
    }


@dataclass(frozen=True)
class Vectors:
    """An embedder that gives the vectors of a case, the question's first."""

    vectors: list[list[float]]
    label: str = "given"

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The vectors of the question and of those that were made from the answer."""
        return np.array([self.vectors[0 if t == QUESTION else 1 + int(t[0])] for t in texts])


def ours(case: Case, spec: str, output: str = "score", **message: Any) -> float:
    """Our number; `said` are answers that stand in for those of the case."""
    judge = Scripted({**answers(case), **message})
    hub = Hub(spec, judge=judge, embedder=Vectors(case.vectors))
    summarizes = "summarization" in spec
    [scores] = hub(
        questions=[QUESTION],
        predictions=[case.summary if summarizes else ANSWER],
        references=[REFERENCE],
        sources=[case.source],
        contexts=[case.passages],
    ).values()
    return scores[output]


class Given:
    """Objects by the name of their type, each given once, in order."""

    def __init__(self, objects: Objects) -> None:
        self.left = {name: list(result) for name, result in objects.items()}

    def next(self, kind: Any) -> Any:
        """The next object of this type."""
        return kind.model_validate(self.left[kind.__name__].pop(0))


def ragas(metric: str, case: Case, objects: Objects, /, *inputs: str, **parameters: Any) -> float:
    """The number of a metric of its collections; `inputs` are what it takes of a sample."""
    from ragas.embeddings.base import BaseRagasEmbedding
    from ragas.llms.base import InstructorBaseRagasLLM
    from ragas.metrics import collections

    judged = Given(objects)

    class Model(InstructorBaseRagasLLM):  # type: ignore[misc]  # mypy runs without ragas
        def generate(self, prompt: str, response_model: Any) -> Any:
            return judged.next(response_model)

        async def agenerate(self, prompt: str, response_model: Any) -> Any:
            return judged.next(response_model)

    class Embeddings(BaseRagasEmbedding):  # type: ignore[misc]  # mypy runs without ragas
        def embed_text(self, text: str, **_: Any) -> list[float]:
            return case.vectors[0 if text == QUESTION else 1 + int(text[0])]

        async def aembed_text(self, text: str, **_: Any) -> list[float]:
            return self.embed_text(text)

        async def aembed_texts(self, texts: list[str], **_: Any) -> list[list[float]]:
            return [self.embed_text(text) for text in texts]

    columns = {
        "user_input": QUESTION,
        "response": case.summary if metric == "SummaryScore" else ANSWER,
        "reference": REFERENCE,
        "retrieved_contexts": case.passages,
        "reference_contexts": [case.source],
    }
    if metric == "AnswerRelevancy":
        parameters["embeddings"] = Embeddings()
    scorer = getattr(collections, metric)(llm=Model(), **parameters)
    result = asyncio.run(scorer.ascore(**{name: columns[name] for name in inputs}))
    return float(result.value)


def deepeval(metric: str, case: Case, objects: Objects, read: Callable[[Any], float]) -> float:
    """The values that `read` takes from one of deepeval's metrics after it measured the case."""
    from deepeval import metrics
    from deepeval.models import DeepEvalBaseLLM
    from deepeval.test_case import LLMTestCase

    judged = Given(objects)

    class Model(DeepEvalBaseLLM):  # type: ignore[misc]  # mypy runs without deepeval
        def load_model(self) -> Any:
            return self

        def generate(self, prompt: str, schema: Any = None) -> Any:
            return judged.next(schema)

        async def a_generate(self, prompt: str, schema: Any = None) -> Any:
            return judged.next(schema)

        def get_model_name(self) -> str:
            return "given"

    summarizes = metric == "SummarizationMetric"
    scorer = getattr(metrics, metric)(model=Model("given"), include_reason=False, async_mode=False)
    sample = LLMTestCase(
        input=case.source if summarizes else QUESTION,
        actual_output=case.summary if summarizes else ANSWER,
        expected_output=REFERENCE,
        retrieval_context=case.passages,
        context=case.passages,
    )
    scorer.measure(sample, _show_indicator=False)
    return float(read(scorer))
