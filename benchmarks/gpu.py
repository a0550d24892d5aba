"""Models of true shapes with random weights on a GPU: all of them in one run of eight minutes.

    python -m benchmarks.gpu [--json FILE] [--minutes 8] [--device cpu --tiny]
    python -m benchmarks.gpu --shape deberta-v3-large [--dtype float16] [--budget 8192] [--compiled]

Random weights are as fast as trained ones, and need no download. A run has an encoder, a classifier
of pairs, a causal, a sequence-to-sequence and a sentence model, each in 32 bits and in bfloat16, a
budget of tokens that doesn't fit in memory, three models in one hub and each alone, and bert-score
and sentence-transformers on the same weights, if they are installed. With `--shape`, it has those
models alone, for each dtype and budget.

A row has the seconds to load a model, whose files are in the machine's cache, of the first call,
and of a second one with the same texts; how fast the first is beside that of its model's first row;
texts and tokens in a second, as the model reads them (of sequence-to-sequence models, sources);
the shares of tokenizer, model and the rest (matching and copies) in the first call; the peak of
memory, on the GPU, and on the host while loading and by the end; and how far scores are from those
of the first row, as a share of those above 1. Compiling isn't timed.

Each piece has a process of its own, so that its peak of memory is its own too, and an error ends
nothing else. It has not run on a GPU yet; on a CPU, tiny shapes only show that it runs.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

WIDE: dict[str, Any] = {
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
    "max_position_embeddings": 514,
}
DEBERTA = WIDE | {
    "max_position_embeddings": 512,
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_buckets": 256,
    "max_relative_positions": -1,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "position_biased_input": False,
    "type_vocab_size": 0,
}
"""As config.json of microsoft/deberta-v3-large has them."""
BART: dict[str, Any] = {
    "d_model": 1024,
    "encoder_layers": 12,
    "encoder_attention_heads": 16,
    "encoder_ffn_dim": 4096,
    "decoder_layers": 12,
    "decoder_attention_heads": 16,
    "decoder_ffn_dim": 4096,
    "max_position_embeddings": 1024,
}
T5: dict[str, Any] = {"d_model": 1024, "d_kv": 64, "d_ff": 4096, "num_layers": 24, "num_heads": 16}
GPT2: dict[str, Any] = {"n_embd": 1280, "n_layer": 36, "n_head": 20, "n_positions": 1024}
LLAMA: dict[str, Any] = {
    "hidden_size": 2048,
    "num_hidden_layers": 22,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "intermediate_size": 5632,
    "max_position_embeddings": 2048,
}
TINY = WIDE | {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
TINY_GPT2 = GPT2 | {"n_embd": 32, "n_layer": 2, "n_head": 4}
TINY_BART = BART | {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2}


SETTINGS = {"HF_HUB_OFFLINE": "1", "METRICHUB_NO_CACHE": "1"}
"""Nothing is fetched, and nothing is known from an earlier call."""


class Shape(NamedTuple):
    """A model's kind, its size, its words, the layer that `bertscore` reads, and what runs it."""

    kind: str
    size: dict[str, Any]
    words: int
    layer: int | None = None
    metric: str = "bertscore"


SHAPES = {
    "roberta-large": Shape("roberta", WIDE, 50_265, 17),
    "xlm-roberta-large": Shape("xlm-roberta", WIDE, 250_002, 17),
    "deberta-v3-large": Shape("deberta-v2", DEBERTA, 128_100, 12),
    "gpt2-large": Shape("gpt2", GPT2, 50_257, metric="perplexity"),
    "llama-1.1b": Shape("llama", LLAMA, 32_000, metric="perplexity"),
    "bart-large": Shape("bart", BART, 50_265, metric="bartscore"),
    "t5-large": Shape("t5", T5, 32_128, metric="bartscore"),
    "tiny": Shape("roberta", TINY | {"intermediate_size": 64}, 500, 2),
    "tiny-causal": Shape("gpt2", TINY_GPT2, 500, metric="perplexity"),
    "tiny-seq2seq": Shape("bart", TINY_BART, 500, metric="bartscore"),
}


