"""Named protocols: what a paper correlates with what, at which level, so that tables compare."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from metrichub.errors import ParameterError, did_you_mean


class Protocol(NamedTuple):
    """How a paper or a shared task measures agreement.

    `values` are the coefficients with their levels. `references` says how to use several
    references, if not in the metric's own way: "each" is the mean of the scores against each
    reference alone.
    """

    name: str
    title: str
    values: tuple[tuple[str, str], ...]
    draw: str
    references: str | None
    bibtex: str


def protocols() -> Mapping[str, Protocol]:
    """The protocols, by name."""
    return _PROTOCOLS


def protocol_of(name: str) -> Protocol:
    """The protocol of this name.

    Raises:
        ParameterError: there is none.
    """
    if name not in _PROTOCOLS:
        names = f"{', '.join(_PROTOCOLS)}{did_you_mean(str(name), _PROTOCOLS)}"
        raise ParameterError(None, "protocol", name, names)
    return _PROTOCOLS[name]


def _bibtex(papers: Iterable[str]) -> str:
    """The entries of papers, by their keys."""
    entries = _FILES.with_suffix(".bib").read_text(encoding="utf-8").strip().split("\n\n")
    return "\n\n".join(entry for paper in papers for entry in entries if f"{{{paper}," in entry)


_FILES = Path(__file__)
_PROTOCOLS = {
    name: Protocol(
        name,
        of["title"],
        tuple(map(tuple, of["values"])),
        of["draw"],
        of.get("references"),
        _bibtex(of["papers"]),
    )
    for name, of in tomllib.loads(_FILES.with_suffix(".toml").read_text(encoding="utf-8")).items()
}
DRAWS_BIBTEX = _bibtex(["deutsch-etal-2021-statistical"])
"""The paper of the intervals and the permutation tests."""
