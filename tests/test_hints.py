"""What hints say to install can be installed: extras of what is here, or paths in a clone."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from metrichub.catalog import elsewhere

ROOT = Path(__file__).resolve().parents[1]
HOMES = {"metrichub": ROOT} | {home.name: home for home in sorted(ROOT.glob("plugins/*"))}


class Hint(NamedTuple):
    """One thing that a file says to install, and where the file says so."""

    path: Path
    wanted: str

    @property
    def extras(self) -> set[str]:
        """The extras that it names."""
        return {
            extra for found in re.findall(r"\[(.*)\]", self.wanted) for extra in found.split(",")
        }


def hints() -> Iterator[Hint]:
    """Whatever follows `pip install`, from all code, cards, guides and workflows."""
    folders = ["metrichub", "metric_cards", "plugins", "docs", "benchmarks", "scripts"]
    folders += [".ci", ".github"]
    paths = list(ROOT.glob("*.md"))
    for folder in folders:
        paths += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    for path in sorted(paths):
        if path.suffix in {"", ".html", ".js", ".md", ".py", ".toml", ".txt", ".yml"}:
            text = path.read_text(encoding="utf-8")
            for command in re.findall(r"pip install ([^`\"\n&|;]+)", text):
                yield from (Hint(path, wanted) for wanted in words_of(command))


def words_of(command: str) -> list[str]:
    """The words of a command, or of as much of it as is no prose."""
    try:
        return shlex.split(command, comments=True)
    except ValueError:
        return command.split()


def project_of(home: Path) -> dict[str, Any]:
    """What a distribution's pyproject.toml says of it."""
    text = (home / "pyproject.toml").read_text(encoding="utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    return project


HINTS = list(hints())


def test_an_extra_that_a_hint_names_is_one() -> None:
    ours = [hint for hint in HINTS if hint.wanted.partition("[")[0] in HOMES]
    assert {"metrichub[plots]", "metrichub-neural[torch]"} <= {hint.wanted for hint in ours}
    for hint in ours:
        name, home = hint.wanted.partition("[")[0], HOMES[hint.wanted.partition("[")[0]]
        # pip looks for no distribution that is installed, and so finds an extra of one anywhere.
        assert hint.extras, f"{hint.path} says to install {name}, which no package index has"
        assert hint.extras <= project_of(home)["optional-dependencies"].keys(), hint
        assert name == "metrichub" or home in hint.path.parents, hint


def test_a_path_that_a_hint_names_is_a_distribution() -> None:
    paths = [hint for hint in HINTS if re.match(r"\.(?:/plugins/[\w-]+)?(?:\[|$)", hint.wanted)]
    assert {".", "./plugins/metrichub-neural[torch]"} <= {hint.wanted for hint in paths}
    for hint in paths:
        home = ROOT / hint.wanted.partition("[")[0]
        assert hint.extras <= project_of(home).get("optional-dependencies", {}).keys(), hint


def test_nothing_is_installed_from_a_file_that_nobody_has() -> None:
    assert not [hint for hint in HINTS if hint.wanted.endswith((".whl", ".tar.gz"))]


def test_a_metric_of_a_plugin_names_the_plugin_s_folder() -> None:
    said = {known.where for known in elsewhere.all_elsewhere() if "pip install" in known.where}
    assert said
    for where in said:
        wanted = where.rpartition("pip install ")[2]
        home = HOMES[wanted] if elsewhere.RELEASED else ROOT / wanted
        assert project_of(home)["name"] == home.name
        assert ("in a clone of metrichub" in where) is not elsewhere.RELEASED


def test_after_a_release_it_names_the_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "RELEASED", True)
    elsewhere.all_elsewhere.cache_clear()
    try:
        assert elsewhere.elsewhere("bertscore") == (
            "it is part of the plugin metrichub-neural; pip install metrichub-neural"
        )
    finally:
        elsewhere.all_elsewhere.cache_clear()
