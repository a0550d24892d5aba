"""Weighed grades: several answers, or the probabilities of one answer's tokens."""

import json
import math
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, OpenAIJudge
from metrichub.authoring import Grade, Prompt, Sampling
from metrichub.errors import JudgeError, JudgeUnavailable, MetricError
from metrichub.judge.grade_replies import score_probabilities
from metrichub.models.loop import run
from tests.judge_stub import Fault, Stub, completion, says
from tests.judge_toys import judge, spec

TONE = Prompt("tone", "Grade the tone.")
LOGPROBS = Sampling(logprobs=True)
FOUR_OR_FIVE = {"4": 0.2, "5": 0.8}

pytestmark = pytest.mark.usefixtures("alone")


def grade(openai: OpenAIJudge, weighing: Sampling, scale: tuple[int, int] = (1, 5)) -> Grade:
    return run(openai.grade(TONE, {"text": "x"}, scale, weighing))


def graded(score: int, reason: str = "so") -> Fault:
    return says(json.dumps({"reason": reason, "score": score}))


def weighed(tokens: Sequence[str], likely: Mapping[str, float], place: int = 1) -> Fault:
    """An answer in these tokens; those at `place` have the probabilities in `likely`."""
    content = [
        {
            "token": token,
            "logprob": math.log(likely.get(token, 1.0) if i == place else 1.0),
            "bytes": None,
            "top_logprobs": [
                {"token": other, "logprob": math.log(share), "bytes": None}
                for other, share in likely.items()
                if i == place
            ],
        }
        for i, token in enumerate(tokens)
    ]
    status, headers, body = completion("".join(tokens))
    answer = json.loads(body or b"")
    answer["choices"][0]["logprobs"] = {"content": content, "refusal": None}
    return lambda asked: (status, headers, json.dumps(answer).encode())


# Several answers.


def test_samples_are_further_calls_of_the_same_request_and_are_kept(stub: Stub) -> None:
    weighed = grade(judge(stub), Sampling())
    # The stub gives the middle of 1 to 5; one answer has no weights.
    assert (weighed.score, dict(weighed.weights)) == (3.0, {})
    five = grade(judge(stub), Sampling(samples=5))
    assert len(stub.asked) == 5
    assert grade(judge(stub), Sampling(samples=5)) == five
    assert len(stub.asked) == 5
    # Without the store they are calls of their own, too, though they are in flight together.
    grade(judge(stub, cache=False), Sampling(samples=4))
    assert len(stub.asked) == 5 + 4
    assert all(asked.body == stub.asked[0].body for asked in stub.asked)
    assert not {"logprobs", "top_logprobs", "n"} & stub.asked[0].body.keys()


def test_the_grade_of_several_answers_is_their_mean(stub: Stub) -> None:
    stub.faults = [graded(5), graded(2), graded(5), graded(4)]
    result = grade(judge(stub), Sampling(samples=4))
    # (5 + 2 + 5 + 4) / 4 = 4, whatever the order in which they come.
    assert result.score == pytest.approx(4.0)
    assert dict(result.weights) == {5: 0.5, 2: 0.25, 4: 0.25}


def test_the_reason_is_that_of_the_answer_nearest_to_the_mean(stub: Stub) -> None:
    stub.faults = [graded(1, "low"), graded(4, "near"), graded(5, "high")]
    # The mean is 10 / 3.
    assert grade(judge(stub), Sampling(samples=3)).reason == "near"


def test_a_sample_off_the_scale_is_asked_for_again(stub: Stub) -> None:
    stub.faults = [graded(9)]
    assert grade(judge(stub), Sampling(samples=2)).score == 3.0
    assert len(stub.asked) == 3


# Probabilities of tokens.


