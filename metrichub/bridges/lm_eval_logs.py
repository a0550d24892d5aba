"""Reader of lm-evaluation-harness' samples, `samples_*.jsonl`, as they were generated."""

from __future__ import annotations

import ast
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from metrichub.errors import what

Row = dict[str, Any]

_KEYS = {"doc_id", "target", "arguments", "filtered_resps"}


def matches(row: Row) -> bool:
    """Whether this is a sample of the harness."""
    return row.keys() >= _KEYS


def read(rows: Iterator[Row], path: str) -> Iterator[Row]:
    """The samples of one task; of several filters, those of the first."""
    chosen: object = None
    others: Counter[str] = Counter()
    for row in rows:
        name = row.get("filter")
        chosen = name if chosen is None else chosen
        if name == chosen:
            yield row | _generated(row)
        else:
            others[str(name)] += 1
    if others:
        logging.getLogger("metrichub").warning(
            "%s: each sample occurs once per filter; read were those of filter %r, not of %s "
            "(to score another filter, keep only its lines)",
            *(path, chosen, " and ".join(map(repr, others))),
        )


def _generated(row: Row) -> Row:
    """What was generated, the targets, the prompt and the id."""
    return {
        "id": row["doc_id"],
        "questions": _prompt(row["arguments"]),
        "predictions": _prediction(row["filtered_resps"]),
        "references": _references(row["target"], row.get("doc")),
    }


def _prompt(arguments: Any) -> str:
    """The prompt; older versions write a list of pairs.

    Raises:
        ValueError: nothing was generated: the likelihoods of choices were compared.
    """
    first = next(iter(arguments.values() if isinstance(arguments, Mapping) else arguments), ())
    parts = list(first.values() if isinstance(first, Mapping) else first)
    if len(parts) < 2 or not isinstance(parts[1], Mapping):
        raise ValueError(
            "holds likelihoods of given answers but no generated text; score a task with "
            "output_type: generate_until"
        )
    return str(parts[0])


def _prediction(responses: Any) -> str | list[str]:
    """What the filter left: a text, or several where a prompt was answered several times."""
    response = responses[0] if isinstance(responses, list) and responses else responses
    several = response if isinstance(response, list) else [response]
    if not several or not all(isinstance(text, str) for text in several):
        raise ValueError(f"filtered_resps holds {what(response)}, not text")
    return several if isinstance(response, list) else str(response)


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
