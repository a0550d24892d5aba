"""`correlate`: scores and people's ratings in, a table of agreement out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from metrichub.agreement.agreement import CEILING, CHANCE, Agreement, AgreementRow
from metrichub.agreement.bootstrap import SEED, Drawn, check_drawn, resampled
from metrichub.agreement.coefficients import Options, coefficient
from metrichub.agreement.interval_rules import DrawnUnits, Ends, ends_of, ends_of_labels
from metrichub.agreement.judges import JudgeConsistency
from metrichub.agreement.levels import LABELS, Value, ceiling, chance, check_level_of, value_at
from metrichub.agreement.published_protocols import protocol_of
from metrichub.agreement.rating_inputs import Inputs
from metrichub.errors import ParameterError
from metrichub.evaluation.resample import check_confidence

Array = NDArray[np.float64]
AVERAGE = "average"
FEW_SYSTEMS = 20


class CorrelationKeywords(TypedDict, total=False):
    """What is correlated how, and how sure it is, as `correlate` takes it."""

    protocol: str | None
    level: str | Sequence[str] | None
    coefficient: str | Sequence[str] | None
    cut: float | None
    yes_from: float | None
    threshold: float
    draw: str | None
    draws: int
    confidence: float
    seed: int


def correlate(  # noqa: PLR0913  # the options of one call, each by its name
    scores: Any,
    human: Any,
    *,
    item: Iterable[Any] | None = None,
    system: Iterable[Any] | None = None,
    protocol: str | None = None,
    level: str | Sequence[str] | None = None,
    coefficient: str | Sequence[str] | None = None,
    better: str | Mapping[str, str] = "higher",
    cut: float | None = None,
    yes_from: float | None = None,
    threshold: float = 25.0,
    draw: str | None = None,
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = SEED,
) -> Agreement:
    """How far scores agree with people's ratings of the same N samples.

    >>> agreement = correlate(
    ...     {"mine": [0.1, 0.4, 0.3, 0.9, 0.8, 0.7]},
    ...     {"fluency": [1, 3, 2, 5, 3, 4]},
    ...     item=["a", "a", "a", "b", "b", "b"],
    ...     system=["x", "y", "z", "x", "y", "z"],
    ...     coefficient="tau_b",
    ...     draws=0,
    ... )
    >>> round(agreement.row().value, 4)  # 1 for item a, and 1/3 for b, where a pair is reversed
    0.6667

    Args:
        scores: one score per sample, or metric -> scores; `nan` or None where there is none. A
            matrix (S, I) has a row per system; `human` is then (S, I), or (S, I, R) for R raters.
        human: one rating per sample, a list of several raters' ratings, or dimension -> ratings.
            "yes" and "no" are 1 and 0; a list of errors, `{"severity": "major"}`, is their MQM
            score.
        item: the input of each sample, such as its document; without it, each sample is an item of
            its own.
        system: the system that made each sample's output.
        protocol: the name of a protocol, such as "g-eval", instead of a level and coefficient.
        level: "item", "pooled", "system" or "within_system", or several. By default "item" if items
            have several outputs, and "pooled" otherwise.
        coefficient: one or several of `pearson`, `spearman`, `tau_b`, `tau_c`, `tau_23`, `acc_eq`,
            `acc_eq_calibrated`, `soft_pairwise_accuracy`, `tau_wmt`, `auc`, `balanced_accuracy`. By
            default `auc` for yes/no labels, and the first three otherwise.
        better: "higher", "lower" or "neither", for all metrics or by name.
        cut: the lowest score that counts as a metric's yes, for balanced accuracy.
        yes_from: the lowest rating that counts as yes, if ratings aren't 0 and 1.
        threshold: the least difference of ratings in a pair of `tau_wmt`.
        draw: what to resample for the intervals: "items", "systems" or "both".
        draws: the number of resamples; 0 for no intervals.
        confidence: the confidence level of the intervals; see `metrichub.agreement.interval_rules`.
        seed: the seed of the random numbers.

    Raises:
        InputError: scores and ratings don't match, a cell occurs twice, only one system is given
            where systems are compared, or a rating isn't a number.
        ParameterError: there is no such protocol, level, coefficient or draw.
    """
    check_confidence(confidence)
    options = Options(0.0, cut, threshold)
    inputs = Inputs.of(scores, human, (item, system), better, options, yes_from)
    values = _values(inputs, protocol, level, coefficient)
    how = Drawn(_drawn(inputs, draw, protocol), draws, seed)
    check_drawn(how)
    rows = []
    for dimension in inputs.human:
        for at_level, name in values:
            rows += _rows(inputs, dimension, at_level, name, how, confidence)
    if protocol == "wmt25":
        rows += _averages(inputs, values, how, confidence)
    notes = _notes(inputs, rows)
    return Agreement(rows, inputs.facts(), how, confidence, protocol, notes, _inputs=inputs)


def with_sources(
    agreement: Agreement,
    signatures: Mapping[str, str],
    citations: Sequence[str],
    notes: Sequence[str] = (),
    judges: Sequence[JudgeConsistency] = (),
) -> Agreement:
    """The same agreement with its metrics' signatures and BibTeX, more notes, and their judges."""
    together = [*agreement.notes, *notes]
    return replace(
        agreement, signatures=signatures, citations=citations, notes=together, judges=judges
    )


