"""Shared by readers of logs: files beside a log, warnings, and columns of scores."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metrichub.data.columns import TEXT, column_of_alias


def object_in(file: Path) -> Mapping[str, Any]:
    """The JSON object in a file; {} if there is none."""
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, Mapping) else {}


def warn(path: str, message: str) -> None:
    """Log a warning about a log, which commands show as a note."""
    logging.getLogger("metrichub").warning("%s: %s", path, message)


def score_column(name: str) -> str:
    """The column of a score, which isn't taken for a text or for the choices."""
    taken = column_of_alias(name) in (*TEXT, "choice", "choices")
    return f"score.{name}" if taken else name


def likeliest(choices: list[str], likelihoods: list[float]) -> str:
    """The choice of the highest likelihood, the first of several."""
    return choices[max(range(len(likelihoods)), key=likelihoods.__getitem__)]


def one_or_several(texts: list[str]) -> str | list[str]:
    """The only text of a list, or the list."""
    return texts[0] if len(texts) == 1 else texts
