"""Security: who may call the app, how much they may send, and what they can't make it do."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

from markupsafe import escape
from starlette.datastructures import Headers
from starlette.testclient import TestClient

from metrichub import Hub, load_metric
from metrichub.app.guard import refused
from metrichub.app.settings import Judging, ServerLimits, ServerSettings
from metrichub.report.saved import file_text
from tests import judge_stub, plugins, web_stub
from tests.app_client import BASELINES, CATS, HOME, Form, calling, run_of, words

LOCAL = ServerSettings()
PUBLIC = ServerSettings(public=True, hosts=("scores.example",))
FORM = {"metric": "exact_match", "text": '{"prediction": "a", "reference": "a"}'}


def error(client: TestClient, status: int, **body: Any) -> tuple[str, str]:
    answer = client.post("/api/score", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()["error"], answer.json()["message"]


@pytest.mark.parametrize(
    ("settings", "taken", "foreign"),
    [
        (
            LOCAL,
            ("127.0.0.1:8000", "localhost", "localhost:1", "[::1]:8000"),
            ("evil.example", "127.0.0.1.evil.example", "192.168.1.5:8000", "", "[::1", "localhost.",
             "a b"),
        ),
        (PUBLIC, ("scores.example", "10.0.0.7:8000", "localhost"), ("evil.example",)),
    ],
)  # fmt: skip
def test_a_server_is_called_by_its_own_names(
    settings: ServerSettings, taken: Sequence[str], foreign: Sequence[str]
) -> None:
    for host in taken:
        assert refused("GET", Headers({"host": host}), settings) is None, host
    # A page at that name would else read whatever is here, once its name means this machine.
    for host in foreign:
        problem = refused("GET", Headers({"host": host}), settings)
        assert problem is not None, host
        assert (problem.status_code, problem.refusal.error) == (400, "ForeignHost"), host


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9000"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": HOME, "sec-fetch-site": "cross-site"},
    ],
)
def test_a_post_from_a_foreign_page_is_refused(client: TestClient, headers: dict[str, str]) -> None:
    for path in ("/", "/runs", "/runs/x/stop", "/runs/x/delete"):
        assert client.post(path, data=FORM, headers=headers).status_code == 403
    answer = client.post("/api/score", json={"metrics": ["bleu"], **CATS}, headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (403, "ForeignOrigin")
    for path in ("/runs", "/runs/x", "/runs/x/scores.json"):
        assert client.get(path, headers={"host": "evil.example"}).status_code == 400


@pytest.mark.parametrize(
    "headers",
    [{}, {"origin": HOME}, {"origin": HOME, "sec-fetch-site": "same-origin"}],
)
def test_a_post_from_our_own_page_or_a_program_is_taken(
    client: TestClient, headers: dict[str, str]
) -> None:
    assert client.post("/", data=FORM, headers=headers).status_code == 200


def test_no_other_origin_is_ever_allowed_to_read(client: TestClient) -> None:
    asked = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    answer = client.options("/api/score", headers=asked)
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "path", ["/", "/metrics/bleu", "/api", "/api/metrics", "/nothing", "/static/app.css"]
)
def test_every_answer_tells_the_browser_what_it_may_do(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_a_defect_has_the_same_headers_and_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret-canary")

    monkeypatch.setattr("metrichub.app.catalog.open_metrics", broken)
    with calling(raise_server_exceptions=False) as client:
        answer = client.get("/")
    assert answer.status_code == 500
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "secret-canary" not in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/..%2fserver.py",
        "/static/%2e%2e/%2e%2e/%2e%2e/pyproject.toml",
        "/static//etc/passwd",
        "/metrics/bleu/../../pyproject.toml",
        "/metrics/%2e%2e%2fREADME.md",
        "/api/metrics/..%2f..%2fetc",
        "/metrics/../../etc/passwd",
        "/runs/..%2f..%2fetc/passwd",
    ],
)
def test_no_path_leads_out_of_its_folder(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_a_link_out_of_a_cards_folder_leads_nowhere(site: Path) -> None:
    card = plugins.CARD + "\n[a](../secret.md) [b](link.md) [c](own.md) [d](javascript:alert(1))\n"
    plugins.metric(site, "toy_pack", "shout", card=card)
    plugins.distribution(site, "toy-pack", ["shout = toy_pack.shout:Toy"])
    folder = site / "toy_pack" / "shout"
    (site / "toy_pack" / "secret.md").write_text("secret-canary")
    (folder / "own.md").write_text("my own text")
    (folder / "link.md").symlink_to(site / "toy_pack" / "secret.md")
    with calling() as client:
        page = client.get("/metrics/shout").text
        for name in ("secret.md", "link.md", "own.md"):
            assert name not in page
        assert 'href="javascript' not in page


@pytest.mark.parametrize(
    ("metric", "parameters"),
    [
        ("faithfulness", {"judge": "openai(base_url='http://127.0.0.1:1/v1')"}),
        ("faithfulness", {"judge": "offline"}),
        ("faithfulness", {"prompts": "/etc"}),
        ("semantic_similarity", {"embedder": "openai"}),
        ("meteor", {"synonyms": "/etc"}),
        ("novelty", {"corpus": "/etc/passwd"}),
        ("meteor", {"synonyms": None}),
        ("json_schema_match", {"schema": "/etc/passwd"}),
        ("json_schema_match", {"schema": '{"type": "integer"}'}),
    ],
)
def test_judges_and_files_are_not_the_clients_to_choose(
    client: TestClient, metric: str, parameters: dict[str, Any]
) -> None:
    spec = f"{metric}({', '.join(f'{key}={value!r}' for key, value in parameters.items())})"
    for requested in (spec, {"metric": metric, "parameters": parameters}):
        kind, message = error(client, 422, metrics=[requested], **CATS)
        assert kind == "Forbidden"
        assert next(iter(parameters)) in message


def test_an_address_is_a_text_like_any_other_and_is_not_opened(client: TestClient) -> None:
    with web_stub.serving() as web:
        address = f"{web.address}/a.jsonl"
        web.files["a.jsonl"] = b'{"prediction": "a", "reference": "b"}'
        both = {"predictions": [address], "references": [address]}
        answer = client.post("/api/score", json={"metrics": ["wer"], **both})
        assert answer.json()["scores"]["wer"]["score"] == 0
        run_of(client, [], metric="wer", text=address)
        for body in ({"predictions": address}, {"data": address}, {"columns": address}):
            error(client, 422, metrics=["wer"], **{**both, **body})
        row = json.dumps({"prediction": address, "reference": address})
        for name in (address, "s3://bucket/a.jsonl", "memory://a.jsonl", "hf://a/b.jsonl"):
            files = [("file", (name, row))]
            fields = {"metric": "wer", "columns.predictions": address, "system": address}
            client.post("/", data=fields, files=files)
            run_of(client, files, metric="wer")
        # Whatever came, and in whichever process it was scored.
        assert web.asked == []


def test_a_schema_may_be_given_as_an_object(client: TestClient) -> None:
    requested = {"metric": "json_schema_match", "parameters": {"schema": {"type": "integer"}}}
    answer = client.post("/api/score", json={"metrics": [requested], "predictions": ["1", "{}"]})
    assert answer.json()["scores"]["json_schema_match"]["score"] == 0.5


@pytest.mark.parametrize("path", ["/etc/passwd", "no such file", "", "~", "auto", 3, None])
def test_a_local_path_is_refused_in_the_same_words_whatever_it_is(
    client: TestClient, path: object
) -> None:
    for metric, parameter in (("meteor", "synonyms"), ("faithfulness", "prompts")):
        requested = {"metric": metric, "parameters": {parameter: path}}
        assert error(client, 422, metrics=[requested], **CATS) == (
            "Forbidden",
            f"{metric}: {parameter} can't be set from here: it names a file or folder of the "
            "server's machine",
        )


@pytest.mark.parametrize(
    ("metric", "parameter"), [("regex_match", "pattern"), ("exact_match", "regexes_to_ignore")]
)
def test_nobody_can_ask_which_files_there_are(
    client: TestClient, tmp_path: Path, metric: str, parameter: str
) -> None:
    existing, absent = tmp_path / "there", tmp_path / "other"
    existing.write_text("a")

    def answer(path: Path) -> tuple[int, str]:
        value = str(path) if parameter == "pattern" else [str(path)]
        requested = {"metric": metric, "parameters": {parameter: value}}
        result = client.post("/api/score", json={"metrics": [requested], **CATS})
        return result.status_code, result.text.replace(str(path), "PATH")

    assert answer(existing) == answer(absent)
    assert answer(existing)[0] == 200


def test_a_run_names_no_path_and_no_judge(client: TestClient) -> None:
    for spec in ("novelty(corpus='/etc/passwd')", "faithfulness(judge='openai')"):
        _, page = run_of(client, [], specs=spec, text='{"prediction": "a", "contexts": ["a"]}')
        assert "can't be set from here" in words(page)


def saved(**changed: Any) -> bytes:
    """A saved report, what it says of its metric changed."""
    hub = Hub(load_metric("faithfulness", judge="offline"))
    document = json.loads(file_text(hub.evaluate(predictions=["It rained."], contexts=[["Rain."]])))
    document["results"]["faithfulness"] |= changed
    return json.dumps(document).encode()


def opened(client: TestClient, report: bytes) -> str:
    _, page = run_of(client, [("file", ("report.json", report))])
    return words(page)


def test_a_saved_report_is_opened_and_asks_nobody(client: TestClient) -> None:
    with web_stub.serving() as web:
        judge = f"openai(model='m', base_url='{web.address}', api_key='x')"
        for parameters in ({}, {"judge": judge}, {"judge": "no such judge"}):
            assert "Download" in opened(client, saved(parameters=parameters))
        assert web.asked == []


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"parameters": {"prompts": "/etc"}}, "prompts can't be set from here"),
        ({"metric": "faithfulness(prompts='/etc')"}, "prompts can't be set from here"),
        ({"metric": "novelty", "parameters": {"corpus": "/etc/passwd"}}, "corpus can't be set"),
        ({"metric": "meteor(synonyms='/etc')", "parameters": {}}, "synonyms can't be set"),
        ({"metric": "no_such_metric"}, "no metric 'no_such_metric'"),
        ({"metric": None}, "damaged"),
        ({"metric": 3}, "damaged"),
        ({"metric": "a" * 5000}, "at most 4000 characters"),
        ({"parameters": None}, "damaged"),
        ({"parameters": [["judge", "x"]]}, "damaged"),
        ({"count": "x"}, "damaged"),
    ],
)
def test_a_saved_report_chooses_no_path_and_ends_in_words(
    client: TestClient, changed: dict[str, Any], says: str
) -> None:
    message = opened(client, saved(**changed))
    assert says in message
    assert "Defect" not in message
    assert "Download" not in message


@pytest.mark.parametrize(
    "text",
    [
        '{"format": "metrichub-report-1"}',
        '{"format": "metrichub-report-1", "results": []}',
        '{"format": "metrichub-report-1", "results": {"a": 1}}',
        '{"format": "metrichub-report-2", "results": {}}',
        '{"format": "metrichub-report-1", "results": ' + "[" * 50_000,
    ],
)
def test_what_only_looks_like_a_saved_report_is_refused(client: TestClient, text: str) -> None:
    message = opened(client, text.encode())
    assert "is damaged; save the report again" in message or "by a newer version" in message
    assert "/tmp" not in message


@pytest.mark.parametrize(
    ("name", "judging", "text"),
    [
        ("faithfulness", Judging(), "asks a judge, and this server was started without one"),
        ("answer_relevancy", Judging("offline"), "asks an embedder, and this server was started"),
        ("fluency", Judging("chance"), "needs a model as judge, and this server has none"),
        ("fluency", BASELINES, "needs a model as judge, and this server has none"),
    ],
)
def test_a_metric_is_closed_where_nobody_can_be_asked(
    name: str, judging: Judging, text: str
) -> None:
    with calling(ServerSettings(judging)) as client:
        kind, message = error(client, 422, metrics=[name], predictions=["a"])
        assert kind == "NoModel"
        assert f"{name} {text}" in message
        assert "metrichub serve --" in message
        assert text in client.get(f"/metrics/{name}").text
        assert client.get(f"/api/metrics/{name}").json()["unavailable"] == message


def test_a_server_without_a_judge_scores_what_asks_nobody() -> None:
    body = {"metrics": ["exact_match"], "predictions": ["a"], "references": ["a"]}
    with calling(ServerSettings()) as client:
        assert client.post("/api/score", json=body).json()["scores"]["exact_match"]["score"] == 1


def test_the_servers_judge_judges_and_its_key_is_never_told(stub: judge_stub.Stub) -> None:
    judging = Judging(judge=f"openai(model='m', base_url='{stub.url}')")
    # On a busy machine it can take more than the usual 30 seconds to start a worker and its client.
    with calling(ServerSettings(judging, limits=ServerLimits(seconds=120))) as client:
        pages = [
            client.get(page).text for page in ("/metrics/fluency", "/api/metrics/fluency", "/")
        ]
        address, page = run_of(client, [], metric="fluency", text='{"prediction": "It rained."}')
        assert stub.asked[0].key == judge_stub.KEY
        files = ("scores.json", "samples.jsonl", "samples.csv", "report.html")
        pages += [page, *(client.get(f"{address}/{file}").text for file in files)]
        pages.append(gzip.decompress(client.get(f"{address}/report.json.gz").content).decode())
        stub.always = judge_stub.failure(401, "the key {key} is wrong")
        body = {"metrics": ["fluency"], "predictions": ["Another one."]}
        failed = client.post("/api/score", json=body)
        assert (failed.status_code, failed.json()["error"]) == (502, "JudgeUnavailable")
        pages += [failed.text, client.get("/runs").text]
    # "middling" of 1, 2, 3 is 2, which stands for 0.5.
    assert "scores 0.500 on fluency" in words(page)
    assert not [text for text in pages if judge_stub.KEY in text]


@pytest.mark.parametrize("path", ["/runs", "/", "/api/score"])
def test_a_body_over_the_limit_is_refused_whether_it_says_its_length_or_not(path: str) -> None:
    def chunks() -> Iterator[bytes]:
        yield from [b"a" * 1000] * 70

    headers = {"Content-Type": "application/json"}
    if path != "/api/score":
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
    with calling(ServerSettings(limits=ServerLimits(body=1000, upload=1000))) as client:
        message = client.post(path, content=b"a" * 70_000, headers=headers)
        unsaid = client.post(path, content=chunks(), headers=headers)
    assert (message.status_code, unsaid.status_code) == (413, 413)


def test_a_form_with_too_many_fields_is_refused(client: TestClient) -> None:
    fields = {f"column.{i}": "a" for i in range(4000)}
    for path in ("/", "/runs"):
        assert client.post(path, data=fields).status_code == 400


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "\"'><img src=x onerror=alert(1)>",
        "</textarea><script>alert(1)</script>",
        "{{7*7}}",
        "javascript:alert(1)",
        "../../etc/\u202epasswd",
    ],
)
def test_text_under_evaluation_and_names_of_files_are_only_ever_text(
    client: TestClient, text: str
) -> None:
    # Refused, as no such file can be read, and shown again.
    sent = {"text": f"a,{text}", "set": text}
    pages = [client.post("/", data=sent, files={"file": ("a.txt", "a")}).text]
    assert str(escape(text)) in pages[0]
    assert text in Form(pages[0]).fields["text"]
    row = json.dumps({"prediction": text, "reference": "a", "id": text, text: text})
    specs = f"exact_match\nx = {text}"
    files = [("file", (f"{text}{k}.jsonl", row)) for k in range(2)]
    # Of what was pasted, of a file, of two files that are compared, and the list of all.
    pages += [
        run_of(client, [], specs=specs, text=row)[1],
        *(run_of(client, files[:number], metric="exact_match")[1] for number in (1, 2)),
        client.get("/runs").text,
    ]
    # A name is what stands behind its last slash; the client escapes what would end it.
    name = text.rpartition("/")[2].replace('"', "%22").strip("\u202e")[:10]
    for page in pages[2:]:
        assert name in words(page)
    for page in pages[2:4]:
        assert "\u202e" not in page
        assert "../" not in page
    for page in pages:
        for active in ("<script>alert", "<img", ">49<", 'href="javascript'):
            assert active not in page


def test_an_unusual_spec_ends_no_worker(client: TestClient) -> None:
    for spec in ("bleu(max_order=" + "(" * 300, "bleu(weights=" + "[" * 1500, "b" * 5000):
        answer = client.post(
            "/api/score",
            content=json.dumps({"metrics": [spec], **CATS}),
            headers={"Content-Type": "application/json"},
        )
        assert answer.status_code == 422, answer.text
