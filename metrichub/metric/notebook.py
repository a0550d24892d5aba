"""What a metric shows of itself in a notebook: what it reads and gives, and how it is set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from metrichub.catalog.card import Card
from metrichub.catalog.frontmatter import Scale

_BETTER = {"higher": ", higher is better", "lower": ", lower is better"}


def metric_html(
    card: Card,
    name: str,
    inputs: Sequence[str],
    headline: Sequence[str],
    parameters: Mapping[str, object],
) -> str:
    """The metric as a table of two columns, with its name and summary above."""
    rows = "\n".join(
        f'<tr><th scope="row">{row}</th><td>{text}</td></tr>'
        for row, text in _rows(card, inputs, headline, parameters)
    )
    about = f"<strong>{escape(card.title)}</strong> ({escape(name)}): {escape(card.summary)}"
    return f"<p>{about}</p>\n<table>\n<tbody>\n{rows}\n</tbody></table>\n"


def _rows(
    card: Card, inputs: Sequence[str], headline: Sequence[str], parameters: Mapping[str, object]
) -> Iterator[tuple[str, str]]:
    """Names of rows, and what stands in them as HTML."""
    yield "reads", escape(", ".join(inputs))
    for output in headline:
        yield escape(output), escape(_scale(card.scale(output) or Scale()))
    if parameters:
        shown = (f"<code>{escape(f'{key}={value!r}')}</code>" for key, value in parameters.items())
        yield "parameters", " ".join(shown)
    yield "card", f"<code>metrichub card {escape(card.name)}</code>"


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
