"""Measurement: what metrics measured of samples, with scores, explanations and signatures."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Never, NoReturn, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrichub.data.columns import column_of
from metrichub.data.metadata import REPEATED
from metrichub.errors import ReportError, UnknownScore, did_you_mean, listed, what
from metrichub.evaluation.buckets import BucketSizes
from metrichub.evaluation.explanation import Explanation, Status, Trace
from metrichub.evaluation.facts import FACTS, Facts, Values
from metrichub.evaluation.resampling_units import Units, clusters, groups
from metrichub.evaluation.result import Outputs, Result
from metrichub.evaluation.stored import StoredSamples
from metrichub.metric import has_sample_scores

Nested = dict[str, dict[str, float]]
M = TypeVar("M", bound="Measurement")
T = TypeVar("T")
MISSING = ("unscored", "unanswered", "errors", "pending")
"""Why samples have no score."""
COUNTED = (*MISSING, "unextracted")
"""The counts beside scores."""


class ByName(dict[str, T]):
    """Values by the name of a metric, or of an output of the metric `of`.

    Raises:
        UnknownScore: there is no such name; the message says which is meant.
    """

    def __init__(self, values: Mapping[str, T], of: str = "") -> None:
        super().__init__(values)
        self.of = of

    def __missing__(self, name: object) -> NoReturn:
        """Say which name is meant."""
        if not isinstance(name, str):
            raise UnknownScore(f"choose metrics by their names, not by {what(name)}")
        if self.of:
            problem = f"{self.of} has no output {name!r}"
            if name in COUNTED:
                raise UnknownScore(f"{problem}; report.counts() has the counts")
        else:
            problem = f"no metric {name!r} in the report"
            outputs = [(m, o) for m, own in self.items() if isinstance(own, Mapping) for o in own]
            meant = [own for own in outputs if name in (own[1], ".".join(own), "/".join(own))]
            if meant:
                metric, output = meant[0]
                raise UnknownScore(f'{problem}; did you mean ["{metric}"]["{output}"]?')
        raise UnknownScore(f"{problem}{did_you_mean(name, self) or f'; it has {listed(self)}'}")


class Fixed(dict[str, T]):
    """A dict that doesn't change."""

    def _refuse(self, *_: object, **__: object) -> Never:
        raise TypeError("what was measured can't be changed")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __reduce__(self) -> tuple[object, ...]:
        """Rebuild from a dict, as items can't be set one by one."""
        return Fixed, (dict(self),)


