"""Page: what stands in a report file, what it leaves out, and when there is none."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrichub import Hub
from metrichub.errors import ReportError
from metrichub.report.html import write
from metrichub.report.html.provenance import Provenance
from metrichub.report.html.records import CHUNK, SCREEN, SHARE
from tests.entered import loaded

FEW: dict[str, Any] = {"resamples": 20, "trials": 20}
COLUMNS: dict[str, Any] = {"predictions": ["a b", "c d", "e"], "references": ["a b", "c", "e f"]}


class Page(HTMLParser):
    """A page taken apart: its text, its scripts by id, its attributes of some name."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.scripts: dict[str | None, str] = {}
        self.words: list[str] = []
        self.source = path.read_text("utf-8")
        self.feed(self.source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.inside = (tag, dict(attrs).get("id"))

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] == ["script"]:
            self.scripts[self.inside[1]] = self.scripts.get(self.inside[1], "") + data
        else:
            self.words.append(data)

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def lines(self, name: str) -> list[Any]:
        lines = zlib.decompress(base64.b64decode(self.scripts[name])).decode().split("\n")
        return [json.loads(line) for line in lines if line]

    @property
    def data(self) -> Any:
        data, *scores = self.lines("data")
        for output, values in zip(data["outputs"], scores, strict=True):
            output["values"] = values
        return data

    @property
    def samples(self) -> list[Any]:
        return [sample for chunk in self.lines("texts") for sample in chunk]

    def values(self, name: str) -> list[str]:
        return [value or "" for _, attribute, value in self.attributes if attribute == name]


def page_of(folder: Path, *metrics: Any, **options: Any) -> Page:
    """The page of one report of COLUMNS."""
    report = Hub(list(metrics)).evaluate(**COLUMNS)
    report.to_html(folder / "report.html", **{**FEW, **options})
    return Page(folder / "report.html")


def test_a_page_tells_scores_intervals_signatures_and_citations(tmp_path: Path) -> None:
    page = page_of(tmp_path, "exact_match", "b = bleu(max_order=2)")
    # One of three matches.
    assert page.text.startswith("exact_match 0.333 and b 0.632")
    assert "exact_match ↑ 0.333 –" in page.text or "exact_match ↑ 0.333 [" in page.text
    assert "In brackets: 95% intervals (20 bootstrap resamples;" in page.text
    assert "b = bleu(" in page.text
    assert "max_order=2" in page.text
    assert "@inproceedings{papineni" in page.text
    assert "samples 3 date" in page.text


def test_a_page_says_which_samples_have_a_convention_of_their_own(tmp_path: Path) -> None:
    message = "The samples' scores of {} are those of single samples (sentence-level)"
    for metrics, name in (("bleu", "bleu"), (["rouge", "gleu"], None)):
        path = tmp_path / "report.html"
        write(path, {"A": Hub(metrics).evaluate(**COLUMNS)}, **FEW)
        text = Page(path).text
        assert (message.format(name) in text) == (name is not None)
        assert ("sentence-level" in text) == (name is not None)


def test_a_page_says_what_it_is_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    report = Hub("faithfulness(judge='offline')").evaluate(
        predictions=["a cat"], contexts=[["a cat sat"]]
    )
    files = [("run.jsonl", "ab" * 32), ("folder", "")]
    provenance = Provenance("metrichub score run.jsonl -m 'x<y'", files)
    write(tmp_path / "a.html", {"A": report}, **FEW, title="<Mine>", provenance=provenance)
    page = Page(tmp_path / "a.html")
    # The answer stands below a title of one's own.
    assert page.text.startswith("<Mine> ")
    assert "<Mine> A scores 1.000 on faithfulness samples 1 date 1970-01-02" in page.text
    assert "date 1970-01-02 system A versions metrichub" in page.text
    assert "Method file run.jsonl (SHA-256 abababababab) file folder command metrichub" in page.text
    assert "ab" * 32 in page.values("title")
    assert "judge offline(version=" in page.text
    assert "command metrichub score run.jsonl -m 'x<y'" in page.text
    # What a metric measures is a click away.
    assert report.results["faithfulness"].metric.card.summary in page.text
    assert "Card: metrichub card faithfulness" in page.text


