"""Studies of agreement beside cards: read, shown, held to the metric of today, made anew."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.agreement import Scored, agreement_of, scored
from benchmarks.rated_data import STUDIES
from benchmarks.rated_texts import EXPERTS, begin, darr
from metrichub import list_metrics, load_metric
from metrichub.agreement.correlation import correlate
from metrichub.agreement.measured_studies import add_study, studies_text, study_of
from metrichub.catalog.guides import choices
from metrichub.catalog.registry import registry, spec_of
from metrichub.catalog.studies import (
    FILE,
    Study,
    agreement_block,
    best_by_task,
    boards_of,
    definition_of,
    read_studies,
)
from metrichub.errors import CardError
from metrichub.evaluation.signature import prompts_hash
from metrichub.testing import card_laws
from metrichub.testing.under_test import Broken, MetricUnderTest
from tests.commands import run
from tests.site_cards import study
from tests.vectors import DATA, SHARED

OURS = [entry for entry in list_metrics() if entry.distribution == "metrichub"]
STUDIED = [entry.name for entry in OURS if read_studies(entry.folder)]


(CUT,) = [data for data in STUDIES if not data.shown]


def measured(spec: str):
    """The study of a metric on the cut in the repository, measured now."""
    texts = CUT.read(DATA)
    human = {name: texts.human[name] for name in ("coherence", "relevance")}
    scores = scored(spec, CUT, texts)
    return study_of(
        agreement_of(scores, CUT, texts._replace(human=human), draws=0),
        spec,
        spec=spec,
        data=CUT.facts,
        references=scores.references,
        date="2026-01-02",
        shown=False,
    )


# What was rated, by how many whose single ratings there are.
QUALITIES = {"understandability", "naturalness", "coherence", "engagingness", "groundedness"}
RATED = {
    "summeval": (set(EXPERTS), 3),
    "summeval-cut": (set(EXPERTS), 3),
    "qags-cnn": ({"factuality"}, 1),
    "wmt19-lten": ({"adequacy"}, 1),
    "hats": ({"preference"}, 1),
    "nq301": ({"correctness"}, 1),
    "begin-wow": ({"attribution"}, 1),
    "thumb": ({"precision", "recall", "overall"}, 1),
    "conala": ({"usefulness"}, 10),
    "simplicity-da": ({"fluency", "meaning", "simplicity"}, 1),
    "topical-chat": (QUALITIES | {"overall"}, 1),
    "sfres": ({"informativeness", "naturalness", "overall"}, 1),
}


@pytest.mark.parametrize("name", STUDIED)
def test_a_study_has_values_of_all_dimensions_with_interval_and_ceiling(name: str) -> None:
    for measured in read_studies(registry().find(name).folder):
        dimensions, raters = RATED[measured.data["name"]]
        assert {value.dimension for value in measured.results} == dimensions
        assert measured.data["raters"] == raters
        for value in measured.results:
            assert (value.ceiling is None) == (raters == 1)
            assert value.low is not None
            assert value.value is not None
            assert -1 <= value.low <= value.high <= 1  # type: ignore[operator]  # measured studies have ends


def test_the_studies_beside_cards_are_those_that_the_benchmark_makes() -> None:
    by_key = {
        (measured.data["name"], measured.data["task"], measured.spec, measured.shown)
        for name in STUDIED
        for measured in read_studies(registry().find(name).folder)
    }
    assert by_key == {(of.name, of.task, spec, of.shown) for of in STUDIES for spec in of.specs}


# BARTScore's repository, SUM/QAGS_CNN; and measured once beside them: see the shared reference.
QAGS = {"rouge(stemmer=True)": {"rouge1": 0.337667, "rouge2": 0.459141, "rougeLsum": 0.356889}}
BESIDE = {"abstractness": -0.405, "bleu": 0.117, "chrf": 0.366, "density": 0.473}


def kept_study(spec: str, data: str) -> Study:
    """The study of a setting beside its card."""
    studies = read_studies(registry().find(spec_of(spec).metric).folder)
    (result,) = [
        measured for measured in studies if (measured.spec, measured.data["name"]) == (spec, data)
    ]
    return result


def test_studies_of_qags_are_the_published_values() -> None:
    expected = QAGS | {name: {"score": value} for name, value in BESIDE.items()}
    for spec, values in expected.items():
        recorded = kept_study(spec, "qags-cnn")
        result = {value.output: value.value for value in recorded.results}
        assert {k: result[k] for k in values} == pytest.approx(values, abs=0.002), spec
        assert (recorded.protocol, recorded.data["items"]) == ("qags", 235)


def test_studies_of_simplifications_are_near_the_published_values() -> None:
    # Alva-Manchego et al. (2021), as their notebook on simplicity levels has them, without signs.
    # They standardize the ratings of each rater; ours are means.
    expected = {"bleu": 0.496336, "sari(xu2016)": 0.358708, "readability": 0.117057}
    for spec, value in expected.items():
        recorded = kept_study(spec, "simplicity-da")
        values = {v.output: v.value for v in recorded.results if v.dimension == "simplicity"}
        ours = values.get("flesch_kincaid_grade", values["score"])
        assert ours == pytest.approx(value, abs=0.03), spec


def test_studies_of_transcripts_are_the_published_shares() -> None:
    # The authors' repository: of the pairs that 70% agree on, the share ordered as they do.
    for spec, share in {"wer": 0.53, "cer": 0.64}.items():
        (value,) = [v for v in kept_study(spec, "hats").results if v.coefficient == "tau_wmt"]
        # A tie of the metric counts against it in both.
        assert (1 + (value.value or 0)) / 2 == pytest.approx(share, abs=0.005), spec


def test_responses_are_rated_against_the_passage_unless_they_say_nothing(tmp_path: Path) -> None:
    head = "model_name\tdata_source\tknowledge\tmessage\tresponse\tbegin_label\n"
    labels = ("Fully attributable", "Generic", "Not fully attributable")
    rows = [f't5\twow\tPassage "{n}.\tHi?\tReply {n}.\t{of}' for n, of in enumerate(labels)]
    (tmp_path / "begin_test_wow.tsv").write_text(head + "\n".join(rows))
    texts = begin(tmp_path)
    assert texts.predictions == ["Reply 0.", "Reply 2."]
    assert texts.human == {"attribution": [1, 0]}
    assert texts.columns["contexts"] == [['Passage "0.'], ['Passage "2.']]


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("qags-cnn", "chrf"),
        ("qags-cnn", "density"),
        ("wmt19-lten", "chrf"),
        ("wmt19-lten", "ter"),
        ("simplicity-da", "sari"),
        ("topical-chat", "token_f1"),
        ("sfres", "gleu"),
    ],
)
def test_a_study_of_data_that_is_not_here_is_what_is_measured_today(name: str, spec: str) -> None:
    (data,) = [data_set for data_set in STUDIES if data_set.name == name]
    if not (SHARED / "data" / data.file).exists():
        pytest.skip(f"needs ../shared/data/{data.file}")
    texts = data.read(SHARED / "data")
    today = agreement_of(scored(spec, data, texts), data, texts, draws=0)
    recorded = kept_study(spec, name)
    values = [row.value for row in today.rows if row.metric.partition(".")[0] == spec]
    assert [value.value for value in recorded.results] == pytest.approx(values, abs=1e-4)
    assert recorded.data["sha256"] == today.data.sha256


def test_preferences_are_of_the_outputs_that_people_compared(tmp_path: Path) -> None:
    names = ("src", "ref", "better", "better_system", "worse", "worse_system")
    rows = [
        ("s", "r", "x", "a", "y", "b"),
        ("s", "r", "y", "b", "z", "c"),
        ("t", "q", "v", "b", "w", "a"),
    ]
    text = "".join(f"{json.dumps(dict(zip(names, row, strict=True)))}\n" for row in rows)
    (tmp_path / "mt_wmt19_lten_darr.jsonl").write_text(text)
    texts = darr(tmp_path)
    # The output of b for s is in two pairs and scored once.
    assert texts.predictions == ["x", "y", "z", "v", "w"]
    assert texts.columns["references"] == ["r", "r", "r", "q", "q"]
    assert texts.system == ["a", "b", "c", "b", "a"]
    assert texts.pairs == ([0, 1, 3], [1, 2, 4])
    (data,) = [entry for entry in STUDIES if entry.name == "wmt19-lten"]
    scores = {"m": np.array([3.0, 2.0, 2.0, 0.0, 1.0])}
    agreement = agreement_of(Scored(scores, {"m": "higher"}, {}, ""), data, texts, draws=0)
    # One pair is right, and a tie counts as wrong, like the last: (1 - 2) / 3.
    assert agreement.row().value == pytest.approx(-1 / 3)


@pytest.mark.parametrize("name", ["token_f1", "aun"])
def test_a_study_of_the_cut_is_what_is_measured_today(name: str) -> None:
    stored = kept_study(name, CUT.name)
    today = {value[:4]: value.value for value in measured(name).results}
    values = {value[:4]: value.value for value in stored.results if value[:4] in today}
    assert values == pytest.approx(today, abs=1e-3)
    assert len(today) == 4
    assert stored.data["sha256"] == hash_of_the_cut()


def hash_of_the_cut() -> str:
    texts = CUT.read(DATA)
    labels = {"item": texts.item, "system": texts.system}
    scores = [0.0] * len(texts.predictions)
    return correlate(scores, texts.human, **labels, draws=0, coefficient="tau_b").data.sha256


def test_a_file_is_written_once_and_keeps_its_date_while_the_numbers_stay(tmp_path: Path) -> None:
    first = measured("aun")
    assert add_study(tmp_path, "aun", first)
    later = replace(first, date="2030-01-01", signature=f"{first.signature}|more")
    assert not add_study(tmp_path, "aun", later)
    assert [measured.date for measured in read_studies(tmp_path)] == ["2026-01-02"]
    other = replace(later, seed=7)
    assert add_study(tmp_path, "aun", other)
    assert [measured.date for measured in read_studies(tmp_path)] == ["2030-01-01"]
    assert (tmp_path / FILE).read_text() == studies_text("aun", read_studies(tmp_path))


def test_other_parameters_or_another_definition_break_the_law(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    today = measured("token_f1")
    name, _, others = today.signature.partition("|definition:1|")
    assert others
    under_test = MetricUnderTest(registry().find("token_f1"))
    for signature in (f"{name}|definition:7|{others}", f"token_f1(x=1)|definition:1|{others}"):
        old = replace(today, signature=signature)
        monkeypatch.setattr(card_laws, "read_studies", lambda _, old=old: (old,))
        with pytest.raises(Broken, match="measure it again: metrichub agreement FILE -m"):
            card_laws.studies_agree(under_test)
    monkeypatch.setattr(card_laws, "read_studies", lambda _: (today,))
    card_laws.studies_agree(under_test)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch):
    """The law's reading of a study, as if a model had been the judge."""
    spec = "faithfulness(judge='openai(model=\"m\")')"
    metric = load_metric(spec)
    head, tail = f"{metric.label()}|definition:{metric.card.definition}", "metrichub:0.1.0"
    asked = replace(measured("aun"), spec=spec, shown=True)
    under_test = MetricUnderTest(registry().find("faithfulness"))

    def studied(prompts: str) -> MetricUnderTest:
        changed = replace(asked, signature=f"{head}{prompts}|{tail}|reduce:best")
        monkeypatch.setattr(card_laws, "read_studies", lambda _: (changed,))
        return under_test

    return studied


