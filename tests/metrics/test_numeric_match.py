"""Numeric match: the numbers that texts have, and how far they are apart."""

import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metric_cards.numeric_match.numbers import reader
from metrichub import Hub, load_metric
from metrichub.errors import InputError
from tests.vectors import answer_vectors


def samples(predictions: list[Any], references: list[Any], **parameters: Any) -> list[float]:
    report = Hub(load_metric("numeric_match", **parameters)).evaluate(
        predictions=predictions, references=references
    )
    values: list[float] = report.samples()["numeric_match"]["score"].tolist()
    return values


def score(prediction: str, reference: Any, **parameters: Any) -> float:
    return samples([prediction], [reference], **parameters)[0]


# inspect compares "(42)" as text, since it begins with no digit.
INSPECT = {("(42)", "42"): 1.0}


@pytest.mark.parametrize(
    "row",
    [
        case
        for case in answer_vectors("match (inspect)")
        # tests/metrics/test_exact_match.py has the others.
        if case.values[0]["params"]["numeric"]
    ],
)
def test_equals_the_numeric_match_of_inspect(row: dict[str, Any]) -> None:
    pair = row["inputs"]["prediction"], row["inputs"]["reference"]
    # Where inspect looks for a number at the beginning or anywhere, it takes the first.
    first = row["params"]["location"] in ("begin", "any")
    extract = {"extraction": "regex('[0-9]+', which='first')"} if first else {}
    assert score(*pair, **extract) == INSPECT.get(pair, row["expected"]["score"])


# HELM compares characters: with its dot, which stands for any, and with ".0".
HELM = {("1500.0", "The answer is 1,500."): 1.0, ("3 4", "x 3 4"): math.nan}


