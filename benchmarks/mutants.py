"""Mutants: the share of small changes to the code that the tests notice.

    python -m benchmarks.mutants survey tests/text tests/metrics tests/evaluation ...
    python -m benchmarks.mutants run [--count 600] [--seed 1] [--only evaluation/two_passes]

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
import os
import random
import resource
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from itertools import pairwise
from linecache import getline
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from types import CodeType, FunctionType, ModuleType

import click
import pytest

from benchmarks.mutants_survey import QUIET, ROOT, Mutant, Survey, all_mutants
from metrichub.agreement.shares import wilson

_BROKEN = 99
_MEMORY = 16 << 30
"""A mutant that asks for more bytes of address space fails."""


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
        codes = {(code.co_qualname, code.co_firstlineno): code for code in _codes_in(self._code)}
        same = set(codes.values())
        for function in functions[self._path]:
            code = function.__code__
            new = code if code in same else codes[code.co_qualname, code.co_firstlineno]
            if new.co_freevars != code.co_freevars:
                return False
            function.__code__ = new
        return True


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes_in(constant)


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
        for function in (
            candidate for candidate in gc.get_objects() if isinstance(candidate, FunctionType)
        ):
            self._functions[function.__code__.co_filename].append(function)
        # The forked processes needn't look for garbage among all that was imported.
        gc.freeze()
        with suppress(KeyboardInterrupt):
            for mutant in self._mutants:
                tests = self._survey.tests(mutant, self._seconds)
                self.killers[mutant] = self._failing(session, tests, mutant)
                if not self.killers[mutant]:
                    _, change = mutant.parsed()
                    text = getline(str(ROOT / mutant.file), change.line).strip()
                    print(f"\n{mutant.file}:{change.line}, {len(tests)} tests: {text}", flush=True)
                    print(change.described(), flush=True)
        killers = set().union(*self.killers.values()) & self._survey.seconds.keys()
        for broken in self._failing(session, sorted(killers), None):
            print(f"{broken} fails without a mutant")
            for killer in self.killers.values():
                killer.discard(broken)
        return True

    def _failing(
        self, session: pytest.Session, tests: Sequence[str], mutant: Mutant | None
    ) -> set[str]:
        """The tests that fail in a forked process: the first of a mutant, or all without one."""
        if not tests:
            return set()
        # Not in the child, where coverage.py would begin its data anew.
        anew = mutant is not None and self._survey.at_import(mutant)
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
                chosen = Chosen(tests, write, mutant is not None)
                status = self._run(session, mutant, chosen, anew)
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

    def _run(
        self, session: pytest.Session, mutant: Mutant | None, chosen: Chosen, anew: bool
    ) -> int:
        """The exit status of the tests, run by what was imported and collected, or else anew."""
        if mutant:
            module = MutatedModule(mutant)
            sys.meta_path.insert(0, module)
            if anew or not module.put_into(self._functions):
                for name, loaded in list(sys.modules.items()):
                    if str(getattr(loaded, "__file__", "")).startswith(f"{ROOT}{os.sep}"):
                        del sys.modules[name]
                return pytest.main([*QUIET, *_files_of(chosen.places)], [chosen])
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
        pytest.main([*QUIET, f"--basetemp={folder}/tests", *_files_of(survey.seconds)], [runner])
    killed, ran = sum(map(bool, runner.killers.values())), len(runner.killers)
    share = wilson(killed, ran)
    print(f"{killed} of {ran} killed, {share.value:.1%} ({share.low:.1%} to {share.high:.1%})")
    others = Counter(how for names in runner.killers.values() for how in names if "::" not in how)
    print(f"{len(mutants)} mutants in all; killed without a failing test: {dict(others)}")


if __name__ == "__main__":
    main()
