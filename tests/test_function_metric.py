"""Functions as metrics: what a hub makes of them, and what their signatures say of their source."""

import functools
import hashlib
import importlib.util
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrichub import Hub, Report, load_metric
from metrichub.authoring import Metric
from metrichub.errors import MetricError, MissingColumn, ParameterError, ReportError, ScoringError

PREDICTIONS, REFERENCES = ["a cat", "a dog", "it"], ["the cat sat down", "the dog", "it rains"]
COLUMNS = {"predictions": PREDICTIONS, "references": REFERENCES}


def length_ratio(prediction: str, reference: str) -> float:
    """Words of the prediction for each word of the reference.

    In one language.
    """
    return len(prediction.split()) / len(reference.split())


def shared(prediction: str, references: Sequence[str], case: bool = True) -> Any:
    if prediction == "-":
        return None
    words = prediction.split() if case else prediction.lower().split()
    shared = [len({*words} & {*reference.split()}) for reference in references]
    return {"score": max(shared), "references": len(references)}


async def awaited(prediction: str) -> float:
    return float(len(prediction))


def characters(prediction: str) -> int:
    return len(prediction)


class LengthRatio(Metric):
    def observe(self, prediction: str, reference: str) -> float:
        return length_ratio(prediction, reference)


def defined(folder: Path, source: str, name: str = "own") -> Callable[..., Any]:
    """The function of a name in a module with this source."""
    path = folder / "own_module.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("own_module", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function: Callable[..., Any] = getattr(module, name)
    return function


def test_a_function_scores_like_a_class_that_calls_it() -> None:
    report = Hub(["bleu", length_ratio, LengthRatio(name="by_class")]).evaluate(COLUMNS)
    scores = report.scores()
    # 2/4, 2/2 and 1/2.
    assert scores["length_ratio"] == {"score": pytest.approx(2 / 3)} == scores["by_class"]
    assert report.samples()["length_ratio"]["score"].tolist() == [0.5, 1, 0.5]
    intervals = report.intervals()
    assert intervals["length_ratio"] == intervals["by_class"]
    other = Hub([length_ratio, LengthRatio(name="by_class")]).evaluate(
        predictions=["a", "b", "c d"], references=REFERENCES
    )
    tests = report.compare(other)
    assert tests["length_ratio"]["score"].p == tests["by_class"]["score"].p


def test_parameters_in_the_plural_see_the_whole_list_and_defaults_are_kept() -> None:
    report = Hub(shared).evaluate(
        predictions=["a cat", "-", "A dog"], references=[["a", "a cat"], "b", "a dog"]
    )
    assert Hub(shared).needs() == {"predictions": "shared", "references": "shared"}
    # "a" and "cat" of the second reference, "dog" of the only one.
    assert report.scores()["shared"] == {"score": 1.5, "references": 1.5}
    assert report.counts()["shared"] == {"unscored": 1}
    np.testing.assert_equal(report.samples()["shared"]["score"], [2, np.nan, 1])
    assert report.to_frame()["shared.references"].tolist()[::2] == [2, 1]


def test_an_async_function_is_awaited() -> None:
    assert Hub(awaited)(predictions=["a", "abc"]) == {"awaited": {"score": 2.0}}


def test_a_direction_ranks_systems_and_picks_the_best_candidate() -> None:
    candidates = {"predictions": [["a", "a b"]], "references": ["a b"]}
    assert Hub(length_ratio)(candidates)["length_ratio"]["score"] == 0.75
    better = load_metric(length_ratio, better="higher", range=[0, 1], name="ratio")
    assert Hub(better)(candidates)["ratio"]["score"] == 1.0
    scale = better.card.scores["score"]
    assert (scale.low, scale.high, scale.better) == (0, 1, "higher")
    assert better.card.summary == "Words of the prediction for each word of the reference."
    texts = {"predictions": ["a b"] * 16, "references": ["a b"] * 16}
    worse = {**texts, "predictions": ["a"] * 16}
    # Of the 2¹⁶ ways to swap, 2 leave a difference as large.
    for metric, ranks in ((better, (1, 2)), (load_metric(length_ratio), (None, None))):
        hub = Hub(metric)
        test = hub.evaluate(texts).compare(hub.evaluate(worse))[metric.name]["score"]
        assert test.p < 0.01
        assert (test.rank, test.other_rank) == ranks


