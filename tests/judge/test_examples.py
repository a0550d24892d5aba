"""Few-shot examples beside a prompt: how they are sent, signed, estimated and refused."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import metric_cards
from metrichub import Hub, load_metric
from metrichub.errors import MetricError, ParameterError
from metrichub.judge.prompt_files import SHARED_PROMPTS, Prompt
from metrichub.models.usage import tokens_in
from tests.judge_stub import Stub, says
from tests.judge_toys import columns, spec

CLAIMS = {"fields": {"text": "Ann, a nurse, sings."}, "reply": {"items": ["Ann is a nurse."]}}
SUPPORTED = {
    "fields": {"evidence": ["Ann sings."], "items": [{"index": 0, "text": "Ann sings."}]},
    "reply": {"verdicts": [{"index": 0, "reason": "'sings'", "verdict": "yes"}]},
}
CARDS = Path(metric_cards.__file__).parent
SHIPPED = sorted(
    path for home in (SHARED_PROMPTS, CARDS) for path in home.rglob("*.examples.jsonl")
)
_NAME_OR_NUMBER = re.compile(r"(?<!^)\b(?:[A-Z]\w+|\d+)")


def write(folder: Path, name: str, *examples: object) -> None:
    lines = [json.dumps(example, ensure_ascii=False) for example in examples]
    (folder / f"{name}.examples.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def refused(folder: Path, line: str, match: str) -> None:
    (folder / "claims.examples.jsonl").write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(MetricError, match=match) as caught:
        load_metric("faithfulness", prompts=str(folder))
    assert "claims.examples.jsonl, line 2: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_examples_are_sent_as_exchanges_before_the_data(stub: Stub, tmp_path: Path) -> None:
    other = {"fields": {"text": "Hi!"}, "reply": {"items": []}}
    write(tmp_path, "claims", CLAIMS, other)
    hub = Hub(load_metric("faithfulness", prompts=str(tmp_path)), judge=spec(stub))
    hub.evaluate(**columns(1))
    system, *shown, data = stub.asked[0].body["messages"]
    assert [message["role"] for message in shown] == ["user", "assistant"] * 2
    sent = [json.loads(message["content"]) for message in shown]
    assert sent == [CLAIMS["fields"], CLAIMS["reply"], other["fields"], other["reply"]]
    assert json.loads(data["content"]) == {"text": columns(1)["predictions"][0]}
    assert system["content"].startswith("List every claim")
    assert "Before it stand examples" in system["content"]


@pytest.mark.parametrize(
    ("metric", "name", "example"),
    [
        ("faithfulness", "supported", SUPPORTED),
        (
            "coherence(weighting='none')",
            "coherence",
            {
                "fields": {"prediction": "A.", "source": "B."},
                "reply": {"reason": "It is one.", "score": 5},
            },
        ),
        (
            "pairwise",
            "better",
            {
                "fields": {"question": "Is it?", "candidates": {"A": "Yes.", "B": "No."}},
                "reply": {"reason": "It is right.", "winner": "A"},
            },
        ),
    ],
)
def test_every_question_takes_examples(
    stub: Stub, tmp_path: Path, metric: str, name: str, example: dict[str, Any]
) -> None:
    write(tmp_path, name, example)
    hub = Hub(load_metric(metric, prompts=str(tmp_path)), judge=spec(stub))
    texts = {"sources": ["A text."], "references": ["Another."], "questions": ["Which?"]}
    hub.evaluate(**{**texts, **columns(1)})
    replies = [
        json.loads(message["content"])
        for asked in stub.asked
        for message in asked.body["messages"]
        if message["role"] == "assistant"
    ]
    assert example["reply"] in replies


def test_a_reply_of_no_use_follows_the_data_and_not_an_example(stub: Stub, tmp_path: Path) -> None:
    write(tmp_path, "claims", CLAIMS)
    stub.faults = [says("no JSON")]
    hub = Hub(load_metric("faithfulness", prompts=str(tmp_path)), judge=spec(stub))
    hub.evaluate(**columns(1))
    roles = [message["role"] for message in stub.asked[1].body["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    assert stub.asked[1].body["messages"][4]["content"] == "no JSON"


def test_examples_stand_beside_a_prompt_of_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "claims.md").write_text("Liste auf.", encoding="utf-8")
    metric: Any = load_metric("faithfulness", prompts=str(tmp_path))
    assert metric.prompt("claims").examples == ()
    write(tmp_path, "claims", CLAIMS)
    (shown,) = metric.prompt("claims").examples
    assert (json.loads(shown.data), json.loads(shown.reply)) == tuple(CLAIMS.values())
    assert metric.prompt("claims").text == "Liste auf."


def test_examples_are_hashed_into_the_signature(tmp_path: Path) -> None:
    before = load_metric("faithfulness", judge="offline").label()
    write(tmp_path, "claims", CLAIMS)
    metric: Any = load_metric("faithfulness", judge="offline", prompts=str(tmp_path))
    first = metric.label()
    assert f"claims:{metric.prompt('claims').sha}" in first
    assert "supported:" not in first
    write(tmp_path, "claims", CLAIMS, CLAIMS)
    assert len({before, first, metric.label()}) == 3


def test_a_prompt_without_examples_has_the_hash_of_its_text() -> None:
    # printf 'List the claims.' | sha256sum
    assert Prompt("claims", "List the claims.").sha == "6f535eba9c0d88a6"


def test_estimates_count_examples(stub: Stub, tmp_path: Path) -> None:
    write(tmp_path, "claims", CLAIMS)
    hub = Hub(load_metric("faithfulness", prompts=str(tmp_path)), judge=spec(stub))
    estimate = hub.estimate(**columns(1))
    hub.evaluate(**columns(1))
    sent = [[asked.body["messages"], asked.schema] for asked in stub.asked]
    assert estimate.prompt_tokens == sum(map(tokens_in, sent))


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("{", "no JSON object"),
        ("[1]", "with no other keys"),
        ('{"fields": {"text": "a"}}', "with no other keys"),
        ('{"fields": {}, "reply": {"items": []}}', "at least one field"),
        ('{"fields": {"text": "a"}, "reply": ["a"]}', "`reply` has to be an object"),
        ('{"fields": {"text": "a"}, "reply": {"claims": []}}', "`reply` has to be an object"),
        ('{"fields": {"text": "a"}, "reply": {"items": [1]}}', "list of strings"),
        ('{"fields": {"text": "a"}, "reply": {"verdicts": [1]}}', "index, reason and verdict"),
        ('{"fields": {"text": "a"}, "reply": {"verdicts": []}}', "`fields` needs `items`"),
        (
            '{"fields": {"items": [{"index": 0, "text": "a"}]}, "reply": {"verdicts": []}}',
            "one verdict for each",
        ),
        ('{"fields": {"a": "b"}, "reply": {"reason": 1, "score": 1}}', "`reason`"),
        ('{"fields": {"a": "b"}, "reply": {"reason": "", "score": 1.5}}', "whole number"),
        ('{"fields": {"a": "b"}, "reply": {"reason": "", "winner": "C"}}', "A, B or tie"),
    ],
)
def test_a_line_that_is_no_example_is_refused_when_the_metric_is_made(
    tmp_path: Path, line: str, match: str
) -> None:
    refused(tmp_path, line, match)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "claims.examples.jsonl").write_bytes(b"\xff")
    with pytest.raises(MetricError, match="it isn't UTF-8"):
        load_metric("faithfulness", prompts=str(tmp_path))


def test_examples_that_reply_to_another_question_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "claims", SUPPORTED)
    with pytest.raises(ParameterError, match="claims that reply to 'extract', not to 'verify'"):
        load_metric("faithfulness", prompts=str(tmp_path))


def test_examples_of_a_prompt_that_the_metric_does_not_ask_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "clams", CLAIMS)
    with pytest.raises(ParameterError, match="it has: clams"):
        load_metric("faithfulness", prompts=str(tmp_path))


# The hub's own.


def test_claims_and_questions_come_with_an_example() -> None:
    paths = {path.relative_to(path.parents[2]).as_posix() for path in SHIPPED}
    assert {
        "judge/prompts/claims.examples.jsonl",
        "answer_relevancy/prompts/questions.examples.jsonl",
        "summarization/prompts/questions.examples.jsonl",
        "summarization_score/prompts/questions.examples.jsonl",
    } <= paths


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parents[1].name}/{path.name}")
def test_an_example_lists_texts_that_differ_and_invents_no_name_or_number(path: Path) -> None:
    prompt = path.with_name(path.name.replace(".examples.jsonl", ".md"))
    examples = Prompt.read(prompt).examples
    assert examples
    for shown in examples:
        reply, data = json.loads(shown.reply), json.loads(shown.data)
        if "verdicts" in reply:
            asked = [item["index"] for item in data["items"]]
            assert [verdict["index"] for verdict in reply["verdicts"]] == asked
            continue
        items = reply["items"]
        assert len(items) == len(set(items)) > 0
        assert not [
            word
            for item in items
            for word in _NAME_OR_NUMBER.findall(item)
            if word not in shown.data
        ]


@pytest.mark.parametrize(
    ("fields", "verdict", "message"),
    [
        ({"contexts": ["a"]}, "yes", "with the fields evidence (one has: contexts)"),
        ({"evidence": ["a"]}, "maybe", "with the verdicts yes, no, idk (one has: maybe)"),
    ],
)
def test_examples_of_other_fields_or_words_are_refused_before_anything_is_sent(
    stub: Stub, tmp_path: Path, fields: dict[str, Any], verdict: str, message: str
) -> None:
    items = {"items": [{"index": 0, "text": "A."}]}
    reply = {"verdicts": [{"index": 0, "reason": "said", "verdict": verdict}]}
    write(tmp_path, "supported", {"fields": fields | items, "reply": reply})
    hub = Hub(load_metric("faithfulness", prompts=str(tmp_path)), judge=spec(stub))
    with pytest.raises(ParameterError, match=re.escape(message)):
        hub.evaluate(**columns(1))
    assert not any("verdicts" in json.dumps(asked.body) for asked in stub.asked)
