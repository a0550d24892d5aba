"""ROUGE: rouge-score 0.1.2 as oracle, per type, reference and parameter, and what it can't read."""

import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import sentencex
from hypothesis import given
from hypothesis import strategies as st
from pycocoevalcap.rouge.rouge import Rouge
from rouge_score import rouge_scorer

from metrichub import Hub, Report, load_metric
from metrichub.errors import Doubt
from metrichub.text.tokenize import reference as plain
from tests.oracles.text_twins import any_text, word_texts
from tests.vectors import SUMMEVAL, WEBNLG, WMT16, corpus, slow, texts, vectors

TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
VARIANTS = (*(f"rouge{n}" for n in range(1, 10)), "rougeL", "rougeLsum")
STEMS = st.lists(
    st.sampled_from(["runs", "running", "Runner", "dogs", "dog", "is", "sky", "dying", ".", "\n"]),
    max_size=12,
).map(" ".join)
LINES = st.lists(st.sampled_from(["a ", "b ", "c ", "a. ", "B! ", "\n"]), max_size=20).map("".join)
TEXTS = word_texts | STEMS | LINES | any_text


def measured(samples: list[tuple[str, list[str]]], **parameters: Any) -> Report:
    hub = Hub(metrics=load_metric("rouge", **parameters))
    predictions, references = (list(column) for column in zip(*samples, strict=True))
    return hub.evaluate(predictions=predictions, references=references)


def scored(prediction: str, *references: str, **parameters: Any) -> dict[str, float]:
    return dict(measured([(prediction, list(references))], **parameters).scores()["rouge"])


def official(scorer: Any, prediction: str, references: list[str]) -> dict[str, float]:
    """The scores of rouge-score by our names of outputs; the first of equal references."""
    outputs = {}
    for name, score in scorer.score_multi(references, prediction).items():
        outputs[name] = score.fmeasure
        outputs[f"{name}_precision"] = score.precision
        outputs[f"{name}_recall"] = score.recall
    return outputs


def unread(references: list[str]) -> bool:
    """Whether rouge-score's tokens have less than half of the letters of every text with any."""
    letters = [[c for c in t.lower() if unicodedata.category(c)[0] in "LN"] for t in references]
    shares = [sum(map(str.isascii, text)) / len(text) for text in letters if text]
    return bool(shares) and max(shares) < 0.5


def only_symbols(references: list[str]) -> bool:
    """Whether texts have symbols beyond ASCII, but no letter or digit."""
    kinds = {unicodedata.category(c)[0] for c in "".join(references).lower() if not c.isascii()}
    return "S" in kinds and not any(map(plain.letters, references))


def same(
    report: Report, samples: list[tuple[str, list[str]]], scorer: Any, withheld: bool = False
) -> None:
    """Assert that all samples equal rouge-score's, and the corpus the mean of those scored."""
    rows = report.samples()["rouge"]
    expected = [official(scorer, *sample) for sample in samples]
    for name in expected[0]:
        expected_values = np.array([row[name] for row in expected])
        defined = ~np.isnan(rows[name])
        assert rows[name][defined].tolist() == expected_values[defined].tolist()
        if withheld:
            assert np.isnan(report.scores()["rouge"][name])
        elif defined.any():
            assert report.scores()["rouge"][name] == pytest.approx(expected_values[defined].mean())


@pytest.mark.parametrize("vector", vectors(*TYPES))
def test_conformance(vector: dict[str, Any]) -> None:
    params, name = vector["params"], vector["metric"]
    parameters = {"stemmer": params.get("use_stemmer", False)}
    parameters["split_summaries"] = params.get("split_summaries", False)
    scores = scored(vector["predictions"][0], *vector["references"][0], **parameters)
    outputs = {"fmeasure": name, "precision": f"{name}_precision", "recall": f"{name}_recall"}
    for output, value in vector["expected"].items():
        assert scores[outputs[output]] == pytest.approx(value, abs=vector["tolerance"])


