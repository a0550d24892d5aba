"""The papers of the project say what is so: its rooms, words, versions, numbers and commands."""

import doctest
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from metrichub.catalog.card import Card
from tests import house

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def read(name: str) -> str:
    """The text of a file of the project."""
    return (ROOT / name).read_text(encoding="utf-8")


def listed_rooms() -> list[str]:
    """The rooms in the order in which ARCHITECTURE.md lists them, as imports name them."""
    section = read("ARCHITECTURE.md").partition("## The rooms")[2].partition("\n## ")[0]
    heads = re.findall(r"^- (.*?):", section, re.MULTILINE)
    return [
        "metrichub" if name == "metrichub/__init__" else name
        for head in heads
        for name in re.findall(r"`([\w/]+?)(?:/|\.py)`", head)
    ]


def test_the_picture_of_the_rooms_is_current() -> None:
    page = read("ARCHITECTURE.md")
    assert page == house.drawn(page), "run `python -m tests.house --write`"
    assert "room_data" in page


def test_the_picture_leaves_out_what_follows_and_nothing_else() -> None:
    found = {
        "roof": frozenset({"wall", "ground"}),
        "wall": frozenset({"ground"}),
        "ground": frozenset[str](),
    }
    assert house.essential(found) == {**found, "roof": frozenset({"wall"})}


def test_every_room_is_listed_above_those_that_stand_on_it() -> None:
    found = house.rooms(house.arrows())
    listed = listed_rooms()
    assert sorted(listed) == sorted(found)
    for room, targets in found.items():
        assert all(listed.index(target) < listed.index(room) for target in targets), room


@pytest.mark.parametrize("paper", ["ARCHITECTURE.md", "CONTRIBUTING.md", "STABILITY.md"])
def test_the_files_that_a_paper_names_are_there(paper: str) -> None:
    # What commands make that the paper teaches, and what a metric's folder may hold.
    made = {"metric_cards/word_overlap/__init__.py", "tests/metrics/test_word_overlap.py"}
    made |= {"dist/", "prompts/", "samples.jsonl"}
    named = set(re.findall(r"`([\w./-]+(?:\.(?:cff|jsonl|md|py|toml|txt)|/))`", read(paper)))
    homes = (ROOT, ROOT / "metrichub")
    assert named
    assert not [n for n in named - made if not any((home / n).exists() for home in homes)]


def test_a_metric_in_three_lines_runs_as_it_stands() -> None:
    result = doctest.testfile(str(ROOT / "CONTRIBUTING.md"), module_relative=False)
    assert (result.failed, result.attempted > 5) == (0, True)


def test_each_word_is_explained_once_and_briefly() -> None:
    section = read("CONTRIBUTING.md").partition("## Words")[2].partition("\n## ")[0]
    words = re.split(r"^- ", section, flags=re.MULTILINE)[1:]
    names = [word.partition("**: ")[0].lstrip("*") for word in words]
    assert len(set(names)) == len(names) > 25
    assert all(word.strip().count("\n") < 2 for word in words)


def test_contributing_runs_the_tests_by_the_readme_s_command() -> None:
    command = re.search(r"<!-- test command -->\n```\n(.*)\n```", read("README.md"))
    assert command
    assert f"```\n{command[1]}\n```" in read("CONTRIBUTING.md")


def test_the_citation_is_of_this_version_and_valid() -> None:
    found = yaml.safe_load(read("CITATION.cff"))
    # https://github.com/citation-file-format/citation-file-format/blob/1.2.0/schema-guide.md
    required = {"authors", "cff-version", "message", "title"}
    optional = {"abstract", "date-released", "keywords", "license", "type", "version"}
    assert required <= set(found) <= required | optional
    assert found["cff-version"] == "1.2.0"
    assert all(set(author) == {"name"} and author["name"] for author in found["authors"])
    assert found["type"] == "software"
    assert len(set(found["keywords"])) == len(found["keywords"])
    assert all(isinstance(found[key], str) for key in set(found) - {"authors", "keywords"})
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found.get("date-released", "2000-01-01"))
    assert found["version"] == PROJECT["project"]["version"]
    assert found["license"] == PROJECT["project"]["license"]


def test_the_public_names_that_are_promised_are_those_on_record() -> None:
    faces = re.findall(r"^\S+$", read("tests/data/public.txt"), re.MULTILINE)
    promised = re.findall(r"`(metrichub(?:\.\w+)*)`", read("STABILITY.md"))
    parts = ("metrichub.text.", "metrichub.bridges.")
    assert set(promised) == {face for face in faces if not face.startswith(parts)}