class Part(NamedTuple):
    """A part of the run: a metric, an official package, or something else, and its models."""

    kind: str
    shapes: Sequence[str]
    dtype: str = "float32"
    budget: int | None = None

    @property
    def name(self) -> str:
        """What its row is called."""
        budget = "" if self.budget is None else f", {self.budget:,} tokens"
        official = f"{self.kind}, " if self.kind in OFFICIAL else ""
        return f"{official}{self.dtype}{budget}"

    @property
    def table(self) -> str:
        """What its table is called."""
        return f"{OFFICIAL.get(self.kind, self.kind)}, {', '.join(self.shapes)}"

    @property
    def label(self) -> str:
        """Its table and its row."""
        return f"{self.table}: {self.name}"


METRICS = ("bertscore", "nli_faithfulness", "perplexity", "bartscore", "sem_score")
OFFICIAL = {"bert-score": "bertscore", "sentence-transformers": "sem_score"}
"""Official packages, in the tables of the metrics that compute the same."""
SECONDS = {
    "written": 20,
    "bertscore": 20,
    "nli_faithfulness": 20,
    "perplexity": 35,
    "bartscore": 30,
    "sem_score": 20,
    "bert-score": 25,
    "sentence-transformers": 25,
    "out of memory": 20,
    "three in one hub": 60,
}
"""How long a piece may take on an H200, before one of its kind has been timed.

To start, with PyTorch and the GPU, takes 8 seconds, and to load a gigabyte 2. Of 4,000 pairs, each
side has 108,000 tokens. An encoder of 17 such layers takes 0.43 GFLOP for one, all 24 take 0.6, and
GPT-2 large 1.7: in 32 bits, at 40 TFLOPS, 2 to 5 seconds a call. A file of 3 gigabytes is written
in 13 seconds. All together come to 7 minutes, and it should be half of that.
"""


class Cell(NamedTuple):
    """A row's numbers: seconds, bytes and scores, and None for those that weren't measured.

    `tokenizer` and `model` are seconds of the first call, `texts` and `tokens` those that the model
    read, without padding, and `loading` the peak of the host's memory until the model is loaded.
    """

    name: str
    first: float
    loading: int
    host: int
    scores: list[float]
    load: float | None = None
    again: float | None = None
    tokenizer: float | None = None
    model: float | None = None
    texts: int | None = None
    tokens: int | None = None
    gpu: int | None = None


WIDTH = 165
Row = dict[str, float | None]
"""A row's numbers by the names of the columns; None where it has none."""
COLUMNS = {
    "load s": ".1f",
    "first s": ".2f",
    "again s": ".2f",
    "speed": ".2f",
    "texts/s": ",.0f",
    "tokens/s": ",.0f",
    "tokenizer": ".0%",
    "model": ".0%",
    "rest": ".0%",
    "GPU GB": ".1f",
    "loading GB": ".1f",
    "host GB": ".1f",
    "difference": ".1e",
}


@click.command()
@click.option("--shape", multiple=True, type=click.Choice(list(SHAPES)), help="These alone.")
@click.option("--dtype", multiple=True, default=["float32", "bfloat16"], show_default=True)
@click.option("--budget", multiple=True, type=int, help="Tokens of a batch; else the engine's.")
@click.option("--compiled", is_flag=True, help="Compile the models first.")
@click.option("--texts", type=int, help="Pairs of texts: 4,000, or 40 of tiny shapes.")
@click.option("--tiny", is_flag=True, help="Models of tiny shapes.")
@click.option("--minutes", default=8.0, show_default=True, help="The time for all of it.")
@click.option("--device", default="cuda", show_default=True)
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the numbers there.")
def main(
    shape: Sequence[str],
    dtype: Sequence[str],
    budget: Sequence[int],
    compiled: bool,
    texts: int | None,
    tiny: bool,
    minutes: float,
    device: str,
    path: Path | None,
) -> None:
    """Print a table for each kind of model, and which pieces were left out."""
    start = time.monotonic()
    texts = texts or (40 if tiny else 4_000)
    with tempfile.TemporaryDirectory() as root:
        options = {"root": root, "texts": texts, "compiled": compiled}
        run = partial(apart, options=options, device=device)
        try:
            machine = run(Part("machine", ()), seconds=60 * minutes)
        except (subprocess.SubprocessError, PieceError) as error:
            raise click.ClickException(str(error)) from error
        pieces = planned(shape, dtype, budget, tiny)
        tables, left, failed = measured(pieces, run, start + 60 * minutes)
    seconds = time.monotonic() - start
    console = Console(width=WIDTH)
    console.print(f"{machine}; {texts:,} pairs; {seconds:.0f} s", highlight=False)
    console.print(shown(tables))
    console.print("\n".join(["Left out:", *left] if left else ["Nothing was left out."]))
    if path:
        result = {"machine": machine, "pairs": texts, "tables": tables, "left out": left}
        path.write_text(json.dumps(result, indent=1), encoding="utf-8")
    if failed:
        sys.exit(1)


