"""The index of cards: the generated block of a folder's README.md, from the cards' front matter."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

from metrichub.catalog.card import Card, with_blocks
from metrichub.catalog.frontmatter import JUDGES

_HEAD = "| metric | needs | what it measures |\n| --- | --- | --- |\n"


def index(folder: Path) -> str:
    """Markdown tables of the cards in a folder, each card under its first task."""
    cards = sorted(map(Card.read, folder.glob("*/README.md")), key=lambda c: (_task(c), c.name))
    return "\n".join(
        f"## {task.capitalize() if task != 'rag' else 'RAG'}\n\n{_HEAD}{''.join(map(_row, group))}"
        for task, group in groupby(cards, key=_task)
    )


def _task(card: Card) -> str:
    return card.tags.task[0]


def _row(card: Card) -> str:
    needs = JUDGES[card.judge] if card.judge else "an embedder" if card.embedder else ""
    return f"| [{card.name}]({card.name}/README.md) | {needs} | {card.summary} |\n"


def write_index(folder: str = "metric_cards") -> None:
    """Rewrite the index in a folder's README.md."""
    path = Path(folder) / "README.md"
    blocks = {"index": index(path.parent)}
    path.write_text(with_blocks(path.read_text(encoding="utf-8"), blocks), encoding="utf-8")


if __name__ == "__main__":
    write_index(*sys.argv[1:])
