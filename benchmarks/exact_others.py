"""Official scorers of the metrics that count other things: simplification, diversity, programs."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.exact_overlap import Found, Official, averaged
from benchmarks.exact_texts import Corpus


def program(folder: Path | None, path: str) -> ModuleType:
    """A program that is no package, from the folder of those.

    Raises:
        ModuleNotFoundError: it isn't there.
    """
    place = (folder or Path()) / path
    if folder is None or not place.is_file():
        raise ModuleNotFoundError(f"no {path} in the folder of --programs", name=path)
    spec = importlib.util.spec_from_file_location(f"official_{place.stem}", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(place.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(place.parent))
    return module


def sari_xu2016(folder: Path | None) -> Official:
    """The authors' SARI.py, on texts with blanks between their tokens."""
    score = program(folder, "SARI.py").SARIsent
    return partial(_simplified, score, lambda text: text)


def sari_hf(folder: Path | None) -> Official:
    """sari.py of Hugging Face evaluate."""
    module = program(folder, "evaluate/metrics/sari/sari.py")
    return partial(_simplified, module.SARIsent, module.normalize)


def _simplified(
    score: Callable[[str, str, list[str]], float], prepare: Callable[[str], str], corpus: Corpus
) -> Found:
    rows = zip(corpus.sources, corpus.predictions, corpus.references, strict=True)
    scores = [score(prepare(s), prepare(p), [prepare(r) for r in group]) for s, p, group in rows]
    return averaged([{"score": float(value)} for value in scores])


def eed_cpp(folder: Path | None) -> Official:
    """The authors' EED.py with the compiled libEED.so beside it."""
    module = program(folder, "EED.py")

    def official(corpus: Corpus) -> Found:
        def prepare(text: str) -> list[str]:
            return list(module.util.preprocess(text, "en"))

        pairs = zip(corpus.predictions, corpus.first, strict=True)
        return averaged([{"score": module.eed(*map(prepare, pair))} for pair in pairs])

    return official


def eed_python() -> Official:
    """EED of torchmetrics."""
    from torchmetrics.functional.text import extended_edit_distance

    def official(corpus: Corpus) -> Found:
        with _double_precision():
            total, each = extended_edit_distance(
                corpus.predictions, corpus.first, return_sentence_level_score=True
            )
        return Found({"score": each.tolist()}, {"score": float(total)})

    return official


@contextmanager
def _double_precision() -> Iterator[None]:
    """Numbers of torch in double precision."""
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def squad(folder: Path | None, measure: str) -> Official:
    """The script of SQuAD 1.1, as evaluate has it: `f1_score` or `exact_match_score`."""
    module = program(folder, "evaluate/metrics/squad/compute_score.py")
    score, best = getattr(module, measure), module.metric_max_over_ground_truths

    def official(corpus: Corpus) -> Found:
        pairs = zip(corpus.predictions, corpus.references, strict=True)
        return averaged([{"score": float(best(score, *pair))} for pair in pairs])

    return official


def character() -> Official:
    """CharacTER of the package cer."""
    from cer import calculate_cer

    def official(corpus: Corpus) -> Found:
        pairs = zip(corpus.predictions, corpus.first, strict=True)
        return averaged([{"score": float(calculate_cer(p.split(), r.split()))} for p, r in pairs])

    return official


def fragments(folder: Path | None, measure: str, tokenize: bool) -> Official:
    """fragments.py of Newsroom, with spaCy's tokens of English or split at whitespace."""
    if not tokenize and "spacy" not in sys.modules and importlib.util.find_spec("spacy") is None:
        # The program imports it for the tokenizer that isn't used then.
        sys.modules["spacy"] = ModuleType("spacy")
    module = program(folder, "fragments.py")
    # Else it loads a model, whose tokenizer is that of every English pipeline.
    module.Fragments._en = module._spacy.blank("en") if tokenize else None  # noqa: SLF001

    def official(corpus: Corpus) -> Found:
        pairs = zip(corpus.predictions, corpus.sources, strict=True)
        results = [module.Fragments(*pair, tokenize=tokenize) for pair in pairs]
        return averaged([{"score": float(getattr(entry, measure)())} for entry in results])

    return official


