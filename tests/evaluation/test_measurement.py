"""Measurements: what is left of each part of one that is grouped, pooled or merged."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from metrichub import Hub, Report
from metrichub.evaluation.explanation import Trace
from metrichub.evaluation.measurement import with_facts
from metrichub.evaluation.script_coverage import LetterCounts
from metrichub.models.usage import Usage

STEP = [{"claim": "x"}]


def full(name: str = "a") -> Report:
    """A report of three samples, of which every part holds something."""
    rows = [
        {"prediction": text, "reference": "a b", "id": f"{name}{i}"}
        for i, text in enumerate(("a b", "a", "c c"))
    ]
    report = Hub("wer").evaluate(rows)
    result = report.results["wer"]
    return with_facts(
        replace(
            report,
            traces={"wer": Trace.of({2: STEP}, {1: "down"}, {2: ["key"]})},
            runs={"wer": (result, result)},
        ),
        usage=Usage(calls=2),
        blanks={"predictions": Counter({"NaN": 1})},
        script_coverage={"wer": {"none": LetterCounts(5, Counter(Han=2), Counter())}},
        mixed_forms={"wer": (name,)},
        read_from={"predictions": (name,)},
        lengths=np.array([[2, 1], [1, 1], [2, 1]]),
        unextracted={"answer": 0},
    )


def test_samples_that_are_taken_have_their_own_parts_alone() -> None:
    taken = with_facts(full(), unextracted={}).take([1, 2])
    assert (taken.size, [size for size, _ in taken.fingerprints]) == (2, [2])
    assert taken.scores()["wer"]["score"] == 3 / 4
    trace = taken.traces["wer"]
    assert (trace.errors, trace.steps, trace.calls) == ({0: "down"}, {1: STEP}, {1: ["key"]})
    assert [run.scores()["score"] for run in taken.runs["wer"]] == [3 / 4] * 2
    assert taken.metadata == {"id": ["a1", "a2"]}
    assert taken.texts is not None
    assert taken.texts[1]["predictions"] == "c c"
    assert taken.lengths is not None
    assert taken.lengths.tolist() == [[1, 1], [2, 1]]
    # What belongs to all samples together is left out.
    assert (taken.usage, taken.blanks, taken.script_coverage, taken.mixed_forms) == (
        Usage(),
        {},
        {},
        {},
    )
    assert taken.read_from == {"predictions": ("a",)}


def test_a_pooled_measurement_keeps_what_its_scores_and_notes_need() -> None:
    report = full()
    pooled = report.pool()
    assert pooled.scores() == report.scores()
    assert pooled.counts() == report.counts()
    assert all(result.pooled for result in (*pooled.results.values(), *pooled.runs["wer"]))
    trace = pooled.traces["wer"]
    assert (trace.errors, trace.steps, trace.calls) == ({}, {}, {})
    assert trace.errors_by_cause == {"down": 1}
    assert (pooled.texts, pooled.metadata, pooled.buckets) == (None, {}, None)
    assert pooled.lengths is not None
    assert pooled.lengths.tolist() == [[5, 3]]
    assert (pooled.usage, pooled.script_coverage) == (report.usage, report.script_coverage)
    assert pooled.notes() == report.notes()


def test_a_merged_measurement_has_the_parts_of_both() -> None:
    merged = full("a").merge(full("b"))
    assert (merged.size, [size for size, _ in merged.fingerprints]) == (6, [3, 3])
    assert merged.scores()["wer"]["score"] == 3 / 6
    trace = merged.traces["wer"]
    assert (trace.errors, trace.steps) == ({1: "down", 4: "down"}, {2: STEP, 5: STEP})
    assert [run.count for run in merged.runs["wer"]] == [6, 6]
    assert merged.usage.calls == 4
    assert merged.blanks == {"predictions": {"NaN": 2}}
    assert merged.script_coverage == {"wer": {"none": LetterCounts(10, Counter(Han=4), Counter())}}
    assert merged.mixed_forms == {"wer": ("a", "b")}
    assert merged.read_from == {"predictions": ("a", "b")}
    assert merged.metadata == {"id": ["a0", "a1", "a2", "b0", "b1", "b2"]}
    assert merged.items_per_sample == {"predictions": (1, 1), "references": (1, 1)}
    assert merged.texts is not None
    assert merged.texts.size == 6
    assert merged.lengths is not None
    assert merged.lengths.tolist() == [[2, 1], [1, 1], [2, 1]] * 2
    assert merged.unextracted == {"answer": 0}
    assert merged.buckets is None
