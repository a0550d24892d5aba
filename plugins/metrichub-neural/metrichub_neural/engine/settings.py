"""Settings: what the JSON files of a model say of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from metrichub.errors import ModelError
from metrichub_neural.convert import origin_in
from metrichub_neural.local_models import ModelFiles

_OFFSET = (
    *("camembert", "data2vec-text", "esm", "ibert", "longformer", "luke", "mpnet", "roberta"),
    *("roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod"),
)
"""Kinds of models whose positions start after that of the padding."""
UNLIMITED = 1_000_000


def limit_of(
    files: ModelFiles, config: Mapping[str, Any] | None = None, longest: object = None
) -> int:
    """How many tokens a text may have: the fewer of the model's positions and the tokenizer's.

    `longest` replaces what the tokenizer's settings say.
    """
    config = read_config(files) if config is None else config
    longest = longest or read_json(files, "tokenizer_config.json").get("model_max_length")
    limits: list[int] = [UNLIMITED]
    positions: object = config.get("max_position_embeddings") or config.get("n_positions")
    # T5 and DeBERTa have positions relative to each other.
    if isinstance(positions, int) and positions > 0 and config.get("model_type") != "t5":
        limits.append(positions - 2 * (config.get("model_type") in _OFFSET))
    if isinstance(longest, (int, float)) and longest > 0:
        limits.append(int(longest))
    return min(limits)


def origin_of(files: ModelFiles) -> dict[str, str]:
    """The hash of the pickle that a model's weights were converted from, as `origin`, if any."""
    path = files.file("model.safetensors") or next(
        iter(files.folder.glob("model-*.safetensors")), None
    )
    if path is None:
        return {}
    digest = origin_in(path)
    return {"origin": digest} if digest else {}


def read_config(files: ModelFiles) -> dict[str, Any]:
    """The content of a model's config.json; empty without one."""
    return read_json(files, "config.json")


def read_json(files: ModelFiles, name: str) -> dict[str, Any]:
    """The content of one of a model's JSON files; empty without it."""
    path = files.folder / name
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} can't be read: {error}") from error
    return content if isinstance(content, dict) else {}
