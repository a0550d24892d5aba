"""The lanes of .ci/run leave out no test, and the workflows run them with no right too many."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LANES = {
    path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / ".ci/lanes").iterdir())
}
WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / ".github/workflows").iterdir())
}
PYTHONS = re.findall(r":: (3\.\d+)$", "\n".join(PROJECT["project"]["classifiers"]), re.MULTILINE)
BY_NAME = {"alone", "light", "lowest", "pythons"}


def run(*lanes: str) -> subprocess.CompletedProcess[str]:
    """A run of .ci/run."""
    return subprocess.run(
        ["bash", str(ROOT / ".ci/run"), *lanes], capture_output=True, text=True, check=False
    )


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each step of each workflow, with the name of its job."""
    for workflow in WORKFLOWS.values():
        for name, job in workflow["jobs"].items():
            for step in job["steps"]:
                yield name, step


def test_without_a_name_every_lane_runs_but_four() -> None:
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    (every,) = re.findall(r"^\[ \$# -gt 0 \] \|\| set -- (.*)$", script, re.MULTILINE)
    assert every == "core pages hosts plugins"
    assert {*every.split(), *BY_NAME} == set(LANES)


def test_a_lane_that_is_not_there_is_refused_before_one_runs() -> None:
    ran = run("core", "no_such_lane")
    assert ran.returncode == 2
    assert ran.stdout.startswith("There is no lane no_such_lane, only: ")
    assert ".ci/lanes/core" in ran.stdout


@pytest.fixture
def lanes(tmp_path: Path) -> Path:
    """A folder with .ci/run and the lanes `good` and `bad`, the second of which fails at once."""
    home = tmp_path / ".ci"
    (home / "lanes").mkdir(parents=True)
    (home / "run").write_bytes((ROOT / ".ci/run").read_bytes())
    (home / "lanes/good").write_text("echo well\n")
    (home / "lanes/bad").write_text("false\necho went on\n")
    return home / "run"


def test_a_lane_that_fails_stops_there_and_fails_the_run(lanes: Path) -> None:
    ran = subprocess.run(["bash", lanes, "bad", "good"], capture_output=True, text=True)
    assert ran.returncode == 1
    assert re.sub(r"\d", "0", ran.stdout).splitlines() == [
        "== lane bad", "== lane bad FAILED after 0 min 0 s",
        "== lane good", "well", "== lane good passed after 0 min 0 s",
        "Failed: bad",
    ]  # fmt: skip


def test_lanes_that_pass_pass_the_run(lanes: Path) -> None:
    ran = subprocess.run(["bash", lanes, "good"], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_mark_that_the_fast_lane_leaves_out_is_run_by_a_lane() -> None:
    options = PROJECT["tool"]["pytest"]["ini_options"]
    (chosen,) = (option for option in options["addopts"] if option.startswith("-m="))
    left_out = set(re.findall(r"not (\w+)", chosen))
    assert left_out == {marker.partition(":")[0] for marker in options["markers"]}
    expressions = re.findall(r'-m (?:"(.*?)"|(\w+))', "".join(LANES.values()))
    ran = {word for found in expressions for word in re.findall(r"\w+", "".join(found))}
    assert ran - {"or", "pip", "benchmarks"} == left_out


def test_every_library_has_exact_versions_and_a_mark() -> None:
    files = list((ROOT / "tests/bridges").glob("*.txt"))
    for file in files:
        lines = file.read_text(encoding="utf-8").splitlines()
        packages = [line for line in lines if not line.startswith("#")]
        assert packages
        assert all(re.fullmatch(r"[\w-]+(\[\w+\])?==[\d.]+", line) for line in packages), file
    (hosts,) = re.findall(r'-m "(.*?)"', LANES["hosts"])
    assert set(hosts.split(" or ")) == {file.stem for file in files}


def test_the_workflow_runs_every_lane_and_core_on_every_python() -> None:
    jobs = WORKFLOWS["tests"]["jobs"]
    matrix = jobs["lane"]["strategy"]["matrix"]
    # A Python each instead of the lane that looks for several.
    assert set(matrix["lane"]) == set(LANES) - {"pythons"}
    assert all(one["lane"] == "core" for one in matrix["include"])
    assert [*matrix["python"], *(one["python"] for one in matrix["include"])] == PYTHONS
    assert jobs["lane"]["steps"][-1]["run"] == ".ci/run ${{ matrix.lane }}"


def test_other_systems_run_the_readme_s_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = re.search(r"<!-- test command -->\n```\n(.*)\n```", readme)
    job = WORKFLOWS["tests"]["jobs"]["system"]
    assert command
    assert job["steps"][-1]["run"] == command[1]
    assert job["strategy"]["matrix"]["system"] == ["macos-latest", "windows-latest"]


def test_every_action_is_pinned_by_its_commit_and_says_its_version() -> None:
    for path in sorted((ROOT / ".github/workflows").iterdir()):
        used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
        assert used
        for action in used:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_only_jobs_that_publish_may_more_than_read() -> None:
    assert all(flow["permissions"] == {"contents": "read"} for flow in WORKFLOWS.values())
    jobs = {name: job for flow in WORKFLOWS.values() for name, job in flow["jobs"].items()}
    more = {name: job["permissions"] for name, job in jobs.items() if "permissions" in job}
    assert more == {
        "publish": {"id-token": "write"},
        "deploy": {"pages": "write", "id-token": "write"},
    }
    # They run no code of the repository, only one action each on what another job has built.
    assert not [step for name, step in steps() if name in more and "run" in step]
    assert not [step for _, step in steps() if "secrets." in str(step)]


def test_no_checkout_leaves_its_token_behind() -> None:
    checkouts = [step for _, step in steps() if "checkout@" in step.get("uses", "")]
    assert len(checkouts) > 2
    assert all(step["with"] == {"persist-credentials": False} for step in checkouts)


def test_a_release_is_signed_and_the_documentation_strict() -> None:
    (upload,) = (step for _, step in steps() if "pypi-publish@" in step.get("uses", ""))
    assert upload["with"] == {"attestations": True}
    assert "metrichub site build --strict pages" in [step.get("run") for _, step in steps()]
