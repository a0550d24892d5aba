"""Format checks: whether replies have the length, the parts and the form that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metric_cards.format_checks.checks import FORMS, Check, check_of
from metrichub.authoring import Array, Metric, Row, Scores, Unscored
from metrichub.errors import InputError, ParameterError


@dataclass(frozen=True, kw_only=True)
class FormatChecks(Metric):
    """The fraction of replies that pass all their checks, and of checks that are passed.

    Attributes:
        checks: The checks for all samples, such as `words <= 100` or `json`; if there are none,
            each sample's own are taken from the column `checks`.
    """

    checks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Read the checks."""
        super().__post_init__()
        for text in self.checks:
            try:
                check_of(text)
            except ValueError:
                raise ParameterError(self.name, "checks", text, FORMS) from None

    def inputs(self) -> tuple[str, ...]:
        """The prediction, and the sample's checks if the parameter gives none."""
        return ("prediction",) if self.checks else ("prediction", "checks")

    def observe(self, prediction: str, checks: Sequence[str] = ()) -> Row | Unscored:
        """How many of the checks are passed, and whether all are.

        Raises:
            InputError: a check of the sample isn't valid.
        """
        needed = [self._check(text) for text in self.checks or checks]
        if not needed:
            return Unscored("the sample has no checks")
        passed = [check(prediction) for check in needed]
        return {"all_passed": all(passed), "passed": sum(passed), "checks": len(passed)}

    def score(self, all_passed: Array, passed: Array, checks: Array, count: Array) -> Scores:
        """The fraction of samples that pass all, and of all checks."""
        return {"score": all_passed / count, "passed": passed / checks}

    def _check(self, text: object) -> Check:
        try:
            return check_of(text if isinstance(text, str) else "")
        except ValueError as error:
            raise InputError(
                f"{self.name}: the column 'checks' holds {text!r}, which {error}"
            ) from None
