"""Batches: what goes in as a column, what metrics see of it, and what is said of bad input."""

import copy
from collections import UserList
from itertools import product
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub.data.batch import Batch
from metrichub.data.metadata import Frame
from metrichub.errors import InputError, MissingColumn
from metrichub.evaluation.run import Fingerprint
from metrichub.hub import Hub

texts = st.text(max_size=6)
groups = st.lists(texts, min_size=1, max_size=3)


def samples(**columns: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, list[Any]]]:
    """Columns of equal length, one value of each strategy a sample."""
    rows = st.lists(st.fixed_dictionaries(columns), max_size=6)
    return rows.map(lambda result: {name: [row[name] for row in result] for name in columns})


def listed(view: Any) -> dict[str, list[Any]]:
    """The arguments of a view as plain lists."""
    return {
        name: [list(v) if not isinstance(v, str) else v for v in values]
        for name, values in view.arguments.items()
    }


# What a metric sees.


@given(
    samples(predictions=texts | groups, references=groups, sources=texts),
    st.integers(1, 40),
)
def test_a_singular_input_pairs_items_and_a_plural_one_sees_the_list(
    columns: dict[str, list[Any]], characters: int
) -> None:
    # The definition, one sample at a time: a singular input takes each item in turn, the last
    # one fastest; a plural one sees the whole list in every row.
    def items(value: Any) -> list[str]:
        return [value] if isinstance(value, str) else list(value)

    rows = []
    for number in range(len(columns["predictions"])):
        sample = {name: items(values[number]) for name, values in columns.items()}
        for prediction, source in product(sample["predictions"], sample["sources"]):
            rows.append((number, prediction, source, sample["references"]))
    results = []
    for block in Batch.of(**columns).blocks(characters):
        view = block.view(("prediction", "references", "source"))
        seen = listed(view)
        numbers = range(len(block)) if view.sample is None else view.sample.tolist()
        assert view.rows == len(seen["prediction"])
        results += [
            (block.start + number, seen["prediction"][i], seen["source"][i], seen["references"][i])
            for i, number in enumerate(numbers)
        ]
    assert results == rows


def test_rows_of_two_predictions_and_three_references_vary_the_last_input_fastest() -> None:
    (block,) = Batch.of(predictions=[["a", "b"]], references=[["x", "y", "z"]]).blocks()
    view = block.view(("prediction", "reference"))
    assert listed(view) == {"prediction": list("aaabbb"), "reference": list("xyzxyz")}
    assert view.sample is not None
    assert view.sample.tolist() == [0] * 6


def test_a_plural_prediction_sees_the_candidates_together() -> None:
    (block,) = Batch.of(predictions=[["a", "b"], "c"], references=["x", "y"]).blocks()
    view = block.view(("predictions", "reference"))
    assert listed(view) == {"predictions": [["a", "b"], ["c"]], "reference": ["x", "y"]}
    assert view.sample is None


def test_one_item_a_sample_is_a_row_a_sample() -> None:
    (block,) = Batch.of(predictions=["a", ["b"]], references=[["x"], "y"]).blocks()
    assert block.view(("prediction", "reference")).sample is None


def test_a_block_computes_a_view_once() -> None:
    (block,) = Batch.of(predictions=["a"]).blocks()
    assert block.view(("prediction",)) is block.view(("prediction",))


@given(samples(predictions=texts, references=groups), st.integers(1, 50))
def test_blocks_cover_every_sample_once_in_order(
    columns: dict[str, list[Any]], characters: int
) -> None:
    batch = Batch.of(**columns)
    bounds = [(block.start, block.stop) for block in batch.blocks(characters)]
    assert [i for start, stop in bounds for i in range(start, stop)] == list(range(batch.size))
    assert all(stop > start for start, stop in bounds)


def test_a_block_ends_after_about_so_many_characters() -> None:
    # Ten samples of 6 + 4 characters in blocks of 25: the sums 10, 20, ..., 100 fall into the
    # multiples 0 (10, 20), 1 (30, 40), 2 (50, 60, 70), 3 (80, 90) and 4 (100) of 25.
    batch = Batch.of(predictions=["a" * 6] * 10, references=[["bb", "bb"]] * 10)
    assert [len(block) for block in batch.blocks(25)] == [2, 2, 3, 2, 1]


def test_values_of_other_columns_pass_as_they_are() -> None:
    (block,) = Batch.of(records=[{"a": 1}, None], numbers=[[1, 2], 3]).blocks()
    assert listed(block.view(("numbers",))) == {"numbers": [[1, 2], [3]]}
    assert block.view(("record",)).arguments["record"] == [{"a": 1}, None]


