"""The agreement that `metrichub agreement` measures: a file's scores beside people's judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from metrichub import Hub
from metrichub.agreement.agreement_inputs import Inputs
from metrichub.agreement.choice import choose, rated_rows
from metrichub.agreement.coefficients import Options
from metrichub.agreement.correlation import correlate, correlate_preferences
from metrichub.agreement.from_ratings import (
    RatedScores,
    column,
    directions_of,
    labels,
    one_row_an_error,
    one_row_an_output,
    scores_of_candidates,
    scores_of_metrics,
)
from metrichub.agreement.of_report import (
    compares,
    correlate_votes,
    preference_options,
    read_votes,
    scores_by_label,
    usual_labels,
    verdicts_by_label,
)
from metrichub.agreement.options import CorrelationOptions, RatingOptions
from metrichub.agreement.preference_votes import (
    FIRST,
    SECOND,
    are_preferences,
    side_of,
)
from metrichub.agreement.rating_matrix import ITEMS, SYSTEMS
from metrichub.cli.measuring import JudgeOptions, chosen_hub, measure
from metrichub.cli.shared_options import MetricOptions
from metrichub.data.files import Samples, read_samples
from metrichub.evaluation.lengths import sample_lengths

if TYPE_CHECKING:
    from metrichub.agreement.agreement import Agreement

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

    To choose without metrics, every installed one is tried that the columns allow.

    Raises:
        UsageError: no scores or nothing of people's was chosen, or what doesn't go together.
    """
    _check(chosen, rated)
    samples = _one_row_an_output(read_samples(file, where=chosen.where, **chosen.reading()), rated)
    if rated.choose:
        return _chosen(samples, chosen, judging, rated, how)
    items, system = labels(samples, rated)
    systems = _systems(samples)
    judgements = [] if rated.pair else [column(samples, name) for name in rated.human]
    says_which = bool(judgements) and (systems or all(map(are_preferences, judgements)))
    of_pairs = bool(rated.pair or says_which)
    # Votes are read before anything is scored, so that a mistake in them costs nothing.
    votes = read_votes(rated.preferences, rated.item) if rated.preferences else None
    if votes is not None:
        votes.check(items, system)
    example = f"metrichub agreement {file} --human {next(iter(rated.human), 'COLUMN')}"
    hub = chosen_hub(chosen.metrics, chosen, example, judging) if chosen.metrics else None
    if hub is None:
        scores = RatedScores()
    elif rated.pair:
        scores = _scores_of_both(hub, samples, chosen, judging, rated.pair)
    elif of_pairs:
        scores = _verdicts(hub, samples, chosen, judging)
    else:
        scores = scores_of_metrics(
            hub,
            samples,
            chosen,
            judging,
            each_reference=how.each_reference,
            all_outputs=all_outputs,
        )
    _add_columns(scores, samples, rated, of_pairs=of_pairs)
    if votes is not None:
        places = (items, system)
        agreement = correlate_votes(scores.scores, scores.better, votes, places, how.values())
    elif of_pairs:
        agreement = correlate_preferences(
            scores.scores,
            _preferred(samples, rated, systems),
            item=items,
            systems=systems,
            better=scores.better,
            **preference_options({**how.values(), "yes_from": rated.yes_from}),
        )
    else:
        agreement = correlate(
            scores.scores,
            {name: column(samples, name) for name in rated.names},
            item=items,
            system=system,
            better=scores.better,
            yes_from=rated.yes_from,
            **how.values(),
        )
    return scores.cited(agreement), scores


def _chosen(
    samples: Samples,
    chosen: MetricOptions,
    judging: JudgeOptions,
    rated: RatingOptions,
    how: CorrelationOptions,
) -> tuple[Agreement, RatedScores]:
    """The output that agrees best with ratings, and the scores of all that were tried."""
    (name,) = rated.names or ("",)
    if rated.pair or rated.preferences or are_preferences(column(samples, name)):
        raise click.UsageError("preferences choose no metric yet; name metrics with -m")
    unscored = {"none": [None] * samples.size}
    ratings = {name: column(samples, name)}
    # Ratings that are too few to choose by cost no scores, nor do outputs without a rating.
    inputs = Inputs.of_ratings(unscored, ratings, labels(samples, rated), "higher", Options(), None)
    samples = samples.take(rated_rows(inputs)[0].tolist())
    scores = RatedScores()
    if chosen.metrics:
        hub = chosen_hub(chosen.metrics, chosen, "", judging)
        scores = scores_of_metrics(hub, samples, chosen, judging, all_outputs=True)
    elif not rated.score:
        scores = scores_of_candidates(samples, chosen, judging, name)
    _add_columns(scores, samples, rated, of_pairs=False)
    texts = next((report.texts for report in scores.reports if report.texts), None)
    item, system = labels(samples, rated)
    choice = choose(
        scores.scores,
        {name: column(samples, name)},
        item=item,
        system=system,
        better=scores.better,
        words=sample_lengths(texts, _PREDICTIONS) if texts else None,
        lower_is_better=rated.lower_is_better,
        confidence=how.confidence,
        seed=how.seed,
    )
    return scores.cited(choice), scores


