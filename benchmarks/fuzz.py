"""Files and specs as nobody would write them: no traceback, no hang, no gigabyte.

    python -m benchmarks.fuzz [--cases 5000] [--seed 1] [--only CASE]

Each case is a file, one in three damaged, and metrics with parameters, some of them wrong, or two
saved reports, given to the command line. It has to end with a status that `metrichub --help`
explains, but for that of a defect, in 12 seconds of processor time and without taking a gigabyte.
At least a third has to get past the door, that is, to be scored. Cases depend on the seed and their
number alone. They run in one process after the other, each for a few hundred cases, so that one
that dies costs no others.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import click

from benchmarks.mutated import examples, mutated, mutated_value

_LOGS = Path(__file__).parent.parent / "examples" / "logs"
_SECONDS, _BYTES = 12.0, 1_000_000_000
_STATUSES = (0, 1, 2, 3, 4, 5)
_AT_A_TIME = 250
_PATIENCE = 3600
"""Seconds of the clock for a process, on a busy machine; one that hangs in C isn't interrupted."""
TEXTS = (
    *("The cat sat on the mat.", "the cat sat", "It rained. Nobody came!", "a", "", "   ", "\t"),
    *("2 + 2 = 4", "1,000 dollars", "def f(x):\n    return x", '{"a": [1, 2]}', "[1, 2", "null"),
    *("naïve café", "日本語", "مرحبا", "🙂🙃", "e\u0301\u0301", "\u200b", "\ufeffa", "\ud83d"),
    *("\x00", "\x1b[31mred", "line\u2028two", "<script>alert(1)</script>", "=1+1", "NaN", "-"),
    *("..", "%s %d {0}", "\\", '"quoted", "twice"', "a;b,c\td", "word " * 300, "x" * 3000),
)
ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 1e308, float("nan"), float("inf"), 10**30, [], {}, [None], [[]]),
    *([["a"], ["b", "c"]], {"a": {"b": "c"}}, ["a", 1], {"": ""}, [{"role": "user"}]),
)
COLUMNS = {
    "prediction": ("prediction", "predictions", "response", "output", "hyp"),
    "reference": ("reference", "references", "target", "ref", "ground_truth"),
    "source": ("source", "document", "src"),
    "question": ("question", "query"),
    "context": ("contexts", "retrieved_contexts"),
}
SPECS = (
    *("bleu", "bleu(max_order=2)", "bleu(wmt)", "rouge", "rouge(stemmer=True)", "chrf", "wer"),
    *("chrf(chrf++)", "wer(whisper)", "cer", "ter", "meteor", "token_f1", "exact_match", "gleu"),
    *("edit_similarity", "nist", "ribes", "eed", "character", "cider", "distinct", "self_bleu"),
    *("repetition", "readability", "abstractness", "coverage", "density", "compression", "novelty"),
    *("json_validity", "codebleu", "sari", "carburacy", "aun", "unr", "nid", "tool_call_f1", "ttr"),
    *("faithfulness", "context_relevance", "summarization", "hallucination", "semantic_similarity"),
    *("both = bleu(max_order=1)", "chrf(beta=1)", "distinct(n=3)"),
)
WRONG = (
    *("bleu(max_order=0)", "bleu(max_order='4')", "bleu(", "bleu)", "rouge(variant=7)", "nothing"),
    *("bleu(order=2)", "bleu(max_order=10**9)", "bleu wer", "", "()", "🙂", "bleu(max_order=[])"),
    *("x = y = bleu", "bleu(tokenize='?')", "chrf(beta=float('nan'))", "wer(whisper, x=1)", "a/b"),
)
OPTIONS: tuple[tuple[str, ...], ...] = (
    *((), (), ("--intervals",), ("--format", "json"), ("--format", "csv"), ("--format", "latex")),
    *(("--signature",), ("--report", "page.html"), ("--save", "r.json"), ("--save", "r.json.gz")),
    *(("--columns", "prediction=nothing"), ("--reduce", "mean"), ("--samples", "s.csv")),
)


