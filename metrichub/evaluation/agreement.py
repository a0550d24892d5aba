"""Agreement: how far the judges of a panel gave the same verdicts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

_COUPLE = 2


def fleiss_kappa(counts: ArrayLike) -> float:
    """Fleiss' kappa of (N, K) counts: how many judges gave an item each of the K words.

    Every item has the same number of judges, two or more. `nan` without items, or where all
    verdicts are the same word. Fleiss (1971), equations 1 to 7.
    """
    table = np.asarray(counts, np.float64)
    if not table.size:
        return float("nan")
    judges = table[0].sum()
    observed = float(((table**2).sum(axis=1) - judges).mean() / (judges * (judges - 1)))
    return _corrected(observed, float(((table.sum(axis=0) / table.sum()) ** 2).sum()))


def cohen_kappa(counts: ArrayLike) -> float:
    """Cohen's kappa of (K, K) counts: how often two judges gave an item these two words.

    `nan` without items, or where both judges always gave the same one word. Cohen (1960).
    """
    table = np.asarray(counts, np.float64)
    if not (whole := table.sum()):
        return float("nan")
    expected = table.sum(axis=0) @ table.sum(axis=1) / whole**2
    return _corrected(float(np.trace(table) / whole), float(expected))


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
    lacking = "".join(f"; {judge} gave none on {n} more" for judge, n in gave_none.items())
    if not whole:
        return [f"the {judges} votes of the panel are never complete{lacking}"]
    same = sum(len(set(item)) == 1 for item in whole) / len(whole)
    return [
        f"the {judges} votes of the panel agree on {same:.1%} of {len(whole)} items, "
        f"{_kappa(whole)}{lacking}"
    ]


def _kappa(votes: Sequence[Sequence[str]]) -> str:
    """Cohen's kappa of two judges and Fleiss' of more, by its name."""
    words = {word: i for i, word in enumerate(dict.fromkeys(w for item in votes for w in item))}
    couple = len(votes[0]) == _COUPLE
    table = np.zeros((len(words), len(words)) if couple else (len(votes), len(words)))
    for row, item in enumerate(votes):
        if couple:
            table[words[item[0]], words[item[1]]] += 1
        else:
            np.add.at(table[row], [words[word] for word in item], 1)
    name = "Cohen's" if couple else "Fleiss'"
    found = cohen_kappa(table) if couple else fleiss_kappa(table)
    return f"{name} kappa {'undefined' if np.isnan(found) else f'{found:.3f}'}"


def _corrected(observed: float, expected: float) -> float:
    """The agreement beyond chance over the most that there could be."""
    return float("nan") if expected == 1 else (observed - expected) / (1 - expected)


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
