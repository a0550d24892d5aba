"""The reference on the site: every public name, every command, every option."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import click
import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")

from metrichub.cli import main
from metrichub.site.commands import command_line


def leaves(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        for below, found in command.commands.items():
            yield from leaves(f"{name} {below}", found)


def test_every_command_and_option_is_on_the_page() -> None:
    page = command_line(main.to_info_dict(click.Context(main))).html
    known = [*leaves("metrichub", main)]
    assert len(known) > 15
    for name, command in known:
        if command.hidden:
            continue
        assert f'<h2 id="{name.replace(" ", "-")}">{name}</h2>' in page
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.opts[0] in page


@pytest.mark.parametrize(
    "module", ["metrichub", "metrichub.authoring", "metrichub.agreement", "metrichub.testing"]
)
def test_every_public_name_is_on_its_page(module: str) -> None:
    pytest.importorskip("griffe", reason="the extra site is not installed")
    from metrichub.site.reference import reference

    pages = {chapter.title: chapter.html for chapter in reference()}
    for name in importlib.import_module(module).__all__:
        assert f'<h2 id="{name}">' in pages[module], name


def test_a_function_has_its_signature_its_text_and_its_errors() -> None:
    pytest.importorskip("griffe", reason="the extra site is not installed")
    from metrichub.site.reference import reference

    page = next(chapter.html for chapter in reference() if chapter.title == "metrichub")
    assert '<h3 id="Hub.evaluate">Hub.evaluate</h3>' in page
    assert "load_metric(spec: str, /, **parameters: object)" in page
    assert "<code>UnknownMetric</code>" in page
    assert '<h3 id="Report.intervals">' in page
