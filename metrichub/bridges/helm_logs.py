"""Reader of HELM's runs: `scenario_state.json`, and `per_instance_stats.json` beside it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from metrichub.bridges._log_files import one_or_several, warn
from metrichub.data.readers import Row

ALTERNATIVES = ("split",)
"""See `metrichub.data.readers.RowReader`."""
_REPORTED = "test"
"""The split that HELM reports where a run has it; else there is the validation split alone.

Its schemas name a `main_split` for each group of runs; where that is "valid", no run has both.
"""
_RIGHT_OR_WRONG = re.compile("(quasi_)?(prefix_)?exact_match(@[0-9]+)?")
_NO_SCORES = re.compile(
    "num_.*|finish_reason_.*|training_.*|inference_.*|batch_size|prompt_truncated|max_prob|logprob"
)
"""The statistics of every request that aren't scores."""


def matches(row: Row) -> bool:
    """Whether this is the state of a run."""
    return row.keys() >= {"adapter_spec", "request_states"}


def describe(row: Row, path: str) -> dict[str, Any]:
    """The model, the run without its model, and the statistics of samples."""
    recorded = {}
    for name in dict.fromkeys(name for stats in _stats(path).values() for name in stats):
        is_share = _RIGHT_OR_WRONG.fullmatch(name)
        recorded[name] = {"better": "higher", "share": True} if is_share else {}
    run = Path(path).resolve().parent.name
    task = re.sub(r"(:|,)model=[^,]*,?", r"\1", run).rstrip(":,")
    model = row["adapter_spec"].get("model")
    reported = _reported(path, {state["instance"].get("split") for state in row["request_states"]})
    reported = {name: mean for name, mean in reported.items() if name in recorded}
    return {"model": model, "task": task, "recorded": recorded, "reported": reported}


def expand(rows: Iterator[Row], path: str) -> Iterator[Row]:
    """The requests of a run that weren't perturbed with their splits, the reported one first."""
    states = (state for row in rows for state in row["request_states"])
    plain = [state for state in states if not state["instance"].get("perturbation")]
    for state in sorted(plain, key=lambda state: state["instance"].get("split") != _REPORTED):
        yield {"split": state["instance"].get("split"), "state": state}


def read(rows: Iterator[Row], path: str) -> Iterator[Row]:
    """The requests of the split that comes first with what was recorded of them.

    Raises:
        ValueError: the run compared each choice alone, so that no answer was generated.
    """
    stats, chosen, others = _stats(path), None, Counter[Any]()
    for row in rows:
        state, split = row["state"], row["split"]
        chosen = chosen or split
        if split != chosen:
            others[split] += 1
            continue
        if state.get("reference_index") is not None:
            raise ValueError(
                "this HELM run asked for the likelihood of each choice separately; only runs whose "
                "models generate an answer can be read"
            )
        yield stats.get(_key(state, state["instance"]["id"]), {}) | _sample(state)
    for split, left_out in others.items():
        warn(
            path,
            f"only samples of the split {chosen!r} are read, as HELM reports it, not {left_out} of "
            f"{split!r} (choose these with --where split={split}, or where= in Python)",
        )


def _sample(state: Row) -> Row:
    """The columns of a request; a letter stands for its choice."""
    instance, letters = state["instance"], state.get("output_mapping") or {}
    references = instance["references"]
    correct = [text["output"]["text"] for text in references if "correct" in text["tags"]]
    completions = (state.get("result") or {}).get("completions", ())
    replies = [completion["text"] for completion in completions]
    sample = {
        "id": instance["id"],
        "split": instance.get("split"),
        "train_trial_index": state["train_trial_index"],
        "questions": instance["input"]["text"],
        "predictions": one_or_several([letters.get(reply.strip(), reply) for reply in replies]),
        "resps": one_or_several(replies),
        "references": correct,
    }
    return sample | ({"choices": list(letters.values())} if letters else {})


def _stats(path: str) -> dict[tuple[str, int], dict[str, float]]:
    """The statistics of each request that wasn't perturbed, but for those that aren't scores."""
    return {
        _key(instance, instance["instance_id"]): {
            stat["name"]["name"]: stat["mean"]
            for stat in instance["stats"]
            if stat["count"] and not _NO_SCORES.fullmatch(stat["name"]["name"])
        }
        for instance in _content(path, "per_instance_stats.json")
        if not instance.get("perturbation")
    }


def _reported(path: str, splits: Collection[str | None]) -> dict[str, dict[str, float]]:
    """The means that HELM reports of a run with these splits, but for parts of them."""
    split = _REPORTED if _REPORTED in splits else next(iter(splits), None)
    try:
        content = _content(path, "stats.json")
    except ValueError:
        return {}
    return {
        stat["name"]["name"]: {"mean": stat["mean"]}
        for stat in content
        if stat["count"]
        and stat["name"].get("split") == split
        and not (stat["name"].get("sub_split") or stat["name"].get("perturbation"))
    }


def _content(path: str, name: str) -> list[Any]:
    """The list in the file of this name beside a run; empty if there is none."""
    file = Path(path).with_name(name)
    try:
        content: list[Any] = json.loads(file.read_text("utf-8"))
    except OSError:
        return []
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} beside it can't be read: {error}") from error
    return content


def _key(of: Mapping[str, Any], name: str) -> tuple[str, int]:
    return name, of["train_trial_index"]
