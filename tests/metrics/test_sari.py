"""SARI: values of the published programs, and the definitions of the paper one n-gram at a time."""

from collections import Counter
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrichub import Hub, load_metric
from metrichub.errors import Doubt
from tests.vectors import SUMMEVAL, WEBNLG, slow, texts, vectors

VARIANTS = ("xu2016", "hf", "easse")
WORDS = st.sampled_from(["a", "b", "c", "a", "Été", "中文", "\0", "😀"])
TEXT = st.one_of(st.lists(WORDS, max_size=9).map(" ".join), st.text(max_size=15))
SAMPLES = st.lists(
    st.tuples(TEXT, TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=5
)


def evaluate(samples, **parameters):
    sources, predictions, references = zip(*samples, strict=True)
    return Hub(load_metric("sari", **parameters)).evaluate(
        sources=list(sources), predictions=list(predictions), references=list(references)
    )


def grams(text, n, variant):
    # The programs of xu2016 and hf split at single blanks, so that an empty text is one token.
    words = text.split() if variant == "easse" else text.split(" ")
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def divided(over, under, empty=0):
    return over / under if under else empty


def f1(precision, recall):
    return divided(2 * precision * recall, precision + recall)


def quotients(source, prediction, references, n, variant):
    """Numerator and denominator of precision and recall of what was added, kept and deleted.

    Xu et al. (2016), equations 4 to 7. Source and prediction are counted once a reference. With
    `xu2016` the quotients are those of single n-grams, averaged; `hf` does so but for one.
    """
    times = len(references)
    s = Counter({g: times * c for g, c in grams(source, n, variant).items()})
    p = Counter({g: times * c for g, c in grams(prediction, n, variant).items()})
    r = sum((grams(reference, n, variant) for reference in references), Counter())
    added, due_additions = p.keys() - s.keys(), r.keys() - s.keys()
    right = len(added & due_additions)
    add = (right, len(added), right, len(due_additions))
    retained, due = s & p, s & r
    gone = s - p
    if variant == "easse":
        dropped = s - r
        hit, lost = (retained & due).total(), (gone & dropped).total()
        keep = (hit, retained.total(), hit, due.total())
        return add, keep, (lost, gone.total(), lost, dropped.total())
    both = retained & due
    precision = (sum(c / retained[g] for g, c in both.items()), len(retained))
    recall = (sum(c / due[g] for g, c in both.items()), len(due))
    if variant == "hf":
        recall = (both.total(), due.total())
    lost = sum(c / gone[g] for g, c in (gone - r).items())
    return add, (*precision, *recall), (lost, len(gone), 0, 0)


def operations(parts, variant):
    """The three operations from the quotients of the orders."""
    empty = 1 if variant == "hf" else 0
    values = []
    for operation in range(3):
        each = []
        for order in parts:
            over, under, more, below = order[operation]
            precision, recall = divided(over, under, empty), divided(more, below, empty)
            deleted = operation == 2 and variant != "easse"
            each.append(precision if deleted else f1(precision, recall))
        values.append(fmean(each))
    return values


def by_definition(samples, variant):
    parts = [[quotients(*sample, n, variant) for n in range(1, 5)] for sample in samples]
    each = [operations(part, variant) for part in parts]
    if variant != "easse":
        return each, np.mean(each, axis=0)
    return each, operations(np.sum(np.array(parts, float), axis=0).tolist(), variant)


@pytest.mark.parametrize("vector", vectors("sari_xu2016", "sari_hf", "sari_easse"))
def test_values_of_the_published_programs_are_met(vector):
    sample = (vector["sources"][0], vector["predictions"][0], vector["references"][0])
    options = {name: value for name, value in vector["params"].items() if name == "tokenizer"}
    report = evaluate([sample], variant=vector["metric"].removeprefix("sari_"), **options)
    score = report.scores()["sari"]["score"] * vector["params"].get("scale", 1)
    assert score == pytest.approx(vector["expected"], abs=vector["tolerance"])


@given(SAMPLES, st.sampled_from(VARIANTS))
def test_equals_the_definitions_on_any_text(samples, variant):
    report = evaluate(samples, variant=variant, tokenizer="whitespace", lowercase=False)
    each, mean = by_definition(samples, variant)
    values = report.samples()["sari"]
    for place, name in enumerate(("add", "keep", "delete")):
        assert values[name] == pytest.approx([row[place] for row in each], abs=1e-12)
        assert report.scores()["sari"][name] == pytest.approx(mean[place], abs=1e-12)
    assert report.scores()["sari"]["score"] == pytest.approx(np.mean(mean), abs=1e-12)


@pytest.mark.parametrize("name", [SUMMEVAL, slow(WEBNLG)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_equals_the_definitions_on_real_text(name, variant):
    # The first reference stands in for a source.
    samples = [(r[0], p, r) for p, r in zip(*texts(name, 100), strict=True)]
    report = evaluate(samples, variant=variant, tokenizer="whitespace", lowercase=False)
    _, mean = by_definition(samples, variant)
    assert report.scores()["sari"]["score"] == pytest.approx(np.mean(mean), abs=1e-12)


@pytest.mark.parametrize(
    ("variant", "expected"),
    # Nothing to add or delete, and all is kept: 0/0 is 0, 1 and 0.
    [("xu2016", 1 / 3), ("hf", 1.0), ("easse", 1 / 3)],
)
def test_a_simple_sentence_left_alone(variant, expected):
    report = evaluate([("a b c d", "a b c d", ["a b c d"])], variant=variant)
    assert report.scores()["sari"]["score"] == pytest.approx(expected)


def test_pooled_counts_weigh_sentences_by_their_length():
    # Kept 1 of 1 and 0 of 3 unigrams that the references keep: the pooled F1 of P 1/1 and R 1/4 is
    # 2/5, and the mean of sentences 1/2; longer n-grams are never kept.
    samples = [("a", "a", ["a"]), ("a b c", "", ["a b c"])]
    assert evaluate(samples, variant="easse").scores()["sari"]["keep"] == pytest.approx(0.4 / 4)
    mean = evaluate(samples, variant="xu2016").scores()["sari"]["keep"]
    assert mean == pytest.approx(0.5 / 4)


def test_only_easse_pools_counts():
    averagings = [load_metric("sari", variant=variant).averaging for variant in VARIANTS]
    assert averagings == ["macro", "macro", "micro"]


def test_case_and_tokenizer_are_parameters():
    # "intl" splits the quotation mark that "13a" leaves in its word.
    sample = [("a", "„b“", ["b"])]
    assert evaluate(sample, tokenizer="intl").scores()["sari"]["add"] > 0
    assert evaluate(sample).scores()["sari"]["add"] == 0
    assert evaluate([("a", "B", ["b"])]).scores()["sari"]["add"] == pytest.approx(1 / 4)
    assert evaluate([("a", "B", ["b"])], lowercase=False).scores()["sari"]["add"] == 0


SAME = ("a b c d e", "a b c d e", ["a b c d e"])
ONE_WORD = ("feline", "cat", ["cat"])
WHOLE = ("a b c d e", "f g h i j", ["f g h i j"])
REST = ("a b c d e f g h", "a b c d x y z w", ["a b c d x y z w"])


@pytest.mark.parametrize(
    ("samples", "variant", "score", "note", "doubted"),
    [
        # Only keeping is defined, and right: 1/3. Of one word, two of twelve quotients are.
        ([SAME], "easse", 1 / 3, "1 output equals a reference, as its source does, with", True),
        ([ONE_WORD], "easse", 1 / 6, "1 output equals a reference with a score", True),
        ([SAME, ONE_WORD], "xu2016", 1 / 4, "2 outputs equal a reference, 1 of them the", True),
        ([SAME, ONE_WORD], "hf", 1, "", False),
        # Whatever is kept is 0/0.
        ([WHOLE], "easse", 2 / 3, "1 output equals", True),
        # Everything is done at every length: pooled, nothing is 0/0.
        ([REST], "easse", 1, "", False),
        ([REST, SAME], "easse", 1, "1 output equals", False),
        ([REST, SAME], "xu2016", 2 / 3, "1 output equals", True),
        # Wrong, or right by one of two references: no 0/0 is to blame.
        ([("a b", "c d", ["a b"])], "easse", 0, "", False),
    ],
)
def test_right_outputs_below_1_are_counted_and_doubted(samples, variant, score, note, doubted):
    report = evaluate(samples, variant=variant)
    assert report.scores()["sari"]["score"] == pytest.approx(score)
    notes = report.notes().get("sari", [])
    assert [text[: len(note)] for text in notes] == ([note] if note else [])
    assert [isinstance(text, Doubt) for text in notes] == ([doubted] if note else [])
    assert all("variant='hf'" in text for text in notes)
    # Parts of a corpus and sums without samples say so, too.
    parts = [evaluate([sample], variant=variant) for sample in samples]
    merged = parts[0].merge(*parts[1:]) if parts[1:] else parts[0]
    assert merged.notes().get("sari", []) == notes
    rows = [dict(zip(("source", "prediction", "references"), row, strict=True)) for row in samples]
    summed = Hub(load_metric("sari", variant=variant)).evaluate(rows, samples=False)
    assert [note for note in summed.notes().get("sari", []) if "0/0" in note] == notes
    assert summed.scores() == report.scores()
    assert summed.counts() == report.counts()
