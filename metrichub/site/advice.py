"""What to take for what: a task and what one has lead to some metrics, a command and Python."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metrichub.catalog import guides
from metrichub.catalog.frontmatter import JUDGES
from metrichub.catalog.spec import Spec
from metrichub.catalog.studies import best_value
from metrichub.site.index import CardPage, SiteIndex

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
        said = [f"asks {text}" for text in (asks, vectors) if text]
        return "; ".join([*said, *([self.agreement] if self.agreement else [])])


@dataclass(frozen=True)
class Advice:
    """One pair of answers, and what follows from it."""

    evaluate: str
    have: str
    data: str
    metrics: tuple[Suggestion, ...]

    @property
    def options(self) -> Mapping[str, str]:
        """The judge and the embedder that the metrics need, by option."""
        cards = [one.page.card for one in self.metrics]
        asked = {"judge": any(card.judge for card in cards),
                 "embedder": any(card.embedder for card in cards)}  # fmt: skip
        return {name: _JUDGE for name, needed in asked.items() if needed}

    @property
    def command(self) -> str:
        """The line for a shell."""
        metrics = " ".join(f"-m {_quoted(one.spec)}" for one in self.metrics)
        options = "".join(f' --{name} "{spec}"' for name, spec in self.options.items())
        return f"metrichub score {self.data} {metrics}{options}"

    @property
    def python(self) -> str:
        """The lines for Python."""
        specs = ", ".join(f'"{one.spec}"' for one in self.metrics)
        options = "".join(f', {name}="{spec}"' for name, spec in self.options.items())
        return (
            "from metrichub import Hub, read\n"
            f"hub = Hub([{specs}]{options})\n"
            f'print(hub.evaluate(read("{self.data}")))\n'
        )


def advice(index: SiteIndex) -> tuple[Advice, ...]:
    """The advice of docs/choices.toml with the metrics that are there, by agreement with people."""
    path = guides.folder() / "choices.toml"
    if not path.is_file():
        return ()
    known = {page.name: page for page in index.pages}
    made = []
    for choice in tomllib.loads(path.read_text(encoding="utf-8"))["choice"]:
        given = [(spec, known.get(Spec.parse(spec).metric)) for spec in choice["metrics"]]
        dimension = choice.get("dimension", "")
        found = [_suggestion(spec, page, dimension) for spec, page in given if page]
        if len(found) == len(given):
            made.append(Advice(choice["evaluate"], choice["have"], choice["data"], _sorted(found)))
    return tuple(made)


def _suggestion(spec: str, page: CardPage, dimension: str) -> Suggestion:
    found = best_value(page.entry.studies, dimension) if dimension else None
    if found is None or found.value is None:
        return Suggestion(spec, page, "", None)
    said = f"agrees with people on {dimension}: {found.value:.2f} ({found.coefficient})"
    return Suggestion(spec, page, said, found.value)


def _sorted(found: Sequence[Suggestion]) -> tuple[Suggestion, ...]:
    """Those that were measured by how far they agreed, then the others as they were given."""
    return tuple(sorted(found, key=lambda one: (one.value is None, -(one.value or 0.0))))


def _quoted(spec: str) -> str:
    return f'"{spec}"' if "(" in spec else spec
