"""Hub: any number of metrics over the same samples, in one call."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial, wraps
from os import PathLike
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Never,
    NoReturn,
    ParamSpec,
    TypedDict,
    TypeVar,
    Unpack,
)

from metrichub.data.batch import BLOCK_CHARACTERS, Batch
from metrichub.data.columns import column_of
from metrichub.data.inputs import Data, batches_of, check_options, is_stream, objects_of
from metrichub.data.samples import Reading, Samples
from metrichub.data.values import TextOf, names_of
from metrichub.errors import (
    DOUBTS,
    InputError,
    ParameterError,
    ScoringError,
    SpecError,
    listed,
    what,
    without_warnings,
)
from metrichub.evaluation.measure import Measure
from metrichub.evaluation.measurement import Nested
from metrichub.evaluation.observation import Progress, is_async
from metrichub.evaluation.run import (
    OTHER_METHODS,
    check_run,
    finish_rounds,
    measured,
    rounds_of,
    system_columns,
)
from metrichub.evaluation.signature import Reduction, Signature, reduction_name
from metrichub.metric import (
    Metric,
    MetricLike,
    load_metrics,
    needed_by,
    recorded_metrics,
    with_extraction,
)
from metrichub.models.usage import Budget, Limits, Usage
from metrichub.report.notes import warn_of
from metrichub.report.report import Report

if TYPE_CHECKING:
    from metrichub.data.files import Where
    from metrichub.evaluation.direct import DirectScores
    from metrichub.judge.protocol import Judge
    from metrichub.models.embedders import Embedder
    from metrichub.models.resolve import VoteRule


P = ParamSpec("P")
T = TypeVar("T")

_LOOKED_AT = 100
"""Doubts are looked for in so many samples of a hub, then in one of so many calls."""


class RunOptions(TypedDict, total=False):
    """Options of `Hub.evaluate`, which explains them, to be passed on together.

    `hub.evaluate(data, options=run)` takes all of `run`, but for those that the call itself names.

    >>> run = RunOptions(workers=4, samples=False)
    >>> run | {"workers": 2}
    {'workers': 2, 'samples': False}
    """

    columns: Mapping[str, str] | None
    reduce: Reduction | None
    samples: bool
    texts: bool | None
    workers: int
    progress: Progress | None
    max_errors: int | None
    max_calls: int | None
    max_tokens: int | None
    max_cost: float | None
    repeats: int
    keep: str | Iterable[str] | None
    key: str | Sequence[str] | None
    tries: str | None
    batch: str | PathLike[str] | None


def _merged(method: Callable[P, T]) -> Callable[P, T]:
    """The method, which takes the entries of `options` as keywords."""

    @wraps(method)
    def with_keywords(*data: P.args, **keywords: P.kwargs) -> T:
        options = keywords.pop("options", None) or {}
        if not isinstance(options, Mapping):
            raise InputError(f"options must be RunOptions(...), not {what(options)}")
        merged: Any = {**options, **keywords}
        return method(*data, **merged)

    # Who lists the options of a method finds them here.
    with_keywords.__kwdefaults__ = method.__kwdefaults__  # type: ignore[attr-defined]  # any callable
    return with_keywords


def _awaited(
    evaluate: Callable[Concatenate[Hub, P], Report],
) -> Callable[
    [Callable[..., Coroutine[Any, Any, Report]]],
    Callable[Concatenate[Hub, P], Coroutine[Any, Any, Report]],
]:
    """Gives a coroutine the parameters of a method, which it passes on."""

    def with_its_parameters(
        coroutine: Callable[..., Coroutine[Any, Any, Report]],
    ) -> Callable[Concatenate[Hub, P], Coroutine[Any, Any, Report]]:
        return wraps(evaluate, assigned=("__annotations__",))(coroutine)

    return with_its_parameters


class Hub:
    """Metrics that score the same samples together.

    `metrics` is a name, a spec ("bleu2 = bleu(max_order=2)"), a metric, a function whose parameters
    are columns (see `load_metric`), or a list of these.
    `reduce` says how a sample's candidates become one score: best (the default; the card says which
    direction is better), worst, mean, max, min, first, or a function from scores to weights.

    Scores that may mislead warn, as `DoubtfulScore`; a hub that is called says each doubt once,
    and how many samples have no score.

    >>> scorer = Hub(metrics=["exact_match", "bleu2 = bleu(max_order=2)"])
    >>> scorer(predictions=["the cat"], references=[["the cat", "a cat"]])["exact_match"]
    {'score': 1.0}

    Raises:
        UnknownMetric, SpecError, ParameterError: a metric can't be created.
        JudgeUnavailable: a metric needs a judge or an embedder and none is set, or the judge can't
            answer the metric's questions.
    """

    __slots__ = (
        "_calls",
        "_plan",
        "_seen",
        "_signed",
        "_warned",
        "block_characters",
        "metrics",
        "reduce",
    )

    metrics: tuple[Metric, ...]
    reduce: Reduction | None
    block_characters: int
    _plan: tuple[tuple[Metric, ...], DirectScores | None] | None
    _signed: tuple[tuple[Metric, ...], Reduction | None, dict[str, Signature]]

    def __init__(
        self,
        metrics: MetricLike | Iterable[MetricLike] = (),
        *more: Never,
        judge: str | Judge | Sequence[str | Judge] | None = None,
        vote: VoteRule | None = None,
        embedder: str | Embedder | None = None,
        language: str | None = None,
        extract: str | None = None,
        extract_references: str | None = None,
        reduce: Reduction | None = None,
        block_characters: int = BLOCK_CHARACTERS,
    ) -> None:
        """Load the metrics; nothing is measured yet.

        Metrics without their own judge or embedder ask these, or those in METRICHUB_JUDGE and
        METRICHUB_EMBEDDER. Several judges decide by `vote`, the majority unless it is "mean".
        `language` is that of the prompts of judge metrics that name none, such as "zh". `extract`
        says how the answer is read from each prediction before it is scored, such as "boxed" or
        "gsm8k-flexible"; a metric with its own `extract` keeps it. `extract_references` says the
        same for references, such as worked solutions ("boxed") or the place of the right choice
        ("index"); a reference from which nothing is read is an error.
        """
        if more:
            raise InputError(
                "pass several metrics as one list, Hub(['bleu', 'rouge']), and the rest by name"
            )
        settings = {"judge": judge, "vote": vote, "embedder": embedder, "language": language}
        loaded = [
            with_extraction(metric, extract, extract_references)
            for metric in (() if metrics == () else load_metrics(metrics))
        ]
        asking = (hasattr(metric, kind) for metric in loaded for kind in ("judge", "embedder"))
        if vote is not None or language is not None or any(asking):
            # Loads asyncio, which most metrics do without.
            from metrichub.judge.assign import assigned

            loaded = assigned(loaded, settings)
        self.metrics = tuple(loaded)
        self.reduce, self.block_characters = reduce, block_characters
        for metric in self.metrics:
            reduction_name(metric, reduce)
        self._signed = self.metrics, reduce, {}
        self._warned, self._calls, self._seen = set[str](), 0, 0
        self._plan = None

    def __eq__(self, other: object) -> bool:
        """Whether both have equal metrics and settings."""
        return isinstance(other, Hub) and self._settings() == other._settings()

    def __hash__(self) -> int:
        """Equal hubs have one hash."""
        return hash(self._settings())

    def _settings(self) -> tuple[object, ...]:
        return self.metrics, self.reduce, self.block_characters

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse to change what a hub was made with."""
        if name in ("metrics", "reduce", "block_characters") and hasattr(self, name):
            raise AttributeError(f"a hub's {name} can't be set; make another hub")
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        """The metrics with all their parameters."""
        return f"Hub(metrics={list(self.metrics)!r}, reduce={self.reduce!r})"

    def _repr_html_(self) -> str:
        """The inputs and outputs of each metric as a table for notebooks."""
        from metrichub.report.scoreboard import hub_table

        return hub_table(self.metrics).html()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Say what to do in place of the methods that hubs of other libraries have."""
            if name in OTHER_METHODS:
                raise AttributeError(f"a hub has no {name}; {OTHER_METHODS[name]}")
            raise AttributeError(f"'Hub' object has no attribute {name!r}")

    @_merged
    def __call__(
        self,
        data: Data | None = None,
        /,
        *more: Never,
        columns: Mapping[str, str] | None = None,
        reduce: Reduction | None = None,
        **by_name: Any,
    ) -> Nested:
        """The nested dict of scores: metric -> output -> score. Takes what `evaluate` takes.

        Each reason why scores may mislead is a `DoubtfulScore` warning, once a hub, which looks
        for them in its first hundred samples and in one of a hundred calls after these. So is the
        number of samples without a score, which the counts of a report have.
        """
        self._calls += 1
        looks = self._seen < _LOOKED_AT or not self._calls % _LOOKED_AT
        plain = data is None and columns is None and reduce is None and not more
        if plain and not looks and (direct := self._direct()) and by_name.keys() == direct.columns:
            scores = direct.scores(by_name)
            if scores is not None:
                return scores
        with without_warnings(notes=looks and DOUBTS.get() != "unseen"):
            report = self.evaluate(data, *more, columns=columns, reduce=reduce, **by_name)
        if looks:
            self._seen += report.size
            warn_of({"": report}, self._warned)
        return report.scores()

    def _direct(self) -> DirectScores | None:
        """Scores few texts without a report, if the metrics allow that."""
        plan = self._plan
        if plan is None or plan[0] is not self.metrics:
            from metrichub.evaluation.direct import DirectScores

            plan = self._plan = self.metrics, DirectScores.of(self.metrics)
        return plan[1]

    @_merged
    def evaluate(  # noqa: PLR0913  # the options of one call, each by its name
        self,
        data: Data | None = None,
        /,
        *more: Never,
        options: RunOptions | None = None,  # `_merged` reads it
        columns: Mapping[str, str] | None = None,
        reduce: Reduction | None = None,
        samples: bool = True,
        texts: bool | None = None,
        workers: int = 1,
        progress: Progress | None = None,
        max_errors: int | None = None,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        repeats: int = 1,
        keep: str | Iterable[str] | None = None,
        key: str | Sequence[str] | None = None,
        tries: str | None = None,
        batch: str | PathLike[str] | None = None,
        **by_name: Any,
    ) -> Report:
        """The report of all metrics on the given samples.

        Pass columns by name, `predictions=[...], references=[...]`, with one entry per sample: a
        text, or a list of texts. Or pass a table as `data`: a mapping of columns, a list of dicts,
        a `datasets.Dataset`, a data frame or an Arrow table; or the path of any file that
        `metrichub.read` reads. Data that comes in parts is measured in one pass: an iterator of
        tables, an `IterableDataset`, a polars `LazyFrame`, a DuckDB relation, an Arrow data set,
        any Arrow C stream. `columns` maps a column to its name in the table, or to a path inside a
        column ("doc.answers.0"). Without it, columns are recognized by the names that other tools
        use. If a table has no sources, they are read from contexts, reference_contexts or input,
        whichever comes first, and the report's notes say so.

        With `samples=False`, the report keeps sums instead of samples, so memory doesn't grow with
        their number: the sums over all samples, and over 1,000 buckets, which replace the samples
        in intervals and paired tests. `key` names the columns that identify a sample; their values,
        or else its position, choose its bucket. With a key, parts measured anywhere, in any order,
        merge to one report, up to the last digit of sums. Samples of the same key count as one.

        Columns that no metric reads stay in `report.metadata` if they hold numbers, texts of at
        most 200 characters, or short lists of these: ids, systems, ratings. `keep` names the
        columns to keep instead, of any length, or beside them with "*"; keep=[] keeps none.

        A table may have a row for each try of a task. `tries` names the column that says which rows
        are of one task: each is one sample then, with a list of what the system made. For metrics
        of tries alone, such as `pass_at_k`, it is `task_id`, if there is such a column.

        `texts` says whether the report keeps the samples' texts; by default it does, unless the
        data comes in parts. `workers` is the number of processes; results are the same, but each
        process counts errors and calls for itself, and limits per minute are divided among them.
        `progress` is called with the number of samples times metrics done so far.

        If a call to a judge fails, that sample is an error in the report; more than `max_errors` of
        them end the run. The run also ends before a request that would exceed `max_calls`
        (retries count), `max_tokens` (prompts and replies) or `max_cost` (at the judge's prices).
        Stored answers remain, and the next run continues from them. With `repeats`, judges run
        several times; the scores are means, and `report.repeated()` returns the standard deviation
        between runs.

        With `batch`, the name of a folder, requests to models are written to files in rounds, and
        no server is called. The call raises `Pending` with the files to send, in the format of
        OpenAI's Batch API and `vllm run-batch`. Repeat it once the answers are in the folder, until
        it returns the report.

        Options that several calls share can be passed on together:
        `run = RunOptions(workers=4, max_cost=2)`, then `hub.evaluate(data, options=run)`.

        What may mislead is a note of the report, and a `DoubtfulScore` warning.

        Raises:
            InputError: the samples can't be scored; the message says where and what to do.
            JudgeUnavailable: a judge can't be called: no key, a wrong one, no such model, or 20
                failures of its server in a row.
            TooManyErrors: more samples failed than the run allows.
            BudgetSpent: the next call would exceed the run's budget.
            Pending: answers have to come from a batch first.
        """
        if tries is not None or self.reads_tries():
            data, by_name = self.by_task(by_name if data is None else data, tries, columns), {}
        reduction = self.reduce if reduce is None else reduce
        budget = Budget(Limits(max_errors, max_calls, max_tokens, max_cost))
        metrics = self.metrics
        judged = self._judged(repeats) if repeats != 1 else ()
        key = names_of("key", key)
        flags = {"samples": samples, "texts": texts}
        check_run(more, progress, key, flags, repeats if judged else 1)
        rounds = rounds_of(batch, workers)
        if self._signed[0] is not metrics or self._signed[1] is not reduction:
            self._signed = metrics, reduction, {}
        measure = Measure(
            *(metrics, reduction, self.block_characters, budget),
            batch=rounds,
            signatures=self._signed[2],
        )
        texts = data is None or not is_stream(data) if texts is None else texts
        run = partial(
            measured, samples=samples, key=key, texts=texts, workers=workers, progress=progress
        )
        unreduced = metrics if reduction is None else ()
        batches: Iterable[Batch] = self._batches(data, columns, by_name, keep, key, unreduced)
        if not judged:
            report = Report.of(run(measure, batches))
        else:
            from metrichub.evaluation.repeats import measured_again

            run = partial(run, samples=True)
            report = Report.of(measured_again(run, measure, list(batches), judged, repeats))
            report = report if samples else report.pool()
        finish_rounds(rounds, batch, report)
        warn_of({"": report})
        return report

    @_awaited(evaluate)
    async def aevaluate(self, *data: Any, **options: Any) -> Report:
        """The report, for code that runs in an event loop. Takes the arguments of `evaluate`.

        If it is cancelled, no further calls are sent; stored answers remain.
        """
        from metrichub.models.loop import threaded

        with without_warnings(notes=DOUBTS.get() != "unseen"):
            report = await threaded(partial(self.evaluate, *data, **options))
        warn_of({"": report})
        return report

    def evaluate_all(
        self,
        data: Mapping[str, Data] | Data,
        /,
        *,
        systems: str | None = None,
        common: bool = False,
        max_words: int | None = None,
        as_recorded: bool = False,
        where: Where | None = None,
        options: RunOptions | None = None,
        **keywords: Unpack[RunOptions],
    ) -> dict[str, Report]:
        """The reports of several systems, files, or splits of a data set, by name.

        Takes the options of `evaluate`. To test the differences, pass the result to `compare_all`:
        `compare_all(hub.evaluate_all({"ours": "ours.jsonl", "theirs": "theirs.jsonl"}))`.

        One table may hold all systems, a row for each sample of each: `systems` is then the column
        of their names, as in `hub.evaluate_all(frame, systems="model", key="doc_id")`, or the
        columns of their predictions, "ours+theirs". Rows are matched by the `key`, or else by `id`,
        or else by the question, the source and the references. With `common`, those samples are
        scored that all systems have, and the reports' notes say how many are left out. So do they
        with `max_words`, which leaves a sample out of all systems if a text of any has more words.

        A path may be a folder with another tool's logs, or a log of several systems: the samples of
        the tasks that all systems have are scored. With `as_recorded`, the numbers that the tool
        recorded for each sample are metrics beside those of the hub, which may have none:
        `Hub().evaluate_all("results/", as_recorded=True)`. `where` chooses samples of logs, as that
        of `metrichub.read`, and logs by `task` and `model`.

        Raises:
            InputError: as `evaluate`; the message names the system, or its file and line. Systems
                have different samples, and `common` isn't set, or nothing identifies them.
        """
        for name, flag in (("common", common), ("as_recorded", as_recorded)):
            if not isinstance(flag, bool):
                raise ParameterError(None, name, flag, "True or False")
        hub, data = self._with_logs(data, systems, common, as_recorded, where)
        if hub is not self:
            return hub.evaluate_all(
                data, common=common, max_words=max_words, options=options, **keywords
            )
        shared: dict[str, Any] = {**(options or {}), **keywords}
        by_name = self._systems(data, systems, common, shared)
        if max_words is not None:
            by_name = self._short(by_name, max_words, shared.get("columns"))
        reports: dict[str, Report] = {}
        batch = shared.get("batch")
        if rounds := rounds_of(batch, shared.get("workers", 1)):
            shared["batch"] = rounds
        for name, samples in by_name.items():
            reading = samples if isinstance(samples, Reading) else None
            try:
                with without_warnings(notes=DOUBTS.get() != "unseen"):
                    reports[str(name)] = self.evaluate(samples, **shared)
            except InputError as error:
                if reading:
                    raise reading.located(error) from error
                error.args = (f"{name}: {error.args[0]}",)
                raise
            except ScoringError as error:
                from metrichub.data.location import Location

                place = (reading and reading.place(error.sample)) or Location.of(str(name)).shown
                located = ScoringError(f"{place}: {error.metric}", error.problem, error.sample)
                raise located from error.__cause__
        finish_rounds(rounds, batch, reports)
        warn_of(reports)
        return reports

    def _with_logs(
        self,
        data: Any,
        systems: str | None,
        common: bool,
        as_recorded: bool,
        where: Where | None,
    ) -> tuple[Hub, Any]:
        """The systems in logs if data are their paths, and a hub with the numbers in them."""
        if systems is not None:
            if as_recorded or where:
                raise InputError("logs name their systems; leave out systems, as_recorded or where")
            return self, data
        paths = _paths_of(data, as_recorded, where)
        if paths is None:
            return self, data
        from metrichub.data.logs import systems_of_logs
        from metrichub.data.tidy import in_order

        rescored = bool(self.metrics)
        logged, recorded = systems_of_logs(
            paths, as_recorded=as_recorded, rescored=rescored, where=where
        )
        read = {n: samples for n, samples in logged.items() if isinstance(samples, Samples)}
        in_one_order = len(read) == len(logged) and not common
        hub = self
        if recorded:
            hub = copy(self)
            metrics = (*recorded_metrics(recorded), *self.metrics)
            object.__setattr__(hub, "metrics", load_metrics(metrics))
        return hub, in_order(read) if in_one_order else logged

    def _systems(
        self, data: Any, systems: str | None, common: bool, options: dict[str, Any]
    ) -> Mapping[str, Any]:
        """The data of every system by its name, matched if options say how, which are used up."""
        key = names_of("key", options.get("key"))
        sums = not options.get("samples", True)
        if systems is not None or common or (key and not sums):
            from metrichub.data.tidy import matched, systems_in

            if not isinstance(systems, (str, type(None))):
                raise InputError(f"systems must be the name of a column, not {what(systems)}")
            columns, tries = options.get("columns"), options.pop("tries", None)
            options["key"] = key if sums else None
            apart = systems_in(data, systems)
            if tries is not None or self.reads_tries():
                apart = {n: self.by_task(rows, tries, columns) for n, rows in apart.items()}
            return matched(apart, key, common, (columns or {}).values())
        if not isinstance(data, Mapping):
            raise InputError(
                f'systems have names: pass {{"ours": "ours.jsonl", "theirs": table}}, not '
                f"{what(data)}; of one table with all, name the column: systems='model'"
            )
        return data

    def _short(
        self, systems: Mapping[str, Any], max_words: int, columns: Mapping[str, str] | None
    ) -> Mapping[str, Samples]:
        """The systems without the samples that have a longer text in any of them."""
        from metrichub.data.tidy import in_order, systems_in, without_long_texts

        if not isinstance(max_words, int) or max_words < 1:
            raise ParameterError(None, "max_words", max_words, "an integer of at least 1")
        whole = in_order(systems_in(systems, None))
        return without_long_texts(whole, max_words, self.needs(), columns)

    def estimate(
        self,
        data: Data | None = None,
        /,
        *,
        columns: Mapping[str, str] | None = None,
        repeats: int = 1,
        **by_name: Any,
    ) -> Usage:
        """The calls and tokens that `evaluate` would use, without any call; retries come on top.

        Calls whose answers are in the call store count as `cached`. The number of claims that a
        model will extract is unknown, so one per sentence is assumed; a token is taken to be four
        bytes. Take tokens and cost as an order of magnitude. No key is needed. For costs, set the
        judge's prices per million tokens: judge="openai(model='…', prices=[0.25, 2])".

        Raises:
            InputError: as `evaluate`.
        """
        judged = self._judged(repeats)
        batches = list(self._batches(data, columns, by_name))
        usage = Usage()
        for number in range(repeats if judged else 0):
            measure = Measure(
                judged, self.reduce, self.block_characters, estimating=True, repeat=number
            )
            usage += measured(measure, batches).usage
        return usage

    def needs(self) -> dict[str, str]:
        """The columns that the metrics read, each with the first metric that needs it."""
        needed: dict[str, str] = {}
        for metric in self.metrics:
            reads = metric.extraction or metric.reference_extraction
            for name in needed_by(metric) if reads else metric.inputs():
                needed.setdefault(column_of(name), metric.name)
        return needed

    def system_columns(self) -> set[str]:
        """The columns in which systems may differ on the same samples: predictions and others."""
        return system_columns(self.metrics)

    def reads_tries(self) -> bool:
        """Whether a metric is about several tries of a task."""
        return any(getattr(metric, "reads_tries", False) for metric in self.metrics)

    def by_task(
        self, data: Data, tries: str | None = None, columns: Mapping[str, str] | None = None
    ) -> Samples:
        """The samples of data with a row for each try, a row for each task; see `evaluate`.

        Raises:
            InputError: tries of a task differ in what isn't the system's, such as the reference.
        """
        from metrichub.data.tidy import by_task

        samples = by_task(data, tries, self.needs(), self.system_columns(), columns)
        single = [m.name for m in self.metrics if not getattr(m, "reads_tries", False)]
        if tries is None and single and "tries of" in " ".join(samples.remarks):
            of_tries = listed(m.name for m in self.metrics if m.name not in single)
            raise InputError(
                f"{of_tries} and {listed(single)} read rows with the same task_id in different "
                "ways, as tries and one by one; score them separately"
            )
        return samples

    def cite(self) -> str:
        """The BibTeX of all metrics in the hub, each entry once."""
        return "\n\n".join(dict.fromkeys(m.card.bibtex for m in self.metrics if m.card.bibtex))

    def _judged(self, repeats: int) -> tuple[Metric, ...]:
        """The metrics that ask a judge or an embedder, which repeats ask again."""
        if not isinstance(repeats, int) or repeats < 1:
            raise ParameterError(None, "repeats", repeats, "an integer of at least 1")
        return tuple(filter(is_async, self.metrics))

    def objects(self) -> dict[str, TextOf]:
        """How objects in a column become text, if all metrics that read the column agree."""
        return objects_of(self.metrics)

    def _batches(
        self,
        data: Data | None,
        columns: Mapping[str, str] | None,
        by_name: Mapping[str, Iterable[Any]],
        keep: Iterable[str] | None = None,
        key: Sequence[str] = (),
        unreduced: Sequence[Metric] = (),
    ) -> Iterator[Batch]:
        if not self.metrics:
            raise SpecError("the hub has no metric; name one, for example Hub('bleu')")
        needed = self.needs()
        options = RunOptions.__annotations__
        check_options(by_name, needed, options, self.metrics, with_table=data is not None)
        return batches_of(data, by_name, needed, columns, self.objects(), keep, key, unreduced)


def _paths_of(data: object, as_recorded: bool, where: Where | None) -> dict[str, str] | None:
    """The paths at which logs may be, by the names of systems; None for other data."""
    from metrichub.data.logs import may_be_logs

    named = data if isinstance(data, Mapping) else {str(data): data}
    paths = {str(n): str(p) for n, p in named.items() if isinstance(p, (str, PathLike))}
    chosen = as_recorded or bool(where)
    if len(paths) == len(named) and all(paths.values()) and (chosen or may_be_logs(paths.values())):
        return paths
    if chosen:
        option = "as_recorded" if as_recorded else "where"
        raise InputError(f"{option} needs the path of a tool's logs, not {what(data)}")
    return None


def criteria_hub(inputs: tuple[str, ...], **settings: Any) -> Hub:
    """A hub whose metric, `criteria`, explains by which criteria its judge would judge answers."""
    from metrichub.judge.metric_bases import ProposedCriteria

    return Hub(ProposedCriteria(sees=inputs), **settings)
