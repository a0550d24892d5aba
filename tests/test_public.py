"""The public surface: which names there are, that they resolve, and that others need no more."""

import importlib
import re
from pathlib import Path

import pytest

import metrichub
from tests import house, surface

ROOT = Path(metrichub.__file__).parents[1]
FACES = {*surface.FACES, "metrichub.bridges"}


def test_the_public_names_and_their_signatures_are_those_on_record() -> None:
    assert surface.PATH.read_text(encoding="utf-8") == surface.surface(), (
        "the interface has changed: if it should, run `python -m tests.surface`, and say so in "
        "CHANGELOG.md"
    )


@pytest.mark.parametrize("face", surface.FACES)
def test_every_public_name_is_offered_for_completion(face: str) -> None:
    module = importlib.import_module(face)
    assert set(surface.public(face)) <= set(dir(module))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = module.no_such_name


def test_users_find_every_error() -> None:
    assert {
        name for name, value in vars(metrichub.errors).items() if isinstance(value, type)
    } & set(surface.public("metrichub.errors")) <= set(metrichub.__all__)


def others() -> list[Path]:
    """What people write on top: cards, plugins, templates, examples and benchmarks."""
    found = [*ROOT.glob("metric_cards/**/*.py"), *ROOT.glob("plugins/**/*.py")]
    found += ROOT.glob("examples/**/*.py")
    return sorted(path for path in found if "build" not in path.parts)


@pytest.mark.parametrize("path", others(), ids=lambda path: str(path.relative_to(ROOT)))
def test_whoever_builds_on_metrichub_imports_public_names_alone(path: Path) -> None:
    for name in house.imported(path):
        if name.partition(".")[0] == "metrichub":
            assert_public(name)


DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "metric_cards/**/*.md", "plugins/**/*.md", "metrichub/**/*.md")
    for path in ROOT.glob(pattern)
)
TEMPLATES = sorted((ROOT / "metrichub" / "catalog" / "templates").rglob("*.txt"))


@pytest.mark.parametrize("path", DOCUMENTS + TEMPLATES, ids=lambda p: str(p.relative_to(ROOT)))
def test_documents_teach_public_names_alone(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for module, names in re.findall(r"from (metrichub[\w.]*) import ([\w, ]+)", text):
        for name in re.split(r", *", names.strip()):
            assert_public(f"{module}.{name.partition(' ')[0]}")


def assert_public(name: str) -> None:
    """Fail unless a name is one that a face offers."""
    face, _, own = name.rpartition(".")
    assert face in FACES, name
    assert own in surface.public(face), name
