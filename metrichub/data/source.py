"""Source: a file, compressed or not, or standard input, in pieces; errors name it and the line."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from metrichub.data.location import PIECE, Location
from metrichub.errors import FileError, InputError, MissingDependency

T = TypeVar("T")
_OTHERS = {
    b"\xff\xfe": "it looks like UTF-16; save it as UTF-8",
    b"\xfe\xff": "it looks like UTF-16; save it as UTF-8",
    b"\x1f\x8b": "it looks like gzip; rename it to end in .gz",
    b"\x28\xb5\x2f\xfd": "it looks like Zstandard; rename it to end in .zst",
}
"""What a file that isn't UTF-8 may be, by its first bytes, and what to do then."""


class Chunk(NamedTuple):
    """Some whole lines: their text, the number of the first, and the file's share up to here."""

    text: str
    line: int
    share: float | None


class Source:
    """An open file or standard input; `size` is its number of bytes, or None for a stream.

    `packed` is the compressed file that the stream unpacks, if it is one.
    """

    def __init__(
        self, name: str, stream: BinaryIO, size: int | None, packed: BinaryIO | None = None
    ) -> None:
        self.name, self.stream, self.size, self.packed = name, stream, size, packed

    @property
    def seekable(self) -> bool:
        """Whether any part of it can be read without what is before."""
        return bool(self.size) and self.packed is None

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
        while lines := self.stream.readlines(PIECE):
            content = b"".join(lines)
            done += len(content)
            yield Chunk(self._decoded(content, line), line, self._share(done))
            line += len(lines)
        if not done:
            raise self.error("the file is empty")

    @contextmanager
    def read_before(self, first: Callable[[Iterator[Chunk]], T]) -> Iterator[T]:
        """The result of `first` for all chunks, which can be read again then.

        A pipe or a compressed file can be read only once, and is copied to a temporary file.
        """
        with tempfile.TemporaryFile() as copy:
            if not self.seekable:
                shutil.copyfileobj(self.stream, copy)
                self.stream, self.size, self.packed = copy, copy.tell(), None
                copy.seek(0)
            start = self.stream.tell()
            result = first(self.chunks())
            self.stream.seek(start)
            yield result

    def lines(self) -> Iterator[str]:
        """The lines without their line breaks (LF or CRLF); all else is kept."""
        for piece in self.chunks():
            for line in piece.text.removesuffix("\n").split("\n"):
                yield line.removesuffix("\r")

    def error(self, message: str, line: int | None = None) -> FileError:
        """The error that names this source and a line of it."""
        return FileError(self.name, message, line)

    def _share(self, done: int) -> float | None:
        if not self.size:
            return None
        return (done if self.packed is None else self.packed.tell()) / self.size

    def _decoded(self, content: bytes, line: int) -> str:
        try:
            return content.decode("utf-8-sig" if line == 1 else "utf-8")
        except UnicodeDecodeError as error:
            line += content.count(b"\n", 0, error.start)
            hint = next(
                (hint for start, hint in _OTHERS.items() if content.startswith(start)),
                "save it as UTF-8",
            )
            byte = content[error.start]
            raise self.error(f"the text isn't UTF-8 (byte 0x{byte:02x}); {hint}", line) from None


class _Unpacked(io.RawIOBase):
    """The content of a compressed file.

    A broken file, and one with more than `most` bytes, is an `OSError`. Without `most`, the number
    of `packed_bytes` says it, if they are known.
    """

    def __init__(
        self, packed: BinaryIO, suffix: str, most: int | None, packed_bytes: int | None
    ) -> None:
        self._suffix, self._size = suffix, 0
        self._setting = "" if most else MAX_UNPACKED
        self._most = most or (most_unpacked(packed_bytes) if packed_bytes else None)
        self._content: Any
        if suffix == ".gz":
            self._content = gzip.GzipFile(fileobj=packed)
        else:
            try:
                import pyarrow
            except ImportError:
                raise MissingDependency(f"reading {suffix}", "pyarrow") from None
            self._content = pyarrow.CompressedInputStream(packed, "zstd")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece: bytes = self._content.read(len(buffer))
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise OSError(f"broken {self._suffix}: {error}") from error
        self._size += len(piece)
        if self._most is not None and self._size > self._most:
            raise OSError(too_large(self._most, self._setting))
        buffer[: len(piece)] = piece
        return len(piece)


_RATIO = 100
"""How many times its size a text unpacks to at most, whatever its language."""
MAX_UNPACKED = "METRICHUB_MAX_UNPACKED"
"""The environment variable of the MB that any compressed file may unpack to."""


def most_unpacked(packed: int) -> int:
    """The bytes that so many packed ones may become: 256 MB, or 100 times as many.

    The environment says another number of MB than 256.

    Raises:
        InputError: it says no number.
    """
    chosen = os.environ.get(MAX_UNPACKED) or "256"
    if not chosen.isdecimal():
        raise InputError(f"{MAX_UNPACKED} is a whole number of MB, such as 1000, not {chosen!r}")
    return max(int(chosen) << 20, _RATIO * packed)


def too_large(most: int, setting: str = "") -> str:
    """Why a file that unpacks to more than so many bytes isn't read; `setting` raises the limit."""
    raised = f"; if it is what it should be, set {setting} to more MB" if setting else ""
    return f"it unpacks to more than {most >> 20:,} MB, the limit{raised}"


@contextmanager
def open_source(path: str | Path | Location, most: int | None = None) -> Iterator[Source]:
    """A file, or standard input for "-", while it is read; unpacked, up to `most` bytes of it.

    Without `most`, the size of the file says what it may unpack to.

    Raises:
        FileError: it can't be read, or is longer than that.
    """
    location = Location.of(path)
    location.check()
    try:
        with location.opened() as (stream, size):
            if not location.packing:
                yield Source(location.shown, stream, size or None)
            else:
                unpacked = io.BufferedReader(_Unpacked(stream, location.packing, most, size), PIECE)
                yield Source(location.shown, unpacked, size or None, stream)
    except OSError as error:
        raise FileError(location.shown, f"can't be read: {error.strerror or error}") from error
