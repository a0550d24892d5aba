"""`metrichub convert` of files that aren't weights, which takes no PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from metrichub_neural.convert import convert

from metrichub.errors import MetrichubError


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"epoch 3, loss 0.1\n", "it is a text file, and not pickled weights; it begins with"),
        (
            b"\n<!DOCTYPE html><title>404</title>",
            "it is a web page, such as a site",
        ),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
            "it is a pointer of Git LFS, and not the weights: run 'git lfs pull' where it is",
        ),
        (
            b'\x10\0\0\0\0\0\0\0{"a": 1}',
            "it is a safetensors file, which needs no conversion",
        ),
        (b"", "it is empty; download the weights again"),
        (b"\x7fELF\0\0", "it is an unknown kind of file, and not pickled weights"),
    ],
)
def test_what_is_no_pickle_is_said_to_be_what_it_is(
    tmp_path: Path, content: bytes, says: str
) -> None:
    path = tmp_path / "pytorch_model.bin"
    path.write_bytes(content)
    for file in (path, tmp_path):
        done = CliRunner().invoke(convert, [str(file)])
        assert isinstance(done.exception, MetrichubError)
        assert done.exception.exit_status == 5
        assert f"{path} can't be converted: {says}" in str(done.exception)
    assert [*tmp_path.iterdir()] == [path]


def test_a_pickle_needs_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "pytorch_model.bin"
    path.write_bytes(b"\x80")
    monkeypatch.setattr("metrichub_neural.convert.find_spec", lambda name: None)
    error = CliRunner().invoke(convert, [str(path)]).exception
    assert "convert needs torch" in str(error)
    assert "pip install 'metrichub-neural[torch]'" in str(error)
