"""Official scorers of n-gram and edit metrics, each as its own package computes it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.exact_texts import Corpus
from benchmarks.rivals import NoWordNet


class Found(NamedTuple):
    """The outputs of an official package: of every sample, and of the corpus if it has them."""

    samples: Mapping[str, Sequence[float]]
    corpus: Mapping[str, float]


Official = Callable[[Corpus], Found]


def averaged(rows: Sequence[dict[str, float]]) -> Found:
    """Scores of samples, and for the corpus their means."""
    samples = {name: [row[name] for row in rows] for name in rows[0]}
    return Found(samples, {name: statistics.fmean(values) for name, values in samples.items()})


def sacrebleu(metric: str, **parameters: Any) -> Official:
    """Sentence and corpus scores as fractions, and what a BLEU score tells beside."""
    import sacrebleu as package

    scorer = getattr(package, metric)(**parameters)
    # Sentence BLEU leaves out the orders that a text is too short for.
    sentence = {"effective_order": True} if metric == "BLEU" else {}
    of_sentences = getattr(package, metric)(**{**parameters, **sentence})

    def numbers(score: Any) -> dict[str, float]:
        result = {"score": score.score / 100}
        if metric == "BLEU":
            result |= {f"precision_{n}": p / 100 for n, p in enumerate(score.precisions, start=1)}
            result |= {"brevity_penalty": score.bp, "length_ratio": score.ratio}
        return result

    def official(corpus: Corpus) -> Found:
        pairs = list(zip(corpus.predictions, corpus.references, strict=True))
        rows = [numbers(of_sentences.sentence_score(text, group)) for text, group in pairs]
        most = max(map(len, corpus.references))
        streams = [
            [group[i] if i < len(group) else None for group in corpus.references]
            for i in range(most)
        ]
        samples = {name: [row[name] for row in rows] for name in rows[0]}
        return Found(samples, numbers(scorer.corpus_score(corpus.predictions, streams)))

    return official


def nltk_bleu(method: int) -> Official:
    """Sentences smoothed by one of nltk's methods; `nan` where it raises an error."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    def score_of(prediction: str, references: list[str]) -> float:
        smooth = getattr(SmoothingFunction(), f"method{method}")
        groups = [reference.split() for reference in references]
        try:
            return float(sentence_bleu(groups, prediction.split(), smoothing_function=smooth))
        except (AssertionError, ZeroDivisionError):
            return float("nan")

    def official(corpus: Corpus) -> Found:
        pairs = zip(corpus.predictions, corpus.references, strict=True)
        return Found({"score": [score_of(*pair) for pair in pairs]}, {})

    return official


def nltk_chrf() -> Official:
    """Sentence chrF against the first reference."""
    from nltk.translate.chrf_score import sentence_chrf

    def official(corpus: Corpus) -> Found:
        pairs = zip(corpus.first, corpus.predictions, strict=True)
        return Found({"score": [float(sentence_chrf(*pair)) for pair in pairs]}, {})

    return official


def nltk_gleu(least: int, most: int) -> Official:
    """Sentence and corpus GLEU of Google."""
    from nltk.translate.gleu_score import corpus_gleu, sentence_gleu

    def official(corpus: Corpus) -> Found:
        predictions, references = _split(corpus)
        pairs = zip(references, predictions, strict=True)
        rows = [float(sentence_gleu(*pair, least, most)) for pair in pairs]
        total = corpus_gleu(references, predictions, least, most)
        return Found({"score": rows}, {"score": float(total)})

    return official


def nltk_ribes(alpha: float, beta: float) -> Official:
    """Sentence RIBES; its corpus score is their mean."""
    from nltk.translate.ribes_score import sentence_ribes

    def official(corpus: Corpus) -> Found:
        pairs = zip(*reversed(_split(corpus)), strict=True)
        return averaged([{"score": float(sentence_ribes(*pair, alpha, beta))} for pair in pairs])

    return official


