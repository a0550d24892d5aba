"""The blocks of a card that are generated: parameters and bounds, and agreement from its file."""

from __future__ import annotations

import textwrap

from metrichub.catalog.card import Card, bounds_table
from metrichub.catalog.parameters import Parameter, parameters_of
from metrichub.catalog.studies import agreement_block, definition_of, read_studies
from metrichub.evaluation.signature import prompts_hash
from metrichub.metric import GATHERED, CorpusMetric, Metric, has_two_passes, load_metric
from metrichub.testing.under_test import Broken, MetricUnderTest

_PROMPTS = "|prompts:"


def generated(under_test: MetricUnderTest) -> dict[str, str]:
    """The generated blocks of a card as they have to be.

    The bounds, the parameters if there are any, and the agreement if studies of it are shown.
    """
    blocks = {"bounds": bounds_table(under_test.entry.card) + _gathered(under_test.metric)}
    studies = read_studies(under_test.entry.folder)
    unknown = [
        study
        for study in studies
        if _PROMPTS not in study.signature and load_metric(study.spec).templates()
    ]
    if agreement := agreement_block(studies, under_test.entry.card.tags.task, unknown):
        blocks["agreement"] = agreement
    if parameters := parameters_of(under_test.entry.load()):
        head = "| parameter | values | default | meaning |\n| --- | --- | --- | --- |\n"
        table = head + "".join(map(_row, parameters))
        blocks = {"parameters": table + _presets(under_test.entry.card), **blocks}
    return blocks


def _presets(card: Card) -> str:
    """A table of the presets and what each sets, as in the code."""
    rows = [
        f"| `{card.name}({name})` | "
        + ", ".join(f"`{key}={value!r}`" for key, value in parameters.items())
        + " |\n"
        for name, parameters in card.presets.items()
    ]
    return "\n| preset | sets |\n| --- | --- |\n" + "".join(rows) if rows else ""


def _gathered(metric: Metric) -> str:
    """What a corpus metric needs in one place, of samples on several machines."""
    if not isinstance(metric, CorpusMetric):
        return ""
    is_gathered = {
        "rows": f"the rows of at most {GATHERED:,} samples are",
        "vocabulary": "their vocabulary is",
        "sums": "sums over them are",
    }[metric.gathers]
    twice = "they are read twice, and " if has_two_passes(metric) else ""
    note = f"Scores come from all samples together: across machines, {twice}{is_gathered} gathered."
    return "\n".join(["", *textwrap.wrap(note, 100), ""])


def _row(parameter: Parameter) -> str:
    default = "required" if parameter.required else f"`{parameter.default!r}`"
    return f"| `{parameter.name}` | {parameter.values} | {default} | {parameter.meaning} |\n"


def studies_agree(under_test: MetricUnderTest) -> None:
    """Raise `Broken` if a study has other parameters or prompts, or is of another definition."""
    entry = under_test.entry
    for study in read_studies(entry.folder):
        metric = load_metric(study.spec)
        name, today = study.data["name"], f"{metric.label()}|definition:{entry.card.definition}"
        measured = definition_of(study.signature)
        if _PROMPTS in measured:
            today += f"{_PROMPTS}{prompts_hash(metric.templates())}"
        if measured != today:
            raise Broken(
                f"agreement.json has {name} for {measured}, and the metric is {today} now; "
                f'measure it again: metrichub agreement FILE -m "{study.spec}" --human COLUMN '
                f"--write {name}"
            )
