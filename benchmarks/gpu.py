"""Models of true shapes with random weights on a GPU: dtype by attention by budget of tokens.

    python -m benchmarks.gpu [--shape roberta-large] [--dtype bfloat16] [--attention sdpa]
        [--budget 32768] [--compiled] [--texts 4000] [--mixed] [--beside]

Random weights are as fast as trained ones, and need no download. A cell gives texts and tokens in a
second, as the model reads them, the share of the time for tokens, forward passes and the rest
(matching and copies), the peak of memory, and how far scores are from those of 32 bits. Compiling
isn't timed: with `--compiled` all texts are scored once before. DeBERTa has one kind of attention,
its own. `--mixed` adds COMET's pass, one vector a text from a mix of all layers, with the cosines
of pairs as scores. `--beside` adds bert-score 0.3.13 on the same weights. It has not run on a GPU
yet; on a CPU (`--device cpu --shape tiny`) it only shows that it runs.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from metrichub import Hub, load_metric

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
HALVES: dict[str, Any] = {
    "d_model": 1024,
    "encoder_layers": 12,
    "decoder_layers": 1,
    "encoder_attention_heads": 16,
    "encoder_ffn_dim": 4096,
    "max_position_embeddings": 1024,
}
BART = HALVES | {"decoder_layers": 12, "decoder_attention_heads": 16, "decoder_ffn_dim": 4096}
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
TINY_BART = BART | {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2}
TINY_BART |= {"encoder_attention_heads": 4, "decoder_attention_heads": 4}
TINY = WIDE | {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}


class Shape(NamedTuple):
    """A model's kind, its size, its words, and the layer that is scored; None for whole models.

    `attention` has the kinds of attention that transformers has for it, `metric` is what runs it.
    """

    kind: str
    size: dict[str, Any]
    words: int
    layer: int | None
    attention: tuple[str, ...] = ("sdpa", "eager")
    metric: str = "bertscore"


SHAPES = {
    "roberta-large": Shape("roberta", WIDE, 50_265, 17),
    "xlm-roberta-large": Shape("xlm-roberta", WIDE, 250_002, 17),
    "deberta-v3-large": Shape("deberta-v2", DEBERTA, 128_100, 12, ("eager",)),
    "bart-large": Shape("bart", HALVES, 50_265, 10),
    "t5-large": Shape("t5", T5, 32_128, 24),
    "gpt2-large": Shape("gpt2", GPT2, 50_257, None, metric="perplexity"),
    "llama-1.1b": Shape("llama", LLAMA, 32_000, None, metric="perplexity"),
    "bart-large-whole": Shape("bart", BART, 50_265, None, metric="bartscore"),
    "t5-large-whole": Shape("t5", T5, 32_128, None, metric="bartscore"),
    "tiny": Shape("roberta", TINY | {"intermediate_size": 64}, 500, 2),
    "tiny-causal": Shape(
        "gpt2", {"n_embd": 32, "n_layer": 2, "n_head": 4}, 500, None, metric="perplexity"
    ),
    "tiny-seq2seq": Shape("bart", TINY_BART, 500, None, metric="bartscore"),
}


class Cell(NamedTuple):
    """The settings and the results: seconds by part, bytes, and one score a text.

    `texts` and `tokens` are those that the model read, without padding.
    """

    name: str
    seconds: dict[str, float]
    memory: int
    scores: NDArray[np.float64]
    texts: int
    tokens: int


@click.command()
@click.option("--shape", multiple=True, type=click.Choice(list(SHAPES)), default=["roberta-large"])
@click.option("--dtype", multiple=True, default=["float32", "bfloat16", "float16"])
@click.option("--attention", multiple=True, default=["sdpa", "eager"])
@click.option("--budget", multiple=True, type=int, default=[8_192, 32_768, 131_072])
@click.option("--compiled", is_flag=True, help="Compile the model first.")
@click.option("--texts", default=4_000, show_default=True, help="Pairs of texts.")
@click.option("--mixed", is_flag=True, help="Reduce all layers to a vector too.")
@click.option("--beside", is_flag=True, help="Run bert-score on the same weights too.")
@click.option("--device", default="cuda", show_default=True)
def main(
    shape: Sequence[str],
    dtype: Sequence[str],
    attention: Sequence[str],
    budget: Sequence[int],
    compiled: bool,
    texts: int,
    mixed: bool,
    beside: bool,
    device: str,
) -> None:
    """Print a table for each shape."""
    os.environ["METRICHUB_DEVICE"] = device
    for name in shape:
        with tempfile.TemporaryDirectory() as folder:
            path = written(Path(folder) / name, SHAPES[name])
            both = drawn(texts, SHAPES[name].words, 1), drawn(texts, SHAPES[name].words, 2)
            kinds = [kind for kind in attention if kind in SHAPES[name].attention]
            cells = [
                run(path, SHAPES[name], *chosen, compiled=compiled, both=both)
                for chosen in product(dtype, kinds or SHAPES[name].attention, budget)
            ]
            if mixed and SHAPES[name].layer is not None:
                chosen_cells = product(dtype, budget)
                cells += [reduced(path, *chosen, both) for chosen in chosen_cells]
            if beside and SHAPES[name].layer is not None:
                cells.append(rival(path, SHAPES[name], both, device, cells[0]))
        Console(width=120).print(shown(f"{name}, {texts} pairs, on {device}", cells))


def run(
    folder: Path,
    shape: Shape,
    dtype: str,
    attention: str,
    budget: int,
    *,
    compiled: bool,
    both: tuple[list[str], list[str]],
) -> Cell:
    """One cell: the model is loaded and warm before the clock starts."""
    from metrichub_neural.engine import causal, encoder, seq2seq
    from metrichub_neural.engine.models import forget

    forget()
    modules: dict[str, Any] = {"bertscore": encoder, "perplexity": causal, "bartscore": seq2seq}
    module = modules[shape.metric]
    limited = module.budget
    module.budget = lambda: budget
    seconds, read = {"tokens": 0.0, "forward": 0.0}, [0, 0]
    try:
        layer = {} if shape.layer is None else {"layer": shape.layer}
        metric = load_metric(shape.metric, model=str(folder), dtype=dtype, **layer)
        hub, columns = Hub(metric), {"predictions": both[0], "references": both[1]}
        samples = {name: columns[name] for name in hub.needs()}
        model = loaded(metric)
        if len(shape.attention) > 1:
            model.runner.model.set_attn_implementation(attention)
        if compiled:
            import torch

            model.runner.model = torch.compile(model.runner.model, dynamic=True)
        # What is compiled depends on the sizes of all batches.
        hub.evaluate({name: texts[: None if compiled else 8] for name, texts in samples.items()})
        if hasattr(model, "forget"):
            model.forget()
        with (
            clocked(model.tokenizer, ("encode", "encode_as_given", "bare"), seconds, "tokens"),
            # Of sequence-to-sequence models, tokens are those of the sources.
            clocked(model.runner, ("forward", "encode"), seconds, "forward", read),
            clocked(model.runner, ("attended", "log_probabilities"), seconds, "forward"),
        ):
            took, memory, report = watched(lambda: hub.evaluate(samples))
    finally:
        module.budget = limited
    seconds["rest"] = took - sum(seconds.values())
    scores = report.samples()[shape.metric]["score"]
    return Cell(f"{dtype}, {attention}, {budget}", seconds, memory, scores, *read)


def reduced(folder: Path, dtype: str, budget: int, both: tuple[list[str], list[str]]) -> Cell:
    """A cell of one vector a text, from equal shares of all layers that are normalized first."""
    from metrichub_neural.engine import encoder as module
    from metrichub_neural.engine.reduction import Reduction

    encoder: Any = module  # its budget is changed
    choice = encoder.choose(str(folder), None, None, "full", dtype, "benchmarks")
    model, layers = encoder.encoder_of(choice), choice.layer + 1
    reduction = Reduction("mean", (1 / layers,) * layers, normalizes=True)
    seconds, read = {"tokens": 0.0, "forward": 0.0}, [0, 0]
    limited = encoder.budget
    encoder.budget = lambda: budget
    try:
        model.reduced(both[0][:8], reduction)
        model.forget()
        with (
            clocked(model.tokenizer, ("encode",), seconds, "tokens"),
            clocked(model.runner, ("reduced",), seconds, "forward", read),
        ):
            took, memory, sides = watched(
                lambda: [np.array([v.vector for v in model.reduced(t, reduction)]) for t in both]
            )
    finally:
        encoder.budget = limited
    seconds["rest"] = took - sum(seconds.values())
    first, second = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides)
    return Cell(f"{dtype}, all layers, {budget}", seconds, memory, (first * second).sum(1), *read)


def rival(
    folder: Path, shape: Shape, both: tuple[list[str], list[str]], device: str, beside: Cell
) -> Cell:
    """bert-score on the same weights, in 32 bits; it reads the same texts."""
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=str(folder), num_layers=shape.layer, device=device)
    scorer.score(both[0][:8], both[1][:8])
    took, memory, outputs = watched(lambda: scorer.score(*both))
    scores = np.asarray(outputs[2].numpy(), np.float64)
    read = beside.texts, beside.tokens
    return Cell("bert-score, float32", {"rest": took}, memory, scores, *read)


def loaded(metric: Any) -> Any:
    """The model that a metric has loaded, with its tokenizer and runner."""
    if hasattr(metric, "encoder"):
        return metric.encoder()
    if hasattr(metric, "seq2seq"):
        return metric.seq2seq()
    from metrichub_neural.engine.causal import causal_of

    return causal_of(metric.files(), metric.dtype)


@contextmanager
def clocked(
    owner: Any,
    names: Sequence[str],
    seconds: dict[str, float],
    part: str,
    read: list[int] | None = None,
) -> Iterator[None]:
    """Add the time in some methods of an object to a part, and what a model reads to `read`."""

    def timed(call: Callable[..., Any]) -> Callable[..., Any]:
        def inner(*arguments: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                outputs = call(*arguments, **named)
            finally:
                seconds[part] += time.perf_counter() - start
            if read is not None:
                mask = arguments[1]
                read[:] = read[0] + len(mask), read[1] + int(mask.sum())
            return outputs

        return inner

    for name in names:
        if hasattr(owner, name):
            setattr(owner, name, timed(getattr(owner, name)))
    try:
        yield
    finally:
        for name in names:
            vars(owner).pop(name, None)


def watched(run: Callable[[], Any]) -> tuple[float, int, Any]:
    """The seconds that something took, the peak of the GPU's memory, and what came of it."""
    import torch

    gpu = torch.cuda.is_available()
    if gpu:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    start = time.perf_counter()
    result = run()
    if gpu:
        torch.cuda.synchronize()
    took = time.perf_counter() - start
    return took, torch.cuda.max_memory_allocated() if gpu else 0, result


