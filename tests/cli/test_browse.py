"""`metrichub list`, `card`, `cite` and `doctor`: what is installed, broken or ambiguous."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from metrichub.catalog.listing import list_metrics
from metrichub.catalog.registry import registry
from tests.cli.test_terminal import on_terminal
from tests.commands import error, program, run
from tests.plugins import CARD, distribution, environment, metric


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Four plugins: one is fine, two share a name and one shadows, one is broken in three ways."""
    metric(tmp_path, "fine", "shout")
    metric(tmp_path, "rival", "shout")
    metric(tmp_path, "rival", "bleu")
    metric(tmp_path, "bad", "raises", code="import a_package_that_is_not_there")
    metric(tmp_path, "bad", "misspelt", card=CARD.replace("title:", "titel:"))
    distribution(tmp_path, "fine", ["shout = fine.shout:Toy"])
    distribution(tmp_path, "rival", ["shout = rival.shout:Toy", "bleu = rival.bleu:Toy"])
    distribution(
        tmp_path,
        "bad",
        ["raises = bad.raises:Toy", "misspelt = bad.misspelt:Toy", "gone = nowhere.gone:Toy"],
    )
    return tmp_path


def listed(*arguments: str, **options: Any) -> dict[str, Any]:
    ran = program("list", *arguments, "--format", "json", **options)
    assert (ran.returncode, ran.stderr) == (0, "")
    return {row["name"]: row for row in json.loads(ran.stdout)}


def names(*arguments: str) -> list[str]:
    return [row["name"] for row in json.loads(run("list", *arguments, "--format", "json").stdout)]


def test_list_shows_every_metric_with_the_facts_of_its_card() -> None:
    rows = {row["name"]: row for row in json.loads(run("list", "--format", "json").stdout)}
    assert {"abstractness", "bleu", "wer"} <= rows.keys()
    bleu = rows["bleu"]
    assert bleu["distribution"] == "metrichub"
    assert bleu["problem"] is None
    assert bleu["inputs"] == ["prediction", "references"]
    scale = {"low": 0, "high": 1, "better": "higher", "perfect": 1}
    scale |= {"length_bound": None, "share": False, "rate": False}
    assert bleu["outputs"]["score"] == scale
    assert "translation" in bleu["tags"]["task"]


def test_list_is_a_line_for_each_metric_by_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    entries = registry().entries
    ours = {entry.name for entry in entries if entry.distribution == "metrichub"}
    lines = run("list", "--format", "table").stdout.splitlines()
    assert max(map(len, lines)) <= 100
    tasks = [line for line in lines if not line.startswith(" ")]
    assert len(lines) == len(entries) + len(tasks)
    assert {"summarization", "translation", "speech recognition"} < {*tasks}
    assert ours <= {line.split()[0] for line in lines if line.startswith(" ")}
    marks = {line.split()[0]: line[26:29].strip() for line in lines if line.startswith(" ")}
    asked = ("bleu", "faithfulness", "g_eval", "answer_relevancy", "readability")
    assert [marks[name] for name in asked] == ["", "j", "J", "je", "+"]


def test_a_list_into_a_pipe_is_a_line_for_each_metric() -> None:
    lines = run("list").stdout.splitlines()
    known = {registry().name_of(entry): entry for entry in registry().entries}
    assert [line.split()[0] for line in lines] == sorted(known)
    bleu = next(line for line in lines if line.startswith("bleu "))
    assert bleu.split(maxsplit=1)[1] == known["bleu"].card.summary
    few = run("list", "--family", "edit distance").stdout.splitlines()
    assert {"ter", "wer"} <= {line.split()[0] for line in few} <= {*known}
    pages = run("list", "speech to text wrong words").stdout.splitlines()
    assert pages[0].startswith("wer: Word error rate (WER), with MER, WIL and WIP: Word edits")
    assert len(pages) <= 5
    rated = run("list", "--agreement", "relevance", "--task", "summarization").stdout.splitlines()
    as_json = run("list", "--agreement", "relevance", "--task", "summarization", "--format", "json")
    assert len(json.loads(as_json.stdout)) < len(rated) <= len(json.loads(as_json.stdout)) + 2


