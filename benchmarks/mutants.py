"""Mutants: the share of small changes to the code that the tests notice.

    python -m benchmarks.mutants survey tests/text tests/metrics tests/evaluation ...
    python -m benchmarks.mutants run [--count 600] [--seed 1] [--only evaluation/passes]

`survey` runs tests under coverage.py (`pip install coverage`), slowly, and keeps in `--data` which
test reaches which line and how long it takes; a later survey of other tests adds to it, as long as
the code is the same. `run` draws mutants of `PACKAGES` and runs, for each, the tests that reach its
line, those of its package first and then the fastest, until one fails or their `--seconds` are used
up. It prints the survivors, and the share killed with its Wilson interval.

Nothing is written to the working tree: a mutant is a forked process that puts changed code into the
functions that the tests have imported, or imports everything anew if the code runs at import. A
mutant that no test reaches survives; one that takes far longer than its tests took is killed. Tests
that take more than `LONGEST` seconds or start a process, which would run the code as it is, aren't
used. `benchmarks.mutations` lists the changes.
"""

from __future__ import annotations

import ast
import gc
import json
import multiprocessing.process
import os
import random
import resource
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from itertools import accumulate, pairwise
from linecache import getline
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from time import process_time
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple
from unittest import mock

import click
import pytest

from benchmarks.mutations import Mutation, mutations
from metrichub.agreement.shares import wilson

PACKAGES = ("text", "metric", "evaluation", "agreement", "report")
"""Those of metrichub that are mutated, except for the pages of reports."""
ROOT = Path.cwd()
LONGEST = 5
"""Seconds of CPU; no mutant waits for a test that takes more."""
SIGNATURES = "tests/test_public.py::test_the_public_names_and_their_signatures_are_those_on_record"
"""The test that sees the defaults of public parameters without a call."""
_QUIET = ("-q", "-n0", "-s", "--tb=no", "--disable-warnings", "-pno:cacheprovider")
_BROKEN = 99
_MEMORY = 16 << 30
"""A mutant that asks for more bytes of address space fails."""


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
    found = [
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in sorted((ROOT / "metrichub" / package).rglob("*.py"))
    ]
    return [file for file in found if "report/html/" not in file]


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
        kept = json.loads(self._times.read_text()) if self._times.exists() else {}
        if kept.get("code", self._code) != self._code:
            raise click.ClickException(f"{path} is a survey of other code; delete it")
        self.seconds: dict[str, float] = kept.get("seconds", {})

    def run(self, arguments: Sequence[str]) -> None:
        """Run tests, and keep what was found."""
        # A mutant is only in this process, so no test may start another.
        process = mock.patch.object(multiprocessing.process.BaseProcess, "start", _refuse_process)
        program = mock.patch.object(subprocess.Popen, "__init__", _start_program)
        self._coverage.start()
        try:
            with process, program:
                pytest.main([*_QUIET, *arguments], [self])
        finally:
            self._coverage.stop()
            self._coverage.save()
            self._times.write_text(json.dumps({"code": self._code, "seconds": self.seconds}))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """What is reached from here on is this test's."""
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
        reached: dict[int, list[str]] = defaultdict(list)
        reached |= self._coverage.get_data().contexts_by_lineno(str(ROOT / mutant.file))
        _, mutation = mutant.parsed()
        own = f"tests/{Path(mutant.file).parts[1]}/"
        # Whatever runs a line of a file has imported it.
        for lines in ([mutation.line], mutation.lines) if mutation.lines else (list(reached),):
            tests = {test for line in lines for test in reached[line]}
            if found := [test for test in tests if self.seconds.get(test, inf) <= LONGEST]:
                found.sort(key=lambda test: (not test.startswith(own), self.seconds[test], test))
                if mutation.imported and SIGNATURES in self.seconds:
                    found.insert(0, SIGNATURES)
                sums = accumulate(self.seconds[test] for test in found)
                return found[: max(1, sum(one <= seconds for one in sums))]
        return []

    def sum_of(self, tests: Sequence[str]) -> float:
        """The seconds that tests take."""
        return sum(self.seconds[test] for test in tests)


def _refuse_process(*_: object, **__: object) -> None:
    pytest.fail("a test starts a process")


_start = subprocess.Popen.__init__


def _start_program(popen: subprocess.Popen[Any], args: Any, *rest: Any, **options: Any) -> None:
    # The client of openai asks the machine for its name; that runs no mutant.
    (_start if list(args)[:1] == ["uname"] else _refuse_process)(popen, args, *rest, **options)


