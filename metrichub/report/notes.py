"""Notes: what a reader of scores should know, such as why samples have none."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import currentframe
from itertools import chain, zip_longest
from math import isnan
from typing import NamedTuple

from metrichub.data.columns import column_of, holds_passages
from metrichub.data.samples import IN_QUOTES
from metrichub.errors import DOUBTS, Doubt, DoubtfulScore, listed, printable
from metrichub.evaluation import script_coverage, significance
from metrichub.evaluation.doubts import worded_doubts
from metrichub.evaluation.explanation import Trace, agreement_notes
from metrichub.evaluation.lengths import LENGTHS_UNKNOWN
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.repeats import repeated_scores, variance_in_words
from metrichub.evaluation.result import NO_REASON, NO_SAMPLES, NOTHING_COUNTED, Result
from metrichub.evaluation.signature import PROMPTS_UNKNOWN
from metrichub.metric import Metric
from metrichub.models.usage import REPAIRED, Usage


class SharedNote(NamedTuple):
    """A note of one or several metrics on some systems, or on all where `systems` is empty."""

    metric: str
    text: str
    systems: Sequence[str]


def shared_notes(
    systems: Mapping[str, Measurement], doubts_alone: bool = False
) -> list[SharedNote]:
    """The notes of every metric, doubts first, then as systems have them; each text once."""
    owners: dict[tuple[str, str], list[str]] = {}
    for name, measurement in systems.items():
        by_metric = {} if doubts_alone else notes_of(measurement)
        for metric in measurement.results:
            texts = doubts_of(measurement, metric) if doubts_alone else by_metric.get(metric, ())
            for text in texts:
                owners.setdefault((metric, text), []).append(name)
    metrics: dict[tuple[str, Sequence[str]], list[str]] = {}
    for (metric, text), names in owners.items():
        shown = () if len(names) == len(systems) else tuple(names)
        metrics.setdefault((text, shown), []).append(metric)
    notes = [SharedNote(", ".join(m), text, [*names] or ()) for (text, names), m in metrics.items()]
    return sorted(notes, key=lambda note: not isinstance(note.text, Doubt))


def note_lines(systems: Mapping[str, Measurement], kinds: str = "doubts facts") -> list[str]:
    """The same in a line each: of which systems, if not of all, of which metrics, and what."""
    return [
        ": ".join([*filter(None, [", ".join(names)]), metrics, text])
        for metrics, text, names in shared_notes(systems)
        if ("doubts" if isinstance(text, Doubt) else "facts") in kinds
    ]


def notes_of(measurement: Measurement) -> dict[str, Sequence[str]]:
    """The notes of every metric that has any, doubts first; see `Report.notes`."""
    by_metric: dict[str, Sequence[str]] = {}
    for name, result in measurement.results.items():
        trace = measurement.traces.get(name, Trace())
        why = _without_score(measurement.size, result, trace)
        why += [f"{n} failed: {cause}" for cause, n in trace.errors_by_cause.most_common()]
        why += [f"{n} pending: {cause}" for cause, n in trace.pending_by_cause.most_common()]
        cuts = (trace.cuts or {}).items()
        why += [f"{n} {what if what == REPAIRED else f'cut: {what}'}" for what, n in cuts]
        why += [
            f"{asked} was answered by {Usage(models={asked: names}).answered_by}"
            for asked, names in measurement.usage.models.items()
            # The label of a model of one's own reads its files.
            if len(names) > 1 and f"model={asked!r}" in result.metric.label().replace("\\", "")
        ]
        why += _of_runs(measurement.runs.get(name, ()))
        why += agreement_notes(trace.votes) if trace.votes else []
        if trace.steps:
            why += result.metric.step_notes(list(chain.from_iterable(trace.steps.values())))
        why += measurement.remarks
        why += _of_columns(measurement, result)
        why += _of_questions(measurement, result)
        if measurement.buckets is not None:
            why += (
                [f"no intervals or tests: {significance.NOT_KEPT}"]
                if not result.has_units
                else measurement.buckets.notes()
            )
        extraction = result.metric.extraction
        if extraction and (lost := measurement.unextracted.get(extraction)):
            why.append(
                f"nothing was extracted from {lost} of {measurement.size} predictions "
                f"({extraction}), which count as the worst score"
            )
        if not result.signature.prompts and result.metric.templates():
            why.append(PROMPTS_UNKNOWN)
        if measurement.size and measurement.lengths is None and _bound_to_length(result.metric):
            why.append(LENGTHS_UNKNOWN)
        own = [note for note in result.notes() if not isinstance(note, Doubt)]
        if notes := [*doubts_of(measurement, name), *why, *own]:
            by_metric[name] = notes
    return by_metric


def doubts_of(measurement: Measurement, name: str) -> Iterator[Doubt]:
    """The notes that say why a number of one metric may mislead."""
    metric = measurement.results[name].metric
    if letters := measurement.script_coverage.get(name):
        for text in script_coverage.notes(metric, letters):
            yield Doubt(text, "letters")
    if mixed := measurement.mixed_forms.get(name):
        yield Doubt(
            f"the texts write {', '.join(mixed[:3])} in several Unicode forms, as one "
            "character and as a letter with marks, which don't match; normalize all texts, "
            "for example to NFC",
            "forms",
        )
    read = {*map(column_of, metric.inputs())} if measurement.blanks else ()
    for column, counts in measurement.blanks.items():
        if column in read:
            yield from (Doubt(text, "blanks") for text in _of_blanks(column, counts))
    yield from worded_doubts(measurement, name)
    yield from (n for n in measurement.results[name].notes() if isinstance(n, Doubt))


def warn_of(systems: Mapping[str, Measurement], once: set[str] | None = None) -> None:
    """Warn of each doubt at the line of the user's code, of one in `once` not again.

    With `once`, it warns of samples without a score too: a hub's call returns no counts.
    """
    if DOUBTS.get() != "warned":
        return
    level, frame = 0, currentframe()
    while frame and str(frame.f_globals.get("__name__")).partition(".")[0] == "metrichub":
        level, frame = level + 1, frame.f_back
    notes = shared_notes(systems, doubts_alone=True)
    if once is not None:
        notes += [note for system in systems.values() for note in _of_missing(system)]
    for metrics, text, names in notes:
        key = f"{metrics}: {text.check if isinstance(text, Doubt) else text}"
        if once is None or key not in once:
            line = ": ".join([*filter(None, [", ".join(names)]), metrics, text])
            # Whoever collects warnings may write them as UTF-8.
            warnings.warn(printable(line), DoubtfulScore, stacklevel=level + 1)
            (once if once is not None else set()).add(key)


def _of_missing(measurement: Measurement) -> Iterator[SharedNote]:
    for name, counts in measurement.counts().items():
        if counts:
            why = listed(f"{count} {reason}" for reason, count in counts.items())
            text = f"{why} of {measurement.size}; hub.evaluate(...).notes() says why"
            yield SharedNote(name, Doubt(text, "missing"), ())


def _of_columns(measurement: Measurement, result: Result) -> list[str]:
    """Where a metric's columns were read from, what is in them, and what was reduced."""
    inputs = result.metric.inputs()
    read = {*map(column_of, inputs)}
    found_in = {column: n for column, n in measurement.read_from.items() if column in read}
    why = [_of_fallback(column, n) for column, n in found_in.items() if [*n] != [column]]
    if result.adds_up:  # Other metrics see all items together.
        why += _of_alternatives(measurement.items_per_sample, inputs, result.signature.reduction)
    return why


