"""Direct scores: a hub that is called with few texts gives what its report gives, to the bit."""

from __future__ import annotations

import random
import struct
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from metrichub import DoubtfulScore, Hub, InputError
from metrichub.authoring import Measured
from metrichub.errors import without_warnings
from metrichub.evaluation.direct import MOST, DirectScores
from metrichub.text import RaggedTexts, Texts
from tests.vectors import SUMMEVAL, corpus

FIRST = ("bleu", "chrf", "rouge", "wer", "cer", "ter", "token_f1", "exact_match")
SPECS = (
    *FIRST,
    *("bleu(tokenize='intl')", "bleu(tokenize='zh')", "bleu(tokenize='char')"),
    *("bleu(smooth_method='floor')", "bleu(effective_order=True)", "bleu(lowercase=True)"),
    *("chrf(word_order=2)", "rouge(stemmer=True)", "rouge(variant='rougeLsum')"),
    *("wer(unit='mixed')", "wer(lowercase=True)", "wer(punctuation=False)"),
    *("ter(normalized=True)", "token_f1(repeats=False)", "exact_match(normalization='squad')"),
    *("rouge(tokenizer='unicode')", "rouge(coco)", "abstractness", "eed", "ribes"),
)
ODD = [
    *("", " ", "a", "A a a a b", "a b a b a b a b", "the cat sat on the mat .", "été, oui!"),
    *("e\u0301te\u0301", "我喜欢 猫。", "1,000.5 - 3-4 &amp; &quot;x&quot; <skipped>", "x" * 300),
    *("\ud800 b", "😀 😀 b", "line\none\r\ntwo", "\x00\x00 a", "a\t\tb  c"),
    *("state-of-the-art... U.S.A., 'quoted'", "a-b ., .. ,.- 1- -1 1.-2"),
]


def bits(scores: Any) -> Any:
    """The scores with each number as its bytes, so that 0.0 and -0.0 differ."""
    return {
        name: {output: struct.pack("<d", score) for output, score in outputs.items()}
        for name, outputs in scores.items()
    }


def pairs() -> Iterator[tuple[str, str]]:
    """Odd texts with each other, and real ones."""
    yield from ((first, second) for first in ODD for second in ODD)
    draw = random.Random(4)
    for row in corpus(SUMMEVAL, 60):
        words = row["hyp"].split()
        start = draw.randrange(len(words))
        yield " ".join(words[start : start + draw.randint(1, 40)]), draw.choice(row["refs"])


@pytest.mark.parametrize("spec", SPECS)
def test_direct_scores_are_those_of_the_report(spec: str) -> None:
    hub = Hub(spec)
    direct = DirectScores.of(hub.metrics)
    assert direct
    every, draw, taken = list(pairs()), random.Random(spec), 0
    groups = [[pair] for pair in every]
    groups += [draw.sample(every, size) for size in (2, 3, 5, 8, 17, 33, MOST) for _ in range(6)]
    for group in groups:
        predictions, references = map(list, zip(*group, strict=True))
        columns = {"predictions": predictions, "references": references}
        scores = direct.scores(columns)
        if scores is not None:
            taken += 1
            with without_warnings():
                assert bits(scores) == bits(hub.evaluate(**columns).scores()), group
    assert taken > len(groups) / 2


@pytest.mark.parametrize("spec", SPECS)
def test_a_text_alone_is_measured_as_among_others(spec: str) -> None:
    metric = Hub(spec).metrics[0]
    every = list(pairs())
    together = measured(metric, every)
    for place, pair in enumerate(every):
        for name, rows in measured(metric, [pair]).items():
            np.testing.assert_array_equal(rows[0], together[name][place], f"{name} of {pair}")


def measured(metric: Any, texts: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The statistics of some pairs of texts."""
    predictions, references = (Texts(list(column)) for column in zip(*texts, strict=True))
    columns = {
        "prediction": predictions,
        "reference": references,
        "references": RaggedTexts(references, range(len(references) + 1)),
    }
    rows = metric.measure(**{name: columns[name] for name in metric.inputs()})
    statistics = rows.statistics if isinstance(rows, Measured) else rows
    return {name: rows for name, rows in statistics.items() if not name.startswith("noted_")}


def warm(*metrics: str) -> Hub:
    """A hub that has looked for doubts in its first samples."""
    hub = Hub(list(metrics))
    hub(predictions=["the cat sat"] * 100, references=["the cat sat down"] * 100)
    return hub


@pytest.mark.parametrize(
    "columns",
    [
        {"predictions": ["the cat sat"], "references": [["the cat sat down"]]},
        {"predictions": ("the cat sat",), "references": ("the cat sat down",)},
        {"predictions": ["the cat sat"], "references": [["the cat sat down", "a cat"]]},
        {"predictions": np.array(["the cat sat"]), "references": ["the cat sat down"]},
        {"predictions": [["the cat sat", "a cat"]], "references": ["the cat sat down"]},
        {"prediction": ["the cat sat"], "reference": ["the cat sat down"]},
        {"predictions": [], "references": []},
    ],
)
def test_every_form_of_columns_gives_what_a_report_gives(columns: Any) -> None:
    hub = warm("bleu", "wer", "exact_match")
    with without_warnings():
        np.testing.assert_equal(hub(**columns), Hub(hub.metrics).evaluate(**columns).scores())


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"predictions": ["a", "b"], "references": ["a"]}, "references has 1"),
        ({"predictions": "a cat", "references": ["a"]}, "is one string|one text|a list"),
        ({"predictions": [None], "references": ["a"]}, "is None, not text"),
        ({"predictions": [3], "references": ["a"]}, "not text"),
    ],
)
def test_a_hub_goes_on_refusing_wrong_columns(columns: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        warm("bleu")(**columns)


def test_a_missing_score_is_said_also_after_many_calls() -> None:
    hub = warm("rouge")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(200):
            hub(predictions=["a"], references=["♥"])
    messages = [str(warning.message) for warning in caught if warning.category is DoubtfulScore]
    assert ["1 unscored of 1" in message for message in messages].count(True) == 1
