"""A plugin whose last line says which tests the fast lane left out, and how to run them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest


class LeftOut:
    """Counts the tests that `-m "not …"` left out, by the first of its marks that they have."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._marks = re.findall(r"\bnot (\w+)", config.option.markexpr)
        self._counts: Counter[str] = Counter()

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        for item in items:
            self._counts.update([mark for mark in self._marks if item.get_closest_marker(mark)][:1])

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        # Every worker of pytest-xdist collects all tests.
        self._counts = Counter(getattr(node, "workeroutput", {}).get("left_out", self._counts))

    # Outside the terminal's own, so that the line comes after its last one.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None]:
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput["left_out"] = dict(self._counts)
        yield
        terminal: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal and self._counts:
            counts = ", ".join(f"{count} {mark}" for mark, count in self._counts.most_common())
            terminal.write_line(f"Left out: {counts} tests; `bash .ci/run` runs them.")