def test_a_column_that_was_asked_for_is_on_the_page(tmp_path: Path) -> None:
    rows = [{"prediction": "a", "reference": "a", "site": f"s{k}"} for k in range(60)]
    Hub("wer").evaluate(rows).to_html(tmp_path / "a.html", **FEW, by="site")
    page = Page(tmp_path / "a.html")
    assert "The 50 largest of 60 values of site." in page.text
    (grouping,) = (entry for entry in page.data["groupings"] if entry["key"] == "site")
    assert grouping["values"][-1] == "others"
    assert len(grouping["of"]) == 60
    selected = [json.loads(text) for text in page.values("data-select")]
    assert {"group": "site", "value": "others"} in selected


def test_the_level_and_the_seed_of_the_intervals_are_told(tmp_path: Path) -> None:
    # Six samples: fewer than five have no interval.
    report = Hub("wer").evaluate(**{name: [*texts, *texts] for name, texts in COLUMNS.items()})
    write(tmp_path / "report.html", {"A": report}, confidence=0.9, resamples=30, seed=7)
    page = Page(tmp_path / "report.html")
    assert "In brackets: 90% intervals (30 bootstrap resamples;" in page.text
    assert "the seed 7" in page.text
    low, high = report.intervals(confidence=0.9, resamples=30, seed=7)["wer"]["score"].ends
    assert f"[{low:.3f}, {high:.3f}]" in page.text


def test_the_data_hold_every_output_and_text_of_every_sample(tmp_path: Path) -> None:
    page = page_of(tmp_path, "wer(alignment=False)", "token_f1", ids=["x", 7, "z"])
    outputs = page.data["outputs"]
    assert [(o["metric"], o["output"]) for o in outputs] == [
        *(("wer", "score"), *(("token_f1", name) for name in ("score", "precision", "recall")))
    ]
    assert [o["better"] for o in outputs[:2]] == ["lower", "higher"]
    # SQuAD drops nothing here: "c d" against "c" has precision 1/2, recall 1, F1 2/3.
    assert [o["values"] for o in outputs[:2]] == [[[0, 1, 0.5]], [[1, 0.666667, 0.666667]]]
    assert page.data["ids"] == ["x", 7, "z"]
    assert page.data["texts"]
    assert page.samples[1]["said"] == ["c d"]
    assert page.samples[1]["shared"] == {"references": "c"}
    # What metrics saw stands with the samples.
    page = page_of(tmp_path, "wer")
    ((step,),) = (page.samples[1]["steps"][0]["wer"],)
    assert [run["kind"] for run in step["alignment"]] == ["equal", "insert"]
    # A page needs no texts.
    Hub("wer").evaluate(**COLUMNS, texts=False).to_html(tmp_path / "a.html", **FEW)
    page = Page(tmp_path / "a.html")
    assert page.data["texts"] is False
    assert page.samples[0]["said"] == [None]


def test_only_the_ends_and_the_first_samples_are_explained(tmp_path: Path) -> None:
    size = 2 * CHUNK + 1
    # Sample i has i of 600 characters wrong: the first are the lowest, the last the highest.
    texts = ["x" * i + "a" * (600 - i) for i in range(size)]
    report = Hub("edit_similarity").evaluate(predictions=texts, references=["a" * 600] * size)
    report.to_html(tmp_path / "report.html", **FEW, explained=3)
    samples = Page(tmp_path / "report.html").samples
    assert len(samples) == size
    explained = [i for i, sample in enumerate(samples) if sample["steps"][0]]
    assert explained == [0, 1, 2, size - 3, size - 2, size - 1]
    assert all(sample["said"] == [text] for sample, text in zip(samples, texts, strict=True))


