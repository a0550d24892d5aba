"""`correlate` and `correlate_preferences`: scores and people's judgements in, a table out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from metrichub.agreement.agreement import CEILING, CHANCE, Agreement, AgreementRow
from metrichub.agreement.agreement_inputs import Inputs, Place
from metrichub.agreement.bootstrap import SEED, Drawn, check_drawn, resampled
from metrichub.agreement.coefficients import LABELS, PAIRS, Options, pair_coefficient
from metrichub.agreement.interval_rules import (
    SHARES,
    Bounds,
    bounds_of,
    bounds_of_labels,
    bounds_of_share,
)
from metrichub.agreement.judges import JudgeConsistency
from metrichub.agreement.levels import Value, chance, check_level_of, value_at
from metrichub.agreement.published_protocols import protocol_of
from metrichub.agreement.rating_matrix import OutputPairs, RatingMatrix
from metrichub.errors import ParameterError
from metrichub.evaluation.resample import check_confidence

Array = NDArray[np.float64]
AVERAGE = "average"
FEW_SYSTEMS = 20
_OF_RATINGS = ("pearson", "spearman", "tau_b")


class CorrelationKeywords(TypedDict, total=False):
    """The options of `correlate` beside scores, ratings and labels."""

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
    inputs = Inputs.of_ratings(scores, human, (item, system), better, options, yes_from)
    values = _values(inputs, protocol, level, coefficient)
    usual_draw = protocol_of(protocol).draw if protocol else "both"
    how = _drawn(inputs, draw, usual_draw, draws, seed)
    rows = _rows(inputs, values, how, confidence)
    if protocol == "wmt25":
        rows += _averages(inputs, values, how, confidence)
    notes = _notes(inputs, rows)
    return Agreement(rows, inputs.facts(), how, confidence, protocol, notes, _inputs=inputs)


def correlate_preferences(  # noqa: PLR0913  # the options of one call, each by its name
    scores: Any,
    preferred: Any,
    *,
    item: Iterable[Any] | None = None,
    systems: tuple[Sequence[Any], Sequence[Any]] | None = None,
    protocol: str | None = None,
    coefficient: str | Sequence[str] | None = None,
    better: str | Mapping[str, str] = "higher",
    draw: str | None = None,
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = SEED,
) -> Agreement:
    """How far scores order P pairs of outputs as people do, who prefer a or b.

    >>> agreement = correlate_preferences(
    ...     {"mine": ([0.5, 0.3, 0.3, 0.1], [0.4, 0.3, 0.6, 0.9])}, ["a", "a", "b", "tie"], draws=0
    ... )
    >>> agreement.row(coefficient="accuracy").value  # of three two are right, and the tie is wrong
    0.6666666666666666

    Args:
        scores: the scores of all a and those of all b, or metric -> both. For a judge that compares
            the outputs, its verdicts, such as "a", instead.
        preferred: "a", "b" or "tie" per pair, a list of several raters' preferences, or dimension
            -> preferences.
        item: the input of each pair; pairs of the same item are drawn together.
        systems: the systems that made the a and the b of each pair.
        protocol: "wmt20-darr", which is the coefficient `tau_wmt`.
        coefficient: one or several of the following; by default `accuracy` and `tau_wmt`.
            `accuracy` is the share of pairs in the right order, with a metric's ties counted as
            wrong; `accuracy_ties_half` counts them as half right. Kendall's (C - D) / (C + D) is
            `tau_wmt` if ties are discordant, as at WMT 2017 to 2020, and `tau_ties_left_out`
            without ties. All of these leave out pairs that people tie. `acc_eq` and Cohen's `kappa`
            treat a tie as a third answer.
        better: "higher", "lower" or "neither", for all metrics or by name.
        draw: what to resample for the intervals: "items", "systems" or "both".
        draws: the number of resamples; 0 for no intervals.
        confidence: the confidence level of the intervals; see `metrichub.agreement.interval_rules`.
        seed: the seed of the random numbers.

    Raises:
        InputError: scores and preferences don't match, or a value isn't a preference.
        ParameterError: there is no such coefficient or draw, or the protocol is one for ratings.
    """
    check_confidence(confidence)
    inputs = Inputs.of_preferences(scores, preferred, item, systems, better)
    named = _several(coefficient) or ["accuracy", "tau_wmt"]
    if protocol is not None:
        named = ["tau_wmt"]
        if coefficient is not None or protocol_of(protocol).values != (("item", "tau_wmt"),):
            raise ParameterError(
                None, "protocol", protocol, "wmt20-darr, the only one for preferences"
            )
    for name in named:
        pair_coefficient(name)
    how = _drawn(inputs, draw, "both", draws, seed)
    rows = _rows(inputs, [(PAIRS, name) for name in named], how, confidence)
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
    matrix = inputs.places
    assert isinstance(matrix, RatingMatrix)
    if protocol is not None:
        if level is not None or coefficients is not None:
            raise ParameterError(
                None,
                "protocol",
                protocol,
                "it without a level or coefficient, which it sets itself",
            )
        values = list(protocol_of(protocol).values)
    else:
        labels = all(ratings.of_labels for ratings in inputs.human.values())
        usual = ["auc"] if labels or inputs.yes_from is not None else list(_OF_RATINGS)
        named = _several(coefficients) or usual
        by_item = matrix.has_groups and not set(named) & set(LABELS)
        levels = _several(level) or ["item" if by_item else "pooled"]
        values = [(at_level, name) for at_level in levels for name in named]
    for at_level, name in values:
        check_level_of(at_level, name)
        matrix.check(at_level)
    return values


def _several(names: str | Sequence[str] | None) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def _drawn(inputs: Inputs, draw: str | None, usual: str, draws: int, seed: int) -> Drawn:
    """The draw that was asked for, else the usual one where there are several systems."""
    has_systems = inputs.places.has_systems
    if draw not in (None, "items") and not has_systems:
        raise ParameterError(None, "draw", draw, "'items', as there are no systems to resample")
    drawn = Drawn(draw or (usual if has_systems else "items"), draws, seed)
    check_drawn(drawn)
    return drawn


def _rows(
    inputs: Inputs, values: Sequence[tuple[str, str]], how: Drawn, confidence: float
) -> list[AgreementRow]:
    """For each value a row for every metric, then the ceiling and chance."""
    rows = []
    for place in (Place(dimension, *of) for dimension in inputs.human for of in values):
        for metric in inputs.scores:
            value = inputs.value(metric, place)
            bounds = _bounds(inputs, metric, place, value, how, confidence)
            notes = []
            if inputs.better[metric] == "neither":
                notes.append("neither direction is better")
            if value.ties_nearly_all:
                notes.append("ties nearly all pairs, as a constant does")
            row = _row(metric, place, value, bounds, notes)
            rows.append(replace(row, unscored=inputs.unscored(metric, place.dimension)))
        dimension, level, name = place
        by_chance = chance(level, name, inputs.ratings(dimension, name))
        rows.append(AgreementRow(metric=CEILING, **place._asdict(), value=inputs.ceiling(place)))
        rows.append(AgreementRow(metric=CHANCE, **place._asdict(), value=by_chance))
    return rows


def _row(
    metric: str, place: Place, value: Value, bounds: Bounds, notes: Sequence[str] = ()
) -> AgreementRow:
    return AgreementRow(
        metric=metric,
        **place._asdict(),
        value=value.value,
        low=bounds.low,
        high=bounds.high,
        used=value.used,
        undefined=value.undefined,
        epsilon=value.epsilon,
        note="; ".join(filter(None, [*notes, bounds.why])),
    )


def _bounds(
    inputs: Inputs, metric: str, place: Place, value: Value, how: Drawn, confidence: float
) -> Bounds:
    """The interval of a value; none without draws."""
    if not how.draws or isnan(value.value):
        return Bounds()
    dimension, level, name = place
    x, z = inputs.sides(metric, dimension, name)
    options = inputs.options
    scored = ~(np.isnan(x) | np.isnan(z))
    units = inputs.units(how.draw, value.used, scored)
    if level == "pooled" and name in LABELS:
        of_labels = bounds_of_labels(x, z, name, options.cut, units, confidence)
        if of_labels is not None:
            return of_labels
    drawn = resampled(level, name, x, z, how, options)
    bounds = bounds_of(drawn, value.value, level, name, units, confidence)
    independent = how.draw == "items" and units.items == units.used
    if level == PAIRS and name in SHARES and independent and (bounds.why or not units.many(level)):
        return bounds_of_share(value.value, name, value.used, confidence)
    return bounds


def _averages(
    inputs: Inputs, values: Sequence[tuple[str, str]], how: Drawn, confidence: float
) -> list[AgreementRow]:
    """The mean of a protocol's values, which ranks metrics at WMT; its draws are the same."""
    names = "+".join(name for _, name in values)
    rows = []
    for dimension in inputs.human:
        for metric in inputs.scores:
            of_values, draws = [], []
            for level, name in values:
                x, z = inputs.sides(metric, dimension, name)
                of_values.append(value_at(level, name, x, z, inputs.options).value)
                draws.append(resampled(level, name, x, z, how, inputs.options))
            mean = float(np.mean(of_values))
            units = inputs.units(how.draw, len(values), ~(np.isnan(x) | np.isnan(z)))
            drawn = np.mean(draws, axis=0)
            bounds = bounds_of(drawn, mean, AVERAGE, name, units, confidence)
            value = Value(mean, len(values), 0)
            rows.append(_row(metric, Place(dimension, AVERAGE, names), value, bounds))
    return rows


