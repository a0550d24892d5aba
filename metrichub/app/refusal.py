"""Refusals: why a job in a worker process has no result; made of plain texts, to travel."""

from __future__ import annotations

from dataclasses import dataclass

from metrichub.errors import MetrichubError, Words

ON_PAGES: Words = {
    "choose_column": "choose the column below",
    "name_format": "if the file is {0.subject}, rename it to end in .{0.value}",
    "list_metrics": "write each on a line of its own",
    "open_report": "upload the samples that it was made from",
}
"""How pages say what the user can do about an error; they have no way to do the rest."""


@dataclass(frozen=True)
class Refusal:
    """The name of an error's class, and its text.

    Attributes:
        error: "MissingColumn", "TooLarge", "Defect" and so on.
        message: One readable line.
        names: The columns of a file in which one wasn't found.
        needs: The columns that the metrics read, of such a file.
    """

    error: str
    message: str
    names: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @classmethod
    def of(cls, error: MetrichubError) -> Refusal:
        """The refusal that an error of the library means."""
        return cls(type(error).__name__, str(error))
