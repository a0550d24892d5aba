"""One stylesheet of colors and fonts for the site, the app and the report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import metrichub
from metrichub.report.html.theme import THEME

HOME = Path(metrichub.__file__).parent
SHEETS = (
    "app/static/app.css",
    "report/html/assets/report.css",
    "report/html/assets/samples.css",
    "site/skeleton/docs/assets/site.css",
)
THEMED = THEME.read_text(encoding="utf-8")
DEFINED = set(re.findall(r"^ +(--[\w-]+):", THEMED, re.MULTILINE))


@pytest.mark.parametrize("sheet", SHEETS)
def test_a_style_sheet_uses_the_theme_and_no_colour_of_its_own(sheet: str) -> None:
    rules = (HOME / sheet).read_text(encoding="utf-8")
    used = {name for name in re.findall(r"var\((--[\w-]+)", rules) if not name.startswith("--md-")}
    assert used
    # How long a bar is, a script says.
    assert used - {"--share"} <= DEFINED
    assert not DEFINED & set(re.findall(r"^ +(--[\w-]+):", rules, re.MULTILINE))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ink", ["--ink", "--soft", "--link", "--bad", "--good", "--novel-line"])
def test_text_stands_out_from_its_paper(ink: str, scheme: int) -> None:
    # WCAG 2.2, 1.4.3: text has a contrast of 4.5 at least.
    colors = [_luminance(_color(name, scheme)) for name in (ink, "--paper")]
    assert (max(colors) + 0.05) / (min(colors) + 0.05) >= 4.5


def _color(name: str, scheme: int) -> list[int]:
    match = re.search(rf"{name}: light-dark\(#(\w+), #(\w+)\)", THEMED)
    assert match
    digits = (
        match[scheme + 1]
        if len(match[scheme + 1]) == 6
        else "".join(2 * digit for digit in match[scheme + 1])
    )
    return [int(digits[at : at + 2], 16) for at in (0, 2, 4)]


def _luminance(colour: list[int]) -> float:
    """WCAG 2.2, relative luminance."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (value / 255 for value in colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
