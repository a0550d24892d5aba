"""What `metrichub agreement` measures: a file's scores beside what it says of people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from metrichub.agreement.from_preferences import (
    pairs_correlated,
    tells_preferences,
    votes_on,
    with_votes,
)
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
from metrichub.cli.measuring import JudgeOptions, chosen_hub
from metrichub.cli.shared_options import MetricOptions
from metrichub.data.files import Samples, read

if TYPE_CHECKING:
    from metrichub.agreement.agreement import Agreement


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
    samples = _one_row_an_output(read(file, format=chosen.input_format), rated)
    of_pairs = rated.pair or (rated.human and tells_preferences(samples, rated))
    # Votes are read before anything is scored, so that a mistake in them costs nothing.
    votes = votes_on(samples, rated) if rated.preferences else None
    example = f"metrichub agreement {file} --human {next(iter(rated.human), 'COLUMN')}"
    hub = chosen_hub(chosen.metrics, chosen, example, judging) if chosen.metrics else None
    if of_pairs:
        return pairs_correlated(samples, hub, chosen, judging, rated, how)
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
        return with_votes(samples, votes, scores, rated, how), scores
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