@dataclass(frozen=True)
class Measurement(Facts):
    """The measurements of `size` samples, one result per metric.

    `texts` are the samples themselves where they were kept; a saved report has none. `runs` holds
    the result of each run where judges were asked several times. `buckets` stands for samples that
    weren't kept. `facts` has what else is told of the samples, by name; see `Facts`.
    """

    results: Mapping[str, Result]
    size: int
    traces: Mapping[str, Trace] = field(default_factory=dict)
    texts: StoredSamples | None = field(default=None, repr=False, compare=False)
    runs: Mapping[str, tuple[Result, ...]] = field(default_factory=dict, repr=False)
    buckets: BucketSizes | None = field(default=None, repr=False)
    facts: Values = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Keep the results as they are."""
        object.__setattr__(self, "results", Fixed(self.results))

    @classmethod
    def of(cls, measurement: Measurement) -> Self:
        """The same measurements as an object of this class."""
        return cls(**vars(measurement))

    def __getitem__(self, metric: str) -> dict[str, float]:
        """The scores of one metric, as in `scores()`.

        Raises:
            UnknownScore: no such metric.
            ReportError: it isn't a name.
        """
        if isinstance(metric, str) and metric not in self.results:
            return self.scores()[metric]
        chosen_metrics([metric], self.results, "the report")
        return self._scores_of(metric)

    def __contains__(self, metric: object) -> bool:
        """Whether the report has scores of a metric of this name."""
        return metric in self.results

    def __iter__(self) -> Iterator[str]:
        """The names of the metrics."""
        return iter(self.results)

    def scores(self) -> Nested:
        """The nested dict: metric -> output -> score; `nan` where nothing was scored."""
        return ByName({name: self._scores_of(name) for name in self.results})

    def _scores_of(self, metric: str) -> dict[str, float]:
        return ByName(self.results[metric].scores(), metric)

    def counts(self) -> dict[str, dict[str, int]]:
        """How many samples of each metric have no score, or the worst: metric -> why -> samples.

        "pending" counts samples that wait for a batch, "errors" those for which a call to a judge
        failed, "unanswered" those whose prediction has no score by the metric's definition, and
        "unscored" all others. "unextracted" counts samples from whose predictions no answer was
        read: these have the worst score. What counts none isn't there.
        """
        counted = {}
        for name, result in self.results.items():
            trace = self.traces.get(name, Trace())
            failed, waiting = trace.errors_by_cause.total(), trace.pending_by_cause.total()
            unanswered = result.unanswered.total()
            counts = {
                "unscored": result.unscored - failed - waiting - unanswered,
                "unanswered": unanswered,
                "errors": failed,
                "pending": waiting,
                "unextracted": self.unextracted.get(result.metric.extraction or "", 0),
            }
            counted[name] = {why: count for why, count in counts.items() if count}
        return counted

    def samples(self) -> dict[str, Outputs]:
        """The scores of every sample: metric -> output -> (N,); `nan` where unscored.

        Raises:
            ReportError: the report is pooled.
        """
        return {name: result.samples() for name, result in self.results.items()}

    def tables(self) -> dict[str, Mapping[str, Sequence[Sequence[str | float | None]]]]:
        """Tables that metrics show beside their scores: metric -> heading -> rows, a head first.

        For example the confusion matrix of `classification`. Pooled reports have none.
        """
        tables = {name: result.tables() for name, result in self.results.items()}
        return {name: of_metric for name, of_metric in tables.items() if of_metric}

    @property
    def failed(self) -> int:
        """How many scores are missing, over all metrics, because a call to a judge failed."""
        return sum(trace.errors_by_cause.total() for trace in self.traces.values())

    def explain(self, metric: str, sample: int) -> Explanation:
        """Why a sample has its scores: its status, and the judge's answers for each candidate.

        Raises:
            ReportError: there is no such metric or sample, or the report is pooled.
        """
        chosen_metrics(metric, self.results, "the report")
        if not 0 <= sample < self.size:
            raise ReportError(
                f"the report has no sample {sample}; it has {self.size}, numbered from 0"
            )
        result, trace = self.results[metric], self.traces.get(metric, Trace())
        scores = {name: float(values[sample]) for name, values in result.samples().items()}
        status, reason = status_of(self, metric, sample)
        steps = trace.steps.get(sample, ())
        if not steps and self.texts is not None:
            steps = self.texts.steps(result.metric, sample)
        return Explanation(status, reason, scores, steps)

    def replies(self, metric: str, sample: int) -> list[Any]:
        """The model's replies about a sample, one per call, from the call store.

        Beside a judge's reply, `models` holds the names of those that replied, as the server says
        them, and `repairs` how many of their replies weren't quite what was asked for. A reply that
        isn't stored (a judge with cache=False, or a cleared store) is None.

        Raises:
            ReportError: there is no such metric or sample.
        """
        self.explain(metric, sample)
        keys = self.traces.get(metric, Trace()).calls.get(sample, ())
        if not keys:
            return []
        from metrichub.models.store import store

        answers = [store().get(key) for key in keys]
        return [None if answer is None else json.loads(answer.reply) for answer in answers]

    def signatures(self) -> dict[str, str]:
        """Each metric's signature: parameters, definition, prompts, version, reduction, candidates.

        Everything except the version decides which reports can be merged and compared. "samples" is
        included if `samples()` follows another convention than the corpus score, as for sentence
        BLEU.
        """
        signatures = {}
        for name, result in self.results.items():
            read = {*map(column_of, result.metric.inputs())}
            signature = f"{result.signature}{self._counts(read)}"
            if has_sample_scores(result.metric):
                signature += "|samples:sentence-level"
            signatures[name] = signature
        return signatures

    def prompts(self) -> dict[str, Mapping[str, Any]]:
        """The prompts of each metric's judge model: metric -> prompt -> its "text" and "examples".

        Templates, without the samples. A metric is left out if it asks no model, or if its prompts
        aren't known.
        """
        templates = {name: result.signature.templates for name, result in self.results.items()}
        return {name: of_metric for name, of_metric in templates.items() if of_metric}

    def clustered(self, cluster: str | None) -> tuple[Self, str | None]:
        """The same with its clusters as metadata, and their column; "auto" is that of questions."""
        # A sample whose question isn't known has one of its own.
        identities = self.questions.get(REPEATED, ()) if cluster in ("auto", REPEATED) else ()
        questions = [question or sample for sample, question in enumerate(identities)]
        if 1 < len({*questions}) < self.size:
            return with_facts(self, metadata={REPEATED: questions}), REPEATED
        return self, None if cluster in ("auto", "none", REPEATED) else cluster

    def units(self, result: Result, cluster: str | None = None) -> Units:
        """The units that a test or interval draws: samples, clusters of them, or buckets.

        Raises:
            ReportError: there is no such column, the report keeps no samples and has another key,
                or all samples are one unit.
        """
        or_alike = ""
        if self.buckets is None or result.buckets is None:
            units = Units(self.size) if cluster is None else clusters(cluster, self.metadata)
        elif cluster is not None and self.buckets.key != (cluster,):
            raise ReportError(
                f"clusters of {cluster!r} need the samples, which weren't kept; "
                f"evaluate with key={cluster!r}, or with samples=True"
            )
        else:
            filled = self.buckets.filled(len(result.buckets.counts))
            units, cluster = Units(len(filled), filled=filled), " and ".join(self.buckets.key)
            or_alike = ", or values that share a bucket"
        # One unit says nothing of how much scores vary.
        if units.number == 1 < self.size:
            raise ReportError(
                f"all samples have the same {cluster}{or_alike}; intervals and tests need at least "
                "two different ones"
            )
        return units

    def take(self, samples: Sequence[int] | NDArray[np.int64]) -> Self:
        """The measurements of some samples, by their numbers from 0, in ascending order.

        Facts that belong to all samples together are left out, such as usage.

        Raises:
            ReportError: there are no such samples, their order isn't ascending, or the report
                keeps no samples.
        """
        index = _ascending(samples, self.size)
        return replace(
            self,
            results={name: result.take(index) for name, result in self.results.items()},
            size=len(index),
            traces={name: trace.take(index.tolist()) for name, trace in self.traces.items()},
            texts=None if self.texts is None else self.texts.take(index),
            runs={name: tuple(run.take(index) for run in runs) for name, runs in self.runs.items()},
            facts={
                fact.name: fact.take(self.facts[fact.name], index, self.facts)
                for fact in FACTS
                if fact.take and fact.name in self.facts
            },
        )

    def by(self, column: str) -> dict[Any, Self]:
        """A report for each value of a column that the report kept, in order of first appearance.

        Subgroups can be compared between systems like whole reports. Samples without a value are
        under None. Usage belongs to all samples, so none of the reports has it.

        Raises:
            ReportError: there is no such column, it holds lists, or the report keeps no samples.
        """
        if any(result.pooled for result in self.results.values()):
            raise ReportError(
                "groups need the samples, which weren't kept; evaluate with samples=True"
            )
        index = groups(column, self.metadata, self.size)
        return {value: self.take(samples) for value, samples in index.items()}

    def pool(self) -> Self:
        """The same corpus scores without the samples, in memory that doesn't grow with them.

        Intervals and tests aren't possible afterwards; `evaluate` with samples=False keeps what
        they need.
        """
        return replace(self._with(lambda result: result.pool()), buckets=None)

    def without_samples(self) -> Self:
        """The same corpus scores without the samples, but with the sums of their buckets."""
        return self._with(lambda result: result if result.buckets else result.pool())

    def condense(self) -> Self:
        """The same without samples; corpus metrics keep only what their scores need.

        Such measurements merge in any order; `without_samples` computes the scores at the end.
        """
        return self._with(lambda result: result.condense())

    def _with(self, change: Callable[[Result], Result]) -> Self:
        return replace(
            self,
            results={name: change(r) for name, r in self.results.items()},
            traces={name: trace.pool() for name, trace in self.traces.items()},
            texts=None,
            runs={name: tuple(run.pool() for run in runs) for name, runs in self.runs.items()},
            facts=pooled_facts(self.facts),
        )

    def _counts(self, read: Collection[str]) -> str:
        """How many texts a sample has of each column that is read, if references or several."""
        return "".join(
            f"|{column}:{low if low == high else f'{low}-{high}'}"
            for column, (low, high) in self.items_per_sample.items()
            if column in read and (column == "references" or high > 1)
        )


def status_of(measurement: Measurement, metric: str, sample: int) -> tuple[Status, str | None]:
    """The status of a sample, and why it has no score; see `Explanation`."""
    result, trace = measurement.results[metric], measurement.traces.get(metric, Trace())
    if why := trace.pending.get(sample) or trace.errors.get(sample):
        return trace.status(sample), why
    reason = result.why(sample)
    return result.status(sample) if reason else "ok", reason


def with_facts(measurement: M, **facts: Any) -> M:
    """The measurement with other values of some facts."""
    return replace(measurement, facts={**measurement.facts, **facts})


def united(first: Any, second: Any) -> Any:
    """Both of two facts: numbers added, names united, and mappings joined key by key."""
    if isinstance(first, Mapping):
        both = {key: united(first[key], second[key]) for key in first.keys() & second.keys()}
        return {**first, **second, **both}
    return tuple(dict.fromkeys(first + second)) if isinstance(first, tuple) else first + second


def joined_facts(parts: Sequence[tuple[int, Values]]) -> dict[str, Any]:
    """The facts of several parts together, given with their numbers of samples."""
    names, joined = set[str](), dict[str, Any]()
    for _, facts in parts:
        names.update(facts)
    for fact in FACTS:
        if fact.name in names:
            values = [(size, facts.get(fact.name, fact.empty)) for size, facts in parts]
            joined[fact.name] = (
                fact.join(values) if fact.join else reduce(united, [v for _, v in values])
            )
    return joined


def pooled_facts(facts: Values) -> dict[str, Any]:
    """The facts that remain where the samples aren't kept."""
    return {f.name: f.pool(facts[f.name]) for f in FACTS if f.pool and f.name in facts}


def _ascending(samples: Sequence[int] | NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The numbers of samples as an array."""
    numbers = np.asarray(samples)
    integral = numbers.ndim == 1 and (numbers.dtype.kind in "iu" or not len(numbers))
    index = numbers.astype(np.int64) if integral else np.full(1, -1)
    if (np.diff(index, prepend=-1, append=size) < 1).any():
        raise ReportError(
            "take needs the numbers of samples in ascending order, each once, for example [0, 2]; "
            f"this report has {size} samples, and the first is 0"
        )
    return index


def chosen_metrics(
    metrics: str | Iterable[str] | None, known: Collection[str], where: str
) -> Collection[str]:
    """The names of the metrics that were chosen, all that are known if none were.

    Raises:
        ReportError: a name is that of none.
    """
    if metrics is None:
        return known
    single = isinstance(metrics, str) or not isinstance(metrics, Iterable)
    names: list[Any] = [metrics] if single else list(metrics)
    for name in names:
        if not isinstance(name, str):
            raise ReportError(f"choose metrics by their names, not by {what(name)}")
        if name not in known:
            near = did_you_mean(name, known) or f"; choose from: {', '.join(known)}"
            raise ReportError(f"no metric {name!r} in {where}{near}")
    return names
