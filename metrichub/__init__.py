"""Score generated text: any number of metrics in one call, each with its card.

>>> from metrichub import Hub, load_metric
>>> scorer = Hub(metrics=load_metric("abstractness"))
>>> scorer(predictions=["There is a cat on the mat.", "Look! a wonderful day."],
...        references=["The cat is playing on the mat.", "Today is a wonderful day"])
{'abstractness': {'score': 0.2727272727272727}}

Names are imported on first use (PEP 562), so that `import metrichub` loads nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metrichub.catalog.card import Card as Card
    from metrichub.catalog.card import Scale as Scale
    from metrichub.catalog.parameters import Address as Address
    from metrichub.catalog.parameters import LocalPath as LocalPath
    from metrichub.catalog.parameters import Range as Range
    from metrichub.catalog.parameters import Secret as Secret
    from metrichub.catalog.registry import Registry as Registry
    from metrichub.catalog.registry import list_metrics as list_metrics
    from metrichub.catalog.spec import Spec as Spec
    from metrichub.data.batch import Batch as Batch
    from metrichub.evaluation.explanation import Explained as Explained
    from metrichub.evaluation.stats import Stats as Stats
    from metrichub.hub import Hub as Hub
    from metrichub.judge.metric import EmbedderMetric as EmbedderMetric
    from metrichub.judge.metric import JudgeMetric as JudgeMetric
    from metrichub.metric import CorpusMetric as CorpusMetric
    from metrichub.metric import Metric as Metric
    from metrichub.metric import Unscored as Unscored
    from metrichub.metric import load_metric as load_metric
    from metrichub.report.report import Report as Report

    __version__: str

_HOMES = {
    "Address": "catalog.parameters",
    "Batch": "data.batch",
    "Card": "catalog.card",
    "CorpusMetric": "metric",
    "EmbedderMetric": "judge.metric",
    "Explained": "evaluation.explanation",
    "Hub": "hub",
    "JudgeMetric": "judge.metric",
    "LocalPath": "catalog.parameters",
    "Metric": "metric",
    "Range": "catalog.parameters",
    "Registry": "catalog.registry",
    "Report": "report.report",
    "Scale": "catalog.card",
    "Secret": "catalog.parameters",
    "Spec": "catalog.spec",
    "Stats": "evaluation.stats",
    "Unscored": "metric",
    "list_metrics": "catalog.registry",
    "load_metric": "metric",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib_metadata import version

        return version("metrichub")
    if name not in _HOMES:
        raise AttributeError(f"module 'metrichub' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"metrichub.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
