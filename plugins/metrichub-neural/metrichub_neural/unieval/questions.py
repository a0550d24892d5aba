"""The questions of UniEval, in the words that its models were trained with (Zhong et al., 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

Dimension = Literal[
    "coherence",
    "consistency",
    "fluency",
    "relevance",
    "dialogue_naturalness",
    "dialogue_coherence",
    "dialogue_engagingness",
    "dialogue_groundedness",
    "dialogue_understandability",
    "data2text_naturalness",
    "data2text_informativeness",
    "fact_consistency",
]


class Question(NamedTuple):
    """A question, what its texts are called, and how a prediction's sentences are put together.

    Attributes:
        wording: What is asked whether it is so.
        prediction: What the prediction is called.
        others: What the other texts are called, by the inputs that they are of.
        sentences: Whether each sentence is asked about, and their answers averaged or summed.
    """

    wording: str
    prediction: str
    others: Mapping[str, str]
    sentences: Literal["whole", "mean", "sum"] = "whole"

    def text(self, prediction: str, others: Mapping[str, str]) -> str:
        """The question as a model reads it."""
        named = [(self.prediction, prediction)]
        named += [(name, others[of]) for of, name in self.others.items()]
        parts = [f"question: {self.wording}?", *(f"{name}: {text}" for name, text in named)]
        return " </s> ".join(parts)


_CLAIM = Question(
    "Is this claim consistent with the document", "claim", {"source": "document"}, "mean"
)
QUESTIONS: Mapping[Dimension, Question] = {
    "coherence": Question(
        "Is this a coherent summary to the document", "summary", {"source": "document"}
    ),
    "consistency": _CLAIM,
    "fluency": Question("Is this a fluent paragraph", "paragraph", {}, "mean"),
    "relevance": Question(
        "Is this summary relevant to the reference", "summary", {"reference": "reference"}
    ),
    "dialogue_naturalness": Question("Is this a natural response in the dialogue", "response", {}),
    "dialogue_coherence": Question(
        "Is this a coherent response given the dialogue history",
        "response",
        {"source": "dialogue history"},
    ),
    "dialogue_engagingness": Question(
        "Is this an engaging and informative response according to the dialogue history and fact",
        "response",
        {"source": "dialogue history", "contexts": "fact"},
        "sum",
    ),
    "dialogue_groundedness": Question(
        "Is this response consistent with knowledge in the fact", "response", {"contexts": "fact"}
    ),
    "dialogue_understandability": Question(
        "Is this an understandable response in the dialogue", "response", {}
    ),
    "data2text_naturalness": Question("Is this a fluent utterance", "utterance", {}),
    "data2text_informativeness": Question(
        "Is this sentence informative according to the reference",
        "sentence",
        {"reference": "reference"},
    ),
    "fact_consistency": _CLAIM,
}
MODELS = {"dialogue": "MingZhong/unieval-dialog", "fact": "MingZhong/unieval-fact"}
"""The checkpoint by the first word of a dimension; of all others it is that for summaries."""
SUMMARIES = "MingZhong/unieval-sum"
