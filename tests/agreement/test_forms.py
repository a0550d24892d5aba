"""`metrichub agreement` beside the forms in which people's judgements come."""

import json
from pathlib import Path
from typing import Any

import pytest

from metrichub.agreement import pearson
from tests.commands import error, run, write

# token_f1 with "b c d e": "b" 2/5, "b c" 2/3, "b c d" 6/7.
PAIRS: list[dict[str, Any]] = [
    {"id": 1, "one": "b", "two": "b c", "gold": "b c d e", "winner": "two", "ab": "b"},
    {"id": 2, "one": "b c d", "two": "b", "gold": "b c d e", "winner": "model_a", "ab": "a"},
    {"id": 3, "one": "b c d", "two": "b c", "gold": "b c d e", "winner": "b", "ab": "b"},
    {"id": 4, "one": "b c", "two": "b c", "gold": "b c d e", "winner": "tie", "ab": "tie"},
]
OF_PAIRS = ("-m", "token_f1", "--columns", "references=gold")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("pairs.jsonl", PAIRS)


def measured(*arguments: str) -> dict[str, Any]:
    result = run("agreement", *arguments, "--draws", "0", "--format", "json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def values(*arguments: str) -> dict[tuple[str, str], float | None]:
    return {
        (row["metric"], row["coefficient"]): row["value"] for row in measured(*arguments)["results"]
    }


def test_two_outputs_a_row_are_scored_alone_and_compared() -> None:
    numbers = values("pairs.jsonl", *OF_PAIRS, "--pair", "one,two", "--human", "winner")
    # Two of the three pairs that people don't tie are in order.
    assert numbers["token_f1", "accuracy"] == pytest.approx(2 / 3)
    assert numbers["token_f1", "tau_wmt"] == pytest.approx(1 / 3)
    assert numbers["chance", "accuracy"] == 0.5


def test_without_a_column_of_winners_the_first_output_is_preferred() -> None:
    # As in a reward benchmark, chosen and rejected: rows 2 and 3 are right, row 1 is wrong, and the
    # tie of row 4 is wrong, too.
    numbers = values("pairs.jsonl", *OF_PAIRS, "--pair", "one,two")
    assert numbers["token_f1", "accuracy"] == 2 / 4


def test_a_winner_is_a_system_s_name_where_rows_name_both() -> None:
    rows = [
        {"question_id": 1, "model_a": "x", "model_b": "y", "winner": "y", "judge": "model_b"},
        {"question_id": 2, "model_a": "y", "model_b": "z", "winner": "y", "judge": "model_b"},
        {"question_id": 2, "model_a": "x", "model_b": "z", "winner": "tie", "judge": "tie"},
    ]
    write("arena.jsonl", rows)
    arguments = ("arena.jsonl", "--human", "winner", "--score", "judge")
    document = measured(*arguments, "--coefficient", "acc_eq", "--coefficient", "kappa")
    # The judge says b, b, tie and people b, a, tie: 2 of 3, and (2·1 + 1·1)/9 by chance.
    assert document["results"][0]["value"] == pytest.approx(2 / 3)
    assert document["results"][3]["value"] == pytest.approx((2 / 3 - 1 / 3) / (1 - 1 / 3))
    assert (document["data"]["systems"], document["draw"]) == (3, "both")


MQM = [
    ("s1", "x", "A", "Accuracy/Omission", "Major", "b <v>c</v>"),
    ("s1", "x", "A", "Fluency/Punctuation", "Minor", "<v>b</v> c"),
    ("s1", "x", "B", "No-error", "No-error", "b c"),
    ("s1", "y", "A", "Style/Awkward", "Minor", "b <v>c</v> d"),
    ("s2", "x", "A", "Non-translation!", "Major", "<v>b</v>"),
    ("s2", "y", "A", "No-error", "No-error", "b c d"),
]


def test_a_row_for_each_error_becomes_a_score_of_each_segment_and_rater() -> None:
    head = "seg_id\tsystem\trater\tcategory\tseverity\ttarget\treference\tlength"
    rows = ["\t".join((*row, "b c d e", str(len(row[5])))) for row in MQM]
    Path("mqm.tsv").write_text("\n".join([head, *rows, ""]), encoding="utf-8")
    asked = (
        "mqm.tsv -m token_f1 --columns predictions=target --coefficient pearson --level pooled "
        "--severity severity --rater rater --item seg_id"
    )
    f1 = [2 / 3, 6 / 7, 2 / 5, 6 / 7]
    # Scores are -(5.1 + 0)/2 and -1 of s1, and -25 and 0 of s2. Without categories a
    # non-translation is a major error, and punctuation a minor one.
    for more, rated in ((("--category", "category"), [-2.55, -1, -25, 0]), ((), [-3, -1, -5, 0])):
        document = measured(*asked.split(), *more)
        assert document["results"][0]["value"] == pytest.approx(pearson(f1, rated))
        assert (document["data"]["raters"], document["results"][0]["dimension"]) == (2, "mqm")


def test_yes_and_no_are_read_as_labels_and_ratings_by_a_bound() -> None:
    rows = [
        {"m": m, "ok": ok, "grade": grade}
        for m, ok, grade in [(1, "no", 2), (2, "yes", 4), (3, "no", 1), (4, "yes", 5)]
    ]
    write("rated.jsonl", rows)
    # Of four pairs of a yes and a no one is the wrong way round: 2 below 3.
    assert values("rated.jsonl", "--score", "m", "--human", "ok")["m", "auc"] == 3 / 4
    graded = ("rated.jsonl", "--score", "m", "--human", "grade", "--yes-from", "4")
    assert values(*graded)["m", "auc"] == 3 / 4
    cut = (*graded, "--coefficient", "balanced_accuracy", "--cut", "3", "--level", "pooled")
    # 3 and 4 are a yes: one of two each, and both errors are there to be read.
    (verdicts,) = measured(*cut)["verdicts"]
    assert (verdicts["confusion"], verdicts["disagreements"]) == ([[1, 1], [1, 1]], [1, 2])
    assert (verdicts["tpr"]["value"], verdicts["tnr"]["value"], verdicts["kappa"]) == (0.5, 0.5, 0)
    shown = run("agreement", *cut, "--draws", "0", "--format", "table").stdout
    assert "true no  false yes  false no  true yes" in shown


def test_how_far_a_judge_agrees_with_itself_stands_beside() -> None:
    rows = [{"prediction": "p" * n, "reference": "r", "ab": "ab"[n % 2]} for n in range(2, 8)]
    write("pairs.jsonl", rows)
    judged = "pairs.jsonl -m pairwise(question=False) --judge chance --human ab"
    arguments = judged.split()
    asked = measured(*arguments, "--repeats", "3")["judges"]
    narrow = measured(*arguments, "--repeats", "3", "--confidence", "0.5")["judges"]
    # The judge is a hash of the texts: it says the same whenever it is asked, in any order.
    for (judge,) in (asked, narrow):
        facts = judge["metric"], judge["runs"], judge["same"], judge["order"]
        assert facts == ("pairwise", 3, 1, 1)
    assert narrow[0]["same_low"] > asked[0]["same_low"]
    form = ("agreement", *arguments, "--draws", "0", "--format")
    assert "metric    runs   order  order_low  order_high" in run(*form, "table").stdout
    head, *lines = run(*form, "csv").stdout.splitlines()
    assert head.endswith("judge runs,judge order,judge order_low,judge order_high")
    assert [line.count(",") for line in lines] == [head.count(",")] * 6
    row = dict(zip(head.split(","), lines[0].split(","), strict=True))
    assert (float(row["judge runs"]), float(row["judge order"])) == (1, 1)


MISTAKES = [
    ("", 2, "nothing to correlate with; add --human COLUMN"),
    ("--pair one", 2, "'one' isn't two columns; write A,B"),
    ("--pair ,two", 2, "',two' isn't two columns; write A,B"),
    ("--pair one,", 2, "'one,' isn't two columns; write A,B"),
    ("--pair one,two,three", 2, "'one,two,three' isn't two columns; write A,B"),
    ("--pair one,tow", 3, "there is no column 'tow'; did you mean 'two'?"),
    ("--human ab", 2, "token_f1 scores one output, but people chose between two"),
    ("--pair one,two --human gold", 3, "pair 0: gold is 'b c d e' (str); write 'a'"),
    ("--pair one,two --level item", 2, "choose None, as it applies to ratings only"),
    ("--pair one,two --protocol qags", 2, "choose wmt20-darr, the only one for preferences"),
    ("--pair one,two --human winner --human gold", 2, "--pair needs exactly one --human"),
    ("--pair one,two --severity winner --item id", 2, "--pair needs exactly one --human"),
    ("--pair one,two --preferences votes.csv", 2, "replaces --human"),
    ("--human ab --preferences votes.csv", 2, "replaces --human"),
    ("--severity winner --item id --preferences v.csv", 2, "replaces --human"),
    ("--preferences none.csv", 3, "none.csv"),
    ("--severity winner", 2, "--severity needs --item COLUMN"),
    ("--category winner --human id", 2, "--category needs --severity"),
    ("--severity gold --item id", 3, "row 0: an error is 'major', 'minor' or"),
    ("--pair one,two --draw systems", 2, "there are no systems to resample"),
]


@pytest.mark.parametrize(("arguments", "status", "message"), MISTAKES)
def test_a_mistake_is_one_line(arguments: str, status: int, message: str) -> None:
    columns = () if "--pair" in arguments else ("--columns", "predictions=one")
    options = (*OF_PAIRS, *columns, *arguments.split(), "--draws", "0")
    assert message in error(run("agreement", "pairs.jsonl", *options), status)


def test_help_has_an_example_of_each_form() -> None:
    shown = " ".join(run("agreement", "--help-all").stdout.split())
    for part in ("--human relevance", "--rater annotator", "--severity severity", "--pair answer_a",
                 "--preferences votes.csv", "-m pairwise --human winner"):  # fmt: skip
        assert part in shown, part
