"""What a terminal of 80 columns shows for 1, 2, 3, 6 and 12 systems; each screen was looked at.

`python -m tests.cli.test_screens` writes the screens anew. That the numbers are right is shown
elsewhere; here is what stands where.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.test_terminal import on_terminal

ROOT = Path(__file__).parents[2]
SCREENS = ROOT / "tests/data/screens.txt"
NEWS, WIDTH = ROOT / "examples/news", 80
COMMANDS = {
    "score bart.jsonl -m rouge -m chrf --intervals": 1,
    "score bart.jsonl t5.jsonl pointer_generator.jsonl -m rouge -m chrf": 3,
    "compare bart.jsonl t5.jsonl -m chrf -m rouge -m ter": 2,
    "compare s01.jsonl s02.jsonl -m rouge -m chrf": 2,
    "compare bart.jsonl t5.jsonl pointer_generator.jsonl -m rouge -m chrf -m abstractness": 3,
    "compare s01.jsonl s02.jsonl s03.jsonl -m rouge": 3,
    f"compare {' '.join(f's{k:02}.jsonl' for k in range(3, 9))} -m rouge -m chrf": 6,
    f"compare {' '.join(f's{k:02}.jsonl' for k in range(1, 13))} -m rouge -m chrf": 12,
    "compare bart.jsonl s12.jsonl -m rouge -m distinct": 2,
    "compare bart.jsonl silent.jsonl -m ttr": 2,
    "compare bart.jsonl pointer_generator.jsonl -m chrf -m rouge --fail-if-worse": 2,
    "compare bart.jsonl t5.jsonl -m chrf --by half": 2,
}


def write_systems(folder: Path) -> None:
    """The published systems, one that is silent at times, and twelve that lose more words each."""
    rows = {
        path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for path in NEWS.glob("*.jsonl")
    }
    for number, row in enumerate(rows["bart"]):
        words = row["prediction"].split()
        for k in range(1, 13):
            left = [word for i, word in enumerate(words) if k < 3 or (i + number) % (16 - k)]
            left = left if k != 2 else [*words[1:], words[0]] if number % 9 == 0 else words
            rows.setdefault(f"s{k:02}", []).append({**row, "prediction": " ".join(left)})
        silent = {**row, "prediction": "" if number % 10 == 0 else row["prediction"]}
        rows.setdefault("silent", []).append(silent)
    for name, cells in rows.items():
        halves = [{**row, "half": "first" if i < 50 else "second"} for i, row in enumerate(cells)]
        text = "".join(f"{json.dumps(row)}\n" for row in halves)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")


def screen(command: str) -> str:
    """What is on stdout and then stderr, without styles."""
    shown = "".join(on_terminal(*command.split(), NO_COLOR="1", COLUMNS=str(WIDTH)))
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.replace("\r\n", "\n"))
    texts = [line.rstrip() for line in plain.splitlines() if "━" not in line]
    return "\n".join(texts).strip() + "\n"


def recorded() -> dict[str, str]:
    """The screens of the file by their commands."""
    parts = re.split(r"^\$ metrichub (.*)\n", SCREENS.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], (part.removesuffix("\n") for part in parts[1::2]), strict=True))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_systems(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_screen_is_as_it_was_looked_at(folder: Path, command: str) -> None:
    shown = screen(command)
    assert shown == recorded()[command]
    lines = shown.splitlines()
    assert max(map(len, lines)) <= WIDTH
    if "--by" not in command:
        # A headline, a head, a row for each system or output, what to know, at most three doubts.
        outputs = 5 if COMMANDS[command] < 3 else 0
        noted = next((k for k, line in enumerate(lines) if line.startswith("metrichub: ")), None)
        assert len(lines[:noted]) <= max(COMMANDS[command], outputs) + 9 + 3


def main() -> None:
    """Write the screens."""
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_systems(Path(folder))
        texts = [f"$ metrichub {command}\n{screen(command)}\n" for command in COMMANDS]
    SCREENS.write_text("".join(texts), encoding="utf-8")


if __name__ == "__main__":
    main()
