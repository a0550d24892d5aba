"""`metrichub serve`: files scored and compared in a browser, cards, and a JSON API."""

from __future__ import annotations

import ipaddress
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrichub.authoring import Command, note
from metrichub.catalog.requirements import lacking_of_extras
from metrichub.errors import MissingDependency

if TYPE_CHECKING:
    from metrichub.app.settings import ServerSettings


def _limit(name: str, unit: str, default: float, text: str) -> Callable[[Any], Any]:
    kind = click.IntRange(1) if unit == "MB" else click.FloatRange(0, min_open=True)
    return click.option(
        name, metavar=unit, type=kind, default=default, show_default=True, help=text
    )


def _model(name: str, offline: str, those: str) -> Callable[[Any], Any]:
    text = (
        f"The {name}: \"openai(model='…')\", or offline ({offline}); clients can't choose another. "
        f"Without one, metrics {those} aren't available."
    )
    variable = f"METRICHUB_{name.upper()}"
    return click.option(f"--{name}", metavar="SPEC", envvar=variable, show_envvar=True, help=text)


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
@_model("judge", "a word-matching baseline", "that need a judge")
@_model("embedder", "hashed n-grams, a baseline", "that compare meanings")
@_limit("--max-upload", "MB", 100, "The most that the files of a run may have together.")
@_limit("--time-limit", "SECONDS", 30.0, "How long scoring an API request may take.")
@_limit("--file-time-limit", "SECONDS", 3600.0, "How long scoring files may take.")
@_limit("--memory-limit", "MB", 4096, "The memory of each scoring process; Linux only.")
@click.option(
    "--runs",
    metavar="FOLDER",
    envvar="METRICHUB_RUNS",
    show_envvar=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to keep runs: 200, up to 4 GB.  [default: a folder in the user's data folder]",
)
@click.option("--forget", is_flag=True, help="Delete all runs when the server ends.")
def serve(  # noqa: PLR0913  # the options are its parameters
    host: str,
    port: int,
    names: tuple[str, ...],
    judge: str | None,
    embedder: str | None,
    max_upload: int,
    time_limit: float,
    file_time_limit: float,
    memory_limit: int,
    runs: Path | None,
    forget: bool,
) -> None:
    """Score and compare files in a browser, and browse the metrics.

    Several files are compared as with 'metrichub compare'. Runs are listed for the browser that
    began them, until it deletes them or newer ones replace them; others can read a run by its
    link. Pages and the JSON API at /api/ can be reached from this machine only, unless you set
    --host.
    """
    if lacking := lacking_of_extras("metrichub").get("app"):
        raise MissingDependency("metrichub serve", lacking[0], "pip install 'metrichub[app]'")
    from metrichub.app.settings import MEBIBYTE, Judging, ServerLimits, ServerSettings
    from metrichub.authoring import embedder_of, judge_of

    for model in (judge_of(judge), embedder_of(embedder)):
        # Rather now than when the first visitor tries a metric.
        if hasattr(model, "ready"):
            model.ready()
    limits = ServerLimits(
        upload=max_upload * MEBIBYTE,
        seconds=time_limit,
        upload_seconds=file_time_limit,
        memory=memory_limit * MEBIBYTE,
    )
    public = not _is_loopback(host)
    listener = _listener(host, port)
    if public:
        note(
            f"other machines can reach {host}: everyone who can may run every metric, use the "
            f"judge at your cost and send files of up to {max_upload} MB; there is no password"
        )
        names = (*names, host, socket.gethostname())
    hosts = tuple(name.lower() for name in names)
    with nullcontext() if forget else _locked_folder(runs) as folder:
        settings = ServerSettings(Judging(judge, embedder), public, hosts, limits, folder)
        _run(settings, listener, host)


@contextmanager
def _locked_folder(chosen: Path | None) -> Iterator[Path]:
    """The folder of runs, made for this user alone, and locked against other servers.

    Each would take the other's runs for interrupted ones.
    """
    import platformdirs
    from filelock import FileLock, Timeout

    folder = chosen or Path(platformdirs.user_data_dir("metrichub")) / "runs"
    other = "choose another folder with --runs, or keep none with --forget"
    lock = FileLock(folder / ".lock", timeout=0)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise click.ClickException(
            f"{folder}: another server keeps its runs here; {other}"
        ) from None
    except OSError as error:
        why = error.strerror or error
        raise click.ClickException(f"{folder}: runs can't be kept here: {why}; {other}") from error
    with lock:
        yield folder


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

    from metrichub.app.guard import SlowClientProtocol
    from metrichub.app.server import application

    # It is how a server is stopped, and cuts nothing short.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    shown = f"[{host}]" if ":" in host else host
    click.echo(
        f"metrichub serves at http://{shown}:{listener.getsockname()[1]}/ (press Ctrl+C to stop)"
    )
    verbose = logging.getLogger().isEnabledFor(logging.INFO)
    config = uvicorn.Config(
        application(settings),
        http=SlowClientProtocol,
        # So many are accepted before the first of them can be closed.
        backlog=SlowClientProtocol.most // 2,
        log_level="info" if verbose else "warning",
        access_log=verbose,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    uvicorn.Server(config).run(sockets=[listener])
