"""A batch service in a test: it answers the lines of a file by the stub of a judge."""

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from openai.types import CreateEmbeddingResponse
from openai.types.batch_create_params import BatchCreateParams
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.embedding_create_params import EmbeddingCreateParams
from pydantic import ConfigDict, TypeAdapter, with_config

from tests.judge_stub import Asked, Stub

Line = dict[str, Any]
Change = Callable[[list[Line]], list[Line]]
_BODIES = {
    "/v1/chat/completions": CompletionCreateParamsNonStreaming,
    "/v1/embeddings": EmbeddingCreateParams,
}
_REPLIES = {"/v1/chat/completions": ChatCompletion, "/v1/embeddings": CreateEmbeddingResponse}


def lines_of(path: str | Path) -> list[Line]:
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def check(line: Line) -> None:
    """Raise unless a line is one that the client's own types allow."""
    assert list(line) == ["custom_id", "method", "url", "body"]
    assert len(line["custom_id"]) <= 64
    assert line["method"] == "POST"
    _adapter(BatchCreateParams).validate_python(
        {"completion_window": "24h", "endpoint": line["url"], "input_file_id": "file-1"}
    )
    body = _adapter(_BODIES[line["url"]]).validate_python(line["body"])
    # The client names any iterable, which pydantic looks into as it is read.
    list(body.get("messages", ()))


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """What validates; no key may be there that the client doesn't name."""
    return TypeAdapter(with_config(ConfigDict(extra="forbid"))(kind))


def answered(stub: Stub, line: Line) -> Line:
    """The line of the output: what the stub replies, be it an error."""
    status, _, content = stub.reply(Asked(line["url"], line["body"], ""))
    body = json.loads(content or b"null")
    if status == 200:
        _REPLIES[line["url"]].model_validate(body)
    response = {"status_code": status, "request_id": "req-1", "body": body}
    return {"id": "1", "custom_id": line["custom_id"], "response": response, "error": None}


def shuffled(lines: list[Line]) -> list[Line]:
    return random.Random(0).sample(lines, len(lines))


def serve(stub: Stub, path: str | Path, change: Change = shuffled, name: str = "") -> list[Line]:
    """Answer a file: its lines are checked, and the output, changed, is put beside it."""
    asked = lines_of(path)
    for line in asked:
        check(line)
    assert len({line["custom_id"] for line in asked}) == len(asked)
    assert len({(line["url"], line["body"]["model"]) for line in asked}) == 1
    output = change([answered(stub, line) for line in asked])
    target = Path(path).with_name(name or f"{Path(path).stem}.output.jsonl")
    target.write_text("".join(f"{json.dumps(line)}\n" for line in output), "utf-8")
    return asked
