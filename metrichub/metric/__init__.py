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
)
from metrichub.metric.loading import (
    SOURCE_UNKNOWN,
    FunctionMetric,
    MetricLike,
    load_metric,
    load_metrics,
    needed_by,
    recorded_metrics,
    with_extraction,
)
from metrichub.metric.published import Checkpoint, Published

__all__ = [
    "MAX_GATHERED",
    "SOURCE_UNKNOWN",
    "Array",
    "Averaging",
    "Checkpoint",
    "CorpusMetric",
    "FunctionMetric",
    "Gathers",
    "Measured",
    "Metric",
    "MetricLike",
    "Published",
    "Resampler",
    "Row",
    "Scores",
    "TraceItem",
    "Unscored",
    "WithTrace",
    "arguments_of",
    "has_sample_scores",
    "load_metric",
    "load_metrics",
    "recorded_metrics",
    "measuring",
    "needed_by",
    "takes_count",
    "with_extraction",
]