@click.command()
@click.option("--cases", default=5000, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--only", type=int, help="Run this case alone, and show what it says.")
@click.option("--start", type=int, hidden=True)
def main(cases: int, seed: int, only: int | None, start: int | None) -> None:
    """Print how the cases ended, and each that broke a rule."""
    if only is not None:
        click.echo("\n".join(f"{name}: {value}" for name, value in run(seed, only).items()))
        return
    if start is not None:
        here(seed, range(start, cases))
        return
    ended: Counter[str] = Counter()
    broken = []
    for case in results(seed, cases):
        ended[case["status"]] += 1
        if case["problem"]:
            broken.append(case)
            click.echo(f"{case['number']}: {case['problem']}: {case['call']}")
    scored = ended["0"] / cases
    statuses = ", ".join(f"{status}: {n:,}" for status, n in sorted(ended.items()))
    click.echo(f"{cases:,} cases, {scored:.0%} scored, {len(broken)} broken; by status {statuses}")
    raise SystemExit(bool(broken) or scored < 1 / 3)


def results(seed: int, cases: int) -> Iterator[dict[str, Any]]:
    """The outcome of each case, whatever it did to its process."""
    number = 0
    while number < cases:
        end = min(number + _AT_A_TIME, cases)
        command = [sys.executable, "-m", "benchmarks.fuzz", "--seed", str(seed)]
        command += ["--start", str(number), "--cases", str(end)]
        with tempfile.TemporaryFile("w+") as output:
            try:
                subprocess.run(command, stdout=output, timeout=_PATIENCE, check=False)
                death = "its process died"
            except subprocess.TimeoutExpired:
                death = "it hung"
            output.seek(0)
            for line in output:
                yield json.loads(line)
                number += 1
        if number < end:
            yield {"number": number, "status": "died", "problem": death, "call": "see --only"}
            number += 1


def here(seed: int, cases: range) -> None:
    """Run cases in this process; each is a line."""
    limit = 4 * _BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for number in cases:
        sys.stdout.write(f"{json.dumps(run(seed, number))}\n")
        sys.stdout.flush()


class Hung(BaseException):
    """Raised in a case that takes too long, past whatever catches exceptions."""


def run(seed: int, number: int) -> dict[str, Any]:
    """The outcome of one case."""
    from click.testing import CliRunner

    from metrichub.cli import main as program

    def stop(*_: object) -> None:
        raise Hung

    draw = random.Random(f"{seed} {number}")
    before = Path.cwd()
    os.environ.update(METRICHUB_JUDGE="offline", METRICHUB_EMBEDDER="offline")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        arguments = drawn(draw)
        signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)
        try:
            result = CliRunner().invoke(program, arguments)
            status, output = result.exit_code, result.output
            if result.exception and not isinstance(result.exception, SystemExit):
                output += f"Traceback: {result.exception!r}"
        except Hung:
            status, output = -1, ""
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            os.chdir(before)
    return {
        "number": number,
        "status": str(status),
        "problem": problem(status, output),
        "call": " ".join(map(repr, arguments)),
        "said": output[-2000:],
    }


def problem(status: int, output: str) -> str:
    """Which rule a case broke, or nothing."""
    if status == -1:
        return f"more than {_SECONDS:g} s"
    if status not in _STATUSES or "Traceback" in output:
        return f"status {status}, {output.strip()[-300:]!r}"
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1000 > _BYTES:
        return "the process has taken a gigabyte"
    return ""


def drawn(draw: random.Random) -> list[str]:
    """The arguments of a case, whose files lie in the working directory."""
    if draw.random() < 0.1:
        return ["compare", saved(draw, 0), saved(draw, draw.choice((0, 1, 1, 3)))]
    if draw.random() < 0.2:
        return mutated_sample(draw)
    if draw.random() < 0.1:
        return mutated_log(draw)
    table = rows(draw)
    names = [written(draw, table)]
    if draw.random() < 0.2:
        # Another system, mostly on the same samples.
        others = [dict(zip(row, draw.sample(list(row.values()), 1), strict=False)) for row in table]
        table = [row | other for row, other in zip(table, others, strict=True)]
        names.append(written(draw, table if draw.random() < 0.9 else rows(draw)))
    command = "compare" if len(names) > 1 and draw.random() < 0.8 else "score"
    specs = [
        draw.choice(WRONG if draw.random() < 0.04 else SPECS) for _ in range(draw.randint(1, 3))
    ]
    options = draw.choice(OPTIONS) if command == "score" else ()
    return [command, *names, *(word for spec in specs for word in ("-m", spec)), *options]


def written(draw: random.Random, table: list[dict[str, Any]]) -> str:
    """A file with samples, damaged in one of three cases; its name."""
    kind = draw.choice(list(FORMATS))
    content = FORMATS[kind](draw, table)
    if draw.random() < 0.33:
        content = draw.choice(DAMAGES)(draw, content)
    if draw.random() < 0.05:
        kind = draw.choice(list(FORMATS))
    name = f"file{draw.randrange(10**6)}.{kind}"
    if draw.random() < 0.1:
        name, content = f"{name}.gz", gzip.compress(content)
    Path(name).write_bytes(content)
    return name


def mutated_sample(draw: random.Random) -> list[str]:
    """A metric and the columns of its card's example, a value of which is changed."""
    example = draw.choice(examples())
    columns = mutated(draw, example.columns)
    table = [
        dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)
    ]
    name = f"file{draw.randrange(10**6)}.jsonl"
    Path(name).write_bytes(_jsonl(draw, table))
    return ["score", name, "-m", example.metric]


