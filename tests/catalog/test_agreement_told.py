"""Agreement on cards: no figure without a study or a source, and nothing left unsaid."""

from __future__ import annotations

import re

from metrichub import list_metrics
from metrichub.catalog.card import Card
from metrichub.catalog.registry import Entry

OURS = [entry for entry in list_metrics() if entry.distribution == "metrichub"]

_BLOCK = re.compile(r"<!-- generated: agreement -->.*?<!-- end -->", re.DOTALL)
_CITED = re.compile(
    r"(?P<who>[A-Z][\w'’-]+)(?: and [A-Z][\w'’-]+|\s+et\s+al\.)?,?\s+\(?(?P<year>(?:19|20)\d\d)\b"
)
# Fractions, percentages and signed numbers; not years, counts of texts or parts of names.
_FIGURE = re.compile(r"(?<![\w.])[-−+]?\d*\.\d+|\d+\s?%|\d+ in \d+\b")
_SETTING = re.compile(r"95% (?:certainty|intervals?)|`[^`]*`|\bdefinition \d+")
_UNRATED = re.compile(
    r"(?:have|has) not (?:been )?(?:measured|compared)|know of no (?:such )?study"
    r"|obody (?:has )?rated"
)


def section(card: Card, heading: str) -> str:
    return card.body.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def paragraphs(text: str) -> list[str]:
    """The paragraphs, a table with what leads to it."""
    results: list[str] = []
    for part in re.split(r"\n\s*\n", _BLOCK.sub("", text).strip()):
        if part.startswith("|") and results:
            results[-1] += f"\n{part}"
        elif part:
            results.append(part)
    return results


def unsourced(card: Card) -> list[str]:
    """The paragraphs with figures of agreement and without a source that the card lists."""
    listed = f"{section(card, 'Citation')}\n{section(card, 'Further reading')}"
    entries = re.split(r"\n(?=- |\s*\n|@)", listed)

    def sourced(part: str) -> bool:
        return any(
            match["who"] in entry and match["year"] in entry
            for match in _CITED.finditer(part)
            for entry in entries
        )

    text = paragraphs(section(card, "Agreement with people"))
    return [part for part in text if _FIGURE.search(_SETTING.sub("", part)) and not sourced(part)]


def shown(entry: Entry) -> bool:
    return any(study.shown for study in entry.studies)


def test_no_figure_of_agreement_stands_without_its_source() -> None:
    offenders = {entry.name: unsourced(entry.card) for entry in OURS if unsourced(entry.card)}
    assert offenders == {}


def test_a_card_without_a_study_says_that_nobody_measured_it() -> None:
    claims = {
        entry.name: " ".join(section(entry.card, "Agreement with people").split())
        for entry in OURS
        if not shown(entry)
    }
    assert {name: text for name, text in claims.items() if not _UNRATED.search(text)} == {}


def test_what_is_measured_stands_in_its_block_and_nowhere_else() -> None:
    sections = {entry: section(entry.card, "Agreement with people") for entry in OURS}
    with_block = {e.name for e, text in sections.items() if "<!-- generated: agreement -->" in text}
    assert with_block == {entry.name for entry in OURS if shown(entry)}
    outside = {e.name: " ".join(_BLOCK.sub("", text).split()) for e, text in sections.items()}
    assert [name for name, text in outside.items() if re.search(r"[Ww]e measured", text)] == []
