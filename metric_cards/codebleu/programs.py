"""Parts of programs that CodeBLEU compares: subtrees of their syntax, and their data flow.

The parsers and the rules by which values flow through each kind of statement are codebleu's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from metrichub.errors import MissingDependency

Flow = tuple[int, str, tuple[int, ...]]
"""A variable, how it gets its value, and the variables it gets it from."""


class Shared(NamedTuple):
    """How much of the references a prediction has too, and how much there is."""

    subtrees: int
    all_subtrees: int
    flows: int
    all_flows: int


class _Step(NamedTuple):
    """A place where a variable gets a value, and the places that the value comes from."""

    name: str
    place: int
    kind: str
    sources: list[str]
    places: list[int]


class Reader:
    """Reads programs in one language."""

    def __init__(self, language: str) -> None:
        """Load the language's parser.

        Raises:
            MissingDependency: codebleu or the parser isn't installed, or not in a version that
                fits the other.
        """
        try:
            import codebleu
            from codebleu import dataflow_match, parser, utils
            from tree_sitter import Parser

            self._parser = Parser()
            self._parser.language = utils.get_tree_sitter_language(language)
        except (ImportError, TypeError, ValueError):
            needed = f"the package codebleu with its parser for {language}"
            install = "pip install 'metrichub[codebleu]'"
            raise MissingDependency("codebleu", needed, install) from None
        self._tools: Any = parser
        self._rules: Any = dataflow_match.dfg_function[language]
        self._language = language
        words = Path(codebleu.__file__).parent / "keywords" / f"{language}.txt"
        self.keywords = frozenset(words.read_text(encoding="utf-8").split())

    def shared(self, prediction: str, references: Iterable[str]) -> Shared:
        """The sums over the references of what the prediction shares with each."""
        sums, prediction = [Shared(0, 0, 0, 0)], prediction.strip()
        for reference in references:
            # codebleu takes the comments out of one prediction once for every reference.
            prediction, reference = self._bare(prediction), self._bare(reference.strip())
            predicted, expected = self._root(prediction), self._root(reference)
            subtrees, trees = set(_subtrees(predicted)), _subtrees(expected)
            predicted_flows = Counter(self._flows(prediction, predicted))
            flows = Counter(self._flows(reference, expected))
            matched = sum(tree in subtrees for tree in trees)
            sums += [Shared(matched, len(trees), (predicted_flows & flows).total(), flows.total())]
        return Shared(*map(sum, zip(*sums, strict=True)))

    def _bare(self, code: str) -> str:
        """The code without comments and docstrings, or as it is where that fails."""
        try:
            return str(self._tools.remove_comments_and_docstrings(code, self._language))
        # Python's tokenizer refuses what isn't code in many ways.
        except Exception:  # noqa: BLE001
            return code

    def _root(self, code: str) -> Any:
        return self._parser.parse(code.encode("utf-8", "replace")).root_node

    def _flows(self, code: str, root: Any) -> list[Flow]:
        """The data flow, its variables numbered in the order in which they come up."""
        try:
            steps = self._steps(code, root)
        # As in codebleu, what its rules can't follow has no flow.
        except Exception:  # noqa: BLE001
            return []
        numbers: dict[str, int] = {}
        for step in steps:
            for name in (*step.sources, step.name):
                numbers.setdefault(name, len(numbers))
        return [
            (numbers[step.name], step.kind, tuple(numbers[name] for name in step.sources))
            for step in steps
        ]

    def _steps(self, code: str, root: Any) -> list[_Step]:
        """One step for every place that gives a value to another or takes one from there."""
        spots, lines = self._tools.tree_to_token_index(root), code.split("\n")
        texts = [self._tools.index_to_code_token(spot, lines) for spot in spots]
        raw_steps, _ = self._rules(root, dict(zip(spots, enumerate(texts), strict=True)), {})
        steps = sorted((_Step(*step) for step in raw_steps), key=lambda step: step.place)
        linked = {place for step in steps if step.places for place in (step.place, *step.places)}
        merged: dict[int, _Step] = {}
        for step in steps:
            if step.place in linked:
                earlier = merged.get(step.place)
                merged[step.place] = _merged(earlier, step) if earlier else step
        return [_in_order(step, texts) for step in merged.values()]


@lru_cache(maxsize=16)
def reader(language: str) -> Reader:
    """The reader of a language; see `Reader` for what is raised."""
    return Reader(language)


def _subtrees(root: Any) -> list[str]:
    """The root and all inner nodes that have children, each as the kinds of the nodes in it."""
    subtrees, nodes = [], [root]
    while nodes:
        node = nodes.pop()
        subtrees.append(str(node))
        nodes += [child for child in node.children if child.children]
    return subtrees


def _merged(first: _Step, second: _Step) -> _Step:
    sources = dict.fromkeys((*first.sources, *second.sources))
    places = dict.fromkeys((*first.places, *second.places))
    return first._replace(sources=list(sources), places=sorted(places))


def _in_order(step: _Step, texts: Sequence[str]) -> _Step:
    """The step with its sources in the order of their places.

    Where codebleu merges steps, their sources are in the order of a set, which changes from one
    process to the next, and with it the numbers of the variables.
    """
    beside = [texts[place] for place in step.places]
    if step.sources == beside:
        return step
    sources = [name for name in beside if name in step.sources]
    return step._replace(sources=list(dict.fromkeys((*sources, *sorted(step.sources)))))
