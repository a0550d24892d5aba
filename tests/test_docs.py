"""The guides and other pages of docs/: their examples run, their commands do as they show."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import shlex
import shutil
from pathlib import Path

import click
import pytest

from metrichub.catalog.registry import registry
from metrichub.cli import main
from tests.guide_commands import ROOT, run_step, steps

DOCS = sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("docs/evidence/*.md")])
TEXTS = {path.relative_to(ROOT / "docs").as_posix(): path.read_text("utf-8") for path in DOCS}


FILES = {
    "outputs.jsonl": "summaries.jsonl",
    "baseline.jsonl": "summaries.jsonl",
    "ours.jsonl": "summaries_b.jsonl",
}
"""Files of the reader, and which of examples/ takes the place of each."""


@pytest.mark.parametrize("page", [name for name, text in TEXTS.items() if ">>>" in text])
def test_the_examples_of_a_page_run(page: str) -> None:
    result = doctest.testfile(str(ROOT / "docs" / page), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("page", [name for name, text in TEXTS.items() if "```console" in text])
def test_the_commands_of_a_page_print_what_it_shows(page: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    status = 0
    for step in steps(TEXTS[page]):
        printed, status = run_step(step.command, tmp_path, status)
        assert printed == step.output, step.command


def plain_commands(text: str) -> list[str]:
    """The commands without their output: they need a file or a model of the reader."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.M)
    lines = [line for language, block in fences if not language for line in block.splitlines()]
    lines += re.findall(r"^- run: (.*)", text, re.M)
    commands = "|".join(main.list_commands(click.Context(main)))
    return [line for line in lines if re.match(rf"metrichub ({commands}) ", line)]


# The judges of JUDGES.md are models; tests/cli/test_author.py and tests/site run the others.
@pytest.mark.parametrize(
    "page", [name for name, text in TEXTS.items()
             if plain_commands(text) and name not in {"JUDGES.md", "OWN.md", "evidence/SPEED.md"}]
)  # fmt: skip
def test_the_commands_without_their_output_run_in_turn(page: str, tmp_path: Path) -> None:
    examples = shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name, example in FILES.items():
        shutil.copy(examples / example, tmp_path / name)
    rows = [json.loads(line) for line in (examples / "summaries.jsonl").open(encoding="utf-8")]
    rated = [json.dumps({**row, "quality": n % 5}) for n, row in enumerate(rows)]
    (tmp_path / "rated.jsonl").write_text("\n".join(rated), encoding="utf-8")
    tidy = [
        json.dumps({**row, "model": m, "doc_id": n}) for m in "ab" for n, row in enumerate(rows)
    ]
    (tmp_path / "all.jsonl").write_text("\n".join(tidy), encoding="utf-8")
    for name in (
        "outputs.txt",
        "references.txt",
        "a.txt",
        "b.txt",
        "c.txt",
        "ref1.txt",
        "ref2.txt",
    ):
        (tmp_path / name).write_text("it rains\nhe came home\n", encoding="utf-8")
    for command in plain_commands(TEXTS[page]):
        printed, status = run_step(command, tmp_path, 0)
        assert status == 0, (command, printed)


CARDS = [*ROOT.glob("metric_cards/*/README.md"), *ROOT.glob("plugins/*/*/*/README.md")]


@pytest.mark.parametrize(
    "command",
    plain_commands("\n".join([*TEXTS.values(), *(path.read_text("utf-8") for path in CARDS)])),
)
def test_the_options_of_other_commands_are_known(command: str) -> None:
    _, name, *arguments = shlex.split(command)
    result = main.get_command(click.Context(main), name)
    if isinstance(result, click.Group):
        name, *arguments = arguments
        result = result.get_command(click.Context(result), name)
    assert result is not None, command
    options = {option for param in result.params for option in (*param.opts, *param.secondary_opts)}
    assert {word.partition("=")[0] for word in arguments if word.startswith("-")} <= options


PAGES = [*ROOT.glob("*.md"), *DOCS, *ROOT.glob("plugins/*/README.md")]
BENCHMARKS = {
    line for path in PAGES for line in re.findall(r"\bbenchmarks\.[^`\n]*", path.read_text("utf-8"))
}


@pytest.mark.parametrize("line", sorted(BENCHMARKS))
def test_the_benchmarks_that_pages_name_take_these_options(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, *arguments = shlex.split(line)
    monkeypatch.chdir(tmp_path)
    Path("PROGRAMS").mkdir()
    # What a benchmark measures is imported only then.
    command = importlib.import_module(module).main
    if arguments or not isinstance(command, click.Group):
        command.make_context(module, arguments)


def test_every_metric_has_its_default_its_presets_and_what_was_read_on_the_page() -> None:
    page = TEXTS["evidence/DEFAULTS.md"]
    cards = {row.name: row.card for row in registry().entries if row.distribution == "metrichub"}
    lines = [line.strip("|").split("|") for line in page.splitlines() if line[:3] == "| `"]
    rows = [[cell.strip() for cell in cells] for cells in lines]
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row[0])) == sorted(cards)
    assert [row[0] for row in rows if len(row) != 4 or not row[1] or not row[3]] == []
    presets = [f"`{name}({preset})`" for name, card in cards.items() for preset in card.presets]
    assert [preset for preset in presets if preset not in page] == []
