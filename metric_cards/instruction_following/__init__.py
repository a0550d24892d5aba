"""Instruction following: IFEval's checks of instructions that a program can verify."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metric_cards._bases.strictjson import read
from metric_cards.instruction_following.checks import Check, check_of, variants
from metric_cards.instruction_following.sentences import Splitter
from metrichub.authoring import Array, Metric, Row, Scores, Unscored
from metrichub.errors import InputError, what


@dataclass(frozen=True, kw_only=True)
class InstructionFollowing(Metric):
    """The fractions of prompts and of instructions that are followed, strictly and loosely.

    Attributes:
        splitter: What splits texts into sentences, for two of the checks: sentencex, or nltk's
            Punkt, whose model is a download, as in IFEval.
    """

    splitter: Splitter = "sentencex"

    text_of_objects = {"instruction_ids": json.dumps}  # noqa: RUF012  # as the base has it
    names_of_objects = {"instruction_ids": ("instruction_id_list",)}  # noqa: RUF012  # likewise

    def observe(
        self, prediction: str, instruction_ids: Sequence[str], kwargs: Sequence[Any]
    ) -> Row | Unscored:
        """How many instructions are followed, and whether all are.

        Raises:
            InputError: an instruction isn't known, or an argument is missing or isn't valid.
        """
        checks = self._checks(_listed(instruction_ids), _listed(kwargs))
        if not checks:
            return Unscored("the sample has no instructions")
        strict = [check(prediction) for check in checks]
        texts = () if all(strict) else variants(prediction)
        loose = [met or any(map(check, texts)) for met, check in zip(strict, checks, strict=True)]
        return {
            "instructions": len(checks),
            "strict": sum(strict),
            "loose": sum(loose),
            "all_strict": all(strict),
            "all_loose": all(loose),
        }

    def score(
        self,
        instructions: Array,
        strict: Array,
        loose: Array,
        all_strict: Array,
        all_loose: Array,
        count: Array,
    ) -> Scores:
        """Fractions of prompts, and of all instructions (micro)."""
        return {
            "score": all_strict / count,
            "prompt_loose": all_loose / count,
            "instruction_strict": strict / instructions,
            "instruction_loose": loose / instructions,
        }

    def _checks(self, names: Sequence[Any], arguments: Sequence[Any]) -> list[Check]:
        if len(names) != len(arguments):
            raise InputError(
                f"{self.name}: instruction_ids and kwargs of a sample differ in length "
                f"({len(names)} and {len(arguments)}); each instruction needs its own, "
                "{} for none"
            )
        return [self._check(name, values) for name, values in zip(names, arguments, strict=True)]

    def _check(self, instruction: Any, kwargs: Any) -> Check:
        arguments = read(kwargs).value if isinstance(kwargs, str) else kwargs
        if not isinstance(arguments, Mapping) and kwargs is not None:
            raise InputError(
                f"{self.name}: the kwargs of {instruction!r} are {what(kwargs)}, not a mapping"
            )
        try:
            return check_of(instruction, arguments or {}, self.splitter)
        except ValueError as error:
            raise InputError(f"{self.name}: {instruction!r} {error}") from None


def _listed(values: Sequence[Any]) -> Sequence[Any]:
    """The items of a cell, which may be a list as JSON text, as CSV files have it."""
    if len(values) == 1 and isinstance(values[0], str) and values[0].startswith("["):
        value, problem = read(values[0])
        return values if problem else value
    return values
