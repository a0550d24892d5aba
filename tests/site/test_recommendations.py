"""What the front page advises: metrics that are there, read what one has, and lines that run."""

from __future__ import annotations

import shlex
from itertools import pairwise

import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")

from metrichub import Hub
from metrichub.catalog.registry import Registry
from metrichub.site.card_pages import Recommendation, recommendations
from metrichub.site.site_index import SiteIndex

ALL = recommendations(SiteIndex.of(Registry.installed()))
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


@pytest.mark.parametrize("recommended", ALL, ids=lambda choice: f"{choice.evaluate}, {choice.have}")
def test_three_to_five_metrics_read_what_one_has_and_the_lines_make_a_hub(
    recommended: Recommendation,
) -> None:
    assert 3 <= len(recommended.metrics) <= 5
    hub = Hub([metric.spec for metric in recommended.metrics],
              **{name: "openai(model='m')" for name in recommended.options})  # fmt: skip
    assert {*hub.needs()} <= COLUMNS[recommended.have] | {"predictions"}
    words = shlex.split(recommended.command)
    specs = [after for word, after in pairwise(words) if word == "-m"]
    assert specs == [metric.spec for metric in recommended.metrics]
    compile(recommended.python, "lines", "exec")


def test_every_choice_is_offered_once() -> None:
    pairs = [(choice.evaluate, choice.have) for choice in ALL]
    assert len(pairs) == len({*pairs}) > 10


def test_metrics_that_people_s_ratings_were_held_to_come_first_the_best_of_them_before() -> None:
    measured = [[m.value for m in choice.metrics if m.value is not None] for choice in ALL]
    assert sum(map(bool, measured)) >= 2
    for choice, values in zip(ALL, measured, strict=True):
        assert [m.value for m in choice.metrics][: len(values)] == sorted(values, reverse=True)


def test_without_the_metrics_nothing_is_advised() -> None:
    assert recommendations(SiteIndex(())) == ()
