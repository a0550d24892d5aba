"""The project of the site: its pages and settings, before the generator sees them."""

from __future__ import annotations

import importlib.metadata
import re
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("zensical", reason="the extra site is not installed")

import yaml

from metrichub.catalog.registry import Entry, Registry
from metrichub.errors import SiteError
from metrichub.site.project import with_plugin, write_project
from tests.site_cards import hostile, measured, study, toy

REPOSITORY = "https://github.com/owner/name"


def write(site: Path, *entries: Entry, repository: str | None = "") -> Path:
    """The folder of the pages of a project with these metrics."""
    write_project(site / "project", Registry(entries), repository)
    return site / "project" / "docs"


def text(docs: Path, path: str) -> str:
    return (docs / path).read_text(encoding="utf-8")


def settings(docs: Path) -> dict[str, Any]:
    return dict(yaml.safe_load((docs.parent / "mkdocs.yml").read_text(encoding="utf-8")))


def tabs(docs: Path) -> dict[str, Any]:
    return {name: entries for tab in settings(docs)["nav"] for name, entries in tab.items()}


def test_metrics_of_one_name_have_pages_under_their_qualified_names(site: Path) -> None:
    twins = [toy(site, "twin", package=f"toy_{side}", distribution=f"dist-{side}") for side in "ab"]
    docs = write(site, *twins, toy(site, "alone"))
    shown = {path.parent.name: path.read_text("utf-8") for path in docs.glob("metric_cards/*/*.md")}
    assert {name: re.findall("(?m)^# (.*)$", page) for name, page in shown.items()} == {
        "alone": ["Toy"],
        "dist-a-twin": ["Toy (dist-a/twin)"],
        "dist-b-twin": ["Toy (dist-b/twin)"],
    }


def test_an_entry_point_of_any_name_gets_a_page_inside_the_project(site: Path) -> None:
    toy(site, "deep")
    names = ("../../up", "/etc/x", "Ü", "a b", "a-b", "A.B", "")
    docs = write(site, *(Entry(name, "dist", "1.0", "toy_pack.deep:Toy") for name in names))
    assert sorted(path.parent.name for path in docs.glob("metric_cards/*/*.md")) == [
        *("a-b", "a-b-2", "a-b-3", "etc-x", "metric", "metric-2", "up"),
    ]


def test_a_card_that_cannot_be_read_is_a_line_without_folders_of_this_machine(site: Path) -> None:
    broken = toy(site, "broken", more="titel: x\n")
    gone = Entry("gone", "dist", "1.0", "toy_nowhere.gone:Toy")
    # YAML takes this for a date, of which there is none.
    dated = toy(site, "dated", summary="2020-13-45")
    registry = Registry((broken, gone, dated, toy(site, "fine")))
    cards, problems = write_project(site / "project", registry, "")
    assert cards == 1
    assert [problem.partition(":")[0] for problem in problems] == ["broken", "gone", "dated"]
    shown = text(site / "project" / "docs", "metric_cards/README.md")
    assert "- `broken`: README.md:10: unknown key titel" in shown
    assert "- `dated`: README.md:1: the front matter isn't valid YAML" in shown
    assert "- `gone`: dist/gone: the package toy\\_nowhere.gone" in shown
    assert str(site) not in shown + "".join(problems)


def test_a_card_s_page_has_its_facts_its_body_and_its_tags(site: Path) -> None:
    card = toy(
        *(site, "one", "# One\n\nUse it.\n\n## Example\n"),
        title="One", summary="Counts _things_.", tags="{task: [a, b], dimension: [c], family: d}",
        more="requires: [heavy>=2]\njudge: any\nkeywords: [tally]\n",
    )  # fmt: skip
    page = text(write(site, card), "metric_cards/one/README.md")
    _, front, body = page.split("---\n", 2)
    assert yaml.safe_load(front) == {
        "title": "One", "description": "Counts _things_.", "tags": ["a", "any judge", "b", "c", "d"]
    }  # fmt: skip
    assert body.startswith("# One\n\nCounts \\_things\\_.\n\nName\n:   `one`\n\n")
    for fact in (
        "Inputs\n:   `prediction`\n",
        "Outputs\n:   `score` in \\[0, 1\\], higher is better\n",
        "Asks\n:   any judge\n",
        "Also searched as\n:   tally\n",
        "Licence\n:   MIT\n",
        "Comes with\n:   toy-dist 1.0\n",
        "Install\n:   `pip install 'heavy>=2'`\n",
    ):
        assert fact in body
    assert body.endswith("\nUse it.\n\n## Example\n")


