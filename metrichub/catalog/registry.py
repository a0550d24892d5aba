"""The registry: which metrics are installed, found through entry points without importing them."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrichub.catalog.card import Card
from metrichub.catalog.foreign_code import is_foreign
from metrichub.catalog.frontmatter import pattern_of
from metrichub.catalog.known_plugins import bare_name, elsewhere
from metrichub.catalog.requirements import install_command, missing_requirements
from metrichub.catalog.spec import Spec
from metrichub.errors import (
    AmbiguousMetric,
    BrokenMetric,
    CardError,
    MetrichubError,
    MissingDependency,
    SpecError,
    UnknownMetric,
    did_you_mean,
    listed,
)

if TYPE_CHECKING:
    from importlib_metadata import Distribution

    from metrichub.catalog.studies import Study

METRICS = "metrichub.metrics"
_OURS = "metrichub"
_NAMES = 4
"""How many metrics are named at most to those who ask for one by another name."""


@dataclass(frozen=True)
class Entry:
    """An installed metric: its name, its distribution, and where its code is."""

    name: str
    distribution: str
    version: str
    value: str = field(repr=False)

    @property
    def qualified(self) -> str:
        """The unambiguous name: "my-dist/bleu"."""
        return f"{self.distribution}/{self.name}"

    @cached_property
    def card(self) -> Card:
        """The metric's card, read without importing its code.

        Raises:
            CardError: there is no card, or it breaks the format.
        """
        return Card.read(self.folder / "README.md")

    @cached_property
    def studies(self) -> tuple[Study, ...]:
        """The metric's measured agreement with people, from the file next to its card.

        Raises:
            CardError: the file breaks the format.
        """
        from metrichub.catalog.studies import read_studies

        return read_studies(self.folder)

    @property
    def install(self) -> str:
        """The command that installs what the card requires; "" if it requires nothing."""
        requires = self.card.requires
        return install_command(self.distribution, requires) if requires else ""

    @property
    def lacking(self) -> MissingDependency | None:
        """The error to raise if not all requirements of the metric are installed, or None."""
        absent = missing_requirements(self.card.requires)
        return MissingDependency(self.name, absent[0], self.install) if absent else None

    @property
    def folder(self) -> Path:
        """The folder of the metric's module, found without importing anything."""
        module = self.value.partition(":")[0]
        top, *names = module.split(".")
        try:
            spec = importlib.util.find_spec(top)
        except (ImportError, ValueError):
            spec = None
        for place in (spec and spec.submodule_search_locations) or ():
            if (folder := Path(place, *names)).is_dir():
                return folder
        raise CardError(
            f"{self.qualified}: the package {module} that its entry point names doesn't exist; "
            "reinstall or remove the distribution"
        )

    @property
    def problem(self) -> str | None:
        """Why the card can't be read, or None; the code isn't checked."""
        try:
            _ = self.card
        except MetrichubError as error:
            return str(error)
        return None

    def load(self) -> Any:
        """The class that the entry point names.

        Raises:
            MissingDependency: it can't be imported, because packages that its card requires aren't
                installed.
            BrokenMetric: its module can't be imported, or has no such attribute.
        """
        module, _, attribute = self.value.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute)
        except BaseException as error:
            if not is_foreign(error):
                raise
            if not self.problem and (lacking := self.lacking):
                raise lacking from error
            raise BrokenMetric(
                f"{self.qualified} (version {self.version}) is installed but can't be imported: "
                f"{type(error).__name__}: {error}; reinstall or remove the distribution "
                f"{self.distribution}"
            ) from error