def test_a_study_of_other_prompts_breaks_the_law(judged) -> None:
    today = prompts_hash(load_metric("faithfulness", judge="openai(model='m')").templates())
    under_test = judged(f"|prompts:{today}")
    card_laws.studies_agree(under_test)
    assert "prompts unknown" not in card_laws.generated(under_test)["agreement"]
    message = rf"summeval-cut for .*\|prompts:00000000, and the metric is .*\|prompts:{today} now"
    with pytest.raises(Broken, match=message):
        card_laws.studies_agree(judged("|prompts:00000000"))


def test_a_study_of_unknown_prompts_says_so_on_the_card(judged) -> None:
    under_test = judged("")
    card_laws.studies_agree(under_test)
    block = " ".join(card_laws.generated(under_test)["agreement"].split())
    assert "no reference; prompts unknown. " in block


def test_a_cell_of_the_block_has_one_number() -> None:
    toys = study(("one", "fluency", 0.2), ("two", "fluency", 0.5), ("one", "ease", 0.3))
    block = agreement_block([toys], ["testing"])
    # Intervals reach from -.1 to .8: at most .6 from .2 on fluency, and .5 from .3 on ease.
    assert block == (
        "### Testing\n"
        "\n"
        "toys: 2 systems, 9 items, 3 raters. Each value is `tau_b` (item), protocol `g-eval`, "
        "no reference.\n"
        "Intervals are of 1,000 draws of items and systems. Measured on 2026-01-01.\n"
        "\n"
        "| setting | output | fluency | ease |\n"
        "| --- | --- | --- | --- |\n"
        "| `toy` | `one` | 0.200 | 0.300 |\n"
        "| `toy` | `two` | 0.500 | – |\n"
        "| largest 95% half-width |  | 0.600 | 0.500 |\n"
        "| human ceiling |  | 0.900 | 0.900 |\n"
    )
    assert agreement_block([replace(toys, shown=False)], ["testing"]) == ""