def test_all_metrics_are_a_table_and_in_the_navigation_by_family(site: Path) -> None:
    def tags(task: str, family: str) -> str:
        return f"{{task: [{task}], dimension: [d], family: {family}}}"

    overlap = toy(
        *(site, "b"), title="B", tags=tags("translation", "overlap"),
        inputs="[prediction, references]", better="lower", distribution="metrichub",
    )  # fmt: skip
    docs = write(
        *(site, measured(overlap, study(("score", "fluency", 0.2)))),
        *(toy(site, "a", title="A", tags=tags("rag", "judge"), more="judge: model\n"),),
    )
    listed = text(docs, "metric_cards/README.md")
    cells = "rag | predictions only | a model as judge, a plugin | any |  | in a plugin |"
    assert f"| [A](a/README.md) `a` ↑ | A toy. | {cells}" in listed
    cells = "translation | references | no model | any | testing: fluency 0.200 | free |"
    assert f"| [B](b/README.md) `b` ↓ | A toy. | {cells}" in listed
    *_, judge, overlap = tabs(docs)["Metrics"]
    assert judge == {"Judge": [{"A": "metric_cards/a/README.md"}]}
    assert overlap == {"Overlap": [{"B": "metric_cards/b/README.md"}]}


def test_a_judge_s_calls_are_those_of_the_sample(site: Path) -> None:
    shown = text(write(site, *Registry.installed().entries), "metric_cards/README.md")
    costs = dict(re.findall(r"(?m)^\| \[.*?`(\w+)`.* \| ([^|]*) \|$", shown))
    # By their prompts: claims and verdicts; one grade; both orders; 3 + 2n calls for n passages.
    expected = {"faithfulness": "2 calls", "fluency": "1 call", "pairwise": "2 calls"}
    expected |= {
        "noise_sensitivity": "5 calls",
        "bleu": "free",
        "semantic_similarity": "embeddings",
    }
    assert {name: costs[name] for name in expected} == expected
    assert "calls" not in costs.values()


def test_a_clone_has_its_plugin_s_cards_installed_or_not(site: Path) -> None:
    ours = [entry for entry in Registry.installed().entries if entry.distribution == "metrichub"]
    both = with_plugin(Registry(tuple(ours)))
    entries = {entry.name: entry for entry in both.entries}
    assert entries["bertscore"].distribution == "metrichub-neural"
    docs = write(site, entries["bertscore"], entries["bleu"])
    card = text(docs, "metric_cards/bertscore/README.md")
    assert "# BERTScore\n" in card
    assert "Install\n:   `in a clone of metrichub, pip install ./plugins/metrichub-neural`" in card
    assert "## BERTScore\n" not in text(docs, "elsewhere.md")
    assert "## COMET\n" in text(docs, "elsewhere.md")
    assert with_plugin(both) is both
    strangers = Registry((toy(site, "one"),))
    assert with_plugin(strangers) is strangers


def test_prompts_are_pages_word_for_word_and_links_out_of_the_folder_are_not_read(
    site: Path,
) -> None:
    (site / "secret.md").write_text("the secret text", encoding="utf-8")
    card = toy(site, "one", "[x](prompts/ask%20me.md)")
    prompts = site / "toy_pack" / "one" / "prompts"
    prompts.mkdir()
    (prompts / "ask me.md").write_text("<!-- offline: covers -->\nAsk <b>*this*</b>.", "utf-8")
    (prompts / "linked.md").symlink_to(site / "secret.md")
    docs = write(site, card)
    assert "``````text\nAsk <b>*this*</b>.\n``````" in text(
        docs, "metric_cards/one/prompts/ask me.md"
    )
    assert not any(
        "secret" in path.read_text("utf-8") for path in docs.glob("metric_cards/**/*.md")
    )


def test_no_page_of_a_hostile_card_holds_what_lies_outside(site: Path) -> None:
    docs = write(site, hostile(site))
    pages = [path.read_text("utf-8") for path in docs.glob("metric_cards/**/*.md")]
    assert len(pages) == 3
    assert not any("the secret text" in page or "root:" in page for page in pages)
    # The theme shows titles and tags as they are.
    assert "<script>" not in str(tabs(docs)["Metrics"])
    front = yaml.safe_load(text(docs, "metric_cards/hostile/README.md").split("---\n")[1])
    assert "<" not in str(front)


def test_a_guide_links_cards_that_are_there_and_other_files_at_their_source(site: Path) -> None:
    bleu = toy(site, "bleu", distribution="metrichub")
    docs = write(site, bleu, repository=REPOSITORY)
    tasks, own_page, judges = (text(docs, f"docs/{name}.md") for name in ("TASKS", "OWN", "JUDGES"))
    assert "[bleu](../metric_cards/bleu/README.md)" in tasks
    assert "chrf" in tasks
    assert "metric_cards/chrf" not in tasks
    assert f"]({REPOSITORY}/blob/HEAD/metrichub/judge/protocol.py)" in judges
    assert f"[Source of this page]({REPOSITORY}/blob/HEAD/docs/OWN.md)" in own_page
    assert "Also searched as: " in own_page
    card = text(docs, "metric_cards/bleu/README.md")
    assert f"({REPOSITORY}/blob/HEAD/metric_cards/bleu/README.md)" in card
    assert settings(docs)["repo_url"] == REPOSITORY
    assert settings(docs)["repo_name"] == "owner/name"


