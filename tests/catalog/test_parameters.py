"""Parameters: read from fields and docstring, and every value checked against its annotation."""

import dataclasses
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub.authoring import OMIT_DEFAULT
from metrichub.catalog.parameters import (
    Address,
    LocalPath,
    Mark,
    Parameter,
    Range,
    Secret,
    choices_of,
    described_values,
    is_valid,
    make,
    marks_of,
    object_types,
    off_default,
    parameters_of,
    values_of,
)
from metrichub.errors import ParameterError, UnknownParameter
from metrichub.judge.offline import OfflineJudge
from metrichub.judge.protocol import Judge
from metrichub.models.embedders import Embedder, OfflineEmbedder
from tests.toy_metrics import Overlap


@dataclass(frozen=True)
class Knobs:
    """Something with parameters.

    More text before the list.

    Attributes:
        order: How long
            an n-gram is.
        mode: Which way.

    Text after: not a parameter.
    """

    order: Annotated[int, Range(1, 9)] = 4
    mode: Literal["a", "b"] = "a"
    share: Annotated[float, Range(high=1)] | None = None
    words: tuple[str, ...] = field(default_factory=lambda: ("x",))
    on: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        """Check every field."""
        from metrichub.catalog.parameters import check_parameters

        check_parameters(self, "knobs")


def test_a_text_for_a_list_of_texts_is_shown_as_one() -> None:
    with pytest.raises(ParameterError, match=r"choose a list, such as \['words <= 6'\]"):
        Knobs(words="words <= 6")  # type: ignore[arg-type]  # the mistake
    with pytest.raises(ParameterError, match="choose a list of strings"):
        Knobs(words=6)  # type: ignore[arg-type]  # the mistake


def test_parameters_are_the_fields_without_the_name() -> None:
    assert [parameter._replace(hint=None) for parameter in parameters_of(Knobs)] == [
        Parameter("order", None, 4, False, "How long an n-gram is.", False),
        Parameter("mode", None, "a", False, "Which way.", False),
        Parameter("share", None, None, False, "", False),
        Parameter("words", None, ("x",), False, "", False),
        Parameter("on", None, False, False, "", False),
    ]


@dataclass(frozen=True, kw_only=True)
class Bare:
    """Something that can't be made without a parameter, and knows a secret."""

    order: int
    api_key: Annotated[str | None, Secret()] = None


def test_a_class_that_travelled_by_value_has_its_defaults() -> None:
    @dataclass(frozen=True)
    class Travelled:
        order: Annotated[int, Range(1, 9)] = 4

    # As after a pickle of the class itself: what says that there is none is another object.
    (values,) = dataclasses.fields(Travelled)
    values.default_factory = type(dataclasses.MISSING)()
    assert [parameter.default for parameter in parameters_of(Travelled)] == [4]


def test_a_required_parameter_has_no_default_and_a_secret_is_no_value_to_say() -> None:
    order, key = parameters_of(Bare)
    assert (order.required, order.default, order.secret) == (True, None, False)
    assert (key.required, key.default, key.secret) == (False, None, True)
    keyed = Bare(order=1, api_key="canary")
    assert values_of(keyed) == off_default(keyed) == {"order": 1}


@given(st.integers())
def test_a_number_is_accepted_exactly_inside_its_range(value: int) -> None:
    if 1 <= value <= 9:
        assert make(Knobs, {"order": value}, "knobs").order == value
    else:
        with pytest.raises(ParameterError, match=r"order=.* choose an integer from 1 to 9"):
            make(Knobs, {"order": value}, "knobs")


@pytest.mark.parametrize(
    ("parameter", "value"), [("order", True), ("mode", None), ("share", 1.5), ("words", (1,))]
)
def test_a_value_of_the_wrong_kind_names_metric_parameter_and_choice(
    parameter: str, value: object
) -> None:
    with pytest.raises(ParameterError, match=f"^knobs: {parameter}=.* is not allowed; choose "):
        make(Knobs, {parameter: value}, "knobs")


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("share", -3), ("share", 0.5), ("share", None), ("words", ()), ("on", True), ("mode", "b")],
)
def test_a_value_in_its_domain_is_kept(parameter: str, value: object) -> None:
    metric = make(Knobs, {parameter: value}, "knobs")
    assert values_of(metric)[parameter] == value
    assert off_default(metric) == ({} if value is None else {parameter: value})


@dataclass(frozen=True, kw_only=True)
class LaterOverlap(Overlap):
    """The metric after it gained a parameter."""

    strict: bool = field(default=False, metadata=OMIT_DEFAULT)


def test_a_parameter_that_a_metric_gains_leaves_its_label_at_the_default() -> None:
    before = Overlap(name="overlap").label().partition("(")[2]
    assert LaterOverlap(name="overlap").label().partition("(")[2] == before
    assert "strict=True" in LaterOverlap(strict=True).label()