def test_settings_of_a_metric_share_the_table_of_their_data() -> None:
    toys = study(("score", "fluency", 0.2))
    other = replace(study(("score", "fluency", 0.4)), spec="toy(x=2)")
    block = agreement_block([toys, other], ["testing"])
    assert block.count("toys: 2 systems") == 1
    assert "| `toy` | 0.200 |\n| `toy(x=2)` | 0.400 |\n| largest 95%" in block


def test_figures_of_other_tasks_follow_under_a_heading_that_says_so() -> None:
    news = study(("score", "fluency", 0.2), task="news", title="news")
    toys = study(("score", "fluency", 0.4))
    lines = agreement_block([news, toys], ["testing"]).split("\n")
    assert [line for line in lines if line.startswith(("#", "<"))] == [
        "### Testing",
        "<details><summary>Other tasks: news</summary>",
        "### Another task: news",
        "</details>",
    ]


def test_a_table_names_the_licence_of_its_data() -> None:
    toys = study(("score", "fluency", 0.2))
    toys = replace(toys, data={**toys.data, "licence": "MIT"})
    assert "Measured on 2026-01-01. Licence of the data: MIT." in " ".join(
        agreement_block([toys], ["testing"]).split()
    )


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        (["speech"], "Not measured on its task, speech.\n"),
        (["speech", "rag"], "Not measured on its task, speech or RAG.\n"),
        (["testing", "speech"], "Not measured on speech.\n"),
        (["testing"], "### Testing\n"),
    ],
)
def test_a_task_that_nobody_measured_is_named(tasks: list[str], message: str) -> None:
    assert agreement_block([study(("score", "fluency", 0.2))], tasks).startswith(message)


