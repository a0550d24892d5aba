"""CIDEr: expected values come from the authors' code and pycocoevalcap, or are derived beside."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metric_cards._bases.ptb import caption_words
from metrichub import Hub, Report, load_metric
from metrichub.errors import ParameterError
from metrichub.evaluation.result_rows import RowsResult
from tests.vectors import SUMMEVAL, WEBNLG, WMT16, slow, texts, vectors

WORDS = st.sampled_from(["a", "man", "dog", "Dog.", "rides", "été", "中文", "\0", "😀", "x-y"])
TEXT = st.one_of(st.lists(WORDS, max_size=9).map(" ".join), st.text(max_size=20))
SAMPLES = st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=6)
PARAMETERS = st.fixed_dictionaries(
    {
        "variant": st.sampled_from(["cider", "cider-d"]),
        "max_order": st.sampled_from([1, 2, 4, 6]),
        "sigma": st.sampled_from([1.0, 6.0]),
    }
)


def evaluate(predictions, references, **parameters):
    metric = load_metric("cider", **{"tokenizer": "whitespace", **parameters})
    return Hub(metric).evaluate(predictions=predictions, references=references)


def scores(predictions, references, **parameters):
    return evaluate(predictions, references, **parameters).samples()["cider"]["score"]


def by_the_paper(samples, variant, max_order, sigma):
    """CIDEr and CIDEr-D of every sample, equations 1 to 4 of Vedantam et al. (2015), counts as tf.

    The difference of the lengths is that of the numbers of bigrams, as in the authors' code.
    """

    def grams(text, n):
        words = text.split()
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    results = []
    documents = [
        {g for r in rs for n in range(1, max_order + 1) for g in grams(r, n)} for _, rs in samples
    ]
    if documents == documents[:1] * len(samples):  # Every weight is log 1.
        return [math.nan] * len(samples)
    for prediction, references in samples:
        cosines = []
        for n in range(1, max_order + 1):
            seen = Counter(g for _, rs in samples for g in {g for r in rs for g in grams(r, n)})

            def vector(text, n=n, seen=seen):
                return {
                    g: tf * math.log(len(samples) / max(1, seen[g]))
                    for g, tf in grams(text, n).items()
                }

            for reference in references:
                first, other = vector(prediction), vector(reference)
                clip = min if variant == "cider-d" else lambda a, b: a
                dot = sum(clip(x, other[g]) * other[g] for g, x in first.items() if g in other)
                norms = math.hypot(*first.values()) * math.hypot(*other.values())
                bigrams = grams(prediction, 2).total() - grams(reference, 2).total()
                penalty = math.exp(-(bigrams**2) / (2 * sigma**2)) if variant == "cider-d" else 1
                cosines.append(penalty * dot / norms if norms else 0)
        results.append(10 * sum(cosines) / max_order / len(references))
    return results


@pytest.mark.parametrize("vector", vectors("cider", "cider_d"))
def test_values_of_the_authors_code_are_met(vector):
    variant = vector["metric"].replace("_", "-")
    report = evaluate(vector["predictions"], vector["references"], variant=variant)
    expected, within = vector["expected"], vector["tolerance"]
    if len(vector["predictions"]) == 1:  # Their code gives 0 to any prediction.
        expected = {"score": math.nan, "scores": [math.nan]}
    assert report.scores()["cider"]["score"] == pytest.approx(
        expected["score"], abs=within, nan_ok=True
    )
    each = pytest.approx(expected["scores"], abs=within, nan_ok=True)
    assert report.samples()["cider"]["score"] == each


@given(SAMPLES, PARAMETERS)
def test_equals_the_paper_on_any_text(samples, parameters):
    predictions, references = [p for p, _ in samples], [r for _, r in samples]
    report = evaluate(predictions, references, **parameters)
    expected = by_the_paper(samples, **parameters)
    assert report.samples()["cider"]["score"] == pytest.approx(expected, abs=1e-9, nan_ok=True)
    mean = pytest.approx(np.mean(expected), abs=1e-9, nan_ok=True)
    assert report.scores()["cider"]["score"] == mean


@pytest.mark.parametrize("name", [slow(SUMMEVAL), slow(WMT16), slow(WEBNLG)])
def test_equals_pycocoevalcap_on_real_text(name):
    scorer = pytest.importorskip(
        "pycocoevalcap.cider.cider_scorer", reason="pycocoevalcap is not installed"
    ).CiderScorer()
    predictions, references = texts(name, 1000)
    for sample in zip(predictions, references, strict=True):
        scorer += sample
    total, each = scorer.compute_score()
    report = evaluate(predictions, references)
    assert report.scores()["cider"]["score"] == pytest.approx(total, abs=1e-12)
    assert report.samples()["cider"]["score"] == pytest.approx(each, abs=1e-12)


@pytest.mark.corpora
def test_webnlg_is_near_what_the_official_tokenizer_gives():
    # 2.7761 (CIDEr-D) and 3.4925 (CIDEr): the authors' code after Stanford's PTBTokenizer.
    predictions, references = texts(WEBNLG)
    hub = Hub(metrics=["cider", "plain = cider(variant='cider')"])
    scored = hub(predictions=predictions, references=references)
    scores = {name: value["score"] for name, value in scored.items()}
    assert scores == pytest.approx({"cider": 2.7761, "plain": 3.4925}, abs=0.01)


def test_a_sample_repeated_counts_as_often_in_the_weights():
    # "a" is in 2 of 3 samples: its weight is log 3/2, that of "b" log 3. "a b" against "a" has the
    # cosine log(3/2) / |(log 3/2, log 3)|, which every repetition of the sample has too.
    rare, common = math.log(3), math.log(3 / 2)
    cosine = common / math.hypot(common, rare)
    parameters = {"variant": "cider", "max_order": 1}
    result = scores(["a b", "a b", "c"], ["a", "a", "c"], **parameters)
    assert result == pytest.approx([10 * cosine, 10 * cosine, 10])
    report = evaluate(["a b", "a b", "c"], ["a", "a", "c"], **parameters)
    assert report.scores()["cider"]["score"] == pytest.approx(np.mean(result))


@pytest.mark.parametrize(
    ("predictions", "references", "unscored"),
    [
        # Every n-gram is in the references of all samples: its weight is log 1, and pycocoevalcap
        # gives 0 to any prediction.
        (["a b c d e"], ["a b c d e"], 1),
        (["a b", "c", ""], ["a b", "a b", "a b"], 3),
        (["a", "a"], [["a b", "c"], ["c", "a b"]], 2),
        (["a", "a"], [["a", "b"], ["b a", "a b", "a b a b"]], 0),
        (["a", ""], ["", ""], 2),
        # One sample's references are enough to make the n-grams of the others rare.
        (["a", "a"], ["a", ""], 0),
        (["a", "a"], ["a", "a b"], 0),
    ],
)
def test_samples_whose_ngrams_weigh_nothing_are_unscored(predictions, references, unscored):
    report = evaluate(predictions, references)
    assert report.counts()["cider"].get("unscored", 0) == unscored
    each = report.samples()["cider"]["score"]
    assert np.isnan(each).tolist() == [unscored > 0] * len(each)
    assert math.isnan(report.scores()["cider"]["score"]) == (unscored > 0)
    if unscored:
        assert "references have the same n-grams" in report.explain("cider", 0).reason


def test_a_group_of_one_sample_is_unscored_and_a_merge_scores_it():
    bus, dogs = evaluate(["a red bus"], ["a red bus"]), evaluate(["two dogs"], ["two dogs"])
    both = bus.merge(dogs)
    # Of the orders 1 to 4, three words have three, and two words two.
    assert both.scores() == {"cider": {"score": pytest.approx((7.5 + 5) / 2)}}
    assert both.take([1]).counts()["cider"]["unscored"] == 1
    parts = [report.results["cider"] for report in (bus, dogs)]
    condensed = RowsResult.merge([part.condense() for part in parts], parts[0].signature)
    assert condensed.scores() == {"score": pytest.approx((7.5 + 5) / 2)}
    assert (condensed.count, condensed.unscored, condensed.reasons) == (2, 0, {})


def test_intervals_take_the_weights_from_the_resample():
    predictions, references = ["a b", "c d", "e f"], ["a b", "c x", "y f"]
    report = evaluate(predictions, references, max_order=1)
    interval = report.intervals(resamples=50)["cider"]["score"]
    # Three copies of one sample have no score.
    drawn = [
        by_the_paper([(predictions[i], [references[i]]) for i in row], "cider-d", 1, 6.0)
        for row in np.random.default_rng(12345).integers(0, 3, size=(50, 3)).tolist()
        if len({*row}) > 1
    ]
    assert interval.mean == pytest.approx(np.mean([np.mean(row) for row in drawn]))


def test_a_report_survives_its_file(tmp_path):
    report = evaluate(["a b\nc", "d"], [["a b c", "x"], ["d e"]])
    report.save(tmp_path / "report.json")
    again = Report.load(tmp_path / "report.json")
    assert again.scores() == report.scores()
    assert again.counts() == report.counts()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # What PTBTokenizer -lowerCase and pycocoevalcap's list of punctuation leave of each.
        ("A man, riding a horse.", "a man riding a horse"),
        (
            "The dog's (black) ball isn't well-known;",
            "the dog 's -lrb- black -rrb- ball is n't well-known",
        ),
        ("it costs $5.00, i.e. 50% more...", "it costs $ 5.00 i.e. 50 % more"),
        ("'Tis U.S. and/or e-mail", "'t is u.s. and/or e-mail"),
        ("I'm cannot gonna", "i 'm can not gon na"),
        ("with hats – and 1,000 things at 10:30", "with hats and 1,000 things at 10:30"),
        ("they've he'll he'd A.M. Mr. Smith.", "they 've he 'll he 'd a.m. mr. smith"),
        ("3/4 re-do 1-2 & co. C++", "3/4 re-do 1-2 & co. c++"),
        ("the dog 's tail, rock 'n' roll", "the dog 's tail rock 'n' roll"),
        ("£5 or 5€, 5¢", "# 5 or 5 $ 5 cents"),
        ("8.3m. 1,000ft at 5.30pm, 5kg", "8.3 m. 1,000 ft at 5.30 pm 5kg"),
        ("3.5bn-dollar 1.8m-high 46.6m²", "3.5bn-dollar 1.8m-high 46.6 m ²"),
        ("in 2006.it 1634:the 1.fc", "in 2006 it 1634 the 1 fc"),
        ("+44 ...5 -.5 u.s.-based st.louis.", "+44 5 -.5 u.s.-based st.louis"),
    ],
)
def test_captions_are_cut_as_the_official_tokenizer_does(text, words):
    assert " ".join(filter(None, map(caption_words, text.split()))) == words


def test_unicode_tokens_are_words_of_any_script():
    # "猫 在" are two words for `unicode`, and in `ptb` one: only the first is shared with "猫".
    columns = (["猫在", "b"], ["猫", "b"])
    parameters = {"max_order": 1, "variant": "cider"}
    result = scores(*columns, tokenizer="unicode", **parameters)
    assert result == pytest.approx([10 / math.sqrt(2), 10])
    assert scores(*columns, tokenizer="ptb", **parameters) == pytest.approx([0, 10])


@pytest.mark.parametrize(
    ("parameters", "allowed"),
    [
        ({"variant": "ciderd"}, "'cider-d' or 'cider'"),
        ({"tokenizer": "13a"}, "'ptb', 'unicode' or 'whitespace'"),
        ({"max_order": 0}, "from 1 to 9"),
        ({"sigma": 0}, "at least 0.001"),
    ],
)
def test_a_bad_parameter_lists_what_is_allowed(parameters, allowed):
    with pytest.raises(ParameterError, match=allowed):
        load_metric("cider", **parameters)


def test_a_note_says_how_far_words_without_java_are_from_ptbtokenizers():
    captions = {"predictions": ["a cat", "it rains"], "references": ["a cat", "it rains"]}
    report = Hub(["cider", "split = cider(tokenizer='whitespace')"]).evaluate(captions)
    (note,) = report.notes()["cider"]
    assert "without Java" in note
    assert "split" not in report.notes()
    # As much is said where the rows aren't kept.
    rows = [dict(zip(captions, pair, strict=True)) for pair in zip(*captions.values(), strict=True)]
    assert note in Hub("cider").evaluate(rows, samples=False).notes()["cider"]