@pytest.mark.parametrize(
    ("tokens", "likely"),
    [
        # G-Eval's example: 0.2 * 4 + 0.8 * 5 = 4.8.
        (['{"reason":"so","score":', "5", "}"], FOUR_OR_FIVE),
        (['{"reason": "so", "score":', " 5", "}"], {" 4": 0.2, " 5": 0.8}),
        # The same number with and without a space is one score.
        (['{"reason":"so","score":', "5", "}"], {"5": 0.8, "4": 0.1, " 4": 0.1}),
        # What is no score of the scale has no part: (0.1 * 4 + 0.4 * 5) / 0.5 = 4.8.
        (
            ['{"reason":"so","score":', "5", "}"],
            {"5": 0.4, "9": 0.3, "five": 0.15, "-5": 0.05, "4": 0.1},
        ),
    ],
)
def test_the_grade_is_the_mean_by_the_probabilities_at_the_score(
    stub: Stub, tokens: list[str], likely: dict[str, float]
) -> None:
    stub.faults = [weighed(tokens, likely)]
    result = grade(judge(stub), LOGPROBS)
    assert result.score == pytest.approx(4.8)
    assert dict(result.weights) == {4: pytest.approx(0.2), 5: pytest.approx(0.8)}
    assert result.reason == "so"
    sent = stub.asked[0].body
    assert (sent["logprobs"], sent["top_logprobs"]) == (True, 20)
    # They are stored with the answer.
    assert grade(judge(stub), LOGPROBS) == result
    assert len(stub.asked) == 1


def test_an_answer_without_probabilities_is_not_taken_from_the_store_for_one_with(
    stub: Stub,
) -> None:
    grade(judge(stub), Sampling())
    stub.faults = [weighed(['{"reason":"so","score":', "5", "}"], FOUR_OR_FIVE)]
    assert grade(judge(stub), LOGPROBS).score == pytest.approx(4.8)
    assert len(stub.asked) == 2


def test_several_answers_with_probabilities_count_alike(stub: Stub) -> None:
    tokens = ['{"reason":"so","score":', "5", "}"]
    stub.faults = [weighed(tokens, FOUR_OR_FIVE), weighed(tokens, {"4": 0.6, "5": 0.4})]
    # 4.8 and 4.4 make 4.6.
    assert grade(judge(stub), Sampling(2, logprobs=True)).score == pytest.approx(4.6)


@pytest.mark.parametrize(
    "fault",
    [
        # A server that gives no probabilities at all.
        graded(5),
        # One that shares its token with the end of the object.
        weighed(['{"reason":"so","score":', "5}"], {"5}": 1.0}),
    ],
)
def test_missing_probabilities_are_an_error_that_says_what_to_do(stub: Stub, fault: Fault) -> None:
    stub.faults = [fault]
    with pytest.raises(JudgeError, match=r"no probabilities of the score.*samples=20") as caught:
        grade(judge(stub), LOGPROBS, scale=(0, 10))
    assert not caught.value.ends_the_run
    assert len(stub.asked) == 1


# Where the score stands in the tokens.


def tokens_of(*texts: str, **likely: Mapping[str, float]) -> list[Any]:
    """Tokens as the client gives them; `t1` holds what was likely in place of the second."""
    return [
        SimpleNamespace(
            token=text,
            logprob=math.log(likely.get(f"t{i}", {}).get(text, 1.0)),
            top_logprobs=[
                SimpleNamespace(token=other, logprob=math.log(share))
                for other, share in likely.get(f"t{i}", {}).items()
            ],
        )
        for i, text in enumerate(texts)
    ]


def weights(tokens: list[Any], scale: tuple[int, int] = (1, 5)) -> dict[int, float]:
    return score_probabilities("".join(token.token for token in tokens), tokens, scale)


def test_a_number_in_the_reason_is_not_taken_for_the_score() -> None:
    # The quotes inside the reason are escaped, as JSON wants them.
    texts = ('{"reason":"', "1", ' of \\"score\\": 2', '","score":', "5", "}")
    result = weights(tokens_of(*texts, t1={"1": 1.0}, t4={"4": 0.25, "5": 0.75}))
    assert result == {4: pytest.approx(0.25), 5: pytest.approx(0.75)}


def test_of_two_answers_in_one_reply_the_last_counts() -> None:
    texts = ('{"score":', "1", '} {"score":', "5", "}")
    assert weights(tokens_of(*texts, t1={"1": 0.5}, t3={"5": 0.5})) == {5: pytest.approx(0.5)}


