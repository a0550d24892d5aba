"""The index of cards: the generated block of a folder's README.md, from the cards' front matter."""

from __future__ import annotations

import sys
from pathlib import Path

from metrichub.catalog.card import Card, with_blocks
from metrichub.catalog.frontmatter import JUDGES


def index(folder: Path) -> str:
    """A Markdown table of the cards in a folder, by family, then by name."""
    cards = [Card.read(path) for path in folder.glob("*/README.md")]
    head = "| metric | family | judge | inputs | what it is |\n| --- | --- | --- | --- | --- |\n"
    rows = [
        f"| [{card.name}]({card.name}/README.md) | {card.tags.family} | "
        f"{JUDGES[card.judge] if card.judge else ''} | "
        f"{', '.join(card.inputs)} | {card.summary} |\n"
        for card in sorted(cards, key=lambda card: (card.tags.family, card.name))
    ]
    return head + "".join(rows)


def by_task(folder: Path, link: str) -> str:
    """A Markdown table of the cards by task, each under its first; `link` leads to the folder."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for card in sorted(map(Card.read, folder.glob("*/README.md")), key=lambda card: card.name):
        asking = bool(card.judge or card.embedder)
        row = found.setdefault(card.tags.task[0], ([], []))
        row[asking].append(f"[{card.name}]({link}/{card.name}/README.md)")
    order = sorted(found, key=lambda task: (-sum(map(len, found[task])), task))
    head = "| task | computed | asked of a judge or an embedder |\n| --- | --- | --- |\n"
    return head + "".join(
        f"| {task} | {', '.join(found[task][0])} | {', '.join(found[task][1])} |\n"
        for task in order
    )


def write_index(folder: str = "metric_cards") -> None:
    """Rewrite the index in a folder's README.md, and the tasks in that of its parent."""
    home = Path(folder)
    _rewrite(home / "README.md", {"index": index(home)})
    if "generated: tasks" in (front := home.parent / "README.md").read_text(encoding="utf-8"):
        _rewrite(front, {"tasks": by_task(home, home.name)})


def _rewrite(path: Path, blocks: dict[str, str]) -> None:
    path.write_text(with_blocks(path.read_text(encoding="utf-8"), blocks), encoding="utf-8")


if __name__ == "__main__":
    write_index(*sys.argv[1:])
