"""The Vendi score: published examples, the definition by the whole matrix, and exact merging."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from metrichub import Hub, Report, load_metric
from metrichub.authoring import Vectors
from metrichub.testing import MetricContract


@dataclass(frozen=True)
class Given:
    """An embedder with given vectors; a text is the number of one."""

    vectors: tuple[tuple[float, ...], ...]
    label = "given"
    is_model = True
    note = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return np.array([self.vectors[int(text)] for text in texts]).reshape(len(texts), -1)


def of_similarities(similar: np.ndarray) -> Given:
    """Vectors whose products are a matrix of similarities: the rows of its square root."""
    values, sides = np.linalg.eigh(similar)
    root = (sides * np.sqrt(np.maximum(values, 0))) @ sides.T
    return Given(tuple(map(tuple, root.tolist())))


def sample_of(vectors: np.ndarray) -> Given:
    return Given(tuple(map(tuple, vectors.tolist())))


def scored(embedder: Given, texts: Sequence[Any] | None = None, **more: object) -> Report:
    every = [str(number) for number in range(len(embedder.vectors))]
    metric = load_metric("vendi", embedder=embedder, **more)
    return Hub(metric).evaluate(predictions=every if texts is None else list(texts))


def score(embedder: Given, texts: Sequence[Any] | None = None, **more: object) -> float:
    return scored(embedder, texts, **more).scores()["vendi"]["score"]


def definition(vectors: np.ndarray) -> float:
    """By the whole matrix of cosines, as the paper defines it."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    shares = np.linalg.eigvalsh(unit @ unit.T / len(unit))
    shares = shares[shares > 1e-12]
    return float(np.exp(-(shares * np.log(shares)).sum()))


def test_it_gives_the_published_examples() -> None:
    # The README of the authors' program (vendi-score).
    samples = np.array([0, 0, 10, 10, 20, 20])
    similar = np.exp(-np.abs(samples[:, None] - samples))
    # 2.99999999…, which the README cuts off after four digits.
    assert np.floor(score(of_similarities(similar)) * 1e4) == 29999
    matrix = np.array([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1.0]])
    assert score(of_similarities(matrix)) == pytest.approx(2.1573, abs=5e-5)


def test_equal_texts_are_one_and_unlike_ones_are_all() -> None:
    assert score(sample_of(np.ones((5, 3)))) == pytest.approx(1)
    assert score(sample_of(np.eye(4) * 7)) == pytest.approx(4)


# What vendi-score 0.0.3 gives for the same vectors (`score_K` of their cosines), by order. 5 texts
# are fewer than the 12 dimensions, 40 are more.
OFFICIAL = {
    5: (4.395661257119693, 3.9920605456252183, 3.54773559409827, 2.7853358844555856),
    40: (10.662305249504016, 9.425686451712746, 7.425270664658423, 3.6107231436326344),
}


@pytest.mark.parametrize(("place", "q"), [(0, 0.5), (1, 1), (2, 2), (3, "inf")])
@pytest.mark.parametrize("number", OFFICIAL)
def test_every_order_is_that_of_the_authors_program(
    number: int, place: int, q: float | str
) -> None:
    vectors = np.random.default_rng(1).normal(size=(number, 12)) + 0.5
    # For the order .5 it counts the roundings of 28 shares that are 0: some 1e-17, the root of
    # which is 3e-9.
    expected = pytest.approx(OFFICIAL[number][place], rel=1e-7 if q == 0.5 else 1e-10)
    assert score(sample_of(vectors), q=q) == expected


def test_order_zero_counts_the_kinds() -> None:
    assert score(sample_of(np.eye(3)[[0, 0, 1, 2, 2]]), q=0) == pytest.approx(3)


def test_all_candidates_of_a_sample_count() -> None:
    vectors = np.random.default_rng(2).normal(size=(6, 3))
    report = scored(sample_of(vectors), [["0", "1", "2"], ["3", "4"], ["5"]])
    assert report.scores()["vendi"]["score"] == pytest.approx(definition(vectors))
    expected = [definition(vectors[:3]), definition(vectors[3:5]), 1]
    np.testing.assert_allclose(report.samples()["vendi"]["score"], expected)


@pytest.mark.parametrize("number", [4, 30])
def test_parts_are_merged_exactly_with_their_rows_or_without(number: int) -> None:
    vectors = np.random.default_rng(3).normal(size=(number, 5))
    embedder = sample_of(vectors)
    every = [str(n) for n in range(number)]
    parts = [scored(embedder, every[:3]), scored(embedder, every[3:])]
    merged = parts[0].merge(parts[1]).scores()["vendi"]["score"]
    assert merged == pytest.approx(definition(vectors), rel=1e-10)
    metric: Any = load_metric("vendi", embedder=embedder)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = [((tuple(vector)),) for vector in unit.tolist()]
    once = metric.condense([*metric.condense(rows[:2]), *metric.condense(rows[2:])])
    assert metric.conclude(once)["score"] == pytest.approx(definition(vectors), rel=1e-10)
    # What is left of 30 vectors is one matrix of 5 by 5.
    if number == 30:
        assert [(part.products.shape, part.vectors) for part in once] == [((5, 5), 30)]


def test_a_text_without_a_vector_is_unanswered() -> None:
    report = scored(sample_of(np.array([[1.0, 0], [0, 0], [0, 1]])))
    assert report.scores()["vendi"]["score"] == pytest.approx(2)
    assert report.counts()["vendi"]["unanswered"] == 1
    assert np.isnan(score(sample_of(np.zeros((1, 2)))))


class TestVendi(MetricContract):
    metric = "vendi"
    parameters: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _needs(self, minilm: str) -> None: ...
