"""Hub: any number of metrics in one call, over every kind of input, and what bad input gives."""

import copy
import math
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest
from datasets import Dataset, DatasetDict
from hypothesis import given
from hypothesis import strategies as st

from metrichub import DoubtfulScore, Hub, RunOptions, load_metric
from metrichub.errors import (
    InputError,
    MetricError,
    MetrichubError,
    MissingColumn,
    ParameterError,
    ReportError,
    SpecError,
    UnknownMetric,
    UnknownParameter,
    UnknownScore,
)
from tests.toy_metrics import Errors, Known, Length, Overlap, Variety

HUB = Hub([Overlap(), Known(), Length(), Variety()])
PREDICTIONS = ["a b", "c", "b d", ""]
REFERENCES = [["a c", "b"], ["c"], ["d"], ["a b"]]
# By hand: overlap 1/1 (the second reference wins), 1/1, 1/1, 0/2; known 2/2, 1/1, 1/2, 0/0;
# lengths 3, 1, 3, none; four distinct words of five.
SCORES = {
    "overlap": {"score": 3 / 5},
    "known": {"score": 4 / 5},
    "length": {"score": 7 / 3},
    "variety": {"score": 4 / 5},
}
COUNTS = {"overlap": {}, "known": {}, "length": {"unscored": 1}, "variety": {"unscored": 1}}


def measured(*data: Any, **columns: Any) -> tuple[Any, Any]:
    """The scores, and the counts of samples without one."""
    report = HUB.evaluate(*data, **columns)
    return report.scores(), report.counts()


# The metrics.


def test_metrics_are_names_specs_and_objects_mixed_and_results_keep_their_order() -> None:
    hub = Hub(["exact_match", "b2 = bleu(max_order=2)", Overlap(name="o"), load_metric("wer")])
    assert [metric.name for metric in hub.metrics] == ["exact_match", "b2", "o", "wer"]
    assert list(hub(predictions=["a"], references=["a"])) == ["exact_match", "b2", "o", "wer"]


@pytest.mark.parametrize(
    "metrics", ["bleu", ["bleu"], ("bleu",), load_metric("bleu"), iter(["bleu"])]
)
def test_one_metric_needs_no_list(metrics: Any) -> None:
    assert Hub(metrics).metrics == (load_metric("bleu"),)


def test_a_hub_is_a_value_that_travels() -> None:
    assert pickle.loads(pickle.dumps(HUB)) == HUB
    assert Hub("bleu") != Hub("bleu", reduce="mean")
    assert "Overlap(" in repr(HUB)


