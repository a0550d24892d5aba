"""The app in tests: a client that calls it as a browser on this machine would."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any

from starlette.testclient import TestClient

from metrichub.app.server import application
from metrichub.app.settings import Judging, ServerSettings

BASELINES = Judging("offline", "offline")
HOME = "http://127.0.0.1:8000"
# The example of the card of abstractness, which prints 0.2727272727272727 below it.
CATS: dict[str, Any] = {
    "predictions": ["There is a cat on the mat.", "Look! a wonderful day."],
    "references": ["The cat is playing on the mat.", "Today is a wonderful day"],
}


@contextmanager
def calling(settings: ServerSettings | None = None, **options: Any) -> Iterator[TestClient]:
    """A client of a running app; without settings, one whose judge and embedder are baselines."""
    with TestClient(application(settings or ServerSettings(BASELINES)), HOME, **options) as client:
        yield client


def grow(_: object) -> int:
    """A job that takes 2 GB; here, as a process without a main module can't import pdb."""
    return len(bytes(2048 << 20))


def ended(client: TestClient, address: str) -> str:
    """The page of a run that has ended, and the report that it shows."""
    for _ in range(100):
        state = client.get(f"{address}/state").json()["state"]
        if state not in ("waiting", "running"):
            report = client.get(f"{address}/report.html").text if state == "done" else ""
            return client.get(address).text + report
    raise AssertionError("the run didn't end")


def run_of(
    client: TestClient, files: Sequence[tuple[str, tuple[str, str | bytes]]], **fields: Any
) -> tuple[str, str]:
    """The address of a run of these files that has ended, and its page."""
    answer = client.post("/", data=fields, files=files, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    address = answer.headers["location"]
    return address, ended(client, address)


def scored_again(client: TestClient, address: str, **fields: Any) -> str:
    """The page of a run that was scored once more, with what its form was given."""
    id = address.rpartition("/")[2]
    answer = client.post("/", data={"run": id, "do": "score", **fields}, follow_redirects=False)
    assert answer.headers["location"] == address
    return ended(client, address)


@contextmanager
def serving(*arguments: str, **environment: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a server, and its process; it keeps no runs unless it is told where."""
    options = () if "--runs" in arguments else ("--forget",)
    command = [sys.executable, "-m", "metrichub", "serve", "--port", "0", *options, *arguments]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        assert process.stdout
        line = process.stdout.readline()
        assert line.startswith("metrichub serves at http://"), line
        try:
            yield line.split()[3].rstrip("/"), process
        finally:
            process.terminate()
            try:
                process.communicate(timeout=30)
            except ValueError:
                # A test has read it to its end.
                process.wait(30)


class Form(HTMLParser):
    """The fields of a page's forms as a browser would send them, and the page's words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: dict[str, Any] = {}
        self.words = ""
        self._area = self._select = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        result = dict(attrs)
        name = result.get("name") or ""
        if tag == "textarea":
            self._area, self.fields[name] = name, ""
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select:
            if "selected" in result or self._select not in self.fields:
                self.fields[self._select] = result.get("value")
        elif tag == "input" and name:
            if result.get("type") != "checkbox":
                self.fields[name] = result.get("value") or ""
            elif "checked" in result:
                self.fields.setdefault(name, []).append(result.get("value"))

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._area:
            # The first line break of a text area is no part of its text.
            self.fields[self._area] = self.fields[self._area].removeprefix("\n")
            self._area = ""
        elif tag == "select":
            self._select = ""

    def handle_data(self, data: str) -> None:
        if self._area:
            self.fields[self._area] += data
        else:
            self.words += data


def words(page: str) -> str:
    """What a reader sees of a page, in one line."""
    return " ".join(Form(page).words.split())
