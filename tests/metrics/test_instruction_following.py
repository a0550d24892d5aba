"""Instruction following: IFEval's checks, with the results of its program."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import nltk
import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metric_cards.instruction_following import sentences
from metric_cards.instruction_following.checks import INSTRUCTIONS, check_of, variants
from metrichub import Hub, load_metric
from metrichub.errors import InputError, MissingDependency
from tests.vectors import answer_vectors

OUTPUTS = ("score", "prompt_loose", "instruction_strict", "instruction_loose")


def scores(texts: Any, ids: Any, kwargs: Any, **options: Any) -> tuple[float, ...]:
    hub = Hub(load_metric("instruction_following", **options))
    scores = hub(predictions=texts, instruction_ids=ids, kwargs=kwargs)["instruction_following"]
    return tuple(scores[name] for name in OUTPUTS)


def follows(text: str, instruction: str, **kwargs: Any) -> bool:
    return check_of(instruction, kwargs, "sentencex")(text)


@pytest.mark.parametrize("row", answer_vectors("ifeval"))
def test_replies_are_judged_as_ifevals_program_judges_them(row: dict[str, Any]) -> None:
    inputs, expected = row["inputs"], row["expected"]
    values = scores([inputs["prediction"]], [inputs["instruction_ids"]], [inputs["kwargs"]])
    number = len(inputs["instruction_ids"])
    assert values == pytest.approx(
        (
            *(float(expected[name]) for name in ("prompt_strict", "prompt_loose")),
            *(sum(expected["strict"]) / number, sum(expected["loose"]) / number),
        )
    )


def test_all_checks_but_the_one_that_needs_punkt_have_vectors() -> None:
    used = {
        name
        for row in answer_vectors("ifeval")
        for name in row.values[0]["inputs"]["instruction_ids"]
    }
    assert len(INSTRUCTIONS) == 25
    assert INSTRUCTIONS.keys() - used == {"length_constraints:number_sentences"}


SENTENCES = "length_constraints:number_sentences"
CAPITALS = "change_case:capital_word_frequency"


@pytest.mark.parametrize(("text", "number"), [("", 0), ("It rains. It pours! Really?", 3)])
def test_sentences_are_counted(text: str, number: int) -> None:
    assert not follows(text, SENTENCES, num_sentences=number, relation="less than")
    # A blank reply follows nothing.
    least = follows(text, SENTENCES, num_sentences=number, relation="at least")
    assert least == bool(text)
    assert not follows(text, SENTENCES, num_sentences=number + 1, relation="at least")


def test_punkt_splits_sentences_if_its_model_is_there(tmp_path: Any, monkeypatch: Any) -> None:
    # A model that knows one abbreviation, which sentencex doesn't.
    model = tmp_path / "tokenizers" / "punkt_tab" / "english"
    model.mkdir(parents=True)
    for name in ("collocations.tab", "sent_starters.txt", "ortho_context.tab"):
        (model / name).write_text("")
    (model / "abbrev_types.txt").write_text("xyz\n")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    sentences._punkt.cache_clear()
    text, ids = "We saw Xyz. Miller. It rained.", [[SENTENCES]]
    few = [[{"num_sentences": 3, "relation": "less than"}]]
    assert scores([text], ids, few, splitter="punkt")[0] == 1
    assert scores([text], ids, few)[0] == 0
    sentences._punkt.cache_clear()


def test_without_punkts_model_the_error_says_how_to_get_it(monkeypatch: Any) -> None:
    monkeypatch.setattr(nltk.data, "path", [])
    sentences._punkt.cache_clear()
    with pytest.raises(MissingDependency, match="pip install nltk && python -m nltk"):
        scores(["A."], [[SENTENCES]], [[{"num_sentences": 1, "relation": "at least"}]],
               splitter="punkt")  # fmt: skip


def test_words_in_capitals_are_nltks() -> None:
    # "CAN'T" is CA and N'T, "CANNOT" is CAN and NOT, as in nltk's word_tokenize.
    for text, number in (("CAN'T", 2), ("CANNOT go.", 2), ("THE U.S. Army. IT IS", 4)):
        both = {"capital_frequency": number, "capital_relation": "at least"}
        assert follows(text, CAPITALS, **both)
        assert not follows(text, CAPITALS, **both | {"capital_frequency": number + 1})


def test_loosely_a_reply_may_have_a_first_and_a_last_line_and_stars() -> None:
    assert variants("a*\nb\nc") == ["a*\nb\nc", "b\nc", "a*\nb", "b", "a\nb\nc", "a\nb"]
    assert variants("a") == ["a", ""]


def test_instructions_are_pooled_and_prompts_are_shares() -> None:
    comma, quoted = "punctuation:no_comma", "startend:quotation"
    texts = ["a", "a, b", '"x"'] * 2
    report = Hub("instruction_following").evaluate(
        predictions=texts,
        instruction_ids=[[comma], [comma], [comma, quoted]] * 2,
        kwargs=[[{}], [{}], [{}, {}]] * 2,
    )
    scores = report["instruction_following"]
    assert tuple(scores[name] for name in OUTPUTS) == (2 / 3, 2 / 3, 3 / 4, 3 / 4)
    assert report.intervals()["instruction_following"]["score"].method == "Wilson"


def test_columns_come_as_in_the_data_set_and_as_json_text() -> None:
    # A table with typed columns has every key in each of the kwargs.
    wide = [[{"num_words": 2.0, "relation": "at least", "language": None}, {"num_words": None}]]
    ids = [["length_constraints:number_words", "punctuation:no_comma"]]
    for columns in (
        {"instruction_id_list": ids, "kwargs": wide},
        {"instruction_ids": [json.dumps(ids[0])], "kwargs": [json.dumps(wide[0])]},
        {"instruction_ids": ids, "kwargs": [[json.dumps(arguments) for arguments in wide[0]]]},
    ):
        hub = Hub("instruction_following")(predictions=["a b"], **columns)
        assert hub["instruction_following"]["score"] == 1


def test_frames_of_pandas_hold_arrays_and_numbers_of_numpy() -> None:
    kwargs = np.array([{"keywords": np.array(["a", "b"], object)}, {"num_bullets": np.int64(1)}])
    ids = np.array(["keywords:existence", "detectable_format:number_bullet_lists"], object)
    frame = pandas.DataFrame(
        {"response": ["- a b"], "instruction_id_list": [ids], "kwargs": [kwargs]}
    )
    assert Hub("instruction_following")(frame)["instruction_following"]["score"] == 1


def test_a_sample_without_instructions_is_unscored() -> None:
    report = Hub("instruction_following").evaluate(
        predictions=["a", "a"], instruction_ids=[[], ["punctuation:no_comma"]], kwargs=[[], [None]]
    )
    assert report.counts()["instruction_following"]["unscored"] == 1
    assert report.explain("instruction_following", 0).reason == "the sample has no instructions"


@pytest.mark.parametrize(
    ("instruction", "kwargs", "message"),
    [
        ("keywords:exist", {}, "'keywords:exist' isn't an instruction of IFEval"),
        (None, {}, "None isn't an instruction"),
        ("punctuation:no_comma", {"n": 1}, "takes no 'n'; it takes nothing"),
        (SENTENCES, {"relation": "at least"}, r"needs num_sentences \(a whole number from 0\)"),
        (SENTENCES, {"num_sentences": 3, "relation": None}, r"needs relation \('less than' or"),
        (SENTENCES, {"num_sentences": 3, "relation": "at most"}, "has relation='at most', which"),
        (SENTENCES, {"num_sentences": -1, "relation": "at least"}, "has num_sentences=-1, which"),
        ("keywords:existence", {"keywords": []}, r"has keywords=\[\], which isn't a list"),
        ("keywords:existence", {"keywords": ["a", ""]}, "isn't a list of regular expressions"),
        ("keywords:existence", {"keywords": ["("]}, "isn't a list of regular expressions"),
        ("keywords:forbidden_words", {"forbidden_words": 3}, "isn't a list of regular"),
        ("startend:end_checker", {"end_phrase": " "}, "has end_phrase=' ', which isn't a text"),
        ("detectable_content:postscript", {"postscript_marker": "["}, "isn't a regular expression"),
        ("detectable_format:number_bullet_lists", {"num_bullets": True}, "has num_bullets=True"),
        ("detectable_format:number_bullet_lists", {"num_bullets": 1.5}, "has num_bullets=1.5"),
        (
            "detectable_format:number_bullet_lists",
            {"num_bullets": float("nan")},
            "has num_bullets=nan",
        ),
        (
            "keywords:letter_frequency",
            {"letter": "ab", "let_frequency": 1, "let_relation": "at least"},
            "has letter='ab', which isn't one character",
        ),
        (
            "length_constraints:nth_paragraph_first_word",
            {"num_paragraphs": 1, "nth_paragraph": 2, "first_word": "a"},
            "has an nth_paragraph above num_paragraphs",
        ),
        ("punctuation:no_comma", "x", "are 'x' \\(str\\), not a mapping"),
    ],
)
def test_what_ifeval_would_draw_at_random_or_fail_on_is_one_clear_error(
    instruction: Any, kwargs: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message) as raised:
        scores(["a"], [[instruction]], [[kwargs]])
    assert "\n" not in str(raised.value)


def test_a_language_that_nobody_detects_is_an_error() -> None:
    with pytest.raises(InputError, match="langdetect doesn't know 'zh'; it knows"):
        scores(["a"], [["language:response_language"]], [[{"language": "zh"}]])


def test_without_langdetect_the_error_says_what_to_install(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "langdetect", None)
    assert scores(["a"], [["punctuation:no_comma"]], [[{}]])[0] == 1
    with pytest.raises(MissingDependency, match=r"pip install 'metrichub\[language\]'"):
        scores(["a"], [["language:response_language"]], [[{"language": "en"}]])


def test_as_many_kwargs_as_instructions_are_needed() -> None:
    with pytest.raises(InputError, match=r"of a sample differ in length \(2 and 1\)"):
        scores(["a"], [["punctuation:no_comma", "startend:quotation"]], [[{}]])


def test_zero_is_a_number_and_any_character_is_a_letter() -> None:
    # IFEval drops what is 0, and draws a number and a letter.
    assert follows("a", "detectable_format:number_bullet_lists", num_bullets=0)
    hash_ = {"letter": "#", "let_frequency": 2, "let_relation": "at least"}
    assert follows("#a #b", "keywords:letter_frequency", **hash_)
    assert not follows("#a b", "keywords:letter_frequency", **hash_)


@given(st.text("a[]<>*-p.s \n\t\x0b", max_size=25))
def test_linear_expressions_find_what_ifevals_quadratic_ones_find(text: str) -> None:
    # instructions.py of lm-evaluation-harness 4e7e0d4.
    bullets = re.findall(r"^\s*\*[^\*].*$", text, re.M) + re.findall(r"^\s*-.*$", text, re.M)
    titles = re.findall(r"<<[^\n]+>>", text)
    expected = {
        ("detectable_format:number_bullet_lists", "num_bullets"): len(bullets),
        ("detectable_content:number_placeholders", "num_placeholders"): len(
            re.findall(r"\[.*?\]", text)
        ),
    }
    blank = not text.strip()
    for (instruction, argument), number in expected.items():
        assert follows(text, instruction, **{argument: number}) != blank
        assert not follows(text, instruction, **{argument: number + 1})
    title = any(words.lstrip("<").rstrip(">").strip() for words in titles)
    assert follows(text, "detectable_format:title") == title
    postscript = re.findall(r"\s*p\.\s?s\..*$", text.lower(), re.M)
    marked = follows(text, "detectable_content:postscript", postscript_marker="P.S.")
    assert marked == bool(postscript)


PATTERNED = {
    "keywords": ["a"], "keyword": "a", "frequency": 1, "relation": "at least", "letter": "a",
    "forbidden_words": ["a"], "let_frequency": 1, "let_relation": "at least", "language": "en",
    "num_sentences": 1, "num_paragraphs": 1, "num_words": 1, "nth_paragraph": 1,
    "first_word": "a", "num_placeholders": 1, "postscript_marker": "P.S.", "num_bullets": 1,
    "num_highlights": 1, "section_spliter": "Section", "num_sections": 1,
    "prompt_to_repeat": "a", "end_phrase": "a", "capital_frequency": 1,
    "capital_relation": "at least",
}  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        *(mark * 100_000 for mark in ("{", "[", "<<", "*", "* ", "***", "\n", " ", '"', "-\n")),
        *(
            "7" * 1_000_000,
            "p.s" * 100_000,
            "Section 1 " * 100_000,
            "A. " * 100_000,
            "a\n\n" * 9**5,
        ),
    ],
    ids=lambda text: repr(text[:3]),
)
def test_hostile_replies_are_judged_in_linear_time(text: str) -> None:
    ids = list(INSTRUCTIONS)
    kwargs = [{name: PATTERNED[name] for name in INSTRUCTIONS[key].arguments} for key in ids]
    assert 0 <= scores([text], [ids], [kwargs])[2] < 1
