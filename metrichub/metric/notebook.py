"""What a metric shows of itself in a notebook: what it reads and gives, and how it is set."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from metrichub.catalog.frontmatter import Scale
from metrichub.catalog.parameters import values_of
from metrichub.metric.base import Metric

_BETTER = {"higher": ", higher is better", "lower": ", lower is better"}


def metric_html(metric: Metric) -> str:
    """The metric as a table of two columns, with its name and summary above."""
    card = metric.card
    rows = "\n".join(
        f'<tr><th scope="row">{name}</th><td>{text}</td></tr>' for name, text in _rows(metric)
    )
    named = "" if metric.name == card.title else f" ({escape(metric.name)})"
    about = f"<strong>{escape(card.title)}</strong>{named}: {escape(card.summary)}"
    return f"<p>{about}</p>\n<table>\n<tbody>\n{rows}\n</tbody></table>\n"


def _rows(metric: Metric) -> Iterator[tuple[str, str]]:
    """Names of rows, and what stands in them as HTML."""
    yield "reads", escape(", ".join(metric.inputs()))
    for output in metric.headline():
        yield escape(output), escape(_scale(metric.card.scale(output) or Scale()))
    values = values_of(metric).items()
    if values:
        shown = (f"<code>{escape(f'{name}={value!r}')}</code>" for name, value in values)
        yield "parameters", " ".join(shown)
    yield "card", f"<code>metrichub card {escape(metric.card.name)}</code>"


def _scale(scale: Scale) -> str:
    """The range of an output and its direction, in words."""
    if scale.low is None and scale.high is None:
        span = "any number"
    elif scale.high is None:
        span = f"{scale.low:g} or more"
    elif scale.low is None:
        span = f"{scale.high:g} or less"
    else:
        span = f"{scale.low:g} to {scale.high:g}"
    return span + _BETTER.get(scale.better, "")
