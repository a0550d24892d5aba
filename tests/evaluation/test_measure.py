"""Measuring in parts and processes: what comes out never depends on how the work was cut."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from metrichub import Hub, Report
from metrichub.catalog.card import Card
from metrichub.data.batch import Block
from metrichub.errors import (
    FileError,
    InputError,
    MetricError,
    MetrichubError,
    MissingColumn,
    MissingDependency,
    ParameterError,
    ScoringError,
    UnknownParameter,
)
from metrichub.evaluation import run, workers
from metrichub.evaluation.workers import processes
from metrichub.metric import Metric, Row
from metrichub.text import Texts
from tests.toy_metrics import Errors, InContext, Known, Length, Overlap, Variety, card

# Counts and fractions, several candidates on both sides, unscored rows with reasons, and a metric
# that doesn't add up.
HUB = Hub(
    [Overlap(), Known(), Length(), Errors(), Variety(), InContext(), "bleu", "rouge", "chrf"],
    block_characters=60,
)
WORDS = ["the cat", "", "a dog is here", "cat the mat on", "é 天气 x", "mat", "dogs are a b c d"]
SIZE = 60
COLUMNS: dict[str, list[Any]] = {
    "predictions": [[WORDS[i % 7], WORDS[i % 5]] if i % 3 else WORDS[i % 7] for i in range(SIZE)],
    "references": [[WORDS[j % 7] for j in range(i, i + 1 + i % 3)] for i in range(SIZE)],
    "contexts": [[WORDS[i % 4]] * (i % 3) for i in range(SIZE)],
}


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "PART_CHARACTERS", 200)


def batches(size: int) -> Iterator[dict[str, list[Any]]]:
    for start in range(0, SIZE, size):
        yield {name: values[start : start + size] for name, values in COLUMNS.items()}


def assert_identical(row: Report, other: Report) -> None:
    """Equal in every bit: reports are compared as the text that they are saved as."""
    assert row == other
    assert row.notes() == other.notes()
    assert (row.fingerprints, row.items_per_sample) == (other.fingerprints, other.items_per_sample)


# However the work is cut.


@pytest.mark.parametrize("samples", [True, False])
@pytest.mark.parametrize(
    "data", [lambda: COLUMNS, lambda: batches(1), lambda: batches(7)], ids=["whole", "1", "7"]
)
def test_several_processes_give_every_bit_that_one_gives(data: Any, samples: bool) -> None:
    first, two = (HUB.evaluate(data(), samples=samples, workers=n) for n in (1, 2))
    assert first.results["overlap"].unscored
    assert first.results["overlap"].reasons
    assert_identical(first, two)


@pytest.mark.parametrize("reduction", ["first", "worst", np.ones_like])
def test_several_processes_reduce_alike(reduction: Any) -> None:
    hub = Hub([Overlap(), Errors()], block_characters=60)
    first, two = (hub.evaluate(COLUMNS, reduce=reduction, workers=n) for n in (1, 2))
    assert_identical(first, two)


@pytest.mark.parametrize("size", [1, 7, SIZE])
def test_a_stream_of_batches_is_the_whole(size: int) -> None:
    report, cut = HUB.evaluate(COLUMNS), HUB.evaluate(batches(size))
    assert_identical(report, cut)
    pooled = HUB.evaluate(batches(size), samples=False)
    # Fractions are summed part by part: equal but for the last bits.
    for name, outputs in pooled.scores().items():
        assert outputs == pytest.approx(report.scores()[name], rel=1e-12, nan_ok=True)


def test_empty_batches_in_a_stream_change_nothing() -> None:
    empty = {name: [] for name in COLUMNS}
    stream = [empty, *batches(20), empty]
    for n in (1, 2):
        assert_identical(HUB.evaluate(COLUMNS), HUB.evaluate(iter(stream), workers=n))


def test_a_metric_that_wants_larger_blocks_gets_them_across_parts() -> None:
    seen = []

    class Wide(Errors):
        block_characters: ClassVar[int | None] = 10**6

        def measure(self, prediction: Any, reference: Any) -> Any:
            seen.append(len(prediction))
            return super().measure(prediction, reference)

    Hub(Wide())(predictions=["a b c"] * 300, references=["a b c"] * 300)
    assert seen == [300]


# Memory.


@pytest.mark.parametrize("n", [1, 2])
def test_a_stream_is_read_only_a_few_parts_ahead(n: int) -> None:
    done = 0

    def noted(amount: int) -> None:
        nonlocal done
        done += amount

    def stream() -> Iterator[dict[str, list[str]]]:
        for number in range(40):
            # One sample a batch and so a part: 2n in flight, one handed over, one in hand.
            assert number - done <= 2 * n + 2
            yield {"predictions": ["a b"], "references": ["a b"]}

    report = Hub(Overlap()).evaluate(stream(), samples=False, workers=n, progress=noted)
    assert report.size == done == 40


EIGHT = ("bleu", "chrf", "rouge", "ter", "meteor", "wer", "cer", "token_f1")


def test_nothing_of_a_block_waits_for_the_garbage_collector() -> None:
    # Arrays don't count for the collector, so that cycles would pile up hundreds of megabytes.
    def alive() -> int:
        return sum(isinstance(thing, (Texts, Block)) for thing in gc.get_objects())

    hub = Hub(EIGHT, block_characters=60)
    columns = {name: COLUMNS[name] for name in ("predictions", "references")}
    hub.evaluate(columns)
    gc.collect()
    gc.disable()
    try:
        before = alive()
        hub.evaluate(columns)
        assert alive() == before
    finally:
        gc.enable()


# What goes wrong in a process.


RAISED: dict[str, Exception] = {
    "file": FileError("a.txt", "is bad", 3),
    "parameter": ParameterError("m", "p", 0, "an integer"),
    "unknown": UnknownParameter("m", "pp", ["p"]),
    "column": MissingColumn("no sources"),
    "missing": MissingDependency("m", "package", "pip install package"),
    "value": ValueError("plain"),
    "key": KeyError("k"),
}


@dataclass(frozen=True, kw_only=True)
class Fails(Metric):
    """Raises, dies or waits where the prediction says so; else 1."""

    card: ClassVar[Card] = card("fails", "prediction")

    def observe(self, prediction: str) -> float:
        if prediction in RAISED:
            raise RAISED[prediction]
        if prediction == "dies":
            os._exit(1)
        return 1.0


@dataclass(frozen=True, kw_only=True)
class Place(Metric):
    """Whether the process has the folder and the variable that the prediction names."""

    card: ClassVar[Card] = card("place", "prediction")

    def observe(self, prediction: str) -> float:
        folder, value = prediction.split("|")
        return float(os.getcwd() == folder and os.environ.get("TOY_PLACE", "") == value)


@dataclass(frozen=True, kw_only=True)
class Neighbours(Metric):
    """How many processes measure side by side, and whether this one is the hub's own."""

    card: ClassVar[Card] = card("neighbours", "prediction", better="neither", outputs=["own"])

    def observe(self, prediction: str) -> Row:
        return {"score": processes(), "own": float(str(os.getpid()) == prediction)}


