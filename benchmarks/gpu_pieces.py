"""The pieces of `benchmarks.gpu`, which runs each in a process of its own."""

from __future__ import annotations

import json
import math
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.gpu import METRICS, SHAPES, Cell, Part, drawn, written
from metrichub import Hub, load_metric

PACKAGES = ("metrichub", "torch", "transformers", "accelerate")
ENGINES = ("causal", "classifier", "encoder", "seq2seq")
TOKENIZES = ("encode", "encode_as_given", "encode_pairs", "bare")
READS = ("forward", "units", "reduced", "encode")
RUNS = (*READS, "attended", "log_probabilities")
"""Methods of tokenizers and of runners; those that read ids and a mask among the latter."""
LARGE = 1 << 20
"""A budget of tokens that doesn't fit."""
ROOM = 2 << 30
"""How many bytes of a GPU a model has beside its weights, where memory is to run out."""
FEWER = 1_000
"""How many pairs of texts there are where time isn't measured by the token."""


def main() -> None:
    """Print the cells of a piece as JSON."""
    piece, options = Part(*json.loads(sys.argv[1])), json.loads(sys.argv[2])
    print(json.dumps(run(piece, **options)))


def run(piece: Part, root: str, texts: int, compiled: bool) -> Any:
    """The cells of a piece, each by its fields; or what else it gives, in JSON's types."""
    folders = [Path(root) / name for name in piece.shapes]
    if piece.kind == "machine":
        return machine()
    if piece.kind == "written":
        return str(written(folders[0], SHAPES[folders[0].name]))
    timed = piece.kind in METRICS or piece.kind in OFFICIAL_SCORES
    columns = columns_of(texts if timed else min(texts, FEWER), folders)
    with limited(piece.budget):
        if piece.kind in METRICS:
            cells = [scored(piece, folders[0], columns, compiled=compiled)]
        elif piece.kind in OFFICIAL_SCORES:
            cells = [official(piece, folders[0], columns)]
        elif piece.kind == "out of memory":
            cells = out_of_memory(folders[0], columns)
        else:
            cells = together(folders, columns)
    return [cell._asdict() for cell in cells]


def columns_of(texts: int, folders: Sequence[Path]) -> dict[str, list[str]]:
    """Pairs of texts of words that all of the models know."""
    words = min(SHAPES[folder.name].words for folder in folders)
    others = drawn(texts, words, 2)
    return {"predictions": drawn(texts, words, 1), "references": others, "sources": others}


def machine() -> str:
    """The device, and the versions of what runs models on it."""
    import torch
    from metrichub_neural.engine.machine import device

    versions = []
    for name in PACKAGES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"no {name}")
    gpu = torch.cuda.get_device_name() if device().startswith("cuda") else device()
    return f"{gpu}, {os.cpu_count()} cores; {', '.join(versions)}"


def metric_of(kind: str, folder: Path, dtype: str = "float32") -> Any:
    """A metric that runs the model in a folder, which is called as its shape."""
    layer = {"layer": SHAPES[folder.name].layer} if kind == "bertscore" else {}
    return load_metric(kind, model=str(folder), dtype=dtype, **layer)


def loaded(metric: Any) -> Any:
    """The model of a metric, with its tokenizer and runner."""
    from metrichub_neural.engine.causal import causal_of
    from metrichub_neural.engine.classifier import classifier_of
    from metrichub_neural.engine.encoder import choose, encoder_of

    if metric.name == "bertscore":
        return metric.encoder()
    if metric.name == "bartscore":
        return metric.seq2seq()
    if metric.name == "sem_score":
        return encoder_of(choose(metric.model, None, None, "auto", metric.dtype, metric.name))
    load = causal_of if metric.name == "perplexity" else classifier_of
    return load(metric.files(), metric.dtype)