def measured(
    pieces: Iterable[Part], run: Callable[..., Any], end: float
) -> tuple[dict[str, dict[str, Row]], list[str], bool]:
    """The rows by their tables, the pieces that were left out, and whether one failed.

    A piece isn't begun if it would last beyond the end, by how long the last one of its kind took.
    """
    tables: dict[str, list[Cell]] = {}
    left: list[str] = []
    there: set[str] = set()
    took: dict[str, float] = {**SECONDS}
    failed = False
    for piece in pieces:
        start = time.monotonic()
        if piece.kind in OFFICIAL and not find_spec(piece.kind.replace("-", "_")):
            left.append(f"{piece.label}: it isn't installed")
        elif start + took[piece.kind] > end:
            left.append(f"{piece.label}: no time")
        elif piece.kind != "written" and not there.issuperset(piece.shapes):
            left.append(f"{piece.label}: its model wasn't written")
        else:
            try:
                cells = run(piece, seconds=end - start)
            except subprocess.TimeoutExpired:
                left.append(f"{piece.label}: stopped, as the time was up")
                continue
            except PieceError as error:
                left.append(f"{piece.label}: {error}")
                failed = True
                continue
            if piece.kind == "written":
                there.update(piece.shapes)
            else:
                tables.setdefault(piece.table, []).extend(Cell(**cell) for cell in cells)
            took[piece.kind] = time.monotonic() - start
            click.echo(f"{piece.label}: {took[piece.kind]:.0f} s", err=True)
    rows = {
        title: {cell.name: numbers(cell, cells[0]) for cell in cells}
        for title, cells in tables.items()
    }
    return rows, left, failed


def planned(
    shapes: Sequence[str], dtypes: Sequence[str], budgets: Sequence[int], tiny: bool
) -> Iterator[Part]:
    """The pieces of a run, the most important ones first, each model written before its first."""
    encoder, causal, seq2seq = "roberta-large", "gpt2-large", "bart-large"
    if tiny:
        encoder, causal, seq2seq = "tiny", "tiny-causal", "tiny-seq2seq"
    chosen: list[tuple[str, tuple[str, ...]]] = [
        ("bertscore", (encoder,)),
        ("bert-score", (encoder,)),
        ("nli_faithfulness", (encoder,)),
        ("perplexity", (causal,)),
        ("bartscore", (seq2seq,)),
        ("out of memory", (encoder,)),
        ("three in one hub", (encoder, seq2seq)),
        ("sem_score", (encoder,)),
        ("sentence-transformers", (encoder,)),
    ]
    if shapes:
        chosen = [(SHAPES[name].metric, (name,)) for name in shapes]
    there: set[str] = set()
    for kind, names in chosen:
        for name in names:
            if name not in there:
                yield Part("written", (name,))
            there.add(name)
        if kind in METRICS:
            for dtype, budget in product(dtypes, budgets or (None,)):
                yield Part(kind, names, dtype, budget)
        else:
            yield Part(kind, names)


class PieceError(Exception):
    """Raised where a piece's process failed, with the last line that it printed."""


