"""MoverScore: the official program's scores with the same weights, and what differs on purpose."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from neural_vectors import rows, tokenizers, write_model
from toys import texts

from metrichub import Hub, load_metric
from metrichub.testing import MetricContract

pytest.importorskip("ot", reason="needs POT: pip install 'metrichub-neural[transport]'")

ROWS = rows("moverscore")
IDF, PLAIN, STOPPED = ROWS


@pytest.fixture(scope="session")
def distilbert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model of all rows, with BERT's tokenizer; its files name no special token."""
    folder = tmp_path_factory.mktemp("moverscore") / "model"
    write_model(folder, "AutoModel", "distilbert", IDF)
    ids = {piece: number for number, piece in enumerate(IDF["vocab"])}
    backend = tokenizers.Tokenizer(tokenizers.models.WordPiece(ids, unk_token="[UNK]"))
    backend.normalizer = tokenizers.normalizers.BertNormalizer()
    backend.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    backend.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    backend.save(str(folder / "tokenizer.json"))
    return folder


def scored(folder: Path, mine: Sequence[str], others: Sequence[Any], **more: Any) -> np.ndarray:
    metric = load_metric("moverscore", model=str(folder), **more)
    report = Hub(metric).evaluate(predictions=list(mine), references=list(others))
    return np.array(report.samples()["moverscore"]["score"])


@pytest.mark.parametrize(
    ("row", "more"),
    [
        (IDF, {}),
        (PLAIN, {"idf": False}),
        (STOPPED, {"idf": False, "stop_words": ["the", "a", "of"]}),
    ],
    ids=[row["metric"] for row in ROWS],
)
def test_scores_are_the_official_programs(
    distilbert: Path, row: dict[str, Any], more: dict[str, Any]
) -> None:
    scores = scored(distilbert, row["hyps"], row["refs"], **more)
    np.testing.assert_allclose(scores, row["scores_one_batch"], atol=2e-6)
    order = random.Random(3).sample(range(6), 6)
    shuffled = [[row[side][place] for place in order] for side in ("hyps", "refs")]
    np.testing.assert_allclose(scored(distilbert, *shuffled, **more), scores[order], atol=2e-6)
    # The repository's definition is another function of the same distance.
    other = scored(distilbert, row["hyps"], row["refs"], definition="repository", **more)
    np.testing.assert_allclose(other, 1 / (2 - np.array(row["scores_one_batch"])), atol=2e-6)


def test_without_idf_a_pair_scores_what_it_scores_alone(distilbert: Path) -> None:
    alone = [
        scored(distilbert, [mine], [other], idf=False)[0]
        for mine, other in zip(PLAIN["hyps"], PLAIN["refs"], strict=True)
    ]
    np.testing.assert_allclose(alone, PLAIN["scores_one_by_one"], atol=2e-6)


def test_several_references_are_averaged(distilbert: Path) -> None:
    # The authors' sentence_score: the mean over the references.
    mine, others = PLAIN["hyps"][0], PLAIN["refs"][:3]
    each = [scored(distilbert, [mine], [other], idf=False)[0] for other in others]
    (together,) = scored(distilbert, [mine], [others], idf=False)
    assert together == pytest.approx(np.mean(each), abs=1e-9)


def test_where_idf_weighs_nothing_tokens_are_equal(distilbert: Path) -> None:
    # In a corpus of one sample every token is in every text; moverscore 1.0.3 moves nothing then,
    # and gives 1 to whatever the texts are.
    pair = ["the cat sat"], ["money loan"]
    assert scored(distilbert, *pair)[0] == scored(distilbert, *pair, idf=False)[0] < 1


def test_intervals_are_there_without_idf_alone(distilbert: Path) -> None:
    columns = {"predictions": texts(8), "references": texts(8, seed=5)}
    model = f"model='{distilbert}'"
    hub = Hub([f"idf = moverscore({model})", f"plain = moverscore({model}, idf=False)"])
    intervals = hub.evaluate(columns).intervals(resamples=100)
    low, high = intervals["plain"]["score"].low, intervals["plain"]["score"].high
    assert low < high
    assert "idf" not in intervals or not np.isfinite(intervals["idf"]["score"].low)


def test_cut_texts_are_counted(distilbert: Path) -> None:
    metric = load_metric("moverscore", model=str(distilbert))
    long = "cat " * 80
    notes = Hub(metric).evaluate(predictions=[long, "a"], references=["a", "the"]).notes()
    assert "1 of 2 predictions were cut at 64 tokens" in notes["moverscore"]


class TestMoverScore(MetricContract):
    metric = "moverscore"
    parameters: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _model(self, distilbert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(type(self), "parameters", {"model": str(distilbert)})
