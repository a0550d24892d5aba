"""Report pages of every kind of data, for the tests of how pages look."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from metrichub import Hub
from metrichub.cli import main
from metrichub.report.html import write
from tests.browser.conversations import ARABIC, CHINESE, POLITE, TRAVEL, clerk
from tests.browser.reports import FEW

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
Rows = list[dict[str, Any]]

HEBREW = "החתול ישב על השטיח וראה את הציפורים עפות דרומה לפני החורף"
ARABIC_TEXT = "جلس القط على السجادة وشاهد الطيور تطير جنوبًا قبل الشتاء (2026)"
JAPANESE = "猫はマットの上に座って、冬の前に南へ飛んでいく鳥を見ていました。"
KOREAN = "고양이가 매트 위에 앉아 겨울이 오기 전에 남쪽으로 날아가는 새를 보았다."


def lines(name: str) -> Rows:
    return [json.loads(line) for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]


def page(folder: Path, metrics: Sequence[Any], systems: Mapping[str, Rows], **more: Any) -> str:
    """The address of a report of these rows."""
    hub, path = Hub(metrics), folder / "report.html"
    write(path, {name: hub.evaluate(rows) for name, rows in systems.items()}, **FEW | more)
    return path.as_uri()


def summaries(number: int, *ratings: str) -> dict[str, Rows]:
    """So many systems of SummEval, with twenty documents each."""
    references = {row["doc_id"]: row["refs"] for row in lines("tests/data/summeval_docs.jsonl")}
    systems: dict[str, Rows] = {}
    for row in lines("tests/data/summeval_outputs.jsonl"):
        sample = {"prediction": row["hyp"], "references": references[row["doc_id"]][:2]}
        sample |= {"id": row["doc_id"]} | {name: row[name] for name in ratings}
        systems.setdefault(row["system"], []).append(sample)
    return dict(islice(systems.items(), number))


def two(folder: Path) -> str:
    systems = {name: lines(f"examples/{name}.jsonl") for name in ("summaries", "summaries_b")}
    return page(folder, ["abstractness", "rouge", "wer"], systems)


def six_in_groups(folder: Path) -> str:
    """Five models of code and their references, in fourteen groups."""
    rows = lines("tests/data/conala.jsonl")[:140]
    systems = {
        name: [
            {
                "prediction": row["outputs"].get(name, row["references"][0]),
                "reference": row["references"][0],
                "library": f"{('pandas', 'numpy')[k % 2]}_{k % 14}",
            }
            for k, row in enumerate(rows)
        ]
        for name in (*rows[0]["outputs"], "reference")
    }
    return page(folder, ["chrf", "exact_match", "edit_similarity"], systems, by="library")


def ten_rated(folder: Path) -> str:
    systems = summaries(10, "coherence", "relevance")
    return page(folder, ["rouge", "bleu"], systems)


def agreement(folder: Path) -> str:
    """The page of `agreement --report`, of five systems in one file."""
    rows = [
        row | {"system": name}
        for name, columns in summaries(5, "coherence", "fluency").items()
        for row in columns
    ]
    file, path = folder / "rated.jsonl", folder / "report.html"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    human = [part for name in ("coherence", "fluency") for part in ("--human", name)]
    command = ["agreement", str(file), "-m", "rouge", "-m", "chrf", *human, "--report", str(path)]
    ran = CliRunner().invoke(main, command)
    assert ran.exit_code == 0, ran.output
    return path.as_uri()


def judged(folder: Path) -> str:
    rows = lines("examples/checked.jsonl")
    worse = [row | {"prediction": f"{row['prediction']} Nobody survived."} for row in rows]
    return page(folder, ["faithfulness(judge='offline')"], {"checked": rows, "worse": worse})


def conversations(folder: Path) -> str:
    hub, path = Hub([clerk("yes", "no", "yes")]), folder / "report.html"
    first = hub.evaluate(messages=[TRAVEL, CHINESE, ARABIC])
    hub = Hub([clerk("yes", "yes", "no")])
    second = hub.evaluate(messages=[POLITE, CHINESE, ARABIC])
    write(path, {"curt": first, "polite": second}, **FEW)
    return path.as_uri()


def tool_calls(folder: Path) -> str:
    systems = {name: lines(f"examples/agents/{name}.jsonl") for name in ("careful", "hasty")}
    return page(folder, ["trajectory_match(mode='unordered')", "tool_call_f1"], systems)


def read_answers(folder: Path) -> str:
    """Replies that an answer is read from, and code, and JSON."""
    rows = [
        {"prediction": row["reply"], "reference": row["read"] or "none"}
        for row in lines("tests/data/replies.jsonl")
    ]
    code = "\n".join(f"    total_{k} = sum(values[{k}:]) # {'long ' * k}" for k in range(30))
    tree = {"name": "x" * 200, "list": list(range(30)), "deep": {"er": {"est": [1, {"a": None}]}}}
    rows += [
        {"prediction": f"```python\ndef f(values):\n{code}\n```", "reference": "def f(values):"},
        {"prediction": json.dumps(tree), "reference": json.dumps(tree | {"name": "y" * 200})},
    ]
    return page(folder, ["exact_match(extract='last_number')", "chrf"], {"": rows})


def scripts(folder: Path) -> str:
    """Texts from right to left, without spaces, and with both directions in a line."""
    texts = (HEBREW, ARABIC_TEXT, JAPANESE, KOREAN, f"{HEBREW} metrichub 0.1 {ARABIC_TEXT}")
    ours = [
        {"prediction": text, "reference": text[: k * 7 + 9] + text[k * 7 + 12 :], "source": text}
        for k, text in enumerate(texts)
    ]
    theirs = [row | {"prediction": row["prediction"][::-1]} for row in ours]
    names = {"مترجم": ours, "翻訳システム": theirs}
    return page(folder, ["chrf", "cer"], names)


def long_texts(folder: Path) -> str:
    """Two systems of long names: texts of 9,000 words, and one word of 3,000 letters."""
    words = (DATA / "public.txt").read_text(encoding="utf-8").split()
    text, word = " ".join((words * 2)[:9000]), "ab" * 1500
    rows = [
        {"id": "x" * 300, "prediction": text, "reference": text[:5000], "source": text},
        {"id": "b", "prediction": word, "reference": word[:-2], "source": word},
        {"id": "c", "prediction": "", "reference": "short", "source": "\n\n\n"},
    ]
    worse = [row | {"prediction": row["prediction"][9:]} for row in rows]
    start = f"organization/some-model-with-a-checkpoint-{'x' * 76}"
    return page(folder, ["rouge", "chrf"], {f"{start}1": rows, f"{start}2": worse})


def labelled(folder: Path) -> str:
    """Twelve labels, one of them long, with a matrix of confusions."""
    labels = [f"label_{k}" for k in range(11)] + ["a label of several words that is not short"]
    systems = {
        name: [
            {"prediction": labels[(k + (k % wrong == 0)) % 12], "reference": labels[k % 12]}
            for k in range(60)
        ]
        for name, wrong in (("base", 3), ("ours", 7))
    }
    return page(folder, ["classification"], systems)


def unscored(folder: Path) -> str:
    """No sample has a score."""
    rows = [{"prediction": text} for text in ("", " ", "\n")]
    return page(folder, ["aun", "ttr"], {"": rows})


KINDS: tuple[Callable[[Path], str], ...] = (
    two, six_in_groups, ten_rated, agreement, judged, conversations, tool_calls,
    read_answers, scripts, long_texts, labelled, unscored,
)  # fmt: skip
