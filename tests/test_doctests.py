"""The examples in the docstrings of metrichub run."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import metrichub

MODULES = sorted(
    name
    for _, name, _ in pkgutil.walk_packages(metrichub.__path__, "metrichub.")
    if name != "metrichub.__main__" and ".templates" not in name
)


@pytest.mark.parametrize("name", ["metrichub", *MODULES])
def test_the_examples_of_a_module_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_the_examples_of_the_page_on_judges_run() -> None:
    page = Path(metrichub.__file__).parent / "judge" / "README.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert (result.failed, result.attempted > 5) == (0, True)


def test_the_front_door_and_the_nouns_have_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in (
        "metrichub",
        "metrichub.hub",
        "metrichub.catalog.spec",
        "metrichub.metric.loading",
    ):
        assert any(test.examples for test in finder.find(importlib.import_module(name))), name
