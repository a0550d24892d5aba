"""The pages that no file of the repository holds, as Markdown: cards in full, tables, reference."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from inspect import ismodule
from pathlib import Path
from typing import NamedTuple

from metrichub import CardError
from metrichub.catalog import guides
from metrichub.catalog.frontmatter import JUDGES
from metrichub.catalog.guides import choices
from metrichub.catalog.known_plugins import bare_name, known_plugins
from metrichub.catalog.registry import Entry
from metrichub.catalog.studies import best_by_task

NAMES: Mapping[str, Sequence[str]] = {
    "Hub": ("Hub", "RunOptions"),
    "Report": (
        *("Report", "Interval", "Comparison", "Ranking", "compare_all", "Explanation"),
        *("OutputTable", "RepeatedScore", "Usage"),
    ),
    "Metrics": ("load_metric", "list_metrics", "Entry", "Card", "Scale"),
    "Data": ("read", "read_batches", "conversation", "Data"),
    "Judges and embedders": ("OpenAIJudge", "OpenAIEmbedder"),
}
"""The names of `metrichub` by what one does with them; its errors have a page of their own."""
MODULES: Mapping[str, Sequence[str]] = {
    "Writing metrics": ("metrichub.authoring",),
    "Testing metrics": ("metrichub.testing",),
    "Texts": ("metrichub.text",),
    "Agreement with people": ("metrichub.agreement",),
    "Other libraries": ("metrichub.bridges",),
    "Errors": ("metrichub.errors",),
}
"""The other public modules by what one does with them; modules inside them come with them."""
EXAMPLE_METRICS = ("rouge", "bleu", "abstractness", "density")
"""Closeness to the references, and how much is copied: here they say different things."""
_SYSTEMS = {"A": "summaries.jsonl", "B": "summaries_b.jsonl"}
_COMMANDS = """# Command line

::: mkdocs-click
    :module: metrichub.cli
    :command: main
    :prog_name: metrichub
    :depth: 1
    :style: plain
"""
# Most of what a report does is done by the class above it.
_INHERITED = "::: metrichub.Report\n    options:\n      inherited_members: true\n"
_JUDGE = "openai(model='…')"
_HEADS = ("Metric", "What it measures", "Task", "Reads", "Needs", "Language",
          "Agreement with people", "Cost per sample")  # fmt: skip
_COSTS = (
    "Arrows show which direction is better. Cost counts the judge's calls for one answer with one "
    "passage at the default settings, as `--estimate` does."
)
_ASKED, _TOLD, _READ = "How is the weather?", "It is sunny in Bern [1].", "The sun shines in Bern."
_CALL = {"function": {"name": "weather", "arguments": '{"city": "Bern"}'}}
# A sample of one claim, one passage, one call, one of whatever else a metric may read.
_SAMPLE = [
    {
        **{"question": _ASKED, "prediction": _TOLD, "reference": "Sunny.", "source": _READ},
        **{"contexts": [_READ], "criteria": [{"criterion": "It names a town.", "points": 1}]},
        **{"instructions": ["Name a town."], "roles": "a guide", "topics": ["weather"]},
        "messages": [
            {"role": "user", "content": _ASKED},
            {"role": "assistant", "content": None, "tool_calls": [_CALL]},
            {"role": "assistant", "content": _TOLD, "retrieval_context": [_READ]},
        ],
    }
]


class CardPage(NamedTuple):
    """An installed card: what `load_metric` takes, and the folder of its page."""

    entry: Entry
    name: str
    folder: str

    @property
    def title(self) -> str:
        """The card's title on a line, with the qualified name where the plain one is taken."""
        title = one_line(self.entry.card.title) or self.name
        return title if self.name == self.entry.name else f"{title} ({self.name})"

    @property
    def link(self) -> str:
        """A link from the first page or one beside it."""
        return f"[{markdown_of(self.title)}](metric_cards/{self.folder}/README.md)"

    @property
    def needs(self) -> str:
        """The model that the metric asks, if any, in words."""
        card = self.entry.card
        return JUDGES[card.judge] if card.judge else "an embedder" if card.embedder else ""


def one_line(text: str) -> str:
    """The text without control characters, its white space made single spaces."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def markdown_of(text: str) -> str:
    """The text on a line of Markdown that shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]#|$~])", r"\\\1", one_line(text))


def capital(text: str) -> str:
    """The text with a capital at its start."""
    return re.sub(r"^rag\b", "RAG", text[:1].upper() + text[1:], flags=re.IGNORECASE)


def _code(text: str) -> str:
    return f"`{one_line(text).replace('`', '')}`"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return _row(*heads) + _row(*("---" for _ in heads)) + "".join(_row(*cells) for cells in rows)


