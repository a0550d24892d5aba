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
from metrichub.catalog.index import index

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCES = re.findall(r"^```(\w*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = [
    command
    for language, text in FENCES
    if not language
    for command in re.split(r"\n| && ", text.strip())
] + [c for c in re.findall(r"`(metrichub [^`]+)`", README) if not c.isupper()]


def test_the_snippets_run():
    runner, said = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS), []
    names = {}
    for language, text in FENCES:
        if language == "python":
            test = doctest.DocTestParser().get_doctest(text, names, "README", "README.md", 0)
            runner.run(test, out=said.append, clear_globs=False)
            names = test.globs
    assert not runner.failures, "".join(said)
    assert runner.tries > 5


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("metrichub")])
def test_the_commands_run(command):
    ran = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)],
        cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "100"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout


def test_every_other_command_is_run_elsewhere():
    # `pip install .` in test_packaging; the test command is the one that runs this test.
    others = {c for c in COMMANDS if not c.startswith("metrichub")}
    assert others == {
        "pip install .",
        "pip install '.[test]'",
        'pytest -n auto --dist worksteal -m ""',
    }


def test_the_links_lead_somewhere():
    for page in [
        *ROOT.glob("*.md"),
        ROOT / "metrichub/judge/README.md",
        *ROOT.glob("metric_cards/**/README.md"),
    ]:
        for link in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page}: {link}"


def test_the_index_of_cards_is_current():
    path = ROOT / "metric_cards" / "README.md"
    text = path.read_text(encoding="utf-8")
    assert text == with_blocks(text, {"index": index(path.parent)}), "see metrichub.catalog.index"