def scored(
    piece: Part, folder: Path, columns: dict[str, list[str]], *, compiled: bool = False
) -> Cell:
    """A metric's cell: its model is loaded and warm before the clock starts."""
    metric = metric_of(piece.kind, folder, piece.dtype)
    hub = Hub(metric)
    samples = {name: columns[name] for name in hub.needs()}
    load, _, model = watched(lambda: loaded(metric))
    loading = host_memory()
    if compiled:
        import torch

        model.runner.model = torch.compile(model.runner.model, dynamic=True)
    # What is compiled depends on the sizes of all batches.
    hub.evaluate({name: texts[: None if compiled else 8] for name, texts in samples.items()})
    if hasattr(model, "forget"):
        model.forget()
    clock = Clock()
    with clock.on(model):
        first, gpu, report = watched(lambda: hub.evaluate(samples))
    again, _, _ = watched(lambda: hub.evaluate(samples))
    return Cell(
        name=piece.name,
        first=first,
        loading=loading,
        host=host_memory(),
        scores=scores_of(report),
        load=load,
        again=again,
        tokenizer=clock.seconds["tokenizer"],
        model=clock.seconds["model"],
        texts=clock.texts,
        tokens=clock.tokens,
        gpu=gpu,
    )


def out_of_memory(folder: Path, columns: dict[str, list[str]]) -> list[Cell]:
    """`bertscore` by a budget that fits, and by one that doesn't, which is halved until it does.

    A GPU gets little memory for that, and elsewhere a hook says that memory ran out.
    """
    import torch
    from metrichub_neural.engine.machine import device

    metric = metric_of("bertscore", folder)
    hub = Hub(metric)
    samples = {name: columns[name] for name in hub.needs()}
    load, _, model = watched(lambda: loaded(metric))
    loading = host_memory()
    begun, ended, most = list[int](), list[int](), math.inf

    def begins(_module: Any, _given: Any, named: dict[str, Any]) -> None:
        begun.append(named["input_ids"].numel())
        if begun[-1] > most:
            raise torch.OutOfMemoryError("out of memory, as the benchmark says")

    def ends(*_: Any) -> None:
        ended.append(begun[-1])

    model.runner.model.register_forward_pre_hook(begins, with_kwargs=True)
    model.runner.model.register_forward_hook(ends)
    hub.evaluate({name: texts[:8] for name, texts in samples.items()})
    cells = []
    for name, budget in (("the engine's budget", None), (f"{LARGE:,} tokens", LARGE)):
        model.forget()
        if budget and device().startswith("cuda"):
            torch.cuda.empty_cache()
            size = torch.cuda.get_device_properties(device()).total_memory
            share = min(1.0, (torch.cuda.memory_reserved() + ROOM) / size)
            torch.cuda.set_per_process_memory_fraction(share)
        elif budget:
            most = max(begun) // 4
        begun.clear()
        ended.clear()
        with limited(budget):
            first, gpu, report = watched(lambda: hub.evaluate(samples))
        refused = len(begun) - len(ended)
        cells.append(
            Cell(
                name=f"{name}: {refused} of {len(begun)} batches refused",
                first=first,
                loading=loading,
                host=host_memory(),
                scores=scores_of(report),
                load=load,
                gpu=gpu,
            )
        )
    return cells


def together(folders: Sequence[Path], columns: dict[str, list[str]]) -> list[Cell]:
    """Three models in one hub, and one after the other, each loaded anew and counted."""
    from metrichub_neural.engine.models import forget
    from transformers import PreTrainedModel

    encoder, seq2seq = folders
    metrics = [
        metric_of("bertscore", encoder),
        metric_of("nli_faithfulness", encoder),
        metric_of("bartscore", seq2seq),
    ]
    loads: list[str] = []
    read = PreTrainedModel.from_pretrained.__func__

    def counted(kind: type, *arguments: Any, **named: Any) -> Any:
        loads.append(kind.__name__)
        return read(kind, *arguments, **named)

    cells = []
    with patch.object(PreTrainedModel, "from_pretrained", classmethod(counted)):
        Hub(metrics).evaluate({name: texts[:8] for name, texts in columns.items()})
        loading = host_memory()
        for name, hubs in (("in one hub", [Hub(metrics)]), ("each alone", list(map(Hub, metrics)))):
            loads.clear()
            seconds, peaks, scores = list[float](), list[int](), list[float]()
            for hub in hubs:
                forget()
                samples = {name: columns[name] for name in hub.needs()}
                took, gpu, report = watched(partial(hub.evaluate, samples))
                seconds.append(took)
                peaks.append(gpu or 0)
                scores += scores_of(report)
            cells.append(
                Cell(
                    name=f"{name}: {len(loads)} models loaded",
                    first=sum(seconds),
                    loading=loading,
                    host=host_memory(),
                    scores=scores,
                    gpu=max(peaks) or None,
                )
            )
    return cells


