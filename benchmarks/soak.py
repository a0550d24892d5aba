"""Valid load for twenty minutes: what each part takes at the end, beside after the first minute.

    python -m benchmarks.soak [--minutes 20]

Three parts run side by side: `metrichub serve`, whose pages are read, whose API scores and which is
sent files; `metrichub score --workers 2`, again and again in one process; and a judge, asked about
new texts in one process, whose server misbehaves in all the ways of `tests/judge_faults.py`. Memory
(what a part has for itself, and its share of the rest), open descriptors and processes are those of
a part with all that it started, the median over a minute. The command fails if anything grew, or is
left over. It reads /proc, so that it needs Linux.
"""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from itertools import count
from pathlib import Path
from typing import NamedTuple

import click
import httpx2
from rich.console import Console
from rich.table import Table

from benchmarks.kills import columns
from tests.app_client import serving as app_serving
from tests.judge_faults import RandomFaults
from tests.judge_stub import serving

METRICS = ("bleu", "rouge", "chrf", "wer")
_EVERY, _PATIENCE = 2.0, 30.0
_SLACK = {"memory in MB": 0.1, "descriptors": 0.1, "processes": 0.0, "temporary files": 0.0}
"""By which part a figure may be larger at the end."""


class Use(NamedTuple):
    """The resources of a part at one moment, with all that it started."""

    memory: float
    descriptors: int
    processes: int
    files: int


class Part:
    """A part of the load, its root process, and its folder of temporary files."""

    def __init__(self, name: str, process: int, folder: Path) -> None:
        self.name, self.process, self.folder = name, process, folder
        self.seen: list[Use] = []
        self.rounds = 0

    def look(self) -> None:
        """Note what it takes now."""
        family = [*descendants(self.process)]
        files = sum(len(names) for _, _, names in os.walk(self.folder))
        memory, descriptors = sum(map(proportional, family)), sum(map(open_files, family))
        self.seen.append(Use(memory, descriptors, len(family), files))

    def medians(self, minute: slice) -> list[float]:
        """The median of each figure."""
        return [statistics.median(column) for column in zip(*self.seen[minute], strict=True)]


@click.command()
@click.option("--minutes", default=20.0, show_default=True)
@click.option("--part", type=click.Choice(["score", "judge"]), hidden=True)
@click.option("--address", default="", hidden=True)
def main(minutes: float, part: str | None, address: str) -> None:
    """Print a table of what was taken, or run one part until it is told to end."""
    if part:
        again(part, address)
        return
    with tempfile.TemporaryDirectory() as folder:
        parts, left = watched(Path(folder), minutes * 60)
    table = Table("part", "rounds", "figure", "after a minute", "at the end", "at most", "")
    minute, grown = round(60 / _EVERY), False
    for process in parts:
        early = process.medians(slice(minute, 2 * minute))
        late = process.medians(slice(-minute, None))
        for name, first, last, most in zip(
            _SLACK, early, late, map(max, zip(*process.seen, strict=True)), strict=True
        ):
            grew = last > first * (1 + _SLACK[name])
            grown |= grew
            shown = (f"{first:,.0f}", f"{last:,.0f}", f"{most:,.0f}", "grew" if grew else "")
            table.add_row(process.name, f"{process.rounds:,}", name, *shown)
    console = Console(width=120)
    console.print(table)
    console.print(f"left over: {', '.join(left) or 'nothing'}")
    raise SystemExit(bool(grown or left))


def watched(folder: Path, seconds: float) -> tuple[list[Part], list[str]]:
    """The resources that the parts took, and those that were left over."""
    stop = threading.Event()
    (folder / "in.jsonl").write_text(samples(), encoding="utf-8")
    with serving() as faulty, child("score", folder) as score:
        faulty.always = RandomFaults(1)
        with child("judge", folder, faulty.url) as judge, served(folder) as (address, server):
            parts = [server, score, judge]
            visits = threading.Thread(target=visit, args=(address, folder, server, stop))
            visits.start()
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                for part in parts:
                    part.look()
                    if not proportional(part.process):
                        raise SystemExit(f"{part.name} ended")
                if not visits.is_alive():
                    raise SystemExit("the server refused a visit")
                # Requests of minutes ago are no leak of the program that is watched.
                faulty.asked.clear()
                time.sleep(_EVERY)
            stop.set()
            visits.join()
            family = [(part, [*descendants(part.process)]) for part in parts]
            for part in (score, judge):
                log = (folder / f"{part.name}.log").read_text("utf-8")
                part.rounds = log.count("round\n")
    # What watches the end of its parent sees it a moment later.
    end = time.monotonic() + _PATIENCE
    while (running := [(part, row) for part, of in family for row in of if proportional(row)]) and (
        time.monotonic() < end
    ):
        time.sleep(_EVERY)
    left = [f"process {number} of {part.name}" for part, number in running]
    left += [str(path) for part in parts for path in part.folder.rglob("*") if path.is_file()]
    return parts, left


