"""Several references or predictions of a sample: the best one counts, whatever best means."""

from __future__ import annotations

from typing import Any

import pytest

from metrichub import Hub

BRIDGE = "The bridge was built in 1932."
PAINTED = "It was painted green."


@pytest.mark.parametrize(
    ("spec", "columns", "score"),
    [
        ("carburacy", {"predictions": "a b", "references": ["c", "a b"]}, 1),
        ("character", {"predictions": "abcd", "references": ["wxyz", "abcx"]}, 1 / 4),
        # 1 edit of 5 characters against "lawn", 4 of 5 against "l".
        ("edit_similarity", {"predictions": "lawns", "references": ["l", "lawn"]}, 4 / 5),
        ("eed", {"predictions": "a cat", "references": ["a dog", "a cat"]}, 0),
        ("exact_match", {"predictions": "b", "references": ["a", "b", "c"]}, 1),
        ("token_f1", {"predictions": ["x", "cat"], "references": ["dog", "cat"]}, 1),
        ("json_validity", {"predictions": ["{", "{}"]}, 1),
        ("factual_correctness", {"predictions": BRIDGE, "references": [PAINTED, BRIDGE]}, 1),
        ("context_recall", {"references": [BRIDGE, PAINTED], "contexts": [BRIDGE]}, 1),
        (
            "context_entity_recall",
            {"references": ["Bern and Thun", "Bern"], "contexts": ["It is in Bern."]},
            1,
        ),
        # No passage is useful for the first reference; for the other the second one is.
        (
            "context_precision",
            {
                "questions": "When was the bridge built?",
                "references": ["Fish.", BRIDGE],
                "contexts": [PAINTED, BRIDGE],
            },
            1 / 2,
        ),
        # By the second reference the year is wrong, but the passage holds no claim of it.
        (
            "noise_sensitivity",
            {
                "predictions": f"{BRIDGE} {PAINTED}",
                "references": [BRIDGE, PAINTED],
                "contexts": [BRIDGE],
            },
            0,
        ),
        # Less is better: the first answer's one claim has a number that isn't there.
        (
            "hallucination",
            {"predictions": [BRIDGE.replace("32", "23"), BRIDGE], "contexts": [BRIDGE]},
            0,
        ),
    ],
)
def test_the_best_of_several_counts(spec: str, columns: dict[str, Any], score: float) -> None:
    hub = Hub([spec], judge="offline")
    (scores,) = hub(**{name: [value] for name, value in columns.items()}).values()
    assert scores["score"] == pytest.approx(score)