@given(
    st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)), min_size=1, max_size=5),
    st.booleans(),
)
def test_samples_and_corpora_equal_rouge_score(
    samples: list[tuple[str, list[str]]], stemmer: bool
) -> None:
    report = measured(samples, stemmer=stemmer)
    lost = sum(unread(texts) for _, texts in samples)
    scorer = rouge_scorer.RougeScorer(TYPES, use_stemmer=stemmer)
    same(report, samples, scorer, withheld=lost > len(samples) / 2)
    expected = [unread(texts) or only_symbols(texts) for _, texts in samples]
    assert np.isnan(report.samples()["rouge"]["score"]).tolist() == expected


@given(
    st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)), min_size=1, max_size=5),
    st.booleans(),
)
def test_official_letters_score_every_sample_as_rouge_score_does(
    samples: list[tuple[str, list[str]]], stemmer: bool
) -> None:
    report = measured(samples, stemmer=stemmer, letters="official")
    same(report, samples, rouge_scorer.RougeScorer(TYPES, use_stemmer=stemmer))
    assert "unscored" not in report.counts()["rouge"]


@given(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)), st.sampled_from(VARIANTS))
def test_every_variant_equals_rouge_score(sample: tuple[str, list[str]], variant: str) -> None:
    expected = official(rouge_scorer.RougeScorer([variant]), *sample)
    scores = scored(sample[0], *sample[1], variant=variant, letters="official")
    assert scores["score"] == expected[variant]
    assert scores["precision"] == expected[f"{variant}_precision"]
    assert scores["recall"] == expected[f"{variant}_recall"]


class Letters:
    """The tokenizer `unicode` by its definition, for rouge-score."""

    def __init__(self, stemmer: bool) -> None:
        self.stemmer = stemmer

    def tokenize(self, text: str) -> list[str]:
        tokens = plain.letters(text)
        return [plain.rouge_stem(token) for token in tokens] if self.stemmer else tokens


@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=2)), min_size=1, max_size=4))
@pytest.mark.parametrize("stemmer", [False, True])
def test_all_scripts_equal_rouge_score_with_their_tokenizer(
    stemmer: bool, samples: list[tuple[str, list[str]]]
) -> None:
    report = measured(samples, tokenizer="unicode", stemmer=stemmer)
    same(report, samples, rouge_scorer.RougeScorer(TYPES, tokenizer=Letters(stemmer)))
    # Only references of symbols alone, such as emoji, have nothing to be read.
    expected = [only_symbols(texts) for _, texts in samples]
    assert np.isnan(report.samples()["rouge"]["score"]).tolist() == expected


def sentences(text: str) -> list[str]:
    """The sentences of the card: line breaks, and sentencex's within a line."""
    lines = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text).split("\n")
    return [sentence for line in lines for sentence in sentencex.segment("en", line)]


@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=2)), min_size=1, max_size=4))
def test_split_summaries_equal_rouge_score_with_sentences_of_sentencex(
    samples: list[tuple[str, list[str]]],
) -> None:
    scorer = rouge_scorer.RougeScorer(TYPES, split_summaries=True)
    with patch("nltk.sent_tokenize", sentences):
        same(measured(samples, split_summaries=True, letters="official"), samples, scorer)


@pytest.mark.parametrize("name", [SUMMEVAL, slow(WMT16)])
@pytest.mark.parametrize("stemmer", [False, True])
def test_real_texts_equal_rouge_score(name: str, stemmer: bool) -> None:
    predictions, references = texts(name, 800 if stemmer else None)
    samples = [(p, r[:1]) for p, r in zip(predictions, references, strict=True)]
    report = measured(samples, stemmer=stemmer)
    same(report, samples, rouge_scorer.RougeScorer(TYPES, use_stemmer=stemmer))
    assert report.counts()["rouge"].get("unscored", 0) == 0


@pytest.mark.parametrize("name", [slow(SUMMEVAL), slow(WEBNLG)])
def test_real_texts_with_several_references_equal_rouge_score(name: str) -> None:
    samples = list(zip(*texts(name, 600), strict=True))
    same(measured(samples), samples, rouge_scorer.RougeScorer(TYPES))


