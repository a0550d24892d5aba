"""`correlate_preferences`: scores of two outputs and what people prefer in, a table out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrichub.agreement.agreement import CEILING, CHANCE, Agreement, AgreementRow
from metrichub.agreement.bootstrap import SEED, Drawn, check_drawn
from metrichub.agreement.interval_rules import SHARES, ends_of, ends_of_share
from metrichub.agreement.levels import mean_of
from metrichub.agreement.pair_coefficients import WITH_TIES, coefficient_of, counted, outcomes_of
from metrichub.agreement.preference_inputs import PairInputs
from metrichub.agreement.preference_votes import most
from metrichub.agreement.published_protocols import protocol_of
from metrichub.errors import ParameterError
from metrichub.evaluation.resample import check_confidence

Array = NDArray[np.float64]
LEVEL = "pairs"


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
    inputs = PairInputs.of(scores, preferred, item, systems, better)
    names = _coefficients(protocol, coefficient)
    how = Drawn(_drawn(inputs, draw), draws, seed)
    check_drawn(how)
    rows = [
        r for dimension in inputs.human for r in _rows(inputs, dimension, names, how, confidence)
    ]
    notes = _notes(inputs, names)
    return Agreement(rows, inputs.facts(), how, confidence, protocol, notes, _inputs=inputs)


def _coefficients(protocol: str | None, names: str | Sequence[str] | None) -> list[str]:
    if protocol is not None:
        if names is not None or protocol_of(protocol).values != (("item", "tau_wmt"),):
            raise ParameterError(
                None, "protocol", protocol, "wmt20-darr, the only one for preferences"
            )
        return ["tau_wmt"]
    named = [names] if isinstance(names, str) else list(names or ("accuracy", "tau_wmt"))
    for name in named:
        coefficient_of(name)
    return named


def _drawn(inputs: PairInputs, draw: str | None) -> str:
    if draw not in (None, "items") and inputs.systems is None:
        raise ParameterError(None, "draw", draw, "'items', as there are no systems to resample")
    return draw or ("both" if inputs.systems else "items")


def _rows(
    inputs: PairInputs, dimension: str, names: Sequence[str], how: Drawn, confidence: float
) -> list[AgreementRow]:
    """For each coefficient a row for every metric, then the ceiling and chance."""
    side = most(inputs.human[dimension])
    outcomes = {metric: inputs.outcomes(metric, dimension) for metric in inputs.leads}
    drawn = inputs.resampled(dimension, how)
    rows = []
    for name in names:
        of = coefficient_of(name)
        where: dict[str, Any] = {"dimension": dimension, "level": LEVEL, "coefficient": name}
        tied = 0 if name in WITH_TIES else int((side == 0).sum())
        for metric, of_metric in outcomes.items():
            value = float(of(of_metric.sum(0)[None])[0])
            pairs, units = counted(name, of_metric), inputs.units(of_metric, how.draw)
            ends = ends_of(of(drawn[metric]), value, LEVEL, name, units, confidence)
            alone = how.draw == "items" and units.items == int(of_metric.sum())
            if (
                how.draws
                and pairs
                and name in SHARES
                and alone
                and (ends.why or not units.many(LEVEL))
            ):
                ends = ends_of_share(value, name, pairs, confidence)
            notes = [
                "neither direction is better" if inputs.better[metric] == "neither" else "",
                ends.why,
            ]
            row = AgreementRow(
                metric=metric,
                **where,
                value=value,
                low=ends.low,
                high=ends.high,
                used=pairs,
                undefined=tied,
                unscored=inputs.unscored(metric, dimension),
                note="; ".join(filter(None, notes)),
            )
            rows.append(row)
        last = {CEILING: _ceiling(inputs.human[dimension], of), CHANCE: _chance(side, name)}
        rows += [AgreementRow(metric=kind, **where, value=v) for kind, v in last.items()]
    return rows


def _ceiling(sides: Array, of: Callable[[Array], Array]) -> float:
    """What a rater gets against most of the others, the mean over raters."""
    if sides.shape[1] < 2:
        return float("nan")
    tables = [
        outcomes_of(sides[:, k], most(np.delete(sides, k, axis=1))).sum(0)
        for k in range(sides.shape[1])
    ]
    return mean_of(of(np.stack(tables)))


def _chance(side: Array, name: str) -> float:
    """What a coin gets, or a constant where a tie can be right."""
    if name == "acc_eq":
        return float(coefficient_of(name)(outcomes_of(np.zeros(len(side)), side).sum(0)[None])[0])
    return 0.5 if name.startswith("accuracy") else 0.0


def _notes(inputs: PairInputs, names: Sequence[str]) -> list[str]:
    """What a reader of the table has to know."""
    notes = []
    if "tau_wmt" in names:
        notes.append(
            "tau_wmt counts a metric's tie as discordant, as at WMT 2017 to 2020, and leaves out "
            "pairs that people tie"
        )
    if any(sides.shape[1] > 1 for sides in inputs.human.values()):
        notes.append("several raters of a pair count once, by what most of them prefer")
    for name, lead in inputs.leads.items():
        if (known := lead[~np.isnan(lead)]).size and not known.any():
            notes.append(f"{name} ties every pair, so it orders none")
    return notes
