"""Best metric: which one agrees best with people, and whether the next can be told from it."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan

from metrichub.agreement.agreement import CEILING, CHANCE, Agreement, AgreementRow, place_of
from metrichub.errors import listed
from metrichub.evaluation.significance import p_text
from metrichub.report.tables import Score

_ALPHA = 0.05


def number(value: float) -> str:
    """Three decimals with a true minus, or a dash for none."""
    return "–" if isnan(value) else f"{value:.3f}".replace("-", "−")


def score_of(row: AgreementRow | None, with_interval: bool = True) -> Score:
    """The value of a row with its interval, for a table."""
    if row is None or isnan(row.value):
        return Score("–")
    shown = with_interval and not isnan(row.low)
    return Score(
        number(row.value), interval=f"[{number(row.low)}, {number(row.high)}]" if shown else ""
    )


def read_first(agreement: Agreement) -> list[AgreementRow]:
    """The rows of the coefficient that is read first, that of ranks or the only one, and level."""
    rows = agreement.rows
    first = next((row for row in rows if row.coefficient == "spearman"), rows[0])
    place = (first.coefficient, first.level)
    return [row for row in rows if (row.coefficient, row.level) == place]


def by_agreement(rows: Mapping[str, AgreementRow]) -> list[str]:
    """The metrics, the highest value first; the human ceiling and chance aren't among them."""
    metrics = [name for name in rows if name not in (CEILING, CHANCE)]
    return sorted(metrics, key=lambda m: (isnan(rows[m].value), -rows[m].value))


def sentences_of(agreement: Agreement, rows: Mapping[str, AgreementRow]) -> list[str]:
    """One sentence or two on the rows, by metric, of one dimension, level and coefficient."""
    best, *others = (rows[name] for name in by_agreement(rows))
    about = f"with people on {best.dimension}"
    if isnan(best.value):
        return [f"No metric can be compared {about}; --verbose says why."]
    mark = [
        f"{name} {number(rows[key].value)}"
        for key, name in ((CEILING, "one rater"), (CHANCE, "chance"))
        if key in rows and not isnan(rows[key].value)
    ]
    if best.low <= (rows[CHANCE].value if CHANCE in rows else 0.0):
        who = "No metric is" if others else f"{best.metric} isn't"
        ends = f"[{number(best.low)}, {number(best.high)}]"
        reached = f"{best.metric} reaches {best.coefficient} {number(best.value)} {ends}"
        return [f"{who} shown to agree {about}: {reached} ({listed(mark)})."]
    how = "agrees best" if others else "agrees"
    text = f"{best.metric} {how} {about}: {best.coefficient} {number(best.value)}"
    text += f" ({listed(mark)})." if mark else "."
    if not others or isnan(others[0].value) or best.level == "average":
        return [text]
    second, place = others[0], place_of(best)._asdict()
    p = agreement.compare(best.metric, second.metric, **place).p
    verdict = "is lower" if p <= _ALPHA else "can't be told from it"
    return [text, f"{second.metric} ({number(second.value)}) {verdict} ({p_text(p)})."]
