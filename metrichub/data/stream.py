"""Source: a file or standard input, read in pieces; every error names it and the line."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from metrichub.errors import FileError

STDIN = "-"
PIECE = 1 << 20
"""About how many bytes are read at a time."""


class Chunk(NamedTuple):
    """Some whole lines: their text, the number of the first, and the file's share up to here."""

    text: str
    line: int
    share: float | None


class Source:
    """An open file or standard input; `size` is its number of bytes, or None for a stream."""

    def __init__(self, name: str, stream: BinaryIO, size: int | None) -> None:
        self.name, self.stream, self.size = name, stream, size

    def content(self) -> bytes:
        """All of it.

        Raises:
            FileError: it is empty.
        """
        content = self.stream.read()
        if not content:
            raise self.error("the file is empty")
        return content

    def text(self) -> str:
        """All of it as text, without a byte order mark."""
        return self._decoded(self.content(), 1)

    def chunks(self) -> Iterator[Chunk]:
        """The text without its byte order mark, cut behind line feeds.

        Raises:
            FileError: it is empty, or isn't UTF-8.
        """
        line, done = 1, 0
        while found := self.stream.readlines(PIECE):
            content = b"".join(found)
            done += len(content)
            share = done / self.size if self.size else None
            yield Chunk(self._decoded(content, line), line, share)
            line += len(found)
        if not done:
            raise self.error("the file is empty")

    def lines(self) -> Iterator[str]:
        """The lines without their line breaks (LF or CRLF); all else is kept."""
        for piece in self.chunks():
            for line in piece.text.removesuffix("\n").split("\n"):
                yield line.removesuffix("\r")

    def error(self, message: str, line: int | None = None) -> FileError:
        """The error that names this source and a line of it."""
        return FileError(self.name, message, line)

    def _decoded(self, content: bytes, line: int) -> str:
        try:
            return content.decode("utf-8-sig" if line == 1 else "utf-8")
        except UnicodeDecodeError as error:
            line += content.count(b"\n", 0, error.start)
            wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
            hint = "it looks like UTF-16; save it as UTF-8" if wide else "save it as UTF-8"
            byte = content[error.start]
            raise self.error(f"the text isn't UTF-8 (byte 0x{byte:02x}); {hint}", line) from None


@contextmanager
def open_source(path: str | Path) -> Iterator[Source]:
    """A file, or standard input for "-", while it is read.

    Raises:
        FileError: it can't be read.
    """
    try:
        if str(path) == STDIN:
            yield Source(display_path(path), sys.stdin.buffer, None)
            return
        check_path(path)
        with Path(path).open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            yield Source(display_path(path), stream, size or None)
    except OSError as error:
        raise FileError(display_path(path), f"can't be read: {error.strerror or error}") from error


def check_path(path: str | Path) -> None:
    """Raise `FileError` if a path is no file; nothing is opened, as a pipe opens only once."""
    if str(path) == STDIN:
        return
    if Path(path).is_dir():
        raise FileError(path, "this is a folder; give a file in it")
    if not Path(path).exists():
        raise FileError(path, f"no such file{_neighbour(Path(path))}")


def display_path(path: str | Path) -> str:
    """How errors name a path."""
    return "<stdin>" if str(path) == STDIN else str(path)


def _neighbour(path: Path) -> str:
    if not path.parent.is_dir():
        return f" (nor a folder {str(path.parent)!r})"
    stems = {other.stem.lower(): other.name for other in path.parent.iterdir()}
    near = difflib.get_close_matches(path.stem.lower(), stems, n=1)
    return f"; did you mean {stems[near[0]]!r}?" if near else ""
