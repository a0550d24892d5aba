"""Scores by metrics whose models were never used before, each case in a process of its own.

Its argument is a list of cases in JSON. A case has `metrics`, `columns`, how many `threads` score
at a time, how many `workers` each has, and the file `loads`. Each printed line is a case's scores
by thread, or why there are none; each line of `loads` is a model that was loaded.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from metrichub_neural.engine import full

ROWS = 6
_load_model = full.load_model


def _counted(auto: str, files: Any, dtype: str, **more: Any) -> Any:
    with open(os.environ["LOADS"], "a") as file:
        file.write(f"{files.name}\n")
    return _load_model(auto, files, dtype, **more)


# Before other modules take it from there, also in processes that start from this file.
full.load_model = _counted


def blocks(columns: dict[str, list[Any]]) -> Iterator[dict[str, list[Any]]]:
    for start in range(0, len(columns["predictions"]), ROWS):
        yield {name: texts[start : start + ROWS] for name, texts in columns.items()}


def scored(case: dict[str, Any]) -> list[Any]:
    from metrichub import Hub

    os.environ["LOADS"] = case["loads"]
    start = Barrier(case["threads"])

    def score(_: int) -> Any:
        hub = Hub(case["metrics"])
        start.wait()
        try:
            return hub.evaluate(blocks(case["columns"]), workers=case["workers"]).flatten()
        except Exception as error:  # noqa: BLE001  # shown where scores are expected
            return f"{type(error).__name__}: {error}"

    with ThreadPoolExecutor(case["threads"]) as pool:
        return list(pool.map(score, range(case["threads"])))


def main() -> None:
    import torch  # noqa: F401  # once for all cases, as it takes most of the time

    for case in json.loads(sys.argv[1]):
        receives, sends = os.pipe()
        child = os.fork()
        if child == 0:
            with os.fdopen(sends, "w") as file:
                json.dump(scored(case), file)
            os._exit(0)
        os.close(sends)
        with os.fdopen(receives) as file:
            print(file.read(), flush=True)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
