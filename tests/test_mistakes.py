"""Mistakes that people make: each is a result, or one line that says what to do."""

import copy
import pickle
import re
from typing import Any

import pytest

from metrichub import Card, Hub, Scale, load_metric
from metrichub.authoring import Metric
from metrichub.errors import InputError, MetricError, ReportError, SpecError, UnknownMetric

PAIR: dict[str, Any] = {"predictions": ["a b", "c"], "references": ["a b", "d"]}


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("BLEU", "bleu"),
        ("exact-match", "exact_match"),
        ("SummarizationScore", "summarization_score"),
        ("ROUGE", "rouge"),
        ("Token-F1", "token_f1"),
        ("TokenF1", "token_f1"),
        ("Exact match", "exact_match"),
        ("GEval", "g_eval"),
        ("ToolCallF1", "tool_call_f1"),
        ("chrF", "chrf"),
        ("Self-BLEU", "self_bleu"),
    ],
)
def test_a_name_in_other_letters_finds_its_metric(name: str, metric: str) -> None:
    assert load_metric(name) == load_metric(metric)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Rouge-L", "'rouge'"),
        ("chrF++", r"'chrf\(chrf\+\+\)'"),
        ("squad", r"'exact_match\(squad\)' or 'token_f1\(squad\)'"),
        ("bleu_score", "'bleu'"),
        ("BleuScore", "'bleu'"),
        ("FaithfulnessMetric", "'faithfulness'"),
        ("f1", ".*'token_f1'"),
        ("accuracy", "'classification', 'exact_match', '.*_accuracy' or '.*_accuracy'"),
    ],
)
def test_a_name_that_means_more_is_answered_with_what_is_near(name: str, near: str) -> None:
    # chrF++ is chrf(word_order=2), whose scores aren't those of chrf.
    with pytest.raises(UnknownMetric, match=f"did you mean {near}"):
        load_metric(name)


@pytest.mark.parametrize("text", ["bleu,rouge", "bleu rouge", "bleu, rouge"])
def test_several_metrics_in_one_text_are_told_how_to_be_given(text: str) -> None:
    with pytest.raises(SpecError, match=r"pass a list, \['bleu', 'rouge'\]$"):
        Hub(text)


def test_several_metrics_one_by_one_are_told_so_too() -> None:
    with pytest.raises(InputError, match=re.escape("Hub(['bleu', 'rouge'])")):
        Hub("bleu", "rouge")


@pytest.mark.parametrize("name", ["perplexiti", "accuracy_of_all", "GPTScore2"])
def test_a_name_that_is_near_none_is_answered_with_a_search(name: str) -> None:
    message = rf"^no metric '{name}' is installed \('metrichub list {name}' searches the cards\)$"
    with pytest.raises(UnknownMetric, match=message):
        load_metric(name)


def test_a_metric_of_evaluate_or_jury_is_asked_by_a_hub() -> None:
    metric: Any = load_metric("bleu")
    call = re.escape("Hub(metrics=metric)(predictions=[...], references=[...])")
    with pytest.raises(AttributeError, match=f"bleu has no compute; pass it to a hub: {call}"):
        metric.compute(**PAIR)
    with pytest.raises(MetricError, match=f"bleu can't be called; .*: {call}"):
        metric(**PAIR)
    with pytest.raises(AttributeError, match=r"a hub has no compute; call it: hub\(pred"):
        Hub("bleu").compute(**PAIR)
    # The call that the message says.
    assert Hub(metrics=metric)(**PAIR).keys() == {"bleu"}


@pytest.mark.parametrize("name", ["add", "add_batch"])
def test_samples_that_come_in_parts_are_given_to_evaluate(name: str) -> None:
    message = rf"no {name}; pass samples .*evaluate\(...\) as an iterator .* report.merge\(other\)"
    for asked in (load_metric("bleu"), Hub("bleu")):
        with pytest.raises(AttributeError, match=message):
            getattr(asked, name)(**PAIR)


def test_other_attributes_are_missing_as_ever() -> None:
    for asked in (load_metric("bleu"), Hub("bleu")):
        assert not hasattr(asked, "compute")
        with pytest.raises(AttributeError, match="object has no attribute 'nonsense'"):
            _ = asked.nonsense  # type: ignore[union-attr]  # the mistake
        assert pickle.loads(pickle.dumps(asked)) == copy.deepcopy(asked) == asked


def test_progress_is_a_function() -> None:
    with pytest.raises(InputError, match=r"progress must be a function .* not True"):
        Hub("bleu").evaluate(**PAIR, progress=True)  # type: ignore[arg-type]  # the mistake


