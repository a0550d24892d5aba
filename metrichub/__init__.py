"""Score generated text: any number of metrics in one call, each with its card.

>>> from metrichub import Hub, load_metric
>>> scorer = Hub(metrics=load_metric("abstractness"))
>>> scorer(predictions=["There is a cat on the mat.", "Look! a wonderful day."],
...        references=["The cat is playing on the mat.", "Today is a wonderful day"])
{'abstractness': {'score': 0.2727272727272727}}

This module is the public API for scoring. Metrics, judges and plugins are written with
`metrichub.authoring`; `metrichub.text` is the text engine, and `metrichub.testing` is for tests.
Other modules are private and may change without notice.

Names are imported on first use (PEP 562), so `import metrichub` loads nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metrichub.catalog.card import Card as Card
    from metrichub.catalog.frontmatter import Scale as Scale
    from metrichub.catalog.listing import list_metrics as list_metrics
    from metrichub.catalog.registry import Entry as Entry
    from metrichub.data.conversations import conversation as conversation
    from metrichub.data.files import read_batches as read_batches
    from metrichub.data.inputs import Data as Data
    from metrichub.data.logs import read as read
    from metrichub.errors import AmbiguousMetric as AmbiguousMetric
    from metrichub.errors import BrokenMetric as BrokenMetric
    from metrichub.errors import BudgetSpent as BudgetSpent
    from metrichub.errors import CardError as CardError
    from metrichub.errors import CellError as CellError
    from metrichub.errors import DoubtfulScore as DoubtfulScore
    from metrichub.errors import FileError as FileError
    from metrichub.errors import InputError as InputError
    from metrichub.errors import JudgeError as JudgeError
    from metrichub.errors import JudgeUnavailable as JudgeUnavailable
    from metrichub.errors import MetricError as MetricError
    from metrichub.errors import MetrichubError as MetrichubError
    from metrichub.errors import MissingColumn as MissingColumn
    from metrichub.errors import MissingDependency as MissingDependency
    from metrichub.errors import MissingModel as MissingModel
    from metrichub.errors import MissingParameter as MissingParameter
    from metrichub.errors import ModelError as ModelError
    from metrichub.errors import ParameterError as ParameterError
    from metrichub.errors import Pending as Pending
    from metrichub.errors import ReportError as ReportError
    from metrichub.errors import ScoringError as ScoringError
    from metrichub.errors import SiteError as SiteError
    from metrichub.errors import SpecError as SpecError
    from metrichub.errors import TooManyErrors as TooManyErrors
    from metrichub.errors import UnknownMetric as UnknownMetric
    from metrichub.errors import UnknownParameter as UnknownParameter
    from metrichub.errors import UnknownScore as UnknownScore
    from metrichub.evaluation.explanation import Explanation as Explanation
    from metrichub.evaluation.repeats import RepeatedScore as RepeatedScore
    from metrichub.evaluation.resample import Interval as Interval
    from metrichub.evaluation.significance import Comparison as Comparison
    from metrichub.hub import Hub as Hub
    from metrichub.hub import RunOptions as RunOptions
    from metrichub.judge.openai import OpenAIJudge as OpenAIJudge
    from metrichub.metric import load_metric as load_metric
    from metrichub.models.openai_embedder import OpenAIEmbedder as OpenAIEmbedder
    from metrichub.models.usage import Usage as Usage
    from metrichub.report.by_output import OutputTable as OutputTable
    from metrichub.report.ranking import Ranking as Ranking
    from metrichub.report.ranking import compare_all as compare_all
    from metrichub.report.report import Report as Report

    __version__: str

_HOMES = {
    name: home
    for home, names in {
        "catalog.card": "Card",
        "catalog.frontmatter": "Scale",
        "catalog.listing": "list_metrics",
        "catalog.registry": "Entry",
        "data.conversations": "conversation",
        "data.files": "read_batches",
        "data.logs": "read",
        "data.inputs": "Data",
        "models.openai_embedder": "OpenAIEmbedder",
        "errors": (
            "AmbiguousMetric BrokenMetric BudgetSpent CardError CellError DoubtfulScore FileError "
            "InputError JudgeError JudgeUnavailable MetricError MetrichubError MissingColumn "
            "MissingDependency MissingModel MissingParameter ModelError ParameterError Pending "
            "ReportError ScoringError SiteError SpecError TooManyErrors UnknownMetric "
            "UnknownParameter UnknownScore"
        ),
        "evaluation.explanation": "Explanation",
        "evaluation.resample": "Interval",
        "evaluation.repeats": "RepeatedScore",
        "evaluation.significance": "Comparison",
        "hub": "Hub RunOptions",
        "judge.openai": "OpenAIJudge",
        "metric": "load_metric",
        "models.usage": "Usage",
        "report.by_output": "OutputTable",
        "report.ranking": "Ranking compare_all",
        "report.report": "Report",
    }.items()
    for name in names.split()
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib_metadata import version

        return version("metrichub")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"metrichub.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
