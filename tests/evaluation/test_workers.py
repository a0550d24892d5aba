"""Workers in this process: a pool runs each part as soon as it is sent."""

from __future__ import annotations

import concurrent.futures
import os
import pickle
import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub
from metrichub.errors import MetricError, ScoringError
from metrichub.evaluation import workers
from metrichub.metric import Metric
from metrichub.models import usage

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals")


class Pool:
    """An executor without processes: what is sent and what comes back goes through a pickle."""

    def __init__(self, number: int, mp_context: Any, initializer: Any, initargs: Any) -> None:
        self.number = number
        self.settle: Callable[..., None] = initializer
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


class Odd(Exception):
    """An exception that no pickle can rebuild."""

    def __init__(self, first: str, two: str) -> None:
        super().__init__(f"{first} {two}")


def twice(part: Any) -> Any:
    """The work of these tests: two of a part, or what the part says."""
    if isinstance(part, type):
        raise part("a", "b")
    if isinstance(part, ScoringError):
        raise part from (Odd("a", "b") if part.sample else ValueError("plain"))
    if isinstance(part, Exception):
        raise part
    return part * 2


def distributed(*parts: Any, work: Any = twice) -> list[Any]:
    return list(workers.distribute(work, iter(parts), 2))


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


def test_an_ignored_interrupt_is_ignored_while_workers_start() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with workers.uninterrupted():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


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
    """A metric that may ask for one process; 1 where a worker measures it."""

    alone: bool

    def one_process(self) -> bool:
        return self.alone

    def observe(self, prediction: str) -> float:
        return float(workers._measuring)


@pytest.mark.parametrize("samples", [True, False])
@pytest.mark.parametrize(
    ("alone", "used"), [((False, False), [2]), ((True, False), [2]), ((True, True), [])]
)
def test_a_metric_that_asks_for_one_process_is_measured_here_beside_the_others(
    alone: tuple[bool, bool], used: list[int], samples: bool
) -> None:
    one, other = (Alone(name=n, alone=a) for n, a in zip(("one", "other"), alone, strict=True))
    hub, done = Hub([one, "wer", other, "rouge"] if any(used) else [one, other]), list[int]()
    parts = [{"predictions": [t], "references": ["a b"]} for t in ("a", "ß b c", "a b")]
    report = hub.evaluate(iter(parts), workers=2, samples=samples, progress=done.append)
    assert [pool.number for pool in pools] == used
    assert sum(done) == 3 * len(hub.metrics)
    for name, is_alone in zip(("one", "other"), alone, strict=True):
        assert report[name]["score"] == float(not is_alone)
    expected = hub.evaluate(iter(parts), samples=samples)
    assert [*report.results] == [*expected.results]
    for name in {"wer", "rouge"} & {*report.results}:
        assert report[name] == expected[name]
        assert str(report.intervals(resamples=9)[name]) == str(
            expected.intervals(resamples=9)[name]
        )
    assert report.notes() == expected.notes()
    assert {n: str(v) for n, v in report.facts.items()} == {
        n: str(v) for n, v in expected.facts.items()
    }


def test_progress_counts_the_samples_of_each_result_for_each_metric() -> None:
    metrics = [Alone(name=name, alone=False) for name in ("one", "other")]
    done: list[int] = []
    stream = ({"predictions": texts} for texts in (["a"], ["b", "c"], ["d"]))
    Hub(metrics).evaluate(stream, workers=2, progress=done.append)
    assert done == [2, 4, 2]
