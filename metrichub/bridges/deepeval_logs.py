"""Reader of what deepeval saves: test runs with scores, and data sets as CSV or JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from metrichub.data.readers import Row

_KEYS = {"actual_output", "retrieval_context", "expected_tools", "custom_column_key_values"}
_JOINED = ("retrieval_context", "context")
_TEST_CASE = {
    "name": "id",
    "input": "input",
    "actualOutput": "actual_output",
    "expectedOutput": "expected_output",
    "retrievalContext": "retrieval_context",
    "context": "context",
    "toolsCalled": "tools_called",
    "expectedTools": "expected_tools",
    "success": "success",
}
"""The fields of a test case that are read, and what deepeval's own rows call them."""


def matches(row: Row) -> bool:
    """Whether this is a row of a data set, or a test run."""
    return row.keys() >= _KEYS or isinstance(_test_run(row).get("testCases"), list)


def describe(row: Row, path: str) -> dict[str, Any]:
    """The metrics of a test run, and whether a case succeeded.

    A metric's direction is what its verdicts and threshold show.
    """
    cases = _test_run(row).get("testCases")
    if not isinstance(cases, list):
        return {}
    recorded: dict[str, dict[str, Any]] = {"success": {"better": "higher", "share": True}}
    for metric in (metric for case in cases for metric in case.get("metricsData") or ()):
        facts = recorded.setdefault(str(metric["name"]), {})
        score, threshold, passed = (metric.get(key) for key in ("score", "threshold", "success"))
        if None not in (score, threshold, passed) and score != threshold:
            facts["better"] = "higher" if (score > threshold) == passed else "lower"
    return {"recorded": recorded}


def read(rows: Iterator[Row], path: str) -> Iterator[Row]:
    """The rows with their passages as lists, or the test cases of a run in their order.

    Raises:
        ValueError: the run has conversations alone.
    """
    for row in rows:
        if row.keys() >= _KEYS:
            yield row | {name: _split(row[name]) for name in _JOINED if name in row}
            continue
        run = _test_run(row)
        if not run["testCases"] and run.get("conversationalTestCases"):
            raise ValueError(
                "this test run holds conversations; only single-turn test cases can be read"
            )
        for case in sorted(run["testCases"], key=lambda case: case.get("order") or 0):
            metrics = case.get("metricsData") or ()
            scores = {str(metric["name"]): metric.get("score") for metric in metrics}
            yield scores | {name: case.get(key) for key, name in _TEST_CASE.items()}


def _test_run(row: Row) -> Mapping[str, Any]:
    run = row.get("testRunData", row)
    return run if isinstance(run, Mapping) else {}


def _split(passages: Any) -> Any:
    """The passages of a row, which are joined by bars."""
    return passages.split("|") if isinstance(passages, str) and passages else passages
