"""What a call enters and a program loads; `python -m tests.entered` counts files and calls.

Each call runs once before it is counted, so that no import counts. Calls of functions and
generators count, in every thread, if their code is in `metrichub` or `metric_cards`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = "predictions=['the cat sat', 'a dog'], references=['the cat sat down', 'the dog']"
CONTEXTS = "predictions=['The cat sat.', 'A dog.'], contexts=[['The cat sat.'], ['A dog ran.']]"
COMPARE = ["compare", "examples/summaries.jsonl", "examples/summaries_b.jsonl", "-m", "bleu"]
CALLS = {
    "score": f"from metrichub import Hub; hub = Hub('bleu')\nrun = lambda: hub.evaluate({COLUMNS})",
    "judge": "from metrichub import Hub; hub = Hub('faithfulness', judge='offline')\n"
    f"run = lambda: hub.evaluate({CONTEXTS})",
    "compare": f"from metrichub.cli import main\nrun = lambda: leave(main, {COMPARE})",
}
"""What is counted: the call of a hub, that of one with a judge, and a command with its output."""

_PROGRAM = """
import sys, threading
from collections import Counter

calls, counting = Counter(), False


def profile(frame, event, argument):
    if counting and event == "call":
        calls[frame.f_code.co_filename] += 1


def leave(main, arguments):
    try:
        main(arguments)
    except SystemExit as end:
        assert not end.code, end.code


threading.setprofile(profile)
sys.setprofile(profile)
{call}
run()
counting = True
run()
counting = False
ours = {{name: number for name, number in calls.items() if name.startswith({homes})}}
print(len(ours), sum(ours.values()), *sorted(ours))
"""


class Entered(NamedTuple):
    """The files that a call enters, relative to the repository, and the number of calls."""

    files: tuple[str, ...]
    calls: int


def entered(call: str) -> Entered:
    """What a call out of `CALLS` enters, in a process of its own."""
    import metric_cards
    import metrichub

    homes = tuple(f"{Path(package.__path__[0])}/" for package in (metrichub, metric_cards))
    program = _PROGRAM.format(call=CALLS[call], homes=homes)
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    number, calls, *files = ran.stdout.splitlines()[-1].split()
    assert int(number) == len(files)
    return Entered(tuple(files), int(calls))


def loaded(program: str) -> set[str]:
    """The modules of a fresh process after a program."""
    program += "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return set(json.loads(ran.stdout.splitlines()[-1]))


if __name__ == "__main__":
    for name in CALLS:
        result = entered(name)
        print(f"{name}: {len(result.files)} files, {result.calls} calls")
        if "--files" in sys.argv:
            print(*result.files, sep="\n")
