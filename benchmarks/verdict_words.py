"""Which word for "neither supported nor contradicted" a model takes best.

    python -m benchmarks.verdict_words --judge "openai(model='…', base_url='…')" [--word idk]

The judge gets the shared prompt `supported` with another word in the place of "idk", and short
texts with three claims each: one that follows, one that is contradicted, and one that is neither.
The table counts the right verdicts of each kind, and how often a word was given at all. The claims
are ours, few and easy: they compare words, not models.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import click
from rich.console import Console
from rich.table import Table

from metrichub.errors import JudgeError
from metrichub.judge.metric import SUPPORT
from metrichub.judge.prompt_files import SHARED_PROMPTS, Prompt
from metrichub.judge.protocol import Judge
from metrichub.models.loop import run
from metrichub.models.resolve import judge_of

WORDS = ("idk", "unknown", "unclear", "not stated", "neither", "maybe")

CASES = (
    (
        "The bridge was built in 1932. It carries two railway tracks.",
        ("The bridge was built in 1932.", "The bridge was built in 1950.", "It is painted red."),
    ),
    (
        "Anna moved to Oslo last spring and works in a bakery.",
        ("Anna works in a bakery.", "Anna has never left Rome.", "Anna has two brothers."),
    ),
    (
        "The museum opens at nine and is closed on Mondays.",
        ("The museum is closed on Mondays.", "The museum opens at noon.", "Tickets cost 5 euros."),
    ),
    (
        "The river Tana flows into the Barents Sea.",
        ("The Tana ends in the Barents Sea.", "The Tana flows into a lake.", "The Tana freezes."),
    ),
    (
        "All 12 members of the crew survived the fire on the ship.",
        ("Nobody of the crew died.", "Half of the crew died.", "The ship was built in Gdansk."),
    ),
    (
        "The company sold 4,000 bicycles in May, more than in April.",
        ("It sold 4,000 bicycles in May.", "April was better than May.", "It has 90 employees."),
    ),
    (
        "Dr. Ito proved the theorem in 1998, three years before her retirement.",
        ("Dr. Ito retired in 2001.", "The theorem is unproven.", "Dr. Ito lives in Kyoto."),
    ),
    (
        "The concert was cancelled because the singer was ill.",
        ("The singer was ill.", "The concert took place.", "The tickets were refunded."),
    ),
    (
        "Water boils at a lower temperature on high mountains.",
        ("Water boils sooner up high.", "Height makes no difference.", "Tea tastes worse there."),
    ),
    (
        "The parcel weighs 3 kg and was sent from Lyon on Friday.",
        ("The parcel came from Lyon.", "The parcel weighs 9 kg.", "The parcel holds books."),
    ),
)
"""A text, and the claim that follows from it, the contradicted one, and the one that is neither."""


@click.command()
@click.option("--judge", required=True, help="The spec of a judge that is a model.")
@click.option("--word", multiple=True, default=WORDS, show_default=True, help="Words to try.")
def main(judge: str, word: tuple[str, ...]) -> None:
    """Print how often each word led to the right verdicts."""
    asked: Judge = judge_of(judge)
    table = Table("word", "follows", "contradicted", "neither", "word given", "of", "failed")
    for form in word:
        right, answered, failed = tried(asked, form)
        total = len(CASES) * len(SUPPORT) - failed
        counts = [right[kind] for kind in range(len(SUPPORT))]
        table.add_row(form, *map(str, [*counts, answered, total, failed]))
    Console().print(table)


def tried(judge: Judge, word: str) -> tuple[Counter[int], int, int]:
    """The right verdicts by kind, how often the word was given, and how many have none."""
    prompt = Prompt.read(SHARED_PROMPTS / "supported.md")
    prompt = replace(prompt, text=prompt.text.replace('"idk"', f'"{word}"'))
    words = (*SUPPORT[:2], word)
    right: Counter[int] = Counter()
    answered = failed = 0
    for number, (text, claims) in enumerate(CASES):
        # Each kind stands in each place as often.
        order = [(place + number) % len(claims) for place in range(len(claims))]
        shown = [claims[kind] for kind in order]
        try:
            result = run(judge.verify(prompt, shown, {"evidence": [text]}, words))
        except JudgeError:
            failed += len(claims)
            continue
        for kind, verdict in zip(order, result, strict=True):
            right[kind] += verdict.verdict == words[kind]
            answered += verdict.verdict == word
    return right, answered, failed


if __name__ == "__main__":
    main()
