"""Two commits compared: the same numbers, signatures, saved reports and command lines?

    python -m benchmarks.equal COMMIT [--metric NAME]... [--no-commands]

Checks COMMIT out beside the working tree, lets both measure the same texts in processes of their
own, and prints what differs. Numbers have to be equal to the bit: every metric on the 40 summaries
of `examples`, 100 of news, 240 of SummEval with eleven references, and eight short samples, with
sample scores, intervals, a comparison, signatures, and saved files; and the numbers and exit codes
of the command lines in `COMMANDS`. Other words and layout are listed apart. Judges and embedders
are the offline ones. The status is 1 if a number differs.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

ROOT = Path(__file__).resolve().parents[1]
_A, _B, _T5 = "examples/summaries.jsonl", "examples/summaries_b.jsonl", "examples/news/t5.jsonl"
_NEWS = "examples/news/bart.jsonl examples/news/pointer_generator.jsonl examples/news/t5.jsonl"
COMMANDS = (
    f"score {_A} -m bleu",
    f"score {_A} -m bleu -m rouge -m chrf --intervals",
    f"score {_A} -m rouge --signature",
    f"score {_A} -m rouge --format json",
    f"score {_A} -m rouge --format csv",
    f"score {_A} -m rouge --format markdown",
    f"score {_A} -m rouge --format latex",
    f"score {_A} -m rouge --outputs all",
    f"score {_A} -m rouge --percent",
    f"score {_A} -m rouge --samples -",
    f"score {_A} {_B} -m chrf",
    f"score {_NEWS} -m rouge -m chrf",
    f"score {_A} -m 'bleu(max_order=2)' -m 'ter(tercom)'",
    f"score {_A} -m 'b1 = bleu(max_order=1)'",
    f"score {_A} -m faithfulness --judge offline",
    f"score {_A} -m faithfulness --judge offline --format json",
    f"score {_A} -m answer_relevancy --judge offline --embedder offline",
    f"score {_A} -m semantic_similarity --embedder offline",
    f"score {_A} -m meteor -m wer -m cer -m ter -m gleu -m nist",
    f"score {_A} -m readability -m distinct -m ttr -m self_bleu",
    f"score {_A} -m exact_match --intervals",
    f"score {_A} -m bleu --no-samples --intervals",
    f"score {_A} -m bleu --columns prediction=reference",
    f"score {_A} -m bleu --fail-under 0.1",
    f"score {_A} -m bleu --fail-under 0.99",
    f"score {_A} -m blue",
    f"score {_A} -m 'bleu(max_ordr=2)'",
    f"score {_A}",
    "score nothing.jsonl -m bleu",
    "score README.md -m bleu",
    f"score {_A} -m bleu --columns prediction=nothing",
    f"compare {_A} {_B} -m bleu -m rouge",
    f"compare {_NEWS} -m rouge",
    f"compare {_NEWS} -m rouge -m chrf --format json",
    f"compare {_NEWS} -m rouge --format markdown",
    f"compare {_NEWS} -m rouge --format csv",
    f"compare {_NEWS} -m rouge --format latex",
    f"compare {_A} {_B} -m exact_match -m distinct",
    f"compare {_A} {_B} -m faithfulness --judge offline",
    f"compare {_A} {_T5} -m rouge",
    f"compare {_A} -m rouge",
    "agreement examples/checked.jsonl -m faithfulness --judge offline --human faithful",
    "agreement examples/checked.jsonl -m rouge --human faithful --cut 0.5",
    "list",
    "list --task translation",
    "list --task summarization --agreement relevance",
    "list 'speech to text wrong words'",
    "list --task nothing",
    "card bleu",
    "card faithfulness",
    "card bluu",
    "cite bleu rouge",
    "cite nothing",
    f"estimate {_A} -m faithfulness --judge offline",
    "check bleu",
    "check ter",
    "doctor --help",
    "score --help",
    "compare --help",
    "--help",
    "--version",
    "nothing",
)
"""Command lines of users: results, tables of each kind, and mistakes."""
MEASURING = ("score", "compare", "agreement", "estimate")
"""Commands whose output has measured numbers; in that of others, numbers are words of a text."""


@click.command()
@click.argument("commit")
@click.option("--metric", "metrics", multiple=True, help="Only these; repeatable.")
@click.option("--commands/--no-commands", default=True, help="Whether to run the command lines.")
def main(commit: str, metrics: tuple[str, ...], commands: bool) -> None:
    """Compare the working tree with a commit."""
    with TemporaryDirectory() as scratch:
        before, after = Path(scratch, "before"), ROOT
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "-q", "--detach", before, commit], check=True)
        try:
            broken = [*_numbers(before, after, metrics)]
            if commands:
                broken += [line for command in COMMANDS for line in _lines(before, after, command)]
        finally:
            subprocess.run([*git, "remove", "--force", before], check=True)
    print(f"{len(broken)} differences of numbers", *broken, sep="\n  ")
    sys.exit(bool(broken))


def _environment(tree: Path) -> dict[str, str]:
    # Before the folder that an editable installation names.
    return {**os.environ, "PYTHONPATH": str(tree), "COLUMNS": "100", "NO_COLOR": "1"}


def _numbers(before: Path, after: Path, metrics: tuple[str, ...]) -> Iterator[str]:
    """The paths at which the measurements of two trees differ."""
    command = [sys.executable, str(Path(__file__).resolve()), "--measure", *metrics]
    trees = [
        subprocess.Popen(command, cwd=tree, env=_environment(tree), stdout=subprocess.PIPE)
        for tree in (before, after)
    ]
    old, new = (json.loads(tree.communicate()[0]) for tree in trees)
    for name in sorted(old.keys() ^ new.keys()):
        print(f"only {'before' if name in old else 'now'}: {name}")
    common = sorted(old.keys() & new.keys())
    print(f"{len(common)} measurements, {sum(_size(new[name]) for name in common):,} values")
    for name in common:
        yield from _different(old[name], new[name], name)


def _size(value: Any) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(_size, parts)) or 1


def _different(old: Any, new: Any, path: str) -> Iterator[str]:
    """The first differences below a path; texts of notes are printed and don't count."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() | new.keys():
            yield from _different(old.get(key), new.get(key), f"{path}/{key}")
    elif old != new and path.endswith("/notes"):
        print(f"words: {path}: {old!r} -> {new!r}")
    elif old != new:
        yield f"{path}: {str(old)[:200]} -> {str(new)[:200]}"


