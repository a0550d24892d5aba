"""The reference on the site: every public name, every command, every option."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click
import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")

from metrichub import Hub
from metrichub.catalog.registry import Registry
from metrichub.cli import main
from metrichub.site.commands import build_site
from metrichub.site.site_pages import NAMES
from tests import surface

pytestmark = pytest.mark.site
REPOSITORY = "https://github.com/owner/name"


def leaves(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            sub = command.get_command(context, below)
            assert sub is not None
            yield from leaves(below, sub)


@pytest.fixture(scope="module")
def pages(made_once: Callable[..., Path]) -> Mapping[str, str]:
    """The pages of the reference by name, as HTML."""
    folder = made_once(
        "reference", lambda out: build_site(out, Registry(()), repository=REPOSITORY)
    )
    return {path.stem: path.read_text("utf-8") for path in folder.glob("reference/*.html")}


def test_every_command_and_option_is_on_the_page(pages: Mapping[str, str]) -> None:
    names = [*leaves("metrichub", main)]
    assert len(names) > 15
    for name, command in names:
        if command.hidden:
            continue
        assert re.search(rf'<h\d id="{name}(_\d+)?">{name}', pages["command-line"]), name
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.opts[0] in pages["command-line"]


@pytest.mark.parametrize("module", surface.MODULES)
def test_every_public_module_and_name_has_a_heading(module: str, pages: Mapping[str, str]) -> None:
    offered = importlib.import_module(module)
    text = "".join(pages.values())
    assert module == "metrichub" or len(re.findall(f'<h2 id="{module}"', text)) == 1
    for name in surface.public(module):
        value = getattr(offered, name)
        home = (
            "metrichub.errors" if getattr(value, "__module__", "") == "metrichub.errors" else module
        )
        assert inspect.ismodule(value) or f'id="{home}.{name}"' in text, name


def test_the_tree_of_errors_keeps_its_lines(pages: Mapping[str, str]) -> None:
    assert re.search(r"<pre[^>]*>(?:(?!</pre>).)*MetrichubError\n.*\n", pages["errors"], re.DOTALL)


def test_a_method_has_its_signature_its_text_its_errors_and_its_source(
    pages: Mapping[str, str],
) -> None:
    assert [*NAMES][:2] == ["Hub", "Report"]
    page = pages["hub"]
    assert 'id="metrichub.Hub.evaluate"' in page
    assert 'id="metrichub.Report.intervals"' in pages["report"]
    # What an error is, is a click away.
    assert re.search(r'<a [^>]*href="errors\.html#metrichub\.errors\.UnknownMetric"', page)
    _, at = inspect.getsourcelines(Hub.evaluate)
    assert f'href="{REPOSITORY}/blob/HEAD/metrichub/hub.py#L{at}"' in page


def test_examples_are_code(pages: Mapping[str, str]) -> None:
    assert 'class="gp"' in pages["hub"]
    assert not any("<blockquote" in page for page in pages.values())
