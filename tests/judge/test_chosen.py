"""No judge is chosen silently: who is asked, in which order, and what is said if nobody is."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.authoring import EmbedderMetric, JudgeMetric, Questions
from metrichub.catalog.parameters import described_values, parameters_of
from metrichub.catalog.registry import Entry, Registry
from metrichub.errors import JudgeUnavailable, ParameterError, ReportError, SpecError
from metrichub.models import resolve
from metrichub.models.embedders import OfflineEmbedder
from metrichub.models.loop import run

SAVED = Path(__file__).parents[1] / "data" / "report_before_judges_were_chosen.json"
SAMPLE: dict[str, Any] = {"predictions": ["It is old."], "contexts": [["It is old."]]}
PAIR: dict[str, Any] = {"predictions": ["It is old."], "references": ["It is old."]}


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that chooses nobody."""
    monkeypatch.delenv("METRICHUB_JUDGE", raising=False)
    monkeypatch.delenv("METRICHUB_EMBEDDER", raising=False)


def judge_in(hub: Hub) -> object:
    """The judge of the hub's first metric."""
    return getattr(hub.metrics[0], "judge", None)


@pytest.mark.parametrize(
    ("name", "kind"), [("faithfulness", "judge"), ("semantic_similarity", "embedder")]
)
def test_a_hub_without_one_says_in_one_line_how_to_choose(name: str, kind: str) -> None:
    with pytest.raises(JudgeUnavailable) as caught:
        Hub(name)
    message = str(caught.value)
    assert message.startswith(f"{name} needs a")
    for way in (
        f"pass {kind}=\"openai(model='…')\"",
        'or "offline" (',
        f"METRICHUB_{kind.upper()}",
    ):
        assert way in message
    assert "\n" not in message


@dataclass(frozen=True, kw_only=True)
class Nearby(OfflineEmbedder):
    """An embedder of a plugin.

    Attributes:
        model: The model: a name, such as "mini" (MIT), or a folder.
        dtype: The type of its numbers.
    """

    model: str
    dtype: str = "float32"


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin with an embedder, and one whose code is broken."""
    entries = [
        *Registry.installed(resolve.EMBEDDERS, "embedder").entries,
        Entry("nearby", "metrichub-nearby", "1", f"{__name__}:Nearby"),
        Entry("broken", "metrichub-nearby", "1", f"{__name__}:Nothing"),
    ]
    registry = Registry(entries, "embedder")
    monkeypatch.setattr(resolve, "_installed", lambda group, kind: registry)


@pytest.mark.usefixtures("plugin")
def test_what_a_plugin_brings_is_offered() -> None:
    with pytest.raises(JudgeUnavailable, match=r"or \"nearby\(model='…'\)\"") as caught:
        Hub("semantic_similarity")
    assert "broken" not in str(caught.value)
    assert "dtype" not in str(caught.value)


@pytest.mark.usefixtures("plugin")
def test_a_parameter_without_a_default_is_asked_for_in_words() -> None:
    message = (
        "nearby needs a value for model, as in \"nearby(model='…')\". "
        'The model: a name, such as "mini" (MIT), or a folder.'
    )
    for embedder in ("nearby", "nearby(dtype='float16')"):
        with pytest.raises(ParameterError, match=f"^{re.escape(message)}$"):
            Hub("semantic_similarity", embedder=embedder)


def test_a_metric_keeps_its_own_judge() -> None:
    for metric in ("faithfulness(judge='offline')", load_metric("faithfulness", judge="offline")):
        assert judge_in(Hub(metric, judge="chance")) == "offline"


def test_the_machine_says_who_is_asked_where_nobody_else_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("METRICHUB_JUDGE", "chance")
    monkeypatch.setenv("METRICHUB_EMBEDDER", "offline(dimensions=16)")
    assert judge_in(Hub("faithfulness")) == "chance"
    assert judge_in(Hub("faithfulness", judge="offline")) == "offline"
    assert judge_in(Hub("faithfulness(judge='offline')")) == "offline"
    report = Hub("semantic_similarity").evaluate(**PAIR)
    assert "embedder='offline(dimensions=16)'" in report.signatures()["semantic_similarity"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("opnai", "did you mean 'openai'"),
        ("openai(modle='x')", "has no parameter 'modle'"),
        ("openai(model='x', temperature='hot')", "temperature='hot' is not allowed"),
        ("gpt-4o", "isn't a valid judge; write offline"),
        ("http://127.0.0.1:8000/v1", "openai(model='…', base_url='http://127.0.0.1:8000/v1')"),
        ("openai(api_key='x')", "can't hold a key"),
    ],
)
def test_an_error_in_a_variable_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, spec: str, message: str
) -> None:
    monkeypatch.setenv("METRICHUB_JUDGE", spec)
    with pytest.raises(SpecError, match=r"^the environment variable METRICHUB_JUDGE: ") as caught:
        Hub("faithfulness")
    assert message in str(caught.value)
    assert judge_in(Hub("faithfulness", judge="chance")) == "chance"
    monkeypatch.setenv("METRICHUB_EMBEDDER", "nobody")
    with pytest.raises(SpecError, match=r"METRICHUB_EMBEDDER.*nobody"):
        Hub("semantic_similarity")


def test_a_judge_of_the_machine_that_cannot_answer_is_named_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("METRICHUB_JUDGE", "offline")
    with pytest.raises(
        JudgeUnavailable, match=r"the offline judge \(METRICHUB_JUDGE\) can't answer the prompt"
    ):
        Hub("coherence")


def test_an_empty_variable_chooses_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METRICHUB_JUDGE", "")
    with pytest.raises(JudgeUnavailable, match="none is set"):
        Hub("faithfulness")


def test_a_part_that_is_not_measured_needs_nobody() -> None:
    factual = Hub("answer_correctness(weights=(1, 0))", judge="offline")
    assert factual(**PAIR)["answer_correctness"]["score"] == 1.0
    similar = Hub("answer_correctness(weights=(0, 1))", embedder="offline")
    report = similar.evaluate(**PAIR)
    assert [note.split()[0] for note in report.notes()["answer_correctness"]] == ["compared"]
    assert "judge=None" in report.signatures()["answer_correctness"]
    with pytest.raises(JudgeUnavailable, match="needs an embedder, and none is set"):
        Hub("answer_correctness", judge="offline")


def test_without_a_hub_the_metric_says_how_to_choose() -> None:
    metric: Any = load_metric("faithfulness")
    with pytest.raises(JudgeUnavailable, match="faithfulness needs a judge, and none is set"):
        run(metric.observe(prediction="It is old.", contexts=["It is old."]))
    metric = load_metric("semantic_similarity")
    with pytest.raises(JudgeUnavailable, match="needs an embedder, and none is set"):
        run(metric.observe(prediction="It is old.", reference="It is old."))


@pytest.mark.parametrize(
    ("spec", "asked"),
    [
        ("g_eval", r"can't answer the prompt 'steps'"),
        ("g_eval(steps=['Look.'])", r"can't answer the prompt 'grade'"),
        ("pairwise", r"can't answer the prompt 'better'"),
        ("goal_accuracy", r"can't answer the prompt 'reached'"),
        ("hallucination(unit='contexts')", r"can't answer the prompt 'contradicted'"),
        ("summarization(truths=True)", None),
        ("hallucination", None),
    ],
)
def test_a_hub_knows_at_once_whether_the_judge_will_do(spec: str, asked: str | None) -> None:
    if asked is None:
        assert judge_in(Hub(spec, judge="offline")) == "offline"
        return
    with pytest.raises(JudgeUnavailable, match=f"the offline judge {asked}, which needs a model"):
        Hub(spec, judge="offline")
    assert judge_in(Hub(spec, judge="chance")) == "chance"


def test_prompts_of_the_users_own_need_a_judge_that_can_answer_them(tmp_path: Path) -> None:
    mine = tmp_path / "supported.md"
    spec = f"faithfulness(prompts={str(tmp_path)!r})"
    mine.write_text("<!-- offline: supported -->\nSteht es da?", encoding="utf-8")
    assert Hub(spec, judge="offline")(**SAMPLE) == {"faithfulness": {"score": 1.0}}
    mine.write_text("Steht es da?", encoding="utf-8")
    with pytest.raises(JudgeUnavailable, match="can't answer the prompt 'supported'"):
        Hub(spec, judge="offline")


@dataclass(frozen=True, kw_only=True)
class Undeclared(JudgeMetric):
    """A metric of the test's own that doesn't say what it asks."""

    async def observe(self, prediction: str) -> float:
        return (await self.grade("claims", scale=(1, 5), text=prediction)).score


@dataclass(frozen=True, kw_only=True)
class Both(JudgeMetric, EmbedderMetric):
    """A metric of the test's own that asks a judge and an embedder."""

    asks: ClassVar[Questions] = {"extract": ("claims",)}

    async def observe(self, prediction: str) -> float:
        return float(len(await self.embed(await self.claims(prediction))))


