"""The metrics that are installed, as pages and API show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from metrichub import Card, Entry
from metrichub.app.policy import not_offered
from metrichub.app.problem import problem
from metrichub.app.settings import Judging
from metrichub.catalog.guides import ChosenMetric, MetricChoice, choices
from metrichub.catalog.registry import Registry, registry
from metrichub.catalog.search import METRIC, search_index
from metrichub.data.columns import ALIASES, TEXT, column_of, resolve
from metrichub.errors import InputError, did_you_mean, listed

# Every word that is asked for is looked for among those of all cards.
_LONGEST_SEARCH = 300


@dataclass(frozen=True)
class Item:
    """One installed metric under the name that finds it."""

    name: str
    entry: Entry

    @property
    def card(self) -> Card:
        """Its card."""
        return self.entry.card

    @property
    def url(self) -> str:
        """The address of its page."""
        return f"/metrics/{quote(self.name)}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads unless its parameters say otherwise."""
        return tuple(dict.fromkeys(map(column_of, self.card.inputs)))

    def is_for(self, task: str) -> bool:
        """Whether its card says that it is for a task."""
        return not self.entry.problem and task in self.card.tags.task


def items() -> tuple[Item, ...]:
    """All installed metrics, by name."""
    return _items(registry())


@lru_cache(maxsize=1)
def _items(installed: Registry) -> tuple[Item, ...]:
    named = (Item(installed.name_of(entry), entry) for entry in installed.entries)
    return tuple(sorted(named, key=lambda item: item.name.lower()))


def item_of(name: str) -> Item:
    """The installed metric of this name.

    Raises:
        Problem: there is none (404), or its card can't be read (501).
    """
    for item in items():
        if name in (item.name, item.entry.qualified):
            if item.entry.problem:
                raise problem(501, "CardError", item.entry.problem)
            return item
    hint = did_you_mean(name[:100], [item.name for item in items()])
    raise problem(404, "UnknownMetric", f"no metric {name[:100]!r} is installed{hint}")


def matching(search: str) -> Sequence[Item]:
    """The metrics that answer a search, the best first; without one all."""
    if not search.strip():
        return items()
    named = {item.name: item for item in items()}
    found = search_index().find(search[:_LONGEST_SEARCH])
    return [named[page.address] for page in found if page.kind == METRIC and page.address in named]


def facts(item: Item, judging: Judging) -> dict[str, Any]:
    """A metric as the API lists it; one whose card can't be read has a `problem` and no more."""
    entry, name = item.entry, item.name
    known = {"name": name, "distribution": entry.distribution, "version": entry.version}
    if entry.problem:
        return known | {"problem": entry.problem, "unavailable": entry.problem}
    card = item.card
    names = "title", "summary", "judge", "embedder", "license", "requires"
    return known | {
        **{name: getattr(card, name) for name in names},
        "inputs": item.columns,
        "outputs": {name: scale._asdict() for name, scale in card.scores.items()},
        "tags": card.tags._asdict(),
        "install": entry.install or None,
        "problem": None,
        "unavailable": not_offered(entry, judging),
    }


def linker(item: Item) -> Callable[[str], str | None]:
    """What turns a link in a card into an address here, or None where it leads nowhere.

    Other cards lead to their pages; no other file of the machine can be reached.
    """
    readable = (other for other in items() if not other.entry.problem)
    pages = {other.entry.folder.resolve(): other.url for other in readable}

    def link(href: str) -> str | None:
        parts = urlsplit(href)
        if parts.scheme or parts.netloc:
            return href if parts.scheme in ("http", "https", "mailto") else None
        anchor = f"#{parts.fragment}" if parts.fragment else ""
        if not parts.path:
            return anchor or None
        path = (item.entry.folder / parts.path).resolve()
        page = pages.get(path.parent) if path.name == "README.md" else None
        return page + anchor if page else None

    return link


def by_family(judging: Judging) -> dict[str, list[tuple[Item, str | None]]]:
    """The metrics of each family, families by name, each with the reason if it isn't offered."""
    families: dict[str, list[tuple[Item, str | None]]] = {}
    for item in items():
        if not item.entry.problem:
            family = families.setdefault(item.card.tags.family or "other", [])
            family.append((item, not_offered(item.entry, judging)))
    return dict(sorted(families.items()))


def open_metrics(judging: Judging) -> list[Item]:
    """The metrics that can be chosen here."""
    return [item for found in by_family(judging).values() for item, reason in found if not reason]


