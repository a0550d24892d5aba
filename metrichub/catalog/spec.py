"""Metric specs: text such as "bleu2 = bleu(max_order=2)", and what it stands for."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from metrichub.errors import SpecError

_SHAPE = re.compile(
    r"""\s*(?:(?P<alias>[A-Za-z_]\w*)\s*=\s*)?      # bleu2 =
        (?P<metric>(?:[A-Za-z0-9][\w.-]*/)?[A-Za-z_]\w*)  # bleu, or my-dist/bleu
        \s*(?:\((?P<arguments>.*)\))?\s*            # (max_order=2)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Spec:
    """A metric's name, its parameters, and the key that its results stand under.

    `metric` may be qualified by a distribution: "my-dist/bleu".
    """

    metric: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    alias: str | None = None

    @classmethod
    def parse(cls, text: str) -> Spec:
        """The spec that a text stands for.

        >>> Spec.parse("bleu2 = bleu(max_order=2)")
        Spec(metric='bleu', parameters={'max_order': 2}, alias='bleu2')

        Raises:
            SpecError: the text is no spec, or a value is no Python literal.
        """
        found = _SHAPE.fullmatch(text)
        if not found:
            names = re.split(r"\s*,\s*|\s+", text.strip())
            if len(names) > 1 and all(map(str.isidentifier, names)):
                flags = " ".join(f"-m {name}" for name in names)
                raise SpecError(
                    f"{text!r} names several metrics; pass a list, {names}, or on the "
                    f"command line {flags}"
                )
            raise SpecError(
                f"{text!r} isn't a valid metric; write a name, for example 'bleu', "
                "'bleu(max_order=2)' or 'bleu2 = bleu(max_order=2)'"
            )
        return cls(found["metric"], _parameters(text, found["arguments"]), found["alias"])

    def __str__(self) -> str:
        """The shortest text that parses to this spec."""
        arguments = ", ".join(f"{key}={value!r}" for key, value in self.parameters.items())
        call = f"{self.metric}({arguments})" if arguments else self.metric
        return f"{self.alias} = {call}" if self.alias else call


def _parameters(text: str, arguments: str | None) -> dict[str, object]:
    if not (arguments or "").strip():
        return {}
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise SpecError(f"{text!r} can't be parsed: {error}") from error
    if (
        not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Name)
        or call.args
        or any(k.arg is None for k in call.keywords)
    ):
        raise SpecError(f"{text!r}: give parameters by name, as in 'bleu(max_order=2)'")
    given = {str(k.arg): _literal(text, str(k.arg), k.value) for k in call.keywords}
    if len(given) < len(call.keywords):
        raise SpecError(f"{text!r} sets a parameter twice")
    return given


def _literal(text: str, name: str, node: ast.expr) -> object:
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError):
        raise SpecError(
            f"{text!r}: the value of {name} isn't a Python literal; quote text, as in "
            f"{name}='{ast.unparse(node)}'"
        ) from None
    return value
