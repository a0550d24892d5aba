"""`metrichub serve`: the cards, a form to try each metric, and a JSON API, on this machine."""

from __future__ import annotations

import ipaddress
import logging
import socket
from typing import TYPE_CHECKING

import click

from metrichub.cli.program import Command, note
from metrichub.errors import MissingDependency
from metrichub.models.resolve import VARIABLES

if TYPE_CHECKING:
    from metrichub.app.settings import ServerSettings

_PACKAGES = (
    "starlette",
    "uvicorn",
    "jinja2",
    "python_multipart",
    "markdown_it",
    "mdit_py_plugins",
    "latex2mathml",
    "nh3",
)


@click.command(cls=Command, short_help="Browse and try the metrics in a browser.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port to listen at; 0 takes a free one.",
)
@click.option(
    "--allow-host",
    "names",
    metavar="NAME",
    multiple=True,
    help="A name by which browsers may call the server; repeatable.",
)
@click.option(
    "--trust-proxy",
    "proxies",
    metavar="ADDRESS",
    multiple=True,
    callback=lambda _, __, given: tuple(map(_network, given)),
    help="The address or network of a proxy that tells in X-Forwarded-For who calls; repeatable. "
    "Without it, all who come through a proxy share what one client may have.",
)
@click.option(
    "--judge",
    metavar="SPEC",
    envvar=VARIABLES["judge"],
    show_envvar=True,
    help="The judge: \"openai(model='…')\", or offline (a word-matching baseline); clients can't "
    "choose another. Without one, metrics that ask a judge are closed.",
)
@click.option(
    "--embedder",
    metavar="SPEC",
    envvar=VARIABLES["embedder"],
    show_envvar=True,
    help="The embedder of metrics that compare meanings: like --judge; offline counts "
    "hashed n-grams.",
)
@click.option(
    "--max-upload",
    metavar="MB",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="The largest file that is taken.",
)
@click.option(
    "--time-limit",
    metavar="SECONDS",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    help="How long a form or a request may be scored.",
)
@click.option(
    "--file-time-limit",
    metavar="SECONDS",
    type=click.FloatRange(0, min_open=True),
    default=3600.0,
    show_default=True,
    help="How long a file may be scored.",
)
@click.option(
    "--memory-limit",
    metavar="MB",
    type=click.IntRange(1),
    default=4096,
    show_default=True,
    help="The memory of each process that scores; held on Linux only.",
)
def serve(
    host: str,
    port: int,
    names: tuple[str, ...],
    proxies: tuple[str, ...],
    judge: str | None,
    embedder: str | None,
    max_upload: int,
    time_limit: float,
    file_time_limit: float,
    memory_limit: int,
) -> None:
    """Browse and try the metrics in a browser, and score files there.

    Pages and the JSON API at /api/ are for this machine, unless --host says otherwise.
    """
    _check_installed()
    from metrichub.app.settings import MEBIBYTE, Judging, Limits, ServerSettings
    from metrichub.models.resolve import embedder_of, judge_of

    for asked in (judge_of(judge), embedder_of(embedder)):
        # Rather now than when the first visitor tries a metric.
        if hasattr(asked, "ready"):
            asked.ready()
    limits = Limits(
        upload=max_upload * MEBIBYTE,
        seconds=time_limit,
        upload_seconds=file_time_limit,
        memory=memory_limit * MEBIBYTE,
    )
    public = not _is_loopback(host)
    listener = _listener(host, port)
    if public:
        note(
            f"{host} can be reached from other machines: anyone who can reach it may run every "
            "metric, use the judge at your cost and send files of up to "
            f"{max_upload} MB; there is no password"
        )
        names = (*names, host, socket.gethostname())
    known = tuple(name.lower() for name in names)
    settings = ServerSettings(Judging(judge, embedder), public, known, limits, proxies)
    _run(settings, listener, host)


def _check_installed() -> None:
    for package in _PACKAGES:
        try:
            __import__(package)
        except ImportError as error:
            raise MissingDependency(
                "metrichub serve", package.replace("_", "-"), "pip install 'metrichub[app]'"
            ) from error


def _network(given: str) -> str:
    try:
        return str(ipaddress.ip_network(given))
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
            f"can't listen at {host}, port {port}: {error.strerror or error}; --port 0 takes a "
            "free one"
        ) from error


def _run(settings: ServerSettings, listener: socket.socket, host: str) -> None:
    import uvicorn

    from metrichub.app.server import application

    shown = f"[{host}]" if ":" in host else host
    click.echo(f"metrichub serves at http://{shown}:{listener.getsockname()[1]}/ (Ctrl+C ends it)")
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
