"""Doubts: what makes the numbers of a run misleading, as the checks of its rows find it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from heapq import nsmallest
from itertools import chain, islice
from math import isfinite, isnan, nan
from operator import and_
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from metrichub.catalog.parameters import is_valid, parameters_of
from metrichub.data.answer_columns import PREFIX
from metrichub.data.batch import Batch, lists_of
from metrichub.data.columns import TEXT, column_of
from metrichub.data.samples import quoted_apart
from metrichub.data.values import as_list
from metrichub.errors import Doubt, InputError, MetricError, MetrichubError, listed, printable
from metrichub.evaluation.facts import DoubtfulRows, Heaviest
from metrichub.evaluation.mismatches import PARAMETERS, USUAL, after, made_of
from metrichub.evaluation.observation import is_async
from metrichub.metric import Metric
from metrichub.metric.checks import DISTRIBUTION, Check, Rows
from metrichub.metric.usual_checks import nothing_to_find, usual_checks

if TYPE_CHECKING:
    from metrichub.evaluation.measurement import Measurement
    from metrichub.evaluation.result import Result

READ = 2000
"""Rows that are read from the beginning of a run, and as many more drawn from all others."""
READ_BY = (*TEXT, "retrieved", "relevants", "keywords")
"""The columns that checks read."""
_OF_WHOLE = ("cut off", "unpunctuated")
"""The checks of whole predictions, not of answers that were read from them."""
_BLANKS = ("empty", "missing", "empty references")
"""The checks of what a file may lack, which are told of its cells."""
MADE_OF, WORST = "mismatches", "worst"
_MISMATCHES, _TRIED, _SHARE, _OF_PROSE, _RARE = 150, 50, 0.1, 0.12, 0.03
"""How many mismatches are looked at and scored again, and which share of them is worth a word."""
_THIRD, _EVERY = 1 / 3, 5
_LONGEST = 60
_LONG, _HALF = 4000, 1990
"""Of a text of more characters, checks read both ends."""


class Reader:
    """The rows of a run that checks read: the first ones, and others whose texts hash lowest.

    Equal rows hash alike, so that repeated ones are drawn together.
    """

    def __init__(self) -> None:
        self._size = 0
        self._names: tuple[str, ...] = ()
        self._first: list[_Row] = []
        self._drawn: list[tuple[int, int, _Row]] = []

    def see(self, batch: Batch) -> None:
        """Go on with more samples."""
        columns = [*self._columns(batch)]
        room = max(min(READ - self._size, batch.size), 0) if columns else 0
        self._first += zip(*(map(_texts, values[:room]) for values in columns), strict=True)
        keys = (
            (crc32("\0".join(map(str, row)).encode("utf-8", "surrogatepass")), i)
            for i, row in enumerate(zip(*(v[room:] for v in columns), strict=True), room)
        )
        drawn = [
            (key, self._size + i, tuple(_texts(values[i]) for values in columns))
            for key, i in nsmallest(READ, keys)
        ]
        self._drawn = nsmallest(READ, self._drawn + drawn)
        self._size += batch.size

    def _columns(self, batch: Batch) -> Iterator[Sequence[Any]]:
        """The columns that checks read, those that no metric reads last."""
        beside = (name for name in batch.beside if name not in batch.columns)
        self._names = self._names or (*(name for name in READ_BY if name in batch.columns), *beside)
        for name in self._names:
            if name in batch.columns:
                column = batch.columns[name]
                yield column.items if column.offsets is None else lists_of(column)
            else:
                yield _beside(batch, name)

    def rows(self) -> Rows:
        """The rows, in the order of the run."""
        drawn = sorted((number, row) for _, number, row in self._drawn)
        rows = [*self._first, *(row for _, row in drawn)]
        columns = dict(zip(self._names, zip(*rows, strict=True), strict=False))
        numbers = [*range(len(self._first)), *(number for number, _ in drawn)]
        return Rows(columns, numbers, self._size)


_Row = tuple[Sequence[str], ...]


def _beside(batch: Batch, name: str) -> Sequence[Any]:
    """A column that no metric reads, or nothing a row where it can't be read."""
    with suppress(InputError, KeyError, TypeError, ValueError):
        values = as_list(name, batch.beside[name]())
        if len(values) == batch.size:
            return values
    return [()] * batch.size