def test_an_unknown_parameter_gets_near_matches_and_the_list() -> None:
    with pytest.raises(TypeError, match=r"'modee'; did you mean 'mode' or 'order'\?") as caught:
        make(Knobs, {"modee": 2}, "knobs")
    assert isinstance(caught.value, ValueError)


def test_a_list_stands_for_a_sequence_as_specs_and_json_have_no_tuples() -> None:
    assert make(Overlap, {"ignored": ["a", "b"]}, "overlap") == Overlap(ignored=("a", "b"))


@pytest.mark.parametrize(
    "error",
    [
        ParameterError("bleu", "n", 0, "an integer of at least 1"),
        UnknownParameter("bleu", "m", ["n"]),
    ],
)
def test_a_parameter_error_survives_pickling(error: ParameterError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


SHARES = tuple[Annotated[float, Range(0, 1)], ...]


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (bool, "True or False"),
        (float, "a number"),
        (str, "a string"),
        (Annotated[int, Range(1)], "an integer of at least 1"),
        (Annotated[float, Range(high=2)], "a number of at most 2"),
        (Annotated[float, Range(0, 1)] | None, "a number from 0 to 1 or None"),
        (Annotated[int | None, Range(1)], "an integer of at least 1 or None"),
        (Literal["a", "b"] | None, "'a' or 'b' or None"),
        (Literal["a", None], "'a' or None"),
        (None | int, "an integer or None"),
        (SHARES, "a sequence; each item is a number from 0 to 1"),
        (tuple[int | None, ...], "a sequence; each item is an integer or None"),
        (dict, "a mapping"),
        (dict[str, Any] | bool, "a mapping or True or False"),
        (str | Path, "a string or a path"),
        (str | Judge, "a string or Judge"),
        (complex, "complex"),
    ],
)
def test_a_type_is_described_in_words(hint: Any, words: str) -> None:
    assert " or ".join(described_values(hint)) == words


@pytest.mark.parametrize(
    ("hint", "inside", "outside"),
    [
        (int, [0, -3], [1.0, True, "1", None]),
        (float, [0.5, 2, float("nan")], [True, "1", None, 1j]),
        (Annotated[float, Range(0, 1)], [0, 1, 0.5], [-0.1, 1.1, float("nan")]),
        (Annotated[int, Range(2)] | None, [2, None], [1, 2.0]),
        (bool, [True], [1, 0, None]),
        (str, ["", "a"], [b"a", Path("a"), None]),
        (Literal[0, 1], [0, 1], [True, 2, 1.0, None]),
        (Literal["a", None], ["a", None], ["b"]),
        (SHARES, [(), (0, 1)], [[0], (2,), 0, None]),
        (SHARES | None, [(), None], [(None,)]),
        (dict[str, Any], [{}, {"a": 1j}], [3, [], "{}", None]),
        (Mapping[str, int], [{"a": 1}], [{"a": "b"}]),
        (str | Path, ["a", Path("a")], [3, None]),
        (str | Judge, ["offline", OfflineJudge()], [OfflineEmbedder(), 3, None]),
        (str | Embedder, ["offline", OfflineEmbedder()], [OfflineJudge(), 3, None]),
        (Any, [None, 3, object()], []),
        (list[str], [["a"]], [("a",), "a", [1]]),
        (OfflineJudge, [OfflineJudge()], [3]),
        (tuple[int, str], [(1, "a")], [[1, "a"], 1]),
    ],
)
def test_a_value_is_among_those_of_its_hint(
    hint: Any, inside: list[object], outside: list[object]
) -> None:
    assert [value for value in inside if not is_valid(value, hint)] == []
    assert [value for value in outside if is_valid(value, hint)] == []


def test_the_choices_of_a_hint_are_those_that_it_lists() -> None:
    assert choices_of(Literal["a", "b"]) == ("a", "b")
    assert choices_of(Literal["a", 1] | Judge | None) == ("a", 1)
    assert choices_of(str) == ()


@pytest.mark.parametrize(
    ("hint", "marks", "objects"),
    [
        (dict[str, Any] | int | Literal["a"] | None, [], []),
        (Annotated[str | None, Secret()], [Secret], []),
        (Annotated[str, Address], [Address], []),
        (tuple[Annotated[str, LocalPath()], ...], [LocalPath], []),
        (dict[str, Annotated[str, Secret()]] | bool, [Secret], []),
        (Annotated[int, Range(1), Secret()], [Secret], []),
        (str | Path, [LocalPath], []),
        (tuple[str | Judge, ...], [], [Judge]),
        (Any, [], [Any]),
    ],
)
def test_marks_and_classes_are_found_wherever_they_are(
    hint: Any, marks: list[type[Mark]], objects: list[type]
) -> None:
    assert (marks_of(hint), object_types(hint)) == (marks, objects)
