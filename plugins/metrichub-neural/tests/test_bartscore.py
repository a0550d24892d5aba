"""BARTScore: official scores, both directions, several references, and models of many languages."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import neural_vectors as vectors
import numpy as np
import pytest
import toys
from toys import texts

from metrichub import Hub, ModelError, load_metric
from metrichub.testing import MetricContract

(ROW,) = vectors.rows("bartscore")


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The model with which the authors' program gave its scores."""
    folder = vectors.write_setup_words(tmp_path_factory.mktemp("models") / "bart")
    return str(vectors.write_model(folder, "AutoModelForSeq2SeqLM", "bart", ROW))


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random BART."""
    return toys.write_seq2seq(tmp_path_factory.mktemp("models") / "bart", "bart")


def scored(model: str, predictions: list[str], others: Any, **more: Any) -> Any:
    against = "sources" if more.get("against") == "source" else "references"
    hub = Hub(load_metric("bartscore", model=model, **more))
    return hub.evaluate(predictions=predictions, **{against: others})


def test_both_directions_have_the_official_scores(official: str) -> None:
    places = random.Random(2).sample(range(8), 8)
    predictions = [(ROW["targets"] * 2)[place] for place in places]
    references = [(ROW["sources"] * 2)[place] for place in places]
    report = scored(official, predictions, references)
    samples = report.samples()["bartscore"]
    forth = np.array(ROW["scores_batch1"] * 2)[places]
    back = np.array(ROW["reverse_batch1"] * 2)[places]
    np.testing.assert_allclose(samples["precision"], forth, atol=1e-6)
    np.testing.assert_allclose(samples["recall"], back, atol=1e-6)
    np.testing.assert_allclose(samples["score"], (forth + back) / 2, atol=1e-6)
    expected = {"score": (forth + back).mean() / 2, "precision": forth.mean()}
    expected["recall"] = back.mean()
    assert report.scores()["bartscore"] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("direction", ["precision", "recall"])
@pytest.mark.parametrize("against", ["source", "reference"])
def test_one_direction_has_one_score(official: str, direction: str, against: str) -> None:
    key = {"precision": "scores_batch1", "recall": "reverse_batch1"}[direction]
    more = {"direction": direction, "against": against}
    report = scored(official, ROW["targets"], ROW["sources"], **more)
    assert list(report.scores()["bartscore"]) == ["score"]
    np.testing.assert_allclose(report.samples()["bartscore"]["score"], ROW[key], atol=1e-6)


def test_the_best_reference_counts_or_their_mean(official: str) -> None:
    predictions, several = ROW["targets"][:2], [ROW["sources"], ROW["sources"][:3]]
    each = [
        [float(scored(official, [text], [other])["bartscore"]["score"]) for other in others]
        for text, others in zip(predictions, several, strict=True)
    ]
    for reduce, expected in ((None, map(max, each)), ("mean", map(np.mean, each))):
        more = {} if reduce is None else {"reduce": reduce}
        hub = Hub(load_metric("bartscore", model=official), **more)
        value = hub.evaluate(predictions=predictions, references=several)
        np.testing.assert_allclose(value.samples()["bartscore"]["score"], list(expected), atol=1e-6)


def test_the_token_of_a_language_leads_and_is_not_scored(tmp_path: Path) -> None:
    folder = vectors.write_setup_words(tmp_path / "nllb")
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text())
    # The tags of two languages in place of two words, the first of which leads by default.
    content["post_processor"]["single"][0]["SpecialToken"]["id"] = "xx_Lat"
    frame = content["post_processor"]["special_tokens"]
    frame["xx_Lat"] = {"id": "xx_Lat", "ids": [61], "tokens": ["xx_Lat"]}
    for number, tag in ((61, "xx_Lat"), (62, "yy_Lat")):
        vocabulary = content["model"]["vocab"]
        (word,) = (word for word, place in vocabulary.items() if place == number)
        vocabulary[tag] = vocabulary.pop(word)
        content["added_tokens"].append({**content["added_tokens"][0], "id": number, "content": tag})
    path.write_text(json.dumps(content))
    config = {**ROW["config"], "decoder_start_token_id": 2}
    config = toys.transformers.AutoConfig.for_model("m2m_100", **config)
    toys.torch.manual_seed(3)
    model = toys.transformers.AutoModelForSeq2SeqLM.from_config(config).eval()
    model.save_pretrained(folder)
    tensor = toys.torch.tensor
    result = {}
    for tag, language in ((61, None), (62, "yy_Lat")):
        # cat = 7, dog = 8.
        with toys.torch.no_grad():
            logits = model(
                input_ids=tensor([[tag, 5, 7, 2]]), decoder_input_ids=tensor([[2, tag, 5, 8]])
            ).logits[0]
        log_probabilities = logits.log_softmax(-1)[range(4), [tag, 5, 8, 2]].numpy()
        truth = log_probabilities.mean() if language is None else log_probabilities[1:].mean()
        more = {"language": language, "direction": "precision"}
        report = scored(str(folder), ["the dog"], ["the cat"], **more)
        result[tag] = report["bartscore"]["score"]
        assert result[tag] == pytest.approx(truth, abs=1e-5)
    assert abs(result[61] - result[62]) > 1e-3
    with pytest.raises(ModelError, match="nllb has no token 'zz_Lat' for a language"):
        scored(str(folder), ["the dog"], ["the cat"], language="zz_Lat")


def test_texts_that_were_cut_are_counted(toy: Path) -> None:
    long = "it rains by the river and " * 20
    report = scored(str(toy), [long, "a cat", "a dog"], ["a cat", long, long])
    predictions, references = report.notes()["bartscore"]
    assert f"1 of 3 predictions were cut at {toys.LIMIT} tokens" in predictions
    assert f"2 of 3 references were cut at {toys.LIMIT} tokens" in references
    one_way = scored(str(toy), [long, "a cat"], ["a cat"] * 2, direction="recall", against="source")
    (note,) = one_way.notes()["bartscore"]
    assert "1 of 2 predictions" in note


def test_an_empty_prediction_is_scored_and_an_empty_reference_is_not(toy: Path) -> None:
    result = scored(str(toy), ["", "a cat"], ["a cat", " "]).results["bartscore"]
    assert dict(result.reasons) == {"the reference is empty": 1}
    assert np.isfinite(result.samples()["score"]).tolist() == [True, False]


def test_workers_and_parts_give_what_one_process_gives(toy: Path) -> None:
    rows = [
        {"predictions": [first], "references": [other]}
        for first, other in zip(texts(12, 3), texts(12, 4), strict=True)
    ]
    hub = Hub(load_metric("bartscore", model=str(toy)))
    report = hub.evaluate(rows)
    parted = hub.evaluate(iter([rows[:5], rows[5:]]), workers=2)
    assert parted.signatures() == report.signatures()
    assert parted.flatten() == pytest.approx(report.flatten(), abs=1e-5)
    merged = hub.evaluate(rows[:5]).merge(hub.evaluate(rows[5:]))
    assert merged.flatten() == pytest.approx(report.flatten(), abs=1e-5)


class TestBartScore(MetricContract):
    metric = "bartscore"
    parameters: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _model(self, toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(type(self), "parameters", {"model": str(toy)})
