"""Pairwise comparison: wins, ties and losses, each pair asked about in both orders."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from metrichub.authoring import Choice
from metrichub.errors import JudgeError
from metrichub.judge.prompt_files import Prompt
from metrichub.judge.protocol import Fields
from metrichub.testing import Scripted

MINE, THEIRS = "mine", "theirs"


@dataclass(frozen=True)
class Deciding(Scripted):
    """A judge whose choice is a function of the candidates; it notes what it was asked."""

    script: Mapping[str, Any] = field(default_factory=dict, hash=False)
    decide: Callable[[Sequence[str]], int | None] = lambda candidates: None
    asked: list[tuple[str, tuple[str, ...], Fields]] = field(default_factory=list, hash=False)

    async def choose(self, prompt: Prompt, candidates: Sequence[str], fields: Fields) -> Choice:
        self.asked.append((prompt.text, tuple(candidates), fields))
        return Choice(self.decide(candidates), f"of {' and '.join(candidates)}")


def preferring(text: str) -> Deciding:
    return Deciding(decide=lambda candidates: candidates.index(text))


def compared(judge: object, **parameters: object) -> Report:
    hub = Hub(load_metric("pairwise", judge=judge, **parameters))
    return hub.evaluate(questions=["which?"], predictions=[MINE], references=[THEIRS])


def first_unless_tied(candidates: Sequence[str]) -> int | None:
    return 0 if candidates[0] == MINE else None


@pytest.mark.parametrize(
    ("judge", "score", "outcome", "consistent"),
    [
        (preferring(MINE), 1.0, "wins", 1),
        (preferring(THEIRS), 0.0, "losses", 1),
        (Deciding(), 0.5, "ties", 1),
        # The position decides, so neither is the better one.
        (Deciding(decide=lambda _: 0), 0.5, "ties", 0),
        (Deciding(decide=lambda _: 1), 0.5, "ties", 0),
        # A win in one order and a tie in the other is no win (Zheng et al., 2023, section 3.4).
        (Deciding(decide=first_unless_tied), 0.5, "ties", 0),
    ],
)
def test_an_answer_wins_only_if_it_is_preferred_in_both_orders(
    judge: Deciding, score: float, outcome: str, consistent: int
) -> None:
    expected = {"wins": 0, "ties": 0, "losses": 0} | {outcome: 1}
    assert compared(judge).scores()["pairwise"] == expected | {
        "score": score,
        "consistent": consistent,
    }


def test_the_win_rate_counts_ties_half() -> None:
    hub = Hub(load_metric("pairwise", judge=preferring(MINE)))
    scores = hub(
        questions=["?"] * 4,
        predictions=[MINE, MINE, "same", THEIRS],
        references=[THEIRS, THEIRS, "same", MINE],
    )
    # Two wins, a tie and a loss: (2 + 1/2)/4.
    assert scores["pairwise"] == {
        "score": 0.625,
        "wins": 0.5,
        "ties": 0.25,
        "losses": 0.25,
        "consistent": 1,
    }


def test_a_pair_is_asked_about_in_both_orders_with_the_question() -> None:
    judge = preferring(MINE)
    compared(judge)
    orders = [(candidates, fields) for _, candidates, fields in judge.asked]
    question = {"question": "which?"}
    assert orders == [((MINE, THEIRS), question), ((THEIRS, MINE), question)]


def test_equal_answers_are_a_tie_and_nobody_is_asked() -> None:
    hub = Hub(load_metric("pairwise", judge=Scripted({})))
    report = hub.evaluate(questions=["?"], predictions=["same"], references=["same"])
    assert report.scores()["pairwise"]["score"] == 0.5
    assert report.scores()["pairwise"]["consistent"] == 1
    step = report.explain("pairwise", 0).steps[0]
    assert step == {"outcome": "tie", "reason": "the answers are the same"}


def test_a_blank_answer_is_judged_like_any_other() -> None:
    hub = Hub(load_metric("pairwise", judge=preferring(THEIRS)))
    scores = hub(questions=["?"], predictions=[""], references=[THEIRS])
    assert scores["pairwise"]["losses"] == 1


def test_the_question_can_be_left_out() -> None:
    judge = preferring(MINE)
    hub = Hub(load_metric("pairwise", judge=judge, question=False))
    assert hub(predictions=[MINE], references=[THEIRS])["pairwise"]["wins"] == 1
    assert [fields for _, _, fields in judge.asked] == [{}, {}]


def test_the_criteria_are_in_the_prompt_and_the_signature() -> None:
    judge = preferring(MINE)
    report = compared(judge, criteria="The funnier one.")
    assert all("\nThe funnier one.\n" in text for text, _, _ in judge.asked)
    assert "criteria='The funnier one.'" in report.signatures()["pairwise"]
    usual = preferring(MINE)
    compared(usual)
    assert all("correct, helpful" in text and "{{" not in text for text, _, _ in usual.asked)


def test_the_explanation_has_the_outcome_and_the_reason() -> None:
    step = compared(preferring(THEIRS)).explain("pairwise", 0).steps[0]
    assert step == {"outcome": "loss", "reason": "of mine and theirs", "longer_won": True}
    step = compared(Deciding(decide=lambda _: 0)).explain("pairwise", 0).steps[0]
    reason = "the order decided: of mine and theirs / of theirs and mine"
    assert step == {"outcome": "tie", "reason": reason, "preferred": "first"}


def test_of_several_rivals_the_best_outcome_counts_and_on_request_the_mean() -> None:
    hub = Hub(load_metric("pairwise", judge=Deciding(decide=lambda c: c.index(max(c)))))
    data = {"questions": ["?"], "predictions": ["b"], "references": [["a", "c", "d"]]}
    assert hub(**data)["pairwise"]["score"] == 1
    # b beats a, and loses to c and d.
    assert hub(**data, reduce="mean")["pairwise"]["score"] == pytest.approx(1 / 3)


def test_a_call_that_fails_is_an_error_and_no_tie() -> None:
    class Failing(Scripted):
        async def choose(self, prompt: Prompt, candidates: Sequence[str], fields: Fields) -> Choice:
            raise JudgeError("no answer")

    report = compared(Failing({}))
    assert report.explain("pairwise", 0)[:2] == ("error", "no answer")
    assert math.isnan(report.scores()["pairwise"]["ties"])


def test_the_prompt_names_every_word_and_field() -> None:
    folder = Path(str(load_metric("pairwise").card.path)).parent
    text = (folder / "prompts" / "better.md").read_text(encoding="utf-8")
    for named in ('"A"', '"B"', '"tie"', '"candidates"', '"question"', "{{criteria}}"):
        assert named in text


@given(st.lists(st.sampled_from([0, 1, None, "first", "second"]), min_size=1, max_size=8))
def test_outcomes_sum_to_one_and_swapped_systems_mirror_the_rate(choices: list[Any]) -> None:
    def decide(candidates: Sequence[str]) -> int | None:
        choice = choices[int(candidates[0][1:])]
        if isinstance(choice, str):
            return int(choice == "second")
        return None if choice is None else [c[0] for c in candidates].index("ab"[choice])

    hub = Hub(load_metric("pairwise", judge=Deciding(decide=decide), question=False))
    mine, theirs = ([f"{name}{i}" for i in range(len(choices))] for name in "ab")
    scores = hub(predictions=mine, references=theirs)["pairwise"]
    swapped = hub(predictions=theirs, references=mine)["pairwise"]
    assert scores["wins"] + scores["ties"] + scores["losses"] == pytest.approx(1)
    assert scores["score"] == pytest.approx(scores["wins"] + scores["ties"] / 2)
    assert swapped["score"] == pytest.approx(1 - scores["score"])
    assert swapped["consistent"] == scores["consistent"]


def test_notes_say_how_often_the_order_decided_and_whether_the_first_answer_won() -> None:
    def decide(candidates: Sequence[str]) -> int | None:
        return {"first": 0, "second": 1}.get(candidates[0].split()[0])

    hub = Hub(load_metric("pairwise", judge=Deciding(decide=decide), question=False))
    # Pairs in which the place decides: the first twice, the second once; and two ties.
    mine = ["first a", "first b", "second c", "tie d", "tie e"]
    report = hub.evaluate(predictions=mine, references=[f"{text} too" for text in mine])
    order, *others = report.notes()["pairwise"]
    assert order == (
        "the order decided 3 of 5 comparisons: the judge preferred the answer shown first in 2, "
        "the second in 1"
    )
    assert not others


def test_notes_say_how_often_the_longer_answer_won() -> None:
    longest = Deciding(
        decide=lambda both: both.index(max(both, key=lambda text: (len(text), text)))
    )
    hub = Hub(load_metric("pairwise", judge=longest, question=False))
    report = hub.evaluate(predictions=["aa", "b", "cc"], references=["a", "bb", "dd"])
    # The answers of the third pair, which has a winner too, are equally long.
    assert report.notes()["pairwise"] == [
        "the longer answer won 2 of the 2 comparisons with a winner and answers of different "
        "lengths"
    ]
