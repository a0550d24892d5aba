"""What newcomers' questions have to find: our names for the words in newcomers.json, by hand."""

from __future__ import annotations

import json
from pathlib import Path

_HERE = Path(__file__).parent

# The metrics, guides and metrics from elsewhere that answer each question; those from elsewhere
# only where nothing here can: nothing here runs code, and without a reference a translation is
# graded by a model alone, as the guide shows.
OURS = {
    "rag-grounded": {"faithfulness", "response_groundedness", "hallucination"},
    "plagiarism": {"coverage", "density", "novelty"},
    "asr-errors": {"wer", "cer"},
    "translation-no-reference": {
        "docs/TASKS.html",
        "elsewhere.html#cometkiwi",
        "cometkiwi",
        "elsewhere.html#cometqe",
        "comet_qe",
        # On the site by its title.
        "elsewhere.html#comet-qe",
    },
    "summary-leaves-out": {"rouge", "summarization", "summarization_score", "relevance"},
    "chatbot-repeats": {"distinct", "repetition", "self_bleu"},
    "toxic-answers": {"toxicity"},
    "json-right": {"json_validity", "json_schema_match"},
    "code-works": {"elsewhere.html#codeeval", "pass_at_k"},
    "same-meaning": {"semantic_similarity", "meteor", "elsewhere.html#bertscore", "bertscore"},
}


def newcomers() -> list[tuple[str, set[str]]]:
    """Both wordings of each question of newcomers, and what has to be among the first three."""
    asked = json.loads((_HERE / "newcomers.json").read_text(encoding="utf-8"))["questions"]
    return [(words, OURS[question["id"]]) for question in asked for words in question["types"]]


def unseen() -> list[tuple[str, set[str]]]:
    """Questions that were written down before the ranking was made."""
    asked = json.loads((_HERE / "unseen_questions.json").read_text(encoding="utf-8"))["questions"]
    return [(question["types"], {*question["finds"]}) for question in asked]
