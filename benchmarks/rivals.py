"""The peers of metrichub, each as people call it, over a whole corpus."""

from __future__ import annotations

import operator
import re
import statistics
import string
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Corpus = Callable[[Sequence[str], Sequence[str]], list[float]]


class NoWordNet:
    """A reader without synonyms, so that METEOR's words match exactly or by stem."""

    @staticmethod
    def synsets(word: str) -> list[str]:
        """No meaning of any word."""
        return []


class Rival(NamedTuple):
    """A row of the table: our specs, the peer, how to read our scores, and how it forgets."""

    name: str
    package: str
    specs: tuple[str, ...]
    outputs: tuple[str, ...]
    make: Callable[[], Corpus]
    slow: bool = False

    def read(self, scores: dict[str, dict[str, float]]) -> list[float]:
        """The numbers of our result that the peer gives too ("bleu.score")."""
        paths = (output.split(".") for output in self.outputs)
        return [scores[metric][output] for metric, output in paths]

    @staticmethod
    def forget() -> None:
        """Empty the caches of the peers' tokenizers."""
        for function in _caches():
            function.cache_clear()


def _caches() -> list[Any]:
    from sacrebleu.tokenizers import tokenizer_13a, tokenizer_re, tokenizer_ter

    classes = (
        tokenizer_13a.Tokenizer13a,
        tokenizer_re.TokenizerRegexp,
        tokenizer_ter.TercomTokenizer,
    )
    return [cls.__call__ for cls in classes if hasattr(cls.__call__, "cache_clear")]


def _sacrebleu(metric: str, **parameters: object) -> Corpus:
    import sacrebleu

    def score(predictions: Sequence[str], references: Sequence[str]) -> list[float]:
        result = getattr(sacrebleu, metric)(**parameters).corpus_score(predictions, [references])
        return [result.score / 100]

    return score


def _rouge_score(stemmer: bool) -> Corpus:
    from rouge_score import rouge_scorer

    types = ["rouge1", "rouge2", "rougeL"]
    scorer = rouge_scorer.RougeScorer(types, use_stemmer=stemmer)

    def score(predictions: Sequence[str], references: Sequence[str]) -> list[float]:
        pairs = zip(references, predictions, strict=True)
        scores = [scorer.score(reference, prediction) for reference, prediction in pairs]
        return [statistics.fmean(row[kind].fmeasure for row in scores) for kind in types]

    return score


def _jiwer(function: str) -> Corpus:
    import jiwer

    def score(predictions: Sequence[str], references: Sequence[str]) -> list[float]:
        return [float(getattr(jiwer, function)(list(references), list(predictions)))]

    return score


def _meteor() -> Corpus:
    from nltk.translate.meteor_score import single_meteor_score

    def score(predictions: Sequence[str], references: Sequence[str]) -> list[float]:
        pairs = zip(references, predictions, strict=True)
        results = [single_meteor_score(r.split(), p.split(), wordnet=NoWordNet) for r, p in pairs]
        return [statistics.fmean(results)]

    return score


def _pycocoevalcap() -> Corpus:
    from pycocoevalcap.cider.cider_scorer import CiderScorer

    def score(predictions: Sequence[str], references: Sequence[str]) -> list[float]:
        scorer = CiderScorer()
        for prediction, reference in zip(predictions, references, strict=True):
            scorer += (prediction, [reference])
        return [float(scorer.compute_score()[0])]

    return score


def _sets() -> Corpus:
    def score(predictions: Sequence[str], references: Sequence[str]) -> list[float]:
        results = []
        texts = [text.split() for text in predictions]
        for n in range(1, 5):
            grams = [tuple(t[i : i + n]) for t in texts for i in range(len(t) - n + 1)]
            results.append(len(set(grams)) / len(grams))
        return results

    return score


def _fragment_scan() -> Corpus:
    """The greedy scan of Grusky et al. (2018), figure 3, over the tokens of both texts."""

    def density(summary: list[str], article: list[str]) -> float:
        start = squared = 0
        while start < len(summary):
            longest = place = 0
            while place < len(article):
                size = 0
                while (
                    start + size < len(summary)
                    and place + size < len(article)
                    and summary[start + size] == article[place + size]
                ):
                    size += 1
                longest, place = max(longest, size), place + max(size, 1)
            squared += longest**2
            start += max(longest, 1)
        return squared / len(summary)

    def score(predictions: Sequence[str], references: Sequence[str]) -> list[float]:
        texts = zip(predictions, references, strict=True)
        return [statistics.fmean(density(p.lower().split(), r.lower().split()) for p, r in texts)]

    return score


