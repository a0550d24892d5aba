"""The project's own documents are true: packages, words, versions, numbers and commands."""

import ast
import re
import tomllib
from pathlib import Path

import click
import pytest
import yaml
from packaging.requirements import Requirement

from metrichub import Report
from metrichub.catalog.card import Card
from metrichub.cli import main
from tests import import_graph

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def read(name: str) -> str:
    """The text of a file of the project."""
    return (ROOT / name).read_text(encoding="utf-8")


def listed_packages() -> list[str]:
    """The packages in the order in which ARCHITECTURE.md lists them, as imports name them."""
    section = read("ARCHITECTURE.md").partition("## Packages")[2].partition("\n## ")[0]
    heads = re.findall(r"^- (.*?):", section, re.MULTILINE)
    return [
        "metrichub" if name == "metrichub/__init__" else name
        for head in heads
        for name in re.findall(r"`([\w/]+?)(?:/|\.py)`", head)
    ]


def test_the_diagram_of_the_packages_is_current() -> None:
    page = read("ARCHITECTURE.md")
    assert page == import_graph.drawn(page), "run `python -m tests.import_graph --write`"
    assert "package_data" in page


def test_the_diagram_leaves_out_indirect_imports_and_nothing_else() -> None:
    found = {
        "high": frozenset({"middle", "low"}),
        "middle": frozenset({"low"}),
        "low": frozenset[str](),
    }
    assert import_graph.direct(found) == {**found, "high": frozenset({"middle"})}


def test_every_package_is_listed_above_those_that_import_it() -> None:
    found = import_graph.packages(import_graph.imports())
    listed = listed_packages()
    assert sorted(listed) == sorted(found)
    for package, targets in found.items():
        assert all(listed.index(target) < listed.index(package) for target in targets), package


@pytest.mark.parametrize("paper", ["ARCHITECTURE.md", "CONTRIBUTING.md", "STABILITY.md"])
def test_the_files_that_a_paper_names_are_there(paper: str) -> None:
    # What commands make that the paper teaches, and what a metric's folder may hold.
    made = {"metric_cards/word_overlap/__init__.py", "tests/metrics/test_word_overlap.py"}
    made |= {"dist/", "prompts/", "samples.jsonl"}
    named = set(re.findall(r"`([\w./-]+(?:\.(?:cff|jsonl|md|py|toml|txt)|/))`", read(paper)))
    homes = (ROOT, ROOT / "metrichub")
    assert named
    assert not [n for n in named - made if not any((home / n).exists() for home in homes)]


def test_the_names_of_code_that_architecture_gives_are_defined() -> None:
    paths = [*import_graph.modules().values(), ROOT / "tests" / "test_layers.py"]
    defined = {name for path in paths for name in names_in(path)}
    named = set(re.findall(r"`(\w+(?:\.(?!py\b)\w+)?)[`(]", read("ARCHITECTURE.md")))
    assert len(named) > 40
    assert not {name for name in named if not {*name.split(".")} <= defined}


def names_in(path: Path) -> set[str]:
    """The modules, classes, functions, parameters and variables that a file defines."""
    found = {path.stem, path.parent.name}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                found.add(node.name)
            case ast.Name(ctx=ast.Store()):
                found.add(node.id)
            case ast.arg():
                found.add(node.arg)
    return found


def test_each_word_is_explained_once_and_briefly() -> None:
    section = read("CONTRIBUTING.md").partition("## Words")[2].partition("\n## ")[0]
    users, developers = map(explained, (read("docs/GLOSSARY.md"), section))
    names = [name for text in users + developers for name in re.findall(r"\*\*(.+?)\*\*", text)]
    assert len(set(names)) == len(names)
    assert len(users) > 25
    assert len(developers) <= 12
    assert all(text.strip().count("\n") < 2 for text in users + developers)
    assert users == sorted(users, key=str.casefold)


def explained(text: str) -> list[str]:
    """The entries of a glossary."""
    return re.split(r"^- ", text, flags=re.MULTILINE)[1:]


def test_contributing_runs_the_tests_by_the_readme_s_command() -> None:
    command = re.search(r"<!-- test command -->\n```\n(.*)\n```", read("README.md"))
    assert command
    assert f"```\n{command[1]}\n```" in read("CONTRIBUTING.md")


def test_the_citation_is_of_this_version_and_valid() -> None:
    found = yaml.safe_load(read("CITATION.cff"))
    # https://github.com/citation-file-format/citation-file-format/blob/1.2.0/schema-guide.md
    required = {"authors", "cff-version", "message", "title"}
    optional = {"abstract", "date-released", "keywords", "license", "type", "version"}
    # The first release adds it.
    optional.add("repository-code")
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
    modules = re.findall(r"^\S+$", read("tests/data/public.txt"), re.MULTILINE)
    promised = re.findall(r"`(metrichub(?:\.\w+)*)`", read("STABILITY.md"))
    parts = ("metrichub.text.", "metrichub.bridges.")
    assert set(promised) == {name for name in modules if not name.startswith(parts)}


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


def test_the_plugin_of_models_needs_this_version_of_metrichub() -> None:
    project = tomllib.loads(read("plugins/metrichub-neural/pyproject.toml"))["project"]
    needed = {one.name: one for one in map(Requirement, project["dependencies"])}
    here = PROJECT["project"]["version"]
    assert project["version"] == here
    assert here in needed["metrichub"].specifier
    assert "99" not in needed["metrichub"].specifier


def test_issue_templates_ask_for_what_metrichub_can_print() -> None:
    forms = {path.stem: path for path in ROOT.glob(".github/ISSUE_TEMPLATE/*.yml")}
    assert forms.keys() == {"wrong_score", "defect", "idea"}
    for path in forms.values():
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert {"name", "description", "body"} <= form.keys()
        fields = [field["id"] for field in form["body"]]
        assert len(set(fields)) == len(fields) > 1
    assert "metrichub doctor" in read(".github/ISSUE_TEMPLATE/defect.yml")
    context = click.Context(main)
    assert main.get_command(context, "doctor")
    score = read(".github/ISSUE_TEMPLATE/wrong_score.yml")
    assert "metrichub score FILE -m METRIC --signature" in score
    command = main.get_command(context, "score")
    assert command is not None
    known = {name for option in command.params for name in option.opts}
    assert {"-m", "--signature"} <= known
    assert "report.signatures()" in score
    assert callable(Report.signatures)
