"""`metrichub doctor`: extras, what the environment says of judges, and what waits for what."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from metrichub.catalog.registry import registry
from tests.commands import program, run
from tests.plugins import CARD, distribution, environment, metric

KEY = "sk-canary-0123456789"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("METRICHUB_JUDGE", "METRICHUB_EMBEDDER", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[str]:
    """A server on loopback that lists two models to those who have the key."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            valid = self.headers["Authorization"] == f"Bearer {KEY}" and self.path == "/v1/models"
            models = [{"id": name, "object": "model"} for name in ("small", "large")]
            body = {"object": "list", "data": models} if valid else {"error": {"message": "no key"}}
            self.send_response(200 if valid else 401)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}/v1"
    running.shutdown()
    running.server_close()


def checks(*arguments: str) -> Any:
    shown = run("doctor", "--format", "json", *arguments)
    assert KEY not in shown.output
    return json.loads(shown.stdout)


def test_nothing_is_set_and_nobody_asked_by_default() -> None:
    facts = checks()
    assert facts["judges"]["METRICHUB_JUDGE"] == "not set"
    assert facts["judges"]["OPENAI_API_KEY"] == "not set"
    assert facts["judges"]["endpoint"].startswith("not contacted")
    waiting = facts["waiting"]
    assert {"faithfulness", "g_eval"} <= {*waiting["a judge: --judge or METRICHUB_JUDGE"]}
    assert "semantic_similarity" in waiting["an embedder: --embedder or METRICHUB_EMBEDDER"]
    assert "bleu" not in str(waiting)


def test_rules_as_judge_leave_the_metrics_that_need_a_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("METRICHUB_JUDGE", "offline")
    monkeypatch.setenv("METRICHUB_EMBEDDER", "offline")
    waiting = checks()["waiting"]
    assert list(waiting) == ["a model as judge"]
    assert "g_eval" in waiting["a model as judge"]
    assert "faithfulness" not in waiting["a model as judge"]


def test_the_server_is_asked_for_its_models(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    monkeypatch.setenv("METRICHUB_JUDGE", f"openai(model='small', base_url='{server}')")
    judges = checks("--ask")["judges"]
    assert judges["endpoint"] == "answers with 2 models"
    assert judges["OPENAI_API_KEY"] == "set"
    monkeypatch.setenv("METRICHUB_JUDGE", f"openai(model='other', base_url='{server}')")
    assert checks("--ask")["judges"]["endpoint"].endswith("2 models, but other isn't among them")
    monkeypatch.setenv("OPENAI_API_KEY", "wrong")
    assert checks("--ask")["judges"]["endpoint"].startswith("doesn't answer: ")


def test_no_secret_of_an_address_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://user:{KEY}@127.0.0.1:9/v1?api-key={KEY}")
    judge = f"openai(model='m', base_url='http://user:{KEY}@127.0.0.1:9/v1')"
    monkeypatch.setenv("METRICHUB_JUDGE", judge)
    judges = checks("--ask")["judges"]
    assert judges["OPENAI_BASE_URL"] == "http://127.0.0.1:9/v1"
    assert judges["METRICHUB_JUDGE"] == "openai(model='m', base_url='http://127.0.0.1:9/v1')"
    assert "can't be reached" in judges["endpoint"]


def test_a_judge_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METRICHUB_JUDGE", "oracle")
    assert checks()["judges"]["METRICHUB_JUDGE"].startswith("wrong: no judge 'oracle' is installed")


def test_extras_say_what_they_lack_and_what_they_are_for(tmp_path: Path) -> None:
    needy = CARD.replace("license", "requires: [toy-parser>=2]\nlicense")
    metric(tmp_path, "needy", "parsed", card=needy, code="import toy_parser")
    distribution(tmp_path, "needy", ["parsed = needy.parsed:Toy"])
    with next(tmp_path.glob("needy-*.dist-info")).joinpath("METADATA").open("a") as file:
        file.write("Provides-Extra: parsing\nRequires-Dist: toy-parser>=2; extra == 'parsing'\n")
        file.write("Provides-Extra: test\nRequires-Dist: toy-tester; extra == 'test'\n")
        file.write("Requires-Dist: pluggy>=1; extra == 'test'\nRequires-Dist: numpy\n")
    shown = program("doctor", "--format", "json", env=environment(tmp_path))
    facts = json.loads(shown.stdout)
    assert facts["dependencies of plugins"] == {"pluggy": version("pluggy")}
    extras = facts["extras"]
    assert extras["needy[parsing]"] == "missing: toy-parser>=2 (for parsed)"
    assert "needy[test]" not in extras
    assert "metrichub[codebleu]" in extras


@pytest.mark.parametrize("width", [60, 80, 160])
def test_the_text_fits_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = run("doctor", "--verbose").stdout.splitlines()
    # What machines say of themselves may be longer, and stays in one line.
    long = [line for line in lines if len(line) > width and not line.startswith("p")]
    assert long == []
    assert any("3: answer_correctness, " in line for line in lines)
    brief = run("doctor").stdout.splitlines()
    assert max(map(len, brief)) <= width
    assert len(brief) <= 12
    assert brief[0].endswith(f"{len(registry().entries)} metrics, none broken.")


def test_the_short_text_has_what_is_wrong_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric(tmp_path, "bad", "raises", code="import a_package_that_is_not_there")
    distribution(tmp_path, "bad", ["raises = bad.raises:Toy"])
    shown = program("doctor", env=environment(tmp_path, COLUMNS="80", METRICHUB_JUDGE="offline"))
    assert shown.returncode == 5
    first, *lines = shown.stdout.splitlines()
    assert first.endswith("metrics, 1 broken.")
    assert next(line for line in lines if line.startswith("judge")).split()[1].startswith("offline")
    assert any(line.startswith("bad/raises") for line in lines)
    assert "a_package_that_is_not_there" in " ".join(lines)
    assert "numpy" not in shown.stdout


def test_plugins_tell_what_they_run_on(tmp_path: Path) -> None:
    (tmp_path / "toy_machine.py").write_text("def device():\n    return 'cuda:7, toy'\n")
    entries = ["device = toy_machine:device", "gone = toy_machine:gone"]
    distribution(tmp_path, "toy-machine", entries, "metrichub.doctor")
    ran = program("doctor", env=environment(tmp_path))
    assert "\ndevice     cuda:7, toy\n" in ran.stdout
    assert "gone       module 'toy_machine' has no attribute 'gone'" in ran.stdout
    assert ran.returncode == 0
