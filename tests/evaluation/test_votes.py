"""How far the judges of a panel agree: the note that a report makes of votes."""

from collections import Counter

import pytest

from metrichub.evaluation.explanation import Trace, agreement_notes


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


@pytest.mark.parametrize(
    ("cast", "agree"),
    [
        (["yes yes yes", "yes no yes"], "3 votes agree on 50.0% of 2 items, Fleiss' kappa -0.200"),
        # Half agree. The first says yes of both, so chance is 1 * 0.5 + 0 * 0.5: 0 / 0.5.
        (["yes yes", "yes no"], "2 votes agree on 50.0% of 2 items, Cohen's kappa 0.000"),
        (["yes yes", "yes yes"], "2 votes agree on 100.0% of 2 items, Cohen's kappa undefined"),
        (
            ["yes yes yes", "yes no yes", "no no -"],
            "3 votes agree on 50.0% of 2 items, Fleiss' kappa -0.200; judge 3 gave no verdict on "
            "1 more",
        ),
        # Two that each say one word agree by chance as often: never.
        (["yes no"], "2 votes agree on 0.0% of 1 items, Cohen's kappa 0.000"),
        # P is 1/3 and chance 5/9.
        (["yes yes no"], "3 votes agree on 0.0% of 1 items, Fleiss' kappa -0.500"),
        # Reports that were merged: kappa takes the same number of judges throughout.
        (
            ["yes yes", "yes yes yes", "yes no yes"],
            "3 votes agree on 50.0% of 2 items, Fleiss' kappa -0.200",
        ),
    ],
)
def test_the_note_has_the_share_of_items_and_kappa(cast: list[str], agree: str) -> None:
    message = agree.replace("votes agree", "votes of the panel agree")
    assert agreement_notes(votes(*cast)) == [f"the {message}"]


def test_no_item_may_have_all_votes() -> None:
    assert agreement_notes(votes("no no -")) == [
        "no item has all 3 votes of the panel; judge 3 gave no verdict on 1 more"
    ]


def test_without_a_panel_nothing_is_said() -> None:
    assert not Trace.of({0: [{"claims": [{"verdict": "yes"}]}]}, {}, {}).votes
