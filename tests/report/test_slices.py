"""Slices: which groups of samples there are, their scores, and paired tests in each."""

from __future__ import annotations

import re
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrichub import Hub, Report
from metrichub.errors import ReportError
from metrichub.evaluation.lengths import sample_lengths, word_counts
from metrichub.evaluation.resample import holm
from metrichub.evaluation.significance import SignificanceOptions
from metrichub.report import slices as module
from metrichub.report.groupings import Grouping, groupings_of, text_lengths, verdict_groupings
from metrichub.report.slices import slices_of

OPTIONS = SignificanceOptions(resamples=30, trials=99)
SIZE = 24
FEWEST, MOST_VALUES, TRIALS_A_TEST = 20, 50, 40


def rows(right: int, size: int = SIZE, **more: Any) -> list[dict[str, Any]]:
    """Sample i has i + 1 words, and a right answer where i < `right`."""
    return [
        {
            "prediction": " ".join(["w"] * (i + 1)) if i < right else "x",
            "reference": " ".join(["w"] * (i + 1)),
            "language": ["de", "en", None][i % 3],
            "id": i,
            **{name: values[i] if isinstance(values, list) else values
               for name, values in more.items()},
        }
        for i in range(size)
    ]  # fmt: skip


def report(right: int, size: int = SIZE, **more: Any) -> Report:
    return Hub("exact_match").evaluate(rows(right, size, **more))


def by_name(groupings: list[Grouping]) -> dict[str, Grouping]:
    return {grouping.name: grouping for grouping in groupings}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the cat, sat", 3),
        ("a -- b !", 2),
        ("", 0),
        # Each character of Chinese and Thai is one, its punctuation none.
        ("他坐在 垫子上。", 6),
        ("GPT 很好", 3),
        ("แมว", 3),
    ],
)
def test_words_are_counted_in_every_script(text: str, words: int) -> None:
    assert word_counts([text]).tolist() == [words]


def test_the_length_of_a_sample_is_that_of_its_first_text() -> None:
    found = Hub("bleu").evaluate(
        predictions=["a b", "c", "d"], references=[["x y z", "q"], ["r s"], ["t"]]
    )
    assert found.texts
    lengths = sample_lengths(found.texts, "references")
    assert lengths is not None
    assert lengths.tolist() == [3, 2, 1]
    assert sample_lengths(found.texts, "sources") is None
    contexts = [["a b"], [], ["c"]]
    found = Hub("faithfulness", judge="offline").evaluate(predictions=["a"] * 3, contexts=contexts)
    assert found.texts
    lengths = sample_lengths(found.texts, "contexts")
    assert lengths is not None
    assert lengths.tolist() == [2, 0, 1]


def test_groups_have_the_scores_and_intervals_of_their_samples_alone() -> None:
    one = report(12)
    by_language, by_length = groupings_of({"": one})
    # A value is missing in every third row: "no value" comes last.
    assert (by_language.key, by_language.values) == ("language", ["de", "en", "no value"])
    assert by_language.of.tolist() == [i % 3 for i in range(SIZE)]
    # Quarters of 1 to 24 words; the first twelve are right.
    assert by_length.values == ["1 to 6", "7 to 12", "13 to 18", "19 to 24"]
    assert "characters" in by_length.about
    found = slices_of({"": one}, [by_language, by_length], None, OPTIONS).slices
    scores = [part.scores[""]["exact_match"]["score"] for part in found]
    assert scores == [0.5, 0.5, 0.5, 1, 1, 0, 0]
    expected = one.by("language")["de"].intervals(resamples=30)["exact_match"]["score"]
    assert found[0].intervals["exact_match"]["score"] == expected
    assert not found[0].tests


def test_a_column_that_is_asked_for_comes_whatever_it_holds() -> None:
    # Value k has k + 1 samples: 60 values of 1830 samples.
    site = [f"s{k:02}" for k in range(60) for _ in range(k + 1)]
    systems = {"": report(0, len(site), site=site, stars=[i % 5 for i in range(len(site))])}
    assert "site" not in by_name(groupings_of(systems))
    asked = groupings_of(systems, by="site")[0]
    assert len(asked.values) == MOST_VALUES + 1
    assert asked.values[0] == "s59"
    assert asked.values[-1] == "others"
    # The ten smallest have 1 to 10 samples.
    assert (asked.of == MOST_VALUES).sum() == 55
    # Ratings are no slices unless they are asked for.
    assert "stars" not in by_name(groupings_of(systems, ["stars"]))
    stars = by_name(groupings_of(systems, ["stars"], by="stars"))["stars"]
    assert stars.values == ["0", "1", "2", "3", "4"]
    with pytest.raises(ReportError, match="no column 'sight'; did you mean 'site'"):
        groupings_of(systems, by="sight")


