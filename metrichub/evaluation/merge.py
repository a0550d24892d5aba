"""Merging: one report out of several, and what two must share to be compared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from metrichub.data.columns import SHOW_THE_SAMPLES, UNREAD, retrieved
from metrichub.errors import ReportError, listed, what
from metrichub.evaluation.buckets import BucketSizes
from metrichub.evaluation.explanation import Trace
from metrichub.evaluation.measurement import Measurement, chosen_metrics, joined_facts
from metrichub.evaluation.result import Result
from metrichub.evaluation.signature import Signature
from metrichub.evaluation.significance import withheld
from metrichub.evaluation.stored import StoredSamples
from metrichub.metric import SOURCE_UNKNOWN

M = TypeVar("M", bound=Measurement)


def merged(parts: Sequence[M]) -> M:
    """The measurement of all parts' samples in order; see `Report.merge`."""
    first = parts[0]
    for other in parts[1:]:
        if not isinstance(other, Measurement):
            raise ReportError(f"merge takes reports, report.merge(one, other), not {what(other)}")
        _same_metrics(first, other)
    _check_summed(parts)
    _check_distinct(parts)
    for name in first.results:
        _check_signatures(name, [part.results[name].signature for part in parts])
    return replace(
        first,
        results={n: _merged_results([part.results[n] for part in parts]) for n in first.results},
        size=sum(part.size for part in parts),
        traces=_joined_traces(parts),
        texts=_joined_texts(parts),
        runs={
            name: tuple(
                map(_merged_results, zip(*(part.runs[name] for part in parts), strict=True))
            )
            for name in first.runs
        },
        buckets=BucketSizes.merged([(part.size, part.buckets) for part in parts]),
        facts=joined_facts([(part.size, part.facts) for part in parts]),
    )


def _merged_results(results: Sequence[Result]) -> Result:
    return results[0].merge(results, Signature.joined([result.signature for result in results]))


def _check_summed(parts: Sequence[Measurement]) -> None:
    """Raise `ReportError` if some were summed and others kept samples: no interval is left then."""
    summed = [part.buckets for part in parts if part.buckets]
    unsummed = (part for part in parts if part.size and not part.buckets)
    if summed and any(not result.pooled for part in unsummed for result in part.results.values()):
        raise ReportError(
            f"some reports hold sums by {summed[0].named} and others samples; evaluate all of "
            "them with samples=True, or all with samples=False and the same key"
        )


def _check_distinct(parts: Sequence[Measurement]) -> None:
    """Raise `ReportError` if two parts hold the same sample, as far as ids say.

    A column `id` says it if it names every sample of a part, beside its system and epoch.
    """
    filled = [part for part in parts if part.size]
    if len({id(part) for part in filled}) < len(filled):
        raise ReportError(
            "a report can't be merged with itself, as every sample would count twice; merge "
            "reports of different samples"
        )
    seen: set[tuple[str, ...]] = set()
    for part in filled:
        names = _names_of_samples(part)
        if both := seen & names:
            raise ReportError(
                f"two of the reports have samples with the same 'id', such as {min(both)[0]}, "
                "which would count twice; merge reports of different samples, or give each sample "
                "a separate id"
            )
        seen |= names


def _names_of_samples(part: Measurement) -> set[tuple[str, ...]]:
    """The id of every sample with its system and epoch; none where they aren't names."""
    nothing = [None] * part.size
    ids, *others = (part.metadata.get(name, nothing) for name in ("id", "system", "epoch"))
    named = [
        tuple(map(str, names)) for names in zip(ids, *others, strict=True) if names[0] is not None
    ]
    return {*named} if len({*named}) == len(named) else set()


def comparable(
    report: Measurement, other: Measurement, metrics: str | Iterable[str] | None = None
) -> Collection[str]:
    """The metrics that two reports share, or those of them that are chosen.

    Raises:
        ReportError: other samples, no common metric, or metrics that measured differently.
    """
    if report.size != other.size:
        raise ReportError(
            f"the systems have {report.size} and {other.size} samples; a paired test needs the "
            "same samples in the same order"
        )
    if report.buckets and other.buckets:
        report.buckets.check_same(other.buckets)
    elif summed := report.buckets or other.buckets:
        raise ReportError(
            f"one report holds sums by {summed.named} and the other doesn't; evaluate both with "
            "samples=True, or both with samples=False and the same key"
        )
    keyed = report.buckets is not None and bool(report.buckets.key)
    _check_columns(report, other, _have_same_ids(report, other) or keyed)
    common = [name for name in report.results if name in other.results]
    if not common:
        raise ReportError(
            f"the reports have no metric in common: {', '.join(report.results)} and "
            f"{', '.join(other.results)}"
        )
    chosen = chosen_metrics(metrics, common, "both reports")
    for name in chosen:
        mine, its = (side.results[name].signature for side in (report, other))
        if SOURCE_UNKNOWN in (mine.source, its.source):
            raise ReportError(
                f"the reports may have used different functions for {name}: its source can't be "
                "read, or isn't all that determines its scores, as with a lambda or a closure; "
                "define it with def at the top of a file and score both again, or compare other "
                "metrics only"
            )
        _check_signatures(name, [mine, its])
    return chosen


