"""What the cards' site, the app and reports share: a stylesheet, and Markdown as safe HTML."""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).parent / "static"
THEME = "theme.css"


def theme() -> str:
    """Colours and fonts as custom properties, which follow the scheme that the reader chose."""
    return (STATIC / THEME).read_text(encoding="utf-8")
