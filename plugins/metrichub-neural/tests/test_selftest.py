"""`metrichub selftest`: published scores beside those of this machine."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from metrichub_neural.selftest import selftest

from metric_cards.exact_match import ExactMatch
from metrichub.authoring import Published

COLUMNS = {"predictions": ["a", "b"], "references": ["a", "c"]}


@pytest.mark.parametrize(("second", "status"), [(0.004, 0), (0.006, 1)])
def test_a_score_that_differs_by_more_than_its_tolerance_fails(
    monkeypatch: pytest.MonkeyPatch, second: float, status: int
) -> None:
    # Equal texts score 1, others 0.
    example = Published("A page", {"name": "em"}, COLUMNS, {"score": [1.0, second]}, 0.005)
    monkeypatch.setattr(ExactMatch, "published", (example,))
    shown = CliRunner().invoke(selftest, ["exact_match"])
    assert shown.exit_code == status
    assert "A page" in shown.stdout
    assert "score 1: 1.000000, published 1  ok" in shown.stdout
    assert shown.stdout.count("DIFFERS by more than 0.005") == status


def test_a_metric_without_published_scores_is_named() -> None:
    shown = CliRunner().invoke(selftest, ["bleu"])
    assert (shown.exit_code, "bleu names no published scores" in shown.stderr) == (2, True)
