"""Results of other tools as samples: those of lm-evaluation-harness and deepeval.

`metrichub.data.inspect_logs` has those of inspect. Rows of ragas need nothing: their columns are
known by their names.
"""

from __future__ import annotations

import ast
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from metrichub.data.rows import Samples
from metrichub.data.stream import Source
from metrichub.errors import what

Row = dict[str, Any]
Reader = Callable[[Source, int], Iterator[Samples]]

_LM_EVAL = {"doc_id", "target", "arguments", "filtered_resps"}
_DEEPEVAL = {"actual_output", "retrieval_context", "expected_tools", "custom_column_key_values"}
_TEST_CASE = {
    "name": "id",
    "input": "input",
    "actualOutput": "actual_output",
    "expectedOutput": "expected_output",
    "retrievalContext": "retrieval_context",
    "context": "context",
    "success": "success",
}
"""The fields of a test case of deepeval that are read, and what its own rows call them."""


def with_results(reader: Reader) -> Reader:
    """The reader, and what tools write in its format as the columns that metrics read."""

    def read(source: Source, characters: int) -> Iterator[Samples]:
        batches = reader(source, characters)
        for first in batches:
            whole = chain([first], batches)
            if first.keys() >= _LM_EVAL:
                yield from _lm_eval(source, whole)
            elif first.keys() >= _DEEPEVAL:
                yield from map(_split_contexts, whole)
            else:
                yield from whole

    return read


def deepeval_cases(source: Source, document: Mapping[str, Any]) -> list[Row] | None:
    """The test cases of a test run of deepeval, in their order; None if the document is none.

    Raises:
        FileError: it has conversations alone.
    """
    run = document.get("testRunData", document)
    if not isinstance(run, Mapping) or not isinstance(run.get("testCases"), list):
        return None
    cases = run["testCases"]
    if not cases and run.get("conversationalTestCases"):
        raise source.error(
            "this test run holds conversations; only single-turn test cases can be read"
        )
    cases = sorted(cases, key=lambda case: case.get("order") or 0)
    return [{name: case.get(key) for key, name in _TEST_CASE.items()} for case in cases]


def _split_contexts(samples: Samples) -> Samples:
    """The rows of a data set that deepeval saved, whose passages are joined by bars."""
    split = {
        name: [v.split("|") if isinstance(v, str) and v else v for v in samples[name]]
        for name in ("retrieval_context", "context")
        if name in samples
    }
    return replace(samples, columns={**samples.columns, **split})


def _lm_eval(source: Source, batches: Iterable[Samples]) -> Iterator[Samples]:
    """The samples of one task, as they were generated; of several filters, those of the first."""
    chosen: object = None
    others: Counter[str] = Counter()
    start = 0
    for samples in batches:
        filters = samples.get("filter") or [None] * samples.size
        chosen = filters[0] if chosen is None else chosen
        rows = [number for number, name in enumerate(filters) if name == chosen]
        others.update(str(name) for name in filters if name != chosen)
        if rows:
            columns = {name: [values[i] for i in rows] for name, values in samples.items()}
            lines = [samples.lines[i] for i in rows] if samples.lines is not None else None
            found = replace(samples, columns=columns, lines=lines, start=start)
            yield replace(found, columns=columns | _generated(found))
            start += len(rows)
    if others:
        logging.getLogger("metrichub").warning(
            "%s: each sample occurs once per filter; read were those of filter %r, not of %s "
            "(to score another filter, keep only its lines)",
            *(source.name, chosen, " and ".join(map(repr, others))),
        )


def _generated(samples: Samples) -> dict[str, list[Any]]:
    """What was generated, the targets, the prompts and the ids."""
    prompts = [_prompt(samples, i, found) for i, found in enumerate(samples["arguments"])]
    documents = samples.get("doc") or [None] * samples.size
    return {
        "id": samples["doc_id"],
        "questions": prompts,
        "predictions": [
            _prediction(samples, i, found) for i, found in enumerate(samples["filtered_resps"])
        ],
        "references": list(map(_references, samples["target"], documents)),
    }


def _prompt(samples: Samples, number: int, arguments: Any) -> str:
    """The prompt; older versions write a list of pairs.

    Raises:
        FileError: nothing was generated: the likelihoods of choices were compared.
    """
    first = next(iter(arguments.values() if isinstance(arguments, Mapping) else arguments), ())
    found = list(first.values() if isinstance(first, Mapping) else first)
    if len(found) < 2 or not isinstance(found[1], Mapping):
        raise samples.error(
            "holds likelihoods of given answers but no generated text; score a task with "
            "output_type: generate_until",
            number,
        )
    return str(found[0])


def _prediction(samples: Samples, number: int, responses: Any) -> str | list[str]:
    """What the filter left: a text, or several where a prompt was answered several times."""
    found = responses[0] if isinstance(responses, list) and responses else responses
    several = found if isinstance(found, list) else [found]
    if not several or not all(isinstance(text, str) for text in several):
        raise samples.error(f"filtered_resps holds {what(found)}, not text", number)
    return several if isinstance(found, list) else str(found)


def _references(target: Any, document: Any) -> str | Sequence[str]:
    """The targets; several are written as Python writes a list.

    A single target may look like one, and then is a field of the document as it stands.
    """
    fields = document.values() if isinstance(document, Mapping) else ()
    if isinstance(target, str) and target.startswith("[") and target not in fields:
        try:
            target = ast.literal_eval(target)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return str(target)
    return [str(text) for text in target] if isinstance(target, list) else str(target)
