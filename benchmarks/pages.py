"""The cost of a report page: processor time to score and write it, its size, and its opening.

    python -m benchmarks.pages [--only large]

Each page is made by a process of its own. The systems are those of newstest2016 (generated texts
where that isn't there) and copies of it that lack words. The page is opened in Chromium where
there is one; it counts as open when the list of samples is filled.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console
from rich.table import Table

from benchmarks.corpora import generated, real
from metrichub import Hub
from metrichub.report.html import write

SIX = ("bleu", "chrf", "wer", "rouge", "ter", "meteor")
FOUR = ("bleu", "wer", "rouge", "abstractness")


class Case(NamedTuple):
    """A page of so many systems and samples."""

    name: str
    systems: int
    samples: int
    metrics: tuple[str, ...]


class Cost(NamedTuple):
    """Processor seconds, those of writing the page alone, and the page's bytes."""

    seconds: float
    page: float
    size: int


CASES = {
    case.name: case
    for case in (
        Case("systems", 5, 2999, SIX),
        Case("many", 12, 100, ("bleu", "rouge", "chrf")),
        Case("large", 1, 100_000, FOUR),
        Case("pair", 2, 100_000, ("bleu", "rouge", "chrf")),
    )
}


@click.command()
@click.option("--only", type=click.Choice(list(CASES)), help="This page alone.")
def main(only: str | None) -> None:
    """Print a row a page."""
    table = Table("systems", "samples", "metrics", "CPU s", "of it the page", "MB", "open after s")
    with tempfile.TemporaryDirectory() as folder:
        for name, case in CASES.items():
            if only not in (None, name):
                continue
            path = Path(folder, f"{name}.html")
            cost = _in_process(case, path)
            opened = _opening(path)
            table.add_row(
                *(str(case.systems), f"{case.samples:,}", str(len(case.metrics))),
                *(f"{cost.seconds:.0f}", f"{cost.page:.0f}", f"{cost.size / 1e6:.1f}"),
                "–" if opened is None else f"{opened:.1f}",
            )
    Console(width=100).print(table)


def _in_process(case: Case, path: Path) -> Cost:
    command = [sys.executable, "-m", "benchmarks.pages", "--worker", json.dumps([*case]), str(path)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Cost(*json.loads(ran.stdout))


def cost_of(case: Case, path: Path) -> Cost:
    """Score the systems of a case and write their page."""
    texts = real(case.samples) or generated(case.samples)
    systems = {"full": texts.predictions}
    for number in range(1, case.systems):
        source = random.Random(number)
        systems[f"lacks {3 * number}%"] = [
            " ".join(word for word in text.split() if source.random() > 0.03 * number) or "the"
            for text in texts.predictions
        ]
    hub = Hub(list(case.metrics))
    reports = {
        name: hub.evaluate(predictions=predictions, references=texts.references)
        for name, predictions in systems.items()
    }
    before = time.process_time()
    write(path, reports)
    seconds = time.process_time()
    return Cost(seconds, seconds - before, path.stat().st_size)


def _opening(path: Path) -> float | None:
    """Seconds until the samples are listed; None without a browser."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if chromium is None:
        return None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        before = time.perf_counter()
        page.goto(path.as_uri(), timeout=120_000)
        page.locator("#table tbody tr").first.wait_for(timeout=120_000)
        seconds = time.perf_counter() - before
        browser.close()
    return seconds


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        name, systems, samples, metrics = json.loads(sys.argv[2])
        print(json.dumps(cost_of(Case(name, systems, samples, tuple(metrics)), Path(sys.argv[3]))))
    else:
        main()
