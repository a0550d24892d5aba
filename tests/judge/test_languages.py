"""Prompts in other languages: chosen, sent, signed, refused, and equal to the English ones."""

import re
from pathlib import Path
from typing import Any

import pytest

import metric_cards
from metrichub import Hub, load_metric
from metrichub.errors import InputError, ParameterError
from metrichub.judge.prompt_files import SHARED_PROMPTS, Prompt, match_language
from tests.commands import scored, write
from tests.judge_stub import Stub
from tests.judge_toys import columns, spec

CARDS = Path(metric_cards.__file__).parent
TRANSLATED = sorted(path for home in (SHARED_PROMPTS, CARDS) for path in home.rglob("zh/*.md"))
IN_CHINESE = [
    *("summarization_score", "faithfulness", "context_utilization", "answer_relevancy"),
    *("answer_relevancy(noncommittal='any')", "context_relevance", "summarization"),
    *("aspect", "atomic_facts(question=True)", "citations", "policy_compliance"),
    *("summarization(truths=True)", "goal_accuracy", "goal_accuracy(inferred=True)"),
    *("knowledge_retention", "turn_relevancy", "user_frustration", "step_efficiency"),
    "argument_correctness",
]
_HAN = re.compile(r"[\u4e00-\u9fff]")


def folder_and_name(path: Path) -> str:
    return f"{path.parents[2].name}/{path.name}"


@pytest.mark.parametrize("metric", IN_CHINESE)
def test_every_prompt_that_is_asked_is_there_in_chinese(metric: str) -> None:
    english: Any = load_metric(metric)
    chinese: Any = load_metric(metric, language="zh")
    for names in chinese.questions().values():
        for name in names:
            assert _HAN.search(chinese.prompt(name).text)
            assert not _HAN.search(english.prompt(name).text)
            assert all(_HAN.search(example.reply) for example in chinese.prompt(name).examples)


@pytest.mark.parametrize("path", TRANSLATED, ids=folder_and_name)
def test_a_translation_has_the_rule_fields_words_and_examples_of_the_english_prompt(
    path: Path,
) -> None:
    mine, english = Prompt.read(path), Prompt.read(path.parents[1] / path.name)
    assert mine.rule == english.rule
    named = re.findall(r'field "(\w+)"', english.text.replace("\n", " "))
    assert sorted(re.findall(r'字段"(\w+)"', mine.text)) == sorted(named)
    words = re.findall(r'^- "(\w+)":', english.text, re.MULTILINE)
    assert re.findall(r'^- "(\w+)"：', mine.text, re.MULTILINE) == words
    assert {*re.findall(r'"(\w+)"', mine.text)} <= {*re.findall(r'"(\w+)"', english.text)}
    assert mine.text.count("\n- ") == english.text.count("\n- ")
    assert len(mine.examples) == len(english.examples)


def test_a_model_is_asked_in_the_language(stub: Stub) -> None:
    hub = Hub(load_metric("faithfulness", language="zh"), judge=spec(stub))
    assert hub(columns(1)) == {"faithfulness": {"score": 0.5}}
    claims, verdicts = stub.asked
    assert claims.system.startswith('列出字段"text"')
    assert "沈岚" in claims.body["messages"][1]["content"]
    assert '"idk"：' in verdicts.system
    assert "one of: yes, no, idk" in verdicts.system


def test_the_signature_names_a_language_other_than_english() -> None:
    assert "language='zh'" in load_metric("faithfulness", judge="offline", language="zh").label()
    english = load_metric("faithfulness", judge="offline")
    assert "language" not in english.label()
    assert load_metric("faithfulness", judge="offline", language="en").label() == english.label()


def test_the_offline_judge_answers_chinese_prompts_as_english_ones() -> None:
    texts = {"predictions": ["桥建于1912年。桥是红色的。"], "sources": ["桥建于1912年。桥很长。"]}
    for name in ("summarization", "summarization_score"):
        scores = Hub(name, judge="offline")(**texts)
        assert Hub(f"{name}(language='zh')", judge="offline")(**texts) == scores