def apart(piece: Part, *, options: dict[str, Any], device: str, seconds: float) -> Any:
    """The result of `benchmarks.gpu_pieces` for a piece, in a process of its own.

    Raises:
        subprocess.TimeoutExpired: it took longer, and was stopped.
        PieceError: it failed.
    """
    # This process stays small: no other's peak of memory is below that of the one that started it.
    command = [sys.executable, "-m", "benchmarks.gpu_pieces"]
    done = subprocess.run(
        [*command, json.dumps(piece), json.dumps(options)],
        cwd=Path(__file__).parents[1],
        env={**os.environ, **SETTINGS, "METRICHUB_DEVICE": device},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
        raise PieceError(said[-1])
    return json.loads(done.stdout.splitlines()[-1])


def numbers(cell: Cell, first: Cell) -> Row:
    """A row by the table's columns, beside the first row of its model."""

    def rate(amount: float | None) -> float | None:
        return None if amount is None else amount / cell.first

    # Official packages read the same.
    texts = first.texts if cell.texts is None else cell.texts
    tokens = first.tokens if cell.tokens is None else cell.tokens
    rest = None
    if cell.tokenizer is not None and cell.model is not None:
        rest = cell.first - cell.tokenizer - cell.model
    exact = np.array(first.scores)
    differences = np.abs(cell.scores - exact) / np.maximum(1, np.abs(exact))
    return {
        "load s": cell.load,
        "first s": cell.first,
        "again s": cell.again,
        "speed": first.first / cell.first,
        "texts/s": rate(texts),
        "tokens/s": rate(tokens),
        "tokenizer": rate(cell.tokenizer),
        "model": rate(cell.model),
        "rest": rate(rest),
        "GPU GB": None if cell.gpu is None else cell.gpu / 1e9,
        "loading GB": cell.loading / 1e9,
        "host GB": cell.host / 1e9,
        "difference": float(differences.max()),
    }


def shown(tables: dict[str, dict[str, Row]]) -> Table:
    """All rows in one table, below the names of their models."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column()
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for title, rows in tables.items():
        table.add_row(title)
        for name, row in rows.items():
            values = [(row[column], pattern) for column, pattern in COLUMNS.items()]
            cells = ["–" if value is None else format(value, pattern) for value, pattern in values]
            table.add_row(f"  {name}", *cells)
        table.add_section()
    return table


def drawn(texts: int, words: int, seed: int) -> list[str]:
    """Texts of words of the model, as long as those of newstest: about 26 tokens."""
    draw = random.Random(seed)
    lengths = [min(400, max(3, int(draw.lognormvariate(3.1, 0.5)))) for _ in range(texts)]
    return [" ".join(f"w{draw.randrange(words - 8)}" for _ in range(n)) for n in lengths]


def written(folder: Path, shape: Shape) -> Path:
    """A model with random weights, and a tokenizer to which every word is a token.

    That of an encoder is a classifier of pairs, whose encoder can be loaded alone.
    """
    import tokenizers
    import torch
    import transformers

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    words = [*special, *(f"w{number}" for number in range(shape.words - 8))]
    vocabulary = {word: number for number, word in enumerate(words)}
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    backend.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    labels = dict(enumerate(("contradiction", "neutral", "entailment")))
    autos: dict[str, tuple[str, dict[str, Any]]] = {
        "bertscore": ("AutoModelForSequenceClassification", {"id2label": labels}),
        "perplexity": ("AutoModelForCausalLM", {}),
        "bartscore": ("AutoModelForSeq2SeqLM", {"decoder_start_token_id": 2}),
    }
    auto, more = autos[shape.metric]
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(
        shape.kind,
        **{"vocab_size": shape.words, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
        **more,
        **shape.size,
    )
    getattr(transformers, auto).from_config(config).save_pretrained(folder)
    backend.save(str(folder / "tokenizer.json"))
    names = {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    settings = {**names, "bos_token": "<s>", "tokenizer_class": "PreTrainedTokenizerFast"}
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**settings, "model_max_length": 512}), encoding="utf-8")
    return folder


if __name__ == "__main__":
    main()
