"""Page: agreement with the ratings that travelled, and the columns that count as ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrichub import Hub
from metrichub.agreement import page as people
from metrichub.agreement.page_columns import RatedColumns, rated_columns
from metrichub.errors import MissingColumn, ReportError
from metrichub.metric import Metric
from metrichub.report.report import Report
from tests.report.test_page import FEW, Page


@dataclass(frozen=True, kw_only=True)
class Words(Metric):
    """The number of words."""

    def observe(self, prediction: str) -> float:
        return float(len(prediction.split()))


def report_of(words: list[int], **columns: Any) -> Report:
    """A report whose samples score so many words, with columns that travelled."""
    texts = ["w " * number for number in words]
    rows = [
        {"prediction": text} | {name: values[i] for name, values in columns.items()}
        for i, text in enumerate(texts)
    ]
    return Hub(Words(name="words")).evaluate(rows)


def page_of(folder: Path, systems: Mapping[str, Report], **options: Any) -> Page:
    (name, first), *others = systems.items()
    path = folder / "report.html"
    first.to_html(path, name=name, others=dict(others), **{**FEW, **options})
    return Page(path)


def row_of(page: Page, metric: str) -> str:
    """The text of a row of the first table of the section."""
    section = page.source.partition('id="people"')[2]
    line = next(line for line in section.splitlines() if f"<tr><td>{metric}</td>" in line)
    return " ".join(line.replace("<", " <").replace(">", "> ").split())


def test_a_page_shows_what_agreement_says(tmp_path: Path) -> None:
    good = ["no"] * 5 + ["yes", "no"] + ["yes"] * 5
    report = report_of(list(range(1, 13)), stars=[*range(1, 11), 12, 11], good=good)
    page = page_of(tmp_path, {"": report}, resamples=200)
    # The last two change places: 1 - 6·2/(12·143) is rho; 65 pairs of 66 agree, tau-b 64/66.
    row = report.agreement("stars", draws=200).row(coefficient="spearman")
    bounds = f"0.993 [{row.low:.3f}, {row.high:.3f}]".replace("-", "−")
    assert bounds in row_of(page, "words")
    # Of 36 pairs of a good one with another, one has more words in the other.
    assert "0.972 [" in row_of(page, "words")
    assert "chance </td> <td> 0.000 </td> <td> 0.500" in row_of(page, "chance")
    assert "stars: Spearman's rho over all outputs at once." in page.text
    assert "In brackets: 95% intervals, by 200 bootstrap draws of samples." in page.text
    assert "words stars pooled tau_b 0.970" in page.text
    assert "agreement|values:pooled pearson,pooled spearman,pooled tau_b|" in page.text


def test_systems_are_compared_on_the_samples_that_they_share(tmp_path: Path) -> None:
    systems = {
        "a": report_of([1, 1, 1], stars=[1, 2, 1]),
        "by_b": report_of([2, 2, 2], stars=[2, 1, 2]),
    }
    page = page_of(tmp_path, systems)
    # Of the three samples more words are better in two: (1 - 1 + 1) / 3.
    assert "0.333 <" in row_of(page, "words")
    assert "over the outputs of each item, then the mean over items" in page.text
    assert "draws of systems and items" in page.text
    # The means are 4 / 3 and 5 / 3.
    message = "stars: by_b 1.67, a 1.33 (by_b rated higher in 2 of 3 samples, a in 1)"
    assert page.text.count(message) == 2


def test_labels_that_lay_out_nothing_are_left_aside(tmp_path: Path) -> None:
    # Two samples of one document by one system fit no grid of systems and items.
    labels = {"doc_id": ["d", "d", "e", "f"], "system": ["s"] * 4}
    page = page_of(tmp_path, {"": report_of([1, 2, 3, 4], stars=[1, 2, 4, 3], **labels)})
    assert "0.800 <" in row_of(page, "words")
    assert "over all outputs at once" in page.text


def test_columns_can_be_named(tmp_path: Path) -> None:
    report = report_of([1, 2, 3, 4], stars=[1, 2, 4, 3], length=[4, 5, 6, 7], note=list("abcd"))
    page = page_of(tmp_path, {"": report}, human="length")
    assert "The columns of people's ratings: length." in page.text
    assert "1.000 <" in row_of(page, "words")
    page = page_of(tmp_path, {"": report}, human=["length"])
    assert "The columns of people's ratings: length." in page.text
    assert "people" not in page_of(tmp_path, {"": report}, human=[]).data
    with pytest.raises(MissingColumn, match="did you mean 'stars'"):
        page_of(tmp_path, {"": report}, human="star")
    with pytest.raises(ReportError, match="'note' has no ratings"):
        page_of(tmp_path, {"": report}, human="note")


def test_a_page_without_ratings_has_no_section_and_no_script_of_it(tmp_path: Path) -> None:
    page = page_of(tmp_path, {"": report_of([1, 2])})
    assert "Agreement with people" not in page.text
    assert "people" not in page.data
    assert "scatter" not in page.values("id")


def test_hostile_columns_stay_inside_their_script(tmp_path: Path) -> None:
    name = "</script><!--<script>&\u2028\ud800"
    report = report_of([1, 2, 3, 4], **{name: [1, 2, 4, 3], "__proto__": [1, 1, 2, 2]})
    page = page_of(tmp_path, {"": report})
    assert [rating["name"] for rating in page.data["people"]["ratings"]] == [name, "__proto__"]
    # The exports, the data, the texts and the program.
    assert page.tags.count("script") == page.tags.count("/script") == 4
    assert "<!--" not in page.source


def test_answers_that_are_numbers_are_no_ratings() -> None:
    report = Hub("exact_match", extract="last_number").evaluate(
        predictions=["is 3", "is 1"] * 10, references=["3", "2"] * 10
    )
    assert set(report.metadata) == {"extract:last_number"}
    assert not rated_columns({"": report}).ratings


NAN = float("nan")


@pytest.mark.parametrize(
    ("ratings", "order"),
    [
        # A sample that only one system's people rated is in no pair.
        (
            [[1, 4, 2, 5], [1, 3, 2.5, NAN]],
            "a 3, b 2.17 (a rated higher in 1 of 3 samples, b in 1)",
        ),
        ([[1, 2], [3, 3], [2, 2.5]], "b 3, c 2.25, a 1.5"),
        ([[1, 2], [NAN, NAN], [2, 3]], "c 2.5, a 1.5 (c rated higher in 2 of 2 samples, a in 0)"),
    ],
)
def test_systems_are_ordered_by_their_ratings(ratings: list[list[float]], order: str) -> None:
    names = ["a", "b", "c"][: len(ratings)]
    columns = RatedColumns({"x": [np.array(rating) for rating in ratings]}, frozenset(), {}, names)
    assert people._mean_ratings(names, columns) == [f"x: {order}"]
    assert people._mean_ratings(names[:1], columns._replace(rated=names[:1])) == []
