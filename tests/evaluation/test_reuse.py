"""What a model on this machine measured is kept, and not measured again."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from metrichub import Hub
from metrichub.authoring import CorpusMetric, Measured, Metric, Unscored
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

    def measure(self, prediction: Sequence[str]) -> Any:
        if len(self.calls) + 1 == self.breaks_at:
            raise KeyboardInterrupt
        self.calls.append(list(prediction))
        values = np.array([len(text) * self.factor or np.nan for text in prediction])
        reasons = {row: "no text" for row in np.flatnonzero(np.isnan(values)).tolist()}
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
    store().clear("toy")


def unusable(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(store().path).unlink()
    monkeypatch.setenv("METRICHUB_CACHE", "/dev/null/nowhere")


def in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "_code_of", lambda _: None)


def garbled(_: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(store().path)) as file:
        file.execute("UPDATE calls SET reply = substr(reply, 1, 20)")
        file.commit()


@pytest.mark.parametrize(
    "change", [other_code, nothing_kept, quick, unusable, in_a_notebook, garbled]
)
def test_what_may_differ_is_measured_again(
    change: Any, calls: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = scored(Modeled())
    change(monkeypatch)
    calls.clear()
    assert scored(Modeled()) == first
    assert calls


def test_the_code_of_all_classes_counts(
    calls: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Derived(Modeled):
        __module__ = "another_package"

    measured = []
    for base in ("old", "old", "new"):
        code = {Modeled.__module__.partition(".")[0]: base}
        monkeypatch.setattr(reuse, "_code_of", lambda package, code=code: code.get(package, "same"))
        calls.clear()
        scored(Derived())
        measured.append(bool(calls))
    assert measured == [True, False, True]


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


def test_code_is_known_by_the_files_of_its_package() -> None:
    assert len(code_of("metrichub") or "") == 64
    assert code_of("__main__") is None