def test_reports_are_equal_if_they_hold_the_same() -> None:
    report, same = (Hub("bleu").evaluate(**PAIR) for _ in range(2))
    assert report == same
    assert report != Hub("bleu").evaluate(predictions=["a b", "d"], references=["a b", "d"])
    assert report != {}


def test_a_report_is_compared_with_a_report() -> None:
    with pytest.raises(ReportError, match=r"compare needs another report, not \{\}"):
        Hub("bleu").evaluate(**PAIR).compare({})  # type: ignore[arg-type]  # the mistake


def test_a_slip_in_a_columns_name_is_an_error_beside_the_right_one_too() -> None:
    for columns in (PAIR, {"predictions": ["a"]}):
        with pytest.raises(InputError, match="'refrences'; did you mean 'references'"):
            Hub("bleu")(**columns, refrences=["a", "b"])
    # Further columns of a table are nobody's mistake.
    assert Hub("bleu")({**PAIR, "refrences": ["x", "y"], "id": [1, 2]})


def test_a_label_is_no_reference_unless_it_is_said_so() -> None:
    rows = [{"prediction": "yes", "label": "no"}]
    with pytest.raises(InputError, match="references"):
        Hub("exact_match")(rows)
    assert Hub("exact_match")(rows, columns={"references": "label"})


def test_the_output_of_a_translation_is_a_prediction() -> None:
    assert Hub("exact_match")([{"mt": "a", "ref": "a"}])["exact_match"]["score"] == 1.0


def test_a_signature_names_the_columns_that_its_metric_reads() -> None:
    report = Hub(["bleu", "faithfulness"], judge="offline").evaluate(
        predictions=["It rains."], references=["It rains."], contexts=[["It rains.", "Now."]]
    )
    assert report.signatures()["bleu"].endswith("|references:1|samples:sentence-level")
    assert report.signatures()["faithfulness"].endswith("|contexts:2")


def test_parameters_in_a_mapping_of_metrics_are_not_left_out_in_silence() -> None:
    with pytest.raises(SpecError, match=r"with parameters in parentheses, such as"):
        Hub({"bleu": {"max_order": 1}})  # type: ignore[arg-type]  # the mistake


def test_samples_without_a_score_are_counted_also_without_a_reason() -> None:
    class Forgotten(Metric):
        card = Card("forgotten", "", "", ("prediction",), {"score": Scale(0, 1, "higher")})

        def observe(self, prediction: str) -> None:
            return None

    report = Hub(Forgotten()).evaluate(predictions=["a", "b"])
    message = "the metric returned no score; is a `return` missing in its code?"
    assert report.notes() == {"forgotten": [f"2 unscored: {message}"]}
    assert str(report).endswith(f"\nforgotten: 2 unscored: {message}")


def test_a_printed_report_has_its_notes_below_the_scores() -> None:
    def now_and_then(prediction: str) -> float | None:
        return 1.0 if prediction else None

    report = Hub(now_and_then).evaluate(predictions=["a", ""])
    (note,) = report.notes()["now_and_then"]
    assert str(report).splitlines()[-1] == f"now_and_then: {note}"


@pytest.mark.parametrize("samples", [True, False])
@pytest.mark.parametrize("metric", ["abstractness", "novelty"])  # sums, and a corpus metric
def test_texts_too_short_for_an_n_gram_are_noted(metric: str, samples: bool) -> None:
    hub = Hub(f"{metric}(n=3)")
    error = "no score: the texts contain nothing to count, as when they are shorter than an n-gram"
    for text, noted in (("a b", True), ("a b c", False)):
        report = hub.evaluate(predictions=[text, "b"], references=["x", "x"], samples=samples)
        assert (error in report.notes().get(metric, ())) is noted


@pytest.mark.parametrize("spec", [None, ["bleu"], 3])
def test_a_metric_is_loaded_by_one_name(spec: Any) -> None:
    with pytest.raises(SpecError, match="load_metric takes one name or spec"):
        load_metric(spec)


def test_metrics_of_a_report_are_chosen_by_name() -> None:
    report = Hub("bleu").evaluate(predictions=["a"], references=["a"])
    with pytest.raises(ReportError, match="choose metrics by their names, not by 3"):
        report.intervals(metrics=3)  # type: ignore[arg-type]  # the mistake


def test_a_metric_with_its_own_init_is_told_to_be_a_dataclass() -> None:
    class Long(Metric):
        def __init__(self, limit: int) -> None:
            self.limit = limit

        def observe(self, prediction: str) -> float:
            return float(len(prediction) > self.limit)

    with pytest.raises(MetricError, match=r"Long defines its own __init__.*@dataclass"):
        Hub(Long(3))