def needed(metrics: Iterable[Item]) -> list[str]:
    """The columns that some metric reads, those of texts first."""
    return list(dict.fromkeys([*TEXT, *(column for item in metrics for column in item.columns)]))


def resolved(column: str, names: Sequence[str], mapping: Mapping[str, str]) -> str | None:
    """The name that a column has among those of a file, or None if none or several could be it."""
    own = {column: mapping[column]} if mapping.get(column) else {}
    try:
        return resolve({column: ""}, names, own).get(column, column)
    except InputError:
        return None


class OfferedMetric(NamedTuple):
    """A metric that could be scored, and how far it agreed with people.

    `lacks` is why it can't be, or "". `asks` is "remote" if a model elsewhere is asked, "local" if
    one may run here.
    """

    item: Item
    chosen: ChosenMetric
    lacks: str
    asks: str


class Proposal(NamedTuple):
    """What could be scored of files: choices by key, the metrics of the likely one, and others."""

    sets: dict[str, MetricChoice]
    key: str
    likely: list[OfferedMetric]
    others: list[OfferedMetric]

    @property
    def can_score(self) -> bool:
        """Whether any metric can be used."""
        return any(not metric.lacks for metric in (*self.likely, *self.others))

    @property
    def ticked(self) -> list[str]:
        """The specs of the metrics that are proposed."""
        likely = (metric for metric in self.likely if not metric.lacks and metric.asks != "remote")
        return [metric.chosen.spec for metric in likely]


def propose(
    files: Sequence[Sequence[str]],
    mapping: Mapping[str, str],
    title: str,
    key: str,
    judging: Judging,
) -> Proposal:
    """The metrics for files with these columns, by the choice of a key, or the likely one.

    That is the first of those whose example or dimension of quality the title of the files names,
    or else their columns, with the most metrics that can be used, which read the most columns.
    """
    named = {item.name: item for item in items() if not item.entry.problem}
    columns = needed(named.values())
    absent = {c for c in columns if any(resolved(c, own, mapping) is None for own in files)}

    expected = {"reference_messages", *ALIASES["reference_messages"]}
    calls = all(not expected.isdisjoint(own) for own in files)

    def offered(chosen: ChosenMetric) -> OfferedMetric:
        item = named[chosen.name]
        # Calls that were expected may stand in conversations.
        there = {"references"} if calls and "agents" in item.card.tags.task else set()
        lacking = [column for column in item.columns if column in absent - there]
        lacks = f"needs {listed(lacking)}" if lacking else not_offered(item.entry, judging) or ""
        asks = "remote" if judging.asks_model(item.card) else "local" * bool(item.card.requires)
        return OfferedMetric(item, chosen, lacks, asks)

    every = choices({name: item.entry for name, item in named.items()})
    sets = {str(number): choice for number, choice in enumerate(every)}
    metrics = {own: [offered(chosen) for chosen in sets[own].metrics] for own in sets}
    texts = title.lower(), " ".join(name for own in files for name in own).lower()

    def fit(own: str) -> tuple[bool, bool, float, int]:
        data, usable = sets[own].data, [metric for metric in metrics[own] if not metric.lacks]
        rated = (m.chosen.agreement.partition(":")[0].rpartition(" ")[2] for m in metrics[own])
        hints = {data[:6], *filter(None, rated)}
        titled, by_columns = (any(hint in text for hint in hints) for text in texts)
        by_columns = by_columns or (data == "answers.jsonl" and "questions" not in absent)
        by_columns = by_columns or (data == "calls.jsonl" and calls)
        read = {c for metric in usable for c in metric.item.columns} - {"predictions", "sources"}
        can = bool(usable)
        return titled and can, by_columns and can, len(usable) / len(metrics[own]), len(read)

    key = key if key in sets else max(sets, key=fit, default="")
    likely = list(metrics.get(key, ()))
    alike = [m for own in sets if sets[own].evaluate == sets[key].evaluate for m in metrics[own]]
    names = {metric.item.name for metric in likely}
    further = {m.item.name: m for m in alike if m.lacks.startswith("needs ")}
    likely += [metric for name, metric in further.items() if name not in names][:2]
    names |= {metric.item.name for metric in likely}
    others = [offered(ChosenMetric(name, name, "", None)) for name in named if name not in names]
    return Proposal(sets, key, likely, [metric for metric in others if not metric.lacks])
