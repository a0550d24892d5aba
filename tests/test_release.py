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
from packaging.version import Version

from scripts import release

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).resolve().parents[1]
DAY, NEW = date(2030, 1, 31), Version("0.2.0")
FIRST = ("--repository", "https://git.example/owner/metrichub")


@pytest.mark.parametrize("text", ["0.2", "v0.2.0", "0.2.0-1", "0.2.0rc", "", "0.2.0\n"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(release.ReleaseError, match="isn't a version"):
        release.version_from(text)


def test_only_the_project_s_own_version_and_its_bounds_on_metrichub_are_set() -> None:
    project = (
        '[project]\nversion = "0.1.0"\ndependencies = ["metrichub>=0.1.0,<0.2", "numpy>=2.0"]\n\n'
        '[project.urls]\nSource = "https://here"\n\n[tool.mypy]\npython_version = "3.11"\n'
    )
    assert release.project_of(project, Version("0.2.0rc1")) == project.replace(
        '"0.1.0"', '"0.2.0rc1"'
    ).replace(">=0.1.0,<0.2", ">=0.2.0rc1,<0.3")


def test_the_first_release_records_the_repository_and_needs_it() -> None:
    project = '[project]\nversion = "0.1.0"\n\n[project.scripts]\nmetrichub = "a:b"\n'
    with pytest.raises(release.ReleaseError, match="give --repository URL"):
        release.project_of(project, NEW)
    result = tomllib.loads(release.project_of(project, NEW, "https://git.example/o/m"))["project"]
    assert result["scripts"] == {"metrichub": "a:b"}
    assert result["urls"].keys() == {"Homepage", "Source", "Issues", "Changelog", "Documentation"}
    assert result["urls"]["Source"] == "https://git.example/o/m"
    assert result["urls"]["Issues"] == "https://git.example/o/m/issues"


def test_what_was_unreleased_becomes_the_version_s() -> None:
    changelog = "# Changelog\n\n## Unreleased\n\n### Added\n\n- a.\n\n## 0.1.0\n\nFirst.\n"
    assert release.changelog_of(changelog, NEW, DAY) == (
        "# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2030-01-31\n\n### Added\n\n- a.\n\n"
        "## 0.1.0\n\nFirst.\n"
    )


@pytest.mark.parametrize("section", ["\n", "\n### Added\n\n"])
def test_a_release_without_changes_is_refused(section: str) -> None:
    with pytest.raises(release.ReleaseError, match="nothing under Unreleased"):
        release.changelog_of(f"## Unreleased\n{section}## 0.1.0\n", NEW, DAY)


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
    ran = released(repository, "7.8.9", "--dry-run", *FIRST)
    assert ran.returncode == 0, ran.stderr
    assert '+version = "7.8.9"\n' in ran.stdout
    assert "+version: 7.8.9\n" in ran.stdout
    assert re.search(r"^\+## 7\.8\.9 - \d{4}-\d\d-\d\d$", ran.stdout, re.MULTILINE)
    assert "+RELEASED = True\n" in ran.stdout
    assert not git(repository, "status", "--porcelain")
    assert not git(repository, "tag")


def test_a_tree_with_changes_and_an_old_version_are_refused(repository: Path) -> None:
    note = repository / "note.txt"
    note.touch()
    try:
        ran = released(repository, "7.8.9", *FIRST)
    finally:
        note.unlink()
    assert ran.returncode == 1
    assert "release: the working tree isn't clean:\n?? note.txt" in ran.stderr
    ran = released(repository, "0.0.1")
    assert ran.returncode == 1
    assert "0.0.1 isn't newer" in ran.stderr


def test_only_the_first_release_may_have_the_version_that_is_there(repository: Path) -> None:
    present = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    version = present["project"]["version"]
    ran = released(repository, version, "--dry-run", *FIRST)
    assert ran.returncode == 0, ran.stderr
    assert f"+## {version} - " in ran.stdout
    hints = repository / release.HINTS
    old = hints.read_text(encoding="utf-8")
    hints.write_text(old.replace("RELEASED = False", "RELEASED = True"), encoding="utf-8")
    try:
        ran = released(repository, version, "--dry-run", *FIRST)
    finally:
        hints.write_text(old, encoding="utf-8")
    assert ran.returncode == 1
    assert f"{version} isn't newer" in ran.stderr


def test_a_release_that_fails_leaves_everything_as_it_was(repository: Path) -> None:
    # A wheel can be built without this package, but not be used.
    git(repository, "mv", "metrichub/data", "elsewhere")
    git(repository, "commit", "--quiet", "--message", "Lose a package")
    head = git(repository, "rev-parse", "HEAD")
    try:
        ran = released(repository, "7.8.9", "--no-isolation", *FIRST)
        assert ran.returncode == 1
        assert "No module named 'metrichub.data'" in ran.stderr
        assert not git(repository, "status", "--porcelain")
        assert git(repository, "rev-parse", "HEAD") == head
        assert not git(repository, "tag")
        assert not (repository / "dist").exists()
    finally:
        git(repository, "reset", "--quiet", "--hard", "HEAD~1")


def test_a_tag_that_cannot_be_made_takes_the_release_back(repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    # The name of the tag is that of a folder.
    git(repository, "tag", "v7.8.9/taken")
    try:
        ran = released(repository, "7.8.9", "--no-isolation", *FIRST)
        assert ran.returncode == 1
        assert "git tag --annotate v7.8.9" in ran.stderr
        assert git(repository, "rev-parse", "HEAD") == head
        assert not git(repository, "status", "--porcelain")
        assert not (repository / "dist").exists()
    finally:
        git(repository, "tag", "--delete", "v7.8.9/taken")


def test_a_release_is_built_checked_committed_and_tagged(repository: Path) -> None:
    ran = released(repository, "7.8.9", "--no-isolation", *FIRST)
    assert ran.returncode == 0, ran.stderr
    assert "nothing was pushed or uploaded" in ran.stdout
    assert "from a clone until then: README.md, docs/" in ran.stdout
    assert not git(repository, "status", "--porcelain")
    assert git(repository, "describe") == "v7.8.9\n"
    changed = git(repository, "show", "--name-only", "--format=%s", "HEAD").split("\n")
    assert changed[0] == "Release 7.8.9"
    assert set(changed[1:]) - {""} == {
        "CHANGELOG.md", "CITATION.cff", "pyproject.toml", "metrichub/catalog/known_plugins.py",
        "plugins/metrichub-neural/pyproject.toml",
    }  # fmt: skip
    citation = yaml.safe_load((repository / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == "7.8.9"
    assert isinstance(citation["date-released"], str)
    out = repository / "dist" / "7.8.9"
    assert {path.name for path in out.iterdir()} == {
        "metrichub-7.8.9-py3-none-any.whl", "metrichub-7.8.9.tar.gz", "site",
        "metrichub_neural-7.8.9-py3-none-any.whl", "metrichub_neural-7.8.9.tar.gz",
    }  # fmt: skip
    wheel = zipfile.ZipFile(out / "metrichub-7.8.9-py3-none-any.whl")
    message = wheel.read("metrichub-7.8.9.dist-info/METADATA").decode()
    assert "Version: 7.8.9\n" in message
    assert "Project-URL: Source, https://git.example/owner/metrichub\n" in message
    plugin = zipfile.ZipFile(out / "metrichub_neural-7.8.9-py3-none-any.whl")
    message = plugin.read("metrichub_neural-7.8.9.dist-info/METADATA").decode()
    assert "Requires-Dist: metrichub<7.9,>=7.8.9\n" in message
    licences = "metrichub_neural-7.8.9.dist-info/licenses"
    assert plugin.read(f"{licences}/LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert f"{licences}/NOTICE.md" in plugin.namelist()
    # The site has the plugin's cards, and names it as what can be installed now.
    assert (out / "site" / "metric_cards" / "bertscore" / "index.html").exists()
    assert "pip install metrichub-neural" in (out / "site" / "elsewhere.html").read_text("utf-8")
