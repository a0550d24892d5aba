"""Context overlap and quoted spans: numbers of ragas 0.4.3, and what ragas doesn't count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.errors import InputError
from tests.commands import JSON, error, run, write
from tests.vectors import DATA

ROWS = [
    json.loads(line)
    for line in (DATA / "ragas-contexts.jsonl").read_text(encoding="utf-8").splitlines()
]
"""Passages, and what ragas 0.4.3 makes of them: NonLLMContextPrecisionWithReference and
NonLLMContextRecall with these thresholds."""


def evaluated(contexts: Any, references: Any, **options: Any) -> Report:
    hub = Hub(load_metric("context_overlap", **options))
    return hub.evaluate(contexts=contexts, reference_contexts=references)


def overlap(contexts: Any, references: Any, **options: Any) -> dict[str, Any]:
    return evaluated(contexts, references, **options)["context_overlap"]


def test_precision_and_recall_are_those_of_ragas() -> None:
    assert len(ROWS) == 30
    for row in ROWS:
        columns = [row["retrieved_contexts"]], [row["reference_contexts"]]
        result = overlap(*columns, threshold=row["threshold"])
        # ragas adds 1e-10 to the denominator.
        assert result["average_precision"] == pytest.approx(row["average_precision"], abs=1e-9), row
        assert result["recall"] == pytest.approx(row["recall"]), row


@pytest.mark.parametrize(
    ("contexts", "references", "threshold", "expected"),
    [
        # Of three retrieved, ranks 2 and 3 are one reference of two; (1/2 + 2/3) / 2.
        (["x y", "a cat", "a cat"], ["a cat", "the moon"], 1, (4 / 7, 2 / 3, 1 / 2, 7 / 12)),
        (["a  cat\n"], [" a cat"], 1, (1, 1, 1, 1)),
        # One edit in four characters is 0.75, which is enough where it is the threshold.
        (["cats"], ["bats"], 0.75, (1, 1, 1, 1)),
        (["cats"], ["bats"], 0.76, (0, 0, 0, 0)),
        ([], ["a cat"], 0.5, (0, 0, 0, 0)),
        ([""], ["a cat"], 0.5, (0, 0, 0, 0)),
    ],
)
def test_passages_are_the_same_from_the_threshold_on(
    contexts: list[str], references: list[str], threshold: float, expected: tuple[float, ...]
) -> None:
    result = overlap([contexts], [references], threshold=threshold)
    assert tuple(result.values()) == pytest.approx(expected)


def test_a_sample_without_reference_passages_is_unscored_and_ids_are_refused() -> None:
    report = evaluated([["a"], ["a"], ["a"]], [["a"], [], [" "]])
    assert report["context_overlap"]["score"] == 1
    assert report.counts()["context_overlap"]["unscored"] == 2
    assert overlap([["one text"]], ["one text"])["score"] == 1
    with pytest.raises(InputError, match=r"'reference_contexts' holds 3 \(int\), not text"):
        overlap([["a"]], [[3]])


def test_an_explanation_pairs_the_passages() -> None:
    report = Hub("context_overlap").evaluate(
        retrieved_contexts=[["a cat", "x"], []], reference_contexts=[["a bat", "moon"], ["b"]]
    )
    (step,) = report.explain("context_overlap", 0).steps
    first, second = step["passages"]
    assert first == {"passage": "a cat", "reference": "a bat", "similarity": 0.8, "found": True}
    assert (second["found"], step["missing"]) == (False, ["moon"])
    assert report.explain("context_overlap", 1).steps[0]["missing"] == ["b"]


@pytest.mark.parametrize(
    ("reply", "passages", "score"),
    [
        # What ragas 0.4.3's extract_quoted_spans and count_matched_spans give.
        ('It found that "machine learning improves accuracy".',
         ["Machine learning improves accuracy by 15%."], 1),
        ('He said “the results are  significant” and "nothing else matters here".',
         ["The results\nare significant according to the paper."], 1 / 2),
        ('"one two" is short and "one two three" long.', ["one two three four"], 1),
        ('"Alpha beta gamma" "delta epsilon zeta" "eta theta iota"',
         ["alpha beta gamma x", "delta  epsilon zeta"], 2 / 3),
        ("„Alpha beta gamma“ and nothing.", ["beta gamma"], 0),
        ('"a b c d"', [], 0),
        # By hand: other marks, a comma within the marks, apostrophes, no span across passages.
        ("« il a fait beau »", ["Il a fait beau hier."], 1),
        ("»so ist es« und »so nicht gewesen«", ["So ist es."], 1 / 2),
        ("「今天天气很好」『明天』『明天会下雨』", ["今天天气很好。"], 1 / 2),
        ('"cats sleep a lot," it says', ["Cats sleep a lot."], 1),
        ('"it isn\'t a cat"', ["It isn’t a cat."], 1),
        ('"a b c d"', ["x a b", "c d y"], 0),
    ],
)  # fmt: skip
def test_quoted_spans_are_in_a_passage(reply: str, passages: list[str], score: float) -> None:
    scores = Hub("quoted_spans")(predictions=[reply], contexts=[passages])["quoted_spans"]
    assert scores["score"] == pytest.approx(score)


@pytest.mark.parametrize("reply", ["", "It's the dog's.", '"two words"', '". . ."', '5" by 7"'])
def test_a_reply_that_quotes_nothing_is_unscored(reply: str) -> None:
    report = Hub("quoted_spans").evaluate(
        predictions=[reply, '"a b c"'], contexts=[["a b c"], ["a b c"]]
    )
    assert report.scores()["quoted_spans"] == {"score": 1}
    assert report.counts()["quoted_spans"] == {"unanswered": 1}
    assert report.explain("quoted_spans", 0).reason == "the reply quotes nothing"


def test_rows_of_ragas_are_scored_by_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    row = {
        "user_input": "Capital?",
        "response": 'It is Bern: "Bern is the capital city".',
        "retrieved_contexts": ["Bern is the capital city.", "Cats sleep all day long."],
        "reference_contexts": ["Bern is the capital city"],
    }
    write("rag.jsonl", [row, row])
    metrics = ("-m", "context_overlap", "-m", "quoted_spans")
    scores = json.loads(run("score", "rag.jsonl", *metrics, *JSON).stdout)["scores"]
    assert scores["context_overlap"]["precision"] == 0.5
    assert scores["context_overlap"]["score"] == pytest.approx(2 / 3)
    assert scores["quoted_spans"]["score"] == 1
    write("bare.jsonl", [{key: row[key] for key in ("response", "retrieved_contexts")}])
    assert "reference_contexts" in error(run("score", "bare.jsonl", *metrics), 3)
