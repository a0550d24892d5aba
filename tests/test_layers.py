"""Layers: what loads what, seen in `sys.modules` of fresh processes, and what imports whom."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import metrichub

HOME = Path(metrichub.__file__).parent
SHELF = HOME.parent / "metric_cards"
BASES = "_bases"
HEAVY = ("datasets", "evaluate", "openai", "pandas", "pyarrow", "torch", "transformers")


def loaded(program: str) -> set[str]:
    """The modules of a fresh process after a program."""
    program += "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return set(json.loads(ran.stdout.splitlines()[-1]))


def test_importing_metrichub_loads_nothing_heavy() -> None:
    found = loaded("import metrichub")
    assert not found & {"numpy", "yaml", "importlib_metadata", "click", "rich", "asyncio", *HEAVY}
    assert {name for name in found if name.startswith("metrichub.")} == set()


@pytest.mark.parametrize(
    "module", ["errors", "spec", "card", "registry", "columns", "parameters", "requirements"]
)
def test_what_browsing_needs_loads_no_numpy(module: str) -> None:
    assert not loaded(f"import metrichub.{module}") & {"numpy", *HEAVY}


def test_listing_metrics_and_reading_their_cards_imports_no_metric_and_no_numpy() -> None:
    found = loaded(
        "import metrichub\n"
        "entries = metrichub.list_metrics()\n"
        "assert len(entries) >= 12\n"
        "problems = [entry.problem for entry in entries]\n"
        "assert metrichub.list_metrics(task='summarization')\n"
    )
    assert not {name for name in found if name.partition(".")[0] == "metric_cards"}
    assert not found & {"numpy", *HEAVY}


def test_an_unknown_name_and_a_bad_spec_are_refused_without_loading_numpy() -> None:
    found = loaded(
        "from metrichub.catalog.registry import registry\n"
        "from metrichub.catalog.spec import Spec\n"
        "for spec in ('blue', 'bleu('):\n"
        "    try:\n"
        "        registry().find(Spec.parse(spec).metric)\n"
        "    except Exception as error:\n"
        "        print(error)\n"
    )
    assert not found & {"numpy", *HEAVY}


def test_scoring_loads_only_the_metrics_that_are_used_and_nothing_heavy() -> None:
    found = loaded(
        "from metrichub import Hub\n"
        "report = Hub('bleu').evaluate(predictions=['a b'], references=['a c'])\n"
        "report.intervals(resamples=2)\n"
        "report.compare(report, resamples=2, trials=2)\n"
        "str(report)\n"
    )
    cards = {name for name in found if name.startswith("metric_cards.")}
    assert {name.split(".")[1] for name in cards} == {"bleu"}
    assert not found & {*HEAVY, "asyncio", "click", "rich"}


def test_every_metric_scores_without_datasets_evaluate_and_openai() -> None:
    found = loaded(
        "import sys\n"
        "for name in ('datasets', 'evaluate', 'openai'):\n"
        "    sys.modules[name] = None\n"
        "from metrichub import list_metrics\n"
        "from metrichub.testing.subject import Subject\n"
        "for entry in list_metrics():\n"
        "    if entry.distribution == 'metrichub' and not entry.card.requires:\n"
        "        subject = Subject(entry)\n"
        "        score = subject.evaluate(subject.columns).scores()[subject.metric.name]['score']\n"
        "        assert score == score, entry\n"
    )
    assert "metric_cards.bleu" in found


def imports(path: Path) -> Iterator[str]:
    """The modules that a file imports anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


@pytest.mark.parametrize("path", sorted(HOME.rglob("*.py")), ids=lambda p: str(p.relative_to(HOME)))
def test_the_core_never_imports_a_card(path: Path) -> None:
    assert not [name for name in imports(path) if name.partition(".")[0] == "metric_cards"]
    assert not [line for line in path.read_text("utf-8").splitlines() if "metric_cards." in line]


@pytest.mark.parametrize(
    "path", sorted(SHELF.rglob("*.py")), ids=lambda p: str(p.relative_to(SHELF))
)
def test_a_metric_shares_code_through_bases_and_never_with_another_metric(path: Path) -> None:
    # Else a change of one metric's own code would change the numbers of another.
    own = path.relative_to(SHELF).parts[0]
    found = {tuple(name.split(".")[:2]) for name in imports(path)}
    ours = {name for name in found if name[0] == "metric_cards"}
    assert ours <= {("metric_cards", own), ("metric_cards", BASES)}
    assert ("", "") not in found, "a relative import of what lies above"


def test_bases_hold_no_metric() -> None:
    assert not (SHELF / BASES / "__init__.py").read_text("utf-8")
    assert not list((SHELF / BASES).rglob("README.md"))
    assert not [e for e in metrichub.list_metrics() if BASES in e.value.split(":")[0].split(".")]


def test_the_statistics_know_no_metric() -> None:
    # resample knows arrays, stats knows rows; neither knows what measures them.
    for name, known in (("resample", set()), ("stats", {"metrichub.metric"})):
        ours = {module for module in imports(HOME / f"{name}.py") if module.startswith("metrichub")}
        assert ours == {"metrichub.errors", *known}


def test_the_packages_above_the_cards_are_empty() -> None:
    from importlib.util import find_spec

    spec = find_spec("metric_cards")
    assert spec is not None
    assert spec.origin is not None
    assert not ast.parse(Path(spec.origin).read_text("utf-8")).body
