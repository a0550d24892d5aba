"""Layers: what loads what, seen in `sys.modules` of fresh processes, and what imports whom."""

import ast
import dataclasses
import re
from collections import Counter
from pathlib import Path
from typing import TypeGuard

import pytest

import metrichub
from metrichub.evaluation.measurement import Measurement
from tests import import_graph
from tests.entered import entered, loaded

HOME = Path(metrichub.__file__).parent
CARDS = HOME.parent / "metric_cards"
BASES = "_bases"
HEAVY = ("datasets", "evaluate", "openai", "pandas", "pyarrow", "torch", "transformers")


def test_importing_metrichub_loads_nothing_heavy() -> None:
    modules = loaded("import metrichub")
    assert not modules & {"numpy", "yaml", "importlib_metadata", "click", "rich", "asyncio", *HEAVY}
    assert {name for name in modules if name.startswith("metrichub.")} == set()


@pytest.mark.parametrize(
    "module",
    ["errors", "data.columns"]
    + [f"catalog.{name}" for name in ("card", "parameters", "registry", "requirements", "spec")],
)
def test_what_browsing_needs_loads_no_numpy(module: str) -> None:
    assert not loaded(f"import metrichub.{module}") & {"numpy", *HEAVY}


def test_listing_metrics_and_reading_their_cards_imports_no_metric_and_no_numpy() -> None:
    modules = loaded(
        "import metrichub\n"
        "entries = metrichub.list_metrics()\n"
        "assert len(entries) >= 12\n"
        "problems = [entry.problem for entry in entries]\n"
        "assert metrichub.list_metrics(task='summarization')\n"
    )
    assert not {name for name in modules if name.partition(".")[0] == "metric_cards"}
    assert not modules & {"numpy", *HEAVY}


def test_an_unknown_name_and_a_bad_spec_are_refused_without_loading_numpy() -> None:
    modules = loaded(
        "from metrichub.catalog.registry import registry\n"
        "from metrichub.catalog.spec import Spec\n"
        "for spec in ('blue', 'bleu('):\n"
        "    try:\n"
        "        registry().find(Spec.parse(spec).metric)\n"
        "    except Exception as error:\n"
        "        print(error)\n"
    )
    assert not modules & {"numpy", *HEAVY}


def test_scoring_loads_only_the_metrics_that_are_used_and_nothing_heavy() -> None:
    modules = loaded(
        "from metrichub import Hub\n"
        "report = Hub('bleu').evaluate(predictions=['a b'], references=['a c'])\n"
        "report.intervals(resamples=2)\n"
        "report.compare(report, resamples=2, trials=2)\n"
        "str(report)\n"
    )
    cards = {name for name in modules if name.startswith("metric_cards.")}
    assert {name.split(".")[1] for name in cards} == {"bleu"}
    assert not modules & {*HEAVY, "asyncio", "click", "rich"}


