"""The metric under test, with ordinary and hostile samples for it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from metrichub import Entry, Hub, Report, Scale
from metrichub.catalog.parameters import parameters_of
from metrichub.catalog.spec import Spec
from metrichub.data.columns import CONVERSATIONS, column_of
from metrichub.errors import without_warnings
from metrichub.metric import Metric

WORDS = (
    "the river rose early in the spring and the lower fields lay under water for 9 days",
    "a letter came from the north on 3 May, and nobody in the house could read the hand",
    "it rained; the market closed at 4.30 and the 12 carts went home by the old road",
    "she counted the lamps along the quay, forgot and counted 40 of them once more",
    "2 ships were seen off the point before sunrise but neither of them came any nearer",
    "the clock in the hall had stopped at 10.15, and the dust upon it had not been disturbed",
    "there is no such thing as 1 small key when the 2 large doors behind it have been locked",
    "the boy carried 7 lanterns, the dog carried the stick, and neither dropped anything",
)
HOSTILE = (
    "",
    " ",
    "\n",
    "\t a \u00a0 b ",
    "a\0b\0",
    "😀👩‍👩‍👧 ok 🇩🇪",
    "שלום עולם, זה מבחן",
    "مرحبا بالعالم ١٢٣",
    "今天天气很好。明天也是",
    "हिन्दी में एक वाक्य",
    "e\u0301cole \u0301\u0301",
    "\ud800 lone",
    "a\u2028b\u2029c\x85d",
    "...",
    "!?",
    "&lt;tag&gt; <skipped> -\n x",
    "ﬁ ſ İ ς K",
    "1,000.50 3.,4",
    "a" * 300,
)


def conversation_with(text: str) -> list[dict[str, Any]]:
    """A conversation in which all say the text, and a tool is called with it."""
    call = {"id": "1", "function": {"name": "look_up", "arguments": json.dumps({"text": text})}}
    return [
        {"role": "user", "content": text},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": text},
        {"role": "assistant", "content": text},
    ]


class Broken(AssertionError):
    """A law that a metric breaks, and how."""


def hold(condition: bool, message: str) -> None:
    """Raise `Broken` with the message unless the condition is true."""
    if not condition:
        raise Broken(message)


@dataclass(frozen=True)
class MetricUnderTest:
    """The metric under test: its entry, and columns of ordinary samples for it.

    A metric that plain texts don't fit brings its own: a file `samples.jsonl` beside its card,
    one object a sample with the columns as keys. `parameters` are given to it off their defaults,
    such as a model that is on this machine.
    """

    entry: Entry
    samples: Mapping[str, Sequence[Any]] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def metric(self) -> Metric:
        """The metric with its defaults, but for what is given."""
        metric = self.entry.load()(**self.settings)
        if not isinstance(metric, Metric):
            raise Broken(f"{self.entry.value} isn't a subclass of metrichub.Metric")
        return metric

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The parameters that are given, and a judge or an embedder that needs no network."""
        # Where only a model could judge, chance does: the laws are about the arithmetic.
        judge = "chance" if self.entry.card.judge == "model" else "offline"
        names = {parameter.name for parameter in parameters_of(self.entry.load())}
        services = {"judge": judge, "embedder": "offline"}
        return {key: name for key, name in services.items() if key in names} | {**self.parameters}

    @cached_property
    def extra_columns(self) -> Mapping[str, Sequence[Any]] | None:
        """The columns that were passed or are next to the card; None if plain texts will do."""
        path = self.entry.folder / "samples.jsonl"
        if self.samples is not None or not path.exists():
            return self.samples
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return {column: [row[column] for row in rows] for column in rows[0]}

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """Eight ordinary samples with a prediction that shares words with its reference."""
        if self.extra_columns is not None:
            return {name: list(values) for name, values in self.extra_columns.items()}
        return {column: self._ordinary(column) for column in self.needed}

    @property
    def spec(self) -> str:
        """The spec by which a hub loads the metric."""
        return str(Spec(self.entry.qualified, self.settings))

    @property
    def needed(self) -> list[str]:
        """The columns that the metric reads."""
        return list(dict.fromkeys(column_of(name) for name in self.metric.inputs()))

    def scales(self) -> dict[str, Scale]:
        """The card's scale of every output."""
        scales = {output: self.entry.card.scale(output) for output in self.metric.outputs()}
        return {output: scale for output, scale in scales.items() if scale}

    def evaluate(self, columns: Mapping[str, Any], **parameters: Any) -> Report:
        """The report of the metric on some columns, with some parameters changed."""
        metric = replace(self.metric, **parameters)
        with without_warnings():
            return Hub(metric, block_characters=400).evaluate(**columns)

    @staticmethod
    def _ordinary(column: str) -> list[Any]:
        mixed = [
            " ".join([*a.split()[:9], *b.split()[5:]])
            for a, b in zip(WORDS, WORDS[1:] + WORDS[:1], strict=True)
        ]
        if column == "predictions":
            return mixed
        if column == "contexts":
            return [[text, other] for text, other in zip(WORDS, reversed(WORDS), strict=True)]
        if column == "sources":
            return [f"{text}. {other}." for text, other in zip(WORDS, reversed(WORDS), strict=True)]
        return [conversation_with(t) for t in WORDS] if column in CONVERSATIONS else list(WORDS)
