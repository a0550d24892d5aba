"""Citation ids: which marks are read from a reply, and what they score."""

from __future__ import annotations

from typing import Any

import pytest

from metrichub import Hub, Report, load_metric
from metrichub.errors import InputError
from tests.vectors import answer_vectors

SETS = {"SetP": "precision", "SetR": "recall", "SetF": "score"}
GOLDENS = [case.values[0] for case in answer_vectors("ranking")]
IR_MEASURES = [row for row in GOLDENS if row["source"].startswith("ir_measures")]


def evaluated(predictions: Any, relevant: Any, **options: Any) -> Report:
    extract = options.pop("extract", None)
    hub = Hub(load_metric("citation_ids", **options), extract=extract)
    return hub.evaluate(predictions=predictions, relevant=relevant)


def cites(reply: str, **options: Any) -> set[str]:
    """The ids that are read from a reply's marks."""
    metric: Any = load_metric("citation_ids", **options)
    return {*metric._cited(reply)}


@pytest.mark.parametrize("row", IR_MEASURES)
def test_sets_are_those_of_citations(row: dict[str, Any]) -> None:
    qrels, run = row["inputs"]["qrels"], row["inputs"]["run"]
    replies = [" ".join(f"<{key}>" for key in run.get(query, ())) for query in qrels]
    options = {"pattern": "<(.*?)>", "no_relevant": "zero"}
    scores = evaluated(replies, list(qrels.values()), **options)["citation_ids"]
    cited = scores["cited"]
    for name, output in SETS.items():
        # A reply without a citation has no precision here, and 0 there.
        value = scores[output] * (cited if output == "precision" else 1) if cited else 0
        assert value == pytest.approx(row["expected"][name]), name


@pytest.mark.parametrize(
    ("reply", "ids"),
    [
        ("a [1]. b[2][3]", "1 2 3"),
        ("[1, 3;5]", "1 3 5"),
        ("[2-4] [7–8]", "2 3 4 7 8"),
        ("[4-2]", "4 2"),
        ("[1-2000]", "1 2000"),
        ("[^6] 【7】【08†source】", "6 7 8"),
        ("[a] [] [ 1] (2) [1.5] {3} [x1] [1]x", "1"),
        ("[1234567]", ""),
    ],
)
def test_marks_are_numbers_in_brackets(reply: str, ids: str) -> None:
    assert cites(reply) == {*ids.split()}


def test_a_pattern_gives_ids_of_another_form() -> None:
    assert cites("as doc-a1, doc-b", pattern="doc-([a-z0-9]+)") == {"a1", "b"}
    assert cites("see §4 and §12", pattern="§[0-9]+") == {"§4", "§12"}


def test_a_reply_without_citations_has_no_precision_and_an_f1_of_0() -> None:
    report = evaluated(["[1] [9]", "none", "[2]"], [[1, 2], [1], [2]])
    # Precision 1/2 and 1; recall 1/2, 0 and 1; F1 1/2, 0 and 1.
    assert report["citation_ids"] == {
        "score": 0.5,
        "precision": 0.75,
        "recall": 0.5,
        "cited": pytest.approx(2 / 3),
    }
    samples = report.samples()["citation_ids"]
    assert samples["precision"].tolist() == pytest.approx([0.5, float("nan"), 1], nan_ok=True)


def test_nothing_extracted_cites_nothing() -> None:
    replies = ["x\ny [1]", "Answer: see [1] there"]
    report = evaluated(replies, [[1], [1]], extract="after('Answer:')")
    assert report["citation_ids"]["score"] == 0.5
    assert report.counts()["citation_ids"]["unextracted"] == 1


def test_a_sample_without_relevant_ids_is_skipped_or_has_0() -> None:
    report = evaluated(["[1]", "[1]"], [[1], {"1": 0}])
    assert (report["citation_ids"]["score"], report.counts()["citation_ids"]["unscored"]) == (1, 1)
    zero = evaluated(["[1]", "[1]"], [[1], []], no_relevant="zero")
    assert zero["citation_ids"]["score"] == 0.5
    assert zero.notes()["citation_ids"] == ["1 samples have nothing relevant, and 0"]


def test_ids_are_numbers_texts_or_graded() -> None:
    for relevant in ([1, "2"], ["1", 2.0], {"1": 2, "2": 1, "3": 0}, '["1", "2"]'):
        assert evaluated(["[1] and [2]"], [relevant])["citation_ids"]["score"] == 1
    with pytest.raises(InputError, match="'relevant' holds None in a list"):
        evaluated(["[1]"], [[None]])


def test_the_column_may_have_any_name() -> None:
    for name in ("category", "box", "gold", "gold_docs"):
        hub = Hub(f"citation_ids(relevant='{name}')")
        for ids in ([1], ["1", "2"], {"1": 1}):
            assert hub(predictions=["[1]"], **{name: [ids]})["citation_ids"]["precision"] == 1


def test_relevant_ids_are_shared_with_ranking() -> None:
    scores = Hub(["citation_ids", "ranking(mode='rr')"])(
        predictions=["[2]"], relevant=[[2]], retrieved=[[1, 2]]
    )
    assert (scores["citation_ids"]["score"], scores["ranking"]["score"]) == (1, 0.5)


def test_hostile_replies_are_read_in_linear_time() -> None:
    replies = ["[" * 200_000, "[1, " * 200_000, "9" * 1_000_000, "[1-99]" * 20_000, "【1" * 200_000]
    assert evaluated(replies, [[1]] * 5)["citation_ids"]["cited"] == 1 / 5
