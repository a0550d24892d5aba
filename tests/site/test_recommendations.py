"""What the site advises: metrics that are there, read what one has, and lines that run."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")

from metrichub import Hub
from metrichub.catalog.guides import MetricChoice, choices
from metrichub.catalog.registry import Registry
from metrichub.site.project import write_project
from metrichub.site.site_pages import chooser
from tests.site_cards import toy

INSTALLED = Registry.installed()
ALL = choices({INSTALLED.name_of(entry): entry for entry in INSTALLED.entries})
# The columns of a choice, as a reader would understand what stands under "have".
COLUMNS = {
    "reference translations": {"references"},
    "only the source": {"sources"},
    "reference summaries": {"references"},
    "questions and retrieved passages": {"questions", "contexts"},
    "reference answers too": {"questions", "contexts", "references"},
    "reference answers": {"references"},
    "only questions": {"questions"},
    "only the outputs": set[str](),
    "correct transcripts": {"references"},
    "a schema or a pattern for each output": {"schemas", "patterns"},
    "the calls that were right": {"references"},
    "sources and reference simplifications": {"sources", "references"},
    "reference code": {"references"},
    "reference captions": {"references"},
}


@pytest.fixture(scope="module")
def sections(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The sections of the page by their headings."""
    folder = tmp_path_factory.mktemp("project")
    write_project(folder, repository="")
    page = (folder / "docs" / "choose.md").read_text(encoding="utf-8")
    _, *parts = re.split(r"(?m)^### (.*)$", page)
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize("choice", ALL, ids=lambda choice: f"{choice.evaluate}, {choice.have}")
def test_three_to_five_metrics_read_what_one_has_and_the_lines_make_a_hub(
    choice: MetricChoice, sections: dict[str, str]
) -> None:
    assert 3 <= len(choice.metrics) <= 5
    heading = next(
        h for h in sections if h.lower() == f"{choice.evaluate}, and you have {choice.have}".lower()
    )
    command, python = re.findall(r"(?s)```\w*\n(.*?)```", sections[heading])
    words = [*pairwise(shlex.split(command))]
    specs = [after for word, after in words if word == "-m"]
    assert specs == [metric.spec for metric in choice.metrics]
    options = [word.removeprefix("--") for word, _ in words if word.startswith("--")]
    hub = Hub(specs, **{name: "openai(model='m')" for name in options})
    assert {*hub.needs()} <= COLUMNS[choice.have] | {"predictions"}
    compile(python, "lines", "exec")
    for metric in choice.metrics:
        assert f"(metric_cards/{metric.name}/README.md)" in sections[heading]


def test_every_choice_is_offered_once(sections: dict[str, str]) -> None:
    pairs = [(choice.evaluate, choice.have) for choice in ALL]
    assert len(pairs) == len({*pairs}) == len(sections) > 10


def test_metrics_that_people_s_ratings_were_held_to_come_first_the_best_of_them_before() -> None:
    measured = [[m.value for m in choice.metrics if m.value is not None] for choice in ALL]
    assert sum(map(bool, measured)) >= 2
    for choice, values in zip(ALL, measured, strict=True):
        assert [m.value for m in choice.metrics][: len(values)] == sorted(values, reverse=True)


def test_without_the_metrics_nothing_is_advised(site: Path) -> None:
    assert chooser(()) == "# Choose metrics\n"
    write_project(site / "project", Registry((toy(site, "one"),)), "")
    assert "###" not in (site / "project" / "docs" / "choose.md").read_text("utf-8")