def explained_of(page: Page) -> list[int]:
    """The samples with what a metric saw in the last system's text."""
    return [i for i, sample in enumerate(page.samples) if sample["steps"][-1]]


def test_samples_start_by_the_first_column_of_the_scores(tmp_path: Path) -> None:
    # ROUGE-1 finds the fewest words in sample 2; ROUGE-L, which is the score, in sample 3.
    texts = ["a b c d e f", "a b c d x x", "a b c x x x", "f e d c b x"]
    report = Hub(["rouge", "wer"]).evaluate(predictions=texts, references=texts[:1] * 4)
    report.to_html(tmp_path / "report.html", **FEW, explained=1)
    page = Page(tmp_path / "report.html")
    assert page.data["outputs"][page.data["start"]]["output"] == "rouge1"
    explained = [i for i, sample in enumerate(page.samples) if "rouge" in sample["steps"][0]]
    assert explained == [0, 2, 3]


def test_words_of_references_are_marked_where_the_score_reads_them(tmp_path: Path) -> None:
    texts = {"predictions": ["a b"], "references": ["a c"], "contexts": [["a b"]]}
    for metrics in (["wer", "faithfulness"], ["faithfulness", "wer"]):
        hub = Hub(metrics, judge="offline")
        write(tmp_path / "report.html", {"one": hub.evaluate(texts)}, resamples=2)
        data = Page(tmp_path / "report.html").data
        assert data["by_references"] == (metrics[0] == "wer")


def test_claims_are_counted_by_verdict_for_each_system(tmp_path: Path) -> None:
    hub = Hub(["faithfulness", "context_recall"], judge="offline")
    columns = {"references": ["a cat sat", "a"], "contexts": [["The cat sat."], ["It has 2 dogs."]]}
    systems = {
        "first": hub.evaluate(predictions=["The cat sat. Birds fly.", "It has 3 dogs."], **columns),
        "second": hub.evaluate(predictions=["The cat sat.", "Dogs."], **columns),
    }
    write(tmp_path / "report.html", systems, **FEW)
    page = Page(tmp_path / "report.html")
    # One is there, of one no word is, and one has another number; then both are there.
    assert "Claims by verdict by faithfulness first 3 1 · 1 · 1 second 2 2 · 0 · 0" in page.text
    # The claims that context_recall judges are those of the reference.
    assert page.data["judged"] == {"faithfulness": ["claims", "contexts"]}
    write(tmp_path / "one.html", {"": systems["second"]}, resamples=2)
    assert "claims 2 2 · 0 · 0" in Page(tmp_path / "one.html").text


def test_few_tasks_of_agents_are_told_one_by_one(tmp_path: Path) -> None:
    def chat(*names: str) -> list[dict[str, Any]]:
        calls = [{"name": name, "arguments": {}} for name in names]
        return [{"role": "assistant", "content": None, "tool_calls": calls}]

    hub, expected = Hub("trajectory_match"), [chat("a"), chat("b"), chat("c")]
    runs = {"first": [chat("a"), chat("x"), chat("c")], "second": [chat("x"), chat("x"), chat("c")]}
    systems = {n: hub.evaluate(messages=m, reference_messages=expected) for n, m in runs.items()}
    write(tmp_path / "report.html", systems, ids=["one", "two", "three"], **FEW)
    page = Page(tmp_path / "report.html")
    # Those come first that most do right.
    assert "first ✓ ✓ ✗ 2 of 3 second ✓ ✗ ✗ 1 of 3" in page.text
    texts = [text for text in page.values("aria-label") if text.endswith(("right", "wrong"))]
    assert texts[:3] == ["three: right", "one: right", "two: wrong"]
    assert json.loads(page.values("data-select")[0]) == {"output": 0, "open": 2}
    # Of other scores the differences are drawn.
    write(tmp_path / "none.html", {"first": systems["first"], "again": systems["first"]}, **FEW)
    for name, drawn in (("report", False), ("none", False)):
        page = Page(tmp_path / f"{name}.html")
        assert ("Sample by sample" in page.text) is drawn


