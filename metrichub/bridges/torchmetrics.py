"""torchmetrics: a metric or a hub as a `torchmetrics.Metric`, on one machine or distributed.

bleu = bridges.torchmetrics.metric("bleu")
bleu.update(predictions, references)
bleu.compute()
"""

from __future__ import annotations

import hashlib
import io
import pickle
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from metrichub import Hub, Report
from metrichub.authoring import Array, CorpusMetric, Metric
from metrichub.bridges._hub_scores import Metrics, OutputChoice, check_outputs, flat, hub_of
from metrichub.errors import MetricError, MetrichubError, MissingDependency
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.observation import is_async
from metrichub.evaluation.result import Result
from metrichub.evaluation.result_rows import RowsResult
from metrichub.evaluation.result_sums import SumResult
from metrichub.evaluation.signature import signature_of

if TYPE_CHECKING:
    from torchmetrics import Metric as TorchMetric

__all__ = ["metric"]

_TEXT = "The cat sat on the mat."


def metric(metrics: Metrics, *, outputs: OutputChoice = "headline") -> TorchMetric:
    """A metric, or several as one, whose `update` takes texts: predictions, references, others.

    `compute` returns the corpus score as a tensor, or several scores as a dictionary: {"rouge": …,
    "rouge_rouge1": …}. `outputs` are those that the card names as headline, "score" alone, or all.
    Statistics that add up become states of fixed size. Metrics that don't add up keep their rows,
    as bytes, which only processes of the same run exchange.
    """
    check_outputs(outputs)
    states: TorchMetric = _metric_class()(hub_of(metrics), outputs)
    return states


def __getattr__(name: str) -> Any:
    # The class is made when torchmetrics is there; pickles find it here.
    if name == "HubMetric":
        return _metric_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _metric_class() -> Any:
    try:
        import torchmetrics
    except ImportError:
        raise MissingDependency("metrichub.bridges.torchmetrics", "torchmetrics") from None
    return type("HubMetric", (HubStates, torchmetrics.Metric), {"__module__": __name__})


