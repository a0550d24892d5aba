"""Downloads: only `metrichub fetch` asks the hub, and what goes wrong is one line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hub_on_loopback import COMMIT, ModelHub, serving


class Machine(NamedTuple):
    """A machine whose only hub is on loopback, with a cache of models of its own."""

    hub: ModelHub
    home: Path

    def run(self, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        """The output of a command line in a process of its own."""
        environment = {**os.environ, "HF_ENDPOINT": self.hub.address, "HF_HOME": str(self.home)}
        environment |= {"HF_HUB_DISABLE_XET": "1", "NO_PROXY": "127.0.0.1"}
        command = [sys.executable, *arguments]
        return subprocess.run(
            command,
            env=environment,
            input=typed,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def metrichub(self, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        """The output of the program."""
        return self.run("-m", "metrichub", *arguments, typed=typed)

    def downloads(self) -> list[str]:
        """The files that the hub was asked for."""
        return [path.rpartition("/")[2] for path in self.hub.asked if "/resolve/" in path]


@pytest.fixture
def machine(bert: Path, tmp_path: Path) -> Iterator[Machine]:
    pickled = tmp_path / "pickled"
    pickled.mkdir()
    for name in ("config.json", "pytorch_model.bin"):
        (pickled / name).write_text("{}")
    with serving({"toys/bert": bert, "toys/pickled": pickled}) as hub:
        yield Machine(hub, tmp_path / "hf")


def test_a_model_is_downloaded_after_its_size_and_license_were_shown(machine: Machine) -> None:
    refused = machine.metrichub("fetch", "toys/bert", typed="n\n")
    assert re.search(
        rf"toys/bert at {COMMIT}: \d\.\d MB, license mit\ndownload it\?", refused.stdout
    )
    assert refused.returncode == 130
    assert machine.downloads() == []
    assert machine.metrichub("fetch", "toys/bert", typed="y\n").returncode == 0
    assert "model.safetensors" in machine.downloads()
    machine.hub.asked.clear()
    assert "toys/bert" in machine.metrichub("doctor").stdout
    assert machine.hub.asked == []


@pytest.mark.parametrize(
    ("option", "weights"),
    [
        ("--onnx", {"model.onnx", "model.onnx_data"}),
        ("--no-weights", set()),
        ("--yes", {"model.safetensors"}),
    ],
)
def test_options_choose_the_weights(
    machine: Machine, bert: Path, option: str, weights: set[str]
) -> None:
    files = machine.hub.models["toys/bert"]
    files |= {"onnx/model.onnx": b"weights", "pytorch_model.bin": b"a pickle", "README.md": b"#"}
    others = ("onnx/model.onnx_data", "model.fp16.safetensors", "consolidated.safetensors")
    files |= dict.fromkeys(others, b"weights")
    assert machine.metrichub("fetch", "toys/bert", option, "--yes").returncode == 0
    downloads = {name for name in machine.downloads() if not name.endswith((".json", ".txt"))}
    assert downloads == weights


def test_a_metric_that_runs_no_model_has_none_to_download(machine: Machine) -> None:
    fetched = machine.metrichub("fetch", "bleu", "--yes")
    assert fetched.returncode == 2
    assert "bleu is a metric and not a model; 'metrichub card bleu' says" in fetched.stderr
    assert machine.hub.asked == []


def test_pickled_weights_are_not_downloaded_unless_they_are_converted(machine: Machine) -> None:
    fetched = machine.metrichub("fetch", "toys/pickled", "--yes")
    assert "toys/pickled has no safetensors; its weights come as pytorch_m" in last(fetched.stderr)
    assert "'metrichub fetch --convert' turns it into safetensors" in last(fetched.stderr)
    assert machine.downloads() == []


def test_a_hub_that_cannot_be_reached_is_one_line(machine: Machine) -> None:
    machine.hub.address = f"{machine.hub.address[:-2]}1"
    fetched = machine.metrichub("fetch", "toys/bert", "--yes")
    assert fetched.returncode == 5
    assert last(fetched.stderr).startswith("metrichub: error: toys/bert can't be fetched")
    assert f"{machine.hub.address} can't be reached (" in fetched.stderr


SCORED = f"""
from metrichub import Hub, MissingModel, load_metric
both = dict(predictions=["a cat sat"], references=["the cat sat on it"])
def score(**more):
    report = Hub(load_metric("bertscore", layer=2, **more)).evaluate(**both)
    return report.signatures()["bertscore"]
try:
    score(model="toys/other")
except MissingModel as error:
    print(error)
try:
    score(model="toys/bert", revision="{COMMIT[::-1]}")
except MissingModel as error:
    print(error)
print(score(model="toys/bert"))
print(score(model="toys/bert", revision="{COMMIT}"))
"""


def test_nothing_is_asked_of_the_hub_but_by_fetch(machine: Machine) -> None:
    fetched = machine.metrichub("fetch", "toys/bert", "--yes")
    assert fetched.returncode == 0, fetched.stderr
    asked = [line.rpartition("/")[2] for line in machine.hub.asked]
    assert "model.safetensors" in asked
    machine.hub.asked.clear()
    scored = machine.run("-c", SCORED)
    missing, other, newest, named = scored.stdout.splitlines()
    assert missing.endswith(
        "the model toys/other, which isn't on this machine: metrichub fetch toys/other"
    )
    assert other.endswith(f"metrichub fetch toys/bert --revision {COMMIT[::-1]}")
    assert newest == named
    assert f"model='toys/bert', revision='{COMMIT}', layer=2" in newest
    assert machine.hub.asked == []


def test_half_a_file_leaves_no_model_to_score_with(machine: Machine) -> None:
    machine.hub.cut = "model.safetensors"
    fetched = machine.metrichub("fetch", "toys/bert", "--yes")
    assert fetched.returncode != 0
    assert "toys/bert can't be fetched" in last(fetched.stderr)
    machine.hub.asked.clear()
    (machine.home / "rows.jsonl").write_text('{"prediction": "a cat", "reference": "a dog"}\n')
    scored = machine.metrichub(
        *("score", str(machine.home / "rows.jsonl")),
        *("-m", "bertscore(model='toys/bert', layer=2)"),
    )
    assert scored.returncode != 0
    assert "toys/bert" in last(scored.stderr)
    assert "Traceback" not in scored.stderr
    assert machine.hub.asked == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("toys/bert", "--revision", "b" * 40), f"toys/bert has no revision '{'b' * 40}'"),
        (("toys/gated",), "toys/gated is gated: accept its license on its page of the hub"),
        (("toys/none",), "the hub has no model 'toys/none', or it is private"),
        (("a b",), "'a b' isn't a valid name of a model: write 'owner/model' as on the hub"),
        (
            ("https://huggingface.co/a/b",),
            "'https://huggingface.co/a/b' isn't a valid name of a mo",
        ),
        (("./tests",), "./tests is a path: metrics take a folder as it is"),
    ],
)
def test_what_the_hub_refuses_is_one_line(
    machine: Machine, arguments: tuple[str, ...], message: str
) -> None:
    fetched = machine.metrichub("fetch", *arguments, "--yes")
    assert fetched.returncode == 5
    assert fetched.stderr.startswith(f"metrichub: error: {message}")
    assert len(fetched.stderr.splitlines()) == 1


def last(message: str) -> str:
    """The last line, which says what went wrong."""
    return message.strip().splitlines()[-1]
