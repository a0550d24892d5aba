"""Reader of promptfoo's results, as `promptfoo eval -o results.json` writes them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from metrichub.bridges._log_files import score_column, warn
from metrichub.data.columns import column_of_alias
from metrichub.data.readers import Row

_LINE = {"promptIdx", "testIdx", "vars", "gradingResult"}
_ENDED_IN_ERROR = 2


def matches(row: Row) -> bool:
    """Whether these are results, or a line of them."""
    results = row.get("results")
    return row.keys() >= _LINE or (
        "evalId" in row and isinstance(results, dict) and isinstance(results.get("results"), list)
    )


def describe(row: Row, path: str) -> dict[str, Any]:
    """The scores, and the systems: each provider, and each prompt of it where it has several."""
    if row.keys() >= _LINE:
        return {}
    asked = [prompt["provider"] for prompt in row["results"]["prompts"]]
    of_provider, systems = Counter(asked), dict[str, Row]()
    for place, provider in enumerate(asked):
        number = asked[: place + 1].count(provider)
        name = f"{provider}, prompt {number}" if of_provider[provider] > 1 else provider
        systems[name] = {"provider": provider, "promptIdx": str(place)}
    columns = dict.fromkeys(
        column for result in row["results"]["results"] for column in _scores(result)
    )
    recorded: dict[str, Row] = {column: {"better": "higher"} for column in columns}
    recorded["success"] |= {"share": True}
    return {"recorded": recorded, "systems": systems}


def read(rows: Iterator[Row], path: str) -> Iterator[Row]:
    """The results of all providers and prompts, each with its scores; vars are columns.

    Raises:
        ValueError: these are lines, each of which is a result of any of several systems.
    """
    for row in rows:
        if row.keys() >= _LINE:
            raise ValueError(
                "JSON Lines of promptfoo mix the results of all providers; write them as JSON: "
                "promptfoo eval -o results.json"
            )
        # They are written as they come in.
        results = sorted(row["results"]["results"], key=lambda r: (r["testIdx"], r["promptIdx"]))
        expected = {r["testIdx"]: texts for r in results if (texts := list(_expected(r)))}
        yield from (_sample(result, expected.get(result["testIdx"], [])) for result in results)
        if failed := sum(result.get("failureReason") == _ENDED_IN_ERROR for result in results):
            warn(
                path,
                f"{failed} of {len(results)} results ended in an error; their replies are empty, "
                "and promptfoo's score is 0",
            )


def _sample(result: Row, expected: list[str]) -> Row:
    reply, variables = (result.get("response") or {}).get("output"), dict(result["vars"])
    columns = set(map(column_of_alias, variables))
    sample = {
        "id": result["testIdx"],
        "provider": result["provider"].get("label") or result["provider"]["id"],
        "promptIdx": result["promptIdx"],
        "predictions": "" if reply is None else _text_of(reply),
    }
    if "questions" not in columns:
        sample["questions"] = result["prompt"]["raw"]
    if expected and "references" not in columns:
        sample["references"] = expected
    return variables | _scores(result) | sample


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _expected(result: Row) -> Iterator[str]:
    """The texts that an assertion compares the whole reply with; none after an error."""
    for part in (result.get("gradingResult") or {}).get("componentResults") or ():
        assertion = part.get("assertion") or {}
        if assertion.get("type") == "equals":
            metadata = part.get("metadata") or {}
            yield _text_of(metadata.get("renderedAssertionValue", assertion["value"]))


def _scores(result: Row) -> dict[str, Any]:
    """Whether a result passed, its score, and those with a name."""
    named: Mapping[str, Any] = result.get("namedScores") or {}
    columns = {score_column(name): value for name, value in named.items()}
    return columns | {"success": result["success"], "score": result["score"]}
