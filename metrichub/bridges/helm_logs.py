"""Reader of HELM's runs: `scenario_state.json`, and `per_instance_stats.json` beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Row = dict[str, Any]

_RIGHT_OR_WRONG = re.compile("(quasi_)?(prefix_)?exact_match(@[0-9]+)?")
_NO_SCORES = re.compile(
    "num_.*|finish_reason_.*|training_.*|inference_.*|batch_size|prompt_truncated|max_prob|logprob"
)
"""What HELM counts of every request."""


def matches(row: Row) -> bool:
    """Whether this is the state of a run."""
    return row.keys() >= {"adapter_spec", "request_states"}


def describe(row: Row, path: str) -> dict[str, Any]:
    """The model, the run without its model, and the statistics of samples."""
    recorded = {}
    for name in dict.fromkeys(name for stats in _stats(path).values() for name in stats):
        one = _RIGHT_OR_WRONG.fullmatch(name)
        recorded[name] = {"better": "higher", "share": True} if one else {}
    run = Path(path).resolve().parent.name
    task = re.sub(r"(:|,)model=[^,]*,?", r"\1", run).rstrip(":,")
    return {"model": row["adapter_spec"].get("model"), "task": task, "recorded": recorded}


def read(rows: Iterator[Row], path: str) -> Iterator[Row]:
    """The requests of a run with what was recorded of them, without those that were perturbed.

    Raises:
        ValueError: the run compared each choice alone, so that no answer was generated.
    """
    stats = _stats(path)
    for state in (state for row in rows for state in row["request_states"]):
        if state.get("reference_index") is not None:
            raise ValueError(
                "this HELM run asked for the likelihood of each choice alone; only runs whose "
                "models generate an answer can be read"
            )
        if state["instance"].get("perturbation"):
            continue
        yield stats.get(_key(state, state["instance"]["id"]), {}) | _sample(state)


def _sample(state: Row) -> Row:
    """What metrics read of a request; a letter stands for its choice."""
    instance, letters = state["instance"], state.get("output_mapping") or {}
    references = instance["references"]
    correct = [one["output"]["text"] for one in references if "correct" in one["tags"]]
    replies = [one["text"] for one in (state.get("result") or {}).get("completions", ())]
    sample = {
        "id": instance["id"],
        "train_trial_index": state["train_trial_index"],
        "questions": instance["input"]["text"],
        "predictions": [letters.get(reply.strip(), reply) for reply in replies],
        "resps": replies,
        "references": correct,
    }
    sample |= {name: sample[name][0] for name in ("predictions", "resps") if len(replies) == 1}
    return sample | ({"choices": list(letters.values())} if letters else {})


def _stats(path: str) -> dict[tuple[str, int], dict[str, float]]:
    """The statistics of each request that wasn't perturbed, but for those that aren't scores."""
    file = Path(path).with_name("per_instance_stats.json")
    try:
        content = json.loads(file.read_text("utf-8"))
    except OSError:
        return {}
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} beside it can't be read: {error}") from error
    return {
        _key(instance, instance["instance_id"]): {
            stat["name"]["name"]: stat["mean"]
            for stat in instance["stats"]
            if stat["count"] and not _NO_SCORES.fullmatch(stat["name"]["name"])
        }
        for instance in content
        if not instance.get("perturbation")
    }


def _key(of: Mapping[str, Any], name: str) -> tuple[str, int]:
    return name, of["train_trial_index"]