def test_options_are_passed_on_together_and_a_call_overrides_them() -> None:
    run = RunOptions(samples=False, reduce="mean", columns={"predictions": "answers"})
    rows = {"answers": [["a", "b"]], "references": ["a"]}
    apart: Any = {**run, "reduce": "max"}
    for reports in (
        [HUB.evaluate(rows, options=run), HUB.evaluate(rows, **run)],
        [HUB.evaluate(rows, options=run, reduce="max"), HUB.evaluate(rows, **apart)],
        HUB.evaluate_all({"a": rows, "b": rows}, options=run).values(),
    ):
        first, second = reports
        assert (first.scores(), first.signatures()) == (second.scores(), second.signatures())
    assert HUB(rows, options=run) == HUB.evaluate(rows, **run).scores()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (7, r"^options must be RunOptions\(\.\.\.\), not 7 \(int\)"),
        ({"worker": 2}, "did you mean 'workers'"),
    ],
)
def test_wrong_options_are_refused(options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        HUB.evaluate([{"prediction": "a", "reference": "a"}], options=options)


def test_reduce_belongs_to_the_hub_and_not_to_a_metric() -> None:
    for make in (lambda: load_metric("wer", reduce="mean"), lambda: Hub("wer(reduce='mean')")):
        with pytest.raises(UnknownParameter, match=r"; give it to the hub: Hub\(metrics, reduce="):
            make()


def test_two_metrics_of_one_name_are_refused_with_the_way_out() -> None:
    with pytest.raises(SpecError, match=r"two metrics are called 'bleu'; .*'bleu_2 = bleu\(...\)'"):
        Hub(["bleu", "bleu(max_order=2)"])


@pytest.mark.parametrize(
    ("metrics", "error", "message"),
    [
        ("blue", UnknownMetric, "did you mean 'bleu'"),
        (["bleu", "rogue"], UnknownMetric, "did you mean 'rouge'"),
        (
            "bleu(max_ordr=2)",
            TypeError,
            "bleu has no parameter 'max_ordr'; did you mean 'max_order'",
        ),
        (
            "bleu(max_order=0)",
            ParameterError,
            "bleu: max_order=0 is not allowed; choose an integer",
        ),
        ("bleu(", SpecError, "isn't a valid metric"),
        (Overlap, MetricError, "call it"),
        ([7], MetricError, "7 isn't a metric"),
        (7, MetricError, "7 isn't a metric"),
        (None, MetricError, "None isn't a metric"),
        ([], SpecError, "list of metrics is empty"),
    ],
)
def test_a_wrong_metric_is_refused_when_the_hub_is_made(
    metrics: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        Hub(metrics)
    assert isinstance(caught.value, MetrichubError)


def test_needs_names_each_column_with_the_first_metric_that_asks() -> None:
    assert HUB.needs() == {"predictions": "overlap", "references": "overlap"}
    assert Hub(["coverage", "bleu"]).needs() == {
        "predictions": "coverage", "sources": "coverage", "references": "bleu"
    }  # fmt: skip


def test_cite_gives_each_entry_once() -> None:
    hub = Hub(["bleu", "b2 = bleu(max_order=2)", Overlap(), "abstractness"])
    cards = [load_metric(name).card for name in ("bleu", "abstractness")]
    assert hub.cite() == "\n\n".join(card.bibtex for card in cards)


# Every kind of input gives the same scores.

TABLE = {"id": [1, 2, 3, 4], "predictions": PREDICTIONS, "references": REFERENCES}
ROWS = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]


def of_a_dataset(values: Any) -> Any:
    return Dataset.from_dict({"x": values})["x"]


@pytest.mark.parametrize(
    "kind",
    [list, tuple, iter, pandas.Series, pyarrow.array, of_a_dataset],
    ids=lambda k: k.__name__,
)
def test_columns_of_any_kind(kind: Any) -> None:
    assert measured(predictions=kind(PREDICTIONS), references=kind(REFERENCES)) == (SCORES, COUNTS)


def test_columns_of_a_numpy_array() -> None:
    references = np.array([["a c", "b"], ["c", "c"], ["d", "d"], ["a b", "a b"]])
    assert HUB(predictions=np.array(PREDICTIONS), references=references) == SCORES


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        ROWS,
        tuple(ROWS),
        Dataset.from_dict(TABLE),
        pandas.DataFrame(TABLE),
        pyarrow.table(TABLE),
    ],
    ids=["mapping", "list of dicts", "tuple of dicts", "Dataset", "DataFrame", "Arrow"],
)
def test_a_whole_table(table: Any) -> None:
    assert measured(table) == (SCORES, COUNTS)
    assert HUB.evaluate(table).signatures() == HUB.evaluate(TABLE).signatures()


@pytest.mark.parametrize(
    "names", [("prediction", "reference"), ("response", "ground_truths"), ("summary", "highlights")]
)
def test_a_dataset_with_the_names_of_other_tools(names: tuple[str, str]) -> None:
    dataset = Dataset.from_dict(dict(zip(names, (PREDICTIONS, REFERENCES), strict=True)))
    assert measured(dataset) == (SCORES, COUNTS)


def test_a_dataset_with_names_that_the_caller_maps() -> None:
    dataset = Dataset.from_dict({"mine": PREDICTIONS, "gold_a": REFERENCES, "gold": [["x"]] * 4})
    assert measured(dataset, columns={"predictions": "mine", "references": "gold_a"}) == (
        SCORES,
        COUNTS,
    )
    columns = {"predictions": "mine", "references": "y"}
    assert HUB(columns=columns, mine=PREDICTIONS, y=REFERENCES) == SCORES


def test_a_dataset_of_several_splits_asks_for_one() -> None:
    splits = DatasetDict({"train": Dataset.from_dict(TABLE), "test": Dataset.from_dict(TABLE)})
    with pytest.raises(InputError, match=r"train and test; choose one, data\['train'\], or"):
        HUB(splits)
    assert measured(splits["test"]) == (SCORES, COUNTS)


def batches(size: int) -> Iterator[Any]:
    """Batches as a stream gives them."""
    for start in range(0, len(ROWS), size):
        yield {name: values[start : start + size] for name, values in TABLE.items()}


