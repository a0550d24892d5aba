"""`metrichub agreement`: files with ratings in, a table of agreement out."""

import json
from pathlib import Path

import pytest

from metrichub import Hub
from metrichub.agreement import tau_b
from metrichub.agreement.shares import agresti_coull
from metrichub.errors import InputError
from tests.commands import error, run, write
from tests.report.test_page import Page

# Words that are shared with the references grow with the rating but for one pair of item b.
ROWS = [
    {"doc_id": item, "system": system, "prediction": text, "references": ["b c d e"], "good": good}
    for item, system, text, good in [
        ("i", "x", "b", 1),
        ("i", "y", "b c", 2),
        ("i", "z", "b c d", 4),
        ("j", "x", "b c", 3),
        ("j", "y", "b c d", 2),
        ("j", "z", "b c d e", 5),
    ]
]
F1 = [0.4, 2 / 3, 6 / 7, 2 / 3, 6 / 7, 1.0]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("rated.jsonl", ROWS)


def measured(*arguments: str) -> dict:
    result = run("agreement", "rated.jsonl", *arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def values(*arguments: str) -> list[float | None]:
    return [row["value"] for row in measured(*arguments, "--draws", "0")["results"]]


def test_a_metric_is_correlated_with_a_column_of_ratings() -> None:
    # tau-b is 1 for item i and 1/3 for j, whose pair (x, y) is turned round.
    arguments = ("-m", "token_f1", "--human", "good", "--coefficient", "tau_b")
    assert values(*arguments) == [pytest.approx(2 / 3), None, 0]
    assert values(*arguments, "--level", "pooled")[0] == pytest.approx(
        tau_b(F1, [1, 2, 4, 3, 2, 5])
    )


def test_a_file_is_read_and_reduced_as_the_options_say() -> None:
    rows = [{**row, "prediction": [row["prediction"], "x"], "kept": True} for row in ROWS]
    write("rated.log", [*rows, {**rows[0], "kept": False}])
    reading = "--input-format jsonl --where kept=true --draws 0 --format json"
    arguments = ("agreement", "rated.log", "-m", "token_f1", "--human", "good", *reading.split())
    assert json.loads(run(*arguments).stdout)["data"]["samples"] == 6
    # The worse of two predictions shares no word with any reference.
    message = run(*arguments, "--reduce", "worst").stderr
    assert "token_f1 gives every rated sample the same score" in message


def test_g_eval_scores_each_reference_alone_and_takes_the_mean() -> None:
    rows = [{**row, "references": ["b c d e", "b x"]} for row in ROWS]
    write("rated.jsonl", [*rows, {**rows[0], "doc_id": "k", "references": []}])
    names = ["readability", "token_f1", "ttr", "wer"]
    metrics = [word for name in names for word in ("-m", name)]
    document = measured(*metrics, "--human", "good", "--protocol", "g-eval", "--draws", "0")
    assert (document["protocol"], document["data"]["samples"]) == ("g-eval", 7)
    # By the second reference "b" has 2/3, "b c" 1/2 and so on: the means keep the order, while by
    # the better reference "b" and "b c" were equal.
    values = {(r["metric"], r["coefficient"]): r["value"] for r in document["results"]}
    assert values["token_f1", "tau_b"] == pytest.approx(2 / 3)
    # Metrics keep their order, though some read no references.
    shown = dict.fromkeys(metric.partition(".")[0] for metric, _ in values)
    assert [name for name in shown if name in names] == names
    each = {n for n, line in document["signatures"].items() if line.endswith("|mean of each")}
    assert each == {"token_f1", "wer"}


FORMATS = {
    "table": "metric ",
    "markdown": "| metric | dimension |",
    "latex": "\\begin{tabular}",
    "csv": "metric,dimension,level,coefficient,value,low,high,used",
}


@pytest.mark.parametrize("form", FORMATS)
def test_the_table_comes_in_every_format(form: str) -> None:
    options = "-m token_f1 --human good --draws 9 --ranks --cite --format"
    result = run("agreement", "rated.jsonl", *options.split(), form)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(FORMATS[form])
    assert ("values:item pearson" in result.stdout) == (form != "csv")


def shown(*arguments: str, width: int = 80) -> list[str]:
    options = ("agreement", "rated.jsonl", *arguments, "--format", "table")
    ran = run(*options, env={"COLUMNS": str(width)})
    assert ran.exit_code == 0, ran.stderr
    return ran.stdout.splitlines()


def test_the_table_begins_with_the_metric_that_agrees_best() -> None:
    asked = ("--human", "good", "--coefficient", "tau_b", "--level", "pooled", "--draws", "0")
    write("rated.jsonl", [{**row, "same": row["good"], "none": i} for i, row in enumerate(ROWS)])
    lines = shown("-m", "token_f1", "--score", "none", "--score", "same", *asked)
    # A copy of the ratings has 1, the row's number less than token_f1's 0.741 of F1 above.
    value = tau_b(F1, [1, 2, 4, 3, 2, 5])
    text = " ".join(lines)
    assert text.startswith("same agrees best with people on good: tau_b 1.000 (chance 0.000).")
    assert f"token_f1 ({value:.3f}) can't be told from it (p = " in text
    rows = [line.split() for line in lines[lines.index("") + 2 :]]
    assert [row[:2] for row in rows[:2]] == [["same", "1.000"], ["token_f1", f"{value:.3f}"]]
    assert [row[0] for row in rows[2:4]] == ["none", "chance"]
    assert lines[-1] == "6 outputs · 3 systems · 2 items · tau_b, pooled · all: --verbose"


@pytest.mark.parametrize("width", [60, 80, 160])
def test_the_table_is_metrics_and_nine_lines_however_much_is_asked(width: int) -> None:
    levels = ("--level", "item", "--level", "pooled", "--level", "system")
    coefficients = ("--coefficient", "tau_b", "--coefficient", "pearson")
    asked = ("-m", "ttr", "-m", "token_f1", "--human", "good", *levels, *coefficients)
    lines = shown(*asked, "--draws", "9", width=width)
    # token_f1, and ttr with its four headline outputs.
    assert len(lines) <= 5 + 9 or width < 80
    assert max(map(len, lines)) <= width
    text = " ".join(lines)
    assert ("columns hidden" in text) == (width < 160)
    assert all(head in text for head in ("item tau_b", "system pearson")) or width < 160
    table = shown(*asked, "--draws", "9", "--verbose", width=160)
    assert table[0].split()[:4] == ["metric", "dimension", "level", "coefficient"]
    assert len(table) > 30


MISTAKES = [
    ("--human god", 3, "there is no column 'god'; did you mean 'good'?"),
    ("--human prediction", 3, "sample 0: prediction is 'b' (str); a rating is a number"),
    ("--human good --level corpus", 2, "level='corpus' is not allowed"),
    ("--human good --protocol geval", 2, "did you mean 'g-eval'"),
    ("--human good --system doc_id", 3, "has 3 samples of item 'i'; there has to be one"),
    ("--human good --better mine=lower", 2, "write COLUMN=higher, lower or neither"),
    ("--human good --fail-under blue=1", 2, "no such metric (metrics: token_f1)"),
    ("--human good --fail-under token_f1", 2, "isn't METRIC=N"),
    ("--human good --score token_f1", 2, "--score token_f1 has the name of a chosen"),
]


@pytest.mark.parametrize(("arguments", "status", "message"), MISTAKES)
def test_a_mistake_is_one_line(arguments: str, status: int, message: str) -> None:
    options = ("-m", "token_f1", *arguments.split(), "--draws", "0")
    assert message in error(run("agreement", "rated.jsonl", *options), status)


def test_nothing_to_correlate_with_is_said_before_the_file_is_read() -> None:
    assert "nothing to correlate with; add --human COLUMN" in error(
        run("agreement", "none.jsonl"), 2
    )


def test_verdicts_of_a_report_are_counted_against_labels() -> None:
    rows = [{**row, "label": row["good"] >= 3} for row in ROWS]
    report = Hub(["token_f1", "wer"]).evaluate(rows)
    with pytest.raises(InputError, match=r"good isn't yes or no; verdicts need a column of 1"):
        report.verdicts("good", "token_f1")
    verdicts = report.verdicts("label", "token_f1", cut=0.8)
    # Yes by scores are samples 2, 4 and 5, by people 2, 3 and 5.
    assert (verdicts.confusion, verdicts.disagreements) == (((2, 1), (1, 2)), (3, 4))
    assert report.verdicts("label", "wer", cut=0.3).disagreements == (3, 4)


def test_score_adds_the_mean_that_people_would_give() -> None:
    labels = [*(f - 0.2 for f in F1[:3]), None, None, None]
    rows = [{**row, "label": label} for row, label in zip(ROWS, labels, strict=True)]
    write("rated.jsonl", rows)
    arguments = ("score", "rated.jsonl", "-m", "token_f1", "--calibrate", "label")
    result = run(*arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    calibrated = json.loads(result.stdout)["calibrated"]["token_f1"]["score"]
    expected = Hub("token_f1").evaluate(rows).calibrated("label")["token_f1"]["score"]._asdict()
    lacking = ("low", "high", "labels_low", "labels_high", "same", "kappa")
    assert calibrated == pytest.approx(expected | dict.fromkeys(lacking))
    assert "label: 2 of 3 labels differ from the most common one: an interval" in result.stderr
    cells = run(*arguments, "--format", "table").stdout.splitlines()[-3].split()
    assert cells == ["token_f1", "score", f"{calibrated['mean']:.4f}", "–", "–", "3"]
    head = run(*arguments, "--format", "csv").stdout.splitlines()[0]
    assert head.endswith("calibrated,calibrated low,calibrated high,labels")
    write("other.jsonl", rows)
    assert "give one FILE" in error(run(*arguments, "other.jsonl"), 2)
    unknown = run(*arguments[:-1], "lable", "--format", "json")
    assert "no column 'lable'; did you mean 'label'" in error(unknown, 3)


def test_labels_of_yes_and_no_are_shown_with_their_interval() -> None:
    write("rated.jsonl", [{**ROWS[0], "label": label} for label in [1] * 11 + [0] + [None] * 3])
    options = ("-m", "token_f1", "--calibrate", "label", "--format", "csv")
    result = run("score", "rated.jsonl", *options)
    # The rows are all alike, so the labels alone say how many are right: 11 of 12.
    low, high = agresti_coull(11, 12)[1:]
    cells = result.stdout.splitlines()[1].split(",")[-4:]
    assert list(map(float, cells)) == pytest.approx([11 / 12, low, high, 12], abs=1e-4)
    assert "label: 1 of 12 labels differ from the most common one; label more" in result.stderr


def test_what_was_measured_is_written_beside_the_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrichub.catalog.registry.Entry.folder", Path())

    def last_study(metric: str, *more: str) -> tuple[dict, str]:
        options = ("-m", metric, "--human", "good", "--draws", "9", *more)
        result = run("agreement", "rated.jsonl", *options)
        assert result.exit_code == 0, result.stderr
        return json.loads(Path("agreement.json").read_text())["studies"][-1], result.stderr

    study, message = last_study("token_f1", "--write", "mine")
    assert "wrote agreement.json; 'metrichub check token_f1 --update' adds it to" in message
    assert (study["data"]["name"], study["spec"], study["data"]["items"]) == ("mine", "token_f1", 2)
    # Rows of the ceiling and of chance are columns of the metric's.
    names = [(row["dimension"], row["coefficient"]) for row in study["results"]]
    assert names == [("good", name) for name in ("pearson", "spearman", "tau_b")]
    protocol = study["protocol"], study["draws"], study["confidence"], study["references"]
    assert protocol == ("no named one", 9, 0.95, "references as the metric takes them")
    _, message = last_study("token_f1", "--write", "mine")
    assert "unchanged: agreement.json" in message
    other = ("--protocol", "g-eval", "--confidence", "0.9", "--write", "other")
    study, _ = last_study("short = token_f1()", *other)
    assert (study["data"]["name"], study["spec"]) == ("other", "short = token_f1()")
    assert (study["protocol"], study["confidence"], study["shown"]) == ("g-eval", 0.9, True)
    assert study["references"] != "references as the metric takes them"
    assert {row["output"] for row in study["results"]} == {"score"}
    study, _ = last_study("rouge", "--write", "third")
    outputs = list(dict.fromkeys(row["output"] for row in study["results"]))
    assert outputs == ["rouge1", "rouge2", "rougeL", "rougeLsum"]
    assert study["date"][:2] == "20"


def test_ranks_and_citations_are_shown_on_request_alone() -> None:
    arguments = ("-m", "token_f1", "--human", "good", "--draws", "9")
    assert not {"ranks", "cite"} & measured(*arguments).keys()
    document = measured(*arguments, "--ranks", "--cite")
    assert document["ranks"][0]["ranks"] == {"token_f1": 1}
    paper = "@inproceedings{rajpurkar-etal-2016-squad"
    assert paper in document["cite"]
    tables = {
        flag: run("agreement", "rated.jsonl", *arguments, *flag, "--format", "table").stdout
        for flag in ((), ("--ranks",), ("--cite",))
    }
    assert [flag for flag, text in tables.items() if " rank" in text] == [("--ranks",)]
    signature = str(Hub("token_f1").evaluate(ROWS).signatures()["token_f1"])
    for cited in (signature, paper):
        assert [flag for flag, text in tables.items() if cited in text] == [("--cite",)]
    assert [text.count("agreement|values:") for text in tables.values()] == [0, 1, 1]


def test_scores_of_a_file_have_no_card_to_write_beside() -> None:
    options = ("--score", "good", "--human", "good", "--draws", "9", "--write", "mine")
    result = run("agreement", "rated.jsonl", *options)
    assert result.exit_code == 2
    assert "--write needs -m METRIC, as columns of scores have no card" in result.stderr


def test_a_page_shows_the_agreement_that_was_measured_and_every_sample() -> None:
    write("rated.jsonl", [{**row, "fine": 5 - int(str(row["good"]))} for row in ROWS])
    options = (
        "-m token_f1 -m wer --human good --human fine --coefficient tau_b --level item --draws 9"
    )
    result = run("agreement", "rated.jsonl", *options.split(), "--report", "p.html")
    assert result.exit_code == 0, result.stderr
    page = Path("p.html").read_text("utf-8")
    # Both rank alike, and tau-b, which is 1 and 1/3, is as the terminal says it.
    assert "<h1>token_f1 agrees best with people on good: tau_b 0.667 (chance 0.000)</h1>" in page
    assert '<p class="answer">wer (0.667) can&#39;t be told from it (p = 1).</p>' in page
    assert "Agreement on good <small>Kendall&#39;s tau-b</small>" in page
    assert "<small>on the ratings it was chosen by</small>" in page
    assert "tau-b over the outputs of each item, then the mean over items" in page
    actual = Page(Path("p.html"))
    assert "b c d e" in json.dumps(actual.samples)
    assert [rating["name"] for rating in actual.data["people"]["ratings"]] == ["good", "fine"]


def test_a_page_shows_agreement_with_preferences() -> None:
    rows = [{"a": "b c", "b": "x y", "references": ["b c"], "winner": "a"}] * 3
    write("pairs.jsonl", rows)
    pairs = ("agreement", "pairs.jsonl", "-m", "token_f1", "--pair", "a,b", "--human", "winner")
    result = run(*pairs, "--draws", "0", "--report", "p.html", "--title", "Mine")
    assert result.exit_code == 0, result.stderr
    page = Path("p.html").read_text("utf-8")
    assert "<h1>Mine</h1>" in page
    assert "<td>token_f1</td>" in page.partition('id="people"')[2]
    actual = Page(Path("p.html"))
    assert "people" not in actual.data
    assert '"x y"' in json.dumps(actual.samples)
    for side in "ab":
        write("pairs.jsonl", [*rows[:2], {**rows[2], side: 3}])
        assert "pairs.jsonl:3: predictions" in run(*pairs).stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("--score good", "--report shows samples as metrics score them; add -m METRIC"),
        ("-m token_f1 --protocol g-eval", "leave out the protocol"),
    ],
)
def test_a_page_needs_samples_that_metrics_score(arguments: str, why: str) -> None:
    options = (*arguments.split(), "--human", "good", "--report", "p.html")
    assert why in error(run("agreement", "rated.jsonl", *options), 2)
