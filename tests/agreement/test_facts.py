"""What an agreement records of its data, its judges and its sources, and how it is written."""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from metrichub import Hub
from metrichub.agreement import correlate, correlate_preferences, protocols
from metrichub.agreement.agreement import AgreementRow
from metrichub.agreement.of_report import judges_of
from metrichub.agreement.preference_votes import Votes
from metrichub.agreement.ratings import read_ratings
from metrichub.authoring import Metric
from metrichub.errors import InputError, MissingColumn, ParameterError

NAN = float("nan")
ITEM, SYSTEM = list("aaabbb"), list("xyzxyz")
SCORES, HUMAN = [0.1, 0.4, 0.3, 0.9, 0.8, 0.7], [1, 3, 2, 5, 3, 4]


VOTED = [
    {"item": 1, "system": by, "prediction": text, "reference": "x y"}
    for by, text in (("p", "x"), ("q", "x y"))
]


def sha256(*cells: list[Any]) -> str:
    return hashlib.sha256("\n".join(sorted(map(json.dumps, cells))).encode()).hexdigest()


def test_the_hash_is_that_of_systems_items_and_ratings_as_json() -> None:
    # On record, so that the line in a paper can be held against the data by hand.
    human: dict[str, list[Any]] = {"b": [[2, 1], [4, None]], "a": [3, 5]}
    # The cells are in the order of their JSON, and not in that of the samples.
    named = correlate([1, 2], human, item=["i", 7], system=["y", "x"], draws=0).data
    assert named.sha256 == sha256(
        ["y", "i", {"a": [3.0], "b": [2.0, 1.0]}], ["x", "7", {"a": [5.0], "b": [4.0]}]
    )
    alone = correlate([1, 2], human, draws=0).data
    assert alone.sha256 == sha256(
        ["0", "0", {"a": [3.0], "b": [2.0, 1.0]}], ["0", "1", {"a": [5.0], "b": [4.0]}]
    )
    assert alone[:4] == (2, 1, 2, 2)
    grouped = correlate([1, 2], [3, 5], item=["i", "i"], draws=0).data
    assert grouped.sha256 == sha256(["0", "i", {"human": [3.0]}], ["1", "i", {"human": [5.0]}])


def test_the_hash_of_preferences_is_that_of_items_systems_and_sides_as_json() -> None:
    pairs = {"mine": ([1, 2], [2, 1])}
    options: dict[str, Any] = {"item": ["i", 7], "systems": (["x", "x"], ["y", "z"]), "draws": 0}
    votes: dict[str, list[Any]] = {"b": ["a", "tie"], "a": [["b", None], ["b", "a"]]}
    named = correlate_preferences(pairs, votes, **options).data
    assert named.sha256 == sha256(
        ["i", "x", "y", {"a": [-1.0], "b": [1.0]}], ["7", "x", "z", {"a": [-1.0, 1.0], "b": [0.0]}]
    )
    assert named[:4] == (2, 3, 2, 2)
    alone = correlate_preferences(pairs, ["a", "b"], draws=0).data
    assert alone.sha256 == sha256(
        ["0", "a", "b", {"preferred": [1.0]}], ["1", "a", "b", {"preferred": [-1.0]}]
    )
    assert alone[:4] == (2, 1, 2, 1)


def test_json_has_every_number_and_null_for_none() -> None:
    options: dict[str, Any] = {"coefficient": "tau_b", "draws": 0, "confidence": 0.9, "seed": 3}
    agreement = correlate({"m": SCORES}, {"größe": HUMAN}, item=ITEM, system=SYSTEM, **options)
    document = json.loads(agreement.to_json())
    row = {"dimension": "größe", "level": "item", "coefficient": "tau_b", "low": None, "high": None,
           "undefined": 0, "unscored": 0, "epsilon": None, "note": ""}  # fmt: skip
    assert document == {
        "line": agreement.line(),
        "protocol": None,
        "data": {"samples": 6, "systems": 3, "items": 2, "raters": 1,
                 "sha256": agreement.data.sha256},
        "draw": "both",
        "draws": 0,
        "seed": 3,
        "confidence": 0.9,
        "signatures": {},
        "results": [
            # All pairs of item a are right, and two of three of item b.
            {**row, "metric": "m", "value": pytest.approx((1 + 1 / 3) / 2), "used": 2},
            {**row, "metric": "human ceiling", "value": None, "used": 0},
            {**row, "metric": "chance", "value": 0, "used": 0},
        ],
        "judges": [],
        "notes": [],
    }  # fmt: skip
    assert agreement.to_dict()["results"][0]["value"] == agreement.row().value
    assert "\n" not in agreement.to_json(indent=None)
    assert agreement.to_json().splitlines()[1].startswith('  "line"')
    assert '"größe"' in agreement.to_json()


