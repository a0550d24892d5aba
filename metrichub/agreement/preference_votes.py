"""Votes: which of two outputs people prefer, as words in a column or as rows that name systems."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrichub.agreement.rating_matrix import ITEMS
from metrichub.agreement.ratings import Ratings
from metrichub.agreement.row_coefficients import as_numbers
from metrichub.agreement.shares import wilson
from metrichub.errors import InputError, MissingColumn, did_you_mean, what

Array = NDArray[np.float64]
CHOICES = ("a", "b", "tie")
FIRST = ("system_a", "model_a")
SECOND = ("system_b", "model_b")
PREFERRED = ("winner", "preferred", "preference")
"""The columns of rows that prefer one system's output to another's."""
_SIDE = re.compile(
    r"(?:(?:sys(?:tem)?|model|assistant|side|response|answer|output|completion|candidate|option"
    r"|choice|text|summary|translation)[\s_-]?)?([ab12])"
)
_SIDES = {"a": 1.0, "1": 1.0, "b": -1.0, "2": -1.0}
_TIES = ("draw", "equal", "same", "both", "neither", "bothbad", "both_bad", "both bad")


def side_of(choice: Any, names: tuple[Any, Any] = ("a", "b")) -> float | None:
    """1 for a, -1 for b, 0 for a tie, `nan` where nothing is said; None if it says no such thing.

    Written as "a", "A", "model_a", "1" or the name of the one that is preferred; "tie" or "draw".

    >>> side_of("model_b"), side_of("tie (bothbad)"), side_of("gpt", ("gpt", "llama"))
    (-1.0, 0.0, 1.0)
    """
    if choice is None or choice == "" or (isinstance(choice, float) and isnan(choice)):
        return float("nan")
    for name, side in zip(names, (1.0, -1.0), strict=True):
        if str(choice).strip() == str(name):
            return side
    word = str(choice).strip().lower()
    if word.startswith("tie") or word in _TIES:
        return 0.0
    match = _SIDE.fullmatch(word)
    return _SIDES[match[1]] if match and not isinstance(choice, bool) else None


def are_preferences(values: Iterable[Any]) -> bool:
    """Whether a column says which of two outputs is preferred, by words and not by numbers."""
    choices = [choice for value in values for choice in _listed(value) if choice not in (None, "")]
    words = [
        choice for choice in choices if isinstance(choice, str) and not choice.strip().isdigit()
    ]
    return bool(words) and all(side_of(choice) is not None for choice in choices)


def read_sides(dimension: str, values: Sequence[Any], names: tuple[Any, Any] = ("a", "b")) -> Array:
    """Preferences of P pairs by up to R raters each, as `side_of` has them: (P, R).

    Raises:
        InputError: what isn't a preference; the text says where.
    """
    cells = [_listed(value) for value in values]
    table = np.full((len(cells), max([1, *map(len, cells)])), np.nan)
    for at, cell in enumerate(cells):
        for rater, choice in enumerate(cell):
            side = side_of(choice, names)
            if side is None:
                raise InputError(
                    f"pair {at}: {dimension} is {what(choice)}; write 'a', 'b' or 'tie', or the "
                    "name of the preferred one"
                )
            table[at, rater] = side
    return table


class Sides(Ratings):
    """Preferences of P pairs by up to R raters each: 1 for a, -1 for b, 0 for a tie."""

    @property
    def consensus(self) -> Array:
        """The side of most raters of each pair (P,), 0 where as many prefer either."""
        rated = ~np.isnan(self.table)
        sums = np.sign(np.where(rated, self.table, 0).sum(1))
        return np.where(rated.any(1), sums, np.nan)


_Places = dict[tuple[str, str], int]


class Votes(NamedTuple):
    """Preferences between the outputs of two systems for an item, with a list of votes per pair.

    `sides` (P, R) has a vote per column: 1 for `first`, -1 for `second`, 0 for a tie.
    """

    item: tuple[Hashable, ...]
    first: tuple[Hashable, ...]
    second: tuple[Hashable, ...]
    sides: Array

    @classmethod
    def of(cls, columns: Mapping[str, Sequence[Any]], item: str | None = None) -> Votes:
        """The votes in a table with a row per vote: item, system_a, system_b, winner.

        Rows with the same two outputs, in either order, are votes of several raters.

        Raises:
            MissingColumn: one of these columns is missing, under any of its usual names.
            InputError: a winner that is neither system nor a tie.
        """
        items = columns[_named(columns, (item,) if item else (*ITEMS, "question_id"))]
        a, b = columns[_named(columns, FIRST)], columns[_named(columns, SECOND)]
        name = _named(columns, PREFERRED)
        pairs: dict[tuple[Hashable, Hashable, Hashable], list[float]] = {}
        rows = zip(items, a, b, columns[name], strict=True)
        for number, (label, x, y, winner) in enumerate(rows):
            side = side_of(winner, (x, y))
            if side is None or x == y:
                wrong = f"{name} is {what(winner)}" if x != y else f"{x!r} is compared with itself"
                raise InputError(
                    f"vote {number}: {wrong}; write 'a', 'b', 'tie' or the system's name"
                )
            if (label, y, x) in pairs:
                pairs[label, y, x].append(-side)
            else:
                pairs.setdefault((label, x, y), []).append(side)
        sides = np.full((len(pairs), max(map(len, pairs.values()), default=1)), np.nan)
        for at, votes in enumerate(pairs.values()):
            sides[at, : len(votes)] = votes
        voted, first, second = (tuple(pair[k] for pair in pairs) for k in range(3))
        return cls(voted, first, second, sides)

    def words(self) -> list[list[str | None]]:
        """Each pair's votes as "a", "b", "tie" or None."""
        words = {1.0: "a", -1.0: "b", 0.0: "tie"}
        return [[words.get(side) for side in row] for row in self.sides.tolist()]

    def check(self, item: Sequence[Any] | None, system: Sequence[Any] | None) -> _Places:
        """The position of each output among samples with these items and systems.

        Raises:
            InputError: the samples have no items or systems, lack all pairs, or have an output
                twice.
        """
        if item is None or system is None:
            name = "item" if item is None else "system"
            raise InputError(
                f"votes between systems need the {name} of every sample: name its column, {name}="
            )
        places: _Places = {}
        for at, place in enumerate(zip(map(str, item), map(str, system), strict=True)):
            if places.setdefault(place, at) != at:
                raise InputError(
                    f"system {place[1]!r} has several samples of item {place[0]!r}; there has to "
                    "be one"
                )
        if not places.keys() & {*self._outputs(self.first), *self._outputs(self.second)}:
            first = next(self._outputs(self.first), ("", ""))
            raise InputError(
                f"the votes are on other samples, such as system {first[1]!r} of item "
                f"{first[0]!r}; items and systems need the same names in both"
            )
        return places

    def scores(
        self, scores: Array, item: Sequence[Any] | None, system: Sequence[Any] | None
    ) -> tuple[Array, Array]:
        """The scores of both outputs of each pair, from those of N samples; `nan` if missing.

        Raises:
            InputError: as `check`.
        """
        places, padded = self.check(item, system), np.append(scores, np.nan)
        first = [places.get(output, -1) for output in self._outputs(self.first)]
        second = [places.get(output, -1) for output in self._outputs(self.second)]
        return padded[first], padded[second]

    def _outputs(self, systems: Sequence[Hashable]) -> Iterator[tuple[str, str]]:
        return zip(map(str, self.item), map(str, systems), strict=True)


