"""The survey of mutants: which tests reach which line of the code, and how long they take."""

from __future__ import annotations

import ast
import json
import multiprocessing.process
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import accumulate
from math import inf
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple
from unittest import mock

import click
import pytest

from benchmarks.mutations import Mutation, mutations

PACKAGES = ("text", "metric", "evaluation", "agreement", "report")
"""Those of metrichub that are mutated, except for the pages of reports."""
ROOT = Path.cwd()
LONGEST = 20
"""Seconds of CPU under coverage.py; no mutant waits for a test that takes more."""
LOOKING = (
    "tests/test_public.py::test_the_public_names_and_their_signatures_are_those_on_record",
    "tests/cli/test_options.py::",
)
"""Tests that look at signatures and options as they were imported, and call nothing."""
QUIET = ("-q", "-n0", "-s", "--tb=no", "--disable-warnings", "-pno:cacheprovider")


class Mutant(NamedTuple):
    """The change of this number in a file."""

    file: str
    number: int

    def parsed(self) -> tuple[ast.Module, Mutation]:
        """A tree of the file and the change, which isn't made yet."""
        tree = ast.parse((ROOT / self.file).read_bytes())
        return tree, list(mutations(tree))[self.number]


def sources() -> list[str]:
    """The files that are mutated."""
    results = [
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in sorted((ROOT / "metrichub" / package).rglob("*.py"))
    ]
    return [file for file in results if "report/html/" not in file]


def all_mutants(only: str = "") -> list[Mutant]:
    """Every mutant of the files with `only` in their path."""
    return [
        Mutant(file, number)
        for file in sources()
        if only in file
        for number, _ in enumerate(mutations(ast.parse((ROOT / file).read_bytes())))
    ]


class Survey:
    """A plugin of pytest that keeps which test reaches which line, and its seconds of CPU."""

    def __init__(self, path: Path) -> None:
        from coverage import Coverage

        self._coverage = Coverage(str(path), source=[str(ROOT / "metrichub")], messages=False)
        self._coverage.load()
        self._times = path.with_name(f"{path.name}.json")
        self._code = sha256(b"".join((ROOT / file).read_bytes() for file in sources())).hexdigest()
        times = json.loads(self._times.read_text()) if self._times.exists() else {}
        if times.get("code", self._code) != self._code:
            raise click.ClickException(f"{path} is a survey of other code; delete it")
        self.seconds: dict[str, float] = times.get("seconds", {})

    def run(self, arguments: Sequence[str]) -> None:
        """Run tests, and keep what was found."""
        # A mutant is only in this process, so no test may start another.
        process = mock.patch.object(multiprocessing.process.BaseProcess, "start", _refuse_process)
        program = mock.patch.object(subprocess.Popen, "__init__", _start_program)
        self._coverage.start()
        try:
            with process, program:
                pytest.main([*QUIET, *arguments], [self])
        finally:
            self._coverage.stop()
            self._coverage.save()
            self._times.write_text(json.dumps({"code": self._code, "seconds": self.seconds}))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Count the lines that are reached from now on as this test's."""
        self._coverage.switch_context(nodeid)
        self.seconds[nodeid] = -process_time()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that doesn't pass shows nothing."""
        self.seconds[report.nodeid] += 0 if report.passed else inf

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """The time that the test took of the processor, however busy the machine is."""
        self.seconds[nodeid] += process_time()

    def tests(self, mutant: Mutant, seconds: float) -> list[str]:
        """The tests that reach the mutant, as many as fit, but one at least.

        Those of its package come first, then the fastest.
        """
        _, mutation = mutant.parsed()
        reached = self._reached(mutant)
        lines: list[Iterable[int]] = [[mutation.line], mutation.lines] if mutation.lines else []
        # Whatever runs a line of a file has imported it.
        lines += [list(reached)] if self.at_import(mutant) else []
        folder = f"tests/{Path(mutant.file).parts[1]}/"
        for places in lines:
            tests = {test for line in places for test in reached[line]}
            if quick := [test for test in tests if self.seconds.get(test, inf) <= LONGEST]:
                quick.sort(key=lambda test: (not test.startswith(folder), self.seconds[test], test))
                if mutation.imported:
                    quick[:0] = [test for test in self.seconds if test.startswith(LOOKING)]
                sums = accumulate(self.seconds[test] for test in quick)
                return quick[: max(1, sum(value <= seconds for value in sums))]
        return []

    def at_import(self, mutant: Mutant) -> bool:
        """Whether the code runs as its file is imported, and in no test."""
        _, mutation = mutant.parsed()
        reached = self._reached(mutant)
        # What no test had begun has no name.
        return mutation.imported or {t for line in mutation.lines for t in reached[line]} == {""}

    def _reached(self, mutant: Mutant) -> dict[int, list[str]]:
        """The tests that reach each line of the mutant's file."""
        reached: dict[int, list[str]] = defaultdict(list)
        reached |= self._coverage.get_data().contexts_by_lineno(str(ROOT / mutant.file))
        return reached

    def sum_of(self, tests: Sequence[str]) -> float:
        """The seconds that tests take."""
        return sum(self.seconds[test] for test in tests)


def _refuse_process(*_: object, **__: object) -> None:
    pytest.fail("a test starts a process")


_start = subprocess.Popen.__init__


def _start_program(popen: subprocess.Popen[Any], args: Any, *others: Any, **options: Any) -> None:
    # The client of openai asks the machine for its name; that runs no mutant.
    (_start if list(args)[:1] == ["uname"] else _refuse_process)(popen, args, *others, **options)
