"""What a worker does, in this process: a pool runs each part as soon as it is sent."""

from __future__ import annotations

import concurrent.futures
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub
from metrichub.errors import FileError, MetricError, ScoringError
from metrichub.evaluation import workers
from metrichub.metric import Metric
from metrichub.models import usage

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")


class Pool:
    """An executor without processes: what is sent and what comes back goes through a pickle."""

    def __init__(self, number: int, mp_context: Any, initializer: Any, initargs: Any) -> None:
        self.number, self.context = number, mp_context
        self.settle: Callable[..., None] = initializer
        self.settings = initargs
        self.sent = 0
        self.ended: bool | None = None
        pools.append(self)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        self.sent += 1
        future: Future[Any] = Future()
        try:
            result = function(*pickle.loads(pickle.dumps(arguments)))
            future.set_result(pickle.loads(pickle.dumps(result)))
        except BrokenProcessPool as error:
            future.set_exception(error)
        except BaseException as error:  # noqa: BLE001  # an interrupt, too
            arrived = pickle.loads(pickle.dumps(error))
            # As real pools do, so that the other process's traceback is printed.
            arrived.__cause__ = RuntimeError("the traceback there")
            future.set_exception(arrived)
        return future

    def shutdown(self, cancel_futures: bool = False) -> None:
        self.ended = cancel_futures


pools: list[Pool] = []
handlers: list[Callable[..., None]] = []
"""What a worker that was told how its parent runs does with an interrupt."""


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work that is done in this process, which is afterwards as it was before."""
    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(resource_tracker, "ensure_running", lambda: None)
    monkeypatch.setattr(workers, "_side_by_side", 1)
    monkeypatch.setattr(workers, "_measuring", False)
    monkeypatch.setattr(workers, "_interrupted", False)
    monkeypatch.setattr(usage, "_sharers", 1)
    handler, folder, environment = signal.getsignal(signal.SIGINT), os.getcwd(), dict(os.environ)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    yield
    signal.signal(signal.SIGINT, handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    pools.clear()
    handlers.clear()


class Odd(Exception):
    """An exception that no pickle can rebuild."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} {two}")


def twice(part: Any) -> Any:
    """The work of these tests: two of a part, or what the part says."""
    if part == "interrupt":
        # The parent's hold on interrupts, which this process has too, ends nothing in a worker.
        handlers[-1](signal.SIGINT, None)
    if isinstance(part, type):
        raise part("a", "b")
    if isinstance(part, ScoringError):
        raise part from (Odd("a", "b") if part.sample else ValueError("plain"))
    if isinstance(part, Exception):
        raise part
    return part * 2


def distributed(*parts: Any, work: Any = twice) -> list[Any]:
    return list(workers.distribute(work, iter(parts), 2))


def test_results_come_in_the_order_of_their_parts() -> None:
    assert distributed(*range(20)) == [2 * part for part in range(20)]
    assert pools[0].number == 2
    assert pools[0].ended is True


def test_a_result_is_waited_for_when_each_worker_has_two_more_parts() -> None:
    results = workers.distribute(twice, iter(range(20)), 3)
    assert next(results) == 0
    # Two for each of three workers, and the one whose result is here.
    assert pools[0].sent == 7
    assert next(results) == 2
    assert pools[0].sent == 8


def test_one_that_stops_reading_cancels_what_was_sent() -> None:
    results = workers.distribute(twice, iter(range(20)), 2)
    next(results)
    assert pools[0].ended is None
    results.close()
    assert pools[0].ended is True


@pytest.mark.parametrize("parts", [[], [7]])
def test_a_single_part_needs_no_pool(parts: list[int]) -> None:
    assert distributed(*parts) == [2 * part for part in parts]
    assert not pools


@pytest.mark.parametrize("ignored", [False, True])
def test_workers_are_told_how_their_parent_runs(tmp_path: Path, ignored: bool) -> None:
    os.chdir(tmp_path)
    os.environ["TOY_PLACE"] = "here"
    signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.default_int_handler)
    distributed(1, 2)
    assert pools[0].settings == (2, str(tmp_path), dict(os.environ), ignored)
    method = "forkserver" if sys.platform == "linux" else "spawn"
    assert pools[0].context.get_start_method() == method


