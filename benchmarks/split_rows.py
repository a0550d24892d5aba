"""Rows for metrics that read answers, labels, JSON, ids, calls or conversations, made of a corpus.

They are drawn with a seed out of pairs of sentences, and no two are alike but single labels.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

Row = Mapping[str, Any]
Words = Sequence[str]
Maker = Callable[[Random, Words, Words], Row]

_DRAWS = 20
"""So often a row is drawn anew that is there already."""
_LABELS = [f"label {number}" for number in range(20)]
_TOOLS: Mapping[str, Mapping[str, str]] = {
    "search": {"query": "string", "limit": "integer"},
    "book": {"city": "string", "nights": "integer"},
    "send_mail": {"to": "string", "text": "string"},
    "clock": {"zone": "string"},
}
_DESCRIBED = [
    {
        "name": name,
        "parameters": {
            "type": "object",
            "properties": {key: {"type": kind} for key, kind in parameters.items()},
            "required": [*parameters],
        },
    }
    for name, parameters in _TOOLS.items()
]
_CHECKS = ("words <= 30", "sentences == 1", "characters < 200", "bullets == 0", "ends: .", "json")
_INSTRUCTIONS: Sequence[tuple[str, Row]] = (
    ("length_constraints:number_words", {"num_words": 20, "relation": "at least"}),
    ("length_constraints:number_sentences", {"num_sentences": 3, "relation": "less than"}),
    ("keywords:letter_frequency", {"letter": "e", "let_frequency": 9, "let_relation": "at least"}),
    ("detectable_format:title", {}),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}),
    ("punctuation:no_comma", {}),
    ("startend:quotation", {}),
)


def rows_of(make: Maker, predictions: Sequence[str], references: Sequence[str]) -> list[Row]:
    """A row of columns for each pair of sentences."""
    source = Random(0)
    rows: dict[str, Row] = {}
    for number, pair in enumerate(zip(predictions, references, strict=True)):
        prediction, reference = (text.split() or ["no"] for text in pair)
        for _ in range(_DRAWS):
            row = make(source, prediction, reference)
            if (key := json.dumps(row)) not in rows:
                break
        else:
            key = str(number)
        rows[key] = row
    return [*rows.values()]


def _span(source: Random, words: Words, most: int = 5) -> str:
    start = source.randrange(len(words))
    return " ".join(words[start : start + source.randint(1, most)])


def _several(source: Random, items: Sequence[Any], most: int = 4) -> list[Any]:
    return source.sample(items, min(source.randint(1, most), len(items)))


def _answers(source: Random, words: Words, gold: Words) -> Row:
    right = _span(source, gold)
    return {
        "predictions": source.choice([right, f"the {right}", _span(source, words)]),
        "references": right,
    }


def _several_answers(source: Random, words: Words, gold: Words) -> Row:
    row = _answers(source, words, gold)
    others = [_span(source, gold) for _ in range(source.randint(0, 2))]
    none = {"predictions": source.choice(["", row["predictions"]]), "references": [""]}
    return source.choice([{**row, "references": [row["references"], *others]}, none])


def _drop(source: Random, words: Words, gold: Words) -> Row:
    number = source.randint(0, 9999)
    numbers = {"predictions": f"{number + source.randint(0, 1)} yards", "references": f"{number}"}
    row = _answers(source, words, gold)
    spans = {name: f"{question}\n{_span(source, gold)}" for name, question in row.items()}
    return source.choice([row, spans, numbers])


def _citations(source: Random, words: Words, _: Words) -> Row:
    marked = " ".join(f"{w} [{source.randint(1, 9)}]" if w.endswith(".") else w for w in words)
    return {
        "predictions": f"{marked} [{source.randint(1, 9)}, {source.randint(1, 9)}]",
        "relevants": list(map(str, _several(source, range(1, 10)))),
    }


def _passages(source: Random, words: Words, gold: Words) -> Row:
    passages = [" ".join(words), *(_span(source, gold, 20) for _ in range(4))]
    return {"contexts": passages, "reference_contexts": [" ".join(gold), passages[-1]]}


def _quotes(source: Random, prediction: Words, gold: Words) -> Row:
    first, other = (f"it is {_span(source, words)} there" for words in (gold, prediction))
    quoted = " and ".join(f'"{text}"' for text in (first, source.choice([first, other])))
    return {
        "predictions": f"{' '.join(prediction)}: {quoted}.",
        "contexts": [f"So {first}", " ".join(gold)],
    }


def _label(source: Random, _: Words, __: Words) -> Row:
    right = source.choice(_LABELS)
    return {"predictions": source.choice([right, source.choice(_LABELS)]), "references": right}


def _labels(source: Random, _: Words, __: Words) -> Row:
    right = _several(source, _LABELS)
    predicted = [*right[1:], *_several(source, _LABELS, 2)]
    return {"predictions": json.dumps(predicted), "references": json.dumps(right)}


def _entities(source: Random, _: Words, gold: Words) -> Row:
    kinds = ("person", "place", "date")
    right = [[source.choice(kinds), _span(source, gold, 2)] for _ in range(source.randint(1, 5))]
    predicted = [*right[1:], [source.choice(kinds), _span(source, gold, 2)]]
    return {"predictions": json.dumps(predicted), "references": json.dumps(right)}


def _objects(source: Random, words: Words, gold: Words) -> Row:
    tags = [_span(source, gold, 2) for _ in range(source.randint(0, 3))]
    right: dict[str, Any] = {
        "id": source.randint(0, 9999),
        "name": _span(source, gold),
        "tags": tags,
        "items": [
            {"title": _span(source, gold), "price": source.randint(1, 999) / 10, "new": True}
            for _ in range(source.randint(1, 3))
        ],
    }
    changed = {"name": _span(source, words), "tags": tags[1:]}
    predicted = right | source.choice([{}, {"items": []}, changed])
    return {"predictions": json.dumps(predicted), "references": json.dumps(right)}


def _checks(source: Random, words: Words, gold: Words) -> Row:
    checks = [*_several(source, _CHECKS), f"contains: {source.choice(gold)}"]
    return {"predictions": " ".join(words), "checks": checks}


def _instructions(source: Random, predicted: Words, gold: Words) -> Row:
    words = [word for word in gold if word.isalpha()] or ["no"]
    instruction = ("keywords:existence", {"keywords": _several(source, words, 2)})
    ids, arguments = zip(*_several(source, [*_INSTRUCTIONS, instruction], 3), strict=True)
    return {"predictions": " ".join(predicted), "instruction_ids": [*ids], "kwargs": [*arguments]}


def _keywords(source: Random, words: Words, gold: Words) -> Row:
    return {"predictions": " ".join(words), "keywords": _several(source, gold)}


def _facts(source: Random, words: Words, gold: Words) -> Row:
    facts = [[_span(source, gold, 3), source.randint(0, 9)] for _ in range(4)]
    named, right = _several(source, facts), _several(source, facts)
    return {**_answers(source, words, gold), "facts": named, "supporting_facts": right}


def _votes(source: Random, _: Words, __: Words) -> Row:
    numbers = [str(source.randint(0, 9999)) for _ in range(3)]
    return {"predictions": source.choices(numbers, k=8), "references": numbers[0]}


def _numbers(source: Random, words: Words, _: Words) -> Row:
    number = source.randint(0, 99_999)
    text = source.choice([f"{number}", f"{number:,}", f"It is ${number}.00.", _span(source, words)])
    return {"predictions": text, "references": f"{number}"}


def _passes(source: Random, _: Words, __: Words) -> Row:
    return {"passed": source.choices([True, False], k=20)}


def _ranks(source: Random, _: Words, __: Words) -> Row:
    ids = [f"d{number}" for number in range(1000)]
    texts = source.sample(ids, 20)
    return {"retrieved": texts, "relevants": source.sample([*texts, *ids[:20]], 4)}


def _call(source: Random, words: Words) -> dict[str, Any]:
    name = source.choice([*_TOOLS])
    return {
        "name": name,
        "arguments": {
            key: _span(source, words, 3) if kind == "string" else source.randint(1, 99)
            for key, kind in _TOOLS[name].items()
        },
    }


def _calls(source: Random, words: Words) -> tuple[list[Any], list[Any]]:
    """Calls of one sample, and the expected ones: half of the time the same."""
    calls = [_call(source, words) for _ in range(3)]
    expected = source.choices(calls, k=source.randint(1, 3))
    return source.choice([expected, [*expected[1:], _call(source, words)]]), expected


def _matched_calls(source: Random, _: Words, gold: Words) -> Row:
    predicted, expected = _calls(source, gold)
    answers = [
        {call["name"]: {key: [value, value] for key, value in call["arguments"].items()}}
        for call in expected
    ]
    columns = {"predictions": json.dumps(predicted), "references": json.dumps(answers)}
    return columns | {"functions": _DESCRIBED}


def _conversation(calls: Sequence[Any], question: Words, answer: Words) -> list[Any]:
    messages: list[Any] = [{"role": "user", "content": " ".join(question)}]
    for number, call in enumerate(calls):
        function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
        tool_calls = [{"id": f"call_{number}", "type": "function", "function": function}]
        result = {"role": "tool", "tool_call_id": f"call_{number}", "content": " ".join(answer[:9])}
        messages += [{"role": "assistant", "content": None, "tool_calls": tool_calls}, result]
    return [*messages, {"role": "assistant", "content": " ".join(answer)}]


def _conversations(source: Random, words: Words, gold: Words) -> Row:
    calls = _calls(source, gold)
    predicted, reference = (_conversation(of, gold, words) for of in calls)
    tools = [{"type": "function", "function": tool} for tool in _DESCRIBED]
    return {
        "messages": predicted,
        "reference_messages": reference,
        "tools": source.sample(tools, 3),
    }


MAKERS: Mapping[str, Maker] = {
    "anls": _answers,
    "call_repetition": _conversations,
    "citation_ids": _citations,
    "classification": _label,
    "context_overlap": _passages,
    "drop_f1": _drop,
    "entity_f1": _entities,
    "format_checks": _checks,
    "hotpot": _facts,
    "instruction_following": _instructions,
    "json_fields": _objects,
    "json_similarity": _objects,
    "keyword_coverage": _keywords,
    "majority_vote": _votes,
    "multi_label": _labels,
    "numeric_match": _numbers,
    "pass_at_k": _passes,
    "pass_hat_k": _passes,
    "quoted_spans": _quotes,
    "ranking": _ranks,
    "recorded": lambda source, _, __: {"scores": source.random()},
    "squad_v2": _several_answers,
    "squad_v2_best": lambda source, *words: {
        **_several_answers(source, *words),
        "no_answer_probabilities": source.random(),
    },
    "tool_call_match": _matched_calls,
    "tool_permission": _conversations,
    "trajectory_match": _conversations,
}
"""How the rows of each of these metrics are made."""