def _have_same_ids(report: Measurement, other: Measurement) -> bool:
    """Whether ids show the samples to be the same; systems without a common id name outputs by it.

    Raises:
        ReportError: samples that stand side by side have ids of others.
    """
    mine, its = ([str(v) for v in side.metadata.get("id") or ()] for side in (report, other))
    if not mine or not its or mine == its or not set(mine) & set(its):
        # One id for all tells no sample from another.
        return mine == its and len({*mine}) >= max(1, min(len(mine), 2))
    at = next(i for i, pair in enumerate(zip(mine, its, strict=True)) if pair[0] != pair[1])
    advice = (
        "sort both by id" if sorted(mine) == sorted(its) else "a paired test needs the same samples"
    )
    raise ReportError(
        f"the 'id' of sample {at} is {mine[at]} in one system and {its[at]} in the other; {advice}"
    )


def check_clusters(cluster: str, first: Measurement, others: Sequence[Measurement]) -> None:
    """Raise `ReportError` unless the samples of all systems belong to the same clusters."""
    for other in others:
        mine, its = (side.metadata.get(cluster) for side in (first, other))
        if mine is not None and its is not None and list(mine) != list(its):
            raise ReportError(
                f"the systems differ in {cluster!r}, but clusters have to be the same in all"
            )


def unranked(systems: Mapping[str, Measurement]) -> dict[str, str]:
    """Why none of several systems can be called the best by a metric: metric -> reason.

    They were measured on other samples, or left different predictions unanswered.
    """
    first, *others = systems.values()
    try:
        for other in others:
            comparable(first, other)
        for name in first.results:
            owners = [s.results[name] for s in systems.values() if name in s.results]
            _check_signatures(name, [result.signature for result in owners])
    except ReportError as error:
        metrics = [name for system in systems.values() for name in system.results]
        return dict.fromkeys(metrics, str(error))
    reasons: dict[str, str] = {}
    for metric in first.results:
        results = {n: s.results[metric] for n, s in systems.items() if metric in s.results}
        if reason := withheld(results):
            reasons[metric] = reason
    return reasons


def _check_columns(report: Measurement, other: Measurement, shown: bool) -> None:
    """Raise `ReportError` if systems were given different columns.

    What was retrieved may differ if it is `shown`, or another column shows, that the samples are
    the same. Nothing is known of batches that were cut in other places.
    """
    mine, theirs = _hashes(report), _hashes(other)
    common = mine.keys() & theirs.keys()
    different = {key[0] for key in common if mine[key] != theirs[key]}
    passages = retrieved(report.read_from) | retrieved(other.read_from)
    if shown or {column for column, *_ in common} - different - passages:
        different -= passages
    if different := {column for column in different if not column.startswith(UNREAD)}:
        advice = f"; {SHOW_THE_SAMPLES}" if different <= passages else ""
        raise ReportError(
            f"the systems have different {' and '.join(sorted(different))}; a paired test "
            f"needs the same samples in the same order{advice}"
        )


def _hashes(report: Measurement) -> dict[tuple[str, int, int], object]:
    """The hashes of columns by name, and where the batch starts and ends; or of all buckets."""
    hashes: dict[tuple[str, int, int], object] = {}
    start = 0
    for size, digests in report.fingerprints:
        for name, digest in digests.items():
            hashes[name, start, start + size] = digest
        start += size
    for name, numbers in report.buckets.prints.items() if report.buckets else ():
        hashes[name, 0, 0] = numbers.tobytes()
    return hashes


def _joined_texts(reports: Sequence[Measurement]) -> StoredSamples | None:
    """The texts of all, if all have them; a report of no samples needs none."""
    parts = [report.texts for report in reports if report.size]
    if None in parts or not parts:
        return None
    return StoredSamples(tuple(batch for part in parts if part for batch in part.batches))


def _joined_traces(reports: Sequence[Measurement]) -> dict[str, Trace]:
    parts: dict[str, list[tuple[int, Trace]]] = {}
    start = 0
    for report in reports:
        for name, trace in report.traces.items():
            parts.setdefault(name, []).append((start, trace))
        start += report.size
    return {name: Trace.joined(traces) for name, traces in parts.items()}


def _same_metrics(report: Measurement, other: Measurement) -> None:
    if list(report.results) != list(other.results):
        raise ReportError(
            f"the reports have different metrics: {', '.join(report.results)} and "
            f"{', '.join(other.results)}"
        )


def _check_signatures(metric: str, signatures: Sequence[Signature]) -> None:
    """Raise `ReportError` unless a metric measured in the same way each time."""
    # Prompts that aren't known agree with any, so all are held to known ones.
    first = next((signature for signature in signatures if signature.prompts), signatures[0])
    for other in signatures:
        if first.agrees(other):
            continue
        if first.agrees(replace(other, prompts="")):
            prompts = listed(map(repr, first.other_prompts(other)))
            raise ReportError(
                f"the reports used different prompts for {metric} ({prompts}): "
                f"prompts:{first.prompts} and prompts:{other.prompts}; score both with the same "
                "prompts"
            )
        if first.source != other.source and "" not in (first.source, other.source):
            raise ReportError(
                f"the reports used different functions for {metric}: source:{first.source} and "
                f"source:{other.source}; score both with the same function"
            )
        mine, its = first.settings(), other.settings()
        names = [name for name in mine | its if mine.get(name) != its.get(name)]
        here, others = (", ".join(s.get(n, f"no {n}") for n in names) for s in (mine, its))
        raise ReportError(
            f"the reports used different settings for {metric}: {here} and {others}; score both "
            "with the same settings"
        )
