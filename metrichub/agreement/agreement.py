"""Agreement: the table of coefficients with its intervals, ceiling and chance; tests and ranks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from html import escape
from itertools import combinations
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from importlib_metadata import version

from metrichub.agreement.agreement_inputs import DataFacts, Inputs, Place
from metrichub.agreement.bootstrap import Drawn
from metrichub.agreement.judges import JudgeConsistency
from metrichub.agreement.metric_tests import significance_clusters
from metrichub.agreement.permutation import AgreementTest
from metrichub.agreement.published_protocols import DRAWS_BIBTEX, protocol_of
from metrichub.data.values import json_value
from metrichub.errors import InputError, did_you_mean, printable
from metrichub.evaluation.resample import Record, holm
from metrichub.report.tables import Table

if TYPE_CHECKING:
    from pandas import DataFrame

    from metrichub.agreement.verdicts import VerdictAgreement

CEILING = "human ceiling"
CHANCE = "chance"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AgreementRow(Record):
    """How well one metric agrees with people about one dimension.

    `low` and `high` are the interval, `nan` if there is none; `note` then says why, or has another
    remark. `used` is the number of groups with a value, `undefined` the number without one, and
    `unscored` the number of rated samples that the metric has no score for. `epsilon` is the
    threshold of tie calibration. The metrics "human ceiling" and "chance" are the agreement of one
    rater with the others, and of random scores.
    """

    metric: str
    dimension: str
    level: str
    coefficient: str
    value: float
    low: float = nan
    high: float = nan
    used: int = 0
    undefined: int = 0
    unscored: int = 0
    epsilon: float | None = None
    note: str = ""


@dataclass(frozen=True, repr=False)
class Agreement:
    """How well metrics agree with people: `rows`, with human ceiling and chance last per dimension.

    `notes` apply to all rows; `judges` says how consistent judges are with themselves.
    """

    rows: Sequence[AgreementRow]
    data: DataFacts
    drawn: Drawn
    confidence: float
    protocol: str | None
    notes: Sequence[str]
    signatures: Mapping[str, str] = field(default_factory=dict)
    citations: Sequence[str] = ()
    judges: Sequence[JudgeConsistency] = ()
    _inputs: Inputs | None = None

    def row(
        self,
        metric: str | None = None,
        dimension: str | None = None,
        *,
        level: str | None = None,
        coefficient: str | None = None,
    ) -> AgreementRow:
        """The row of a metric and dimension; an argument may be omitted if all rows agree on it.

        Raises:
            InputError: no row matches, or several do.
        """
        criteria = {
            "metric": metric,
            "dimension": dimension,
            "level": level,
            "coefficient": coefficient,
        }
        rows = [r for r in self.rows if r.metric not in (CEILING, CHANCE) or metric == r.metric]
        for name, value in criteria.items():
            if value is not None:
                _check_name(name, value, (getattr(row, name) for row in rows))
                rows = [row for row in rows if getattr(row, name) == value]
        if len(rows) != 1:
            differing = [name for name in criteria if len({getattr(r, name) for r in rows}) > 1]
            raise InputError(f"{len(rows)} rows match; choose one by {', '.join(differing)}")
        return rows[0]

    @property
    def metrics(self) -> list[str]:
        """The metrics, in the order in which they were passed."""
        names = dict.fromkeys(row.metric for row in self.rows)
        return [name for name in names if name not in (CEILING, CHANCE)]

    def compare(
        self,
        one: str,
        other: str,
        dimension: str | None = None,
        *,
        level: str | None = None,
        coefficient: str | None = None,
        swap: str | None = None,
        draws: int = 1000,
        seed: int | None = None,
    ) -> AgreementTest:
        """The permutation test of two metrics; `AgreementTest.swap` says what was swapped.

        By default, `swap` is "systems_xor_items" if outputs have systems, and "items" without
        systems, with tie calibration, or for preferences. The p-value isn't corrected for other
        tests.

        Raises:
            InputError: no row matches, or several do.
            ParameterError: there is no such swap, or it doesn't fit the coefficient.
        """
        row = self.row(one, dimension, level=level, coefficient=coefficient)
        if self._inputs is None:
            raise InputError("agreement read from a file has no scores to test")
        self.row(other, row.dimension, level=row.level, coefficient=row.coefficient)
        seed = self.drawn.seed if seed is None else seed
        return self._inputs.test((one, other), place_of(row), swap, draws, seed)

    def verdicts(self, metric: str, dimension: str) -> VerdictAgreement:
        """A metric's yes and no compared with people's: error rates, kappa, disagreements.

        Raises:
            InputError: there is no such metric or dimension, the data are preferences, or a rating
                isn't a label.
            ParameterError: `correlate` was called without `cut`, the lowest score that counts as
                yes.
        """
        _check_name("metric", metric, self.metrics)
        _check_name("dimension", dimension, (row.dimension for row in self.rows))
        if self._inputs is None:
            raise InputError("only yes/no labels have verdicts")
        return self._inputs.verdicts(metric, dimension, self.confidence)

    @property
    def cut_into_verdicts(self) -> bool:
        """Whether scores were cut into yes and no, which `verdicts` needs."""
        return self._inputs is not None and self._inputs.cut is not None

    def ranks(
        self,
        dimension: str | None = None,
        *,
        level: str | None = None,
        coefficient: str | None = None,
        alpha: float = 0.05,
        corrected: bool = False,
        swap: str | None = None,
        draws: int = 1000,
    ) -> dict[str, int]:
        """The rank of every metric, by WMT's clusters; 1 is best.

        A metric starts a new rank if it is significantly worse than any metric of the current one.
        With `corrected`, p-values are corrected over all pairs by Holm's method.

        Raises:
            InputError: no row matches, or several do.
        """
        which: dict[str, Any] = {"level": level, "coefficient": coefficient}
        values = {name: self.row(name, dimension, **which).value for name in self.metrics}

        @cache
        def p_of(a: str, b: str) -> float:
            return self.compare(a, b, dimension, **which, swap=swap, draws=draws).p

        if not corrected:
            return significance_clusters(values, p_of, alpha)
        ranked = sorted((m for m in values if not isnan(values[m])), key=lambda m: -values[m])
        p_values = holm({(a, b): p_of(a, b) for a, b in combinations(ranked, 2)})
        return significance_clusters(values, lambda a, b: p_values[a, b], alpha)

    def line(self) -> str:
        """Everything that determines the numbers, in one line for a paper's appendix."""
        values = dict.fromkeys(f"{row.level} {row.coefficient}" for row in self.rows)
        data = self.data
        parts = {
            "protocol": self.protocol,
            "values": ",".join(values),
            "data": f"sha256 {data.sha256[:16]}",
            "samples": data.samples,
            "systems": data.systems,
            "items": data.items,
            "raters": data.raters,
            "intervals": f"{self.confidence:g} of {self.drawn.draws} draws of {self.drawn.draw}"
            if self.drawn.draws
            else None,
            "seed": self.drawn.seed,
            "metrichub": version("metrichub"),
        }
        return "agreement|" + "|".join(f"{k}:{v}" for k, v in parts.items() if v is not None)

    def cite(self) -> str:
        """The line, each metric's signature, and the BibTeX of the protocol and the metrics."""
        bibtex = [protocol_of(self.protocol).bibtex] if self.protocol else []
        if self.drawn.draws:
            bibtex.append(DRAWS_BIBTEX)
        entries = dict.fromkeys(entry for entry in [*bibtex, *self.citations] if entry)
        lines = [self.line(), *dict.fromkeys(self.signatures.values())]
        return "\n\n".join(["\n".join(lines), *entries])

    def table(self) -> Table:
        """A row for each metric, dimension, level and coefficient."""
        head = ["metric", "dimension", "level", "coefficient", "value", "low", "high", "used"]
        more = ["undefined", "unscored", "epsilon", "note"]
        head += [name for name in more if any(getattr(row, name) for row in self.rows)]
        return Table(head, [[getattr(row, name) for name in head] for row in self.rows])

    def judge_table(self) -> tuple[list[str], list[list[str | float | None]]]:
        """The head and the rows of the judges' consistency; no rows without judges."""
        rows = [judge.as_dict() for judge in self.judges]
        head = [
            name
            for name in (rows[0] if rows else ())
            if any(name in ("metric", "runs") or not isnan(row[name]) for row in rows)
        ]
        return head, [[row[name] for name in head] for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; `nan` where there is none."""
        return {
            "line": self.line(),
            "protocol": self.protocol,
            "data": self.data._asdict(),
            "draw": self.drawn.draw,
            "draws": self.drawn.draws,
            "seed": self.drawn.seed,
            "confidence": self.confidence,
            "signatures": dict(self.signatures),
            "results": [asdict(row) for row in self.rows],
            "judges": [judge.as_dict() for judge in self.judges],
            "notes": list(self.notes),
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """The result of `to_dict` as JSON, with null where there is no value."""
        return json.dumps(json_value(self.to_dict()), ensure_ascii=False, indent=indent)

    def to_frame(self) -> DataFrame:
        """A pandas data frame with the columns of `to_csv`.

        Raises:
            MissingDependency: pandas isn't installed.
        """
        return self.table().frame()

    def to_csv(self) -> str:
        """A row for each metric, dimension, level and coefficient, in full precision."""
        return self.table().csv()

    def to_markdown(self) -> str:
        """The same table in Markdown; below are the line and the notes."""
        return self.table()._replace(signatures=[self.line(), *self.notes]).markdown()

    def _repr_html_(self) -> str:
        """The table with the line and the notes below it, for notebooks."""
        below = "".join(f"<p>{escape(printable(text))}</p>" for text in (self.line(), *self.notes))
        return self.table().html() + below

    def __repr__(self) -> str:
        """The table as aligned text, with the line and the notes below."""
        tables = [self.table(), *([Table(*self.judge_table())] if self.judges else [])]
        below = map(printable, (self.line(), *self.notes))
        return "\n".join([*(table.text() for table in tables), *below])


def place_of(row: AgreementRow) -> Place:
    """The dimension, the level and the coefficient of a row."""
    return Place(row.dimension, row.level, row.coefficient)


def _check_name(kind: str, name: str, names: Iterable[str]) -> None:
    """Raise `InputError` if there is no metric, dimension or the like of this name."""
    distinct = list(dict.fromkeys(names))
    if name not in distinct:
        hint = f"{did_you_mean(name, distinct)} (known: {', '.join(distinct)})"
        raise InputError(f"there is no {kind} {name!r}{hint}")
