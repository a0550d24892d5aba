"""The reference on the site: every public name, every command, every option."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator

import click
import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")

from metrichub.cli import main
from metrichub.site.doc_pages import command_line
from tests.surface import MODULES, public


def leaves(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            sub = command.get_command(context, below)
            assert sub is not None
            yield from leaves(f"{name} {below}", sub)


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


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    pytest.importorskip("griffe", reason="the extra site is not installed")
    from metrichub.site.doc_pages import reference

    return {page.title: page.html for page in reference()}


def test_every_public_module_has_a_page(pages: dict[str, str]) -> None:
    assert set(pages) == set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_on_its_page(module: str, pages: dict[str, str]) -> None:
    offered = importlib.import_module(module)
    for name in public(module):
        below = inspect.ismodule(getattr(offered, name))
        place = f'href="{module}.{name}.html"' if below else f'<h2 id="{name}">'
        assert place in pages[module], name


def test_an_alias_is_shown_with_what_it_stands_for(pages: dict[str, str]) -> None:
    assert "Integers = " in pages["metrichub.text"]


def test_the_tree_of_errors_keeps_its_lines(pages: dict[str, str]) -> None:
    assert re.search(r"<pre.*?MetrichubError.*?InputError", pages["metrichub.errors"], re.DOTALL)


def test_a_function_has_its_signature_its_text_and_its_errors(pages: dict[str, str]) -> None:
    page = pages["metrichub"]
    assert '<h3 id="Hub.evaluate">Hub.evaluate</h3>' in page
    assert "load_metric(spec: str | Callable[..., Any], /, **parameters: object)" in page
    assert "<code>UnknownMetric</code>" in page
    assert '<h3 id="Report.intervals">' in page