def _notes(inputs: Inputs, rows: Sequence[AgreementRow]) -> list[str]:
    """Remarks without which a reader would misread the table."""
    notes = []
    of_pairs = isinstance(inputs.places, OutputPairs)
    of_systems = [row for row in rows if row.level == "system"]
    if of_systems and len(inputs.places.systems) < FEW_SYSTEMS:
        advice = "the values say little without an interval"
        if any(not isnan(row.low) for row in of_systems):
            advice = "read the intervals, not the values"
        number = len(inputs.places.systems)
        notes.append(f"the system level compares only {number} systems: {advice}")
    if of_pairs and any(row.coefficient == "tau_wmt" for row in rows):
        notes.append(
            "tau_wmt counts a metric's tie as discordant, as at WMT 2017 to 2020, and leaves out "
            "pairs that people tie"
        )
    if of_pairs and any(ratings.raters > 1 for ratings in inputs.human.values()):
        notes.append("several raters of a pair count once, by what most of them prefer")
    elif any(row.metric == CEILING and not isnan(row.value) for row in rows):
        notes.append(
            "the human ceiling compares one rater with the mean of the others; it is a little "
            "low, because metrics are compared with the mean of all raters"
        )
    return notes + _notes_on_constants(inputs, of_pairs=of_pairs)


def _notes_on_constants(inputs: Inputs, *, of_pairs: bool) -> list[str]:
    """That a metric or people say the same of everything."""
    if of_pairs:
        tied = (name for name, scores in inputs.scores.items() if _all_equal(scores, 0.0))
        return [f"{name} ties every pair, so it orders none" for name in tied]
    notes = []
    for name, scores in inputs.scores.items():
        rated = (scores[~np.isnan(ratings.mean)] for ratings in inputs.human.values())
        if any(map(_all_equal, rated)):
            notes.append(f"{name} gives every rated sample the same score, so it orders none")
            break
    for name, ratings in inputs.human.items():
        if _all_equal(ratings.mean):
            notes.append(f"people rated {name} the same everywhere, so nothing correlates with it")
    return notes


def _all_equal(values: Array, value: float | None = None) -> bool:
    """Whether there are values and all are the same, or this one."""
    values = values[~np.isnan(values)]
    return bool(len(values)) and bool((values == (values[0] if value is None else value)).all())
