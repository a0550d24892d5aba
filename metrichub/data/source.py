"""Source: a file, compressed or not, or standard input, in pieces; errors name it and the line."""

from __future__ import annotations

import difflib
import gzip
import io
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple, TypeVar

from metrichub.data import remote
from metrichub.errors import FileError, MissingDependency

T = TypeVar("T")
STDIN = "-"
SCHEME = "hf://"
"""What the address of a data set begins with."""
PIECE = 1 << 20
"""About how many bytes are read at a time."""
PACKED = (".gz", ".zst")
"""What a compressed file's name ends in, behind the suffix of what it holds."""
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
        """What `first` makes of all chunks, while they are still to be read.

        What can be read only once, such as a pipe or a compressed file, is copied to a temporary
        file.
        """
        with tempfile.TemporaryFile() as copy:
            if not self.stream.seekable():
                shutil.copyfileobj(self.stream, copy)
                self.stream, self.size, self.packed = copy, copy.tell(), None
                copy.seek(0)
            start = self.stream.tell()
            found = first(self.chunks())
            self.stream.seek(start)
            yield found

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
    """What a compressed file holds; every way in which one can be broken is an `OSError`.

    It is one, too, to hold more than `most` bytes.
    """

    def __init__(self, packed: BinaryIO, suffix: str, most: int | None) -> None:
        self._suffix, self._most, self._size = suffix, most, 0
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
            raise OSError(too_large(self._most))
        buffer[: len(piece)] = piece
        return len(piece)


def too_large(most: int) -> str:
    """Why a file that unpacks to more than so many bytes isn't read."""
    return f"it unpacks to more than {most >> 20:,} MB, the limit"


@contextmanager
def open_source(path: str | Path, most: int | None = None) -> Iterator[Source]:
    """A file, or standard input for "-", while it is read; unpacked, up to `most` bytes of it.

    Raises:
        FileError: it can't be read, or is longer than that.
    """
    try:
        if str(path) == STDIN:
            if sys.stdin is None:
                raise FileError(display_path(path), "standard input is closed")
            yield Source(display_path(path), sys.stdin.buffer, None)
            return
        check_path(path)
        with remote.opened(str(path)) if remote.is_remote(path) else _open(path) as (stream, size):
            if (suffix := packed_suffix(path)) is None:
                yield Source(display_path(path), stream, size or None)
            else:
                unpacked = io.BufferedReader(_Unpacked(stream, suffix, most), PIECE)
                yield Source(display_path(path), unpacked, size or None, stream)
    except OSError as error:
        raise FileError(display_path(path), f"can't be read: {error.strerror or error}") from error


@contextmanager
def _open(path: str | Path) -> Iterator[tuple[BinaryIO, int]]:
    """A file of this machine, and its number of bytes."""
    with Path(path).open("rb") as stream:
        yield stream, os.fstat(stream.fileno()).st_size


def is_address(path: str | Path) -> bool:
    """Whether a path is the address of a data set."""
    return isinstance(path, str) and path.startswith(SCHEME) and not remote.is_remote(path)


def packed_suffix(path: str | Path) -> str | None:
    """The suffix by which a file is compressed, or None."""
    suffix = Path(remote.shown(path)).suffix.lower()
    return suffix if suffix in PACKED else None


def check_path(path: str | Path) -> None:
    """Raise `FileError` if a path isn't a file; nothing is opened, as a pipe opens only once.

    Whether a remote file is there is known when it is opened.
    """
    if str(path) == STDIN or remote.is_remote(path):
        return
    if Path(path).is_dir():
        raise FileError(path, "is a folder; name a file in it")
    if Path(path).is_symlink() and not Path(path).exists():
        raise FileError(path, f"is a broken symbolic link (to {os.readlink(path)!r})")
    if not Path(path).exists():
        raise FileError(path, f"no such file{_close_name(Path(path))}")


def _close_name(path: Path) -> str:
    if not path.parent.is_dir():
        return f"; there is no folder {str(path.parent)!r} either"
    stems = {other.stem.lower(): other.name for other in path.parent.iterdir()}
    near = difflib.get_close_matches(path.stem.lower(), stems, n=1)
    return f"; did you mean {stems[near[0]]!r}?" if near else ""


def display_path(path: str | Path) -> str:
    """How errors name a path."""
    return "<stdin>" if str(path) == STDIN else remote.shown(path)


def short_names(paths: Sequence[str], *, alone: bool = False) -> list[str]:
    """The paths without the folders and suffixes that all of them share; "-" is stdin.

    >>> short_names(["runs/a/out.jsonl", "runs/b/out.jsonl"])
    ['a', 'b']
    >>> short_names(["examples/summaries.jsonl", "examples/summaries_b.jsonl"])
    ['summaries', 'summaries_b']
    """
    paths = [remote.shown(path) for path in paths]
    files = [path for path in paths if path != STDIN]
    if not alone and files:
        parts = _without_common([list(PurePath(path).parts) for path in files])
        last = {part[-1] for part in parts}
        names = [part[-1] if len(last) == len(parts) else "/".join(part) for part in parts]
        if all(names) and len(set(names)) == len(files):
            short = dict(zip(files, names, strict=True))
            return ["stdin" if path == STDIN else short[path] for path in paths]
    return ["stdin" if path == STDIN else path for path in paths]


def _without_common(paths: list[list[str]]) -> list[list[str]]:
    """The parts of paths without the first and last ones that all share, and a common suffix."""
    while len({_suffix(path[-1]) for path in paths}) == 1 and _suffix(paths[0][-1]):
        paths = [[*path[:-1], path[-1].removesuffix(_suffix(path[-1]))] for path in paths]
    for end in (0, -1):
        while min(map(len, paths)) > 1 and len({path[end] for path in paths}) == 1:
            paths = [path[1:] if end == 0 else path[:-1] for path in paths]
    return paths


def _suffix(name: str) -> str:
    """The suffix of a file's name; a version such as "v1.5" has none."""
    match = re.search(r"(?<=.)\.[A-Za-z]\w*$", name)
    return match[0] if match else ""