@pytest.mark.parametrize("ignored", [False, True])
def test_a_worker_takes_over_what_it_is_told(tmp_path: Path, ignored: bool) -> None:
    distributed(1, 2)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.environ["TOY_GONE"] = "there"
    pools[0].settle(3, str(tmp_path), {"TOY_PLACE": "here"}, ignored)
    assert workers.processes() == 3
    assert usage._sharers == 3  # what a limit of calls is divided by
    assert os.getcwd() == str(tmp_path)
    assert dict(os.environ) == {"TOY_PLACE": "here"}
    # Workers start while their parent holds interrupts back.
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert (signal.getsignal(signal.SIGINT) == signal.SIG_IGN) is ignored


def settled() -> None:
    """Make this process a worker's."""
    distributed(1, 2)
    pools[0].settle(2, os.getcwd(), dict(os.environ), False)
    handler = signal.getsignal(signal.SIGINT)
    assert callable(handler)
    handlers.append(handler)


def test_an_interrupt_ends_what_a_worker_measures() -> None:
    settled()
    with pytest.raises(KeyboardInterrupt):
        distributed(1, "interrupt")


def test_an_interrupt_between_two_parts_ends_the_next() -> None:
    settled()
    signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        distributed(1, 2)


def test_an_interrupt_while_workers_start_waits_until_they_have() -> None:
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    started = []
    try:
        with pytest.raises(KeyboardInterrupt), workers.uninterrupted():  # noqa: PT012
            signal.raise_signal(signal.SIGINT)
            started.append(True)
        assert started
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    finally:
        signal.signal(signal.SIGINT, handler)


def test_an_ignored_interrupt_is_ignored_while_workers_start() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with workers.uninterrupted():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


@pytest.mark.parametrize("error", [FileError("a.txt", "is bad", 3), ValueError("plain")], ids=repr)
def test_an_error_arrives_as_it_was(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        distributed(1, error)
    assert (str(caught.value), caught.value.args) == (str(error), error.args)


def test_a_failure_arrives_with_its_cause_and_the_traceback_there() -> None:
    with pytest.raises(ScoringError) as caught:
        distributed(1, ScoringError("toy", "plain"))
    cause = caught.value.__cause__
    assert (type(cause), str(cause)) == (ValueError, "plain")
    assert "cause" not in vars(caught.value)
    assert cause is not None
    assert str(cause.__cause__) == "the traceback there"


def test_a_cause_that_cannot_travel_stays_behind() -> None:
    with pytest.raises(ScoringError, match="toy failed on sample 3") as caught:
        distributed(1, ScoringError("toy", "Odd: a b", 3))
    assert str(caught.value.__cause__) == "the traceback there"


def test_an_error_that_cannot_travel_arrives_in_words() -> None:
    with pytest.raises(MetricError, match=r"^Odd: a b$"):
        distributed(1, Odd)


def test_a_worker_that_dies_is_reported_with_what_to_do() -> None:
    with pytest.raises(MetricError, match=r"a worker process died.* run with workers=1") as caught:
        distributed(1, BrokenProcessPool("a child ended"))
    assert isinstance(caught.value.__cause__, BrokenProcessPool)
    assert pools[0].ended is True


class Lost:
    """Work that this process can send and no other can load."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[()]]:
        return missing, ()

    def __call__(self, part: Any) -> Any:
        return part


def missing() -> Mapping[str, Any]:
    raise ImportError("no module named toy")


@pytest.mark.parametrize(
    ("work", "why"), [(Lost(), "no module named toy"), (lambda part: part, "lambda")]
)
def test_work_that_workers_cannot_load_is_refused(work: Any, why: str) -> None:
    with pytest.raises(MetricError, match=rf"can't be sent to other processes .*{why}"):
        distributed(1, 2, work=work)


@dataclass(frozen=True, kw_only=True)
class Alone(Metric):
    """A metric that may ask for one process."""

    alone: bool

    def one_process(self) -> bool:
        return self.alone

    def observe(self, prediction: str) -> float:
        return 1.0


@pytest.mark.parametrize(("alone", "used"), [(False, [2]), (True, [])])
def test_one_metric_that_asks_for_one_process_is_enough(alone: bool, used: list[int]) -> None:
    metrics = [Alone(name="one", alone=False), Alone(name="other", alone=alone)]
    stream = ({"predictions": [text]} for text in "abc")
    report = Hub(metrics).evaluate(stream, workers=2)
    assert report.size == 3
    assert [pool.number for pool in pools] == used


def test_progress_counts_the_samples_of_each_result_for_each_metric() -> None:
    metrics = [Alone(name=name, alone=False) for name in ("one", "other")]
    done: list[int] = []
    stream = ({"predictions": texts} for texts in (["a"], ["b", "c"], ["d"]))
    Hub(metrics).evaluate(stream, workers=2, progress=done.append)
    assert done == [2, 4, 2]
