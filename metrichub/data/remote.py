"""Remote files, such as s3://bucket/a.jsonl or https://host/a.csv, read and written by fsspec.

fsspec is imported when an address is opened, and what it reads of the environment and of its
configuration holds here too. Every failure is an `OSError` of one line.
"""

from __future__ import annotations

import errno
import io
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from metrichub.errors import MissingDependency, did_you_mean

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_WEB = ("http", "https")
_FILE_ON_THE_HUB = re.compile(r"hf://(datasets|spaces|buckets)/[^/?]+/[^/?]+/[^?]+")
"""Any other hf:// is a data set, which `datasets` loads."""


def is_remote(path: str | Path) -> bool:
    """Whether a path is the address of a file for fsspec; only a string is one."""
    if not isinstance(path, str) or not _ADDRESS.match(path):
        return False
    return not path.startswith("hf://") or _FILE_ON_THE_HUB.fullmatch(path) is not None


def shown(path: str | Path) -> str:
    """The path as it is printed: an address without a password, and without what signs it."""
    text = str(path)
    if not is_remote(path):
        return text
    scheme, _, rest = text.partition("://")
    if scheme in _WEB:
        rest = re.split("[?#]", rest, maxsplit=1)[0]
    host, slash, name = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2] if slash else host}{slash}{name}"


@contextmanager
def opened(address: str) -> Iterator[tuple[BinaryIO, int | None]]:
    """A remote file to read, and its number of bytes if the server says it.

    Raises:
        OSError: it can't be reached or read.
        MissingDependency: a package for this kind of address isn't installed.
    """
    with _telling(address):
        system, path = _file_system(address)
        stream = system.open(path, "rb")
    with stream:
        yield io.BufferedReader(_Pieces(address, stream), 1 << 20), getattr(stream, "size", None)


def check_writable(address: str) -> None:
    """Raise an error as `uploading` does, as far as that is known without a request."""
    with _telling(address):
        _file_system(address)
    if address.partition("://")[0] in _WEB:
        raise OSError(errno.EROFS, "a web address can only be read", shown(address))


@contextmanager
def uploading(address: str) -> Iterator[Path]:
    """A new file on this machine to write to; it goes to the address at the end, unless an error.

    Raises:
        OSError: it can't be written there.
        MissingDependency: a package for this kind of address isn't installed.
    """
    check_writable(address)
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder, "new")
        yield new
        with _telling(address):
            system, path = _file_system(address)
            system.put_file(str(new), path)


class _Pieces(io.RawIOBase):
    """A file of fsspec, whose libraries raise errors of any type while it is read."""

    def __init__(self, address: str, stream: Any) -> None:
        self._address, self._stream = address, stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(getattr(self._stream, "size", None)) and bool(self._stream.seekable())

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._stream.seek(offset, whence))

    def tell(self) -> int:
        return int(self._stream.tell())

    def readinto(self, buffer: Any) -> int:
        with _telling(self._address):
            piece = self._stream.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def _file_system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    scheme = address.partition("://")[0]
    try:
        import fsspec
    except ImportError:
        raise MissingDependency(f"{scheme}://", "fsspec") from None
    try:
        system, path = fsspec.core.url_to_fs(address)
    except ImportError as error:
        # fsspec says what to install; its cause says which package failed.
        package = getattr(error.__cause__, "name", None) or scheme
        raise MissingDependency(f"{scheme}://", package.partition(".")[0]) from error
    except ValueError:
        near = did_you_mean(scheme, fsspec.available_protocols())
        text = f"no file system is called {scheme!r}{near}"
        raise OSError(errno.EINVAL, text, shown(address)) from None
    return system, path


@contextmanager
def _telling(address: str) -> Iterator[None]:
    """Turn whatever fsspec, a client of a store or the network raises into an `OSError`."""
    try:
        yield
    except MissingDependency:
        raise
    except Exception as error:
        number = getattr(error, "errno", None) or errno.EIO
        raise OSError(number, _cause(address, error), shown(address)) from error


def _cause(address: str, error: BaseException) -> str:
    """Why a file can't be read or written, in one line."""
    # fsspec says of every web address that can't be read that it isn't there.
    while isinstance(error, FileNotFoundError) and error.__cause__ is not None:
        error = error.__cause__
    status = getattr(error, "status", None)
    if status and status != 404:
        return f"the server answered {status} {getattr(error, 'message', '')}".strip()
    text = " ".join(str(getattr(error, "strerror", None) or error).split())
    if status or (isinstance(error, FileNotFoundError) and (not text or text in address)):
        return "no such file"
    return text.replace(address, shown(address)) or type(error).__name__