def _values(
    inputs: Inputs,
    protocol: str | None,
    level: str | Sequence[str] | None,
    coefficients: str | Sequence[str] | None,
) -> list[tuple[str, str]]:
    """The levels and coefficients to compute, checked against the data."""
    if protocol is not None:
        if level is not None or coefficients is not None:
            raise ParameterError(
                None,
                "protocol",
                protocol,
                "it without a level or coefficient, which it sets itself",
            )
        pairs = list(protocol_of(protocol).values)
    else:
        named = _several(coefficients) or _usual(inputs)
        levels = _several(level) or ["item" if _has_groups(inputs, named) else "pooled"]
        pairs = [(at_level, name) for at_level in levels for name in named]
    for at_level, name in pairs:
        coefficient(name)
        check_level_of(at_level, name)
        inputs.layout.check(at_level)
    return pairs


def _has_groups(inputs: Inputs, named: Sequence[str]) -> bool:
    return inputs.layout.has_groups and not set(named) & set(LABELS)


def _usual(inputs: Inputs) -> list[str]:
    labels = all(ratings.of_labels for ratings in inputs.human.values())
    return ["auc"] if labels or inputs.yes_from is not None else ["pearson", "spearman", "tau_b"]


def _several(names: str | Sequence[str] | None) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def _drawn(inputs: Inputs, draw: str | None, protocol: str | None) -> str:
    """What is drawn: what was asked for, what the protocol draws, or all that there is."""
    layout = inputs.layout
    both = layout.named_systems and len(layout.systems) > 1
    if draw is not None:
        if draw != "items" and not both:
            raise ParameterError(None, "draw", draw, "'items', as there are no systems to resample")
        return draw
    usual = protocol_of(protocol).draw if protocol else "both"
    return usual if both else "items"


def _rows(
    inputs: Inputs, dimension: str, level: str, name: str, how: Drawn, confidence: float
) -> list[AgreementRow]:
    """A row for every metric, then the ceiling and chance."""
    where: dict[str, Any] = {"dimension": dimension, "level": level, "coefficient": name}
    rows = []
    for metric in inputs.scores:
        x, z = inputs.sides(metric, dimension, name)
        value = value_at(level, name, x, z, inputs.options)
        ends = _ends(level, name, value, (x, z), how, inputs.options, confidence)
        notes = [
            "neither direction is better" if inputs.better[metric] == "neither" else "",
            "ties nearly all pairs, as a constant does" if value.ties_nearly_all else "",
            ends.why,
        ]
        row = AgreementRow(
            metric=metric,
            **where,
            value=value.value,
            low=ends.low,
            high=ends.high,
            used=value.used,
            undefined=value.undefined,
            unscored=inputs.unscored(metric, dimension),
            epsilon=value.epsilon,
            note="; ".join(filter(None, notes)),
        )
        rows.append(row)
    last = {
        CEILING: ceiling(level, name, inputs.raters(dimension, name), inputs.options),
        CHANCE: chance(level, name, inputs.ratings(dimension, name)),
    }
    return rows + [AgreementRow(metric=kind, **where, value=v) for kind, v in last.items()]


