"""Figure: one plot of a report, as its reader asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metrichub.errors import ReportError, did_you_mean
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.merge import comparable
from metrichub.report.html.outputs import Scores
from metrichub.report.html.plots import Plot, comparison_plot, distributions, scatters


def figure(
    report: Measurement, metric: str | Sequence[str] | None, output: str, other: Measurement | None
) -> Plot:
    """The plot of one metric, of several against each other, or of two reports.

    Raises:
        ReportError: see `Report.plot`.
    """
    names = [metric] if isinstance(metric, str) else list(metric or report.results)
    if other is None:
        chosen = [_scores(name, output, {"": report}) for name in names]
        return scatters(chosen) if metric and len(chosen) > 1 else distributions(chosen)
    common = comparable(report, other)
    systems = {"this": report, "other": other}
    return comparison_plot(
        [_scores(name, output, systems) for name in (names if metric else common)]
    )


def _scores(metric: str, output: str, systems: Mapping[str, Measurement]) -> Scores:
    values = {}
    for name, report in systems.items():
        if metric not in report.results:
            near = did_you_mean(metric, report.results)
            raise ReportError(f"no metric {metric!r} in the report{near}")
        result = report.results[metric]
        outputs = result.samples()
        if output not in outputs:
            near = did_you_mean(output, outputs)
            raise ReportError(
                f"{metric} has no output {output!r}{near}; it has: {', '.join(outputs)}"
            )
        values[name] = outputs[output]
    label = metric if output == "score" else f"{metric} {output}"
    return Scores(label, result.metric.card.better(output), values)
