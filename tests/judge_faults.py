"""All the ways in which the server of the tests misbehaves, and a server that does so at random."""

import json
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.judge_stub import (
    Asked,
    Fault,
    Reply,
    answer,
    completion,
    dropped,
    embeddings,
    failure,
    judged,
    raw,
    says,
    silent,
)


def _truncated(asked: Asked) -> Reply:
    message = json.dumps(answer(asked))
    return completion(message[: len(message) // 2])


def _prose(asked: Asked) -> Reply:
    message = json.dumps(answer(asked))
    return completion(f"Here it is:\n```json\n{message}\n```\nI hope that {{it}} helps.")


def _verdicts(change: str) -> Fault:
    """The right verdicts but for one thing: some left out, added, doubled, or in a strange word."""

    def fault(asked: Asked) -> Reply:
        message = judged(asked)
        right: list[dict[str, Any]] = message["verdicts"]
        match change:
            case "too few":
                del right[1:]
            case "too many":
                right.append({**right[0], "index": right[-1]["index"] + 1})
            case "doubled":
                right.append(right[0])
            case "none":
                right.clear()
            case "strange word":
                right[-1]["verdict"] = "perhaps"
        return completion(json.dumps(message))

    return fault


ANYWHERE: Mapping[str, Fault] = {
    "429": failure(429, "slow down"),
    "429 with Retry-After": failure(429, "slow down", retry_after_ms="1"),
    "500": failure(500),
    "slow": silent,
    "dropped": dropped,
    "no choices": raw(b'{"choices": []}'),
    "invalid UTF-8": raw(b'{"choices": [\xff\xfe'),
}
IN_CHATS: Mapping[str, Fault] = {
    "truncated": _truncated,
    "prose": _prose,
    "refusal": says(None, refusal="I won't."),
    "content filter": says("", finish_reason="content_filter"),
}
IN_VERDICTS: Mapping[str, Fault] = {
    change: _verdicts(change)
    for change in ("too few", "too many", "doubled", "none", "strange word")
}
KINDS = (*ANYWHERE, *IN_CHATS, *IN_VERDICTS)


@dataclass
class RandomFaults:
    """A server that answers badly so often, by the request and by how often it came.

    So the order in which requests come changes nothing, and neither does the wording of prompts.
    """

    seed: int
    share: float = 0.2
    asked: Counter[str] = field(default_factory=Counter)
    injected: Counter[str] = field(default_factory=Counter)

    def __call__(self, asked: Asked) -> Reply:
        messages = [entry for entry in asked.body.get("messages", ()) if entry["role"] != "system"]
        message = json.dumps(asked.body | {"messages": messages}, sort_keys=True)
        self.asked[message] += 1
        chance = random.Random(f"{self.seed} {self.asked[message]} {message}")
        chats = "messages" in asked.body
        if chance.random() < self.share:
            kinds = dict(ANYWHERE)
            if chats:
                kinds |= IN_CHATS
                kinds |= IN_VERDICTS if "verdicts" in asked.schema["properties"] else {}
            kind = chance.choice(list(kinds))
            self.injected[kind] += 1
            return kinds[kind](asked)
        return completion(json.dumps(answer(asked))) if chats else embeddings(asked)
