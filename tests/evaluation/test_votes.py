"""How far the judges of a panel agree: the note that a report makes of votes."""

from collections import Counter

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
        "no verdict on 1 more"
    ]
    assert agreement_notes(votes("no no -")) == [
        "no item has all 3 votes of the panel; judge 3 gave no verdict on 1 more"
    ]


def test_a_single_item_has_its_kappa() -> None:
    # Two that each say one word agree by chance as often: never. Of three, P is 1/3 and chance 5/9.
    assert agreement_notes(votes("yes no")) == [
        "the 2 votes of the panel agree on 0.0% of 1 items, Cohen's kappa 0.000"
    ]
    assert agreement_notes(votes("yes yes no")) == [
        "the 3 votes of the panel agree on 0.0% of 1 items, Fleiss' kappa -0.500"
    ]


def test_without_a_panel_nothing_is_said() -> None:
    assert not Trace.of({0: [{"claims": [{"verdict": "yes"}]}]}, {}, {}).votes


def test_votes_of_panels_of_several_sizes_count_for_the_largest() -> None:
    # As in a report of two that were merged: kappa takes the same number of judges throughout.
    assert agreement_notes(votes("yes yes", "yes yes yes", "yes no yes")) == [
        "the 3 votes of the panel agree on 50.0% of 2 items, Fleiss' kappa -0.200"
    ]