def test_summaries_agree_with_people_as_published() -> None:
    # Zhong et al. (2022): Spearman's rho of rouge1 with coherence, mean over documents, is .167.
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")
    documents = {row["doc_id"]: row["refs"] for row in corpus("summ_summeval_docs.jsonl")}
    rows = corpus("summ_summeval_outputs.jsonl")
    report = measured([(row["hyp"], documents[row["doc_id"]]) for row in rows])
    scores = report.samples()["rouge"]["rouge1"]
    each = []
    for document in documents:
        index = [i for i, row in enumerate(rows) if row["doc_id"] == document]
        people = [rows[i]["human_coherence"] for i in index]
        each.append(stats.spearmanr(scores[index], people)[0])
    assert np.mean(each) == pytest.approx(0.167, abs=0.005)


def test_each_type_takes_its_own_best_reference() -> None:
    # Against "b a": both tokens, LCS 1 of 2. Against "a b x x": F is 2 * 1 * .5 / 1.5 = 2/3.
    scores = scored("a b", "b a", "a b x x")
    assert scores["rouge1"] == 1
    assert scores["rougeL"] == pytest.approx(2 / 3)
    assert (scores["rougeL_precision"], scores["rougeL_recall"]) == (1, 0.5)


def test_the_best_of_several_predictions_is_that_of_the_variant() -> None:
    # "x y z" has the triple; "z y x z" has more tokens of the reference, but no triple.
    hub = Hub(metrics=["rouge(variant='rouge3')"])
    scores = hub(predictions=[["z y x z w", "x y z"]], references=["x y z z w"])["rouge"]
    assert (scores["precision"], scores["recall"]) == (1, pytest.approx(1 / 3))


@pytest.mark.parametrize("text", ["नमस्ते दुनिया", "今天天气很好", "مرحبا بالعالم", "Привет", "١٢٣"])
def test_a_text_that_is_not_read_leaves_its_sample_unscored(text: str) -> None:
    report = measured([(text, [text]), ("a cat", ["a cat", text]), ("a cat", ["a cat"])])
    # The second has a reference that is read, and that alone counts.
    assert report.scores()["rouge"]["score"] == 1
    assert report.counts()["rouge"]["unscored"] == 1
    dropped, unscored = report.notes()["rouge"]
    assert (
        unscored
        == "1 unscored: the tokenizer drops over half of every reference's letters and digits"
    )
    assert "tokenizer='unicode'" in dropped
    assert scored(text, text, tokenizer="unicode")["score"] == 1


@pytest.mark.parametrize("tokenizer", ["rouge", "unicode"])
def test_references_of_emoji_leave_their_sample_unscored(tokenizer: str) -> None:
    report = measured([("😀", ["😀"]), ("a cat", ["a cat"])], tokenizer=tokenizer)
    assert report.scores()["rouge"]["rouge1"] == 1
    assert report.counts()["rouge"] == {"unscored": 1}
    assert (
        "1 unscored: no reference has a letter or a digit, only symbols"
        in (report.notes()["rouge"])
    )


@pytest.mark.parametrize("text", ["", " \n", "..."])
def test_a_text_without_letters_scores_zero_as_in_rouge_score(text: str) -> None:
    report = measured([(text, ["a cat"]), ("a cat", [text]), (text, [text])])
    assert report.samples()["rouge"]["score"].tolist() == [0, 0, 0]


def test_more_than_one_letter_in_a_hundred_dropped_is_noted() -> None:
    # 99 letters read and 1 dropped are 1%; 98 and 2 are 2%.
    (quiet, loud) = ("a" * 49 + " ", "b" * 50), ("a" * 48 + "é", "b" * 50 + "é")
    assert measured([(quiet[0] + "é", [quiet[1]])]).notes() == {}
    (note,) = measured([(loud[0], [loud[1]])]).notes()["rouge"]
    assert note.startswith("2.0% of the letters")
    assert "tokenizer='unicode'" in note
    assert measured([(loud[0], [loud[1]])], tokenizer="unicode").notes() == {}


@pytest.mark.parametrize("text", ["Не знаю.", "今天天气很好", "", "...", "😀"])
def test_a_prediction_in_another_script_scores_zero_as_in_rouge_score(text: str) -> None:
    # Leaving it out would raise the mean of a system that answers so where it is worst.
    report = measured([(text, ["a cat"]), ("a cat", ["a cat"])])
    assert report.scores()["rouge"] == report.scores()["rouge"] | {"score": 0.5, "rouge1": 0.5}
    assert "unscored" not in report.counts()["rouge"]
    assert "unanswered" not in report.counts()["rouge"]


