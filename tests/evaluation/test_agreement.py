"""How far the judges of a panel agree: two kappas, and the note that a report makes of votes."""

from collections import Counter

import pytest

from metrichub.evaluation.agreement import agreement_notes, cohen_kappa, fleiss_kappa
from metrichub.evaluation.explanation import Trace

# Fleiss (1971): 14 psychiatrists on 10 patients, as counted by the article on Fleiss' kappa.
PATIENTS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def votes(*items: str) -> Counter[str]:
    """The votes that a trace counts; "yes no -" are those on one item, "-" of a failed call."""
    steps = {}
    for sample, item in enumerate(items):
        cast = [
            {"judge": str(j), "verdict": None if word == "-" else word, "reason": ""}
            for j, word in enumerate(item.split())
        ]
        steps[sample] = [{"claims": [{"item": "x", "verdict": "yes", "votes": cast}]}]
    return Trace.of(steps, {}, {}).votes


def test_fleiss_kappa_of_two_items() -> None:
    # Three judges: all say "a", then two "a" and one "b". Per item 1 and (2*1 + 0) / (3*2) = 1/3
    # of the pairs agree, 2/3 on average; "a" is 5/6 of all, so chance is 25/36 + 1/36 = 13/18.
    # (2/3 - 13/18) / (1 - 13/18) = (-1/18) / (5/18).
    assert fleiss_kappa([[3, 0], [2, 1]]) == pytest.approx(-1 / 5)


def test_fleiss_kappa_of_a_worked_example() -> None:
    assert fleiss_kappa(PATIENTS) == pytest.approx(0.210, abs=5e-4)


def test_cohen_kappa_by_hand() -> None:
    # Of 50 items both say yes to 20 and no to 15: 0.7. Yes is said of 25 and of 30: chance is
    # 0.5 * 0.6 + 0.5 * 0.4 = 0.5, and (0.7 - 0.5) / (1 - 0.5) = 0.4.
    assert cohen_kappa([[20, 5], [10, 15]]) == pytest.approx(0.4)


@pytest.mark.parametrize("table", [[[3, 0], [3, 0]], []])
def test_fleiss_kappa_is_undefined_for_one_word_or_no_items(table: list[list[int]]) -> None:
    assert fleiss_kappa(table) != fleiss_kappa(table)


@pytest.mark.parametrize("table", [[[3, 0], [0, 0]], []])
def test_cohen_kappa_is_undefined_for_one_word_or_no_items(table: list[list[int]]) -> None:
    assert cohen_kappa(table) != cohen_kappa(table)


def test_three_judges_are_told_with_fleiss_kappa() -> None:
    assert agreement_notes(votes("yes yes yes", "yes no yes")) == [
        "the 3 votes of the panel agree on 50.0% of 2 items, Fleiss' kappa -0.200"
    ]


def test_two_judges_are_told_with_cohens_kappa() -> None:
    # Half agree. The first says yes of both, so chance is 1 * 0.5 + 0 * 0.5: (0.5 - 0.5) / 0.5.
    assert agreement_notes(votes("yes yes", "yes no")) == [
        "the 2 votes of the panel agree on 50.0% of 2 items, Cohen's kappa 0.000"
    ]


def test_one_word_only_leaves_kappa_undefined() -> None:
    assert agreement_notes(votes("yes yes", "yes yes")) == [
        "the 2 votes of the panel agree on 100.0% of 2 items, Cohen's kappa undefined"
    ]


def test_items_without_a_verdict_of_all_are_counted_apart() -> None:
    assert agreement_notes(votes("yes yes yes", "yes no yes", "no no -")) == [
        "the 3 votes of the panel agree on 50.0% of 2 items, Fleiss' kappa -0.200; judge 3 gave "
        "none on 1 more"
    ]
    assert agreement_notes(votes("no no -")) == [
        "the 3 votes of the panel are never complete; judge 3 gave none on 1 more"
    ]


def test_without_a_panel_nothing_is_said() -> None:
    assert agreement_notes(Trace.of({0: [{"claims": [{"verdict": "yes"}]}]}, {}, {}).votes) == []