def _lines(before: Path, after: Path, command: str) -> Iterator[str]:
    """A command line whose status differs, or its numbers if it measures; words are printed."""
    old, new = (_run(tree, command) for tree in (before, after))
    measures = command.startswith(MEASURING) and "--help" not in command
    numbers = [re.findall(r"-?\d*\.?\d+", text) * measures for _, text in (old, new)]
    if old[0] != new[0] or numbers[0] != numbers[1]:
        yield f"metrichub {command}: status {old[0]} -> {new[0]}"
    if old != new:
        changes = difflib.unified_diff(
            old[1].splitlines(), new[1].splitlines(), "before", "now", n=0
        )
        print(f"$ metrichub {command}", *(change.rstrip() for change in changes), sep="\n    ")


def _run(tree: Path, command: str) -> tuple[int, str]:
    program = [sys.executable, "-m", "metrichub", *shlex.split(command)]
    ran = subprocess.run(
        program, cwd=tree, env=_environment(tree), capture_output=True, text=True, check=False
    )
    return ran.returncode, (ran.stdout + ran.stderr).replace(str(tree), "")


def measured(metrics: tuple[str, ...]) -> dict[str, Any]:
    """The scores of the tree that this process imports, as plain values."""
    from metrichub.catalog.registry import registry
    from metrichub.testing.under_test import MetricUnderTest

    result = {}
    for entry in registry().entries:
        if entry.distribution != "metrichub" or (metrics and entry.name not in metrics):
            continue
        under_test = MetricUnderTest(entry)
        corpora = {"samples": under_test.columns, **_corpora()}
        for corpus, columns in corpora.items():
            if columns.keys() >= set(under_test.needed):
                needed = {name: columns[name] for name in under_test.needed}
                result[f"{entry.name} on {corpus}"] = _measured(under_test.spec, needed)
    return result


def _corpora() -> dict[str, dict[str, list[Any]]]:
    """Columns of 40 summaries with passages, 100 of news, and 240 with eleven references."""
    data = Path("tests/data")
    references = {row["doc_id"]: row["refs"] for row in _rows(data / "summeval_docs.jsonl")}
    outputs = _rows(data / "summeval_outputs.jsonl")
    return {
        "examples": _columns(_rows(Path(_A))),
        "news": _columns(_rows(Path(_T5))),
        "SummEval": {
            "predictions": [row["hyp"] for row in outputs],
            "references": [references[row["doc_id"]] for row in outputs],
        },
    }


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    names = ("predictions", "references", "sources", "questions", "contexts")
    keys = {name: name if name in rows[0] else name.removesuffix("s") for name in names}
    return {name: [row[key] for row in rows] for name, key in keys.items() if key in rows[0]}


def _measured(spec: str, columns: dict[str, list[Any]]) -> Any:
    """Scores, samples, intervals, a comparison with a worse system, signature and saved file."""
    from metrichub import Hub, Report
    from metrichub.errors import MetrichubError

    hub = Hub(f"m = {spec}")
    try:
        report = hub.evaluate(columns)
    except MetrichubError as error:
        return {"refused": str(error)}
    with TemporaryDirectory() as scratch:
        path = Path(scratch, "report.json")
        report.save(path)
        saved = json.loads(path.read_text(encoding="utf-8"))
        again = Report.load(path).scores()
    samples = {
        output: [float(value).hex() for value in values]
        for output, values in report.samples()["m"].items()
    }
    result: dict[str, Any] = {
        "scores": {name: float(value).hex() for name, value in report["m"].items()},
        "samples": samples,
        "signature": report.signatures(),
        "saved": saved,
        "loaded": repr(again) == repr(report.scores()),
        "notes": [str(note) for note in report.notes()],
    }
    statistics: dict[str, Callable[[], Mapping[str, Any]]] = {
        "intervals": lambda: report.intervals(resamples=50)["m"]
    }
    if "predictions" in columns:
        worse = hub.evaluate({**columns, "predictions": _worse(columns["predictions"])})
        statistics["comparison"] = lambda: report.compare(worse, resamples=50, trials=50)["m"]
    for name, statistic in statistics.items():
        try:
            result[name] = {output: repr(value) for output, value in statistic().items()}
        except MetrichubError as error:
            result[name] = {"refused": str(error)}
    return result


def _worse(predictions: list[Any]) -> list[Any]:
    """Every third prediction without its last words."""
    return [
        text.rsplit(" ", 3)[0] if not place % 3 and isinstance(text, str) else text
        for place, text in enumerate(predictions)
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        # In the folder of the tree to measure, which PYTHONPATH names.
        sys.path.remove(str(Path(__file__).resolve().parent))
        print(json.dumps(measured(tuple(sys.argv[2:]))))
    else:
        main()
