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
    GATHERED,
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
)

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
    "GATHERED",
    "CorpusMetric",
    "Gathers",
    "Resampler",
    "has_two_passes",
    "SOURCE_UNKNOWN",
    "FunctionMetric",
    "MetricLike",
    "load_metric",
    "load_metrics",
]
