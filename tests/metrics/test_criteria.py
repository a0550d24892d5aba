"""Criteria: points met over positive points; HealthBench's values."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.errors import InputError, ParameterError
from metrichub.testing import Scripted
from tests.judge_toys import Ruling
from tests.vectors import vectors

NAME = "criteria"


def rule() -> Ruling:
    """A judge to which what says "do" is met."""
    return Ruling({}, rule=lambda item, _: "do" in item)


def evaluated(criteria: Any, judge: Scripted | None = None, **parameters: Any) -> Report:
    hub = Hub(load_metric(NAME, judge=judge or rule(), **parameters))
    return hub.evaluate(predictions=["A reply."] * len(criteria), criteria=criteria)


@pytest.mark.parametrize("vector", vectors("weighted_criteria"))
def test_a_sample_has_the_score_that_healthbench_computes(vector: dict[str, Any]) -> None:
    words = ["yes" if met else "no" for met in vector["scripted"]["criteria_met"]]
    report = evaluated([vector["inputs"]["rubrics"]], Scripted({"met": words}))
    expected = vector["expected"]["score"]
    (score,) = report.samples()[NAME]["score"]
    assert score == pytest.approx(math.nan if expected is None else expected, nan_ok=True)


@pytest.mark.parametrize("vector", vectors("weighted_criteria.corpus"))
def test_only_the_mean_is_clipped_as_in_healthbench(vector: dict[str, Any]) -> None:
    # A criterion worth 1 point that is missed, and one that is met and brings the value.
    values = vector["inputs"]["values"]
    criteria = [[{"criterion": "a", "points": 1}, {"criterion": "do", "points": v}] for v in values]
    # A positive value counts in the denominator too: v / (1 + v) of v' = v / (1 - v) is v.
    for criterion, value in zip(criteria, values, strict=True):
        criterion[1]["points"] = value / (1 - value) if 0 < value < 1 else value
        if value == 1:
            criterion[0]["criterion"] = "do this"
    report = evaluated(criteria)
    assert report.samples()[NAME]["score"] == pytest.approx(values)
    assert report.scores()[NAME]["score"] == pytest.approx(vector["expected"]["mean"])


def test_an_interval_is_that_of_the_clipped_mean() -> None:
    # Of 20 samples, 8 have 1 and 12 have 1 - 2: the mean is -0.2, and that of few resamples is > 0.
    criteria = ["do a", {"criterion": "do not", "points": -2}]
    report = evaluated([["do a"]] * 8 + [criteria] * 12)
    score, interval = report.scores()[NAME]["score"], report.intervals()[NAME]["score"]
    assert (score, interval.low) == (0, 0)
    assert 0 < interval.high < 0.5


def test_a_clipped_mean_is_named_in_a_note() -> None:
    # 1 - 4 = -3 of the one point, and 1: the mean is -1.
    criteria = ["do a", {"criterion": "do not", "points": -4}]
    note = evaluated([criteria, ["do a"]]).notes()[NAME][-1]
    assert note.startswith("the mean of the samples is -1, which is clipped to 0; systems")
    assert "clipped" not in str(evaluated([["do a"]]).notes())


def test_texts_are_worth_one_point_each() -> None:
    # 2 of 3; not all of them.
    report = evaluated([["do a", "do b", "miss c"]])
    two_thirds = pytest.approx(2 / 3)
    assert report.scores()[NAME] == {"score": two_thirds, "met": two_thirds, "all_met": 0}


def test_all_is_met_if_no_mistake_is_made() -> None:
    mistake = {"criterion": "miss: insults", "points": -1}
    item = {"criterion": "do: insults", "points": -1}
    report = evaluated([["do a", mistake], ["do a", item], ["do a", {**item, "points": 0}]])
    assert report.samples()[NAME]["all_met"].tolist() == [1, 0, 1]
    # (1 of 2 + 2 of 2 + 2 of 2) / 3 criteria are met, mistakes among them.
    assert report.scores()[NAME]["met"] == pytest.approx(5 / 6)


SAFE = {"criterion": "do a", "points": 3, "tags": ["safety", "tone"]}
UNSAFE = {"criterion": "do not", "points": -6, "tags": "safety"}
TONE = {"criterion": "miss", "points": 1, "tags": ["tone"]}


def test_a_tag_has_the_score_of_its_own_criteria() -> None:
    report = evaluated([[SAFE, UNSAFE, TONE], [SAFE], [TONE]], tags=("safety", "tone"))
    samples = report.samples()[NAME]
    # Safety: (3 - 6) / 3, 3 / 3, none. Tone: 3 / 4, 3 / 3, 0 / 1.
    assert samples["tag_safety"].tolist() == pytest.approx([-1, 1, math.nan], nan_ok=True)
    assert samples["tag_tone"].tolist() == [0.75, 1, 0]
    scores = report.scores()[NAME]
    assert scores["tag_safety"] == 0
    assert scores["tag_tone"] == pytest.approx(1.75 / 3)
    assert report.explain(NAME, 0).steps[0]["tags"] == {"safety": -1, "tone": 0.75}
    (metric,) = Hub(load_metric(NAME, judge=rule(), tags=["safety"])).metrics
    assert metric.card.better("tag_safety") == "higher"
    assert metric.headline() == ("score", "all_met", "tag_safety")


def test_a_tag_that_no_sample_has_is_undefined() -> None:
    assert math.isnan(evaluated([["do a"]], tags=("safety",)).scores()[NAME]["tag_safety"])


def test_forty_criteria_take_one_question_and_each_takes_as_many() -> None:
    criteria = [[f"do {number}" for number in range(40)]]
    for each, number in ((False, 1), (True, 40)):
        judge = rule()
        report = evaluated(criteria, judge, each=each)
        assert len(judge.asked) == number
        steps = report.explain(NAME, 0).steps[0]["criteria"]
        assert [step["index"] for step in steps] == list(range(40))


def _shown(**columns: Any) -> list[tuple[str, str]]:
    judge = rule()
    Hub(load_metric(NAME, judge=judge)).evaluate(columns)
    ((_, fields),) = judge.asked
    messages = [json.loads(text) for text in fields["conversation"]]
    return [(message["role"], message.get("text", "")) for message in messages]


def test_the_judge_sees_the_question_and_the_prediction() -> None:
    shown = _shown(questions=["Why?"], predictions=["So."], checklist=[["do a"]])
    assert shown == [("user", "Why?"), ("assistant", "So.")]


def test_the_judge_sees_a_conversation() -> None:
    talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    shown = _shown(messages=[talk], criteria=[["do a"]])
    assert shown == [("user", "Hi"), ("assistant", "Hello.")]


def test_rows_of_healthbench_are_read_as_they_are() -> None:
    # Its rows have `prompt` and `rubrics`; whoever runs it adds the reply.
    prompt = [{"role": "user", "content": "My chest hurts."}]
    rubric = [{"criterion": "do call", "points": 7, "tags": ["level:example", "axis:safety"]}]
    shown = _shown(prompt=[prompt], rubrics=[rubric], completion=["Call 112."])
    assert shown == [("user", "My chest hurts."), ("assistant", "Call 112.")]


@pytest.mark.parametrize("prediction", ["", "A reply."])
def test_an_empty_reply_is_judged_like_any_other(prediction: str) -> None:
    hub = Hub(load_metric(NAME, judge=rule()))
    report = hub.evaluate(predictions=[prediction], criteria=[["do a"]])
    assert report.scores()[NAME]["score"] == 1


@pytest.mark.parametrize(
    ("criteria", "reason"),
    [
        ([], "there is no criterion"),
        ([" "], "there is no criterion"),
        ([{"criterion": "do", "points": -1}], "no criterion has positive points"),
    ],
)
def test_without_positive_points_there_is_no_score(criteria: Any, reason: str) -> None:
    report = evaluated([criteria, ["do a"]])
    assert report.scores()[NAME]["score"] == 1
    assert report.explain(NAME, 0)[:2] == ("unscored", reason)


def test_a_cell_may_hold_json_text() -> None:
    cell = json.dumps([{"criterion": "do a", "points": 3}, "miss"])
    assert evaluated([cell]).scores()[NAME]["score"] == 0.75


LISTED: list[Any] = ["miss", {"criterion": "do", "points": 3, "tags": ["x"]}]


def test_criteria_for_all_samples_come_from_a_list_a_text_or_a_file(tmp_path: Path) -> None:
    files = {"list.json": json.dumps(LISTED), "lines.txt": "miss\n" + json.dumps(LISTED[1])}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    sources = [LISTED, json.dumps(LISTED), *(str(tmp_path / name) for name in files)]
    metrics = [load_metric(NAME, criteria=source, judge=rule()) for source in sources]
    assert len({metric.label() for metric in metrics}) == 1
    # 3 of 1 + 3 points.
    assert Hub(metrics[0])(predictions=["So."])[NAME]["score"] == 0.75
    assert metrics[0].inputs() == ("messages",)


@pytest.mark.parametrize("criteria", [[], "nowhere.json", "[1]", [{"points": 1}], "[", " "])
def test_a_parameter_that_has_no_criteria_is_an_error(criteria: Any) -> None:
    with pytest.raises(ParameterError, match="criteria"):
        load_metric(NAME, criteria=criteria, judge=rule())


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        (3, "neither a text nor an object"),
        ({"text": "x"}, "'text' has no text as 'criterion'"),
        ({"score1_description": "bad"}, "are for the metric rubric"),
        ({"criterion": "x", "points": "3"}, "not a finite number"),
        ({"criterion": "x", "points": math.nan}, "not a finite number"),
        ({"criterion": "x", "tags": [1]}, "not a list of texts"),
        ("[1", "isn't a list of criteria"),
    ],
)
def test_an_error_says_what_is_no_criterion(item: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        evaluated([[item]])


@pytest.mark.parametrize(
    ("key", "problem"), [("point", "; did you mean 'points'"), ("weight", "criterion, points and")]
)
def test_an_unknown_key_of_a_criterion_is_an_error(key: str, problem: str) -> None:
    with pytest.raises(InputError, match=f"has no '{key}'.*{problem}"):
        evaluated([[{"criterion": "x", key: 3}]])


def test_a_column_that_is_null_is_no_key() -> None:
    # Rows of Arrow have the keys of all.
    evaluated([[{"criterion": "x", "id": None}]])


def test_a_tag_without_criteria_is_noted() -> None:
    hub = Hub(load_metric(NAME, judge=rule(), tags=["saftey", "safe"]))
    report = hub.evaluate(predictions=["a"], criteria=[[{"criterion": "x", "tags": ["safe"]}]])
    assert report.notes()[NAME][1:] == ["no criterion with positive points has the tag 'saftey'"]


def test_one_text_is_not_a_list_of_criteria() -> None:
    with pytest.raises(ParameterError, match=r"a list of criteria, such as \['Is polite.'\]"):
        load_metric(NAME, criteria="Is polite.", judge=rule())


def test_an_error_of_a_cell_says_of_which_sample() -> None:
    with pytest.raises(InputError, match=r"not a finite number, in sample 1$"):
        evaluated([["x"], [{"criterion": "x", "points": "3"}]])
