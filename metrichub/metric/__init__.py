"""What an author writes, `Metric` or `CorpusMetric`, and how metrics are loaded by their names."""

from metrichub.metric.base import (
    Array,
    Averaging,
    Measured,
    Metric,
    Row,
    Scores,
    TraceItem,
    Unscored,
    WithTrace,
    arguments_of,
    has_sample_scores,
    measuring,
    takes_count,
)
from metrichub.metric.corpus import (
    MAX_GATHERED,
    CorpusMetric,
    Gathers,
    Resampler,
    has_two_passes,
)
from metrichub.metric.loading import (
    SOURCE_UNKNOWN,
    FunctionMetric,
    MetricLike,
    load_metric,
    load_metrics,
    needed_by,
    with_extraction,
)
from metrichub.metric.published import Checkpoint, Published

__all__ = [
    "Array",
    "Averaging",
    "Measured",
    "Metric",
    "Row",
    "Scores",
    "TraceItem",
    "Unscored",
    "WithTrace",
    "arguments_of",
    "has_sample_scores",
    "measuring",
    "takes_count",
    "MAX_GATHERED",
    "CorpusMetric",
    "Gathers",
    "Resampler",
    "has_two_passes",
    "SOURCE_UNKNOWN",
    "FunctionMetric",
    "MetricLike",
    "load_metric",
    "load_metrics",
    "needed_by",
    "with_extraction",
    "Checkpoint",
    "Published",
]