class HubStates:
    """The metrics of a hub as states; with `torchmetrics.Metric` it makes one metric of that."""

    is_differentiable = False
    full_state_update = False
    device: Any

    def __init__(self, hub: Hub, outputs: OutputChoice) -> None:
        super().__init__()
        import torch

        states_of: Any = self
        self.hub, self.outputs = hub, outputs
        # The sums of each metric; None for those that don't add up, which have pickled results.
        self.shapes = {metric.name: _zeros(hub, metric) for metric in hub.metrics}
        for metric in hub.metrics:
            sums = self.shapes[metric.name]
            if sums is None:
                states_of.add_state(_state_name(metric, "rows"), [], dist_reduce_fx="cat")
                continue
            for name, zero in sums.items():
                states_of.add_state(
                    _state_name(metric, name), torch.as_tensor(zero), dist_reduce_fx="sum"
                )

    @property
    def higher_is_better(self) -> bool | None:
        """The direction, where all metrics have the same."""
        directions = {metric.card.better("score") for metric in self.hub.metrics}
        return (
            {"higher": True, "lower": False}.get(directions.pop()) if len(directions) == 1 else None
        )

    def update(
        self,
        preds: Iterable[Any],
        target: Iterable[Any] | None = None,
        **columns: Iterable[Any],
    ) -> None:
        """Measure samples: predictions, references, and other columns by their names."""
        references = {} if target is None else {"references": target}
        all_columns: dict[str, Any] = {"predictions": preds} | references | columns
        report = self.hub.evaluate(**all_columns, texts=False)
        for metric in self.hub.metrics:
            result = report.results[metric.name]
            if self.shapes[metric.name] is None:
                self._append(metric, result)
            else:
                self._add(metric, result)

    def _add(self, metric: Metric, result: Result) -> None:
        import torch

        assert isinstance(result, SumResult)
        sums = _with_count(result) if result.count else {}
        for name, total in sums.items():
            state = getattr(self, _state_name(metric, name))
            if tuple(state.shape) != total.shape:
                raise MetricError(f"{metric.name}: the statistic {name!r} changes its shape")
            added = torch.as_tensor(total, device=state.device)
            setattr(self, _state_name(metric, name), state + added)

    def _append(self, metric: Metric, result: Result) -> None:
        import torch

        pooled = result.pool() if isinstance(result, SumResult) else result
        content = torch.frombuffer(bytearray(pickle.dumps(pooled)), dtype=torch.uint8)
        getattr(self, _state_name(metric, "rows")).append(content.to(self.device))

    def _sync_dist(self, *args: Any, **options: Any) -> None:
        import torch

        # A process without samples has lists without a type, which others can't join.
        for metric in self.hub.metrics:
            if self.shapes[metric.name] is None:
                rows = getattr(self, _state_name(metric, "rows"))
                if not len(rows):
                    rows.append(torch.zeros(0, dtype=torch.uint8, device=self.device))
        super()._sync_dist(*args, **options)  # type: ignore[misc]  # of torchmetrics

    def compute(self) -> Any:
        """The score of all samples, or a dictionary of scores."""
        import torch

        scores = flat(Report.of(Measurement(self._results(), 0)), self.outputs)
        tensors = {
            name: torch.tensor(score, dtype=torch.float64, device=self.device)
            for name, score in scores.items()
        }
        is_single = self.outputs != "all" and len(tensors) == 1
        return next(iter(tensors.values())) if is_single else tensors

    def _results(self) -> dict[str, Result]:
        results: dict[str, Result] = {}
        for metric in self.hub.metrics:
            names = self.shapes[metric.name]
            if names is None:
                rows = getattr(self, _state_name(metric, "rows"))
                # One tensor already where processes have exchanged them.
                parts = rows if isinstance(rows, list) else [rows]
                content = b"".join(part.cpu().numpy().tobytes() for part in parts)
                results[metric.name] = _merged(self.hub, metric, content)
            else:
                sums = {n: getattr(self, _state_name(metric, n)).cpu().numpy() for n in names}
                results[metric.name] = _sums(self.hub, metric, sums)
        return results


def _state_name(metric: Metric, part: str) -> str:
    """The name of a state.

    It tells metrics and parameters apart, as a collection lets metrics of equal states share them.
    """
    digest = hashlib.blake2b(metric.label().encode(), digest_size=4).hexdigest()
    return f"{metric.name}_{digest}_{part}"


def _zeros(hub: Hub, metric: Metric) -> dict[str, Array] | None:
    """Zeros in the shapes and types of the sums; None for what doesn't add up or asks a judge."""
    if isinstance(metric, CorpusMetric) or is_async(metric):
        return None
    alone = Hub(metric, reduce=hub.reduce)
    try:
        result = alone.evaluate({column: [_TEXT] for column in alone.needs()}).results[metric.name]
    except MetrichubError:
        return None
    if not isinstance(result, SumResult) or not result.count:
        return None
    return {name: np.zeros_like(total) for name, total in _with_count(result).items()}


def _with_count(result: SumResult) -> dict[str, Array]:
    return {"samples_scored": np.asarray(result.count)} | {
        name: np.asarray(total) for name, total in result.totals.items()
    }


def _sums(hub: Hub, metric: Metric, sums: dict[str, Array]) -> SumResult:
    count = int(sums.pop("samples_scored"))
    signature = signature_of(metric, hub.reduce)
    return SumResult(metric, signature, count, 0, Counter(), Counter(), None, sums)


def _merged(hub: Hub, metric: Metric, content: bytes) -> Result:
    """The result of all parts, one pickle after the other; without one, that of no samples."""
    stream, parts = io.BytesIO(content), []
    while stream.tell() < len(content):
        parts.append(pickle.load(stream))
    if parts:
        merged: Result = parts[0].merge(parts, parts[0].signature)
        return merged
    signature = signature_of(metric, hub.reduce)
    if isinstance(metric, CorpusMetric):
        return RowsResult.of(metric, signature, [], np.zeros(0, np.int64), 0)
    return SumResult(metric, signature, 0, 0, Counter(), Counter(), None, {})