def _texts(value: object) -> Sequence[str]:
    """The texts of a cell; a number is one, as it is written."""
    if isinstance(value, str):
        return (value if len(value) <= _LONG else f"{value[:_HALF]} … {value[-_HALF:]}",)
    if isinstance(value, (int, float)):
        return (f"{value:g}",)
    parts = value if isinstance(value, (list, tuple, dict)) else ()
    return [*chain.from_iterable(map(_texts, parts))]


Again = Callable[[Metric, Batch], "Measurement"]
"""Measures some samples by one metric alone."""


def findings_of(
    again: Again, measurement: Measurement, rows: Rows
) -> dict[str, dict[str, DoubtfulRows]]:
    """The findings of every metric's checks in the rows of a run that was measured."""
    findings = {}
    for name, result in measurement.results.items():
        shown_rows = (
            _answers(rows, result.metric, measurement) if result.metric.extraction else rows
        )
        by_check = dict(_found(shown_rows, result, measurement))
        by_check |= dict(_made_of(again, result, shown_rows)) if _is_compared(result.metric) else {}
        if shown_rows and _is_worst(result):
            pair = (shown_rows.first("predictions")[0], shown_rows.first("references")[0])
            shown = (
                " for ".join(quoted_apart(*pair)) if shown_rows.columns.get("references") else ""
            )
            by_check[WORST] = DoubtfulRows(0, measurement.size, shown_rows.numbers[0], shown)
        findings[name] = by_check
    return {name: by_check for name, by_check in findings.items() if by_check}


def _answers(rows: Rows, metric: Metric, measurement: Measurement) -> Rows:
    """The rows from which an answer was read, with it as their prediction."""
    answers = measurement.metadata.get(f"{PREFIX}{metric.extraction}", ())
    read = [i for i, n in enumerate(rows.numbers) if n < len(answers) and answers[n] is not None]
    texts = [_texts(answers[rows.numbers[i]]) for i in read]
    taken = rows.take(read)
    return Rows({**taken.columns, "predictions": texts}, taken.numbers, rows.size)


def _is_compared(metric: Metric) -> bool:
    columns = {column_of(name) for name in metric.inputs()}
    # A function may be about anything, and may do more than score.
    other = is_async(metric) or metric.one_process() or not metric.card.path
    other = other or metric.card.tags.family == "structure"
    return columns == {"predictions", "references"} and not other


def checks_of(metric: Metric) -> Sequence[Check]:
    """The checks of a metric: those of all metrics of its family, changed by its own method."""
    return metric.text_checks(usual_checks(metric.card.tags.family))


def _found(
    rows: Rows, result: Result, measurement: Measurement
) -> Iterator[tuple[str, DoubtfulRows]]:
    """The findings of checks in the rows that have a score."""
    metric = result.metric
    read = {column_of(name) for name in metric.inputs()}
    compared = read >= {"predictions", "references"}
    few = len(rows) < DISTRIBUTION and type(metric).text_checks is Metric.text_checks
    if few and rows.cached("nothing", partial(nothing_to_find, rows)):
        return
    for check in checks_of(metric):
        seen = rows if check.everywhere else rows.few()
        if (
            len(rows) < check.least
            or check.column not in read
            or (check.compares and not compared)
            or (check.name in _BLANKS and measurement.blanks.get(check.column))
            or (check.prose and not seen.is_prose(check.column))
            # Answers to one question are drawn together.
            or (check.name == "repeated" and measurement.questions)
        ):
            continue
        if metric.extraction and check.name in _OF_WHOLE:
            continue
        doubtful = seen.cached(check, partial(_applied, check, seen, metric.name))
        if result.unscored and any(doubtful) and not result.pooled:
            scored = result.scored()[seen.numbers].tolist()
            doubtful = [*map(and_, doubtful, scored)]
        if (hits := sum(doubtful)) > (result.unscored if result.pooled else 0):
            place = doubtful.index(True)
            text = seen.first(check.column)[place][:_LONGEST]
            yield check.name, DoubtfulRows(hits, len(seen), seen.numbers[place], text)


