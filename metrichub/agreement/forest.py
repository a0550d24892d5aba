"""A forest plot: every metric's agreement with its interval, and the human ceiling as a line."""

from __future__ import annotations

from math import ceil, isnan
from typing import TYPE_CHECKING

from metrichub.agreement.agreement import CEILING, CHANCE, Agreement, AgreementRow
from metrichub.errors import MissingDependency

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ACROSS = 3


def forest(agreement: Agreement) -> Figure:
    """A matplotlib figure with a panel for every dimension, level and coefficient.

    Raises:
        MissingDependency: matplotlib isn't installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependency("a plot", "matplotlib", "pip install 'metrichub[plots]'") from None
    panels: dict[tuple[str, str, str], list[AgreementRow]] = {}
    for row in agreement.rows:
        panels.setdefault((row.dimension, row.level, row.coefficient), []).append(row)
    across = min(_ACROSS, len(panels))
    down = ceil(len(panels) / across)
    height = 0.9 + 0.3 * len(agreement.metrics)
    figure = Figure(figsize=(1 + 3.2 * across, down * height), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False, sharey=True).ravel()
    for panel, (place, rows) in zip(axes, panels.items(), strict=False):
        _draw(panel, place, rows)
    for panel in axes[len(panels) :]:
        panel.remove()
    return figure


def _draw(axes: Axes, place: tuple[str, str, str], rows: list[AgreementRow]) -> None:
    """The rows of a panel from above, with lines for the ceiling and for chance."""
    lines = {CEILING: ("tab:green", "-"), CHANCE: ("0.5", ":")}
    metrics = [row for row in rows if row.metric not in lines]
    for y, row in enumerate(metrics):
        if isnan(row.value):
            continue
        if not isnan(row.low):
            axes.plot([row.low, row.high], [y, y], color="tab:blue", linewidth=1.5)
        axes.plot([row.value], [y], "o", color="tab:blue", markersize=4)
    for row in rows:
        if row.metric in lines and not isnan(row.value):
            color, style = lines[row.metric]
            axes.axvline(row.value, color=color, linestyle=style, label=row.metric)
    axes.set_yticks(range(len(metrics)), [row.metric for row in metrics])
    axes.set_ylim(len(metrics) - 0.5, -0.5)
    dimension, level, coefficient = place
    axes.set_title(dimension, fontsize="medium")
    axes.set_xlabel(f"{coefficient}, {level}")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize="x-small", loc="best")