def official(piece: Part, folder: Path, columns: dict[str, list[str]]) -> Cell:
    """The cell of an official package on the same weights, in 32 bits."""
    load, _, score = watched(partial(OFFICIAL_SCORES[piece.kind], folder))
    loading = host_memory()
    both = columns["predictions"], columns["references"]
    score(*(side[:8] for side in both))
    first, gpu, scores = watched(lambda: score(*both))
    again, _, _ = watched(lambda: score(*both))
    return Cell(
        name=piece.name,
        first=first,
        loading=loading,
        host=host_memory(),
        scores=scores,
        load=load,
        again=again,
        gpu=gpu,
    )


def by_bert_score(folder: Path) -> Callable[[list[str], list[str]], Any]:
    """bert-score's F1 of pairs, by the model in a folder."""
    from bert_score import BERTScorer
    from metrichub_neural.engine.machine import device

    layer = SHAPES[folder.name].layer
    scorer = BERTScorer(model_type=str(folder), num_layers=layer, device=device())
    return lambda first, second: scorer.score(first, second)[2].tolist()


def by_sentence_transformers(folder: Path) -> Callable[[list[str], list[str]], Any]:
    """sentence-transformers' cosines of pairs, by the mean of the last layer."""
    from metrichub_neural.engine.machine import device

    package = import_module("sentence_transformers")
    model = package.SentenceTransformer(str(folder), device=device())

    def cosines(first: list[str], second: list[str]) -> Any:
        one, other = (model.encode(side, normalize_embeddings=True) for side in (first, second))
        return (one * other).sum(1).tolist()

    return cosines


OFFICIAL_SCORES = {
    "bert-score": by_bert_score,
    "sentence-transformers": by_sentence_transformers,
}


class Clock:
    """The seconds in a model's tokenizer and passes, and how many texts and tokens it read."""

    def __init__(self) -> None:
        self.seconds = {"tokenizer": 0.0, "model": 0.0}
        self.texts, self.tokens, self._within = 0, 0, False

    @contextmanager
    def on(self, model: Any) -> Iterator[None]:
        """Time the methods of a model's tokenizer and runner."""
        parts = (("tokenizer", model.tokenizer, TOKENIZES), ("model", model.runner, RUNS))
        with ExitStack() as stack:
            for part, owner, names in parts:
                for name in names:
                    if method := getattr(owner, name, None):
                        reads = part == "model" and name in READS
                        timed = self._timed(method, part, reads)
                        stack.enter_context(patch.object(owner, name, timed))
            yield

    def _timed(self, call: Callable[..., Any], part: str, reads: bool) -> Callable[..., Any]:
        def inner(*arguments: Any, **named: Any) -> Any:
            # One method may call another.
            if self._within:
                return call(*arguments, **named)
            self._within, start = True, time.perf_counter()
            try:
                outputs = call(*arguments, **named)
            finally:
                self.seconds[part] += time.perf_counter() - start
                self._within = False
            if reads:
                self.texts += len(arguments[1])
                self.tokens += int(arguments[1].sum())
            return outputs

        return inner


@contextmanager
def limited(budget: int | None) -> Iterator[None]:
    """Give the engine's batches a budget of tokens, if there is one."""
    with ExitStack() as stack:
        for name in ENGINES if budget else ():
            module = import_module(f"metrichub_neural.engine.{name}")
            stack.enter_context(patch.object(module, "budget", lambda: budget))
        yield


def watched(run: Callable[[], Any]) -> tuple[float, int | None, Any]:
    """The seconds that something took, the peak of the GPU's memory, and what came of it."""
    import torch
    import transformers  # noqa: F401  # its import is no part of what is timed
    from metrichub_neural.engine.machine import device

    gpu = device().startswith("cuda")
    if gpu:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    start = time.perf_counter()
    result = run()
    if gpu:
        torch.cuda.synchronize()
    took = time.perf_counter() - start
    return took, torch.cuda.max_memory_allocated() if gpu else None, result


def host_memory() -> int:
    """The most bytes that this process has had in the host's memory."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def scores_of(report: Any) -> list[float]:
    """The scores of all samples, of all metrics."""
    return [float(x) for scores in report.samples().values() for x in scores["score"]]


if __name__ == "__main__":
    main()