def _named(columns: Mapping[str, Any], usual: Sequence[str]) -> str:
    column = next((name for name in usual if name in columns), None)
    if column is None:
        listed = ", ".join(columns)
        hint = did_you_mean(usual[0], columns)
        raise MissingColumn(f"votes have no column {usual[0]!r}{hint} (columns: {listed})")
    return column


def _listed(value: Any) -> Sequence[Any]:
    return list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]


class PreferenceAgreement(NamedTuple):
    """How a metric orders pairs in which people prefer one output.

    `accuracy` is the share that it orders as people do, with ties counted as wrong, and its Wilson
    interval; `accuracy_ties_half` counts ties as half right. `tau_wmt` is the Kendall-like tau of
    WMT 2017 to 2020, in which a metric's tie counts as discordant: (C - D) / (C + D). `ties` is the
    share of pairs that the metric ties. Pairs that people tied (`human_ties`), and those without a
    score (`unscored`), are left out.
    """

    accuracy: float
    low: float
    high: float
    accuracy_ties_half: float
    tau_wmt: float
    ties: float
    pairs: int
    human_ties: int
    unscored: int


def preference_agreement(
    scores_a: ArrayLike, scores_b: ArrayLike, preferred: Sequence[str], confidence: float = 0.95
) -> PreferenceAgreement:
    """How far scores of outputs a and b agree with preferences: "a", "b" or "tie".

    >>> agreement = preference_agreement([0.5, 0.3, 0.3], [0.4, 0.3, 0.6], ["a", "a", "b"])
    >>> agreement.accuracy, agreement.tau_wmt  # two of three are right, and the tie is wrong
    (0.6666666666666666, 0.3333333333333333)
    """
    a, b = as_numbers("scores", scores_a), as_numbers("scores", scores_b)
    if not len(a) == len(b) == len(preferred):
        raise InputError(f"{len(a)}, {len(b)} scores and {len(preferred)} preferences don't match")
    for at, choice in enumerate(preferred):
        if choice not in CHOICES:
            raise InputError(f"sample {at} prefers {choice!r}; write 'a', 'b' or 'tie'")
    side = np.array([{"a": 1, "b": -1, "tie": 0}[choice] for choice in preferred], np.float64)
    scored = ~(np.isnan(a) | np.isnan(b))
    counted = scored & (side != 0)
    lead = (np.sign(a - b) * side)[counted]
    return _of_leads(lead, int((scored & (side == 0)).sum()), int((~scored).sum()), confidence)


