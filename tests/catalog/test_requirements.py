"""Requirements: what is missing, and the command that installs it."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from metrichub.catalog.registry import registry
from metrichub.catalog.requirements import (
    install_command,
    is_requirement,
    missing_requirements,
    required_names,
)

ROOT = Path(__file__).resolve().parents[2]


def installed(site: Path, name: str, version: str, *requires: str, extras: str = "") -> None:
    """Write the metadata of a distribution that has no code."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    lines = [f"Provides-Extra: {extra}" for extra in extras.split()]
    lines += [f"Requires-Dist: {text}" for text in requires]
    (info / "METADATA").write_text(head + "".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("jsonschema", True),
        ("tree-sitter>=0.22,<0.23", True),
        ("torch[cuda]>=2; python_version < '4'", True),
        ("<3", False),
        ("two words", False),
        ("torch>=", False),
        ("", False),
    ],
)
def test_a_requirement_is_what_pip_knows(text: str, valid: bool) -> None:
    assert is_requirement(text) is valid


@pytest.mark.parametrize(
    ("text", "present"),
    [
        ("toy-parser", True),
        ("Toy_Parser", True),
        ("toy-parser>=2", True),
        ("toy-parser>=2.1", False),
        ("toy-parser<2", False),
        ("toy-parser>1,<3", True),
        ("toy-gone", False),
        ("toy-gone; python_version < '3'", True),
        ("toy-parser<2; python_version >= '3'", False),
    ],
)
def test_a_requirement_is_missing_unless_a_version_that_fits_is_there(
    site: Path, text: str, present: bool
) -> None:
    installed(site, "toy-parser", "2.0")
    assert missing_requirements([text]) == (() if present else (text,))


def test_a_pre_release_that_is_installed_fits(site: Path) -> None:
    installed(site, "toy-parser", "2.0rc1")
    assert missing_requirements(["toy-parser>=1"]) == ()


def test_required_names_are_without_versions_and_conditions() -> None:
    assert required_names(["torch>=2", "jax; python_version < '3'"]) == {"torch", "jax"}


@pytest.mark.parametrize(
    ("requires", "command"),
    [
        (["alpha>=1", "beta"], "pip install 'toy-dist[both]'"),
        (["Beta", "alpha >= 1"], "pip install 'toy-dist[both]'"),
        (["beta"], "pip install beta"),
        (["alpha>=2", "beta"], "pip install 'alpha>=2' beta"),
        (["alpha>=1", "beta", "gamma"], "pip install 'alpha>=1' beta gamma"),
    ],
)
def test_an_extra_that_requires_the_same_is_what_to_install(
    site: Path, requires: Sequence[str], command: str
) -> None:
    parts = ("delta", 'alpha>=1; extra == "both"', 'beta; extra == "both"', 'gamma; extra == "one"')
    installed(site, "toy-dist", "1.0", *parts, extras="one both")
    assert install_command("toy-dist", requires) == command


def test_what_a_distribution_always_brings_is_no_extra(site: Path) -> None:
    parts = ('delta; python_version > "3"', 'alpha; extra == "one"')
    installed(site, "toy-dist", "1.0", *parts, extras="one")
    assert install_command("toy-dist", ["alpha"]) == "pip install 'toy-dist[one]'"
    assert install_command("toy-dist", ["delta", "alpha"]) == "pip install delta alpha"


def test_what_our_own_cards_require_is_an_extra_of_metrichub() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [set(texts) for texts in project["optional-dependencies"].values()]
    ours = [e for e in registry().entries if e.distribution == "metrichub" and e.card.requires]
    assert ours
    for entry in ours:
        assert set(entry.card.requires) in extras, entry.name
