"""Metric cards: the front matter of a metric's README.md as frozen values, and its body's parts."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from metrichub.catalog.frontmatter import (
    LENGTH_BOUND,
    LENGTHS_APART,
    UNDEFINED_FOR,
    Scale,
    Tags,
    pattern_of,
    read_front_matter,
)
from metrichub.data.columns import column_of
from metrichub.errors import listed

HEADINGS = (
    "Example",
    "Definition",
    "Parameters",
    "Inputs",
    "Outputs",
    "More examples",
    "Agreement with people",
    "Differences from other programs",
    "Limitations and bias",
    "Citation",
    "Further reading",
)
_BETTER = {"higher": ", higher is better", "lower": ", lower is better"}
OPTIONAL = ("Parameters", "More examples", "Differences from other programs")
FORMER_HEADINGS = (
    "Description",
    "Inputs",
    "Outputs",
    "Bounds",
    "Examples",
    "Limitations and bias",
    "Agreement with people",
    "Citation",
    "Further reading",
)
# Compiled where they are needed: to score, no card's body is read.
_BLOCK = r"(?s)(<!-- generated: (\w+) -->\n)(.*?)(<!-- end -->)"
_FENCE = r"(?sm)^```(\w*)[^\n]*\n(.*?)^```\s*$"


@dataclass(frozen=True)
class Card:
    """A metric's card. `scores` holds a `Scale` for each output, "score" among them.

    `headline` lists the outputs to show first, `requires` the packages to install, as pip names
    them. `definition` is raised whenever scores change; only scores with the same number are
    comparable. `judge` is "any" if rules can answer every prompt, "model" if the metric needs a
    model, and None without a judge; `embedder` is "any" if the metric compares vectors.
    `undefined_for` lists the reasons for which a prediction has no score by definition; such
    samples are left out of the mean and counted as unanswered. A metric that `drops_letters` by
    definition scores a sample whatever letters its references are in. `tolerance` is how much
    scores may vary with the order and grouping of samples (0 by default). `keywords` are search
    terms for those who don't know the metric's name. `presets` are the parameters of named
    settings. `unranked` says why systems are compared and yet never ranked by the metric, if they
    aren't. `keys` are the keys in the front matter.
    """

    name: str
    title: str
    summary: str
    inputs: tuple[str, ...]
    scores: Mapping[str, Scale]
    headline: tuple[str, ...] = ("score",)
    definition: int = 1
    tags: Tags = field(default_factory=Tags)
    license: str = ""
    requires: tuple[str, ...] = ()
    undefined_for: tuple[str, ...] = ()
    drops_letters: bool = False
    judge: str | None = None
    embedder: str | None = None
    tolerance: float = 0.0
    keywords: tuple[str, ...] = ()
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    body: str = field(default="", repr=False)
    path: Path | None = field(default=None, repr=False)
    keys: tuple[str, ...] = field(default=(), repr=False)
    unranked: str = ""

    @classmethod
    def read(cls, path: Path) -> Card:
        """The card in a file.

        Raises:
            CardError: the file is missing or has no front matter, a key is unknown or missing, or a
                value has the wrong shape; the message starts with file and line.
        """
        values, body = read_front_matter(path)
        return cls(**values, body=body, path=path)

    def scale(self, output: str) -> Scale | None:
        """The scale of an output; "precision_n" on the card covers "precision_1" and so on."""
        return self.scores.get(output) or self.scores.get(pattern_of(output))

    def better(self, output: str) -> str:
        """The direction of an output: "higher", "lower" or "neither"."""
        scale = self.scale(output)
        return scale.better if scale else "neither"

    @cached_property
    def facets(self) -> Mapping[str, tuple[str, ...]]:
        """The card's values for each facet by which lists are filtered."""
        return {
            "task": self.tags.task,
            "dimension": self.tags.dimension,
            "family": (self.tags.family,),
            "input": tuple(dict.fromkeys(map(column_of, self.inputs))),
            "judge": (self.judge or "none",),
            "direction": (self.better("score"),),
            "language": self.tags.language,
        }

    @cached_property
    def sections(self) -> Mapping[str, str]:
        """The body's text under each second-level heading, in the file's order."""
        parts = re.split(r"^## (.+)$", self.body, flags=re.MULTILINE)
        named = zip(parts[1::2], parts[2::2], strict=True)
        return {name.strip(): text.strip("\n") for name, text in named}

    @property
    def lead(self) -> str:
        """The text above the first heading: the metric's use, its misuse and how to report it."""
        above = re.split(r"^## ", self.body, maxsplit=1, flags=re.MULTILINE)[0]
        return re.sub(r"^# .*", "", above, flags=re.MULTILINE).strip()

    @property
    def bibtex(self) -> str:
        """The BibTeX of the one fenced `bibtex` block, or "" if there is none."""
        return next((code.strip() for code in self._fenced("bibtex")), "")

    @property
    def examples(self) -> tuple[str, ...]:
        """The fenced doctests, in order."""
        return tuple(code for code in self._fenced("python", "pycon") if ">>>" in code)

    def _fenced(self, *languages: str) -> Iterator[str]:
        for language, code in re.findall(_FENCE, self.body):
            if language in languages:
                yield code

    def blocks(self) -> Mapping[str, str]:
        """The generated blocks of the body by name, as they are in the file."""
        return {name: text for _, name, text, _ in re.findall(_BLOCK, self.body)}


