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
    from metrichub.batch import Batch as Batch
    from metrichub.card import Card as Card
    from metrichub.card import Scale as Scale
    from metrichub.evidence import Explained as Explained
    from metrichub.hub import Hub as Hub
    from metrichub.judge.metric import EmbedderMetric as EmbedderMetric
    from metrichub.judge.metric import JudgeMetric as JudgeMetric
    from metrichub.metric import CorpusMetric as CorpusMetric
    from metrichub.metric import Metric as Metric
    from metrichub.metric import Unscored as Unscored
    from metrichub.parameters import Address as Address
    from metrichub.parameters import LocalPath as LocalPath
    from metrichub.parameters import Range as Range
    from metrichub.parameters import Secret as Secret
    from metrichub.registry import Registry as Registry
    from metrichub.registry import list_metrics as list_metrics
    from metrichub.registry import load_metric as load_metric
    from metrichub.report import Report as Report
    from metrichub.spec import Spec as Spec
    from metrichub.stats import Stats as Stats

_HOMES = {
    "Address": "parameters",
    "Batch": "batch",
    "Card": "card",
    "CorpusMetric": "metric",
    "EmbedderMetric": "judge.metric",
    "Explained": "evidence",
    "Hub": "hub",
    "JudgeMetric": "judge.metric",
    "LocalPath": "parameters",
    "Metric": "metric",
    "Range": "parameters",
    "Registry": "registry",
    "Report": "report",
    "Scale": "card",
    "Secret": "parameters",
    "Spec": "spec",
    "Stats": "stats",
    "Unscored": "metric",
    "list_metrics": "registry",
    "load_metric": "registry",
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