def test_the_best_output_is_that_of_a_task() -> None:
    low, high = study(("one", "ease", 0.2), ("two", "ease", 0.3)), study(("one", "ease", 0.4))
    news = study(("one", "ease", 0.9), task="news")
    result = best_by_task([low, replace(high, spec="toy(x=2)"), news], "ease")
    assert {task: (best.study.spec, best.value.value) for task, best in result.items()} == {
        "testing": ("toy(x=2)", 0.4),
        "news": ("toy", 0.9),
    }


def test_a_judge_at_random_is_shown_but_not_ranked() -> None:
    judged = study(("score", "ease", 0.1))
    chance = replace(study(("score", "ease", 0.3)), spec="toy(judge='chance')")
    block = agreement_block([judged, chance], ["testing"])
    assert "| `toy(judge='chance')` | 0.300 |" in block
    # From -.1 to .8, the interval reaches .7 from .1.
    assert "| largest 95% half-width | 0.700 |" in block
    assert best_by_task([judged, chance], "ease")["testing"].study == judged
    assert [board.values for board in boards_of({"toy": [chance]}, "testing")] == []


def test_a_choice_shows_the_agreement_of_the_number_that_is_reported() -> None:
    chosen = {
        (choice.evaluate, metric.name): metric.value
        for choice in choices({entry.name: entry for entry in OURS})
        for metric in choice.metrics
    }
    # SARI's term `add` agrees better on the same texts.
    values = {
        v.output: v.value
        for v in kept_study("sari", "simplicity-da").results
        if v.dimension == "simplicity"
    }
    assert chosen["simplified texts", "sari"] == values["score"] < values["add"]
    # ROUGE reports no number of that name.
    assert chosen["summaries", "rouge"] == 0.2367