def test_equal_samples_are_explained_in_the_order_of_the_list(tmp_path: Path) -> None:
    # The page lists equal ones by their numbers, from either end.
    wer = Hub("wer").evaluate(predictions=["a"] * 60, references=["b"] * 60)
    wer.to_html(tmp_path / "report.html", **FEW, explained=7)
    assert explained_of(Page(tmp_path / "report.html")) == list(range(7))


@pytest.mark.parametrize("names", ["abcd", "abcdefgh"])
def test_of_many_systems_each_order_keeps_its_first_screen(tmp_path: Path, names: str) -> None:
    size, hub = 2000, Hub("wer")
    order = np.random.default_rng(0)
    systems = {
        name: hub.evaluate(
            # n of 9 words are wrong.
            predictions=[" ".join(["x"] * n + ["w"] * (9 - n)) for n in order.integers(0, 9, size)],
            references=[" ".join(["w"] * 9)] * size,
        )
        for name in names
    }
    write(tmp_path / "report.html", systems, explained=200, **FEW)
    page = Page(tmp_path / "report.html")
    (each,) = (page.data["explained"]["wer"],)
    explained, most = set(explained_of(page)), SHARE * 200 // len(names)
    # S systems have 2 S - 1 orders, of two ends each. Of four, 25 at each end and the first 25 are
    # 375 samples at most, and 500 are wanted; of eight, the first 25 of 31 lists are too many.
    if len(names) == 4:
        assert SCREEN < each < 200
        assert most <= len(explained) < most + 15
    else:
        assert each == SCREEN
        assert len(explained) > most
    values = [np.array(output) for output in page.data["outputs"][0]["values"]]
    orders = [*values, *(other - values[0] for other in values[1:])]
    for entry in orders:
        for sign in (1, -1):
            listed = sorted(range(size), key=lambda i: (sign * entry[i], i))
            assert explained >= set(listed[:each])
    assert explained >= set(range(each))


def test_the_making_of_a_page_is_told(tmp_path: Path) -> None:
    steps: list[tuple[Any, ...]] = []
    size = 4 * SCREEN
    report = Hub("wer").evaluate(predictions=["a"] * size, references=["b"] * size)
    path = tmp_path / "a.html"
    report.to_html(path, **FEW, explained=SCREEN + 1, progress=lambda *step: steps.append(step))
    assert steps == [
        ("testing", 0, None),
        # The scores are equal, so that either end and the first are the same samples.
        ("explaining", 0, SCREEN + 1),
        ("explaining", SCREEN, SCREEN + 1),
        ("reading", 2 * SCREEN, size),
        ("reading", 3 * SCREEN, size),
        ("drawing", 0, None),
        ("writing", 0, None),
    ]


def test_a_page_keeps_within_its_size_and_says_so(tmp_path: Path) -> None:
    samples = page_of(tmp_path, "exact_match").samples
    sizes = [len(json.dumps(sample, separators=(",", ":"))) for sample in samples]
    page = page_of(tmp_path, "exact_match", size=sum(sizes) - 1)
    # The lowest come first, then the highest; the last in turn is the other miss, sample 2.
    assert page.samples == [samples[0], samples[1], None]
    assert page.data["kept"] == 2
    assert page_of(tmp_path, "exact_match", size=sum(sizes)).samples == samples


def test_why_a_sample_is_unscored_is_told_once(tmp_path: Path) -> None:
    texts = ["", " ", "a"]
    Hub("aun").evaluate(predictions=texts).to_html(tmp_path / "a.html", **FEW)
    page = Page(tmp_path / "a.html")
    assert page.data["problems"] == [
        {
            "aun": {
                "reasons": [["unanswered", "the text has fewer than 1 token"]],
                "samples": {"0": 0, "1": 0},
            }
        }
    ]
    assert page.data["outputs"][0]["values"] == [[None, None, 1]]
    assert "2 unanswered: the text has fewer than 1 token" in page.text
    assert "2 of 3 samples are unanswered and left out of the mean" in page.text
    assert "unanswered for a metric" in page.text


