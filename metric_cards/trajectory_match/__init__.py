"""Trajectory match: whether an agent called the tools that a reference conversation calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metric_cards.trajectory_match.matching import Arguments, Comparison, Mode, Rule, compare
from metric_cards.trajectory_match.overrides import rules_of
from metrichub.authoring import Array, Message, Metric, Row, Scores


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

    averaging = "macro"

    mode: Mode = "strict"
    arguments: Arguments = "exact"
    overrides: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the overrides."""
        super().__post_init__()
        rules_of(self.name, self.overrides)

    def observe(self, messages: Sequence[Message], reference_messages: Sequence[Message]) -> Row:
        """Whether one conversation matches, and the rates of its matched calls."""
        comparison = self._compare(messages, reference_messages)
        shared = len(comparison.pairs)
        calls, expected = len(comparison.calls), len(comparison.expected)
        if not calls and not expected:
            shared = calls = expected = 1
        called = {call.name for call in comparison.calls}
        bare = [
            all(message["calls"] for message in side) for side in (messages, reference_messages)
        ]
        return {
            "score": not comparison.problem,
            "precision": shared / max(calls, 1),
            "recall": shared / max(expected, 1),
            "f1": 2 * shared / (calls + expected),
            "only_calls": bare == [False, True] and bool(reference_messages),
            "called": [tool in called for tool in self._rules],
        }

    def score(self, *_: Any, **observed: Any) -> Scores:
        """The means of the outputs over conversations."""
        return super().score(**{name: observed[name] for name in (*self.outputs(), "count")})

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """References that no whole conversation equals, and rules for tools that aren't called."""
        bare = int(totals["only_calls"])
        calls = (
            f"{bare} {'reference has' if bare == 1 else 'references have'} only calls, which the "
            "mode 'strict' compares with all messages; use mode='unordered' or 'superset'"
        )
        unused = [
            f"overrides has {tool!r}, a tool that no conversation calls"
            for tool, times in zip(self._rules, totals["called"], strict=True)
            if not times
        ]
        return [*([calls] if bare and self.mode == "strict" else []), *unused]

    def explain(
        self, messages: Sequence[Message], reference_messages: Sequence[Message]
    ) -> Mapping[str, Any]:
        """The first mismatch, every call with its expected one, and those that are missing."""
        comparison = self._compare(messages, reference_messages)
        due = set(range(len(comparison.expected))) - set(comparison.pairs.values())
        calls = [
            {"call": call.shown, "expected": comparison.expected[comparison.pairs[i]].shown}
            if i in comparison.pairs
            else {"call": call.shown, "expected": ""}
            for i, call in enumerate(comparison.calls)
        ]
        missing = [comparison.expected[i].shown for i in sorted(due)]
        return {"problem": comparison.problem, "calls": calls, "missing": missing}

    def _compare(self, messages: Sequence[Message], expected: Sequence[Message]) -> Comparison:
        return compare(messages, expected, self.mode, self.arguments, self._rules)

    @property
    def _rules(self) -> Mapping[str, Rule]:
        return rules_of(self.name, self.overrides)