@pytest.mark.parametrize(
    ("repository", "address"),
    [
        ("https://gitlab.com/group/name.git", "https://gitlab.com/group/name/-/blob/HEAD/docs/"),
        ("https://bitbucket.org/o/n/", "https://bitbucket.org/o/n/src/HEAD/docs/"),
        # Nobody knows how an unknown host shows a file.
        ("https://git.example/o/n", ""),
        ("", ""),
    ],
)
def test_a_file_has_the_address_that_its_host_gives_it(
    site: Path, repository: str, address: str
) -> None:
    docs = write(site, repository=repository)
    matches = re.findall(r"\[Source of this page\]\((.*)OWN.md\)", text(docs, "docs/OWN.md"))
    assert matches == ([address] if address else [])
    assert bool(repository) == ("repo_url" in settings(docs))


def distribution(monkeypatch: pytest.MonkeyPatch, *urls: str) -> None:
    """Let the installed distribution have a version and these addresses."""
    metadata = Message()
    metadata["Version"] = "9.8.7"
    for url in urls:
        metadata["Project-URL"] = url
    monkeypatch.setattr(importlib.metadata, "metadata", lambda name: metadata)


def test_the_distribution_names_version_and_repository(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distribution(monkeypatch, "Homepage, https://a.example", f"Source Code, {REPOSITORY}.git")
    shown = settings(write(site, repository=None))
    assert (shown["repo_url"], shown["copyright"]) == (REPOSITORY, "metrichub 9.8.7")
    distribution(monkeypatch, "Homepage, https://a.example")
    assert "repo_url" not in settings(write(site, repository=None))


def test_what_is_no_address_is_no_repository(site: Path) -> None:
    with pytest.raises(SiteError, match="javascript:alert"):
        write(site, repository="javascript:alert(1)")


def test_a_project_that_is_written_again_leaves_what_did_not_change(site: Path) -> None:
    card = toy(site, "one")
    docs = write(site, card)
    before = {path: path.stat().st_mtime_ns for path in docs.parent.rglob("*.*")}
    assert docs / "assets" / "site.css" in before
    readme = site / "toy_pack" / "one" / "README.md"
    readme.write_text(readme.read_text("utf-8").replace("title: Toy", "title: Changed"), "utf-8")
    write(site, Entry(card.name, card.distribution, card.version, card.value))
    after = {path: path.stat().st_mtime_ns for path in docs.parent.rglob("*.*")}
    changed = {
        path.relative_to(docs.parent).as_posix() for path in after if after[path] != before[path]
    }
    assert changed == {
        "mkdocs.yml",
        "docs/metric_cards/README.md",
        "docs/metric_cards/one/README.md",
    }


def test_measured_metrics_stand_in_tables_the_best_of_each_dimension_first(site: Path) -> None:
    low = measured(toy(site, "low"), study(("score", "fluency", 0.2), ("score", "ease", None)))
    high = measured(
        toy(site, "high", better="neither"),
        study(("score", "fluency", -0.1), ("other", "fluency", 0.6)),
        study(("score", "fluency", 0.4), task="translation"),
    )
    shown = text(write(site, low, high, toy(site, "unmeasured")), "agreement.md")
    heads = re.findall("(?m)^## (.*)$", shown)
    assert heads == ["Testing: fluency", "Translation: fluency"]
    # The best output of "high" is "other", of no direction; value, interval, ceiling and chance.
    aimless = (
        "0.600, neither direction is better | -0.100 to 0.800 | 0.900 | 0.000 | tau\\_b (item)"
    )
    first, second, third = re.findall("(?m)^.*metric_cards.*$", shown)
    assert first.startswith(f"| [Toy](metric_cards/high/README.md) `toy` `other` | {aimless}")
    assert second.startswith("| [Toy](metric_cards/low/README.md) `toy` | 0.200 |")
    assert third.startswith("| [Toy](metric_cards/high/README.md) `toy` | 0.400, neither")


def test_studies_that_cannot_be_read_leave_the_card(site: Path) -> None:
    broken = toy(site, "broken")
    for content in ("{", '{"schema": 1, "metric": "m", "studies": [{"results": [], "data": []}]}'):
        (broken.folder / "agreement.json").write_text(content, encoding="utf-8")
        docs = write(site, broken)
        assert "##" not in text(docs, "agreement.md")
        assert "[Toy](broken/README.md)" in text(docs, "metric_cards/README.md")