@pytest.mark.parametrize(
    "stream",
    [
        lambda: batches(1),
        lambda: batches(3),
        lambda: iter([ROWS[:3], ROWS[3:]]),
        lambda: Dataset.from_dict(TABLE).iter(batch_size=3),
        lambda: Dataset.from_dict(TABLE).to_iterable_dataset().iter(batch_size=2),
        lambda: iter([pandas.DataFrame(TABLE)]),
    ],
)
@pytest.mark.parametrize("samples", [True, False])
def test_an_iterator_of_batches(stream: Any, samples: bool) -> None:
    report = HUB.evaluate(stream(), samples=samples)
    actual = report.scores()
    assert {name: pytest.approx(scores) for name, scores in SCORES.items()} == actual
    assert report.counts() == COUNTS
    assert report.size == 4
    assert all(result.pooled is not samples for result in report.results.values())


def test_an_iterator_of_single_samples_is_answered_with_batches() -> None:
    with pytest.raises(InputError, match="yields single rows; pass a list of them"):
        HUB(iter(ROWS))


def test_an_empty_iterator_and_empty_columns_give_nan() -> None:
    for report in (
        HUB.evaluate(iter([])),
        HUB.evaluate(predictions=[], references=[]),
        HUB.evaluate({"predictions": [], "references": []}),
        HUB.evaluate(Dataset.from_dict({"predictions": [], "references": []})),
        HUB.evaluate(iter([]), samples=False),
    ):
        assert report.size == 0
        assert all(math.isnan(scores["score"]) for scores in report.scores().values())


texts = st.text(max_size=5)
columns = st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), max_size=6)


@given(columns, st.integers(1, 30))
def test_the_size_of_the_blocks_changes_nothing(samples: list[Any], characters: int) -> None:
    given_columns = {
        "predictions": [prediction for prediction, _ in samples],
        "references": [references for _, references in samples],
    }
    before = copy.deepcopy(given_columns)
    report, cut = (
        Hub(HUB.metrics, block_characters=size).evaluate(**given_columns)
        for size in (10**6, characters)
    )
    np.testing.assert_equal(cut.scores(), report.scores())
    assert cut.counts() == report.counts()
    np.testing.assert_equal(cut.samples(), report.samples())
    assert given_columns == before


@pytest.mark.parametrize("workers", [0, -1, 1.5, "2", None])
def test_a_wrong_number_of_processes_is_refused(workers: Any) -> None:
    with pytest.raises(ParameterError, match=r"^workers=.* choose an integer of at least 1"):
        HUB.evaluate(predictions=PREDICTIONS, references=REFERENCES, workers=workers)


def test_progress_counts_samples_times_metrics() -> None:
    done: list[int] = []
    Hub(HUB.metrics, block_characters=1).evaluate(TABLE, progress=done.append)
    assert sum(done) == len(ROWS) * len(HUB.metrics)
    assert len(done) > 1


def test_a_column_that_no_metric_reads_is_left_alone() -> None:
    assert measured({**TABLE, "sources": [None, 1, b"x", ""]}) == (SCORES, COUNTS)


# Bad input.


