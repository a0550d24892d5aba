"""Traces: what is known of samples when parts are joined and when some are taken."""

from __future__ import annotations

from dataclasses import replace

from metrichub import Hub
from metrichub.evaluation.explanation import CUT, Trace

STEP = [{"claim": "It rains."}]
PART = Trace.of({1: STEP}, {2: "no reply"}, {1: ["key"]}, {3: "in a batch"})
"""A part of four samples: one with nothing, one with steps, one that failed, one that waits."""


def test_what_judges_left_out_and_how_they_voted_is_counted() -> None:
    votes = [{"verdict": "yes", "votes": [{"verdict": "yes"}, {"verdict": None}]}]
    long, short = {CUT: ["the context", "a claim"]}, {CUT: ["a claim"], "claims": votes}
    part = Trace.of({0: [long, short], 3: [short]}, {1: "no reply"}, {}, {2: "in a batch"})
    assert part.cuts == {"the context": 1, "a claim": 3}
    assert part.votes == {'["yes", null]': 2}
    joined = Trace.joined([(0, part), (4, part.pool())])
    assert (joined.cuts, joined.votes) == (
        {"the context": 2, "a claim": 6},
        part.votes + part.votes,
    )
    assert (joined.errors_by_cause, joined.pending_by_cause) == ({"no reply": 2}, {"in a batch": 2})
    # Of the part that was pooled only the counts are left.
    assert (set(joined.steps), set(joined.errors), set(joined.pending)) == ({0, 3}, {1}, {2})


def test_a_note_says_what_was_cut() -> None:
    report = Hub("ttr").evaluate(predictions=["a b " * 50])
    cut = replace(report, traces={"ttr": Trace(cuts={"the context": 2})})
    assert cut.notes() == {"ttr": ["2 cut: the context"]}