def test_rouge_2_of_one_word_is_zero_as_in_rouge_score() -> None:
    assert scored("yes", "yes")["rouge2"] == 0


def test_two_texts_of_100_000_words_take_less_than_half_a_gigabyte() -> None:
    status = Path("/proc/self/status")
    if not status.exists() or "VmHWM" not in status.read_text():
        pytest.skip("only Linux tells a process's own peak, without that of the one it comes from")
    program = (
        "import random, re\n"
        "from metrichub import Hub\n"
        "draw = random.Random(1)\n"
        "words = [f'w{int(draw.paretovariate(0.6)) % 50000}' for _ in range(100_000)]\n"
        "other = [w if draw.random() < 0.8 else 'x' for w in words]\n"
        "texts = {'predictions': [' '.join(words)], 'references': [' '.join(other)]}\n"
        "found = Hub(metrics='rouge')(**texts)\n"
        "said = open('/proc/self/status').read()\n"
        "print(found['rouge']['rouge1'], re.search(r'VmHWM:\\s*(\\d+)', said)[1])\n"
    )
    command = [sys.executable, "-c", program]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    score, peak = map(float, output.split())
    assert score == pytest.approx(0.8, abs=0.01)
    # A table of the longest common subsequence has 10^10 cells, 1.25 GB even in bits.
    assert peak * 1024 < 5e8


@pytest.mark.parametrize("row", vectors("rougeW", "rougeS4", "rougeSU4"))
def test_rouge_1_5_5_is_met_for_w_s_and_su(row: dict[str, Any]) -> None:
    variant = row["metric"].rstrip("4")
    metric = load_metric("rouge", variant=variant, gap=4, weight=row["params"].get("w", 1.2))
    report = Hub(metric).evaluate(predictions=row["predictions"], references=row["references"])
    scores = report.scores()["rouge"]
    value = {name: scores[name] for name in ("precision", "recall")} | {"fmeasure": scores["score"]}
    assert value == pytest.approx(row["expected"], abs=row["tolerance"])


def test_the_best_reference_of_a_skip_bigram_score_is_its_own() -> None:
    # Pairs of "a b c" within a gap of 4: ab, ac, bc. "c b a" shares none, "a b" shares ab:
    # P = 1/3, R = 1.
    metric = load_metric("rouge", variant="rougeS")
    scores = Hub(metric)(predictions=["a b c"], references=[["c b a", "a b"]])["rouge"]
    assert (scores["precision"], scores["recall"]) == (1 / 3, 1.0)


SEVERAL = st.lists(
    st.tuples(word_texts, st.lists(word_texts, min_size=1, max_size=3)), min_size=1, max_size=4
)


@given(SEVERAL)
def test_avg_is_the_mean_over_the_references(samples: list[tuple[str, list[str]]]) -> None:
    rows = measured(samples, accumulate="avg", letters="official").samples()["rouge"]
    scorer = rouge_scorer.RougeScorer(TYPES)
    for row, (prediction, references) in enumerate(samples):
        every = [official(scorer, prediction, [reference]) for reference in references]
        for name in every[0]:
            expected = sum(scores[name] for scores in every) / len(every)
            assert rows[name][row] == pytest.approx(expected, abs=1e-12)


@given(SEVERAL, st.sampled_from([0.5, 1.0, 1.2, 3.0]))
def test_max_takes_the_best_precision_and_recall_apart_as_pycocoevalcap(
    samples: list[tuple[str, list[str]]], beta: float
) -> None:
    report = measured(samples, accumulate="max", beta=beta, letters="official")
    scorer = Rouge()
    scorer.beta = beta
    for row, (prediction, references) in enumerate(samples):
        tokens, *others = ([*map(str, plain.rouge(text))] for text in (prediction, *references))
        # It takes an empty text for one token.
        lines = [" ".join(words) for words in others if words]
        expected = scorer.calc_score([" ".join(tokens)], lines) if tokens and lines else 0
        assert report.samples()["rouge"]["rougeL"][row] == pytest.approx(expected, abs=1e-12)


