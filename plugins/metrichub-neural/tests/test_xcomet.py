"""xCOMET: the official program's scores and error spans with the same weights."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from metrichub_neural._comet.model import Comet, comet_of
from metrichub_neural.engine.full import TorchEncoder
from metrichub_neural.xcomet import spans
from neural_vectors import SETUP, rows, torch, transformers
from test_comet import columns, said_by, write_checkpoint
from test_convert import metrichub
from toys import texts

from metrichub import Hub, ModelError, Report, load_metric
from metrichub.testing import MetricContract

ROWS = dict(zip(("both", "source"), rows("xcomet"), strict=True))
EXACT = 2e-7
"""Three units in the last of 32 bits; the program's own batches differ by two."""
PARTS = {"src_scores": "source", "ref_scores": "reference", "unified_scores": "both"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The converted model of both rows."""
    assert ROWS["both"]["weights"] == ROWS["source"]["weights"]
    folder = write_checkpoint(tmp_path_factory.mktemp("xcomet") / "model", ROWS["both"])
    done = metrichub("convert", folder)
    assert done.returncode == 0, done.stderr
    return folder


def scored(folder: Path, inputs: Mapping[str, Any], against: str = "both") -> Report:
    return Hub(load_metric("xcomet", model=str(folder), against=against)).evaluate(inputs)


def loaded(folder: Path) -> Comet:
    metric: Any = load_metric("xcomet", model=str(folder))
    return comet_of(metric.files(), "float32")


@pytest.mark.parametrize("against", ROWS)
def test_scores_and_spans_are_the_official_programs(model: Path, against: str) -> None:
    row, inputs = ROWS[against], columns(ROWS[against])
    report = scored(model, inputs, against)
    scores = report.samples()["xcomet"]
    np.testing.assert_allclose(scores["score"], row["scores_one_by_one"], rtol=0, atol=EXACT)
    for name, output in {**PARTS, "mqm_scores": "mqm"}.items():
        if name in row["parts"][0]:
            expected = [part[name][0] for part in row["parts"]]
            np.testing.assert_allclose(scores[output], expected, rtol=0, atol=EXACT)
    for sample, part in enumerate(row["parts"]):
        (step,) = report.explain("xcomet", sample).steps
        (expected,) = part["error_spans"]
        assert len(step["errors"]) == len(expected)
        for error, official in zip(step["errors"], expected, strict=True):
            assert {key: error[key] for key in ("severity", "start", "end")} == {
                key: official[key] for key in ("severity", "start", "end")
            }
            assert error["confidence"] == pytest.approx(official["confidence"], abs=EXACT)
            # The program decodes tokens, <s> too.
            assert f"<s> {error['text']}".strip() == official["text"]


@pytest.mark.parametrize("against", ROWS)
def test_a_sample_scores_the_same_alone_and_in_any_batch(model: Path, against: str) -> None:
    row, inputs = ROWS[against], columns(ROWS[against])
    many = [random.Random(1).randrange(4) for _ in range(30)]
    shuffled = {name: [texts[place] for place in many] for name, texts in inputs.items()}
    loaded(model).forget()
    score = scored(model, shuffled, against).samples()["xcomet"]["score"]
    expected = np.array(row["scores_one_batch"])[many]
    np.testing.assert_allclose(score, expected, rtol=0, atol=EXACT)


def test_a_reference_alone_is_read_as_a_source_alone_is(model: Path) -> None:
    inputs = columns(ROWS["source"])
    by_source = scored(model, inputs, "source").samples()["xcomet"]
    inputs["references"] = inputs.pop("sources")
    by_reference = scored(model, inputs, "reference").samples()["xcomet"]
    np.testing.assert_array_equal(by_reference["score"], by_source["score"])
    np.testing.assert_array_equal(by_reference["reference"], by_source["source"])


# "a cat sat": <s>, three words and </s>.
PLACES = [(0, 0), (0, 1), (2, 5), (6, 9), (0, 0)]


def errors_of(*labels: int) -> list[tuple[str, str, int, int]]:
    """The spans in "a cat sat" by the most probable label of each token."""
    table = np.full((5, 4), 0.1)
    table[range(5), labels] = 0.7
    return [error[:4] for error in spans.errors_in("a cat sat", table, PLACES)]


def test_a_span_is_as_severe_as_its_first_token() -> None:
    assert errors_of(0, 1, 3, 0, 0) == [("a cat", "minor", 0, 5)]
    assert errors_of(0, 3, 1, 0, 0) == [("a cat", "critical", 0, 5)]


def test_a_span_that_is_open_at_the_end_is_dropped() -> None:
    # unbabel-comet closes a span at the next token without an error; none is behind </s>.
    assert errors_of(0, 0, 0, 2, 2) == []
    assert errors_of(0, 0, 0, 2, 0) == [("sat", "major", 6, 9)]
    assert errors_of(0, 1, 0, 0, 3) == [("a", "minor", 0, 1)]


def test_the_first_token_can_open_a_span() -> None:
    assert errors_of(2, 0, 0, 0, 0) == [("", "major", 0, 0)]
    assert errors_of(2, 1, 0, 0, 0) == [("a", "major", 0, 1)]


def test_confidence_is_the_mean_of_each_tokens_most_probable_label() -> None:
    table = np.array([[0.9, 0.1, 0, 0], [0, 0.6, 0.4, 0], [0, 0, 0.2, 0.8], [1, 0, 0, 0]])
    (error,) = spans.errors_in("a cat sat", table, PLACES[:4])
    # (.6 + .8) / 2, although the labels differ.
    assert error.confidence == pytest.approx(0.7)


def test_errors_cost_1_5_and_10_of_25_points() -> None:
    counts = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [2, 1, 1], [0, 0, 3]])
    # 25 - 17 of 25 are .32; 30 points are no more than 25.
    np.testing.assert_allclose(spans.quality(counts), [1, 0.96, 0.8, 0.6, 0.32, 0])


def test_probabilities_are_weighted_before_the_largest_is_chosen() -> None:
    sure, unsure = np.log([[0.1, 0.9]]), np.log([[0.6, 0.4]])
    # .4 * .1 + .6 * .6 = .4: the surer of two wins against a larger weight.
    mixed = spans.probabilities([sure, unsure], [0.4, 0.6])
    np.testing.assert_allclose(mixed, [[0.4, 0.6]])


def test_a_part_above_one_counts_as_one(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    comet = loaded(model)
    once = comet.read_tagged
    raised = lambda rows: [each._replace(score=1.5) for each in once(rows)]
    monkeypatch.setattr(comet, "read_tagged", raised)
    samples = scored(model, columns(ROWS["both"])).samples()["xcomet"]
    # .12 + .33 + .33 of parts that are 1, and .22 of MQM's score.
    np.testing.assert_allclose(samples["score"], 0.78 + 0.22 * np.array(samples["mqm"]))
    np.testing.assert_array_equal(samples["both"], 1.5)


def test_counts_are_those_of_the_spans(model: Path) -> None:
    samples = scored(model, columns(ROWS["both"])).samples()["xcomet"]
    errors = [part["error_spans"][0] for part in ROWS["both"]["parts"]]
    for severity in spans.SEVERITIES:
        expected = [sum(error["severity"] == severity for error in values) for values in errors]
        np.testing.assert_array_equal(samples[severity], expected)


def test_explanations_mark_the_prediction_by_severity(model: Path) -> None:
    report = scored(model, columns(ROWS["both"]))
    (step,) = report.explain("xcomet", 1).steps
    assert step["prediction"] == [
        {"text": "the weather is", "kind": "major", "length": 0},
        {"text": " cold today", "kind": "outside", "length": 0},
    ]
    errors = [spans.ErrorSpan("b", "minor", 2, 3, 1.0), spans.ErrorSpan("c d", "major", 4, 7, 1.0)]
    marked = spans.highlighted("a b c d", errors)
    assert [(part["text"], part["kind"]) for part in marked] == [
        ("a ", "outside"),
        ("b", "minor"),
        (" ", "outside"),
        ("c d", "major"),
    ]


def test_a_character_of_several_tokens_is_shown_once() -> None:
    # Of "…" as three tokens, the second is right.
    table = np.full((5, 4), 0.1)
    table[range(5), [0, 1, 0, 2, 0]] = 0.7
    errors = spans.errors_in("no…", table, [(0, 2), (2, 3), (2, 3), (2, 3), (0, 0)])
    assert [error[:2] for error in errors] == [("…", "minor"), ("…", "major")]
    marked = [(part["text"], part["kind"]) for part in spans.highlighted("no…", errors)]
    assert marked == [("no", "outside"), ("…", "minor")]


def test_explanations_need_no_second_run(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = scored(model, columns(ROWS["both"]))

    def none(*_: Any) -> Any:
        raise AssertionError("run again")

    monkeypatch.setattr(TorchEncoder, "run", none)
    assert report.explain("xcomet", 0).steps


def test_a_report_has_a_page_where_the_model_is_not(model: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(model, tmp_path / "model")
    report = scored(folder, columns(ROWS["both"]))
    shutil.rmtree(folder)
    assert report.explain("xcomet", 0).steps == [{}]
    report.to_html(tmp_path / "report.html", resamples=20)
    assert "xcomet" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_three_ways_share_their_batches(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    once = TorchEncoder.of_layers

    def recorded(self: TorchEncoder, ids: np.ndarray, mask: np.ndarray, make: Any) -> Any:
        sizes.append(len(ids))
        return once(self, ids, mask, make)

    monkeypatch.setattr(TorchEncoder, "of_layers", recorded)
    loaded(model).forget()
    word = {"predictions": ["a cat"], "sources": ["a dog"], "references": ["a cat"]}
    scored(model, {name: texts * 5 for name, texts in word.items()})
    # One batch of three ways; equal samples are run once.
    assert sizes == [3]


def test_places_are_those_in_a_text_that_is_not_normalized(model: Path) -> None:
    comet = loaded(model)
    (places,) = comet.spans(["  The  CAT\u00a0sat. "])
    text = "  The  CAT\u00a0sat. "
    assert [text[slice(*place)] for place in places] == ["", "The", "CAT", "sat", ".", ""]


def test_what_is_cut_is_told_and_the_translation_stays_whole(model: Path) -> None:
    # 64 positions: a text has 60 tokens at most, 2 of which frame it; all together have 62.
    cat, dog = " ".join(["cat"] * 57), " ".join(["dog"] * 99)
    report = scored(model, {"predictions": [cat, "a"], "sources": [dog, "b"]}, "source")
    (note,) = [note for note in report.notes()["xcomet"] if "cut" in note]
    assert note == "1 of 2 samples were cut at 62 tokens"
    comet = loaded(model)
    (tagged,) = comet.read_tagged([(cat, dog)])
    assert tagged.labels.shape == (59, 4)
    # More than a text may have: 58 words are labelled.
    (tagged,) = comet.read_tagged([(dog, cat)])
    assert tagged.labels.shape == (60, 4)


def test_an_empty_source_or_reference_is_unscored_and_an_empty_translation_is_not(
    model: Path,
) -> None:
    inputs = {
        "predictions": ["", "a cat", "a cat"],
        "sources": ["a dog", " ", "a dog"],
        "references": ["a house", "a house", ""],
    }
    report = scored(model, inputs)
    for values in report.samples()["xcomet"].values():
        assert np.isfinite(values).tolist() == [True, False, False]
    assert report.explain("xcomet", 1).reason == "the source is empty"


def test_two_workers_give_what_one_process_gives(model: Path) -> None:
    samples = [
        {"id": str(n), "predictions": [text], "sources": [text[::-1]], "references": ["a cat"]}
        for n, text in enumerate(texts(24))
    ]
    hub = Hub(load_metric("xcomet", model=str(model)))
    report, parted = (
        hub.evaluate(samples),
        hub.evaluate(iter([samples[:13], samples[13:]]), workers=2),
    )
    assert parted.signatures() == report.signatures()
    assert parted.scores()["xcomet"] == pytest.approx(report.scores()["xcomet"], abs=1e-6)


@pytest.mark.parametrize("layer", [1, 3])
def test_labels_come_from_the_layer_that_is_named_in_the_larger_encoder(
    tmp_path: Path, layer: int
) -> None:
    # XLM-R XL, whose last layer is normed once more.
    row = {**ROWS["source"], "params": {**ROWS["source"]["params"], "word_layer": layer}}
    row["weights"] = {**row["weights"], "check": {}}
    folder = write_checkpoint(tmp_path / "model", row, "xlm-roberta-xl")
    assert metrichub("convert", folder).returncode == 0
    comet = loaded(folder)
    (tagged,) = comet.read_tagged([("a cat", "the dog")])
    state = torch.load(folder / "checkpoints/model.ckpt")["state_dict"]
    config = transformers.AutoConfig.from_pretrained(folder)
    encoder = transformers.AutoModel.from_config(config, add_pooling_layer=False).eval().double()
    start = "encoder.model."
    weights = {k.removeprefix(start): v for k, v in state.items() if k.startswith(start)}
    encoder.load_state_dict(weights, strict=False)
    words = [*SETUP["special"], *SETUP["words"]]
    ids = [words.index(word) for word in ["<s>", "a", "cat", "</s>", "</s>", "the", "dog", "</s>"]]
    with torch.no_grad():
        output = encoder(torch.tensor([ids]), output_hidden_states=True)
        vectors = output.last_hidden_state if layer == 3 else output.hidden_states[layer]
        tags = [state[f"hidden2tag.{name}"].double() for name in ("weight", "bias")]
        expected = torch.nn.functional.linear(vectors[0, :4], *tags)
    np.testing.assert_allclose(tagged.labels, expected, atol=2e-6)


def test_what_cannot_be_run_says_why(model: Path, tmp_path: Path) -> None:
    both = columns(ROWS["both"])
    with pytest.raises(ModelError, match="is a xcomet_metric, and unite runs a unified_metric"):
        Hub(load_metric("unite", model=str(model))).evaluate(both)
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    said_by(folder, "checkpoint", word_layer=9)
    with pytest.raises(ModelError, match="layers mix and 9 of 3"):
        scored(folder, both)


def test_hyperparameters_that_are_not_said_are_the_programs(model: Path, tmp_path: Path) -> None:
    # unbabel-comet 2.2.7: XCOMETMetric's defaults; word_layer is 36, and there is no layer norm.
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    path = folder / "hyperparameters.json"
    both = json.loads(path.read_text())
    for part in both.values():
        for name in ("word_layer", "layer_norm", "sent_layer", "activations"):
            part.pop(name, None)
    path.write_text(json.dumps(both))
    with pytest.raises(ModelError, match="layers mix and 36 of 3"):
        scored(folder, columns(ROWS["both"]))
    said_by(folder, "checkpoint", word_layer=2)
    score = scored(folder, columns(ROWS["both"])).samples()["xcomet"]["score"]
    np.testing.assert_allclose(score, ROWS["both"]["scores_one_by_one"], rtol=0, atol=EXACT)


class TestXComet(MetricContract):
    metric = "xcomet"
    parameters: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _model(self, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(type(self), "parameters", {"model": str(model)})