def shown(title: str, cells: Sequence[Cell]) -> Table:
    """The cells as a table, their scores beside those of the first one like it in 32 bits."""
    head = ("cell", "texts/s", "tokens/s", "tokens", "forward", "rest", "GB", "difference")
    table = Table(*head, title=title)
    for cell in cells:
        # In 32 bits, and of the same scores.
        same = [other for other in cells if ("all" in other.name) == ("all" in cell.name)]
        exact = next((other for other in same if other.name.startswith("float32")), same[0])
        took = sum(cell.seconds.values())
        shares = [f"{cell.seconds.get(part, 0) / took:.0%}" for part in head[3:6]]
        difference = float(np.abs(cell.scores - exact.scores).max())
        speed = f"{cell.texts / took:,.0f}", f"{cell.tokens / took:,.0f}"
        table.add_row(cell.name, *speed, *shares, f"{cell.memory / 1e9:.1f}", f"{difference:.1e}")
    return table


def drawn(texts: int, words: int, seed: int) -> list[str]:
    """Texts of words of the model, as long as those of newstest: about 26 tokens."""
    draw = random.Random(seed)
    lengths = [min(400, max(3, int(draw.lognormvariate(3.1, 0.5)))) for _ in range(texts)]
    return [" ".join(f"w{draw.randrange(words - 8)}" for _ in range(n)) for n in lengths]


def written(folder: Path, shape: Shape) -> Path:
    """A model with random weights, and a tokenizer to which every word is a token."""
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
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(
        shape.kind,
        **{"vocab_size": shape.words, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
        **({"decoder_start_token_id": 2} if shape.metric == "bartscore" else {}),
        **shape.size,
    )
    autos = {"perplexity": "AutoModelForCausalLM", "bartscore": "AutoModelForSeq2SeqLM"}
    auto = autos.get(shape.metric, "AutoModel")
    getattr(transformers, auto).from_config(config).save_pretrained(folder)
    backend.save(str(folder / "tokenizer.json"))
    names = {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    settings = {**names, "bos_token": "<s>", "tokenizer_class": "PreTrainedTokenizerFast"}
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**settings, "model_max_length": 512}), encoding="utf-8")
    return folder


if __name__ == "__main__":
    main()
