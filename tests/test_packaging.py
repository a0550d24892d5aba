"""The wheel, the sdist and plugins, in a fresh virtual environment, as a new user meets them."""

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from metrichub.catalog.card import Card

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = ROOT / "plugins" / "metrichub-example"
CARDS = [Card.read(path) for path in sorted(ROOT.glob("metric_cards/*/README.md"))]
METRICS = [card.name for card in CARDS]


def run(*command, **options):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIP_USER"))}
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True, text=True, check=False, env=environment, **options,
    )  # fmt: skip


def ok(*command, **options):
    ran = run(*command, **options)
    assert ran.returncode == 0, f"{command}\n{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}"
    return ran.stdout


@pytest.fixture(scope="session")
def distributions(tmp_path_factory):
    """The sdist and the wheel, built from the sdist."""
    out = tmp_path_factory.mktemp("dist")
    ok(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT)
    return {path.suffix: path for path in out.iterdir()}


@pytest.fixture(scope="session")
def fresh(distributions, tmp_path_factory):
    """A fresh environment with the wheel, pytest and a build backend; its Python and scripts."""
    folder = tmp_path_factory.mktemp("fresh")
    ok(sys.executable, "-m", "venv", folder)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = (scripts / "python", "-m", "pip", "install", "--quiet")
    ok(*pip, distributions[".whl"], "pytest", "hatchling")
    ok(*pip, "--no-deps", "--no-build-isolation", PLUGIN)
    return scripts


@pytest.fixture
def elsewhere(tmp_path):
    """A folder from which the source tree can't be imported by accident."""
    return tmp_path


def write_plugin(folder, distribution, package, metric, code=None):
    """A distribution with one metric, its code that of the example plugin unless given."""
    home = folder / distribution / package / metric
    home.mkdir(parents=True)
    (home.parent / "__init__.py").write_text("")
    source = PLUGIN / "metrichub_example" / "number_recall"
    card = (source / "README.md").read_text().replace("name: number_recall", f"name: {metric}")
    (home / "README.md").write_text(card)
    (home / "__init__.py").write_text(code or (source / "__init__.py").read_text())
    project = (PLUGIN / "pyproject.toml").read_text()
    project = project.replace("metrichub-example", distribution).replace(
        'readme = "README.md"\n', ""
    )
    project = project.replace("metrichub_example", package).replace("number_recall", metric)
    (folder / distribution / "pyproject.toml").write_text(project)
    return folder / distribution


def test_wheel_and_sdist_hold_code_cards_and_types(distributions):
    wheel = zipfile.ZipFile(distributions[".whl"]).namelist()
    assert "metrichub/py.typed" in wheel
    for name in METRICS:
        assert f"metric_cards/{name}/README.md" in wheel
        assert f"metric_cards/{name}/__init__.py" in wheel
    beside = [
        path.relative_to(ROOT).as_posix()
        for package in ("metrichub", "metric_cards")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix in (".md", ".html", ".css", ".js", ".jsonl")
    ]
    assert len(beside) > 100
    assert set(beside) <= set(wheel)
    with tarfile.open(distributions[".gz"]) as archive:
        sdist = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "examples/summaries.jsonl", "tests/test_packaging.py"} <= sdist


def test_the_readme_s_first_command_scores_the_examples(fresh):
    first = re.search(
        r"<!-- first command -->\n```\n(.*?)\n```", (ROOT / "README.md").read_text(), re.S
    )
    install, _, score = first[1].partition(" && ")
    assert install == "pip install ."
    shown = ok(fresh / "python", "-m", *score.split(), "--format", "table", cwd=ROOT)
    for word in ("rouge", "bleu", "low", "high"):
        assert word in shown


@pytest.mark.parametrize("metric", [card.name for card in CARDS if not card.requires])
def test_the_laws_hold_in_the_installed_wheel(fresh, elsewhere, metric):
    ok(fresh / "metrichub", "check", metric, cwd=elsewhere)


