"""Degenerate outputs: a system gains nothing by cutting its outputs short."""

import json
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, Report, compare_all, list_metrics
from metrichub.catalog.registry import Entry
from metrichub.errors import MissingDependency, MissingModel, ReportError
from metrichub.evaluation.lengths import differing_lengths
from metrichub.evaluation.measurement import with_facts
from metrichub.testing.under_test import MetricUnderTest

PASSAGES = Path(__file__).parents[1] / "examples" / "summaries.jsonl"
FEW = {"resamples": 20, "trials": 20}
FIRST_WORD_A_CLAIM = {"answer_correctness", "atomic_facts", "faithfulness", "hallucination"}
"""Without a model, a word alone is a claim. A model finds none in it: the sample is unanswered."""


def samples(under_test: MetricUnderTest) -> dict[str, list[Any]] | None:
    """The passages, or the metric's own samples; None if they lack a column or have no texts."""
    rows = [json.loads(line) for line in PASSAGES.read_text(encoding="utf-8").splitlines()]
    names = {"predictions": "prediction", "sources": "source", "questions": "question"}
    passages = {
        name: [row[names.get(name, name)] for row in rows]
        for name in ("references", "contexts", *names)
    }
    extra_columns = under_test.extra_columns or passages
    if not {"predictions", *under_test.needed} <= extra_columns.keys():
        return None
    return {name: list(extra_columns[name]) for name in under_test.needed}


def cut(predictions: list[str]) -> list[str]:
    """Every third prediction cut to its first word."""
    return [(p.split() or [p])[0] if i % 3 == 0 else p for i, p in enumerate(predictions)]


@pytest.mark.parametrize(
    "entry",
    # Where only a model can judge, the tests' judge answers by chance.
    [e for e in list_metrics() if e.card.judge != "model" and e.name not in FIRST_WORD_A_CLAIM],
    ids=lambda entry: entry.qualified,
)
def test_no_headline_improves_if_a_third_of_the_outputs_is_cut_to_the_first_word(
    entry: Entry,
) -> None:
    if entry.lacking:
        pytest.skip(str(entry.lacking))
    under_test = MetricUnderTest(entry)
    if "predictions" not in under_test.needed or (columns := samples(under_test)) is None:
        return
    try:
        hub = Hub(under_test.metric)
        report = hub.evaluate(**columns)
        short = hub.evaluate(**{**columns, "predictions": cut(columns["predictions"])})
    except (MissingDependency, MissingModel) as error:
        pytest.skip(str(error))
    for output, test in short.compare(report, **FEW)[entry.name].items():
        if output in under_test.metric.headline():
            sign = {"higher": 1, "lower": -1, "neither": 0}[entry.card.better(output)]
            gain = sign * (short.scores()[entry.name][output] - report.scores()[entry.name][output])
            assert gain <= 1e-12 or test.withheld, (output, test)


LONG = ["a b c d e a"] * 12
"""Texts of six words, five of them different."""
SHORT = ["a b c d e"] * 12
"""A fifth shorter, without a repetition; the sign of all twelve differences has p = 2 / 2 ** 12."""
CUT = ["a b c d e a", "the"] * 6
"""(6 + 1) / 2 words on average; 6 / 3.5 is 1.71."""
REASON = (
    "scores fall with length, and the mean lengths differ by 71% (long: 6.0 words, cut: 3.5 words)"
)
HUB = Hub(["aun", "exact_match"])


def measured(**systems: list[str]) -> dict[str, Report]:
    return {
        name: HUB.evaluate(predictions=texts, references=LONG, half=[0] * 6 + [1] * 6)
        for name, texts in systems.items()
    }


def test_an_output_bound_to_length_ranks_no_systems_of_other_lengths() -> None:
    ranking = compare_all(measured(long=LONG, cut=CUT), **FEW)
    assert ranking.ranks["aun"] == {"score": {}}
    assert ranking.withheld == {"aun": REASON}
    assert ranking.headline.sentences[0] == f"aun ranks no system: {REASON}."
    test = ranking.pairs["cut", "long"]["aun"]["score"]
    assert (test.withheld, test.rank, test.other_rank) == (REASON, None, None)
    assert test.sentence == f"no winner on aun: {REASON}"


