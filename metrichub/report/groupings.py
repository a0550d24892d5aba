"""Groupings: samples by a column, by length, by frequency, or by what judges and tables say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub.errors import ReportError
from metrichub.evaluation.lengths import COUNTED, sample_lengths
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.resampling_units import groups
from metrichub.text import Integers, Texts

FEWEST = 20
"""Smaller slices have no test, and don't count in the correction."""
MOST_VALUES = 50
_MOST_COLUMNS, _MOST_NUMBERS = 4, 12
_HUGE = 10**300
"""Larger numbers have no place on a scale."""
_NO_VALUE, _OTHERS = "no value", "others"
_LENGTHS = ("references", "sources", "predictions")
"""The columns that tell how long a sample is, the first that is there."""
_BLOCK = 10_000
"""Samples whose references are cut into words together."""


class Grouping(NamedTuple):
    """Which value each sample has: `value_of_sample` (N,) are places in `values`, -1 for none."""

    name: str
    key: str
    values: Sequence[str]
    value_of_sample: NDArray[np.int64]
    about: str = ""

    def data(self) -> dict[str, Any]:
        """The grouping as the page's script reads it."""
        return {
            "name": self.name,
            "key": self.key,
            "values": list(self.values),
            "of": self.value_of_sample.tolist(),
        }


def groupings_of(
    systems: Mapping[str, Measurement], ratings: Collection[str] = (), by: str | None = None
) -> list[Grouping]:
    """By the columns that all systems share, by length and by the rarest word of the reference.

    The column `by` always comes, whatever it holds; the first others of few values or of numbers
    follow, without `ratings`.

    Raises:
        ReportError: there is no column `by`, it holds lists, or the systems differ in it.
    """
    first, *others = systems.values()
    if by is not None:
        groups(by, first.metadata, first.size)
    columns = []
    for name, values in first.metadata.items():
        if name != by and (name in (*ratings, "id") or any(isinstance(v, list) for v in values)):
            continue
        if any(other.metadata.get(name) != values for other in others):
            if name == by:
                raise ReportError(f"the systems differ in {by}, so it makes no slices of samples")
            continue
        if grouping := _by_column(name, values, asked=name == by):
            columns.append(grouping)
    columns.sort(key=lambda grouping: grouping.key != by)
    return [*columns[:_MOST_COLUMNS], *_by_texts(first)]


_WORST = {"no": "contradicted", "not settled": "not settled", "yes": "supported"}
"""The words for claims by their verdicts, the worst first."""


def verdict_key(metric: str, system: str) -> str:
    """The grouping by a metric's verdicts on a system; on the only one without its name."""
    return f"verdicts of {metric}{f' on {system}' if system else ''}"


def verdict_groupings(
    systems: Mapping[str, Measurement], claims: Collection[str] = ()
) -> list[Grouping]:
    """By what judges found in each sample: the different verdicts, "no and yes".

    Of the metrics that judge `claims` it is the worst claim.
    """
    groupings = []
    for system, report in systems.items():
        for metric, trace in report.traces.items():
            words: list[str | None] = [None] * report.size
            for sample, steps in trace.steps.items():
                verdicts = {*_verdicts(steps)}
                of_claims = metric in claims
                words[sample] = _worst(verdicts) if of_claims else " and ".join(sorted(verdicts))
            name = verdict_key(metric, system if len(systems) > 1 else "")
            if any(words):
                groupings.append(_by_words(name, words, MOST_VALUES))
    return groupings


def _by_words(name: str, words: Sequence[str | None], most: int | None = None) -> Grouping:
    """The samples by what is said of each, the most frequent words first, `most` at most."""
    values = [word for word, _ in Counter(filter(None, words)).most_common(most)]
    place = {word: k for k, word in enumerate(values)}
    return Grouping(name, name, values, np.array([place.get(w or "", -1) for w in words], np.int64))


def _worst(verdicts: Collection[str]) -> str:
    return next((word for verdict, word in _WORST.items() if verdict in verdicts), "")


def cell_groupings(systems: Mapping[str, Measurement]) -> list[Grouping]:
    """By the cell of each system's tables that counts a sample, as of a confusion matrix."""
    return [
        _by_words(cell_key(system, metric, heading), [cell and " → ".join(cell) for cell in cells])
        for system, report in systems.items()
        for metric, result in report.results.items()
        for heading, cells in result.cells().items()
    ]


def cell_key(system: str, metric: str, heading: str) -> str:
    """The grouping by a system's table."""
    return f"{heading} of {' on '.join(filter(None, (metric, system)))}"


def _verdicts(step: Any) -> Iterator[str]:
    if isinstance(step, Mapping):
        if isinstance(verdict := step.get("verdict"), str):
            yield "not settled" if verdict == "idk" else verdict
        step = list(step.values())
    if isinstance(step, list | tuple):
        for part in step:
            yield from _verdicts(part)


