"""The blocks of a card that are generated from the metric: its parameters and bounds."""

from __future__ import annotations

from metrichub.catalog.card import bounds_table
from metrichub.catalog.parameters import Parameter, parameters_of
from metrichub.testing.under_test import MetricUnderTest


def generated(under_test: MetricUnderTest) -> dict[str, str]:
    """The generated blocks of a card as they have to be: the parameters (if any) and the bounds."""
    blocks = {"bounds": bounds_table(under_test.entry.card)}
    if parameters := parameters_of(type(under_test.metric)):
        head = "| parameter | values | default | meaning |\n| --- | --- | --- | --- |\n"
        blocks = {"parameters": head + "".join(map(_row, parameters)), **blocks}
    return blocks


def _row(parameter: Parameter) -> str:
    default = "required" if parameter.required else f"`{parameter.default!r}`"
    return f"| `{parameter.name}` | {parameter.values} | {default} | {parameter.meaning} |\n"