def card_page(page: CardPage) -> str:
    """A card's body below its summary and the facts of its front matter."""
    card = page.entry.card
    outputs = (
        f"{_code(name)} in {markdown_of(scale.interval)}"
        + ("" if scale.better == "neither" else f", {scale.better} is better")
        for name, scale in card.scores.items()
    )
    facts = {
        "Name": _code(page.name),
        "Inputs": ", ".join(map(_code, card.inputs)),
        "Outputs": "; ".join(outputs),
        "Tasks": markdown_of(", ".join(card.tags.task)),
        "Quality": markdown_of(", ".join(card.tags.dimension)),
        "Languages": markdown_of(", ".join(code for code in card.tags.language if code != "any")),
        "Asks": page.needs,
        "Also searched as": markdown_of(", ".join(card.keywords)),
        "Licence": markdown_of(card.license),
        "Comes with": markdown_of(f"{page.entry.distribution} {page.entry.version}"),
        "Install": _code(page.entry.install) if page.entry.install else "",
    }
    body = re.sub(r"\A\s*# .*\n", "", card.body)
    shown = "\n\n".join(f"{name}\n:   {fact}" for name, fact in facts.items() if fact)
    return f"# {markdown_of(page.title)}\n\n{markdown_of(card.summary)}\n\n{shown}\n\n{body}"


def metric_table(pages: Sequence[CardPage], broken: Mapping[str, str]) -> str:
    """A table of all metrics, which a script filters and sorts, and what can't be read."""
    text = (
        f"# All metrics\n\n{_COSTS}\n\n{_table(_HEADS, map(_metric, pages))}\n"
        "[Agreement with people](../agreement.md) has the intervals and the data.\n"
    )
    if broken:
        lines = "".join(f"- {_code(name)}: {markdown_of(why)}\n" for name, why in broken.items())
        text += f"\n## Installed, but without a card to show\n\n{lines}"
    return text


def _metric(page: CardPage) -> Sequence[str]:
    """The row of a metric: its facts in words, as the chips above the table have them."""
    card, plugin = page.entry.card, page.entry.distribution != "metrichub"
    needs = [need for need in (page.needs, "a plugin" if plugin else "") if need]
    if plugin:
        cost = "in a plugin"
    elif card.judge:
        calls = _judge_calls(page.entry)
        cost = "1 call" if calls == 1 else f"{calls or ''} calls".strip()
    else:
        cost = "embeddings" if card.embedder else "free"
    reads = sorted({*card.facets["input"]} - {"predictions"}) or ["predictions only"]
    facets = card.tags.task, reads, needs or ["no model"], card.tags.language
    figures = [f"{heading} {value:.3f}" for heading, value, _ in _measured_of(page)]
    arrow = {"higher": " ↑", "lower": " ↓", "neither": ""}[card.better("score")]
    return (
        f"[{markdown_of(page.title)}]({page.folder}/README.md) {_code(page.name)}{arrow}",
        markdown_of(card.summary),
        *(markdown_of(", ".join(map(one_line, values))) for values in facets),
        markdown_of("; ".join(figures)),
        cost,
    )


def _judge_calls(entry: Entry) -> int:
    """How often a metric of ours asks its judge about the sample; 0 if that can't be counted."""
    from metrichub import Hub, MetrichubError

    try:
        return (
            Hub(entry.name, judge="openai(model='any')", embedder="offline").estimate(_SAMPLE).calls
        )
    except MetrichubError:
        return 0


def chooser(pages: Sequence[CardPage]) -> str:
    """The metrics for each purpose and the data at hand, with the lines that score with them."""
    by_name = {page.name: page for page in pages}
    parts, evaluated = ["# Choose metrics\n"], ""
    for choice in choices({name: page.entry for name, page in by_name.items()}):
        if choice.evaluate != evaluated:
            evaluated = choice.evaluate
            parts.append(f"## You evaluate {evaluated}\n")
        cards = [by_name[metric.name].entry.card for metric in choice.metrics]
        models = [name for name in ("judge", "embedder") if any(getattr(c, name) for c in cards)]
        specs = [metric.spec for metric in choice.metrics]
        flags = " ".join(f'-m "{spec}"' if "(" in spec else f"-m {spec}" for spec in specs)
        flags += "".join(f' --{name} "{_JUDGE}"' for name in models)
        arguments = "".join(f', {name}="{_JUDGE}"' for name in models)
        quoted = ", ".join(f'"{spec}"' for spec in specs)
        lines = "".join(
            f"1. {by_name[metric.name].link}: {_note(by_name[metric.name], metric.agreement)}\n"
            for metric in choice.metrics
        )
        parts.append(
            f"### {capital(evaluated)}, and you have {choice.have}\n\n{lines}\n"
            f"```\nmetrichub score {choice.data} {flags}\n```\n\n"
            "```python\nfrom metrichub import Hub, read\n"
            f'hub = Hub([{quoted}]{arguments})\nprint(hub.evaluate(read("{choice.data}")))\n```\n'
        )
    return "\n".join(parts)


