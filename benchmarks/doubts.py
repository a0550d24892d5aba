"""How often doubts are raised by good data, how often damaged data raise them, and their time.

    python -m benchmarks.doubts [--data ../shared/data] [--half tune] [--only damage]

"alarms" scores every corpus at hand, one of each system, with all metrics that fit it, and prints
what is doubted. Corpora are divided into halves by their names: choose checks on one half, and
judge them on the other. "damage" hurts corpora of at most 400 rows in the ways in which people's
data are hurt, at 5, 20 and 100% of the rows. A way is caught if in 80% of the corpora that it fits
a doubt says so that wasn't there before. "cost" takes the time of evaluations and of single calls
with and without the checks, in turn.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from math import ceil, isnan, nan
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Any
from zlib import crc32

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.doubts_corpora import corpora
from benchmarks.doubts_damage import MEASURED, Way
from benchmarks.doubts_data import Columns, Corpus, read
from benchmarks.doubts_ways import WAYS
from benchmarks.exact_texts import SHARED
from metrichub import Hub
from metrichub.errors import Doubt, MetrichubError

CHECKS = "metrichub.evaluation.doubts"
"""The module that checks."""
MOST, LEAST = 400, 40
"""A corpus is damaged if it has at least so many rows, and by at most so many of them."""
SYSTEMS = 3
"""So many systems of the same samples are damaged."""
UNSCORED = "unscored"
"""The check that an error stands for, or a note of why there is no score."""
CAUGHT = 0.8
OFFICIAL = ("official", "vectors", "normalizers", "checked")
"""Corpora that were written to be odd aren't good ones to damage."""


def doubts(metrics: Sequence[str], columns: Columns, *, unscored: bool = False) -> list[Doubt]:
    """The doubts, each sentence once; an error counts, as it says more than a doubt.

    So does why there is no score, where `unscored` is asked for: what isn't said misleads nobody.
    """
    inputs: Any = columns
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            report = Hub([*metrics]).evaluate(**inputs)
        except MetrichubError as error:
            return [Doubt(f"refused: {error}", UNSCORED)]
    results = []
    for name, notes in report.notes().items():
        without = unscored and isnan(report.scores()[name].get("score", nan))
        results += [
            note if isinstance(note, Doubt) else Doubt(note, UNSCORED)
            for note in notes
            if without or isinstance(note, Doubt)
        ]
    return [*dict.fromkeys(results)]


def alarms(chosen: Iterable[Corpus], console: Console) -> None:
    """Print what is doubted in each corpus as it is."""
    table = Table("corpus", "kind", "samples", "check", "doubt", title="false alarms?")
    checks: Counter[str] = Counter()
    number = doubted = 0
    for corpus in chosen:
        result = doubts(corpus.metrics, corpus.columns)
        checks.update(doubt.check for doubt in result)
        number, doubted = number + 1, doubted + bool(result)
        first, *more = [(doubt.check, escape(doubt)) for doubt in result] or [("", "")]
        table.add_row(escape(corpus.name), corpus.kind, str(corpus.size), *first)
        for row in more:
            table.add_row("", "", "", *row)
    console.print(table)
    each = ", ".join(f"{name} {n}" for name, n in checks.most_common())
    console.print(f"{checks.total()} doubts in {doubted} of {number} corpora: {each or 'none'}")


class Tried:
    """One way at one share: the corpora that it fits, and the doubts that were right or not."""

    def __init__(self) -> None:
        """Nothing tried yet."""
        self.fits = 0
        self.right: list[Doubt] = []
        self.other: list[Doubt] = []
        self.missed: list[str] = []

    @property
    def caught(self) -> bool:
        """Whether enough corpora were doubted for the right reason."""
        return bool(self.fits) and len(self.right) >= CAUGHT * self.fits

    def __str__(self) -> str:
        """How many corpora of those that it fits."""
        color = "green" if self.caught else "red"
        return f"[{color}]{len(self.right)}/{self.fits}[/]" if self.fits else "-"


