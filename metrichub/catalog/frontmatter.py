"""Front matter: the YAML at the head of a card, read and checked, with the line of every error."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, Strict, ValidationError

from metrichub.catalog.parameters import choices_of
from metrichub.catalog.requirements import is_requirement
from metrichub.errors import CardError, did_you_mean

if TYPE_CHECKING:
    from pydantic import ConfigDict
    from pydantic_core import ErrorDetails

JUDGES = MappingProxyType({"none": "no judge", "any": "any judge", "model": "a model as judge"})
"""Who is asked, by the word on the card and in filters ("none" stands on no card), in words."""
UNREAD_LETTERS = "unread_letters"
UNDEFINED_FOR = MappingProxyType(
    {
        "empty": "the prediction is empty",
        "no_tokens": "the prediction has no tokens",
        "too_short": "the prediction is too short",
        "too_long": "the prediction is too long to compare",
        UNREAD_LETTERS: "the prediction is mostly in letters that the metric doesn't read",
        "no_claims": "the prediction makes no claim",
        "no_contexts": "nothing was retrieved",
        "no_quotes": "the prediction quotes nothing",
        "no_facts": "the prediction says nothing after a fact of its user",
        "no_calls": "the prediction calls no tool",
        "no_questions": "the prediction gives rise to no question",
        "no_requests": "the prediction contains no request of a user",
        "no_vector": "the prediction has no vector",
        "undecided": "the prediction takes too long or too much memory to compare",
    }
)
"""Predictions and retrievals that a definition gives no value, by the word on the card."""
Better = Literal["higher", "lower", "neither"]
BETTER: tuple[Better, ...] = choices_of(Better)
LengthBound = Literal["falls", "rises"]
LENGTH_BOUND: tuple[LengthBound, ...] = choices_of(LengthBound)
LENGTHS_APART = 0.2
"""Systems whose mean lengths differ by more aren't ranked by an output that is bound to length."""
_UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")
_ALLOWED = {
    "string_type": "text",
    "tuple_type": "a list",
    **dict.fromkeys(("dict_type", "model_type", "dataclass_type"), "a mapping of keys"),
}
"""The values that are allowed, by the type of pydantic's error."""


class Scale(NamedTuple):
    """The meaning of an output's numbers: range (None: unbounded), direction, value at perfection.

    `length_bound` says whether the output "falls" or "rises" with the length of the predictions,
    whatever they say; None if it does neither. A `share`
    is a mean over samples that each have 0 or 1; a `rate` is read in percent, but may exceed 1.
    """

    low: float | None = None
    high: float | None = None
    better: str = "neither"
    perfect: float | None = None
    length_bound: str | None = None
    share: bool = False
    rate: bool = False

    @property
    def in_percent(self) -> bool:
        """Whether the numbers can be read in percent."""
        return self.rate or (self.low, self.high) == (0, 1)

    def __contains__(self, value: object) -> bool:
        """Whether a number lies in the range, up to float rounding; `nan` does, infinity never."""
        if not isinstance(value, (int, float)) or math.isinf(value):
            return False
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        nearest = min(max(value, low), high)
        return math.isnan(value) or math.isclose(value, nearest, rel_tol=1e-9, abs_tol=1e-9)

    @property
    def interval(self) -> str:
        """The range in mathematical notation: "[0, 1]", "[0, ∞)"."""
        low = "(-∞" if self.low is None else f"[{self.low:g}"
        high = "∞)" if self.high is None else f"{self.high:g}]"
        return f"{low}, {high}"


def _must(fit: Callable[[Any], bool], message: str) -> AfterValidator:
    """Refuses other values with a message, in which {} stands for the value."""

    def check(value: Any) -> Any:
        if not fit(value):
            raise ValueError(message.format(repr(value)))
        return value

    return AfterValidator(check)


def _are_keywords(phrases: tuple[str, ...]) -> bool:
    short = all(0 < len(phrase.strip()) <= 40 for phrase in phrases)
    return short and len({phrase.casefold() for phrase in phrases}) == len(phrases) <= 16


def _scale(output: OutputKeys) -> Scale:
    if (output.share and output.range != (0, 1)) or (output.rate and output.range != (0, None)):
        raise ValueError("has to have range [0, 1] to be a share, and [0, null] to be a rate")
    return Scale(*output.range, **output.model_dump(exclude={"range"}))


Number = Annotated[float, Strict()]
Flag = Annotated[bool, Strict()]
Item = TypeVar("Item")
ListOf = Annotated[tuple[Item, ...], BeforeValidator(lambda v: [v] if isinstance(v, str) else v)]
"""A list, or one text that stands for a list of it."""
Requirement = Annotated[
    str, _must(is_requirement, "isn't a valid requirement: {}; quote one with a comma")
]
Reason = Annotated[
    str, _must(UNDEFINED_FOR.__contains__, f"has to be one of {', '.join(UNDEFINED_FOR)}, not {{}}")
]
Parameters = Annotated[dict[str, Any], _must(bool, "has to set parameters")]