def test_every_library_has_a_step_that_says_what_it_cannot_install() -> None:
    form = re.compile(r"^for host in ([\w ]+); do\n.*?^done$", re.MULTILINE | re.DOTALL)
    loop = form.search(read(".ci/run"))
    assert loop
    hosts = loop[1].split()
    assert hosts == list(dict.fromkeys(hosts))
    assert {*hosts} == {path.stem for path in (ROOT / "tests/bridges").glob("*.txt")}
    for host in hosts:
        # Exact versions, but for what comes by an address of its own.
        lines = read(f"tests/bridges/{host}.txt").splitlines()
        packages = [line for line in lines if line and not line.startswith(("#", "-"))]
        assert packages
        assert all("==" in line for line in packages), host
        script = (
            f'pip() {{ case "$*" in *{host}.txt*) return 1;; esac; }}\n'
            f"timeout() {{ :; }}\nset -euo pipefail\n{loop[0]}"
        )
        ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
        said = f"the packages of tests/bridges/{host}.txt can't be installed\n"
        assert (ran.returncode, ran.stdout) == (1, said)
    # Eight minutes each.
    assert re.findall(r"timeout (\d+) pytest", loop[0]) == ["480"]


NUMBERS = re.compile(r"^### Numbers\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)


def unannounced(definitions: dict[str, int], changelog: str) -> list[str]:
    """The metrics whose definition was raised without a word under *Numbers*."""
    said = "".join(NUMBERS.findall(changelog))
    return [
        name
        for name, definition in definitions.items()
        for number in range(2, definition + 1)
        if not re.search(rf"^- `{name}`.*\bdefinition {number}\b", said, re.MULTILINE)
    ]


def test_every_change_of_numbers_stands_in_the_changelog() -> None:
    cards = [Card.read(path) for path in sorted(ROOT.glob("metric_cards/*/README.md"))]
    assert len(cards) > 60
    assert not unannounced({c.name: c.definition for c in cards}, read("CHANGELOG.md")), (
        "say under Numbers: - `NAME` (definition N): what changed"
    )


def test_a_change_of_numbers_that_is_said_nowhere_is_found() -> None:
    changelog = (
        "## Unreleased\n\n### Numbers\n\n- `bleu` (definition 2): what it was.\n\n## 0.1.0\n"
    )
    assert not unannounced({"bleu": 2, "wer": 1}, changelog)
    assert unannounced({"bleu": 3, "wer": 2}, changelog) == ["bleu", "wer"]
    assert unannounced({"bleu": 2}, changelog.replace("Numbers", "Fixed")) == ["bleu"]


def test_the_workflow_runs_the_readme_s_command_and_the_tools_on_every_python() -> None:
    (job,) = yaml.safe_load(read(".github/workflows/tests.yml"))["jobs"].values()
    matrix = job["strategy"]["matrix"]
    classifiers = PROJECT["project"]["classifiers"]
    assert matrix["python"] == re.findall(r":: (3\.\d+)$", "\n".join(classifiers), re.MULTILINE)
    systems = {*matrix["system"], *(one["system"] for one in matrix["include"])}
    assert {name.partition("-")[0] for name in systems} == {"ubuntu", "macos", "windows"}
    steps = [step["run"] for step in job["steps"] if "run" in step]
    command = re.search(r"<!-- test command -->\n```\n(.*)\n```", read("README.md"))
    assert command
    assert steps == [
        "pip install -r tests/oracles.txt",
        command[1],
        "ruff check . && ruff format --check .",
        "mypy",
    ]


def test_no_extra_installs_what_is_only_compared_with() -> None:
    # They are under the GPL, which nobody who installs metrichub should have to think about.
    oracles = {line for line in read("tests/oracles.txt").splitlines() if not line.startswith("#")}
    assert oracles == {"cer==1.2.0"}
    extras = PROJECT["project"]["optional-dependencies"].values()
    needed = [*PROJECT["project"]["dependencies"], *(one for extra in extras for one in extra)]
    assert not [one for one in needed if re.match(r"cer\b", one)]


def test_the_hooks_before_a_commit_fetch_nothing() -> None:
    (source,) = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    assert source["repo"] == "local"
    assert {hook["language"] for hook in source["hooks"]} == {"system"}
    commands = {hook["entry"] for hook in source["hooks"]}
    assert commands == {"ruff check", "ruff format --check", "mypy"}


def test_the_sdist_holds_the_papers() -> None:
    held = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    papers = {path.name for path in ROOT.glob("*.md")} | {"CITATION.cff", "LICENSE"}
    assert papers <= set(held)
    assert all((ROOT / name).exists() for name in held)
