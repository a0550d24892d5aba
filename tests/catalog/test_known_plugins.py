"""Known metrics that are elsewhere: the error says where, or why they aren't."""

import re
import tomllib
from pathlib import Path

import pytest

from metrichub import load_metric
from metrichub.catalog import known_plugins
from metrichub.catalog.registry import Registry, registry
from metrichub.catalog.search import search_index
from metrichub.errors import UnknownMetric

KNOWN = tomllib.loads(Path(known_plugins.__file__).with_name("known_plugins.toml").read_text())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("baryscore", "baryscore isn't installed: its authors published no license"),
        ("BaryScore", "BaryScore isn't installed: its authors"),
        ("questeval", "its package needs transformers 4.8.1"),
        ("nubia", "its package needs fairseq"),
    ],
)
def test_a_known_metric_that_nobody_brings_has_its_reason(name: str, message: str) -> None:
    with pytest.raises(UnknownMetric, match=message):
        load_metric(name)


@pytest.mark.parametrize("name", ["bertscore", "BERTScore", "bert_score", "bert-score"])
def test_a_metric_of_a_known_package_has_its_command(name: str) -> None:
    with pytest.raises(
        UnknownMetric, match=r"it is part of the plugin metrichub-neural; .*pip install"
    ):
        Registry(()).find(name)


def test_every_entry_says_one_thing_and_hides_no_metric_of_ours() -> None:
    ours = {
        re.sub(r"[\W_]+", "", entry.name)
        for entry in registry().entries
        if entry.distribution == "metrichub"
    }
    assert not ours & KNOWN.keys()
    for letters, entry in KNOWN.items():
        assert re.fullmatch(r"[a-z0-9]+", letters)
        assert len({"in", "why"} & entry.keys()) == 1
        assert entry.keys() <= {"in", "why", "title", "keywords", "topic"}
        assert re.sub(r"[\W_]+", "", entry["title"]).lower().startswith(letters[:9])
        assert letters == re.sub(r"[\W_]+", "", letters)


TOPICS = [plugin for plugin in known_plugins.known_plugins() if plugin.topic]


def test_what_metrichub_does_not_do_comes_first_for_its_names_alone() -> None:
    assert len(TOPICS) >= 10
    words = {
        known_plugins.bare_name(word): entry.name
        for entry in registry().entries
        for word in (entry.name, *entry.card.keywords)
    }
    for topic in TOPICS:
        # No name of it is one of a metric, or of another topic.
        assert not topic.names() & words.keys(), topic.title
        assert not [t for t in TOPICS if t is not topic and t.names() & topic.names()]
        for name in (topic.title.partition(" (")[0], *topic.keywords):
            first, *_ = search_index().find(name)
            if known_plugins.bare_name(name) in topic.names():
                assert first.title == topic.title, name
        with pytest.raises(UnknownMetric, match=re.escape(topic.where)):
            load_metric(topic.letters)


def test_what_a_topic_names_to_use_instead_is_here() -> None:
    names = {entry.name for entry in registry().entries}
    for topic in TOPICS:
        mentioned = {*re.findall(r"\b[a-z0-9]+(?:_[a-z0-9]+)+\b", topic.where)}
        assert mentioned <= names, topic.title


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("sql", "SQL equivalence"),
        ("SQL equivalence", "SQL equivalence"),
        ("CLIPScore", "Image metrics (CLIPScore, FID)"),
        ("image", "Image metrics (CLIPScore, FID)"),
        ("speech quality", "Speech quality (MOS, PESQ)"),
        ("video", "Video metrics (VMAF)"),
        ("test set generation", "Test set generation"),
        ("red teaming", "Red teaming"),
        ("simulate users", "User simulation"),
        ("prompt optimizer", "Prompt optimization"),
        ("plan quality", "Plan quality and adherence"),
        ("does the agent follow its plan", "Plan quality and adherence"),
        ("experiment tracking", "Tracing and experiment tracking"),
        ("AUC", "AUROC and RMSE"),
        ("image caption quality", "CIDEr"),
        ("speech to text wrong words", "Word error rate (WER), with MER, WIL and WIP"),
        ("pii", "PII (leaked personal information)"),
        ("code works", "code_eval"),
    ],
)
def test_a_question_about_another_field_is_told_first(question: str, first: str) -> None:
    assert search_index().find(question)[0].title == first


def test_a_judge_of_that_name_is_only_unknown() -> None:
    with pytest.raises(UnknownMetric, match=r"no judge 'comet' is installed"):
        Registry((), "judge").find("comet")
