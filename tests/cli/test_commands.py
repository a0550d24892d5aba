"""Commands: ours are listed without an import, and plugins add theirs."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from metrichub.cli import main
from tests.commands import error
from tests.commands import run as run_main
from tests.plugins import distribution, environment

CODE = """
import click

@click.command()
@click.argument("name")
@click.option("--title")
def greet(name, title):
    "Greet somebody."
    click.echo(f"hello {name}")

nothing = 3
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A plugin with a command, one that takes our name, and three that can't be loaded."""
    (tmp_path / "greeting.py").write_text(CODE)
    entries = [
        "greet = greeting:greet",
        "score = greeting:greet",
        "gone = not_there:command",
        "number = greeting:nothing",
    ]
    distribution(tmp_path, "my-plugin", entries, "metrichub.commands")
    return tmp_path


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "metrichub", *arguments]
    return subprocess.run(
        command, env=environment(site), capture_output=True, text=True, check=False
    )


def test_help_lists_our_commands_without_loading_one() -> None:
    program = (
        "import sys\nfrom metrichub.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(*sorted(name for name in sys.modules if name.startswith('metrichub.')))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "compare Test systems against a baseline." in " ".join(ran.stdout.split())
    assert ran.stdout.splitlines()[-1].split() == [
        "metrichub.catalog",
        "metrichub.catalog.foreign_code",
        "metrichub.cli",
        "metrichub.cli.program",
        "metrichub.cli.screen",
        "metrichub.errors",
    ]


def test_every_command_of_ours_has_a_help_line_that_fits() -> None:
    context = click.Context(main)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        assert command.name == name
        line = main.help_line(name)
        assert line.endswith(".")
        assert len(line) < 60


def options_of(context: click.Context) -> Iterator[tuple[list[str], click.Option]]:
    """The options of every command below, each with the words before it."""
    command = context.command
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        sub = command.get_command(context, name)  # type: ignore[attr-defined]  # a group
        assert sub is not None
        for words, option in options_of(click.Context(sub, context)):
            yield [name, *words], option
    yield from (([], o) for o in command.get_params(context) if isinstance(o, click.Option))


def test_an_option_that_takes_one_value_is_refused_if_it_has_several() -> None:
    ours = list(options_of(click.Context(main, **main.context_settings)))
    assert {words[0] for words, _ in ours if words} >= {"score", "compare", "cache", "doctor"}
    for words, option in ours:
        if option.multiple or option.is_flag or option.count:
            continue
        ran = run_main(*words, option.opts[0], "x", option.opts[-1], "y")
        text = f"{' / '.join(option.opts)} takes one value, given 2: x, y; choose one, or run the"
        assert text in error(ran, 2)


def test_what_may_repeat_and_what_asks_for_help_are_no_second_value() -> None:
    assert run_main("card", "bleu", "--full", "--full").exit_code == 0
    assert run_main("score", "--confidence", ".9", "--confidence", ".8", "--help").exit_code == 0


def test_a_plugin_adds_a_command(site: Path) -> None:
    assert run(site, "greet", "you").stdout == "hello you\n"
    twice = run(site, "greet", "you", "--title=Dr", "--title", "Prof")
    assert twice.returncode == 2
    assert "--title takes one value, given 2: Dr, Prof; choose one" in twice.stderr
    assert "greet Greet somebody." in " ".join(run(site, "--help").stdout.split())


def test_a_plugin_can_build_its_command_as_ours_are(tmp_path: Path) -> None:
    (tmp_path / "counting.py").write_text(
        "from dataclasses import dataclass\n"
        "import click\n"
        "from metrichub.authoring import Command, judge_of, note, option_group\n"
        "@dataclass(frozen=True)\n"
        "class Asked:\n"
        "    judge: str\n"
        "@click.command(cls=Command)\n"
        "@option_group('asked', Asked, click.option('--judge', default='offline'))\n"
        "def count(asked):\n"
        "    note(f'asks {judge_of(asked.judge).label}')\n"
        "    raise ValueError('lost')\n"
    )
    distribution(tmp_path, "counter", ["count = counting:count"], "metrichub.commands")
    ran = run(tmp_path, "count", "--debug")
    assert ran.returncode == 70
    assert ran.stderr.startswith("metrichub: note: asks offline")
    assert 'raise ValueError("lost")' in ran.stderr.replace("'", '"')


def test_a_command_of_a_plugin_of_ours_says_how_to_install_it() -> None:
    message = error(run_main("fetch", "roberta-large"), 5)
    assert "metrichub fetch needs metrichub-neural, which isn't installed: in a clone" in message


def test_a_plugin_replaces_no_command(site: Path) -> None:
    assert "Score files of samples (JSONL" in " ".join(run(site, "score", "--help").stdout.split())
    assert run(site, "--help").stdout.count("score ") == 2  # the line, and "Start with"


def test_a_command_that_cannot_be_loaded_is_a_line_of_the_help(site: Path) -> None:
    shown = " ".join(run(site, "--help").stdout.split())
    assert "gone my-plugin's command 'gone' can't be loaded: ModuleNotFoundError" in shown
    assert "number my-plugin's command 'number' can't be loaded: it is 3, not" in shown
    ran = run(site, "gone")
    assert ran.returncode == 5
    assert "my-plugin's command 'gone' can't be loaded: ModuleNotFound" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize(("chosen", "threads"), [(None, "1"), ("3", "3")])
def test_numpy_has_one_thread_unless_more_are_chosen(chosen: str | None, threads: str) -> None:
    program = (
        "import atexit, os, sys\n"
        "from metrichub.__main__ import start\n"
        "atexit.register(lambda: print(os.environ['OPENBLAS_NUM_THREADS']))\n"
        "sys.argv = ['metrichub', '--version']\n"
        "start()\n"
    )
    variables = {**os.environ, "OPENBLAS_NUM_THREADS": chosen or ""}
    if chosen is None:
        del variables["OPENBLAS_NUM_THREADS"]
    lines = subprocess.check_output([sys.executable, "-c", program], text=True, env=variables)
    assert lines.splitlines()[-1] == threads
