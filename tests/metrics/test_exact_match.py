import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from metrichub.errors import ParameterError
from tests.vectors import vectors

AWKWARD = st.text(
    alphabet=st.one_of(
        st.sampled_from("aAnthe THE.,!?'-_01٣éİſςß\u0301\u00a0\u2028\n\0日本😀"), st.characters()
    ),
    max_size=12,
)


def score(predictions, references, **parameters):
    hub = Hub(metrics=load_metric("exact_match", **parameters))
    return hub(predictions=predictions, references=references)["exact_match"]["score"]


def normalize_answer(text):
    """SQuAD 1.1: lower case, then no punctuation, then no articles, then single spaces."""
    text = text.lower().translate(dict.fromkeys(map(ord, string.punctuation)))
    return " ".join(re.sub(r"\b(?:the|an|a)\b", " ", text).split())


@pytest.mark.parametrize("row", vectors("exact_match"))
def test_equals_the_published_values_of_evaluate(row):
    found = score(row["predictions"], row["references"], **row["params"])
    assert found == pytest.approx(row["expected"], abs=row["tolerance"])


@pytest.mark.parametrize("row", vectors("squad"))
def test_equals_the_squad_script(row):
    found = score(row["predictions"], row["references"], normalization="squad")
    expected = row["expected"]["exact_match"] / row["params"]["scale"]
    assert found == pytest.approx(expected, abs=row["tolerance"])


def test_nothing_is_normalized_by_default():
    # Each prediction differs from its reference in one respect only.
    pairs = [("Paris", "paris"), ("Paris.", "Paris"), ("Paris ", "Paris"), ("the X", "X")]
    assert [score([p], [r]) for p, r in pairs] == [0, 0, 0, 0]
    assert score(["Paris"], ["Paris"]) == 1


def test_expressions_go_before_case_and_one_after_the_other():
    # "X" is removed while it is still upper case; removing "ab" from "aabb" leaves "ab", which
    # the next expression removes.
    assert score(["Xa"], ["a"], regexes_to_ignore=("X",), ignore_case=True) == 1
    assert score(["Xa"], ["a"], regexes_to_ignore=("x",), ignore_case=True) == 0
    assert score(["aabb"], [""], regexes_to_ignore=("ab", "^ab$")) == 1


def test_digits_and_punctuation_are_those_of_ascii():
    assert score(["a1!"], ["a"], ignore_numbers=True, ignore_punctuation=True) == 1
    assert score(["a٣"], ["a"], ignore_numbers=True) == 0
    assert score(["a。"], ["a"], ignore_punctuation=True) == 0


def test_two_texts_match_if_nothing_is_left_of_either():
    assert score(["12"], ["37"], ignore_numbers=True) == 1


def test_the_squad_normalization_comes_after_the_options():
    # Without digits "7a8" is the article "a", and nothing is left of it.
    assert score(["7a8"], [""], ignore_numbers=True, normalization="squad") == 1
    assert score(["7a8"], [""], normalization="squad") == 0


def test_the_best_of_several_references_counts():
    assert score(["b"], [["a", "b", "c"]]) == 1
    assert score(["b", "d"], [["a", "b"], ["a", "c"]]) == 0.5


@given(st.lists(st.tuples(AWKWARD, AWKWARD, AWKWARD), min_size=1, max_size=6))
def test_equals_the_squad_normalization_on_any_text(rows):
    # Both a reference that differs in what is dropped and one that differs at random.
    predictions = [p for p, _, _ in rows]
    references = [[f"The {p.upper()}!", r, s] for p, r, s in rows]
    expected = [
        any(normalize_answer(p) == normalize_answer(r) for r in group)
        for p, group in zip(predictions, references, strict=True)
    ]
    report = Hub(metrics="exact_match(normalization='squad')").evaluate(
        predictions=predictions, references=references
    )
    assert report.samples()["exact_match"]["score"].tolist() == expected


@given(st.lists(st.tuples(AWKWARD, AWKWARD), min_size=1, max_size=6), *[st.booleans()] * 3)
def test_equals_the_definition_of_evaluate_on_any_text(rows, case, punctuation, numbers):
    def ignore(text):
        text = re.sub("[!?]+", "", re.sub("the ", "", text))
        text = text.lower() if case else text
        dropped = (string.punctuation if punctuation else "") + (string.digits if numbers else "")
        return "".join(character for character in text if character not in dropped)

    pairs = [(p, r) for p, q in rows for r in (q, f"the {p}!", p.upper(), f"{p}1-")]
    metric = load_metric(
        "exact_match",
        regexes_to_ignore=("the ", "[!?]+"),
        ignore_case=case,
        ignore_punctuation=punctuation,
        ignore_numbers=numbers,
    )
    report = Hub(metrics=metric).evaluate(
        predictions=[p for p, _ in pairs], references=[r for _, r in pairs]
    )
    expected = [ignore(p) == ignore(r) for p, r in pairs]
    assert report.samples()["exact_match"]["score"].tolist() == expected


def test_a_list_of_expressions_is_taken_as_a_tuple():
    listed = load_metric("exact_match", regexes_to_ignore=["a", "b"])
    assert listed == load_metric("exact_match", regexes_to_ignore=("a", "b"))
    assert hash(listed) == hash(load_metric("exact_match", regexes_to_ignore=("a", "b")))


@pytest.mark.parametrize("regex", ["(", "[a", "*", "a{99999999999999999999}"])
def test_an_invalid_expression_is_refused(regex):
    with pytest.raises(ParameterError, match=r"exact_match: regexes_to_ignore=.*re; .* isn't one"):
        load_metric("exact_match", regexes_to_ignore=("ok", regex))


@pytest.mark.parametrize(
    ("parameters", "allowed"),
    [
        ({"normalization": "SQuAD"}, "'none' or 'squad'"),
        ({"ignore_case": 1}, "True or False"),
        ({"ignore_numbers": "yes"}, "True or False"),
        ({"ignore_punctuation": None}, "True or False"),
        ({"regexes_to_ignore": "the "}, "a sequence; each item is a string"),
        ({"regexes_to_ignore": (1,)}, "a sequence; each item is a string"),
    ],
)
def test_a_value_out_of_its_domain_is_refused(parameters, allowed):
    with pytest.raises(ParameterError, match=re.escape(allowed)):
        load_metric("exact_match", **parameters)
