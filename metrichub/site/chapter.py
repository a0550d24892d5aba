"""What a page of the site is that is no card."""

from __future__ import annotations

from dataclasses import dataclass

GUIDES, REFERENCE, API = "Guides", "Reference", "API"


@dataclass(frozen=True)
class Chapter:
    """A page of the site that is no card: where it lies, under which group, and its HTML.

    `whole` says that the HTML is a page of its own, which stays as it is; `source` is the file of
    the repository that it is made from, and `words` what the search finds it by beside its title.
    """

    path: str
    title: str
    summary: str
    group: str
    html: str
    whole: bool = False
    source: str = ""
    words: str = ""
