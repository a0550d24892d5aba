"""`metrichub new`: writing a metric or a plugin."""

from __future__ import annotations

import keyword
import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Mapping
from datetime import date
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import NamedTuple

import click

from metrichub.catalog.registry import registry
from metrichub.cli.program import Command, note
from metrichub.errors import SpecError


class Scaffold(NamedTuple):
    """A metric's folder that was written: where, what imports it, and the project that it is in.

    `project` is the nearest folder with a pyproject.toml; None without one.
    """

    folder: Path
    name: str
    module: str
    project: Path | None

    @property
    def class_name(self) -> str:
        """The name of the metric's class."""
        return _class_name(self.name)

    @property
    def entry(self) -> str:
        """The line of a pyproject.toml that registers the metric."""
        return f'{self.name} = "{self.module}:{self.class_name}"'


def new_metric(name: str, parent: Path) -> Scaffold:
    """Write the folder of a metric below `parent`, the package that it belongs to.

    A parent that isn't a package yet becomes one, unless it is the working directory.

    Raises:
        SpecError: the name isn't a valid one for a metric.
        FileExistsError: the folder is there already.
    """
    _check(name)
    folder, place = parent / name, parent.resolve()
    projects = (each for each in (place, *place.parents) if (each / "pyproject.toml").is_file())
    project = next(projects, None)
    in_package = place != Path.cwd()
    software = place.name if in_package else name
    if project:
        facts = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
        software = str(facts.get("project", {}).get("name", project.name))
    _write(folder, _metric_files(name, software))
    if in_package:
        (parent / "__init__.py").touch()
    return Scaffold(folder, name, ".".join([*_packages(place), name]), project)


def new_plugin(name: str, parent: Path, distribution: str | None = None) -> Scaffold:
    """Write a plugin distribution below `parent`; it builds, installs and passes its test as it is.

    Raises:
        SpecError: the name isn't a valid one for a metric, or the distribution's isn't.
        FileExistsError: the folder is there already.
    """
    _check(name)
    distribution = distribution or f"metrichub-{name.replace('_', '-')}"
    package = re.sub(r"[-.]+", "_", distribution).lower()
    if not package.isidentifier() or not distribution.isascii():
        raise SpecError(f"{distribution!r} isn't a valid name of a distribution; use letters and -")
    folder = parent / distribution
    scaffold = Scaffold(folder, name, f"{package}.{name}", folder)
    words = {"distribution": distribution, "package": package, "entry": scaffold.entry}
    content = {
        "pyproject.toml": _filled("plugin/pyproject.toml", name, words),
        "README.md": _filled("plugin/README.md", name, words),
        f"{package}/__init__.py": "",
        f"tests/test_{name}.py": _filled("plugin/test.py", name, words),
    }
    for path, text in _metric_files(name, distribution).items():
        content[f"{package}/{name}/{path}"] = text
    _write(folder, content)
    return scaffold


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
    raise SpecError(
        f"{name!r} isn't a valid name of a metric; use lower case and underscores{hint}"
    )


def _class_name(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _metric_files(name: str, software: str) -> dict[str, str]:
    words = {
        "software": software,
        "software_title": software.replace("_", r"\_"),
        "year": str(date.today().year),
    }
    return {file: _filled(f"metric/{file}", name, words) for file in ("__init__.py", "README.md")}


def _filled(template: str, name: str, words: Mapping[str, str]) -> str:
    path = files("metrichub.cli").joinpath("templates", f"{template}.txt")
    return Template(path.read_text(encoding="utf-8")).substitute(
        words, name=name, class_name=_class_name(name)
    )


def _write(folder: Path, content: Mapping[str, str]) -> None:
    """Write the files of a new folder, all or none."""
    if folder.exists():
        raise FileExistsError(17, "already exists; choose another name or --dir", str(folder))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        written = Path(temporary, folder.name)
        for path, text in content.items():
            (written / path).parent.mkdir(parents=True, exist_ok=True)
            (written / path).write_text(text, encoding="utf-8", newline="\n")
        shutil.move(written, folder)


@click.command(cls=Command)
@click.argument("name")
@click.option(
    "--dir",
    "parent",
    type=click.Path(path_type=Path),
    default=Path(),
    help="The folder to write to: your package of metrics, or the parent of the plugin.",
)
@click.option("--plugin", is_flag=True, help="Write an installable distribution with the metric.")
@click.option("--dist", metavar="NAME", help="The distribution's name.  [default: metrichub-NAME]")
def new(name: str, parent: Path, plugin: bool, dist: str | None) -> None:
    """Write a new metric: a folder with working code and a card, for you to adapt.

    metrichub new word_overlap --dir my_metrics

    metrichub new word_overlap --plugin
    """
    if dist and not plugin:
        raise click.UsageError("--dist is the name of a plugin's distribution; add --plugin")
    rival = registry().find(name).qualified if name in registry() else None
    scaffold = new_plugin(name, parent, dist) if plugin else new_metric(name, parent)
    click.echo(f"wrote {scaffold.folder}")
    click.echo(_next_steps(name, scaffold, plugin), nl=False)
    if rival:
        note(
            f"{rival} has the same name; "
            "you may have to call yours by its qualified name, DISTRIBUTION/NAME"
        )


def _next_steps(name: str, scaffold: Scaffold, plugin: bool) -> str:
    """The steps from the written files to a metric that can be used."""
    if plugin:
        steps = f"pip install -e '{scaffold.folder}[test]'\n  pytest {scaffold.folder}"
        return f"install and test it:\n  {steps}\n"
    if scaffold.project is None:
        return (
            "use it in Python:\n  from metrichub import Hub\n"
            f"  from {scaffold.module} import {scaffold.class_name}\n"
            f"  Hub([{scaffold.class_name}()])\n"
            "to load it by its name, register it in a project's pyproject.toml; "
            f"`metrichub new {name} --plugin` writes a project\n"
        )
    home = os.path.relpath(scaffold.project)
    return (
        f"add this line to {os.path.normpath(os.path.join(home, 'pyproject.toml'))}, "
        f'under [project.entry-points."metrichub.metrics"]:\n  {scaffold.entry}\n'
        f"then register it and test it:\n  pip install -e {home} --no-deps\n"
        f"  metrichub check {name}\n"
    )