@pytest.mark.parametrize(("values", "shown"), [(50, 50), (51, 51)])
def test_more_values_than_fifty_leave_others(values: int, shown: int) -> None:
    kind = [f"k{i:02}" for i in range(values)] * 2
    (grouping, *_) = groupings_of({"": report(0, len(kind), kind=kind)}, by="kind")
    assert len(grouping.values) == shown
    assert (grouping.values[-1] == "others") == bool(grouping.about) == (values > 50)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        # Numbers in their order, and before texts.
        ([10, 9, "b", "a"] * 6, ["9", "10", "a", "b"]),
        ([True, False] * 12, ["False", "True"]),
        ([2.0, 0.125] * 12, ["0.125", "2"]),
        # Twelve numbers are values, thirteen are a scale.
        ([k // 2 / 8 for k in range(SIZE)], [str(k / 8).removesuffix(".0") for k in range(12)]),
        (
            [min(k, 12) / 8 for k in range(SIZE)],
            ["0 to 0.625", "0.75 to 1.375", "1.5"],
        ),
        # One value makes no groups, and values that hardly recur make too many.
        (["x"] * SIZE, None),
        ([f"v{k // 2}" for k in range(SIZE)], [f"v{k}" for k in sorted(range(12), key=str)]),
        ([f"v{min(k, 12)}" for k in range(SIZE)], None),
        ([None] * SIZE, None),
    ],
    ids=str,
)
def test_a_column_makes_groups_of_its_values(column: list[Any], values: list[str] | None) -> None:
    rows_of = [row | {"kind": kind} for row, kind in zip(rows(0), column, strict=True)]
    found = by_name(groupings_of({"": Hub("exact_match").evaluate(rows_of)}))
    assert (found["kind"].values if "kind" in found else None) == values


def test_the_first_four_columns_are_shown_and_the_one_that_is_asked_for_comes_first() -> None:
    more = {name: [name, "x"] * 12 for name in "abcde"}
    systems = {"": report(0, **more)}
    keys = [grouping.key for grouping in groupings_of(systems, by="e")]
    assert keys == ["e", "language", "a", "b", "length"]


def test_lengths_have_another_name_beside_a_column_of_theirs() -> None:
    keys = [one.key for one in groupings_of({"": report(0, length=["x", "y"] * 12)})]
    assert keys == ["language", "length", "length of texts"]


@pytest.mark.parametrize(("size", "grouped"), [(19, False), (20, True)])
def test_fewer_than_twenty_samples_have_no_groups_by_length(size: int, grouped: bool) -> None:
    assert ("words of the reference" in by_name(groupings_of({"": report(0, size)}))) == grouped


