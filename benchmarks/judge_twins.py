"""The pairs of metrics whose definitions coincide, and how each tool is given the same verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.judge_rivals import Case, Objects, deepeval, ours, ragas, words

Number = Callable[[Case], float]


class Twin(NamedTuple):
    """Our metric and another tool's, and by how much they differ by definition."""

    ours: str
    package: str
    theirs: str
    score: Number
    expected: Number
    remark: str = ""


def _verdicts(facts: Sequence[str]) -> list[dict[str, Any]]:
    """Verdicts in deepeval's form and words; its schemas ask for more than they use."""
    more = {"reason": "", "statement": "", "expected_output": ""}
    return [{"verdict": "borderline" if word == "idk" else word, **more} for word in facts]


def _numbers(flags: Sequence[bool]) -> list[int]:
    return [int(flag) for flag in flags]


def _stated(flags: Sequence[bool], name: str) -> list[dict[str, Any]]:
    """Verdicts in ragas' form."""
    return [{"statement": "", "reason": "", name: int(flag)} for flag in flags]


def _claims(case: Case) -> Objects:
    return {
        "StatementGeneratorOutput": [{"statements": case.claims}],
        "NLIStatementOutput": [
            {"statements": _stated([word == "yes" for word in case.claims], "verdict")}
        ],
    }


def _ranked(case: Case) -> Objects:
    verdicts = [{"reason": "", "verdict": n} for n in _numbers(case.useful)]
    return {"ContextPrecisionOutput": verdicts}


def _relevancy(case: Case) -> Objects:
    pairs = enumerate(_numbers(case.evaded))
    results = [{"question": f"{i}?", "noncommittal": n} for i, n in pairs]
    return {"AnswerRelevanceOutput": results}


def _summary(case: Case) -> Objects:
    return {
        "ExtractedKeyphrases": [{"keyphrases": ["a phrase"]}],
        "QuestionsGenerated": [{"questions": [f"{i}?" for i in range(len(case.mine))]}],
        "AnswersGenerated": [{"answers": [str(n) for n in _numbers(case.mine)]}],
    }


def _recall(case: Case) -> Objects:
    rows = _stated(case.facts, "attributed")
    return {"ContextRecallOutput": [{"classifications": rows}]}


def _entities(case: Case) -> Objects:
    return {"EntitiesList": [{"entities": names} for names in case.entities]}


def _aligned(case: Case) -> Objects:
    return {
        "Truths": [{"truths": ["a truth"]}],
        "Claims": [{"claims": case.claims}],
        "Questions": [{"questions": [f"{i}?" for i in range(len(case.its))]}],
        # Of the source, then of the summary.
        "Answers": [{"answers": words(case.its)}, {"answers": words(case.mine)}],
        "Verdicts": [{"verdicts": _verdicts(case.claims)}],
    }


def _judged(result: Callable[[Case], Sequence[str]]) -> Callable[[Case], Objects]:
    return lambda case: {"Verdicts": [{"verdicts": _verdicts(result(case))}]}


def _relevant(case: Case) -> Objects:
    lists = [{"verdicts": _verdicts(words(flags))} for flags in case.statements]
    return {"ContextualRelevancyVerdicts": lists}


def _ragas(
    spec: str,
    metric: str,
    objects: Callable[[Case], Objects],
    inputs: str,
    remark: str = "",
    message: Callable[[Case], dict[str, Any]] = lambda case: {},
    **parameters: Any,
) -> Twin:
    return Twin(
        *(spec, "ragas", _called(metric, parameters)),
        lambda case: ours(case, spec, **message(case)),
        lambda case: ragas(metric, case, objects(case), *inputs.split(), **parameters),
        remark,
    )


def _deepeval(
    spec: str,
    metric: str,
    objects: Callable[[Case], Objects],
    output: str = "score",
    part: str = "",
    message: Callable[[Case], dict[str, Any]] = lambda case: {},
    remark: str = "",
    turned: bool = False,
) -> Twin:
    def read(scorer: Any) -> float:
        value = float(scorer.score_breakdown[part] if part else scorer.score)
        return 1 - value if turned else value

    return Twin(
        f"{spec}: {output}" if part else spec,
        *("deepeval", f"{metric}: {part}" if part else metric),
        lambda case: ours(case, spec, output, **message(case)),
        lambda case: deepeval(metric, case, objects(case), read),
        remark,
    )


def _called(metric: str, parameters: dict[str, Any]) -> str:
    message = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return f"{metric}({message})" if message else metric


def _facts(case: Case) -> dict[str, Any]:
    """The verdicts on the claims of the reference, not of the answer."""
    return {"supported": words(case.facts)}


def _of_passages(case: Case) -> dict[str, Any]:
    """The verdicts on the statements of each passage, which the claims' texts tell apart."""
    statements = iter(case.statements)
    return {"relevant": lambda fields: words(next(statements))}


_TINY = "theirs adds 1e-10 to the divisor"
_SUMMARY = ("SummaryScore", _summary, "reference_contexts response")
_RANKED = (_ranked, "user_input response retrieved_contexts")
_QUESTION = ("AnswerRelevancy", _relevancy, "user_input response")
_BOTH = "SummarizationMetric", _aligned

TWINS = (
    _ragas("summarization_score", *_SUMMARY),
    _ragas("summarization_score(coeff=0.8)", *_SUMMARY, coeff=0.8),
    _ragas("summarization_score(length_penalty=False)", *_SUMMARY, length_penalty=False),
    _ragas("faithfulness", "Faithfulness", _claims, "user_input response retrieved_contexts"),
    _ragas("context_utilization", "ContextPrecisionWithoutReference", *_RANKED, remark=_TINY),
    _ragas("context_utilization(epsilon=1e-10)", "ContextPrecisionWithoutReference", *_RANKED),
    _ragas(
        *("context_precision", "ContextPrecisionWithReference", _ranked),
        *("user_input reference retrieved_contexts", _TINY),
    ),
    _ragas("answer_relevancy(noncommittal='all')", *_QUESTION),
    _ragas(
        *("context_recall", "ContextRecall", _recall, "user_input retrieved_contexts reference"),
        message=_facts,
    ),
    _ragas(
        *("context_entity_recall", "ContextEntityRecall", _entities),
        *("reference retrieved_contexts", "theirs adds 1e-8 to the divisor"),
    ),
    _deepeval("summarization(n=8)", *_BOTH),
    _deepeval("summarization(n=8)", *_BOTH, output="alignment", part="Alignment"),
    _deepeval("summarization(n=8)", *_BOTH, output="coverage", part="Coverage"),
    _deepeval("faithfulness(idk=1.0)", "FaithfulnessMetric", _aligned),
    _deepeval(
        "context_precision", "ContextualPrecisionMetric", _judged(lambda case: words(case.useful))
    ),
    _deepeval(
        *("context_recall", "ContextualRecallMetric", _judged(lambda case: words(case.facts))),
        message=_facts,
    ),
    _deepeval("contextual_relevancy", "ContextualRelevancyMetric", _relevant, message=_of_passages),
    _deepeval(
        *("hallucination(unit='contexts')", "HallucinationMetric"),
        _judged(lambda case: words([not clash for clash in case.clashes])),
        remark="theirs counts the passages that agree: 1 - theirs",
        turned=True,
    ),
)
