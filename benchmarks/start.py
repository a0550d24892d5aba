"""The cost of a first score beside importing numpy: whole processes, in turn.

    python -m benchmarks.start [--rounds 20]

A process imports metrichub, makes a hub of BLEU and scores one pair of texts. Processor time
counts, the interpreter's own start included on both sides; the ratio is that of the minima, the
median that of the rounds' ratios.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from statistics import median

import click

FIRST_SCORE = (
    "from metrichub import Hub\n"
    "Hub('bleu')(predictions=['the cat sat'], references=['the cat is here'])\n"
)


@click.command()
@click.option("--rounds", default=20, show_default=True, help="Rounds; the fastest counts.")
def main(rounds: int) -> None:
    """Print both ratios."""
    # The first run of each may compile modules and read them from disk.
    seconds("import numpy"), seconds(FIRST_SCORE)
    pairs = [(seconds("import numpy"), seconds(FIRST_SCORE)) for _ in range(rounds)]
    numpy, score = (min(times) for times in zip(*pairs, strict=True))
    click.echo(f"importing numpy {numpy:.3f} s, start to first BLEU {score:.3f} s")
    ratios = median(score / numpy for numpy, score in pairs)
    click.echo(f"{score / numpy:.2f} times importing numpy, median {ratios:.2f}")


def seconds(program: str) -> float:
    """The processor time of a process that runs a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
