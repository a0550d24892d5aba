"""Replies that aren't quite what was asked for: what is read of them, what isn't, and its count."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, Report
from metrichub.authoring import Prompt
from metrichub.errors import JudgeError
from metrichub.judge.repair import repaired, word_of
from metrichub.judge.replies import Chosen, Graded, Items, Judgements, schema_of
from metrichub.judge.replies import Reply as AnyReply
from metrichub.models.loop import run
from tests.judge_stub import Asked, Fault, Reply, Stub, answer, completion, says
from tests.judge_toys import columns, judge, spec

REPLIES = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "judge_replies.toml").read_text("utf-8")
)["reply"]
PROMPT = Prompt("p", "Examine the text.")
TEXT = {"text": "A text."}


def ask(stub: Stub, kind: str) -> list[Any]:
    """What a judge makes of the server's replies to a question of this kind."""
    openai = judge(stub, cache=False)
    if kind == "grade":
        return [*run(openai.grade(PROMPT, TEXT, (1, 5)))[:2]]
    if kind == "items":
        return run(openai.extract(PROMPT, TEXT))
    if kind == "choice":
        choice = run(openai.choose(PROMPT, ["One.", "Two."], TEXT))
        return [{0: "A", 1: "B", None: "tie"}[choice.winner], choice.reason]
    words = ("yes", "no", "idk")
    result = run(openai.verify(PROMPT, ["One.", "Two."], TEXT, words))
    return [[verdict.verdict, verdict.reason] for verdict in result]


def sent(case: dict[str, Any]) -> Fault:
    message = json.loads(case.get("message", "{}")) or {"content": case.get("content")}
    return says(**message, finish_reason=case.get("finish", "stop"))


@pytest.mark.parametrize("case", REPLIES, ids=lambda case: f"{case['to']}-{str(case)[16:60]}")
def test_a_reply_is_read_as_it_was_meant_or_not_at_all(stub: Stub, case: dict[str, Any]) -> None:
    stub.faults, stub.always = [sent(case)], says("Sure!")
    if "reads" in case:
        assert ask(stub, case["to"]) == case["reads"]
        assert len(stub.asked) == 1
    else:
        with pytest.raises(JudgeError):
            ask(stub, case["to"])


def test_the_table_has_enough_of_both() -> None:
    read = sum("reads" in case for case in REPLIES)
    assert read >= 49
    assert len(REPLIES) - read >= 30


WHOLE: list[tuple[type[AnyReply], dict[str, Any], dict[str, Any]]] = [
    (Graded, {"scale": (1, 5)}, {"reason": 'It\'s {a} "4", or\n[b].', "score": 4}),
    (Graded, {"scale": (0, 10)}, {"score": 10, "reason": "Ten: it has no fault."}),
    (Chosen, {"words": ("A", "B", "tie")}, {"reason": "B, as A errs", "winner": "A"}),
    (Items, {"most": 9}, {"items": ["One.", "It's two: {x}", "Three, and more"]}),
    (
        Judgements,
        {"words": ("yes", "no", "idk"), "indices": (0, 1, 2)},
        {
            "verdicts": [
                {"index": i, "reason": f"so {i}", "verdict": word}
                for i, word in enumerate(("yes", "no", "idk"))
            ]
        },
    ),
]


@pytest.mark.parametrize("write", [json.dumps, repr, lambda reply: json.dumps(json.dumps(reply))])
@pytest.mark.parametrize(
    ("kind", "of", "reply"), WHOLE, ids=lambda part: getattr(part, "__name__", "")
)
def test_no_part_of_a_reply_says_anything_else(
    kind: type[AnyReply], of: dict[str, Any], reply: dict[str, Any], write: Callable[[object], str]
) -> None:
    text, schema = write(reply), schema_of(kind, **of)
    ends = [end for end in range(len(text)) if repaired(text[:end], schema)]
    for end in [*ends, len(text)]:
        assert json.loads(repaired(text[:end], schema) or "") == reply
    # What lacks are brackets, at most.
    assert all(not text[end:].strip("]}\"\\' ") for end in ends)


@pytest.mark.parametrize(
    ("message", "words", "meant"),
    [
        # What is around a word may be part of it, and other words may be the ones asked for.
        ("n/a.", ("n/a.", "no"), "n/a."),
        ("(B)", ("(A)", "(B)"), "(B)"),
        (True, ("true", "false"), "true"),
        ("true", ("contradicted", "compatible"), None),
        ("no", ("needed", "needless"), None),
        ("", ("yes", "no"), None),
        (None, ("none", "some"), None),
        (1, ("1", "2"), None),
    ],
)
def test_a_word_means_one_of_those_asked_for(
    message: object, words: tuple[str, ...], meant: str | None
) -> None:
    assert word_of(message, words) == meant