def test_a_metric_that_declares_nothing_needs_a_judge_and_fails_when_it_asks() -> None:
    with pytest.raises(JudgeUnavailable, match="undeclared needs a judge, and none is set"):
        Hub(Undeclared())
    hub = Hub(Undeclared(), judge="offline")
    with pytest.raises(JudgeUnavailable, match="can't answer the prompt 'claims'"):
        hub(predictions=["It is old."])


def test_a_metric_of_ones_own_gets_a_judge_and_an_embedder() -> None:
    hub = Hub(Both(), judge="offline", embedder="offline")
    report = hub.evaluate(predictions=["It is old. It is red."])
    assert report.scores() == {"both": {"score": 2.0}}
    assert report.counts() == {"both": {}}
    assert {note.split()[0] for note in report.notes()["both"]} == {"judged", "compared"}


def test_the_judge_and_the_embedder_are_required_parameters() -> None:
    parameters = {parameter.name: parameter for parameter in parameters_of(Both)}
    assert parameters["judge"].required
    assert parameters["embedder"].required
    assert not parameters["prompts"].required
    assert described_values(parameters["judge"].hint) == ["a string", "Judge"]


def test_a_report_saved_while_judges_had_a_default_still_loads() -> None:
    report = Report.load(SAVED)
    metrics = [result.metric for result in report.results.values()]
    assert [getattr(metric, "judge", None) for metric in metrics] == ["offline", None]
    assert [getattr(metric, "embedder", None) for metric in metrics] == [None, "offline"]
    # Its contexts hold one of the first sample's two claims, the second's one, not the third's.
    assert report.samples()["faithfulness"]["score"].tolist() == [0.5, 1.0, 0.0]
    assert {note.split()[0] for notes in report.notes().values() for note in notes} == {
        "judged",
        "compared",
    }


def test_an_old_report_is_not_merged_with_answers_of_other_rules() -> None:
    old = Report.load(SAVED)
    hub = Hub(["faithfulness", "semantic_similarity"], judge="offline", embedder="offline")
    new = hub.evaluate(**SAMPLE, references=["It is old."])
    with pytest.raises(ReportError, match=r"judge='offline' and judge='offline\(version=3\)'"):
        old.merge(new)


def test_a_baseline_is_not_offered_to_a_metric_that_needs_a_model() -> None:
    with pytest.raises(JudgeUnavailable) as caught:
        Hub("g_eval")
    assert "(a model)" in str(caught.value)
    assert "offline" not in str(caught.value)