@dataclass(frozen=True)
class Tags:
    """The uses of a metric; the gallery and `list` filter by these."""

    __pydantic_config__: ClassVar[ConfigDict] = {"extra": "forbid"}

    task: ListOf[str] = ()
    dimension: ListOf[str] = ()
    family: str = ""
    language: ListOf[str] = ("any",)


class OutputKeys(BaseModel, extra="forbid"):
    """The keys of an output under `scores`."""

    range: tuple[Number | None, Number | None]
    better: Better
    perfect: Number | None = None
    length_bound: LengthBound | None = None
    share: Flag = False
    rate: Flag = False


class FrontMatter(BaseModel, extra="forbid"):
    """The keys of a card's front matter; those that are left out have the defaults of `Card`."""

    name: str
    title: str
    summary: str
    inputs: ListOf[str]
    scores: Annotated[
        dict[str, Annotated[OutputKeys, AfterValidator(_scale)]],
        _must(lambda outputs: "score" in outputs, 'has to list the outputs, "score" among them'),
    ]
    license: str
    headline: Annotated[ListOf[str], _must(bool, "has to name an output")] = ("score",)
    definition: Annotated[int, Strict(), Field(ge=1)] = 1
    requires: ListOf[Requirement] = ()
    tags: Tags = Tags()
    judge: Literal["any", "model"] | None = None
    embedder: Literal["any"] | None = None
    undefined_for: ListOf[Reason] = ()
    drops_letters: Flag = False
    tolerance: Annotated[float, Field(ge=0, lt=1)] = 0
    keywords: Annotated[
        ListOf[str], _must(_are_keywords, "have to be at most 16 different short phrases, not {}")
    ] = ()
    presets: dict[str, Parameters] = {}
    unranked: str = ""


@cache
def pattern_of(output: str) -> str:
    """The name on a card of an output with a number: "precision_n" for "precision_2"."""
    return re.sub(r"\d+$", "n", output)


def read_front_matter(path: Path) -> tuple[dict[str, Any], str]:
    """The values that `Card` takes of a file, and the body after them.

    Raises:
        CardError: no such file, no front matter, an unknown or missing key, a value that isn't
            allowed; the text starts with file and line.
    """
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CardError(f"{path}: the card can't be read ({error})") from error
    match = re.match(r"---\n(.*?\n)---\n", text, re.DOTALL)
    if not match:
        raise CardError(f"{path}:1: a card has to start with front matter between two lines of ---")
    try:
        values = yaml.load(match[1], getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        front = FrontMatter.model_validate(values)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        first = next((e for e in errors if e["type"] in _UNKNOWN_KEY), errors[0])
        line = _line(yaml.compose(match[1]), first["loc"])
        raise CardError(f"{path}:{line}: {_worded(first)}") from error
    # An impossible date raises a plain ValueError.
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line, reason = mark.line + 2 if mark else 1, " ".join(str(error).split())
        raise CardError(f"{path}:{line}: the front matter isn't valid YAML: {reason}") from error
    for name in front.headline:
        if name not in front.scores and pattern_of(name) not in front.scores:
            line, hint = (
                _line(yaml.compose(match[1]), ["headline"]),
                did_you_mean(name, front.scores),
            )
            raise CardError(f"{path}:{line}: headline names {name}, which isn't an output{hint}")
    fields = {key: getattr(front, key) for key in values}
    return {**fields, "keys": tuple(values)}, text[match.end() :]


def _line(node: Any, keys: Iterable[int | str]) -> int:
    """The line in the file of the innermost of some keys, each of which is under the one before."""
    line = 1
    for name in keys:
        for key, value in node.value if node.id == "mapping" else ():
            if key.value == str(name):
                line, node = key.start_mark.line + 2, value
    return line


def _worded(error: ErrorDetails) -> str:
    """An error of pydantic's in the words of cards: "scores.f1.better has to be …"."""
    # Pydantic marks the key of a mapping itself.
    loc, kind = [part for part in error["loc"] if part != "[key]"], error["type"]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)[1:]
    if kind in _UNKNOWN_KEY:
        models = {"scores": OutputKeys.model_fields, "tags": vars(Tags())}
        keys = tuple(models[str(loc[0])] if loc[1:] else FrontMatter.model_fields)
        hint = did_you_mean(str(loc[-1]), keys)
        return f"unknown key {key}{hint} (known: {', '.join(keys)})"
    if kind == "missing":
        return f"{key} is missing"
    if kind == "value_error":
        return f"{key} {error['ctx']['error']}"
    allowed = _ALLOWED.get(kind) or error["msg"].removeprefix("Input should be ")
    return f"{key or 'the front matter'} has to be {allowed}, not {error['input']!r}"