def _applied(check: Check, rows: Rows, name: str) -> list[bool]:
    """Which rows a check doubts."""
    try:
        doubtful = [*map(bool, check.rows(rows))]
    except Exception as error:
        raise MetricError(f"{name}: its check {check.name!r} failed: {error!r}") from error
    if doubtful and len(doubtful) != len(rows):
        problem = f"gave {len(doubtful)} values for {len(rows)} rows"
        raise MetricError(f"{name}: its check {check.name!r} {problem}")
    return doubtful


def _made_of(again: Again, result: Result, rows: Rows) -> Iterator[tuple[str, DoubtfulRows]]:
    """The steps that remove mismatches, where a metric's score is better after them."""
    pairs = [pair for pair in _mismatches(result, rows) if len(pair[1]) < _LONG]
    nearly = len(rows) >= DISTRIBUTION and all(map(rows.is_prose, ("predictions", "references")))
    steps = [
        (place, p, r, rows.cached((place, nearly), partial(made_of, p, r, nearly)))
        for place, p, r in pairs
    ]
    for names, times in Counter(
        names_of_pair for *_, names_of_pair in steps if names_of_pair
    ).most_common(3):
        cases = [(place, p, r) for place, p, r, names_of_pair in steps if names_of_pair == names]
        before = [(p, r) for _, p, r in cases[:_TRIED]]
        mended = [(after(p, names), after(r, names)) for p, r in before]
        equal = all(p == r for p, r in mended)
        right = len(rows) - len(pairs)
        if nearly:
            few = (_OF_PROSE if {*names} & {*USUAL} else _RARE) * len(pairs)
        else:
            few = max(_SHARE * min(len(pairs), right or len(pairs)), _RARE * len(rows))
        if times < few:
            continue
        # Whatever a metric can't read isn't worth a word.
        with suppress(MetrichubError):
            better = False
            better = _better(again, result.metric, before, mended)
        if better:
            vanish = "vanish" if equal else "vanish or shrink"
            place, p, r = cases[0]
            name = f"{MADE_OF} {vanish} after {listed(names)}"
            yield (
                name,
                DoubtfulRows(
                    times, len(pairs), rows.numbers[place], " for ".join(quoted_apart(p, r))
                ),
            )


def _mismatches(result: Result, rows: Rows) -> Iterator[tuple[int, str, str]]:
    """The rows without the perfect score whose prediction equals no reference, with the first."""
    places = [*range(len(rows))]
    # A few texts are scored again sooner than they are asked for their scores.
    if result.adds_up and not result.pooled and len(rows) >= DISTRIBUTION:
        scale, scores = result.scale("score"), result.samples()["score"][rows.numbers]
        best = scale and (scale.low if scale.better == "lower" else scale.high)
        places = np.flatnonzero(~(scores == best)).tolist()
    texts, references = rows.first("predictions"), rows.all("references")
    for place in islice((i for i in places if texts[i] not in references[i]), _MISMATCHES):
        for reference in references[place][:1]:
            yield place, texts[place], reference


def _better(again: Again, metric: Metric, *pairs: Sequence[tuple[str, str]]) -> bool:
    """Whether the second texts have a better score than the first."""
    scores = []
    for texts in pairs:
        predictions, references = zip(*texts, strict=True)
        batch = Batch.of(predictions=predictions, references=references)
        plain = copy(metric)
        object.__setattr__(plain, "extraction", None)
        scores.append(again(plain, batch).scores()[metric.name].get("score", nan))
    first, second = scores
    return second < first if metric.card.better("score") == "lower" else second > first


