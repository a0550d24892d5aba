"""The short scripts that users write run as they are, and type checkers know their results."""

from __future__ import annotations

import ast
import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import mypy.api
import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "scripts_of_users"
STATEMENTS = {
    "agreement": 2,
    "folder_of_logs": 3,
    "gate": 2,
    "intervals": 2,
    "judge_with_estimate": 4,
    "many_systems": 3,
    "merging": 3,
    "notebook": 2,
    "own_judge": 12,
    "own_metric": 8,
    "per_sample": 2,
    "score_lists": 2,
    "streaming": 2,
    "two_systems": 4,
}
"""How many statements a script has at most, without its imports and assertions."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder: the examples, the same as a table in two parts, and as Parquet."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    lines = (ROOT / "examples" / "summaries.jsonl").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "part-0.jsonl").write_text("".join(lines[:20]), "utf-8")
    (tmp_path / "part-1.jsonl").write_text("".join(lines[20:]), "utf-8")
    write_table(pyarrow.Table.from_pylist([*map(json.loads, lines)]), tmp_path / "outputs.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assertion(node: ast.stmt) -> bool:
    checked = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    return isinstance(node, ast.Assert) or (
        checked and isinstance(node.value.func, ast.Name) and node.value.func.id == "assert_type"
    )


@pytest.mark.parametrize("name", STATEMENTS)
@pytest.mark.usefixtures("alone", "folder")
def test_a_script_is_short_and_runs(name: str) -> None:
    tree = ast.parse((FOLDER / f"{name}.py").read_text("utf-8"))
    statements = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt)
        and not isinstance(node, (ast.Import, ast.ImportFrom))
        and not assertion(node)
    ]
    assert len(statements) <= STATEMENTS[name]
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")


def test_every_script_is_run() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(STATEMENTS)


def test_mypy_knows_the_types_of_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # Where the cache of mypy is, which saves ten seconds.
    printed, _, status = mypy.api.run(["--strict", str(FOLDER)])
    assert status == 0, printed


def test_pyright_knows_the_types_of_results(tmp_path: Path) -> None:
    pyright = shutil.which("pyright") or pytest.skip("needs pyright on the path")
    shutil.copytree(FOLDER, tmp_path / "scripts")
    options = {"typeCheckingMode": "strict", "include": ["scripts"]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(options), "utf-8")
    ran = subprocess.run(
        [pyright, "-p", tmp_path, "--pythonpath", sys.executable],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    wrong = 'from metrichub import Hub\n\nHub("bleu", "rouge")\n'
    (tmp_path / "scripts" / "wrong.py").write_text(wrong, "utf-8")
    ran = subprocess.run(
        [pyright, "-p", tmp_path, "--pythonpath", sys.executable],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "wrong.py:3:" in ran.stdout
