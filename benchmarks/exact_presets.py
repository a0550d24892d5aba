"""Presets that aren't defaults beside the programs that they are named after, on raw text."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks import exact_answers as answers
from benchmarks import exact_overlap as overlap
from benchmarks.exact_others import program
from benchmarks.exact_overlap import Found, Official, averaged, ptb_tokens
from benchmarks.exact_programs import package_of
from benchmarks.exact_rows import EVALUATE, Comparison, packaged
from benchmarks.exact_texts import Corpus

_TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
_NMT = "nmt_bleu.py, which is nmt/scripts/bleu.py of github.com/tensorflow/nmt"
_WHISPER = "whisper/normalizers of github.com/openai/whisper, named whisper_normalizers"


def presets() -> list[Comparison]:
    """A row for each; those of SARI, METEOR and SQuAD have theirs elsewhere."""
    return [
        Comparison(
            "bleu(evaluate)", "evaluate", bleu_evaluate, f"{_NMT}, and {EVALUATE}", call="bleu.py"
        ),
        Comparison(
            "rouge(rouge-score)", "rouge-score",
            partial(packaged, partial(overlap.rouge_score, _TYPES, False)), slow=True,
        ),
        Comparison(
            "rouge(coco)", "pycocoevalcap", partial(packaged, rouge_coco), outputs=("score",),
            call="PTBTokenizer and Rouge()", cause="PTBTokenizer without Java",
        ),
        *(
            Comparison(
                f"{rate}({name})", "whisper and jiwer",
                partial(normalized, kind=kind, normalizer=normalizer), _WHISPER,
                first=True, call=normalizer,
            )
            for name, normalizer in (
                ("whisper", "EnglishTextNormalizer"),
                ("whisper-basic", "BasicTextNormalizer"),
            )
            for rate, kind in (("wer", "words"), ("cer", "characters"))
        ),
        Comparison(
            "cer(whisper-letters)", "whisper and jiwer",
            partial(
                normalized, kind="words", normalizer="BasicTextNormalizer", split_letters=True
            ),
            _WHISPER, first=True, call="BasicTextNormalizer(split_letters=True)",
        ),
        *answers.presets(),
    ]  # fmt: skip


def bleu_evaluate(folder: Path | None) -> Official:
    """BLEU as bleu.py of Hugging Face evaluate calls it: `compute_bleu` on its 13a tokens."""
    tokens = program(folder, "evaluate/metrics/bleu/tokenizer_13a.py").Tokenizer13a()
    compute = program(folder, "nmt_bleu.py").compute_bleu

    def official(corpus: Corpus) -> Found:
        predictions = [tokens(text) for text in corpus.predictions]
        references = [[tokens(text) for text in group] for group in corpus.references]
        bleu, precisions, penalty, ratio, *_ = compute(references, predictions, max_order=4)
        orders = {f"precision_{n}": float(p) for n, p in enumerate(precisions, 1)}
        scores = {"score": bleu, "brevity_penalty": penalty, "length_ratio": ratio, **orders}
        return Found({}, scores)

    return official


def rouge_coco() -> Official:
    """ROUGE-L as COCOEvalCap computes it: its PTBTokenizer, in Java, then the scorer."""
    from pycocoevalcap.rouge.rouge import Rouge

    def official(corpus: Corpus) -> Found:
        predictions = ptb_tokens([[text] for text in corpus.predictions])
        pairs = zip(predictions, ptb_tokens(corpus.references), strict=True)
        return averaged([{"score": float(Rouge().calc_score(*pair))} for pair in pairs])

    return official


def normalized(folder: Path | None, kind: str, normalizer: str, **options: bool) -> Official:
    """A rate of jiwer on texts that a normalizer of openai-whisper has been applied to."""
    normalize = getattr(package_of(folder, "whisper_normalizers"), normalizer)(**options)
    rate = overlap.jiwer(kind)

    def official(corpus: Corpus) -> Found:
        predictions = [normalize(text) for text in corpus.predictions]
        references = [[normalize(text)] for text in corpus.first]
        return rate(corpus._replace(predictions=predictions, references=references))

    return official