def test_the_page_says_why_there_is_no_interval(tmp_path: Path) -> None:
    few = Hub("wer").evaluate(predictions=["a b", "c d"], references=["a b", "c e"])
    few.to_html(tmp_path / "a.html", others={"same": few}, resamples=9, trials=9)
    text = Page(tmp_path / "a.html").text
    assert "No interval for wer: 2 samples are too few; an interval needs 5" in text
    assert "No interval for the difference in wer: 2 samples are too few; an" in text


@pytest.mark.parametrize(
    ("references", "message"),
    [(["a", "b"], ""), ([["a"], ["b", "c"]], "references 1 to 2 per sample"),
     ([["a", "x"], ["b", "c"]], "references 2 per sample")],
)  # fmt: skip
def test_the_head_says_how_many_references_samples_have(
    tmp_path: Path, references: list[Any], message: str
) -> None:
    report = Hub("exact_match").evaluate(predictions=["a", "b"], references=references)
    report.to_html(tmp_path / "a.html", **FEW)
    text = Page(tmp_path / "a.html").text
    assert f"samples 2 {message or 'date'}" in text


def test_systems_are_tested_against_the_first_and_the_best_is_bold(tmp_path: Path) -> None:
    hub = Hub("exact_match")
    many = {column: texts * 8 for column, texts in COLUMNS.items()}
    first = hub.evaluate(**many)
    other = hub.evaluate(**{**many, "predictions": many["references"]})
    first.to_html(tmp_path / "a.html", name="old", others={"new": other}, **{**FEW, "trials": 99})
    page = Page(tmp_path / "a.html")
    assert page.text.startswith("new scores higher than old on exact_match: 1.000 against 0.333")
    assert "systems old (baseline), new versions" in page.text
    assert "difference from old [95% interval]" in page.text
    assert "0.333 1.000 +0.667 [" in page.text
    assert "] +200.0% better, p < .001" in page.text
    # Two of three samples are better, one is equal.
    assert [text for text in page.values("aria-label") if "16 better, 0 worse, 8 equal" in text]
    assert page.samples[1]["said"] == ["c d", "c"]
    assert page.samples[1]["shared"] == {"references": "c"}


@pytest.mark.parametrize("metric", ["wer", "token_f1"])
def test_a_win_selects_the_samples_in_which_a_system_is_better(tmp_path: Path, metric: str) -> None:
    hub, references = Hub(metric), ["a b c d"] * 12
    texts = {
        "base": ["a b c d", "a b c x", "a x x x"] * 4,
        "even": ["a b x x", "a b c d", "a x x x"] * 4,
        "best": ["a b c d"] * 12,
    }
    systems = {n: hub.evaluate(predictions=t, references=references) for n, t in texts.items()}
    write(tmp_path / "a.html", systems, **FEW)
    page = Page(tmp_path / "a.html")
    names, values = page.data["systems"], page.data["outputs"][0]["values"]
    sign = -1 if metric == "wer" else 1
    result = {}
    for text in page.values("data-select"):
        chosen = json.loads(text)
        if "better" in chosen:
            first, second = map(int, chosen["better"].split(">"))
            gaps = [sign * (a - b) for a, b in zip(values[first], values[second], strict=True)]
            result[names[first], names[second]] = sum(gap > 0 for gap in gaps)
            assert chosen["pair"] == [first, second]
    # No sample has another system better than the best.
    assert result == {
        ("base", "even"): 4,
        ("even", "base"): 4,
        ("best", "base"): 8,
        ("best", "even"): 8,
    }


def test_systems_with_other_metrics_share_a_page(tmp_path: Path) -> None:
    first, other = (Hub(m).evaluate(**COLUMNS) for m in (["wer", "cer"], ["wer", "chrf"]))
    write(tmp_path / "a.html", {"a": first, "b": other}, **FEW)
    outputs = {o["metric"]: o["values"] for o in Page(tmp_path / "a.html").data["outputs"]}
    assert outputs["cer"][1] == [None] * 3
    assert outputs["chrf"][0] == [None] * 3


