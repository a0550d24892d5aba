"""The pages of the site as HTML: the gallery, and one page for each card."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from doctest import DocTestParser
from functools import cache
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from metrichub import CardError
from metrichub.catalog import guides
from metrichub.catalog.frontmatter import JUDGES
from metrichub.catalog.guides import choices
from metrichub.catalog.studies import StudyValue, best_by_task
from metrichub.report.html.markup import html
from metrichub.site import example_report
from metrichub.site.links import Links
from metrichub.site.site_index import CardPage, SiteIndex, one_line

if TYPE_CHECKING:
    from jinja2 import Environment

FACETS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "task": ("Task", {}),
    "dimension": ("Dimension", {}),
    "family": ("Family", {}),
    "input": ("Input", {}),
    "judge": ("Judge", JUDGES),
    "direction": (
        "Direction",
        {"higher": "higher is better", "lower": "lower is better", "neither": "neither"},
    ),
    "language": ("Language", {"any": "any language"}),
}
"""The facets of the gallery: their labels, and the words for values that need some."""

HOME = "HOME.md"
"""The page of docs/ that the front page begins with."""
_JUDGE = "openai(model='…')"
_CODE = re.compile(r'<pre><code class="language-([\w+-]+)">(.*?)</code></pre>', re.DOTALL)
_TITLE = re.compile(r"\s*<h1[^>]*>.*?</h1>", re.DOTALL)


class MeasuredRow(NamedTuple):
    """A metric's agreement about a dimension of a task: that of its best output and setting.

    `rated` names task and dimension, `data` what was rated; `aimless` says that neither direction
    of the output is better.
    """

    page: CardPage
    rated: str
    setting: str
    value: StudyValue
    data: str
    aimless: bool


def gallery_page(index: SiteIndex, starts: Sequence[tuple[str, str]] = ()) -> str:
    """The front page: what metrichub is, what to take for what, and all cards with filters.

    `starts` are the paths and titles of the guides.
    """
    choices = {
        facet: [(value, words.get(value, value)) for value in index.choices(facet)]
        for facet, (_, words) in FACETS.items()
    }
    rows = _measured(index.pages)
    return page_of(
        "gallery.html",
        index=index,
        facets=FACETS,
        choices=choices,
        welcome=_welcome(),
        pictures=bool(pictures()),
        report=example_report.PATH if example_report.is_in(index) else "",
        guides=[{"path": path, "title": title} for path, title in starts],
        recommendations=recommendations(index),
        measured=rows,
        rated=list(dict.fromkeys(row.rated for row in rows)),
    )


def _measured(pages: Iterable[CardPage]) -> tuple[MeasuredRow, ...]:
    """The rows of all pages whose metrics were measured, the best of each dimension first."""
    rows = [row for page in pages for row in _measured_of(page)]
    return tuple(sorted(rows, key=lambda row: (row.rated.casefold(), -(row.value.value or 0.0))))


def _measured_of(page: CardPage) -> Iterator[MeasuredRow]:
    """The rows of one page; none where its file of studies can't be read."""
    try:
        studies = page.entry.studies
    except CardError:
        return
    for dimension in dict.fromkeys(v.dimension for study in studies for v in study.shown_values):
        for task, (study, value) in best_by_task(studies, dimension).items():
            yield MeasuredRow(
                page=page,
                rated=one_line(f"{task}: {dimension}"),
                setting=study.spec,
                value=value,
                data=one_line(str(study.data.get("title", ""))),
                aimless=page.card.better(value.output) == "neither",
            )


def pictures() -> tuple[Path, ...]:
    """The pictures of the front page, where they are."""
    paths = (guides.folder() / "pictures" / f"report-{name}.png" for name in ("light", "dark"))
    return tuple(path for path in paths if path.is_file())


def _welcome() -> str:
    """What metrichub is, how to install it, and five lines of Python."""
    path = guides.folder() / HOME
    text = path.read_text(encoding="utf-8") if path.is_file() else "# metrichub\n"
    return highlighted(html(text, lambda href: href))


