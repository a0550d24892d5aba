"""Summarization score: the questions that a summary answers, and its conciseness."""

import math

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.judge.protocol import Fields
from metrichub.testing import Scripted

EIGHT = {"keyphrases": ["app"], "questions": [f"{i}?" for i in range(8)]}
SEVEN_OF_EIGHT = Scripted({**EIGHT, "answered": ["yes"] * 7 + ["no"]})
# The lengths of summary and text in the ragas documentation's example.
PAIR = {"predictions": ["s" * 183], "sources": ["t" * 310]}


def scored(judge: Scripted = SEVEN_OF_EIGHT, **parameters: object) -> dict[str, float]:
    hub = Hub(load_metric("summarization_score", judge=judge, **parameters))
    return dict(hub.evaluate(**PAIR).scores()["summarization_score"])


def undefined(report: Report) -> str | None:
    explained = report.explain("summarization_score", 0)
    assert explained.status in ("unanswered", "unscored")
    assert math.isnan(report.scores()["summarization_score"]["score"])
    return explained.reason


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        # The number that the ragas documentation prints: (7/8 + (1 - 183/310)) / 2.
        ({}, 0.6423387096775146),
        # 7/8 * 0.2 + (1 - 183/310) * 0.8, the later documentation and the code of ragas.
        ({"coeff": 0.8}, 0.5027419354840232),
        # 7/8 * 0.8 + (1 - 183/310) * 0.2, the documentation of ragas 0.1.15 to 0.2.1.
        ({"coeff": 0.8, "coeff_of": "qa"}, 0.7819354838710059),
        ({"coeff_of": "qa"}, 0.6423387096775146),
        ({"length_penalty": False}, 7 / 8),
        ({"length_penalty": False, "coeff": 0.9, "coeff_of": "qa"}, 7 / 8),
        ({"coeff": 0}, 7 / 8),
        ({"coeff": 1, "coeff_of": "qa"}, 7 / 8),
        ({"coeff": 1}, 1 - 183 / (310 + 1e-10)),
    ],
)
def test_the_score_weighs_answers_and_conciseness(
    parameters: dict[str, object], expected: float
) -> None:
    assert scored(**parameters)["score"] == expected


@pytest.mark.parametrize("length_penalty", [True, False])
def test_the_parts_are_outputs_of_their_own(length_penalty: bool) -> None:
    scores = scored(length_penalty=length_penalty)
    assert (scores["qa"], scores["conciseness"]) == (7 / 8, 1 - 183 / (310 + 1e-10))


def test_a_summary_longer_than_its_source_has_no_conciseness() -> None:
    hub = Hub(load_metric("summarization_score", judge=SEVEN_OF_EIGHT))
    scores = hub(predictions=["s" * 99], sources=["t" * 10])["summarization_score"]
    # 1 - 10 / (10 + 1e-10) is 1e-11.
    assert scores["conciseness"] == pytest.approx(0, abs=1e-10)


def test_no_answer_leaves_the_conciseness() -> None:
    scores = scored(Scripted({**EIGHT, "answered": ["no"]}))
    assert (scores["qa"], scores["score"]) == (0, (1 - 183 / (310 + 1e-10)) / 2)


def test_a_source_without_a_question_is_undefined() -> None:
    judge = Scripted({"keyphrases": ["a"], "questions": []})
    hub = Hub(load_metric("summarization_score", judge=judge))
    assert undefined(hub.evaluate(**PAIR)) == "the source gives no question to ask"


def test_a_source_without_a_key_phrase_is_asked_about_all_the_same() -> None:
    judge = Scripted({"keyphrases": [], "questions": ["a?", "b?"], "answered": ["yes", "no"]})
    assert scored(judge)["qa"] == 0.5


def test_a_corpus_is_the_mean_of_its_samples_that_have_a_score() -> None:
    hub = Hub(load_metric("summarization_score", judge=SEVEN_OF_EIGHT))
    report = hub.evaluate(predictions=["ss", "s", ""], sources=["t" * 4] * 3)
    scores = report.scores()["summarization_score"]
    # 1 - 2/4 and 1 - 1/4, and the third has none.
    assert scores["conciseness"] == pytest.approx((0.5 + 0.75) / 2)
    assert report.counts()["summarization_score"]["unanswered"] == 1


# The source answers all of eight questions but the first and the last.
BY_TEXT = Scripted(
    {
        **EIGHT,
        "answered": lambda fields: (
            ["no", *["yes"] * 6, "no"]
            if fields["summary"] == PAIR["sources"][0]
            else [*["yes"] * 5, "no"]
        ),
    }
)


def test_questions_that_the_source_does_not_answer_are_left_out_if_asked() -> None:
    # The summary is asked questions 1 to 6 and answers all but the sixth of them.
    assert scored(BY_TEXT, filter_questions=True)["qa"] == 5 / 6
    # Of all eight, its sixth answer is no, and the script begins anew for the last two.
    assert scored(BY_TEXT)["qa"] == 7 / 8
    hub = Hub(load_metric("summarization_score", judge=BY_TEXT, filter_questions=True))
    (step,) = hub.evaluate(**PAIR).explain("summarization_score", 0).steps
    assert [question["item"] for question in step["questions"]] == [f"{i}?" for i in range(1, 7)]
    assert [entry["verdict"] for entry in step["source_answers"]] == ["no", *["yes"] * 6, "no"]


def test_the_words_of_weighed_verdicts_of_the_source_decide_what_is_left_out() -> None:
    def answered(fields: Fields) -> list[object]:
        if fields["summary"] == PAIR["sources"][0]:
            return [{"yes": 0.9, "no": 0.1}, {"yes": 0.4, "no": 0.6}]
        return [{"yes": 0.5, "no": 0.5}]

    judge = Scripted({"keyphrases": [], "questions": ["a?", "b?"], "answered": answered})
    # Only the first is kept, and the summary's half counts.
    assert scored(judge, filter_questions=True)["qa"] == 0.5


def test_a_source_that_answers_none_of_its_questions_is_undefined_if_they_are_filtered() -> None:
    judge = Scripted({**EIGHT, "answered": ["no"]})
    assert scored(judge)["qa"] == 0.0
    hub = Hub(load_metric("summarization_score", judge=judge, filter_questions=True))
    assert undefined(hub.evaluate(**PAIR)) == "the source answers none of the questions"


def test_every_question_has_its_answer_and_reason() -> None:
    hub = Hub(load_metric("summarization_score", judge=SEVEN_OF_EIGHT))
    step = hub.evaluate(**PAIR).explain("summarization_score", 0).steps[0]
    assert step["keyphrases"] == ["app"]
    last = {"index": 7, "item": "7?", "verdict": "no", "reason": "as scripted"}
    assert step["questions"][7] == last


def test_the_offline_judge_asks_about_every_sentence_of_the_source() -> None:
    source = (
        "The old stone bridge over the river Aare was opened to heavy railway traffic in 1912. "
        "Several local bakers sold warm bread beside the crowded northern platform every Sunday."
    )
    report = Hub("summarization_score", judge="offline").evaluate(
        predictions=[source.partition(". ")[0] + "."], sources=[source]
    )
    step = report.explain("summarization_score", 0).steps[0]
    assert [answer["verdict"] for answer in step["questions"]] == ["yes", "no"]
    assert "1912" in step["keyphrases"]
    assert report.scores()["summarization_score"]["qa"] == 0.5
