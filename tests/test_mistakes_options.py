"""Options of calls that hold something else: one line that says what to give."""

from typing import Any

import pytest

from metrichub import Hub, compare_all
from metrichub.errors import InputError, ReportError

ROWS = [{"id": number, "prediction": "a b", "reference": "a c"} for number in range(3)]
HUB = Hub("wer")
REPORT = HUB.evaluate(ROWS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": 3}, r"keep names columns, keep=\['id'\], and not 3 \(int\)"),
        ({"keep": [None]}, "keep names columns, .* and not None"),
        ({"key": 3, "samples": False}, r"key names columns, key=\['id'\], and not 3 \(int\)"),
        ({"columns": "predictions=answer"}, "columns maps columns to their names"),
    ],
)
def test_options_of_columns_hold_names(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        HUB.evaluate(ROWS, **options)


def test_no_key_is_none() -> None:
    assert HUB.evaluate(ROWS, samples=False, key=None) == HUB.evaluate(ROWS, samples=False)
    assert HUB.evaluate(ROWS, key=None) == REPORT


def test_an_iterator_gives_tables_and_no_rows() -> None:
    with pytest.raises(InputError, match=r"rows one by one; give a list of them, list\(rows\)"):
        HUB.evaluate(row for row in ROWS)
    assert HUB.evaluate(iter([ROWS])).scores() == REPORT.scores()


@pytest.mark.parametrize("systems", [["a.jsonl"], "a.jsonl", None])
def test_several_systems_have_names(systems: Any) -> None:
    with pytest.raises(InputError, match="systems are given by their names"):
        HUB.evaluate_all(systems)


@pytest.mark.parametrize("other", [None, [REPORT], REPORT.scores()])
def test_reports_are_merged_and_compared_with_reports(other: Any) -> None:
    with pytest.raises(ReportError, match=r"merged with others, report\.merge\(one, other\)"):
        REPORT.merge(other)
    with pytest.raises(ReportError, match=r"b is .*, and no report"):
        compare_all({"a": REPORT, "b": other})
