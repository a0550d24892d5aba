"""Official scorers of short answers: harnesses, and the scripts of question answering."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.exact_others import program
from benchmarks.exact_overlap import Found, Official, averaged
from benchmarks.exact_programs import excerpt
from benchmarks.exact_rows import EVALUATE, Comparison, packaged
from benchmarks.exact_texts import Corpus

LM_EVAL = "the folder lm_eval of the package"
HELM = "evaluate_reference_metrics.py of the package crfm-helm"
INSPECT = "the folder inspect_ai of the package"
TRIVIA = "evaluation/triviaqa_evaluation.py of github.com/mandarjoshi90/triviaqa"

_HELM = {
    "helm-exact": "exact_match",
    "helm-quasi": "quasi_exact_match",
    "helm-prefix": "prefix_exact_match",
    "helm-quasi-prefix": "quasi_prefix_exact_match",
}


def defaults() -> list[Comparison]:
    """A row for each metric that reads answers as a script does."""
    return [
        Comparison("squad_v2", "compute_score.py", squad_v2, EVALUATE, outputs=("score", "exact"),
                   call="of SQuAD 2.0"),
        Comparison("drop_f1", "drop/utils.py", drop, LM_EVAL, outputs=("score", "exact"),
                   call="get_metrics of lm_eval 0.4.13", texts="sentences", most=500),
        Comparison("anls", "anls-star", partial(packaged, anls_star), slow=True,
                   call="anls_score"),
    ]  # fmt: skip


def presets() -> list[Comparison]:
    """A row for each preset of `exact_match` and `token_f1`; that of SQuAD has its own."""
    return [
        *(
            Comparison(
                f"exact_match({task})", "lm_eval 0.4.13", partial(harness, task=task), LM_EVAL,
                first=True, call=f"the switches of {name}",
            )
            for task, name in (
                ("nq", "nq_open"), ("gsm8k", "gsm8k"), ("bbh", "bbh_cot_zeroshot"),
            )
        ),
        *(
            Comparison(
                f"exact_match({preset})", "crfm-helm 0.5.16", partial(helm, function=function),
                HELM, call=function,
            )
            for preset, function in _HELM.items()
        ),
        Comparison("token_f1(helm)", "crfm-helm 0.5.16", partial(helm, function="f1_score"), HELM,
                   call="f1_score"),
        Comparison("exact_match(inspect)", "inspect_ai 0.3.285", inspect, INSPECT, call="match()"),
        Comparison("exact_match(triviaqa)", "triviaqa_evaluation.py",
                   partial(trivia, function="exact_match_score"), TRIVIA),
        Comparison("token_f1(triviaqa)", "triviaqa_evaluation.py",
                   partial(trivia, function="f1_score"), TRIVIA),
    ]  # fmt: skip


def harness(folder: Path | None, task: str) -> Official:
    """lm-evaluation-harness's `exact_match` with the switches in the file of a task."""
    import yaml

    files = {
        "nq": "nq_open/nq_open.yaml",
        "gsm8k": "gsm8k/gsm8k.yaml",
        "bbh": "bbh/cot_zeroshot/_cot_zeroshot_template_yaml",
    }
    match = excerpt(
        folder,
        "lm_eval/api/metrics.py",
        "exact_match_hf_evaluate",
        {"np": np, "re": re, "string": string},
    )
    text = ((folder or Path()) / "lm_eval" / "tasks" / files[task]).read_text(encoding="utf-8")
    (metric,) = yaml.safe_load(text)["metric_list"]
    switches = {key: value for key, value in metric.items() if "ignore" in key}
    return _first(lambda p, r: match([p], [r], **switches)["exact_match"])


def helm(folder: Path | None, function: str) -> Official:
    """A function of HELM, on each reference."""
    from nltk.metrics.scores import f_measure

    path = "evaluate_reference_metrics.py"
    names: dict[str, Any] = {"re": re, "string": string, "f_measure": f_measure}
    names["normalize_text"] = excerpt(folder, path, "normalize_text", names)
    compare = excerpt(folder, path, function, names)
    return _best(lambda p, r: compare(r, p))


def inspect(folder: Path | None) -> Official:
    """The text comparison of inspect's `match()`."""
    text = program(folder, "inspect_ai/_util/text.py")
    names = {"Literal": Literal, "strip_punctuation": text.strip_punctuation}
    match = excerpt(folder, "inspect_ai/scorer/_common.py", "match_str", names)
    return _best(lambda p, r: match(p, r)[1])


def squad_v2(folder: Path | None) -> Official:
    """The script of SQuAD 2.0, as evaluate has it."""
    module = program(folder, "evaluate/metrics/squad_v2/compute_score.py")

    def official(corpus: Corpus) -> Found:
        rows = []
        for text, group in zip(corpus.predictions, corpus.references, strict=True):
            question = {"id": "q", "answers": {"text": group}}
            raw_scores = module.get_raw_scores([{"paragraphs": [{"qas": [question]}]}], {"q": text})
            rows.append({"score": float(raw_scores[1]["q"]), "exact": float(raw_scores[0]["q"])})
        return averaged(rows)

    return official


def drop(folder: Path | None) -> Official:
    """lm-evaluation-harness's copy of DROP's script."""
    module = program(folder, "lm_eval/tasks/drop/utils.py")

    def official(corpus: Corpus) -> Found:
        rows = []
        for text, group in zip(corpus.predictions, corpus.references, strict=True):
            result = module.process_results({"answers": [(answer,) for answer in group]}, [text])
            rows.append({"score": float(result["f1"]), "exact": float(result["em"])})
        return averaged(rows)

    return official


def anls_star() -> Official:
    """ANLS* of texts, which is ANLS."""
    from anls_star import anls_score

    return _best(lambda p, r: anls_score(r, p))


def trivia(folder: Path | None, function: str) -> Official:
    """A function of TriviaQA's script."""
    path = "triviaqa_evaluation.py"
    names: dict[str, Any] = {"re": re, "string": string, "Counter": Counter}
    names["normalize_answer"] = excerpt(folder, path, "normalize_answer", names)
    return _best(excerpt(folder, path, function, names))


def _best(score: Callable[[str, str], Any]) -> Official:
    """The best score over the references of each sample."""

    def official(corpus: Corpus) -> Found:
        pairs = zip(corpus.predictions, corpus.references, strict=True)
        return averaged([{"score": float(max(score(p, r) for r in group))} for p, group in pairs])

    return official


def _first(score: Callable[[str, str], Any]) -> Official:
    """The score against the first reference of each sample."""

    def official(corpus: Corpus) -> Found:
        pairs = zip(corpus.predictions, corpus.first, strict=True)
        return averaged([{"score": float(score(p, r))} for p, r in pairs])

    return official
