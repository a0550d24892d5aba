import json
import re
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from metrichub.errors import Doubt, ParameterError
from tests.oracles.squad import normal
from tests.vectors import answer_vectors, vectors

AWKWARD = st.text(
    alphabet=st.one_of(
        st.sampled_from("aAnthe THE.,!?'-_01٣éİſςß\u0301\u00a0\u2028\n\0日本😀"), st.characters()
    ),
    max_size=12,
)


def score(predictions, references, **parameters):
    hub = Hub(metrics=load_metric("exact_match", **parameters))
    return hub(predictions=predictions, references=references)["exact_match"]["score"]


@pytest.mark.parametrize("row", vectors("exact_match"))
def test_equals_the_published_values_of_evaluate(row):
    result = score(row["predictions"], row["references"], **row["params"])
    assert result == pytest.approx(row["expected"], abs=row["tolerance"])


@pytest.mark.parametrize("row", vectors("squad"))
def test_equals_the_squad_script(row):
    result = score(row["predictions"], row["references"], normalization="squad")
    expected = row["expected"]["exact_match"] / row["params"]["scale"]
    assert result == pytest.approx(expected, abs=row["tolerance"])


# What numpy does to texts, by the two differences: it drops NUL at the end, and cuts lower "İ".
NUMPY = {("x\0", "x"): 0, ("İ", "i̇"): 1}


@pytest.mark.parametrize("row", answer_vectors("exact_match (lm-eval)"))
def test_equals_lm_evaluation_harness_but_for_what_numpy_does_to_texts(row):
    pair = row["inputs"]["prediction"], row["inputs"]["reference"]
    result = score(pair[:1], pair[1:], **row["params"])
    assert result == NUMPY.get(pair, row["expected"])


@pytest.mark.parametrize("row", answer_vectors("exact_match (lm-eval, several targets)"))
def test_one_of_several_targets_is_enough(row):
    inputs = row["inputs"]
    result = score([inputs["prediction"]], [inputs["references"]], **row["params"])
    assert result == row["expected"]


@pytest.mark.parametrize("row", answer_vectors("helm quasi_leave_articles_exact_match"))
def test_words_are_compared_as_helm_does_where_it_leaves_articles(row):
    inputs = row["inputs"]
    result = score([inputs["prediction"]], [inputs["reference"]], normalization="words")
    assert result == row["expected"]
    assert score(["Yes, a Yes!"], ["yes A yes"], normalization="words") == 1
    assert score(["yes"], ["a yes"], normalization="words") == 0


def trivia(text):
    """TriviaQA: blanks for underscores, punctuation and quotes, then as in SQuAD."""
    marks = dict.fromkeys(map(ord, string.punctuation + "‘’´`"), " ")
    text = text.replace("_", " ").lower().translate(marks)
    return " ".join(re.sub(r"\b(?:the|an|a)\b", " ", text).split())


@pytest.mark.parametrize(
    "row",
    [
        case
        for case in answer_vectors("match (inspect)")
        # tests/metrics/test_numeric_match.py has the others.
        if not case.values[0]["params"]["numeric"]
    ],
)
def test_equals_the_match_of_inspect_at_each_location(row):
    inputs, params = row["inputs"], row["params"]
    metric = load_metric(
        "exact_match(inspect)", location=params["location"], ignore_case=params["ignore_case"]
    )
    hub = Hub(metric)(predictions=[inputs["prediction"]], references=[inputs["reference"]])
    assert hub["exact_match"]["score"] == row["expected"]["score"]


@pytest.mark.parametrize("row", answer_vectors("triviaqa"))
def test_the_normalization_of_triviaqa_is_that_of_its_script(row):
    assert trivia(row["inputs"]["prediction"]) == row["expected"]["normalized"]


def match_of_inspect(prediction, reference, location):
    """The text comparison of inspect's match(): blanks, case, then punctuation at the ends."""
    marks = string.whitespace + string.punctuation
    text, sought = (t.strip().casefold().strip(marks) for t in (prediction, reference))
    if location == "any":
        return sought in text
    return {"begin": text.startswith, "end": text.endswith, "exact": text.__eq__}[location](sought)


@given(
    st.lists(st.tuples(AWKWARD, AWKWARD), min_size=1, max_size=6),
    st.sampled_from(["exact", "begin", "end", "any"]),
)
def test_equals_the_definitions_of_inspect_and_triviaqa_on_any_text(rows, location):
    pairs = [(p, r) for a, b in rows for p, r in ((a, b), (f"{a} {b}", b), (b + a, b.upper()))]
    inspect = load_metric("exact_match(inspect)", location=location)
    report = Hub([inspect, "trivia = exact_match(triviaqa)"]).evaluate(
        predictions=[p for p, _ in pairs], references=[r for _, r in pairs]
    )
    result = {name: scores["score"].tolist() for name, scores in report.samples().items()}
    assert result["exact_match"] == [match_of_inspect(p, r, location) for p, r in pairs]
    assert result["trivia"] == [trivia(p) == trivia(r) for p, r in pairs]


