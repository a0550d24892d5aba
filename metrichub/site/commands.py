"""`metrichub site`: the cards of the installed metrics as static pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from metrichub.authoring import Command, note


@click.group
def site() -> None:
    """The cards of all installed metrics as a static site, plugins included.

    Needs: pip install 'metrichub[site]'
    """


@site.command(cls=Command, short_help="Write the site into a folder.")
@click.argument("out", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--strict",
    is_flag=True,
    help="Fail if a card can't be read or has a broken link.",
)
@click.option(
    "--repository",
    metavar="URL",
    help="The address of the source, for links to it.  [default: as in the distribution]",
)
@click.option(
    "--versions",
    is_flag=True,
    help="Keep other versions: write this one to a folder in OUT, and list them all.",
)
def build(out: Path, strict: bool, repository: str | None, versions: bool) -> None:
    """Write the site to the folder OUT, which has to be new, empty, or hold an earlier site.

    The site works from the file system and under any path of a server, and loads nothing from
    other hosts.

    metrichub site build public

    metrichub site build public --versions --repository https://git.example/owner/name
    """
    from metrichub.site.build import build_site, build_version
    from metrichub.site.build_info import BuildInfo

    info = BuildInfo.installed(repository, beside=versions)
    made = (build_version if versions else build_site)(
        out, info=info, strict=strict, commands=_commands()
    )
    for problem in made.problems:
        note(problem)
    click.echo(f"wrote {out / 'index.html'}, cards: {made.cards}")


@site.command(cls=Command, short_help="Serve the site and rebuild it on change.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port on this machine; 0 for any free port.",
)
def serve(port: int) -> None:
    """Serve the site on this machine, and rebuild it when a card changes; Ctrl-C stops it."""
    from threading import Event

    from metrichub.site.serve import serve_site as served

    served(port, click.echo, Event(), _commands())


def _commands() -> dict[str, Any]:
    """What click knows of the whole command line, for its page on the site."""
    root = click.get_current_context().find_root()
    return root.command.to_info_dict(root)
