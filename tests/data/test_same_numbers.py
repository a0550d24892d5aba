"""One set of samples in the files that programs write: the same scores by every way in."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub
from metrichub.errors import FileError
from tests.commands import run

ROUNDS = 20
PREDICTIONS = ['say "hi", now', "no", "[sic] naïve line"] * ROUNDS
REFERENCES = [['say "hi", now', "it's"], ["yes", "yeah"], ["[sic] naïve line"]] * ROUNDS
FIRSTS = [references[0] for references in REFERENCES]
METRICS = ["exact_match", "wer"]
# Two of three predictions are among their references. The best references have 3, 1 and 3 words,
# of which the second sample's one is replaced: 1 of 7.
EXPECTED = (2 / 3, 1 / 7)

pandas = pytest.importorskip("pandas", reason="pandas is not installed")
polars = pytest.importorskip("polars", reason="polars is not installed")
pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
numpy = pytest.importorskip("numpy")


def rows() -> list[dict[str, Any]]:
    pairs = zip(PREDICTIONS, REFERENCES, strict=True)
    return [{"prediction": text, "references": list(references)} for text, references in pairs]


def frame(cell: Callable[[list[str]], Any] = list, reference: str = "references") -> Any:
    """A data frame whose references are made by `cell`."""
    cells = [cell(references) for references in REFERENCES]
    return pandas.DataFrame({"prediction": PREDICTIONS, reference: cells})


def by_csv(path: Path, cell: Callable[[list[str]], str], **options: Any) -> None:
    """Rows by Python's own writer, after a byte order mark where the encoding has one."""
    encoding = options.pop("encoding", "utf-8")
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, **options)
        writer.writerow(["prediction", "references"])
        writer.writerows(
            [text, cell(reference)] for text, reference in zip(PREDICTIONS, REFERENCES, strict=True)
        )


