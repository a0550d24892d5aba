"""Per turn: a metric over the exchanges of a conversation; deepeval's values."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from metrichub import Hub, OpenAIJudge, Report, load_metric
from metrichub.errors import (
    JudgeUnavailable,
    ParameterError,
    SpecError,
)
from metrichub.judge.protocol import Fields
from metrichub.testing import Scripted
from tests.vectors import vectors

NAME = "per_turn"


def _user(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def _assistant(text: str, *contexts: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "contexts": list(contexts), **more}


TALK = [
    _user("When?"),
    _assistant("In 1932.", "Built in 1932."),
    _user("Cost?"),
    _assistant("Two million.", "It cost one."),
]


def _supported(fields: Fields) -> list[str]:
    """A judge that supports a claim if the evidence names 1932."""
    return ["yes" if any("1932" in text for text in fields["evidence"]) else "no"]


JUDGE = Scripted({"claims": lambda fields: [fields["text"]], "supported": _supported})


def evaluated(messages: Any, judge: Any = JUDGE, **parameters: Any) -> Report:
    return Hub(load_metric(NAME, **parameters), judge=judge).evaluate(messages=[messages])


def script(vector: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Our metric for one of deepeval, and the answers that its model gave as our judge's."""
    scripted, kind = vector["scripted"], vector["metric"]
    place = 0

    def asked(key: str, number: int | None = None) -> list[str]:
        """The verdicts of the next call; the contexts of the first exchange come first."""
        words = {"yes": "yes", "no": "no", "borderline": "idk"}
        call = scripted[key][place if number is None else number]
        return [words[verdict["verdict"]] for verdict in call["verdicts"]]

    first = "Built in 1932."
    if kind == "turn_faithfulness":
        claims = {text["claims"][0]: text["claims"] for text in scripted["Claims"]}

        def claims_of(fields: Fields) -> list[str]:
            return next(
                claim for start, claim in claims.items() if str(fields["text"]).startswith(start)
            )

        def supported(fields: Fields) -> list[str]:
            return asked("Verdicts", 0 if first in fields["evidence"] else 1)

        return "faithfulness(idk=1)", {"claims": claims_of, "supported": supported}
    if kind == "turn_contextual_precision":
        numbers = iter((0, 1))
        return "context_precision", {"useful": lambda _: asked("Verdicts", next(numbers))}
    if kind == "turn_contextual_recall":
        # The reference has the same two claims for both exchanges; deepeval's judge gave one
        # verdict on it in the second, "no".
        supports = lambda f: asked("Verdicts", 0 if first in f["evidence"] else 1)
        return "context_recall", {"claims": ["In 1932.", "Two million."], "supported": supports}
    statements = {first: ["a", "b"], "Fish.": ["c"], "It cost one million.": ["d"]}
    verdicts = [v for call in scripted["ContextualRelevancyVerdicts"] for v in call["verdicts"]]
    words = {verdict["statement"]: verdict["verdict"] for verdict in verdicts}
    queue: list[str] = []

    def listed(fields: Fields) -> list[str]:
        queue.append(str(fields["text"]))
        return statements[str(fields["text"])]

    def relevant(_: Fields) -> list[str]:
        return [words[statement] for statement in statements[queue.pop(0)]]

    return "contextual_relevancy", {"claims": listed, "relevant": relevant}


@pytest.mark.parametrize(
    "vector",
    vectors(
        "turn_faithfulness",
        "turn_contextual_precision",
        "turn_contextual_recall",
        "turn_contextual_relevancy",
    ),
)
def test_the_scores_are_deepeval_s_for_the_same_verdicts(vector: dict[str, Any]) -> None:
    spec, answers = script(vector)
    options = {"metric": spec, "window": vector["params"]["window_size"]}
    hub = Hub(load_metric(NAME, **options), judge=Scripted(answers))
    score = hub([vector["inputs"]])[NAME]["score"]
    assert score == pytest.approx(vector["expected"]["score"])


def test_the_score_is_the_mean_over_exchanges_and_then_over_conversations() -> None:
    hub = Hub("per_turn(faithfulness)", judge=JUDGE)
    report = hub.evaluate(messages=[TALK, TALK[:2], TALK[:2]])
    # (1 + 0) / 2, 1 and 1; pooled exchanges would give 3 of 4.
    assert report.samples()[NAME]["score"].tolist() == [0.5, 1, 1]
    assert report.scores()[NAME]["score"] == pytest.approx(2.5 / 3)


def test_exchanges_without_contexts_or_claims_do_not_count() -> None:
    judge = Scripted({"claims": lambda f: [f["text"]] if "19" in f["text"] else [], **_SUPPORTED})
    greeting = [_user("Hi"), _assistant("Hello.", "Some passage.")]
    bare = [_user("Sure?"), _assistant("In 1933.")]
    report = evaluated([*greeting, *TALK[:2], *bare], judge)
    assert report.scores()[NAME]["score"] == 1
    first, second = report.explain(NAME, 0).steps[0].items()
    assert first == ("exchange_1", {"score": None, "unscored": "the answer makes no claim"})
    assert (second[0], second[1]["score"]) == ("exchange_2", 1)


_SUPPORTED = {"supported": _supported}


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([_user("Hi")], "nobody answers the user"),
        ([_user("Hi"), _assistant("Hello.")], "there is no context"),
        ([_user("Hi"), _assistant("Hm.", "A passage.")], "the answer makes no claim"),
    ],
)
def test_a_conversation_without_a_scored_exchange_is_undefined_or_empty(
    messages: Any, reason: str
) -> None:
    judge = Scripted({"claims": []})
    report = evaluated(messages, judge)
    status = "unscored" if "context" in reason else "unanswered"
    assert report.explain(NAME, 0)[:2] == (status, reason)
    assert evaluated(messages, judge, empty=1).scores()[NAME]["score"] == 1


