"""The examples in the docstrings of metrichub run."""

import doctest
import importlib

import pytest

from tests import import_graph

WITH_EXAMPLES = [
    name for name, path in import_graph.modules().items() if ">>> " in path.read_text("utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert (result.failed, result.attempted > 0) == (0, True)
