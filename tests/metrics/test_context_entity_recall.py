"""Context entity recall: entities of the reference that the contexts name."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from metrichub.testing import Scripted
from tests.judge_stub import Stub
from tests.judge_toys import spec

NAME = "context_entity_recall"
ENTITIES = st.lists(st.sampled_from(["Aare", "Bern", "bern", "1912", "Otto  Weber"]), max_size=5)
# The lists in ragas' documentation of the metric.
TAJ_MAHAL = ["Taj Mahal", "Yamuna", "Agra", "1631", "Shah Jahan", "Mumtaz Mahal"]


def evaluated(reference: Sequence[str], contexts: Sequence[str], match: str = "") -> Report:
    answers = {True: reference, False: contexts}
    judge = Scripted({"entities": lambda fields: answers[fields["text"] == "a reference"]})
    hub = Hub(load_metric(NAME, judge=judge, **({"match": match} if match else {})))
    return hub.evaluate(references=["a reference"], contexts=[["a passage", "another"]])


def score(*entities: Sequence[str], match: str = "") -> float:
    return evaluated(*entities, match=match).scores()[NAME]["score"]


@pytest.mark.parametrize(
    ("reference", "contexts", "expected"),
    [
        # ragas' documentation prints 0.999999995 = 2 / (2 + 1e-8) for the first.
        (["Eiffel Tower", "Paris"], ["Eiffel Tower", "Paris"], 1.0),
        (TAJ_MAHAL, ["Taj Mahal", "Agra", "Shah Jahan", "Mumtaz Mahal", "India"], 4 / 6),
        (TAJ_MAHAL, ["Taj Mahal", "UNESCO", "India"], 1 / 6),
        (["Bern"], [], 0.0),
        (["Bern", "Bern", "Aare"], ["Bern", "Bern"], 1 / 2),
    ],
)
@pytest.mark.parametrize("match", ["normalized", "exact"])
def test_the_score_is_the_share_of_entities_that_are_found(
    reference: list[str], contexts: list[str], expected: float, match: str
) -> None:
    assert score(reference, contexts, match=match) == expected


@pytest.mark.parametrize(
    ("first", "other", "same"),
    [
        ("Eiffel Tower", "EIFFEL tower", True),
        ("Otto Weber", " Otto\u00a0 Weber\n", True),
        ("Hauptstraße", "HAUPTSTRASSE", True),
        ("Zürich", "Zurich", False),
        ("U.N.", "UN", False),
        ("Germany", "West Germany", False),
    ],
)
def test_normalized_entities_differ_neither_by_case_nor_by_white_space(
    first: str, other: str, same: bool
) -> None:
    assert score([first], [other]) == score([other], [first]) == float(same)
    assert score([first], [other], match="exact") == 0.0


def test_spellings_of_one_entity_count_once() -> None:
    assert score(["Bern", "BERN", "Aare"], ["bern"]) == 0.5
    assert score(["Bern", "BERN", "Aare"], ["BERN"], match="exact") == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("reference", "contexts", "score", "counts"),
    [
        (" ", ["a"], math.nan, {"unscored": 1}),
        (" ", [], math.nan, {"unscored": 1}),
        ("a", [], 0, {}),
        ("a", ["", "\n"], 0, {}),
    ],
)
def test_the_score_is_0_without_a_context_and_undefined_without_a_reference(
    reference: str, contexts: list[str], score: float, counts: dict[str, int]
) -> None:
    hub = Hub(load_metric(NAME, judge=Scripted({"entities": ["Bern"]})))
    report = hub.evaluate(references=[reference], contexts=[contexts])
    assert report[NAME]["score"] == pytest.approx(score, abs=0, nan_ok=True)
    assert report.counts()[NAME] == counts


@pytest.mark.parametrize("entities", [[], [" "]])
@pytest.mark.parametrize("match", ["normalized", "exact"])
def test_a_reference_without_an_entity_is_undefined(entities: list[str], match: str) -> None:
    report = evaluated(entities, ["Bern", " "], match=match)
    assert report.explain(NAME, 0)[:2] == ("unscored", "the reference names no entity")
    assert math.isnan(report.scores()[NAME]["score"])


def test_every_entity_of_the_reference_says_whether_it_was_found() -> None:
    step = evaluated(["Bern", "BERN", "Aare"], ["bern", "1912"]).explain(NAME, 0).steps[0]
    assert step == {
        "entities": [{"entity": "Bern", "found": True}, {"entity": "Aare", "found": False}],
        "context_entities": ["bern", "1912"],
    }


def test_a_sample_takes_two_calls_and_blank_passages_are_not_sent(stub: Stub) -> None:
    hub = Hub(load_metric(NAME, judge=spec(stub)))
    hub(references=["Bern."], contexts=[["Aare.", " ", "Bern."]])
    sent = [asked.data["text"] for asked in stub.asked]
    assert sorted(sent, key=str) == ["Bern.", ["Aare.", "Bern."]]


@given(ENTITIES, ENTITIES, ENTITIES, st.sampled_from(["normalized", "exact"]))
@settings(max_examples=40)
def test_more_entities_in_the_contexts_never_lower_the_score(
    reference: list[str], contexts: list[str], more: list[str], match: str
) -> None:
    before, after = (
        score(reference, passages, match=match) for passages in (contexts, contexts + more)
    )
    assert math.isnan(after) if not reference else 0 <= before <= after <= 1
