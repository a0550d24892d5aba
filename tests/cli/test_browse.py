"""`metrichub list`, `card`, `cite` and `doctor`: what is installed, broken or ambiguous."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from metrichub.catalog.card import Card
from metrichub.catalog.listing import list_metrics
from metrichub.catalog.registry import registry
from metrichub.cli.browse_pages import card_lines
from tests.cli.test_terminal import on_terminal
from tests.commands import error, program, run
from tests.plugins import CARD, distribution, environment, metric

TASK = "translation"


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


def test_list_is_a_line_for_each_task_with_its_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    cards = [entry.card for entry in registry().entries]
    for width in (60, 80, 160):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = run("list").stdout.splitlines()
        assert len(lines) <= 25 or width < 80
        assert max(map(len, lines)) <= width
        assert lines[0].startswith(f"{len(cards)} metrics. ")
        counted = {m[1]: int(m[2]) for m in (re.match(r"(\w.*?) +(\d+)   ", x) for x in lines) if m}
        for task in {task for card in cards for task in card.tags.task}:
            assert counted[task] == sum(task in card.tags.task for card in cards), task


def test_all_is_a_line_for_each_metric_by_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    entries = registry().entries
    lines = run("list", "--all").stdout.splitlines()
    assert max(map(len, lines)) <= 100
    tasks = [line for line in lines if not line.startswith(" ")]
    assert len(lines) == len(entries) + len(tasks)
    assert {e.name for e in entries} == {x.split()[0] for x in lines if x.startswith(" ")}
    marks = {line.split()[0]: line[26:29].strip() for line in lines if line.startswith(" ")}
    asked = ("bleu", "faithfulness", "g_eval", "answer_relevancy", "readability")
    assert [marks[name] for name in asked] == ["", "j", "J", "je", "+"]


def test_the_metrics_of_a_task_are_sorted_by_agreement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("list", "--task", "translation").stdout.splitlines()
    assert lines[0] == "9 metrics for translation, by agreement with people on adequacy."
    assert max(map(len, lines)) <= 80
    matches = [m for m in (re.match(r"(\w+) +(-?[\d.]+)  ", line) for line in lines) if m]
    values = {match[1]: float(match[2]) for match in matches}
    assert len(values) == 9
    assert list(values) == sorted(values, key=lambda name: -values[name])
    # The file beside the card, with the default setting.
    study = next(s for s in registry().find("bleu").studies if (s.spec, s.task) == ("bleu", TASK))
    assert values["bleu"] == round(study.shown_values[0].value or 0, 3)
    assert lines[-2].startswith("tau_wmt: WMT19, Lithuanian to English, 6,000 of 21,862")
    # Nothing was measured of dialogue metrics on dialogues, so they are sorted by name.
    others = run("list", "--task", "dialogue").stdout.splitlines()
    assert others[0] == "16 metrics for dialogue."
    names = [line.split()[0] for line in others[2:] if not line.startswith(" ")]
    assert names == sorted(names)
    assert "Needs a judge." in " ".join(" ".join(others).split())


def test_a_question_and_an_agreement_find_metrics_in_a_pipe() -> None:
    pages = run("list", "speech to text wrong words").stdout.splitlines()
    assert pages[0] == "wer: Word error rate (WER), with MER, WIL and WIP"
    assert pages[1].startswith("  Word edits between")
    rated = run("list", "--agreement", "relevance", "--task", "summarization").stdout.splitlines()
    as_json = run("list", "--agreement", "relevance", "--task", "summarization", "--format", "json")
    assert len(json.loads(as_json.stdout)) < len(rated) <= len(json.loads(as_json.stdout)) + 2


def test_a_filtered_list_has_whole_summaries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = run("list", "--family", "edit distance").stdout.splitlines()
    assert "translation" in lines
    assert max(map(len, lines)) <= 60
    summary = registry().find("ter").card.summary
    assert " ".join(summary.split()) in " ".join(" ".join(lines).replace("ter ", "").split())


def test_listed_metrics_show_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    listing = list_metrics(family="edit distance")
    assert isinstance(listing, tuple)
    assert listing[0].card.tags.family == "edit distance"
    assert repr(listing) == listing.text()
    assert "\n ter " in repr(listing)
    shown = listing._repr_html_()
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
    short = program("list", env=environment(site)).stdout
    assert "\nbroken, see metrichub doctor: gone, misspelt\n" in short
    table = program("list", "--all", env=environment(site)).stdout
    assert any(line.startswith(" gone ") and "broken: " in line for line in table.splitlines())


def test_names_in_a_filtered_list_are_qualified_where_they_have_to_be(site: Path) -> None:
    result = listed("--family", "toy", env=environment(site))
    assert result.keys() == {"fine/shout", "rival/shout", "rival/bleu", "raises"}


def test_the_whole_card_is_the_file() -> None:
    text = (registry().find("bleu").folder / "README.md").read_text(encoding="utf-8")
    assert run("card", "bleu", "--full").stdout == text
    assert run("card", "metrichub/bleu", "--full").stdout == text
    assert run("card", "bleu(max_order=2)", "--full").stdout == text


PLUGINS = [*Path(__file__).parents[2].glob("plugins/*/*/*/README.md")]
CARDS = [*(entry.card for entry in registry().entries), *map(Card.read, PLUGINS)]


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_every_card_fits_a_screen(card: Card) -> None:
    for width in (60, 80, 160):
        lines = card_lines(card, card.name, [], "", width)
        bare = [click.unstyle(line) for line in lines]
        assert max(map(len, bare)) <= width
        assert len(lines) <= 40 or width < 80
        assert bare[0].startswith(card.title[:20])
        for row in ("Reads ", "Gives ", "Try "):
            assert sum(line.startswith(row) for line in bare) == 1
        assert any(line.startswith("Use ") for line in bare)
        named = re.findall(r"(?m)^\| `(\w+)` \| [^|]+ \| `", card.sections.get("Parameters", ""))
        assert {*named[:3]} - {"judge", "embedder"} <= {*re.findall(r"\w+", "\n".join(bare))}


def test_a_card_says_what_a_newcomer_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("card", "bleu").stdout
    for line in (
        "BLEU   translation, generation · 0 to 1, higher is better",
        "Don't use it for single sentences, across languages or test sets",
        "Reads    prediction, references (one or several)",
        "Try      metrichub score outputs.jsonl -m bleu",
        "  reference_length  closest  shortest",
        "Presets  bleu(evaluate), bleu(wmt)",
        "Equals   sacrebleu 2.6.0 gives the same scores",
        "  0.240 tau_wmt with adequacy (the highest is chrf, 0.299): WMT19, Lithuanian",
    ):
        assert f"\n{line}" in f"\n{shown}"
    asked = run("card", "answer_relevancy").stdout
    assert "Needs    any judge (--judge) · an embedder (--embedder)" in asked
    assert "not measured on its own task" in asked


def test_a_card_with_headings_of_its_own_is_shown(site: Path) -> None:
    for name in ("fine/shout", "misspelt"):
        ran = program("card", name, env=environment(site))
        assert (ran.returncode, ran.stderr) == (0, "")
        assert ran.stdout
    facts = "name: own\ntitle: Own\nsummary: Mine.\ninputs: [prediction]\nlicense: MIT\n"
    scores = "scores:\n  score: {range: [0, 1], better: higher}\n"
    path = site / "README.md"
    path.write_text(f"---\n{facts}{scores}---\n\n# Own\n\n## Notes\n\nHi.\n", encoding="utf-8")
    lines = card_lines(Card.read(path), "own", [], "pip install own", 80)
    head = [click.unstyle(line) for line in lines if line][:2]
    assert head == ["Own   0 to 1, higher is better · any language", "Mine."]
    assert "Needs    pip install own" in map(click.unstyle, lines)


@pytest.mark.parametrize(
    "command", [("card", "bleu"), ("list",), ("list", "--task", "translation")]
)
def test_pages_have_no_sign_that_the_screen_lacks(command: tuple[str, ...]) -> None:
    shown = program(*command, env={**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"})
    assert shown.stdout.isascii()
    assert "\\u" not in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80
    for declined in ({"TERM": "dumb"}, {"NO_COLOR": "1"}):
        assert "\x1b[" not in on_terminal(*command, **declined)[0]
    assert set(re.findall(r"\x1b\[([\d;]*)m", on_terminal(*command)[0])) <= {"0", "1", "2"}


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
    document = json.loads(ran.stdout)
    assert ran.returncode == 5
    assert {"bad/raises", "bad/misspelt", "bad/gone"} <= document["broken"].keys()
    assert "a_package_that_is_not_there" in document["broken"]["bad/raises"]
    assert document["shadowed"].keys() == {"fine/shout", "rival/shout", "rival/bleu"}
    assert document["metrics"]["rival 1.0"] == 2
    assert document["dependencies"]["numpy"]
    assert document["judges"]["OPENAI_API_KEY"] == "set"
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
    document = json.loads(program("doctor", "--format", "json", env=env).stdout)
    assert document["incomplete"]["needy/parsed"] == command
    assert "needy/parsed" not in document["broken"]


def test_the_doctor_says_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    import platformdirs

    monkeypatch.delenv("METRICHUB_CACHE", raising=False)
    shown = run("doctor").stdout.splitlines()
    place = f"cache      {platformdirs.user_cache_dir('metrichub')}, "
    assert any(line.startswith(place) for line in shown)
    monkeypatch.setenv("METRICHUB_CACHE", "/some/where")
    shown = run("doctor").stdout.splitlines()
    assert any(line.startswith("cache      /some/where, ") for line in shown)


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