def nltk_meteor(synonyms: bool = False, **parameters: float) -> Official:
    """METEOR of words between spaces, which match exactly, by stem or as WordNet's synonyms."""
    from nltk.corpus import wordnet
    from nltk.translate.meteor_score import meteor_score

    if synonyms:
        wordnet.ensure_loaded()
    reader = wordnet if synonyms else NoWordNet

    def official(corpus: Corpus) -> Found:
        pairs = zip(*reversed(_split(corpus)), strict=True)
        results = [meteor_score(*pair, wordnet=reader, **parameters) for pair in pairs]
        return averaged([{"score": float(score)} for score in results])

    return official


def nltk_nist(order: int) -> Official:
    """Corpus NIST."""
    from nltk.translate.nist_score import corpus_nist

    def official(corpus: Corpus) -> Found:
        predictions, references = _split(corpus)
        return Found({}, {"score": float(corpus_nist(references, predictions, order))})

    return official


def jiwer(kind: str) -> Official:
    """Error rates and counts of words or characters, against the first reference."""
    import jiwer as package

    process = getattr(package, f"process_{kind}")
    rate = "wer" if kind == "words" else "cer"
    words = ("mer", "wil", "wip") if kind == "words" else ()
    counts = ("hits", "substitutions", "deletions", "insertions")

    def numbers(result: Any) -> dict[str, float]:
        named = {name: float(getattr(result, name)) for name in (*words, *counts)}
        return {"score": float(getattr(result, rate)), **named}

    def official(corpus: Corpus) -> Found:
        pairs = zip(corpus.first, corpus.predictions, strict=True)
        rows = [numbers(process(*pair)) for pair in pairs]
        samples = {name: [row[name] for row in rows] for name in rows[0]}
        return Found(samples, numbers(process(corpus.first, corpus.predictions)))

    return official


def rouge_score(types: Sequence[str], stemmer: bool) -> Official:
    """Precision, recall and F of every type with its best reference."""
    from rouge_score import rouge_scorer

    scorer = rouge_scorer.RougeScorer(list(types), use_stemmer=stemmer)
    single = len(types) == 1

    def numbers(result: Any) -> dict[str, float]:
        row: dict[str, float] = {}
        for name in types:
            names = ("score", "precision", "recall") if single else (name, *_parts(name))
            score = result[name]
            row |= zip(names, (score.fmeasure, score.precision, score.recall), strict=True)
        return row

    def official(corpus: Corpus) -> Found:
        pairs = zip(corpus.references, corpus.predictions, strict=True)
        return averaged([numbers(scorer.score_multi(*pair)) for pair in pairs])

    return official


def ptb_tokens(groups: list[list[str]]) -> list[list[str]]:
    """The texts of each group with blanks between the tokens of PTBTokenizer, in Java."""
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    captions = {i: [{"caption": text} for text in group] for i, group in enumerate(groups)}
    result: dict[int, list[str]] = PTBTokenizer().tokenize(captions)
    return [result[i] for i in range(len(groups))]


def cider_d() -> Official:
    """CIDEr-D of pycocoevalcap's scorer, on texts split at whitespace."""
    from pycocoevalcap.cider.cider_scorer import CiderScorer

    def official(corpus: Corpus) -> Found:
        scorer = CiderScorer()
        for pair in zip(corpus.predictions, corpus.references, strict=True):
            scorer += pair
        total, each = scorer.compute_score()
        return Found({"score": [float(score) for score in each]}, {"score": float(total)})

    return official


def self_bleu(order: int) -> Official:
    """Sentence BLEU of nltk, method 1, of each text against all others, as Texygen calls it."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    weights = (1 / order,) * order

    def official(corpus: Corpus) -> Found:
        texts = [text.split() for text in corpus.predictions]
        others = [texts[:i] + texts[i + 1 :] for i in range(len(texts))]
        smooth = SmoothingFunction().method1
        return averaged(
            [
                {"score": float(sentence_bleu(other, text, weights, smoothing_function=smooth))}
                for other, text in zip(others, texts, strict=True)
            ]
        )

    return official


def _parts(name: str) -> tuple[str, str]:
    return f"{name}_precision", f"{name}_recall"


def _split(corpus: Corpus) -> tuple[list[list[str]], list[list[list[str]]]]:
    """The words of the predictions and of the references."""
    references = [[text.split() for text in group] for group in corpus.references]
    return [text.split() for text in corpus.predictions], references
