"""New metrics: a folder with working code and card, or a whole plugin distribution around it."""

from __future__ import annotations

import keyword
import re
import shutil
import tempfile
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import NamedTuple

from metrichub.errors import SpecError


class Scaffold(NamedTuple):
    """A folder that was written, and the entry point that registers its metric."""

    folder: Path
    entry: str


def new_metric(name: str, parent: Path) -> Scaffold:
    """Write the folder of a metric below `parent`, the package that it belongs to.

    A parent that is no package yet becomes one, unless it is the working directory.

    Raises:
        SpecError: the name is no name for a metric.
        FileExistsError: the folder is there already.
    """
    _check(name)
    folder = _write(parent / name, _metric_files(name))
    if parent.resolve() != Path.cwd():
        (parent / "__init__.py").touch()
    return Scaffold(folder, _entry(name, ".".join([*_packages(parent.resolve()), name])))


def new_plugin(name: str, parent: Path, distribution: str | None = None) -> Scaffold:
    """Write a plugin distribution below `parent`; it builds, installs and passes its test as it is.

    Raises:
        SpecError: the name is no name for a metric, or the distribution's none for a distribution.
        FileExistsError: the folder is there already.
    """
    _check(name)
    distribution = distribution or f"metrichub-{name.replace('_', '-')}"
    package = re.sub(r"[-.]+", "_", distribution).lower()
    if not package.isidentifier() or not distribution.isascii():
        raise SpecError(f"{distribution!r} is no name for a distribution; write letters and -")
    entry = _entry(name, f"{package}.{name}")
    words = {"distribution": distribution, "package": package, "entry": entry}
    content = {
        "pyproject.toml": _filled("plugin/pyproject.toml", name, words),
        "README.md": _filled("plugin/README.md", name, words),
        f"{package}/__init__.py": "",
        f"tests/test_{name}.py": _filled("plugin/test.py", name, words),
        **{f"{package}/{name}/{path}": text for path, text in _metric_files(name).items()},
    }
    return Scaffold(_write(parent / distribution, content), entry)


def _packages(folder: Path) -> list[str]:
    """The names of the packages that a folder stands in, its own last."""
    if not (folder / "__init__.py").exists():
        return []
    return [*_packages(folder.parent), folder.name]


def _check(name: str) -> None:
    if re.fullmatch(r"[a-z][a-z0-9_]*", name) and not keyword.iskeyword(name):
        return
    better = re.sub(r"\W+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)).strip("_").lower()
    hint = f", for example {better!r}" if re.fullmatch(r"[a-z][a-z0-9_]*", better) else ""
    raise SpecError(f"{name!r} is no name for a metric; write lower case with underscores{hint}")


def _entry(name: str, module: str) -> str:
    return f'{name} = "{module}:{_class_name(name)}"'


def _class_name(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _metric_files(name: str) -> dict[str, str]:
    return {file: _filled(f"metric/{file}", name) for file in ("__init__.py", "README.md")}


def _filled(template: str, name: str, words: Mapping[str, str] | None = None) -> str:
    text = (
        files("metrichub.catalog")
        .joinpath("templates", f"{template}.txt")
        .read_text(encoding="utf-8")
    )
    title = name.replace("_", " ").capitalize()
    return Template(text).substitute(
        words or {}, name=name, title=title, class_name=_class_name(name)
    )


def _write(folder: Path, content: Mapping[str, str]) -> Path:
    """Write the files of a folder that isn't there yet, all or none."""
    if folder.exists():
        raise FileExistsError(17, "is there already; choose another name or --dir", str(folder))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        made = Path(temporary, folder.name)
        for path, text in content.items():
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_text(text, encoding="utf-8", newline="\n")
        shutil.move(made, folder)
    return folder