# What goes in.

PLAIN = ["the cat", "", "ein Hund"]


@pytest.mark.parametrize(
    "column",
    [
        PLAIN,
        tuple(PLAIN),
        UserList(PLAIN),
        dict.fromkeys(PLAIN).keys(),
        np.array(PLAIN),
        np.array(PLAIN, object),
        pandas.Series(PLAIN),
        pandas.Series(PLAIN, index=[7, 3, 5], dtype=object),
        pandas.Series(PLAIN, dtype="category"),
        pyarrow.array(PLAIN),
        pyarrow.chunked_array([PLAIN[:1], PLAIN[1:]]),
        [np.str_(text) for text in PLAIN],
    ],
    ids=lambda column: type(column).__module__.partition(".")[0] + "." + type(column).__name__,
)
def test_any_kind_of_column_is_read_as_its_texts(column: Any) -> None:
    assert list(Batch.of(predictions=column).columns["predictions"].items) == PLAIN


def test_an_iterator_is_read_once() -> None:
    assert list(Batch.of(predictions=iter(PLAIN)).columns["predictions"].items) == PLAIN


@pytest.mark.parametrize(
    "column",
    [
        [["a", "b"], ["c", "d"]],
        (("a", "b"), ("c", "d")),
        np.array([["a", "b"], ["c", "d"]]),
        [np.array(["a", "b"]), np.array(["c", "d"], object)],
        pandas.Series([["a", "b"], ("c", "d")]),
        pyarrow.array([["a", "b"], ["c", "d"]]),
    ],
    ids=lambda column: type(column).__module__.partition(".")[0] + "." + type(column).__name__,
)
def test_any_kind_of_nested_column_is_read_as_its_lists(column: Any) -> None:
    references = Batch.of(references=column).columns["references"]
    assert (list(references.items), references.counts.tolist()) == (["a", "b", "c", "d"], [2, 2])


@given(samples(predictions=texts, references=groups))
def test_the_callers_lists_are_never_changed(columns: dict[str, list[Any]]) -> None:
    before = copy.deepcopy(columns)
    for block in Batch.of(**columns).blocks(10):
        block.view(("prediction", "references"))
        block.view(("predictions", "reference"))
    assert columns == before


# Bad input.


