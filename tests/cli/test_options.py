"""What `--help` says of every option of every command."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from metrichub.cli import main
from metrichub.cli.program import WHOLE, Command
from tests.commands import run


def commands(
    command: click.Command, name: str = "metrichub"
) -> Iterator[tuple[str, click.Command]]:
    """A command and those below it, by name."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            result = command.get_command(context, below)
            assert result is not None
            yield from commands(result, f"{name} {below}")


OPTIONS = [
    pytest.param(option, id=f"{name} {option.opts[-1]}")
    for name, command in commands(main)
    for option in command.params
    if isinstance(option, click.Option)
]
ONE_WORD = ("--task", "--dimension", "--family", "--input", "--host")
"""Options that take a word, and whose name says which."""


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_says_what_it_does_what_to_write_and_its_default(option: click.Option) -> None:
    help_, name = option.help or "", option.opts[-1]
    assert len(help_.split()) > 1 or name in ("--seed", "--format")
    if not option.is_flag and option.type.name == "text":
        assert option.metavar or name in ONE_WORD
    number = isinstance(option.default, (int, float)) and not option.is_flag
    # A run alone is no repeat.
    if number and name != "--repeats":
        assert option.show_default or "[default: " in help_


def helps(command: click.Command, name: str) -> tuple[str, str]:
    """What --help and --help-all of a command print, at 80 columns."""
    context = click.Context(command, info_name=name, **command.context_settings)
    short = context.get_help()
    context.meta[WHOLE] = True
    return short, context.get_help()


COMMANDS = [(name, command) for name, command in commands(main)]


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_a_help_is_short_and_its_whole_has_every_option(name: str, command: click.Command) -> None:
    short, full = map(click.unstyle, helps(command, name))
    assert len(short.splitlines()) <= 45
    assert max(map(len, short.splitlines())) <= 80
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            written = re.escape(parameter.opts[-1])
            assert re.search(rf"{written}(?![\w-])", full)
            assert re.search(rf"{written}(?![\w-])", short)
            detail = " ".join((parameter.help or "").split())
            assert "".join(detail.split()) in "".join(full.split())


def test_a_long_help_is_in_groups_and_names_what_nobody_listed() -> None:
    result = run("score", "--help")
    assert [x for x in result.stdout.splitlines() if re.fullmatch(r"\w+", x)] == [
        "Input", "Judge", "Statistics", "Output", "Gate",
    ]  # fmt: skip
    assert "bleu2 = bleu" not in result.stdout.split("Input")[1]
    assert "evaluate:./folder, whose code will run" in " ".join(
        run("score", "--help-all").stdout.split()
    )
    options = [click.Option([f"--new-{n}"], help=f"Do {n}. And more.") for n in range(20)]
    command = Command("own", params=[*options, click.Option(["--seed"], help="The seed.")])
    short, text = map(click.unstyle, helps(command, "own"))
    assert "Other\n  --new-0 TEXT" in short
    assert "Do 19\n" in short
    assert "Do 19. And more." in text
    assert "More: --seed" in short


def test_a_short_help_has_all_and_takes_help_all_too() -> None:
    assert run("card", "--help").stdout == run("card", "--help-all").stdout
    assert "--help-all" not in run("card", "--help").stdout