def test_the_same_report_gives_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert page_of(tmp_path, "wer", "bleu").source == page_of(tmp_path, "wer", "bleu").source


def test_the_policy_allows_the_scripts_and_the_style_by_their_hashes(tmp_path: Path) -> None:
    source = page_of(tmp_path, "wer").source
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', source)
    assert policy
    matches = re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", source, re.DOTALL)
    assert len(matches) == 2
    for text in matches:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert digest in policy[1].replace("&#43;", "+").replace("&#39;", "'")
    assert "unsafe" not in policy[1]


def test_embedded_data_never_end_their_script(tmp_path: Path) -> None:
    attack = "</script><!--<script>&\u2028\u2029\ud800\x00"
    report = Hub("wer").evaluate(predictions=[attack], references=[attack])
    write(tmp_path / "a.html", {"</script><!--": report}, ids=[attack], **FEW)
    page = Page(tmp_path / "a.html")
    assert page.samples[0]["said"] == [attack]
    assert page.data["ids"] == [attack]
    assert page.tags.count("script") == page.tags.count("/script") == 4
    assert "\u2028" not in page.source
    assert "<!--" not in page.source


def test_a_page_asks_nobody_for_anything(tmp_path: Path) -> None:
    page = page_of(tmp_path, "wer", "bleu")
    addresses = [*page.values("src"), *page.values("href")]
    assert addresses
    # "data:," is the empty icon, without which browsers ask a server for one.
    assert all(address.startswith("#") for address in addresses if address != "data:,")
    assert addresses.count("data:,") == page.tags.count("link") == 1
    assert not {"iframe", "object", "base"} & set(page.tags)
    assert not [name for _, name, _ in page.attributes if name in ("style", "onclick", "onload")]


def test_pooled_reports_and_those_of_other_samples_have_no_page(tmp_path: Path) -> None:
    report = Hub("wer").evaluate(**COLUMNS)
    other = Hub("wer").evaluate(**{**COLUMNS, "references": ["x", "y", "z"]})
    short = Hub("wer").evaluate(predictions=["a"], references=["a"])
    for systems, message in (
        ({"a": report.pool()}, "pooled"),
        ({}, "no report"),
        ({"a": report, "b": other}, "different references"),
        ({"a": report, "b": short}, "the systems have 3 and 1 samples"),
    ):
        with pytest.raises(ReportError, match=message):
            write(tmp_path / "a.html", systems, **FEW)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_report_has_a_page(tmp_path: Path) -> None:
    Hub("bleu").evaluate(predictions=[], references=[]).to_html(tmp_path / "a.html", **FEW)
    assert "0 samples" in Page(tmp_path / "a.html").text


def test_a_page_needs_no_matplotlib(tmp_path: Path) -> None:
    modules = loaded(
        "import sys\n"
        "sys.modules['matplotlib'] = None\n"
        "from metrichub import Hub\n"
        "report = Hub(['wer', 'cer']).evaluate(predictions=['a b'], references=['a c'])\n"
        f"report.to_html({str(tmp_path / 'a.html')!r}, others={{'b': report}}, trials=9)"
    )
    assert "metrichub.report.html.plots" not in modules
    page = Page(tmp_path / "a.html")
    # A histogram of each and of its differences, and one against the other.
    charts = [
        n for n in page.values("aria-label") if "ample scores" in n or n[:11] == "Differences"
    ]
    assert len(charts) == 6  # And the table of differences.


def test_scoring_loads_nothing_of_pages_and_plots() -> None:
    modules = loaded(
        "from metrichub import Hub\n"
        "report = Hub('bleu').evaluate(predictions=['a b'], references=['a c'])\n"
        "report._repr_html_()\n"
        "report.explain('bleu', 0)\n"
    )
    assert not {name for name in modules if name.startswith("metrichub.report.html")}
    assert not modules & {"matplotlib", "jinja2"}


