"""What to take for what: a task and what one has lead to some metrics, a command and Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from metrichub.catalog.frontmatter import JUDGES
from metrichub.catalog.guides import choices
from metrichub.site.site_index import CardPage, SiteIndex

_JUDGE = "openai(model='…')"


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