def ranked_pairs(
    scores: Array, human: Array, threshold: float = 25.0, confidence: float = 0.95
) -> PreferenceAgreement:
    """How a metric orders the pairs of an item whose ratings differ by `threshold` or more.

    Scores and ratings are (S, I); pairs of all items have equal weight. WMT's DARR pairs are made
    from direct assessments from 0 to 100 in this way, with a threshold of 25 (Mathur et al. 2020).
    """
    rated = scored = 0
    leads, close = [np.empty(0)], 0
    for k in range(1, len(human)):
        dz, dx = human[k:] - human[:-k], scores[k:] - scores[:-k]
        far = np.abs(dz) >= threshold
        rated += int(far.sum())
        compared = far & ~np.isnan(dx)
        scored += int(compared.sum())
        close += int((~np.isnan(dz) & ~far).sum())
        leads.append((np.sign(dx) * np.where(dz > 0, 1, -1))[compared])
    return _of_leads(np.concatenate(leads), close, rated - scored, confidence)


def _of_leads(
    lead: Array, human_ties: int, unscored: int, confidence: float
) -> PreferenceAgreement:
    """The shares of pairs that are ordered alike (1), tied (0) or ordered otherwise (-1)."""
    pairs = len(lead)
    right, tied = int((lead > 0).sum()), int((lead == 0).sum())
    share, of = wilson(right, pairs, confidence), pairs or nan
    return PreferenceAgreement(
        accuracy=share.value,
        low=share.low,
        high=share.high,
        accuracy_ties_half=(right + tied / 2) / of,
        tau_wmt=(2 * right - pairs) / of,
        ties=tied / of,
        pairs=pairs,
        human_ties=human_ties,
        unscored=unscored,
    )
