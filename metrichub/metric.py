"""Metric and CorpusMetric: what an author writes, and how the framework reads it.

A metric names its inputs by the parameters of `observe` or `measure`, and its statistics by
those of `score`:

    @dataclass(frozen=True, kw_only=True)
    class LengthRatio(Metric):
        def observe(self, prediction: str, reference: str) -> Row:
            return {"long": len(prediction.split()), "short": len(reference.split())}

        def score(self, long: Array, short: Array) -> Scores:
            return {"score": long / short}

`observe` measures one row, `measure` whole columns; a metric has one of them. `score` works on
the arrays of one sample, of all samples, or of their sums: it broadcasts over leading axes.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.batch import View
from metrichub.card import Card, Scale, pattern_of
from metrichub.errors import MetricError, what
from metrichub.parameters import check, values_of
from metrichub.stats import Array, Stats

Row = Mapping[str, float | Sequence[float]]
Scores = Mapping[str, Array]


class Unscored(NamedTuple):
    """What `observe` returns for a row that has no score, with the reason that a reader needs."""

    reason: str


class Measured(NamedTuple):
    """What `measure` returns where it can say why a row is unscored (`nan`)."""

    statistics: Mapping[str, Array]
    reasons: Mapping[int, str]


class _CardBeside:
    """The card in the folder of the class's module; a metric without one gets a bare card."""

    def __get__(self, instance: object, owner: type[Metric]) -> Card:
        return _card_of(owner)


def _card_of(owner: type[Metric]) -> Card:
    file = getattr(sys.modules.get(owner.__module__), "__file__", None)
    if file and Path(file).name == "__init__.py":
        card = _card_in(Path(file).parent)
        if card:
            return card
    name = "".join(f"_{c.lower()}" if c.isupper() else c for c in owner.__name__).strip("_")
    return Card(name, owner.__name__, "", _inputs(owner), {"score": Scale()})


@cache
def _card_in(folder: Path) -> Card | None:
    path = folder / "README.md"
    return Card.read(path) if path.exists() else None


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric whose statistics add up over samples. Frozen, stateless and picklable.

    Attributes:
        name: The key of its scores in a result; the card's name unless given.
    """

    name: str = ""
    # Without an annotation, since a dataclass would read the card while the class is made.
    card = _CardBeside()
    block_characters: ClassVar[int | None] = None
    """How many characters this metric wants to see at a time, if not the hub's default."""

    def __post_init__(self) -> None:
        """Set the default name and check every parameter against its annotation."""
        if not self.name:
            object.__setattr__(self, "name", self.card.name)
        check(self, self.name)

    def inputs(self) -> tuple[str, ...]:
        """The names of what `observe` or `measure` asks for, unless they depend on a parameter.

        Raises:
            MetricError: the class has neither of the two, or both.
        """
        return _inputs(type(self))

    @classmethod
    def statistics(cls) -> tuple[str, ...] | None:
        """The names that `score` asks for; None if it takes whatever was observed (the mean)."""
        found = _parameters(cls, "score")
        if any(p.kind is p.VAR_KEYWORD for p in found.values()):
            return None
        return tuple(name for name in found if name != "count")

    def score(self, *_: Any, **observed: Any) -> Scores:
        """The mean of each observed quantity over the scored samples (macro).

        A metric that writes its own names its statistics as parameters, and `count` too if it
        wants the number of scored samples in each sum.
        """
        count = observed.pop("count")
        return {name: total / count for name, total in observed.items()}

    def outputs(self) -> tuple[str, ...]:
        """The names that `score` gives: those of the card, unless they depend on a parameter."""
        return tuple(self.card.scores)

    def headline(self) -> tuple[str, ...]:
        """The outputs that one reads first: those that the card names and this metric gives."""
        given = self.outputs()
        named = (
            output
            for name in self.card.headline
            for output in given
            if name in (output, pattern_of(output))
        )
        return tuple(dict.fromkeys(named)) or ("score",)

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """Remarks that a reader of the corpus score has to know, from the summed statistics."""
        return ()

    def label(self) -> str:
        """The metric and all its parameters: "bleu(max_order=4, tokenize='13a')"."""
        pairs = ", ".join(f"{key}={value!r}" for key, value in self._values().items())
        call = f"{self.card.name}({pairs})" if pairs else self.card.name
        return call if self.name == self.card.name else f"{self.name} = {call}"

    def _values(self) -> dict[str, object]:
        return values_of(self)


@dataclass(frozen=True, kw_only=True)
class CorpusMetric(Metric):
    """A metric that doesn't add up: `conclude` makes the scores from the rows of all samples.

    `observe` or `measure` give any picklable object a row; None or `Unscored` leaves it out.
    """

    resamples: ClassVar[bool] = True
    """Whether a sample drawn twice is like two samples; if not, the bootstrap says nothing."""

    def conclude(self, rows: Sequence[Any]) -> Mapping[str, float]:
        """The scores of these rows together; no rows give `nan`."""
        raise MetricError(f"{type(self).__name__} has no `conclude`")

    def samples(self, rows: Sequence[Any]) -> Mapping[str, Sequence[float]]:
        """The scores of each row: by default those of the corpus that is this row alone."""
        each = [self.conclude([row]) for row in rows]
        return {name: [scores[name] for scores in each] for name in self.outputs()}


