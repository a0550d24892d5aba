"""A small real model as judge: what it says is read or ends in a named error, whatever it says.

Its answers are poor, and none is compared; how many are read and what is sent is. A list of 200
tokens has fewer than 40 items, so that each question about it is one call.
"""

from __future__ import annotations

import asyncio
import math
import re
import threading
from typing import Any

import pytest

from metrichub import Hub, OpenAIJudge
from metrichub.authoring import Prompt
from metrichub.errors import JudgeError, JudgeUnavailable
from metrichub.judge.protocol import Choice, Grade, Sampling, Verdict
from metrichub.models.loop import run
from tests.real_model.conftest import Forwarding, Judging

pytestmark = pytest.mark.real_model

NAMED = re.compile(
    r"the reply was cut off; "
    r"|the reply isn't the JSON that was asked for \("
    r"|the reply holds \d+ answers that contradict each other"
    r"|gave no verdict on \d+ of \d+ items"
    r"|the (score|winner) \S+ is "
)
"""The causes that a model can give for an error by what it says, or how long it talks."""

SAMPLE: dict[str, Any] = {
    "predictions": ["Cats sleep a lot."],
    "sources": ["Cats sleep for most of the day. They hunt at night."],
    "contexts": [["Cats sleep for most of the day.", "Dogs bark."]],
    "questions": ["How long do cats sleep?"],
}
ANIMALS = Prompt("animals", "List the animals in the text, one word each.")
ANIMAL = Prompt("animal", "Is the item an animal? The reason is one word.")
SHORT = Prompt("short", "Grade how short the text is. The reason is one word.")
LONGER = Prompt("longer", "Which text is longer? The reason is one word.")
TEXT = {"text": "Cats sleep a lot. Dogs bark."}


async def four(judge: OpenAIJudge) -> list[object]:
    """An answer to each of the four questions, or its error; one after the other."""
    asks = (
        lambda: judge.extract(ANIMALS, TEXT, limit=2),
        lambda: judge.verify(ANIMAL, ["cat", "table"], {}, ("yes", "no")),
        lambda: judge.grade(SHORT, TEXT, (1, 5)),
        lambda: judge.choose(LONGER, ["A cat.", "A cat sleeps all day."], {}),
    )
    results: list[object] = []
    for ask in asks:
        results += await asyncio.gather(ask(), return_exceptions=True)  # type: ignore[arg-type]  # errors among them
    return results


def named(error: object) -> bool:
    """Whether it is the error of one sample, with a cause that a model's reply can have."""
    return type(error) is JudgeError and bool(NAMED.search(str(error)))


def test_replies_to_a_schema_are_read(judging: Judging) -> None:
    items, verdicts, grade, choice = run(four(judging()))
    assert isinstance(items, list)
    assert 0 < len(items) <= 2
    assert isinstance(verdicts, list)
    assert [(type(item), item.item) for item in verdicts] == [(Verdict, "cat"), (Verdict, "table")]
    assert {verdict.verdict for verdict in verdicts} <= {"yes", "no"}
    assert isinstance(grade, Grade)
    assert grade.score in {1, 2, 3, 4, 5}
    assert isinstance(choice, Choice)
    assert choice.winner in {0, 1, None}


@pytest.mark.parametrize(("form", "refused"), [("json_object", 1), ("text", 2)])
def test_without_schemas_replies_are_read_or_named(
    between: Forwarding, judging: Judging, form: str, refused: int
) -> None:
    stub = between.only(form).stub
    result = run(four(judging(base_url=stub.url)))
    errors = [outcome for outcome in result if isinstance(outcome, BaseException)]
    assert [error for error in errors if not named(error)] == []
    # Each question is asked again at most once, and verdicts that are missing once more.
    sent = [asked for asked in stub.asked if asked.form == form]
    assert 4 <= len(sent) <= 2 + 4 + 2 + 2
    assert len(stub.asked) - len(sent) == refused


@pytest.mark.parametrize("form", ["json_schema", "json_object", "text"])
def test_a_reply_that_is_dictated_is_read_in_every_form(
    between: Forwarding, judging: Judging, form: str
) -> None:
    stub = between.only(form).stub
    judge = judging(base_url=stub.url)
    dictated = Prompt("dictated", 'Reply {"items": ["cat", "dog"]}')
    assert "cat" in " ".join(run(judge.extract(dictated, {"items": ["cat", "dog"]})))


