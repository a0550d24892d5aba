"""Signatures: what was measured and reduced, by which definition, and by whose code."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from metrichub.catalog.parameters import choices_of
from metrichub.catalog.registry import origin
from metrichub.errors import ParameterError
from metrichub.metric import FunctionMetric, Metric

_FORM = (
    r"(?P<label>.*?)(\|definition:(?P<definition>\d+))?(\|extraction:(?P<extraction>\d+))?"
    r"(\|prompts:(?P<prompts>[0-9a-f]{8}))?"
    r"(\|source:(?P<source>[0-9a-f]{8}|unknown))?"
    r"\|(?P<home>[^|:]+):(?P<code>[^|]+)"
    r"\|reduce:(?P<reduction>[^|]*)(\|repeats:(?P<repeats>\d+))?"
)
_LOCAL = "local"
PROMPTS_UNKNOWN = (
    "prompts unknown: the report doesn't contain the judge's prompts, so comparisons can't check "
    "them"
)
Reduction = (
    Literal["best", "worst", "mean", "max", "min", "first"]
    | Callable[[NDArray[np.float64]], NDArray[np.float64]]
)
REDUCTIONS: tuple[str, ...] = choices_of(Reduction)


def prompts_hash(templates: Mapping[str, Any]) -> str:
    """The first 8 hexadecimal digits of a SHA-256 of what `Metric.templates` gives; "" of nothing.

    The order of the prompts is irrelevant; that of the examples isn't, as a model reads them in it.
    """
    if not templates:
        return ""
    return hashlib.sha256(json.dumps(sorted(templates.items())).encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Signature:
    """How one metric measured: "bleu(max_order=4)|definition:1|metrichub:0.1.0|reduce:best".

    All but `versions` decides what is comparable. `home` is the distribution that brings the
    metric, or "local:module" for one that isn't installed, which has no version; a report merged
    from several versions' has them all, "metrichub:0.1.0,0.2.0". `repeats` is 0 for a single run.
    `prompts` is the hash of `templates`, a judge model's prompts; "" if no model was asked, or if
    they aren't known, as in older reports. `source` is the hash of a function's source, or
    "unknown"; "" for other metrics. `extraction` is the definition of how answers are read, 1 if
    there is none.
    """

    label: str
    definition: int
    home: str
    versions: tuple[str, ...]
    reduction: str
    repeats: int = 0
    prompts: str = ""
    source: str = ""
    extraction: int = 1
    templates: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> Signature:
        """The signature that a text is; one without a definition is of the first.

        Raises:
            ValueError: the text isn't a valid signature.
        """
        match = re.fullmatch(_FORM, text, re.DOTALL)
        if not match:
            raise ValueError(f"{text!r} isn't a valid signature")
        home, code = match["home"], match["code"]
        local = home == _LOCAL
        return cls(
            match["label"],
            int(match["definition"] or 1),
            f"{home}:{code}" if local else home,
            () if local else tuple(code.split(",")),
            match["reduction"],
            int(match["repeats"] or 0),
            match["prompts"] or "",
            match["source"] or "",
            int(match["extraction"] or 1),
        )

    @classmethod
    def joined(cls, parts: Sequence[Signature]) -> Signature:
        """The signature of parts that are comparable, with the versions of all.

        Its prompts are known if those of all parts are.
        """
        versions = dict.fromkeys(version for part in parts for version in part.versions)
        least = min(parts, key=lambda part: bool(part.prompts))
        return replace(least, versions=tuple(versions))

    def agrees(self, other: Signature) -> bool:
        """Whether both measured the same in the same way, whatever their versions.

        Prompts that aren't known are taken to be the same.
        """
        ignored: dict[str, Any] = {"versions": ()}
        if not (self.prompts and other.prompts):
            ignored["prompts"] = ""
        return replace(self, **ignored) == replace(other, **ignored)

    def settings(self) -> dict[str, str]:
        """The parts that have to be equal to compare, as the signature writes them, by name.

        The label is a single setting if it isn't Python, as where a parameter is an object.
        """
        others = {
            "definition": f"definition:{self.definition}",
            "home": self.home,
            "reduce": f"reduce:{self.reduction}",
            "repeats": f"repeats:{self.repeats}",
        }
        if self.extraction > 1:
            others["extraction"] = f"extraction:{self.extraction}"
        try:
            call = ast.parse(self.label, mode="eval").body
        except (SyntaxError, ValueError):
            return {"label": self.label, **others}
        if not isinstance(call, ast.Call):
            return {"label": self.label, **others}
        parameters = {str(k.arg): f"{k.arg}={ast.unparse(k.value)}" for k in call.keywords}
        return {"label": ast.unparse(call.func), **parameters, **others}

    def other_prompts(self, other: Signature) -> list[str]:
        """The names of the prompts that differ."""
        names = sorted({*self.templates, *other.templates})
        mine, its = self.templates, other.templates
        return [n for n in names if json.dumps(mine.get(n)) != json.dumps(its.get(n))]

    def __str__(self) -> str:
        home = f"{self.home}:{','.join(self.versions)}" if self.versions else self.home
        prompts = f"|prompts:{self.prompts}" if self.prompts else ""
        source = f"|source:{self.source}" if self.source else ""
        repeats = f"|repeats:{self.repeats}" if self.repeats else ""
        extraction = f"|extraction:{self.extraction}" if self.extraction > 1 else ""
        head = f"{self.label}|definition:{self.definition}{extraction}{prompts}{source}"
        return f"{head}|{home}|reduce:{self.reduction}{repeats}"


def signature_of(metric: Metric, reduction: Reduction | None) -> Signature:
    """A metric with all its parameters, definition and prompts, its package, and the reduction."""
    entry = origin(type(metric))
    # What a script's __main__ is called in the processes that it starts.
    module = "__main__" if (name := type(metric).__module__) == "__mp_main__" else name
    home = entry.distribution if entry else f"local:{module}"
    versions = (entry.version,) if entry else ()
    reduced, templates = reduction_name(metric, reduction), metric.templates()
    definition = 1
    for label in filter(None, (metric.extraction, metric.reference_extraction)):
        from metrichub.metric.extraction import extraction

        # Definitions only rise, and so does this.
        definition += extraction(label).definition - 1
    return Signature(
        metric.label(),
        metric.card.definition,
        home,
        versions,
        reduced,
        prompts=prompts_hash(templates),
        source=metric.source if isinstance(metric, FunctionMetric) else "",
        extraction=definition,
        templates=templates,
    )


def reduction_name(metric: Metric, how: Reduction | None) -> str:
    """The reduction that a metric gets: by default "best", or "mean" where nothing is better.

    Raises:
        ParameterError: no such reduction, or "best" for a metric without a direction.
    """
    better = metric.card.scores["score"].better
    if how is None:
        return "mean" if better == "neither" else "best"
    if callable(how):
        return getattr(how, "__name__", "custom")
    if how not in REDUCTIONS:
        raise ParameterError(None, "reduce", how, f"one of {', '.join(REDUCTIONS)}, or a function")
    if how in ("best", "worst") and better == "neither":
        raise ParameterError(
            metric.name,
            "reduce",
            how,
            "mean, max, min or first, as its card says neither higher nor lower is better",
        )
    return how
