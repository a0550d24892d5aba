"""How far the metrics agree with people: `python -m benchmarks.agreement`.

`--data FOLDER` holds the rated texts of `STUDIES`, most of which aren't in the repository; those
that are there are measured, and the cards show them. The cut of SummEval in `tests/data` gives
smaller studies, by which the tests know that the others came from this code. `--metric NAME`
measures one metric alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks.rated_data import STUDIES, RatedData
from benchmarks.rated_texts import Texts
from metrichub import Hub
from metrichub.agreement.agreement import Agreement
from metrichub.agreement.correlation import correlate, correlate_preferences, with_sources
from metrichub.agreement.measured_studies import EACH, add_study, study_of
from metrichub.agreement.of_report import scores_by_label, sources_of
from metrichub.catalog.registry import registry, spec_of
from metrichub.errors import MissingDependency
from metrichub.testing import update_card

_START, _END = "<!-- generated: agreement -->\n", "<!-- end -->\n"


class Scored(NamedTuple):
    """A metric's scores of the outputs by label, with what is said of them."""

    scores: Mapping[str, NDArray[np.float64]]
    better: Mapping[str, str]
    signatures: Mapping[str, str]
    references: str


def scored(spec: str, data: RatedData, texts: Texts) -> Scored:
    """A metric's scores of the outputs; against each reference alone where the study says so."""
    columns = {name: column for name, column in texts.columns.items() if name in Hub(spec).needs()}
    if not columns:
        return _report(spec, texts.predictions, {})._replace(references="no reference")
    if data.references != EACH:
        return _report(spec, texts.predictions, columns)._replace(references=data.references)
    results = [
        _report(spec, texts.predictions, {"references": column})
        for column in zip(*columns["references"], strict=True)
    ]
    labels = results[0].scores
    means = {name: np.mean([entry.scores[name] for entry in results], axis=0) for name in labels}
    signatures = {key: f"{line}|mean of each" for key, line in results[0].signatures.items()}
    return results[0]._replace(scores=means, signatures=signatures, references=EACH)


def _report(spec: str, predictions: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> Scored:
    report = Hub(spec).evaluate({"predictions": predictions, **columns})
    scores, better = scores_by_label(report)
    signatures, _ = sources_of(report, scores)
    return Scored(scores, better, signatures, "")


def agreement_of(scored: Scored, data: RatedData, texts: Texts, **more: Any) -> Agreement:
    """How far the scores agree with the ratings or preferences."""
    how = {**data.how, **more}
    if texts.pairs is None:
        labels: dict[str, Any] = {"item": texts.item, "system": texts.system}
        agreement = correlate(scored.scores, texts.human, better=scored.better, **labels, **how)
    else:
        a, b = map(list, texts.pairs)
        systems = texts.system
        agreement = correlate_preferences(
            {name: (pair[a], pair[b]) for name, pair in scored.scores.items()},
            texts.human,
            item=texts.item,
            systems=([systems[i] for i in a], [systems[i] for i in b]) if systems else None,
            better=scored.better,
            **how,
        )
    return with_sources(agreement, scored.signatures, ())


def measure(spec: str, data: RatedData, texts: Texts) -> bool:
    """Measure a metric, and put the study beside its card; whether anything changed."""
    name = spec_of(spec).metric
    scores = scored(spec, data, texts)
    study = study_of(
        agreement_of(scores, data, texts),
        name,
        spec=spec,
        data=data.facts,
        references=scores.references,
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
        head, title, remainder = text.partition("\n## Agreement with people\n")
        section, following, tail = remainder.partition("\n## ")
        section = f"{section.rstrip()}\n\n{_START}{_END}"
        card.write_text(f"{head}{title}{section}{following}{tail}", encoding="utf-8")


@click.command()
@click.option("--data", "folder", type=Path, required=True, help="The folder with rated data.")
@click.option("--metric", "metrics", multiple=True, help="One metric; repeatable.")
def main(folder: Path, metrics: tuple[str, ...]) -> None:
    """Make the studies anew."""
    for data in STUDIES:
        if not (folder / data.file).exists():
            continue
        texts = data.read(folder)
        for spec in data.chosen(metrics):
            try:
                what = "changed" if measure(spec, data, texts) else "the same"
            except MissingDependency as error:
                what = f"left out: {error}"
            print(f"{data.name}: {spec}: {what}", flush=True)


if __name__ == "__main__":
    main()