class MutatedModule(MetaPathFinder, Loader):
    """An importer that runs the mutated tree of a module instead of its file."""

    def __init__(self, mutant: Mutant) -> None:
        self._path = str(ROOT / mutant.file)
        self._name = mutant.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        tree, self.mutation = mutant.parsed()
        self.mutation.change()
        self._code: CodeType = compile(ast.fix_missing_locations(tree), self._path, "exec")

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        """The module's, if it is this one."""
        if fullname != self._name:
            return None
        return spec_from_file_location(fullname, self._path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        """Run the tree."""
        exec(self._code, module.__dict__)

    def put_into(self, functions: Mapping[str, Sequence[FunctionType]]) -> bool:
        """Give the functions that were imported from the file the code of the tree, if it fits."""
        if self.mutation.imported:
            return False
        codes = {(code.co_qualname, code.co_firstlineno): code for code in _codes_in(self._code)}
        same = set(codes.values())
        for one in functions[self._path]:
            code = one.__code__
            new = code if code in same else codes[code.co_qualname, code.co_firstlineno]
            if new.co_freevars != code.co_freevars:
                return False
            one.__code__ = new
        return True


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes_in(one)


class Chosen:
    """A plugin of pytest that keeps these tests in this order, and writes which of them fail."""

    def __init__(self, tests: Sequence[str], pipe: int, first: bool) -> None:
        self.places = {test: place for place, test in enumerate(tests)}
        self._pipe, self._first = pipe, first

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the tests that are asked for."""
        items[:] = [item for item in items if item.nodeid in self.places]
        items.sort(key=lambda item: self.places[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write the name of a test that failed; the first ends the process."""
        if report.failed:
            os.write(self._pipe, f"{report.nodeid}\n".encode())
            if self._first:
                os._exit(1)


class Runner:
    """A plugin of pytest that runs mutants instead of the tests that it collects.

    `killers` is what killed each mutant that has run: the tests that failed, or how it ended.
    """

    def __init__(self, survey: Survey, mutants: Sequence[Mutant], seconds: float) -> None:
        self._survey, self._mutants, self._seconds = survey, mutants, seconds
        self._functions: dict[str, list[FunctionType]] = defaultdict(list)
        self.killers: dict[Mutant, set[str]] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the mutants, and then without any the tests that killed one."""
        for function in (one for one in gc.get_objects() if isinstance(one, FunctionType)):
            self._functions[function.__code__.co_filename].append(function)
        # The forked processes needn't look for garbage among all that was imported.
        gc.freeze()
        with suppress(KeyboardInterrupt):
            for mutant in self._mutants:
                tests = self._survey.tests(mutant, self._seconds)
                self.killers[mutant] = self._failing(session, tests, mutant)
                if not self.killers[mutant]:
                    _, one = mutant.parsed()
                    text = getline(str(ROOT / mutant.file), one.line).strip()
                    print(f"\n{mutant.file}:{one.line}, {len(tests)} tests: {text}", flush=True)
                    print(one.described(), flush=True)
        killers = set().union(*self.killers.values()) & self._survey.seconds.keys()
        for broken in self._failing(session, sorted(killers), None):
            print(f"{broken} fails without a mutant")
            for found in self.killers.values():
                found.discard(broken)
        return True

    def _failing(
        self, session: pytest.Session, tests: Sequence[str], mutant: Mutant | None
    ) -> set[str]:
        """What fails in a forked process: the first test of a mutant, or all without one."""
        if not tests:
            return set()
        read, write = os.pipe()
        if not (child := os.fork()):
            status = _BROKEN
            with suppress(Exception):
                os.dup2(nowhere := os.open(os.devnull, os.O_WRONLY), 1)
                os.dup2(nowhere, 2)
                seconds = self._survey.sum_of(tests)
                resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
                resource.setrlimit(resource.RLIMIT_CPU, (int(30 + 5 * seconds),) * 2)
                signal.alarm(int(120 + 20 * seconds))
                status = self._run(session, mutant, Chosen(tests, write, mutant is not None))
            os._exit(status)
        os.close(write)
        with open(read) as pipe:
            failed = {*pipe.read().splitlines()}
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return failed
        if code == _BROKEN:
            raise RuntimeError(f"{mutant} was not run")
        return failed or {signal.Signals(-code).name if code < 0 else "import or collection"}

    def _run(self, session: pytest.Session, mutant: Mutant | None, chosen: Chosen) -> int:
        """The exit status of the tests, run by what was imported and collected, or else anew."""
        if mutant:
            module = MutatedModule(mutant)
            sys.meta_path.insert(0, module)
            if not module.put_into(self._functions):
                for name, one in list(sys.modules.items()):
                    if str(getattr(one, "__file__", "")).startswith(f"{ROOT}{os.sep}"):
                        del sys.modules[name]
                return pytest.main([*_QUIET, *_files_of(chosen.places)], [chosen])
        session.config.pluginmanager.register(chosen)
        chosen.pytest_collection_modifyitems(session.items)
        for item, following in pairwise([*session.items, None]):
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return 0


def _files_of(tests: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(test.partition("::")[0] for test in tests))


@click.group()
def main() -> None:
    """The share of small changes to the code that the tests notice."""


_data = click.option("--data", type=Path, default=Path(gettempdir(), "mutants.coverage"))


@main.command("survey", context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1)
@_data
def survey_tests(arguments: tuple[str, ...], data: Path) -> None:
    """Run tests and keep which reach which line; ARGUMENTS are pytest's."""
    Survey(data).run(arguments)


@main.command()
@click.option("--count", default=600, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--only", default="", help="Mutants of files with this in their path.")
@click.option("--seconds", default=60.0, show_default=True, help="Of tests, for each mutant.")
@_data
def run(count: int, seed: int, only: str, seconds: float, data: Path) -> None:
    """Draw mutants and print which of them live; Ctrl+C counts those that have run."""
    survey, mutants = Survey(data), all_mutants(only)
    drawn = random.Random(seed).sample(mutants, min(count, len(mutants)))
    runner = Runner(survey, drawn, seconds)
    with TemporaryDirectory() as folder:
        pytest.main([*_QUIET, f"--basetemp={folder}/tests", *_files_of(survey.seconds)], [runner])
    killed, ran = sum(map(bool, runner.killers.values())), len(runner.killers)
    share = wilson(killed, ran)
    print(f"{killed} of {ran} killed, {share.value:.1%} ({share.low:.1%} to {share.high:.1%})")
    others = Counter(how for found in runner.killers.values() for how in found if "::" not in how)
    print(f"{len(mutants)} mutants in all; killed without a failing test: {dict(others)}")


if __name__ == "__main__":
    main()
