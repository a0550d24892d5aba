"""Hub: any number of metrics over the same samples, in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from metrichub.batch import BLOCK_CHARACTERS, Batch
from metrichub.columns import column_of
from metrichub.errors import InputError, MetricError, SpecError
from metrichub.metric import CorpusMetric, Metric, measure_objects, measure_rows
from metrichub.reduce import Reduction, name_of, reduce
from metrichub.registry import load_metric, origin
from metrichub.report import Nested, Report
from metrichub.result import Result, RowsResult, SumResult
from metrichub.stats import Stats


@dataclass(frozen=True)
class Hub:
    """Metrics that score the same samples together.

    `metrics` is a name, a spec ("bleu2 = bleu(max_order=2)"), a metric, or a list that mixes
    them. `reduce_fn` makes one row of a sample's several candidates: best (by default, reading
    the direction from the card), worst, mean, max, min, first, or a function from the
    candidates' scores to weights.

    >>> scorer = Hub(metrics=["exact_match", "bleu2 = bleu(max_order=2)"])
    >>> scorer(predictions=["the cat"], references=[["the cat", "a cat"]])["exact_match"]
    {'score': 1.0}

    Raises:
        UnknownMetric, SpecError, ParameterError: a metric that can't be made.
    """

    metrics: tuple[Metric, ...]
    reduce_fn: Reduction | None = None
    block_characters: int = field(default=BLOCK_CHARACTERS, repr=False)

    def __init__(
        self,
        metrics: str | Metric | Iterable[str | Metric],
        *,
        reduce_fn: Reduction | None = None,
        block_characters: int = BLOCK_CHARACTERS,
    ) -> None:
        """Load the metrics; nothing is measured yet."""
        object.__setattr__(self, "metrics", _metrics(metrics))
        object.__setattr__(self, "reduce_fn", reduce_fn)
        object.__setattr__(self, "block_characters", block_characters)
        for metric in self.metrics:
            name_of(metric, reduce_fn)

    def __call__(
        self,
        data: object = None,
        /,
        *,
        columns: Mapping[str, str] | None = None,
        reduce_fn: Reduction | None = None,
        **given: Any,
    ) -> Nested:
        """The nested dict of scores: metric -> output -> score. Takes what `evaluate` takes."""
        return self.evaluate(data, columns=columns, reduce_fn=reduce_fn, **given).scores()

    def evaluate(
        self,
        data: object = None,
        /,
        *,
        columns: Mapping[str, str] | None = None,
        reduce_fn: Reduction | None = None,
        samples: bool = True,
        progress: Callable[[int], object] | None = None,
        **given: Any,
    ) -> Report:
        """The report of all metrics on the given samples.

        Give columns by name, `predictions=[...], references=[...]`, each with one entry per
        sample: a text, or a list of texts. Or give a table as `data`: a mapping of columns, a
        list of dicts, a `datasets.Dataset`, a data frame, an Arrow table, or an iterator of such
        tables, which are measured one after another. `columns` maps a column to the name that it
        has in the table; without it the names of other tools are found by themselves.

        With `samples=False` only sums are kept. `progress` is called with the number of samples
        after every block.

        Raises:
            InputError: samples that can't be scored; the text says where and what to do.
        """
        reduction = self.reduce_fn if reduce_fn is None else reduce_fn
        needed = self.needs()
        report: Report | None = None
        waiting: list[Report] = []
        for batch in self._batches(data, needed, columns, given):
            part = self._measure(batch, reduction, progress)
            waiting.append(part if samples else part.pool() if _adds_up(part) else part)
            if not samples and len(waiting) > 1:
                waiting = [waiting[0].merge(*waiting[1:])]
        report = waiting[0].merge(*waiting[1:]) if len(waiting) > 1 else waiting[0]
        return report if samples else report.pool()

    def needs(self) -> dict[str, str]:
        """The columns that the metrics read, each with the first metric that asks for it."""
        found: dict[str, str] = {}
        for metric in self.metrics:
            for name in metric.inputs():
                found.setdefault(column_of(name), metric.name)
        return found

    def cite(self) -> str:
        """BibTeX of every metric in the hub, each entry once."""
        return "\n\n".join(dict.fromkeys(m.card.bibtex for m in self.metrics if m.card.bibtex))

    def _batches(
        self,
        data: object,
        needed: Mapping[str, str],
        columns: Mapping[str, str] | None,
        given: Mapping[str, Iterable[Any]],
    ) -> Iterator[Batch]:
        if data is not None and given:
            raise InputError(
                "give either a table or columns by name, not both "
                f"(got a {type(data).__name__} and {', '.join(given)})"
            )
        if isinstance(data, str):
            raise InputError(
                f"the data is the string {data[:40]!r}; to score a file, read it with "
                "metrichub.files.read(path), or use the command line: metrichub score FILE"
            )
        if isinstance(data, Iterator):
            empty = True
            for part in data:
                yield Batch.from_data(part, needed, columns)
                empty = False
            if empty:
                yield Batch.of(**{name: () for name in needed})
        elif data is not None:
            yield Batch.from_data(data, needed, columns)
        elif columns:
            yield Batch.from_data(given, needed, columns)
        else:
            batch = Batch.of(**given)
            batch.require(needed)
            yield Batch({name: batch.columns[name] for name in needed}, batch.size)

    def _measure(
        self, batch: Batch, reduction: Reduction | None, progress: Callable[[int], object] | None
    ) -> Report:
        results: dict[str, Result] = {}
        for characters, group in groupby(self.metrics, lambda m: m.block_characters):
            metrics = list(group)
            parts: dict[str, list[Any]] = {metric.name: [] for metric in metrics}
            for block in batch.blocks(characters or self.block_characters):
                for metric in metrics:
                    view = block.view(metric.inputs())
                    if isinstance(metric, CorpusMetric):
                        rows = measure_objects(metric, view)
                        sample = np.arange(len(block)) if view.sample is None else view.sample
                        parts[metric.name].append((rows, sample + block.start))
                    else:
                        stats = measure_rows(metric, view)
                        if view.sample is not None:
                            stats = reduce(metric, stats, view.sample, len(block), reduction)
                        parts[metric.name].append(stats)
                if progress:
                    progress(len(block) * len(metrics))
            for metric in metrics:
                signature = _signature(metric, reduction)
                results[metric.name] = _result(metric, signature, parts[metric.name], batch.size)
        counts = {name: column.counts for name, column in batch.columns.items()}
        return Report(
            {metric.name: results[metric.name] for metric in self.metrics},
            batch.size,
            ((batch.size, batch.digest()),),
            {name: (int(c.min()), int(c.max())) for name, c in counts.items() if len(c)},
        )


def _metrics(given: str | Metric | Iterable[str | Metric]) -> tuple[Metric, ...]:
    listed: Sequence[Any] = [given] if isinstance(given, (str, Metric)) else list(given)
    metrics = tuple(load_metric(m) if isinstance(m, str) else m for m in listed)
    for metric in metrics:
        if not isinstance(metric, Metric):
            hint = " (an instance is needed: call it)" if isinstance(metric, type) else ""
            raise MetricError(f"{metric!r} is no metric{hint}; give a name, a spec or a Metric")
    names = [metric.name for metric in metrics]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SpecError(
            f"two metrics are called {twice[0]!r}; name one of them: "
            f"'{twice[0]}_2 = {twice[0]}(...)'"
        )
    return metrics


def _result(metric: Metric, signature: str, parts: Sequence[Any], size: int) -> Result:
    if isinstance(metric, CorpusMetric):
        rows = [row for objects, _ in parts for row in objects]
        sample = np.concatenate([np.zeros(0, np.int64), *(sample for _, sample in parts)])
        return RowsResult.of(metric, signature, rows, sample, size)
    if not parts:
        return SumResult.of(metric, signature, Stats({}, np.zeros(0, np.bool_)))
    return SumResult.of(metric, signature, Stats.concatenate(parts))


def _signature(metric: Metric, reduction: Reduction | None) -> str:
    entry = origin(type(metric))
    home = f"{entry.distribution}:{entry.version}" if entry else f"local:{type(metric).__module__}"
    return f"{metric.label()}|{home}|reduce:{name_of(metric, reduction)}"


def _adds_up(report: Report) -> bool:
    return all(isinstance(result, SumResult) for result in report.results.values())
