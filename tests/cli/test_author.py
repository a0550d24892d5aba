"""`metrichub new` and `check`: what is written works as it is, and broken laws are told."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from metrichub.catalog import scaffold
from tests.commands import error, program, run
from tests.plugins import distribution, environment


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_new_metric_keeps_every_law_once_its_line_is_added(folder: Path) -> None:
    result = run("new", "answer_length", "--dir", "my_metrics")
    assert result.exit_code == 0, result.stderr
    line = 'answer_length = "my_metrics.answer_length:AnswerLength"'
    assert f"  {line}\n" in result.stdout
    distribution(folder, "my-metrics", [line.replace('"', "")])
    ran = program("check", "answer_length", env=environment(folder))
    assert "answer_length: 15 of 15 laws hold" in ran.stdout
    assert ran.returncode == 0


def test_a_new_metric_scores_the_ratio_of_lengths(folder: Path) -> None:
    run("new", "answer_length")
    distribution(folder, "mine", ["answer_length = answer_length:AnswerLength"])
    # 2 + 1 words against 1 + 3; the third sample has no reference to measure against.
    rows = [("a b", "c"), ("d", "e f g"), ("h", "")]
    samples = "".join(f"{json.dumps({'prediction': p, 'reference': r})}\n" for p, r in rows)
    ran = program("score", "-", "-m", "answer_length", env=environment(folder), input=samples)
    found = json.loads(ran.stdout)
    assert found["scores"] == {"answer_length": {"score": 0.75, "unscored": 1}}
    assert found["notes"] == {"answer_length": ["1 unscored: the reference is empty"]}
    assert ran.stderr == "metrichub: note: answer_length: 1 unscored: the reference is empty\n"


def test_the_line_names_the_package_that_the_folder_belongs_to(folder: Path) -> None:
    (folder / "src" / "pack").mkdir(parents=True)
    (folder / "src" / "pack" / "__init__.py").touch()
    made = scaffold.new_metric("a", folder / "src" / "pack" / "inner")
    assert made.entry == 'a = "pack.inner.a:A"'
    assert scaffold.new_metric("a_b", Path()).entry == 'a_b = "a_b:AB"'
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
    assert "15 passed" in ran.stdout, ran.stdout


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
            "'AnswerLength' is no name for a metric; .* for example 'answer_length'",
        ),
        (("answer-length",), "for example 'answer_length'"),
        (("class",), "'class' is no name for a metric"),
        (("../x",), "is no name for a metric"),
        (("a", "--dist", "b"), "--dist names a plugin's distribution; add --plugin"),
        (("a", "--plugin", "--dist", "9 lives"), "'9 lives' is no name for a distribution"),
    ],
)
def test_a_wrong_name_writes_nothing(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    import re

    assert re.search(message, error(run("new", *arguments), 2))
    assert os.listdir(folder) == []


def test_what_is_there_is_not_overwritten(folder: Path) -> None:
    (folder / "mine").mkdir()
    assert "mine: is there already" in error(run("new", "mine"), 2)
    assert os.listdir(folder / "mine") == []


def test_the_name_of_a_built_in_metric_gets_a_note() -> None:
    result = run("new", "bleu")
    assert result.exit_code == 0
    assert "metrichub/bleu is installed under this name too" in result.stderr


def test_check_tells_which_law_is_broken_and_update_mends_the_card(folder: Path) -> None:
    run("new", "answer_length", "--dir", "my_metrics")
    distribution(folder, "my-metrics", ["answer_length = my_metrics.answer_length:AnswerLength"])
    card = folder / "my_metrics" / "answer_length" / "README.md"
    good = card.read_text(encoding="utf-8")
    card.write_text(good.replace("| neither | 1 |", "| lower | 1 |"), encoding="utf-8")
    ran = program("check", "answer_length", "--format", "json", env=environment(folder))
    assert ran.returncode == 1
    broken = {
        f["law"]: f["problem"] for f in json.loads(ran.stdout)["answer_length"] if f["problem"]
    }
    assert broken.keys() == {2}
    assert "metrichub check answer_length --update" in broken[2]
    ran = program("check", "answer_length", "--update", env=environment(folder))
    assert ran.returncode == 0
    assert ran.stderr == "metrichub: note: the card of answer_length is rewritten\n"
    assert card.read_text(encoding="utf-8") == good
