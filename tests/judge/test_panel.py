"""A panel of judges: how it decides, what fails, and what its signature and its report say."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.authoring import Choice, Grade, Prompt, Verdict
from metrichub.errors import JudgeError, JudgeUnavailable, MetricError, ParameterError
from metrichub.judge.panel import Panel, PanelVerdict
from metrichub.models.loop import run
from metrichub.testing import Scripted
from tests.judge_stub import KEY, Stub, failure, serving
from tests.judge_toys import columns, spec

By = Literal["majority", "mean"]
ASKED = Prompt("p", "Judge.")
SUPPORT = ("yes", "no", "idk")
SAMPLE: dict[str, Any] = {"predictions": ["It is old. It is red."], "contexts": [["It is old."]]}


def failing(fields: object) -> Any:
    raise JudgeError("no verdict")


def over(fields: object) -> Any:
    raise JudgeUnavailable("a wrong key")


def panel(*answers: Any, vote: By = "majority") -> Panel:
    """Judges a, b, c, …, each with one answer to the prompt."""
    judges = [
        Scripted({"p": answer}, label) for label, answer in zip("abcde", answers, strict=False)
    ]
    return Panel(judges=tuple(judges), vote=vote)


def verdict(*answers: Any, vote: By = "majority") -> PanelVerdict:
    """What judges decide on one item, each by one word or by fractions of words."""
    replies = [[reply] if isinstance(reply, (str, Mapping)) else reply for reply in answers]
    (result,) = run(panel(*replies, vote=vote).verify(ASKED, ["x"], {}, SUPPORT))
    assert isinstance(result, PanelVerdict)
    return result


def grade(*answers: Any, vote: By = "majority") -> Grade:
    return run(panel(*answers, vote=vote).grade(ASKED, {}, (1, 5)))


def choice(*answers: Any) -> Choice:
    return run(panel(*answers).choose(ASKED, ["x", "y"], {}))


# Verdicts.


@pytest.mark.parametrize(
    ("vote", "answers", "weights", "word"),
    [
        ("majority", ("no", "yes", "no"), {"no": 1}, "no"),
        # Tied words count in equal parts, and the less affirmative is shown.
        ("majority", ("yes", "no"), {"yes": 0.5, "no": 0.5}, "no"),
        ("majority", ({"yes": 0.4, "idk": 0.6}, "yes", "idk"), {"idk": 1}, "idk"),
        ("mean", ("yes", "no", "yes", "idk"), {"yes": 0.5, "no": 0.25, "idk": 0.25}, "yes"),
        # (0.5 + 1) / 2 and (0.5 + 0) / 2.
        ("mean", ({"yes": 0.5, "idk": 0.5}, "yes"), {"yes": 0.75, "idk": 0.25}, "yes"),
    ],
)
def test_votes_decide_on_words(
    vote: By, answers: tuple[Any, ...], weights: dict[str, float], word: str
) -> None:
    result = verdict(*answers, vote=vote)
    assert (result.weights, result.verdict) == (weights, word)


def test_a_tie_says_so() -> None:
    assert verdict("yes", "no").reason.startswith("yes 1, no 1, a tie")


def test_every_vote_is_kept_with_its_reason() -> None:
    votes = [tuple(vote) for vote in verdict("no", "yes", failing).votes]
    assert votes == [
        ("a", "no", "as scripted"),
        ("b", "yes", "as scripted"),
        ("c", None, "no verdict"),
    ]


def test_items_are_decided_one_by_one_in_their_order() -> None:
    asked = panel(["yes", "no"], ["yes", "no"], ["no", "no"])
    result = run(asked.verify(ASKED, ["x", "y"], {}, SUPPORT))
    assert [(verdict.index, verdict.item, verdict.verdict) for verdict in result] == [
        (0, "x", "yes"),
        (1, "y", "no"),
    ]


def test_the_first_judge_that_does_not_fail_extracts_for_all() -> None:
    assert run(panel(["x", "y"], failing).extract(ASKED, {}, 1)) == ["x"]
    assert run(panel(failing, failing, ["x"], ["y"]).extract(ASKED, {})) == ["x"]
    with pytest.raises(JudgeError, match=r"none of the panel's judges answered: no verdict; no ve"):
        run(panel(failing, failing).extract(ASKED, {}))
    with pytest.raises(JudgeUnavailable, match="a wrong key"):
        run(panel(over, ["x"]).extract(ASKED, {}))


def test_a_judge_that_cannot_extract_is_not_asked_to() -> None:
    class Able(Scripted):
        def answers(self, *_: Any) -> bool:
            return self.label != "b"

    judges = tuple(Able({"p": failing}, label) for label in "ab")
    with pytest.raises(JudgeError, match=r"answered: no verdict$"):
        run(Panel(judges=judges).extract(ASKED, {}))


# Grades and choices.


def test_the_most_frequent_grade_is_taken() -> None:
    result = grade(5, 2, 5)
    assert result.score == 5
    assert result.reason == (
        "the most frequent of a: 5 (as scripted); b: 2 (as scripted); c: 5 (as scripted)"
    )


# Sorted 1, 2, 5; and 1, 1, 3, 5, 5.
@pytest.mark.parametrize(("grades", "median"), [((5, 1, 2), 2), ((1, 5, 3, 5, 1), 3)])
def test_grades_without_a_majority_are_their_median(grades: tuple[int, ...], median: int) -> None:
    result = grade(*grades)
    assert result.score == median
    assert result.reason.startswith("no majority, so the median of ")


@pytest.mark.parametrize(
    ("answers", "score", "weights"),
    [
        ((5, 2, 5), 4, {5: 2 / 3, 2: 1 / 3}),
        # The first judge's own mean is 4.5.
        (({4: 0.5, 5: 0.5}, 2), 3.25, {4: 0.25, 5: 0.25, 2: 0.5}),
        # What lies between whole numbers has no fractions.
        ((4.5, 2), 3.25, {}),
    ],
)
def test_the_mean_of_grades_mixes_their_weights(
    answers: tuple[Any, ...], score: float, weights: dict[int, float]
) -> None:
    result = grade(*answers, vote="mean")
    assert result.score == pytest.approx(score)
    assert result.weights == pytest.approx(weights)


def test_a_grade_off_the_scale_is_an_error_though_the_mean_is_on_it() -> None:
    with pytest.raises(MetricError, match="the judge b returned 9 on a scale of 1 to 5"):
        grade(1, 9, vote="mean")


@pytest.mark.parametrize(
    ("choices", "winner"), [((0, 1, 0), 0), ((1, None, 1), 1), ((None, 0, None), None)]
)
def test_the_majority_chooses(choices: tuple[int | None, ...], winner: int | None) -> None:
    assert choice(*choices).winner == winner


def test_a_choice_without_a_majority_is_a_tie() -> None:
    result = choice(0, 1)
    assert result.winner is None
    assert result.reason == (
        "no majority, so a tie: a: the first (as scripted); b: the second (as scripted)"
    )


# Calls that fail.


def test_the_others_decide_while_most_answered() -> None:
    result = verdict(failing, "yes", "no", "yes")
    assert result.verdict == "yes"
    assert result.reason == "yes 2, no 1: as scripted; no answer of a: no verdict"
    assert grade(failing, 3, 3).reason.endswith("; no answer of a: no verdict")


@pytest.mark.parametrize("answers", [("yes", failing), (failing, failing, "yes")])
def test_half_of_the_judges_are_not_enough(answers: tuple[Any, ...]) -> None:
    failed = sum(reply is failing for reply in answers)
    with pytest.raises(JudgeError, match=f"{failed} of {len(answers)} judges of the panel failed"):
        verdict(*answers)


def test_an_error_that_ends_the_run_ends_it() -> None:
    with pytest.raises(JudgeUnavailable, match="a wrong key"):
        verdict("yes", "yes", over)


class Silent(Scripted):
    """A judge that leaves items out."""

    async def verify(self, *_: Any) -> list[Verdict]:
        return []


def test_a_judge_that_leaves_items_out_is_named() -> None:
    asked = Panel(judges=(Scripted({"p": ["yes"]}), Silent({}, "silent")))
    with pytest.raises(
        MetricError, match="the judge silent didn't return a verdict for every item"
    ):
        run(asked.verify(ASKED, ["x"], {}, SUPPORT))


@pytest.mark.parametrize("word", ["Yes", "supported", ""])
def test_a_judge_with_words_of_its_own_is_named_and_nothing_is_counted(word: str) -> None:
    judge = Scripted({"claims": ["It is old."], "supported": [word], "p": [word]}, "own")
    message = re.escape(
        f"the judge own returned the verdict {word!r}, which is none of 'yes', 'no', 'idk'"
    )
    with pytest.raises(MetricError, match=message):
        Hub("faithfulness", judge=judge)(**SAMPLE)
    asked = Panel(judges=(Scripted({"p": ["yes"]}), judge))
    with pytest.raises(MetricError, match=message):
        run(asked.verify(ASKED, ["x"], {}, SUPPORT))


# Making one.


def test_a_hub_takes_a_list_of_judges_and_a_vote() -> None:
    judges = ["offline", "chance", "chance(seed=1)"]
    label = "panel(judges=['offline(version=3)', 'chance', 'chance(seed=1)'], vote='{}')"
    majority = Hub("faithfulness", judge=judges).evaluate(**SAMPLE)
    mean = Hub("faithfulness", judge=judges, vote="mean").evaluate(**SAMPLE)
    assert label.format("majority") in majority.signatures()["faithfulness"].replace("\\'", "'")
    assert label.format("mean") in mean.signatures()["faithfulness"].replace("\\'", "'")


def test_a_metric_and_the_machine_take_a_list_too(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = load_metric("faithfulness(judge=['offline', 'chance'])")
    with_panel = load_metric("faithfulness", judge=Panel(judges=("offline", "chance")))
    monkeypatch.setenv("METRICHUB_JUDGE", "panel(judges=['offline', 'chance'])")
    (machine,) = Hub("faithfulness").metrics
    assert metric.label() == with_panel.label() == machine.label()


@pytest.mark.parametrize(
    ("judge", "vote", "message"),
    [
        (["offline"], None, "choose two or more; to ask one judge several times, .* repeats=3"),
        (["offline", "offline(version=3)"], None, r"offline\(version=3\) once; .* repeats=3"),
        (["openai(model='a')"] * 3, None, "once; to ask one judge several times, .* repeats=3"),
        ("openai(model='a')", "mean", "it with several judges, judge=.* with repeats=3"),
        (["offline", "chance"], "median", "choose 'majority' or 'mean'"),
        ("offline", "median", "choose 'majority' or 'mean'"),
    ],
)
def test_what_is_no_panel_is_refused(judge: Any, vote: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Hub("faithfulness", judge=judge, vote=vote)


def test_a_judge_that_cannot_answer_is_found_before_the_run() -> None:
    with pytest.raises(JudgeUnavailable, match="rubric: the offline judge can't answer"):
        Hub("rubric", judge=["chance", "offline"])


def test_a_panel_says_what_its_judges_say() -> None:
    rules = Panel(judges=("offline", "chance"))
    assert not rules.is_model
    assert rules.note is not None
    assert "a baseline" in rules.note
    assert "at random" in rules.note
    mixed = Panel(judges=("offline", "openai(model='a')"))
    assert mixed.is_model


# Reports.


def report(vote: By) -> Report:
    claims, red = ["It is old.", "It is red."], {"a": "no", "b": "yes", "c": "no"}
    scripts = {by: {"claims": claims, "supported": ["yes", word]} for by, word in red.items()}
    judges = [Scripted(script, by) for by, script in scripts.items()]
    return Hub("faithfulness", judge=judges, vote=vote).evaluate(**SAMPLE)


# One of two claims by the majority. By the mean 1 and 1/3 are 2/3.
@pytest.mark.parametrize(("vote", "score"), [("majority", 1 / 2), ("mean", 2 / 3)])
def test_scores_follow_the_vote(vote: By, score: float) -> None:
    assert report(vote).scores() == {"faithfulness": {"score": pytest.approx(score)}}


def test_an_explanation_shows_every_vote() -> None:
    _, red = report("majority").explain("faithfulness", 0).steps[0]["claims"]
    votes = [(vote["judge"], vote["verdict"]) for vote in red["votes"]]
    assert votes == [("a", "no"), ("b", "yes"), ("c", "no")]


def test_a_report_says_how_far_the_judges_agree_also_when_parts_are_merged() -> None:
    # Three yes; two no and a yes. Of the pairs 1 and 1/3 agree, 2/3; four of six votes are yes, so
    # chance is 16/36 + 4/36 = 5/9, and (2/3 - 5/9) / (4/9) = 1/4. Twice the same is the same.
    message = "the 3 votes of the panel agree on 50.0% of {} items, Fleiss' kappa 0.250"
    voted = report("majority")
    assert voted.pool().notes() == voted.notes()
    assert voted.notes()["faithfulness"] == [message.format(2)]
    assert voted.merge(report("majority")).notes()["faithfulness"] == [message.format(4)]


@pytest.mark.parametrize("how", [{"samples": False}, {"workers": 2}, {"repeats": 2}])
def test_the_note_needs_no_samples_and_counts_every_run(how: dict[str, Any]) -> None:
    hub = Hub("faithfulness", judge=["offline", "chance", "chance(seed=1)"])
    sample = {name: column * 3 for name, column in SAMPLE.items()}
    notes = hub.evaluate(**sample, **how).notes()["faithfulness"]
    # Three samples of two claims each.
    number = 6 * how.get("repeats", 1)
    assert any(re.search(rf"the panel agree on [\d.]+% of {number} items", note) for note in notes)


def test_a_saved_report_comes_back_with_its_panel(tmp_path: Path) -> None:
    judges = ["offline", "chance", "chance(seed=1)"]
    report = Hub("faithfulness", judge=judges, vote="mean").evaluate(**SAMPLE)
    report.save(tmp_path / "report.json")
    loaded = Report.load(tmp_path / "report.json")
    assert loaded == report
    assert loaded.notes() == report.notes()
    assert any("votes of the panel agree" in note for note in loaded.notes()["faithfulness"])


def test_other_votes_are_neither_merged_nor_compared() -> None:
    with pytest.raises(ValueError, match="panel"):
        report("majority").merge(report("mean"))


# Models behind a server.


def test_models_extract_once_and_verify_each(stub: Stub) -> None:
    judges = [spec(stub, model=model) for model in ("a", "b", "c")]
    hub = Hub("faithfulness", judge=judges)
    assert hub.estimate(**columns(2)).calls == 8
    report = hub.evaluate(**columns(2))
    # The stub calls the second of two claims unsupported, whoever is asked.
    assert report.scores() == {"faithfulness": {"score": 0.5}}
    models = sorted(asked.body["model"] for asked in stub.asked)
    assert models == ["a"] * 4 + ["b"] * 2 + ["c"] * 2
    assert len(report.replies("faithfulness", 0)) == 4
    assert KEY not in report.signatures()["faithfulness"]
    # What was answered is kept.
    assert hub.evaluate(**columns(2)).usage.calls == 0


def test_a_server_at_the_port_of_an_earlier_one_gets_its_own_requests(alone: None) -> None:
    port = 0
    for size in (1, 2):
        with serving(port) as stub:
            Hub("faithfulness", judge=spec(stub, model="a")).evaluate(**columns(size))
            assert len(stub.asked) == 2 * size
            port = urlsplit(stub.url).port or 0


def test_a_model_that_fails_on_a_sample_is_outvoted(stub: Stub) -> None:
    judges = [spec(stub, model=model) for model in ("a", "b", "c")]
    hub = Hub("faithfulness", judge=judges)
    hub.evaluate(**columns(1))
    broken = [*judges[:2], spec(stub, model="d")]
    # Two of the three have answered before, so that only the last is asked.
    stub.always = failure(500)
    report = Hub("faithfulness", judge=broken).evaluate(**columns(1))
    assert report.scores() == {"faithfulness": {"score": 0.5}}
    votes = report.explain("faithfulness", 0).steps[0]["claims"][0]["votes"]
    assert [vote["verdict"] for vote in votes] == ["yes", "yes", None]
    assert "judge 3 gave no verdict on 2 more" in report.notes()["faithfulness"][0]


def test_a_metric_that_only_extracts_says_that_one_judge_was_asked(stub: Stub) -> None:
    judges = [spec(stub, model=model) for model in ("a", "b")]
    hub = Hub("answer_relevancy", judge=judges, embedder="offline")
    sample = {**columns(1), "questions": ["What is it?"]}
    report = hub.evaluate(**sample)
    assert {asked.body["model"] for asked in stub.asked if "messages" in asked.body} == {"a"}
    message = "needs no verdicts, so only the first judge of the panel was called"
    assert any(message in note for note in report.notes()["answer_relevancy"])
    alone = Hub("answer_relevancy", judge=spec(stub), embedder="offline").evaluate(**sample)
    assert not any(message in note for note in alone.notes().get("answer_relevancy", ()))


@pytest.mark.parametrize("repeats", [0, -2, 1.5])
def test_repeats_are_checked_wherever_they_are_given(stub: Stub, repeats: Any) -> None:
    hub = Hub("faithfulness", judge=spec(stub))
    for ask in (hub.evaluate, hub.estimate):
        with pytest.raises(ParameterError, match="an integer of at least 1"):
            ask(**SAMPLE, repeats=repeats)


# Metrics that count whole items.


def useful(label: str, *words: str) -> Scripted:
    return Scripted({"useful": list(words)}, label)


@pytest.mark.parametrize(
    ("words", "vote", "score"),
    [
        # One passage: its precision is the fraction of the votes for it.
        ([["yes"], ["no"]], "majority", 0.5),
        ([["yes"], ["no"], ["no"], ["no"]], "mean", 0.25),
        # (1/1 * 1 + 1.5/2 * 0.5) / 1.5
        ([["yes", "yes"], ["yes", "no"]], "mean", 1.375 / 1.5),
    ],
)
def test_average_precision_takes_fractions(words: list[list[str]], vote: By, score: float) -> None:
    judges = [useful(label, *words_of) for label, words_of in zip("abcd", words, strict=False)]
    hub = Hub("context_precision", judge=judges, vote=vote)
    contexts = [["one.", "two."][: len(words[0])]]
    scores = hub(questions=["q?"], references=["r."], contexts=contexts)
    assert scores["context_precision"]["score"] == pytest.approx(score)


def test_what_is_counted_whole_takes_the_word_of_the_vote() -> None:
    def judges(prompts: Mapping[str, Any], *words: str) -> list[Scripted]:
        last = list(prompts)[-1]
        return [Scripted({**prompts, last: [word]}, str(i)) for i, word in enumerate(words)]

    opinions = judges({"opinions": ["They are lazy."], "biased": []}, "yes", "no", "no")
    scores = Hub("bias", judge=opinions, vote="mean")(predictions=["They are lazy."])["bias"]
    assert scores == {"score": pytest.approx(1 / 3), "biased": 0.0}
    asked = {"asked": ["A?"], "allowed": ["yes"], "answered": []}
    topics = judges(asked, "yes", "yes", "no")
    hub = Hub("topic_adherence(topics=['a'])", judge=topics, vote="mean")
    assert hub(predictions=["User: A? Bot: B."])["topic_adherence"]["score"] == 1.0


def test_a_panel_holds_no_panel() -> None:
    with pytest.raises(ParameterError, match="judges that aren't panels themselves"):
        Panel(judges=("offline", "panel(judges=['offline', 'chance'])"))


def test_a_vote_is_that_of_the_hubs_own_judge() -> None:
    metric = load_metric("faithfulness", judge="offline")
    hub = Hub([metric, "context_relevance"], judge=["offline", "chance"], vote="majority")
    assert set(hub(**SAMPLE, questions=["Is it?"])) == {"faithfulness", "context_relevance"}
    with pytest.raises(ParameterError, match=r"choose none, or set it in the panel: panel\("):
        Hub("faithfulness", judge="panel(judges=['offline', 'chance'])", vote="mean")
