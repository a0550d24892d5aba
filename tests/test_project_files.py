"""What the project's own files promise: versions, numbers, licences and safe releases."""

import re
import tomllib
from pathlib import Path

import yaml

from metrichub.catalog.card import Card
from tests import import_graph

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def read(name: str) -> str:
    """The text of a file of the project."""
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_diagram_of_the_packages_is_current() -> None:
    page = read("ARCHITECTURE.md")
    assert page == import_graph.drawn(page), "run `python -m tests.import_graph --write`"
    assert "package_data" in page


def test_the_citation_is_of_this_version_and_valid() -> None:
    result = yaml.safe_load(read("CITATION.cff"))
    # https://github.com/citation-file-format/citation-file-format/blob/1.2.0/schema-guide.md
    required = {"authors", "cff-version", "message", "title"}
    optional = {"abstract", "date-released", "keywords", "license", "type", "version"}
    # The first release adds it.
    optional.add("repository-code")
    assert required <= set(result) <= required | optional
    assert result["cff-version"] == "1.2.0"
    assert all(set(author) == {"name"} and author["name"] for author in result["authors"])
    assert result["type"] == "software"
    assert len(set(result["keywords"])) == len(result["keywords"])
    assert all(isinstance(result[key], str) for key in set(result) - {"authors", "keywords"})
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", result.get("date-released", "2000-01-01"))
    assert result["version"] == PROJECT["project"]["version"]
    assert result["license"] == PROJECT["project"]["license"]


def test_the_public_names_that_are_promised_are_those_on_record() -> None:
    modules = re.findall(r"^\S+$", read("tests/data/public.txt"), re.MULTILINE)
    promised = re.findall(r"`(metrichub(?:\.\w+)*)`", read("STABILITY.md"))
    parts = ("metrichub.text.", "metrichub.bridges.")
    assert set(promised) == {name for name in modules if not name.startswith(parts)}


def test_every_change_of_numbers_stands_in_the_changelog() -> None:
    cards = [Card.read(path) for path in sorted(ROOT.glob("metric_cards/*/README.md"))]
    assert len(cards) > 60
    numbers = r"^### Numbers\n(.*?)(?=^##|\Z)"
    message = "".join(re.findall(numbers, read("CHANGELOG.md"), re.MULTILINE | re.DOTALL))
    for card in cards:
        for number in range(2, card.definition + 1):
            # - `NAME` (definition N): what changed
            entry = rf"^- `{card.name}`.*\bdefinition {number}\b"
            assert re.search(entry, message, re.MULTILINE), (card.name, number)


def test_workflows_use_pinned_actions_and_few_rights() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob(".github/workflows/*"))]
    for action in re.findall(r"uses: (.*)", "".join(texts)):
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action
    workflows = [yaml.safe_load(text) for text in texts]
    assert all(flow["permissions"] == {"contents": "read"} for flow in workflows)
    jobs = {name: job for flow in workflows for name, job in flow["jobs"].items()}
    more = {name: job["permissions"] for name, job in jobs.items() if "permissions" in job}
    assert more == {
        "publish": {"id-token": "write"},
        "deploy": {"pages": "write", "id-token": "write"},
    }
    # They run no code of the repository, only one action each on what another job has built.
    assert not [step for name in more for step in jobs[name]["steps"] if "run" in step]
    steps = [step for job in jobs.values() for step in job["steps"]]
    assert not [step for step in steps if "secrets." in str(step)]
    checkouts = [step for step in steps if "checkout@" in step.get("uses", "")]
    assert all(step["with"] == {"persist-credentials": False} for step in checkouts)
    (upload,) = (step for step in steps if "pypi-publish@" in step.get("uses", ""))
    assert upload["with"] == {"attestations": True}