def rapidfuzz() -> Official:
    """Normalized similarity by Levenshtein's distance, with the first reference."""
    from rapidfuzz.distance import Levenshtein

    def official(corpus: Corpus) -> Found:
        pairs = zip(corpus.predictions, corpus.first, strict=True)
        return averaged([{"score": Levenshtein.normalized_similarity(*pair)} for pair in pairs])

    return official


def distinct() -> Official:
    """Python's sets of the n-grams of all texts."""

    def official(corpus: Corpus) -> Found:
        scores: dict[str, float] = {}
        texts = [text.split() for text in corpus.predictions]
        for n in range(1, 5):
            grams = [tuple(t[i : i + n]) for t in texts for i in range(len(t) - n + 1)]
            scores[f"distinct_{n}"] = len(set(grams)) / len(grams)
        return Found({}, scores)

    return official


def lexicalrichness() -> Official:
    """The indices of lexicalrichness, for texts of more than 50 words."""
    from lexicalrichness import LexicalRichness

    def scores_of(text: str) -> dict[str, float]:
        value = LexicalRichness(text.lower(), preprocessor=None, tokenizer=str.split)
        named = {"score": value.ttr, "root_ttr": value.rttr, "corrected_ttr": value.cttr}
        named |= {"log_ttr": value.Herdan, "maas": value.Maas, "msttr": value.msttr(50)}
        named |= {"mattr": value.mattr(50), "mtld": value.mtld(0.72), "hdd": value.hdd(42)}
        return named | {"yule_k": value.yulek, "yule_i": value.yulei, "simpson_d": value.simpsond}

    return lambda corpus: averaged([scores_of(text) for text in corpus.predictions])


def lexical_diversity(mtld: str) -> Official:
    """The indices of lexical_diversity, with one of its three functions for MTLD."""
    from lexical_diversity import lex_div

    names = {"score": "ttr", "root_ttr": "root_ttr", "log_ttr": "log_ttr", "maas": "maas_ttr"}
    names |= {"msttr": "msttr", "mattr": "mattr", "hdd": "hdd", "mtld": mtld}

    def scores_of(text: str) -> dict[str, float]:
        words = text.lower().split()
        return {ours: float(getattr(lex_div, name)(words)) for ours, name in names.items()}

    return lambda corpus: averaged([scores_of(text) for text in corpus.predictions])


def textstat() -> Official:
    """The four formulas of textstat that need no dictionary of syllables."""
    from textstat.backend import metrics

    names = {"coleman_liau": "coleman_liau_index", "ari": "automated_readability_index"}
    names |= {"lix": "lix", "rix": "rix"}

    def scores_of(text: str) -> dict[str, float]:
        return {ours: float(getattr(metrics, name)(text)) for ours, name in names.items()}

    def official(corpus: Corpus) -> Found:
        # Ours of a corpus are those of all its words and sentences together.
        return Found(averaged([scores_of(text) for text in corpus.predictions]).samples, {})

    return official


def codebleu() -> Official:
    """codebleu, one pair of Python functions at a time and all together."""
    from codebleu import calc_codebleu

    names = {"score": "codebleu", "ngram_match": "ngram_match_score"}
    names |= {"weighted_ngram_match": "weighted_ngram_match_score"}
    names |= {"syntax_match": "syntax_match_score", "dataflow_match": "dataflow_match_score"}

    def numbers(references: list[Any], predictions: list[str]) -> dict[str, float]:
        scores = calc_codebleu(references, predictions, "python")
        return {ours: float(scores[theirs]) for ours, theirs in names.items()}

    def official(corpus: Corpus) -> Found:
        pairs = zip(corpus.first, corpus.predictions, strict=True)
        rows = [numbers([reference], [prediction]) for reference, prediction in pairs]
        samples = {name: [row[name] for row in rows] for name in rows[0]}
        return Found(samples, numbers(corpus.first, corpus.predictions))

    return official
