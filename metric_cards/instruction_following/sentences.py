"""Sentences of a reply, by sentencex or by Punkt, which IFEval takes."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from metrichub.authoring import sentences
from metrichub.errors import MissingDependency

Splitter = Literal["sentencex", "punkt"]
INSTALL = "pip install nltk && python -m nltk.downloader punkt_tab"


def split(text: str, splitter: Splitter) -> list[str]:
    """The sentences of a text.

    Raises:
        MissingDependency: nltk or its model of Punkt isn't there.
    """
    return list(_punkt().tokenize(text)) if splitter == "punkt" else sentences(text)


@cache
def _punkt() -> Any:
    try:
        from nltk.tokenize.punkt import PunktTokenizer

        return PunktTokenizer("english")
    except (ImportError, LookupError):
        needed_by = "instruction_following(splitter='punkt')"
        raise MissingDependency(needed_by, "nltk's model punkt_tab", INSTALL) from None
