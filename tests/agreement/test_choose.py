"""`choose`: the output that agrees best, measured on documents that it wasn't chosen by."""

import json
from collections.abc import Sequence
from math import atanh, isnan, sqrt, tanh
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from metrichub import Hub
from metrichub.agreement import choose, correlate, tau_b
from metrichub.agreement.choice import (
    distinct_orders,
    estimated,
    folds_of,
    left_out,
    shuffled,
    tau_b_columns,
)
from metrichub.errors import InputError, MetrichubError, MissingColumn
from tests.commands import error, run, write
from tests.vectors import SHARED

RNG = np.random.default_rng(5)
SIZE, DOCUMENTS = 60, np.repeat(np.arange(20), 3)
QUALITY = RNG.normal(size=SIZE)
NOISE = {f"noise{k}": RNG.normal(size=SIZE) for k in range(6)}
RATINGS = np.clip(np.round(QUALITY + 3), 1, 5)
GOOD = QUALITY + RNG.normal(size=SIZE) / 2


def test_many_columns_have_the_tau_b_of_scipy() -> None:
    x, y = RNG.integers(0, 6, (30, 5)) / 3, RNG.integers(1, 5, (30, 4)).astype(float)
    expected = [[stats.kendalltau(a, b).statistic for b in y.T] for a in x.T]
    np.testing.assert_allclose(tau_b_columns(x, y), expected, atol=1e-12)
    assert np.isnan(tau_b_columns(np.ones((30, 1)), y)).all()


def test_the_vectors_of_choosing() -> None:
    path = SHARED / "conformance" / "choose-vectors.jsonl"
    if not path.exists():
        pytest.skip("needs ../shared")
    vectors = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for vector in vectors:
        if vector["kind"] == "tau_b":
            taus = tau_b_columns(np.array(vector["x"]), np.array(vector["y"])[:, None])
            np.testing.assert_allclose(taus[:, 0], vector["expected"]["tau"], atol=1e-11)
        if vector["kind"] == "choose":
            outputs = distinct_orders(np.array(vector["x"]), np.array(vector["agreement"]))
            assert sorted(outputs) == vector["expected"]["kept"]


def test_folds_divide_the_documents_and_not_their_rows() -> None:
    folds = folds_of(DOCUMENTS, [7, 0])
    assert len(set(zip(DOCUMENTS, folds, strict=True))) == 20
    assert np.bincount(folds).tolist() == [12] * 5
    assert (folds != folds_of(DOCUMENTS, [7, 1])).any()


@pytest.mark.parametrize(
    ("sign", "free", "pick"), [(1, False, 0), (-1, False, -1), (1, True, 0), (-1, True, 0)]
)
def test_an_output_that_runs_against_its_card_is_not_chosen(
    sign: int, free: bool, pick: int
) -> None:
    folds = folds_of(DOCUMENTS, 1)
    scores, picks = left_out(sign * QUALITY[:, None], RATINGS, np.array([free]), folds)
    assert set(picks.ravel()) == {pick}
    assert scores.any() == (pick == 0)


def test_a_fold_is_scored_by_the_choice_on_the_others_standardized_by_them() -> None:
    # On the second half the first output agrees, on the first half the other one.
    x = np.array([[9, 1], [5, 2], [8, 3], [1, 9], [2, 5], [3, np.nan]])
    y, folds = np.array([1.0, 2, 3, 1, 2, 3])[:, None], np.array([0, 0, 0, 1, 1, 1])
    scores, picks = left_out(x, y, np.array([False, False]), folds)
    assert picks.tolist() == [[0], [1]]
    # Of 1, 2 and 3 the mean is 2, and the deviation the root of 2/3; a gap is at the mean.
    deviation = sqrt(2 / 3)
    expected = [7 / deviation, 3 / deviation, 6 / deviation, 7 / deviation, 3 / deviation, 0]
    np.testing.assert_allclose(scores[:, 0], expected)


