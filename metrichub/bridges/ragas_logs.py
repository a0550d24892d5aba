"""Reader of ragas' rows, of data sets and of results, which have a column for each metric."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from metrichub.data.readers import Row

_SAMPLE = re.compile(
    "id|user_input|response|multi_responses|reference|(retrieved|reference)_contexts|"
    "(retrieved|reference)_context_ids|reference_(tool_calls|topics)|rubrics|persona_name|"
    "query_(style|length)|synthesizer_name"
)
"""The fields of ragas' samples, and what its test sets have beside them."""
_HIGHER = re.compile(
    "agent_goal_accuracy|answer_(correctness|relevancy|similarity)|"
    "(bleu|chrf|rouge|summary|data_compare)_score|context_(precision|recall|utilization)|"
    "context_entity_recall|exact_match|factual_correctness|faithful_rate|"
    "faithfulness(_with_hhem)?|id_based_context_(precision|recall)|"
    "llm_context_precision_(with|without)_reference|llm_sql_equivalence_with_reference|"
    "non_llm_(context_precision_with_reference|context_recall|string_similarity)|"
    "nv_(accuracy|context_relevance|response_groundedness)|relevance_rate|semantic_similarity|"
    "string_present|tool_call_(accuracy|f1)|topic_adherence"
)
"""Its metrics that rise with quality; a critic, whose name a user chooses, may fall."""


def matches(row: Row) -> bool:
    """Whether this is a sample of ragas."""
    return "user_input" in row and sum(map(bool, map(_SAMPLE.fullmatch, row))) > 1


def describe(row: Row, path: str) -> dict[str, Any]:
    """The columns of metrics; one that failed on the first sample has no number there."""
    recorded = {}
    for name, value in row.items():
        if _SAMPLE.fullmatch(name) or not (value in (None, "") or _is_number(value)):
            continue
        # A name may have a mode, as in "rouge_score(mode=fmeasure)".
        base = name.partition("(")[0]
        better = "lower" if base == "noise_sensitivity" else None
        better = "higher" if _HIGHER.fullmatch(base) else better
        recorded[name] = {"better": better} if better else {}
    return {"recorded": recorded}


def read(rows: Iterator[Row], path: str) -> Iterator[Row]:
    """The rows as they are."""
    return rows


def _is_number(value: object) -> bool:
    """Whether a cell holds a number, also as text in a CSV."""
    if not isinstance(value, str):
        return isinstance(value, (int, float))
    try:
        float(value)
    except ValueError:
        return False
    return True