@pytest.mark.parametrize(("most", "drawn"), [(SIZE, True), (SIZE - 1, False)])
def test_slices_of_very_many_samples_have_scores_alone(
    most: int, drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_SAMPLES", most)
    one, other = report(12, domain=["x"] * SIZE), report(3, domain=["x"] * SIZE)
    groupings = groupings_of({"": one}, by="domain")[:1]
    (alone,) = slices_of({"": one}, groupings, None, OPTIONS).slices
    assert alone.scores[""]["exact_match"]["score"] == 12 / SIZE
    assert bool(alone.intervals) == drawn
    pair = slices_of({"a": one, "b": other}, groupings, ("b", "a"), OPTIONS)
    assert bool(pair.slices[0].tests) == bool(pair.trials) == drawn


def test_many_samples_take_fewer_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    systems = {"a": report(12), "b": report(3)}
    grouping = by_name(groupings_of(systems, by="language"))["language"]
    # Of three slices of 8 samples none is tested, and one metric is scored.
    monkeypatch.setattr(module, "_WORK", 48 * SIZE)
    found = slices_of(systems, [grouping], ("b", "a"), OPTIONS)
    assert found.trials == 0
    whole = grouping._replace(values=["all"], of=np.zeros(SIZE, np.int64))
    assert slices_of(systems, [whole], ("b", "a"), OPTIONS).trials == 48


def test_numbers_of_many_values_are_cut_into_quarters() -> None:
    share = [k / 3 for k in range(SIZE)]
    grouping = by_name(groupings_of({"": report(0, share=[*share[:-1], None])}))["share"]
    # 23 numbers: 0, 1/3, …, 22/3, of which every quarter has six, the last five.
    assert grouping.values == [
        "0 to 1.66667", "2 to 3.66667", "4 to 5.33333", "5.66667 to 7.33333", "no value",
    ]  # fmt: skip
    assert grouping.of.tolist()[-1] == 4
    # Numbers that no scale has room for are values, of which there are too many.
    assert "id2" not in by_name(
        groupings_of({"": report(0, id2=[10**400 + k for k in range(SIZE)])})
    )
    # A different number for each sample counts the samples.
    assert "run" not in by_name(groupings_of({"": report(0, run=[9 * k for k in range(SIZE)])}))


def test_metrics_that_read_an_answer_have_slices() -> None:
    one = Hub("exact_match(extract='last_number')").evaluate(
        [
            {**row, "prediction": "It is 4." if row["id"] < 12 else "Who knows?", "reference": "4"}
            for row in rows(0)
        ]
    )
    (by_language, *_) = groupings_of({"": one})
    found = slices_of({"": one}, [by_language], None, OPTIONS).slices
    # Twelve of 24 samples are right, four of the eight of each language.
    scores = [next(iter(part.scores[""].values()))["score"] for part in found]
    assert scores == [0.5, 0.5, 0.5]


def test_columns_that_differ_make_no_slices_and_are_refused() -> None:
    systems = {"a": report(0, domain="x", same=1), "b": report(0, domain="y", same=1)}
    assert list(by_name(groupings_of(systems))) == ["language", "words of the reference"]
    with pytest.raises(ReportError, match="the systems differ in domain"):
        groupings_of(systems, by="domain")


def test_lists_and_reports_without_texts_are_left_out() -> None:
    kept = Hub("exact_match").evaluate(
        rows(3, tags=[["a"]] * SIZE), texts=False, keep=["tags", "id"]
    )
    assert groupings_of({"": kept}) == []


def test_the_rarest_word_of_a_reference_is_in_the_fewest_references() -> None:
    # "common" is in all 24 references, "pair" in two, the words of their own in one.
    texts = [f"common own{i}" if i > 7 else "common" for i in range(SIZE)]
    texts[0] = texts[1] = "common pair pair"
    found = Hub("exact_match").evaluate(predictions=texts, references=texts)
    grouping = by_name(groupings_of({"": found}))["frequency of the rarest word"]
    # Of the quarters of 24 samples, two end at 1 and the third at 2.
    assert grouping.values == ["1", "2", "24"]
    assert grouping.of.tolist() == [1] * 2 + [2] * 6 + [0] * 16


def test_p_is_corrected_over_all_slices_of_a_metric() -> None:
    size = 3 * FEWEST
    domain = [["x", "y", "z"][i % 3] for i in range(size)]
    # B is right where A is wrong, in x always, in y in a quarter of the samples, in z never.
    one = report(0, size, domain=domain)
    better = rows(0, size, domain=domain)
    for i, row in enumerate(better):
        if i % 3 == 0 or (i % 3 == 1 and i % 4 == 1):
            row["prediction"] = row["reference"]
    other = Hub("exact_match").evaluate(better)
    groupings = [g for g in groupings_of({"a": one, "b": other}) if g.key == "domain"]
    found = slices_of({"a": one, "b": other}, groupings, ("b", "a"), OPTIONS)
    alone = {
        value: part.compare(one.by("domain")[value], trials=found.trials, resamples=30)
        for value, part in other.by("domain").items()
    }
    single = {value: own["exact_match"]["score"].randomisation_p for value, own in alone.items()}
    assert single["x"] < single["y"] < single["z"] == 1
    tests = {part.value: part.tests["exact_match"]["score"] for part in found.slices}
    assert {value: test.p for value, test in tests.items()} == holm(single)
    assert tests["x"].p == 3 * single["x"]
    assert tests["x"].difference == 1
    assert tests["x"].interval == alone["x"]["exact_match"]["score"].interval
    table = found.table({"a": one, "b": other})
    assert list(map(str, table.rows[0][:5])) == [
        "x", "20", "exact_match ↑", "0.000", "1.000",
    ]  # fmt: skip
    assert found.rows()[0]["tests"]["score"]["p"] == tests["x"].p


def test_small_slices_have_no_test_and_do_not_count() -> None:
    size = 2 * FEWEST + 5
    domain = ["x"] * FEWEST + ["y"] * FEWEST + ["z"] * 5
    systems = {name: report(right, size, domain=domain) for name, right in (("a", 0), ("b", 9))}
    groupings = [g for g in groupings_of(systems, by="domain") if g.key == "domain"]
    found = slices_of(systems, groupings, ("b", "a"), OPTIONS)
    x, _, z = found.slices
    assert not z.tests
    test = x.tests["exact_match"]["score"]
    assert test.p == 2 * test.randomisation_p


def test_slices_of_too_few_scored_samples_or_withheld_ones_do_not_count() -> None:
    # An empty text has no score: x lacks one of one system alone, y of both, and 19 are left.
    texts = ["a a", "b b b", "c d"] * FEWEST
    other, domain = [text.replace("a a", "a c") for text in texts], sorted("xyz" * FEWEST)
    other[0] = texts[FEWEST] = other[FEWEST] = ""
    systems = {
        name: Hub("ttr").evaluate({"predictions": column, "domain": domain})
        for name, column in (("a", texts), ("b", other))
    }
    found = slices_of(systems, groupings_of(systems, by="domain")[:1], ("b", "a"), OPTIONS)
    of_z = found.slices[2].tests["ttr"]
    x, y, z = (part.tests["ttr"]["score"] for part in found.slices)
    assert (x.samples, y.samples, z.samples) == (19, 19, 20)
    assert x.withheld
    assert not y.withheld
    assert isnan(x.p)
    assert isnan(y.p)
    corrected = holm({o: t.randomisation_p for o, t in of_z.items() if not isnan(t.p)})
    assert z.p == corrected["score"]


def test_outputs_beside_the_headline_have_no_p_and_do_not_count() -> None:
    columns = {"references": ["a b"] * FEWEST, "domain": ["x"] * FEWEST}
    systems = {
        name: Hub("wer").evaluate({"predictions": [text] * FEWEST, **columns})
        for name, text in (("a", "a b"), ("b", "a c"))
    }
    found = slices_of(systems, groupings_of(systems, by="domain")[:1], ("b", "a"), OPTIONS)
    tests = found.slices[0].tests["wer"]
    assert [name for name, test in tests.items() if not isnan(test.p)] == ["score"]
    assert tests["score"].p == tests["score"].randomisation_p
    assert len(tests) > 1


def test_an_empty_reference_has_no_words_and_the_others_tell_their_length() -> None:
    texts = ["", *(" ".join("a" * k) for k in range(1, SIZE))]
    found = Hub("exact_match").evaluate(predictions=["x"] * SIZE, references=texts)
    assert text_lengths(found) == ("reference", pytest.approx(range(SIZE)))


def test_there_are_trials_enough_for_a_small_p_after_the_correction() -> None:
    size = 10 * FEWEST
    domain = [f"d{i % 10}" for i in range(size)]
    systems = {name: report(right, size, domain=domain) for name, right in (("a", 0), ("b", size))}
    groupings = [g for g in groupings_of(systems, by="domain") if g.key == "domain"]
    found = slices_of(systems, groupings, ("b", "a"), OPTIONS._replace(trials=20))
    assert found.trials == TRIALS_A_TEST * 10
    assert all(part.tests["exact_match"]["score"].p < 0.05 for part in found.slices)


def test_slices_of_a_single_cluster_have_no_intervals() -> None:
    found = Hub("exact_match").evaluate(
        [row | {"text_type": row["id"] // 4, "topic": row["id"] % 2} for row in rows(12)]
    )
    options = OPTIONS._replace(cluster="text_type")
    drawn = {
        part.grouping.key: bool(part.intervals)
        for part in slices_of({"": found}, groupings_of({"": found}), None, options).slices
    }
    assert (drawn["text_type"], drawn["topic"]) == (False, True)


def test_samples_are_grouped_by_what_a_judge_found_in_them() -> None:
    found = Hub("faithfulness", judge="offline").evaluate(
        predictions=["The cat sat. Dogs fly south.", "The cat sat.", "Dogs fly south.", ""],
        contexts=[["The cat sat."]] * 4,
    )
    (grouping,) = verdict_groupings({"": found})
    assert grouping.name == "verdicts of faithfulness"
    said = [grouping.values[place] if place >= 0 else "" for place in grouping.of.tolist()]
    assert said == ["idk and yes", "yes", "idk", ""]


def test_the_heading_names_what_differs_significantly_else_the_largest_gap(tmp_path: Path) -> None:
    # Both are right on all of "same"; on "other" one is right on all and one on none.
    def of(right: bool) -> Report:
        texts = ["a"] * 30 + ["a" if right else "b"] * 30
        kinds = ["same"] * 30 + ["other"] * 30
        columns = {"predictions": texts, "references": ["a"] * 60, "kind": kinds}
        return Hub("exact_match").evaluate(columns)

    def heading(first: Report, second: Report) -> str:
        path = tmp_path / "page.html"
        first.to_html(path, name="one", others={"two": second}, trials=2_000, resamples=100)
        found = re.search(r'id="slices-heading">Slices</h2> <span>(.*?)</span>', path.read_text())
        assert found
        return found[1]

    assert heading(of(True), of(False)) == (
        "two loses most against one where kind is other (exact_match -1.000)"
    )
    assert heading(of(False), of(True)) == (
        "two wins most against one where kind is other (exact_match +1.000)"
    )
    assert heading(of(True), of(True)) == (
        "no significant difference; the largest where kind is other (exact_match +0.000)"
    )