def _note(page: CardPage, agreement: str) -> str:
    asks = f"asks {page.needs}" if page.needs else ""
    notes = (markdown_of(page.entry.card.summary).rstrip("."), asks, agreement)
    return "; ".join(note for note in notes if note) + "."


def agreement_tables(pages: Iterable[CardPage]) -> str:
    """How far each metric agrees with people, by task and dimension, the best first."""
    rated: dict[str, list[tuple[float, Sequence[str]]]] = {}
    for page in pages:
        for heading, value, cells in _measured_of(page):
            rated.setdefault(heading, []).append((value, cells))
    heads = ("Metric", "Agreement", "Interval", "Human ceiling", "Chance", "Measured by")
    tables = (
        f"## {markdown_of(capital(heading))}\n\n"
        + _table(heads, (cells for _, cells in sorted(rows, key=lambda row: -row[0])))
        for heading, rows in sorted(rated.items(), key=lambda item: item[0].casefold())
    )
    return (
        "# Agreement with people\n\nHow well each metric agrees with people who rated the same "
        "outputs, by its best output and setting. Compare only values of the same coefficient on "
        "the same data. The human ceiling is the agreement of one rater with the others, chance "
        "that of a constant score. If neither direction of a metric is better, its value keeps its "
        "sign, and a negative one may be as good. The values are a place to start: `metrichub "
        "agreement FILE --human COLUMN` chooses by your own ratings.\n\n" + "\n".join(tables)
    )


def _measured_of(page: CardPage) -> Iterator[tuple[str, float, Sequence[str]]]:
    """A metric's rows: the heading, the value and the cells; none where they can't be read."""
    try:
        studies = page.entry.studies
    except CardError:
        return
    for dimension in dict.fromkeys(v.dimension for study in studies for v in study.shown_values):
        for task, (study, value) in best_by_task(studies, dimension).items():
            settings = [text for text, usual in ((study.spec, page.name), (value.output, "score"))
                        if text != usual]  # fmt: skip
            aimless = page.entry.card.better(value.output) == "neither"
            yield (
                f"{task}: {dimension}",
                value.value or 0.0,
                (
                    " ".join([page.link, *map(_code, settings)]),
                    _figure(value.value) + (", neither direction is better" if aimless else ""),
                    f"{_figure(value.low)} to {_figure(value.high)}",
                    _figure(value.ceiling),
                    _figure(value.chance),
                    markdown_of(
                        f"{value.coefficient} ({value.level}), {study.data.get('name', '')}"
                    ),
                ),
            )


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def not_included(pages: Iterable[CardPage]) -> str:
    """Known metrics that have none of these pages, each under a heading to be found by."""
    included = {bare_name(page.entry.name) for page in pages}
    sections = []
    for metric in sorted(known_plugins(), key=lambda metric: metric.title.casefold()):
        if metric.letters not in included:
            section = f"## {markdown_of(metric.title)}\n\n{markdown_of(capital(metric.where))}\n"
            if metric.keywords:
                section += f"\nAlso searched as: {markdown_of(', '.join(metric.keywords))}\n"
            sections.append(section)
    return (
        "# Metrics not included\n\nKnown metrics that metrichub doesn't include, and where to find "
        "them.\n\n" + "\n".join(sections)
    )


def reference() -> Iterator[tuple[str, str]]:
    """The title and text of each page of the reference, in the order in which one needs them."""
    for title, names in NAMES.items():
        blocks = (_INHERITED if name == "Report" else f"::: metrichub.{name}\n" for name in names)
        yield title, f"# {title}\n\n" + "\n".join(blocks)
    yield "Command line", _COMMANDS
    for title, modules in MODULES.items():
        yield title, f"# {title}\n\n" + "\n".join(map(_module, modules))


def _module(module: str) -> str:
    """A module's own words, then its public names, modules among them in the same way.

    Only Python knows `__all__`, which is computed.
    """
    loaded = import_module(module)
    if not hasattr(loaded, "__all__"):
        return f"::: {module}\n"
    blocks = [f"::: {module}\n    options:\n      members: false\n"]
    for name in loaded.__all__:
        is_module = ismodule(getattr(loaded, name))
        blocks.append(_module(f"{module}.{name}") if is_module else f"::: {module}.{name}\n")
    return "\n".join(blocks)


def example_report(page: Path, installed: Collection[str]) -> bool:
    """Write the example report unless the page exists; False outside a clone, without its files."""
    folder = guides.folder().parent / "examples"
    files = {name: folder / file for name, file in _SYSTEMS.items()}
    if not all(file.is_file() for file in files.values()):
        return False
    if not set(EXAMPLE_METRICS).issubset(installed):
        return False
    if not page.exists():
        from metrichub import Hub, read

        reports = Hub(list(EXAMPLE_METRICS)).evaluate_all(
            {name: read(file) for name, file in files.items()}
        )
        (name, first), *others = reports.items()
        first.to_html(page, name=name, others=dict(others))
    return True