def test_a_choice_of_a_task_that_was_rated_says_so() -> None:
    rated = {"translations", "summaries", "simplified texts", "code", "image captions"}
    rated |= {"answers to questions", "speech or text recognition"}
    entries = {entry.name: entry for entry in OURS}
    assert rated == {
        choice.evaluate
        for choice in choices(entries)
        if any(metric.agreement for metric in choice.metrics)
    }


def test_a_broken_file_names_itself(tmp_path: Path) -> None:
    for text in ("{", '{"schema": 2}', '{"schema": 1, "studies": [{}]}'):
        (tmp_path / FILE).write_text(text)
        with pytest.raises(CardError, match=r"agreement\.json:1: "):
            read_studies(tmp_path)
    assert json.loads(studies_text("x", []))["studies"] == []


def test_a_signature_s_parameters_definition_and_prompts_decide() -> None:
    signature = (
        "bleu(max_order=4)|definition:2|metrichub:0.1.0|reduce:best|references:11|mean of each"
    )
    assert definition_of(signature) == "bleu(max_order=4)|definition:2"
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


@pytest.mark.parametrize(
    ("dimension", "best", "tasks"),
    [
        ("factuality", "faithfulness", {"summarization"}),
        ("fluency", None, {"simplification", "summarization"}),
    ],
)
def test_ratings_of_one_name_are_listed_by_task(
    dimension: str, best: str | None, tasks: set[str]
) -> None:
    rows = json.loads(run("list", "--agreement", dimension, "--format", "json").stdout)
    assert best in (None, rows[0]["name"])
    assert [row["task"] for row in rows] == sorted(row["task"] for row in rows)
    assert {row["task"] for row in rows} == tasks


def test_the_task_is_that_of_the_rated_texts_and_not_a_tag_of_the_card() -> None:
    rated = ("--agreement", "relevance", "--format", "json")
    document = json.loads(run("list", "--task", "summarization", *rated).stdout)
    # No card of these calls summarization its task, and summaries were what people rated.
    assert {"chrf", "ter"} <= {row["name"] for row in document}
    assert document == json.loads(run("list", *rated).stdout)
    other = run("list", "--task", "translation", *rated)
    assert json.loads(other.stdout) == []
    assert "on 'relevance' for translation; there are studies of: adequacy\n" in other.stderr
    other = run("list", "--task", "poetry", *rated)
    assert "for poetry; there are studies for: captioning, code generation, " in other.stderr
    other = run("list", "--task", "summarisation", *rated)
    assert "for summarisation; did you mean 'summarization'?" in other.stderr
    other = run("list", "--agreement", "wit", "--format", "json")
    assert "on 'wit'; there are studies of: adequacy, attribution, coherence, " in other.stderr


def test_which_metric_for_translations_has_an_answer_of_its_own() -> None:
    asked = ("--task", "translation", "--agreement", "adequacy", "--format", "json")
    rows = json.loads(run("list", *asked).stdout)
    assert {row["coefficient"] for row in rows} == {"tau_wmt (pairs)"}
    # From Kazakh, analysis.ipynb of neulab/BARTScore has .323 for chrF and .276 for BLEU.
    names = [row["name"] for row in rows]
    assert names.index("chrf") < names.index("bleu")
