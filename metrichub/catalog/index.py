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


def write_index(folder: str = "metric_cards") -> None:
    """Rewrite the index in a folder's README.md."""
    path = Path(folder, "README.md")
    text = with_blocks(path.read_text(encoding="utf-8"), {"index": index(Path(folder))})
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_index(*sys.argv[1:])
