"""What `--help` says of every option of every command."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from metrichub.cli import main


def options(command: click.Command, name: str = "metrichub") -> Iterator[tuple[str, click.Option]]:
    """All options of a command and of those below it, by the command's name."""
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield name, parameter
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            yield from options(found, f"{name} {below}")


OPTIONS = [pytest.param(option, id=f"{name} {option.opts[-1]}") for name, option in options(main)]
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
