"""In continuous integration a skip that isn't allowed fails a session, wherever it comes from."""

from pathlib import Path

import pytest

from tests.allowed_skips import ALLOWED

pytest_plugins = ["pytester"]

MODULES = {
    "test_allowed": """
        import pytest

        def test_corpus():
            pytest.skip("needs ../shared/data/x.jsonl")

        @pytest.mark.xfail(reason="differs", strict=True)
        def test_known_difference():
            assert False
        """,
    "test_marked": """
        import pytest

        @pytest.mark.skipif(True, reason="a new reason")
        def test_marked():
            raise AssertionError
        """,
    "test_module": """
        import pytest

        pytest.importorskip("a_package_that_nobody_has")
        """,
}
FORBIDDEN = [
    "test_marked.py::test_marked - a new reason",
    "test_module.py - could not import 'a_package_that_nobody_has'",
]


@pytest.mark.parametrize(
    ("modules", "ci", "workers", "forbidden"),
    [
        (MODULES, "true", "2", FORBIDDEN),
        (MODULES, "true", "0", FORBIDDEN),
        (["test_allowed"], "true", "0", []),
        (MODULES, "", "0", []),
    ],
    ids=["workers", "alone", "allowed", "not in CI"],
)
def test_a_skip_that_is_not_allowed_fails_the_session_and_is_named(
    pytester, monkeypatch, modules, ci, workers, forbidden
):
    pytester.makeconftest("from tests.allowed_skips import pytest_sessionfinish")
    pytester.makepyfile(**{name: MODULES[name] for name in modules})
    monkeypatch.setenv("CI", ci)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    # Workers are processes of their own.
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[1]))
    run = pytester.runpytest if workers == "0" else pytester.runpytest_subprocess
    ran = run("-n", workers)
    # Workers finish in any order.
    named = sorted(line for line in ran.outlines if line.startswith("ERROR "))
    assert ran.ret == (1 if forbidden else 0)
    for line, start in zip(named, forbidden, strict=True):
        assert line.startswith(f"ERROR {start}")


def test_the_list_stays_short():
    assert 0 < len(ALLOWED) <= 12
    assert all(ALLOWED.values())