def test_lengths_that_differ_by_a_fifth_rank_as_ever() -> None:
    ranking = compare_all(measured(long=LONG, short=SHORT), resamples=20, trials=1000)
    assert ranking.withheld == {}
    assert ranking.ranks["aun"] == {"score": {"short": 1, "long": 2}}


def test_two_of_three_systems_are_compared_where_only_the_third_is_shorter() -> None:
    ranking = compare_all(measured(long=LONG, short=SHORT, cut=CUT), resamples=20, trials=1000)
    assert ranking.ranks["aun"] == {"score": {}}
    assert "(long: 6.0 words, cut: 3.5 words)" in ranking.withheld["aun"]
    test = ranking.pairs["short", "long"]["aun"]["score"]
    assert test.withheld is None
    assert test.sentence is not None
    assert test.sentence.startswith("short beats long on aun (p")


def test_a_metric_whose_outputs_differ_says_which_of_them_are_bound_to_length() -> None:
    hub = Hub("d = ttr")
    systems = {"long": hub.evaluate(predictions=LONG), "cut": hub.evaluate(predictions=CUT)}
    assert set(compare_all(systems, **FEW).withheld) == {"d", "d mattr", "d hdd"}


def test_a_system_without_words_has_no_percentage() -> None:
    hub = Hub("aun")
    systems = {"words": hub.evaluate(predictions=["a b"]), "none": hub.evaluate(predictions=["?"])}
    assert differing_lengths({name: system.lengths for name, system in systems.items()}) == (
        "the mean lengths differ (words: 2.0 words, none: 0.0 words)"
    )


def test_every_prediction_of_a_sample_counts() -> None:
    report = Hub("aun").evaluate(predictions=[["a b c d", "e f"], ["g h i"]])
    assert report.lengths is not None
    assert report.lengths.tolist() == [[6, 2], [3, 1]]


def test_lengths_are_counted_only_where_a_score_depends_on_them() -> None:
    assert Hub("exact_match").evaluate(predictions=["a"], references=["a"]).lengths is None


@pytest.mark.parametrize("way", ["saved", "merged", "merged sums", "streamed", "by key", "workers"])
def test_lengths_are_kept_however_a_report_came_to_be(way: str, tmp_path: Path) -> None:
    def report_of(texts: list[str]) -> Report:
        columns = {"predictions": texts, "references": LONG, "id": list(range(12))}
        parts = [{k: v[:5] for k, v in columns.items()}, {k: v[5:] for k, v in columns.items()}]
        match way:
            case "saved":
                HUB.evaluate(columns).save(tmp_path / "report.json")
                return Report.load(tmp_path / "report.json")
            case "merged":
                return HUB.evaluate(parts[0]).merge(HUB.evaluate(parts[1]))
            case "merged sums":
                first, second = (HUB.evaluate(part, samples=False, key="id") for part in parts)
                return first.merge(second)
            case "streamed":
                return HUB.evaluate(iter(parts), samples=False)
            case "by key":
                return HUB.evaluate(columns, samples=False, key="id")
        return HUB.evaluate(columns, workers=2)

    ranking = compare_all({"long": report_of(LONG), "cut": report_of(CUT)}, **FEW)
    assert ranking.withheld == {"aun": REASON}


def test_subgroups_have_lengths_of_their_own() -> None:
    halves = measured(long=LONG, cut=[*LONG[:6], *CUT[6:]])
    first, second = (
        compare_all({name: report.by("half")[half] for name, report in halves.items()}, **FEW)
        for half in (0, 1)
    )
    assert (first.withheld, second.withheld) == ({}, {"aun": REASON})


def test_a_report_without_lengths_ranks_as_ever() -> None:
    both = measured(a=LONG, b=CUT)
    systems = {name: with_facts(report, lengths=None) for name, report in both.items()}
    assert compare_all(systems, **FEW).withheld == {}
    assert any("lengths unknown" in note for note in systems["a"].notes()["aun"])
    assert not any("lengths" in note for note in measured(a=LONG)["a"].notes().get("aun", ()))


def test_a_saved_report_with_lengths_of_other_samples_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    measured(long=LONG)["long"].save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, "lengths": content["lengths"][:5]}), encoding="utf-8")
    with pytest.raises(ReportError, match="it has the lengths of 5 samples"):
        Report.load(path)
