"""Named protocols: what a paper correlates with what, at which level, so that tables compare."""

from __future__ import annotations

from collections.abc import Mapping
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
        known = f"{', '.join(_PROTOCOLS)}{did_you_mean(str(name), _PROTOCOLS)}"
        raise ParameterError(None, "protocol", name, known)
    return _PROTOCOLS[name]


def _bibtex(*papers: str) -> str:
    """The entries of papers, by their keys."""
    entries = Path(__file__).with_suffix(".bib").read_text(encoding="utf-8").strip().split("\n\n")
    return "\n\n".join(entry for paper in papers for entry in entries if f"{{{paper}," in entry)


_PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            "g-eval",
            "item-level Spearman and Kendall tau-b, each reference separately (UniEval, G-Eval)",
            (("item", "spearman"), ("item", "tau_b")),
            "both",
            "each",
            _bibtex("liu-etal-2023-g"),
        ),
        Protocol(
            "summeval",
            "system-level Kendall tau-b (SummEval)",
            (("system", "tau_b"),),
            "both",
            None,
            _bibtex("fabbri-etal-2021-summeval"),
        ),
        Protocol(
            "qags",
            "Pearson over all outputs (QAGS)",
            (("pooled", "pearson"),),
            "items",
            None,
            _bibtex("wang-etal-2020-asking"),
        ),
        Protocol(
            "wmt20-darr",
            "tau over pairs of an item rated 25 points apart, ties discordant (WMT 2020)",
            (("item", "tau_wmt"),),
            "items",
            None,
            _bibtex("mathur-etal-2020-results"),
        ),
        Protocol(
            "wmt25",
            "soft pairwise accuracy of systems, calibrated accuracy of items (WMT 2024, 2025)",
            (("system", "soft_pairwise_accuracy"), ("item", "acc_eq_calibrated")),
            "items",
            None,
            _bibtex(
                "lavie-etal-2025-findings", "thompson-etal-2024-improving", "deutsch-etal-2023-ties"
            ),
        ),
        Protocol(
            "true",
            "area under the ROC curve of yes/no labels (TRUE)",
            (("pooled", "auc"),),
            "items",
            None,
            _bibtex("honovich-etal-2022-true"),
        ),
    )
}
DRAWS_BIBTEX = _bibtex("deutsch-etal-2021-statistical")
"""Of the intervals and the permutation tests."""