def test_an_interval_leaves_out_each_document_in_turn() -> None:
    result, without = estimated(GOOD[None], RATINGS, DOCUMENTS, 0.9)
    taus = [tau_b(GOOD[k != DOCUMENTS], RATINGS[k != DOCUMENTS]) for k in range(20)]
    np.testing.assert_allclose(without, [taus], atol=1e-12)
    # Efron's jackknife, on Fisher's z scale by the delta method, made wider by 1.3.
    error_ = sqrt(19 / 20 * ((taus - np.mean(taus)) ** 2).sum())
    value = tau_b(GOOD, RATINGS)
    reach = 1.3 * stats.t.ppf(0.95, 19) * error_ / (1 - value**2)
    ends = [tanh(atanh(value) - reach), tanh(atanh(value) + reach)]
    np.testing.assert_allclose(result, [value, *ends])


def test_ratings_are_shuffled_among_documents_of_one_size() -> None:
    documents = np.array([0, 1, 1, 2, 3, 3, 4, 4, 4])
    ratings = np.arange(9.0)
    orders = {tuple(shuffled(ratings, documents, np.random.default_rng(k))) for k in range(2000)}
    # Rows 0 and 3 swap; those of 1 and 3 swap as documents and within; three move within.
    assert len(orders) == 2 * (2 * 2 * 2) * 6
    assert all({row[0], row[3]} == {0, 3} and {*row[6:]} == {6, 7, 8} for row in orders)
    assert all({*row[1:3]} in ({1, 2}, {4, 5}) for row in orders)


def test_what_agrees_is_named_and_measured_on_other_documents() -> None:
    scores = {**NOISE, "good": GOOD, "twin": 2 * GOOD, "constant": np.ones(SIZE)}
    scores["gaps"] = np.where(np.arange(SIZE) < 4, np.nan, QUALITY)
    choice = choose(scores, {"overall": RATINGS}, item=DOCUMENTS, words=RNG.integers(5, 9, SIZE))
    assert (choice.metric, choice.better, choice.p, choice.agrees) == ("good", "higher", 0.01, True)
    assert (len(choice.outputs), choice.data.samples, choice.data.items) == (8, 60, 20)
    assert choice.folds == {"good": 15}
    # Always the same choice, whose folds differ only in how they are standardized.
    row = choice.row("good")
    assert row.value == pytest.approx(tau_b(GOOD, RATINGS), abs=0.05)
    assert row.low < row.value < row.high
    assert "twin" not in choice.following
    assert choice.beats_length
    assert isnan(choice.auc)
    assert isnan(choice.unseen_systems)
    narrow = choose(scores, {"overall": RATINGS}, item=DOCUMENTS, confidence=0.5)
    assert narrow.row("good").low > row.low
    assert choice.to_dict()["results"][0]["value"] == row.value
    (sentence,) = choice.sentences()
    assert sentence.startswith("good agrees best with overall: tau-b .")
    assert sentence.endswith(" on documents it wasn't chosen by.")


def test_the_order_of_rows_and_the_names_of_documents_change_nothing() -> None:
    order = RNG.permutation(SIZE)
    one = choose({"good": GOOD, **NOISE}, RATINGS, item=DOCUMENTS)
    scores = {name: x[order] for name, x in {"good": GOOD, **NOISE}.items()}
    other = choose(scores, RATINGS[order], item=DOCUMENTS[order])
    assert one.row("good").value == pytest.approx(other.row("good").value)
    assert one.row("good").low == pytest.approx(other.row("good").low)


def test_noise_and_length_are_not_taken_for_agreement() -> None:
    choice = choose(NOISE, RATINGS, item=DOCUMENTS)
    assert not choice.agrees
    assert choice.sentences()[0] == (
        "No metric here is shown to agree with these raters on the ratings."
    )
    words = np.round(20 + 5 * RATINGS + RNG.normal(size=SIZE))
    longer = {**NOISE, "long": words + 3 * RNG.normal(size=SIZE)}
    choice = choose(longer, RATINGS, item=DOCUMENTS, words=words)
    assert (choice.metric, choice.agrees, choice.beats_length) == ("long", True, False)
    assert "isn't shown to be better than the length" in choice.sentences()[1]
    against = choose({"bad": -GOOD}, RATINGS, item=DOCUMENTS)
    assert (against.metric, against.agrees) == (None, False)
    assert against.sentences()[1] == "All run against their directions."


