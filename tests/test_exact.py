"""The comparison with official packages runs, and finds a difference where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import exact, exact_rows
from benchmarks.exact_defaults import WITHOUT, defaults
from benchmarks.exact_overlap import Found, Official
from benchmarks.exact_presets import presets
from benchmarks.exact_rows import Comparison
from benchmarks.exact_texts import Corpus, corpora, programs
from metrichub import load_metric
from metrichub.catalog.registry import registry

CUT = Path("no such folder")
ROWS = {row.spec: row for row in (*exact_rows.rows(), *presets(), *defaults())}
PAGE = (Path(__file__).resolve().parents[1] / "docs" / "evidence" / "EXACT.md").read_text("utf-8")


@pytest.fixture(scope="module")
def texts() -> Corpus:
    return corpora(CUT)[0].part(4)


def altered(official: Official, row: int, by: float) -> Official:
    """The official scorer with one sample's score changed, and the corpus score by as much."""

    def changed(corpus: Corpus) -> Found:
        samples, expected = official(corpus)
        scores = list(samples["score"])
        scores[row] += by
        return Found({**samples, "score": scores}, {**expected, "score": expected["score"] + by})

    return changed


def test_every_card_has_a_program_at_its_default_or_a_reason_for_none() -> None:
    cards = [entry.name for entry in registry().entries if entry.distribution == "metrichub"]
    compared = {row.metric for row in defaults()}
    listed = [name for names in WITHOUT.values() for name in names]
    assert sorted({*compared, *listed}) == sorted(cards)
    assert not compared.intersection(listed)
    assert len(listed) == len(set(listed))


def test_the_page_begins_with_the_rows_of_the_defaults_and_the_reasons() -> None:
    # What the command prints, measured: no row lacks its program, and what differs has a cause.
    table, _, remainder = PAGE.partition("No program to compare with on these texts:\n\n")
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line[:3] == "| `"]
    specs = [line[0].partition("`: ")[0].strip("`") for line in lines]
    assert specs == [row.spec for row in defaults()]
    for _, _, _, pairs, samples, corpus, rows, *cause in lines:
        assert pairs != "–"
        assert (samples, corpus) != ("–", "–")
        assert rows == "0" or cause
    assert remainder.startswith("\n".join(exact.without()))


def test_every_preset_has_a_row_on_the_page() -> None:
    compared = {load_metric(spec).label() for spec in ROWS if f"| `{spec}`" in PAGE}
    # Those of metrics that these texts don't fit are held by tests/test_presets.py alone.
    unfit = {name for names in WITHOUT.values() for name in names}
    ours = [entry for entry in registry().entries if entry.distribution == "metrichub"]
    names = [
        f'{entry.name}("{preset}")'
        for entry in ours
        for preset in entry.card.presets
        if entry.name not in unfit
    ]
    assert [name for name in names if load_metric(name).label() not in compared] == []


@pytest.mark.parametrize(
    "spec",
    [
        *("bleu", "chrf", "ter", "rouge", "ribes", "wer", "cer", "edit_similarity"),
    ],
)
def test_a_default_equals_its_program_on_raw_text(spec: str, texts: Corpus) -> None:
    row = ROWS[spec]
    # sacrebleu's TER takes seconds for eleven references of a summary.
    two = texts._replace(references=[group[:2] for group in texts.references])
    difference = exact.difference(row, row.make(None), two)
    assert (difference.pairs, difference.rows) == (4, 0)
    assert difference.corpus <= row.limit


@pytest.mark.parametrize("spec", ["bleu", "wer"])
def test_an_altered_score_is_found(spec: str, texts: Corpus) -> None:
    row = ROWS[spec]
    difference = exact.difference(row, altered(row.make(None), 2, 0.25), texts)
    assert (difference.rows, difference.one_sided) == (1, 0)
    assert difference.samples == pytest.approx(0.25)
    assert difference.corpus == pytest.approx(0.25)


def test_a_package_that_is_absent_has_a_row_that_says_how_to_get_it(texts: Corpus) -> None:
    def absent(folder: Path | None) -> Official:
        raise ModuleNotFoundError("No module named 'official'")

    row = Comparison("wer", "official", absent, "pip install official==1.2.0")
    shown = exact.cells(row, [texts])
    assert shown[:2] == ["`wer`", "official"]
    assert shown[-1] == "not compared here; needs `pip install official==1.2.0`"


def test_the_command_prints_a_table_of_the_chosen_metrics() -> None:
    arguments = ["--data", str(CUT), "--most", "3", "--only", "ribes", "--only", "edit_similarity"]
    ran = CliRunner().invoke(exact.main, arguments)
    assert ran.exit_code == 0, ran.output
    lines = [line for line in ran.output.split("\n") if line.startswith("| `")]
    assert [line.split("`")[1].partition("(")[0] for line in lines] == [
        *("ribes", "edit_similarity", "ribes")
    ]
    # Pairs, samples, corpus and rows of each: sums of floats may differ in their last place.
    for line in lines:
        letter, pairs, _, _, rows = (cell.strip() for cell in line.split("|")[3:8])
        assert (letter, pairs, rows) == ("S", "3", "0")


def test_every_spec_is_a_metric_of_ours_and_every_corpus_whole() -> None:
    from metrichub import Hub

    for row in ROWS.values():
        assert [metric.name for metric in Hub(row.spec).metrics] == [row.metric]
    for corpus in (*corpora(CUT), programs()):
        assert len({*map(len, corpus[1:])}) == 1
        assert all(corpus.first)
