"""Scores beside what people prefer: votes between systems, and a judge's verdicts on pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrichub.errors import ParameterError

if TYPE_CHECKING:
    from metrichub.agreement.agreement import Agreement
    from metrichub.agreement.preference_votes import Votes
    from metrichub.data.inputs import Data

_OF_RATINGS = ("level", "cut", "yes_from", "threshold")
_Labels = tuple[Sequence[Any] | None, Sequence[Any] | None]


def votes_correlated(
    scores: Mapping[str, Any],
    better: Mapping[str, str],
    preferences: Data | Votes,
    labels: _Labels,
    how: Mapping[str, Any],
) -> Agreement:
    """How far scores of samples order pairs as votes between systems do.

    `labels` are the item and the system of every sample.

    Raises:
        InputError: samples without items or systems, or votes that fit none.
        MissingColumn: votes without a column that they need.
        ParameterError: an option of ratings.
    """
    from metrichub.agreement.preference_correlation import correlate_preferences
    from metrichub.agreement.preference_votes import Votes

    votes = preferences if isinstance(preferences, Votes) else read_votes(preferences)
    return correlate_preferences(
        {name: votes.scores(values, *labels) for name, values in scores.items()},
        {"preferred": votes.words()},
        item=votes.item,
        systems=(votes.first, votes.second),
        better=better,
        **of_preferences(how),
    )


def verdicts_correlated(
    verdicts: Mapping[str, Sequence[Any]],
    human: Mapping[str, Sequence[Any]],
    items: Iterable[Any] | None,
    how: Mapping[str, Any],
) -> Agreement:
    """How well verdicts on the pair of each sample agree with people's."""
    from metrichub.agreement.preference_correlation import correlate_preferences

    return correlate_preferences(verdicts, human, item=items, **of_preferences(how))


def read_votes(data: Data, item: str | None = None) -> Votes:
    """The votes in a table or a file: columns such as item, system_a, system_b and winner."""
    from metrichub import read
    from metrichub.agreement.preference_votes import Votes
    from metrichub.data.metadata import Frame

    if isinstance(data, (str, Path)):
        return Votes.of(read(data), item)
    frame = Frame.of(data)
    return Votes.of({name: list(frame.column(name)) for name in frame.names}, item)


def of_preferences(how: Mapping[str, Any]) -> dict[str, Any]:
    """The options that `correlate_preferences` takes.

    Raises:
        ParameterError: one that is for ratings alone.
    """
    for name in _OF_RATINGS:
        if how.get(name) is not None:
            raise ParameterError(None, name, how[name], "None, as it applies to ratings only")
    return {name: value for name, value in how.items() if name not in _OF_RATINGS}