@contextmanager
def child(name: str, folder: Path, address: str = "") -> Iterator[Part]:
    """A part in a process of its own, with a place for temporary files and a call store."""
    path = folder / name
    path.mkdir()
    command = [sys.executable, "-m", "benchmarks.soak", "--part", name, "--address", address]
    environment = {"TMPDIR": str(path), "METRICHUB_CACHE": str(folder), "OPENAI_API_KEY": "sk-none"}
    with (folder / f"{name}.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, env=os.environ | environment)
        try:
            yield Part(name, process.pid, path)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, Part]]:
    """The server, with its address."""
    path = folder / "serve"
    path.mkdir()
    runs = folder / "runs"
    with app_serving("--runs", str(runs), TMPDIR=str(path)) as (address, process):
        yield address, Part("serve", process.pid, path)


def visit(address: str, folder: Path, server: Part, stop: threading.Event) -> None:
    """Read pages, score by the API, and have a file scored, downloaded and deleted, until told."""
    lines = (folder / "in.jsonl").read_text("utf-8").splitlines()[:300]
    rows = [json.loads(line) for line in lines[:20]]
    inputs = {f"{name}s": [row[name] for row in rows] for name in ("prediction", "reference")}
    with httpx2.Client(base_url=address, timeout=120) as client:
        while not stop.is_set():
            for page in ("/", "/metrics/bleu", "/api/metrics", "/runs"):
                client.get(page).raise_for_status()
            client.post("/api/score", json={"metrics": [*METRICS], **inputs}).raise_for_status()
            asked = {"metric": [*METRICS]}
            run = client.post("/", data=asked, files={"file": ("a.jsonl", "\n".join(lines))})
            place = run.headers["location"]
            while client.get(f"{place}/state").json()["state"] in ("waiting", "running"):
                stop.wait(0.2)
            client.get(f"{place}/report.html").raise_for_status()
            assert client.post(f"{place}/delete").is_redirect
            server.rounds += 1


def again(part: str, address: str) -> None:
    """Do one part's work again and again; each round is a line."""
    work = scored if part == "score" else judged(address)
    try:
        while True:
            work()
            print("round", flush=True)
    except KeyboardInterrupt:
        pass


def scored() -> None:
    """The command line, in this process."""
    from metrichub.cli import main as program

    file = str(Path(os.environ["METRICHUB_CACHE"], "in.jsonl"))
    metrics = [word for name in METRICS for word in ("-m", name)]
    with tempfile.TemporaryFile("w") as output, redirect_stdout(output):
        try:
            program(["score", file, *metrics, "--workers", "2"], prog_name="metrichub")
        except SystemExit as ended:
            if ended.code:
                raise


def judged(address: str) -> Callable[[], object]:
    """A run of a judge over texts that no earlier one had."""
    from metrichub import Hub

    judge = f"openai(model='stub', base_url={address!r}, timeout=2.0)"
    hub, turn = Hub(["faithfulness", "answer_relevancy"], judge=judge, embedder="offline"), count()

    def ask() -> object:
        number = next(turn)
        texts = columns(50)
        texts["predictions"] = [f"{text} Round {number}." for text in texts["predictions"]]
        return hub.evaluate(texts).scores()

    return ask


def samples() -> str:
    """Enough samples for two workers, as JSONL."""
    draw = random.Random(1)
    words = [f"word{i}" for i in range(2000)]
    return "".join(
        f"{json.dumps({name: ' '.join(draw.choices(words, k=25)) for name in names})}\n"
        for names in [("prediction", "reference")] * 4_000
    )


def descendants(process: int) -> Iterator[int]:
    """A process and all that it started, which Linux lists by thread."""
    yield process
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            for started in children.read_text().split():
                yield from descendants(int(started))
        except OSError:
            continue


def proportional(process: int) -> float:
    """The megabytes of a process, with its share of what others have too; 0 once it has ended."""
    try:
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    kilobytes = [line.split()[1] for line in rollup.splitlines() if line.startswith("Pss:")]
    return int(kilobytes[0]) / 1000 if kilobytes else 0.0


def open_files(process: int) -> int:
    """How many descriptors a process has."""
    try:
        return len(os.listdir(f"/proc/{process}/fd"))
    except OSError:
        return 0


if __name__ == "__main__":
    main()