def test_the_words_of_captions_can_be_stemmed_and_split_into_sentences() -> None:
    # "n't" is a word of its own. Stems: "the dog run", "dog run"; F = 2 * (2/3) * 1 / (5/3) = 4/5.
    assert scored("The dogs' runs.", "dog run", tokenizer="ptb", stemmer=True)["rougeL"] == 0.8
    # Each sentence is the other's: all of four words are in a common subsequence of sentences.
    scores = scored("It rains. We go.", "We go. It rains.", tokenizer="ptb", split_summaries=True)
    assert (scores["rougeL"], scores["rougeLsum"]) == (0.5, 1)
    assert scored("It isn't.", "it is", tokenizer="ptb")["rouge1_precision"] == 2 / 3


def test_an_explanation_by_the_words_of_captions_marks_them() -> None:
    report = measured([("It isn't Ann.", ["It's Ann"])], tokenizer="ptb")
    # "it is n't ann" and "it 's ann" share "it ann".
    (step,) = report.explain("rouge", 0).steps
    assert (step["shared"], step["in_prediction"], step["in_reference"]) == (2, 4, 3)


SWAPPED = ("It rains. <n>We go.", "We go. <n>It rains.")


@pytest.mark.parametrize(
    ("samples", "parameters", "doubt", "equal"),
    [
        # One sample of two has marks, in its prediction or a reference.
        ([(SWAPPED[0], [SWAPPED[1]]), ("a", ["a"])], {}, "1 sample has '<n>'", False),
        ([("a b", ["a b", SWAPPED[1]]), ("a <n>", ["a"])], {}, "2 samples have '<n>'", False),
        ([(SWAPPED[0], [SWAPPED[1]])], {"newline": "<n>"}, "", False),
        ([("a\nb", ["b\na"])], {}, "", False),
        ([("a. b.", ["b. a."]), ("", ["a"])], {"variant": "rougeLsum"}, "", True),
        ([("one sentence.", ["sentence."])], {"variant": "rougeLsum"}, "", False),
        ([("a. b.", ["b. a."])], {"variant": "rougeLsum", "split_summaries": True}, "", False),
        ([("a. b.", ["b. a."])], {}, "", False),
    ],
)
def test_marks_of_line_breaks_are_doubted_and_texts_without_any_are_told(
    samples: list[tuple[str, list[str]]], parameters: dict[str, Any], doubt: str, equal: bool
) -> None:
    report = measured(samples, **parameters)
    notes = report.notes().get("rouge", ())
    doubts = [note for note in notes if isinstance(note, Doubt)]
    assert [note.startswith(doubt) for note in doubts] == ([True] if doubt else [])
    assert all("newline='<n>'" in note for note in doubts)
    assert [note for note in notes if note.startswith("rougeLsum equals rougeL")] == [
        note for note in notes if note not in doubts
    ]
    assert (len(notes) > len(doubts)) == equal
    # Merged parts and saved reports say the same.
    parts = [measured([sample], **parameters) for sample in samples]
    merged = parts[0] if len(parts) == 1 else parts[0].merge(parts[1])
    assert merged.notes() == report.notes()


def test_a_mark_of_line_breaks_is_one_to_every_type() -> None:
    marked, broken = ([text.replace("<n>", mark) for text in SWAPPED] for mark in ("<n>", "\n"))
    expected = official(rouge_scorer.RougeScorer(TYPES), broken[0], [broken[1]])
    scores = scored(marked[0], marked[1], newline="<n>")
    assert {name: scores[name] for name in expected} == expected
    assert expected["rougeLsum"] == 1
    # As the words of captions, and in explanations, too.
    assert scored(marked[0], marked[1], newline="<n>", tokenizer="ptb")["rougeLsum"] == 1
    report = measured([(marked[0], [marked[1]])], newline="<n>")
    (step,) = report.explain("rouge", 0).steps
    assert step["in_prediction"] == 4
    assert "newline='<n>'" in report.signatures()["rouge"]
    assert "newline" not in measured([("a", ["a"])]).signatures()["rouge"]
