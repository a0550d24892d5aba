"""Which metric is compared with which official package, in which settings and on which texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks import exact_others as others
from benchmarks import exact_overlap as overlap
from benchmarks.exact_overlap import Official

EVALUATE = "a checkout of github.com/huggingface/evaluate, named evaluate"

Make = Callable[[Path | None], Official]
"""What imports the package and gives its scorer; the folder holds programs that are no packages."""


class Comparison(NamedTuple):
    """A row of a table.

    `texts` says which samples there are: those with references, those of single sentences, those
    of corpora whose samples have equally many references, those with documents as sources, all
    texts, those of more than 50 words, or programs. `most` limits the samples of a corpus. `first`
    leaves each sample one reference. A `slow` package gets fewer samples. `call` is how the
    package is called; `outputs` are those that are compared, all by default. Scores are equal up
    to `limit`; `cause` explains the differences, if there are any.
    """

    spec: str
    package: str
    make: Make
    install: str = ""
    texts: Literal["pairs", "sentences", "even", "documents", "all", "long", "code"] = "pairs"
    most: int | None = None
    first: bool = False
    slow: bool = False
    outputs: tuple[str, ...] = ()
    cause: str = ""
    call: str = ""
    limit: float = 1e-9

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.spec.partition("(")[0]


def rows() -> list[Comparison]:
    """All rows, in the order of the table."""
    return [*_sacrebleu(), *_nltk(), *_words(), *_other_overlap(), *_programs(), *_one_text()]


def _sacrebleu() -> list[Comparison]:
    settings: list[tuple[str, str, dict[str, object]]] = [
        ("bleu(tokenize='intl', lowercase=True)", "BLEU", {"tokenize": "intl", "lowercase": True}),
        (
            "bleu(tokenize='zh', effective_order=True)",
            "BLEU",
            {"tokenize": "zh", "effective_order": True},
        ),
        (
            "bleu(tokenize='char', smooth_method='floor')",
            "BLEU",
            {"tokenize": "char", "smooth_method": "floor"},
        ),
        (
            "bleu(tokenize='none', smooth_method='add-k', smooth_value=2, max_order=3)",
            "BLEU",
            {
                **{"tokenize": "none", "smooth_method": "add-k", "smooth_value": 2},
                **{"max_ngram_order": 3, "force": True},
            },
        ),
        (
            "bleu(smooth_method='none', max_order=6, effective_order=True)",
            "BLEU",
            {"smooth_method": "none", "max_ngram_order": 6, "effective_order": True},
        ),
        ("chrf(chrf++)", "CHRF", {"word_order": 2}),
        (
            "chrf(lowercase=True, whitespace=True, beta=3)",
            "CHRF",
            {"lowercase": True, "whitespace": True, "beta": 3},
        ),
        (
            "chrf(eps_smoothing=True, char_order=4, word_order=1)",
            "CHRF",
            {"eps_smoothing": True, "char_order": 4, "word_order": 1},
        ),
        (
            "ter(normalized=True, case_sensitive=True)",
            "TER",
            {"normalized": True, "case_sensitive": True},
        ),
        ("ter(no_punct=True)", "TER", {"no_punct": True}),
        (
            "ter(asian_support=True, no_punct=True, normalized=True)",
            "TER",
            {"asian_support": True, "no_punct": True, "normalized": True},
        ),
    ]
    return [
        Comparison(
            spec, "sacrebleu", partial(packaged, partial(overlap.sacrebleu, kind, **options)),
            texts="sentences" if kind == "TER" else "pairs",
        )
        for spec, kind, options in settings
    ]  # fmt: skip


def _nltk() -> list[Comparison]:
    def row(spec: str, make: Callable[[], Official], slow: bool = False) -> Comparison:
        return Comparison(spec, "nltk", partial(packaged, make), slow=slow)

    methods = [
        row(f"bleu(tokenize='none', smooth_method='nltk-method{n}')", partial(overlap.nltk_bleu, n))
        for n in range(8)
    ]
    chrf = row("chrf(eps_smoothing=True, beta=3)", overlap.nltk_chrf)._replace(first=True)
    options: dict[str, Any] = {"alpha": 0.8, "beta": 1.5, "gamma": 0.3}
    return [
        *methods,
        chrf,
        row("gleu(tokenize='none')", partial(overlap.nltk_gleu, 1, 4)),
        row("gleu(tokenize='none', min_len=2, max_len=3)", partial(overlap.nltk_gleu, 2, 3)),
        row("ribes(alpha=1.0, beta=0.5)", partial(overlap.nltk_ribes, 1.0, 0.5)),
        row("meteor(tokenizer='whitespace')", overlap.nltk_meteor, slow=True),
        row(
            "meteor(tokenizer='whitespace', alpha=0.8, beta=1.5, gamma=0.3)",
            partial(overlap.nltk_meteor, **options),
            slow=True,
        ),
        Comparison(
            "meteor(tokenizer='whitespace', synonyms='auto')",
            "nltk",
            partial(packaged, partial(overlap.nltk_meteor, synonyms=True)),
            "python -m nltk.downloader wordnet",
            slow=True,
        ),
        row("nist(tokenize='none', convention='nltk')", partial(overlap.nltk_nist, 5)),
        row("nist(tokenize='none', convention='nltk', max_order=3)", partial(overlap.nltk_nist, 3)),
    ]


def _words() -> list[Comparison]:
    four = ("rouge1", "rouge2", "rougeL", "rougeLsum")
    kinds: list[tuple[str, tuple[str, ...], bool]] = [("rouge(stemmer=True)", four, True)]
    kinds += [(f"rouge(variant='rouge{n}')", (f"rouge{n}",), False) for n in (3, 4)]
    return [
        Comparison(
            spec, "rouge-score", partial(packaged, partial(overlap.rouge_score, types, stem)),
            slow=True,
        )
        for spec, types, stem in kinds
    ]  # fmt: skip


def _other_overlap() -> list[Comparison]:
    return [
        Comparison(
            "cider(tokenizer='whitespace')", "pycocoevalcap", partial(packaged, overlap.cider_d)
        ),
        Comparison(
            "self_bleu(tokenizer='whitespace')", "nltk",
            partial(packaged, partial(overlap.self_bleu, 5)), most=120,
        ),
        Comparison(
            "self_bleu(tokenizer='whitespace', max_order=3)", "nltk",
            partial(packaged, partial(overlap.self_bleu, 3)), most=120,
        ),
        Comparison("distinct", "Python's sets", partial(packaged, others.distinct), texts="all"),
        Comparison(
            "exact_match(squad)", "compute_score.py",
            partial(others.squad, measure="exact_match_score"), EVALUATE,
        ),
    ]  # fmt: skip


def _programs() -> list[Comparison]:
    english = "the authors' rules for English (`Mr .`, `0 . 1`), which the card leaves out"
    sari = "SARI.py of github.com/cocoxu/simplification"
    newsroom = "newsroom/analyze/fragments.py of github.com/lil-lab/newsroom"
    return [
        Comparison("sari(xu2016)", "SARI.py", others.sari_xu2016, sari, slow=True),
        Comparison("sari(evaluate)", "evaluate's sari.py", others.sari_hf, EVALUATE, slow=True),
        Comparison(
            "eed(convention='python')", "torchmetrics", partial(packaged, others.eed_python),
            "pip install torchmetrics torch", first=True, slow=True, cause=english,
        ),
        *(
            Comparison(
                f"{name}(tokenizer='whitespace')", "fragments.py",
                partial(others.fragments, measure=name, tokenize=False), newsroom,
                texts="documents",
            )
            for name in ("coverage", "density", "compression")
        ),
    ]  # fmt: skip


def _one_text() -> list[Comparison]:
    rich: tuple[str, ...] = (
        "score",
        "root_ttr",
        "corrected_ttr",
        "log_ttr",
        "mattr",
        "mtld",
        "hdd",
    )
    rich += ("yule_k", "yule_i", "simpson_d")
    absent = "nan here and 0 there for a text without a complete factor"
    different = "the number of words here and 0 there for a text in which no word repeats"
    spec = "ttr(tokenizer='whitespace'"
    return [
        Comparison(
            f"{spec})", "lexicalrichness", partial(packaged, others.lexicalrichness),
            texts="long", outputs=rich,
        ),
        Comparison(
            f"{spec})", "lexicalrichness", partial(packaged, others.lexicalrichness),
            texts="long", outputs=("msttr", "maas"),
            cause="the last full segment, which it leaves out, and its natural logarithm",
        ),
        *(
            Comparison(
                f"{spec}, mtld='{variant}')", "lexical-diversity",
                partial(packaged, partial(others.lexical_diversity, mtld)),
                texts="long", slow=True, cause=cause,
            )
            for variant, mtld, cause in (
                ("lexical-diversity", "mtld", different),
                ("wrap", "mtld_ma_wrap", absent),
                ("bidirectional", "mtld_ma_bid", absent),
            )
        ),
        Comparison(
            "readability(convention='textstat')", "textstat", partial(packaged, others.textstat),
            texts="all", slow=True,
        ),
    ]  # fmt: skip


def packaged(make: Callable[[], Official], folder: Path | None) -> Official:
    """The scorer of a package, for which no folder is needed."""
    return make()
