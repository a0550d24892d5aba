"""`report.agreement` beside the forms of what people say: ratings, errors, votes, preferences."""

from collections import Counter
from typing import Any, ClassVar

import pytest

from metrichub import Hub, load_metric
from metrichub.authoring import Choice
from metrichub.errors import InputError, JudgeError, MissingColumn, ParameterError, ReportError
from metrichub.testing import Scripted

# token_f1 with "b c d e": 2/5, 2/3, 6/7 for item i; 2/3, 6/7, 1 for j.
TEXTS = {"i": ["b", "b c", "b c d"], "j": ["b c", "b c d", "b c d e"]}
ROWS = [
    {"item": item, "system": system, "prediction": text, "reference": "b c d e"}
    for item, texts in TEXTS.items()
    for system, text in zip("xyz", texts, strict=True)
]
VOTES = [
    {"item": "i", "system_a": "x", "system_b": "y", "winner": "y"},
    {"item": "i", "system_a": "z", "system_b": "y", "winner": "b"},
    {"item": "j", "system_a": "z", "system_b": "x", "winner": "a"},
    {"item": "j", "system_a": "x", "system_b": "y", "winner": "tie"},
    {"item": "k", "system_a": "x", "system_b": "y", "winner": "a"},
]


def report(rows: Any = ROWS):
    return Hub(["token_f1", "wer"]).evaluate(rows)


def test_votes_between_systems_are_joined_by_item_and_system() -> None:
    agreement = report().agreement(preferences=VOTES, draws=0)
    # y and z before x are in order, y before z isn't; people tied one, and one has no texts.
    row = agreement.row("token_f1", coefficient="accuracy")
    assert (row.value, row.used, row.undefined, row.unscored) == (pytest.approx(2 / 3), 3, 1, 1)
    # wer falls where more words are there, and is turned.
    assert agreement.row("wer", coefficient="tau_wmt").value == pytest.approx(1 / 3)
    assert agreement.data.systems == 3
    assert set(agreement.signatures) == {"token_f1", "wer"}


@pytest.mark.parametrize(
    ("protocol", "references", "noted"),
    [("g-eval", 2, True), ("g-eval", 1, False), ("qags", 2, False)],
)
def test_a_protocol_that_takes_each_reference_alone_is_noted_where_scores_saw_several(
    protocol: str, references: int, noted: bool
) -> None:
    rows = [
        {"item": row["item"], "prediction": row["prediction"], "references": ["b c"] * references}
        for row in ROWS
    ]
    agreement = report(rows).agreement({"good": range(6)}, protocol=protocol, draws=0)
    assert (
        any("averages the scores of single references" in note for note in agreement.notes) is noted
    )


class ByLength(Scripted):
    """Prefers the longer text, and the first of two as long."""

    async def choose(self, prompt, candidates, fields):
        a, b = map(len, candidates)
        return Choice(int(b > a), "by length")


class Failing(ByLength):
    """The same, but gives no answer on a text of one letter."""

    async def choose(self, prompt, candidates, fields):
        if "b" in candidates:
            raise JudgeError("no answer")
        return await super().choose(prompt, candidates, fields)


def pairs(winners: list[str | None], judge: type[ByLength] = ByLength, **options: Any):
    texts = [("long text", "short"), ("b", "longer"), ("same", "size"), ("longest", "c")]
    rows = [
        {"prediction": a, "reference": b, "winner": winner}
        for (a, b), winner in zip(texts, winners, strict=True)
    ]
    metric = load_metric("pairwise", judge=judge({}), question=False)
    return Hub(metric).evaluate(rows, **options)


def test_a_judge_that_compares_agrees_with_what_people_prefer() -> None:
    agreement = pairs(["a", "model_a", "tie", "A"]).agreement("winner", draws=0)
    # It says a, b, tie (the order decided) and a; people tie the third.
    assert agreement.row("pairwise", coefficient="accuracy").value == pytest.approx(2 / 3)
    same = pairs(["a", "b", "tie", None]).agreement("winner", coefficient="kappa", draws=0)
    assert (same.row().value, same.row().used) == (1, 3)


def test_a_pair_without_an_answer_is_no_tie() -> None:
    report = pairs(["a", "tie", "tie", "A"], Failing, max_errors=1)
    row = report.agreement("winner", coefficient="kappa", draws=0).row()
    assert (row.value, row.used, row.unscored) == (1, 3, 1)


