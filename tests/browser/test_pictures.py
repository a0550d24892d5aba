"""The README's pictures can be made anew, and those of the report differ by their colours."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from scripts.pictures import SIZE, main

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("matplotlib", reason="the extra plots is not installed")
image = pytest.importorskip("PIL.Image", reason="pillow is not installed")

pytestmark = pytest.mark.browser


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium on the path")
def test_the_pictures_are_made_by_their_script(tmp_path: Path) -> None:
    ran = CliRunner().invoke(main, ["--folder", str(tmp_path)])
    assert ran.exit_code == 0, ran.output
    assert len(list(tmp_path.glob("terminal-*.svg"))) == 2
    lightness = []
    for name in ("light", "dark"):
        with image.open(tmp_path / f"report-{name}.png") as picture:
            assert picture.size == (SIZE["width"], SIZE["height"])
            pixels = picture.convert("L").histogram()
            lightness.append(sum(i * n for i, n in enumerate(pixels)) / sum(pixels))
    light, dark = lightness
    assert light > 200
    assert dark < 100
