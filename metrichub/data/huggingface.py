"""Data sets through `datasets`: by an address, hf://NAME?split=test, or saved in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from metrichub.data.classes import classes_of
from metrichub.data.location import SCHEME
from metrichub.data.samples import ROWS, Samples
from metrichub.errors import (
    FileError,
    InputError,
    MetrichubError,
    MissingDependency,
    did_you_mean,
    listed,
)

_SAVED, _SAVED_SPLITS = "state.json", "dataset_dict.json"


class DatasetAddress(NamedTuple):
    """A data set, with its split and subset where they were chosen.

    The name is that of the Hub, such as "owner/name", or the path of a folder.
    """

    name: str
    split: str | None = None
    subset: str | None = None

    @classmethod
    def parse(cls, text: str) -> DatasetAddress:
        """The address in "hf://owner/name?split=test&subset=en".

        Raises:
            FileError: there is no name, or something else than a split and a subset is chosen.
        """
        name, _, query = text.removeprefix(SCHEME).partition("?")
        chosen = dict(parse_qsl(query, keep_blank_values=True))
        for key in chosen:
            if key not in cls._fields[1:]:
                near = did_you_mean(key, cls._fields[1:])
                raise FileError(text, f"{key!r} isn't an option{near}; write ?split=test&subset=en")
        # The Hub's own addresses begin with the kind of repository.
        name = name.removeprefix("datasets/")
        if not name:
            raise FileError(text, "the name of the data set is missing; write hf://owner/name")
        return cls(name, **chosen)

    def choosing(self, split: str | None, subset: str | None) -> DatasetAddress:
        """The address with these where it chooses none itself."""
        return self._replace(split=self.split or split, subset=self.subset or subset)

    def __str__(self) -> str:
        """The address as `parse` reads it."""
        chosen = [f"{k}={v}" for k, v in zip(self._fields[1:], self[1:], strict=True) if v]
        return f"{SCHEME}{self.name}?{'&'.join(chosen)}" if chosen else f"{SCHEME}{self.name}"


def read_splits(text: str) -> dict[str, Iterator[Samples]]:
    """The samples of every split of an address by the split's own, or of the one that it chooses.

    They are streamed, in one pass. What `datasets` reads of the environment holds here too:
    HF_HUB_OFFLINE, HF_TOKEN, HF_ENDPOINT, HF_HOME.

    Raises:
        FileError: there is no such data set, split or subset, or it can't be reached.
        MissingDependency: datasets isn't installed.
    """
    address = DatasetAddress.parse(text)
    with _reading(text):
        from datasets import load_dataset

        loaded = load_dataset(address.name, address.subset, split=address.split, streaming=True)
    splits = loaded if isinstance(loaded, Mapping) else {address.split: loaded}
    if len(splits) == 1:
        return {text: _batches(text, next(iter(splits.values())))}
    names = {str(address._replace(split=str(name))): data for name, data in splits.items()}
    return {name: _batches(name, data) for name, data in names.items()}


def read_address(text: str) -> Iterator[Samples]:
    """The samples of the one split that an address has or chooses.

    Raises:
        FileError: as `read_splits`.
        InputError: there are several splits.
    """
    splits = read_splits(text)
    if len(splits) > 1:
        raise InputError(f"{text} has several splits; choose one: {listed(splits, 'or')}")
    return next(iter(splits.values()))


def is_saved(folder: Path) -> bool:
    """Whether a folder was written by `save_to_disk` of `datasets`."""
    return any((folder / name).is_file() for name in (_SAVED, _SAVED_SPLITS))


def read_saved(folder: Path) -> Iterator[Samples]:
    """The samples of a folder that `save_to_disk` wrote.

    Raises:
        FileError: it can't be read, or holds several splits.
    """
    with _reading(str(folder)):
        from datasets import load_from_disk

        loaded = load_from_disk(str(folder))
    if isinstance(loaded, Mapping):
        addresses = listed([str(folder / str(split)) for split in loaded], "or")
        raise FileError(folder, f"the folder has several splits; choose one: {addresses}")
    yield from _batches(str(folder), loaded)


def _batches(name: str, data: Any) -> Iterator[Samples]:
    if data.features is not None and hasattr(data, "decode"):
        # Texts are wanted: images and sound needn't be decoded.
        data = data.decode(False)
    splits = getattr(data.info, "splits", None) or {}
    rows = getattr(splits.get(str(data.split)), "num_examples", None)
    classes = classes_of(data)
    start = 0
    with _reading(name):
        for batch in data.iter(batch_size=ROWS):
            size = max(map(len, batch.values()), default=0)
            share = (start + size) / rows if rows else None
            yield Samples(name, batch, None, start, share, classes=classes)
            start += size
    if not start:
        raise FileError(name, "the split has no samples")


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Turn whatever a data set's code, its server or the network raises into one line."""
    try:
        import datasets  # noqa: F401  # whether it is there
    except ImportError:
        raise MissingDependency(f"reading {name}", "datasets") from None
    try:
        yield
    except MetrichubError:
        raise
    except Exception as error:
        cause = " ".join(str(error).split()) or type(error).__name__
        raise FileError(name, f"can't be read: {cause}") from error
