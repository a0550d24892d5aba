"""Overrides: the rules of arguments that some tools have of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import get_args

from metric_cards.trajectory_match.matching import Arguments, Rule
from metrichub.errors import ParameterError

_RULES = get_args(Arguments)


def rules_of(metric: str, overrides: Sequence[str]) -> Mapping[str, Rule]:
    """The rule of each tool, or the only arguments that have to be equal.

    Raises:
        ParameterError: an entry has no tool or no rule, or what is rather a misspelt rule than the
            name of an argument.
    """
    rules: dict[str, Rule] = {}
    for entry in overrides:
        name, _, rule = map(str.strip, entry.partition("="))
        keys = tuple(key for part in rule.split(",") if (key := part.strip()))
        if not (name and keys):
            allowed = f"as in 'search=ignore' ({', '.join(_RULES)}) or 'book=date'"
            raise ParameterError(metric, "overrides", overrides, allowed)
        near = get_close_matches(rule.lower(), _RULES, n=1, cutoff=0.8)
        if near and rule not in _RULES and "," not in rule:
            allowed = f"{near[0]!r} as the rule, or {f'{entry},'!r} if it is an argument"
            raise ParameterError(metric, "overrides", entry, allowed)
        rules[name] = next((known_rule for known_rule in _RULES if known_rule == rule), keys)
    return rules
