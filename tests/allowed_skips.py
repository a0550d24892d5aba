"""The skips that continuous integration allows, and a plugin that fails it for any other.

A test that is skipped proves nothing, and nobody reads the list at the end of a run. Where the
variable `CI` is set, or with `--strict-skips`, a skip whose reason isn't listed here is an error.
"""

from __future__ import annotations

import os
import re
from typing import Any

import pytest

ALLOWED = {
    r"^needs \.\./shared/data/": "whole corpora whose licences keep them out of the repository",
    r"^needs chromium on the path": "the machine has no browser; CI_BROWSER=1 makes it an error",
    r"^needs firefox-esr and node": "the machine has none; CI_FIREFOX=1 makes it an error",
    r"^needs node on the path": "the machine has none; continuous integration has it",
    r"^needs cer, of tests/oracles.txt": "it is under the GPL; CI_ORACLES=1 makes it an error",
    r"^needs the packages of tests/real_model.txt": "130 MB; CI_REAL_MODEL=1 makes it an error",
    r"^needs the packages of tests/bridges/": "hundreds of MB; CI_BRIDGES=1 makes it an error",
    r"^POSIX ": "signals, pipes, permissions and links that Windows hasn't",
    r"^there is no SIGINT to send": "Windows has no SIGINT for another process",
    r"^needs /dev/": "Windows has no files in /dev",
    r"^could not import 'pty'": "Windows has no pseudo-terminals",
    r"^only Linux ": "other systems neither tell nor limit the memory of a process alone",
}
"""Why a skip may be, by a pattern of its reason. At most twelve: a test that never runs goes."""


class StrictSkips:
    """Collects the skips that aren't allowed, and fails the session for them at its end."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Modules that are skipped as a whole; pytest-xdist hands those of its workers on."""
        self._note(report)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Single tests, with pytest-xdist those of all workers."""
        self._note(report)

    def _note(self, report: pytest.CollectReport | pytest.TestReport) -> None:
        # An expected failure is reported as a skip too, but it has run.
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = reason_of(report.longrepr)
            if not any(re.search(pattern, reason) for pattern in ALLOWED):
                self.found[report.nodeid] = reason

    # pytest returns the status that the session has after this hook.
    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.found and session.exitstatus in (pytest.ExitCode.OK, None):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.found:
            terminalreporter.section("skips that tests/allowed_skips.py doesn't allow", red=True)
            for test, reason in self.found.items():
                terminalreporter.line(f"ERROR {test} - {reason}")


def reason_of(longrepr: object) -> str:
    """The reason of a skip, without pytest's "Skipped: " before it."""
    said = longrepr[2] if isinstance(longrepr, tuple) else str(longrepr)
    return str(said).removeprefix("Skipped: ")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The switch for machines where `CI` isn't set."""
    parser.addoption(
        "--strict-skips", action="store_true", help="fail for skips that aren't allowed, as in CI"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin; a worker of pytest-xdist leaves the counting to its controller."""
    wanted = config.getoption("--strict-skips") or os.environ.get("CI")
    if wanted and not hasattr(config, "workerinput"):
        config.pluginmanager.register(StrictSkips(), "strict-skips")
