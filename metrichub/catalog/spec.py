"""Metric specs: text such as "bleu2 = bleu(max_order=2)", and what it stands for."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from metrichub.errors import SpecError

_SHAPE = re.compile(
    r"""\s*(?:(?P<alias>[A-Za-z_]\w*)\s*=\s*)?      # bleu2 =
        (?P<metric>(?:[A-Za-z0-9][\w.-]*/)?[A-Za-z_]\w*)  # bleu, or my-dist/bleu
        \s*(?:\((?P<arguments>.*)\))?\s*            # (max_order=2)
    """,
    re.VERBOSE | re.DOTALL,
)
_PRESET = re.compile(r"\A\s*([A-Za-z][\w.+-]*)\s*(?=,|\Z)")
"""A preset without quotes, also where Python would read an expression: wmt, chrf++, rouge-score."""
_LATE_PRESET = re.compile(r"(?<=[\w'\")\]}])\s*,\s*([A-Za-z][\w.+-]*)\s*(?=,|\Z)")
_BARE_PATH = re.compile(r"""(\w+)\s*=\s*([^\s'"(),=]*/[^\s'"(),=]*)""")
"""A parameter that is set to a path without quotes: model=./mine."""

Presets = Callable[[str, str], Mapping[str, object]]
"""Gives the parameters that a metric's preset sets, from the names of both."""


@dataclass(frozen=True)
class Spec:
    """A metric's name, its parameters, and the key that its results stand under.

    `metric` may be qualified by a distribution: "my-dist/bleu".
    """

    metric: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    alias: str | None = None

    @classmethod
    def parse(cls, text: str, presets: Presets | None = None) -> Spec:
        """The spec of a text; a preset becomes the parameters that it sets.

        >>> Spec.parse("bleu2 = bleu(max_order=2)")
        Spec(metric='bleu', parameters={'max_order': 2}, alias='bleu2')

        Raises:
            SpecError: the text isn't a valid spec, a value isn't a Python literal, or it has a
                preset and there are no `presets` to look it up.
        """
        match = _SHAPE.fullmatch(text)
        if not match:
            names = re.split(r"\s*,\s*|\s+", text.strip())
            if len(names) > 1 and all(map(str.isidentifier, names)):
                error = SpecError(f"{text!r} names several metrics")
                raise error.with_remedy("list_metrics", str(names))
            raise SpecError(
                f"{text!r} isn't a valid metric; write a name, for example 'bleu', "
                "'bleu(max_order=2)' or 'bleu2 = bleu(max_order=2)'"
            )
        preset, parameters = _arguments(text, match["arguments"])
        if preset is not None:
            if presets is None:
                raise _not_by_name(text)
            parameters = {**presets(match["metric"], preset), **parameters}
        return cls(match["metric"], parameters, match["alias"])

    def __str__(self) -> str:
        """The shortest text that parses to this spec."""
        arguments = ", ".join(f"{key}={value!r}" for key, value in self.parameters.items())
        call = f"{self.metric}({arguments})" if arguments else self.metric
        return f"{self.alias} = {call}" if self.alias else call


def _arguments(text: str, arguments: str | None) -> tuple[str | None, dict[str, object]]:
    """The preset, which needs no quotes, and the parameters by name."""
    arguments = _PRESET.sub(lambda match: repr(match[1]), arguments or "")
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
    except (SyntaxError, ValueError) as error:
        if late := _LATE_PRESET.search(arguments):
            first = f"{late[1]}, {arguments[: late.start()]}{arguments[late.end() :]}"
            way = f"{text.partition('(')[0]}({first})"
            raise SpecError(f"{text!r}: the preset comes first: {way}") from error
        cause = str(getattr(error, "msg", error))
        # "invalid decimal literal" is what Python says of tokenize=13a.
        hint = "; quote text, as in tokenize='13a'" if "literal" in cause else ""
        if path := _BARE_PATH.search(arguments):
            hint = f"; quote text, as in {path[1]}='{path[2]}'"
        raise SpecError(f"{text!r} can't be parsed: {cause}{hint}") from error
    match call:
        case ast.Call(ast.Name(), [] | [ast.Constant(str())], keywords):
            preset = ast.literal_eval(call.args[0]) if call.args else None
        case _:
            raise _not_by_name(text)
    parameters: dict[str, object] = {}
    for keyword in keywords:
        if keyword.arg is None:
            raise _not_by_name(text)
        if keyword.arg in parameters:
            raise SpecError(f"{text!r} sets a parameter twice")
        try:
            parameters[keyword.arg] = ast.literal_eval(keyword.value)
        except (ValueError, TypeError):
            raise SpecError(
                f"{text!r}: the value of {keyword.arg} isn't a Python literal; quote text, as in "
                f"{keyword.arg}='{ast.get_source_segment(f'f({arguments})', keyword.value)}'"
            ) from None
    return preset, parameters


def _not_by_name(text: str) -> SpecError:
    return SpecError(f"{text!r}: give parameters by name, as in 'bleu(max_order=2)'")
