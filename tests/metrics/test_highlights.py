"""Explanations of the metrics that ship with the hub: what is marked agrees with the numbers."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub
from metrichub.catalog.listing import list_metrics
from metrichub.catalog.registry import Entry
from metrichub.data.columns import CONVERSATIONS
from metrichub.report.report import Report
from metrichub.testing.under_test import HOSTILE, MetricUnderTest, conversation_with

WORDS = ("the", "The", "cat", "cats", "sat", "on", "a", "mat,", "dog's", "été", "1.5", "&amp;")
NUMBER = random.Random(7)


def text(longest: int = 14) -> str:
    return " ".join(NUMBER.choices(WORDS, k=NUMBER.randrange(longest)))


SAMPLES: dict[str, list[Any]] = {
    "predictions": [text() for _ in range(60)],
    "references": [[text() for _ in range(1 + i % 3)] for i in range(60)],
    "sources": [text(30) for _ in range(60)],
}
PAIRS: dict[str, list[Any]] = SAMPLES | {
    "references": [first for first, *_ in SAMPLES["references"]]
}
EXPLAINING = [
    entry
    for entry in list_metrics()
    if entry.distribution == "metrichub" and hasattr(entry.load(), "explain")
]


def explained(spec: str, samples: Mapping[str, Any]) -> tuple[Report, str, list[Any]]:
    """The report of one metric, its name, and the step of every sample."""
    report = Hub(spec).evaluate(**samples)
    (name,) = report.results
    return report, name, [report.explain(name, i).steps[0] for i in range(report.size)]


def sums(spec: str, samples: Mapping[str, Any], output: str = "score") -> list[Any]:
    """The scores of all samples with the steps that stand behind them."""
    report, name, steps = explained(spec, samples)
    return list(zip(report.samples()[name][output].tolist(), steps, strict=True))


def tokens(step: Mapping[str, Any], side: str = "prediction") -> int:
    """How many words are marked as copied, where words are tokens."""
    return sum(len(s["text"].split()) for s in step[side] if s["kind"] == "copied")


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_share_of_novel_ngrams_is_abstractness(n: int) -> None:
    for score, step in sums(f"abstractness(n={n})", SAMPLES):
        share = step["novel"] / step["total"] if step["total"] else math.nan
        assert score == pytest.approx(share, nan_ok=True)


def test_the_share_of_tokens_in_fragments_is_coverage() -> None:
    for score, step in sums("coverage", PAIRS):
        if step["total"]:
            assert score == pytest.approx(tokens(step) / step["total"])
            assert tokens(step) == step["copied"]


def test_squared_fragments_over_tokens_are_density() -> None:
    for score, step in sums("density", PAIRS):
        squares = sum(s["length"] ** 2 for s in step["prediction"] if s["kind"] == "copied")
        if step["total"]:
            assert score == pytest.approx(squares / step["total"])


@pytest.mark.parametrize("spec", ["wer", "wer(lowercase=True, punctuation=False)", "cer"])
def test_the_runs_of_an_alignment_are_its_counts(spec: str) -> None:
    report, name, steps = explained(spec, PAIRS)
    scores = {output: values.tolist() for output, values in report.samples()[name].items()}
    kinds = {"equal": "hits", "substitute": "substitutions", "insert": "insertions"}
    for i, step in enumerate(steps):
        result = dict.fromkeys((*kinds.values(), "deletions"), 0)
        for run in step["alignment"]:
            result[kinds.get(run["kind"], "deletions")] += run["size"]
        assert result == {output: scores[output][i] for output in result}
        edits = result["substitutions"] + result["insertions"] + result["deletions"]
        assert step["edits"] == edits
        size = result["hits"] + result["substitutions"] + result["deletions"]
        assert scores["score"][i] == pytest.approx(edits / max(size, 1))


@pytest.mark.parametrize("unit", ["char", "word"])
def test_the_edits_are_the_distance_of_edit_similarity(unit: str) -> None:
    for distance, step in sums(f"edit_similarity(unit={unit!r})", PAIRS, "distance"):
        assert step["edits"] == distance


def test_shifts_and_edits_to_the_closest_reference_are_those_of_ter() -> None:
    for edits, step in sums("ter(normalized=True)", SAMPLES, "edits"):
        assert step["edits"] == edits


@pytest.mark.parametrize("normalization", ["none", "squad"])
def test_an_exact_match_needs_no_edit(normalization: str) -> None:
    equal = {name: [*column, "The cat."] for name, column in PAIRS.items()}
    equal["references"][-1] = "the cat" if normalization == "squad" else "The cat."
    result = sums(f"exact_match(normalization={normalization!r})", equal)
    assert [score for score, _ in result] == [step["edits"] == 0 for _, step in result]
    assert result[-1][0] == 1


def test_the_matches_are_the_precisions_of_bleu() -> None:
    for lowercase in (False, True):
        report, _, steps = explained(f"bleu(lowercase={lowercase}, smooth_method='none')", SAMPLES)
        for i, step in enumerate(steps):
            for row in step["ngrams"]:
                precision = report.samples()["bleu"][f"precision_{row['n']}"][i]
                assert precision == pytest.approx(row["shared"] / max(row["in_prediction"], 1))


def test_the_matches_with_the_best_reference_are_gleu() -> None:
    for score, step in sums("gleu(min_len=2, max_len=3)", SAMPLES):
        sides = ("shared", "in_prediction", "in_reference")
        shared, *both = (sum(row[side] for row in step["ngrams"]) for side in sides)
        assert score == pytest.approx(shared / max(*both, 1))


@pytest.mark.parametrize("lowercase", [False, True])
def test_the_matches_with_the_best_reference_are_chrf(lowercase: bool) -> None:
    for score, step in sums(f"chrf(char_order=3, lowercase={lowercase})", SAMPLES):
        rows = [r for r in step["ngrams"] if r["in_prediction"] and r["in_reference"]]
        precision, recall = (
            sum(r["shared"] / r[side] for r in rows) / max(len(rows), 1)
            for side in ("in_prediction", "in_reference")
        )
        # F of beta 2.
        f = 5 * precision * recall / (4 * precision + recall) if precision + recall else 0
        assert score == pytest.approx(f)


@pytest.mark.parametrize("spec", ["rouge", "rouge(variant='rouge2', stemmer=True)"])
def test_what_is_shared_with_the_best_reference_is_rouge(spec: str) -> None:
    for score, step in sums(spec, SAMPLES):
        (row,) = step.get("ngrams", [step])
        total = row["in_prediction"] + row["in_reference"]
        assert score == pytest.approx(2 * row["shared"] / max(total, 1))
        if "ngrams" not in step:
            assert _count(step["prediction"]) == _count(step["reference"]) == step["shared"]


def _count(segments: Sequence[Mapping[str, Any]]) -> int:
    from metrichub.text.highlight.spans import token_spans

    return sum(
        len(token_spans(s["text"], "rouge").tokens) for s in segments if s["kind"] == "copied"
    )


@pytest.mark.parametrize("normalization", ["squad", "words", "unicode", "none"])
def test_shared_tokens_are_token_f1(normalization: str) -> None:
    for score, step in sums(f"token_f1(normalization={normalization!r})", PAIRS):
        (row,) = step["ngrams"]
        total = row["in_prediction"] + row["in_reference"]
        assert score == pytest.approx(2 * row["shared"] / max(total, 1))


def test_what_a_text_said_before_is_its_repetition() -> None:
    for score, step in sums("repetition(n=2)", PAIRS):
        if step["total"]:
            assert score == pytest.approx(1 - step["novel"] / step["total"])


def test_novelty_marks_what_stands_in_the_file(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the cat sat\non a mat\n", encoding="utf-8")
    for score, step in sums(f"novelty(n=2, corpus={str(corpus)!r})", PAIRS):
        if step["total"]:
            assert score == pytest.approx(step["novel"] / step["total"])
    # Without a file a sample can't know what the others' references hold.
    assert all(step == {} for _, step in sums("novelty", PAIRS))


def test_the_edits_of_character_are_its_score_where_nothing_is_shifted() -> None:
    for score, step in sums("character", PAIRS):
        size = sum(len(run["prediction"]) for run in step["alignment"])
        if size and not step["shifted"]:
            assert score == pytest.approx(min(1.0, step["edits"] / size))
    report = Hub("character").evaluate(predictions=["b c a"], references=["a b c"])
    # "b c" goes behind "a" for its mean length, 1, of five characters; then nothing is wrong.
    assert report.samples()["character"]["score"].tolist() == pytest.approx([1 / 5])
    (step,) = report.explain("character", 0).steps
    assert (step["shifted"], step["edits"]) == (["b c"], 0)


@pytest.mark.parametrize("entry", EXPLAINING, ids=lambda entry: str(entry.name))
def test_hostile_texts_are_explained_whole(entry: Entry) -> None:
    subject = MetricUnderTest(entry)
    columns: dict[str, list[Any]] = {name: list(HOSTILE) for name in subject.needed}
    for name in CONVERSATIONS:
        if name in columns:
            columns[name] = list(map(conversation_with, HOSTILE))
    if "references" in columns:
        columns["references"] = list(reversed(HOSTILE))
    report = subject.evaluate(columns)
    (name,) = report.results
    for i, prediction in enumerate(HOSTILE):
        (step,) = report.explain(name, i).steps
        for segments in (value for value in step.values() if isinstance(value, list)):
            if segments and "text" in segments[0]:
                assert "".join(s["text"] for s in segments)
        if entry.name in ("abstractness", "coverage", "rouge"):
            assert "".join(s["text"] for s in step["prediction"]) == prediction
