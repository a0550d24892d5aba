"""How long the page of a comparison is before anything is unfolded, by real summaries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")

from metrichub import Hub
from metrichub.report.html import write
from tests.browser.reports import FEW
from tests.summeval import cut

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

METRICS = ["bleu", "chrf", "rouge", "ter", "meteor", "wer"]


@pytest.mark.parametrize(("number", "answer"), [(2, "#ranges"), (6, "#board"), (10, "#wins")])
def test_a_comparison_takes_four_screens_and_its_answer_the_first(
    page: Page, tmp_path: Path, number: int, answer: str
) -> None:
    hub, rows = Hub(METRICS), cut()
    systems = {}
    for name in list(dict.fromkeys(row["system"] for row in rows))[:number]:
        own = [row for row in rows if row["system"] == name]
        systems[name] = hub.evaluate(
            predictions=[row["hyp"] for row in own],
            references=[row["refs"] for row in own],
            id=[row["doc_id"] for row in own],
        )
    write(tmp_path / "report.html", systems, **FEW, explained=1)
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto((tmp_path / "report.html").as_uri())
    page.locator("#table tbody tr").first.wait_for()
    assert page.evaluate("document.documentElement.scrollHeight") <= 4 * 900
    box = page.locator(answer).bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 900
