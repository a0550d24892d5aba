"""The form to try a metric: what stands in it, what is read out of it, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

pytest.importorskip("starlette", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

from starlette.testclient import TestClient

from metrichub.app import forms
from metrichub.app.describe import Description, Example, Field, Input, describe, field_of
from metrichub.app.settings import Judging
from metrichub.catalog.kinds import values_of_hint
from metrichub.catalog.parameters import Parameter, Range, Secret
from metrichub.errors import InputError
from tests.app_client import Form, calling, words
from tests.toy_metrics import Length


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with calling() as found:
        yield found


def field(
    kind: Any, default: Any = None, *, values: str = "", meaning: str = "", **more: Any
) -> Field:
    return Field("x", values, default, meaning, kind, **more)


def description(*fields: Field, example: Example | None = None) -> Description:
    inputs = (Input("predictions", False), Input("contexts", True))
    return Description(inputs, fields, example or Example({"predictions": ["a"]}), None)


@pytest.mark.parametrize(
    ("given", "shown", "value"),
    [
        (field("number", 1, whole=True), "3", 3),
        (field("number", 1.0), "0.5", 0.5),
        (field("number", 1.0), " 2 ", 2),
        (field("number", 1.0, optional=True), "", None),
        (field("numbers", ()), "1, 0.5,", [1, 0.5]),
        (field("switch", False), True, True),
        (field("choice", "a", choices=("a", "b")), '"b"', "b"),
        (field("choice", 0, choices=(0, 1)), "1", 1),
        (field("choice", "a", choices=("a",), optional=True), "null", None),
        (field("choices", (), choices=("a", "b")), ['"a"', '"b"'], ["a", "b"]),
        (field("text", "a"), "b c", "b c"),
        (field("text", "a"), "", ""),
        (field("text", "a", optional=True), " ", None),
        (field("texts", ()), "one\n\ntwo\n", ["one", "two"]),
        (field("texts", ("one",)), " ", []),
        (field("texts", ("one",), optional=True), " ", None),
        (field("choices", ("a",), choices=("a", "b"), optional=True), [], None),
        (field("choice", None, choices=(True, False), optional=True), "false", False),
        (field("text", None, required=True), "", ""),
        (field("number", None, required=True), "", None),
        (field("json", None, optional=True), '{"type": "null"}', {"type": "null"}),
    ],
)
def test_a_field_is_read_as_its_kind(given: Field, shown: Any, value: Any) -> None:
    filled = forms.Filled([], {"x": shown})
    assert forms.filled_parameters(filled, description(given)) == {"x": value}


@pytest.mark.parametrize(
    ("given", "shown", "says"),
    [
        (field("number", 1, whole=True), "3.5", "x: '3.5' isn't a whole number"),
        (field("number", 1.0), "three", "x: 'three' isn't a number"),
        (
            field("choice", "a", choices=("a", "b")),
            '"c"',
            "x: .* isn't one of the choices: 'a', 'b'",
        ),
        (field("json", None, optional=True), "{", "x: "),
    ],
)
def test_a_field_that_cannot_be_read_is_named(given: Field, shown: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        forms.filled_parameters(forms.Filled([], {"x": shown}), description(given))


@pytest.mark.parametrize(
    "given",
    [
        field("number", 4, whole=True),
        field("numbers", (0.5, 1)),
        field("switch", True),
        field("choice", "a", choices=("a", "b")),
        field("choices", ("b",), choices=("a", "b")),
        field("text", "a"),
        field("text", None, optional=True),
        field("texts", ("one", "two")),
        field("json", None, optional=True),
        field("numbers", None, optional=True),
        field("choices", None, choices=("a",), optional=True),
        field("choice", None, choices=(True, False), optional=True),
    ],
)
def test_a_default_that_is_shown_is_read_as_no_change(given: Field) -> None:
    of = description(given)
    assert forms.filled_parameters(forms.from_example(of), of) == {}


def columns(*samples: dict[str, list[str]], example: Example | None = None) -> dict[str, list[Any]]:
    return forms.filled_columns(forms.Filled(list(samples)), description(example=example))


def test_texts_beyond_the_first_are_left_out_where_they_are_blank() -> None:
    sample = {"predictions": ["", " "], "contexts": ["a", "", "b"]}
    assert columns(sample) == {"predictions": [""], "contexts": [["a", "b"]]}


def test_blank_contexts_are_no_contexts() -> None:
    assert columns({"predictions": ["a"], "contexts": ["", " "]})["contexts"] == [[]]


def test_several_texts_of_a_single_input_are_candidates() -> None:
    sample = {"predictions": ["a", "b"], "contexts": ["c"]}
    assert columns(sample) == {"predictions": [["a", "b"]], "contexts": [["c"]]}


def test_a_blank_sample_beyond_the_first_is_left_out() -> None:
    blank = {"predictions": [""], "contexts": [" "]}
    assert columns(blank, blank)["predictions"] == [""]


def test_text_is_read_as_json_only_where_the_example_holds_more_than_text() -> None:
    sample = {"predictions": ["[1]"], "contexts": ["[1]"]}
    assert columns(sample) == {"predictions": ["[1]"], "contexts": [["[1]"]]}
    schemas = Example({"predictions": ["a"], "contexts": [{"type": "object"}]})
    assert columns(sample, example=schemas) == {"predictions": ["[1]"], "contexts": [[[1]]]}


def test_line_breaks_are_those_that_were_typed() -> None:
    posted = {"s.0.predictions.0": "a\r\nb"}
    filled = forms.read_form(posted, {}, description())
    assert filled.samples[0]["predictions"] == ["a\nb"]


def test_fields_of_other_names_are_ignored() -> None:
    posted = {"s.0.secrets.0": "a", "s.x.predictions.0": "b", "s.0.predictions.0": "c"}
    filled = forms.read_form(posted, {}, description())
    assert filled.samples == [{"predictions": ["c"], "contexts": [""]}]


def test_every_kind_of_parameter_becomes_a_field() -> None:
    kinds = {
        one.name: one.kind
        for name in ("bleu", "regex_match", "exact_match", "json_schema_match", "faithfulness")
        for one in getattr(describe(name, Judging()), "fields", ())
    }
    expected = {
        "max_order": "number",
        "weights": "numbers",
        "lowercase": "switch",
        "tokenize": "choice",
        "flags": "choices",
        "pattern": "text",
        "regexes_to_ignore": "texts",
        "schema": "json",
        "judge": "none",
    }
    assert {name: kinds[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (bool | None, field("choice", choices=(True, False), optional=True)),
        (Literal["a"] | Literal["b"] | None, field("choice", choices=("a", "b"), optional=True)),
        (Annotated[int, Range(1)], field("number", low=1, whole=True)),
        (Annotated[float, Range(0, 1)] | None, field("number", low=0, high=1, optional=True)),
        (tuple[Annotated[int, Range(1)], ...], field("numbers", low=1, whole=True)),
        (tuple[str, ...] | None, field("texts", optional=True)),
        (int | str, field("json")),
        (tuple[tuple[str, ...], ...], field("json")),
        (tuple[str | None, ...], field("json")),
        (dict[str, Any] | Path | None, field("json", optional=True)),
    ],
)
def test_a_field_is_of_the_kind_that_its_values_need(hint: Any, expected: Field) -> None:
    values = values_of_hint(hint)
    found = field_of(Length, Parameter("x", values, None, False, ""))
    assert found == replace(expected, values=str(values))


def test_a_parameter_without_a_default_has_to_be_filled_in() -> None:
    found = field_of(Length, Parameter("x", values_of_hint(str), None, True, "What for."))
    assert found == field("text", values="a string", meaning="What for.", required=True)


def test_the_default_of_a_secret_and_of_an_object_stay_unsaid() -> None:
    for hint, default in ((Annotated[str, Secret()], "canary"), (complex, 1j)):
        found = field_of(Length, Parameter("x", values_of_hint(hint), default, False, ""))
        assert (found.kind, found.default) == ("none", "…")


def test_bounds_of_a_number_are_told_to_the_browser(client: TestClient) -> None:
    page = client.get("/metrics/bleu").text
    assert 'name="p.max_order" value="4" min="1" max="16" step="1" required' in page


def test_the_example_gives_the_number_that_the_card_prints(client: TestClient) -> None:
    form = Form(client.get("/metrics/abstractness").text)
    assert form.fields["s.1.predictions.0"] == "Look! a wonderful day."
    page = client.post("/metrics/abstractness", data=form.fields).text
    assert '<data value="0.2727272727272727">0.2727</data>' in page


def test_an_example_with_parameters_gives_the_number_that_the_card_prints(
    client: TestClient,
) -> None:
    form = Form(client.get("/metrics/carburacy").text)
    assert form.fields["p.emission_train"] == "1"
    # The card's first example prints 0.5702 for the score.
    assert "0.5702" in words(client.post("/metrics/carburacy", data=form.fields).text)


def test_a_form_can_be_given_another_text_and_another_sample(client: TestClient) -> None:
    form = Form(client.get("/metrics/abstractness").text)
    for more, new in (("0.references", "s.0.references.1"), ("sample", "s.2.predictions.0")):
        assert new not in form.fields
        form = Form(client.post("/metrics/abstractness", data={**form.fields, "more": more}).text)
        assert form.fields[new] == ""
    assert form.fields["s.0.predictions.0"] == "There is a cat on the mat."


@pytest.mark.parametrize("more", ["9.references", "0.secrets", "x", "-1.references", "0."])
def test_more_of_what_is_not_there_changes_nothing(client: TestClient, more: str) -> None:
    form = Form(client.get("/metrics/wer").text)
    again = Form(client.post("/metrics/wer", data={**form.fields, "more": more}).text)
    assert again.fields == form.fields


def test_a_wrong_parameter_is_told_beside_the_form_with_the_librarys_words(
    client: TestClient,
) -> None:
    form = Form(client.get("/metrics/bleu").text)
    answer = client.post("/metrics/bleu", data={**form.fields, "p.max_order": "99"})
    assert answer.status_code == 422
    assert "max_order=99 is not allowed; choose an integer from 1 to 16" in words(answer.text)
    assert Form(answer.text).fields["p.max_order"] == "99"


def test_explanations_show_verdicts_reasons_and_the_signature(client: TestClient) -> None:
    form = Form(client.get("/metrics/faithfulness").text)
    said = words(client.post("/metrics/faithfulness", data=form.fields).text)
    assert "He was born in 1897. no" in said
    assert "judged offline" in said
    assert "faithfulness(judge='offline(version=3)', idk=0.0)|definition:1|metrichub:" in said


def test_why_a_sample_is_unscored_is_shown(client: TestClient) -> None:
    form = {"s.0.predictions.0": "", "s.0.contexts.0": "a"}
    said = words(client.post("/metrics/faithfulness", data=form).text)
    assert "Sample 1: unscored" in said
    assert "the answer makes no claim" in said


def test_aligned_edits_are_marked_as_such(client: TestClient) -> None:
    form = {"s.0.predictions.0": "a b", "s.0.references.0": "a c"}
    page = client.post("/metrics/wer", data=form).text
    assert "<del>c</del><ins>b</ins>" in page


def test_copied_and_novel_words_are_marked_as_such(client: TestClient) -> None:
    form = {"s.0.predictions.0": "cat dog", "s.0.references.0": "cat"}
    page = client.post("/metrics/abstractness", data=form).text
    assert '<mark data-kind="copied" title="copied">cat</mark>' in page
    assert '<mark data-kind="novel" title="novel">dog</mark>' in page
