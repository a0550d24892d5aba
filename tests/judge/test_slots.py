"""Prompts of the user's own: slots that the metric fills and no others, and files as they come."""

import re
from pathlib import Path

import pytest

from metrichub import load_metric
from metrichub.errors import MetricError, ParameterError
from metrichub.judge.prompt_files import Prompt


def refused(folder: Path, metric: str, name: str, text: str) -> str:
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
    with pytest.raises(ParameterError) as caught:
        load_metric(metric, prompts=str(folder))
    assert "\n" not in str(caught.value)
    return caught.value.allowed


@pytest.mark.parametrize("slot", ["{text}", "{{text}}", "{{ text }}", "{context}"])
def test_texts_are_no_slots_and_the_error_names_the_field(tmp_path: Path, slot: str) -> None:
    message = refused(tmp_path, "faithfulness", "claims", f"List the claims of: {slot}")
    assert message.startswith(f"claims.md without {slot}, which nothing is filled into")
    assert message.endswith('which may name the field "text"')


def test_the_error_names_all_fields_of_a_prompt(tmp_path: Path) -> None:
    message = refused(tmp_path, "context_utilization", "useful", "Is it useful? {question}")
    assert message.endswith('may name the field "question" and the field "answer"')


@pytest.mark.parametrize("text", ['Reply as {"items": []}.', "Of {3} or {} or {a, b}.", "Plain."])
def test_other_braces_are_text(tmp_path: Path, text: str) -> None:
    (tmp_path / "claims.md").write_text(text, encoding="utf-8")
    assert load_metric("faithfulness", prompts=str(tmp_path)).prompt("claims").text == text


def test_slots_that_a_metric_fills_are_all_there_in_double_braces(tmp_path: Path) -> None:
    template = "Grade {{graded}} by {{criteria}}: {{steps}}"
    for slot in ("{criteria}", "{{ criteria }}"):
        message = refused(tmp_path, "g_eval", "grade", template.replace("{{criteria}}", slot))
        assert message == f"grade.md with {{{{criteria}}}} in place of {slot}"
    message = refused(tmp_path, "g_eval", "grade", "Grade {{graded}}.")
    assert re.fullmatch(r"grade\.md with {{criteria}} and {{steps}} in it", message)
    (tmp_path / "grade.md").write_text(template, encoding="utf-8")
    assert load_metric("g_eval", prompts=str(tmp_path)).prompt("grade").text == template


@pytest.mark.parametrize("text", ["", " \n", "<!-- offline: sentences -->\n"])
def test_a_prompt_that_says_nothing_is_refused(tmp_path: Path, text: str) -> None:
    assert (
        refused(tmp_path, "faithfulness", "claims", text) == "claims.md with an instruction in it"
    )


def test_a_mark_of_the_encoding_is_no_part_of_a_prompt_or_its_examples(tmp_path: Path) -> None:
    text = "<!-- offline: sentences -->\nList them."
    (tmp_path / "claims.md").write_text(text, encoding="utf-8-sig")
    line = '{"fields": {"text": "A sings."}, "reply": {"items": ["A sings."]}}'
    (tmp_path / "claims.examples.jsonl").write_text(line, encoding="utf-8-sig")
    samples = Prompt.read(tmp_path / "claims.md")
    assert (samples.text, samples.rule, len(samples.examples)) == ("List them.", "sentences", 1)


def test_a_prompt_that_is_no_utf_8_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "claims.md").write_bytes("Zähle auf.".encode("latin-1"))
    with pytest.raises(MetricError, match=r"claims\.md can't be read: it isn't UTF-8$"):
        load_metric("faithfulness", prompts=str(tmp_path))
