"""Votes: what the judges of a panel said of each item, and how far they say the same."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any

_COUPLE = 2


def votes_in(steps: Iterable[Any]) -> Counter[str]:
    """How often a panel's judges voted so on an item: '["yes", "no", null]' -> 3.

    `null` stands for a judge whose call failed.
    """
    return Counter(json.dumps([vote["verdict"] for vote in item]) for item in _votes(steps))


def agreement_notes(votes: Mapping[str, int]) -> list[str]:
    """How far a panel's judges agree, from what `votes_in` gives; nothing where nobody voted.

    Items that a judge gave no verdict on are counted apart.
    """
    if not votes:
        return []
    patterns = [(json.loads(pattern), n) for pattern, n in votes.items()]
    judges = max(len(pattern) for pattern, _ in patterns)
    whole = [
        item for item, n in patterns if len(item) == judges and None not in item for _ in range(n)
    ]
    gave_none = Counter(
        f"judge {place}"
        for item, n in patterns
        for place, verdict in enumerate(item, 1)
        if verdict is None
        for _ in range(n)
    )
    lacking = "".join(f"; {judge} gave no verdict on {n} more" for judge, n in gave_none.items())
    if not whole:
        return [f"no item has all {judges} votes of the panel{lacking}"]
    same = sum(len(set(item)) == 1 for item in whole) / len(whole)
    return [
        f"the {judges} votes of the panel agree on {same:.1%} of {len(whole)} items, "
        f"{_kappa(whole)}{lacking}"
    ]


def _kappa(votes: Sequence[Sequence[str]]) -> str:
    """Cohen's kappa of two judges and Fleiss' of more, by its name."""
    from metrichub.evaluation.kappa import cohen_kappa, fleiss_kappa

    couple = len(votes[0]) == _COUPLE
    pair = [[item[k] for item in votes] for k in (0, 1)]
    found = cohen_kappa(pair[0], pair[1]) if couple else fleiss_kappa(votes)
    name = "Cohen's" if couple else "Fleiss'"
    return f"{name} kappa {'undefined' if isnan(found) else f'{found:.3f}'}"


def _votes(found: Iterable[Any]) -> Iterator[Sequence[Mapping[str, Any]]]:
    """The votes on every item, wherever they stand in steps."""
    for part in found:
        if isinstance(part, Mapping):
            if isinstance(part.get("votes"), list) and "verdict" in part:
                yield part["votes"]
            else:
                yield from _votes(part.values())
        elif isinstance(part, (list, tuple)):
            yield from _votes(part)
