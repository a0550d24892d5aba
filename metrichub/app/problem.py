"""Problems: why a request gets no answer, as a status, a kind and one readable line."""

from __future__ import annotations

from starlette.exceptions import HTTPException

from metrichub.app.refusal import Refusal

_STATUS = {
    "BrokenMetric": 501,
    "MissingDependency": 501,
    "JudgeError": 502,
    "JudgeUnavailable": 502,
    "TooManyErrors": 502,
    "TooLarge": 413,
    "ScoringError": 500,
    "Defect": 500,
}


class Problem(HTTPException):
    """Raised where a request can't be answered; becomes JSON or a page.

    Attributes:
        refusal: What went wrong: a kind, such as "MissingColumn", and one readable line.
    """

    def __init__(self, status: int, refusal: Refusal) -> None:
        super().__init__(status, refusal.message)
        self.refusal = refusal

    @classmethod
    def of(cls, refusal: Refusal) -> Problem:
        """The problem of what could not be scored: 422 where the request is to blame."""
        return cls(_STATUS.get(refusal.error, 422), refusal)


def problem(status: int, error: str, message: str) -> Problem:
    """A problem of the server's own."""
    return Problem(status, Refusal(error, message))
