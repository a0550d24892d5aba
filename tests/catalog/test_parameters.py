"""Parameters: read from fields and docstring, and every value checked against its annotation."""

import dataclasses
import pickle
from dataclasses import dataclass, field
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub.authoring import OMIT_DEFAULT
from metrichub.catalog.kinds import Boolean, Integer, Number, OneOf, SequenceOf, Text, Values
from metrichub.catalog.parameters import (
    Parameter,
    Range,
    Secret,
    make,
    off_default,
    parameters_of,
    values_of,
)
from metrichub.errors import ParameterError, UnknownParameter
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
    share = Values((Number(Range(high=1)),), optional=True)
    words = Values((SequenceOf(Values((Text(),))),))
    assert parameters_of(Knobs) == (
        Parameter("order", Values((Integer(Range(1, 9)),)), 4, False, "How long an n-gram is."),
        Parameter("mode", Values((OneOf(("a", "b")),)), "a", False, "Which way."),
        Parameter("share", share, None, False, ""),
        Parameter("words", words, ("x",), False, ""),
        Parameter("on", Values((Boolean(),)), False, False, ""),
    )


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
    (own,) = dataclasses.fields(Travelled)
    own.default_factory = type(dataclasses.MISSING)()
    assert [parameter.default for parameter in parameters_of(Travelled)] == [4]


def test_a_field_without_a_default_is_a_required_parameter() -> None:
    order, key = parameters_of(Bare)
    assert (order.required, order.default) == (True, None)
    assert (key.required, key.default) == (False, None)


def test_a_required_parameter_has_no_default_to_be_left_out_for() -> None:
    assert off_default(Bare(order=1)) == {"order": 1}


def test_a_secret_is_no_value_that_a_report_may_say() -> None:
    keyed = Bare(order=1, api_key="canary")
    assert values_of(keyed) == off_default(keyed) == {"order": 1}


def test_a_secret_says_so() -> None:
    assert [parameter.secret for parameter in parameters_of(Bare)] == [False, True]


@given(st.integers())
def test_a_number_is_accepted_exactly_inside_its_range(value: int) -> None:
    if 1 <= value <= 9:
        assert make(Knobs, {"order": value}, "knobs").order == value
    else:
        with pytest.raises(ParameterError, match=r"order=.* choose an integer from 1 to 9"):
            make(Knobs, {"order": value}, "knobs")


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("order", 2.0),
        ("order", True),
        ("order", "2"),
        ("order", None),
        ("mode", "c"),
        ("mode", None),
        ("share", 1.5),
        ("share", float("nan")),
        ("share", True),
        ("share", "1"),
        ("words", "x"),
        ("words", (1,)),
        ("on", 1),
    ],
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
    made = make(Knobs, {parameter: value}, "knobs")
    assert values_of(made)[parameter] == value
    assert off_default(made) == ({} if value is None else {parameter: value})


@dataclass(frozen=True, kw_only=True)
class LaterOverlap(Overlap):
    """The metric after it gained a parameter."""

    strict: bool = field(default=False, metadata=OMIT_DEFAULT)


def test_a_parameter_that_a_metric_gains_leaves_its_label_at_the_default() -> None:
    before = Overlap(name="overlap").label().partition("(")[2]
    assert LaterOverlap(name="overlap").label().partition("(")[2] == before
    assert "strict=True" in LaterOverlap(strict=True).label()


def test_an_unknown_parameter_gets_near_matches_and_the_list() -> None:
    with pytest.raises(UnknownParameter, match=r"'modee'; did you mean 'mode' or 'order'\?"):
        make(Knobs, {"modee": 2}, "knobs")


def test_an_unknown_parameter_is_a_value_error_and_a_type_error() -> None:
    with pytest.raises(TypeError) as caught:
        make(Knobs, {"n": 2}, "knobs")
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
