"""The guide names every bridge and the versions that the tests have; bridges load late."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from metrichub import Hub, MissingDependency, bridges
from tests.bridges import guide
from tests.entered import loaded

PAGE = guide.PAGE.read_text("utf-8")
HOSTS = ("datasets", "evaluate", "inspect_ai", "lm_eval", "mlflow", "torchmetrics", "transformers")


@pytest.mark.parametrize("library", bridges.__all__)
def test_every_bridge_has_a_line_that_its_test_runs(library: str) -> None:
    lines = [line for line in guide.lines() if f"bridges.{library}." in line]
    tests = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    runs = re.findall(r"""(?:guide\.run|[^_]run)\(\s*"([^"]+)"|"([^"]+)" in line\]""", tests)
    for line in lines:
        assert [start for pair in runs for start in pair if start and start in line], line
    assert lines


def test_the_versions_are_those_that_the_tests_install() -> None:
    said = dict(re.findall(r"\b([\w-]+) (\d+\.\d+(?:\.\d+)?)\b", PAGE.partition("## ")[0]))
    files = Path(__file__).parent.glob("*.txt")
    pinned = dict(re.findall(r"^([\w-]+)==(.+)$", "\n".join(f.read_text() for f in files), re.M))
    for package in ("inspect_ai", "lm-eval", "mlflow", "torch", "torchmetrics", "transformers"):
        assert said[package] == pinned[package], package


def test_importing_bridges_loads_no_library() -> None:
    names = ", ".join(bridges.__all__)
    found = loaded(f"from metrichub.bridges import {names}")
    assert not found & {*HOSTS, "torch"}


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