def _equal() -> Corpus:
    def score(predictions: Sequence[str], references: Sequence[str]) -> list[float]:
        return [sum(map(operator.eq, predictions, references)) / len(predictions)]

    return score


def _answer_words() -> Corpus:
    """The F1 of words without articles and punctuation (Rajpurkar et al. 2016), plainly written."""
    dropped = str.maketrans(dict.fromkeys(string.punctuation))

    def words(text: str) -> Counter[str]:
        return Counter(re.sub(r"\b(a|an|the)\b", " ", text.lower().translate(dropped)).split())

    def f1(prediction: str, reference: str) -> float:
        predicted, expected = words(prediction), words(reference)
        total = predicted.total() + expected.total()
        return 2 * (predicted & expected).total() / total if total else 1.0

    def score(predictions: Sequence[str], references: Sequence[str]) -> list[float]:
        return [statistics.fmean(map(f1, predictions, references))]

    return score


def _all_together() -> Corpus:
    parts = (
        _sacrebleu("BLEU"),
        _sacrebleu("CHRF", word_order=2),
        _rouge_score(False),
        _sacrebleu("TER"),
        _meteor(),
        _jiwer("wer"),
    )

    def score(predictions: Sequence[str], references: Sequence[str]) -> list[float]:
        return [value for part in parts for value in part(predictions, references)]

    return score


_ROUGE = ("rouge.rouge1", "rouge.rouge2", "rouge.rougeL")
_SIX = (
    "bleu",
    "chrf(word_order=2)",
    "rouge",
    "ter",
    "meteor(tokenizer='whitespace')",
    "wer(alignment=False)",
)
_SIX_OUTPUTS = ("bleu.score", "chrf.score", *_ROUGE, "ter.score", "meteor.score", "wer.score")
_DISTINCT = tuple(f"distinct.distinct_{n}" for n in range(1, 5))

RIVALS = (
    Rival("BLEU 13a", "sacrebleu", ("bleu",), ("bleu.score",), lambda: _sacrebleu("BLEU")),
    Rival("chrF", "sacrebleu", ("chrf",), ("chrf.score",), lambda: _sacrebleu("CHRF")),
    Rival(
        *("chrF++", "sacrebleu", ("chrf(word_order=2)",), ("chrf.score",)),
        lambda: _sacrebleu("CHRF", word_order=2),
    ),
    Rival(
        *("TER", "sacrebleu", ("ter",), ("ter.score",)),
        lambda: _sacrebleu("TER"),
        slow=True,
    ),
    Rival(
        *("all six in one hub", "five packages", _SIX, _SIX_OUTPUTS, _all_together),
        slow=True,
    ),
    Rival("ROUGE-1/2/L", "rouge-score", ("rouge",), _ROUGE, lambda: _rouge_score(False)),
    Rival(
        *("ROUGE-1/2/L stemmed", "rouge-score", ("rouge(stemmer=True)",), _ROUGE),
        lambda: _rouge_score(True),
    ),
    Rival("WER", "jiwer", ("wer(alignment=False)",), ("wer.score",), lambda: _jiwer("wer")),
    Rival("WER and counts", "jiwer", ("wer",), ("wer.score",), lambda: _jiwer("wer")),
    Rival("CER", "jiwer", ("cer(alignment=False)",), ("cer.score",), lambda: _jiwer("cer")),
    Rival("CER and counts", "jiwer", ("cer",), ("cer.score",), lambda: _jiwer("cer")),
    Rival(
        "METEOR exact, stem",
        "nltk",
        ("meteor(tokenizer='whitespace')",),
        ("meteor.score",),
        _meteor,
    ),
    Rival(
        *("CIDEr", "pycocoevalcap", ("cider(tokenizer='whitespace')",), ("cider.score",)),
        _pycocoevalcap,
    ),
    Rival("distinct-1..4", "Python's sets", ("distinct",), _DISTINCT, _sets),
    Rival("exact match", "Python's ==", ("exact_match",), ("exact_match.score",), _equal),
    Rival("token F1", "plain Python", ("token_f1",), ("token_f1.score",), _answer_words),
)

LONG = (
    Rival("density", "greedy scan", ("density",), ("density.score",), _fragment_scan),
    Rival("ROUGE-1/2/L", "rouge-score", ("rouge",), _ROUGE, lambda: _rouge_score(False)),
    Rival("BLEU 13a", "sacrebleu", ("bleu",), ("bleu.score",), lambda: _sacrebleu("BLEU")),
)
"""What is measured on documents too; `density` takes the reference for its source."""
