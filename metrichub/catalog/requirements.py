"""Requirements: what a metric needs beside metrichub, whether it is there, and how to get it."""

from __future__ import annotations

import importlib
import importlib.util
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from metrichub.errors import MissingDependency

if TYPE_CHECKING:
    from packaging.requirements import Requirement


CALIBRATION = "metrichub.agreement.calibrated_differences"


def is_requirement(text: str) -> bool:
    """Whether pip would know what to install: "jsonschema", "jsonschema>=4.23"."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        Requirement(text)
    except InvalidRequirement:
        return False
    return True


def missing_requirements(requires: Iterable[str]) -> tuple[str, ...]:
    """Those requirements that aren't installed, or not in a version that fits."""
    return tuple(text for text in requires if not _is_met(text))


def required_names(requires: Iterable[str]) -> frozenset[str]:
    """The distributions that are required, without versions and conditions."""
    from packaging.requirements import Requirement

    return frozenset(Requirement(text).name for text in requires)


def required_by(distribution: str, *, extras: bool = False) -> list[str]:
    """The distributions that an installed one requires, with those of its extras if asked for."""
    import importlib_metadata
    from packaging.requirements import Requirement

    try:
        entries = importlib_metadata.requires(distribution) or []
    except importlib_metadata.PackageNotFoundError:
        return []
    return [Requirement(text).name for text in entries if extras or "extra ==" not in text]


def install_command(distribution: str, requires: Sequence[str]) -> str:
    """The command that installs requirements, by an extra of the distribution if one is the same.

    >>> install_command("metrichub", ["jsonschema>=4.23"])
    "pip install 'metrichub[jsonschema]'"
    >>> install_command("metrichub", ["sentencepiece"])
    'pip install sentencepiece'
    """
    from packaging.requirements import Requirement

    required = {_comparable(Requirement(text)) for text in requires}
    for extra, entries in _extras_of(distribution):
        if set(map(_comparable, entries)) == required:
            requires = [f"{distribution}[{extra}]"]
            break
    return f"pip install {shlex.join(requires)}"


def lacking_of_extras(distribution: str) -> dict[str, tuple[str, ...]]:
    """The extras of an installed distribution, each with its requirements that aren't installed."""
    # Without the marker, which is false where no extra is asked for.
    return {
        extra: missing_requirements(f"{entry.name}{entry.specifier}" for entry in entries)
        for extra, entries in _extras_of(distribution)
    }


def _extras_of(distribution: str) -> Iterator[tuple[str, list[Requirement]]]:
    """The extras of an installed distribution, each with the requirements that come with it."""
    import importlib_metadata
    from packaging.requirements import Requirement

    try:
        installed = importlib_metadata.distribution(distribution)
    except importlib_metadata.PackageNotFoundError:
        return
    offered = [Requirement(text) for text in installed.requires or []]
    for extra in installed.metadata.get_all("Provides-Extra") or []:
        yield str(extra), [entry for entry in offered if _comes_with(entry, extra)]


def _is_met(text: str) -> bool:
    import importlib_metadata
    from packaging.requirements import Requirement

    requirement = Requirement(text)
    if requirement.marker and not requirement.marker.evaluate():
        return True
    try:
        version = importlib_metadata.version(requirement.name)
    except importlib_metadata.PackageNotFoundError:
        return False
    return requirement.specifier.contains(version, prereleases=True)


def _comes_with(requirement: Requirement, extra: str) -> bool:
    marker = requirement.marker
    return bool(marker and marker.evaluate({"extra": extra}) and not marker.evaluate({"extra": ""}))


def _comparable(requirement: Requirement) -> tuple[str, object, frozenset[str]]:
    """A requirement in one spelling, without the condition that it stands under."""
    from packaging.utils import canonicalize_name

    name = canonicalize_name(requirement.name)
    return name, requirement.specifier, frozenset(requirement.extras)


def optional_package(module: str, needed_by: str) -> Any:
    """A module of a package that stands on the core, which may be installed without it.

    Raises:
        MissingDependency: the package isn't there.
    """
    package = ".".join(module.split(".")[:2])
    if importlib.util.find_spec(package) is None:
        raise MissingDependency(needed_by, package, "this installation was made without it")
    return importlib.import_module(module)