@pytest.mark.parametrize("number", [1, 2, 3])
def test_copies_have_the_differences_that_are_shown(tmp_path: Path, number: int) -> None:
    texts = [["a b", "c d", "e f"], ["a b", "c x", "e f"], ["a b", "y x", "e f"]]
    hub = Hub("wer")
    systems = {
        f"s{k}": hub.evaluate(predictions=predictions, references=texts[0])
        for k, predictions in enumerate(texts[:number])
    }
    write(tmp_path / "report.html", systems, **FEW)
    copies = json.loads(Page(tmp_path / "report.html").scripts["exports"])
    # One of six words is wrong: a sixth more than none.
    for name, difference in (("Markdown", "+0.167 "), ("LaTeX", "+0.167 "), ("CSV", ",0.1666")):
        assert (difference in copies[name]) == (number == 2 or (number == 3 and name == "CSV"))
    assert copies["Markdown"].startswith("| metric | s0 | s1 |" if number == 2 else "| ")
    assert copies["Markdown"].count("| system | wer ↓ |") == (number > 1)
    *_, signature = copies["LaTeX"].splitlines()
    assert signature.startswith("% wer(")


def test_the_copied_leaderboard_is_that_of_the_page(tmp_path: Path) -> None:
    texts = {"base": ["x"] * 40, "good": ["a"] * 40, "near": ["a"] * 39 + ["b"]}
    hub = Hub("exact_match")
    systems = {n: hub.evaluate(predictions=t, references=["a"] * 40) for n, t in texts.items()}
    write(tmp_path / "report.html", systems, resamples=20, trials=2000)
    page = Page(tmp_path / "report.html")
    assert "Every pair by exact_match ↑ good near base" in page.text
    copies = json.loads(page.scripts["exports"])
    lines = copies["Markdown"].splitlines()
    assert lines[0] == "| rank | system | exact_match ↑ |"
    assert lines[2:5] == [
        "| 1 | good | **1.000** (a) |",
        "| 1 | near | **0.975** (a) |",
        "| 3 | base | 0.000 (b) |",
    ]
    caption = "3 systems on 40 samples, ranked by exact_match. Bold: the systems that rank first."
    caption += " Systems that share a letter don't differ significantly (p > .05)."
    assert lines[6] == caption
    assert lines[8].startswith("Tests: two-sided paired McNemar's mid-p (samples that are 0 or 1)")
    latex = copies["LaTeX"]
    assert latex.count(r"\begin{tabular}") == 1
    assert r"\textbf{0.975} (a)" in latex
    comments = latex.splitlines()[-2:]
    assert comments[0].startswith("% Tests: ")
    assert comments[1].startswith("% exact_match(")


def test_a_score_that_is_another_output_is_named_after_it(tmp_path: Path) -> None:
    # The words in another order: ROUGE-1 finds all, ROUGE-2 and ROUGE-L don't.
    columns = {"predictions": ["sat on the mat the cat"], "references": ["the cat sat on the mat"]}
    hub = Hub(["rouge", "rouge2 = rouge(variant='rouge2')", "wer"])
    hub.evaluate(columns).to_html(tmp_path / "a.html", **FEW)
    labels = {
        (output["metric"], output["output"]): output["label"]
        for output in Page(tmp_path / "a.html").data["outputs"]
    }
    assert labels["rouge", "score"] == "rouge (rougeL)"
    assert labels["rouge2", "score"] == "rouge2 (rouge2)"
    assert labels["rouge", "rouge1_recall"] == "rouge1_recall"
    assert labels["wer", "score"] == "wer"


def test_large_numbers_keep_their_digits(tmp_path: Path) -> None:
    ids = [2**60 + k for k in range(3)]
    report = Hub("wer").evaluate(predictions=["a"] * 3, references=["a"] * 3, id=ids, user=ids)
    write(tmp_path / "page.html", {"": report})
    data = Page(tmp_path / "page.html").data
    assert data["metadata"]["user"] == [str(number) for number in ids]