def damaged(chosen: Sequence[Corpus], console: Console, verbose: bool) -> None:
    """Print for each way in how many corpora it was caught, and by which sentence."""
    good = [corpus.sample(MOST) for corpus in _good(chosen)]
    console.print(f"damaged: {', '.join(escape(f'{c.name} ({c.size})') for c in good)}")
    before: dict[tuple[str, tuple[str, ...]], list[Doubt]] = {}
    table = Table("way", "5%", "20%", "100%", "by, or else said", title="damage")
    caught = 0
    for way in WAYS:
        tried = {share: _tried(way, share, good, before) for share in way.shares}
        cells = [str(tried[share]) if share in tried else "-" for share in (0.05, 0.2, 1)]
        decisive = tried.get(0.2) or tried[way.shares[-1]]
        caught += decisive.caught
        table.add_row(escape(way.name), *cells, _listing(decisive))
        if verbose and decisive.right and decisive.missed:
            table.add_row("", "", "", "", f"[dim]missed in {escape(', '.join(decisive.missed))}[/]")
    console.print(table)
    console.print(f"{caught} of {len(WAYS)} ways are caught at 20%, or at their only share")


def _good(chosen: Iterable[Corpus]) -> Iterator[Corpus]:
    systems: Counter[tuple[str, str]] = Counter()
    for corpus in chosen:
        odd = corpus.data.startswith(OFFICIAL) or corpus.kind not in MEASURED
        if odd or corpus.size < LEAST:
            continue
        systems[corpus.data, corpus.kind] += 1
        if systems[corpus.data, corpus.kind] <= SYSTEMS:
            yield corpus


def _tried(
    way: Way,
    share: float,
    good: Iterable[Corpus],
    before: dict[tuple[str, tuple[str, ...]], list[Doubt]],
) -> Tried:
    tried = Tried()
    for corpus in good:
        if corpus.kind not in way.kinds or not way.fits(corpus):
            continue
        seed = crc32(f"{way.name} {share} {corpus.name}".encode())
        hurt = _hurt(way, share, corpus, Random(seed))
        if hurt is None:
            continue
        metrics = way.measures(corpus)
        key = corpus.name, tuple(metrics)
        if key not in before:
            before[key] = doubts(metrics, corpus.columns, unscored=True)
        if any(_right(way, doubt) for doubt in before[key]):
            continue
        tried.fits += 1
        earlier = {*before[key]}
        new = [doubt for doubt in doubts(metrics, hurt, unscored=True) if doubt not in earlier]
        right = [doubt for doubt in new if _right(way, doubt)]
        tried.right += right[:1]
        tried.missed += [] if right else [corpus.name]
        tried.other += [] if right else new
    return tried


def _hurt(way: Way, share: float, corpus: Corpus, random: Random) -> Columns | None:
    """The damaged columns, unless the way changes too few rows to hit such a share."""
    rows = list(range(corpus.size))
    table = way.damage(corpus.columns, rows, Random(0))
    if len(next(iter(table.values()))) == corpus.size:
        rows = [i for i in rows if any(table[name][i] != corpus.columns[name][i] for name in table)]
    size = ceil(share * corpus.size)
    if len(way.shares) > 1 and len(rows) < min(size, corpus.size / 2):
        return None
    hit = sorted(random.sample(rows, min(size, len(rows))))
    return way.damage(corpus.columns, hit, random)


def _right(way: Way, doubt: Doubt) -> bool:
    return doubt.check in (*way.checks, UNSCORED) and re.search(way.words, doubt) is not None


def _listing(tried: Tried) -> str:
    """The commonest right sentence, or else the commonest wrong one."""
    if tried.right:
        return escape(Counter(tried.right).most_common(1)[0][0])
    if tried.other:
        doubt = Counter(tried.other).most_common(1)[0][0]
        return f"[dim]not right: {escape(f'[{doubt.check}] {doubt}')}[/]"
    return ""


