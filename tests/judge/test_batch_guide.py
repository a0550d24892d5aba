"""The Python for batches in docs/JUDGES.md, run as it is against a service on loopback."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from openai.types import Batch, FileObject
from openai.types.batch_create_params import BatchCreateParams
from pydantic import TypeAdapter

import metrichub
from metrichub import Hub, Report
from tests.batch_stub import answered, check
from tests.judge_stub import KEY, Stub
from tests.judge_toys import columns

PAGE = (Path(metrichub.__file__).parents[1] / "docs/JUDGES.md").read_text("utf-8")
SECTION = PAGE.partition("\n## Batches\n")[2].partition("\n## ")[0]
SNIPPETS = re.findall(r"^```python\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.usefixtures("alone")


class Service:
    """Files and batches by their ids; a judge's stub answers a batch at once, but for one line."""

    def __init__(self, stub: Stub) -> None:
        self.stub, self.files, self.batches = stub, dict[str, bytes](), dict[str, Any]()
        self.failed = 0

    def take_file(self, kind: str, body: bytes) -> Any:
        boundary = kind.partition("boundary=")[2].encode()
        (content,) = [part for part in body.split(b"--" + boundary) if b'name="file"' in part]
        return self._file(content.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n"))

    def take_batch(self, body: bytes) -> Any:
        asked = TypeAdapter(BatchCreateParams).validate_python(json.loads(body))
        lines = [json.loads(line) for line in self.files[asked["input_file_id"]].splitlines()]
        for line in lines:
            check(line)
            assert line["url"] == asked["endpoint"]
        # The first line of the first batch is never answered well.
        errors = lines[:1] if not self.batches else []
        self.failed += len(errors)
        results = [[answered(self.stub, line) for line in lines[len(errors) :]]]
        refused = {"status_code": 500, "request_id": "r", "body": {"error": {"message": "full"}}}
        results.append([answered(self.stub, line) | {"response": refused} for line in errors])
        names = ("output_file_id", "error_file_id")
        ids = {
            name: self._file(_lines(r))["id"] for name, r in zip(names, results, strict=True) if r
        }
        result = {"id": f"batch_{len(self.batches)}", "object": "batch", "created_at": 0, **asked}
        self.batches[result["id"]] = result | ids | {"status": "completed"}
        Batch.model_validate(self.batches[result["id"]])
        return self.batches[result["id"]]

    def _file(self, content: bytes) -> Any:
        result = {"id": f"file-{len(self.files)}", "object": "file", "bytes": len(content)}
        result |= {"created_at": 0, "filename": "f", "purpose": "batch", "status": "processed"}
        FileObject.model_validate(result)
        self.files[result["id"]] = content
        return result


def _lines(result: list[Any]) -> bytes:
    return "".join(f"{json.dumps(line)}\n" for line in result).encode()


@contextmanager
def serving(service: Service) -> Iterator[str]:
    """The address of the running service."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/v1/files":
                result = service.take_file(self.headers["Content-Type"], body)
            else:
                assert self.path == "/v1/batches"
                result = service.take_batch(body)
            self._send(json.dumps(result).encode())

        def do_GET(self) -> None:
            kind, name = self.path.split("/")[2:4]
            if kind == "batches":
                self._send(json.dumps(service.batches[name]).encode())
            else:
                self._send(service.files[name])

        def _send(self, content: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def test_the_snippets_of_the_guide_lead_to_the_report(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    score, send, fetch = SNIPPETS
    monkeypatch.chdir(tmp_path)
    result = columns(5)
    samples = [
        dict(zip(result, values, strict=True)) for values in zip(*result.values(), strict=True)
    ]
    Path("answers.jsonl").write_bytes(_lines(samples))
    service, calls, report = Service(stub), [], None
    with serving(service) as address:
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        for number in range(9):
            names: dict[str, Any] = {}
            exec(score, names)  # our own page
            report = names.get("report")
            if isinstance(report, Report):
                break
            messages = capsys.readouterr().out.split()
            calls.append(int(messages[-2]))
            assert messages[-1] == str(number)
            exec(_of_round(send, number), names)
            batch = capsys.readouterr().out.strip()
            exec(_of_round(fetch, number).replace("batch_…", batch), names)
    assert isinstance(report, Report)
    # Claims of five answers; verdicts on those of four, and the fifth's claims again; its verdicts.
    assert calls == [5, 5, 1]
    assert service.failed == 1
    # The stub calls the second of two claims unsupported.
    assert report["faithfulness"] == {"score": 0.5}
    assert report.scores() == Hub("faithfulness", judge=_direct(stub))(result)
    assert KEY not in "".join(path.read_text("utf-8") for path in Path("judging").rglob("*.jsonl"))


def _of_round(snippet: str, number: int) -> str:
    assert "round-0" in snippet
    return snippet.replace("round-0", f"round-{number}")


def _direct(stub: Stub) -> str:
    return f"openai(model='gpt-5.4-mini', base_url='{stub.url}')"
