"""What is measured for the tests of report files in a browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrichub import Hub
from metrichub.metric import Metric, Unscored
from metrichub.report.html import write

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from metrichub import Report

FEW: dict[str, Any] = {"resamples": 20, "trials": 20}
ATTACKS = (
    "</script><script>window.hit = 1</script>",
    "<img src=x onerror='window.hit = 2'>",
    "<a href='javascript:window.hit = 3'>link</a> [link](javascript:window.hit=3)",
    "</style><style>body { display: none }</style>",
    '"}]</script><svg onload="window.hit = 4">',
    "<!--<script>",
    "{{ 7 * 7 }} {% raw %} \u2028 \u2029 \x00 \ud800",
    "</td></table><h1>mine</h1>",
)


@dataclass(frozen=True, kw_only=True)
class Told(Metric):
    """A metric whose reasons and explanations repeat the text, as a judge may."""

    def observe(self, prediction: str) -> float | Unscored:
        return Unscored(prediction) if "script" in prediction else float(len(prediction))

    def explain(self, prediction: str) -> Mapping[str, Any]:
        claim = {"index": 0, "item": prediction, "verdict": "yes", "reason": prediction}
        marks = [{"text": prediction, "kind": "copied", "length": 1}]
        run = {"kind": "insert", "prediction": prediction, "reference": "", "size": 1}
        return {"claims": [claim], "marks": marks, "runs": [run], prediction: [prediction]}


def numbered(size: int, wrong: int = 0) -> dict[str, Any]:
    """Sample i has i % 10 of its 10 words wrong, and some more: wer (i % 10 + wrong) / 10."""
    words = [f"w{k}" for k in range(10)]
    return {
        "predictions": [
            " ".join(["x"] * min(i % 10 + wrong, 10) + words[min(i % 10 + wrong, 10) :] + [f"n{i}"])
            for i in range(size)
        ],
        "references": [" ".join([*words, f"n{i}"]) for i in range(size)],
    }


def shown(folder: Path, report: Report, **options: Any) -> str:
    """The address of the page of a report."""
    report.to_html(folder / "report.html", **{"resamples": 2, **options})
    return (folder / "report.html").as_uri()


def page_of(
    folder: Path,
    metrics: Sequence[Any],
    references: Sequence[str] | None,
    systems: Mapping[str, Sequence[str]],
) -> str:
    """The address of a report of these predictions of systems."""
    hub, path = Hub(metrics), folder / "report.html"
    options = {} if references is None else {"references": references}
    measured = {name: hub.evaluate(predictions=texts, **options) for name, texts in systems.items()}
    write(path, measured, **FEW)
    return path.as_uri()


def write_two(folder: Path) -> str:
    """The address of a report of two systems, of which the second is worse in two samples."""
    hub = Hub(["wer", "token_f1"])
    worse = numbered(30)
    worse["predictions"][7:9] = numbered(30, 5)["predictions"][7:9]
    systems = {"a.jsonl": hub.evaluate(**numbered(30)), "b.jsonl": hub.evaluate(**worse)}
    path = folder / "report.html"
    write(path, systems, ids=[f"id{i}" for i in range(30)], **FEW)
    return path.as_uri()


def write_many(folder: Path, number: int, size: int = 40) -> str:
    """The address of a report of several systems, of which system k has k more words wrong."""
    hub = Hub(["wer"])
    systems = {f"system {k}": hub.evaluate(**numbered(size, k)) for k in range(number)}
    write(folder / "report.html", systems, **FEW)
    return (folder / "report.html").as_uri()


def unfold(page: Page) -> None:
    """Open the parts of a report that are folded at first."""
    page.evaluate("document.querySelectorAll('.part').forEach(part => { part.open = true; })")


def opened(page: Page, sample: int) -> Locator:
    """A sample of a report, opened by its button."""
    page.locator(f"button[data-sample='{sample}']").click()
    return page.locator(f"#sample-{sample}")
