"""Reports keep short columns that no metric reads."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, Report
from metrichub.data.metadata import LONGEST, joined_metadata
from metrichub.errors import InputError, MissingColumn, ReportError

ROWS = [
    {"prediction": "the cat", "reference": "the cat", "id": "a", "system": "x", "ratings": [3, 5]},
    {"prediction": "the dog", "reference": "the cat", "id": "b", "system": None, "ratings": [1, 2]},
    {"prediction": "a cat", "reference": "the cat", "id": "c", "system": "y", "ratings": [4, 4]},
]
KEPT = {"id": ["a", "b", "c"], "system": ["x", None, "y"], "ratings": [[3, 5], [1, 2], [4, 4]]}
HUB = Hub("exact_match")


def tables(rows: Sequence[Mapping[str, Any]] = ROWS) -> Iterator[object]:
    """The same samples as tables of several libraries."""
    import datasets
    import pandas
    import pyarrow

    columns = {name: [row[name] for row in rows] for name in rows[0]}
    yield rows
    yield columns
    yield pandas.DataFrame(rows)
    yield pyarrow.Table.from_pylist(rows)
    yield datasets.Dataset.from_list(rows)


def test_short_columns_stay_with_the_report_of_every_kind_of_table() -> None:
    for table in tables():
        assert HUB.evaluate(table).metadata == KEPT, type(table)


def test_a_path_keeps_what_is_inside_a_column_and_names_a_sample() -> None:
    topics = ["pets", "pets", "wild"]
    rows = [
        row | {"doc": {"topic": topic, "number": number}, "tags": [topic[0], "-"]}
        for number, (row, topic) in enumerate(zip(ROWS, topics, strict=True))
    ]
    for table in tables(rows):
        report = HUB.evaluate(table, keep=["doc.topic", "tags.0"])
        assert report.metadata == {"doc.topic": topics, "tags.0": ["p", "p", "w"]}, type(table)
        assert [group.size for group in report.by("doc.topic").values()] == [2, 1]
        by_path = HUB.evaluate(table, samples=False, key="doc.number")
        by_name = HUB.evaluate(
            predictions=[row["prediction"] for row in rows],
            references=[row["reference"] for row in rows],
            number=[0, 1, 2],
            samples=False,
            key="number",
        )
        assert by_path.intervals() == by_name.intervals(), type(table)
    with pytest.raises(InputError, match=r"doc\.topc\[0\] doesn't exist: .*did you mean 'topic'"):
        HUB.evaluate(rows, keep="doc.topc")
    with pytest.raises(MissingColumn, match=r"names the column 'dok\.topic', which doesn't exist"):
        HUB.evaluate(rows, keep="dok.topic")


def test_columns_given_by_name_stay_too() -> None:
    report = HUB.evaluate(predictions=["a"], references=["a"], doc_id=iter([7]))
    assert report.metadata == {"doc_id": [7]}


def test_texts_that_metrics_could_read_long_texts_and_mappings_do_not_travel() -> None:
    rows = [
        row | {"question": "why?", "note": "n" * LONGEST, "page": "p" * (LONGEST + 1), "doc": {}}
        for row in ROWS
    ]
    assert set(HUB.evaluate(rows).metadata) == {*KEPT, "note"}


def test_a_column_that_is_too_long_in_a_later_table_travels_from_none() -> None:
    late = [[row | {"page": "p" * length}] for row, length in zip(ROWS, (1, 2, 999), strict=True)]
    assert HUB.evaluate(iter(late)).metadata == KEPT


def test_a_table_without_a_column_has_none_there() -> None:
    parts = [
        [{k: v for k, v in row.items() if k != drop}]
        for row, drop in zip(ROWS, ("system", "id", "x"), strict=True)
    ]
    report = HUB.evaluate(iter(parts))
    assert report.metadata == KEPT | {"system": [None, None, "y"], "id": ["a", None, "c"]}


def test_keep_names_the_columns_that_travel() -> None:
    assert HUB.evaluate(ROWS, keep="id").metadata == {"id": KEPT["id"]}
    assert HUB.evaluate(ROWS, keep=["id", "prediction"]).metadata == {
        "id": KEPT["id"],
        "prediction": ["the cat", "the dog", "a cat"],
    }
    assert HUB.evaluate(ROWS, keep=[]).metadata == {}


def test_a_column_to_keep_that_is_not_there_is_an_error() -> None:
    with pytest.raises(MissingColumn, match=r"keep names the column 'ids', .*did you mean 'id'"):
        HUB.evaluate(ROWS, keep="ids")


def test_a_long_column_is_left_out_unless_it_is_named() -> None:
    rows = [row | {"page": "p" * (LONGEST * (row["id"] == "b") + 1)} for row in ROWS]
    report = HUB.evaluate(rows)
    left_out = r"metrics read it, or a value has over 200 characters; .* keep=\['page'\]"
    with pytest.raises(ReportError, match=left_out):
        report.by("page")
    groups = HUB.evaluate(rows, keep="page").by("page")
    assert list(groups) == list(dict.fromkeys(row["page"] for row in rows))


def test_a_column_that_can_not_be_kept_is_an_error_where_it_was_asked_for() -> None:
    with pytest.raises(InputError, match=r"doc\[0\] is \{\} \(dict\); only columns of numbers"):
        HUB.evaluate([row | {"doc": {}} for row in ROWS], keep="doc")


def test_numbers_dates_and_missing_values_become_those_of_json() -> None:
    import pandas

    frame = pandas.DataFrame(
        {
            "prediction": ["a", "b"],
            "reference": ["a", "b"],
            "when": pandas.to_datetime(["2026-01-02", None]),
            "kind": pandas.Categorical(["q", "r"]),
            "number": np.array([1, 2], np.int8),
            "share": [0.5, np.nan],
        }
    )
    assert HUB.evaluate(frame).metadata == {
        "when": ["2026-01-02T00:00:00", None],
        "kind": ["q", "r"],
        "number": [1, 2],
        "share": [0.5, None],
    }
    more = {"day": [datetime.date(2026, 1, 2)], "seen": [np.True_]}
    metadata = HUB.evaluate(predictions=["a"], references=["a"], **more).metadata
    assert metadata == {"day": ["2026-01-02"], "seen": [True]}
    assert metadata["seen"][0] is True


def test_sums_alone_keep_no_columns() -> None:
    assert HUB.evaluate(ROWS, samples=False).metadata == {}
    assert HUB.evaluate(ROWS).pool().metadata == {}


def test_columns_are_saved_and_merged(tmp_path: Path) -> None:
    first, last = HUB.evaluate(ROWS[:1]), HUB.evaluate(ROWS[1:], keep=["id", "system"])
    merged = first.merge(last)
    assert merged.metadata == KEPT | {"ratings": [[3, 5], None, None]}
    merged.save(tmp_path / "report.json")
    assert Report.load(tmp_path / "report.json").metadata == merged.metadata


def test_a_data_frame_begins_with_the_columns_that_travelled() -> None:
    frame = HUB.evaluate(ROWS).to_frame()
    assert list(frame) == ["id", "system", "ratings", "exact_match.score"]
    assert frame["id"].tolist() == ["a", "b", "c"]


@given(st.lists(st.tuples(st.integers(0, 3), st.sets(st.sampled_from("abc"))), max_size=5))
def test_joining_keeps_every_value_at_its_sample(parts: list[tuple[int, set[str]]]) -> None:
    sizes = [size for size, _ in parts]
    given_parts = [
        (size, {name: [f"{name}{number}{i}" for i in range(size)] for name in columns})
        for number, (size, columns) in enumerate(parts)
    ]
    joined = joined_metadata(given_parts)
    for name, values in joined.items():
        expected = [
            f"{name}{number}{i}" if name in columns else None
            for number, (size, columns) in enumerate(parts)
            for i in range(size)
        ]
        assert values == expected
        assert len(values) == sum(sizes)


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
def test_dates_of_numpy_are_those_of_files(unit: str) -> None:
    days = np.array(["2024-01-01", "2024-01-02", "NaT"], f"M8[{unit}]")
    table = {"prediction": ["a", "b", "c"], "reference": ["b", "b", "b"], "day": days}
    expected = [str(day)[:10] for day in days[:2].astype("M8[D]")]
    result = Hub("wer").evaluate(table).metadata["day"]
    assert [str(value)[:10] for value in result] == [*expected, "None"]
    assert Hub("wer").evaluate({**table, "day": list(days)}).metadata["day"] == result


def test_dates_finer_than_pythons_stay_apart() -> None:
    times = np.array([1, 2], "M8[ns]")
    table = {"prediction": ["a", "b"], "reference": ["b", "b"], "time": times}
    report = Hub("wer").evaluate(table)
    assert [text[-9:] for text in report.metadata["time"]] == ["000000001", "000000002"]
    summed = [
        Hub("wer").evaluate({**table, "time": values}, samples=False, key="time")
        for values in (times, list(times), report.metadata["time"])
    ]
    assert summed[0] == summed[1] == summed[2]
