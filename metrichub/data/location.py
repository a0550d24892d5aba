"""Location: what a path says, asked once: what is there, how it is shown, and how it is packed.

An address such as s3://bucket/a.jsonl or https://host/a.csv is a remote file, which fsspec reads
and writes. fsspec is imported when one is opened, and what it reads of the environment and of its
configuration holds here too.
"""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, BinaryIO, Literal

from metrichub.errors import FileError, MissingDependency, did_you_mean

STDIN = "-"
SCHEME = "hf://"
"""The beginning of the address of a data set."""
PACKED = (".gz", ".zst")
"""The ends of compressed files' names, behind the suffix of what it holds."""
PIECE = 1 << 20
"""About how many bytes are read at a time."""
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_WEB = ("http", "https")
_FILE_ON_THE_HUB = re.compile(r"hf://(datasets|spaces|buckets)/[^/?]+/[^/?]+/[^?]+")
"""Any other hf:// is a data set, which `datasets` loads."""


@dataclass(frozen=True)
class Location:
    """Where samples are, or where a file is written to.

    Attributes:
        text: As it was given.
        kind: A file of this machine, one for fsspec, a data set, or standard input.
        shown: As it is printed: without a password, and without what signs it.
        suffix: What the name of the file ends in, in lower case, unpacked.
        packing: The suffix by which it is compressed, or "".
    """

    text: str
    kind: Literal["local", "remote", "data set", "stdin"]
    shown: str
    suffix: str
    packing: str

    @classmethod
    def of(cls, path: str | Path | Location) -> Location:
        """The location that a path names; a `Path` is a file of this machine."""
        if isinstance(path, cls):
            return path
        text = shown = str(path)
        kind: Literal["local", "remote", "data set", "stdin"] = "local"
        if text == STDIN:
            kind, shown = "stdin", "<stdin>"
        elif isinstance(path, str) and _ADDRESS.match(text):
            on_the_hub = text.startswith(SCHEME) and not _FILE_ON_THE_HUB.fullmatch(text)
            kind = "data set" if on_the_hub else "remote"
        if kind == "remote":
            shown = _without_secrets(text)
        name = PurePath(shown)
        packing = name.suffix.lower() if name.suffix.lower() in PACKED else ""
        suffix = (name.with_suffix("") if packing else name).suffix.lower()
        return cls(text, kind, shown, suffix, packing)

    def check(self) -> None:
        """Raise `FileError` if it isn't a file; nothing is opened, as a pipe opens only once.

        Whether a remote file is there is known when it is opened.
        """
        path = Path(self.text)
        if self.kind in ("stdin", "remote"):
            return
        if path.is_dir():
            raise FileError(self.shown, "is a folder; name a file in it")
        if path.is_symlink() and not path.exists():
            raise FileError(self.shown, f"is a broken symbolic link (to {os.readlink(path)!r})")
        if not path.exists():
            raise FileError(self.shown, f"no such file{_close_name(path)}")

    @contextmanager
    def opened(self) -> Iterator[tuple[BinaryIO, int]]:
        """The bytes of the file as they are stored, and their number, or 0 where nobody knows.

        Raises:
            OSError: it can't be reached or read.
            FileError: standard input is closed.
            MissingDependency: a package for this kind of address isn't installed.
        """
        if self.kind == "stdin":
            if sys.stdin is None:
                raise FileError(self.shown, "standard input is closed")
            yield sys.stdin.buffer, 0
        elif self.kind == "remote":
            with self._telling():
                system, path = self._file_system()
                file = system.open(path, "rb")
            with file:
                size = getattr(file, "size", None) or 0
                yield io.BufferedReader(_Pieces(file, size, self._telling), PIECE), size
        else:
            with Path(self.text).open("rb") as stream:
                yield stream, os.fstat(stream.fileno()).st_size

    def check_writable(self) -> None:
        """Raise an error as `upload` does, as far as that is known without a request."""
        with self._telling():
            self._file_system()
            if self.text.partition("://")[0] in _WEB:
                raise OSError(errno.EROFS, "a web address can only be read")

    def upload(self, file: Path) -> None:
        """Write a file of this machine to a remote address.

        Raises:
            OSError: it can't be written there.
            MissingDependency: a package for this kind of address isn't installed.
        """
        with self._telling():
            system, path = self._file_system()
            system.put_file(str(file), path)

    def _file_system(self) -> tuple[Any, str]:
        """The file system, and the path in it."""
        scheme = self.text.partition("://")[0]
        try:
            import fsspec
        except ImportError:
            raise MissingDependency(f"{scheme}://", "fsspec") from None
        try:
            system, path = fsspec.core.url_to_fs(self.text)
        except ImportError as error:
            # fsspec says what to install; its cause says which package failed.
            package = getattr(error.__cause__, "name", None) or scheme
            raise MissingDependency(f"{scheme}://", package.partition(".")[0]) from error
        except ValueError:
            near = did_you_mean(scheme, fsspec.available_protocols())
            raise OSError(errno.EINVAL, f"no file system is called {scheme!r}{near}") from None
        return system, path

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Turn whatever fsspec, a client of a store or the network raises into an `OSError`."""
        try:
            yield
        except MissingDependency:
            raise
        except Exception as error:
            number = getattr(error, "errno", None) or errno.EIO
            raise OSError(number, self._cause(error), self.shown) from error

    def _cause(self, error: BaseException) -> str:
        """Why the file can't be read or written, in one line."""
        # fsspec says of every web address that can't be read that it isn't there.
        while isinstance(error, FileNotFoundError) and error.__cause__ is not None:
            error = error.__cause__
        status = getattr(error, "status", None)
        if status and status != 404:
            return f"the server answered {status} {getattr(error, 'message', '')}".strip()
        text = " ".join(str(getattr(error, "strerror", None) or error).split())
        if status or (isinstance(error, FileNotFoundError) and (not text or text in self.text)):
            return "no such file"
        return text.replace(self.text, self.shown) or type(error).__name__


class _Pieces(io.RawIOBase):
    """A file of fsspec, whose libraries raise errors of any type while it is read."""

    def __init__(
        self, file: Any, size: int, telling: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._file, self._size, self._telling = file, size, telling

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._size > 0 and bool(self._file.seekable())

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._file.seek(offset, whence))

    def readinto(self, buffer: Any) -> int:
        with self._telling():
            piece = self._file.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def _without_secrets(address: str) -> str:
    scheme, _, host_and_path = address.partition("://")
    if scheme in _WEB:
        host_and_path = re.split("[?#]", host_and_path, maxsplit=1)[0]
    host, slash, name = host_and_path.partition("/")
    return f"{scheme}://{host.rpartition('@')[2] if slash else host}{slash}{name}"


def _close_name(path: Path) -> str:
    import difflib

    if not path.parent.is_dir():
        return f"; there is no folder {str(path.parent)!r} either"
    stems = {other.stem.lower(): other.name for other in path.parent.iterdir()}
    near = difflib.get_close_matches(path.stem.lower(), stems, n=1)
    return f"; did you mean {stems[near[0]]!r}?" if near else ""


def short_names(paths: Sequence[str], *, alone: bool = False) -> list[str]:
    """The paths without the folders and suffixes that all of them share; "-" is stdin.

    >>> short_names(["runs/a/out.jsonl", "runs/b/out.jsonl"])
    ['a', 'b']
    >>> short_names(["examples/summaries.jsonl", "examples/summaries_b.jsonl"])
    ['summaries', 'summaries_b']
    """
    paths = [path if path == STDIN else Location.of(path).shown for path in paths]
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
