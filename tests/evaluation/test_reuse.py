"""What a model on this machine measured is kept, and not measured again."""

from __future__ import annotations

import importlib
import json
import logging
import os
import re
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import Any, ClassVar, NoReturn

import numpy as np
import pytest

from metrichub import Hub
from metrichub.authoring import CorpusMetric, Measured, Metric, Unscored
from metrichub.errors import JudgeUnavailable
from metrichub.evaluation import reuse
from metrichub.evaluation.reuse import _code_of as code_of
from metrichub.models.store import store


@dataclass(frozen=True, kw_only=True)
class Modeled(Metric):
    """The length of a text, as if a model had read it."""

    calls: ClassVar[list[list[str]]] = []
    breaks_at: ClassVar[int] = 0
    block_characters = 30

    factor: float = 1.0
    revision: str = "a"

    def resolved(self) -> Mapping[str, object]:
        return {"model": "toy", "revision": self.revision}

    def reuse_key(self) -> str | None:
        return f"{self.revision} on a CPU"

    def measure(self, prediction: Sequence[str]) -> Any:
        if len(self.calls) + 1 == self.breaks_at:
            raise KeyboardInterrupt
        self.calls.append(list(prediction))
        values = np.array([len(text) * self.factor or np.nan for text in prediction])
        reasons = {row: "no text" for row in np.flatnonzero(np.isnan(values))}
        return Measured({"length": values, "pair": np.ones((len(values), 2))}, reasons)

    def score(self, length: Any, pair: Any, count: Any) -> Mapping[str, Any]:
        return {"score": length / count}


@dataclass(frozen=True, kw_only=True)
class ModeledRows(Modeled, CorpusMetric):
    """The same by rows of what a model gave."""

    def measure(self, prediction: Sequence[str]) -> list[Any]:
        self.calls.append(list(prediction))
        return [
            (np.array([len(text)], np.int32), text, float("inf")) if text else Unscored("no text")
            for text in prediction
        ]

    def conclude(self, rows: Sequence[Any]) -> Mapping[str, float]:
        return {"score": float(np.mean([row[0][0] for row in rows]))}


TEXTS = [f"{'text ' * number}here" for number in range(9)] + [""]


@pytest.fixture(autouse=True)
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """The texts of each call; all are kept, as if they took long and came with this package."""
    monkeypatch.setenv("METRICHUB_CACHE", str(tmp_path))
    monkeypatch.setenv("METRICHUB_NO_CACHE", "")
    monkeypatch.setattr(reuse, "_SECONDS", 0.0)
    monkeypatch.setattr("metrichub.evaluation.observation.ROWS", 1)
    monkeypatch.setattr(reuse, "_code_of", lambda _: "of a package")
    monkeypatch.setattr(reuse, "_slow", set())
    monkeypatch.setattr(reuse, "_failed", set())
    Modeled.calls.clear()
    return Modeled.calls


def scored(metric: Metric, texts: Sequence[str] = TEXTS) -> str:
    return Hub(metric).evaluate(predictions=list(texts)).to_json()


@pytest.mark.parametrize("kind", [Modeled, ModeledRows])
def test_a_second_run_gives_the_same_and_measures_nothing(
    kind: Any, calls: list[list[str]]
) -> None:
    first, measured = scored(kind()), len(calls)
    assert measured > 1
    assert scored(kind()) == first
    assert len(calls) == measured
    assert store().models() == {"toy": measured}


def test_an_interrupted_run_goes_on(
    calls: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Modeled, "breaks_at", 3)
    with pytest.raises(KeyboardInterrupt):
        scored(Modeled())
    monkeypatch.setattr(Modeled, "breaks_at", 0)
    scored(Modeled())
    assert [text for call in calls for text in call] == TEXTS


def other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "_code_of", lambda _: "other")


def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METRICHUB_NO_CACHE", "1")


def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "_SECONDS", 60.0)
    monkeypatch.setattr(reuse, "_slow", set())
    store().clear("toy")


