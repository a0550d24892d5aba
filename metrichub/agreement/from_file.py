"""What `metrichub agreement` measures: a file's scores beside people's ratings or preferences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from metrichub.agreement.from_ratings import (
    RatedScores,
    column,
    directions_of,
    labels,
    one_row_an_error,
    one_row_an_output,
    scores_of_metrics,
)
from metrichub.agreement.options import CorrelationOptions, RatingOptions
from metrichub.cli.measuring import JudgeOptions, chosen_hub, measure
from metrichub.cli.shared_options import MetricOptions
from metrichub.data.files import Samples, read_samples

if TYPE_CHECKING:
    from metrichub import Hub
    from metrichub.agreement.agreement import Agreement
    from metrichub.agreement.preference_votes import Votes

_PREDICTIONS = "predictions"


def correlated(
    file: str,
    chosen: MetricOptions,
    judging: JudgeOptions,
    rated: RatingOptions,
    how: CorrelationOptions,
    *,
    all_outputs: bool,
) -> tuple[Agreement, RatedScores]:
    """The agreement of a file's scores with its ratings or preferences, and the scores.

    Raises:
        UsageError: no scores or nothing of people's was chosen, or what doesn't go together.
    """
    _check(chosen, rated)
    samples = _one_row_an_output(read_samples(file, where=chosen.where, **chosen.reading()), rated)
    of_pairs = rated.pair or (rated.human and _tells_preferences(samples, rated))
    # Votes are read before anything is scored, so that a mistake in them costs nothing.
    votes = _votes_on(samples, rated) if rated.preferences else None
    example = f"metrichub agreement {file} --human {next(iter(rated.human), 'COLUMN')}"
    hub = chosen_hub(chosen.metrics, chosen, example, judging) if chosen.metrics else None
    if of_pairs:
        return _pairs_correlated(samples, hub, chosen, judging, rated, how)
    scores = RatedScores()
    if hub is not None:
        scores = scores_of_metrics(
            hub,
            samples,
            chosen,
            judging,
            each_reference=how.each_reference,
            all_outputs=all_outputs,
        )
    _add_columns(scores, samples, rated)
    if votes is not None:
        return _with_votes(samples, votes, scores, rated, how), scores
    return _with_ratings(samples, scores, rated, how), scores


def _check(chosen: MetricOptions, rated: RatingOptions) -> None:
    """Raise `UsageError` for options that say nothing, or that don't go together."""
    if not chosen.metrics and not rated.score:
        raise click.UsageError("nothing to correlate; add -m METRIC, or --score COLUMN of the file")
    if not (rated.human or rated.pair or rated.preferences or rated.severity):
        raise click.UsageError(
            "nothing to correlate with; add --human COLUMN of ratings, --severity COLUMN of "
            "errors, --pair A,B or --preferences FILE"
        )
    if rated.preferences and (rated.human or rated.pair or rated.severity):
        raise click.UsageError(
            "--preferences replaces --human, --pair and --severity; leave them out"
        )
    if rated.pair and (len(rated.human) > 1 or rated.severity):
        raise click.UsageError(
            "--pair needs exactly one --human, the column that says which output is preferred"
        )
    if rated.severity and not rated.item:
        raise click.UsageError(
            "--severity needs --item COLUMN, the segment of each error, for example seg_id"
        )
    if rated.category and not rated.severity:
        raise click.UsageError("--category needs --severity")


def _one_row_an_output(samples: Samples, rated: RatingOptions) -> Samples:
    """The samples, where raters or errors have rows of their own gathered by output."""
    if not (rated.rater or rated.severity):
        return samples
    from metrichub.agreement.layout import ITEMS, SYSTEMS
    from metrichub.agreement.preference_votes import FIRST, SECOND

    usual = [
        rated.item or next((name for name in ITEMS if name in samples), None),
        rated.system or next((name for name in SYSTEMS if name in samples), None),
        *(name for name in (*FIRST, *SECOND) if name in samples),
        *(rated.pair or ()),
    ]
    keys = [name for name in usual if name is not None]
    if rated.severity:
        return one_row_an_error(samples, keys, rated.severity, rated.category, rated.rater)
    return one_row_an_output(samples, rated.rater or "", keys, rated.human)


def _add_columns(scores: RatedScores, samples: Samples, rated: RatingOptions) -> None:
    """Add the scores that the file has to those of metrics."""
    directions = directions_of(rated)
    for name in rated.score:
        if name in scores.scores:
            raise click.UsageError(
                f"--score {name} has the name of a chosen metric; rename one of them"
            )
        scores.scores[name] = column(samples, name)
        scores.better[name] = directions.get(name, "higher")


def _with_ratings(
    samples: Samples, scores: RatedScores, rated: RatingOptions, how: CorrelationOptions
) -> Agreement:
    from metrichub.agreement.correlation import correlate

    names = [*rated.human, *(["mqm"] if rated.severity else [])]
    items, systems = labels(samples, rated)
    agreement = correlate(
        scores.scores,
        {name: column(samples, name) for name in names},
        item=items,
        system=systems,
        better=scores.better,
        yes_from=rated.yes_from,
        **how.values(),
    )
    return scores.cited(agreement)


def _tells_preferences(samples: Samples, rated: RatingOptions) -> bool:
    """Whether the columns of people's say which of two outputs is better."""
    from metrichub.agreement.preference_votes import are_preferences

    columns = [column(samples, name) for name in rated.human]
    return _systems(samples) is not None or all(map(are_preferences, columns))


def _votes_on(samples: Samples, rated: RatingOptions) -> Votes:
    """The votes in the file of `--preferences`, which the samples have to fit."""
    from metrichub.agreement.report_votes import read_votes

    votes = read_votes(rated.preferences or "", rated.item)
    votes.check(*labels(samples, rated))
    return votes


def _with_votes(
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


def _pairs_correlated(
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
    (report,) = measure(hub, {samples.path: [doubled]}, read, judging, texts=True).values()
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
    (report,) = measure(hub, {samples.path: [samples]}, chosen, judging, texts=True).values()
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