def worded_doubts(measurement: Measurement, name: str) -> Iterator[Doubt]:
    """The doubts about the numbers of one metric, worded."""
    result = measurement.results[name]
    findings = measurement.doubts.get(name, {})
    for check in checks_of(result.metric) if findings else ():
        finding = findings.get(check.name)
        if finding and finding.rows >= max(check.share * finding.of, min(2, check.least)):
            yield _worded(check, finding, measurement.size)
    for key, finding in findings.items():
        # Of two Unicode forms another note tells.
        forms = "NFKC" in key and measurement.mixed_forms.get(name)
        if key.startswith(MADE_OF) and not forms:
            yield _of_mismatches(key.removeprefix(f"{MADE_OF} "), finding, result.metric)
    yield from _of_result(measurement, result)


def _worded(check: Check, finding: DoubtfulRows, size: int) -> Doubt:
    read = "of the rows that were read; " if finding.of < size else ""
    shown = f", {printable(repr(finding.text))}" if finding.text.strip() else ""
    return Doubt(
        f"{finding.rows:,} of {finding.of:,} {check.says} "
        f"({read}first: sample {finding.first}{shown}); {check.advice}",
        check.name,
    )


def _of_mismatches(steps: str, finding: DoubtfulRows, metric: Metric) -> Doubt:
    _, _, names = steps.partition(" after ")
    hints = {parameter.name: parameter.hint for parameter in parameters_of(type(metric))}
    offered = [(p, value) for name, p, value in PARAMETERS if name == names and p in hints]
    remedy = next(
        (f"choose {p}={value!r}" for p, value in offered if is_valid(value, hints[p])),
        "do that to both texts before scoring, unless it should count",
    )
    return Doubt(
        f"{finding.rows:,} of {finding.of:,} mismatches {steps} (first: sample {finding.first}, "
        f"{finding.text}); {remedy}",
        MADE_OF,
    )


def _of_result(measurement: Measurement, result: Result) -> Iterator[Doubt]:
    """Doubts about the scores themselves."""
    if result.count < _EVERY:
        return
    for output, score in result.scores().items():
        scale = result.scale(output)
        if scale and not isnan(score) and score not in scale:
            where = f"outside of {scale.interval}, its range"
            where = where if isfinite(score) else "so the number of a sample is too large to add up"
            yield Doubt(f"{output} is {score:g}, {where}", "range")
    # Where all rows are doubtful, it is said why.
    findings = measurement.doubts.get(result.metric.name, {}).values()
    if _is_worst(result) and not any(finding.rows == finding.of for finding in findings):
        pair = measurement.doubts.get(result.metric.name, {}).get(WORST)
        shown = f" (sample {pair.first}: {pair.text})" if pair and pair.text else ""
        yield Doubt(
            f"the score is {result.scores()['score']:g}, the worst there is{shown}; see whether "
            "the columns contain what the metric compares",
            WORST,
        )
    errors, of, sample = measurement.heaviest.get(result.metric.name, (0.0, 1.0, 0))
    if result.count >= DISTRIBUTION and errors > _THIRD * of:
        yield Doubt(
            f"sample {sample} has {errors / of:.0%} of all errors, so the score and its "
            "interval depend on it; see whether its output is a loop",
            "one sample",
        )


def _is_worst(result: Result) -> bool:
    scale = result.scale("score") if result.count >= _EVERY else None
    if scale is None or scale.better == "neither":
        return False
    worst = scale.high if scale.better == "lower" else scale.low
    # What has a wrong shape is told where it is read.
    with suppress(TypeError):
        return result.scores().get("score", nan) == worst
    return False


def heaviest_of(results: Mapping[str, Result]) -> dict[str, Heaviest]:
    """The heaviest sample of each error rate that may exceed 1, if its own does."""
    heaviest = {}
    for name, result in results.items():
        scale = result.scale("score")
        rate = scale and scale.better == "lower" and scale.high is None
        if rate and result.adds_up and result.count > 1:
            scores = result.samples()["score"]
            if scores.ndim == 1 and (scores > 1).any():
                with np.errstate(invalid="ignore"):
                    errors = np.nan_to_num(result.added()["score"])
                sample = int(errors.argmax())
                heaviest[name] = (float(errors[sample]), float(errors.sum()), sample)
    return heaviest
