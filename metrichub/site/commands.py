"""`metrichub site`: the site, built by the generator from its project, or served."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from signal import SIGTERM, default_int_handler, signal
from tempfile import TemporaryDirectory
from time import sleep

import click

from metrichub import MissingDependency, SiteError
from metrichub.authoring import Command, note
from metrichub.catalog.registry import Registry

# What every site of ours has, and hardly another folder.
_MARK = Path("assets", "fonts", "stix-two-math.woff2")
_REPOSITORY = click.option(
    "--repository",
    metavar="URL",
    help="The address of the source, for links to it.  [default: as in the distribution]",
)


@click.group
def site() -> None:
    """The cards of all installed metrics as a static site, plugins included.

    Needs: pip install 'metrichub[site]'
    """


@site.command(cls=Command, short_help="Write the site into a folder.")
@click.argument("out", type=click.Path(file_okay=False, path_type=Path))
@click.option("--strict", is_flag=True, help="Fail if a card can't be read or a link is broken.")
@_REPOSITORY
def build(out: Path, strict: bool, repository: str | None) -> None:
    """Write the site to the folder OUT, which has to be new, empty, or hold an earlier site.

    The site works from the file system and under any path of a server, and loads nothing from
    other hosts.

    metrichub site build public --repository https://git.example/owner/name
    """
    cards, problems = build_site(out, strict=strict, repository=repository)
    for problem in problems:
        note(problem)
    click.echo(f"wrote {out / 'index.html'}, cards: {cards}")


@site.command(cls=Command, short_help="Serve the site and rebuild it on change.")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=8000,
    show_default=True,
    help="The port on this machine.",
)
@_REPOSITORY
def serve(port: int, repository: str | None) -> None:
    """Serve the site on this machine, and rebuild it when a card changes; Ctrl-C stops it."""
    # The server is another process, which has to end with this one however it is ended.
    signal(SIGTERM, default_int_handler)
    serve_site(port, repository)


def build_site(
    out: Path,
    installed: Registry | None = None,
    *,
    strict: bool = False,
    repository: str | None = None,
) -> tuple[int, tuple[str, ...]]:
    """Build the site in `out`, which an earlier one may be in: the number of cards, and problems.

    A card that can't be read is a line on the page of all metrics and a problem, as is a link that
    leads nowhere. `strict` makes problems an error, and then nothing is written. `repository` is
    the address of the source, else that which the distribution names.

    Raises:
        MissingDependency: the extra `site` isn't installed.
        SiteError: `out` holds other files, the generator failed, or strict found problems.
    """
    if out.is_dir() and any(out.iterdir()) and not (out / _MARK).exists():
        raise SiteError(f"{out} holds other files; choose an empty or a new folder")
    with TemporaryDirectory(prefix="metrichub-site-") as home:
        folder = Path(home)
        cards, broken = _write(folder, installed, repository)
        if strict and broken:
            raise SiteError(f"cards: {'; '.join(broken)}")
        command = [sys.executable, "-m", "zensical", "build"]
        ran = subprocess.run(  # noqa: S603  # our own words
            [*command, "--strict"] if strict else command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        output = re.sub(r"\x1b\[[\d;]*m", "", ran.stdout).strip()
        if ran.returncode:
            raise SiteError(f"the site generator failed: {output}")
        # Its addresses begin at the root of a server, where the site needn't be.
        (folder / "site" / "404.html").unlink(missing_ok=True)
        _replace(out, folder / "site")
    return cards, broken if "No issues found" in output else (*broken, output)


def _replace(out: Path, site: Path) -> None:
    """Put a site in the place of what is in `out`; if it can't be copied, nothing changes."""
    # Inside, as the folder may be a disk of its own.
    new = out / ".new"
    try:
        shutil.copytree(site, new, dirs_exist_ok=True)
        for old in out.iterdir():
            if old != new:
                shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
        for path in new.iterdir():
            path.rename(out / path.name)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def serve_site(port: int, repository: str | None = None) -> None:
    """Serve the site on this machine until it is stopped, by the generator's own server.

    The project is written again every three seconds; the generator rebuilds what changed.
    """
    with TemporaryDirectory(prefix="metrichub-site-") as home:
        _write(Path(home), None, repository)
        with subprocess.Popen(  # noqa: S603  # our own words
            [sys.executable, "-m", "zensical", "serve", "--dev-addr", f"127.0.0.1:{port}"], cwd=home
        ) as server:
            try:
                while server.poll() is None:
                    sleep(3)
                    _write(Path(home), None, repository)
            finally:
                server.terminate()
        if server.returncode:
            raise SiteError(f"the generator's server ended with status {server.returncode}")


def _write(
    folder: Path, installed: Registry | None, repository: str | None
) -> tuple[int, tuple[str, ...]]:
    for package in ("zensical", "mkdocs_click", "mkdocstrings_handlers"):
        if find_spec(package) is None:
            raise MissingDependency("the site", package, "pip install 'metrichub[site]'")
    from metrichub.site.project import write_project

    return write_project(folder, installed, repository)
