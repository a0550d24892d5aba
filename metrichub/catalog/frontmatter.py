"""Front matter: the YAML at the head of a card, read, checked and located line by line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from metrichub.catalog.requirements import is_requirement
from metrichub.errors import CardError, did_you_mean

JUDGES = MappingProxyType({"none": "no judge", "any": "any judge", "model": "a model as judge"})
"""Who is asked, by the word on the card and in filters ("none" stands on no card), in words."""
EMBEDDERS = ("any",)
UNREAD_LETTERS = "unread_letters"
UNDEFINED_FOR = MappingProxyType(
    {
        "empty": "the prediction is empty",
        "no_tokens": "the prediction has no tokens",
        "too_short": "the prediction is too short",
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
BETTER = ("higher", "lower", "neither")
LENGTH_BOUND = ("falls", "rises")
LENGTHS_APART = 0.2
"""Systems whose mean lengths differ by more aren't ranked by an output that is bound to length."""
_KEYS = (
    "name", "title", "summary", "inputs", "scores", "headline", "definition", "requires", "tags",
    "license", "judge", "embedder", "undefined_for", "drops_letters", "tolerance", "keywords",
    "presets", "unranked",
)  # fmt: skip
_MOST_KEYWORDS, _LONGEST_KEYWORD = 16, 40
_SCORE_KEYS = ("range", "better", "perfect", "length_bound", "share", "rate")
_POWER = re.compile(r"\d+e-\d+")
_TAG_KEYS = ("task", "dimension", "family", "language")


class Scale(NamedTuple):
    """What one output's numbers mean: range (None: unbounded), direction, value at perfection.

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
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            return isinstance(value, float) and math.isnan(value)
        above = self.low is None or value >= self.low or _near(value, self.low)
        return above and (self.high is None or value <= self.high or _near(value, self.high))

    @property
    def interval(self) -> str:
        """The range in mathematical notation: "[0, 1]", "[0, ∞)"."""
        low = "(-∞" if self.low is None else f"[{self.low:g}"
        high = "∞)" if self.high is None else f"{self.high:g}]"
        return f"{low}, {high}"


class Tags(NamedTuple):
    """What a metric is for; the gallery and `list` filter by these."""

    task: tuple[str, ...] = ()
    dimension: tuple[str, ...] = ()
    family: str = ""
    language: tuple[str, ...] = ("any",)


@cache
def pattern_of(output: str) -> str:
    """What stands on a card for an output with a number: "precision_n" for "precision_2"."""
    return re.sub(r"\d+$", "n", output)


def _near(first: float, second: float) -> bool:
    return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-9)


def _split(path: Path, text: str) -> tuple[str, str]:
    match = re.match(r"---\n(.*?\n)---\n", text.replace("\r\n", "\n"), re.DOTALL)
    if not match:
        raise CardError(f"{path}:1: a card has to start with front matter between two lines of ---")
    return match[1], text.replace("\r\n", "\n")[match.end() :]


def _load(path: Path, front: str) -> tuple[dict[str, Any], dict[str, int]]:
    """The front matter's values, and the line in the file of every key ("scores.f1")."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node, values = yaml.compose(front, loader), yaml.load(front, loader)
    # An impossible date raises a plain ValueError.
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark else 1
        reason = " ".join(str(error).split())
        raise CardError(f"{path}:{line}: the front matter isn't valid YAML: {reason}") from error
    if not isinstance(values, dict):
        raise CardError(f"{path}:2: the front matter has to be a mapping of keys")
    return values, dict(_lines(node, ""))


def _lines(node: Any, prefix: str) -> Iterator[tuple[str, int]]:
    for key, value in getattr(node, "value", []) if hasattr(node, "value") else []:
        name = f"{prefix}{key.value}"
        yield name, key.start_mark.line + 2
        if isinstance(value.value, list) and value.id == "mapping":
            yield from _lines(value, f"{name}.")