@contextmanager
def unchecked() -> Iterator[None]:
    """Nothing is read for checks, checked or warned of within it."""
    # What reads the rows is part of the cost, so an empty table of checks wouldn't do.
    run: Any = import_module("metrichub.evaluation.run")
    hub: Any = import_module("metrichub.hub")
    places: list[tuple[Any, str, Any]] = [
        (import_module(CHECKS).Reader, "see", lambda *_: None),
        (run, "findings_of", lambda *_: {}),
        (hub, "warn_of", lambda *_: None),
    ]
    originals = [(owner, name, getattr(owner, name)) for owner, name, _ in places]
    for owner, name, nothing in places:
        setattr(owner, name, nothing)
    try:
        yield
    finally:
        for owner, name, value in originals:
            setattr(owner, name, value)


def cost(data: Path, console: Console) -> None:
    """Print the time of evaluations and of calls with and without the checks."""
    if find_spec(CHECKS) is None:
        console.print(f"no cost: there is no {CHECKS}")
        return
    rows = read(data / "mt_wmt16_deen_uedin-syntax.jsonl")
    # A number at the end of both texts, so that no row is a repetition.
    both = [
        (f"{row['hyp']} {number}", f"{row['ref']} {number}") for number in range(4) for row in rows
    ][:10_000]
    predictions, references = map(list, zip(*both, strict=True))
    hub = Hub(["bleu", "chrf", "rouge", "ter", "wer", "meteor"])
    calls = Hub(["bleu"])

    def evaluation() -> None:
        hub.evaluate(predictions=predictions, references=references).notes()

    def single_calls() -> None:
        for text, expected in both[:1000]:
            calls(predictions=[text], references=[expected])

    table = Table("", "with", "without", "ratio", title="cost, medians")
    for name, work, times in (
        ("evaluation of 10,000 rows by six metrics, s", evaluation, 7),
        ("a thousand single calls of bleu, s (ten times)", single_calls, 10),
    ):
        checked, bare = _in_turn(work, times)
        ratios = [first / other for first, other in zip(checked, bare, strict=True)]
        table.add_row(
            name, f"{median(checked):.3f}", f"{median(bare):.3f}", f"{median(ratios):.3f}"
        )
    console.print(table)


def _in_turn(work: Callable[[], None], times: int) -> tuple[list[float], list[float]]:
    """Seconds with and without the checks, each first in every other turn."""
    taken: dict[bool, list[float]] = {True: [], False: []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work()
        for turn in range(times):
            for checks in (True, False) if turn % 2 else (False, True):
                with nullcontext() if checks else unchecked():
                    start = perf_counter()
                    work()
                    taken[checks].append(perf_counter() - start)
    return taken[True], taken[False]


@click.command()
@click.option(
    "--data",
    default=SHARED,
    show_default=True,
    type=click.Path(path_type=Path),
    help="Corpora beside the repository; those that aren't there are left out.",
)
@click.option("--half", default="tune", show_default=True, type=click.Choice(["tune", "judge"]))
@click.option("--only", type=click.Choice(["alarms", "damage", "cost"]), multiple=True)
@click.option("-v", "--verbose", is_flag=True, help="Name the corpora in which a way is missed.")
def main(data: Path, half: str, only: tuple[str, ...], verbose: bool) -> None:
    """Print what is doubted in good data and in damaged data, and what it costs."""
    console = Console(width=160)
    chosen = [corpus for corpus in corpora(data) if corpus.half == half]
    parts = only or ("alarms", "damage", "cost")
    if "alarms" in parts:
        alarms(chosen, console)
    if "damage" in parts:
        damaged(chosen, console, verbose)
    if "cost" in parts:
        cost(data, console)


if __name__ == "__main__":
    main()
