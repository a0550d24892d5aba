"""Known metrics that don't come with metrichub: who brings them, or why nobody does."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path


def elsewhere(letters: str) -> str | None:
    """What to say to those who ask for a metric by a name of these letters; None if unknown."""
    found = _known().get(letters)
    if found is None:
        return None
    if "in" in found:
        return f"it comes with {found['in']}: pip install {found['in']}"
    return found["why"]


@cache
def _known() -> Mapping[str, Mapping[str, str]]:
    import tomllib

    return tomllib.loads(Path(__file__).with_name("elsewhere.toml").read_text(encoding="utf-8"))