def test_labels_low_ratings_and_other_directions() -> None:
    labels = RATINGS > 3
    choice = choose({"good": GOOD}, labels, item=DOCUMENTS)
    assert choice.auc > 0.6
    turned = choose({"good": GOOD}, 1 - labels, item=DOCUMENTS, lower_is_better=True)
    assert turned.row("good").value == choice.row("good").value
    errors = choose({"errors": -GOOD}, RATINGS, item=DOCUMENTS, better={"errors": "lower"})
    either = choose({"errors": -GOOD}, RATINGS, item=DOCUMENTS, better="neither")
    assert errors.better == either.better == "lower"
    assert "errors (lower is better) agrees best" in errors.sentences()[0]


def test_raters_agree_among_themselves_as_correlate_says() -> None:
    table = np.stack([RATINGS, np.clip(np.round(QUALITY + 2.7), 1, 5)], 1)
    table[0, 0] = np.nan
    choice = choose({"good": GOOD}, table.tolist(), item=DOCUMENTS)
    ceiling = correlate({"good": GOOD}, table, level="pooled", coefficient="tau_b", draws=0)
    expected = ceiling.row("human ceiling").value
    assert choice.row("human ceiling").value == pytest.approx(expected)


def test_systems_are_left_out_where_there_are_four() -> None:
    systems = np.tile(list("abc"), 20)
    assert isnan(choose({"good": GOOD}, RATINGS, system=systems).unseen_systems)
    # The output knows all systems but one apart, and nothing else.
    of_system = np.tile([1.0, 2, 3, 4, 5, 6], 10)
    choice = choose(
        {"by_system": of_system}, of_system + RNG.normal(size=60), system=of_system, item=DOCUMENTS
    )
    assert 0.3 < choice.unseen_systems < 1


@pytest.mark.parametrize(
    ("ratings", "item", "message"),
    [
        (np.arange(12) % 3, None, "12 ratings are too few to choose a metric by; rate 8 more"),
        (RATINGS, np.arange(SIZE) % 6, "6 documents are too few .* rate 2 more"),
        (np.full(SIZE, 3), None, "all 60 ratings are 3; nothing to agree with"),
        (["good"] * SIZE, None, "a rating is a number, yes or no"),
    ],
)
def test_ratings_that_nothing_can_be_chosen_by(ratings: Any, item: Any, message: str) -> None:
    scores = {"good": GOOD[: len(ratings)]}
    with pytest.raises(MetrichubError, match=message):
        choose(scores, ratings, item=item)


def test_outputs_that_do_not_differ_are_no_choice() -> None:
    with pytest.raises(InputError, match="none of the 1 outputs differs between rated samples"):
        choose({"constant": np.ones(SIZE)}, RATINGS)


