"""Known metrics that are elsewhere: the error says where, or why they aren't."""

import re
import tomllib
from pathlib import Path

import pytest

from metrichub import load_metric
from metrichub.catalog import elsewhere
from metrichub.catalog.registry import Registry, registry
from metrichub.errors import UnknownMetric

KNOWN = tomllib.loads(Path(elsewhere.__file__).with_name("elsewhere.toml").read_text())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("baryscore", "baryscore isn't installed: its authors published no licence"),
        ("BaryScore", "BaryScore isn't installed: its authors"),
        ("questeval", "its package needs transformers 4.8.1"),
        ("nubia", "its package needs fairseq"),
    ],
)
def test_a_known_metric_that_nobody_brings_has_its_reason(name: str, said: str) -> None:
    with pytest.raises(UnknownMetric, match=said):
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
        assert entry.keys() <= {"in", "why", "title", "keywords"}
        assert re.sub(r"[\W_]+", "", entry["title"]).lower().startswith(letters[:9])
        assert letters == re.sub(r"[\W_]+", "", letters)


def test_a_judge_of_that_name_is_only_unknown() -> None:
    with pytest.raises(UnknownMetric, match=r"no judge 'comet' is installed"):
        Registry((), "judge").find("comet")