def _of_questions(measurement: Measurement, result: Result) -> list[str]:
    """How often questions were answered, and what that brings; or that ids don't tell it."""
    clustered, cluster = measurement.clustered("auto")
    if cluster:
        questions = clustered.metadata[cluster]
        number = len({*questions})
        each = f"{clustered.size / number:.3g} answers to each of {number} questions"
        drawn = f"{each}: they are drawn together, unless cluster is 'none'"
        return [drawn, *variance_in_words(result, questions)]
    ids, *within = (measurement.metadata.get(n, ()) for n in ("id", "subset", "task", "system"))
    names = {*map(str, zip_longest(ids, *within))}
    if measurement.questions or None in ids or "" in ids or not 0 < len(names) < len(ids):
        return []
    return ["rows share an id, but not a question; if they belong together, cluster by id"]


def _without_score(size: int, result: Result, trace: Trace) -> list[str]:
    """Why samples have no score, or all together."""
    why = [] if size else [NO_SAMPLES]
    unanswered, explained = result.unanswered.total(), result.reasons.total()
    reasons = {"unanswered" if unanswered else "unscored": result.reasons}
    if 0 < unanswered < explained:
        mine = Counter(result.why(sample) or NO_REASON for sample in result.undefined_for)
        reasons = {"unanswered": mine, "unscored": result.reasons - mine}
        if mine.total() < unanswered:  # Pooled, it doesn't know which reason is of which.
            reasons = {"without a score": result.reasons}
    for status, counts in reasons.items():
        why += [f"{n} {status}: {reason}" for reason, n in counts.most_common()]
    explained += trace.errors_by_cause.total() + trace.pending_by_cause.total()
    if (unexplained := result.unscored - explained) > 0:
        # Of a metric that is being written, as it has no card yet.
        unwritten = unexplained == size and not result.metric.card.path
        hint = "; is a `return` missing in its code?" if unwritten else ""
        why.append(f"{unexplained} unscored: {NO_REASON}{hint}")
    scores = result.scores()
    if result.mostly_unread:
        why.append(f"no score: {significance.MOSTLY_UNREAD}")
    elif result.count and all(isnan(scores[output]) for output in result.metric.headline()):
        why.append(f"no score: {NOTHING_COUNTED}")
    if unanswered:
        are = "is" if unanswered == 1 else "are"
        why.append(
            f"{unanswered} of {size} samples {are} unanswered and left out of the mean; "
            "systems with different unanswered samples can't be ranked by this score"
        )
    return why


