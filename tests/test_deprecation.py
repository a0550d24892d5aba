"""Deprecations: who uses an old name is told at the own line, and gets what the new one gives."""

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from metrichub.deprecation import deprecated, renamed_parameter


@deprecated("Ruler.length", gone_in="0.4")
def size(text: str) -> int:
    """How long a text is."""
    return len(text)


@renamed_parameter("times", "count", gone_in="0.4")
def repeat(text: str, *, count: int = 1) -> str:
    return text * count


def told(call: Callable[[], object]) -> tuple[object, str]:
    """What a call gives, and the one warning that it raised, which is for this file's reader."""
    with pytest.warns(DeprecationWarning, match="is deprecated") as caught:
        value = call()
    (warning,) = caught
    assert Path(warning.filename) == Path(__file__)
    assert warning.lineno == call.__code__.co_firstlineno
    return value, str(warning.message)


def test_a_deprecated_function_works_and_warns_where_it_is_called() -> None:
    value, text = told(lambda: size("four"))
    assert value == 4
    assert text == ("size() is deprecated and will be removed in metrichub 0.4; use Ruler.length")


def test_an_old_parameter_is_the_new_one_and_warns_where_it_is_given() -> None:
    value, text = told(lambda: repeat("a", times=3))  # type: ignore[call-arg]  # the old name
    assert value == "aaa"
    assert text == (
        "'times' of repeat() is deprecated and will be removed in metrichub 0.4; use 'count'"
    )


def test_the_new_parameter_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (repeat("a", count=2), repeat("a")) == ("aa", "a")


def test_old_and_new_parameter_together_are_refused() -> None:
    with pytest.raises(TypeError, match="got 'times', the old name of 'count', beside it"):
        repeat("a", times=3, count=2)  # type: ignore[call-arg]  # the old name


def test_what_is_decorated_keeps_its_name_docstring_and_parameters() -> None:
    assert (size.__name__, size.__doc__) == ("size", "How long a text is.")
    assert list(inspect.signature(repeat).parameters) == ["text", "count"]


MODULE = """
from metrichub.deprecation import warn_deprecated

New = 7

def __getattr__(name):
    if name == "Old":
        warn_deprecated("toy.Old", "toy.New", gone_in="0.4")
        return New
    raise AttributeError(name)
"""


def test_a_name_that_a_module_resolves_on_use_warns_where_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toy_deprecated.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import toy_deprecated  # type: ignore[import-not-found]  # written above

    value, text = told(lambda: toy_deprecated.Old)
    assert value == 7
    assert text == "toy.Old is deprecated and will be removed in metrichub 0.4; use toy.New"
    with pytest.warns(DeprecationWarning, match="is deprecated") as caught:
        from toy_deprecated import Old
    assert Old == 7
    # Python asks for the name twice, once to see whether it is there.
    assert {Path(warning.filename) for warning in caught} == {Path(__file__)}