def with_blocks(text: str, blocks: Mapping[str, str]) -> str:
    """A card's text in which each named generated block is replaced."""

    def replace(block: re.Match[str]) -> str:
        start, name, old, end = block.groups()
        return f"{start}{blocks.get(name, old)}{end}"

    return re.sub(_BLOCK, replace, text)


def bounds_table(card: Card) -> str:
    """The generated block of bounds: a Markdown table of the outputs' scales."""
    rows = [
        f"| `{name}` | {scale.interval} | {scale.better} | "
        f"{'' if scale.perfect is None else format(scale.perfect, 'g')} |\n"
        for name, scale in card.scores.items()
    ]
    head = "| output | range | better | if equal to the reference |\n| --- | --- | --- | --- |\n"
    below = [line for text in _remarks(card) for line in (*textwrap.wrap(text, 100), "")]
    return "\n".join([head + "".join(rows), *below])


def _remarks(card: Card) -> Iterator[str]:
    """Sentences on the tolerance, ranking, length, shares and unanswered samples."""
    if card.tolerance:
        yield (
            "Scores of the same samples agree within a tolerance of "
            f"{card.tolerance:g}, whatever their order and their parts."
        )
    if card.unranked:
        yield f"Systems aren't ranked by it: {card.unranked}."
    for change in LENGTH_BOUND:
        bound = [f"`{name}`" for name, s in card.scores.items() if s.length_bound == change]
        if bound:
            yield (
                f"{listed(bound)} {change if len(bound) == 1 else change.removesuffix('s')} with "
                "the length of the predictions: systems whose mean lengths differ by over "
                f"{LENGTHS_APART:.0%} aren't ranked."
            )
    if shares := [f"`{name}`" for name, scale in card.scores.items() if scale.share]:
        yield f"Each sample has 0 or 1 for {listed(shares)}; the interval of the mean is Wilson's."
    if reasons := [UNDEFINED_FOR[kind] for kind in card.undefined_for]:
        others = (reason.removeprefix("the prediction ") for reason in reasons[1:])
        why = listed([reasons[0], *others], "or")
        yield f"A sample is unanswered, and left out of the mean, if {why}."


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
        yield escape(output), escape(scale_text(card.scale(output) or Scale()))
    if parameters:
        shown = (f"<code>{escape(f'{key}={value!r}')}</code>" for key, value in parameters.items())
        yield "parameters", " ".join(shown)
    yield "card", f"<code>metrichub card {escape(card.name)}</code>"


def scale_text(scale: Scale) -> str:
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