def without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Modeled, "reuse_key", lambda _: None)


def missing(_: Any) -> NoReturn:
    raise FileNotFoundError


def without_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Modeled, "reuse_key", missing)


def another_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Modeled, "reuse_key", lambda _: "a on a GPU")


def unusable(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(store().path).unlink()
    monkeypatch.setenv("METRICHUB_CACHE", "/dev/null/nowhere")


def in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "_code_of", lambda _: None)


def unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "_code_of", missing)


def store_reply(reply: str) -> None:
    with closing(sqlite3.connect(store().path)) as file:
        file.execute(f"UPDATE calls SET reply = {reply}")
        file.commit()


def garbled(_: pytest.MonkeyPatch) -> None:
    store_reply("substr(reply, 1, 20)")


def another_form(_: pytest.MonkeyPatch) -> None:
    store_reply("""'{"array": 3}'""")


CHANGES = [
    *(other_code, nothing_kept, quick, unusable, in_a_notebook, unreadable, garbled, another_form),
    without_a_key,
    without_files,
    another_device,
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_may_differ_is_measured_again(
    change: Any, calls: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = scored(Modeled())
    change(monkeypatch)
    calls.clear()
    assert scored(Modeled()) == first
    assert calls


@pytest.mark.parametrize("what", ["reuse_key", "label"])
def test_what_is_replaced_while_it_is_read_is_kept_under_neither(
    calls: list[list[str]], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Modeled, what, lambda _: str(len(calls)))
    Hub(Modeled()).evaluate(predictions=["a"])
    assert not store().models()


def test_what_shares_the_work_of_a_slow_metric_is_kept_too(
    calls: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 1000, 7))
    monkeypatch.setattr(reuse, "_SECONDS", 5.0)
    monkeypatch.setattr(reuse, "perf_counter", lambda: next(clock) if len(calls) < 2 else 1000)
    metrics = [Modeled(), Modeled(name="twice", factor=2.0)]
    for measured in (2, 0):
        calls.clear()
        Hub(metrics).evaluate(predictions=["a", "b"])
        assert len(calls) == measured


def test_a_store_that_another_process_keeps_is_waited_for_once(
    calls: list[list[str]], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []
    monkeypatch.setattr("metrichub.models.store.store", lambda: tried.append(1) or unlocked())
    with caplog.at_level(logging.WARNING, "metrichub"):
        scored(Modeled())
    assert len(calls) > len(tried) == 1
    assert [record.getMessage() for record in caplog.records] == [
        "it is locked; what models give isn't kept"
    ]


def unlocked() -> NoReturn:
    raise JudgeUnavailable("it is locked")


@dataclass(frozen=True, kw_only=True)
class WithVectors(Modeled):
    """A metric whose column holds objects."""

    weights: Any = ()

    def measure(self, prediction: Sequence[str], vector: Sequence[Any]) -> Any:
        self.calls.append(list(prediction))
        return {"length": np.array([sum(np.ravel(each["v"])) for each in vector], float)}

    def score(self, length: Any, count: Any) -> Mapping[str, Any]:
        return {"score": length / count}


@pytest.mark.parametrize(
    ("weights", "beside", "measured"),
    [((), [0.5], 1), (re.compile("a" * 250), [0.5], 2), ((), {0.5}, 2)],
)
def test_what_no_hash_tells_apart_is_measured_each_time(
    calls: list[list[str]], weights: Any, beside: Any, measured: int
) -> None:
    for _ in range(2):
        rows = {"predictions": ["a"], "vector": [{"v": np.ones(1), "beside": beside}]}
        Hub(WithVectors(weights=weights)).evaluate(rows)
    assert len(calls) == measured


@pytest.mark.parametrize(
    ("name", "measured"),
    [("Other.Modeled", [True, True, False]), ("made.<locals>.Modeled", [True, True, True])],
)
def test_classes_of_one_name_are_told_apart(
    calls: list[list[str]], name: str, measured: list[bool]
) -> None:
    of_class = {"__module__": Modeled.__module__, "__qualname__": name}
    other = type("Modeled", (Modeled,), of_class)
    assert other().label() == Modeled().label()
    for kind, expected in zip((Modeled, other, other), measured, strict=True):
        calls.clear()
        scored(kind())
        assert bool(calls) == expected


def test_long_arrays_are_told_apart(calls: list[list[str]]) -> None:
    scores = []
    for place in (0.0, 1.0):
        array = np.zeros(2000)
        array[1000] = place
        result = Hub(WithVectors())({"predictions": ["a"], "vector": [{"v": array}]})
        scores.append(result["with_vectors"]["score"])
    assert scores == [0.0, 1.0]


@pytest.mark.parametrize(
    "row",
    [
        np.zeros((0, 3)),
        np.ones((2, 1), np.float32),
        np.array(["a", "bc"]),
        np.int64(3),
        np.bool_(True),
        (float("-inf"), -0.0, {1: [None, "\udcff"]}),
    ],
)
def test_a_row_comes_back_as_it_was(row: Any) -> None:
    again = reuse.untagged(json.loads(json.dumps(reuse.tagged(row))))
    assert repr(again) == repr(row.item() if isinstance(row, np.generic) else row)
    assert getattr(again, "shape", ()) == getattr(row, "shape", ())


def test_an_array_of_before_has_its_shape() -> None:
    assert reuse.untagged({"array": ["<i4", [[1, 2], [3, 4]]]}).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "row",
    [np.array([[1], [2, 3]], object), np.zeros(1, "i4,f8"), np.ma.masked_array([1], [True]), {1}],
)
def test_a_row_that_would_come_back_as_another_is_refused(row: Any) -> None:
    with pytest.raises(TypeError, match="a row holds"):
        reuse.tagged(row)


def test_a_training_keeps_nothing(calls: list[list[str]]) -> None:
    with reuse.nothing_reused():
        scored(Modeled(), ["a"])
        scored(Modeled(), ["a"])
    assert calls == [["a"], ["a"]]
    assert not store().models()


@pytest.mark.parametrize(
    ("metric", "texts"),
    [
        (Modeled(factor=2.0), TEXTS),
        (Modeled(revision="b"), TEXTS),
        (Modeled(), [text.upper() for text in TEXTS[:-1]]),
        (Modeled(), ["a", "b"]),
    ],
)
def test_other_metrics_and_texts_are_measured(
    metric: Metric, texts: list[str], calls: list[list[str]]
) -> None:
    scored(Modeled())
    calls.clear()
    scored(metric, texts)
    assert sorted(text for call in calls for text in call) == sorted(texts)


def test_code_is_told_by_the_files_of_all_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    kinds = []
    for package in ("reuse_first", "reuse_second"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(CODE)
        (tmp_path / package / "data.txt").write_text(package)
        kinds.append(importlib.import_module(package).Kind)
    monkeypatch.setattr(reuse, "IMPORTED", time() + 60)
    first, second = map(code_of, kinds)
    assert first
    assert second
    assert first != second
    # A folder that is a link may have other files tomorrow.
    (tmp_path / "reuse_first" / "loop").symlink_to(tmp_path)
    assert code_of(kinds[0]) is None
    (tmp_path / "reuse_first" / "loop").unlink()
    # The code that runs may be that of before, also where its time is kept.
    monkeypatch.setattr(reuse, "IMPORTED", time() - 60)
    os.utime(tmp_path / "reuse_first" / "data.txt", (0, 0))
    assert code_of(kinds[0]) is None
    monkeypatch.setattr(reuse, "IMPORTED", time() + 60)
    monkeypatch.setattr(sys.modules["reuse_second"], "__file__", "/in/an.zip/__init__.py")
    assert code_of(kinds[1]) is None
    monkeypatch.setattr(kinds[0], "__module__", "__main__")
    assert code_of(kinds[0]) is None


CODE = """
from metrichub.authoring import Metric
class Kind(Metric):
    pass
"""
