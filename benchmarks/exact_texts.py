"""Real texts to compare with official packages on: whole corpora, or the repository's cut."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Sequence
from itertools import compress, islice, pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

_ROOT = Path(__file__).resolve().parents[1]
SHARED = _ROOT.parent / "shared" / "data"
CUT = _ROOT / "tests" / "data"


class Corpus(NamedTuple):
    """Predictions with the references and the source of each.

    A sample without a source has its first reference in its place, and one without a reference
    its source.
    """

    name: str
    predictions: list[str]
    references: list[list[str]]
    sources: list[str]

    @property
    def letter(self) -> str:
        """The corpus's letter in a table."""
        return self.name[0].upper()

    @property
    def first(self) -> list[str]:
        """The first reference of every sample."""
        return [group[0] for group in self.references]

    def part(self, most: int) -> Corpus:
        """The first samples."""
        return self.only([i < most for i in range(len(self.predictions))])

    def only(self, chosen: list[bool]) -> Corpus:
        """The chosen samples."""
        return Corpus(
            self.name,
            list(compress(self.predictions, chosen)),
            list(compress(self.references, chosen)),
            list(compress(self.sources, chosen)),
        )


def corpora(folder: Path = SHARED) -> list[Corpus]:
    """The corpora of a folder; the repository's cut where there is no such folder."""
    if not folder.is_dir():
        rows = _with_documents(CUT / "summeval_docs.jsonl", CUT / "summeval_outputs.jsonl")
        return [_corpus("SummEval, a cut", rows)]
    documents = folder / "summ_summeval_docs.jsonl"
    return [
        _corpus("newstest2016 de-en", _rows(folder / "mt_wmt16_deen_uedin-syntax.jsonl")),
        _corpus("WebNLG", _rows(folder / "d2t_webnlg_en.jsonl")),
        _corpus("SummEval", _with_documents(documents, folder / "summ_summeval_outputs.jsonl")),
        _corpus("QAGS", _rows(folder / "fact_qags_cnn.jsonl")),
    ]


def distinct(corpora: Sequence[Corpus], most: int) -> Corpus:
    """The first rows of corpora, of one reference each and no two alike.

    Every prediction with its first reference, corpus by corpus, then with its second, and so on.
    """
    taken: dict[tuple[str, str], tuple[str, str]] = {}
    longest = max(len(group) for corpus in corpora for group in corpus.references)
    for number, corpus in product(range(longest), corpora):
        if len(taken) >= most:
            break
        rows = zip(corpus.predictions, corpus.references, corpus.sources, strict=True)
        for prediction, group, source in rows:
            if number < len(group):
                taken.setdefault((prediction, group[number]), (corpus.name, source))
    rows_taken = [(*pair, *others) for pair, others in islice(taken.items(), most)]
    predictions, references, names, sources = map(list, zip(*rows_taken, strict=True))
    name = ", ".join(dict.fromkeys(names))
    return Corpus(name, predictions, [[reference] for reference in references], sources)


def programs() -> Corpus:
    """The functions of four modules of Python, each beside the one that follows it."""
    results: list[str] = []
    for name in ("argparse", "statistics", "textwrap", "fractions"):
        source = Path(str(__import__(name).__file__)).read_text(encoding="utf-8")
        nodes = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]
        results += [ast.get_source_segment(source, node) or "" for node in nodes]
    pairs = pairwise(results)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return _corpus(f"Python {version}", [{"hyp": first, "ref": other} for first, other in pairs])


def _corpus(name: str, rows: list[dict[str, Any]]) -> Corpus:
    references = [row.get("refs") or [row.get("ref") or row["src"]] for row in rows]
    sources = [row.get("src") or group[0] for row, group in zip(rows, references, strict=True)]
    return Corpus(name, [row["hyp"] for row in rows], references, sources)


def _with_documents(documents: Path, outputs: Path) -> list[dict[str, Any]]:
    data = {row["doc_id"]: row for row in _rows(documents)}
    return [data[row["doc_id"]] | {"hyp": row["hyp"]} for row in _rows(outputs)]


def _rows(path: Path) -> list[dict[str, Any]]:
    # Not splitlines: a text may hold other ends of lines than "\n".
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