@pytest.mark.parametrize("indent", ["", "    "])
def test_the_signature_has_the_module_and_a_hash_of_the_source(tmp_path: Path, indent: str) -> None:
    source = "def own(prediction):\n    return 1\n"
    lines = "".join(f"{indent}{line}\n" for line in source.splitlines())
    function = defined(tmp_path, f"if True:\n{lines}" if indent else source)
    digest = hashlib.sha256(source.encode()).hexdigest()[:8]
    report = Hub(function).evaluate(predictions=["a"])
    assert report.signatures() == {
        "own": f"own|definition:1|source:{digest}|local:own_module|reduce:mean"
    }
    ranked = Hub(load_metric(function, better="lower")).evaluate(predictions=["a"])
    assert ranked.signatures() == {
        "own": f"own(better='lower')|definition:1|source:{digest}|local:own_module|reduce:best"
    }


def test_reports_of_a_function_that_changed_are_neither_compared_nor_merged(tmp_path: Path) -> None:
    first, other = (
        Hub(["ttr", defined(tmp_path, f"def own(prediction): return {number}\n")]).evaluate(COLUMNS)
        for number in (1, 2)
    )
    for refused in (first.compare, first.merge):
        with pytest.raises(ReportError, match="used different functions for own: source:"):
            refused(other)
    assert list(first.compare(other, metrics="ttr")) == ["ttr"]


def closure(number: int) -> Callable[..., Any]:
    def count(prediction: str) -> int:
        return number

    return count


def executed() -> Any:
    names: dict[str, Any] = {}
    exec("def own(prediction): return 1", names)
    return names["own"]


class Scorer:
    def own(self, prediction: str) -> int:
        return 1


@dataclass
class Called:
    """An object that can't be hashed."""

    number: int = 1

    def __call__(self, prediction: str) -> int:
        return self.number


def test_a_function_and_a_metric_of_its_name_differ_in_their_settings() -> None:
    def wer(prediction: str, reference: str) -> float:
        return 0.0

    columns = {"predictions": ["a"], "references": ["a"]}
    first, other = (Hub(metric).evaluate(columns) for metric in (wer, "wer"))
    with pytest.raises(ReportError, match=r"used different settings for wer: .*local:tests"):
        first.compare(other)


@pytest.mark.parametrize(
    "function",
    [
        executed(),
        lambda prediction: 1,
        closure(1),
        Scorer().own,
        Called(),
        functools.cache(characters),
        functools.partial(shared, case=False, references=["b"]),
    ],
    ids=["exec", "lambda", "closure", "method", "object", "cache", "partial"],
)
def test_a_function_of_unknown_source_is_scored_and_not_compared(function: Any) -> None:
    hub = Hub(["ttr", load_metric(function, name="own")])
    first, other = hub.evaluate(COLUMNS), hub.evaluate(predictions=["b"] * 3)
    assert "|source:unknown|" in first.signatures()["own"]
    with pytest.raises(ReportError, match=r"used different functions for own: .* with def"):
        first.compare(other)
    assert list(first.compare(other, metrics=["ttr"])) == ["ttr"]
    assert first.merge(other).size == 6


def test_an_object_that_is_called_is_a_function_with_its_values() -> None:
    first, two = (load_metric(Called(number), name=f"n{number}") for number in (1, 2))
    assert Hub([first, two])(predictions=["a"]) == {"n1": {"score": 1.0}, "n2": {"score": 2.0}}


def test_a_partial_function_keeps_what_it_was_given() -> None:
    metric = load_metric(functools.partial(shared, case=False), name="any_case")
    data = {"predictions": ["A dog"], "references": ["a dog"]}
    assert Hub([shared, metric]).evaluate(data).flatten() == {"shared": 1.0, "any_case": 2.0}


def test_a_saved_report_loads_with_the_function(tmp_path: Path) -> None:
    report = Hub(["ttr", length_ratio]).evaluate(COLUMNS)
    path = tmp_path / "report.json"
    report.save(path)
    loaded = Report.load(path, metrics=[length_ratio])
    assert loaded == report
    assert loaded.compare(report)["length_ratio"]["score"].difference == 0
    with pytest.raises(ReportError, match=r"Report.load\(path, metrics="):
        Report.load(path)