def is_async(metric: Metric) -> bool:
    """Whether the metric's `observe` has to be awaited."""
    return inspect.iscoroutinefunction(getattr(type(metric), "observe", None))


def measure_rows(metric: Metric, view: View, observed: Sequence[Any] | None = None) -> Stats:
    """What a metric measures of a view, one row of statistics each.

    `observed` holds what `observe` gave, where it was awaited before.
    """
    method = _measuring(type(metric))
    if method == "observe":
        found = _observe_all(metric, _observed(metric, view) if observed is None else observed)
    else:
        found = _measure_all(metric, view)
    statistics, reasons = found
    expected = metric.statistics()
    if expected is not None and set(statistics) != set(expected):
        raise MetricError(
            f"{metric.name}: {method} gave {', '.join(sorted(statistics)) or 'nothing'}, "
            f"but score asks for {', '.join(expected)}"
        )
    return Stats.of(statistics, view.rows, reasons)


def measure_objects(
    metric: CorpusMetric, view: View, observed: Sequence[Any] | None = None
) -> Sequence[Any]:
    """What a corpus metric observes of a view: one object a row, None or Unscored without one."""
    if observed is not None:
        return observed
    if _measuring(type(metric)) == "observe":
        return list(_observed(metric, view))
    objects: Sequence[Any] = metric.measure(**view.arguments)  # type: ignore[attr-defined]  # the author's
    if len(objects) != view.rows:
        raise MetricError(f"{metric.name}: measure gave {len(objects)} rows for {view.rows}")
    return objects


def scores_of(
    metric: Metric, arrays: Mapping[str, Array], count: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """A metric's outputs for statistics with any leading axes; `nan` where `count` is 0.

    Each statistic is (..., *shape) and `count` (...): the number of scored samples in each sum.
    """
    if not count.any():
        return {name: np.full(count.shape, np.nan) for name in metric.outputs()}
    takes_count = "count" in _parameters(type(metric), "score") or metric.statistics() is None
    with np.errstate(all="ignore"):
        found = metric.score(**arrays, **({"count": count} if takes_count else {}))
    if set(found) != set(metric.outputs()):
        raise MetricError(
            f"{metric.name}: score gave {', '.join(found)}, but its outputs are "
            f"{', '.join(metric.outputs())}"
        )
    empty = count == 0
    return {
        name: np.where(empty, np.nan, np.asarray(values, np.float64))
        for name, values in found.items()
    }


def _measure_all(metric: Metric, view: View) -> Measured:
    result = metric.measure(**view.arguments)  # type: ignore[attr-defined]  # the author's
    return result if isinstance(result, Measured) else Measured(result, {})


def _observe_all(metric: Metric, given: Iterable[Any]) -> Measured:
    observed = [_row(metric, row) for row in given]
    reasons = {i: row.reason for i, row in enumerate(observed) if isinstance(row, Unscored)}
    rows = [None if isinstance(row, Unscored) else row for row in observed]
    first = next((row for row in rows if row is not None), None)
    keys = metric.statistics() or tuple(first or ("score",))
    return Measured({key: _statistic(metric, key, rows, first) for key in keys}, reasons)


def _row(metric: Metric, row: object) -> Row | Unscored | None:
    if row is None or isinstance(row, (Mapping, Unscored)):
        return row
    if isinstance(row, (int, float, np.number, np.bool_)):
        return {"score": float(row)}
    raise MetricError(
        f"{metric.name}: observe gave {what(row)}, not a number or a mapping of numbers"
    )


def _statistic(metric: Metric, key: str, rows: Sequence[Row | None], first: Row | None) -> Array:
    try:
        blank = np.full(np.shape(first[key]) if first else (), np.nan)
        return np.array([blank if row is None else row[key] for row in rows])
    except KeyError:
        raise MetricError(f"{metric.name}: observe gave no {key!r} for some sample") from None
    except ValueError:
        raise MetricError(
            f"{metric.name}: the statistic {key!r} has another shape for some samples"
        ) from None


def _observed(metric: Metric, view: View) -> Iterator[Any]:
    if is_async(metric):
        from metrichub.judge.together import observe as observe_async

        yield from observe_async({metric.name: (metric, view)}).rows[metric.name]
        return
    observe = metric.observe  # type: ignore[attr-defined]  # the author's
    names = list(view.arguments)
    for values in zip(*view.arguments.values(), strict=True):
        yield observe(**dict(zip(names, values, strict=True)))


def _measuring(metric: type[Metric]) -> str:
    found = [name for name in ("observe", "measure") if hasattr(metric, name)]
    if len(found) != 1:
        raise MetricError(
            f"{metric.__name__} has {' and '.join(found) or 'neither observe nor measure'}; "
            "a metric writes one of the two"
        )
    return found[0]


def _inputs(metric: type[Metric]) -> tuple[str, ...]:
    return tuple(_parameters(metric, _measuring(metric)))


def _parameters(metric: type[Metric], method: str) -> Mapping[str, inspect.Parameter]:
    return _without_self(getattr(metric, method))


@cache
def _without_self(method: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    found = dict(inspect.signature(method).parameters)
    found.pop("self", None)
    return found
