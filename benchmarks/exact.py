"""Our scores beside those of official programs, sample by sample, as Markdown tables.

    python -m benchmarks.exact [--only bleu] [--most 200] [--slow 500] [--programs FOLDER]

The first table has the defaults on raw text, the list after it the metrics that no program is
compared with, the second table other settings, mostly on texts that are split into tokens.

It reads the corpora in the folder of `--data`, or else the repository's cut of SummEval. Packages
come from `pip install -e '.[bench]'`; what isn't there has a row that says how to get it.
`--programs` names a folder with the official programs that are no packages.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks.exact_defaults import WITHOUT, defaults
from benchmarks.exact_overlap import Found, Official
from benchmarks.exact_presets import presets
from benchmarks.exact_rows import Comparison, rows
from benchmarks.exact_texts import SHARED, Corpus, corpora, programs
from metrichub import Hub

HEAD = ("metric", "program", "corpora", "pairs", "samples", "corpus", "rows", "cause")


class Difference(NamedTuple):
    """How our scores and the official ones differ over several corpora.

    `samples` and `corpus` are the largest differences, `nan` without any; that of the corpus is
    infinite if one side has no number. `rows` counts the samples that differ by more than the limit
    of the comparison, `one_sided` those among them that one side gives no score.
    """

    pairs: int = 0
    samples: float = np.nan
    corpus: float = np.nan
    rows: int = 0
    one_sided: int = 0

    def plus(self, other: Difference) -> Difference:
        """Both together."""
        return Difference(
            self.pairs + other.pairs,
            float(np.fmax(self.samples, other.samples)),
            float(np.fmax(self.corpus, other.corpus)),
            self.rows + other.rows,
            self.one_sided + other.one_sided,
        )


@click.command()
@click.option("--only", multiple=True, help="Only the metrics of these names.")
@click.option("--most", type=int, help="The most samples of a corpus.")
@click.option("--data", type=click.Path(path_type=Path), default=SHARED, help="Where corpora are.")
@click.option("--slow", default=500, show_default=True, help="The most samples for slow packages.")
@click.option(
    "--programs", "folder", type=click.Path(exists=True, path_type=Path), help="Where programs are."
)
@click.option("--defaults", "first", is_flag=True, help="Only the table of defaults.")
def main(
    only: tuple[str, ...],
    most: int | None,
    data: Path,
    slow: int,
    folder: Path | None,
    first: bool,
) -> None:
    """Print the tables."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    # Whoever calls this in a process of theirs hears the logs again.
    click.get_current_context().call_on_close(lambda: logging.disable(logging.NOTSET))
    texts = [corpus.part(most or len(corpus.predictions)) for corpus in corpora(data)]
    sizes = (f"{text.letter}: {text.name} ({len(text.predictions):,})" for text in texts)
    click.echo(f"metrichub {version('metrichub')} on {', '.join(sizes)}")
    for comparison in (defaults(),) if first else (defaults(), [*presets(), *rows()]):
        click.echo(f"\n{_line(HEAD)}\n{_line(['---'] * len(HEAD))}")
        for row in comparison:
            if not only or row.metric in only:
                click.echo(_line(cells(row, samples_of(row, texts, slow), folder)))
        if comparison[0].spec == "bleu" and not only:
            click.echo("\n".join(("", *without())))


def without() -> Iterator[str]:
    """The list of metrics that no program is compared with, a line for each reason."""
    for reason, names in WITHOUT.items():
        yield f"- {reason}: {', '.join(f'`{name}`' for name in names)}."


def cells(row: Comparison, texts: Sequence[Corpus], folder: Path | None = None) -> list[str]:
    """A row of the table; where the package isn't there, what to install."""
    name = f"`{row.spec}`" + (f": {', '.join(row.outputs)}" if row.outputs else "")
    package = f"{row.package}{_version(row.package)}" + (f", {row.call}" if row.call else "")
    try:
        official = row.make(folder)
    except (ModuleNotFoundError, LookupError):
        return [name, package, *["–"] * 5, f"not compared here; needs {_needed(row)}"]
    result = Difference()
    for corpus in texts:
        result = result.plus(difference(row, official, corpus))
    causes = [row.cause] if row.cause and (result.rows or result.corpus > row.limit) else []
    if result.one_sided:
        causes.append(f"{result.one_sided:,} with a score on one side only")
    return [
        *(name, package, " ".join(corpus.letter for corpus in texts), f"{result.pairs:,}"),
        *(_shown(result.samples), _shown(result.corpus)),
        *("–" if np.isnan(result.samples) else f"{result.rows:,}", "; ".join(causes)),
    ]