@pytest.mark.parametrize(
    ("prediction", "reference", "places"),
    [
        ("the cat sat", "the cat", {"begin", "any"}),
        ("the cat sat", "cat sat", {"end", "any"}),
        ("the cat sat", "cat", {"any"}),
        ("the cat sat", "ca", set()),
        ("concat cat", "cat", {"end", "any"}),
        ("25", "5", set()),
        ("is (b)", "(b)", {"end", "any"}),
        ("x(b)y", "(b)", {"any"}),
        ("été", "t", set()),
        ("snake_case", "case", set()),
        # Scripts without blanks between words.
        ("答案是巴黎", "巴黎", {"end", "any"}),
        ("巴黎", "巴", {"begin", "any"}),
        ("a cat", "", set()),
        ("", "", {"begin", "end", "any"}),
        ("a", "a cat", set()),
    ],
)
def test_whole_words_are_found_where_they_are_looked_for(prediction, reference, places):
    for location in ("begin", "end", "any"):
        result = score([prediction], [reference], location=location)
        assert result == (location in places), location


def test_a_location_is_looked_up_after_the_normalization():
    assert score(["Yes, Elmendorf."], ["the YES"], normalization="squad", location="begin") == 1
    assert score(["so: Paris!"], ["paris"], location="end") == 0
    edges = {"normalization": "edges", "ignore_case": True, "location": "end"}
    assert score(["so: Paris!"], ["paris"], **edges) == 1
    assert score(["U.S.A."], ["usa"], **edges) == 0


def test_an_empty_prediction_matches_nothing_if_it_may_not():
    assert score(["", " "], ["", ""], normalization="strip") == 1
    assert score(["", " "], ["", ""], normalization="strip", match_empty=False) == 0.5


def test_a_long_reply_is_searched_in_one_pass():
    # Every place but the last is inside a word; a pattern with a gap would try all pairs of them.
    assert score(["a" * 100_000], ["a" * 500], location="any") == 0
    assert score(["b" + "a" * 100_000 + " " + "a" * 500], ["a" * 500], location="any") == 1


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


@given(st.lists(st.tuples(AWKWARD, AWKWARD, AWKWARD), min_size=1, max_size=6))
def test_equals_the_squad_normalization_on_any_text(rows):
    # Both a reference that differs in what is dropped and one that differs at random.
    predictions = [p for p, _, _ in rows]
    references = [[f"The {p.upper()}!", r, s] for p, r, s in rows]
    expected = [
        any(normal(p) == normal(r) for r in group)
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


# SQuAD's script gives all of these 1: equal but for case, punctuation and articles.
DIFFERENT = [("A", "The"), ("+", "-"), ("-5", "5"), ("C", "C++"), ("1.5", "15"), ("3-4", "34")]
ALIKE = [
    *(("1,000", "1000"), ("The U.S.", "US"), ("the cat!", "cat"), ("$5", "5"), ("A", "a")),
    *(("Dec. 5, 2010", "dec 5 2010"), ("an well-known", "wellknown"), ("No. 1.", "no 1")),
]


@pytest.mark.parametrize("spec", ["exact_match(squad)", "exact_match(helm-quasi)", "squad_v2"])
@pytest.mark.parametrize(
    ("pairs", "doubt"),
    [
        (DIFFERENT[:1], "1 match differs in signs, points of numbers or articles"),
        (DIFFERENT + ALIKE, "6 matches differ in signs, points of numbers or articles"),
        (ALIKE, ""),
        ([("a dog", "cat"), ("5", "-6"), ("", "")], ""),
    ],
)
def test_matches_of_answers_that_differ_are_doubted(spec, pairs, doubt):
    predictions, references = map(list, zip(*pairs, strict=True))
    report = Hub(f"m = {spec}").evaluate(predictions=predictions, references=references)
    notes = of_answers(report)
    assert [note[: len(doubt)] for note in notes] == ([doubt] if doubt else [])
    assert all("normalization='strip'" in note for note in notes)
    if doubt:
        stripped = Hub("m = exact_match(normalization='strip')").evaluate(
            predictions=predictions, references=references
        )
        assert not of_answers(stripped)
        halves = [report.take([0]), report.take([*range(1, len(pairs))])]
        assert len(pairs) == 1 or of_answers(halves[0].merge(halves[1])) == notes


def of_answers(report):
    """The doubts about what the normalization deletes."""
    notes = report.notes().get("m", ())
    return [note for note in notes if isinstance(note, Doubt) and note.check == "deleted answers"]


def test_no_match_of_real_answers_is_doubted():
    path = Path(__file__).parents[1] / "data" / "nq301.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    pairs = [(answer, row["references"]) for row in rows for answer in row["answers"]]
    predictions, references = map(list, zip(*pairs, strict=True))
    report = Hub("exact_match(squad)").evaluate(predictions=predictions, references=references)
    assert report.scores()["exact_match"]["score"] > 0.1
    assert not [n for n in report.notes().get("exact_match", ()) if isinstance(n, Doubt)]