def by_hand(path: Path, *heads: str) -> None:
    """Rows without any quoting, as programs of translation and speech write them."""
    lines = ["\t".join(heads), *map("\t".join, zip(PREDICTIONS, FIRSTS, strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def by_r(path: Path) -> None:
    """Rows as R's write.table writes them with qmethod "double" and without row names."""
    quoted = [
        ['"' + text.replace('"', '""') + '"' for text in texts] for texts in (PREDICTIONS, FIRSTS)
    ]
    lines = ["\t".join(pair) for pair in zip(*quoted, strict=True)]
    path.write_text('"prediction"\t"reference"\n' + "\n".join(lines) + "\n", encoding="utf-8")


def by_duckdb() -> Any:
    connection = pytest.importorskip("duckdb", reason="duckdb is not installed").connect()
    connection.register("samples", pyarrow.Table.from_pylist(rows()))
    return connection.sql("select * from samples")


def dataset() -> Any:
    return pytest.importorskip("datasets").Dataset.from_list(rows())


def text_of(content: object) -> Callable[[Path], object]:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return lambda path: path.write_text(text, encoding="utf-8")


def lines_of(*contents: object) -> str:
    return "".join(f"{json.dumps(content)}\n" for content in contents)


def squad(references: list[str]) -> dict[str, Any]:
    return {"text": references, "answer_start": [0] * len(references)}


def array(references: list[str]) -> Any:
    return numpy.array(references, object)


FORMS: dict[str, Callable[[Path], object]] = {
    "lines.jsonl": lambda path: text_of(lines_of(*rows()))(path),
    "lines.ndjson": lambda path: text_of(lines_of(*rows()).replace("\n", "\r\n"))(path),
    "packed.jsonl.gz": lambda path: path.write_bytes(gzip.compress(lines_of(*rows()).encode())),
    "list.json": lambda path: text_of(rows())(path),
    "columns.json": text_of({"prediction": PREDICTIONS, "references": REFERENCES}),
    "data.json": lambda path: text_of({"data": rows()})(path),
    "tuples.csv": lambda path: by_csv(path, lambda texts: repr(tuple(texts))),
    "json.csv": lambda path: by_csv(path, json.dumps),
    "repr.csv": lambda path: by_csv(path, repr),
    "numpy.csv": lambda path: by_csv(path, lambda texts: str(array(texts))),
    "numpy-repr.csv": lambda path: by_csv(path, lambda texts: repr(array(texts))),
    "semicolons.csv": lambda path: by_csv(path, json.dumps, delimiter=";"),
    "all-quoted.csv": lambda path: by_csv(path, json.dumps, quoting=csv.QUOTE_ALL),
    "marked.csv": lambda path: by_csv(path, json.dumps, encoding="utf-8-sig"),
    "unix.csv": lambda path: by_csv(path, repr, lineterminator="\n"),
    "json.tsv": lambda path: by_csv(path, json.dumps, delimiter="\t"),
    "all-quoted.tsv": lambda path: by_csv(path, repr, delimiter="\t", quoting=csv.QUOTE_ALL),
    "unquoted.tsv": lambda path: by_hand(path, "hypothesis", "reference"),
    "unquoted-others.tsv": lambda path: by_hand(path, "hyp", "target"),
    "r.tsv": by_r,
    "pandas.csv": lambda path: frame().to_csv(path, index=False),
    "pandas-index.csv": lambda path: frame().to_csv(path),
    "pandas-arrays.csv": lambda path: frame(array).to_csv(path, index=False),
    "pandas-tabs.tsv": lambda path: frame().to_csv(path, index=False, sep="\t"),
    "pandas-packed.csv.gz": lambda path: frame().to_csv(path, index=False),
    "pandas-records.json": lambda path: frame().to_json(path, orient="records"),
    "pandas-lines.jsonl": lambda path: frame().to_json(path, orient="records", lines=True),
    "pandas.parquet": lambda path: frame().to_parquet(path),
    "pandas-arrays.parquet": lambda path: frame(array).to_parquet(path),
    "pandas-json.parquet": lambda path: frame(json.dumps).to_parquet(path),
    "polars.parquet": lambda path: polars.DataFrame(rows()).write_parquet(path),
    "polars.jsonl": lambda path: polars.DataFrame(rows()).write_ndjson(path),
    "polars.csv": lambda path: polars.from_pandas(frame(json.dumps)).write_csv(path),
    "polars-tabs.tsv": lambda path: polars.from_pandas(frame(json.dumps)).write_csv(
        path, separator="\t"
    ),
    "datasets.csv": lambda path: dataset().to_csv(path),
    "datasets.jsonl": lambda path: dataset().to_json(path),
    "datasets.parquet": lambda path: dataset().to_parquet(path),
    "datasets-folder": lambda path: dataset().save_to_disk(path),
    "duckdb.parquet": lambda path: by_duckdb().write_parquet(str(path)),
    "squad.jsonl": lambda path: text_of(
        lines_of(*[{**row, "references": squad(row["references"])} for row in rows()])
    )(path),
    "squad.csv": lambda path: frame(squad).to_csv(path, index=False),
}
INSIDE = {"references": "references.text"}
"""Where the references of SQuAD are in their cells."""


@pytest.mark.parametrize("name", FORMS)
def test_scores_are_the_same_by_every_way_in(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Several parts, so that workers share them.
    monkeypatch.setattr("metrichub.evaluation.run.PART_CHARACTERS", 400)
    path = tmp_path / name
    FORMS[name](path)
    columns = INSIDE if name.startswith("squad") else None
    hub = Hub(METRICS)
    ways = {
        "a path": hub(str(path), columns=columns),
        "workers": hub.evaluate(str(path), columns=columns, workers=2).scores(),
        "sums": hub.evaluate(str(path), columns=columns, samples=False).scores(),
    }
    if read := READERS.get(path.suffix):
        ways["pandas"] = hub(read(path), columns=columns)
    options = ["-m", "exact_match", "-m", "wer", "--format", "json"]
    options += [f"--columns={role}={place}" for role, place in (columns or {}).items()]
    printed = run("score", str(path), *options)
    assert printed.exit_code == 0, printed.stderr
    ways["the command line"] = json.loads(printed.stdout)["scores"]
    scores = {way: tuple(by[metric]["score"] for metric in METRICS) for way, by in ways.items()}
    assert scores == dict.fromkeys(scores, pytest.approx(EXPECTED))


READERS: dict[str, Callable[[Path], Any]] = {
    ".parquet": lambda path: pandas.read_parquet(path),
    ".csv": lambda path: pandas.read_csv(path, sep=";" if "semicolons" in path.name else ","),
}
"""How people read such files themselves; an unquoted TSV needs settings of pandas' own."""


def test_a_list_that_nobody_can_read_for_certain_is_refused(tmp_path: Path) -> None:
    # DuckDB writes [yes, yeah], whose texts may hold commas.
    by_duckdb().write_csv(str(tmp_path / "a.csv"))
    with pytest.raises(FileError, match=r"a.csv:\d+: references\[\d+\] looks like a list"):
        Hub(METRICS)(tmp_path / "a.csv")


def test_a_stream_on_stdin_scores_like_its_file(tmp_path: Path) -> None:
    forms = {"a.tsv": "unquoted.tsv", "b.csv": "numpy.csv", "c.jsonl": "lines.jsonl"}
    for name, form in forms.items():
        FORMS[form](tmp_path / name)
        command = [sys.executable, "-m", "metrichub", "score", "-", "-m", "exact_match"]
        command += ["--input-format", Path(name).suffix[1:], "--format", "json"]
        content = (tmp_path / name).read_bytes()
        done = subprocess.run(command, input=content, capture_output=True, check=True)
        score = json.loads(done.stdout)["scores"]["exact_match"]["score"]
        assert score == pytest.approx(EXPECTED[0])
