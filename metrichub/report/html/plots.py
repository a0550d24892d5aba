"""Plots: figures of sample scores, in colors that print well and that everyone can distinguish."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from metrichub.errors import MissingDependency, ReportError, did_you_mean, printable
from metrichub.evaluation.measurement import Measurement
from metrichub.evaluation.merge import comparable
from metrichub.report.html.charts import MOST, bin_edges, is_dense, win_counts
from metrichub.report.html.records import Scores, Values

try:
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator
except ImportError:
    raise MissingDependency(
        "a plot of a report", "matplotlib", "pip install 'metrichub[plots]'"
    ) from None

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of Okabe and Ito (2008), without the yellow that paper swallows."""

DASHES: Sequence[Any] = ("solid", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))
"""Line styles tell systems apart where colors don't."""

_SETTINGS: Any = {
    "axes.edgecolor": "#444444",
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "font.family": "sans-serif",
    "font.size": 8,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "metrichub",
    # Names of files and metrics aren't TeX.
    "text.parse_math": False,
}


class Plot(Figure):
    """A figure that a notebook shows by itself, whatever backend it has."""

    def _repr_svg_(self) -> str:
        return svg(self)


def plot_report(
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


def distributions(outputs: Sequence[Scores]) -> Plot:
    """A histogram for each output, with one line for each system."""
    figure, axes = _grid(len(outputs), 2.2)
    with matplotlib.rc_context(_SETTINGS):
        for ax, output in zip(axes, outputs, strict=True):
            finite = {name: v[np.isfinite(v)] for name, v in output.systems.items()}
            all_values = np.concatenate([*finite.values(), np.zeros(0)])
            edges = bin_edges(all_values)
            for i, (name, values) in enumerate(finite.items()):
                counts, _ = np.histogram(values, edges)
                look: dict[str, Any] = {"color": _color(i), "label": _label(name)}
                if len(finite) == 1:
                    ax.stairs(counts, edges, fill=True, **look)
                else:
                    ax.stairs(counts, edges, linestyle=DASHES[i % len(DASHES)], lw=1.5, **look)
            ax.set_xlabel(_label(output.label))
            ax.set_ylabel("samples")
            ax.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
        if outputs and len(outputs[0].systems) > 1:
            lines, labels = axes[0].get_legend_handles_labels()
            figure.legend(lines, labels, loc="outside upper left", ncols=min(4, len(labels)))
    return figure


def scatters(outputs: Sequence[Scores]) -> Plot:
    """Each of the first outputs against each other, of the first system."""
    columns = [(o.label, next(iter(o.systems.values()))) for o in outputs[:MOST]]
    pairs = [(x, y) for j, y in enumerate(columns) for x in columns[:j]]
    figure, axes = _grid(len(pairs), 2.8)
    with matplotlib.rc_context(_SETTINGS):
        for ax, (x, y) in zip(axes, pairs, strict=True):
            _points(ax, x[1], y[1])
            ax.set_xlabel(_label(x[0]))
            ax.set_ylabel(_label(y[0]))
    return figure


def comparison_plot(outputs: Sequence[Scores]) -> Plot:
    """The second system's scores against the first's, with the line where both are equal."""
    figure, axes = _grid(len(outputs), 2.8)
    with matplotlib.rc_context(_SETTINGS):
        for ax, output in zip(axes, outputs, strict=True):
            (first, x), (second, y) = list(output.systems.items())[:2]
            _points(ax, x, y)
            both = np.concatenate((x, y))
            both = both[np.isfinite(both)]
            ends = [both.min(), both.max()] if len(both) else [0, 1]
            ax.plot(ends, ends, color="#444444", lw=1, linestyle=(0, (4, 3)))
            ax.set_xlabel(f"{_label(output.label)} of {_label(first)}")
            ax.set_ylabel(f"{_label(output.label)} of {_label(second)}")
            ax.set_title(win_counts(output), loc="left")
    return figure


def svg(figure: Figure) -> str:
    """The figure as SVG; two figures of the same scores give the same."""
    out = io.StringIO()
    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        # The viewer has the fonts that matplotlib misses when it measures a name.
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        figure.savefig(out, format="svg", dpi=144, metadata={"Date": None})
    return out.getvalue()


def _grid(number: int, height: float) -> tuple[Plot, list[Axes]]:
    """A figure with a number of axes, in rows of up to three."""
    columns = min(max(number, 1), 3)
    rows = -(-max(number, 1) // columns)
    with matplotlib.rc_context(_SETTINGS):
        figure = Plot(figsize=(3.2 * columns, height * rows), layout="constrained")
        axes = [figure.add_subplot(rows, columns, i + 1) for i in range(number)]
    return figure, axes


def _points(ax: Axes, x: Values, y: Values) -> None:
    finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[finite], y[finite]
    if not is_dense(x, y):
        ax.scatter(x, y, s=20 if len(x) < 200 else 9, color=_color(0), alpha=0.5, linewidths=0)
        return
    ax.hexbin(x, y, gridsize=36, bins="log", mincnt=1, cmap="Blues", vmin=0.2, rasterized=True)


def _color(number: int) -> str:
    return OKABE_ITO[number % len(OKABE_ITO)]


def _label(name: str) -> str:
    """A name that fits on an axis, without characters that XML has no room for."""
    name = printable(name)
    return name if len(name) <= 32 else f"…{name[-31:]}"
