"""Cards: front matter into frozen values, the body's parts, and errors with file and line."""

import dataclasses
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub.catalog.card import Card, bounds_table, with_blocks
from metrichub.catalog.frontmatter import Scale, Tags
from metrichub.errors import CardError
from tests.guide_commands import ROOT

FRONT = """\
name: shout
title: Shout
summary: Share of capital letters.
inputs: [prediction, references]
scores:
  score: {range: [0, 1], better: higher, perfect: 1}
  share_n: {range: [0, null], better: neither}
headline: [score, share_2]
definition: 3
tags: {task: [chat, translation], dimension: [style], family: surface}
license: MIT
requires: [toy-parser>=2, other]
"""
BODY = """
# Shout

Use it for
shouts.

## Definition

A text.

## Outputs

<!-- generated: bounds -->
old
<!-- end -->

## More examples

```python
>>> 1 + 1
2

```

```bash
echo >>> not this
```

```pycon
>>> 2
2
```

## Citation

```bibtex
@misc{shout, title = {Shout}}
```
"""


def write(folder: Path, front: str = FRONT, body: str = BODY) -> Path:
    """Write a card and return its path."""
    path = folder / "README.md"
    path.write_text(f"---\n{front}---\n{body}", encoding="utf-8")
    return path


@pytest.fixture
def card(tmp_path: Path) -> Card:
    return Card.read(write(tmp_path))


def test_the_front_matter_becomes_values(card: Card) -> None:
    assert (card.name, card.title, card.license) == ("shout", "Shout", "MIT")
    assert card.inputs == ("prediction", "references")
    assert card.tags == Tags(("chat", "translation"), ("style",), "surface", ("any",))
    assert card.scores == {
        "score": Scale(0, 1, "higher", 1),
        "share_n": Scale(0, None, "neither", None),
    }
    assert card.headline == ("score", "share_2")
    assert card.definition == 3
    assert card.requires == ("toy-parser>=2", "other")


def test_a_card_without_the_newer_keys_is_read(tmp_path: Path) -> None:
    lines = FRONT.splitlines(keepends=True)
    old = [line for line in lines if not line.startswith(("headline", "definition", "requires"))]
    card = Card.read(write(tmp_path, "".join(old)))
    assert (card.headline, card.definition, card.requires) == (("score",), 1, ())


@pytest.mark.parametrize(
    ("front", "judge", "embedder", "facet"),
    [
        ("", None, None, "none"),
        ("judge: any\n", "any", None, "any"),
        ("judge: model\nembedder: any\n", "model", "any", "model"),
    ],
)
def test_a_card_says_who_is_asked(
    tmp_path: Path, front: str, judge: str | None, embedder: str | None, facet: str
) -> None:
    card = Card.read(write(tmp_path, FRONT + front))
    assert (card.judge, card.embedder, card.facets["judge"]) == (judge, embedder, (facet,))


def test_a_number_at_the_end_of_an_output_stands_for_n(card: Card) -> None:
    assert card.scale("share_12") is card.scores["share_n"]
    assert card.scale("share") is None


def test_the_body_gives_sections_examples_bibtex_and_blocks(card: Card) -> None:
    assert list(card.sections) == ["Definition", "Outputs", "More examples", "Citation"]
    assert card.sections["Definition"] == "A text."
    assert card.lead == "Use it for\nshouts."
    assert card.examples == (">>> 1 + 1\n2\n\n", ">>> 2\n2\n")
    assert card.bibtex == "@misc{shout, title = {Shout}}"
    assert card.blocks() == {"bounds": "old\n"}


def test_a_block_is_replaced_and_all_else_is_kept() -> None:
    assert with_blocks(BODY, {"bounds": "new\n", "other": "x\n"}) == BODY.replace("old\n", "new\n")


def test_replacing_the_blocks_twice_is_replacing_them_once() -> None:
    blocks = {"bounds": "| \\1 | $x$ |\n"}
    once = with_blocks(BODY, blocks)
    assert with_blocks(once, blocks) == once


def test_the_bounds_are_a_table_of_the_scales(card: Card) -> None:
    assert bounds_table(card) == (
        "| output | range | better | if equal to the reference |\n"
        "| --- | --- | --- | --- |\n"
        "| `score` | [0, 1] | higher | 1 |\n"
        "| `share_n` | [0, ∞) | neither |  |\n"
    )