def _seen(messages: Any, **parameters: Any) -> list[tuple[str, list[str]]]:
    """The answer and the contexts of each exchange, as the judge of faithfulness sees them."""
    texts: list[str] = []
    evidence: list[list[str]] = []

    def claims(fields: Fields) -> list[str]:
        texts.append(str(fields["text"]))
        return ["a"]

    def supported(fields: Fields) -> list[str]:
        evidence.append(list(fields["evidence"]))
        return ["yes"]

    evaluated(messages, Scripted({"claims": claims, "supported": supported}), **parameters)
    return list(zip(texts, evidence, strict=True))


def test_a_window_joins_an_exchange_with_those_before_it() -> None:
    both = ("In 1932.\nTwo million.", ["Built in 1932.", "It cost one."])
    assert _seen(TALK, window=1) == [("In 1932.", ["Built in 1932."]), (both[0][9:], both[1][1:])]
    assert _seen(TALK, window=2) == [("In 1932.", ["Built in 1932."]), both]


CALLING = [
    _user("When?"),
    _assistant("I'll look.", tool_calls=[{"name": "look_up", "args": {}}]),
    {"role": "tool", "content": "Built in 1932."},
    _assistant("In 1932.", "Another passage."),
    _user("Thanks!", contexts=["not of this exchange"]),
]


@pytest.mark.parametrize(
    ("tool_texts", "contexts"),
    [(True, ["Another passage.", "Built in 1932."]), (False, ["Another passage."])],
)
def test_what_tools_return_are_contexts_unless_left_out(
    tool_texts: bool, contexts: list[str]
) -> None:
    assert _seen(CALLING, tool_texts=tool_texts) == [("I'll look.\nIn 1932.", contexts)]


def test_what_an_exchange_lacks_is_a_column_of_the_conversation() -> None:
    metric = load_metric("per_turn(context_recall)", judge=JUDGE)
    assert metric.inputs() == ("messages", "reference")
    assert Hub(metric)(messages=[TALK], expected_outcome=["1932."])[NAME]["score"] == 0.5


def test_a_metric_without_a_judge_needs_none() -> None:
    hub = Hub(load_metric(NAME, metric="regex_match(pattern='.*[0-9]+.*')"))
    assert hub(messages=[TALK]) == {NAME: {"score": 0.5}}


def test_the_score_has_the_direction_of_the_metric() -> None:
    metric = load_metric(NAME, metric="hallucination", judge=JUDGE)
    assert metric.card.better("score") == "lower"
    assert Hub(metric)(messages=[TALK])[NAME]["score"] == 0.5


def test_the_metric_has_the_judge_the_language_and_the_prompts() -> None:
    metric: Any = load_metric(NAME, metric="context_precision", judge=JUDGE, language="zh")
    assert (metric.inner.judge, metric.inner.language) == (JUDGE, "zh")
    english: Any = load_metric("context_precision", judge=JUDGE)
    assert metric.prompt("useful") == metric.inner.prompt("useful") != english.prompt("useful")
    per_turn: Any = load_metric(NAME, metric="faithfulness(judge='offline')", judge=JUDGE)
    assert per_turn.inner.judge == "offline"


def test_a_judge_in_the_spec_is_enough() -> None:
    hub = Hub(load_metric(NAME, metric="faithfulness(judge='offline')"))
    assert (hub.metrics[0].judge, hub(messages=[TALK])[NAME].keys()) == ("offline", {"score"})


def test_a_spec_with_secrets_is_refused() -> None:
    for spec in ("faithfulness(judge={})", "semantic_similarity(embedder={})"):
        model = "openai(model='m', extra_headers={'X-Key': 'sk-canary'})"
        with pytest.raises(SpecError) as caught:
            load_metric(NAME, metric=spec.format(json.dumps(model)))
        assert "every report shows metric=…; pass the judge" in str(caught.value)
    judge = OpenAIJudge(model="m", extra_headers={"X-Key": "sk-canary"})
    assert "sk-canary" not in repr(load_metric(NAME, judge=judge))


def test_signatures_hold_the_metric_s_parameters_definition_and_prompts() -> None:
    model = "openai(model='m', base_url='http://127.0.0.1:1/v1')"
    signatures = [
        Hub(load_metric(NAME, metric=spec), judge=model).evaluate(messages=[]).signatures()[NAME]
        for spec in ("faithfulness", "faithfulness(idk=1)")
    ]
    assert "idk=1" in signatures[1]
    assert "definition:2" in signatures[0].partition("window=1")[0]
    assert signatures[0] != signatures[1]
    assert "prompts:" in signatures[0]


def test_a_judge_that_cannot_answer_is_refused_when_the_hub_is_made() -> None:
    with pytest.raises(JudgeUnavailable, match="per_turn"):
        Hub("per_turn(context_recall)")


@pytest.mark.parametrize(
    ("spec", "allowed"),
    [
        ("bleu", "one sample at a time"),
        ("distinct", "one sample at a time"),
        ("role_adherence", "one question, one prediction or the contexts"),
        ("answer_relevancy", "a spec with an embedder"),
        ("exact_match(extract='boxed')", "one sample at a time"),
    ],
)
def test_an_error_says_which_metrics_can_be_used(spec: str, allowed: str) -> None:
    with pytest.raises(ParameterError, match=allowed):
        load_metric(NAME, metric=spec, judge=JUDGE)
