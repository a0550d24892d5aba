"""Agreement with people on the plugin's cards: no figure without a study or a source."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import metrichub_neural
import pytest

from metrichub import Hub, load_metric
from metrichub.agreement import correlate

CARDS = sorted(Path(metrichub_neural.__file__).parent.glob("*/README.md"))
NAMES = [card.parent.name for card in CARDS]
QAGS = Path(__file__).parents[4] / "shared/data/fact_qags_cnn.jsonl"
_BLOCK = re.compile(r"<!-- generated: agreement -->.*?<!-- end -->", re.DOTALL)
_FIGURE = re.compile(r"(?<![\w.])[-−+]?\d*\.\d+|\d+\s?%")
_CITED = re.compile(r"(?P<who>[A-Z][\w'’-]+)(?: et al\.)? \((?P<year>(?:19|20)\d\d)\)")


def card_of(name: str) -> str:
    return CARDS[NAMES.index(name)].read_text(encoding="utf-8")


def quoted(text: str) -> str:
    """The section's own words, without the block."""
    section = text.partition("\n## Agreement with people\n")[2].partition("\n## ")[0]
    return _BLOCK.sub("", section).strip()


def studies_of(name: str) -> list[dict[str, Any]]:
    path = CARDS[NAMES.index(name)].with_name("agreement.json")
    return json.loads(path.read_text(encoding="utf-8"))["studies"] if path.exists() else []


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_stands_in_the_block_or_beside_a_source_that_the_card_lists(name: str) -> None:
    text = card_of(name)
    listed = text.partition("\n## Citation\n")[2]
    for paragraph in re.split(r"\n\s*\n", quoted(text)):
        if _FIGURE.search(re.sub(r"`[^`]*`", "", paragraph)):
            sources = list(_CITED.finditer(paragraph))
            assert any(row["who"] in listed and row["year"] in listed for row in sources), paragraph


@pytest.mark.parametrize("name", NAMES)
def test_a_card_has_a_study_or_says_that_nothing_was_measured(name: str) -> None:
    text = card_of(name)
    unmeasured = "has not been measured" in " ".join(quoted(text).split())
    shown = any(study["shown"] for study in studies_of(name))
    assert unmeasured != shown
    assert bool(_BLOCK.search(text)) == shown


def test_those_that_compare_texts_were_measured_on_both_data_sets() -> None:
    words = ("embedding_average", "greedy_matching", "vector_extrema", "wmd")
    for name in ("bertscore", "bertscore_idf", "smart", *words):
        items = {study["data"]["name"]: study["data"]["items"] for study in studies_of(name)}
        assert items == {"summeval": 100, "qags-cnn": 235}, name


@pytest.mark.parametrize("name", ["embedding_average", "smart"])
def test_a_study_is_what_is_measured_today(name: str, request: pytest.FixtureRequest) -> None:
    if not QAGS.exists():
        pytest.skip("needs ../shared/data/")
    lines = QAGS.read_text(encoding="utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    model = {} if name == "smart" else {"model": request.getfixturevalue("minilm")}
    # The texts are tokenized; their sentences are lines of their own, as ROUGE reads them.
    predictions, articles = (
        [row[key].replace(" . ", " .\n") for row in rows] for key in ("hyp", "src")
    )
    report = Hub(load_metric(name, **model)).evaluate(predictions=predictions, references=articles)
    (study,) = [row for row in studies_of(name) if row["data"]["name"] == "qags-cnn"]
    human = [row["human_factuality"] for row in rows]
    for value in study["results"]:
        scores = report.samples()[name][value["output"]]
        agreement = correlate(scores, human, coefficient="pearson", level="pooled", draws=0)
        assert agreement.row().value == pytest.approx(value["value"], abs=1e-4)
