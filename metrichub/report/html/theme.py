"""The stylesheet that reports, the site and the app share."""

from pathlib import Path

THEME = Path(__file__).parent / "static" / "theme.css"
"""Colours and fonts as custom properties, which follow the scheme that the reader chose."""
