"""Which module imports which, and how packages build on one another.

`python -m tests.import_graph` counts, sizes and what calls enter (`tests.entered`) among it; with
`--write` it draws the packages into ARCHITECTURE.md.

A package here is a directory of `metrichub/` or a module directly in it. Every import counts, also
inside functions and for types only. A cycle is a set of modules that all import one another, if
only through others; a layer holds the packages that import lower layers alone.
"""

from __future__ import annotations

import ast
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from io import StringIO
from pathlib import Path

import metrichub
from metrichub.catalog.card import with_blocks
from tests.entered import CALLS, entered

HOME = Path(metrichub.__file__).parent
PAGE = HOME.parent / "ARCHITECTURE.md"
Imports = Mapping[str, frozenset[str]]

OPTIONAL = frozenset({"agreement", "bridges", "app", "site"})
"""Packages that stand on the core: it works without them, and they without one another."""
THIN = "metrichub.report.report"
"""The module with methods that return what an optional package makes; it imports types alone."""


@cache
def modules(home: Path = HOME) -> Mapping[str, Path]:
    """Every module by its name: "metrichub.data.batch"."""
    result = {}
    for path in sorted(home.rglob("*.py")):
        parts = [home.name, *path.relative_to(home).with_suffix("").parts]
        result[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return result


def imported(path: Path) -> Iterator[str]:
    """The names that a file imports, anywhere in it: modules, and what is taken from them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports by dots; name the module in full"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def imports(home: Path = HOME) -> Imports:
    """The modules that each module imports."""
    paths = modules(home)

    def module_of(name: str) -> str | None:
        while name and name not in paths:
            name = name.rpartition(".")[0]
        return name or None

    return {
        name: frozenset(
            module for target in imported(path) if (module := module_of(target)) and module != name
        )
        for name, path in paths.items()
    }


def package_of(module: str) -> str:
    """The package that a module is in: "data" for "metrichub.data.batch"."""
    top, _, submodule = module.partition(".")
    return submodule.partition(".")[0] or top


def only_importers(modules: Imports) -> dict[str, str]:
    """The modules that one other module imports, each with that one."""
    importers: dict[str, list[str]] = {}
    for name, targets in modules.items():
        for target in targets:
            importers.setdefault(target, []).append(name)
    return {name: sources[0] for name, sources in importers.items() if len(sources) == 1}


def packages(modules: Imports) -> Imports:
    """The packages that each package imports; the types that `THIN` names don't count."""
    result: dict[str, set[str]] = {package_of(name): set() for name in modules}
    for name, targets in modules.items():
        source = package_of(name)
        others = {package_of(target) for target in targets} - {source}
        result[source] |= others - OPTIONAL if name == THIN else others
    return {package: frozenset(targets) for package, targets in result.items()}


def cycles(modules: Imports) -> list[frozenset[str]]:
    """The sets of more than one module that all reach one another."""
    reached = {name: _reached(name, modules) for name in modules}
    reached_from = {
        frozenset(other for other in reached[name] if name in reached[other]) for name in modules
    }
    return sorted((cycle for cycle in reached_from if len(cycle) > 1), key=sorted)


def _reached(start: str, graph: Imports) -> set[str]:
    placed: set[str] = set()
    waiting = [start]
    while waiting:
        for target in graph[waiting.pop()] - placed:
            placed.add(target)
            waiting.append(target)
    return placed


def layers(result: Imports) -> list[list[str]]:
    """The packages by layer, the lowest first.

    Raises:
        CycleError: packages import one another.
    """
    sorter = TopologicalSorter(result)
    sorter.prepare()
    levels = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        levels.append(ready)
        sorter.done(*ready)
    return levels


def direct(result: Imports) -> Imports:
    """The imports between packages that follow from no others, as the diagram shows them."""
    return {
        package: frozenset(
            target
            for target in targets
            if not any(target in _reached(other, result) for other in targets - {target})
        )
        for package, targets in result.items()
    }


def diagram(result: Imports) -> str:
    """The packages as a Mermaid block, which viewers of repositories draw."""
    lines = ["```mermaid", "flowchart TD"]
    for package, targets in sorted(direct(result).items()):
        lines += [f"    {_node(package)} --> {_node(target)}" for target in sorted(targets)]
    return "\n".join([*lines, "```", ""])


def _node(package: str) -> str:
    # A bare name could be one of Mermaid's keywords.
    return f'package_{package.strip("_")}["{package}"]'


def drawn(page: str) -> str:
    """A page with the diagram between its markers."""
    return with_blocks(page, {"imports": diagram(packages(imports()))})


def code_lines(path: Path) -> int:
    """The lines of a file that hold code: no blank lines, comments or docstrings."""
    source = path.read_text(encoding="utf-8")
    ignored = {
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
        tokenize.ENDMARKER,
    }  # fmt: skip
    lines: set[int] = set()
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type not in ignored:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        # A text that is a statement: a docstring.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def sizes_of_code() -> tuple[int, int]:
    """The code lines of the core and of the optional packages."""
    lines = Counter[bool]()
    for name, path in modules().items():
        lines[package_of(name) in OPTIONAL] += code_lines(path)
    return lines[False], lines[True]


def sizes() -> Iterator[tuple[str, str]]:
    """What is measured of the structure, line by line, and how much it is."""
    paths = modules()
    optional = sum(package_of(name) in OPTIONAL for name in paths)
    numbers = zip(sizes_of_code(), (len(paths) - optional, optional), strict=True)
    for what, (lines, number) in zip(("core", "optional packages"), numbers, strict=True):
        yield f"code lines of the {what}", f"{lines:,} in {number} modules"
    graph = imports()
    result = packages(graph)
    between = sum(len(targets) for targets in result.values())
    yield "layers", str(len(layers(result)))
    yield "imports between packages", str(between)
    yield "import cycles", str(len(cycles(graph)))
    names = Counter(path.name for path in paths.values() if path.name != "__init__.py")
    yield "file names that stand twice", str(sum(number > 1 for number in names.values()))
    yield "modules with one importer", str(len(only_importers(graph)))
    for call in CALLS:
        files, calls = entered(call)
        yield f"files that a warm {call} enters", f"{len(files)}, in {calls:,} calls"


def main() -> None:
    """Print sizes, layers and cycles, or draw the diagram."""
    if "--write" in sys.argv[1:]:
        PAGE.write_text(drawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return
    graph = imports()
    result = packages(graph)
    for what, size in sizes():
        print(f"{what}: {size}")
    try:
        for number, layer in reversed(list(enumerate(layers(result)))):
            print(f"{number:3}  {'  '.join(layer)}")
    except CycleError as error:
        print("packages in a cycle:", " -> ".join(error.args[1]))
    for cycle in cycles(graph):
        print("cycle:", ", ".join(sorted(cycle)))


if __name__ == "__main__":
    main()