def test_a_tolerance_is_a_number_that_stands_below_the_bounds(tmp_path: Path) -> None:
    for written in ("1e-5", "0.00001", "1.0e-5"):
        card = Card.read(write(tmp_path, f"{FRONT}tolerance: {written}\n"))
        assert card.tolerance == 1e-5
    message = (
        "Scores of the same samples agree within a tolerance of 1e-05, whatever their order and"
    )
    assert bounds_table(card).split("\n\n")[1].startswith(message)


def test_outputs_bound_to_length_are_named_below_the_bounds(tmp_path: Path) -> None:
    front = FRONT.replace("better: higher", "better: higher, length_bound: falls")
    card = Card.read(write(tmp_path, front))
    assert card.scores["score"].length_bound == "falls"
    assert bounds_table(card).split("\n\n")[1].replace("\n", " ").strip() == (
        "`score` falls with the length of the predictions: systems whose mean lengths differ by "
        "over 20% aren't ranked."
    )
    with pytest.raises(CardError, match="length_bound has to be 'falls' or 'rises'"):
        Card.read(write(tmp_path, front.replace("falls", "yes")))


def test_windows_line_ends_change_nothing(tmp_path: Path, card: Card) -> None:
    path = tmp_path / "windows.md"
    path.write_bytes((tmp_path / "README.md").read_bytes().replace(b"\n", b"\r\n"))
    assert dataclasses.replace(Card.read(path), path=None) == dataclasses.replace(card, path=None)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("title:", "titel: x\ntitle:", 3, "unknown key titel; did you mean 'title'?"),
        ("better: higher", "beter: higher", 7, "unknown key scores.score.beter; did you mean"),
        ("family:", "familly:", 11, "unknown key tags.familly; did you mean 'family'?"),
        (
            "better: higher",
            "better: up",
            7,
            "scores.score.better has to be 'higher', 'lower'",
        ),
        ("[0, 1]", "[0]", 7, "scores.score.range[1] is missing"),
        ("[0, null]", "[0, big]", 8, "scores.share_n.range[1] has to be a valid number, not 'big'"),
        (
            "perfect: 1",
            "perfect: one",
            7,
            "scores.score.perfect has to be a valid number",
        ),
        ("name: shout\n", "", 1, "name is missing"),
        ("license: MIT", "license: 3", 12, "license has to be text, not 3"),
        ("inputs: [prediction, references]", "inputs: [1]", 5, "inputs[0] has to be text, not 1"),
        ("inputs: [prediction, references]\n", "", 1, "inputs is missing"),
        ("  score:", "  main:", 6, 'scores has to list the outputs, "score" among them'),
        ("{range: [0, 1], better: higher, perfect: 1}", "1", 7, "scores.score has to be a mapping"),
        ("[score, share_2]", "[score, shar_2]", 9, "headline names shar_2, which isn't an output"),
        (
            "perfect: 1",
            "perfect: 1, rate: true",
            7,
            "scores.score has to have range [0, 1]",
        ),
        ("[score, share_2]", "[]", 9, "headline has to name an output"),
        ("[score, share_2]", "2", 9, "headline has to be a list, not 2"),
        (
            "requires: [",
            "requires: [two words, ",
            13,
            "requires[0] isn't a valid requirement: 'two words'; quote one with a comma",
        ),
        (
            "parser>=2, other",
            "parser>=2,<3",
            13,
            "requires[1] isn't a valid requirement: '<3'; quote one",
        ),
        ("[toy-parser>=2, other]", "{a: b}", 13, "requires has to be a list, not {"),
        (
            "definition: 3",
            "definition: 0",
            10,
            "definition has to be greater than or equal",
        ),
        ("definition: 3", "definition: true", 10, "definition has to be a valid integer, not True"),
        ("definition: 3", "definition: 1.5", 10, "definition has to be a valid integer, not 1.5"),
        ("tags: {", "tags: [", 11, "the front matter isn't valid YAML"),
        ("title: ", "title: 2020-13-45 #", 1, "the front matter isn't valid YAML"),
        ("", "judge: offline", 14, "judge has to be 'any' or 'model', not 'offline'"),
        ("", "embedder: model", 14, "embedder has to be 'any', not 'model'"),
        ("", "tolerance: -1", 14, "tolerance has to be greater than or equal to 0, not -1"),
        ("", "tolerance: 1", 14, "tolerance has to be less than 1, not 1"),
        ("", "tolerance: little", 14, "tolerance has to be a valid number"),
        ("", "keywords: [loud, Loud]", 14, "keywords have to be at most 16 different short"),
        ("", "keywords: ['']", 14, "keywords have to be at most 16 different short phrases"),
        ("", f"keywords: {list('abcdefghijklmnopq')}", 14, "keywords have to be at most 16"),
        ("", "presets: [loud]", 14, "presets has to be a mapping"),
        ("", "presets: {1.5: {n: 1}}", 14, "presets.1.5 has to be text, not 1.5"),
        ("", "presets: {loud: {}}", 14, "presets.loud has to set parameters"),
        ("", "undefined_for: [emty]", 14, "undefined_for[0] has to be one of empty, no_tokens"),
        ("", "unranked: true", 14, "unranked has to be text, not True"),
        ("[chat, translation]", "{a: b}", 11, "tags.task has to be a list, not {"),
    ],
)
def test_a_broken_card_is_an_error_with_file_and_line(
    tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    path = write(tmp_path, FRONT.replace(old, new) if old else f"{FRONT}{new}\n")
    with pytest.raises(CardError, match=f"^{re.escape(f'{path}:{line}: {message}')}"):
        Card.read(path)


def test_a_line_of_an_error_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(CardError) as caught:
        Card.read(write(tmp_path, 'name: "open\n'))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "# Shout\n", "---\nname: x\n", "--- \nname: x\n---\n"])