class Changing(Scripted):
    """Prefers the longer text when it is first asked, and later the shorter one if there is a b."""

    asked: ClassVar[Counter[tuple[str, ...]]] = Counter()

    async def choose(self, prompt, candidates, fields):
        first, second = candidates
        self.asked[first, second] += 1
        turned = "b" in first + second and self.asked[first, second] > 1
        return Choice(int((len(second) > len(first)) != turned), "by length")


def test_a_judge_that_is_asked_twice_shows_how_far_it_agrees_with_itself() -> None:
    Changing.asked.clear()
    metric = load_metric("pairwise", judge=Changing({}), question=False)
    rows = [
        {"prediction": a, "reference": b, "winner": "a", "good": 1 + len(a)}
        for a, b in [("bbb", "b"), ("aaa", "a"), ("a", "aaa"), ("bb", "c")]
    ]
    report = Hub(metric).evaluate(rows, repeats=2)
    (judge,) = report.agreement("winner", draws=0).judges
    # The two pairs with a "b" change from a to b in the second run, and keep it in both orders.
    assert (judge.runs, judge.same.value, judge.order.value) == (2, 2 / 4, 1)
    # Wins are 1, 1, 0, 1 and 0, 1, 0, 0: of 8 verdicts 4 are beside another one, by chance 32/56.
    assert judge.alpha == pytest.approx(1 - (4 / 8) / (32 / 56))
    # Ratings show it too, for every output that they are correlated with.
    by_ratings = report.agreement("good", coefficient="pearson", level="pooled", draws=0)
    assert by_ratings.judges[0] == judge
    assert [judge.metric for judge in by_ratings.judges] == by_ratings.metrics
    assert "judges" not in repr(Hub("token_f1").evaluate(ROWS).agreement({"g": range(6)}, draws=0))


def test_a_smaller_confidence_makes_every_interval_narrower() -> None:
    rows = [
        {"prediction": "abc"[i % 3], "reference": "a", "label": i % 4 < 2 if i < 24 else None}
        for i in range(32)
    ]
    report = Hub("exact_match").evaluate(rows)
    means = [report.calibrated("label", confidence=c)["exact_match"]["score"] for c in (0.5, 0.95)]
    assert means[0].low > means[1].low
    assert means[0].labels_low > means[1].labels_low
    verdicts = [report.verdicts("label", "exact_match", confidence=c) for c in (0.5, 0.95)]
    assert verdicts[0].tpr.low > verdicts[1].tpr.low


def test_mistakes_are_named() -> None:
    ratings: Any = [4, 2, 5, 1, 3, 3]
    scored = report()
    mistakes: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (ReportError, "pass columns of ratings or preferences=", {"human": {"good": ratings}}),
        (ParameterError, "level='item' is not allowed; choose None, as it", {"level": "item"}),
        (MissingColumn, "votes have no column 'system_a'", {"preferences": [{"item": 1}]}),
        (ReportError, "nothing to compare with; name a column", {"preferences": None}),
        (ReportError, r"pass ratings as \{'quality': ", {"human": ratings}),
    ]
    for kind, message, details in mistakes:
        with pytest.raises(kind, match=message):
            scored.agreement(**{"preferences": VOTES, **details})
    with pytest.raises(ReportError, match=r"human names a column of the report; it is \[4, 2, 5"):
        scored.calibrated(ratings)
    with pytest.raises(ReportError, match="no output 'recal'; did you mean 'recall'"):
        scored.verdicts("good", "token_f1", output="recal")
    with pytest.raises(TypeError, match="'levels'"):
        scored.agreement({"good": ratings}, levels="item")
    with pytest.raises(InputError, match="token_f1 scores one output, and people chose"):
        report([{**row, "winner": "a"} for row in ROWS]).agreement("winner")
    with pytest.raises(InputError, match="need the system of every sample: name its"):
        report([{**row, "system": None} for row in ROWS]).agreement(preferences=VOTES)


def test_a_column_that_was_too_long_to_keep_is_named() -> None:
    rows = [row | {"page": "p" * 300} for row in ROWS]
    with pytest.raises(MissingColumn, match=r"over 200 characters; .* keep=\['page'\]"):
        report(rows).agreement(preferences=VOTES, item="page")
