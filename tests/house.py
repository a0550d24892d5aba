"""The house as its imports draw it: rooms, floors, arrows and circles. `python -m tests.house`.

With `--write` it draws the rooms into ARCHITECTURE.md.

A room is a package or a module directly in `metrichub/`; an arrow leads from a file to a file
that it imports, wherever in it, be it for types only. A circle is a set of files each of which
reaches the others; a floor is one more than the highest floor that a room stands on.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import metrichub
from metrichub.catalog.card import with_blocks

HOME = Path(metrichub.__file__).parent
PAGE = HOME.parent / "ARCHITECTURE.md"
Arrows = Mapping[str, frozenset[str]]


@cache
def modules(home: Path = HOME) -> Mapping[str, Path]:
    """Every module by its name: "metrichub.data.batch"."""
    found = {}
    for path in sorted(home.rglob("*.py")):
        parts = [home.name, *path.relative_to(home).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path) -> Iterator[str]:
    """The names that a file imports, anywhere in it: modules, and what is taken from them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports by dots; name the module in full"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def arrows(home: Path = HOME) -> Arrows:
    """The modules that each module imports."""
    known = modules(home)

    def module_of(name: str) -> str | None:
        while name and name not in known:
            name = name.rpartition(".")[0]
        return name or None

    return {
        name: frozenset(
            found for target in imported(path) if (found := module_of(target)) and found != name
        )
        for name, path in known.items()
    }


def room_of(module: str) -> str:
    """The room that a module is in: "data" for "metrichub.data.batch"."""
    top, _, rest = module.partition(".")
    return rest.partition(".")[0] or top


def rooms(files: Arrows) -> Arrows:
    """The rooms that each room imports."""
    found: dict[str, set[str]] = {room_of(name): set() for name in files}
    for name, targets in files.items():
        found[room_of(name)] |= {room_of(target) for target in targets} - {room_of(name)}
    return {room: frozenset(targets) for room, targets in found.items()}


def circles(files: Arrows) -> list[frozenset[str]]:
    """The sets of more than one file that all reach one another."""
    reached = {name: _reached(name, files) for name in files}
    found = {
        frozenset(other for other in reached[name] if name in reached[other]) for name in files
    }
    return sorted((circle for circle in found if len(circle) > 1), key=sorted)


def _reached(start: str, files: Arrows) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for target in files[waiting.pop()] - found:
            found.add(target)
            waiting.append(target)
    return found


def floors(found: Arrows) -> list[list[str]]:
    """The rooms from the ground up.

    Raises:
        CycleError: rooms stand on one another.
    """
    sorter = TopologicalSorter(found)
    sorter.prepare()
    levels = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        levels.append(ready)
        sorter.done(*ready)
    return levels


def essential(found: Arrows) -> Arrows:
    """The arrows between rooms without those that follow from others: the picture's."""
    return {
        room: frozenset(
            target
            for target in targets
            if not any(target in _reached(other, found) for other in targets - {target})
        )
        for room, targets in found.items()
    }


def picture(found: Arrows) -> str:
    """The rooms as a Mermaid block, which viewers of repositories draw."""
    lines = ["```mermaid", "flowchart TD"]
    for room, targets in sorted(essential(found).items()):
        lines += [f"    {_node(room)} --> {_node(target)}" for target in sorted(targets)]
    return "\n".join([*lines, "```", ""])


def _node(room: str) -> str:
    # Mermaid has words of its own, so no node is called by its room's bare name.
    return f'room_{room.strip("_")}["{room}"]'


def drawn(page: str) -> str:
    """A page with the picture between its markers."""
    return with_blocks(page, {"house": picture(rooms(arrows()))})


def main() -> None:
    """Print the house, or draw it."""
    if "--write" in sys.argv[1:]:
        PAGE.write_text(drawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return
    files = arrows()
    found = rooms(files)
    number = sum(len(targets) for targets in files.values())
    between = sum(len(targets) for targets in found.values())
    print(f"{len(files)} files in {len(found)} rooms; arrows: {number} between files, ", end="")
    print(f"{between} between rooms; {len(circles(files))} circles of files")
    try:
        for number, level in reversed(list(enumerate(floors(found)))):
            print(f"{number:3}  {'  '.join(level)}")
    except CycleError as error:
        print("rooms in a circle:", " -> ".join(error.args[1]))
    for circle in circles(files):
        print("circle:", ", ".join(sorted(circle)))


if __name__ == "__main__":
    main()