def rows_of(ratings: Sequence[Any]) -> list[dict[str, Any]]:
    """Outputs of which the first `rating` words of five are those of the reference."""
    reference = "one two three four five"
    rows = []
    for number, rating in enumerate(ratings):
        words = reference.split()
        words[int(RATINGS[number]) :] = ["other"] * (5 - int(RATINGS[number]))
        rows.append({"doc_id": number // 3, "prediction": " ".join(words), "good": rating})
    return [{**row, "reference": reference} for row in rows]


@pytest.fixture
def rated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("rated.jsonl", rows_of([*RATINGS[:50], *[None] * 10]))
    write("few.jsonl", rows_of([*RATINGS[:12], *[None] * 48]))
    write("equal.jsonl", rows_of([3] * SIZE))
    write("preferred.jsonl", rows_of(["a", "b"] * 30))


@pytest.mark.usefixtures("rated")
def test_a_command_without_metrics_tries_all_that_the_columns_allow() -> None:
    result = run("agreement", "rated.jsonl", "--human", "good")
    assert result.exit_code == 0, result.stderr
    first, *_ = result.stdout.splitlines()
    assert "agrees best with good: tau-b" in first
    assert "length in words" in result.stdout
    text = " ".join(result.stdout.split())
    assert "50 ratings · 17 documents · shuffled ratings do as well in 1 of 100" in text
    stored = run("agreement", "rated.jsonl", "--human", "good", "--format", "json").stdout
    choice = json.loads(stored)
    # Neither a judge, nor a model, nor a metric of messages.
    names = {name.partition(".")[0] for name in (*choice["folds"], *choice["following"])}
    assert len(choice["outputs"]) > 50
    assert names.isdisjoint({"factual_correctness", "semantic_similarity", "trajectory_match"})


@pytest.mark.usefixtures("rated")
def test_the_choice_is_among_the_metrics_that_are_named() -> None:
    arguments = [
        "agreement",
        "rated.jsonl",
        "--human",
        "good",
        "-m",
        "token_f1",
        "-m",
        "wer",
        "--choose",
        "--format",
        "csv",
    ]
    head, best, *_ = run(*arguments).stdout.splitlines()
    assert head == "metric,dimension,level,coefficient,value,low,high,used"
    assert best.startswith(("token_f1", "wer"))
    assert run(*arguments, "--seed", "3").stdout != run(*arguments).stdout
    Path("page.html").unlink(missing_ok=True)
    assert run(*arguments, "--report", "page.html").exit_code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "agrees best with good: tau\u2011b" in page
    assert "on the ratings it was chosen by" not in page  # There is one column of ratings.


@pytest.mark.usefixtures("rated")
def test_a_report_chooses_as_the_command_does() -> None:
    rows = rows_of([*RATINGS[:50], *[None] * 10])
    report = Hub(["token_f1", "wer"]).evaluate(rows)
    choice = report.choose("good")
    arguments = "agreement rated.jsonl --human good -m token_f1 -m wer --choose --format json"
    stored = json.loads(run(*arguments.split()).stdout)
    assert [row.metric for row in choice.rows] == [row["metric"] for row in stored["results"]]
    assert choice.rows[0].value == stored["results"][0]["value"]
    assert choice.rows[1].metric == "length in words"
    assert report.choose({"good": RATINGS.tolist()}, metrics="wer").metric
    with pytest.raises(MissingColumn, match="no column 'godo'; did you mean 'good'"):
        report.choose("godo")
    with pytest.raises(InputError, match="preferences choose no metric yet"):
        report.choose({"winner": ["a", "b"] * 30})


@pytest.mark.usefixtures("rated")
@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("few.jsonl --human good", 2, "12 ratings are too few to choose a metric by; rate 8 more"),
        ("equal.jsonl --human good", 3, "all 60 ratings are 3; nothing to agree with"),
        ("rated.jsonl --human bad", 3, "there is no column 'bad'"),
        ("preferred.jsonl --human good", 2, "preferences choose no metric yet"),
        ("rated.jsonl --pair a,b", 2, "preferences choose no metric yet"),
        ("rated.jsonl --human good --human doc_id", 2, "one column of ratings; name one --human"),
        ("rated.jsonl --human good --level item", 2, "--level doesn't apply to choosing a metric"),
        ("rated.jsonl --human good -m wer --lower-is-better", 2, "needs a choice; add --choose"),
        ("rated.jsonl --human good --judge MODEL --max-calls 1", 2, "need about"),
    ],
)
def test_mistakes_are_said_before_anything_is_scored(
    arguments: str, status: int, message: str
) -> None:
    model = "openai(model='m', base_url='http://127.0.0.1:9/v1')"
    typed = [model if word == "MODEL" else word for word in arguments.split()]
    assert message in error(run("agreement", *typed), status)


@pytest.mark.usefixtures("rated")
def test_the_best_of_many_rows_is_said_to_be_too_high() -> None:
    arguments = [
        "agreement",
        "rated.jsonl",
        "--human",
        "good",
        "--draws",
        "0",
        "-m",
        "rouge",
        "-m",
        "token_f1",
    ]
    assert "too high" not in run(*arguments).stderr
    many = run(*arguments, "--all-outputs").stderr
    assert "the best of 18 rows is too high, as it was chosen by these ratings; --choose" in many
