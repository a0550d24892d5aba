"""A skip that isn't allowed fails a session, wherever it comes from, with workers and without."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.allowed_skips import ALLOWED

ROOT = Path(__file__).resolve().parents[1]
TESTS = {
    "test_allowed.py": """
        import pytest

        def test_corpus():
            pytest.skip("needs ../shared/data/x.jsonl")

        @pytest.mark.xfail(reason="differs", strict=True)
        def test_known_difference():
            assert False
        """,
    "test_marked.py": """
        import pytest

        @pytest.mark.skipif(True, reason="a new reason")
        def test_marked():
            raise AssertionError
        """,
    "test_module.py": """
        import pytest

        pytest.importorskip("a_package_that_nobody_has")
        """,
    "test_fixture.py": """
        import pytest

        @pytest.fixture
        def absent():
            pytest.skip("absent")

        def test_needs_it(absent):
            raise AssertionError
        """,
}
FORBIDDEN = {
    "test_marked.py": "test_marked.py::test_marked - a new reason",
    "test_module.py": "test_module.py - could not import 'a_package_that_nobody_has'",
    "test_fixture.py": "test_fixture.py::test_needs_it - absent",
}


@pytest.fixture
def session(tmp_path):
    """Run some of the tests above with this project's plugin; the variable `CI` is not set."""
    (tmp_path / "conftest.py").write_text("from tests.allowed_skips import *\n")

    def ran(*files, arguments=(), **variables):
        for file in files:
            lines = TESTS[file].strip("\n").splitlines()
            (tmp_path / file).write_text("\n".join(line[8:] for line in lines) + "\n")
        environment = {k: v for k, v in os.environ.items() if k not in ("CI", "PYTEST_ADDOPTS")}
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments, *files],
            cwd=tmp_path,
            env={**environment, "PYTHONPATH": str(ROOT), **variables},
            capture_output=True,
            text=True,
        )

    return ran


def named(ran):
    """The lines about forbidden skips, sorted: workers finish in any order."""
    return sorted(line for line in ran.stdout.splitlines() if line.startswith("ERROR "))


@pytest.mark.parametrize("file", FORBIDDEN)
def test_a_skip_with_another_reason_fails_the_session_and_is_named(session, file):
    ran = session("test_allowed.py", file, arguments=["--strict-skips"])
    assert ran.returncode == 1, ran.stdout + ran.stderr
    (line,) = named(ran)
    assert line.startswith(f"ERROR {FORBIDDEN[file]}")


def test_allowed_skips_and_known_differences_pass(session):
    ran = session("test_allowed.py", arguments=["--strict-skips"])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 skipped, 1 xfailed" in ran.stdout


def test_the_variable_of_ci_turns_it_on(session):
    assert session("test_marked.py", CI="true").returncode == 1


def test_without_either_a_skip_passes(session):
    assert session("test_marked.py").returncode == 0


def test_skips_of_workers_reach_the_controller(session):
    ran = session(*TESTS, arguments=["--strict-skips", "-n", "2"])
    assert ran.returncode == 1, ran.stdout + ran.stderr
    for line, start in zip(named(ran), sorted(FORBIDDEN.values()), strict=True):
        assert line.startswith(f"ERROR {start}")


def test_the_list_stays_short():
    assert 0 < len(ALLOWED) <= 12
    assert all(ALLOWED.values())
