"""`metrichub agreement` on files: where mistakes lie, what is drawn and written, and the bounds."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.commands import error, run, write
from tests.judge_stub import Stub, failure
from tests.judge_toys import spec
from tests.report.test_page import Page

# token_f1 with "b c d e": 2/5, 2/3 and 6/7.
TEXTS = ["b", "b c", "b c d"]
RATED: list[dict[str, Any]] = [
    {"id": i, "system": "x", "prediction": text, "reference": "b c d e", "good": good, "who": who}
    for i, (text, ratings) in enumerate(zip(TEXTS, ([1, 2], [3, 2], [4, 5]), strict=True))
    for who, good in zip("AB", ratings, strict=True)
]
ARENA = [
    {"id": 1, "model_a": "x", "model_b": "y", "winner": "y", "m": "a"},
    {"id": 2, "model_a": "y", "model_b": "z", "winner": "y", "m": "a"},
    {"id": 3, "model_a": "x", "model_b": "z", "winner": "tie", "m": "tie"},
]
OF_RATED = ("agreement", "rated.jsonl", "-m", "token_f1", "--human", "good")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("rated.jsonl", RATED)
    write("arena.jsonl", ARENA)


def measured(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--draws", "0", "--format", "json")
    assert result.exit_code == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


@pytest.mark.parametrize(
    "arguments",
    [
        "--rater whom",
        "--rater who --item idea",
        "--rater who --system systems",
        "--rater who --human best",
        "--severity good --item idea",
        "--severity who --item id --category kind",
        "--severity who --item id --rater whom",
        "--item id --severity how",
        "--item idea",
        "--system systems",
        "--score mine",
    ],
)
def test_a_column_that_the_file_lacks_is_named(arguments: str) -> None:
    *_, name = options = arguments.split()
    message = error(run(*OF_RATED, *options), 3)
    assert f"rated.jsonl: there is no column {name!r}" in message
    assert message.rstrip().endswith("(columns: id, system, prediction, reference, good, who)")


@pytest.mark.parametrize(
    "more",
    ["", "--rater who", "--severity how --item id", "--rater who --protocol g-eval"],
)
def test_a_text_that_cannot_be_scored_is_told_by_its_line(more: str) -> None:
    columns = {"how": "minor", "references": ["b c d e", "b"]}
    texts = {0: "b", 1: "b c", 2: 7}
    rows = [
        {"id": row["id"], "who": row["who"], "good": row["good"], "prediction": texts[row["id"]]}
        for row in RATED
    ]
    write("rated.jsonl", [row | columns for row in rows])
    assert "rated.jsonl:5: predictions" in error(run(*OF_RATED, *more.split()), 3)


def test_preferences_beside_ratings_are_no_preferences() -> None:
    write("mixed.jsonl", [{"m": n, "ab": "ab"[n % 2], "good": n + 3} for n in range(4)])
    arguments = ("agreement", "mixed.jsonl", "--score", "m", "--human")
    for names in (("ab", "good"), ("good", "ab")):
        message = error(run(*arguments, names[0], "--human", names[1]), 3)
        assert "sample 0: ab is 'a' (str); a rating is a number" in message


@pytest.mark.parametrize(
    ("draw", "shown"), [(None, "both"), ("items", "items"), ("systems", "systems")]
)
def test_preferences_between_systems_draw_what_is_asked_for(draw: str | None, shown: str) -> None:
    more = () if draw is None else ("--draw", draw)
    document = measured("agreement", "arena.jsonl", "--human", "winner", "--score", "m", *more)
    # Of two pairs that people don't tie the second is right.
    assert (document["draw"], document["results"][0]["value"]) == (shown, 1 / 2)
    assert document["data"]["systems"] == 3


def test_votes_of_an_item_s_raters_are_gathered_by_its_systems_too() -> None:
    write("arena.jsonl", [{**row, "id": 1} for row in (*[ARENA[0]] * 3, ARENA[2])])
    options = ("--human", "winner", "--score", "m", "--rater", "id")
    document = measured("agreement", "arena.jsonl", *options)
    assert (document["data"]["samples"], document["data"]["raters"]) == (2, 3)


@pytest.mark.parametrize(("least", "status"), [("0.5", 0), ("0.51", 1), ("0.49", 0), ("nan", 2)])
def test_agreement_that_equals_its_bound_is_enough(least: str, status: int) -> None:
    arguments = ("agreement", "arena.jsonl", "--human", "winner", "--score", "m", "--draws", "0")
    bound = ("--coefficient", "accuracy", "--fail-under", f"m={least}")
    assert run(*arguments, *bound).exit_code == status


def test_every_value_below_a_bound_is_told() -> None:
    arguments = ("--level", "pooled", "--draws", "0", "--fail-under", "token_f1=1.5")
    rows = [row for row in RATED if row["who"] == "A"]
    write("rated.jsonl", [{**row, "good": 1 if row["id"] else 2} for row in rows])
    output = run(*OF_RATED, *arguments).stderr
    assert [line for line in output.splitlines() if "failed" in line] == [
        f"metrichub: failed: token_f1: {name} of pooled with good is {value}, below 1.5"
        # Scores .4, .667, .857 less their mean .641 beside ratings 2, 1, 1 less 4/3: r is
        # -.2413 / sqrt(.1055 · .6667); ranks 1, 2, 3 and 3, 1.5, 1.5: -1.5 / sqrt(2 · 1.5); two of
        # three pairs are wrong and one is tied: -2 / sqrt(3 · 2).
        for name, value in (("pearson", "-0.9099"), ("spearman", "-0.8660"), ("tau_b", "-0.8165"))
    ]


def test_the_table_is_written_where_it_is_asked_for() -> None:
    result = run(*OF_RATED, "--rater", "who", "--draws", "0", "--output", "table.csv")
    assert (result.exit_code, result.stdout) == (0, "")
    lines = Path("table.csv").read_text("utf-8").splitlines()[1:4]
    assert [line.split(",")[0] for line in lines] == ["token_f1", "human ceiling", "chance"]


def test_the_mean_of_a_protocol_has_no_rank_of_its_own() -> None:
    rows = [
        {"id": i, "system": s, "m": m, "n": -m, "good": m + i}
        for i in range(3)
        for m, s in enumerate("xyz")
    ]
    write("rated.jsonl", rows)
    options = ["--score", "m", "--score", "n", "--human", "good", "--protocol", "wmt25", "--ranks"]
    document = measured("agreement", "rated.jsonl", *options)
    assert {row["level"] for row in document["results"]} == {"system", "item", "average"}
    assert [(place["level"], place["coefficient"]) for place in document["ranks"]] == [
        ("system", "soft_pairwise_accuracy"),
        ("item", "acc_eq_calibrated"),
    ]
    assert document["ranks"][0]["ranks"] == {"m": 1, "n": 1}


def test_a_page_of_errors_shows_their_scores() -> None:
    rows = [
        {"item": i, "how": how, "prediction": text, "reference": "b c d e"}
        for i, (text, how) in enumerate(zip(TEXTS, ("major", "minor", "no-error"), strict=True))
    ]
    write("mqm.jsonl", rows)
    arguments = ("agreement", "mqm.jsonl", "-m", "token_f1", "--severity", "how", "--item", "item")
    result = run(*arguments, "--draws", "0", "--report", "p.html")
    assert result.exit_code == 0, result.stderr
    page = Path("p.html").read_text("utf-8")
    assert "<h1>token_f1 agrees with people on mqm: " in page
    ratings = Page(Path("p.html")).data["people"]["ratings"]
    assert ratings == [{"name": "mqm", "values": [[-5, -1, 0]]}]


def test_options_that_are_repeated_add_up() -> None:
    rows = [
        {"d": d, "s": s, "m": m, "n": n, "good": g, "fine": f}
        for d, s, m, n, g, f in [
            (1, "x", 1, 3, 1, 2), (1, "y", 2, 2, 2, 1), (2, "x", 1, 4, 2, 2), (2, "y", 3, 1, 1, 3),
        ]
    ]  # fmt: skip
    write("rated.jsonl", rows)
    options = (
        "--score m --score n --human good --human fine --level pooled --level item --item d "
        "--system s --coefficient tau_b --coefficient acc_eq --better m=higher --better n=lower "
        "--fail-under m=-1 --fail-under n=-1 --ranks"
    )
    keys = ("metric", "dimension", "level", "coefficient")
    document = measured("agreement", "rated.jsonl", *options.split())
    values = {
        tuple(row[key] for key in keys): row["value"]
        for row in document["results"]
        if row["metric"] in "mn"
    }
    # Of the pairs of each item m and -n have both: right of one by "good", of one by "fine".
    for name, dimension in product("mn", ("good", "fine")):
        assert values[name, dimension, "item", "tau_b"] == 0
        assert values[name, dimension, "item", "acc_eq"] == 1 / 2
    assert len(values) == 2 * 2 * 2 * 2
    ranked = {tuple(place[key] for key in keys[1:]) for place in document["ranks"]}
    assert ranked == {place[1:] for place in values}


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ("", [1000, 0.95, 12345, "items", None]),
        ("--draws 7 --confidence 0.8 --seed 3 --protocol qags", [7, 0.8, 3, "items", "qags"]),
    ],
)
def test_options_reach_the_result_or_have_the_defaults_of_the_help(
    options: str, shown: list[Any]
) -> None:
    result = run(*OF_RATED, "--rater", "who", *options.split(), "--format", "json")
    document = json.loads(result.stdout)
    assert [document[name] for name in ("draws", "confidence", "seed", "draw", "protocol")] == shown


@pytest.mark.parametrize("better", ["m=up", "n=lower", "lower", "m=", "=lower"])
def test_a_direction_is_one_of_three_words_for_a_score(better: str) -> None:
    arguments = ("agreement", "arena.jsonl", "--human", "winner", "--score", "m")
    message = error(run(*arguments, "--better", better), 2)
    assert f"--better {better}: write COLUMN=higher, lower or neither" in message


def test_votes_that_fit_no_sample_are_told_before_anything_is_scored() -> None:
    write("rated.jsonl", [{**row, "prediction": 7} for row in RATED if row["who"] == "A"])
    for head, row, message in (
        ("id,system_a,system_b,winner", "9,x,y,a", "the votes are on other samples"),
        ("id,system_a,system_b", "0,x,y", "votes have no column 'winner'"),
    ):
        Path("votes.csv").write_text(f"{head}\n{row}\n", encoding="utf-8")
        arguments = ("agreement", "rated.jsonl", "-m", "token_f1", "--preferences", "votes.csv")
        assert message in error(run(*arguments), 3)
    # Votes that fit let the texts be read.
    Path("votes.csv").write_text("id,system_a,system_b,winner\n0,x,y,a\n", encoding="utf-8")
    assert "rated.jsonl:1: predictions" in error(run(*arguments), 3)


@pytest.mark.parametrize(
    ("name", "start"),
    [("plot.svg", b"<?xml"), ("plot.png", b"\x89PNG"), ("plot", b"\x89PNG")],
)
def test_a_plot_has_the_format_of_its_file(name: str, start: bytes) -> None:
    pytest.importorskip("matplotlib", reason="the extra plots is not installed")
    assert run(*OF_RATED, "--rater", "who", "--draws", "0", "--plot", name).exit_code == 0
    assert Path(name).read_bytes().startswith(start)


def test_verdicts_in_a_column_are_taken_as_they_are_and_turned_by_no_direction() -> None:
    rows = [{"m": m, "a": a, "b": b, "won": w} for m, a, b, w in
            [("a", 2, 1, "a"), ("b", 1, 3, "a"), ("tie", 2, 2, "b"), ("b", 1, 2, "b")]]  # fmt: skip
    write("pairs.jsonl", rows)
    arguments = ("agreement", "pairs.jsonl", "--human", "won", "--coefficient", "accuracy")
    document = measured(*arguments, "--score", "m", "--score", "a,b")
    values = {row["metric"]: row["value"] for row in document["results"]}
    # Two of four are right, by words as by numbers.
    assert (values["m"], values["a,b"]) == (2 / 4, 2 / 4)
    lower = measured(*arguments, "--score", "a,b", "--better", "a,b=lower")
    assert lower["results"][0]["value"] == 1 / 4
    plain = measured(*arguments, "--score", "m", "--better", "m=neither")
    assert plain["results"][0]["note"] == "neither direction is better"


def test_the_program_ends_with_4_where_a_judge_failed_on_a_sample(stub: Stub) -> None:
    rows = [{"answer": "One.", "contexts": ["One."], "good": n} for n in range(3)]
    write("judged.jsonl", rows)
    judged = ("agreement", "judged.jsonl", "-m", "faithfulness", "--judge", spec(stub))
    arguments = (*judged, "--human", "good", "--draws", "0", "--max-errors", "3", "--no-cache")
    assert run(*arguments).exit_code == 0
    stub.always = failure(400)
    failed = run(*arguments)
    assert failed.exit_code == 4
    assert "3 failed" in failed.stderr
    # A bound that isn't reached comes first.
    assert run(*arguments, "--fail-under", "faithfulness=0.5").exit_code == 1


def test_a_single_reference_is_scored_as_it_is_where_each_is_alone() -> None:
    # By its letters the first of "b", "bb" and "bb dd" would be the best.
    rows = [
        {"id": i, "system": s, "prediction": text, "reference": "bb dd", "good": n}
        for i in range(2)
        for n, (s, text) in enumerate(zip("xyz", ("b", "bb", "bb dd"), strict=True))
    ]
    write("rated.jsonl", rows)
    document = measured(*OF_RATED, "--protocol", "g-eval", "--columns", "references=reference")
    assert [row["value"] for row in document["results"] if row["metric"] == "token_f1"] == [1, 1]


def test_votes_are_joined_by_the_columns_that_are_named() -> None:
    rows = [
        {"doc": i, "by": s, "prediction": text, "reference": "b c d e"}
        for i in (4, 5)
        for s, text in zip("xyz", TEXTS, strict=True)
    ]
    write("outputs.jsonl", rows)
    votes = ["doc,model_a,model_b,preferred", "4,x,y,y", "5,y,z,model_a", "5,x,z,z"]
    Path("votes.csv").write_text("\n".join([*votes, ""]), encoding="utf-8")
    arguments = ("agreement", "outputs.jsonl", "-m", "token_f1", "--preferences", "votes.csv")
    document = measured(*arguments, "--item", "doc", "--system", "by")
    # z is the better of y and z by the metric alone: two of three.
    assert document["results"][0]["value"] == pytest.approx(2 / 3)
    assert document["draw"] == "both"
    assert "votes have no column 'doc_id'" in error(run(*arguments), 3)
    lacking = error(run(*arguments, "--item", "doc"), 3)
    assert "votes between systems need the system of every sample" in lacking