def test_a_saved_report_keeps_the_hash_of_the_function_that_scored(tmp_path: Path) -> None:
    first = defined(tmp_path, "def own(prediction): return 1\n")
    Hub(first).evaluate(COLUMNS).save(tmp_path / "report.json")
    second = defined(tmp_path, "def own(prediction): return 2\n")
    loaded = Report.load(tmp_path / "report.json", metrics=[second])
    with pytest.raises(ReportError, match="used different functions for own"):
        loaded.compare(Hub(second).evaluate(COLUMNS))


def test_a_hub_with_a_function_is_a_value_that_travels() -> None:
    hub = Hub(["ttr", load_metric(length_ratio, better="higher", name="ratio")])
    assert pickle.loads(pickle.dumps(hub)) == hub
    assert Hub(length_ratio) == Hub([length_ratio]) != Hub(shared)


def test_other_processes_measure_the_same_and_say_whose_function_it_is(tmp_path: Path) -> None:
    # A process measures about 1,000,000 characters at a time.
    script = tmp_path / "script.py"
    script.write_text(
        "from metrichub import Hub\n"
        "def words(prediction): return len(prediction.split())\n"
        "if __name__ == '__main__':\n"
        "    texts = ['a b ' * 150_000] * 3\n"
        "    one, two = (Hub(words).evaluate(predictions=texts, workers=n) for n in (1, 2))\n"
        "    assert one == two\n"
        "    print(two.scores()['words'], two.signatures()['words'])\n",
        encoding="utf-8",
    )
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert ran.stdout.startswith("{'score': 300000.0} words|definition:1|source:"), ran.stderr
    assert ran.stdout.endswith("|local:__main__|reduce:mean\n")


def starred(*texts: str) -> int:
    return 1


def keywords(prediction: str, **others: str) -> int:
    return 1


def positional(prediction: str, /) -> int:
    return 1


def constant(number: int = 1) -> int:
    return number


@pytest.mark.parametrize("function", [starred, keywords, positional, constant, print])
def test_a_function_has_to_name_its_inputs(function: Any) -> None:
    name = function.__name__
    with pytest.raises(MetricError, match=rf"the parameters of {name} don't name its inputs"):
        Hub(function)


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (lambda prediction: 1, "a lambda"),
        (functools.partial(shared, case=False), "a partial function"),
        (Called(), "a Called object"),
    ],
)
def test_a_function_without_a_name_needs_one(function: Any, kind: str) -> None:
    with pytest.raises(MetricError, match=rf"{kind} has no name .* load_metric\(function, name="):
        Hub(["bleu", function])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"range": (0,)}, r"length_ratio: range=\(0,\) is not allowed; choose two bounds"),
        ({"range": 1}, "range=1 is not allowed"),
        ({"better": "up"}, "better='up' is not allowed; choose 'higher', 'lower' or 'neither'"),
        ({"bettr": "higher"}, "has no parameter 'bettr'; did you mean 'better'"),
    ],
)
def test_a_wrong_parameter_is_refused(parameters: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        load_metric(length_ratio, **parameters)


@pytest.mark.parametrize("range", [(1, None), (None, 2), (1, 2)])
def test_every_score_has_to_be_in_the_range(range: Any) -> None:
    hub = Hub(load_metric(characters, range=range))
    assert hub(predictions=["a", "bb"]) == {"characters": {"score": 1.5}}
    outside = "" if range[0] else "ccc"
    with pytest.raises(MetricError, match=rf"^characters returned {len(outside)}, outside its ran"):
        hub(predictions=["a", "bb", outside])


def text(prediction: str) -> Any:
    return "one"


def no_score(prediction: str) -> Any:
    return {"precision": 1.0, "recall": 1.0}


def count(prediction: str) -> Any:
    return {"score": 1.0, "count": 1.0}


def failing(prediction: str) -> float:
    return 1 / 0


def misspelt(prediction: str, refrence: str) -> float:
    return 1.0


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (text, MetricError, r"^text returned 'one' \(str\), not a number or a mapping of numbers$"),
        (no_score, MetricError, "^no_score returned precision, recall; call one of them 'score'$"),
        (count, MetricError, "^count returned 'count', a name reserved for the number of samples"),
        (failing, ScoringError, "^failing failed on sample 0: ZeroDivisionError"),
        (misspelt, MissingColumn, "misspelt needs the column 'refrences'"),
    ],
)
def test_a_mistake_in_a_function_is_named(function: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Hub(function)(COLUMNS)
