"""WordNet's files on this machine: the synonyms of a word, as nltk's reader finds them.

The formats are those of the manual pages wndb(5WN) and morphy(7WN). Nothing is downloaded.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from zipfile import Path as ZipPath

from metrichub.errors import MissingDependency

ENDINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "noun": (
        *(("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch")),
        *(("shes", "sh"), ("men", "man"), ("ies", "y")),
    ),
    "verb": (
        *(("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", "")),
        *(("ing", "e"), ("ing", "")),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}
"""What each part of speech is inflected with, and what its base form has instead."""

INSTALL = "python -m nltk.downloader wordnet, or apt-get install wordnet-base"
_KINDS = ("index", "data")
_SHARED = ("share", "lib")
_MARKER = re.compile(r"\([^()]*\)$")


class WordNet:
    """The files of one folder; each part of speech is read when it is first asked for."""

    def __init__(self, folder: Path | ZipPath) -> None:
        self._parts = [_Part(folder, name) for name in ENDINGS]
        self._known: dict[str, frozenset[str]] = {}

    def synonyms(self, word: str) -> frozenset[str]:
        """The single words of all synsets of a word or of its base forms."""
        if word not in self._known:
            names = (name for part in self._parts for name in part.synonyms(word.lower()))
            self._known[word] = frozenset(name for name in names if "_" not in name)
        return self._known[word]


class _Part:
    """One part of speech: an index of base forms, their exceptions, and the synsets."""

    def __init__(self, folder: Path | ZipPath, name: str) -> None:
        self._folder, self._name = folder, name

    def synonyms(self, word: str) -> Iterator[str]:
        """The names in all synsets, with their underscores."""
        for form in {word, *self._bases(word)} & self._index.keys():
            fields = self._index[form].split()
            for offset in fields[-int(fields[2]) :]:
                yield from self._names(int(offset))

    def _bases(self, word: str) -> list[str]:
        if word in self._exceptions:
            return self._exceptions[word].split()[1:]
        endings = ENDINGS[self._name]
        return [word.removesuffix(old) + new for old, new in endings if word.endswith(old)]

    def _names(self, offset: int) -> Iterator[str]:
        line = self._synsets[offset : self._synsets.index(b"\n", offset)].decode()
        _, _, _, number, *words = line.split()
        for word in words[: 2 * int(number, 16) : 2]:
            yield _MARKER.sub("", word)

    @cached_property
    def _index(self) -> dict[str, str]:
        return self._lines(f"index.{self._name}")

    @cached_property
    def _exceptions(self) -> dict[str, str]:
        return self._lines(f"{self._name}.exc")

    @cached_property
    def _synsets(self) -> bytes:
        return (self._folder / f"data.{self._name}").read_bytes()

    def _lines(self, file: str) -> dict[str, str]:
        """The lines of a file by their first word; those of the licence begin with a space."""
        lines = (self._folder / file).read_text(encoding="utf-8").split("\n")
        return {word: line for line in lines if (word := line.partition(" ")[0])}


@cache
def open_wordnet(where: str) -> WordNet:
    """The WordNet in a folder or zip file, or for "auto" where nltk and Debian put it.

    Raises:
        MissingDependency: its files aren't there.
    """
    for path in _usual_places() if where == "auto" else [Path(where)]:
        folder = ZipPath(path, "wordnet/") if path.suffix == ".zip" and path.is_file() else path
        if all((folder / f"{kind}.{name}").is_file() for name in ENDINGS for kind in _KINDS):
            return WordNet(folder)
    place = "" if where == "auto" else f" in {where!r}"
    raise MissingDependency(f"synonyms={where!r}", f"a WordNet database{place}", INSTALL)


def _usual_places() -> Iterator[Path]:
    listed = [path for path in os.environ.get("NLTK_DATA", "").split(os.pathsep) if path]
    parts = [Path(home, part) for home in (sys.prefix, "/usr", "/usr/local") for part in _SHARED]
    homes = [Path.home(), Path(sys.prefix), *parts]
    for folder in (*map(Path, listed), *(home / "nltk_data" for home in homes)):
        yield folder / "corpora" / "wordnet"
        yield folder / "corpora" / "wordnet.zip"
    yield Path("/usr/share/wordnet")
