"""How far the offline judge agrees with people, beside one-line measures of copying.

    python -m benchmarks.offline_judge [--half judged|tuned] [--data ../shared/data]

Spearman's rank correlation over summaries, on SummEval (the mean ratings of the experts) and on the
CNN/DailyMail part of QAGS, with the source as the only context. What the rules weigh was chosen on
the half `tuned`: every other document, from the first on. The half `judged` has the others, without
the two of QAGS that SummEval has too. Neither is wholly new to the rules: the weights of words and
pairs of words, and the threshold for the word of a verdict, were set on both in an earlier version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from scipy.stats import spearmanr

from metrichub import Hub

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
_METRICS = (
    "faithfulness",
    "summarization",
    "summarization_score",
    "coverage",
    "density",
    "unigrams = rouge(variant='rouge1')",
    "bigrams = rouge(variant='rouge2')",
)
_HALVES = {"tuned": 0, "judged": 1}
# Articles of QAGS whose words are those of an article of SummEval, by their ids.
_SHARED = (2, 87)


class Rated(NamedTuple):
    """Summaries with their sources, and people's ratings by dimension."""

    name: str
    sources: list[str]
    summaries: list[str]
    ratings: Mapping[str, list[float]]


@click.command()
@click.option("--half", type=click.Choice(list(_HALVES)), default="judged", show_default=True)
@click.option("--data", type=click.Path(path_type=Path), default=_BESIDE, show_default=True)
def main(half: str, data: Path) -> None:
    """Print a Markdown table of correlations for each data set."""
    for rated in (_qags(data, _HALVES[half]), _summeval(data, _HALVES[half])):
        click.echo(f"{rated.name}, {half}: {len(rated.summaries)} summaries\n")
        click.echo(f"| measure | {' | '.join(rated.ratings)} |")
        click.echo(f"| --- |{' --- |' * len(rated.ratings)}")
        for name, scores in _measures(rated).items():
            result = (spearmanr(scores, ratings).statistic for ratings in rated.ratings.values())
            click.echo(f"| {name} | {' | '.join(f'{statistic:.2f}' for statistic in result)} |")
        click.echo()


def _measures(rated: Rated) -> dict[str, Sequence[float]]:
    """A score of each summary by each measure; a summary without one scores 0."""
    report = Hub(_METRICS, judge="offline").evaluate(
        predictions=rated.summaries,
        sources=rated.sources,
        references=rated.sources,
        contexts=[[source] for source in rated.sources],
    )
    samples = report.samples()

    def scores(metric: str, output: str = "score") -> Sequence[float]:
        return [float(value) for value in np.nan_to_num(samples[metric][output])]

    return {
        "faithfulness, offline judge": scores("faithfulness"),
        "summarization, offline judge": scores("summarization"),
        "summarization: alignment": scores("summarization", "alignment"),
        "summarization: coverage": scores("summarization", "coverage"),
        "summarization_score, offline judge": scores("summarization_score"),
        "summarization_score: qa": scores("summarization_score", "qa"),
        "summarization_score: conciseness": scores("summarization_score", "conciseness"),
        "copied words (ROUGE-1 precision)": scores("unigrams", "precision"),
        "copied bigrams (ROUGE-2 precision)": scores("bigrams", "precision"),
        "ROUGE-2 F1 with the source": scores("bigrams"),
        "coverage": scores("coverage"),
        "density": scores("density"),
        "length in words": [float(len(text.split())) for text in rated.summaries],
    }


def _qags(data: Path, half: int) -> Rated:
    rows = [
        row
        for place, row in enumerate(_rows(data / "fact_qags_cnn.jsonl"))
        if place % 2 == half and row["id"] not in _SHARED
    ]
    ratings = {"factuality": [row["human_factuality"] for row in rows]}
    return _rated("QAGS, CNN/DailyMail", rows, lambda row: row["src"], ratings)


def _summeval(data: Path, half: int) -> Rated:
    documents = _rows(data / "summ_summeval_docs.jsonl")
    sources = {row["doc_id"]: row["src"] for row in documents[half::2]}
    outputs = _rows(data / "summ_summeval_outputs.jsonl")
    rows = [row for row in outputs if row["doc_id"] in sources]
    ratings = {
        name: [row[f"human_{name}"] for row in rows]
        for name in ("consistency", "relevance", "coherence", "fluency")
    }
    return _rated("SummEval", rows, lambda row: sources[row["doc_id"]], ratings)


def _rated(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    source: Callable[[Mapping[str, Any]], str],
    ratings: Mapping[str, list[float]],
) -> Rated:
    return Rated(name, [source(row) for row in rows], [row["hyp"] for row in rows], ratings)


def _rows(path: Path) -> list[dict[str, Any]]:
    # Not splitlines: a text may hold other ends of lines than "\n".
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


if __name__ == "__main__":
    main()