@pytest.mark.parametrize("row", answer_vectors("helm final_number_exact_match"))
def test_equals_the_final_number_of_helm_but_for_characters(row: dict[str, Any]) -> None:
    pair = row["inputs"]["prediction"], row["inputs"]["reference"]
    value = score(*pair, extraction="last_number")
    assert value == pytest.approx(HELM.get(pair, row["expected"]), nan_ok=True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("18", 18), ("-07", -7), ("+7", 7), (".5", "1/2"), ("-.5", "-1/2"), ("1.50", "3/2")),
        *(("1,234.5", "2469/2"), ("12,345,678", 12345678), ("1'000", 1000), ("1’000", 1000)),
        *(("1\u2009000", 1000), ("1\u202f000", 1000), ("1\u00a0000\u00a0000", 1000000)),
        *(("1,5", None), ("1,2345", None), ("12,34,567", None), ("1 000", None)),
        *(("1,000 000", None), ("1_000", None)),
        *(("3/4", "3/4"), ("2 1/2", "5/2"), ("100 / 3", "100/3"), ("½", "1/2"), ("2½", "5/2")),
        *(("-½", "-1/2"), ("5/0", None), ("1/2/2024", None), ("1 1 1/2", None)),
        *(("1e3", 1000), ("2.5E-3", "1/400"), ("3×10^5", 300000), ("2 x 10^{-3}", "1/500")),
        *(("1e99999", None), ("5e3.2", None), ("10^2", None), ("10²", None)),
        *(("−3", -3), ("–3", -3), ("٤٢", 42), ("１２", 12), ("$-5", -5), ("-$5", -5)),
        *(("US$5", 5), ("2.50€", "5/2"), ("\\$5", 5), ("x = 5.", 5), ("**18**", 18)),
        *(("COVID-19", 19), ("H2O", None), ("5 m^2", 5), ("5 m²", 5), ("3rd", 3)),
        *(("10-3", None), ("5–6", None), ("12:30", None), ("1.2.3", None), ("3x5", None)),
        *((">= 42", None), ("x > 5", None), ("≤5", None), ("± 2", None), ("<b>5</b>", 5)),
        *(("10^-2", None), ("10^{2}", None), ("x^{2} = 5", 5), ("5\u00a0%", 5)),
        # LaTeX of numbers, and of what isn't one.
        *(("1{,}000", 1000), ("70,\\!000", 70000), ("1,\\! 000", 1000), ("1\\,000", 1000)),
        *(("\\frac{3}{4}", "3/4"), ("\\dfrac34", "3/4"), ("$\\tfrac 34$", "3/4")),
        *(("-\\frac12", "-1/2"), ("- \\frac{1}{2}", "-1/2"), ("\\frac{-1}{2}", "-1/2")),
        *(("2\\frac{1}{2}", "5/2"), ("-2\\frac12", "-5/2"), ("\\boxed{\\frac{1}{2}}", "1/2")),
        *(("12^\\circ", 12), ("12^{\\circ}C", 12), ("12\\degree", 12), ("\\$5", 5), ("20\\%", 20)),
        *(("-\\$5", -5), ("5\\text{ cm}^2", 5), ("\\(5\\)", 5), ("3\\times 10^{5}", 300000)),
        *(("\\sqrt{2}", None), ("2\\pi", None), ("\\frac{\\sqrt3}{2}", None), ("5 \\pm 2", None)),
        *(("5π", None), ("√2", None), ("2√3", None), ("5 π", None), ("2/π", None), ("5·π", None)),
        *(("π2", None), ("π ≈ 3.14", "157/50"), ("5 µm", 5), ("∛8", None)),
        *(("\\frac{3.5}{2}", None), ("\\frac{1}{0}", None), ("2 \\cdot 3", None)),
        *(("so 9 * 2 = 18\n#### 18", 18), ("nan", None), ("inf", None), ("", None)),
    ],
)
def test_a_text_has_the_number_that_stands_alone_in_it(text: str, value: Any) -> None:
    number = reader(".")(text)
    assert (number and number.value) == (None if value is None else Fraction(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.234,5", "2469/2"), ("1,5", "3/2"), (",5", "1/2"), ("1.5", None), ("1,2,3", None)],
)
def test_a_decimal_comma_is_read_where_it_is_set(text: str, value: Any) -> None:
    number = reader(",")(text)
    assert (number and number.value) == (None if value is None else Fraction(value))


@pytest.mark.parametrize(
    ("prediction", "reference", "same", "either"),
    [
        ("50%", "50%", 1, 1),
        ("50%", "0.5", 1, 1),
        ("10%", "0.1", 1, 1),
        ("50 %", "50", 0, 1),
        ("50", "50 percent", 0, 1),
        ("0.5", "50 per cent", 1, 1),
        ("50%", "0.5%", 0, 0),
        ("50", "0.5", 0, 0),
        ("50％", "0.5", 1, 1),
        ("20\\%", "0.2", 1, 1),
        ("20\\%", "20", 0, 1),
    ],
)
def test_a_percentage_is_a_number_and_may_lack_its_sign(
    prediction: str, reference: str, same: int, either: int
) -> None:
    assert score(prediction, reference) == same
    assert score(prediction, reference, percent="either") == either


@pytest.mark.parametrize(
    ("prediction", "reference", "required"),
    [
        *(("5 km", "5km.", 1), ("5 m", "5 km", 0), ("5", "5 km", 0), ("$5", "€5", 0)),
        *(("$5", "5 $", 1), ("5", "5", 1), ("$\\frac34$", "3/4", 1), ("5 mW", "5 MW", 0)),
    ],
)
def test_units_are_ignored_or_required(prediction: str, reference: str, required: int) -> None:
    assert score(prediction, reference) == 1
    assert score(prediction, reference, units="require") == required


WRITTEN = st.decimals(-1000, 1000, places=3).map(str)
LIMITS = st.sampled_from([0.0, 0.001, 0.01, 0.1, 0.3, 1.0])


@given(st.lists(st.tuples(WRITTEN, WRITTEN), min_size=1), LIMITS, LIMITS)
def test_tolerances_are_exact_and_relative_to_the_reference(
    pairs: list[tuple[str, str]], absolute: float, relative: float
) -> None:
    # By decimals; texts of both sides in their short form and with a unit, which is read slowly.
    expected = [
        float(
            abs(Decimal(a) - Decimal(b))
            <= max(Decimal(str(absolute)), Decimal(str(relative)) * abs(Decimal(b)))
        )
        for a, b in pairs
    ]
    limits = {"absolute": absolute, "relative": relative}
    ours, theirs = ([pair[side] for pair in pairs] for side in (0, 1))
    assert samples(ours, theirs, **limits) == expected
    assert samples([f"{text} m" for text in ours], theirs, **limits) == expected


def test_a_limit_that_a_float_misses_is_met() -> None:
    # In floats, 0.8 - 0.5 is more than 0.3, and 0.1 * 3 more than 0.3.
    assert samples(["0.5", "3.3"], ["0.8", "3"], absolute=0.3) == [1, 1]
    assert samples(["3.3", "3.301"], ["3", "3"], relative=0.1) == [1, 0]
    assert score("1", "3", absolute=math.inf) == 1


def test_numbers_beyond_floats_are_compared_exactly() -> None:
    assert score("12345678901234567890", "12345678901234567891") == 0
    assert score("0.30000000000000000001", "0.3") == 0
    assert score("0.1000000000000000000", "1/10") == 1
    assert score("1e400", "1" + "0" * 400) == 1


def test_a_sample_needs_a_reference_with_a_number_and_scores_0_without_one_of_its_own() -> None:
    texts = {"predictions": ["5", "five", "5"], "references": ["5", "5", "five"]}
    report = Hub("numeric_match").evaluate(**texts)
    # The third is left out.
    assert report.scores() == {"numeric_match": {"score": 0.5, "parsed": 0.5}}
    assert report.counts() == {"numeric_match": {"unscored": 1}}
    assert score("5", ["six", "5"]) == 1
    none = Hub("numeric_match", extract="boxed").evaluate(predictions=["5"], references=["5"])
    assert none.scores() == {"numeric_match": {"score": 0.0, "parsed": 0.0}}
    assert none.counts() == {"numeric_match": {"unextracted": 1}}


@pytest.mark.parametrize(
    "text",
    [
        *("{" * 100_000, "9" * 1_000_000, "1,111" * 200_000, "1,111," + "111," * 200_000),
        *("1 " * 300_000, "$ " * 300_000, "9" * 900 + "^9" * 1000, "1." * 300_000),
        *(" " * 1_000_000 + "5", "> " * 300_000 + "5", "####" * 100_000, "½" * 100_000),
        *("x 10^" * 100_000, "\\frac{" * 100_000, "5" + " \\" * 200_000, "^{" * 200_000),
    ],
    ids=lambda text: json.dumps(text[:9]),
)
def test_hostile_replies_are_read_in_one_pass(text: str) -> None:
    # Any pass over all pairs of places would take hours.
    assert score(text, "7") == 0


@pytest.mark.parametrize(
    "metric",
    [
        "exact_match",
        "exact_match(extract='last_number')",
        "numeric_match",
        "numeric_match(decimal=',')",
        "math_equivalence",
        "majority_vote",
        "classification",
    ],
)
@pytest.mark.parametrize("form", ["lists", "jsonl", "parquet", "csv"])
def test_numbers_are_read_where_numbers_or_labels_are_compared(
    metric: str, form: str, tmp_path: Path
) -> None:
    if "math" in metric:
        pytest.importorskip("math_verify", reason="math_verify is not installed")
    # Tables hold the whole number 18 as a fraction where another one is missing.
    columns: dict[str, Any] = {"prediction": ["18", "21", 20], "reference": [18.0, [21, 5], 18]}
    path = data = tmp_path / f"a.{form}"
    if form == "jsonl":
        rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    elif form == "parquet":
        pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
        columns = {"prediction": ["18", "21", "20"], "reference": [18.0, 21.0, 18.0]}
        parquet.write_table(pyarrow.table(columns), path)
    elif form == "csv":
        path.write_text("prediction,reference\n18,18\n21,21\n20,18\n", "utf-8")
    scores = Hub(metric)(columns if form == "lists" else data).values()
    # Two of three are right.
    assert [outputs["score"] for outputs in scores] == [2 / 3]


def test_a_number_has_the_decimal_mark_that_is_read() -> None:
    # As text under a decimal comma, 2.5 would be no number, and 1.234 a thousand and more.
    assert samples([2.5, 1.234], ["2,5", "1,234"], decimal=",") == [1, 1]
    assert samples([1e-7, Decimal("2.50"), 10**20], ["0.0000001", "2.5", 1e20]) == [1, 1, 1]


@pytest.mark.parametrize("value", [True, None, math.nan, {"text": "18"}])
def test_what_is_no_number_is_refused_as_elsewhere(value: Any) -> None:
    with pytest.raises(InputError) as caught:
        samples(["18"], [value])
    with pytest.raises(InputError) as other:
        Hub("bleu")(predictions=["18"], references=[value])
    assert str(caught.value) == str(other.value)


def test_numbers_are_refused_where_texts_are_compared() -> None:
    with pytest.raises(InputError, match=r"is 18 \(int\), not text; .* compares numbers$"):
        Hub("bleu")(predictions=["18"], references=[18])
    with pytest.raises(InputError, match="numeric_match and bleu read in different ways"):
        Hub(["numeric_match", "bleu"])(predictions=["18"], references=[18])
    # Labels and numbers have the same texts.
    several = Hub(["exact_match", "numeric_match", "classification"])
    assert several(predictions=["18"], references=[18.0])["exact_match"]["score"] == 1
    # More than a float holds.
    large = 10**400
    assert several(predictions=[str(large)], references=[large])["exact_match"]["score"] == 1
