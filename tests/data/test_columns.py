"""Columns: names of other tools, the singular of a plural, and what is said of a missing one."""

import re
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub.data.columns import (
    ALIASES,
    FALLBACKS,
    TEXT,
    column_of,
    column_of_alias,
    is_plural,
    resolve,
)
from metrichub.errors import InputError, MissingColumn

words = st.from_regex(r"[a-z]{2,9}", fullmatch=True)


@given(words)
def test_the_column_of_a_word_is_plural_and_its_own_column(word: str) -> None:
    column = column_of(word)
    assert is_plural(column) or (column == word and word.endswith("ed"))
    assert column_of(column) == column


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("reference", "references"),
        ("references", "references"),
        ("summary", "summaries"),
        ("essay", "essays"),
        ("gloss", "glosses"),
        ("sketch", "sketches"),
        ("seed", "seeds"),
        # Nobody calls a column "retrieveds".
        ("retrieved", "retrieved"),
    ],
)
def test_singular_and_plural_read_one_column(name: str, column: str) -> None:
    assert column_of(name) == column


@pytest.mark.parametrize("column", TEXT)
def test_the_first_alias_is_the_singular(column: str) -> None:
    assert column_of(ALIASES[column][0]) == column


def test_no_name_stands_for_two_columns() -> None:
    names = [*ALIASES, *chain.from_iterable(ALIASES.values())]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("column", "alias"), [(column, alias) for column in ALIASES for alias in ALIASES[column]]
)
def test_every_alias_is_found_alone(column: str, alias: str) -> None:
    assert resolve({column: "bleu"}, ["id", alias]) == {column: alias}
    assert column_of_alias(alias) == column


@pytest.mark.parametrize("column", TEXT)
def test_the_own_name_wins_over_the_singular_and_that_over_other_aliases(column: str) -> None:
    singular, other = ALIASES[column][:2]
    assert resolve({column: "bleu"}, [other, singular, column]) == {column: column}
    assert resolve({column: "bleu"}, [other, singular]) == {column: singular}


def test_two_aliases_of_one_column_are_an_error_that_shows_the_way() -> None:
    with pytest.raises(
        InputError, match=r"'target' and 'gold' could both be references; .*\{'references': 'targ"
    ):
        resolve({"references": "bleu"}, ["gold", "target"])


def test_a_mapping_wins_over_every_name() -> None:
    names = ["predictions", "prediction", "mine"]
    assert resolve({"predictions": "bleu"}, names, {"predictions": "mine"}) == {
        "predictions": "mine"
    }


@pytest.mark.parametrize(
    ("names", "mapping", "result"),
    [
        (["response", "answer"], {"references": "answer"}, {"predictions": "response"}),
        (["response", "answer"], {"references": "answer.value"}, {"predictions": "response"}),
        (["predictions", "output"], {"references": "predictions"}, {"predictions": "output"}),
        (["gold", "target"], {"predictions": "target"}, {"references": "gold"}),
        (["query", "input", "gold"], {"sources": "query"}, {"questions": "input"}),
        # Inputs may be the same column; what is compared may not.
        (["context", "gold"], {"sources": "context"}, {"contexts": "context"}),
        (["answer", "messages"], {"references": "answer"}, {"predictions": "messages"}),
    ],
)
def test_a_column_that_was_mapped_competes_for_no_other_role(
    names: list[str], mapping: dict[str, str], result: dict[str, str]
) -> None:
    (column,) = result
    assert resolve({column: "bleu"}, names, mapping) == result


def test_predictions_are_not_their_own_references() -> None:
    with pytest.raises(MissingColumn, match="bleu needs the column 'predictions'"):
        resolve({"predictions": "bleu"}, ["answer"], {"references": "answer"})


def test_a_mapping_may_use_an_alias_of_the_column() -> None:
    assert resolve({"predictions": "bleu"}, ["x"], {"response": "x"}) == {"predictions": "x"}


def test_a_column_that_a_plugin_asks_for_is_itself_though_it_is_an_alias_elsewhere() -> None:
    needed = {"labels": "accuracy"}
    assert resolve(needed, ["label"]) == {"labels": "label"}
    assert resolve(needed, ["x"], {"labels": "x"}) == {"labels": "x"}


@pytest.mark.parametrize("name", ["stories", "story"])
def test_a_column_of_a_plugin_is_found_in_singular_and_plural(name: str) -> None:
    assert resolve({"stories": "plot"}, ["id", name]) == {"stories": name}


def test_a_mapping_to_a_name_that_is_not_there_names_the_near_one() -> None:
    with pytest.raises(MissingColumn, match=r"'sumary', .* did you mean 'summary'\? \(columns:"):
        resolve({"predictions": "bleu"}, ["summary", "id"], {"predictions": "sumary"})


def test_a_missing_column_names_the_metric_and_what_is_there() -> None:
    with pytest.raises(
        MissingColumn, match=r"coverage needs the column 'sources'.*given: a, sauce"
    ):
        resolve({"sources": "coverage"}, ["a", "sauces"])


def test_a_missing_column_lists_four_of_its_names_and_counts_the_others() -> None:
    for column, lead in (
        ("sources", "source, document, article, src"),
        ("roles", "role, chatbot_"),
    ):
        names = (*ALIASES[column], *FALLBACKS.get(column, ()))
        more = f" and {len(names) - 4} other names)" if len(names) > 4 else ")"
        with pytest.raises(MissingColumn, match=rf"\(also read as {lead}.*{re.escape(more)}"):
            resolve({column: "coverage"}, ["predictions"])


@pytest.mark.parametrize(
    ("have", "slip"),
    [
        (["id", "quesions"], "quesions"),
        (["User_Input"], "User_Input"),
        # "predictions" looks like it, but is a column of its own.
        (["predictions"], None),
    ],
)
def test_a_slip_is_a_strange_name_that_is_near_a_known_one(
    have: list[str], slip: str | None
) -> None:
    with pytest.raises(MissingColumn) as caught:
        resolve({"questions": "relevancy"}, have)
    hint = f" (is {slip!r} a misspelling of it?)"
    assert str(caught.value).endswith(hint if slip else ", ".join(have))


def test_a_missing_column_is_a_lookup_error_and_a_value_error() -> None:
    with pytest.raises(LookupError) as caught:
        resolve({"sources": "coverage"}, [])
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("column", ["hyp", "out"])
def test_a_mapping_the_wrong_way_round_is_turned(column: str) -> None:
    # Either name is in the file, and `predictions` is the column.
    with pytest.raises(InputError, match=rf"in the file goes last: predictions={column} "):
        resolve({"predictions": "bleu"}, [column], {column: "predictions"})


def test_a_metric_s_parameter_with_another_tool_s_name_is_told_ours() -> None:
    with pytest.raises(MissingColumn, match="to read predictions, call the parameter 'prediction'"):
        resolve({"preds": "mine"}, ["predictions"])


def test_a_mapping_for_a_column_that_nobody_reads_is_refused() -> None:
    with pytest.raises(InputError, match=r"'predictons' is mapped.*did you mean 'predictions'"):
        resolve({"predictions": "bleu"}, ["answer"], {"predictons": "answer"})


def test_a_mapping_names_a_column_of_a_plugin_in_singular_too() -> None:
    columns = resolve({"relevants": "ranking"}, ["gold"], {"relevant": "gold"})
    assert columns == {"relevants": "gold"}


def test_a_mapping_for_a_canonical_column_is_fine_where_no_metric_reads_it() -> None:
    result = resolve({"predictions": "bleu"}, ["answer", "text"], {"sources": "text"})
    assert result == {"predictions": "answer"}
