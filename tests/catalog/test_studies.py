"""Studies of agreement beside cards: read, shown, held to the metric of today, made anew."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.agreement import BY_PREDICTION, BY_REFERENCE, qags, scored, summeval
from metrichub import list_metrics, load_metric
from metrichub.agreement.correlation import correlate, with_sources
from metrichub.catalog.registry import registry
from metrichub.catalog.studies import (
    FILE,
    agreement_block,
    definition_of,
    read_studies,
    studies_text,
)
from metrichub.errors import CardError
from metrichub.evaluation.signature import prompts_hash
from metrichub.report.studies import add_study, study_of
from metrichub.testing import blocks
from metrichub.testing.under_test import Broken, MetricUnderTest
from tests.commands import run
from tests.vectors import DATA, SHARED

OURS = [entry for entry in list_metrics() if entry.distribution == "metrichub"]
STUDIED = [entry.name for entry in OURS if read_studies(entry.folder)]


def measured(name: str):
    """The study of a metric on the cut in the repository, measured now."""
    data = summeval(DATA)
    spec = {**BY_REFERENCE, **BY_PREDICTION}[name]
    found = scored(spec, name, data)
    agreement = correlate(
        found.scores,
        {d: [row[d] for row in data.rows] for d in ("coherence", "relevance")},
        item=[row["doc_id"] for row in data.rows],
        system=[row["system"] for row in data.rows],
        better=found.better,
        protocol="g-eval",
        draws=0,
    )
    return study_of(
        with_sources(agreement, found.signatures, ()),
        name,
        spec=spec,
        data=data.facts,
        references=found.references,
        date="2026-01-02",
        shown=False,
    )


def test_there_are_studies_beside_cards() -> None:
    assert len(STUDIED) >= 15


EXPERTS = {"coherence", "consistency", "fluency", "relevance"}
# What was rated, by how many.
RATED = {"summeval": (EXPERTS, 3), "summeval-cut": (EXPERTS, 3), "qags-cnn": ({"factuality"}, 1)}


@pytest.mark.parametrize("name", STUDIED)
def test_a_study_has_values_of_all_dimensions_with_interval_and_ceiling(name: str) -> None:
    for study in read_studies(registry().find(name).folder):
        dimensions, raters = RATED[study.data["name"]]
        assert {value.dimension for value in study.results} == dimensions
        assert study.data["raters"] == raters
        for value in study.results:
            assert (value.ceiling is None) == (raters == 1)
            assert value.low is not None
            assert value.value is not None
            assert -1 <= value.low <= value.high <= 1  # type: ignore[operator]  # measured studies have ends


# BARTScore's repository, SUM/QAGS_CNN; and measured once beside them: see the shared reference.
QAGS = {"rouge": {"rouge1": 0.337667, "rouge2": 0.459141, "rougeLsum": 0.356889}}
BESIDE = {"abstractness": -0.405, "bleu": 0.117, "chrf": 0.366, "density": 0.473}


def test_studies_of_qags_are_the_published_values() -> None:
    expected = QAGS | {name: {"score": value} for name, value in BESIDE.items()}
    for name, values in expected.items():
        folder = registry().find(name).folder
        (study,) = [one for one in read_studies(folder) if one.data["name"] == "qags-cnn"]
        found = {value.output: value.value for value in study.results}
        assert {k: found[k] for k in values} == pytest.approx(values, abs=0.002), name
        assert (study.protocol, study.data["items"]) == ("qags", 235)


@pytest.mark.corpora
@pytest.mark.parametrize("name", ["chrf", "density"])
def test_a_study_of_data_that_is_not_here_is_what_is_measured_today(name: str) -> None:
    if not (SHARED / "data" / "fact_qags_cnn.jsonl").exists():
        pytest.skip("needs ../shared/data/fact_qags_cnn.jsonl")
    data = qags(SHARED / "data")
    found = scored(name, name, data)
    today = correlate(
        found.scores, data.human, item=data.item, better=found.better, protocol="qags", draws=0
    )
    (study,) = [s for s in read_studies(registry().find(name).folder) if s.protocol == "qags"]
    assert study.results[0].value == pytest.approx(today.row().value, abs=1e-4)
    assert study.data["sha256"] == today.data.sha256


@pytest.mark.parametrize("name", ["token_f1", "aun"])
def test_a_study_of_the_cut_is_what_is_measured_today(name: str) -> None:
    (stored,) = [s for s in read_studies(registry().find(name).folder) if not s.shown]
    today = {value[:4]: value.value for value in measured(name).results}
    kept = {value[:4]: value.value for value in stored.results if value[:4] in today}
    assert kept == pytest.approx(today, abs=1e-3)
    assert len(today) == 4
    assert stored.data["sha256"] == hash_of_the_cut()


def hash_of_the_cut() -> str:
    rows = summeval(DATA).rows
    dimensions = ("coherence", "consistency", "fluency", "relevance")
    labels = {"item": [r["doc_id"] for r in rows], "system": [r["system"] for r in rows]}
    human = {d: [row[d] for row in rows] for d in dimensions}
    found = correlate([0.0] * len(rows), human, **labels, draws=0, coefficient="tau_b")
    return found.data.sha256


def test_a_file_is_written_once_and_keeps_its_date_while_the_numbers_stay(tmp_path: Path) -> None:
    study = measured("aun")
    assert add_study(tmp_path, "aun", study)
    later = replace(study, date="2030-01-01", signature=f"{study.signature}|more")
    assert not add_study(tmp_path, "aun", later)
    assert [one.date for one in read_studies(tmp_path)] == ["2026-01-02"]
    other = replace(later, seed=7)
    assert add_study(tmp_path, "aun", other)
    assert [one.date for one in read_studies(tmp_path)] == ["2030-01-01"]
    assert (tmp_path / FILE).read_text() == studies_text("aun", read_studies(tmp_path))


def test_other_parameters_or_another_definition_break_the_law(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = measured("token_f1")
    name, _, rest = study.signature.partition("|definition:1|")
    assert rest
    under_test = MetricUnderTest(registry().find("token_f1"))
    for signature in (f"{name}|definition:7|{rest}", f"token_f1(x=1)|definition:1|{rest}"):
        old = replace(study, signature=signature)
        monkeypatch.setattr(blocks, "read_studies", lambda _, old=old: (old,))
        with pytest.raises(Broken, match="measure it again: metrichub agreement FILE -m"):
            blocks.studies_agree(under_test)
    monkeypatch.setattr(blocks, "read_studies", lambda _: (study,))
    blocks.studies_agree(under_test)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch):
    """The law's reading of a study, as if a model had been the judge."""
    spec = "faithfulness(judge='openai(model=\"m\")')"
    metric = load_metric(spec)
    head, tail = f"{metric.label()}|definition:{metric.card.definition}", "metrichub:0.1.0"
    study = replace(measured("aun"), spec=spec, shown=True)
    under_test = MetricUnderTest(registry().find("faithfulness"))

    def studied(prompts: str) -> MetricUnderTest:
        one = replace(study, signature=f"{head}{prompts}|{tail}|reduce:best")
        monkeypatch.setattr(blocks, "read_studies", lambda _: (one,))
        return under_test

    return studied


