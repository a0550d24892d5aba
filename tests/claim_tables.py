"""A judge that looks up who says what, and the example results of RAGChecker in that form."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from metrichub.judge.prompt_files import Prompt
from metrichub.judge.protocol import Fields, Verdict
from metrichub.testing import Scripted


@dataclass(frozen=True)
class Table(Scripted):
    """`claims` of each text, and the pairs of claim and text that are `supported`."""

    script: Mapping[str, Any] = field(default_factory=dict, hash=False)
    claims: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)
    supported: Collection[tuple[str, str]] = field(default=(), hash=False)
    asked: list[tuple[str, str]] = field(default_factory=list, hash=False)

    async def extract(self, prompt: Prompt, fields: Fields, limit: int | None = None) -> list[str]:
        self.asked.append((prompt.name, str(fields["text"])))
        return list(self.claims[str(fields["text"])])

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        [text] = fields["evidence"]
        self.asked.append((prompt.name, text))
        words = ["yes" if (item, text) in self.supported else "idk" for item in items]
        return [
            Verdict(i, *pair, "as listed") for i, pair in enumerate(zip(items, words, strict=True))
        ]


class Example(NamedTuple):
    """Who supports which claims, by number: of the answer ("mine") and of the reference ("its")."""

    name: str
    mine: int
    its: int
    right: Sequence[int]
    stated: Sequence[int]
    mine_in: Sequence[Sequence[int]]
    its_in: Sequence[Sequence[int]]
    expected: Mapping[str, float]

    @property
    def answer(self) -> str:
        return f"{self.name} answer"

    @property
    def reference(self) -> str:
        return f"{self.name} reference"

    @property
    def contexts(self) -> list[str]:
        return [f"{self.name} passage {place}" for place in range(len(self.mine_in))]


def judge_of(*examples: Example) -> Table:
    """The judge that gives the labels of these examples."""
    claims: dict[str, list[str]] = {}
    supported: set[tuple[str, str]] = set()
    for example in examples:
        mine = [f"{example.name} mine {i}" for i in range(example.mine)]
        its = [f"{example.name} its {i}" for i in range(example.its)]
        claims |= {example.answer: mine, example.reference: its}
        supported |= {(mine[i], example.reference) for i in example.right}
        supported |= {(its[i], example.answer) for i in example.stated}
        for place, text in enumerate(example.contexts):
            supported |= {(mine[i], text) for i in example.mine_in[place]}
            supported |= {(its[i], text) for i in example.its_in[place]}
    return Table(claims=claims, supported=supported)


def columns_of(*examples: Example) -> dict[str, list[Any]]:
    """The samples of these examples, contexts too."""
    return {
        "predictions": [example.answer for example in examples],
        "references": [example.reference for example in examples],
        "contexts": [example.contexts for example in examples],
    }


# The labels "Entailment" and the metrics in examples/checking_outputs.json of RAGChecker
# (amazon-science/RAGChecker at 0faca925, Apache-2.0).
RAGCHECKER = (
    Example(
        name="nile",
        mine=11,
        its=22,
        right=range(1, 9),
        stated=(0, 1, 2, 3, 4, 5, 8, 9, 15, 20, 21),
        mine_in=((8,), (0, 6), (), (8, 9)),
        its_in=((3, 4, 5), (0, 4, 21), (), (5,)),
        expected={
            "precision": 0.7272727272727273,
            "recall": 0.5,
            "f1": 0.5925925925925926,
            "noise_sensitivity_in_relevant": 0.18181818181818182,
            "noise_sensitivity_in_irrelevant": 0.0,
            "hallucination": 0.09090909090909091,
        },
    ),
    Example(
        name="flag",
        mine=5,
        its=8,
        right=range(1, 5),
        stated=(0, 1, 3, 5, 6, 7),
        mine_in=((3,), (0, 1, 2, 4), (1, 2, 3, 4)),
        its_in=((5, 6), (0, 1, 2, 3, 6, 7), (1, 3, 4, 5, 6, 7)),
        expected={
            "precision": 0.8,
            "recall": 0.75,
            "f1": 0.7741935483870969,
            "noise_sensitivity_in_relevant": 0.2,
            "noise_sensitivity_in_irrelevant": 0.0,
            "hallucination": 0.0,
        },
    ),
)