def _ends(
    level: str,
    name: str,
    value: Value,
    sides: tuple[Array, Array],
    how: Drawn,
    options: Options,
    confidence: float,
) -> Ends:
    """The interval of a value from scores and ratings (S, I); none without draws."""
    if not how.draws or isnan(value.value):
        return Ends(float("nan"), float("nan"))
    units = DrawnUnits.of(how.draw, value.used, ~(np.isnan(sides[0]) | np.isnan(sides[1])))
    if level == "pooled" and name in LABELS:
        of_labels = ends_of_labels(*sides, name, options.cut, units, confidence)
        if of_labels is not None:
            return of_labels
    drawn = resampled(level, name, *sides, how, options)
    return ends_of(drawn, value.value, level, name, units, confidence)


class _Pair(NamedTuple):
    """A metric's values at several levels, and their draws."""

    values: list[float]
    draws: list[Array]


def _averages(
    inputs: Inputs, values: Sequence[tuple[str, str]], how: Drawn, confidence: float
) -> list[AgreementRow]:
    """The mean of a protocol's values, which ranks metrics at WMT; its draws are the same."""
    names = "+".join(name for _, name in values)
    rows = []
    for dimension in inputs.human:
        for metric in inputs.scores:
            pair = _Pair([], [])
            for level, name in values:
                x, z = inputs.sides(metric, dimension, name)
                pair.values.append(value_at(level, name, x, z, inputs.options).value)
                pair.draws.append(resampled(level, name, x, z, how, inputs.options))
            mean, drawn = float(np.mean(pair.values)), np.mean(pair.draws, axis=0)
            units = DrawnUnits.of(how.draw, len(values), ~(np.isnan(x) | np.isnan(z)))
            low, high, why = ends_of(drawn, mean, AVERAGE, name, units, confidence)
            row = AgreementRow(
                metric=metric,
                dimension=dimension,
                level=AVERAGE,
                coefficient=names,
                value=mean,
                low=low,
                high=high,
                used=len(values),
                note=why,
            )
            rows.append(row)
    return rows


def _notes(inputs: Inputs, rows: Sequence[AgreementRow]) -> list[str]:
    """What a reader of the table has to know."""
    notes = []
    systems = len(inputs.layout.systems)
    of_systems = [row for row in rows if row.level == "system"]
    if of_systems and systems < FEW_SYSTEMS:
        advice = "the values say little without an interval"
        if any(not isnan(row.low) for row in of_systems):
            advice = "read the intervals, not the values"
        notes.append(f"the system level compares only {systems} systems: {advice}")
    if any(row.metric == CEILING and not isnan(row.value) for row in rows):
        notes.append(
            "the human ceiling compares one rater with the mean of the others; it is a little "
            "low, because metrics are compared with the mean of all raters"
        )
    for (name, scores), dimension in (
        (pair, d) for pair in inputs.scores.items() for d in inputs.human
    ):
        rated = scores[~np.isnan(inputs.human[dimension].mean) & ~np.isnan(scores)]
        if len(rated) and (rated == rated[0]).all():
            notes.append(f"{name} gives every rated sample the same score, so it orders none")
            break
    for name, ratings in inputs.human.items():
        mean = ratings.mean[~np.isnan(ratings.mean)]
        if len(mean) and (mean == mean[0]).all():
            notes.append(f"people rated {name} the same everywhere, so nothing correlates with it")
    return list(dict.fromkeys(notes))
