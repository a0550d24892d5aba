"""Noise sensitivity: wrong claims that the contexts support."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from tests.claim_tables import RAGCHECKER, Example, columns_of, judge_of
from tests.judge_stub import Stub
from tests.judge_toys import spec

NAME = "noise_sensitivity"
MODES = ("relevant", "irrelevant")


def example(
    right: Sequence[int], mine_in: Sequence[Sequence[int]], its_in: Sequence[Sequence[int]]
) -> Example:
    """Three claims of the answer, two of the reference."""
    return Example("toy", 3, 2, right, (), mine_in, its_in, {})


def evaluated(sample: Example, mode: str = "relevant") -> Report:
    hub = Hub(load_metric(NAME, judge=judge_of(sample), mode=mode))
    return hub.evaluate(**columns_of(sample))


def scored(sample: Example) -> tuple[float, ...]:
    return tuple(evaluated(sample, mode).scores()[NAME]["score"] for mode in MODES)


@pytest.mark.parametrize("sample", RAGCHECKER)
def test_it_gives_the_shares_of_ragchecker(sample: Example) -> None:
    expected = [sample.expected[f"{NAME}_in_{mode}"] for mode in MODES]
    assert scored(sample) == pytest.approx(expected)


def test_a_corpus_is_the_mean_of_its_samples() -> None:
    # RAGChecker prints 19.1 for the two examples together: (2/11 + 1/5) / 2.
    hub = Hub(load_metric(NAME, judge=judge_of(*RAGCHECKER)))(**columns_of(*RAGCHECKER))
    assert round(100 * hub[NAME]["score"], 1) == 19.1


@pytest.mark.parametrize(
    ("sample", "relevant", "irrelevant"),
    [
        # ragas' documentation: one of three claims isn't in the reference, but in a relevant one.
        (example((0, 1), [(0,), (2,)], [(0,), (1,)]), 1 / 3, 0),
        # The same from a passage that supports no claim of the reference.
        (example((0, 1), [(0,), (2,)], [(0,), ()]), 0, 1 / 3),
        # From both: it counts once, with the relevant passage.
        (example((0, 1), [(2,), (2,)], [(0,), ()]), 1 / 3, 0),
        # From neither: invented.
        (example((0, 1), [(0,), (1,)], [(0,), ()]), 0, 0),
        # Right claims don't count, whoever supports them.
        (example((0, 1, 2), [(0, 1, 2), (0, 1, 2)], [(0,), ()]), 0, 0),
        # Every claim is wrong; one comes from each passage.
        (example((), [(0,), (2,)], [(1,), ()]), 1 / 3, 1 / 3),
        (example((), [(0, 1, 2)], [()]), 0, 1),
    ],
)
def test_a_wrong_claim_counts_by_the_passage_that_supports_it(
    sample: Example, relevant: float, irrelevant: float
) -> None:
    assert scored(sample) == pytest.approx((relevant, irrelevant))


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ((0, 2), "the prediction makes no claim"),
        ((3, 0), "the reference makes no claim"),
    ],
)
def test_a_text_without_a_claim_is_undefined(sizes: tuple[int, int], reason: str) -> None:
    report = evaluated(Example("toy", *sizes, (), (), [()], [()], {}))
    status = "unscored" if "reference" in reason else "unanswered"
    assert report.explain(NAME, 0)[:2] == (status, reason)


def test_the_explanation_names_the_noise_and_where_it_comes_from() -> None:
    step = evaluated(example((0,), [(), (1, 2)], [(), (0,)])).explain(NAME, 0).steps[0]
    assert step["noise"] == ["toy mine 1", "toy mine 2"]
    assert [claim["verdict"] for claim in step["claims"]] == ["yes", "idk", "idk"]
    assert [(part["context"], part["relevant"]) for part in step["contexts"]] == [
        (0, False),
        (1, True),
    ]
    second = step["contexts"][1]
    assert [claim["verdict"] for claim in second["claims"]] == ["idk", "yes", "yes"]
    assert [claim["verdict"] for claim in second["reference_claims"]] == ["yes", "idk"]


def test_blank_passages_are_skipped_and_the_others_keep_their_place() -> None:
    sample = example((), [(0,)], [(0,)])
    columns = {**columns_of(sample), "contexts": [["", *sample.contexts]]}
    report = Hub(load_metric(NAME, judge=judge_of(sample))).evaluate(**columns)
    [passage] = report.explain(NAME, 0).steps[0]["contexts"]
    assert passage["context"] == 1
    assert report.scores()[NAME]["score"] == pytest.approx(1 / 3)


ONE = {"predictions": ["One. Two."], "references": ["Two. Three."], "contexts": [["One. Four."]]}


def test_both_modes_take_3_calls_and_2_a_passage(stub: Stub) -> None:
    hub = Hub([load_metric(NAME, name=mode, judge=spec(stub), mode=mode) for mode in MODES])
    hub(**{**ONE, "contexts": [["One. Four.", "Five.", "Six."]]})
    assert len(stub.asked) == 3 + 2 * 3


def test_with_one_passage_faithfulness_takes_no_call_of_its_own(stub: Stub) -> None:
    Hub([load_metric(name, judge=spec(stub)) for name in (NAME, "faithfulness")])(**ONE)
    assert len(stub.asked) == 3 + 2


NUMBERS = st.sets(st.integers(0, 2)).map(tuple)
PASSAGES = st.lists(
    st.tuples(NUMBERS, st.sets(st.integers(0, 1)).map(tuple)), min_size=1, max_size=4
)


@given(NUMBERS, PASSAGES)
@settings(max_examples=40)
def test_both_shares_and_the_invented_claims_are_all_wrong_claims(
    right: tuple[int, ...], passages: list[tuple[tuple[int, ...], tuple[int, ...]]]
) -> None:
    mine_in, its_in = zip(*passages, strict=True)
    invented = set(range(3)) - set(right) - {i for claims in mine_in for i in claims}
    shares = (*scored(example(right, mine_in, its_in)), len(invented) / 3)
    assert sum(shares) == pytest.approx(1 - len(right) / 3)


@given(NUMBERS, PASSAGES, NUMBERS)
@settings(max_examples=25)
def test_another_relevant_passage_never_lowers_the_relevant_share(
    right: tuple[int, ...], passages: Any, more: tuple[int, ...]
) -> None:
    before, after = (
        scored(example(right, *zip(*given_passages, strict=True)))[0]
        for given_passages in (passages, [*passages, (more, (0,))])
    )
    assert after >= before
