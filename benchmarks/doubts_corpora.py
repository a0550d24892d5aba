"""Corpora as people have them: one of each system, with the columns and metrics that fit it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any

from benchmarks import doubts_shared
from benchmarks.doubts_data import OF_SOURCES, Corpus, fields, read, retrieval

_ROOT = Path(__file__).resolve().parents[1]
TESTS = _ROOT / "tests" / "data"
EXAMPLES = _ROOT / "examples"


def corpora(data: Path) -> Iterator[Corpus]:
    """All corpora of a folder that are there, and those of this repository."""
    for of_folder in doubts_shared.READERS:
        try:
            yield from of_folder(data)
        except FileNotFoundError as error:
            print(f"left out: {error.filename}")
    for of_repository in _OWN:
        yield from of_repository()


def _examples() -> Iterator[Corpus]:
    for system in ("bart", "pointer_generator", "t5"):
        rows = read(EXAMPLES / "news" / f"{system}.jsonl")
        columns = fields(rows, ids="id", predictions="prediction", references="reference")
        yield Corpus(f"news {system}", "news", "summarization", columns)
    for name in ("summaries", "summaries_b"):
        rows = read(EXAMPLES / f"{name}.jsonl")
        columns = fields(rows, sources="source", predictions="prediction", references="references")
        yield Corpus(f"examples {name}", "examples", "summarization", columns, OF_SOURCES)
        columns = fields(rows, questions="question", contexts="contexts", predictions="answer")
        yield Corpus(f"examples {name}, answers", "example answers", "texts", columns)
    yield retrieval("examples, questions", [(row["question"], row["source"]) for row in rows])
    rows = read(EXAMPLES / "checked.jsonl")
    columns = fields(rows, sources="contexts", predictions="prediction")
    columns["sources"] = ["\n".join(passages) for passages in columns["sources"]]
    yield Corpus("examples checked", "checked", "texts", columns, OF_SOURCES)
    for name in ("careful", "hasty"):
        rows = read(EXAMPLES / "agents" / f"{name}.jsonl")
        columns = fields(
            rows, messages="messages", reference_messages="reference_messages", tools="tools"
        )
        yield Corpus(f"agents {name}", "agents", "agents", columns)
    for name in ("small", "large"):
        (path,) = (EXAMPLES / "logs" / name).glob("samples_sums_*.jsonl")
        rows = [
            {
                "id": row["doc_id"],
                "question": row["doc"]["question"],
                "reply": row["resps"][0][0],
                "read": row["filtered_resps"][0],
                "right": row["target"].split("#### ")[1],
            }
            for row in read(path)
            if row["filter"] == "flexible-extract"
        ]
        for field in ("reply", "read"):
            columns = fields(rows, questions="question", predictions=field, references="right")
            yield Corpus(f"logs {name}, {field}", "logs", "numbers", columns)


def _answers() -> Iterator[Corpus]:
    rows = read(TESTS / "nq301.jsonl")
    answers = [[*row["answers"].items()] for row in rows]
    for number, named in enumerate(("first", "second", "third", "fourth")):
        table = [
            {**row, "answer": answer[number][0]}
            for row, answer in zip(rows, answers, strict=True)
            if number < len(answer)
        ]
        columns = fields(table, questions="question", predictions="answer", references="references")
        yield Corpus(f"NQ301, {named} answers", "nq301", "answers", columns)
    pairs = [(row, *item) for row, answer in zip(rows, answers, strict=True) for item in answer]
    columns = {
        "questions": [row["question"] for row, *_ in pairs],
        "predictions": [text for _, text, _ in pairs],
        "references": [row["references"] for row, *_ in pairs],
    }
    yield Corpus("NQ301, all answers", "nq301", "answers", columns)
    is_answer = [
        any(ref.lower() in text.lower() for ref in row["references"]) for row, text, _ in pairs
    ]
    columns = {
        "predictions": ["right" if result else "wrong" for result in is_answer],
        "references": ["right" if accepted else "wrong" for *_, accepted in pairs],
    }
    yield Corpus("NQ301, right or wrong", "nq301 labels", "labels", columns)
    keywords = [row["references"][:1] for row in rows]
    columns = {"predictions": [max(row["answers"], key=len) for row in rows], "keywords": keywords}
    yield Corpus("NQ301, longest answers", "nq301 keywords", "keywords", columns)
    rows = [row for row in read(TESTS / "replies.jsonl") if row["read"]]
    columns = fields(rows, questions="question", predictions="reply", references="read")
    yield Corpus("replies", "replies", "answers", columns)


def _official_answers() -> Iterator[Corpus]:
    kinds = {
        "exact_match (lm-eval)": "answers",
        "helm exact_match": "answers",
        "match (inspect)": "answers",
        "helm f1_score": "answers",
        "anls": "answers",
        "triviaqa": "answers",
        "math_equivalence": "mathematics",
        "math string equality (Hendrycks MATH)": "mathematics",
    }
    rows = read(TESTS / "answers.jsonl")
    for metric, kind in kinds.items():
        table = [row["inputs"] for row in rows if row["metric"] == metric]
        columns = {
            "predictions": [row["prediction"] for row in table],
            "references": [row.get("references", row.get("reference")) for row in table],
        }
        yield Corpus(f"official {metric}", f"official {kind}", kind, columns)
    for metric, kind in (("classification", "labels"), ("multi_label", "many labels")):
        table = [row["inputs"] for row in rows if row["metric"] == metric]
        for number, row in enumerate(table, start=1):
            columns = {name: _labels(row[name]) for name in ("predictions", "references")}
            yield Corpus(f"official {metric} {number}", f"official {kind}", kind, columns)
    table = [row["inputs"] for row in rows if row["metric"].startswith("ranking")]
    asked = [
        (run, row["qrels"].get(query, {})) for row in table for query, run in row["run"].items()
    ]
    columns = {
        "retrieved": [sorted(run, key=run.__getitem__, reverse=True) for run, _ in asked],
        "relevant": [{name: max(0, grade) for name, grade in run.items()} for _, run in asked],
    }
    yield Corpus("official ranking", "official ranking", "ranking", columns)
    table = [row["inputs"] for row in rows if row["metric"] == "ifeval"]
    columns = fields(
        table, questions="prompt", predictions="prediction", instruction_ids="instruction_ids"
    )
    columns["kwargs"] = [row["kwargs"] for row in table]
    yield Corpus("official ifeval", "ifeval", "instructions", columns)


def _code() -> Iterator[Corpus]:
    rows = read(TESTS / "conala.jsonl")
    for system in rows[0]["outputs"]:
        columns = {
            "predictions": [row["outputs"][system] for row in rows],
            "references": [row["references"] for row in rows],
        }
        yield Corpus(f"CoNaLa {system}", "conala", "code", columns)
        graded = [row["grades"][system] for row in rows if len(row["grades"][system]) > 1]
        columns = {
            "predictions": [str(grades[0]) for grades in graded],
            "references": [str(grades[1]) for grades in graded],
        }
        yield Corpus(f"CoNaLa {system}, graders", "conala graders", "labels", columns)


def _speech() -> Iterator[Corpus]:
    text = (TESTS / "hats.tsv").read_text(encoding="utf-8")
    head, *lines = (line.split("\t") for line in text.split("\n") if line)
    rows = [dict(zip_longest(head, line)) for line in lines]
    for system in ("hypA", "hypB"):
        for number, part in enumerate((rows[:500], rows[500:]), start=1):
            columns = fields(part, predictions=system, references="reference")
            yield Corpus(f"HATS {system}, part {number}", "hats", "speech", columns)
    rows = read(TESTS / "whisper.jsonl")
    for system in ("whisper", "whisper-basic"):
        columns = fields(rows, predictions=system, references="text")
        yield Corpus(f"normalizer {system}", "normalizers", "speech", columns)


def _made_up() -> Iterator[Corpus]:
    """Labels of Romanian and sums, most of them right, as no corpus at hand has them."""
    topics = ("știință", "învățământ și școală", "artă și spectacol", "piață", "sănătate")
    for name in ("Romanian topics", "Romanian columns"):
        random = Random(name)
        right = [random.choice(topics) for _ in range(200)]
        labels = [label if random.random() < 0.8 else random.choice(topics) for label in right]
        yield Corpus(name, name, "labels", {"predictions": labels, "references": right})
    for name in ("sums", "products"):
        random = Random(name)
        pairs = [(random.randrange(10, 99), random.randrange(10, 99)) for _ in range(200)]
        right = [str(a + b if name == "sums" else a * b) for a, b in pairs]
        labels = [
            text if random.random() < 0.7 else str(int(text) + random.choice((-10, 1, 10)))
            for text in right
        ]
        asked = [f"What is {a} {'+' if name == 'sums' else '*'} {b}?" for a, b in pairs]
        columns = {"questions": asked, "predictions": labels, "references": right}
        yield Corpus(f"made-up {name}", name, "numbers", columns)


def _vectors() -> Iterator[Corpus]:
    for path in sorted((TESTS / "vectors").glob("*.jsonl")):
        pairs: dict[str, tuple[str, Any]] = {}
        for row in read(path):
            if "references" not in row:
                continue
            for text, gold in zip_longest(row.get("predictions") or (), row["references"] or ()):
                if isinstance(text, str):
                    pairs.setdefault(f"{text}\n{gold}", (text, gold))
        without = [text for text, expected in pairs.values() if not expected]
        if len(without) > 4:
            yield Corpus(
                f"vectors {path.stem}, texts", "vectors", "texts", {"predictions": without}
            )
        both = [(text, expected) for text, expected in pairs.values() if expected]
        if len(both) > 4:
            predictions, references = zip(*both, strict=True)
            columns = {"predictions": predictions, "references": references}
            kind = {"jiwer": "speech", "codebleu": "code"}.get(path.stem, "mt")
            yield Corpus(f"vectors {path.stem}", "vectors", kind, columns)


def _labels(values: Sequence[Any]) -> list[Any]:
    return [value if isinstance(value, list) else str(value) for value in values]


_OWN = (_examples, _answers, _official_answers, _code, _speech, _made_up, _vectors)