@pytest.mark.parametrize(
    ("given_columns", "message"),
    [
        (dict(predictions=["a", "b"], references=["a"]), "differ in length: predictions has 2,"),
        (dict(predictions=["a", None], references=["a", "b"]), r"predictions\[1\] is None"),
        (dict(predictions=["a", "b"], references=["a", None]), r"references\[1\] is None"),
        (dict(predictions=[1, 2], references=["a", "b"]), r"predictions\[0\] is 1 \(int\)"),
        (dict(predictions="a b", references="a b"), "predictions is one string; give a list"),
        (dict(predictions=["a"], references="a b"), "references is one string; give a list"),
        (dict(predictions=["a", "b"], references=[["a"], []]), r"references\[1\] is an empty list"),
        (dict(predictions=["a"]), "overlap needs the column 'references' .*given: predictions"),
        (dict(predictions=["a"], refrences=["a"]), "'refrences'; did you mean 'references'"),
        ({}, "overlap needs the column 'predictions' .*given: nothing"),
    ],
)  # fmt: skip
def test_bad_columns_are_refused_in_one_line(given_columns: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        HUB(**given_columns)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("out.jsonl", "out.jsonl: no such file"),
        (["a", "b"], r"the data is \['a', 'b'\] \(list\); pass columns by name"),
        (7, r"the data is 7 \(int\)"),
        ([{"predictions": "a", "references": "a"}, "b"], r"the data is .*; pass columns by name"),
        (np.array(["a"]), r"the data is .*; pass columns by name"),
        ({"predictions": ["a"]}, "needs the column 'references'"),
        ([{"predictions": "a", "references": "a"}, {"predictions": "b"}], r"references\[1\] is m"),
        (
            pandas.DataFrame({"prediction": ["a"], "right": ["a"]}),
            r"needs the column 'references' .*; choose one with columns={'references': 'NAME'}$",
        ),
    ],
)  # fmt: skip
def test_a_bad_table_is_refused_in_one_line(data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        HUB(data)
    assert "\n" not in str(caught.value)


def test_a_table_and_columns_together_are_refused() -> None:
    with pytest.raises(InputError, match=r"not both \(got a dict and predictions\)"):
        HUB(TABLE, predictions=PREDICTIONS)


def test_a_missing_column_is_found_before_anything_is_measured() -> None:
    with pytest.raises(MissingColumn, match="coverage needs the column 'sources'"):
        Hub([Overlap(), "coverage"])(predictions=["a"], references=["a"])


def test_an_empty_string_is_text() -> None:
    assert Hub(Errors())(predictions=["", "a"], references=["a", "a"]) == {"errors": {"score": 0.5}}


@pytest.mark.parametrize(
    "text",
    ["天气 很好",
     "हिन्दी में", "مرحبا بالعالم", "שלום עולם", "😀 👩‍👩‍👧", "a\0b c", "\ud800 x", "e\u0301 é"],
    ids=ascii,
)  # fmt: skip
def test_any_text_equals_itself(text: str) -> None:
    hub = Hub([Overlap(), Known(), Errors()])(predictions=[text], references=[[text]])
    assert hub == {
        "overlap": {"score": 1.0},
        "known": {"score": 1.0},
        "errors": {"score": 0.0},
    }


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"repeat": 3}, "there is no option 'repeat'; did you mean 'repeats'"),
        ({"worker": 2}, "did you mean 'workers'"),
        ({"judge": "openai"}, r"Hub\(metrics, judge=\.\.\.\)"),
        ({"prices": [1, 2]}, "pass prices to the judge"),
    ],
)
def test_an_option_that_is_none_is_not_taken_for_a_column(
    options: dict[str, Any], text: str
) -> None:
    with pytest.raises(InputError, match=text):
        Hub("bleu").evaluate(predictions=["a"] * 2, references=["a"] * 2, **options)


def test_a_report_shows_itself_in_a_line() -> None:
    report = Hub(["exact_match", "wer"]).evaluate(predictions=["a"], references=["b"])
    assert repr(report) == "<Report of 1 samples: exact_match 0.0000, wer 1.0000>"


def test_splits_and_systems_are_evaluated_side_by_side() -> None:
    splits = DatasetDict({"train": Dataset.from_dict(TABLE), "test": Dataset.from_dict(TABLE)})
    reports = HUB.evaluate_all(splits, samples=False)
    result = {name: (report.scores(), report.counts()) for name, report in reports.items()}
    assert result == dict.fromkeys(("train", "test"), (SCORES, COUNTS))
    two = HUB.evaluate_all({"ours": TABLE, "theirs": iter([TABLE])})
    assert two["ours"].scores() == two["theirs"].scores() == SCORES
    assert two["ours"].counts() == two["theirs"].counts() == COUNTS


def test_an_error_in_one_of_several_systems_names_it() -> None:
    with pytest.raises(MissingColumn, match=r"^theirs: overlap needs the column 'predictions'"):
        HUB.evaluate_all({"ours": TABLE, "theirs": {"references": ["a"]}})


def test_columns_are_passed_by_name() -> None:
    for call in (Hub("exact_match"), Hub("exact_match").evaluate):
        with pytest.raises(InputError, match=r"pass columns by name, predictions=\[\.\.\.\]"):
            call(["a"], ["a"])


# Samples without a score, and names without one.