def _by_column(name: str, values: Sequence[Any], *, asked: bool) -> Grouping | None:
    """By value, or numbers of many values by quarters; None for what makes no groups."""
    present = [value for value in values if value is not None]
    if all(
        isinstance(v, int | float) and not isinstance(v, bool) and abs(v) < _HUGE for v in present
    ):
        distinct = len({*present})
        if distinct > _MOST_NUMBERS:
            numbered = distinct == len(present) and all(float(v).is_integer() for v in present)
            return _by_quarters(name, name, values) if asked or not numbered else None
    order = sorted({*present}, key=lambda v: (isinstance(v, str), v))
    labels = dict.fromkeys(map(_label, order))
    counts = Counter(map(_label, values))
    if not asked and not 1 < len(counts) <= min(MOST_VALUES, len(values) / 2):
        return None
    about = ""
    if len(labels) > MOST_VALUES:
        about = f"The {MOST_VALUES} largest of {len(labels):,} values of {name}."
        largest = {text for text, _ in counts.most_common() if text != _NO_VALUE}
        labels = dict.fromkeys(
            [text for text, _ in counts.most_common() if text in largest][:MOST_VALUES]
        )
    shown = [*labels]
    if about:
        shown.append(_OTHERS)
    if len(present) < len(values):
        shown.append(_NO_VALUE)
    place = {text: k for k, text in enumerate(shown)}
    others = place.get(_OTHERS, -1)
    return Grouping(
        name, name, shown, np.array([place.get(_label(v), others) for v in values]), about
    )


def _label(value: Any) -> str:
    if value is None:
        return _NO_VALUE
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{value:.6g}"
    return str(value)


def _by_quarters(name: str, key: str, values: Any, about: str = "") -> Grouping | None:
    """Four groups of about equal size; samples without a number make one of their own."""
    numbers = np.array([np.nan if v is None else v for v in values], np.float64)
    has_number = ~np.isnan(numbers)
    if not has_number.any():
        return None
    cuts = np.unique(np.quantile(numbers[has_number], [0.25, 0.5, 0.75], method="lower"))
    place = np.where(has_number, np.searchsorted(cuts, numbers, side="left"), len(cuts) + 1)
    labels: list[str] = []
    of = np.zeros(len(numbers), np.int64)
    for group in np.unique(place).tolist():
        inside = place == group
        of[inside] = len(labels)
        low, high = _label(float(numbers[inside].min())), _label(float(numbers[inside].max()))
        text = low if low == high else f"{low} to {high}"
        labels.append(_NO_VALUE if group > len(cuts) else text)
    return Grouping(name, key, labels, of, about) if len(labels) > 1 else None


def text_lengths(report: Measurement) -> tuple[str, NDArray[np.int64]] | None:
    """The column by which samples are long or short, and its words; None without texts."""
    if not report.texts:
        return None
    for column in _LENGTHS:
        lengths = sample_lengths(report.texts, column)
        if lengths is not None and lengths.any():
            return column.removesuffix("s"), lengths
    return None


def _by_texts(report: Measurement) -> Iterator[Grouping]:
    measured = text_lengths(report)
    if measured is None or report.size < FEWEST:
        return
    text, lengths = measured
    taken = [*report.metadata]
    name = f"words of the {text}"
    about = f"Length is that of the {text} in words: {COUNTED}."
    if by_length := _by_quarters(name, _unused("length", taken), lengths, about):
        yield by_length
    if text == "reference" and (rarest := _rarest_words(report)) is not None:
        name = "frequency of the rarest word"
        about = (
            "The rarest word of a reference is the word that occurs in the fewest references here; "
            "its frequency is their number. If a sample has several references, the first counts."
        )
        if by_frequency := _by_quarters(name, _unused("frequency", taken), rarest, about):
            yield by_frequency


def _unused(key: str, taken: Collection[str]) -> str:
    return f"{key} of texts" if key in taken else key


def _rarest_words(report: Measurement) -> list[int | None] | None:
    """In how many samples' references the rarest word of each reference is; None without words."""
    assert report.texts is not None
    hashes, lengths = [], []
    for batch in report.texts.batches:
        if "references" not in batch.columns:
            return None
        items, offsets = batch.columns["references"]
        ends: Sequence[int] = range(len(items) + 1) if offsets is None else offsets.tolist()
        firsts = [items[i] if i < j else "" for i, j in pairwise(ends)]
        for start in range(0, len(firsts), _BLOCK):
            tokens = Texts(firsts[start : start + _BLOCK]).tokens("unicode")
            hashes.append(tokens.hashes)
            lengths.append(tokens.lengths)
    counts: Integers = np.concatenate(lengths)
    _, word = np.unique(np.concatenate(hashes), return_inverse=True)
    sample = np.repeat(np.arange(len(counts)), counts)
    frequency = np.bincount(np.unique(word * len(counts) + sample) // max(len(counts), 1))
    rarest = np.full(len(counts), len(counts) + 1)
    np.minimum.at(rarest, sample, frequency[word])
    return [None if n > len(counts) else n for n in rarest.tolist()]
