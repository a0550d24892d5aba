"""The heavy libraries that tests of bridges run inside: each has a mark and a file of packages."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest


def needs(host: str, *modules: str) -> pytest.MarkDecorator:
    """The mark of a host; a test module is skipped where one of the modules is missing.

    CI_BRIDGES=1 makes that an error.
    """
    if not all(map(find_spec, modules)):
        reason = f"needs the packages of tests/bridges/{host}.txt"
        if os.environ.get("CI_BRIDGES") == "1":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason, allow_module_level=True)
    mark: pytest.MarkDecorator = getattr(pytest.mark, host)
    return mark