def test_a_filtered_list_has_whole_summaries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    shown = run("list", "--family", "edit distance", "--task", "translation", "--format", "table")
    lines = shown.stdout.splitlines()
    assert lines[0] == "translation"
    assert max(map(len, lines)) <= 60
    summary = registry().find("ter").card.summary
    assert " ".join(summary.split()) in " ".join(" ".join(lines).replace("ter ", "").split())


def test_listed_metrics_show_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    found = list_metrics(family="edit distance")
    assert isinstance(found, tuple)
    assert found[0].card.tags.family == "edit distance"
    assert repr(found) == found.text()
    assert "\n ter " in repr(found)
    shown = found._repr_html_()
    assert "<td>ter</td><td></td><td>Word edits, including phrase shifts," in shown
    assert '<th scope="rowgroup" colspan="3">speech recognition</th>' in shown


@pytest.mark.parametrize(
    ("option", "value", "tag"),
    [
        ("--task", "summarization", lambda card: "summarization" in card.tags.task),
        ("--dimension", "novelty", lambda card: "novelty" in card.tags.dimension),
        ("--family", "overlap", lambda card: card.tags.family == "overlap"),
        ("--input", "references", lambda card: {"reference", "references"} & set(card.inputs)),
    ],
)
def test_list_filters_by_the_tags_of_the_cards(option: str, value: str, tag: Any) -> None:
    cards = {entry.name: entry.card for entry in registry().entries if not entry.problem}
    expected = {name for name, card in cards.items() if tag(card)}
    assert expected
    assert set(names(option, value)) == expected


def test_broken_and_shadowed_plugins_are_lines_of_the_list(site: Path) -> None:
    rows = listed(env=environment(site))
    assert {"bleu", "rival/bleu", "fine/shout", "rival/shout"} <= rows.keys()
    assert rows["bleu"]["distribution"] == "metrichub"
    assert "unknown key titel; did you mean 'title'" in rows["misspelt"]["problem"]
    assert "the package nowhere.gone" in rows["gone"]["problem"]
    assert rows["raises"]["problem"] is None  # Only its card was read.
    table = program("list", "--format", "table", env=environment(site)).stdout
    assert any(line.startswith(" gone ") and "broken: " in line for line in table.splitlines())


def test_names_in_a_filtered_list_are_qualified_where_they_have_to_be(site: Path) -> None:
    found = listed("--family", "toy", env=environment(site))
    assert found.keys() == {"fine/shout", "rival/shout", "rival/bleu", "raises"}


def test_the_card_is_the_file_in_a_pipe_and_raw() -> None:
    text = (registry().find("bleu").folder / "README.md").read_text(encoding="utf-8")
    assert run("card", "bleu").stdout == text
    assert run("card", "metrichub/bleu").stdout == text
    assert run("card", "bleu(max_order=2)", "--raw").stdout == text


def test_the_card_is_rendered_on_a_terminal() -> None:
    shown, _ = on_terminal("card", "answer_correctness", NO_COLOR="1")
    assert "<!--" not in shown
    assert "\n---\r\n" not in shown
    assert "Limitations and bias" in shown
    assert "## Limitations" not in shown
    assert "inputs: prediction, reference" in shown
    assert "judge: any judge" in shown
    assert "embedder: any embedder" in shown


def test_cite_gives_each_entry_once() -> None:
    bleu, abstractness = (registry().find(n).card.bibtex for n in ("bleu", "abstractness"))
    shown = run("cite", "bleu", "abstractness", "b = bleu(max_order=2)").stdout
    assert shown == f"{bleu}\n\n{abstractness}\n"


def test_a_card_without_citation_is_a_note(site: Path) -> None:
    ran = program("cite", "fine/shout", env=environment(site))
    assert (ran.returncode, ran.stdout) == (0, "")
    assert ran.stderr == "metrichub: note: the card of fine/shout has no citation\n"


