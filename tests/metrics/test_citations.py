"""Citations: whether cited passages support sentences, and whether each of them is needed."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrichub import Hub, Report, load_metric
from metrichub.judge.prompt_files import Prompt
from metrichub.judge.protocol import Fields, Verdict
from metrichub.testing import Scripted
from tests.judge_stub import Stub
from tests.judge_toys import spec
from tests.vectors import vectors

NAME = "citations"
DOCS = ["Built in 1932.", "It cost two million.", "Fish swim."]


@dataclass(frozen=True)
class Scribe(Scripted):
    """A judge to which listed passages, by their numbers, support listed claims."""

    entailed: Collection[tuple[str, tuple[int, ...]]] = field(default=(), hash=False)
    docs: Sequence[str] = field(default=(), hash=False)
    asked: list[tuple[list[str], list[int]]] = field(default_factory=list, hash=False)

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        assert (prompt.name, tuple(verdicts)) == ("supported", ("yes", "no", "idk"))
        numbers = [self.docs.index(passage) + 1 for passage in fields["evidence"]]
        self.asked.append((list(items), numbers))
        return [
            Verdict(i, c, "yes" if (c, tuple(numbers)) in self.entailed else "idk", "so")
            for i, c in enumerate(items)
        ]


def judged(
    text: str, entailed: Collection[tuple[str, tuple[int, ...]]], **parameters: Any
) -> tuple[Report, list[tuple[list[str], list[int]]]]:
    judge = Scribe({}, entailed=entailed, docs=DOCS)
    hub = Hub(load_metric(NAME, judge=judge, **parameters))
    return hub.evaluate(predictions=[text], contexts=[DOCS]), judge.asked


def scores(text: str, entailed: Collection[tuple[str, tuple[int, ...]]], **how: Any) -> Any:
    return judged(text, entailed, **how)[0].scores()[NAME]


@pytest.mark.parametrize("row", vectors("citation_precision_recall"))
def test_recall_and_precision_are_those_of_alce(row: dict[str, Any]) -> None:
    listed = row["scripted"]["entailed"]
    entailed = [(claim["claim"], tuple(claim["passages"])) for claim in listed]
    assert row["inputs"]["docs"] == DOCS
    most = row["params"].get("at_most_citations")
    result = scores(row["inputs"]["output"], entailed, at_most_citations=most)
    assert result["recall"] == pytest.approx(row["expected"]["recall"], abs=1e-12)
    assert result["precision"] == pytest.approx(row["expected"]["precision"], abs=1e-12)
    # All that ALCE's program asks is asked here, each once.
    _, asked = judged(row["inputs"]["output"], entailed, at_most_citations=most)
    pairs = [(claim, numbers) for claims, numbers in asked for claim in claims]
    official = {(claim, tuple(numbers)) for numbers, claim in row["scripted"]["asked"]}
    assert {(claim, tuple(numbers)) for claim, numbers in pairs} == official
    assert len(pairs) == len(official)


def test_the_score_is_the_harmonic_mean_of_both_for_each_text() -> None:
    # Of two sentences, one is supported: recall 1/2. Its two citations: [1] is enough, [2] not
    # needed; the other sentence's counts nothing: precision 1/3. 2 · 1/2 · 1/3 / (5/6) = 2/5.
    result = scores("Old [1][2]. New [3].", [("Old.", (1, 2)), ("Old.", (1,))])
    assert result["score"] == pytest.approx(2 / 5)
    assert (result["recall"], result["precision"]) == (1 / 2, pytest.approx(1 / 3))


@pytest.mark.parametrize("mark", ["[1][2]", "[1, 2]", "[1-2]", "[1] [2]", "[^1][^2]", "【1】【2】"])
def test_marks_of_any_form_are_read_and_left_out_of_the_sentence(mark: str) -> None:
    _, asked = judged(f"It is old {mark}.", [])
    assert asked == [(["It is old."], [1, 2])]


@pytest.mark.parametrize(
    "text",
    ["Is it old? [1] It is. [2]", "Is it old?[1] It is.[2]", "Is it old [1]? It is [2]."],
)
def test_a_mark_behind_the_full_stop_is_of_the_sentence_before(text: str) -> None:
    _, asked = judged(text, [])
    assert sorted(asked) == [(["Is it old?"], [1]), (["It is."], [2])]


def test_chinese_sentences_are_split_and_their_marks_left_out() -> None:
    _, asked = judged("桥建于1932年【1】。它花了两百万[2]。", [])
    assert sorted(asked) == [(["它花了两百万。"], [2]), (["桥建于1932年。"], [1])]


def test_passage_zero_is_none_where_alce_takes_the_last() -> None:
    report, asked = judged("It is old [0].", [("It is old.", (3,))])
    assert (asked, report.scores()[NAME]["cited"]) == ([], 0)


def test_a_passage_that_is_cited_twice_counts_once() -> None:
    result = scores("It is old [1][1][2].", [("It is old.", (1, 2)), ("It is old.", (1,))])
    assert result["precision"] == 1 / 2


def test_only_the_first_three_citations_of_a_sentence_count_by_default() -> None:
    metric: Any = load_metric(NAME)
    assert metric.at_most_citations == 3
    _, asked = judged("It is old [3][2][1].", [], at_most_citations=2)
    assert asked == [(["It is old."], [3, 2])]


def test_a_text_without_citations_has_zero_and_asks_nothing() -> None:
    report, asked = judged("It is old. It is red.", [])
    assert report.scores()[NAME] == {"score": 0, "recall": 0, "precision": 0, "cited": 0}
    assert asked == []


def test_sentences_with_the_same_passages_share_a_call() -> None:
    _, asked = judged("It is old [1]. It is red [1]. It is big [2].", [])
    assert sorted(asked) == [(["It is big."], [2]), (["It is old.", "It is red."], [1])]


def test_the_card_counts_the_calls(stub: Stub) -> None:
    # The stub says yes to all but "unsupported": one call for [1, 2], which two sentences cite, and
    # two for each of its passages alone; one for [3], which doesn't hold.
    text = "It is old [1][2]. It is red [1][2]. This is unsupported [3]. It is big."
    report = Hub(load_metric(NAME, judge=spec(stub))).evaluate(predictions=[text], contexts=[DOCS])
    assert len(stub.asked) == 4
    # 2 of 4 sentences, and 4 of 5 citations.
    score = report.scores()[NAME]
    assert (score["recall"], score["precision"], score["cited"]) == (1 / 2, 4 / 5, 3 / 4)


@pytest.mark.parametrize("contexts", [[], [""], [" ", "\n"]])
def test_without_contexts_nothing_is_supported_or_asked(contexts: list[str]) -> None:
    hub = Hub(load_metric(NAME, judge=Scripted({})))
    scores = hub(predictions=["It is old [1]."], contexts=[contexts])[NAME]
    # A blank passage has a number that can be cited.
    cited = len(contexts) > 0
    assert scores == {"score": 0, "recall": 0, "precision": 0, "cited": cited}


@pytest.mark.parametrize("text", ["", " ", "...", "[1]", "[1] [2]"])
def test_a_text_without_a_statement_is_unanswered(text: str) -> None:
    report, asked = judged(text, [])
    assert math.isnan(report.scores()[NAME]["score"])
    assert (report.counts()[NAME]["unanswered"], asked) == (1, [])


def test_explanations_list_the_verdicts_with_their_passages() -> None:
    report, _ = judged("Both [1][2].", [("Both.", (1, 2)), ("Both.", (1,))])
    (sentence,) = report.explain(NAME, 0).steps[0]["sentences"]
    asked = [(entry["passages"], entry["verdict"]["verdict"]) for entry in sentence["verdicts"]]
    assert (sentence["sentence"], sentence["precise"]) == ("Both.", [1])
    assert asked == [([1, 2], "yes"), ([1], "yes"), ([2], "idk")]


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.integers(1, 3), max_size=3, unique=True), min_size=1, max_size=4),
    st.sets(st.tuples(st.sampled_from("ABCD"), st.lists(st.integers(1, 3), max_size=3))
            .map(lambda pair: (f"{pair[0]}.", tuple(pair[1]))), max_size=12),
)  # fmt: skip
def test_precise_citations_are_of_supported_sentences(
    cited: list[list[int]], entailed: set[tuple[str, tuple[int, ...]]]
) -> None:
    parts = list(zip("ABCD", cited, strict=False))
    text = "\n".join(f"{name}{''.join(f' [{n}]' for n in numbers)}." for name, numbers in parts)
    report, _ = judged(text, entailed)
    score = report.scores()[NAME]
    supported = [bool(n) and (f"{name}.", tuple(n)) in entailed for name, n in parts]
    assert score["recall"] == pytest.approx(sum(supported) / len(parts))
    marks = sum(map(len, cited))
    most = sum(len(n) for (_, n), yes in zip(parts, supported, strict=True) if yes)
    assert score["precision"] <= most / max(marks, 1) + 1e-12