def _check(chosen: MetricOptions, rated: RatingOptions) -> None:
    """Raise `UsageError` for options that say nothing, or that don't go together."""
    judged = rated.human or rated.pair or rated.severity
    mistakes = [
        (
            rated.choose and len(rated.names) > 1,
            "a metric is chosen by one column of ratings; name one --human",
        ),
        (
            rated.lower_is_better and not rated.choose,
            "--lower-is-better needs a choice; add --choose",
        ),
        (
            not (judged or rated.preferences),
            "nothing to correlate with; add --human COLUMN of ratings, --severity COLUMN of "
            "errors, --pair A,B or --preferences FILE",
        ),
        (
            judged and rated.preferences,
            "--preferences replaces --human, --pair and --severity; leave them out",
        ),
        (
            rated.pair and (len(rated.human) > 1 or rated.severity),
            "--pair needs exactly one --human, the column that says which output is preferred",
        ),
        (
            rated.severity and not rated.item,
            "--severity needs --item COLUMN, the segment of each error, for example seg_id",
        ),
        (rated.category and not rated.severity, "--category needs --severity"),
    ]
    for wrong, message in mistakes:
        if wrong:
            raise click.UsageError(message)


def _one_row_an_output(samples: Samples, rated: RatingOptions) -> Samples:
    """The samples, where raters or errors have rows of their own gathered by output."""
    if not (rated.rater or rated.severity):
        return samples
    item = rated.item or next((name for name in ITEMS if name in samples), None)
    system = rated.system or next((name for name in SYSTEMS if name in samples), None)
    sides = [name for name in (*FIRST, *SECOND) if name in samples]
    keys = [name for name in (item, system, *sides, *(rated.pair or ())) if name is not None]
    if rated.severity:
        return one_row_an_error(samples, keys, rated.severity, rated.category, rated.rater)
    return one_row_an_output(samples, rated.rater or "", keys, rated.human)


def _add_columns(
    scores: RatedScores, samples: Samples, rated: RatingOptions, *, of_pairs: bool
) -> None:
    """Add columns of scores; of pairs, those of both outputs or of verdicts."""
    for name, direction in directions_of(rated).items():
        if name in scores.scores and not of_pairs:
            raise click.UsageError(
                f"--score {name} has the name of a chosen metric; rename one of them"
            )
        a, comma, b = name.partition(",")
        if of_pairs and comma:
            scores.scores[name] = (column(samples, a), column(samples, b))
        else:
            scores.scores[name] = column(samples, name)
        scores.better[name] = direction


def _scores_of_both(
    hub: Hub,
    samples: Samples,
    chosen: MetricOptions,
    judging: JudgeOptions,
    pair: tuple[str, str],
) -> RatedScores:
    """The scores of both outputs of each row, of all first ones and then of all second ones."""
    size = samples.size
    outputs = [*column(samples, pair[0]), *column(samples, pair[1])]
    both = samples.take([*range(size), *range(size)])
    both = replace(both, columns={**both.columns, _PREDICTIONS: outputs})
    chosen = replace(chosen, columns={**chosen.columns, _PREDICTIONS: _PREDICTIONS})
    (report,) = measure(hub, {samples.path: [both]}, chosen, judging, texts=True).values()
    scores, better = scores_by_label(report)
    halves = {name: (values[:size], values[size:]) for name, values in scores.items()}
    return RatedScores(halves, better, [report])


def _verdicts(
    hub: Hub, samples: Samples, chosen: MetricOptions, judging: JudgeOptions
) -> RatedScores:
    """The verdicts of metrics that compare prediction and reference."""
    for metric in hub.metrics:
        if not compares(metric):
            raise click.UsageError(
                f"{metric.name} scores one output, but people chose between two; name both columns "
                "with --pair A,B"
            )
    (report,) = measure(hub, {samples.path: [samples]}, chosen, judging, texts=True).values()
    return RatedScores(dict(verdicts_by_label(report)), {}, [report])


def _systems(samples: Samples) -> tuple[Sequence[Any], Sequence[Any]] | None:
    """The systems of the two outputs of each row, where the file has both columns."""
    a, b = usual_labels(samples, FIRST), usual_labels(samples, SECOND)
    return None if a is None or b is None else (a, b)


def _preferred(
    samples: Samples, rated: RatingOptions, systems: tuple[Sequence[Any], Sequence[Any]] | None
) -> Mapping[str, Sequence[Any]]:
    """People's preferences by column; for the first output where no column is named."""
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
    """A preference as "a", "b" or "tie", by any of the names; anything else as it is."""
    if isinstance(value, (list, tuple)):
        return [_words(vote, names) for vote in value]
    for pair in names:
        if (side := side_of(value, pair)) is not None:
            return {1.0: "a", -1.0: "b", 0.0: "tie"}.get(side)
    return value
