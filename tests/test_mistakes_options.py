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
        ({"keep": 3}, r"keep takes names of columns, keep=\['id'\], not 3 \(int\)"),
        ({"keep": [None]}, "keep takes names of columns, .* not None"),
        ({"key": 3, "samples": False}, r"key takes names of columns, key=\['id'\], not 3 \(int\)"),
        ({"columns": {"predictions": ["prediction"]}}, r"to one name, .* not to \['prediction'\]"),
        ({"cluster": "id"}, "cluster isn't a column; pass it to the report: report.intervals"),
        ({"columns": {1: "prediction"}}, r"columns maps names of columns, .* not 1 \(int\)"),
        ({"columns": "predictions=answer"}, "columns must be a mapping, .* not "),
    ],
)
def test_options_of_columns_hold_names(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        HUB.evaluate(ROWS, **options)


def test_a_column_that_is_none_is_a_column_and_no_slip_of_an_option() -> None:
    with pytest.raises(InputError, match=r"^contexts is None; .* per sample, or leave it out$"):
        HUB(predictions=["a"], references=["a"], contexts=None)  # type: ignore[arg-type]  # a slip


def test_no_key_is_none() -> None:
    assert HUB.evaluate(ROWS, samples=False, key=None) == HUB.evaluate(ROWS, samples=False)
    assert HUB.evaluate(ROWS, key=None) == REPORT


def test_an_iterator_gives_tables_and_no_rows() -> None:
    with pytest.raises(InputError, match=r"yields single rows; pass a list of them, list\(rows\)"):
        HUB.evaluate(row for row in ROWS)
    assert HUB.evaluate(iter([ROWS])).scores() == REPORT.scores()
    assert HUB.evaluate(iter([ROWS])).counts() == REPORT.counts()


@pytest.mark.parametrize("systems", [["a.jsonl"], "a.jsonl", None])
def test_several_systems_have_names(systems: Any) -> None:
    with pytest.raises(InputError, match=r"systems have names: pass .* not "):
        HUB.evaluate_all(systems)


@pytest.mark.parametrize("other", [None, [REPORT], REPORT.scores()])
def test_reports_are_merged_and_compared_with_reports(other: Any) -> None:
    with pytest.raises(ReportError, match=r"merge takes reports, report\.merge\(one, other\)"):
        REPORT.merge(other)
    with pytest.raises(ReportError, match=r"b is .*, not a report"):
        compare_all({"a": REPORT, "b": other})
