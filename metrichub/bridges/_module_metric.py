"""A module of evaluate as a metric of a hub: what it takes, what it gives, and its card."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from metrichub import Card, Scale
from metrichub.authoring import CorpusMetric, Resampler
from metrichub.bridges._modules import Feature, Origin, features_of, forget, instance
from metrichub.data.columns import column_of
from metrichub.data.values import Objects
from metrichub.errors import MetricError, UnknownParameter, what

_MOST_RESULTS = 256
_RESULTS: OrderedDict[tuple[str, bytes], _Computed] = OrderedDict()
"""The last results, as a report asks for its scores many times, and a module takes long."""
_OUTPUTS: dict[str, tuple[str, ...]] = {}
"""The outputs that each module returned last, by its label."""
_Value = TypeVar("_Value")


class _Computed(NamedTuple):
    """A result of a module: numbers, or else lists with a number for each sample."""

    numbers: Mapping[str, float]
    lists: Mapping[str, Sequence[float]]

    @classmethod
    def of(cls, result: object, samples: int, module: str) -> _Computed:
        """The numbers in a result, which is one itself or a mapping.

        Raises:
            MetricError: there are none.
        """
        outputs = result if isinstance(result, Mapping) else {"score": result}
        values = {str(name): np.asarray(value) for name, value in outputs.items()}
        read = {name: v.astype(np.float64) for name, v in values.items() if v.dtype.kind in "biuf"}
        numbers = {name: float(v) for name, v in read.items() if not v.ndim}
        lists = {name: v.tolist() for name, v in read.items() if v.shape == (samples,)}
        if not numbers and not lists:
            raise MetricError(f"{module} returned {what(result)}, which contains no number")
        return cls(numbers, {} if numbers else lists)


@dataclass(frozen=True, kw_only=True)
class ModuleMetric(CorpusMetric):
    """A module of evaluate as a metric; `metrichub.bridges.evaluate.load` makes it."""

    path: str
    config_name: str | None = None
    revision: str | None = None
    code: str = ""
    key: str | None = None
    better: str = "neither"
    per_sample: bool = False
    resampled: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)

    block_characters = 1 << 62  # all samples at once, so that their numbers are right

    @property
    def origin(self) -> Origin:
        """Which module it is."""
        return Origin(self.path, self.config_name, self.revision, self.code)

    def module(self) -> Any:
        """The module for this thread."""
        return instance(self.origin)

    @property
    def card(self) -> Card:  # type: ignore[override]  # of each metric, not of the class
        """The module's description of itself as a card."""
        info, name = self.module().info, self.origin.name
        description = " ".join(info.description.split())
        summary = re.split(r"(?<=[.!?]) ", description, maxsplit=1)[0]
        body = f"\n## Description\n\n{info.description.strip()}\n"
        if "@" in info.citation:
            body += f"\n## Citation\n\n```bibtex\n{info.citation.strip()}\n```\n"
        scales = {output: Scale(better=self.better) for output in self.outputs()}
        return Card(
            f"evaluate:{name}", name, summary, self.inputs(), scales,
            license=str(info.license or ""), body=body,
        )  # fmt: skip

    def features(self) -> tuple[Feature, ...]:
        """The columns that the module takes."""
        return tuple(features_of(self.origin.name, self.module().features))

    def inputs(self) -> tuple[str, ...]:
        """The columns, each with all items of a sample."""
        return tuple(column_of(feature.name) for feature in self.features())

    @property
    def text_of_objects(self) -> dict[str, Objects]:
        """The columns in which a sample's value is a number, a label sequence or an object."""
        ways = {column_of(feature.name): feature.text_of for feature in self.features()}
        return {column: text_of for column, text_of in ways.items() if text_of}

    def outputs(self) -> tuple[str, ...]:
        """The outputs that the module returned last; "score" alone before its first call."""
        return _OUTPUTS.get(self.label(), ("score",))

    def label(self) -> str:
        """The module with the hash of its code, and what was chosen."""
        chosen = {"config_name": self.config_name, "revision": self.revision, "score": self.key}
        settings = {"code": self.code} | {name: value for name, value in chosen.items() if value}
        settings |= self.parameters
        call = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        module = f"evaluate:{self.origin.name}({call})"
        return module if self.name == self.origin.name else f"{self.name} = {module}"

    def check(self) -> None:
        """Raise `UnknownParameter` for a parameter that the module's `compute` doesn't take."""
        if any(taken.kind is taken.VAR_KEYWORD for taken in self._signature().values()):
            return
        names = self.parameter_names()
        for name in self.parameters:
            if name not in names:
                raise UnknownParameter(self.name, name, names)

    def parameter_names(self) -> list[str]:
        """The parameters of the module's `compute` beside the columns."""
        columns = {feature.name for feature in self.features()}
        return [
            name
            for name, taken in self._signature().items()
            if name not in columns and taken.kind not in (taken.VAR_KEYWORD, taken.VAR_POSITIONAL)
        ]

    def _signature(self) -> Mapping[str, inspect.Parameter]:
        # evaluate's own `compute` takes anything.
        return inspect.signature(self.module()._compute).parameters  # noqa: SLF001

    def measure(self, **columns: Sequence[Sequence[str]]) -> list[tuple[Any, ...]]:
        """Each sample's values as the module takes them."""
        features = self.features()
        return [
            tuple(
                feature.value(items, sample, self.name)
                for feature, items in zip(features, row, strict=True)
            )
            for sample, row in enumerate(zip(*columns.values(), strict=True))
        ]

    def conclude(self, rows: Sequence[Any]) -> Mapping[str, float]:
        """The numbers that the module gives, or the means of those of the samples."""
        computed = self._computed(rows)
        means = {name: float(np.mean(values)) for name, values in computed.lists.items()}
        scores = self._named(computed.numbers or means)
        _OUTPUTS[self.label()] = tuple(scores)
        return scores

    def samples(self, rows: Sequence[Any]) -> Mapping[str, Sequence[float]]:
        """The module's own numbers of samples; else what it gives for each separately, or `nan`."""
        lists, outputs = self._lists(rows), self.conclude(rows)
        if lists or not self.per_sample:
            return lists or {name: [float("nan")] * len(rows) for name in outputs}
        each = [self.conclude([row]) for row in rows]
        return {name: [scores[name] for scores in each] for name in outputs}

    def resampler(self, rows: Sequence[Any]) -> Resampler | None:
        """The means of resamples, where the module gives a number for each sample; or `nan`."""
        outputs = tuple(self.conclude(rows))
        lists = {name: np.array(values) for name, values in self._lists(rows).items()}
        if lists:
            return lambda counts: {
                name: counts @ values / counts.sum(axis=1) for name, values in lists.items()
            }
        if self.resampled:
            return None
        return lambda counts: {name: np.full(len(counts), np.nan) for name in outputs}

    def _lists(self, rows: Sequence[Any]) -> Mapping[str, Sequence[float]]:
        computed = self._computed(rows)
        return self._named(computed.lists) if computed.lists else {}

    def _named(self, outputs: Mapping[str, _Value]) -> dict[str, _Value]:
        """The same, the metric's score first, under that name."""
        usual = ("score", self.origin.name, self.module().name)
        key = self.key or next((name for name in usual if name in outputs), next(iter(outputs)))
        if key not in outputs:
            raise MetricError(f"{self.name} has no output {key!r}; it has {', '.join(outputs)}")
        others = {name: value for name, value in outputs.items() if name not in (*usual, "score")}
        return {"score": outputs[key], **others}

    def _computed(self, rows: Sequence[Any]) -> _Computed:
        digest = hashlib.blake2b(digest_size=16)
        for row in rows:
            digest.update(repr(row).encode())
        key = (self.label(), digest.digest())
        if key not in _RESULTS:
            _RESULTS[key] = self._compute(rows)
            while len(_RESULTS) > _MOST_RESULTS:
                _RESULTS.popitem(last=False)
        return _RESULTS[key]

    def _compute(self, rows: Sequence[Any]) -> _Computed:
        columns = {
            feature.name: list(values)
            for feature, values in zip(self.features(), zip(*rows, strict=True), strict=True)
        }
        module = self.module()
        try:
            result = module.compute(**columns, **self.parameters)
        except Exception:
            forget(self.origin)
            raise
        return _Computed.of(result, len(rows), self.name)