def _of_fallback(column: str, names: Iterable[str]) -> str:
    """A note on a column that was read from a fallback."""
    sources = list(names)
    how = (
        ", each sample's passages joined into one text" if any(map(holds_passages, sources)) else ""
    )
    if column == "predictions":
        how = ": the last text of the assistant"
    wrong = "that is wrong" if column == "messages" else "those are other texts"
    return (
        f"{column} were read from {listed(sources)}{how}; if {wrong}, map "
        f"{column} to another column"
    )


def _of_blanks(column: str, counts: Mapping[str, int]) -> Iterator[str]:
    missing = {cell: n for cell, n in counts.items() if cell != IN_QUOTES}
    if missing:
        cells = listed([f"{n} {repr(cell) if cell else 'empty'}" for cell, n in missing.items()])
        single = sum(missing.values()) == 1
        yield (
            f"{column} has {cells} {'cell' if single else 'cells'}, scored as text; if the "
            f"{'value is' if single else 'values are'} missing, delete the "
            f"{'row' if single else 'rows'}"
        )
    if quoted := counts.get(IN_QUOTES):
        yield (
            f"{column} has {quoted} {'cell' if quoted == 1 else 'cells'} in quotes, scored with "
            "them; if they aren't part of the text, read the file with standard quoting"
        )


def _of_alternatives(
    candidates: Mapping[str, tuple[int, int]], inputs: Iterable[str], reduction: str
) -> list[str]:
    """How several items of a sample became one score: "best of 1 to 4 references"."""
    counts = []
    for name in inputs:
        column = column_of(name)
        low, high = candidates.get(column, (1, 1))
        if high > 1 and column != name:  # The metric reads one at a time.
            number = f"{high}" if low == high else f"{low} to {high}"
            counts.append(f"{number} {'candidates' if column == 'predictions' else column}")
    return [f"{reduction} of {listed(counts)}"] if counts else []


def _of_runs(runs: Sequence[Result]) -> list[str]:
    """The scores of repeated runs, with their standard deviation."""
    if not runs:
        return []
    repeated = repeated_scores({"": runs})[""]["score"]
    scores = ", ".join(f"{score:.4f}" for score in repeated.runs)
    return [f"score in {len(runs)} runs: {scores} (standard deviation {repeated.std:.4f})"]


def _bound_to_length(metric: Metric) -> bool:
    scales = (metric.card.scale(output) for output in metric.headline())
    return any(scale and scale.length_bound for scale in scales)