# Through whole runs.

SLIP = "{'reason': 'It says so.', 'score': 4}"
NOTE = "repaired: a reply that wasn't quite the JSON that was asked for"


def in_python(asked: Asked) -> Reply:
    """The stub's answer as Python writes it."""
    return completion(repr(answer(asked)))


def elsewhere(asked: Asked) -> Reply:
    """The stub's answer as a server gives it that takes it for thoughts."""
    return completion(None, reasoning_content=json.dumps(answer(asked)))


def in_a_call(asked: Asked) -> Reply:
    function = {"name": "reply", "arguments": json.dumps(answer(asked))}
    return completion(None, tool_calls=[{"id": "1", "type": "function", "function": function}])


@pytest.mark.parametrize("fault", [in_python, elsewhere, in_a_call])
def test_repaired_replies_give_the_scores_of_sound_ones_and_are_counted(
    stub: Stub, tmp_path: Path, fault: Fault
) -> None:
    metrics = ["faithfulness", "rubric", "exact_match"]
    texts = {**columns(3), "references": ["x"] * 3}
    sound = Hub(metrics, judge=spec(stub, cache=False)).evaluate(**texts)
    assert not any(NOTE in note for notes in sound.notes().values() for note in notes)
    stub.always = fault
    hub = Hub(metrics, judge=spec(stub))
    report = hub.evaluate(**texts)
    assert report.scores() == sound.scores()
    assert report.counts() == sound.counts()
    assert report.usage.calls == sound.usage.calls
    report.save(tmp_path / "report.json")
    stub.always = says("Sure!")
    # Kept replies are known as repaired, too.
    again = hub.evaluate(**texts)
    assert again.usage.calls == 0
    halves = [
        {name: column[part] for name, column in texts.items()} for part in (slice(2), slice(2, 3))
    ]
    merged = hub.evaluate(**halves[0]).merge(hub.evaluate(**halves[1]))
    for result in (report, again, merged, Report.load(tmp_path / "report.json"), report.pool()):
        # Of each sample the claims and the verdicts on them, and one grade.
        assert f"6 {NOTE}" in result.notes()["faithfulness"]
        assert f"3 {NOTE}" in result.notes()["rubric"]
        assert "exact_match" not in result.notes() or NOTE not in str(result.notes()["exact_match"])
    assert f"2 {NOTE}" in report.take([1]).notes()["faithfulness"]
    assert report.explain("rubric", 0).steps[0]["cut"] == [NOTE]


def test_a_word_that_is_repaired_counts_too(stub: Stub) -> None:
    def bold(asked: Asked) -> Reply:
        return completion(json.dumps(answer(asked)).replace('"yes"', '"**Yes**"'))

    stub.always = bold
    report = Hub("faithfulness", judge=spec(stub, cache=False)).evaluate(**columns(2))
    assert report.scores()["faithfulness"]["score"] == 0.5
    assert f"2 {NOTE}" in report.notes()["faithfulness"]
    assert report.usage.calls == 4


def test_prometheus_models_grade_in_their_own_form(stub: Stub) -> None:
    stub.always = says("Feedback: It names its source, but not the page. [RESULT] 4")
    report = Hub("rubric", judge=spec(stub, form="text")).evaluate(predictions=["By Ann."])
    # 4 on the scale from 1 to 5.
    assert report.scores()["rubric"] == {"score": 0.75, "grade": 4.0}
    assert "It names its source, but not the page." in str(report.explain("rubric", 0))
    assert len(stub.asked) == 1


def test_probabilities_belong_to_the_reply_as_it_came(stub: Stub) -> None:
    stub.faults = [says(SLIP)]
    stub.always = says("Sure!")
    report = Hub("rubric(weighting='logprobs')", judge=spec(stub)).evaluate(predictions=["A."])
    assert report.failed == 1
    assert len(stub.asked) == 2


@pytest.mark.parametrize("content", ["{" * 50_000, '{"' * 20_000, "[" * 50_000, '"{' * 20_000])
def test_what_is_all_brackets_is_given_up(content: str) -> None:
    schema = schema_of(Graded, scale=(1, 5))
    assert repaired(content, schema) is None
