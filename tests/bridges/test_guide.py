"""The guide names every bridge and the versions that the tests have; bridges load late."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

import pytest

from metrichub import Hub, MissingDependency, bridges
from tests.bridges import guide
from tests.entered import loaded

PAGE = guide.PAGE.read_text("utf-8")
HOSTS = ("datasets", "evaluate", "inspect_ai", "lm_eval", "mlflow", "torchmetrics", "transformers")


def test_importing_bridges_loads_no_library() -> None:
    names = ", ".join(bridges.__all__)
    modules = loaded(f"from metrichub.bridges import {names}")
    assert not modules & {*HOSTS, "torch"}


@pytest.mark.parametrize(
    ("library", "call"),
    [
        ("torchmetrics", lambda: bridges.torchmetrics.metric("bleu")),
        ("mlflow", lambda: bridges.mlflow.scorers("bleu")),
        ("mlflow", lambda: bridges.mlflow.scorer("bleu")),
        ("mlflow", lambda: bridges.mlflow.make_metric("bleu")),
        (
            "inspect_ai",
            lambda: bridges.inspect_ai.metrics(
                Hub("bleu").evaluate(predictions=["a"], references=["a"])
            ),
        ),
    ],
)
def test_a_missing_library_is_one_line(
    library: str, call: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    import_module(f"metrichub.bridges.{library}")
    for name in [n for n in sys.modules if n.split(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingDependency, match=f"needs {library}, which isn't installed: pip"):
        call()


@pytest.mark.parametrize("function", ["load", "module"])
def test_the_bridge_to_evaluate_names_the_package_that_it_lacks(
    monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    monkeypatch.setitem(sys.modules, "evaluate", None)
    with pytest.raises(MissingDependency, match=r": pip install evaluate$"):
        getattr(bridges.evaluate, function)("bleu")
