"""scripts/release.py: versions, the changelog's section, and a whole release in a repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from datetime import date
from pathlib import Path

import pytest
import yaml

from scripts import release

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).resolve().parents[1]
DAY = date(2030, 1, 31)


def test_versions_are_ordered_as_they_are_released() -> None:
    released = ["0.9.0", "0.10.0a1", "0.10.0b1", "0.10.0rc1", "0.10.0rc2", "0.10.0", "0.10.1"]
    assert sorted(released[::-1], key=release.order) == released


@pytest.mark.parametrize("text", ["0.2", "v0.2.0", "0.2.0-1", "0.2.0rc", "", "0.2.0\n"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(release.ReleaseError, match="is no version"):
        release.order(text)


def test_only_the_project_s_own_version_is_set() -> None:
    project = '[project]\nversion = "0.1.0"\n[tool.mypy]\npython_version = "3.11"\n'
    assert release.project_of(project, "0.2.0") == project.replace("0.1.0", "0.2.0")


def test_a_citation_has_one_version_and_one_day() -> None:
    citation = 'cff-version: 1.2.0\nversion: 0.1.0\ndate-released: "2029-01-01"\ntitle: x\n'
    assert release.citation_of(citation, "0.2.0", DAY) == (
        'cff-version: 1.2.0\nversion: 0.2.0\ndate-released: "2030-01-31"\ntitle: x\n'
    )


def test_what_was_unreleased_becomes_the_version_s() -> None:
    changelog = "# Changelog\n\n## Unreleased\n\n### Added\n\n- a.\n\n## 0.1.0\n\nFirst.\n"
    assert release.changelog_of(changelog, "0.2.0", DAY) == (
        "# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2030-01-31\n\n### Added\n\n- a.\n\n"
        "## 0.1.0\n\nFirst.\n"
    )


@pytest.mark.parametrize("section", ["\n", "\n### Added\n\n"])
def test_a_release_without_changes_is_refused(section: str) -> None:
    with pytest.raises(release.ReleaseError, match="nothing under Unreleased"):
        release.changelog_of(f"## Unreleased\n{section}## 0.1.0\n", "0.2.0", DAY)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of its own with what the sdist holds, committed."""
    home = tmp_path_factory.mktemp("release") / "metrichub"
    home.mkdir()
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    held = targets["build"]["targets"]["sdist"]["include"]
    for name in ("pyproject.toml", ".gitignore", *held):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, home / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, home / name)
    git(home, "init", "--quiet")
    git(home, "add", "--all")
    git(home, "commit", "--quiet", "--message", "All")
    return home


def git(home: Path, *arguments: str) -> str:
    return ok("git", *arguments, cwd=home)


def ok(*command: str, cwd: Path) -> str:
    ran = ran_in(cwd, *command)
    assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def ran_in(home: Path, *command: str) -> subprocess.CompletedProcess[str]:
    roles = ("GIT_AUTHOR", "GIT_COMMITTER")
    environment = {
        **os.environ,
        **{f"{role}_NAME": "A" for role in roles},
        **{f"{role}_EMAIL": "a@example.org" for role in roles},
        # Nobody's own settings, such as signatures or hooks.
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    return subprocess.run(
        command, cwd=home, env=environment, capture_output=True, text=True, check=False
    )


def released(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return ran_in(home, sys.executable, "scripts/release.py", *arguments)


def test_a_dry_run_shows_what_would_change_and_changes_nothing(repository: Path) -> None:
    ran = released(repository, "7.8.9", "--dry-run")
    assert ran.returncode == 0, ran.stderr
    assert '+version = "7.8.9"\n' in ran.stdout
    assert "+version: 7.8.9\n" in ran.stdout
    assert re.search(r"^\+## 7\.8\.9 - \d{4}-\d\d-\d\d$", ran.stdout, re.MULTILINE)
    assert not git(repository, "status", "--porcelain")
    assert not git(repository, "tag")


def test_a_tree_with_changes_and_an_old_version_are_refused(repository: Path) -> None:
    note = repository / "note.txt"
    note.touch()
    try:
        ran = released(repository, "7.8.9")
    finally:
        note.unlink()
    assert ran.returncode == 1
    assert "release: the working tree isn't clean:\n?? note.txt" in ran.stderr
    ran = released(repository, "0.0.1")
    assert ran.returncode == 1
    assert "0.0.1 isn't newer" in ran.stderr


def test_a_release_that_fails_leaves_the_files_as_they_were(repository: Path) -> None:
    # A wheel can be built without this room, but not be used.
    git(repository, "mv", "metrichub/data", "elsewhere")
    git(repository, "commit", "--quiet", "--message", "Lose a room")
    try:
        ran = released(repository, "7.8.9", "--no-isolation")
        assert ran.returncode == 1
        assert "No module named 'metrichub.data'" in ran.stderr
        assert not git(repository, "status", "--porcelain")
        assert not git(repository, "tag")
    finally:
        git(repository, "reset", "--quiet", "--hard", "HEAD~1")


def test_a_release_is_built_checked_committed_and_tagged(repository: Path) -> None:
    ran = released(repository, "7.8.9", "--no-isolation")
    assert ran.returncode == 0, ran.stderr
    assert "nothing was pushed or uploaded" in ran.stdout
    assert not git(repository, "status", "--porcelain")
    assert git(repository, "describe") == "v7.8.9\n"
    changed = git(repository, "show", "--name-only", "--format=%s", "HEAD").split("\n")
    assert changed[0] == "Release 7.8.9"
    assert set(changed[1:]) - {""} == {"CHANGELOG.md", "CITATION.cff", "pyproject.toml"}
    citation = yaml.safe_load((repository / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == "7.8.9"
    assert isinstance(citation["date-released"], str)
    wheel = zipfile.ZipFile(repository / "dist" / "metrichub-7.8.9-py3-none-any.whl")
    assert "Version: 7.8.9\n" in wheel.read("metrichub-7.8.9.dist-info/METADATA").decode()
    assert (repository / "dist" / "metrichub-7.8.9.tar.gz").exists()
