"""Facts: what a report tells of its samples beside scores; one table says how each is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from metrichub.data.answer_columns import PREFIX, nothing_read
from metrichub.data.metadata import Metadata, joined_index, joined_metadata, repeating
from metrichub.evaluation.lengths import Lengths, joined_lengths, summed_lengths
from metrichub.evaluation.script_coverage import ByTokenizer
from metrichub.models.usage import Usage

V = TypeVar("V")
Values = Mapping[str, Any]
"""The facts of some samples by name."""
Parts = Sequence[tuple[int, Any]]
"""One fact of several parts, each given with its number of samples."""
Index = NDArray[np.int64]
Names = Mapping[str, tuple[str, ...]]
Counts = Mapping[str, int]
Fingerprints = Sequence[tuple[int, Mapping[str, str]]]


def _same(value: Any, *_: object) -> Any:
    return value


def _rows(values: Any, index: Index, _: Values) -> Any:
    return None if values is None else values[index]


@dataclass(eq=False)
class Rule(Generic[V]):
    """One fact, as an attribute of what has a mapping `facts`, which keeps it under its name.

    Attributes:
        empty: The value where nothing is known.
        saved: Whether a file has it.
        join: The value of several parts together; without, numbers are added, names united, and
            mappings joined key by key.
        take: The value of the samples at some places, which may need other facts. Without, it
            belongs to all samples together, and some of them have none.
        pool: What is left of it where the samples aren't kept; without, nothing.
        rare: Whether a file has it only where it isn't empty.
        saved_as: Its name in a file, by default its own.
    """

    empty: V
    saved: bool = True
    join: Callable[[Parts], V] | None = None
    take: Callable[[V, Index, Values], V] | None = None
    pool: Callable[[V], V] | None = _same
    rare: bool = False
    saved_as: str = ""
    name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.saved_as = self.saved_as or name

    @property
    def kind(self) -> Any:
        """The type of the values: that in the brackets of `Rule[...]`."""
        (kind,) = get_args(vars(self)["__orig_class__"])
        return kind

    def __get__(self, measurement: object, owner: type) -> V:
        value: V = getattr(measurement, "facts", {}).get(self.name, self.empty)
        return value


def _widest(parts: Parts) -> dict[str, tuple[int, int]]:
    widest: dict[str, tuple[int, int]] = {}
    for _, ranges in parts:
        for column, (low, high) in ranges.items():
            smallest, largest = widest.get(column, (low, high))
            widest[column] = (min(low, smallest), max(high, largest))
    return widest


def _taken_fingerprint(fingerprints: Fingerprints, index: Index, _: Values) -> Fingerprints:
    """One fingerprint, with a hash of every column that was hashed, equal for the same samples."""
    sizes = [size for size, _ in fingerprints]
    digests = {}
    for name in sorted(set.intersection(*({*columns} for _, columns in fingerprints))):
        described = "|".join(map(str, [*sizes, *(columns[name] for _, columns in fingerprints)]))
        taken = described.encode() + index.astype("<i8").tobytes()
        digests[name] = hashlib.blake2b(taken, digest_size=8).hexdigest()
    return [(len(index), digests)]


def _columns(columns: Metadata, index: Index, _: Values) -> Metadata:
    return {name: [values[i] for i in index.tolist()] for name, values in columns.items()}


def _unextracted(counts: Counts, index: Index, facts: Values) -> Counts:
    columns = facts.get("metadata", {})
    answers = {name: columns[PREFIX + name] for name in counts if PREFIX + name in columns}
    return {
        name: sum(nothing_read(values[i]) for i in index.tolist())
        for name, values in answers.items()
    }


class DoubtfulRows(NamedTuple):
    """In how many of the rows that were read a check found something, and the first of them."""

    rows: int
    of: int
    first: int
    text: str


Heaviest = tuple[float, float, int]
"""The errors of the sample with the most of them, those of all samples, and its number."""
Findings = Mapping[str, Mapping[str, DoubtfulRows]]
"""The findings of checks, by metric and check."""


def _joined_findings(parts: Parts) -> Findings:
    """The findings of all parts; in a part that has none of a check, no sample was doubtful."""
    joined: dict[tuple[str, str], DoubtfulRows] = {}
    start = 0
    for size, findings in parts:
        new = {(name, check): f for name, checks in findings.items() for check, f in checks.items()}
        for key in {**joined, **new}:
            finding = new.get(key, DoubtfulRows(0, size, 0, ""))
            before = joined.get(key, DoubtfulRows(0, start, start + finding.first, finding.text))
            joined[key] = before._replace(
                rows=before.rows + finding.rows, of=before.of + finding.of
            )
        start += size
    nested: dict[str, dict[str, DoubtfulRows]] = {}
    for (name, check), finding in joined.items():
        nested.setdefault(name, {})[check] = finding
    return nested


def _heaviest(parts: Parts) -> Mapping[str, Heaviest]:
    """The heaviest sample of all parts, of each metric, and the errors of all."""
    joined: dict[str, Heaviest] = {}
    start = 0
    for size, heaviest in parts:
        for metric, (errors, of, sample) in heaviest.items():
            before, every, first = joined.get(metric, (-1.0, 0.0, 0))
            most = max((before, -first), (errors, -sample - start))
            joined[metric] = (most[0], every + of, -most[1])
        start += size
    return joined


class Facts:
    """The facts of a measurement, in the order of its file.

    Attributes:
        fingerprints: The number of samples of every batch that went in, with a hash of each column
            but the predictions.
        items_per_sample: The smallest and largest number of items of a sample in each column.
        usage: The calls of models, and what they took.
        script_coverage: How many letters each metric's tokenizer doesn't split, or drops.
        mixed_forms: The characters that a metric saw in several Unicode forms.
        read_from: The names that a column was read from where the data had none for it.
        blanks: How many cells of a column look like missing values.
        metadata: The short columns that no metric reads, one value each, such as ids and systems.
        questions: A column that tells questions with several answers apart.
        lengths: Those of the predictions, where an output depends on them.
        unextracted: By the extraction, the samples from whose predictions no answer was read.
        doubts: The findings of checks in the columns that each metric reads.
        heaviest: The sample with the most errors of each error rate.
        index: That of the pandas frame that was scored.
        remarks: How the data was read.
    """

    fingerprints = Rule[Fingerprints]([], saved_as="segments", take=_taken_fingerprint)
    items_per_sample = Rule[Mapping[str, tuple[int, int]]](
        {}, saved_as="candidates", join=_widest, take=_same
    )
    usage = Rule[Usage](Usage())
    script_coverage = Rule[Mapping[str, ByTokenizer]]({}, saved_as="letters")
    mixed_forms = Rule[Names]({})
    read_from = Rule[Names]({}, take=_same)
    blanks = Rule[Mapping[str, Counts]]({}, rare=True)
    metadata = Rule[Metadata]({}, join=joined_metadata, take=_columns, pool=None)
    questions = Rule[Metadata]({}, join=repeating, take=_columns, pool=None, rare=True)
    lengths = Rule[Lengths | None](None, join=joined_lengths, take=_rows, pool=summed_lengths)
    unextracted = Rule[Counts]({}, take=_unextracted, rare=True)
    doubts = Rule[Findings]({}, join=_joined_findings, rare=True)
    heaviest = Rule[Mapping[str, Heaviest]]({}, join=_heaviest, rare=True)
    index = Rule[Any](None, saved=False, join=joined_index, take=_rows, pool=None)
    remarks = Rule[tuple[str, ...]]((), take=_same, rare=True)


FACTS: Sequence[Rule[Any]] = [fact for fact in vars(Facts).values() if isinstance(fact, Rule)]
"""The rules of all facts, in the order of a file."""
