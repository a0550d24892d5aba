"""How far the metrics on the shelf agree with people: `python -m benchmarks.agreement`.

`--data FOLDER` holds SummEval: with all of it (`summ_summeval_*.jsonl`) the studies that the cards
show are made anew; with the cut in `tests/data` the smaller ones by which the tests know that these
came from this code. `--metric NAME` makes those of one metric alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrichub import Hub
from metrichub.agreement.correlation import correlate, with_sources
from metrichub.catalog.registry import registry
from metrichub.cli.write_study import EACH
from metrichub.report.rated import scores_by_label, sources_of
from metrichub.report.studies import add_study, study_of
from metrichub.testing import update_card

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
BY_REFERENCE = {
    "bleu": "bleu",
    "chrf": "chrf",
    "edit_similarity": "edit_similarity",
    "eed": "eed",
    "gleu": "gleu",
    "meteor": "meteor",
    "nist": "nist",
    "ribes": "ribes",
    "rouge": "rouge(stemmer=True)",
    "ter": "ter",
    "token_f1": "token_f1",
}
"""Metrics that compare with references: each reference alone, then the mean."""
BY_PREDICTION = {"aun": "aun", "repetition": "repetition", "ttr": "ttr", "unr": "unr"}
"""Metrics that look at the prediction alone."""
BY_SOURCE = {
    "abstractness": "abstractness",
    "compression": "compression",
    "coverage": "coverage",
    "density": "density",
    "faithfulness": "faithfulness(judge='offline')",
}
"""Metrics that compare with the article; `abstractness` takes it for its reference."""
SOURCED = "against the article"
_START, _END = "<!-- generated: agreement -->\n", "<!-- end -->\n"


class SummEval(NamedTuple):
    """Outputs with their references, articles if they are there, and three experts' ratings."""

    rows: list[dict[str, Any]]
    whole: bool

    @classmethod
    def read(cls, folder: Path) -> SummEval:
        """All of SummEval in a folder, or the cut of it."""
        whole = (folder / "summ_summeval_experts.jsonl").exists()
        start = "summ_summeval" if whole else "summeval"
        documents = {row["doc_id"]: row for row in _rows(folder / f"{start}_docs.jsonl")}
        rows = _rows(folder / f"{start}_outputs.jsonl")
        if whole:
            experts = _rows(folder / "summ_summeval_experts.jsonl")
            rated = {(row["doc_id"], row["system"]): row for row in experts}
            rows = [{**row, **rated[row["doc_id"], row["system"]]} for row in rows]
        return cls([{**documents[row["doc_id"]], **row} for row in rows], whole)

    @property
    def facts(self) -> Mapping[str, str]:
        """What a study says of its data."""
        title = "SummEval (Fabbri et al. 2021)"
        return {
            "name": "summeval" if self.whole else "summeval-cut",
            "title": title if self.whole else f"{title}, a cut",
            "task": "summarization",
            "licence": "MIT",
            "cite": "fabbri-etal-2021-summeval",
        }


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def lines(text: str) -> str:
    """Sentences on lines of their own, as rougeLsum reads them; the texts are tokenized."""
    return text.replace(" . ", " .\n")


class Scored(NamedTuple):
    """A metric's scores of the samples by label, with what is said of them."""

    scores: Mapping[str, NDArray[np.float64]]
    better: Mapping[str, str]
    signatures: Mapping[str, str]
    references: str


def scored(spec: str, name: str, data: SummEval) -> Scored:
    """A metric's scores of the summaries, by what it compares them with."""
    predictions = [lines(row["hyp"]) for row in data.rows]
    if name in BY_REFERENCE:
        found = [
            _report(spec, predictions, references=[lines(row["refs"][k]) for row in data.rows])
            for k in range(11)
        ]
        labels = found[0].scores
        means = {name: np.mean([one.scores[name] for one in found], axis=0) for name in labels}
        signatures = {key: f"{line}|mean of each" for key, line in found[0].signatures.items()}
        return found[0]._replace(scores=means, signatures=signatures, references=EACH)
    if name in BY_PREDICTION:
        return _report(spec, predictions)._replace(references="no reference")
    articles = [row["src"] for row in data.rows]
    columns = "references" if name == "abstractness" else "sources"
    given = {columns: articles, "contexts": [[article] for article in articles]}
    return _report(spec, predictions, **given)._replace(references=SOURCED)


def _report(spec: str, predictions: Sequence[str], **given: Sequence[Any]) -> Scored:
    hub = Hub(spec)
    columns = {name: values for name, values in given.items() if name in hub.needs()}
    report = hub.evaluate({"predictions": predictions, **columns})
    scores, better = scores_by_label(report)
    signatures, _ = sources_of(report, scores)
    return Scored(scores, better, signatures, "")


def measure(name: str, spec: str, data: SummEval) -> bool:
    """Measure a metric, and put the study beside its card; whether anything changed."""
    found = scored(spec, name, data)
    agreement = correlate(
        found.scores,
        {dimension: [row[dimension] for row in data.rows] for dimension in DIMENSIONS},
        item=[row["doc_id"] for row in data.rows],
        system=[row["system"] for row in data.rows],
        better=found.better,
        protocol="g-eval",
    )
    study = study_of(
        with_sources(agreement, found.signatures, ()),
        name,
        spec=spec,
        data=data.facts,
        references=found.references,
        date=datetime.now(UTC).date().isoformat(),
        shown=data.whole,
    )
    entry = registry().find(name)
    changed = add_study(entry.folder, name, study)
    if data.whole:
        _mark(entry.folder / "README.md")
        changed |= update_card(name)
    return changed


def _mark(card: Path) -> None:
    """Give a card the lines between which the block stands, if it has none."""
    text = card.read_text(encoding="utf-8")
    if _START not in text:
        head, title, rest = text.partition("## Agreement with people\n")
        section, citation, tail = rest.partition("## Citation\n")
        card.write_text(
            f"{head}{title}{section.rstrip()}\n\n{_START}{_END}\n{citation}{tail}", encoding="utf-8"
        )


def main() -> None:
    """Make the studies anew."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with SummEval")
    parser.add_argument("--metric", action="append", help="one metric; repeatable")
    options = parser.parse_args()
    data = SummEval.read(options.data)
    specs = BY_REFERENCE | BY_PREDICTION | (BY_SOURCE if data.whole else {})
    for name, spec in sorted(specs.items()):
        if not options.metric or name in options.metric:
            changed = measure(name, spec, data)
            print(f"{name}: {'changed' if changed else 'the same'}", flush=True)


if __name__ == "__main__":
    main()
