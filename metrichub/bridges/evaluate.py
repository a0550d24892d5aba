"""Hugging Face evaluate: its modules as metrics of a hub, and metrics as its modules.

hub = Hub([bridges.evaluate.load("./metrics/mine", average="macro"), "bleu"])
evaluate.combine([bridges.evaluate.module("bleu"), "exact_match"])
"""

from __future__ import annotations

import itertools
import re
import uuid
from typing import TYPE_CHECKING, Any

from metrichub.authoring import Spec
from metrichub.bridges._hub_scores import Metrics, OutputChoice, check_outputs, flat, hub_of
from metrichub.bridges._module_metric import ModuleMetric
from metrichub.bridges._modules import Origin, fetch
from metrichub.errors import MissingDependency, ParameterError, SpecError

if TYPE_CHECKING:
    from evaluate import Metric as EvaluateMetric

    from metrichub import Hub

__all__ = ["load", "module"]

_PREFIX = "evaluate:"
_SHAPE = re.compile(
    rf"\s*(?:(?P<alias>[A-Za-z_]\w*)\s*=\s*)?{_PREFIX}(?P<path>.+?)\s*(?:\((?P<arguments>.*)\))?\s*",
    re.DOTALL,
)


def load(
    path: str,
    *,
    name: str = "",
    revision: str | None = None,
    config_name: str | None = None,
    score: str | None = None,
    better: str = "neither",
    resamples: bool = False,
    per_sample: bool = False,
    **parameters: Any,
) -> ModuleMetric:
    """A module of evaluate as a corpus metric: a folder, a file, or a name on the Hugging Face Hub.

    This imports and runs the module's code, so load only what you trust. Its `compute` gets the
    `parameters`, and its description becomes the card. `score` is the output to use as the metric's
    `score` (by default the one with that name, or the module's name, or the first); set `better` to
    "higher" or "lower" if it has a direction. `name` is the metric's key in the scores.

    The module is called once, with all samples. With `per_sample=True` it is also called for each
    sample alone; otherwise sample scores are `nan`. With `resamples=True` it is called for each
    resample of an interval. A module that returns a list with a number for each sample needs
    neither.

    Raises:
        UnknownMetric: there is no such module, or it can't be downloaded.
        MetricError: it takes inputs that are neither texts nor numbers.
    """
    if better not in ("higher", "lower", "neither"):
        raise ParameterError(path, "better", better, "'higher', 'lower' or 'neither'")
    origin, _ = fetch(Origin(path, config_name, revision))
    metric = ModuleMetric(
        name=name or origin.name,
        path=origin.path,
        config_name=config_name,
        revision=revision,
        code=origin.code,
        key=score,
        better=better,
        per_sample=per_sample,
        resampled=resamples,
        parameters=parameters,
    )
    metric.check()
    return metric


def from_spec(text: str) -> ModuleMetric | None:
    """The metric of a spec such as "evaluate:./metrics/mine(average='macro')"; None for others.

    Raises:
        SpecError: parameters that can't be parsed.
        UnknownMetric, MetricError: as `load`.
    """
    match = _SHAPE.fullmatch(text)
    if not match:
        return None
    try:
        parsed = Spec.parse(f"module({match['arguments'] or ''})")
    except SpecError as error:
        raise SpecError(f"{text!r}: {error}") from error
    arguments: dict[str, Any] = {"name": match["alias"] or "", **parsed.parameters}
    return load(match["path"], **arguments)


def module(metrics: Metrics, *, outputs: OutputChoice = "headline") -> EvaluateMetric:
    """A metric, or a hub, as a module of evaluate: for `compute`, `add_batch` and `combine`.

    Its keys start with the metric's name, {"rouge": …, "rouge_rougeL": …}, to avoid clashes in
    `combine`; `outputs` is "score", "headline" or "all". A sample may have several predictions and
    references.

    Raises:
        MissingDependency: evaluate isn't installed.
    """
    try:
        import evaluate
    except ImportError:
        raise MissingDependency("metrichub.bridges.evaluate", "evaluate") from None

    check_outputs(outputs)
    hub = hub_of(metrics)
    title = hub.metrics[0].name if len(hub.metrics) == 1 else "metrichub"
    info = _info(hub, title)

    class HubModule(evaluate.Metric):  # type: ignore[misc]  # evaluate has no types
        """A module that asks the hub."""

        name = property(lambda _: title)

        def _info(self) -> Any:
            return info

        def _compute(self, **columns: Any) -> dict[str, float]:
            return flat(hub.evaluate(**columns, samples=False), outputs)

    # Two modules of one process would otherwise share a cache file.
    return HubModule(keep_in_memory=True, experiment_id=str(uuid.uuid4()))


def _info(hub: Hub, title: str) -> Any:
    """The `MetricInfo` of a module: its texts, and the columns that it takes."""
    import datasets
    import evaluate

    text = datasets.Value("string")
    texts = datasets.Sequence(text)
    columns = list(hub.needs())
    # The first schema that fits the first sample is taken: a text isn't a list, nor a list a text.
    forms = itertools.product(*([text, texts] for _ in columns))
    schemas = [datasets.Features(dict(zip(columns, form, strict=True))) for form in forms]
    cards = [metric.card for metric in hub.metrics]
    return evaluate.MetricInfo(
        description=f"{title}: {' '.join(card.summary for card in cards)}",
        citation=hub.cite(),
        inputs_description=f"\n\nColumns: {', '.join(columns)}; each a text or a list of texts.",
        features=schemas,
        license="; ".join(dict.fromkeys(card.license for card in cards if card.license)),
    )
