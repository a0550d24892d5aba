"""Preferences in files: two outputs a row, votes between systems, and verdicts of judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from metrichub.agreement.from_ratings import RatedScores, column, directions_of, labels
from metrichub.agreement.options import CorrelationOptions, RatingOptions
from metrichub.cli.measuring import JudgeOptions, measure
from metrichub.cli.shared_options import MetricOptions
from metrichub.data.samples import Samples

if TYPE_CHECKING:
    from metrichub import Hub
    from metrichub.agreement.agreement import Agreement
    from metrichub.agreement.preference_votes import Votes

_PREDICTIONS = "predictions"


def tells_preferences(samples: Samples, rated: RatingOptions) -> bool:
    """Whether the columns of people's say which of two outputs is better."""
    from metrichub.agreement.preference_votes import are_preferences

    columns = [column(samples, name) for name in rated.human]
    return _systems(samples) is not None or all(map(are_preferences, columns))


def votes_on(samples: Samples, rated: RatingOptions) -> Votes:
    """The votes in the file of `--preferences`, which the samples have to fit."""
    from metrichub.agreement.report_votes import read_votes

    votes = read_votes(rated.preferences or "", rated.item)
    votes.check(*labels(samples, rated))
    return votes


def with_votes(
    samples: Samples,
    votes: Votes,
    scores: RatedScores,
    rated: RatingOptions,
    how: CorrelationOptions,
) -> Agreement:
    """How far scores of a file's samples order them as votes do."""
    from metrichub.agreement.report_votes import votes_correlated

    agreement = votes_correlated(
        scores.scores, scores.better, votes, labels(samples, rated), how.values()
    )
    return scores.cited(agreement)


def pairs_correlated(
    samples: Samples,
    hub: Hub | None,
    chosen: MetricOptions,
    judging: JudgeOptions,
    rated: RatingOptions,
    how: CorrelationOptions,
) -> tuple[Agreement, RatedScores]:
    """How far metrics order the two outputs of each row as people do."""
    from metrichub.agreement.preference_correlation import correlate_preferences
    from metrichub.agreement.report_votes import of_preferences

    scores = RatedScores()
    if hub is not None:
        of_hub = _of_outputs if rated.pair else _verdicts
        scores = of_hub(hub, samples, chosen, judging, rated)
    directions = directions_of(rated)
    for name in rated.score:
        scores.scores[name] = _sides(samples, name)
        scores.better[name] = directions.get(name, "higher")
    systems = _systems(samples)
    agreement = correlate_preferences(
        scores.scores,
        _preferred(samples, rated, systems),
        item=labels(samples, rated)[0],
        systems=systems,
        better=scores.better,
        **of_preferences({**how.values(), "yes_from": rated.yes_from}),
    )
    return scores.cited(agreement), scores


def _of_outputs(
    hub: Hub, samples: Samples, chosen: MetricOptions, judging: JudgeOptions, rated: RatingOptions
) -> RatedScores:
    """The scores of both outputs of each row, of all first ones and then of all second ones."""
    from metrichub.agreement.of_report import scores_by_label, sources_of

    a, b = rated.pair or ("", "")
    outputs = [*column(samples, a), *column(samples, b)]
    columns = {name: [*values, *values] for name, values in samples.columns.items()}
    lines = samples.lines and [*samples.lines, *samples.lines]
    doubled = replace(samples, columns={**columns, _PREDICTIONS: outputs}, lines=lines or None)
    read = replace(chosen, columns={**chosen.columns, _PREDICTIONS: _PREDICTIONS})
    (report,) = measure(hub, {samples.path: [doubled]}, read, judging).values()
    scores, better = scores_by_label(report)
    half = samples.size
    return RatedScores(
        {name: (values[:half], values[half:]) for name, values in scores.items()},
        better,
        *sources_of(report, scores),
        [report],
    )


def _verdicts(
    hub: Hub, samples: Samples, chosen: MetricOptions, judging: JudgeOptions, _: RatingOptions
) -> RatedScores:
    """What metrics that compare say of prediction and reference."""
    from metrichub.agreement.of_report import compares, sources_of, verdicts_by_label

    for metric in hub.metrics:
        if not compares(metric):
            raise click.UsageError(
                f"{metric.name} scores one output, but people chose between two; name both columns "
                "with --pair A,B"
            )
    (report,) = measure(hub, {samples.path: [samples]}, chosen, judging).values()
    verdicts = verdicts_by_label(report)
    return RatedScores(dict(verdicts), {}, *sources_of(report, verdicts), [report])


def _sides(samples: Samples, name: str) -> Any:
    """The scores of both outputs, of two columns; or verdicts, of one."""
    a, comma, b = name.partition(",")
    return (column(samples, a), column(samples, b)) if comma else column(samples, name)


def _systems(samples: Samples) -> tuple[Sequence[Any], Sequence[Any]] | None:
    """What made the two outputs of each row, where the file says it."""
    from metrichub.agreement.of_report import usual_labels
    from metrichub.agreement.preference_votes import FIRST, SECOND

    a, b = usual_labels(samples, FIRST), usual_labels(samples, SECOND)
    return None if a is None or b is None else (a, b)


def _preferred(
    samples: Samples, rated: RatingOptions, systems: tuple[Sequence[Any], Sequence[Any]] | None
) -> Mapping[str, Sequence[Any]]:
    """What people prefer, by columns; the first output where no column says it."""
    if not rated.human:
        return {"preferred": ["a"] * samples.size}
    names = list(zip(*systems, strict=True)) if systems else [("a", "b")] * samples.size
    return {
        name: [
            _words(value, (of_systems, rated.pair or of_systems))
            for value, of_systems in zip(column(samples, name), names, strict=True)
        ]
        for name in rated.human
    }


def _words(value: Any, names: Sequence[tuple[Any, Any]]) -> Any:
    """What is preferred as "a", "b" or "tie", by any of the names; what isn't known stays."""
    from metrichub.agreement.preference_votes import side_of

    if isinstance(value, (list, tuple)):
        return [_words(vote, names) for vote in value]
    for pair in names:
        if (side := side_of(value, pair)) is not None:
            return {1.0: "a", -1.0: "b", 0.0: "tie"}.get(side)
    return value
