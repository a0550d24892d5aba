"""What hints say to install can be installed: extras of what is here, or paths in a clone."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metrichub.catalog import known_plugins

ROOT = Path(__file__).resolve().parents[1]
HOMES = {"metrichub": ROOT} | {home.name: home for home in sorted(ROOT.glob("plugins/*"))}


def hints() -> Iterator[tuple[Path, str]]:
    """The files of all code, cards, guides and workflows, and the words behind `pip install`."""
    folders = ["metrichub", "metric_cards", "plugins", "docs", "benchmarks", "scripts"]
    folders += [".ci", ".github"]
    paths = list(ROOT.glob("*.md"))
    for folder in folders:
        paths += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    for path in sorted(paths):
        if path.suffix in {"", ".html", ".js", ".md", ".py", ".toml", ".txt", ".yml"}:
            text = path.read_text(encoding="utf-8")
            for command in re.findall(r"pip install ([^`\"\n&|;]+)", text):
                try:
                    words = shlex.split(command, comments=True)
                except ValueError:  # it goes on in prose
                    words = command.split()
                yield from ((path, word) for word in words)


def project_of(home: Path) -> dict[str, Any]:
    """What a distribution's pyproject.toml says of it."""
    text = (home / "pyproject.toml").read_text(encoding="utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    return project


def test_what_a_hint_says_to_install_can_be_installed() -> None:
    result = list(hints())
    ours = {"metrichub[plots]", "metrichub-neural[torch]", ".", "./plugins/metrichub-neural[torch]"}
    assert ours <= {hint for _, hint in result}
    for path, word in result:
        name, _, extras = word.partition("[")
        named = set(extras.partition("]")[0].split(",")) - {""}
        # The guide of gates builds this one.
        if word == "./wheels/metrichub-*.whl" and "pip wheel" in path.read_text("utf-8"):
            continue
        # Nobody has a file of ours, and no index.
        assert not word.endswith((".whl", ".tar.gz")), path
        if name in HOMES:
            # pip looks for no distribution that is installed, and so finds its extras anywhere.
            assert named, f"{path} says to install {name}, which no package index has"
            assert name == "metrichub" or HOMES[name] in path.parents, path
        if name in HOMES or re.fullmatch(r"\.(?:/plugins/[\w-]+)?", name):
            project = project_of(HOMES.get(name, ROOT / name))
            assert named <= project.get("optional-dependencies", {}).keys(), (path, word)


def test_after_a_release_it_names_the_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_plugins, "RELEASED", True)
    known_plugins.known_plugins.cache_clear()
    try:
        assert known_plugins.elsewhere("bertscore") == (
            "it is part of the plugin metrichub-neural; pip install metrichub-neural"
        )
    finally:
        known_plugins.known_plugins.cache_clear()
