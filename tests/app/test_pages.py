"""The pages: gallery, cards, prompts, what isn't there, and broken cards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

from starlette.testclient import TestClient

from metrichub import list_metrics
from metrichub.app.views import asset, number, ticked
from tests import plugins
from tests.app_client import calling, words


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with calling() as found:
        yield found


def shown(page: str) -> set[str]:
    """The metrics that the gallery doesn't hide."""
    items = re.findall(r"<li( hidden)? data-name=.*?<h3><a href=[^>]*>([^<]*)</a>", page, re.DOTALL)
    return {name for hidden, name in items if not hidden}


def test_the_gallery_shows_every_installed_metric(client: TestClient) -> None:
    assert shown(client.get("/").text) >= {entry.name for entry in list_metrics()}


def test_filters_of_the_gallery_combine(client: TestClient) -> None:
    found = shown(client.get("/?family=overlap&task=summarization&input=sources").text)
    assert {"coverage", "density", "compression"} <= found
    assert not found & {"bleu", "abstractness", "faithfulness"}


@pytest.mark.parametrize(
    ("query", "there", "not_there"),
    [
        ("search=COPIED+fragments", "density", "bleu"),
        ("judge=model", "fluency", "faithfulness"),
        ("judge=none", "bleu", "fluency"),
        ("direction=lower", "wer", "bleu"),
        ("dimension=novelty", "abstractness", "bleu"),
    ],
)
def test_the_gallery_is_filtered_without_a_script(
    client: TestClient, query: str, there: str, not_there: str
) -> None:
    found = shown(client.get(f"/?{query}").text)
    assert there in found
    assert not_there not in found


def test_a_filter_that_was_chosen_stays_chosen(client: TestClient) -> None:
    page = client.get("/?search=<b>&judge=model").text
    assert 'value="&lt;b&gt;"' in page
    assert "<option selected>model</option>" in page


@pytest.mark.parametrize("name", ["abstractness", "faithfulness", "regex_match"])
def test_a_cards_page_has_its_facts_sections_parameters_and_citation(
    client: TestClient, name: str
) -> None:
    card = next(entry.card for entry in list_metrics() if entry.name == name)
    page = client.get(f"/metrics/{name}").text
    said = words(page)
    assert card.summary in said
    for section in card.sections:
        assert section in said
    assert card.bibtex.splitlines()[0] in unescape(page)
    assert "<math" in page
    assert "<th>meaning</th>" in page


def test_a_qualified_name_is_the_same_page(client: TestClient) -> None:
    assert "<h1>BLEU" in client.get("/metrics/metrichub/bleu").text


def test_links_between_cards_lead_to_pages(client: TestClient) -> None:
    page = client.get("/metrics/regex_match").text
    assert 'href="/metrics/json_schema_match"' in page
    assert "README.md" not in re.sub(r"<pre>.*?</pre>", "", page, flags=re.DOTALL)


def test_the_prompts_of_a_card_can_be_read(client: TestClient) -> None:
    page = client.get("/metrics/faithfulness").text
    address = re.search(r'href="(/prompts\?path=[^"]*claims\.md)"', page)
    assert address
    assert "claims.md" in client.get(unescape(address[1])).text


@pytest.mark.parametrize(
    "path", ["/metrics/blue", "/nothing", "/text/blue?path=a.md", "/runs/x", "/static/x.css"]
)
def test_what_is_not_there_is_a_page_that_says_so(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "Not found" in answer.text


def test_a_slip_in_a_name_is_told_with_near_names(client: TestClient) -> None:
    assert "did you mean 'bleu'" in words(client.get("/metrics/bluu").text)


def test_assets_are_kept_and_their_addresses_change_with_their_content(client: TestClient) -> None:
    answer = client.get(asset("app.css"))
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/css")
    assert re.fullmatch(r"/static/app\.css\?v=[0-9a-f]{12}", asset("app.css"))


def test_pages_are_not_kept(client: TestClient) -> None:
    assert client.get("/metrics/bleu").headers["cache-control"] == "no-store"


def test_the_page_of_the_api_shows_a_command_to_try(client: TestClient) -> None:
    said = words(client.get("/api").text)
    assert "curl http://127.0.0.1:8000/api/score" in said
    assert "POST /api/score" in said


@pytest.fixture
def broken(site: Path) -> Iterator[TestClient]:
    plugins.metric(site, "toy_pack", "shout")
    plugins.metric(site, "toy_pack", "mute", card="---\nname: mute\n---\n# {name}\n")
    plugins.metric(site, "toy_pack", "deaf", code="import nothing_of_the_kind\n")
    plugins.metric(site, "toy_pack", "cross", card=plugins.CARD + "\n<script>alert(1)</script>\n")
    entries = [f"{name} = toy_pack.{name}:Toy" for name in ("shout", "mute", "deaf", "cross")]
    plugins.distribution(site, "toy-pack", entries)
    with calling() as found:
        yield found


def test_a_broken_card_is_a_line_in_the_gallery_and_a_page(broken: TestClient) -> None:
    assert "The card can't be read" in broken.get("/").text
    answer = broken.get("/metrics/mute")
    assert answer.status_code == 501
    assert "title is missing" in words(answer.text)
    assert broken.get("/api/metrics/mute").json()["error"] == "CardError"


def test_a_metric_that_cannot_be_imported_keeps_its_card(broken: TestClient) -> None:
    answer = broken.get("/metrics/deaf")
    assert answer.status_code == 200
    assert "nothing_of_the_kind" in answer.text
    assert "A metric for a test." in answer.text
    failed = broken.post("/metrics/deaf", data={"s.0.predictions.0": "a"})
    assert failed.status_code == 501
    assert broken.get("/api/metrics/deaf").json()["error"] == "BrokenMetric"


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


def test_a_plugins_metric_can_be_tried(broken: TestClient) -> None:
    answer = broken.post("/metrics/shout", data={"s.0.predictions.0": "a"})
    assert "1.0000" in answer.text
    assert "toy-pack 1.0" in answer.text


def test_a_script_in_a_card_is_text(broken: TestClient) -> None:
    page = broken.get("/metrics/cross").text
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


def test_a_name_that_two_plugins_use_is_shown_qualified(site: Path) -> None:
    for pack in ("toy_one", "toy_two"):
        plugins.metric(site, pack, "shout")
        plugins.distribution(site, pack.replace("_", "-"), [f"shout = {pack}.shout:Toy"])
    with calling() as client:
        assert {"toy-one/shout", "toy-two/shout"} <= shown(client.get("/").text)
        page = client.get("/metrics/toy-two/shout").text
        assert "toy-two 1.0" in page
        assert 'action="/metrics/toy-two/shout#_result"' in page
        answer = client.post("/metrics/toy-two/shout", data={"s.0.predictions.0": "a"})
        assert "|toy-two:1.0|" in answer.text


def test_numbers_have_four_decimals_and_all_digits_behind() -> None:
    assert str(number(1 / 3)) == '<data value="0.3333333333333333">0.3333</data>'
    assert (str(number(None)), str(number("<b>"))) == ("–", "&lt;b&gt;")


def test_only_text_between_backticks_is_code() -> None:
    assert str(ticked("a `<b>` <c>")) == "a <code>&lt;b&gt;</code> &lt;c&gt;"