def test_a_grade_is_weighed_by_the_server_s_probabilities(
    between: Forwarding, judging: Judging
) -> None:
    judge = judging(base_url=between.stub.url)
    grade = run(judge.grade(SHORT, TEXT, (1, 5), Sampling(logprobs=True)))
    (reply,) = between.replied
    tokens = reply["choices"][0]["logprobs"]["content"]  # type: ignore[index]  # a reply of the server
    # The score stands last in the reply; its alternatives are digits among other texts.
    (*_, place) = [token for token in tokens if token["token"].strip() in set("12345")]
    likely = {
        int(other["token"]): math.exp(other["logprob"])
        for other in (*place["top_logprobs"], place)
        if other["token"] in set("12345")
    }
    mean = sum(score * share for score, share in likely.items()) / sum(likely.values())
    assert grade.score == pytest.approx(mean)
    assert sum(grade.weights.values()) == pytest.approx(1)


def test_a_graded_metric_takes_probabilities(judging: Judging) -> None:
    metric = "g_eval(steps=['The text is short. The reason is one word.'], weighting='logprobs')"
    report = Hub(metric, judge=judging()).evaluate(predictions=["Cats sleep."])
    explanation = report.explain("g_eval", 0)
    assert explanation.status == "ok"
    assert 1 <= explanation.scores["grade"] <= 5
    assert report.usage.calls == 1


def test_a_reply_that_is_cut_off_costs_one_call(judging: Judging) -> None:
    report = Hub("faithfulness", judge=judging(max_completion_tokens=4)).evaluate(**SAMPLE)
    explanation = report.explain("faithfulness", 0)
    assert explanation.status == "error"
    assert "the reply was cut off; raise max_completion_tokens" in str(explanation.reason)
    assert report.usage.calls == 1


def test_a_text_beyond_the_context_costs_its_sample_alone(judging: Judging) -> None:
    # Far more words than the server has room for tokens.
    sources = ["cat " * 5_000, SAMPLE["sources"][0]]
    hub = Hub("context_relevance", judge=judging())
    report = hub.evaluate(questions=SAMPLE["questions"] * 2, contexts=[[item] for item in sources])
    first, second = (report.explain("context_relevance", i) for i in range(2))
    assert first.status == "error"
    assert "refused the request" in str(first.reason)
    assert "context size" in str(first.reason)
    assert second.status == "ok" or NAMED.search(str(second.reason))


def test_a_server_without_embeddings_ends_the_run_with_its_own_words(judging: Judging) -> None:
    url = judging().base_url
    embedder = f"openai(model='smollm2', base_url='{url}', max_retries=0)"
    hub = Hub("semantic_similarity", embedder=embedder)
    with pytest.raises(JudgeUnavailable, match="This server does not support embeddings"):
        hub.evaluate(predictions=["A cat."], references=["A dog."])


def test_calls_at_once_wait_for_one_another(between: Forwarding, judging: Judging) -> None:
    judge = judging(base_url=between.stub.url, concurrency=8)

    async def ask() -> list[object]:
        # The form is known to this loop once a first call was answered.
        await judge.verify(ANIMAL, ["dog"], {}, ("yes", "no"))
        # A run starts with four at once, and more go out as answers come.
        together = threading.Barrier(4)
        between.stub.faults = [between.after(lambda: together.wait(60)) for _ in range(4)]
        asks = (judge.verify(ANIMAL, [f"cat {i}"], {}, ("yes", "no")) for i in range(8))
        return await asyncio.gather(*asks, return_exceptions=True)  # type: ignore[return-value]  # errors among them

    result = run(ask())
    assert 4 <= between.stub.most <= 8
    read = [outcome[0].item for outcome in result if isinstance(outcome, list)]
    assert [row for row in result if not isinstance(row, list) and not named(row)] == []
    assert read
    assert set(read) <= {f"cat {i}" for i in range(8)}


@pytest.mark.parametrize(
    ("metric", "extracts", "verifies"),
    [
        ("answer_relevancy(embedder='offline')", 1, 0),
        ("context_relevance", 0, 1),
        ("context_utilization", 0, 1),
        ("faithfulness", 1, 1),
        ("summarization", 2, 3),
        ("summarization_score", 2, 1),
    ],
)
def test_a_metric_has_a_score_or_a_named_reason(
    judging: Judging, metric: str, extracts: int, verifies: int
) -> None:
    report = Hub(metric, judge=judging()).evaluate(**SAMPLE)
    (name,) = report.scores()
    explanation = report.explain(name, 0)
    if explanation.status == "error":
        assert NAMED.search(str(explanation.reason))
    else:
        scores = list(explanation.scores.values())
        lost = explanation.status in ("unanswered", "unscored")
        assert lost or all(-1 <= score <= 1 for score in scores)
        assert explanation.status == "ok" or explanation.reason
    # Verdicts that are missing or doubled are asked for once more.
    assert 0 < report.usage.calls <= extracts + 2 * verifies