@pytest.mark.parametrize(
    ("metric", "language", "choose"),
    [
        ("faithfulness", "de", "choose en or zh, or give"),
        ("faithfulness", "", "choose en or zh, or give"),
        ("faithfulness", "zhuang", "choose en or zh, or give"),
        ("faithfulness", "..", "choose en or zh, or give"),
        ("coherence", "zh", "choose en, or give"),
        # Its claims are there in Chinese, and its own prompt isn't.
        ("contextual_relevancy", "zh", "choose en, or give"),
    ],
)
def test_a_language_without_prompts_is_refused_in_one_line(
    metric: str, language: str, choose: str
) -> None:
    with pytest.raises(ParameterError, match=choose) as caught:
        load_metric(metric, language=language)
    assert f"language={language!r}" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("tag", ["zh-CN", "zh_Hans", "zh-Hant-TW", "ZH"])
def test_a_tag_with_a_script_or_a_region_is_its_language(tag: str) -> None:
    metric = load_metric("faithfulness", judge="offline", language=tag)
    assert metric == load_metric("faithfulness", judge="offline", language="zh")
    assert metric.label().count("language='zh'") == 1


@pytest.mark.parametrize("tag", ["en-US", "en_GB", "EN"])
def test_english_of_any_country_is_english(tag: str) -> None:
    plain = load_metric("coherence", judge="chance")
    assert load_metric("coherence", judge="chance", language=tag).label() == plain.label()


def test_a_variant_with_prompts_of_its_own_is_told_from_its_language() -> None:
    assert match_language("pt-BR", {"pt", "pt-BR"}) == "pt-BR"
    assert match_language("pt-PT", {"pt", "pt-BR"}) == "pt"


def test_the_language_of_a_hub_is_that_of_metrics_that_name_none() -> None:
    metrics = ["bleu", "faithfulness", "own = coherence(language='en')", "toxicity(language='en')"]
    hub = Hub(metrics, judge="chance", language="zh-CN")
    labels = [metric.label() for metric in hub.metrics]
    assert ["language='zh'" in label for label in labels] == [False, True, False, False]
    assert hub != Hub(metrics, judge="chance")
    assert Hub("faithfulness", judge="offline", language="en").metrics[0].label() == (
        load_metric("faithfulness", judge="offline").label()
    )


def test_a_hub_refuses_a_language_that_a_metric_lacks_and_says_how_it_keeps_its_own() -> None:
    with pytest.raises(
        ParameterError, match=r"^coherence: .*choose en, .*coherence\(language='en'"
    ):
        Hub(["faithfulness", "coherence"], judge="chance", language="zh")


@pytest.mark.parametrize("metric", ["bleu", "codebleu"])
def test_a_hub_without_prompts_refuses_a_language(metric: str) -> None:
    # The language of codebleu is that of programs.
    with pytest.raises(ParameterError, match="no metric of this hub uses a judge"):
        Hub(metric, language="java")


def test_a_language_in_a_call_is_shown_its_place() -> None:
    hub = Hub("faithfulness", judge="offline")
    with pytest.raises(InputError, match=r"Hub\(metrics, language=...\)"):
        hub(predictions=["a"], contexts=[["a"]], language="zh")


def test_the_command_line_sets_the_language(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write("in.jsonl", [{"prediction": "A.", "contexts": ["A."]}])
    metrics = ("-m", "faithfulness", "-m", "own = faithfulness(language='en')", "--signature")
    scores = scored("in.jsonl", *metrics, "--judge", spec(stub), "--language", "zh_CN")
    assert "language='zh'" in scores["signatures"]["faithfulness"]
    assert "language" not in scores["signatures"]["own"]
    assert any(asked.system.startswith("列出") for asked in stub.asked)
    assert any(asked.system.startswith("List") for asked in stub.asked)


def test_prompts_of_the_users_own_stand_before_those_of_a_language(tmp_path: Path) -> None:
    (tmp_path / "claims.md").write_text("Liste auf.", encoding="utf-8")
    metric: Any = load_metric("faithfulness", language="zh", prompts=str(tmp_path))
    assert metric.prompt("claims").text == "Liste auf."
    assert metric.prompt("supported").text.startswith("每个条目")
    with pytest.raises(ParameterError, match="language='de'"):
        load_metric("faithfulness", language="de", prompts=str(tmp_path))
    (tmp_path / "supported.md").write_text("Steht es da?", encoding="utf-8")
    metric = load_metric("faithfulness", language="de", prompts=str(tmp_path))
    assert metric.prompt("supported").text == "Steht es da?"
