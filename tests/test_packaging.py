"""The wheel, the sdist and a plugin, in an environment with what they name, as a new user has it.

Nothing is downloaded: what the wheel needs is linked from the environment that runs the tests.
"""

import csv
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from base64 import urlsafe_b64encode
from hashlib import sha256
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from metrichub.catalog.card import Card
from metrichub.testing.laws import LAWS
from scripts.pictures import words_of

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = ROOT / "plugins" / "metrichub-example"
CARDS = [Card.read(path) for path in sorted(ROOT.glob("metric_cards/*/README.md"))]
HERE = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
LOCAL = ["--no-index", "--no-deps", "--no-build-isolation"]

pytestmark = pytest.mark.packaging


def run(*command, path="", **options):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIP_USER"))}
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True, text=True, check=False,
        env={**environment, "PYTHONPATH": str(path)}, **options,
    )  # fmt: skip


def ok(*command, **options):
    ran = run(*command, **options)
    assert ran.returncode == 0, f"{command}\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}"
    return ran.stdout


def is_needed(requirement, extra):
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def closure(requirements):
    """The installed distributions that some requirements name, and those that these need."""
    result, pending = {}, [(requirement, "") for requirement in requirements]
    while pending:
        requirement, extra = pending.pop()
        for key in [(requirement.name, each) for each in ("", *requirement.extras)]:
            if is_needed(requirement, extra) and key not in result:
                result[key] = metadata.distribution(requirement.name)
                pending += [(Requirement(text), key[1]) for text in result[key].requires or ()]
    return {distribution.name: distribution for distribution in result.values()}.values()


def link(distribution, site):
    """Make a distribution of this environment one of another's, by links to its files."""
    tops = {path.parts[0] for path in distribution.files or ()} - {"..", "__pycache__"}
    for top in tops:
        if not (site / top).exists():
            (site / top).symlink_to(Path(distribution.locate_file(top)).resolve())


@pytest.fixture(scope="session")
def distributions(tmp_path_factory):
    """The sdist and the wheel, built from the sdist."""
    out = tmp_path_factory.mktemp("dist")
    ok(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT)
    return {path.suffix: path for path in out.iterdir()}


@pytest.fixture(scope="session")
def fresh(distributions, tmp_path_factory):
    """An environment with the wheel, what it requires, the example plugin, and pytest; its scripts.

    A package that the wheel doesn't require is missing there, however many are installed here.
    """
    folder = tmp_path_factory.mktemp("fresh")
    ok(sys.executable, "-m", "venv", "--without-pip", folder)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    program = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(ok(scripts / "python", "-c", program).strip())
    pip = (*HERE, "--python", scripts / "python", "install", *LOCAL)
    ok(*pip, distributions[".whl"])
    (wheel,) = metadata.distributions(name="metrichub", path=[str(site)])
    needed = map(Requirement, [*wheel.requires, "pytest", "hatchling"])
    for distribution in closure(needed):
        link(distribution, site)
    ok(*pip, PLUGIN)
    return scripts


@pytest.fixture
def elsewhere(tmp_path):
    """A folder from which the source tree can't be imported by accident."""
    return tmp_path


def files_below(*names):
    """The files of some folders of the tree, by the names that they have in it."""
    paths = (path for name in names for path in (ROOT / name).rglob("*"))
    return {
        path.relative_to(ROOT).as_posix(): path
        for path in paths
        if path.is_file() and not {"__pycache__", "node_modules"} & {*path.parts}
    }