def test_a_card_without_front_matter_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "README.md"
    path.write_text(text)
    with pytest.raises(CardError, match=r"README.md:1: a card has to start with front matter"):
        Card.read(path)


def test_front_matter_that_is_no_mapping_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CardError, match="mapping of keys"):
        Card.read(write(tmp_path, "- a\n"))


def test_a_missing_card_and_one_that_is_not_utf8_are_card_errors(tmp_path: Path) -> None:
    with pytest.raises(CardError, match="can't be read"):
        Card.read(tmp_path / "README.md")
    (tmp_path / "README.md").write_bytes(b"---\nname: \xff\n---\n")
    with pytest.raises(CardError, match="can't be read"):
        Card.read(tmp_path / "README.md")


numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(numbers, numbers, numbers)
def test_a_value_is_in_the_scale_between_its_bounds(row: float, other: float, share: float) -> None:
    low, high = sorted((row, other))
    value = min(max(share, low), high)
    assert all(value in scale for scale in (Scale(low, high), Scale(None, high), Scale(low, None)))


def test_nan_is_in_every_scale_infinity_in_none_and_rounding_is_forgiven() -> None:
    unit = Scale(0, 1)
    inside = [0, 1.0, 1 + 1e-12, float("nan")]
    outside = [1.001, -0.001, float("inf"), "1", None]
    assert [value in unit for value in inside + outside] == [True] * 4 + [False] * 5
    assert float("inf") not in Scale(0)
    assert float("-inf") not in Scale()


@pytest.mark.parametrize(
    ("scale", "interval"),
    [
        (Scale(0, 1), "[0, 1]"),
        (Scale(0), "[0, ∞)"),
        (Scale(None, 0.5), "(-∞, 0.5]"),
        (Scale(), "(-∞, ∞)"),
    ],
)
def test_a_range_is_shown_in_mathematical_notation(scale: Scale, interval: str) -> None:
    assert scale.interval == interval


CARDS = [*ROOT.glob("metric_cards/*/README.md"), *ROOT.glob("plugins/*/*/*/README.md")]


@pytest.mark.parametrize("path", sorted(CARDS), ids=lambda path: path.parent.name)
def test_a_card_begins_with_what_for_what_not_and_how_to_report_it(path: Path) -> None:
    card = Card.read(path)
    assert card.lead.startswith("Use ")
    assert re.search(r"\b([Dd]on't|[Nn]or|[Nn]ever)\b", card.lead)
    assert re.search(r"\b[Rr]eport\b", card.lead)
    assert "\n\n" not in card.lead
    if card.better("score") == "lower":
        assert re.search(r"\b[Ll]ower\b", card.lead)
    assert next(iter(card.sections)) == "Example"
