"""`metrichub new` and `check`: what is written works as it is, and broken laws are told."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from metrichub.catalog.card import Card
from metrichub.cli import author
from tests.commands import JSON, error, program, run
from tests.plugins import distribution, environment


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def project(folder: Path, name: str = "mine") -> None:
    """A pyproject.toml, which makes a folder a project."""
    text = f'[project]\nname = "{name}"\nversion = "1"\n'
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def test_a_new_metric_keeps_every_law_once_its_line_is_added(folder: Path) -> None:
    project(folder)
    result = run("new", "word_overlap", "--dir", "my_metrics")
    assert result.exit_code == 0, result.stderr
    line = 'word_overlap = "my_metrics.word_overlap:WordOverlap"'
    assert "pyproject.toml, under [project.entry-points" in result.stdout
    assert f"  {line}\n" in result.stdout
    assert "  pip install -e . --no-deps\n  metrichub check word_overlap\n" in result.stdout
    distribution(folder, "my-metrics", [line.replace('"', "")])
    ran = program("check", "word_overlap", env=environment(folder))
    assert "word_overlap: 16 of 16 contract tests pass" in ran.stdout
    assert ran.returncode == 0


def test_the_line_belongs_to_the_project_around_the_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(folder)
    (folder / "src").mkdir()
    monkeypatch.chdir(folder / "src")
    output = run("new", "word_overlap").stdout
    assert "add this line to ../pyproject.toml" in output.replace(os.sep, "/")
    assert "pip install -e .. --no-deps" in output


def test_without_a_project_the_new_metric_is_used_by_its_class(folder: Path) -> None:
    output = run("new", "word_overlap", "--dir", "my_metrics").stdout
    assert "pyproject.toml; `metrichub new word_overlap --plugin` writes a project" in output
    assert "add this line" not in output
    lines = [line.strip() for line in output.splitlines() if line.startswith("  ")]
    samples = "predictions=['a b'], references=['b c']"
    code = f"{lines[0]}; {lines[1]}; print({lines[2]}({samples}))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "{'word_overlap': {'score': 0.5}}\n"


def test_a_new_metric_is_the_share_of_reference_words_whatever_its_name(folder: Path) -> None:
    run("new", "answer_length")
    distribution(folder, "mine", ["answer_length = answer_length:AnswerLength"])
    # Of "a A b", a twice: 2 of 3; of "c d e", none; the third reference has no word.
    rows = [("A c A", "a A b"), ("", "c d e"), ("h", "")]
    samples = "".join(f"{json.dumps({'prediction': p, 'reference': r})}\n" for p, r in rows)
    env = environment(folder)
    ran = program("score", "-", "-m", "answer_length", *JSON, env=env, input=samples)
    document = json.loads(ran.stdout)
    assert document["scores"] == {"answer_length": {"score": 2 / 6}}
    assert document["counts"] == {"answer_length": {"unscored": 1}}
    assert document["notes"] == {"answer_length": ["1 unscored: the reference has no words"]}
    # Where case counts, "A" once: 1 of 3.
    spec = "answer_length(lowercase=False)"
    ran = program("score", "-", "-m", spec, *JSON, env=env, input=samples.partition("\n")[0])
    assert json.loads(ran.stdout)["scores"]["answer_length"]["score"] == 1 / 3
    card = Card.read(folder / "answer_length" / "README.md")
    assert card.title == "Fraction of reference words"
    assert "length" not in card.summary


@pytest.mark.parametrize(
    ("arguments", "project_name", "software"),
    [
        (("word_overlap",), None, r"word\_overlap"),
        (("word_overlap", "--dir", "my_metrics"), None, r"my\_metrics"),
        (("word_overlap", "--dir", "my_metrics"), "texts", "texts"),
        (("word_overlap", "--plugin"), "texts", "metrichub-word-overlap"),
    ],
)
def test_a_new_metric_cites_the_software_that_it_belongs_to(
    folder: Path, arguments: tuple[str, ...], project_name: str | None, software: str
) -> None:
    if project_name:
        project(folder, project_name)
    run("new", *arguments)
    [card] = [path for path in folder.rglob("word_overlap/README.md")]
    [bibtex] = re.findall(r"```bibtex\n(.*?)```", card.read_text(encoding="utf-8"), re.DOTALL)
    assert f"title  = {{{software}}}" in bibtex
    assert f"author = {{{{The {software} authors}}}}" in bibtex
    assert "papineni" not in bibtex


def test_the_line_names_the_package_that_the_folder_belongs_to(folder: Path) -> None:
    (folder / "src" / "pack").mkdir(parents=True)
    (folder / "src" / "pack" / "__init__.py").touch()
    scaffold = author.new_metric("a", folder / "src" / "pack" / "inner")
    assert scaffold.entry == 'a = "pack.inner.a:A"'
    assert author.new_metric("a_b", Path()).entry == 'a_b = "a_b:AB"'
    assert not (folder / "__init__.py").exists()


def test_a_new_plugin_builds_and_passes_its_test_as_it_is(folder: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    pytest.importorskip("build", reason="build is not installed")
    result = run("new", "answer_length", "--plugin")
    assert result.exit_code == 0, result.stderr
    plugin = folder / "metrichub-answer-length"
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist"]
    subprocess.run(build, cwd=plugin, check=True, capture_output=True)
    [wheel] = (plugin / "dist").glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    shutil.rmtree(plugin / "metrichub_answer_length")  # The test has to find the installed one.
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=plugin,
        env=environment(folder / "site"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "16 passed" in ran.stdout, ran.stdout


def test_a_plugin_takes_the_name_that_is_chosen(folder: Path) -> None:
    assert run("new", "speed", "--plugin", "--dist", "My.tools", "--dir", "deep/er").exit_code == 0
    project = (folder / "deep" / "er" / "My.tools" / "pyproject.toml").read_text(encoding="utf-8")
    assert 'name = "My.tools"' in project
    assert 'speed = "my_tools.speed:Speed"' in project


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("AnswerLength",),
            "'AnswerLength' isn't a valid name of a metric; .* for example 'answer_length'",
        ),
        (("answer-length",), "for example 'answer_length'"),
        (("class",), "'class' isn't a valid name of a metric"),
        (("../x",), "isn't a valid name of a metric"),
        (("a", "--dist", "b"), "--dist is the name of a plugin's distribution; add --plugin"),
        (("a", "--plugin", "--dist", "9 lives"), "'9 lives' isn't a valid name of a distribution"),
    ],
)
def test_a_wrong_name_writes_nothing(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    assert re.search(message, error(run("new", *arguments), 2))
    assert os.listdir(folder) == []


def test_what_is_there_is_not_overwritten(folder: Path) -> None:
    (folder / "mine").mkdir()
    assert "mine: already exists" in error(run("new", "mine"), 2)
    assert os.listdir(folder / "mine") == []


def test_the_name_of_a_built_in_metric_gets_a_note() -> None:
    result = run("new", "bleu")
    assert result.exit_code == 0
    assert "metrichub/bleu has the same name" in result.stderr


def test_check_tells_which_law_is_broken_and_update_mends_the_card(folder: Path) -> None:
    run("new", "answer_length", "--dir", "my_metrics")
    distribution(folder, "my-metrics", ["answer_length = my_metrics.answer_length:AnswerLength"])
    card = folder / "my_metrics" / "answer_length" / "README.md"
    good = card.read_text(encoding="utf-8")
    card.write_text(good.replace("| higher | 1 |", "| lower | 1 |"), encoding="utf-8")
    ran = program("check", "answer_length", "--format", "json", env=environment(folder))
    assert ran.returncode == 1
    broken = {
        f["law"]: f["problem"] for f in json.loads(ran.stdout)["answer_length"] if f["problem"]
    }
    assert broken.keys() == {2}
    assert "metrichub check answer_length --update" in broken[2]
    ran = program("check", "answer_length", "--update", env=environment(folder))
    assert ran.returncode == 0
    assert ran.stderr == "metrichub: note: updated the card of answer_length\n"
    assert card.read_text(encoding="utf-8") == good