def in_two(metric: Metric, *predictions: str) -> Report:
    """The report of two processes that get one prediction at a time."""
    stream = ({"predictions": [text]} for text in predictions)
    return Hub(metric).evaluate(stream, workers=2)


@pytest.mark.parametrize("name", RAISED)
def test_an_error_in_a_process_arrives_as_it_was(name: str) -> None:
    is_own = isinstance(RAISED[name], MetrichubError)
    with pytest.raises(type(RAISED[name]) if is_own else ScoringError) as caught:
        in_two(Fails(), "fine", name, "fine")
    # What isn't an error of ours is the cause of one that says where it was raised.
    error = caught.value if is_own else caught.value.__cause__
    assert type(error) is type(RAISED[name])
    assert str(error) == str(RAISED[name])
    assert vars(error) == RAISED[name].__dict__


@pytest.mark.parametrize("error", RAISED.values(), ids=RAISED)
def test_every_error_survives_a_pickle(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.args) == (type(error), str(error), error.args)


def test_a_metric_knows_how_many_processes_measure_beside_it() -> None:
    here = str(os.getpid())
    assert in_two(Neighbours(), here, here).scores() == {"neighbours": {"score": 2, "own": 0}}
    assert processes() == 1


def test_a_process_that_dies_is_told_with_what_to_do() -> None:
    with pytest.raises(MetricError, match=r"a worker process died.* run with workers=1"):
        in_two(Fails(), "fine", "dies", *["fine"] * 9)


