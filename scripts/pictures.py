"""The README's pictures, made from the real thing: a terminal and a report, light and dark.

    python -m scripts.pictures [--folder docs/pictures]

The terminal is what `metrichub compare` writes to one of 88 columns, as SVG that loads no font. The
report is the beginning of the page that `--report` writes, as Chromium shows it; that takes the
packages of the extra `test` and Debian's chromium.
"""

from __future__ import annotations

import html
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from glob import glob
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
COMMAND = "compare examples/news/*.jsonl -m rouge -m chrf"
WIDTH = 88
SIZE = {"width": 1400, "height": 640}
_COLORS = 64
_BELOW = 28
"""Pixels from the last line's feet to the lower edge."""
# Rich's own template loads a font from a server; this one takes what the reader's machine has.
_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>{unique_id}</title>
<style>
.{unique_id}-matrix {{ font: {char_height}px/{line_height}px ui-monospace, Menlo, Consolas, \
"DejaVu Sans Mono", monospace; }}
{styles}
</style>
<defs>{lines}</defs>
<rect width="{width}" height="{height}" rx="8" fill="{background}"/>
<g transform="translate({terminal_x}, 12)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


def words_of(arguments: str) -> list[str]:
    """The arguments as a shell hands them over, with its patterns as the files that they match."""
    return [
        name
        for word in arguments.split()
        for name in (sorted(glob(word, root_dir=ROOT)) if "*" in word else [word])
    ]


def terminal(arguments: str) -> str:
    """The output of a command in a terminal, with its escape sequences, below the prompt."""
    import pty

    reader, writer = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CI")}
    running = subprocess.Popen(
        [sys.executable, "-m", "metrichub", *words_of(arguments)],
        stdout=writer,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**environment, "TERM": "xterm-256color", "COLUMNS": str(WIDTH)},
    )
    os.close(writer)
    written = b""
    try:
        while part := os.read(reader, 65536):
            written += part
    except OSError:  # Linux ends a closed terminal with EIO.
        pass
    os.close(reader)
    if running.wait():
        raise click.ClickException(f"metrichub {arguments} ended with {running.returncode}")
    return f"$ metrichub {arguments}\n\n{written.decode()}".replace("\r\n", "\n")


def svg(text: str, *, dark: bool) -> str:
    """The text of a terminal as SVG."""
    from rich.console import Console
    from rich.terminal_theme import DEFAULT_TERMINAL_THEME, MONOKAI
    from rich.text import Text

    console = Console(record=True, width=WIDTH, file=io.StringIO(), legacy_windows=False)
    console.print(Text.from_ansi(text.rstrip()))
    theme = MONOKAI if dark else DEFAULT_TERMINAL_THEME
    background = "#{:02x}{:02x}{:02x}".format(*theme.background_color)
    template = _SVG.replace("{background}", background)
    drawn = console.export_svg(title="", theme=theme, code_format=template, unique_id="terminal")
    # The template has no bar above the terminal, for which rich leaves room.
    height = max(float(y) for y in re.findall(r'<text [^>]*y="([\d.]+)"', drawn)) + _BELOW
    cut = re.sub(r'(viewBox="0 0 \S+) \S+"', rf'\1 {height:g}"', drawn)
    cut = re.sub(r'(<rect width="\S+" height=)"\S+"( rx)', rf'\1"{height:g}"\2', cut)
    return "".join(f"{line.rstrip()}\n" for line in cut.splitlines())


def words(picture: str) -> list[str]:
    """The words that stand in such a picture."""
    return html.unescape(" ".join(re.findall(r">([^<>]+)</text>", picture))).split()


def report(folder: Path) -> Path:
    """The page of the same comparison."""
    page = folder / "report.html"
    command = [sys.executable, "-m", "metrichub", *words_of(COMMAND), "--report", str(page)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return page


def photograph(page: Path, target: Path, *, dark: bool) -> None:
    """The answer of a page as Chromium shows it, in few colors and so in few bytes."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if not chromium:
        raise click.ClickException("the report's picture needs chromium on the path")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        shown = browser.new_page(viewport=SIZE, color_scheme="dark" if dark else "light")  # type: ignore[arg-type]  # a size
        shown.goto(page.as_uri())
        shown.screenshot(path=target)
        browser.close()
    with Image.open(target) as image:
        image.convert("RGB").quantize(_COLORS).save(target, optimize=True)


@click.command()
@click.option(
    "--folder", type=click.Path(path_type=Path, file_okay=False), default=ROOT / "docs/pictures"
)
def main(folder: Path) -> None:
    """Write the four pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    written = terminal(COMMAND)
    for name, dark in (("light", False), ("dark", True)):
        (folder / f"terminal-{name}.svg").write_text(svg(written, dark=dark), encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        page = report(Path(scratch))
        for name, dark in (("light", False), ("dark", True)):
            photograph(page, folder / f"report-{name}.png", dark=dark)


if __name__ == "__main__":
    main()
