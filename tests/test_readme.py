"""Every command and snippet of the README and of CONTRIBUTING works as it stands."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from metrichub.catalog.card import with_blocks
from metrichub.catalog.registry import registry
from scripts.card_index import index
from scripts.pictures import COMMAND, svg, terminal, words, words_of

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCES = re.findall(r"^```(\w*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = [
    command
    for language, text in FENCES
    if not language
    for command in re.split(r"\n| && ", text.strip())
] + re.findall(r"`(metrichub [^`]+)`", README)


def test_the_snippets_run():
    runner, message = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS), []
    names = {}
    for language, text in FENCES:
        if language == "python":
            test = doctest.DocTestParser().get_doctest(text, names, "README", "README.md", 0)
            runner.run(test, out=message.append, clear_globs=False)
            names = test.globs
    assert not runner.failures, "".join(message)
    assert runner.tries > 5


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("metrichub ")])
def test_the_commands_run(command, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    ran = subprocess.run(
        [sys.executable, "-m", *(word for part in shlex.split(command) for word in words_of(part))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "100"},
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout


def test_the_links_lead_somewhere():
    for page in [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("metric_cards/**/README.md"),
    ]:
        for link in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page}: {link}"


def test_the_index_of_cards_is_current():
    path = ROOT / "metric_cards" / "README.md"
    text = path.read_text(encoding="utf-8")
    assert text == with_blocks(text, {"index": index(path.parent)}), "python -m scripts.card_index"


def test_the_numbers_are_counted_or_stand_in_the_table_that_they_lead_to():
    cards = [entry.card for entry in registry().entries if entry.distribution == "metrichub"]
    judged = sum(card.judge is not None for card in cards)
    text = " ".join(README.split())
    assert f"with {len(cards)} metrics," in text
    assert f"Faithfulness and {judged - 1} other metrics need a judge" in text
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"- {len(cards)} metrics, each a folder" in changelog
    assert f"- {judged} that ask a judge" in changelog
    exact = (ROOT / "docs/evidence/EXACT.md").read_text(encoding="utf-8")
    table = exact.partition("\nNo program to compare with")[0]
    # The metric, its pairs, and the rows that differ: a dash if only the corpus was compared.
    defaults = re.findall(r"^\| `(\w+)`.*? \| ([\d,]+) \| \S+ \| \S+ \| (\S+) \|", table, re.M)
    equal = [pairs for _, pairs, differ in defaults if differ == "0"]
    assert f"Of {len(defaults)} metrics that have an official program" in text
    assert f"{len(equal)} give its score on every sample of up to {max(equal)} real pairs" in text
    assert f"the other {len(defaults) - len(equal)}, such as METEOR" in text
    assert f"- {len(defaults)} metrics have a program to compare with; {len(equal)} of" in exact
    speed = (ROOT / "docs/evidence/SPEED.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| 2,000 \| ([\d.]+) \(.*\) \| ([\d.]+) \(", speed, re.MULTILINE)
    ratios = sorted(round(float(ratio)) for row in rows for ratio in row)
    assert f"[{ratios[0]} to {ratios[-1]} times as fast](docs/evidence/SPEED.md)" in text


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 90


def test_the_first_command_is_short_in_a_pipe():
    first = re.search(r"<!-- first command -->\n```\n.*? && (.*?)\n```", README, re.DOTALL)[1]
    ran = subprocess.run(
        [sys.executable, "-m", *words_of(first)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert len(ran.stdout.splitlines()) < 15
    systems = {line.split()[0] for line in ran.stdout.splitlines()[3:6]}
    assert systems == {"bart", "pointer_generator", "t5"}
    assert ran.stderr == ""
    assert first == f"metrichub {COMMAND}"


def test_the_pictures_are_there_and_small():
    named = re.findall(r'(?:src|srcset)="([^"]+)"', README)
    assert len(named) == 4
    for name in named:
        assert (ROOT / name).stat().st_size < 60_000


def test_the_picture_of_the_terminal_shows_what_the_command_writes():
    written = terminal(COMMAND)
    for name, dark in (("light", False), ("dark", True)):
        picture = svg(written, dark=dark)
        drawn = (ROOT / f"docs/pictures/terminal-{name}.svg").read_text(encoding="utf-8")
        assert words(drawn) == words(picture), "run `python -m scripts.pictures`"
        assert {"0.457", "≈"} <= {*words(picture)}
        # Nothing is fetched by whoever looks at it.
        assert "url(http" not in picture
        assert "@import" not in picture
