"""The pages of metrics: the list, cards, what isn't there, and broken cards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

from starlette.testclient import TestClient

from metrichub import list_metrics
from tests import plugins
from tests.app_client import Form, calling, run_of, scored_again, words


def test_every_installed_metric_is_listed_with_its_summary(client: TestClient) -> None:
    message = words(client.get("/metrics").text)
    for entry in list_metrics():
        assert " ".join(entry.card.summary.split()) in message


@pytest.mark.parametrize("name", ["abstractness", "faithfulness", "regex_match"])
def test_a_cards_page_has_its_facts_sections_parameters_and_citation(
    client: TestClient, name: str
) -> None:
    card = next(entry.card for entry in list_metrics() if entry.name == name)
    page = client.get(f"/metrics/{name}").text
    message = words(page)
    assert card.summary in message
    for section in card.sections:
        assert section in message
    assert card.bibtex.splitlines()[0] in unescape(page)
    assert "<math" in page
    assert "<th>meaning</th>" in page


def test_links_between_cards_lead_to_pages(client: TestClient) -> None:
    page = client.get("/metrics/regex_match").text
    assert 'href="/metrics/json_schema_match"' in page
    assert "README.md" not in re.sub(r"<pre>.*?</pre>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize("path", ["/metrics/blue", "/nothing", "/runs/x", "/static/x.css"])
def test_what_is_not_there_is_a_page_that_says_so(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "Not found" in answer.text


def test_a_name_may_be_qualified_and_a_slip_is_told_with_near_names(client: TestClient) -> None:
    assert "<h1>BLEU" in client.get("/metrics/metrichub/bleu").text
    assert "did you mean 'bleu'" in words(client.get("/metrics/bluu").text)


def test_static_files_are_asked_for_again_by_their_tag_and_pages_are_not_kept(
    client: TestClient,
) -> None:
    answer = client.get("/static/app.css")
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["content-type"].startswith("text/css")
    again = client.get("/static/app.css", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304
    assert client.get("/metrics/bleu").headers["cache-control"] == "no-store"


def test_an_example_of_a_card_can_be_scored(client: TestClient) -> None:
    for name in ("bleu", "faithfulness", "tool_call_f1", "json_fields", "trajectory_match"):
        form = Form(client.get(f"/?metric={name}&example=1").text).fields
        page = client.post("/", data=form).text
        fields = Form(page).fields
        assert [name] in (fields.get("metric"), fields.get("more")), name
        page = scored_again(client, f"/runs/{fields['run']}", **fields)
        assert "<iframe" in page, (name, words(page))


@pytest.fixture
def broken(site: Path) -> Iterator[TestClient]:
    plugins.metric(site, "toy_pack", "shout")
    plugins.metric(site, "toy_pack", "mute", card="---\nname: mute\n---\n# {name}\n")
    plugins.metric(site, "toy_pack", "deaf", code="import nothing_of_the_kind\n")
    plugins.metric(site, "toy_pack", "cross", card=plugins.CARD + "\n<script>alert(1)</script>\n")
    entries = [f"{name} = toy_pack.{name}:Toy" for name in ("shout", "mute", "deaf", "cross")]
    plugins.distribution(site, "toy-pack", entries)
    with calling() as result:
        yield result


def test_a_broken_card_is_a_line_in_the_list_and_a_page(broken: TestClient) -> None:
    assert "The card can't be read" in broken.get("/metrics").text
    assert broken.get("/").status_code == 200
    answer = broken.get("/metrics/mute")
    assert answer.status_code == 501
    assert "title is missing" in words(answer.text)
    assert broken.get("/api/metrics/mute").json()["error"] == "CardError"


def test_a_metric_that_cannot_be_imported_keeps_its_card(broken: TestClient) -> None:
    answer = broken.get("/metrics/deaf")
    assert answer.status_code == 200
    assert "A metric for a test." in answer.text
    failed = broken.post("/api/score", json={"metrics": ["deaf"], "predictions": ["a"]})
    assert (failed.status_code, failed.json()["error"]) == (501, "BrokenMetric")
    assert "nothing_of_the_kind" in failed.json()["message"]


@pytest.mark.parametrize("code", ["import toy_parser\n", plugins.CODE])
def test_a_metric_that_lacks_packages_says_what_to_install(site: Path, code: str) -> None:
    needy = plugins.CARD.replace("license", "requires: [toy-parser>=2]\nlicense")
    plugins.metric(site, "toy_pack", "shout", card=needy, code=code)
    plugins.distribution(site, "toy-pack", ["shout = toy_pack.shout:Toy"])
    command = "pip install 'toy-parser>=2'"
    with calling() as client:
        answer = client.get("/metrics/shout")
        assert (answer.status_code, words(answer.text).count(command)) == (200, 2)
        (listed,) = client.get("/api/metrics?search=shout").json()["metrics"]
        assert (listed["requires"], listed["install"]) == (["toy-parser>=2"], command)
        assert listed["unavailable"].endswith(command)
        refused = client.post("/api/score", json={"metrics": ["shout"], "predictions": ["a"]})
        assert (refused.status_code, refused.json()["error"]) == (501, "MissingDependency")


def test_a_metric_without_its_model_is_listed_with_how_to_get_it(site: Path) -> None:
    code = f"""{plugins.CODE}
    def resolved(self) -> dict[str, object]:
        from metrichub.errors import MissingModel
        raise MissingModel("whisper", "toys/large", "metrichub fetch toys/large")
"""
    needy = plugins.CARD.replace("license", "requires: [numpy]\nlicense")
    plugins.metric(site, "toy_pack", "whisper", card=needy, code=code)
    plugins.distribution(site, "toy-pack", ["whisper = toy_pack.whisper:Toy"])
    says = "toys/large, which isn't on this machine: metrichub fetch toys/large"
    with calling() as client:
        card = client.get("/metrics/whisper").text
        assert says in words(card)
        refused = client.post("/api/score", json={"metrics": ["whisper"], "predictions": ["a"]})
        assert says in refused.json()["message"]


def test_a_plugins_metric_can_be_used(broken: TestClient) -> None:
    assert "toy-pack 1.0" in broken.get("/metrics/shout").text
    answer = broken.post("/api/score", json={"metrics": ["shout"], "predictions": ["a"]})
    assert answer.json()["scores"] == {"shout": {"score": 1.0}}


def test_a_name_that_two_plugins_use_is_shown_qualified(site: Path) -> None:
    for pack in ("toy_one", "toy_two"):
        plugins.metric(site, pack, "shout")
        plugins.distribution(site, pack.replace("_", "-"), [f"shout = {pack}.shout:Toy"])
    with calling() as client:
        assert 'href="/metrics/toy-two/shout"' in client.get("/metrics").text
        assert "toy-two 1.0" in client.get("/metrics/toy-two/shout").text
        _, page = run_of(client, [], metric="toy-two/shout", text='{"prediction": "a"}')
        assert "|toy-two:1.0|" in page
