"""Make a release on this machine: versions, changelog, distributions and site, commit and tag.

    python scripts/release.py 0.2.0 --dry-run    # what would change
    python scripts/release.py 0.2.0

Needs `build` alone. The first release also needs `--repository URL`. What it made lies in
`dist/VERSION`; nothing is pushed or uploaded: whoever has looked at it does that.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = "plugins/metrichub-neural"
"""What is released beside metrichub; plugins/metrichub-example is there to be copied."""
PROJECTS = ("pyproject.toml", f"{PLUGIN}/pyproject.toml")
HINTS = "metrichub/catalog/known_plugins.py"


class ReleaseError(Exception):
    """Why no release can be made; one readable line."""


def version_from(text: str) -> Version:
    """The version that a text is.

    Raises:
        ReleaseError: it is no version such as 0.2.0 or 0.2.0rc1.
    """
    try:
        version = Version(text)
    except InvalidVersion:
        version = None
    if version is None or str(version) != text or len(version.release) != 3:
        raise ReleaseError(f"{text!r} isn't a version; write 0.2.0 or 0.2.0rc1")
    return version


def project_of(project: str, version: Version, repository: str | None = None) -> str:
    """A pyproject.toml with another version, bounds on metrichub, and addresses.

    Raises:
        ReleaseError: it names no addresses, and no repository is given.
    """
    text = _replaced(r'^version = ".*"$', f'version = "{version}"', project, "pyproject.toml")
    bounds = f'"metrichub>={version},<{version.major}.{version.minor + 1}"'
    pattern = r'^(dependencies = \[\s*)"metrichub[<>=][^"]*"'
    text = re.sub(pattern, rf"\1{bounds}", text, flags=re.MULTILINE)
    if "\n[project.urls]\n" in text:
        return text
    if not repository:
        raise ReleaseError("no pyproject.toml says where the source is; give --repository URL")
    urls = (
        f'[project.urls]\nHomepage = "{repository}"\nSource = "{repository}"\n'
        f'Issues = "{repository}/issues"\n'
        f'Changelog = "{repository}/blob/HEAD/CHANGELOG.md"\n'
        f'Documentation = "{repository}/tree/HEAD/docs"\n\n'
    )
    first = re.search(r"^\[project\.", text, re.MULTILINE)
    where = first.start() if first else len(text)
    return text[:where] + urls + text[where:]


def citation_of(citation: str, version: Version, day: date, repository: str | None = None) -> str:
    """A CITATION.cff with another version, the day of its release, and the repository if given."""
    undated = re.sub(r"^date-released: .*\n", "", citation, flags=re.MULTILINE)
    now = f'version: {version}\ndate-released: "{day.isoformat()}"'
    if repository:
        undated = re.sub(r"^repository-code: .*\n", "", undated, flags=re.MULTILINE)
        now += f"\nrepository-code: {repository}"
    return _replaced(r"^version: .*$", now, undated, "CITATION.cff")


def changelog_of(changelog: str, version: Version, day: date) -> str:
    """A changelog whose section Unreleased has become that of the version.

    Raises:
        ReleaseError: there is no such section, or nothing in it.
    """
    match = _only(r"^## Unreleased\n(.*?)(?=^## |\Z)", changelog, "CHANGELOG.md", re.DOTALL)
    if not re.search(r"^(?!#)\S", match[1], re.MULTILINE):
        raise ReleaseError("CHANGELOG.md has nothing under Unreleased")
    now = f"## Unreleased\n\n## {version} - {day.isoformat()}\n{match[1]}"
    return changelog[: match.start()] + now + changelog[match.end() :]


def changes(version: Version, day: date, repository: str | None = None) -> dict[Path, str]:
    """The files that a release changes, as they will be.

    Raises:
        ReleaseError: the version isn't newer than the present one, which the first release may
            have, or a file isn't as expected.
    """
    names = (*PROJECTS, "CITATION.cff", "CHANGELOG.md", HINTS)
    old = {name: (ROOT / name).read_text(encoding="utf-8") for name in names}
    present = _only(r'^version = "(.*)"$', old["pyproject.toml"], "pyproject.toml")[1]
    first = re.search(r"^RELEASED = False$", old[HINTS], re.MULTILINE)
    if version < Version(present) or (version == Version(present) and not first):
        raise ReleaseError(f"{version} isn't newer than {present}, the version in pyproject.toml")
    if repository and urlsplit(repository).scheme != "https":
        raise ReleaseError(f"{repository!r} isn't an address; write https://HOST/OWNER/metrichub")
    new = {name: project_of(old[name], version, repository) for name in PROJECTS}
    new["CITATION.cff"] = citation_of(old["CITATION.cff"], version, day, repository)
    new["CHANGELOG.md"] = changelog_of(old["CHANGELOG.md"], version, day)
    new[HINTS] = _replaced(r"^RELEASED = \w+$", "RELEASED = True", old[HINTS], HINTS)
    return {ROOT / name: text for name, text in new.items() if text != old[name]}


def release(version: Version, new: Mapping[Path, str], *, isolated: bool = True) -> Path:
    """Change the files, build and check, commit and tag; where that fails, nothing is left.

    Returns the folder with the distributions and the site.

    Raises:
        ReleaseError: the working tree isn't clean, or a step failed.
    """
    out = ROOT / "dist" / str(version)
    if changed := _git("status", "--porcelain"):
        raise ReleaseError(f"the working tree isn't clean:\n{changed.rstrip()}")
    if _git("tag", "--list", f"v{version}"):
        raise ReleaseError(f"there is a tag v{version} already")
    if out.exists():
        raise ReleaseError(f"{out} is there already")
    before = _git("rev-parse", "HEAD").strip()
    old = {path: path.read_text(encoding="utf-8") for path in new}
    try:
        _write(new)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "made"
            check(build(folder, isolated=isolated), folder / "site", version, isolated=isolated)
            shutil.copytree(folder, out)
        _git("commit", "--quiet", "--message", f"Release {version}", *map(str, new))
        _git("tag", "--annotate", f"v{version}", "--message", f"metrichub {version}")
    except BaseException:
        _git("reset", "--quiet", before)
        _write(old)
        shutil.rmtree(out, ignore_errors=True)
        if out.parent.is_dir() and not any(out.parent.iterdir()):
            out.parent.rmdir()
        raise
    return out


def build(out: Path, *, isolated: bool) -> list[Path]:
    """The sdists of metrichub and its plugin, and the wheels that are built from them."""
    options = [] if isolated else ["--no-isolation"]
    for home in (ROOT, ROOT / PLUGIN):
        _run(sys.executable, "-m", "build", *options, "--outdir", str(out), str(home))
    return sorted(out.iterdir())


def check(files: Sequence[Path], site: Path, version: Version, *, isolated: bool) -> None:
    """Install the wheels in a fresh environment, ask for the version, and build the site there.

    What they need is installed too; where nothing is downloaded, the environment borrows it from
    this one. Where twine is installed, it checks what the package index will show.

    Raises:
        ReleaseError: a step failed, or the version is another one.
    """
    if find_spec("twine"):
        _run(sys.executable, "-m", "twine", "check", "--strict", *map(str, files))
    wheels = [str(path) for path in files if path.suffix == ".whl"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder, with_pip=True)
        paths = {"base": name, "platbase": name}
        python = str(Path(sysconfig.get_path("scripts", "venv", paths)) / "python")
        if isolated:
            needed = [f"{wheel}[site]" if "neural" not in wheel else wheel for wheel in wheels]
        else:
            needed = ["--no-deps", *wheels]
            borrowed = Path(sysconfig.get_path("purelib", "venv", paths)) / "borrowed.pth"
            borrowed.write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
        _run(python, "-m", "pip", "install", "--quiet", *needed)
        message = _run(python, "-m", "metrichub", "--version", cwd=folder)
        if str(version) not in message.split():
            raise ReleaseError(f"the wheel of {version} says that it is {message.strip()!r}")
        _run(python, "-m", "metrichub", "site", "build", str(site), "--strict", cwd=folder)


def preview(new: Mapping[Path, str]) -> str:
    """The changes as a patch."""
    lines: list[str] = []
    for path, text in new.items():
        old = path.read_text(encoding="utf-8").splitlines(keepends=True)
        name = path.relative_to(ROOT).as_posix()
        lines += difflib.unified_diff(old, text.splitlines(keepends=True), name, name, n=1)
    return "".join(lines)


def pages_for_a_clone() -> list[str]:
    """The pages for users that say to install metrichub or the plugin from a clone."""
    paths = [
        ROOT / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        ROOT / PLUGIN / "README.md",
    ]
    message = re.compile(r"pip install '?\.(?:/|\s|`)")
    return [
        path.relative_to(ROOT).as_posix()
        for path in paths
        if message.search(path.read_text(encoding="utf-8"))
    ]


def _write(texts: Mapping[Path, str]) -> None:
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")


def _only(pattern: str, text: str, file: str, flags: int = 0) -> re.Match[str]:
    match = list(re.finditer(pattern, text, re.MULTILINE | flags))
    if len(match) != 1:
        raise ReleaseError(f"{file} has {len(match)} places that match {pattern!r}; one is needed")
    return match[0]


def _replaced(pattern: str, now: str, text: str, file: str) -> str:
    match = _only(pattern, text, file)
    return text[: match.start()] + now + text[match.end() :]


def _git(*arguments: str) -> str:
    return _run("git", *arguments)


def _run(*command: str, cwd: Path = ROOT) -> str:
    """The output of a command.

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
        "--repository",
        metavar="URL",
        help="where the source is, on GitHub or GitLab; the first release records it",
    )
    parser.add_argument(
        "--no-isolation", action="store_true", help="use what is installed, offline"
    )
    asked = parser.parse_args()
    try:
        version = version_from(asked.version)
        new = changes(version, date.today(), asked.repository)
        if asked.dry_run:
            print(preview(new), end="")
        else:
            out = release(version, new, isolated=not asked.no_isolation)
            print(f"committed and tagged v{version}; distributions and site are in {out}")
            print("nothing was pushed or uploaded; once it is, let these install by name what they")
            print(f"install from a clone until then: {', '.join(pages_for_a_clone())}")
    except ReleaseError as error:
        sys.exit(f"release: {error}")
    sys.exit(0)


if __name__ == "__main__":
    main()
