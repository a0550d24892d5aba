"""`metrichub serve`: a real server on a free port, and what it says on the command line."""

from __future__ import annotations

import json
import signal
import socket
import sys
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import importlib_metadata
import pytest
from click.testing import CliRunner

pytest.importorskip("uvicorn", reason="the extra app is not installed")
pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

from metrichub import Hub
from metrichub.app.settings import Judging, ServerSettings
from metrichub.cli import main
from tests import commands
from tests.app_client import serving
from tests.entered import loaded


def post(address: str, body: dict[str, Any]) -> Any:
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(
        f"{address}/api/score", json.dumps(body).encode(), headers, method="POST"
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.loads(answer.read())


def test_fifty_requests_at_once_are_all_answered_each_with_its_own_scores() -> None:
    texts = [f"w{i} " * (i + 1) + "same old words" for i in range(50)]
    expected = "w7 same old words"

    def request(i: int) -> Any:
        body = {"metrics": ["bleu", "rouge"], "predictions": [texts[i]], "references": [expected]}
        return post(address, body)["scores"]

    with serving() as (address, _), ThreadPoolExecutor(50) as threads:
        result = list(threads.map(request, range(50)))
    hub = Hub(["bleu", "rouge"])
    assert result == [hub(predictions=[text], references=[expected]) for text in texts]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to a process")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_server_ends_with_a_signal_and_leaves_no_folder_and_no_trace(
    tmp_path: Path, how: signal.Signals
) -> None:
    with serving(TMPDIR=str(tmp_path)) as (address, process):
        post(address, {"metrics": ["bleu"], "predictions": ["a"], "references": ["a"]})
        assert list(tmp_path.glob("metrichub-*"))
        process.send_signal(how)
        _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert not list(tmp_path.glob("metrichub-*"))


def test_a_public_address_is_warned_of() -> None:
    with serving("--host", "0.0.0.0", "--max-upload", "7") as (address, process):
        assert address.startswith("http://0.0.0.0:")
        process.terminate()
        _, errors = process.communicate(timeout=60)
    assert "other machines can reach 0.0.0.0" in errors
    assert "there is no password" in errors
    assert "files of up to 7 MB" in errors


def test_loopback_needs_no_warning() -> None:
    with serving() as (_, process):
        process.terminate()
        _, errors = process.communicate(timeout=60)
    assert errors == ""


def settings_of(monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str]) -> ServerSettings:
    """The settings that the options mean; nothing is served."""
    started: list[ServerSettings] = []

    def run(settings: ServerSettings, listener: socket.socket, _: str) -> None:
        listener.close()
        started.append(settings)

    monkeypatch.setattr("metrichub.app.commands._run", run)
    result = CliRunner().invoke(main, ["serve", "--port", "0", *arguments])
    assert result.exit_code == 0, result.output
    return started[0]


def test_every_option_reaches_the_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    embedder = "openai(model='m', base_url='http://127.0.0.1:9/v1')"
    options = ["--judge", "chance", "--embedder", embedder, "--max-upload", "3"]
    options += ["--time-limit", "0.5", "--file-time-limit", "7", "--allow-host", "Scores.example"]
    options += ["--memory-limit", "700"]
    options += ["--runs", str(tmp_path / "kept")]
    settings = settings_of(monkeypatch, options)
    assert settings.folder == tmp_path / "kept"
    assert (settings.judging.judge, settings.judging.embedder) == ("chance", embedder)
    assert (settings.limits.upload, settings.limits.seconds) == (3 << 20, 0.5)
    assert (settings.limits.upload_seconds, settings.limits.memory) == (7, 700 << 20)
    assert (settings.hosts, settings.public) == (("scores.example",), False)


def test_a_public_server_may_be_called_by_its_address_and_the_machines_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = settings_of(monkeypatch, ["--host", "0.0.0.0", "--forget"])
    assert settings.folder is None
    assert settings.public
    assert socket.gethostname().lower() in settings.hosts


@pytest.mark.parametrize(
    ("judge", "is_model"),
    [
        ("offline", False),
        ("metrichub/offline", False),
        ("chance", False),
        ("openai(model='m')", True),
    ],
)
def test_a_server_has_a_model_if_its_judge_says_that_it_is_one(judge: str, is_model: bool) -> None:
    assert Judging(judge).has_model is is_model


def test_the_default_is_this_machine_and_no_judge(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("METRICHUB_JUDGE", "METRICHUB_EMBEDDER", "METRICHUB_RUNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name: str(tmp_path / name))
    settings = settings_of(monkeypatch, [])
    assert settings == ServerSettings(folder=tmp_path / "metrichub" / "runs")
    assert (settings.judging.judge, settings.judging.embedder) == (None, None)
    assert not settings.judging.has_model


def test_the_machine_chooses_where_the_options_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METRICHUB_JUDGE", "chance")
    monkeypatch.setenv("METRICHUB_EMBEDDER", "offline")
    assert settings_of(monkeypatch, ["--forget"]).judging == Judging("chance", "offline")
    assert settings_of(monkeypatch, ["--judge", "offline", "--forget"]).judging.judge == "offline"


@pytest.mark.parametrize(
    ("options", "status", "says"),
    [
        (["--judge", "nobody"], 2, "no judge 'nobody' is installed"),
        (["--judge", "openai(api_key='x')"], 2, "can't hold a key"),
        # Told before anyone comes.
        (["--port", "0", "--judge", "openai"], 4, "set OPENAI_API_KEY"),
        (["--port", "99999"], 2, "--port"),
        (["--host", "192.0.2.1"], 1, "can't listen on 192.0.2.1"),
    ],
)
def test_wrong_use_is_one_line(
    monkeypatch: pytest.MonkeyPatch, options: list[str], status: int, says: str
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert says in commands.error(commands.run("serve", *options), status)


def test_a_port_in_use_is_said_with_a_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        message = commands.error(commands.run("serve", "--port", port), 1)
    assert "use --port 0 for any free port" in message


def test_without_its_packages_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = importlib_metadata.version

    def version(name: str) -> str:
        if name == "fastapi":
            raise importlib_metadata.PackageNotFoundError(name)
        return here(name)

    monkeypatch.setattr(importlib_metadata, "version", version)
    message = commands.error(commands.run("serve"), 5)
    assert "pip install 'metrichub[app]'" in message


def test_other_commands_load_no_server() -> None:
    modules = loaded("import metrichub.cli")
    assert not modules & {
        "fastapi",
        "starlette",
        "uvicorn",
        "jinja2",
        "anyio",
        "numpy",
        "metrichub.app",
    }


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    message = commands.error(
        commands.run("serve", "--port", "0", "--runs", str(tmp_path / "file" / "runs")), 1
    )
    assert "runs can't be kept here" in message
    assert "--forget" in message


def test_two_servers_have_no_folder_in_common(tmp_path: Path) -> None:
    folder = str(tmp_path / "runs")
    with serving("--runs", folder):
        message = commands.error(commands.run("serve", "--port", "0", "--runs", folder), 1)
    assert "another server keeps its runs here" in message
    assert "--forget" in message
    with serving("--runs", folder) as (address, _):
        assert urllib.request.urlopen(f"{address}/runs").status == 200