def test_a_study_of_other_prompts_breaks_the_law(judged) -> None:
    today = prompts_hash(load_metric("faithfulness", judge="openai(model='m')").templates())
    under_test = judged(f"|prompts:{today}")
    blocks.studies_agree(under_test)
    assert "prompts unknown" not in blocks.generated(under_test)["agreement"]
    said = rf"summeval-cut for .*\|prompts:00000000, and the metric is .*\|prompts:{today} now"
    with pytest.raises(Broken, match=said):
        blocks.studies_agree(judged("|prompts:00000000"))


def test_a_study_of_unknown_prompts_says_so_on_the_card(judged) -> None:
    under_test = judged("")
    blocks.studies_agree(under_test)
    block = " ".join(blocks.generated(under_test)["agreement"].split())
    assert "measured on 2026-01-02; prompts unknown." in block


def test_the_block_shows_value_interval_ceiling_and_facts() -> None:
    study = measured("aun")
    assert agreement_block([study]) == ""
    block = agreement_block([replace(study, shown=True)])
    assert block.startswith("SummEval (Fabbri et al. 2021), a cut: 12 systems, 20 items,")
    assert (
        "| output | dimension | spearman (item) | tau_b (item) | human ceiling | chance |" in block
    )
    assert block.count("| `score` |") == 2


def test_a_broken_file_names_itself(tmp_path: Path) -> None:
    for text in ("{", '{"schema": 2}', '{"schema": 1, "studies": [{}]}'):
        (tmp_path / FILE).write_text(text)
        with pytest.raises(CardError, match=r"agreement\.json:1: "):
            read_studies(tmp_path)
    assert json.loads(studies_text("x", []))["studies"] == []


def test_a_signature_s_parameters_definition_and_prompts_decide() -> None:
    one = "bleu(max_order=4)|definition:2|metrichub:0.1.0|reduce:best|references:11|mean of each"
    assert definition_of(one) == "bleu(max_order=4)|definition:2"
    two = "coherence(judge='m')|definition:1|prompts:0123abcd|metrichub:0.1.0|reduce:best"
    assert definition_of(two) == "coherence(judge='m')|definition:1|prompts:0123abcd"


def test_which_metric_for_the_relevance_of_summaries_has_a_measured_answer() -> None:
    result = run("list", "--agreement", "relevance", "--format", "json")
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)
    values = [row["agreement"] for row in rows]
    assert values == sorted(values, reverse=True)
    assert len(rows) >= 15
    # The best of them isn't as good as an expert, whose tau-b with the two others is .413.
    assert {row["human ceiling"] for row in rows} == {0.4129}
    assert all(row["low"] <= row["agreement"] <= row["high"] for row in rows)
    assert "rouge" in [row["name"] for row in rows[:5]]


def test_which_metric_for_the_factuality_of_summaries_has_one_too() -> None:
    rows = json.loads(run("list", "--agreement", "factuality", "--format", "json").stdout)
    assert rows[0]["name"] == "faithfulness"
    assert {row["coefficient"] for row in rows} == {"pearson (pooled)"}


def test_the_task_is_that_of_the_rated_texts_and_not_a_tag_of_the_card() -> None:
    rated = ("--agreement", "relevance", "--format", "json")
    found = json.loads(run("list", "--task", "summarization", *rated).stdout)
    # No card of these calls summarization its task, and summaries were what people rated.
    assert {"chrf", "ter"} <= {row["name"] for row in found}
    assert found == json.loads(run("list", *rated).stdout)
    other = run("list", "--task", "translation", *rated)
    assert json.loads(other.stdout) == []
    assert "agreement with people on 'relevance' for translation" in other.stderr


def test_a_dimension_that_nobody_rated_is_told_with_those_that_were() -> None:
    result = run("list", "--agreement", "wit", "--format", "json")
    assert json.loads(result.stdout) == []
    assert "on 'wit'; there are studies of: coherence, consistency, " in result.stderr