def test_the_wheel_records_the_tree_s_code_cards_and_guides_and_nothing_else(distributions):
    expected = files_below("metrichub", "metric_cards")
    guides = files_below("docs") | {"CHANGELOG.md": ROOT / "CHANGELOG.md"}
    for name, path in guides.items():
        expected[f"metrichub/docs/{name.removeprefix('docs/')}"] = path
    with zipfile.ZipFile(distributions[".whl"]) as wheel:
        (record,) = (name for name in wheel.namelist() if name.endswith(".dist-info/RECORD"))
        rows = list(csv.reader(wheel.read(record).decode().splitlines()))
    held = {name: digest for name, digest, _ in rows if ".dist-info/" not in name}
    # A hash in a RECORD is base64 for addresses, without its padding.
    assert held == {
        name: f"sha256={urlsafe_b64encode(sha256(path.read_bytes()).digest()).decode().rstrip('=')}"
        for name, path in expected.items()
    }
    assert len(held) > 500
    assert "metrichub/py.typed" in held
    # Fonts and pictures of the site among them.
    assert "metrichub/site/skeleton/docs/assets/fonts/OFL.txt" in held
    assert "metric_cards/_bases/whisper/LICENSE" in held


def test_the_sdist_holds_what_tests_and_builds_need(distributions):
    with tarfile.open(distributions[".gz"]) as archive:
        sdist = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "pyproject.toml", ".ci/run", "requirements/light.txt"} <= sdist
    assert set(files_below("metrichub", "metric_cards", "docs", "examples", "tests")) <= sdist


def test_the_readme_s_first_command_scores_the_examples(fresh):
    first = re.search(
        r"<!-- first command -->\n```\n(.*?)\n```", (ROOT / "README.md").read_text(), re.S
    )
    install, _, score = first[1].partition(" && ")
    assert install == "pip install ."
    shown = ok(fresh / "python", "-m", *words_of(score), cwd=ROOT)
    for word in ("rouge1", "chrf", "t5 scores highest on rouge1"):
        assert word in shown


def test_the_laws_hold_in_the_installed_wheel(fresh, elsewhere):
    # One that adds up, one that doesn't, one that asks a judge; the RECORD says the same of all.
    chosen = ("bleu", "cider", "faithfulness")
    value = json.loads(ok(fresh / "metrichub", "check", *chosen, "--format", "json", cwd=elsewhere))
    assert set(value) == set(chosen)
    for findings in value.values():
        assert len(findings) == len(LAWS)
        assert [finding for finding in findings if finding["problem"] is not None] == []


def test_a_metric_with_an_extra_names_it_where_it_is_missing(fresh, elsewhere):
    needy = [card.name for card in CARDS if card.requires]
    assert len(needy) > 2
    listed = ok(fresh / "metrichub", "list", "--format", "json", cwd=elsewhere)
    needs = {metric["name"]: metric["needs"] for metric in json.loads(listed)}
    for name in needy:
        assert re.fullmatch(r"pip install 'metrichub\[\w+\]'", needs[name])
        ran = run(fresh / "metrichub", "check", name, cwd=elsewhere)
        assert ran.returncode == 5
        assert needs[name] in ran.stderr


def test_pip_needs_no_index_to_add_an_extra_to_what_is_installed(fresh):
    extra = "metrichub[jsonschema]"
    ran = run(*HERE, "--python", fresh / "python", "install", "--no-index", "--dry-run", extra)
    # Without an index only the extra's own package can't be found.
    assert re.findall(r"No matching distribution found for (\w+)", ran.stderr) == ["jsonschema"]


def test_a_plugin_is_as_good_as_a_built_in(fresh, elsewhere):
    data = elsewhere / "data.jsonl"
    data.write_text('{"prediction": "In 1900 it was 3.", "reference": "In 1900 it was 4."}\n')
    score = (fresh / "metrichub", "score", data, "-m", "number_recall", "--format", "json")
    document = json.loads(ok(*score, cwd=elsewhere))
    # 1900 is kept, 4 is not.
    assert document["scores"]["number_recall"]["score"] == 0.5
    assert "number_recall" in ok(fresh / "metrichub", "list", "--all", cwd=elsewhere)
    ok(
        fresh / "python",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        # The options of this repository's tests take pytest-xdist, which isn't there.
        "-c",
        PLUGIN / "pyproject.toml",
        PLUGIN / "tests",
        cwd=elsewhere,
    )
