"""Trajectory match: whether an agent called the tools that a reference conversation calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from metric_cards.trajectory_match.matching import Arguments, Comparison, Mode, Rule, compare
from metrichub.authoring import Message, Metric, Row
from metrichub.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class TrajectoryMatch(Metric):
    """The fraction of conversations whose calls match, with the rates of matched calls (macro).

    Attributes:
        mode: `strict`: the same messages by role, each with the same calls. `unordered`: the same
            calls, in any order. `superset`: at least the expected calls. `subset`: no others.
        arguments: When the arguments of two calls match: if they are equal (`exact`), always
            (`ignore`), if each is expected (`subset`), or if each expected one is there
            (`superset`). In the mode `subset`, the two sides change places.
        overrides: Other rules for some tools, as in `search=ignore`, or the only arguments that
            have to be equal, as in `book=date, guest.name`, where a point leads into an object.
    """

    mode: Mode = "strict"
    arguments: Arguments = "exact"
    overrides: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the overrides."""
        super().__post_init__()
        if not all(name and rule for name, rule in self._rules().items()):
            allowed = f"as in 'search=ignore' ({', '.join(get_args(Arguments))}) or 'book=date'"
            raise ParameterError(self.name, "overrides", self.overrides, allowed)

    def observe(self, messages: Sequence[Message], reference_messages: Sequence[Message]) -> Row:
        """Whether one conversation matches, and the rates of its matched calls."""
        found = self._compare(messages, reference_messages)
        shared, made, expected = len(found.pairs), len(found.made), len(found.expected)
        if not made and not expected:
            shared = made = expected = 1
        return {
            "score": not found.problem,
            "precision": shared / max(made, 1),
            "recall": shared / max(expected, 1),
            "f1": 2 * shared / (made + expected),
        }

    def explain(
        self, messages: Sequence[Message], reference_messages: Sequence[Message]
    ) -> Mapping[str, Any]:
        """What doesn't match first, every call with its expected one, and what is missing."""
        found = self._compare(messages, reference_messages)
        due = set(range(len(found.expected))) - set(found.pairs.values())
        calls = [
            {"call": call.shown, "expected": found.expected[found.pairs[i]].shown}
            if i in found.pairs
            else {"call": call.shown, "expected": ""}
            for i, call in enumerate(found.made)
        ]
        missing = [found.expected[i].shown for i in sorted(due)]
        return {"problem": found.problem, "calls": calls, "missing": missing}

    def _compare(self, made: Sequence[Message], expected: Sequence[Message]) -> Comparison:
        return compare(made, expected, self.mode, self.arguments, self._rules())

    def _rules(self) -> Mapping[str, Rule]:
        """The rule of each tool that has its own; an empty one is wrong."""
        rules: dict[str, Rule] = {}
        for entry in self.overrides:
            name, _, rule = map(str.strip, entry.partition("="))
            keys = tuple(key for part in rule.split(",") if (key := part.strip()))
            rules[name] = next((own for own in get_args(Arguments) if own == rule), keys)
        return rules
