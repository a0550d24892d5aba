"""A model server for measurements: it answers every schema, so many calls at a time, after a delay.

    python -m benchmarks.judge_server [--delay 0.05] [--slots 16]

It prints its address. `POST /reset` forgets what was asked, and `GET /counts` tells it.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

ITEMS = 3
"""How many items a list in a reply has, unless the request says which it wants."""
DIMENSIONS = 1536
_VECTOR = [1.0 / (1 + i) for i in range(DIMENSIONS)]
_BASE64 = base64.b64encode(struct.pack(f"<{DIMENSIONS}f", *_VECTOR)).decode()
_USAGE = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}


@dataclass
class Server:
    """The requests so far, and the slots in which they are answered."""

    delay: float
    slots: asyncio.Semaphore
    chats: int = 0
    embeddings: int = 0
    waiting: int = 0
    most: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until it ends."""
        try:
            while line := await reader.readline():
                path, length = line.split()[1].decode(), 0
                while (header := await reader.readline()) not in (b"\r\n", b""):
                    name, _, value = header.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                body = json.loads(await reader.readexactly(length) or b"{}")
                content = json.dumps(await self.reply(path, body)).encode()
                head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def reply(self, path: str, body: Mapping[str, Any]) -> object:
        """The reply to a request."""
        if path == "/reset":
            self.chats = self.embeddings = self.most = 0
            return {}
        if path == "/counts":
            return {"chats": self.chats, "embeddings": self.embeddings, "most": self.most}
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        try:
            async with self.slots:
                await asyncio.sleep(self.delay)
        finally:
            self.waiting -= 1
        if path.endswith("/embeddings"):
            self.embeddings += 1
            return _embeddings(body)
        self.chats += 1
        return _completion(body)


def _completion(body: Mapping[str, Any]) -> object:
    content = json.dumps(_value(_schema(body), _asked(body)))
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [choice],
        "usage": _USAGE,
    }


def _embeddings(body: Mapping[str, Any]) -> object:
    vector = _BASE64 if body.get("encoding_format") == "base64" else _VECTOR
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    data = [{"object": "embedding", "index": i, "embedding": vector} for i in range(len(texts))]
    return {"object": "list", "model": body["model"], "data": data, "usage": _USAGE}


def _schema(body: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of the reply: in the request, or else the last one in the text of a message."""
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    if schema:
        result: dict[str, Any] = schema
        return result
    for message in body["messages"]:
        text, start = message["content"], message["content"].find("{")
        while start >= 0:
            try:
                result, length = json.JSONDecoder().raw_decode(text[start:])
            except ValueError:
                start = text.find("{", start + 1)
                continue
            if "properties" in result:
                return result
            start = text.find("{", start + length)
    raise ValueError("no schema was sent")


def _asked(body: Mapping[str, Any]) -> list[int]:
    """The indices of the items that the request asks about, if it lists them."""
    try:
        items = json.loads(body["messages"][-1]["content"])["items"]
        return [item["index"] for item in items]
    except (ValueError, LookupError, TypeError):
        return list(range(ITEMS))


def _value(schema: Mapping[str, Any], asked: list[int]) -> object:
    """Something that fits a schema; yes where there is a choice, and 1 for a whole number."""
    definitions = schema.get("$defs", {})

    def of(part: Mapping[str, Any], index: int) -> object:
        if "$ref" in part:
            return of(definitions[part["$ref"].rpartition("/")[2]], index)
        if "enum" in part:
            return part["enum"][0]
        if "anyOf" in part:
            return of(part["anyOf"][0], index)
        match part.get("type"):
            case "object":
                properties = part["properties"].items()
                return {n: index if n == "index" else of(p, index) for n, p in properties}
            case "array":
                return [of(part["items"], i) for i in asked]
            case "integer" | "number":
                return 1
            case "boolean":
                return True
        return f"This is statement {index} of the reply that the server gives."

    return of(schema, 0)


@click.command()
@click.option("--delay", default=0.05, show_default=True, help="Seconds that an answer takes.")
@click.option("--slots", default=16, show_default=True, help="How many are answered at a time.")
def main(delay: float, slots: int) -> None:
    """Serve on loopback until stdin ends."""
    asyncio.run(_run(delay, slots))


async def _run(delay: float, slots: int) -> None:
    result = Server(delay, asyncio.Semaphore(slots))
    server = await asyncio.start_server(result.serve, "127.0.0.1", 0, backlog=1024)
    port = server.sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    # Clients may be connected still; they are done.
    os._exit(0)


if __name__ == "__main__":
    main()