@dataclass(frozen=True)
class FrontMatter:
    """A card's front matter as it was read: values to be checked, and the line of every key."""

    path: Path
    values: Mapping[str, Any]
    lines: Mapping[str, int]

    @classmethod
    def read(cls, path: Path) -> tuple[dict[str, Any], str]:
        """What `Card` takes of the file, and the body after it.

        Raises:
            CardError: no such file, no front matter, an unknown or missing key, a value of
                the wrong shape; the text starts with file and line.
        """
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CardError(f"{path}: the card can't be read ({error})") from error
        front, body = _split(path, text)
        values, lines = _load(path, front)
        return cls(path, values, lines).parsed(), body

    def parsed(self) -> dict[str, Any]:
        """The values as `Card` takes them.

        Raises:
            CardError: an unknown or missing key, or a value of the wrong shape.
        """
        values = self.values
        self.only(values, _KEYS)
        name, title, summary, license_ = map(self.text, ("name", "title", "summary", "license"))
        scales = self.scales(values.get("scores"))
        tags = self.only(values.get("tags", {}), _TAG_KEYS, "tags.")
        return dict(
            name=name,
            title=title,
            summary=summary,
            inputs=self.words("inputs", values.get("inputs")),
            scores=scales,
            headline=self.headline(values.get("headline", ["score"]), scales),
            definition=self.definition(values.get("definition", 1)),
            tags=Tags(
                self.words("tags.task", tags.get("task", [])),
                self.words("tags.dimension", tags.get("dimension", [])),
                str(tags.get("family", "")),
                self.words("tags.language", tags.get("language", ["any"])),
            ),
            license=license_,
            requires=self.requires(values.get("requires", [])),
            undefined_for=self.undefined_for(values.get("undefined_for", [])),
            judge=self.one_of("judge", [*JUDGES][1:]),
            embedder=self.one_of("embedder", EMBEDDERS),
            drops_letters=self.flag("drops_letters"),
            tolerance=self.tolerance(values.get("tolerance", 0)),
            keywords=self.keywords(values.get("keywords", [])),
            presets=self.presets(values.get("presets", {})),
            unranked=self.text("unranked") if "unranked" in values else "",
            keys=tuple(values),
        )

    def fail(self, key: str, message: str) -> CardError:
        """The error that names the file, the line of a key, and what is wrong there."""
        return CardError(f"{self.path}:{self.lines.get(key, 1)}: {message}")

    def only(self, value: object, known: tuple[str, ...], prefix: str = "") -> dict[str, Any]:
        """A mapping whose keys are all known."""
        if not isinstance(value, dict):
            raise self.fail(prefix.rstrip("."), f"{prefix.rstrip('.')} has to be a mapping of keys")
        for key in value:
            if key not in known:
                hint = did_you_mean(str(key), known)
                raise self.fail(
                    f"{prefix}{key}", f"unknown key {prefix}{key}{hint} (known: {', '.join(known)})"
                )
        return value

    def words(self, key: str, value: object) -> tuple[str, ...]:
        """One word or several."""
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise self.fail(key, f"{key} has to be a list of words, not {value!r}")
        return tuple(items)

    def scale(self, name: str, value: object) -> Scale:
        """What an output's numbers mean."""
        prefix = f"scores.{name}"
        keys = self.only(value, _SCORE_KEYS, f"{prefix}.")
        bounds = keys.get("range")
        if not (
            isinstance(bounds, list)
            and len(bounds) == 2
            and all(b is None or isinstance(b, (int, float)) for b in bounds)
        ):
            raise self.fail(
                prefix, f"{prefix}.range has to be [low, high], with null for unbounded"
            )
        if keys.get("better") not in BETTER:
            raise self.fail(prefix, f"{prefix}.better has to be one of {', '.join(BETTER)}")
        perfect = keys.get("perfect")
        if perfect is not None and not isinstance(perfect, (int, float)):
            raise self.fail(prefix, f"{prefix}.perfect has to be a number, not {perfect!r}")
        length_bound = keys.get("length_bound")
        if length_bound is not None and length_bound not in LENGTH_BOUND:
            raise self.fail(prefix, f"{prefix}.length_bound has to be {' or '.join(LENGTH_BOUND)}")
        flags = {"share": [0, 1], "rate": [0, None]}
        for flag, needed in flags.items():
            value = keys.get(flag, False)
            if not isinstance(value, bool) or (value and bounds != needed):
                shown = json.dumps(needed)
                raise self.fail(
                    prefix, f"{prefix}.{flag} has to be true or false, and true with range {shown}"
                )
        direction = cast("str", keys["better"])
        is_flag = {flag: bool(keys.get(flag)) for flag in flags}
        return Scale(bounds[0], bounds[1], direction, perfect, length_bound, **is_flag)

    def headline(self, value: object, outputs: Mapping[str, object]) -> tuple[str, ...]:
        """Outputs of the card."""
        named = self.words("headline", value)
        if not named:
            raise self.fail("headline", "headline has to name an output")
        for name in named:
            if name not in outputs and pattern_of(name) not in outputs:
                raise self.fail(
                    "headline",
                    f"headline names {name}, which isn't an output{did_you_mean(name, outputs)}",
                )
        return named

    def requires(self, value: object) -> tuple[str, ...]:
        """Requirements as pip knows them."""
        texts = self.words("requires", value)
        for text in texts:
            if not is_requirement(text):
                raise self.fail(
                    "requires",
                    f"requires has {text!r}, which isn't a valid requirement; quote one with a "
                    "comma",
                )
        return texts

    def undefined_for(self, value: object) -> tuple[str, ...]:
        """Kinds of predictions without a value."""
        kinds = self.words("undefined_for", value)
        for kind in kinds:
            if kind not in UNDEFINED_FOR:
                raise self.fail(
                    "undefined_for",
                    f"undefined_for has {kind!r}{did_you_mean(kind, UNDEFINED_FOR)} "
                    f"(known: {', '.join(UNDEFINED_FOR)})",
                )
        return kinds

    def keywords(self, value: object) -> tuple[str, ...]:
        """What people type who look for such a metric: a few short phrases, each once."""
        words = self.words("keywords", value)
        short = all(0 < len(word.strip()) <= _LONGEST_KEYWORD for word in words)
        if not short or len({word.casefold() for word in words}) < len(words):
            raise self.fail("keywords", f"keywords have to be different short phrases: {value!r}")
        if len(words) > _MOST_KEYWORDS:
            raise self.fail(
                "keywords", f"keywords has {len(words)} entries, and {_MOST_KEYWORDS} are the limit"
            )
        return words

    def presets(self, value: object) -> dict[str, dict[str, Any]]:
        """Parameters by the name that sets them together."""
        if not isinstance(value, dict):
            raise self.fail("presets", "presets has to be a mapping of names to parameters")
        for name, parameters in value.items():
            if not isinstance(name, str):
                raise self.fail(f"presets.{name}", f"presets has {name!r} as a name; quote it")
            if not isinstance(parameters, dict) or not parameters:
                raise self.fail(f"presets.{name}", f"presets.{name} has to set parameters")
        return value

    def text(self, key: str) -> str:
        """The text of a key that has to be there."""
        value = self.values.get(key)
        if not isinstance(value, str):
            raise self.fail(key, f"{key} is missing or isn't text")
        return value

    def scales(self, value: object) -> dict[str, Scale]:
        """The scales of all outputs."""
        if not isinstance(value, dict) or "score" not in value:
            raise self.fail("scores", 'scores has to list the outputs, "score" among them')
        return {str(name): self.scale(str(name), scale) for name, scale in value.items()}

    def definition(self, value: object) -> int:
        """The version of the numbers."""
        if type(value) is not int or value < 1:
            raise self.fail(
                "definition", f"definition has to be a whole number from 1, not {value!r}"
            )
        return value

    def flag(self, key: str) -> bool:
        """Whether a key is true; it is false where it is left out."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise self.fail(key, f"{key} has to be true or false, not {value!r}")
        return value

    def tolerance(self, value: object) -> float:
        """How far equal scores may differ."""
        # YAML takes 1e-5 for text, as it has no point.
        number = float(value) if isinstance(value, str) and _POWER.fullmatch(value) else value
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 <= number < 1:
            raise self.fail("tolerance", f"tolerance has to be a number from 0 to 1, not {value!r}")
        return float(number)

    def one_of(self, key: str, known: Sequence[str]) -> str | None:
        """One of the known words, or None where the key is left out."""
        if key in self.values and self.values[key] not in known:
            allowed = f"has to be {' or '.join(known)}, or left out"
            raise self.fail(key, f"{key} {allowed}, not {self.values[key]!r}")
        return cast("str | None", self.values.get(key))