def test_reading_a_plain_file_looks_up_no_reader_of_logs(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": 1, "prediction": "a", "reference": "a"}')
    (tmp_path / "a.csv").write_text("system,prediction,target\nours,a,a\n")
    paths = [str(tmp_path / name) for name in ("a.jsonl", "a.csv")]
    modules = loaded(f"import metrichub\nfor path in {paths}:\n    metrichub.read(path)")
    assert "metrichub.data.readers" in modules
    assert not modules & {"importlib_metadata", "metrichub.bridges", *HEAVY}


def test_a_first_score_loads_nothing_that_it_has_no_use_for() -> None:
    modules = loaded(
        "from metrichub import Hub\n"
        "Hub('bleu')(predictions=['the cat sat'], references=['the cat is here'])\n"
    )
    files = {"gzip", "logging", "metrichub.data.files", "metrichub.data.formats"}
    rare = {"difflib", "email.parser", "numpy.ma", "rapidfuzz", "tomllib"}
    judges = {"metrichub.judge", "metrichub.models.store", "metrichub.agreement", "sqlite3"}
    assert not modules & (files | rare | judges)


def test_every_metric_scores_without_datasets_evaluate_and_openai() -> None:
    modules = loaded(
        "import sys\n"
        "for name in ('datasets', 'evaluate', 'openai'):\n"
        "    sys.modules[name] = None\n"
        "from metrichub import list_metrics\n"
        "from metrichub.testing.under_test import MetricUnderTest\n"
        "for entry in list_metrics():\n"
        "    if entry.distribution == 'metrichub' and not entry.card.requires:\n"
        "        found = MetricUnderTest(entry)\n"
        "        scores = found.evaluate(found.columns).scores()\n"
        "        score = scores[found.metric.name]['score']\n"
        "        assert score == score, entry\n"
    )
    assert "metric_cards.bleu" in modules


# What each package may import, from the lowest layer up: only packages above it in this table.
ALLOWED = {
    "errors": "",
    "text": "errors",
    "data": "errors text",
    "catalog": "errors data",
    "metric": "errors catalog text",
    "models": "errors catalog",
    "judge": "errors text catalog metric models",
    "evaluation": "errors data catalog metric models text",
    "report": "errors text data catalog metric models evaluation",
    "hub": "errors data metric models evaluation judge report",
    "metrichub": "errors data catalog metric models evaluation judge report hub",
    "cli": "errors data catalog metric models evaluation report hub",
    "authoring": "text catalog metric models evaluation judge cli",
    "testing": "metrichub authoring errors data catalog metric evaluation judge",
    "__main__": "cli",
    "agreement": "metrichub errors data catalog evaluation report cli",
    "bridges": "metrichub authoring errors data evaluation",
    "site": "metrichub authoring catalog report",
    "app": "metrichub authoring errors data catalog report",
}


def test_packages_import_what_the_table_allows_and_nothing_else() -> None:
    packages = import_graph.packages(import_graph.imports())
    result = {package: set(targets) for package, targets in packages.items()}
    assert result == {package: set(allowed.split()) for package, allowed in ALLOWED.items()}


def test_packages_import_few_others_in_few_layers() -> None:
    packages = import_graph.packages(import_graph.imports())
    assert sum(map(len, packages.values())) <= 91
    assert len(import_graph.layers(packages)) <= 11


def test_few_modules_have_one_importer() -> None:
    assert len(import_graph.only_importers(import_graph.imports())) <= 44


def test_no_package_imports_a_higher_layer() -> None:
    below: set[str] = set()
    for package, allowed in ALLOWED.items():
        assert set(allowed.split()) <= below, package
        below.add(package)


def test_the_core_imports_no_optional_package_and_none_of_these_another() -> None:
    modules = import_graph.imports()
    offenders = [
        (name, target)
        for name, targets in modules.items()
        for target in targets
        if import_graph.package_of(target) in import_graph.OPTIONAL
        and import_graph.package_of(target) != import_graph.package_of(name)
    ]
    # Report.agreement, calibrated and verdicts, whose types are agreement's.
    assert {name for name, _ in offenders} == {import_graph.THIN}
    # By name, these methods; calibrated differences; the section of a page, and its columns of
    # ratings; and metrics of Hugging Face evaluate.
    home = "metrichub.catalog.requirements"
    texts = {name: path.read_text("utf-8") for name, path in import_graph.modules().items()}
    by_name = [name for name, text in texts.items() if "optional_package(" in text]
    assert sorted({*by_name} - {home}) == [
        "metrichub.app.uploads",
        "metrichub.cli.measuring",
        "metrichub.cli.score",
        "metrichub.evaluation.paired_tests",
        "metrichub.report.html.document",
        "metrichub.report.report",
    ]


def test_scores_and_comparisons_need_no_optional_package(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    examples = HOME.parent / "examples"
    files = [str(examples / name) for name in ("summaries.jsonl", "summaries_b.jsonl")]
    modules = loaded(
        "import sys\n"
        f"for name in {sorted(import_graph.OPTIONAL)}:\n"
        "    sys.modules[f'metrichub.{name}'] = None\n"
        "from metrichub import Hub\n"
        "from metrichub.cli import main\n"
        "def run(*arguments):\n"
        "    try:\n"
        "        main(arguments)\n"
        "    except SystemExit as done:\n"
        "        assert not done.code, arguments\n"
        f"one, other = {files}\n"
        "run('score', one, '-m', 'rouge', '--intervals')\n"
        f"run('compare', one, other, '-m', 'rouge', '-m', 'bleu', '--report', {str(page)!r})\n"
        "run('--help')\n"
        "report = Hub('bleu').evaluate(predictions=['a b'], references=['a c'])\n"
        "for method, arguments in (('agreement', ['x']), ('calibrated', ['x']),\n"
        "                          ('verdicts', ['x', 'bleu'])):\n"
        "    try:\n"
        "        getattr(report, method)(*arguments)\n"
        "    except ImportError as error:\n"
        "        assert f'report.{method} needs metrichub.agreement' in str(error)\n"
        "    else:\n"
        "        raise AssertionError(method)\n"
    )
    assert "metric_cards.rouge" in modules
    assert page.stat().st_size > 100_000


def test_no_two_modules_import_each_other_even_through_others() -> None:
    assert import_graph.cycles(import_graph.imports()) == []


def test_a_measurement_has_few_fields_as_facts_are_one() -> None:
    assert len(dataclasses.fields(Measurement)) <= 8


CORE, OPTIONAL = 29_157, 9_484
"""The most code lines; whoever needs more raises the number in the same commit and says why."""
NEURAL = 5_744
"""The same of metrichub-neural, without its commands and what they alone use."""
_COMMANDS = ("convert.py", "downloads.py", "fetch.py", "pickles.py", "selftest.py")


def test_code_is_no_larger_than_was_decided() -> None:
    core, optional = import_graph.sizes_of_code()
    assert core <= CORE
    assert optional <= OPTIONAL
    plugin = Path(__file__).parents[1] / "plugins/metrichub-neural/metrichub_neural"
    files = [path for path in plugin.rglob("*.py") if path.name not in _COMMANDS]
    assert sum(map(import_graph.code_lines, files)) <= NEURAL


def test_one_function_formats_p() -> None:
    texts = {name: path.read_text("utf-8") for name, path in import_graph.modules().items()}
    assert [name for name, text in texts.items() if re.search(r"""< \.0+1["']""", text)] == [
        "metrichub.evaluation.significance"
    ]


def test_a_file_name_stands_twice_for_the_same_job_only() -> None:
    files = Counter(path.name for path in import_graph.modules().values())
    shared = {"__init__.py", "base.py", "commands.py", "readers.py", "page.py", "tables.py"}
    assert {name for name, number in files.items() if number > 1} <= shared


def test_a_small_module_that_one_other_imports_is_part_of_that() -> None:
    paths = import_graph.modules()
    small = {
        name: importer
        for name, importer in import_graph.only_importers(import_graph.imports()).items()
        if import_graph.code_lines(paths[name]) < 60
        # A package, or what its public names are taken from.
        and "__init__.py" not in (paths[name].name, paths[importer].name)
    }
    assert small == {}


@pytest.mark.parametrize(
    ("call", "files", "calls"), [("score", 34, 530), ("judge", 40, 899), ("compare", 68, 13_530)]
)
def test_a_call_enters_few_files(call: str, files: int, calls: int) -> None:
    result = entered(call)
    assert len(result.files) <= files, result.files
    assert result.calls <= calls


def test_the_graph_counts_all_imports(tmp_path: Path) -> None:
    files = {
        "__init__": "",
        "low/__init__": "",
        "low/a": "def f():\n    from toy.low import b\n",
        "low/b": "import toy.low.a",
        "high": "if TYPE_CHECKING:\n    from toy.low.a import f\nimport json",
    }
    home = tmp_path / "toy"
    for name, code in files.items():
        path = home / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    result = import_graph.imports(home)
    assert result["toy.high"] == {"toy.low.a"}
    assert result["toy.low.a"] == {"toy.low.b"}
    assert import_graph.cycles(result) == [{"toy.low.a", "toy.low.b"}]
    assert import_graph.layers(import_graph.packages(result)) == [["low", "toy"], ["high"]]


def test_few_modules_lie_directly_in_the_package() -> None:
    names = {path.stem for path in HOME.glob("*.py")}
    assert names == {"__init__", "__main__", "authoring", "errors", "hub"}


def test_the_core_never_imports_a_card() -> None:
    offenders = [
        f"{path}: {name}"
        for path in HOME.rglob("*.py")
        for name in (*import_graph.imported(path), *path.read_text("utf-8").splitlines())
        if name.startswith("metric_cards") or "metric_cards." in name
    ]
    assert offenders == []


def test_a_metric_shares_code_through_bases_and_never_with_another_metric() -> None:
    # Else a change of one metric's own code would change the numbers of another.
    offenders = [
        f"{path}: {name}"
        for path in CARDS.rglob("*.py")
        for name in import_graph.imported(path)
        if name.partition(".")[0] == "metric_cards"
        and name.split(".")[1:2] not in ([path.relative_to(CARDS).parts[0]], [BASES])
    ]
    assert offenders == []


def test_bases_hold_no_metric() -> None:
    assert not (CARDS / BASES / "__init__.py").read_text("utf-8")
    assert not list((CARDS / BASES).rglob("README.md"))
    assert not [e for e in metrichub.list_metrics() if BASES in e.value.split(":")[0].split(".")]


def test_the_statistics_know_no_metric() -> None:
    # resample knows arrays, stats knows rows; neither knows what measures them.
    graph = import_graph.imports()
    assert graph["metrichub.evaluation.resample"] == {
        "metrichub.errors",
        "metrichub.evaluation.distributions",
        "metrichub.evaluation.draws",
        "metrichub.catalog.frontmatter",  # a type
    }
    assert graph["metrichub.evaluation.stats"] == {"metrichub.errors", "metrichub.metric"}


def test_the_packages_above_the_cards_are_empty() -> None:
    from importlib.util import find_spec

    spec = find_spec("metric_cards")
    assert spec is not None
    assert spec.origin is not None
    assert not ast.parse(Path(spec.origin).read_text("utf-8")).body


def test_no_name_of_a_class_or_public_function_means_two_things() -> None:
    homes: dict[str, list[str]] = {}
    for module, path in import_graph.modules().items():
        # Functions of a bridge are said with their library: `bridges.evaluate.load`.
        if import_graph.package_of(module) == "bridges":
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) or is_public_function(node):
                homes.setdefault(node.name, []).append(module)
    assert {name: home for name, home in homes.items() if len(home) > 1} == {}


def is_public_function(node: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Whether others may call it; a command's name is the one that a user types."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name[0] == "_":
        return False
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    return not any(".command(" in text or ".group(" in text for text in decorators)
