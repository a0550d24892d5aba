"""Why there is no answer: a refusal travels from a worker as plain texts; a problem is raised."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.exceptions import HTTPException

from metrichub.errors import Words

ON_PAGES: Words = {
    "choose_column": "choose the column below",
    "name_format": "if the file is {0.subject}, rename it to end in .{0.value}",
    "list_metrics": "write each on a line of its own",
    "name_key": "give the files a column of ids",
    "reduce_in_hub": "choose it as 'Of several candidates'",
}
"""How pages say what the user can do about an error; they have no way to do the rest."""


@dataclass(frozen=True)
class Refusal:
    """The name of an error's class, and its text.

    Attributes:
        error: "MissingColumn", "TooLarge", "Defect" and so on.
        message: One readable line.
    """

    error: str
    message: str


_STATUS = {
    "BrokenMetric": 501,
    "MissingDependency": 501,
    "MissingModel": 501,
    "JudgeError": 502,
    "JudgeUnavailable": 502,
    "TooManyErrors": 502,
    "ScoringError": 500,
    "Defect": 500,
}


class Problem(HTTPException):
    """Raised where a request can't be answered; becomes JSON or a page.

    Attributes:
        refusal: What went wrong: a kind, such as "MissingColumn", and one readable line.
    """

    def __init__(self, status: int, error: str, message: str) -> None:
        super().__init__(status, message)
        self.refusal = Refusal(error, message)

    @classmethod
    def of(cls, refusal: Refusal) -> Problem:
        """The problem of what could not be scored: 422 where the request is to blame."""
        return cls(_STATUS.get(refusal.error, 422), refusal.error, refusal.message)