@pytest.mark.parametrize("column", ["predictions", "references", "sources", "questions"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "is None, not text; give a text ('' is valid), or leave the sample out"),
        (float("nan"), "is nan (float), not text; give a text ('' is valid), or leave"),
        (7, "is 7 (int), not text; write it as text, in quotes"),
        (0.5, "is 0.5 (float), not text; write it as text"),
        (b"cat", "is b'cat' (bytes), not text; decode it: value.decode('utf-8')"),
        (bytearray(b"c"), "is bytearray(b'c') (bytearray), not text; decode it: value.decode("),
        (pandas.NA, "is <NA> (NAType), not text; give a text ('' is valid), or leave"),
        (pandas.NaT, "is NaT (NaTType), not text; give a text ('' is valid), or leave"),
        ({"text": "x"}, "is {'text': 'x'} (dict), not text"),
    ],
    ids=["None", "nan", "int", "float", "bytes", "bytearray", "NA", "NaT", "dict"],
)
def test_what_is_no_text_is_named_by_column_and_row(column: str, value: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Batch.of(**{column: ["a", "b", value, "d"]})
    assert str(caught.value).startswith(f"{column}[2] {message}")
    with pytest.raises(InputError) as caught:
        Batch.of(**{column: [["a"], ["b", "c", value]]})
    assert str(caught.value).startswith(f"{column}[1][2] {message}")


def test_a_long_value_is_shortened_in_the_message() -> None:
    with pytest.raises(InputError) as caught:
        Batch.of(predictions=[list(range(10_000)), "a"])
    assert len(str(caught.value)) < 200


NO_COLUMN = r"^predictions is .*; give a list with one entry per samp"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"predictions": pandas.Series(["a", None])}, r"^predictions\[1\] is (nan|None|<NA>)"),
        (
            {"references": pyarrow.array([b"\xe6("], pyarrow.binary()).view(pyarrow.string())},
            r"^references contains text that isn't UTF-8$",
        ),
        (
            {"references": pyarrow.array([["a", None], ["b"]])},
            r"^references\[0\]\[1\] is None",
        ),
        (
            {"predictions": "the cat sat", "references": ["a"]},
            r"^predictions is one string; .*: predictions=\['the cat sat'\]$",
        ),
        *[
            ({"predictions": column}, NO_COLUMN)
            for column in (
                *(None, 7, b"cat", {"a": "b"}, {"a", "b"}, np.array("a cat")),
                pandas.DataFrame({"a": ["x", "y"]}),
                pyarrow.table({"a": ["x", "y"]}),
            )
        ],
        (
            {"predictions": ["a", "b"], "references": ["a"]},
            "differ in length: predictions has 2, references has 1; each needs one entry",
        ),
        ({"predictions": [], "references": ["a"]}, "predictions has 0, references has 1"),
        (
            {"predictions": ["a", "b"], "references": [["x"], []]},
            r"^references\[1\] is an empty list; give at least one",
        ),
        ({"references": [[["a"]]]}, r"^references\[0\]\[0\] is \['a'\] \(list\).*too deep"),
    ],
)
def test_what_cannot_be_scored_is_named(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Batch.of(**columns)


@pytest.mark.parametrize("wrap", [list, tuple, np.array])
def test_transposed_references_are_recognised_and_the_advice_repairs_them(wrap: Any) -> None:
    columns = {
        "predictions": ["a", "b", "c"],
        "references": wrap([["a1", "b1", "c1"], ["a2", "b2", "c2"]]),
    }
    with pytest.raises(InputError, match="Is references transposed") as caught:
        Batch.of(**columns)
    advice = str(caught.value).rpartition(": ")[2]
    assert advice == "references=[list(r) for r in zip(*references)]"
    references = columns["references"]
    repaired = [list(map(str, r)) for r in zip(*references, strict=True)]
    assert repaired == [["a1", "a2"], ["b1", "b2"], ["c1", "c2"]]
    assert Batch.of(predictions=columns["predictions"], references=repaired).size == 3


def test_two_letters_are_not_taken_for_a_transposed_list() -> None:
    with pytest.raises(InputError) as caught:
        Batch.of(predictions=["a", "b"], references=["ab"])
    assert "transposed" not in str(caught.value)


def test_ragged_references_are_fine() -> None:
    batch = Batch.of(predictions=["a", "b"], references=[["x"], ["y", "z"]])
    assert batch.columns["references"].counts.tolist() == [1, 2]


def test_contexts_may_be_empty() -> None:
    assert Batch.of(contexts=[[], ["a"]]).columns["contexts"].counts.tolist() == [0, 1]


def test_an_error_is_a_value_error_of_one_line() -> None:
    with pytest.raises(ValueError, match="is None") as caught:
        Batch.of(predictions=[None])
    assert "\n" not in str(caught.value)


def test_a_value_with_line_breaks_gives_an_error_of_one_line() -> None:
    class Loud:
        def __repr__(self) -> str:
            return "a\nb"

    with pytest.raises(InputError) as caught:
        Batch.of(predictions=[Loud()])
    assert "\n" not in str(caught.value)


# Tables.


def test_no_column_and_no_sample_are_fine() -> None:
    assert Batch.of().size == Batch.of(predictions=[], references=()).size == 0
    assert list(Batch.of(predictions=[]).blocks()) == []


def test_a_required_column_that_is_not_there_names_the_metric() -> None:
    with pytest.raises(MissingColumn, match="coverage needs the column 'sources'"):
        Batch.from_data({"predictions": ["a"]}, {"predictions": "bleu", "sources": "coverage"})


def test_columns_by_name_take_aliases_and_are_all_checked() -> None:
    needed = {"predictions": "bleu"}
    batch = Batch.from_data(Frame.of_columns({"response": ["a"], "extra": [1]}), needed)
    assert list(batch.columns) == ["predictions"]
    with pytest.raises(InputError, match="extra has 2"):
        Batch.from_data(Frame.of_columns({"response": ["a"], "extra": [1, 2]}), needed)


def digests(batch: Batch) -> Any:
    fingerprint = Fingerprint()
    fingerprint.add(batch)
    return fingerprint.digests()


@given(samples(references=groups, sources=texts), samples(references=groups, sources=texts), groups)
def test_the_digests_are_equal_exactly_for_equal_columns_beside_the_predictions(
    entry: dict[str, list[Any]], other: dict[str, list[Any]], words: list[str]
) -> None:
    def predicted(columns: dict[str, list[Any]], word: str) -> Batch:
        return Batch.of(**columns, predictions=[word] * len(columns["sources"]))

    first = predicted(entry, words[0])
    assert digests(first) == digests(predicted(copy.deepcopy(entry), words[-1]))
    assert (digests(first) == digests(predicted(other, words[0]))) == (entry == other)


def test_a_nul_does_not_move_between_samples_unseen() -> None:
    first, other = Batch.of(references=["a\0b", "c"]), Batch.of(references=["a", "b\0c"])
    assert digests(first) != digests(other)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [{"prediction": "a", "reference": "b"}, {"output": "a", "reference": "b"}],
            "predictions[1] is missing: this row has no 'prediction'; it has 'output' and "
            "'reference'",
        ),
        (
            [{"prediction": "a", "reference": "b"}, {}],
            "predictions[1] is missing: this row is empty",
        ),
        (
            [{"prediction": "a", "reference": "b"}, {"prediction": None, "reference": "b"}],
            "predictions[1] is None, not text; ",
        ),
    ],
)
def test_a_key_that_a_row_lacks_is_missing_and_not_none(rows: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Hub("wer").evaluate(rows)
    assert str(caught.value).startswith(message)
    assert (caught.value.column, caught.value.sample) == ("predictions", 1)


WORDS = [["the", "moon", "fell"], ["a", "dog"]]
TEXTS = ["the cat sat", "a bird sang"]


@pytest.mark.parametrize(
    ("predictions", "references"),
    [
        (WORDS, [["the", "cat", "sat"], ["a", "bird", "sang"]]),
        (WORDS, TEXTS),
        ([tuple(words) for words in WORDS], TEXTS),
        ([np.array(words) for words in WORDS], TEXTS),
        # The words of one text, and those of some make up most of the other side's.
        (["the quick brown fox jumps"], [["the", "quick", "brown", "fox", "jumps"]]),
        (["ein Hund schläft dort", "Katzen"], [["ein", "Hund", "schläft"], ["zwei", "Katzen"]]),
        ([["x", "=", "1"], ["return", "x"]], ["x = 1", "return y"]),
        (["今天天气好", "你好吗"], [["今天", "天气", "好"], ["你", "好"]]),
        ([["Ja", ",", "gern", "."], ["Nein"]], ["Nein .", "Ja , bitte ."]),
        ([list("the cat"), list("a dog")], ["the cat", "a dig"]),
        (["今天天气好"], [list("今天天气好")]),
    ],
)
def test_lists_of_the_words_of_one_text_are_refused(predictions: Any, references: Any) -> None:
    hub = Hub(["wer", "bleu"])
    rows = [{"prediction": p, "reference": r} for p, r in zip(predictions, references, strict=True)]
    for table in ({"predictions": predictions, "references": references}, rows):
        with pytest.raises(InputError, match=r"s\[0\] is a list of words or char.*, read as \d"):
            hub.evaluate(table)
    # Whoever says how candidates count means several.
    assert hub(predictions=predictions, references=references, reduce="mean")


@pytest.mark.parametrize(
    ("metric", "predictions", "references"),
    [
        # Aliases of one word, beside one of them, a sentence, or another answer.
        ("exact_match", ["Paris", "Rom"], [["Paris", "Lutetia"], ["Rome", "Roma", "Urbs"]]),
        ("rouge", ["It is Paris.", "In Rome"], [["Paris", "Lutetia"], ["Rome", "Roma", "Urbs"]]),
        ("token_f1", ["John Fitzgerald Kennedy"], [["Kennedy", "JFK", "John"]]),
        ("exact_match", [["Paris", "Lyon"], ["Rome"]], ["Paris, France", "Rome, Italy"]),
        # Votes, labels, keywords and choices.
        ("exact_match", [["4", "5", "4"], ["7", "7"]], ["4", "7"]),
        ("exact_match", [["in", "on"], ["at"], ["the", "a", "of"]], ["in", "at", "the"]),
        ("exact_match", [["en", "fr", "is"], ["de", "to"]], [["en", "fr"], ["de", "it", "is"]]),
        ("exact_match", [["tax", "budget", "euro"], ["law"]], [["tax", "budget", "euro"], ["law"]]),
        ("exact_match", ["A", "C"], [["A", "B", "C"], ["B", "C"]]),
        # Texts without blanks.
        ("chrf", ["今天天气很好", "你好"], [["今天天气好", "天气很好", "好"], ["你好啊"]]),
        # Two outputs each, and metrics that read lists themselves.
        ("wer", [["the", "cat"], ["a", "dog"]], [["the", "cat"], ["a", "bird"]]),
        ("distinct", WORDS, TEXTS),
        ("majority_vote", WORDS, TEXTS),
        ("multi_label", WORDS, [["the", "cat"], ["a"]]),
        ("wer", [["", "a"], [""]], ["", ""]),
    ],
)
def test_lists_that_may_be_several_texts_are_scored(
    metric: str, predictions: Any, references: Any
) -> None:
    assert Hub(metric)(predictions=predictions, references=references)
