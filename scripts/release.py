"""Make a release on this machine: versions, changelog, sdist and wheel, commit and tag.

    python scripts/release.py 0.2.0 --dry-run    # what would change
    python scripts/release.py 0.2.0

Needs `build`. Nothing is pushed or uploaded: whoever has looked at `dist/` does that.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Mapping
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:(a|b|rc)(\d+))?")
_STAGES = {"a": 0, "b": 1, "rc": 2, None: 3}


class ReleaseError(Exception):
    """Why no release can be made; one readable line."""


def order(version: str) -> tuple[int, ...]:
    """What versions are compared by: 0.2.0rc1 comes before 0.2.0.

    Raises:
        ReleaseError: it is no version such as 0.2.0 or 0.2.0rc1.
    """
    found = VERSION.fullmatch(version)
    if not found:
        raise ReleaseError(f"{version!r} is no version; write 0.2.0 or 0.2.0rc1")
    major, minor, patch, stage, number = found.groups()
    return int(major), int(minor), int(patch), _STAGES[stage], int(number or 0)


def version_of(project: str) -> str:
    """The version in a pyproject.toml."""
    return _only(r'^version = "(.*)"$', project, "pyproject.toml")[1]


def project_of(project: str, version: str) -> str:
    """A pyproject.toml with another version."""
    found = _only(r'^version = "(.*)"$', project, "pyproject.toml")
    return f'{project[: found.start()]}version = "{version}"{project[found.end() :]}'


def citation_of(citation: str, version: str, day: date) -> str:
    """A CITATION.cff with another version and the day of its release."""
    undated = re.sub(r"^date-released: .*\n", "", citation, flags=re.MULTILINE)
    found = _only(r"^version: .*$", undated, "CITATION.cff")
    now = f'version: {version}\ndate-released: "{day.isoformat()}"'
    return undated[: found.start()] + now + undated[found.end() :]


def changelog_of(changelog: str, version: str, day: date) -> str:
    """A changelog whose section Unreleased has become that of the version.

    Raises:
        ReleaseError: there is no such section, or nothing in it.
    """
    found = _only(r"^## Unreleased\n(.*?)(?=^## |\Z)", changelog, "CHANGELOG.md", re.DOTALL)
    if not re.search(r"^(?!#)\S", found[1], re.MULTILINE):
        raise ReleaseError("CHANGELOG.md has nothing under Unreleased")
    now = f"## Unreleased\n\n## {version} - {day.isoformat()}\n{found[1]}"
    return changelog[: found.start()] + now + changelog[found.end() :]


def changes(version: str, day: date) -> dict[Path, str]:
    """The files that a release changes, as they will be.

    Raises:
        ReleaseError: the version isn't newer than the present one, or a file isn't as expected.
    """
    paths = {name: ROOT / name for name in ("pyproject.toml", "CITATION.cff", "CHANGELOG.md")}
    old = {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
    present = version_of(old["pyproject.toml"])
    if order(version) <= order(present):
        raise ReleaseError(f"{version} isn't newer than {present}, the version in pyproject.toml")
    return {
        paths["pyproject.toml"]: project_of(old["pyproject.toml"], version),
        paths["CITATION.cff"]: citation_of(old["CITATION.cff"], version, day),
        paths["CHANGELOG.md"]: changelog_of(old["CHANGELOG.md"], version, day),
    }


def release(version: str, *, isolated: bool = True) -> None:
    """Change the files, build and check, commit and tag; where that fails, the files stay.

    Raises:
        ReleaseError: the working tree isn't clean, or a step failed.
    """
    new = changes(version, date.today())
    _check_repository(version)
    old = {path: path.read_text(encoding="utf-8") for path in new}
    try:
        _write(new)
        wheel, sdist = build(version, isolated=isolated)
        check(wheel, sdist, version)
        _git("commit", "--quiet", "--message", f"Release {version}", *map(str, new))
    except BaseException:
        _write(old)
        raise
    _git("tag", "--annotate", f"v{version}", "--message", f"metrichub {version}")
    print(f"committed and tagged v{version}; built {wheel.name} and {sdist.name} in {wheel.parent}")
    print("nothing was pushed or uploaded")


def build(version: str, *, isolated: bool) -> tuple[Path, Path]:
    """The wheel and the sdist, built into `dist`."""
    out = ROOT / "dist"
    options = [] if isolated else ["--no-isolation"]
    _run(sys.executable, "-m", "build", *options, "--outdir", str(out), str(ROOT))
    wheel, sdist = (
        out / f"metrichub-{version}-py3-none-any.whl",
        out / f"metrichub-{version}.tar.gz",
    )
    for path in (wheel, sdist):
        if not path.exists():
            raise ReleaseError(f"the build made no {path.name}")
    return wheel, sdist


def check(wheel: Path, sdist: Path, version: str) -> None:
    """Raise `ReleaseError` unless the wheel, once installed, is the version that it says.

    It is installed without its dependencies into a fresh environment, which borrows those of this
    one. Where twine is installed, it checks what the package index will show.
    """
    if find_spec("twine"):
        _run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder, with_pip=True)
        paths = {"base": name, "platbase": name}
        python = Path(sysconfig.get_path("scripts", "venv", paths)) / "python"
        _run(str(python), "-m", "pip", "install", "--quiet", "--no-deps", str(wheel))
        borrowed = Path(sysconfig.get_path("purelib", "venv", paths)) / "borrowed.pth"
        borrowed.write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
        said = _run(str(python), "-m", "metrichub", "--version", cwd=folder)
    if version not in said.split():
        raise ReleaseError(f"the wheel of {version} says that it is {said.strip()!r}")


def preview(new: Mapping[Path, str]) -> str:
    """What would change, as a patch."""
    lines: list[str] = []
    for path, text in new.items():
        old = path.read_text(encoding="utf-8").splitlines(keepends=True)
        name = path.relative_to(ROOT).as_posix()
        lines += difflib.unified_diff(old, text.splitlines(keepends=True), name, name, n=1)
    return "".join(lines)


def _check_repository(version: str) -> None:
    if changed := _git("status", "--porcelain"):
        raise ReleaseError(f"the working tree isn't clean:\n{changed.rstrip()}")
    if _git("tag", "--list", f"v{version}"):
        raise ReleaseError(f"there is a tag v{version} already")


def _write(texts: Mapping[Path, str]) -> None:
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")


def _only(pattern: str, text: str, file: str, flags: int = 0) -> re.Match[str]:
    found = list(re.finditer(pattern, text, re.MULTILINE | flags))
    if len(found) != 1:
        raise ReleaseError(f"{file} has {len(found)} places that match {pattern!r}; one is needed")
    return found[0]


def _git(*arguments: str) -> str:
    return _run("git", *arguments)


def _run(*command: str, cwd: Path = ROOT) -> str:
    """What a command prints.

    `PYTHONPATH` is left out, as it would put this tree before what is installed.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise ReleaseError(f"{' '.join(command)} failed:\n{ran.stdout}{ran.stderr}".rstrip())
    return ran.stdout


def main() -> NoReturn:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description="Make a release on this machine; nothing is pushed or uploaded."
    )
    parser.add_argument("version", help="such as 0.2.0 or 0.2.0rc1")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    parser.add_argument(
        "--no-isolation", action="store_true", help="build with what is installed, offline"
    )
    asked = parser.parse_args()
    try:
        if asked.dry_run:
            print(preview(changes(asked.version, date.today())), end="")
        else:
            release(asked.version, isolated=not asked.no_isolation)
    except ReleaseError as error:
        sys.exit(f"release: {error}")
    sys.exit(0)


if __name__ == "__main__":
    main()
