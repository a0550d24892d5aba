"""Policy compliance: passages that comply, texts that violate, and what a policy refers to."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from metrichub.data.columns import column_of
from metrichub.errors import MissingColumn
from metrichub.testing import Scripted
from tests.judge_stub import Stub
from tests.judge_toys import Ruling, spec
from tests.vectors import scripted, vectors

NAME = "policy_compliance"
NEEDS = {
    "misuse": "domain",
    "non_advice": "advice_types",
    "role_violation": "role",
    "prompt_leakage": "system_prompt",
}


def guard() -> Ruling:
    """A judge to which sentences are passages, and those with the word "bad" violate."""
    sentences = lambda fields: [part.strip() for part in fields["text"].split(".") if part.strip()]
    return Ruling({"passages": sentences}, rule=lambda passage, _: "bad" in passage)


def scores(text: str, **parameters: Any) -> Any:
    return Hub(load_metric(NAME, judge=guard(), **parameters))(predictions=[text])[NAME]


@pytest.mark.parametrize(
    ("row", "preset"),
    [
        (row.values[0], preset)
        for preset in ("misuse", "non_advice", "role_violation")
        for row in vectors(preset)
    ],
)
def test_scores_are_those_of_deepeval(row: dict[str, Any], preset: str) -> None:
    passages, words = scripted(row)
    script = {"passages": passages, "violates": words}
    (value,) = row["params"].values()
    value = value if isinstance(value, str) else ", ".join(value)
    metric = load_metric(f"{NAME}({preset})", value=value, judge=Scripted(script))
    scores = Hub(metric)(predictions=[row["inputs"]["actual_output"]])[NAME]
    # One of its passages violates in each of them.
    assert scores == {"score": row["expected"]["score"], "violated": 1}


def test_one_violation_makes_a_strict_score_zero() -> None:
    text = "good. bad. good. good"
    assert scores(text) == {"score": 3 / 4, "violated": 1}
    assert scores(text, strict=True) == {"score": 0, "violated": 1}
    assert scores("good. good", strict=True) == {"score": 1, "violated": 0}


def test_a_corpus_is_the_mean_of_its_texts_and_the_share_with_a_violation() -> None:
    hub = Hub(load_metric(NAME, judge=guard()))
    # (1/2 + 1 + 1) / 3, where pooled passages would give 4/5.
    scores = hub(predictions=["bad. good", "good", "good. good"])[NAME]
    assert scores == {"score": pytest.approx(5 / 6), "violated": pytest.approx(1 / 3)}


def test_a_text_without_passages_is_one() -> None:
    hub = Hub(load_metric(NAME, judge=Scripted({"passages": [], "violates": ["yes"]})))
    report = hub.evaluate(predictions=["!!!"])
    assert report.scores()[NAME] == {"score": 0, "violated": 1}
    assert report.explain(NAME, 0).steps[0]["passages"][0]["item"] == "!!!"


@pytest.mark.parametrize(("preset", "needs"), NEEDS.items())
def test_what_a_preset_needs_is_a_parameter_or_a_column(preset: str, needs: str) -> None:
    judge = guard()
    metric: Any = load_metric(f"{NAME}({preset})", judge=judge)
    assert metric.inputs() == ("prediction", needs)
    assert f'the field "{needs}"' in metric.policy
    column = column_of(needs)
    with pytest.raises(MissingColumn, match=column):
        Hub(metric)(predictions=["a"])
    Hub(metric)(predictions=["a"], **{column: ["this"]})
    Hub(load_metric(f"{NAME}({preset})", value="this", judge=judge))(predictions=["a"])
    for allowed, (items, fields) in zip((True, False), judge.asked, strict=True):
        # A column that is named in the plural holds lists.
        this = ["this"] if allowed and needs.endswith("s") else "this"
        assert (items, fields) == (["a"], {"text": "a", needs: this})
    assert all(metric.policy in prompt.text for prompt in judge.prompts)


def test_only_role_violation_is_strict() -> None:
    strict = {preset: load_metric(f"{NAME}({preset})").label() for preset in NEEDS}
    assert [name for name, label in strict.items() if "strict=True" in label] == ["role_violation"]


def test_a_policy_may_refer_to_a_list() -> None:
    judge = guard()
    policy = 'It names one of the field "rivals".'
    hub = Hub(load_metric(NAME, judge=judge, policy=policy, needs="rivals"))
    hub(predictions=["a"], rivals=[["Acme", "Umbrella"]])
    assert judge.asked[0][1]["rivals"] == ["Acme", "Umbrella"]


def test_two_policies_share_the_passages(stub: Stub) -> None:
    misuse = load_metric(f"{NAME}(misuse)", name="misuse", value="banking", judge=spec(stub))
    leaks = load_metric(f"{NAME}(prompt_leakage)", name="leaks", value="Be nice.", judge=spec(stub))
    Hub([misuse, leaks])(predictions=["It rains."])
    assert len(stub.asked) == 3
    # A system prompt is data, and no instruction to the judge; the policy is one.
    assert not any("Be nice." in asked.system for asked in stub.asked)
    assert any("gives away instructions" in asked.system for asked in stub.asked)


@settings(max_examples=30)
@given(st.lists(st.sampled_from(["bad", "good"]), min_size=1, max_size=8), st.booleans())
def test_a_harmless_passage_never_lowers_the_score(passages: list[str], strict: bool) -> None:
    first, more = (scores(". ".join(p), strict=strict) for p in (passages, [*passages, "good"]))
    assert more["score"] >= first["score"]
    assert more["violated"] == first["violated"] == int("bad" in passages)
    assert (first["score"] == 1) == (not first["violated"])
