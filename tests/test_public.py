"""The public surface: which names there are, that they resolve, and that others need no more."""

import importlib
import re
from pathlib import Path

import pytest

import metrichub
from tests import import_graph, surface

ROOT = Path(metrichub.__file__).parents[1]
MODULES = {*surface.MODULES, "metrichub.bridges"}


def test_the_public_names_and_their_signatures_are_those_on_record() -> None:
    assert surface.PATH.read_text(encoding="utf-8") == surface.surface(), (
        "the interface has changed: if it should, run `python -m tests.surface`, and say so in "
        "CHANGELOG.md"
    )


@pytest.mark.parametrize("module", surface.MODULES)
def test_every_public_name_is_offered_for_completion(module: str) -> None:
    result = importlib.import_module(module)
    assert set(surface.public(module)) <= set(dir(result))
    with pytest.raises(AttributeError, match=f"module {module!r} has no attribute 'no_such_name'"):
        _ = result.no_such_name


def test_users_find_every_error() -> None:
    result = {name: getattr(metrichub.errors, name) for name in surface.public("metrichub.errors")}
    kinds = {name for name, value in result.items() if isinstance(value, type)}
    assert {name for name in kinds if issubclass(result[name], Exception)} <= set(metrichub.__all__)


def others() -> list[Path]:
    """What people write on top: cards, plugins, templates, examples and benchmarks."""
    paths = [*ROOT.glob("metric_cards/**/*.py"), *ROOT.glob("plugins/**/*.py")]
    paths += ROOT.glob("examples/**/*.py")
    return sorted(path for path in paths if "build" not in path.parts)


def test_code_that_builds_on_metrichub_imports_public_names_alone() -> None:
    offenders = [
        f"{path}: {name}"
        for path in others()
        for name in import_graph.imported(path)
        if name.partition(".")[0] == "metrichub" and not is_public(name)
    ]
    assert offenders == []


DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "metric_cards/**/*.md", "plugins/**/*.md")
    for path in ROOT.glob(pattern)
)
TEMPLATES = sorted((ROOT / "metrichub" / "cli" / "templates").rglob("*.txt"))


def test_documents_teach_public_names_alone() -> None:
    imports = re.compile(r"from (metrichub[\w.]*) import ([\w, ]+)")
    offenders = [
        f"{path}: {module}.{name}"
        for path in DOCUMENTS + TEMPLATES
        for module, names in imports.findall(path.read_text(encoding="utf-8"))
        for name in re.split(r", *", names.strip())
        if not is_public(f"{module}.{name.partition(' ')[0]}")
    ]
    assert offenders == []


def is_public(name: str) -> bool:
    """Whether a name is a public module or belongs to one."""
    module, _, attribute = name.rpartition(".")
    return name in MODULES or (module in MODULES and attribute in surface.public(module))