def card_page(page: CardPage, links: Links) -> str:
    """The page of a card: its facts, its body, its prompts and related metrics."""
    body = html(page.card.body, links.of(page))
    return page_of(
        "card.html",
        page=page,
        card=page.card,
        facets=FACETS,
        body=highlighted(_TITLE.sub("", body, count=1)),
        prompts=tuple(links.prompts(page).values()),
        related=links.index.related(page),
        install=page.entry.install,
    )


def unreadable(page: CardPage, problem: str) -> str:
    """The page of a card that is read, but can't be shown."""
    return page_of("unreadable.html", page=page, problem=problem)


def highlighted(page: str) -> str:
    """The HTML with its blocks of code in colour."""
    return _CODE.sub(_highlighted, page)


def page_of(template: str, **values: object) -> str:
    """A template of the site with its values."""
    return _templates().get_template(template).render(**values)


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("metrichub.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["filtered"] = lambda value, facet: "../index.html?" + urlencode({facet: value})
    made.filters["figure"] = lambda value: "–" if value is None else f"{value:.3f}"
    return made


def _highlighted(block: re.Match[str]) -> str:
    """A block of code in colour; an example is copied without its prompts and its output."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    language, code = block[1], unescape(block[2])
    examples = _examples(code) if language in ("python", "pycon") else ""
    try:
        lexer = get_lexer_by_name("pycon" if examples else language)
    except ClassNotFound:
        return block[0]
    return page_of(
        "code.html",
        language=language,
        copied=examples,
        code=highlight(code, lexer, HtmlFormatter(nowrap=True)),
    )


def _examples(code: str) -> str:
    try:
        return "".join(example.source for example in DocTestParser().get_examples(code))
    except ValueError:
        return ""


@dataclass(frozen=True)
class Suggestion:
    """A metric with its parameters, its page, and how far it agreed with people if it was asked."""

    spec: str
    page: CardPage
    agreement: str
    value: float | None

    @property
    def note(self) -> str:
        """What it asks, and its agreement."""
        asks = JUDGES[self.page.card.judge] if self.page.card.judge else ""
        vectors = "an embedder" if self.page.card.embedder else ""
        needs = [f"asks {text}" for text in (asks, vectors) if text]
        return "; ".join([*needs, *([self.agreement] if self.agreement else [])])


@dataclass(frozen=True)
class Recommendation:
    """One pair of answers, and what follows from it."""

    evaluate: str
    have: str
    data: str
    metrics: tuple[Suggestion, ...]

    @property
    def options(self) -> Mapping[str, str]:
        """The judge and the embedder that the metrics need, by option."""
        cards = [metric.page.card for metric in self.metrics]
        asked = {"judge": any(card.judge for card in cards),
                 "embedder": any(card.embedder for card in cards)}  # fmt: skip
        return {name: _JUDGE for name, needed in asked.items() if needed}

    @property
    def command(self) -> str:
        """The line for a shell."""
        metrics = " ".join(f"-m {_quoted(metric.spec)}" for metric in self.metrics)
        options = "".join(f' --{name} "{spec}"' for name, spec in self.options.items())
        return f"metrichub score {self.data} {metrics}{options}"

    @property
    def python(self) -> str:
        """The lines for Python."""
        specs = ", ".join(f'"{metric.spec}"' for metric in self.metrics)
        options = "".join(f', {name}="{spec}"' for name, spec in self.options.items())
        return (
            "from metrichub import Hub, read\n"
            f"hub = Hub([{specs}]{options})\n"
            f'print(hub.evaluate(read("{self.data}")))\n'
        )


def recommendations(index: SiteIndex) -> tuple[Recommendation, ...]:
    """The choices whose metrics all have a page."""
    known = {page.name: page for page in index.pages}
    return tuple(
        Recommendation(
            choice.evaluate,
            choice.have,
            choice.data,
            tuple(
                Suggestion(metric.spec, known[metric.name], metric.agreement, metric.value)
                for metric in choice.metrics
            ),
        )
        for choice in choices({name: page.entry for name, page in known.items()})
    )


def _quoted(spec: str) -> str:
    return f'"{spec}"' if "(" in spec else spec
