"""Cards that can't be read: one message, and all other metrics go on."""

import json
import re
from pathlib import Path

import pytest

from metrichub.testing import check
from tests import plugins
from tests.commands import error, run, scored, write


def test_a_card_that_cant_be_read_is_one_finding(site: Path) -> None:
    plugins.metric(site, "toy_pack", "shout", card="---\nnme: {name}\n---\n")
    plugins.metric(site, "toy_pack", "whisper")
    plugins.distribution(
        site, "toy-dist", [f"{n} = toy_pack.{n}:Toy" for n in ("shout", "whisper")]
    )
    findings = check("shout")
    assert [finding.law for finding in findings] == list(range(1, 17))
    assert [finding.law for finding in findings if finding.ran] == [2]
    problems = [finding.problem for finding in findings if finding.problem]
    assert len(problems) == 1
    assert re.search(r"README\.md:2: unknown key nme; did you mean 'name'", problems[0])
    assert all(finding.ran for finding in check("whisper"))
    result = run("check", "shout")
    assert result.exit_code == 1
    verdict, problem, total = result.stdout.splitlines()
    assert verdict.startswith("shout   2  FAILED")
    assert problem.strip() == problems[0]
    assert total == "shout: 0 of 16 contract tests pass, 15 not run, as they need the card"


@pytest.mark.parametrize("content", [b"", b"no front matter", b"---\n[\n---\n", b"\xff\xfe---"])
def test_a_broken_card_of_a_plugin_breaks_nothing_else(site: Path, content: bytes) -> None:
    plugins.metric(site, "toy_pack", "shout")
    plugins.distribution(site, "toy-dist", ["shout = toy_pack.shout:Toy"])
    card = site / "toy_pack" / "shout" / "README.md"
    card.write_bytes(content)
    listed = json.loads(run("list", "--format", "json").stdout)
    (shout,) = [entry for entry in listed if entry["problem"]]
    assert shout["name"] == "shout"
    assert str(card) in shout["problem"]
    assert "shout" not in run("list", "--task", "testing", "--format", "json").stdout
    for command, status in {"card": 0, "cite": 2, "check": 1}.items():
        result = run(command, "shout")
        assert result.exit_code == status
        assert "defect" not in result.stderr
    rows = site / "a.jsonl"
    write(str(rows), [{"prediction": "a", "reference": "a"}])
    assert scored(str(rows), "-m", "wer")["scores"]["wer"]["score"] == 0.0
    assert error(run("score", str(rows), "-m", "shout"), 2).startswith(f"{card}:")