@dataclass(frozen=True)
class Registry:
    """The installed entries of one entry-point group, by name and by qualified name."""

    entries: tuple[Entry, ...]
    kind: str = "metric"

    @classmethod
    def installed(cls, group: str = METRICS, kind: str = "metric") -> Registry:
        """The entries of every installed distribution, ours first, then by name."""
        import importlib_metadata

        entries = []
        labels: dict[int, tuple[str, str]] = {}
        for point in importlib_metadata.entry_points(group=group):
            if point.dist is not None:
                if id(point.dist) not in labels:
                    labels[id(point.dist)] = _name_and_version(point.dist)
                distribution, version = labels[id(point.dist)]
                entries.append(Entry(point.name, distribution, version, point.value))
        entries.sort(key=lambda entry: (entry.distribution != _OURS, entry.qualified))
        return cls(tuple(entries), kind)

    @cached_property
    def _by_name(self) -> Mapping[str, list[Entry]]:
        table: dict[str, list[Entry]] = {}
        for entry in self.entries:
            table.setdefault(entry.name, []).append(entry)
            table.setdefault(entry.qualified, []).append(entry)
        return table

    @cached_property
    def _by_letters(self) -> Mapping[str, list[Entry]]:
        """The entries by the letters and digits of their names, where these are of one name."""
        table: dict[str, set[str]] = {}
        for entry in self.entries:
            table.setdefault(bare_name(entry.name), set()).add(entry.name)
        return {
            letters: self._by_name[name] for letters, (name, *others) in table.items() if not others
        }

    @cached_property
    def by_value(self) -> Mapping[str, Entry]:
        """The first entry that names each object ("package.module:Class")."""
        return {entry.value: entry for entry in reversed(self.entries)}

    def __contains__(self, name: object) -> bool:
        """Whether `find` gives an entry for this name."""
        entries = self._named(name) if isinstance(name, str) else []
        return len(entries) == 1 or any(entry.distribution == _OURS for entry in entries)

    def find(self, name: str) -> Entry:
        """The entry of a plain or qualified name; a plain built-in name is the built-in.

        A name in other letters finds it too: "BLEU", "exact-match", "Exact match", "TokenF1".

        Raises:
            UnknownMetric: there is none; the text has near matches, or says where it is.
            AmbiguousMetric: two plugins use the name; the text has the qualified ones.
        """
        entries = self._named(name)
        if not entries:
            raise self._unknown(name)
        if len(entries) > 1 and entries[0].distribution != _OURS:
            names = " or ".join(repr(entry.qualified) for entry in entries)
            raise AmbiguousMetric(
                f"several installed distributions have a {self.kind} {name!r}; choose {names}"
            )
        return entries[0]

    def _unknown(self, name: str) -> UnknownMetric:
        """The error for a name that nothing has: where it is, what is near, or how to search."""
        if self.kind == "metric" and (where := elsewhere(name)):
            return UnknownMetric(f"{name} isn't installed: {where}")
        slash = "/" in name
        keys = [key for key in self._by_name if slash or "/" not in key]
        written = name if slash else _as_written_here(name)
        parts = [key for key in keys if written.lower() in key.split("_")]
        with_output, with_keyword, presets = self._cards_with(name)
        names = list(dict.fromkeys([*with_keyword[:2], *parts, *with_keyword])) or with_output
        near, names = did_you_mean(written, keys), names[:_NAMES]
        if names:
            outputs = ""
            if {*names} <= {*with_output}:
                outputs = f", which {'has' if len(names) == 1 else 'have'} the output {name!r}"
            near = f"; did you mean {listed(map(repr, names), 'or')}{outputs}?"
        if self.kind != "metric":
            plain = [key for key in self._by_name if "/" not in key]
            installed = f"installed: {', '.join(plain) or 'none'}"
        else:
            if presets:
                near = f"; did you mean {listed(map(repr, presets[:3]), 'or')}?"
            installed = "'metrichub list' shows the installed ones"
            if not near and re.fullmatch(r"[\w+-]+", name):
                installed = f"'metrichub list {name}' searches the cards"
        return UnknownMetric(f"no {self.kind} {name!r} is installed{near} ({installed})")

    def _cards_with(self, name: str) -> tuple[list[str], list[str], list[str]]:
        """The metrics with an output and with a keyword of a name, and the specs of its presets.

        The case of letters and how words are joined make no difference, as in "ROUGE-L", "ndcg@10".
        """
        with_output, with_keyword, presets = [], [], []
        letters, written = bare_name(name), bare_name(_as_written_here(name))
        for entry in self.entries:
            with suppress(CardError):
                outputs = {bare_name(output) for output in entry.card.scores} - {"score"}
                if outputs & {letters, bare_name(pattern_of(name))}:
                    with_output.append(entry.name)
                if written in map(bare_name, entry.card.keywords):
                    with_keyword.append(entry.name)
                if name.lower() in entry.card.presets:
                    presets.append(f"{entry.name}({name.lower()})")
        return with_output, with_keyword, presets

    def _named(self, name: str) -> list[Entry]:
        """The entries of a plain or qualified name, ours first."""
        distribution, slash, plain = name.rpartition("/")
        entries = self._by_name.get(f"{_normal(distribution)}/{plain}" if slash else name, [])
        # Not "chrF++", which is chrF with another parameter.
        if not entries and re.fullmatch(r"[\w -]+", name):
            return self._by_letters.get(bare_name(name), [])
        return entries

    def shadowed(self) -> Iterable[Entry]:
        """The entries that a plain name doesn't reach: they need their qualified name."""
        return (entry for entry in self.entries if self.name_of(entry) != entry.name)

    def name_of(self, entry: Entry) -> str:
        """The name that finds an entry: qualified where a plain one doesn't reach it."""
        rivals = self._by_name[entry.name]
        hidden = len(rivals) > 1 and (rivals[0] != entry or entry.distribution != _OURS)
        return entry.qualified if hidden else entry.name


@lru_cache(maxsize=1)
def registry() -> Registry:
    """The installed metrics, read once a process."""
    return Registry.installed()


def spec_of(text: str) -> Spec:
    """The spec that a text is; a name in other letters, such as "exact-match", is one too.

    Raises:
        SpecError: the text isn't a valid spec, or the metric has no such preset.
    """
    # Such a name can't be parsed, but may be found.
    name = re.fullmatch(r"[A-Za-z][\w+@-]*", text) or text in registry()
    return Spec(text) if name else Spec.parse(text, _preset)


def _preset(metric: str, name: str) -> Mapping[str, object]:
    """The parameters of a metric's preset."""
    entry = registry().find(metric)
    presets = entry.card.presets
    if name not in presets:
        its_presets = f"it has {listed(map(repr, presets))}" if presets else "it has none"
        hint = did_you_mean(name, presets)
        raise SpecError(
            f"{entry.name} has no preset {name!r}{hint} ({its_presets}); give parameters by name"
        )
    return presets[name]


def origin(metric: type) -> Entry | None:
    """The installed entry that names this class, or None for a metric of the caller's own."""
    value = f"{metric.__module__}:{metric.__qualname__}"
    return registry().by_value.get(value)


def _as_written_here(name: str) -> str:
    """A name as metrics write theirs: "exact_match" for "ExactMatch", "bleu" for "BleuScore"."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", name)
    snake = re.sub(r"\W+", "_", words).strip("_").lower()
    return re.sub(r"(?<=.)_?(metric|score)$", "", snake) or snake


def _name_and_version(distribution: Distribution) -> tuple[str, str]:
    """Both as the metadata says; parsed as mail, README and all, only where need be."""
    head = (distribution.read_text("METADATA") or "").partition("\n\n")[0]
    fields = dict(re.findall(r"^(Name|Version):[ \t]*(.*)$", head, re.MULTILINE))
    if len(fields) < 2:
        return _normal(distribution.name), distribution.version
    return _normal(fields["Name"]), fields["Version"]


def _normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()