@pytest.mark.parametrize(
    ("metrics", "extract", "columns", "scores", "counts", "messages"),
    [
        (
            ["exact_match"], None, {"predictions": ["a"], "references": ["a"]},
            {"exact_match": {"score": 1}}, {"exact_match": {}}, [],
        ),
        (
            # Texts of 1 and 5 characters, with one distinct word of four.
            [Length(), Variety()], None, {"predictions": ["a", "", "a a a"]},
            {"length": {"score": 3}, "variety": {"score": 1 / 4}},
            {"length": {"unscored": 1}, "variety": {"unscored": 1}},
            ["length: 1 unscored of 3", "variety: 1 unscored of 3"],
        ),
        (
            ["exact_match", "aun"], None, {"predictions": ["a", ""], "references": ["a", ""]},
            {"exact_match": {"score": 1}, "aun": {"score": 1}},
            {"exact_match": {}, "aun": {"unanswered": 1}},
            ["aun: 1 unanswered of 2"],
        ),
        (
            ["drop_f1"], "boxed", {"predictions": ["5", r"\boxed{5}"], "references": [[""], ["5"]]},
            {"drop_f1": {"score": 1, "exact": 1}},
            {"drop_f1": {"unscored": 1, "unextracted": 1}},
            ["drop_f1: 1 unscored and 1 unextracted of 2"],
        ),
    ],
)  # fmt: skip
def test_counts_are_apart_from_scores_and_calls_say_them_once(
    metrics: Any, extract: str | None, columns: Any, scores: Any, counts: Any, messages: list[str]
) -> None:
    hub = Hub(metrics, extract=extract)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        report = hub.evaluate(**columns)
        assert hub(**columns) == hub(**columns) == scores
    assert (report.scores(), report.counts()) == (scores, counts)
    heard = [str(w.message) for w in caught if issubclass(w.category, DoubtfulScore)]
    end = "; hub.evaluate(...).notes() says why"
    assert [text.removesuffix(end) for text in heard if text.endswith(end)] == messages
    nonzero = {name: count for name, count in counts.items() if count}
    assert report.to_dict().get("counts", {}) == nonzero


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda report, _: report["Wer"], "no metric 'Wer' in the report; did you mean 'wer'?"),
        (lambda report, _: report["bleu"], "no metric 'bleu' in the report; it has rouge and wer"),
        *(
            (
                lambda report, _, name=name: report.scores()[name],
                f"""no metric {name!r} in the report; did you mean ["rouge"]["rougeL"]?""",
            )
            for name in ("rougeL", "rouge.rougeL", "rouge/rougeL")
        ),
        (
            lambda report, _: report["rouge"]["rougel"],
            "rouge has no output 'rougel'; did you mean 'rougeL'?",
        ),
        (
            lambda report, _: report.intervals(resamples=9)["wer"]["unscored"],
            "wer has no output 'unscored'; report.counts() has the counts",
        ),
        (
            lambda report, other: report.compare(other, resamples=9, trials=9)["rouge"]["rougel"],
            "rouge has no output 'rougel'; did you mean 'rougeL'?",
        ),
        (
            lambda report, other: report.compare(other, resamples=9, trials=9)["rougeL"],
            """no metric 'rougeL' in the report; did you mean ["rouge"]["rougeL"]?""",
        ),
    ],
)
def test_a_name_without_a_score_says_which_is_meant(ask: Any, message: str) -> None:
    texts = ["a b", "c d", "e f", "g h", "i j"]
    first, other = (
        Hub(["rouge", "wer"]).evaluate(predictions=predictions, references=texts)
        for predictions in (["a x"] * 5, texts)
    )
    with pytest.raises(UnknownScore) as error:
        ask(first, other)
    assert str(error.value) == message
    assert isinstance(error.value, (ReportError, KeyError))


def test_what_a_hub_was_made_with_stays() -> None:
    hub = Hub("wer")
    for name in ("metrics", "reduce", "block_characters"):
        with pytest.raises(AttributeError, match=f"a hub's {name} can't be set; make another hub"):
            setattr(hub, name, getattr(hub, name))
    assert hash(hub) == hash(Hub("wer"))


def test_what_was_measured_stays() -> None:
    report = Hub("wer").evaluate(predictions=["a"], references=["b"])
    for change in (report.results.clear, lambda: report.results.pop("wer")):
        with pytest.raises(TypeError, match="what was measured can't be changed"):
            change()
    assert pickle.loads(pickle.dumps(report)) == copy.deepcopy(report) == report
