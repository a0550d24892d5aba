"""Samples that are unscored because a tokenizer drops most of their letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from metrichub import Hub, Report, compare_all
from metrichub.authoring import Array, CorpusMetric, Metric, Texts
from metrichub.catalog.card import Card
from metrichub.text import lengths
from tests.toy_metrics import card

RUSSIAN = [
    "В 1985 году он переехал в Москву.",
    "Компания Google открыла новый офис.",
    "Сегодня в городе хорошая погода.",
]
ENGLISH = ["The cat sat on the mat.", "It was a dry day in May.", "He moved to Moscow in 1985."]
UNREAD = "the tokenizer drops over half of every reference's letters and digits"
WITHHELD = "over half of the samples are unscored, as their letters are dropped"


def scored(metric: Any, references: Sequence[Any], predictions: Sequence[Any] = ()) -> Report:
    """The report of predictions, by default the first references."""
    first = [reference if isinstance(reference, str) else reference[0] for reference in references]
    return Hub(metric).evaluate(predictions=list(predictions) or first, references=references)


def unscored(metric: str, references: Sequence[Any], predictions: Sequence[Any] = ()) -> list[bool]:
    """Which samples have no score."""
    score = scored(metric, references, predictions).samples()[metric]["score"]
    missing: list[bool] = np.isnan(score).tolist()
    return missing


def mixed(foreign: int, size: int = 100) -> list[str]:
    """References of which so many are Russian, spread over all."""
    russian = set(np.linspace(0, size - 1, foreign).astype(int).tolist())
    return [(RUSSIAN if i in russian else ENGLISH)[i % 3] for i in range(size)]


def without_last_word(texts: Sequence[str]) -> list[str]:
    return [text.rsplit(" ", 1)[0] for text in texts]


def test_digits_and_names_alone_score_nothing() -> None:
    digits_only = ["".join(c for c in text if c.isascii()) for text in RUSSIAN]
    for predictions in (RUSSIAN, digits_only):
        report = scored("rouge", RUSSIAN, predictions)
        assert np.isnan(report["rouge"]["rouge1"])
        assert report.counts()["rouge"]["unscored"] == 3
        assert report.notes()["rouge"][1:] == [f"3 unscored: {UNREAD}", f"no score: {WITHHELD}"]
    assert scored("rouge(tokenizer='unicode')", RUSSIAN)["rouge"]["rouge1"] == 1


@pytest.mark.parametrize(
    "text",
    [
        # 20 letters of which 3, or 15%, are Russian.
        "Moscow (Мос) is a big city here",
        "Mujhe subah park mein tahalna bahut pasand hai.",
        "Hôm nay trời đẹp nên tôi đi dạo trong công viên với các bạn của tôi.",
        "def größe(x: int) -> int: return x + 1  # длина",
        "3.14159, 2,718 and 1985-04-12",
        "Great game!!! 😀😃😄😁😀😃😄😁😀😃😄😁",
        "Zażółć gęślą jaźń, powiedział spokojnie nauczyciel.",
    ],
)
@pytest.mark.parametrize("metric", ["rouge", "carburacy", "readability"])
def test_texts_that_are_read_for_the_most_part_are_scored(metric: str, text: str) -> None:
    report = scored(metric, [text])
    assert not {"unscored", "unanswered"} & report.counts()[metric].keys()
    assert not np.isnan(report[metric]["score"])


def test_half_of_the_letters_of_one_reference_are_enough() -> None:
    # 4 of 8 letters and digits are dropped, and then 5 of 9; marks and symbols count for neither.
    assert unscored("rouge", ["ab12 яяяя ++ 😀😀", "ab12 яяяяя"]) == [False, True]
    # One without letters doesn't count.
    cases = [["Привет", "hello"], ["Привет", "Пока"], ["Привет", ""], ["Привет", "..."], ["..."]]
    for metric in ("rouge", "carburacy"):
        rouge = metric == "rouge"
        assert unscored(metric, cases, ["hello"] * 5) == [False, True, rouge, rouge, False]
    assert unscored("carburacy", ["मुझे पार्क में टहलना पसंद है।"]) == [True]
    # Where the metric sees one at a time, the mean is that of the other reference.
    hub = Hub("carburacy", reduce="mean")
    pairs = {"predictions": ["hello there"], "references": [["hello there", "Привет"]]}
    assert hub(**pairs)["carburacy"]["score"] == 1


def test_the_official_number_is_rouge_scores() -> None:
    references = [*mixed(60), "😀", "", "Привет"]
    predictions = without_last_word(references)
    report = scored("rouge(letters='official')", references, predictions)
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"])
    each = [scorer.score(r, p) for r, p in zip(references, predictions, strict=True)]
    for name in each[0]:
        expected_mean = np.mean([row[name].fmeasure for row in each])
        assert report["rouge"][name] == pytest.approx(expected_mean)
    assert "unscored" not in report.counts()["rouge"]


@pytest.mark.parametrize(
    "text",
    [
        "Я люблю гулять в парке.",
        "मुझे पार्क में टहलना पसंद है।",
        "나는 공원에서 산책하는 것을 좋아한다.",
        "Μου αρέσει να περπατώ στο πάρκο.",
        "我喜欢在公园里散步。",
    ],
)
def test_readability_reads_latin_letters(text: str) -> None:
    assert unscored("readability", [text, *ENGLISH]) == [True] + [False] * 3
    begin = "1 unanswered: the tokenizer drops over half of the prediction's"
    notes = scored("readability", [text]).notes()["readability"]
    assert any(note.startswith(begin) for note in notes)
    # textstat has no such rule, and its convention gives its number.
    official = scored("t = readability(convention='textstat')", [text])["t"]
    assert not np.isnan(official["score"])


def test_the_mean_is_withheld_over_half_and_not_at_half() -> None:
    half, more = scored("rouge", mixed(50)), scored("rouge", mixed(51))
    assert half["rouge"]["rouge1"] == 1
    assert f"no score: {WITHHELD}" not in half.notes()["rouge"]
    assert half.intervals()["rouge"]["rouge1"].high == 1
    assert np.isnan([more["rouge"][name] for name in more.results["rouge"].metric.outputs()]).all()
    assert more.counts()["rouge"]["unscored"] == 51
    assert np.nanmean(more.samples()["rouge"]["rouge1"]) == 1
    withheld = more.intervals()["rouge"]["rouge1"]
    assert np.isnan(withheld.low)
    assert withheld.why is None
    # The count stands beside the mean.
    assert "– · 49 of 100" in str(more)
    for shown in (str(half), half.to_markdown(), half.to_latex()):
        assert "1.000 · 50 of 100" in shown.replace("{\\textperiodcentered}", "·")
    assert "· 100 of 100" not in str(scored("rouge", mixed(0)))


def test_systems_are_ranked_over_the_samples_whose_references_are_read() -> None:
    references = mixed(40)
    worse = scored("rouge", references, without_last_word(references))
    tests = compare_all({"good": scored("rouge", references), "worse": worse})
    assert tests.ranks["rouge"]["rouge1"] == {"good": 1, "worse": 2}
    test = tests.against("good")["worse"]["rouge"]["rouge1"]
    assert (test.samples, test.left_out, test.withheld) == (60, 40, None)
    languages = ["ru" if text in RUSSIAN else "en" for text in references]
    columns = {"predictions": references, "references": references, "language": languages}
    groups = Hub("rouge").evaluate(columns).by("language")
    assert groups["en"]["rouge"]["rouge1"] == 1
    assert np.isnan(groups["ru"]["rouge"]["rouge1"])


@pytest.mark.parametrize("samples", [True, False])
def test_no_system_is_better_where_the_mean_is_withheld(samples: bool) -> None:
    references = mixed(60)
    systems = {
        name: Hub("rouge").evaluate(predictions=texts, references=references, samples=samples)
        for name, texts in (("good", references), ("worse", without_last_word(references)))
    }
    tests = compare_all(systems)
    assert tests.ranks["rouge"] == {
        name: {} for name in ("rouge1", "rouge2", "rougeL", "rougeLsum")
    }
    assert tests.sentence == f"rouge ranks no system: {WITHHELD}."
    test = tests.against("good")["worse"]["rouge"]["rouge1"]
    assert np.isnan([test.difference, test.p, test.randomization_p, test.interval.low]).all()
    assert (test.samples, test.left_out) == (40, 60)


REFERENCES = mixed(60, 97)
METRICS = ["rouge", "carburacy", "readability"]


def columns_of(references: Sequence[str]) -> dict[str, Any]:
    return {"predictions": without_last_word(references), "references": references}


@pytest.mark.parametrize("samples", [True, False])
def test_parts_merge_to_the_whole(samples: bool, tmp_path: Path) -> None:
    def measured(references: Sequence[str]) -> Report:
        return Hub(METRICS).evaluate(columns_of(references), samples=samples)

    scores = measured(REFERENCES)
    # The first part is read for the most part, and has scores of its own.
    english = [text for text in REFERENCES if text in ENGLISH]
    assert not np.isnan(measured(english)["rouge"]["score"])
    parts = [measured(REFERENCES[a:b]) for a, b in ((0, 1), (1, 40), (40, 97))]
    merged = parts[0].merge(*parts[1:])
    merged.save(tmp_path / "report.json")
    for report in (merged, scores.pool(), Report.load(tmp_path / "report.json")):
        np.testing.assert_equal(report.scores(), scores.scores())
        assert report.counts() == scores.counts()
        assert [n for n in report.notes()["rouge"] if "unscored" in n] == [
            f"60 unscored: {UNREAD}",
            f"no score: {WITHHELD}",
        ]
    if samples:
        assert merged == scores


def test_blocks_workers_streams_and_other_metrics_change_nothing() -> None:
    columns = columns_of(REFERENCES)
    report = Hub(METRICS).evaluate(columns)
    hub = Hub(METRICS, block_characters=50)
    np.testing.assert_equal(hub.evaluate(columns).samples(), report.samples())
    parts = [{name: values[a:b] for name, values in columns.items()} for a, b in ((0, 9), (9, 97))]
    np.testing.assert_equal(hub.evaluate(iter(parts)).scores(), report.scores())
    assert hub.evaluate(iter(parts)).counts() == report.counts()
    streamed = hub.evaluate(iter(parts), workers=2, samples=False)
    np.testing.assert_equal(streamed.scores(), report.scores())
    assert streamed.counts() == report.counts()
    # The capital İ is a Latin letter, whose lower case begins with an ASCII i.
    texts = ["İ", "İİ", "İя", *RUSSIAN]
    alone = scored("rouge", texts).samples()["rouge"]
    np.testing.assert_equal(scored(["bleu", "rouge", "chrf"], texts).samples()["rouge"], alone)


@dataclass(frozen=True, kw_only=True)
class Longer(Metric):
    """The words of the prediction over those of the reference, as one tokenizer sees them."""

    card: ClassVar[Card] = card("longer", "prediction", "reference")
    tokenizer: ClassVar[str] = "rouge"

    def measure(self, prediction: Texts, reference: Texts) -> dict[str, Array]:
        """The ratio, (N,)."""
        texts = [Texts([text.strip() for text in column]) for column in (prediction, reference)]
        return {"score": lengths(texts[0], "rouge") / np.maximum(lengths(texts[1], "rouge"), 1)}


@dataclass(frozen=True, kw_only=True)
class Words(Metric):
    """The words of the prediction."""

    card: ClassVar[Card] = card("words", "prediction", better="neither")
    tokenizer: ClassVar[str] = "rouge"

    def measure(self, prediction: Texts) -> dict[str, Array]:
        """The number, (N,)."""
        return {"score": lengths(prediction, "rouge")}


@dataclass(frozen=True, kw_only=True)
class Vocabulary(CorpusMetric):
    """The number of words in all references."""

    card: ClassVar[Card] = card("vocabulary", "prediction", "reference", better="neither")
    tokenizer: ClassVar[str] = "rouge"

    def measure(self, prediction: Texts, reference: Texts) -> list[list[str]]:
        """The words of every reference."""
        return [text.lower().split() for text in reference]

    def conclude(self, rows: Sequence[list[str]]) -> dict[str, float]:
        """How many there are."""
        return {"score": float(len({word for row in rows for word in row}))}


def changed(metric: type[Metric], **changes: Any) -> Metric:
    """The metric with another card."""
    return type("Changed", (metric,), {"card": replace(metric.card, **changes)})()


def test_a_metric_of_a_plugin_gets_the_rule_for_the_tokenizer_that_it_declares() -> None:
    references = [RUSSIAN[0], *ENGLISH[:2]]
    for metric in (Longer(), Vocabulary()):
        report = scored(metric, references)
        assert report.counts()[metric.name]["unscored"] == 1
        assert f"1 unscored: {UNREAD}" in report.notes()[metric.name]
    # the, cat, sat, on, mat. and it, was, a, dry, day, in, may.
    assert report["vocabulary"]["score"] == 12
    assert np.isnan(scored(Vocabulary(), [*RUSSIAN, "a"])["vocabulary"]["score"])
    # A card exempts metrics that drop letters by definition.
    exempt = scored(changed(Longer, drops_letters=True), RUSSIAN)
    assert [*exempt.scores().values()] == [{"score": 2 / 3}]
    assert [*exempt.counts().values()] == [{}]


def test_a_prediction_is_unscored_for_its_letters_only_if_the_card_says_so() -> None:
    unread = {"undefined_for": ("unread_letters",)}
    texts = [RUSSIAN[2], ENGLISH[0], ENGLISH[1]]
    # 0, 6 and 7 words.
    report = Hub(Words()).evaluate(predictions=texts)
    assert (report.scores(), report.counts()) == ({"words": {"score": 13 / 3}}, {"words": {}})
    report = Hub(changed(Words, **unread)).evaluate(predictions=texts)
    assert [*report.scores().values()] == [{"score": 6.5}]
    assert [*report.counts().values()] == [{"unanswered": 1}]
    # That is for predictions without a reference; where there are any, they decide.
    report = scored(changed(Longer, **unread), ["hello", "Привет"], ["Привет", "hello"])
    ((name, result),) = report.results.items()
    assert np.isnan(report.samples()[name]["score"]).tolist() == [False, True]
    assert f"1 unscored: {UNREAD}" in report.notes()[name]
    assert not result.unanswered