@pytest.mark.parametrize("name", [card.name for card in CARDS if card.requires])
def test_a_metric_with_an_extra_names_it_where_it_is_missing(fresh, elsewhere, name):
    (needs,) = (
        one["needs"]
        for one in json.loads(ok(fresh / "metrichub", "list", cwd=elsewhere))
        if one["name"] == name
    )
    assert re.fullmatch(r"pip install 'metrichub\[\w+\]'", needs)
    ran = run(fresh / "metrichub", "check", name, cwd=elsewhere)
    assert ran.returncode == 5
    assert needs in ran.stderr


def test_a_plugin_is_as_good_as_a_built_in(fresh, elsewhere):
    data = elsewhere / "data.jsonl"
    data.write_text('{"prediction": "In 1900 it was 3.", "reference": "In 1900 it was 4."}\n')
    found = json.loads(ok(fresh / "metrichub", "score", data, "-m", "number_recall", cwd=elsewhere))
    # 1900 is kept, 4 is not.
    assert found["scores"]["number_recall"]["score"] == 0.5
    assert "number_recall" in ok(fresh / "metrichub", "list", cwd=elsewhere)
    ok(
        fresh / "python",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        PLUGIN / "tests",
        cwd=elsewhere,
    )


def test_two_plugins_with_one_name_are_reached_by_qualified_names(fresh, elsewhere):
    for distribution in ("dist-a", "dist-b"):
        package = distribution.replace("-", "_")
        source = write_plugin(elsewhere, distribution, package, "twin")
        ok(
            fresh / "python",
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--no-build-isolation",
            source,
        )
    try:
        program = "from metrichub import load_metric; print(load_metric({!r}).name)"
        ran = run(fresh / "python", "-c", program.format("twin"), cwd=elsewhere)
        assert "AmbiguousMetric" in ran.stderr
        assert "'dist-a/twin' or 'dist-b/twin'" in ran.stderr
        assert ok(fresh / "python", "-c", program.format("dist-b/twin"), cwd=elsewhere) == "twin\n"
    finally:
        ok(fresh / "python", "-m", "pip", "uninstall", "-q", "-y", "dist-a", "dist-b")


def test_a_plugin_with_a_built_in_s_name_changes_nothing(fresh, elsewhere):
    source = write_plugin(elsewhere, "dist-c", "dist_c", "bleu")
    ok(fresh / "python", "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", source)
    try:
        program = "from metrichub import load_metric; print(type(load_metric({!r})).__module__)"
        assert (
            ok(fresh / "python", "-c", program.format("bleu"), cwd=elsewhere)
            == "metric_cards.bleu\n"
        )
        assert (
            ok(fresh / "python", "-c", program.format("dist-c/bleu"), cwd=elsewhere)
            == "dist_c.bleu\n"
        )
    finally:
        ok(fresh / "python", "-m", "pip", "uninstall", "-q", "-y", "dist-c")


def test_a_broken_plugin_is_a_line_and_an_error_on_use_only(fresh, elsewhere):
    source = write_plugin(elsewhere, "dist-d", "dist_d", "broken", code="import no_such_package\n")
    ok(fresh / "python", "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", source)
    try:
        assert "broken" in ok(fresh / "metrichub", "list", cwd=elsewhere)
        doctor = run(fresh / "metrichub", "doctor", cwd=elsewhere)
        assert doctor.returncode == 5
        assert "no_such_package" in doctor.stdout
        data = elsewhere / "data.jsonl"
        data.write_text('{"prediction": "a", "reference": "a"}\n')
        ok(fresh / "metrichub", "score", data, "-m", "exact_match", cwd=elsewhere)
        ran = run(fresh / "metrichub", "score", data, "-m", "broken", cwd=elsewhere)
        assert ran.returncode == 5
        assert ran.stderr.count("\n") == 1
        assert "dist-d/broken" in ran.stderr
        assert "no_such_package" in ran.stderr
    finally:
        ok(fresh / "python", "-m", "pip", "uninstall", "-q", "-y", "dist-d")
