"""The metrics that are installed, as pages and API show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from metrichub import Card, Entry
from metrichub.app.policy import not_offered
from metrichub.app.problem import Problem
from metrichub.app.settings import Judging
from metrichub.catalog.guides import ChosenMetric, MetricChoice, choices
from metrichub.catalog.registry import registry
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
    installed = registry()
    named = (Item(installed.name_of(entry), entry) for entry in installed.entries)
    return tuple(sorted(named, key=lambda item: item.name.lower()))


def _readable() -> list[Item]:
    """The metrics whose cards can be read, by name."""
    return [item for item in items() if not item.entry.problem]


def item_of(name: str) -> Item:
    """The installed metric of this name.

    Raises:
        Problem: there is none (404), or its card can't be read (501).
    """
    for item in items():
        if name in (item.name, item.entry.qualified):
            if item.entry.problem:
                raise Problem(501, "CardError", item.entry.problem)
            return item
    hint = did_you_mean(name[:100], [item.name for item in items()])
    raise Problem(404, "UnknownMetric", f"no metric {name[:100]!r} is installed{hint}")


def matching(search: str) -> Sequence[Item]:
    """The metrics that answer a search, the best first; without one all."""
    if not search.strip():
        return items()
    named = {item.name: item for item in items()}
    pages = search_index().find(search[:_LONGEST_SEARCH])
    return [named[page.address] for page in pages if page.kind == METRIC and page.address in named]


def facts(item: Item, judging: Judging) -> dict[str, Any]:
    """A metric as the API lists it; one whose card can't be read has a `problem` and no more."""
    entry = item.entry
    installed = {"name": item.name, "distribution": entry.distribution, "version": entry.version}
    if entry.problem:
        return installed | {"problem": entry.problem, "unavailable": entry.problem}
    card = item.card
    names = ("title", "summary", "judge", "embedder", "license", "requires")
    return installed | {
        **{name: getattr(card, name) for name in names},
        "inputs": item.columns,
        "outputs": {name: scale._asdict() for name, scale in card.scores.items()},
        "tags": vars(card.tags),
        "install": entry.install or None,
        "problem": None,
        "unavailable": not_offered(entry, judging),
    }


def linker(item: Item) -> Callable[[str], str | None]:
    """A function from a link in a card to an address here, or None where it leads nowhere.

    Other cards lead to their pages; no other file of the machine can be reached.
    """
    pages = {other.entry.folder.resolve(): other.url for other in _readable()}

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
    for item in _readable():
        family = families.setdefault(item.card.tags.family or "other", [])
        family.append((item, not_offered(item.entry, judging)))
    return dict(sorted(families.items()))


def open_metrics(judging: Judging) -> list[Item]:
    """The metrics that can be chosen here."""
    families = by_family(judging).values()
    return [item for family in families for item, reason in family if not reason]


def needed(metrics: Iterable[Item]) -> list[str]:
    """The columns that some metric reads, those of texts first."""
    return list(dict.fromkeys([*TEXT, *(column for item in metrics for column in item.columns)]))


class OfferedMetric(NamedTuple):
    """A metric that may be scored, and how far it agreed with people.

    `lacks` is the reason why it can't be, or "". `asks` is "remote" if a model elsewhere is asked,
    "local" if one may run here.
    """

    item: Item
    chosen: ChosenMetric
    lacks: str
    asks: str


class Proposal(NamedTuple):
    """The metrics for files: choices by key, the metrics of the likely one, and others."""

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
    named = {item.name: item for item in _readable()}
    columns = needed(named.values())
    absent = {c for c in columns if not all(_is_available(c, names, mapping) for names in files)}
    expected_calls = {"reference_messages", *ALIASES["reference_messages"]}
    has_calls = all(not expected_calls.isdisjoint(names) for names in files)

    def offered(chosen: ChosenMetric) -> OfferedMetric:
        item = named[chosen.name]
        # Calls that were expected may stand in conversations.
        optional = {"references"} if has_calls and "agents" in item.card.tags.task else set()
        lacking = [column for column in item.columns if column in absent - optional]
        lacks = f"needs {listed(lacking)}" if lacking else not_offered(item.entry, judging) or ""
        local = "local" if item.card.requires else ""
        asks = "remote" if judging.asks_model(item.card) else local
        return OfferedMetric(item, chosen, lacks, asks)

    every = choices({name: item.entry for name, item in named.items()})
    sets = {str(number): choice for number, choice in enumerate(every)}
    metrics = {number: [offered(metric) for metric in sets[number].metrics] for number in sets}
    texts = title.lower(), " ".join(name for names in files for name in names).lower()

    def fit(number: str) -> tuple[bool, bool, float, int]:
        data, usable = sets[number].data, [metric for metric in metrics[number] if not metric.lacks]
        # "agrees with people on fluency: …"
        agreements = (metric.chosen.agreement.partition(":")[0] for metric in metrics[number])
        hints = {data[:6], *(text.rpartition(" ")[2] for text in agreements if text)}
        titled, by_columns = (any(hint in text for hint in hints) for text in texts)
        by_columns |= data == "answers.jsonl" and "questions" not in absent
        by_columns |= data == "calls.jsonl" and has_calls
        read = {c for metric in usable for c in metric.item.columns} - {"predictions", "sources"}
        share = len(usable) / len(metrics[number])
        return titled and share > 0, by_columns and share > 0, share, len(read)

    key = key if key in sets else max(sets, key=fit, default="")
    likely = list(metrics.get(key, ()))
    names = {metric.item.name for metric in likely}
    # Two more that other columns would make possible.
    alike = (number for number in sets if sets[number].evaluate == sets[key].evaluate)
    further = {m.item.name: m for n in alike for m in metrics[n] if m.lacks.startswith("needs ")}
    likely += [metric for name, metric in further.items() if name not in names][:2]
    names = {metric.item.name for metric in likely}
    others = [offered(ChosenMetric(name, name, "", None)) for name in named if name not in names]
    return Proposal(sets, key, likely, [metric for metric in others if not metric.lacks])


def _is_available(column: str, names: Sequence[str], mapping: Mapping[str, str]) -> bool:
    """Whether one of a file's columns, and no other, is a column that metrics read."""
    chosen = {column: mapping[column]} if mapping.get(column) else {}
    try:
        resolve({column: ""}, names, chosen)
    except InputError:
        return False
    return True
