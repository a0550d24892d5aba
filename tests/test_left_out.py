"""The last line says what `-m` left out, with workers and without."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]


@pytest.fixture
def last_line(pytester, monkeypatch):
    """Run four tests, three of them marked, and give the last line of the output."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    # Workers are processes of their own.
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[1]))
    pytester.makeini("[pytest]\nmarkers =\n    slow: takes long\n    big: is big\n")
    pytester.makeconftest(
        """
        from tests.left_out import LeftOut

        def pytest_configure(config):
            config.pluginmanager.register(LeftOut(config))
        """
    )
    pytester.makepyfile(
        """
        import pytest

        def test_plain():
            pass

        @pytest.mark.big
        @pytest.mark.parametrize("number", [1, 2])
        def test_big(number):
            pass

        @pytest.mark.slow
        @pytest.mark.big
        def test_big_and_slow():
            pass
        """
    )

    def ran(*arguments):
        run = pytester.runpytest_subprocess if "-n" in arguments else pytester.runpytest
        return run(*arguments).outlines[-1]

    return ran


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "two workers"])
def test_the_last_line_counts_what_was_left_out_and_says_how_to_run_it(last_line, workers):
    line = last_line("-m", "not slow and not big", *workers)
    assert line == "Left out: 2 big, 1 slow tests; `bash .ci/run` runs them."


@pytest.mark.parametrize("arguments", [["-m", ""], ["-m", "slow"], ["-k", "plain"]])
def test_what_was_not_left_out_by_a_mark_is_not_counted(last_line, arguments):
    assert "Left out" not in last_line(*arguments)
