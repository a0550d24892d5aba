"""Plain text: files with one sample a line, of each system's predictions and what they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import click

from metrichub.cli.shared_options import option_group
from metrichub.data.files import format_of, read_texts
from metrichub.data.location import STDIN, Location
from metrichub.data.samples import Samples, samples_where


@dataclass(frozen=True)
class TextFiles:
    """Files of plain text, one sample a line: the files of each column that was named."""

    references: tuple[str, ...]
    sources: str | None
    questions: str | None

    def columns(self) -> dict[str, list[str]]:
        """The files of each column that was named."""
        single = {"sources": self.sources, "questions": self.questions}
        columns = {column: [path] for column, path in single.items() if path}
        return columns | ({"references": list(self.references)} if self.references else {})

    def are_beside(self, files: Sequence[str], input_format: str | None = None) -> bool:
        """Whether the FILEs are predictions as plain text, by these options or by their names.

        Raises:
            UsageError: a FILE is a table, with columns of its own, or standard input is read twice.
        """
        columns = self.columns()
        tables = [f for f in files if input_format or format_of(f) or Path(f).is_dir()]
        if columns and tables:
            raise click.UsageError(
                f"{tables[0]} is a table with columns, so -r, -s and -q can't be read beside it; "
                "give predictions as plain text, one per line, or put all columns into the file"
            )
        if [*files, *chain(*columns.values())].count(STDIN) > 1:
            raise click.UsageError("standard input can be read only once; give a file for one -")
        named = not input_format and {Location.of(name).suffix for name in files} == {".txt"}
        return bool(columns) or named

    def read(
        self, files: Mapping[str, str], where: Mapping[str, Sequence[str]]
    ) -> dict[str, Iterable[Samples]]:
        """The samples of each system by its file of predictions."""
        systems = read_texts(files, self.columns())
        return {name: samples_where(samples, where) for name, samples in systems.items()}

    def check(self, needs: Mapping[str, str]) -> None:
        """Raise `UsageError` if a metric needs a column that plain text can give, and it wasn't."""
        for column, option in (("references", "-r"), ("questions", "-q")):
            if column in needs and column not in self.columns():
                raise click.UsageError(f"{needs[column]} needs {column}; add {option} FILE")


text_options = option_group(
    "texts",
    TextFiles,
    click.option(
        "-r", "--references", metavar="FILE", multiple=True, help="References as lines; repeatable."
    ),
    click.option("-s", "--sources", metavar="FILE", help="Sources, one per line."),
    click.option("-q", "--questions", metavar="FILE", help="Questions, one per line."),
)
"""-r, -s and -q as `texts`."""