def test_what_is_cited_stands_once_and_nothing_is_cited_of_none() -> None:
    agreement = correlate(SCORES, HUMAN, draws=0)
    assert "intervals:" not in agreement.line()
    assert agreement.cite() == agreement.line()
    cited = replace(agreement, citations=["", "@a", "@b", "@a"], signatures={"m": "x", "n": "x"})
    assert cited.cite() == f"{agreement.line()}\nx\n\n@a\n\n@b"


PAPERS = [
    ("g-eval", "liu-etal-2023-g"),
    ("summeval", "fabbri-etal-2021-summeval"),
    ("qags", "wang-etal-2020-asking"),
    ("wmt20-darr", "mathur-etal-2020-results"),
    ("wmt25", "lavie-etal-2025-findings thompson-etal-2024-improving deutsch-etal-2023-ties"),
    ("true", "honovich-etal-2022-true"),
]


def test_a_protocol_cites_its_own_papers_in_their_order() -> None:
    results = [
        (name, " ".join(entry.split("{")[1].split(",")[0] for entry in row.bibtex.split("\n\n")))
        for name, row in protocols().items()
    ]
    assert results == PAPERS


@dataclass(frozen=True, kw_only=True)
class Turning(Metric):
    """The number of letters, and how often it was asked about a text."""

    times: ClassVar[Counter[str]] = Counter()

    async def observe(self, prediction: str) -> dict[str, float]:
        self.times[prediction] += 1
        return {"letters": len(prediction), "asked": self.times[prediction]}

    def score(self, letters: Any, asked: Any) -> dict[str, Any]:
        return {"score": letters, "asked": asked}


def test_each_output_of_a_judge_has_its_own_consistency_in_its_own_report() -> None:
    Turning.times.clear()
    rows = [{"prediction": text} for text in ("a", "bb", "ccc")]
    report = Hub(Turning(name="mine")).evaluate(rows, repeats=2)
    judges = judges_of(report, ["mine.asked", "other", "mine"])
    facts = [(judge.metric, judge.runs, judge.same.value) for judge in judges]
    assert facts == [("mine.asked", 2, 0), ("mine", 2, 1)]
    narrow, usual, same, wide = (
        judges_of(report, ["mine"], *how)[0].same.low for how in ((0.5,), (), (0.95,), (0.99,))
    )
    assert narrow > usual == same > wide
    assert judges_of(Hub(Turning(name="mine")).evaluate(rows), ["mine"]) == []


def test_votes_are_said_in_words_and_joined_to_samples() -> None:
    sides: dict[str, Any] = {"system_a": "xyx", "system_b": "yxz", "winner": ["x", "x", ""]}
    votes = Votes.of({"item": [1, 1, 2], **sides})
    assert votes.words() == [["a", "a"], [None, None]]
    assert Votes.of({"doc": [1, 1, 2], **sides}, "doc").words() == votes.words()
    for item, system, name in ((None, ["x"], "item"), (["1"], None, "system")):
        with pytest.raises(InputError, match=f"need the {name} of every sample"):
            votes.check(item, system)
    assert Votes.of({name: [] for name in ("item", *sides)}).sides.shape == (0, 1)


@pytest.mark.parametrize("name", ["level", "cut", "yes_from", "threshold"])
def test_preferences_take_no_options_of_ratings(name: str) -> None:
    report = Hub("token_f1").evaluate(VOTED)
    votes = {"item": [1], "system_a": ["p"], "system_b": ["q"], "winner": ["q"]}
    options: dict[str, Any] = {"preferences": votes, "draws": 0}
    assert report.agreement(**options, **{name: None}).row(coefficient="accuracy").value == 1
    for value in ("item", 0):
        with pytest.raises(ParameterError, match=f"{name}=.* applies to ratings only"):
            report.agreement(**options, **{name: value})


@pytest.mark.parametrize(
    ("values", "table"),
    [
        ([1, "yes", " NO ", ""], [[1], [1], [0], [NAN]]),
        ([[1, None], "nan", [], (2, 3)], [[1, NAN], [NAN, NAN], [NAN, NAN], [2, 3]]),
        (np.array(["yes", "no", "2", ""]), [[1], [0], [2], [NAN]]),
        (np.array([True, False, True, True]), [[1], [0], [1], [1]]),
        (np.array([[1, 2], [3, 4], [5, 6], [7, 8]]), [[1, 2], [3, 4], [5, 6], [7, 8]]),
        ([np.array([1, 2]), 3, 4, 5], [[1, 2], [3, NAN], [4, NAN], [5, NAN]]),
    ],
)
def test_ratings_have_as_many_raters_as_the_most_of_a_sample(values: Any, table: Any) -> None:
    ratings = read_ratings("good", values, 4)
    np.testing.assert_array_equal(ratings.table, table)
    assert ratings.raters == len(table[0])