def mutated_log(draw: random.Random) -> list[str]:
    """A log of another tool with a value changed."""
    path = draw.choice(sorted(_LOGS.rglob("*.json*")))
    lines = path.read_text("utf-8").splitlines() if path.suffix == ".jsonl" else [path.read_text()]
    place = draw.randrange(len(lines))
    lines[place] = json.dumps(mutated_value(draw, json.loads(lines[place])))
    folder = Path(f"logs{draw.randrange(10**6)}")
    folder.mkdir()
    (folder / path.name).write_text("\n".join(lines), encoding="utf-8")
    return ["score", str(folder / path.name), draw.choice(("--as-recorded", "-mexact_match"))]


def saved(draw: random.Random, changes: int) -> str:
    """A saved report with so many of its values changed or left out; its name."""
    report = json.loads(_report())
    for _ in range(changes):
        report = mutated_value(draw, report)
    name = f"report{draw.randrange(10**6)}.json"
    Path(name).write_text(json.dumps(report), encoding="utf-8")
    return name


@cache
def _report() -> str:
    from metrichub import Hub

    texts = {"predictions": ["a b c", "d", "e f"], "references": ["a b", "d e", "e f"]}
    Hub(["bleu", "wer", "distinct"]).evaluate(texts).save("report.json")
    return Path("report.json").read_text("utf-8")


def rows(draw: random.Random) -> list[dict[str, Any]]:
    """Samples with the columns that most metrics need, by names of several tools."""
    names = {column: draw.choice(those) for column, those in COLUMNS.items()}
    odd = draw.choice((0.0, 0.0, 0.0, 0.02, 0.2))

    def cell(column: str) -> Any:
        if draw.random() < odd:
            return draw.choice(ODD)
        texts = draw.choices(TEXTS, k=draw.choice((1, 1, 1, 3)))
        return texts if column == "context" or len(texts) > 1 else texts[0]

    return [
        {name: cell(column) for column, name in names.items() if draw.random() > odd / 2}
        for _ in range(draw.choice((1, 2, 3, 5, 8, 20)) * (draw.random() > 0.05))
    ]


def _jsonl(draw: random.Random, table: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in table).encode()


def _json(draw: random.Random, table: list[dict[str, Any]]) -> bytes:
    columns = {name: [row.get(name) for row in table] for name in (table[0] if table else {})}
    return json.dumps(draw.choice((table, columns, {"data": table}, {"samples": table}))).encode()


def _csv(draw: random.Random, table: list[dict[str, Any]], delimiter: str = ",") -> bytes:
    import csv

    output = io.StringIO()
    names = dict.fromkeys(name for row in table for name in row)
    delimiter = draw.choices((delimiter, ";"), (9, 1))[0]
    writer = csv.DictWriter(output, list(names), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(table)
    return output.getvalue().encode("utf-8", "replace")


def _parquet(draw: random.Random, table: list[dict[str, Any]]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    names = dict.fromkeys(name for row in table for name in row)
    texts = {name: [str(row.get(name)) for row in table] for name in names}
    output = io.BytesIO()
    safe = {
        n: [t.encode("utf-8", "replace").decode() for t in column] for n, column in texts.items()
    }
    parquet.write_table(pyarrow.table(safe), output)
    return output.getvalue()


FORMATS: dict[str, Callable[[random.Random, list[dict[str, Any]]], bytes]] = {
    "jsonl": _jsonl,
    "json": _json,
    "csv": _csv,
    "tsv": partial(_csv, delimiter="\t"),
    "parquet": _parquet,
}


def _cut(draw: random.Random, content: bytes) -> bytes:
    return content[: draw.randrange(len(content) + 1)]


def _flipped(draw: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(draw.randint(1, 8)):
        if changed:
            changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def _inserted(draw: random.Random, content: bytes) -> bytes:
    place = draw.randrange(len(content) + 1)
    added = draw.choice((b"\x00", b"\r\n", b"\n\n", b'"', b"\xff\xfe", b"[" * 5000, b"{" * 5000))
    return content[:place] + added + content[place:]


def _encoded(draw: random.Random, content: bytes) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(draw.choice(("utf-8-sig", "utf-16", "utf-32", "cp1252")), "replace")


def _repeated(draw: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    return b"\n".join(draw.choices(lines, k=len(lines) + draw.randrange(30)))


def _windows(draw: random.Random, content: bytes) -> bytes:
    return content.replace(b"\n", draw.choice((b"\r\n", b"\r", b"\n\n")))


DAMAGES = (_cut, _flipped, _inserted, _encoded, _repeated, _windows)


if __name__ == "__main__":
    main()