def test_an_error_while_the_stream_is_read_arrives_as_it_was() -> None:
    def stream() -> Iterator[Any]:
        yield from batches(7)
        raise FileError("a.jsonl", "broken", 9)

    for n in (1, 2):
        with pytest.raises(FileError, match=r"a\.jsonl:9: broken"):
            HUB.evaluate(stream(), workers=n)


def test_a_bad_batch_late_in_a_stream_is_refused() -> None:
    stream = [*batches(20), {**next(batches(1)), "predictions": [None]}]
    for n in (1, 2):
        with pytest.raises(InputError, match=r"predictions\[0\] is None"):
            HUB.evaluate(iter(stream), workers=n)


def test_processes_have_the_folder_and_the_environment_of_their_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The second call finds a server of processes that started under the first one's.
    for value in ("one", "two", ""):
        folder = tmp_path / f"folder {value}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        if value:
            monkeypatch.setenv("TOY_PLACE", value)
        else:
            monkeypatch.delenv("TOY_PLACE")
        report = in_two(Place(), *[f"{os.getcwd()}|{value}"] * 4)
        assert report.scores() == {"place": {"score": 1.0}}
        assert report.counts() == {"place": {}}


WAITING = """
import os, sys, threading
from dataclasses import dataclass
from metrichub import Hub
from metrichub.metric import Metric

@dataclass(frozen=True, kw_only=True)
class Waits(Metric):
    def observe(self, prediction: str) -> float:
        os.write(1, b"waiting\\n")
        threading.Event().wait()
        return 1.0

if __name__ == "__main__":
    try:
        Hub(Waits()).evaluate(iter([{"predictions": ["a"]}] * 4), workers=2)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Starts a script whose two workers wait for ever, and returns once they do."""
    processes: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        (tmp_path / "script.py").write_text(WAITING)
        root = str(Path(__file__).resolve().parents[2])
        process = subprocess.Popen(
            [sys.executable, str(tmp_path / "script.py")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": root},
            # A shell's background job ignores the signal, and so would all that it starts.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        processes.append(process)
        assert process.stdout
        assert [process.stdout.readline() for _ in range(2)] == ["waiting\n", "waiting\n"]
        return process

    yield start
    for process in processes:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_an_interrupt_ends_all_processes_in_silence(
    waiting: Callable[[], subprocess.Popen[str]],
) -> None:
    process = waiting()
    # A terminal sends the signal to all of them.
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate()
    assert (out, err, process.returncode) == ("interrupted\n", "", 0)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_an_interrupt_that_another_thread_takes_waits_until_workers_have_started() -> None:
    ends, started = threading.Event(), []
    # Such as a thread of numpy's, whose signals are the main thread's business in Python.
    other = threading.Thread(target=ends.wait)
    other.start()
    taken, takes = socket.socketpair()
    takes.setblocking(False)

    def start() -> None:
        with workers.uninterrupted():
            assert other.ident
            signal.pthread_kill(other.ident, signal.SIGINT)
            taken.recv(1)
            started.append(True)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    wakeup = signal.set_wakeup_fd(takes.fileno())
    try:
        with pytest.raises(KeyboardInterrupt):
            start()
    finally:
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGINT, before)
        ends.set()
        other.join()
        taken.close()
        takes.close()
    assert started


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_their_parent(
    waiting: Callable[[], subprocess.Popen[str]], end: signal.Signals
) -> None:
    process = waiting()
    process.send_signal(end)
    # Its pipes end once no process holds them.
    process.communicate(timeout=60)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_an_interrupt_while_workers_start_prints_nothing() -> None:
    """Their server preloads this module first; it goes on to import numpy."""
    program = "import metrichub.evaluation.silent, os, signal; os.kill(os.getpid(), signal.SIGINT)"
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        # In the background of a script the signal is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, "")