def test_a_negative_score_is_one_token_or_two() -> None:
    tokens = tokens_of('{"score":', "-1", "}", t1={"-1": 0.75, "2": 0.25})
    assert weights(tokens, (-2, 2)) == {-1: pytest.approx(0.75), 2: pytest.approx(0.25)}
    parts = tokens_of(
        '{"score":', "-", "1", "}", t1={"-": 0.8, "2": 0.2}, t2={"1": 0.75, "2": 0.25}
    )
    # -1: 0.8 * 0.75, -2: 0.8 * 0.25, 2: 0.2.
    expected = {-1: pytest.approx(0.6), -2: pytest.approx(0.2), 2: pytest.approx(0.2)}
    assert weights(parts, (-2, 2)) == expected


HEAD = ('{"score":',)
DIGITS = {"1": 0.4, "9": 0.6}


@pytest.mark.parametrize(
    ("tokens", "scale", "expected"),
    [
        # The tokens are digits: 10 is 0.4 * 0.75, 1 is 0.4 * 0.2, 11 isn't on the scale.
        (
            tokens_of(*HEAD, "1", "0", "}", t1=DIGITS, t2={"0": 0.75, "}": 0.15, " }": 0.05}),
            (0, 10),
            {1: 0.08, 9: 0.6, 10: 0.3},
        ),
        # The same where the model wrote the 1; what follows may also end the line.
        (
            tokens_of(*HEAD, "1", "}", t1=DIGITS, t2={"0": 0.25, "}": 0.5, "\n": 0.25}),
            (0, 10),
            {1: 0.3, 9: 0.6, 10: 0.1},
        ),
        # 1.5 isn't on the scale.
        (tokens_of(*HEAD, "1", "}", t1=DIGITS, t2={".": 0.5, "}": 0.5}), (0, 10), {1: 0.2, 9: 0.6}),
        # A token that holds 10 shows that a 1 is no part of one.
        (
            tokens_of(*HEAD, "9", "}", t1={**DIGITS, "10": 1e-6}),
            (0, 10),
            {1: 0.4, 9: 0.6, 10: 1e-6},
        ),
        (tokens_of(*HEAD, " 10", "}", t1={" 10": 0.7, " 1": 0.3}), (0, 10), {10: 0.7, 1: 0.3}),
        # One digit, so that no token is a part of a score.
        (tokens_of(*HEAD, "9", "}", t1=DIGITS), (0, 9), {1: 0.4, 9: 0.6}),
        # Three tokens: 0.9 * 0.8 * 0.7 are 100.
        (
            tokens_of(
                *HEAD, "1", "0", "0", "}", t1={"1": 0.9}, t2={"0": 0.8}, t3={"0": 0.7, "}": 0.3}
            ),
            (0, 100),
            {100: 0.504, 10: 0.216},
        ),
    ],
)
def test_the_probabilities_of_numbers_in_parts_are_those_along_their_tokens(
    tokens: list[Any], scale: tuple[int, int], expected: Mapping[int, float]
) -> None:
    assert weights(tokens, scale) == pytest.approx(expected)


def test_a_part_of_a_number_that_was_not_written_ends_the_run(stub: Stub) -> None:
    # The 1 may be that of 10, and nobody knows how often.
    stub.faults = [weighed(['{"reason":"so","score":', "9", "}"], DIGITS)]
    with pytest.raises(JudgeUnavailable, match=r"parts of the numbers from 0 to 10.*'samples'"):
        grade(judge(stub), LOGPROBS, scale=(0, 10))
    # Half a percent more or less is left out.
    stub.faults = [weighed(['{"reason":"so","score":', "9", "}"], {"1": 0.005, "9": 0.6})]
    assert grade(judge(stub), LOGPROBS, scale=(0, 10)).score == pytest.approx(9)


