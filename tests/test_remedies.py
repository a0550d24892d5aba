"""Remedies: an error says what to do in the words of the interface that shows it."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import metrichub
from metrichub import errors
from metrichub.cli.program import REMEDIES
from metrichub.errors import Action, InputError, Remedy, Words
from metrichub.hub import Hub

HOME = Path(metrichub.__file__).parent
AMBIGUOUS = {"prediction": ["a"], "target": ["a"], "gold": ["a"]}


def ambiguous() -> InputError:
    with pytest.raises(InputError) as error:
        Hub("wer").evaluate(AMBIGUOUS)
    return error.value


@pytest.mark.parametrize("words", [errors._PYTHON, REMEDIES])
def test_python_and_the_command_line_have_words_for_every_action(words: Words) -> None:
    assert set(words) == set(get_args(Action))


def test_each_interface_says_its_own_way() -> None:
    error = ambiguous()
    assert error.remedy == Remedy("choose_column", "references", "target")
    message = "'target' and 'gold' could both be references"
    assert str(error) == f"{message}; choose one with columns={{'references': 'target'}}"
    assert error.worded(REMEDIES) == f"{message}; choose one with --columns references=target"
    assert error.worded({}) == message


def test_a_remedy_comes_out_of_a_pickle() -> None:
    error = ambiguous()
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_what_is_said_of_a_system_keeps_the_remedy() -> None:
    with pytest.raises(InputError, match=r"^ours: 'target' .*; choose one with columns=\{[^;]*$"):
        Hub("wer").evaluate_all({"ours": AMBIGUOUS})


def literals(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_what_every_interface_shows_names_no_option() -> None:
    texts = {
        f"{path.relative_to(HOME)}: {text}"
        for package in ("data", "evaluation", "judge", "metric", "report", "text")
        for path in (HOME / package).rglob("*.py")
        for text in literals(path)
        if re.search(r"(^|[\s(])--[a-z]", text)
    }
    assert texts == set()