def samples_of(row: Comparison, texts: Sequence[Corpus], slow: int) -> list[Corpus]:
    """The samples that a row is measured on."""
    if row.texts == "code":
        return [programs()]
    chosen = [corpus for corpus in texts if _fits(row, corpus)]
    if row.texts == "long":
        long = [[len(text.split()) > 50 for text in corpus.predictions] for corpus in chosen]
        chosen = [corpus.only(keep) for corpus, keep in zip(chosen, long, strict=True)]
    most = min(row.most or slow, slow) if row.slow else row.most
    chosen = [corpus.part(most) if most else corpus for corpus in chosen]
    return [corpus for corpus in chosen if corpus.predictions]


def difference(row: Comparison, official: Official, corpus: Corpus) -> Difference:
    """How our scores of one corpus differ from the official ones."""
    report = Hub(row.spec).evaluate(
        predictions=corpus.predictions,
        references=corpus.first if row.first else corpus.references,
        sources=corpus.sources,
    )
    samples, score = report.samples()[row.metric], report.scores()[row.metric]
    theirs = official(corpus)
    apart = [_apart(samples[name], values) for name, values in _chosen(row, theirs).items()]
    each = np.max(apart, axis=0) if apart else np.empty(0)
    totals = [
        _apart(np.array([score[name]]), [value])[0]
        for name, value in theirs.corpus.items()
        if not row.outputs or name in row.outputs
    ]
    return Difference(
        len(corpus.predictions),
        _largest(np.array(apart).reshape(-1)),
        float(max(totals)) if totals else np.nan,
        int((each > row.limit).sum()),
        int(np.isinf(each).sum()),
    )


def _apart(ours: NDArray[np.float64], theirs: Sequence[float]) -> NDArray[np.float64]:
    """The differences; infinite where one side has no number, 0 where neither has one."""
    other = np.asarray(theirs, np.float64)
    first, two = np.isnan(ours), np.isnan(other)
    apart = np.abs(ours - other)
    return np.where(first & two, 0.0, np.where(first | two, np.inf, apart))


def _largest(apart: NDArray[np.float64]) -> float:
    numbers = apart[np.isfinite(apart)]
    return float(numbers.max()) if len(numbers) else np.nan


def _chosen(row: Comparison, theirs: Found) -> dict[str, Sequence[float]]:
    return {n: v for n, v in theirs.samples.items() if not row.outputs or n in row.outputs}


def _fits(row: Comparison, corpus: Corpus) -> bool:
    if row.texts == "pairs":
        return corpus.name != "QAGS"
    if row.texts == "even":
        return corpus.name != "QAGS" and len(set(map(len, corpus.references))) == 1
    if row.texts == "sentences":
        return corpus.name not in ("SummEval", "QAGS")
    if row.texts == "documents":
        return corpus.name not in ("newstest2016 de-en", "WebNLG")
    return True


def _needed(row: Comparison) -> str:
    if row.install and not row.install.startswith(("pip ", "python ")):
        return f"{row.install}, in the folder of `--programs`"
    return f"`{row.install or f'pip install {row.package}'}`"


def _version(package: str) -> str:
    try:
        return f" {version(package)}"
    except PackageNotFoundError:
        return ""


def _shown(value: float) -> str:
    if np.isnan(value):
        return "–"
    if np.isinf(value):
        return "one side only"
    return f"{value:.0e}" if value else "0"


def _line(texts: Sequence[str]) -> str:
    return "| " + " | ".join(_escaped(texts)) + " |"


def _escaped(texts: Sequence[str]) -> Iterator[str]:
    return (text.replace("|", "\\|") for text in texts)


if __name__ == "__main__":
    main()
