"""The skips that continuous integration allows, and a hook that fails it for any other.

A test that is skipped proves nothing, and nobody reads the list at the end of a run. Where the
variable `CI` is set, a skip whose reason isn't listed here is an error.
"""

from __future__ import annotations

import os
import re

import pytest

ALLOWED = {
    r"^needs \.\./shared/data/": "whole corpora whose licences keep them out of the repository",
    r"^needs chromium on the path": "the machine has no browser; CI_BROWSER=1 makes it an error",
    r"^needs firefox-esr and node": "the machine has none; CI_FIREFOX=1 makes it an error",
    r"^needs (node|pyright) on the path": "the machine has none; continuous integration has node",
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


# pytest returns the status that the session has after this hook.
@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail for skips of tests and of whole modules, those of pytest-xdist's workers among them."""
    if not os.environ.get("CI") or hasattr(session.config, "workerinput"):
        return
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    reasons = {report.nodeid: reason_of(report) for report in terminal.stats.get("skipped", ())}
    forbidden = [test for test, reason in reasons.items() if not is_allowed(reason)]
    if forbidden:
        terminal.write_line("\nskips that tests/allowed_skips.py doesn't allow:")
        for test in forbidden:
            terminal.write_line(f"ERROR {test} - {reasons[test]}")
        if session.exitstatus in (pytest.ExitCode.OK, None):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def reason_of(report: pytest.CollectReport | pytest.TestReport) -> str:
    """The reason of a skip, without pytest's "Skipped: " before it."""
    message = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return message.removeprefix("Skipped: ")


def is_allowed(reason: str) -> bool:
    """Whether a skip may have the reason."""
    return any(re.search(pattern, reason) for pattern in ALLOWED)