def test_grades_without_other_likely_tokens_are_noted(stub: Stub) -> None:
    likely = weighed(['{"reason":"so","score":', "5", "}"], FOUR_OR_FIVE)
    alone = weighed(['{"reason":"so","score":', "5", "}"], {})
    stub.faults = [likely, alone]
    hub = Hub("rubric(weighting='logprobs')", judge=spec(stub, concurrency=1))
    report = hub.evaluate(predictions=["One.", "Two."])
    # The grades are 4.8 and 5.
    assert report.scores()["rubric"]["grade"] == pytest.approx(4.9)
    (note,) = report.notes()["rubric"]
    assert note.startswith("1 of 2 grades are single answers")
    assert "use weighting='samples'" in note
    assert not hub.evaluate(predictions=["One."]).notes()


def test_a_token_without_others_has_its_own_probability() -> None:
    (_, score, _) = tokens = tokens_of('{"score":', "5", "}")
    score.logprob, score.top_logprobs = math.log(0.5), None
    assert weights(tokens) == {5: pytest.approx(0.5)}


def test_a_token_that_is_not_among_the_likeliest_counts_too() -> None:
    (_, score, _) = tokens = tokens_of('{"score":', "5", "}", t1={"4": 0.9})
    score.logprob = math.log(0.1)
    assert weights(tokens) == {4: pytest.approx(0.9), 5: pytest.approx(0.1)}


@pytest.mark.parametrize("content", ["", "five", '{"grade":5}', '{"score":"5"}'])
def test_a_reply_without_a_score_has_no_weights(content: str) -> None:
    assert weights(tokens_of(content)) == {}


def test_tokens_that_are_not_the_reply_have_no_weights() -> None:
    assert score_probabilities('{"score":5}', tokens_of('{"score": ', "5", "}"), (1, 5)) == {}


# Grades and prompts.


@given(st.dictionaries(st.integers(-9, 9), st.floats(1e-9, 1e9), min_size=1))
def test_a_mean_lies_between_its_scores_and_its_shares_sum_to_1(weights: dict[int, float]) -> None:
    grade = Grade.of(weights, "")
    assert min(weights) - 1e-9 <= grade.score <= max(weights) + 1e-9
    assert sum(grade.weights.values()) == pytest.approx(1.0)


def test_a_filled_prompt_has_the_texts_in_its_slots_and_keeps_name_and_rule() -> None:
    prompt = Prompt("tone", "By {{criteria}}: {{steps}}, {{criteria}}.", "sentences")
    result = prompt.filled(criteria="a", steps="b")
    assert result == Prompt("tone", "By a: b, a.", "sentences")
    assert result.sha != prompt.sha


def test_what_fills_a_slot_is_not_filled_itself() -> None:
    prompt = Prompt("tone", "{{criteria}} {{steps}}")
    assert prompt.filled(criteria="{{steps}} \\1", steps="b").text == "{{steps}} \\1 b"


@pytest.mark.parametrize("slots", [{}, {"criteria": "a", "other": "b"}, {"other": "b"}])
def test_slots_that_are_not_the_prompts_are_refused(slots: dict[str, str]) -> None:
    with pytest.raises(MetricError, match="the prompt 'tone' has the slots"):
        Prompt("tone", "By {{criteria}}.").filled(**slots)


def test_a_character_that_is_spread_over_tokens_is_read_by_its_bytes() -> None:
    # "é" is C3 A9; a token that holds half a character has a replacement as its text.
    texts = ['{"reason": "caf', "\ufffd", "\ufffd", '", "score": ', "4", "}"]
    parts = [b'{"reason": "caf', b"\xc3", b"\xa9", b'", "score": ', b"4", b"}"]
    tokens = [
        SimpleNamespace(token=text, bytes=list(part), logprob=0.0, top_logprobs=[])
        for text, part in zip(texts, parts, strict=True)
    ]
    assert score_probabilities('{"reason": "café", "score": 4}', tokens, (1, 5)) == {4: 1.0}


def test_a_score_that_has_no_probability_at_all_has_no_weight() -> None:
    tokens = [
        SimpleNamespace(token=text, bytes=None, logprob=-9999.0, top_logprobs=[])
        for text in ('{"score": ', "4", "}")
    ]
    assert score_probabilities('{"score": 4}', tokens, (1, 5)) == {}