@pytest.mark.parametrize("command", ["card", "cite", "check"])
def test_an_unknown_name_has_near_matches(command: str) -> None:
    assert "no metric 'blue' is installed; did you mean 'bleu'" in error(run(command, "blue"), 2)


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("shout", 2, "choose 'fine/shout' or 'rival/shout'"),
        ("raises", 5, "bad/raises (version 1.0) is installed but can't be imported"),
        ("gone", 5, "bad/gone (version 1.0) is installed but can't be imported"),
    ],
)
def test_scoring_with_a_broken_or_ambiguous_plugin_is_one_line(
    site: Path, name: str, status: int, message: str
) -> None:
    samples = '{"prediction": "a"}\n'
    ran = program("score", "-", "-m", name, env=environment(site), input=samples)
    assert (ran.returncode, ran.stdout) == (status, "")
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_the_doctor_finds_what_is_broken_and_what_is_shadowed(site: Path) -> None:
    ran = program("doctor", "--format", "json", env=environment(site, OPENAI_API_KEY="secret"))
    found = json.loads(ran.stdout)
    assert ran.returncode == 5
    assert {"bad/raises", "bad/misspelt", "bad/gone"} <= found["broken"].keys()
    assert "a_package_that_is_not_there" in found["broken"]["bad/raises"]
    assert found["shadowed"].keys() == {"fine/shout", "rival/shout", "rival/bleu"}
    assert found["metrics"]["rival 1.0"] == 2
    assert found["dependencies"]["numpy"]
    assert found["judges"]["OPENAI_API_KEY"] == "set"
    assert "secret" not in ran.stdout


def test_a_metric_that_lacks_packages_is_listed_with_the_command_and_is_not_broken(
    tmp_path: Path,
) -> None:
    needy = CARD.replace("license", "requires: [toy-parser>=2]\nlicense")
    metric(tmp_path, "needy", "parsed", card=needy, code="import toy_parser")
    distribution(tmp_path, "needy", ["parsed = needy.parsed:Toy"])
    command, env = "pip install 'toy-parser>=2'", environment(tmp_path)
    assert listed(env=env)["parsed"]["needs"] == command
    assert listed(env=env)["bleu"]["needs"] is None
    table = program("list", "--family", "toy", "--format", "table", env=env).stdout
    assert f"\n! parsed: {command}\n" in table
    found = json.loads(program("doctor", "--format", "json", env=env).stdout)
    assert found["incomplete"]["needy/parsed"] == command
    assert "needy/parsed" not in found["broken"]


def test_the_doctor_says_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    import platformdirs

    monkeypatch.delenv("METRICHUB_CACHE", raising=False)
    shown = run("doctor").stdout.splitlines()
    assert f"cache: {platformdirs.user_cache_dir('metrichub')}" in shown
    monkeypatch.setenv("METRICHUB_CACHE", "/some/where")
    shown = run("doctor").stdout.splitlines()
    assert "cache: /some/where" in shown


HEAVY = ("numpy", "openai", "datasets", "evaluate", "pyarrow", "rich", "yaml", "metric_cards.bleu")


def loaded(*arguments: str) -> set[str]:
    """Which of the heavy modules a fresh process has after a command."""
    code = (
        "import sys\n"
        "from metrichub.cli import main\n"
        "arguments = sys.argv[1:]\n"
        "try:\n"
        "    main(arguments) if arguments else None\n"
        "except SystemExit as end:\n"
        "    assert end.code == 0, end.code\n"
        f"print('loaded', *(m for m in {HEAVY!r} if m in sys.modules), file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", code, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(ran.stderr.splitlines()[-1].split()[1:])


def test_browsing_loads_neither_numpy_nor_any_metric() -> None:
    assert loaded() == set()
    for arguments in (("list",), ("list", "--format", "table"), ("card", "bleu"), ("cite", "bleu")):
        assert loaded(*arguments) <= {"yaml"}
    assert loaded("--help") == set()
