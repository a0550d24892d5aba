"""InfoLM: torchmetrics' measures with the same weights, each pair by itself."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import toys
from metrichub_neural.engine.masked import masked_of
from metrichub_neural.local_models import find_model
from neural_vectors import rows, torch, write_model, write_setup_words

from metrichub import Hub, ModelError, ParameterError, load_metric
from metrichub.testing import MetricContract

ROWS = rows("infolm")
PLAIN = [row for row in ROWS if not row["idf"]]
WEIGHED = [row for row in ROWS if row["idf"]]
# torchmetrics gives these two with a minus.
SIGN = {"kl_divergence": -1, "alpha_divergence": -1}


@pytest.fixture(scope="session")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The masked language model of all rows."""
    folder = tmp_path_factory.mktemp("infolm") / "model"
    write_model(folder, "AutoModelForMaskedLM", "roberta", ROWS[0])
    return write_setup_words(folder)


def named(row: Mapping[str, Any]) -> str:
    return f"{row['information_measure']}{'-idf' if row['idf'] else ''}"


def scored(folder: Path, row: Mapping[str, Any], mine: list[str], others: list[str]) -> np.ndarray:
    names = ("information_measure", "alpha", "beta", "temperature", "idf")
    metric = load_metric("infolm", model=str(folder), **{name: row[name] for name in names})
    report = Hub(metric).evaluate(predictions=mine, references=others)
    sign = SIGN.get(row["information_measure"], 1)
    return sign * np.array(report.samples()["infolm"]["score"])


def test_the_rows_have_nine_measures() -> None:
    assert len({row["information_measure"] for row in ROWS}) == len(PLAIN) == len(WEIGHED) == 9


@pytest.mark.parametrize("row", PLAIN, ids=named)
def test_a_pair_scores_what_torchmetrics_gives_it_alone(roberta: Path, row: dict[str, Any]) -> None:
    mine, others = row["predictions"], row["references"]
    np.testing.assert_allclose(
        scored(roberta, row, mine, others), row["scores_one_by_one"], atol=5e-6
    )
    many = [random.Random(2).randrange(4) for _ in range(12)]
    again = scored(roberta, row, [mine[n] for n in many], [others[n] for n in many])
    np.testing.assert_allclose(again, np.array(row["scores_one_by_one"])[many], atol=5e-6)


@pytest.mark.parametrize("row", WEIGHED, ids=named)
def test_with_idf_pairs_score_what_torchmetrics_mixes_up(
    roberta: Path, row: dict[str, Any]
) -> None:
    # torchmetrics 1.9.0 sorts texts by length, and restores the order by the sorting permutation
    # instead of its inverse: its score n is that of these two texts.
    mine, others = (_twice_sorted(row[side]) for side in ("predictions", "references"))
    np.testing.assert_allclose(
        scored(roberta, row, mine, others), row["scores_one_batch"], atol=5e-6
    )


def _twice_sorted(texts: list[str]) -> list[str]:
    # Words and points, and two tokens that frame them.
    order = torch.tensor([len(text.split()) + 2 for text in texts]).argsort().tolist()
    by_length = [texts[place] for place in order]
    return [by_length[place] for place in order]


def test_texts_are_read_as_they_are(tmp_path: Path) -> None:
    folder = toys.write_model(tmp_path / "model", "roberta", "AutoModelForMaskedLM")
    tokens = toys.write_bytes(folder)
    model = masked_of(find_model(str(folder), needed_by="test"), "float32")
    texts = ["the cat", " the cat", "the cat\n"]
    assert [text.ids.tolist() for text in model.encoded(texts)] == list(map(tokens, texts))
    ids = torch.tensor([tokens(texts[0])] * 7)
    places = torch.arange(7)
    ids[places, places + 1] = toys.SPECIAL.index("[MASK]")
    with torch.no_grad():
        logits = model.runner.model(input_ids=ids).logits[places, places + 1]
    expected = torch.softmax(logits / 0.5, -1).mean(0).numpy()
    (result,) = model.distributions(texts[:1], lambda ids: np.ones(len(ids)), 0.5)
    np.testing.assert_allclose(result, expected, atol=1e-6)


def test_what_has_no_distribution_is_said(roberta: Path) -> None:
    # torchmetrics gives 0, the score of equal texts, for each of these.
    report = Hub(load_metric("infolm", model=str(roberta), idf=False)).evaluate(
        predictions=["", "the cat", "the cat"], references=["the dog", " ", "the cat"]
    )
    scores = report.samples()["infolm"]["score"]
    assert np.isnan(scores).tolist() == [True, True, False]
    assert scores[2] == pytest.approx(0, abs=1e-6)
    assert report.counts()["infolm"]["unanswered"] == 1
    # In a corpus of one sample, idf weighs nothing.
    pair = {"predictions": ["the cat"], "references": ["money loan"]}
    weighed, plain = (
        Hub(load_metric("infolm", model=str(roberta), idf=idf))(**pair)["infolm"]["score"]
        for idf in (True, False)
    )
    assert weighed == plain > 0


def test_the_nearest_of_several_references_counts(roberta: Path) -> None:
    hub = Hub(load_metric("infolm", model=str(roberta), idf=False), reduce="mean")
    mine, others = "the cat", ["money loan", "the dog", " "]
    pairs = {"predictions": [mine] * 2, "references": others[:2]}
    alone = hub.evaluate(pairs).samples()["infolm"]["score"]
    assert hub(predictions=[mine], references=[others])["infolm"]["score"] == min(alone)
    # Each candidate is a prediction, whatever `reduce` says.
    several = Hub(hub.metrics)(predictions=[[mine, others[0]]], references=[others])
    assert several["infolm"]["score"] == pytest.approx(min(alone) / 2)


def test_with_idf_no_paired_test_scores_all_samples_thousands_of_times(roberta: Path) -> None:
    texts = ["the cat", "the dog", "money loan"]
    p = []
    for idf in (True, False):
        hub = Hub(load_metric("infolm", model=str(roberta), idf=idf))
        first, other = (
            hub.evaluate(predictions=[f"{more}{text}" for text in texts], references=texts)
            for more in ("", "the ")
        )
        p.append(first.compare(other)["infolm"]["score"].p)
    assert np.isfinite(p).tolist() == [False, True]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"information_measure": "alpha_divergence"}, "a number for alpha_divergence"),
        ({"information_measure": "alpha_divergence", "alpha": 1.0}, "other than 0 and 1"),
        ({"alpha": 0.5}, "None for kl_divergence"),
        ({"information_measure": "beta_divergence", "beta": -1.0}, "other than 0 and -1"),
        ({"information_measure": "renyi_divergence", "alpha": 1.0}, "other than 1"),
        (
            {"information_measure": "ab_divergence", "alpha": 0.5, "beta": -0.5},
            "other than 0 for alpha, beta and their sum",
        ),
    ],
)
def test_a_measure_that_is_not_defined_is_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        load_metric("infolm", **more)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("bert", "has no weights for cls.*: a masked model, such as BERT, is needed$"),
        ("gpt2", "/gpt2: a masked model, such as BERT, is needed$"),
    ],
)
def test_a_model_without_a_head_for_masked_tokens_is_refused(
    kind: str, message: str, tmp_path: Path
) -> None:
    folder = toys.write_model(tmp_path / kind, kind)
    with pytest.raises(ModelError, match=message):
        Hub(load_metric("infolm", model=str(folder)))(predictions=["a"], references=["b"])


class TestInfoLm(MetricContract):
    metric = "infolm"
    parameters: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _model(self, roberta: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(type(self), "parameters", {"model": str(roberta)})
