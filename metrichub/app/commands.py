"""`metrichub serve`: the cards, a form to try each metric, and a JSON API, on this machine."""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metrichub.authoring import Command, note, option_group
from metrichub.errors import MissingDependency

if TYPE_CHECKING:
    from metrichub.app.settings import ServerSettings

_PACKAGES = (
    "starlette",
    "uvicorn",
    "filelock",
    "jinja2",
    "python_multipart",
    "markdown_it",
    "mdit_py_plugins",
    "latex2mathml",
    "nh3",
)


@dataclass(frozen=True)
class LimitOptions:
    """How much a request or a file may ask."""

    max_upload: int
    time_limit: float
    file_time_limit: float
    memory_limit: int


limit_options = option_group(
    "allowed",
    LimitOptions,
    click.option(
        "--max-upload",
        metavar="MB",
        type=click.IntRange(1),
        default=100,
        show_default=True,
        help="The largest file that the server accepts.",
    ),
    click.option(
        "--time-limit",
        metavar="SECONDS",
        type=click.FloatRange(0, min_open=True),
        default=30.0,
        show_default=True,
        help="How long scoring a form or an API request may take.",
    ),
    click.option(
        "--file-time-limit",
        metavar="SECONDS",
        type=click.FloatRange(0, min_open=True),
        default=3600.0,
        show_default=True,
        help="How long scoring a file may take.",
    ),
    click.option(
        "--memory-limit",
        metavar="MB",
        type=click.IntRange(1),
        default=4096,
        show_default=True,
        help="The memory of each scoring process; enforced on Linux only.",
    ),
)
"""--max-upload, --time-limit, --file-time-limit and --memory-limit as `allowed`."""


@dataclass(frozen=True)
class RunOptions:
    """Where the runs of uploaded files are kept, and whether they are."""

    runs: Path | None
    forget: bool


run_options = option_group(
    "storage",
    RunOptions,
    click.option(
        "--runs",
        metavar="FOLDER",
        envvar="METRICHUB_RUNS",
        show_envvar=True,
        type=click.Path(file_okay=False, path_type=Path),
        help="Where to keep the runs of uploaded files: 100 per client address, up to 2 GB. "
        "Servers may share a folder.  [default: one in the user's data folder]",
    ),
    click.option("--forget", is_flag=True, help="Delete all runs when the server ends."),
)
"""--runs and --forget as `storage`."""


@click.command(cls=Command)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port to listen on; 0 for any free port.",
)
@click.option(
    "--allow-host",
    "names",
    metavar="NAME",
    multiple=True,
    help="A host name by which browsers may reach the server; repeatable.",
)
@click.option(
    "--trust-proxy",
    "proxies",
    metavar="ADDRESS",
    multiple=True,
    callback=lambda _, __, addresses: tuple(map(_network, addresses)),
    help="The address or network of a proxy whose X-Forwarded-For header is trusted; repeatable. "
    "Without it, all clients behind a proxy share the limits of one.",
)
@click.option(
    "--judge",
    metavar="SPEC",
    envvar="METRICHUB_JUDGE",
    show_envvar=True,
    help="The judge: \"openai(model='…')\", or offline (a word-matching baseline); clients can't "
    "choose another. Without one, metrics that need a judge aren't available.",
)
@click.option(
    "--embedder",
    metavar="SPEC",
    envvar="METRICHUB_EMBEDDER",
    show_envvar=True,
    help="The embedder for metrics that compare meanings: \"openai(model='…')\", or offline "
    "(hashed n-grams, a baseline).",
)
@limit_options
@run_options
def serve(
    host: str,
    port: int,
    names: tuple[str, ...],
    proxies: tuple[str, ...],
    judge: str | None,
    embedder: str | None,
    allowed: LimitOptions,
    storage: RunOptions,
) -> None:
    """Browse and try the metrics in a browser, and score files there.

    Several files are compared as with 'metrichub compare'. Reports are listed at /runs for every
    client with the same address, until they are deleted or replaced by newer ones. Pages and the
    JSON API at /api/ can be reached from this machine only, unless you set --host.
    """
    _check_installed()
    from metrichub.app.settings import MEBIBYTE, Judging, ServerLimits, ServerSettings
    from metrichub.authoring import embedder_of, judge_of

    for model in (judge_of(judge), embedder_of(embedder)):
        # Rather now than when the first visitor tries a metric.
        if hasattr(model, "ready"):
            model.ready()
    limits = ServerLimits(
        upload=allowed.max_upload * MEBIBYTE,
        seconds=allowed.time_limit,
        upload_seconds=allowed.file_time_limit,
        memory=allowed.memory_limit * MEBIBYTE,
    )
    public = not _is_loopback(host)
    listener = _listener(host, port)
    if public:
        note(
            f"other machines can reach {host}: everyone who can may run every "
            "metric, use the judge at your cost and send files of up to "
            f"{allowed.max_upload} MB; there is no password"
        )
        names = (*names, host, socket.gethostname())
    known = tuple(name.lower() for name in names)
    folder = None if storage.forget else _folder(storage.runs)
    settings = ServerSettings(Judging(judge, embedder), public, known, limits, proxies, folder)
    _run(settings, listener, host)


def _check_installed() -> None:
    for package in _PACKAGES:
        try:
            __import__(package)
        except ImportError as error:
            raise MissingDependency(
                "metrichub serve", package.replace("_", "-"), "pip install 'metrichub[app]'"
            ) from error


def _folder(chosen: Path | None) -> Path:
    """Where runs are kept, made for this user alone if it isn't there."""
    import platformdirs

    folder = chosen or Path(platformdirs.user_data_dir("metrichub")) / "runs"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(13, "permission denied")
    except OSError as error:
        raise click.ClickException(
            f"{folder}: runs can't be kept here: {error.strerror or error}; choose another folder "
            "with --runs, or keep none with --forget"
        ) from error
    return folder


def _network(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise click.ClickException(
            f"can't listen on {host}, port {port}: {error.strerror or error}; use --port 0 for "
            "any free port"
        ) from error


def _run(settings: ServerSettings, listener: socket.socket, host: str) -> None:
    import uvicorn

    from metrichub.app.server import application

    shown = f"[{host}]" if ":" in host else host
    click.echo(
        f"metrichub serves at http://{shown}:{listener.getsockname()[1]}/ (press Ctrl+C to stop)"
    )
    verbose = logging.getLogger().isEnabledFor(logging.INFO)
    config = uvicorn.Config(
        application(settings),
        log_level="info" if verbose else "warning",
        access_log=verbose,
        # Whoever else stands between may not say who called.
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    uvicorn.Server(config).run(sockets=[listener])
