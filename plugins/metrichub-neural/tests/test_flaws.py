"""What is told of texts that a model doesn't read as they are: control tokens and cut ends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_comet
import toys
from metrichub_neural.engine.flaws import CONTROL, UNKNOWN, ReadingMetric
from metrichub_neural.engine.tokens import load_tokenizer
from metrichub_neural.local_models import find_model

from metrichub import Hub, ScoringError, load_metric
from metrichub.authoring import Array, Scores

LABELS = ("contradiction", "neutral", "entailment")
METRICS: dict[str, dict[str, Any]] = {
    "bertscore": {"model": "bert", "layer": 2},
    "bertscore_idf": {"model": "bert", "layer": 2},
    "embedding_average": {"model": "bert", "layer": 2},
    "smart": {"model": "bert", "layer": 2, "matcher": "bertscore"},
    "sem_score": {"model": "bert"},
    "moverscore": {"model": "bert", "layer": 2},
    "infolm": {"model": "masked"},
    "perplexity": {"model": "gpt2", "start": False},
    "mauve": {"model": "gpt2"},
    "bartscore": {"model": "bart"},
    "unieval": {"model": "t5", "dimension": "relevance"},
    "text_classifier": {"model": "nli", "target": "neutral"},
    "nli_faithfulness": {"model": "nli"},
    "summac": {"model": "nli", "variant": "zs"},
    "comet": {"model": "comet"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all models."""
    folder = tmp_path_factory.mktemp("models")
    toys.write_model(folder / "bert")
    toys.write_model(folder / "masked", auto="AutoModelForMaskedLM")
    toys.write_model(folder / "gpt2", "gpt2", "AutoModelForCausalLM")
    toys.write_seq2seq(folder / "bart", "bart")
    toys.write_seq2seq(folder / "t5")
    named = dict(enumerate(LABELS))
    places = {label: place for place, label in named.items()}
    toys.write_model(
        folder / "nli", auto="AutoModelForSequenceClassification", id2label=named, label2id=places
    )
    row = next(row for row in test_comet.ROWS if row["cls"] == "RegressionMetric")
    done = test_comet.metrichub("convert", test_comet.write_checkpoint(folder / "comet", row))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "control tokens") for name in METRICS),
        # The other two's tiny vocabularies lack plain words.
        *((name, "doesn't know") for name in METRICS if name not in ("unieval", "comet")),
    ],
)
def test_control_tokens_and_unknown_words_in_texts_are_told(
    name: str, kind: str, folder: Path
) -> None:
    pytest.importorskip("ot", reason="needs POT: pip install 'metrichub-neural[transport]'")
    parameters = METRICS[name]
    model = parameters["model"]
    hub = Hub(load_metric(name, **{**parameters, "model": str(folder / model)}))
    end = "</s>" if model in ("bart", "t5", "comet") else "[SEP]"
    plain = {
        "predictions": ["It is a cat here.", "A dog sat."],
        "references": ["It is a cat.", "A dog sat."],
        "sources": ["It is a cat there.", "A dog sat."],
    }
    odd_word = end if kind == "control tokens" else "ድመት"
    odd = {**plain, "predictions": [f"It is {odd_word} a cat here.", "A dog sat."]}
    told = [
        [note for note in hub.evaluate(columns).notes().get(name, ()) if kind in note]
        for columns in (plain, odd)
    ]
    assert not told[0]
    assert len(told[1]) == 1
    assert told[1][0].startswith("1 of 2 ")


@pytest.mark.parametrize(
    ("name", "candidates", "told"),
    [
        ("bertscore", ["a [SEP] cat"] * 6, "2 of 2 predictions contain"),
        ("bertscore", ["a [SEP] cat", "a cat", "the cat"], "1 of 2 predictions contain"),
        ("nli_faithfulness", ["It is a [SEP] cat here."], "2 of 2 samples contain"),
    ],
)
def test_candidates_and_texts_read_together_are_counted_by_samples(
    name: str, candidates: list[str], told: str, folder: Path
) -> None:
    parameters = METRICS[name]
    metric = load_metric(name, **{**parameters, "model": str(folder / parameters["model"])})
    columns = {"references": ["a cat"] * 2, "sources": ["It is a cat."] * 2}
    report = Hub(metric).evaluate(predictions=[candidates] * 2, reduce="mean", **columns)
    assert any(note.startswith(told) for note in report.notes()[name])


def test_an_unknown_token_that_no_word_becomes_is_never_told(tmp_path: Path) -> None:
    toys.write_bytes(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    flaws = []
    for settings in ({"unk_token": "[UNK]"}, {"unk_token": "[SEP]", "eos_token": "[SEP]"}):
        path.write_text(json.dumps(settings))
        files = find_model(str(tmp_path), needed_by="test", weights=False)
        tokens = load_tokenizer(files, {}).encode(["a cat", "[SEP]", "[UNK]"])
        flaws.append([text.flaws for text in tokens])
    assert flaws == [[0, CONTROL, UNKNOWN], [0, CONTROL, CONTROL]]


def test_what_is_cut_off_is_not_told(folder: Path) -> None:
    mauve = Hub(load_metric("mauve", model=str(folder / "gpt2"), clusters=2))
    texts = ["the cat " * toys.LIMIT + "[SEP]", "a cat"]
    notes = mauve.evaluate(predictions=texts, references=["a", "the"]).notes()["mauve"]
    assert any("1 of 2 predictions were cut" in note for note in notes)
    assert not any("control tokens" in note for note in notes)


@dataclass(frozen=True, kw_only=True)
class Forgetful(ReadingMetric):
    """A metric that says nothing of what it reads."""

    def measure(self, prediction: Any) -> Mapping[str, Array]:
        return {"size": np.array([float(len(text)) for text in prediction])}

    def score(self, size: Array, count: Array) -> Scores:
        return {"score": size / count}


def test_a_metric_can_not_forget_to_say_what_was_cut() -> None:
    with pytest.raises(ScoringError, match="noted_texts"):
        Hub(Forgetful()).evaluate(predictions=["a", "b"]).notes()
