"""Context utilization and context precision: average precision of judged passages."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from metrichub.authoring import Fields, Prompt, Verdict
from metrichub.testing import Scripted

NAMES = {"context_utilization": "predictions", "context_precision": "references"}
BOTH = pytest.mark.parametrize("name", NAMES)


def evaluated(
    name: str, words: list[str], question: str = "q", answer: str = "a", epsilon: float = 0.0
) -> Report:
    judge = Scripted({"useful": words})
    hub = Hub(load_metric(name, judge=judge, epsilon=epsilon))
    contexts = [f"passage {i}" for i in range(len(words))]
    return hub.evaluate(**{"questions": [question], NAMES[name]: [answer], "contexts": [contexts]})


def words_of(labels: list[int]) -> list[str]:
    return ["yes" if label else "no" for label in labels]


@BOTH
@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([1, 0], 1.0),
        ([0, 1], 0.5),
        ([1, 0, 1], 5 / 6),  # (1/1 + 2/3) / 2
        ([0, 1, 1], 7 / 12),  # (1/2 + 2/3) / 2
        ([1, 1, 1], 1.0),
        ([0, 0], 0.0),
    ],
)
def test_the_score_is_the_mean_precision_at_useful_ranks(
    name: str, labels: list[int], expected: float
) -> None:
    score = evaluated(name, words_of(labels)).scores()[name]["score"]
    assert score == pytest.approx(expected, abs=1e-15)


@BOTH
@pytest.mark.parametrize(
    ("labels", "expected"),
    [([1, 0], 0.9999999999), ([0, 1], 0.49999999995), ([0, 0], 0.0)],  # ragas' documentation
)
def test_an_epsilon_gives_the_numbers_that_ragas_prints(
    name: str, labels: list[int], expected: float
) -> None:
    score = evaluated(name, words_of(labels), epsilon=1e-10).scores()[name]["score"]
    assert score == pytest.approx(expected, abs=1e-15)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=8))
def test_a_useless_passage_at_the_end_costs_nothing(labels: list[int]) -> None:
    name = "context_utilization"
    first, other = (evaluated(name, words_of(x)).scores()[name] for x in (labels, [*labels, 0]))
    assert first["score"] == pytest.approx(other["score"])


@BOTH
def test_every_passage_has_its_verdict_by_rank(name: str) -> None:
    steps = evaluated(name, ["no", "yes"]).explain(name, 0).steps[0]["contexts"]
    assert [(s["index"], s["item"], s["verdict"]) for s in steps] == [
        (0, "passage 0", "no"),
        (1, "passage 1", "yes"),
    ]


class Favouring(Scripted):
    """Calls the first passage that it sees useful, and no other; keeps what it saw."""

    def __init__(self) -> None:
        super().__init__({})
        self.seen: list[tuple[str, ...]] = []

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        self.seen.append(tuple(items))
        return [Verdict(i, item, "no" if i else "yes", "the first") for i, item in enumerate(items)]


@BOTH
def test_passages_are_shown_in_the_order_of_a_seed_and_scored_at_their_ranks(name: str) -> None:
    contexts = [f"passage {i}" for i in range(6)]
    columns = {"questions": ["q", "r"], NAMES[name]: ["a", "b"], "contexts": [contexts] * 2}
    firsts = set()
    for seed in (None, 0, 1, 2):
        judge, again = Favouring(), Favouring()
        report = Hub(load_metric(name, judge=judge, shuffle_seed=seed)).evaluate(**columns)
        assert all(sorted(seen) == contexts for seen in judge.seen)
        # The one useful passage counts by its rank, wherever the judge saw it.
        ranks = [contexts.index(seen[0]) for seen in judge.seen]
        assert report.samples()[name]["score"].tolist() == [1 / (rank + 1) for rank in ranks]
        shown = report.explain(name, 0).steps[0]["contexts"]
        assert [verdict["item"] for verdict in shown] == contexts
        assert [verdict["index"] for verdict in shown] == list(range(6))
        assert (ranks == [0, 0]) == (seed is None)
        firsts |= {*judge.seen}
        Hub(load_metric(name, judge=again, shuffle_seed=seed)).evaluate(**columns)
        assert again.seen == judge.seen
    # Each seed draws another order, and another one for each sample.
    assert len(firsts) == 1 + 3 * 2