WORDS = [
    {"doc": d, "by": by, "prediction": text, "references": ["x y", "y"], "good": good}
    for d, by, text, good in [
        (1, "p", "x", 1), (1, "q", "x y", 3), (2, "p", "y", 2), (2, "q", "z", 1),
    ]
]  # fmt: skip


LAYOUTS: list[tuple[dict[str, Any], tuple[int, int, int], str]] = [
    ({}, (4, 1, 4), "pooled"),
    ({"item": "doc"}, (4, 1, 2), "item"),
    ({"item": "doc", "system": "by"}, (4, 2, 2), "item"),
    ({"system": "by"}, (4, 2, 2), "item"),
]


@pytest.mark.parametrize(("named", "data", "level"), LAYOUTS)
def test_a_report_is_laid_out_by_the_columns_that_are_named(
    named: dict[str, Any], data: tuple[int, int, int], level: str
) -> None:
    agreement = Hub("token_f1").evaluate(WORDS).agreement("good", **named, draws=0)
    assert agreement.data[:3] == data
    assert {row.level for row in agreement.rows} == {level}


def test_a_report_s_agreement_is_of_the_metrics_and_outputs_that_are_chosen() -> None:
    report = Hub(["token_f1", "wer"]).evaluate(WORDS)
    assert report.agreement("good", metrics="wer", draws=0).metrics == ["wer"]
    assert report.agreement(["good"], draws=0).metrics == ["token_f1", "wer"]
    assert "token_f1.recall" in report.agreement("good", all_outputs=True, draws=0).metrics


def test_a_report_calibrates_the_metrics_and_by_the_weight_that_are_chosen() -> None:
    rows = [{**row, "label": row["good"] if row["doc"] == 1 else None} for row in WORDS]
    report = Hub(["token_f1", "wer"]).evaluate(rows)
    assert list(report.calibrated("label")) == ["token_f1", "wer"]
    assert list(report.calibrated("label", metrics="wer")) == ["wer"]
    for weight in (0.0, 0.5):
        mean = report.calibrated("label", weight=weight)["token_f1"]["score"]
        # By the better reference x has 2/3 and x y has 1, y has 1 and z nothing.
        assert mean.weight == weight
        assert mean.mean == pytest.approx(2 + weight * (1 / 2 - 5 / 6))


def test_a_report_without_columns_has_none_to_name() -> None:
    report = Hub("token_f1").evaluate([{"prediction": "x", "reference": "x"}])
    with pytest.raises(MissingColumn, match=r"no column 'good' \(columns: none\)"):
        report.agreement("good")
    columns = r"no column 'god'; did you mean 'good'\? \(columns: doc, by, good\)"
    with pytest.raises(MissingColumn, match=columns):
        Hub("token_f1").evaluate(WORDS).agreement("god")


def test_a_table_of_agreement_is_written_as_other_tables_are() -> None:
    row = AgreementRow(metric="<m>", dimension="d", level="item", coefficient="tau_b", value=0.25)
    agreement = correlate([1, 2, 3], [1, 3, 2], draws=0, level="pooled", coefficient="pearson")
    text = replace(agreement, rows=[row], notes=["a & b"])
    head = ["metric", "dimension", "level", "coefficient", "value", "low", "high", "used"]
    frame = text.to_frame()
    assert ([*frame], frame["value"].tolist()) == (head, [0.25])
    assert text.to_csv() == f"{','.join(head)}\n<m>,d,item,tau_b,0.25,,,0\n"
    assert text.to_markdown().splitlines()[2] == r"| \<m> | d | item | tau_b | 0.2500 | – | – | 0 |"
    assert text.to_markdown().endswith("`a & b`\n")
    assert "<td>&lt;m&gt;</td>" in text._repr_html_()
    assert "<p>a &amp; b</p>" in text._repr_html_()
    shown = repr(text).splitlines()
    assert (shown[0].split(), shown[2:]) == (head, [text.line(), "a & b"])
    # Columns that no row fills are left out.
    for more in ({"undefined": 1}, {"unscored": 2, "note": "so"}, {"epsilon": 0.5}):
        rows = [row, replace(row, **more)]
        assert list(replace(text, rows=rows).table().head) == [*head, *more]
