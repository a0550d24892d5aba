"""A skip that isn't allowed fails a session, wherever it comes from, with workers and without."""

from pathlib import Path

import pytest

from tests.allowed_skips import ALLOWED

pytest_plugins = ["pytester"]

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
def session(pytester, monkeypatch):
    """Run some of the tests above with this project's plugin; the variable `CI` is not set."""
    pytester.makeconftest("from tests.allowed_skips import *")
    for name in ("CI", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    # Workers are processes of their own.
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[1]))

    def ran(*files, arguments=()):
        for file in files:
            pytester.makepyfile(**{file.removesuffix(".py"): TESTS[file]})
        run = pytester.runpytest_subprocess if "-n" in arguments else pytester.runpytest
        return run(*arguments, *files)

    return ran


def named(ran):
    """The lines about forbidden skips, sorted: workers finish in any order."""
    return sorted(line for line in ran.outlines if line.startswith("ERROR "))


@pytest.mark.parametrize("file", FORBIDDEN)
def test_a_skip_with_another_reason_fails_the_session_and_is_named(session, file):
    ran = session("test_allowed.py", file, arguments=["--strict-skips"])
    assert ran.ret == 1
    (line,) = named(ran)
    assert line.startswith(f"ERROR {FORBIDDEN[file]}")


def test_allowed_skips_and_known_differences_pass(session):
    ran = session("test_allowed.py", arguments=["--strict-skips"])
    assert ran.ret == 0
    ran.assert_outcomes(skipped=1, xfailed=1)


def test_the_variable_of_ci_turns_it_on(session, monkeypatch):
    monkeypatch.setenv("CI", "true")
    assert session("test_marked.py").ret == 1


def test_without_either_a_skip_passes(session):
    assert session("test_marked.py").ret == 0


def test_skips_of_workers_reach_the_controller(session):
    ran = session(*TESTS, arguments=["--strict-skips", "-n", "2"])
    assert ran.ret == 1
    for line, start in zip(named(ran), sorted(FORBIDDEN.values()), strict=True):
        assert line.startswith(f"ERROR {start}")


def test_the_list_stays_short():
    assert 0 < len(ALLOWED) <= 12
    assert all(ALLOWED.values())
