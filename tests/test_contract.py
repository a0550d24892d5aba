"""Every registered metric, ours and any plugin's, keeps the sixteen laws."""

import inspect
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from metrichub import list_metrics
from metrichub.catalog.registry import Entry
from metrichub.errors import MissingDependency, MissingModel
from metrichub.testing import MetricContract, check, update_card
from metrichub.testing.laws import LAWS
from metrichub.testing.under_test import MetricUnderTest
from tests import plugins


@cache
def under_test(entry: Entry) -> MetricUnderTest:
    return MetricUnderTest(entry)


@pytest.mark.parametrize(
    "law", LAWS, ids=[f"{i:02}_{law.__name__}" for i, law in enumerate(LAWS, 1)]
)
@pytest.mark.parametrize("entry", list_metrics(), ids=lambda entry: entry.qualified)
def test_a_metric_keeps_a_law(entry: Entry, law: Callable[[MetricUnderTest], None]) -> None:
    if lacking := entry.lacking:
        pytest.skip(str(lacking))
    try:
        law(under_test(entry))
    except (MissingDependency, MissingModel) as error:
        # A plugin's, whose model isn't on this machine: its own tests choose another.
        pytest.skip(str(error))


def test_there_are_sixteen_laws_and_the_contract_runs_each_under_its_number() -> None:
    methods = inspect.getmembers(MetricContract, inspect.isfunction)
    tests = [method for name, method in methods if re.match(r"test_law_\d\d_", name)]
    assert [inspect.getdoc(test) for test in tests] == [
        f"See `{law.__module__.rpartition('.')[2]}.{law.__name__}`." for law in LAWS
    ]
    assert len(LAWS) == 16


class TestAPluginsThreeLines(MetricContract):
    """What a plugin's author writes."""

    metric = "exact_match"


def test_check_says_what_each_law_found() -> None:
    findings = check("exact_match")
    assert [finding.law for finding in findings] == list(range(1, 17))
    assert all(finding.problem is None for finding in findings)
    assert all(finding.title.endswith(".") for finding in findings)
    assert not any("\n" in finding.title for finding in findings)


def test_check_takes_a_spec() -> None:
    findings = check("bleu(max_order=2)")
    assert [finding.problem for finding in findings] == [None] * 16


def test_check_goes_on_after_a_law_that_fails_or_raises(site: Path) -> None:
    plugins.distribution(site, "toy-dist", ["shout = toy_dist.shout:Toy"])
    plugins.metric(site, "toy_dist", "shout", code="import toy_missing_package\n")
    findings = check("shout")
    assert len(findings) == 16
    assert findings[0].problem is None
    assert "ModuleNotFoundError" in str(findings[2].problem)


def test_update_card_writes_the_generated_blocks_and_nothing_else(site: Path) -> None:
    plugins.distribution(site, "toy-dist", ["shout = toy_dist.shout:Toy"])
    body = "\nText\n\n<!-- generated: bounds -->\n{}<!-- end -->\n\nmore\n"
    plugins.metric(site, "toy_dist", "shout", card=plugins.CARD + body.format(""))
    assert update_card("shout")
    assert not update_card("shout")
    table = (
        "| output | range | better | if equal to the reference |\n"
        "| --- | --- | --- | --- |\n"
        "| `score` | [0, 1] | higher |  |\n"
    )
    assert site.joinpath("toy_dist", "shout", "README.md").read_text().endswith(body.format(table))
