"""What modules of evaluate take beside texts: numbers, label sequences and objects, as evaluate."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pytest

from metrichub import Hub, InputError, MetricError
from metrichub.bridges import evaluate as bridge
from tests.bridges.conftest import Write
from tests.commands import error
from tests.commands import run as command

INT, FLOAT, TEXT = (f'datasets.Value("{kind}")' for kind in ("int32", "float32", "string"))


def both(kind: str) -> str:
    return f'datasets.Features({{"predictions": {kind}, "references": {kind}}})'


def accuracy(write: Write, name: str = "some_accuracy") -> str:
    return write(
        name,
        "same = [p == r for p, r in zip(predictions, references)]",
        'return {"accuracy": sum(same) / len(same)}',
        features=both(INT),
    )


def errors(write: Write) -> str:
    return write(
        "squares",
        'return {"mse": sum((p - r) ** 2 for p, r in zip(predictions, references))}',
        features=both(FLOAT),
    )


def tagging(write: Write, kind: str = TEXT) -> str:
    """As poseval and seqeval, which compare tag by tag."""
    return write(
        "tagging",
        "pairs = [(p, r) for ps, rs in zip(predictions, references) for p, r in zip(ps, rs)]",
        'return {"score": sum(p == r for p, r in pairs) / len(pairs)}',
        features=both(f"datasets.Sequence({kind})"),
    )


SQUAD = """datasets.Features({
    "predictions": {"id": datasets.Value("string"), "prediction_text": datasets.Value("string")},
    "references": {
        "id": datasets.Value("string"),
        "answers": datasets.Sequence(
            {"text": datasets.Value("string"), "answer_start": datasets.Value("int32")}
        ),
    },
})"""


def squad(write: Write) -> str:
    return write(
        "some_squad",
        'answers = {r["id"]: r["answers"]["text"] for r in references}',
        'return {"right": sum(p["prediction_text"] in answers[p["id"]] for p in predictions)}',
        features=SQUAD,
    )


def theirs(path: str, **columns: Any) -> Any:
    return evaluate.load(path).compute(**columns)


@pytest.mark.parametrize(
    ("predictions", "references"),
    [
        ([1, 0, 2], [1, 1, 2]),
        (["1", "0", "2"], ["1", "1", "2"]),
        (np.array([1, 0, 2]), np.array([1, 1, 2], np.int8)),
        ([True, False, 2.0], [1, True, 2]),
    ],
)
def test_a_module_of_numbers_takes_numbers(write: Write, predictions: Any, references: Any) -> None:
    path = accuracy(write)
    hub = Hub(bridge.load(path))(predictions=predictions, references=references)
    expected = theirs(path, predictions=[1, 0, 2], references=[1, 1, 2])
    assert hub == {"some_accuracy": {"score": expected["accuracy"], **expected}}


def test_fractions_reach_a_module_as_they_are(write: Write) -> None:
    path = errors(write)
    predictions, references = [0.1, -2.5e-7, 3], np.array([0.3, 1, 1 / 3], np.float32)
    hub = Hub(bridge.load(path))(predictions=predictions, references=references)
    expected = theirs(path, predictions=predictions, references=references)
    assert hub["squares"]["score"] == expected["mse"]


def test_numbers_of_a_file_are_read(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accuracy(write)
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text(
        '{"prediction": 1, "reference": 1}\n{"prediction": 0, "reference": 1}\n'
    )
    Path("rows.csv").write_text("prediction,reference\n1,1\n0,1\n")
    for file in ("rows.jsonl", "rows.csv"):
        ran = command("score", file, "-m", "evaluate:./some_accuracy", "--format", "json")
        assert json.loads(ran.stdout)["scores"]["some_accuracy"]["score"] == 0.5
    Path("rows.jsonl").write_text('{"prediction": 1, "reference": null}\n')
    message = error(command("score", "rows.jsonl", "-m", "evaluate:./some_accuracy"), 3)
    assert "'reference' is missing or null in sample 0" in message


@pytest.mark.parametrize("value", [1.5, None, math.nan, "x", [1, 0], {"a": 1}, b"1"])
def test_what_is_no_number_names_the_sample(write: Write, value: Any) -> None:
    hub = Hub(bridge.load(accuracy(write)))
    with pytest.raises(InputError, match=r"^predictions\[1\] ") as raised:
        hub(predictions=[1, value], references=[1, 1])
    assert raised.value.sample == 1


def test_our_metrics_beside_it_still_take_texts_alone(write: Write) -> None:
    hub = Hub([bridge.load(accuracy(write)), "wer"])
    assert hub(predictions=["1", "0"], references=["1", "1"])["some_accuracy"]["score"] == 0.5
    with pytest.raises(InputError, match="some_accuracy and wer read in different ways"):
        hub(predictions=[1, 0], references=[1, 1])


def test_label_sequences_are_lists(write: Write) -> None:
    path = tagging(write)
    columns = {"predictions": [["N", "V"], ["N"]], "references": [["N", "N"], ["N"]]}
    hub = Hub(bridge.load(path))(**columns)
    # 2 of 3 tags.
    assert hub["tagging"]["score"] == theirs(path, **columns)["score"] == 2 / 3
    as_json = {name: list(map(json.dumps, values)) for name, values in columns.items()}
    assert Hub(bridge.load(path))(**as_json) == hub


@pytest.mark.parametrize("texts", [["N V", "N"], ["The cat sat.", "A dog."], ["1", "2"]])
def test_a_text_is_no_label_sequence(write: Write, texts: list[str]) -> None:
    path = tagging(write)
    with pytest.raises(ValueError, match="Got a string but expected a list"):
        theirs(path, predictions=["N V", "N"], references=[["N"], ["N"]])
    with pytest.raises(InputError, match=r"predictions\[0\] is .*; tagging takes a list of texts"):
        Hub(bridge.load(path))(predictions=texts, references=texts)
    with pytest.raises(InputError, match=r"references\[0\] is .*; tagging takes a list of texts"):
        Hub(bridge.load(path))(predictions=[["N"], ["N"]], references=texts)


def test_lists_of_numbers_are_what_a_module_of_several_labels_takes(write: Write) -> None:
    path = tagging(write, INT)
    columns = {"predictions": [[0, 1], [1, 1]], "references": [[0, 1], [0, 1]]}
    assert Hub(bridge.load(path))(**columns)["tagging"]["score"] == 3 / 4
    with pytest.raises(InputError, match=r"predictions\[0\] is 1 \(int\); tagging takes a list of"):
        Hub(bridge.load(path))(predictions=[1, 0], references=[1, 0])


def test_objects_reach_a_module_that_asks_for_them(write: Write) -> None:
    path = squad(write)
    predictions = [{"id": "1", "prediction_text": "a"}, {"id": "2", "prediction_text": "b"}]
    references = [
        {"id": "1", "answers": {"text": ["a", "an a"], "answer_start": [1, 0]}},
        {"id": "2", "answers": {"text": ["c"], "answer_start": [0]}},
    ]
    columns = {"predictions": predictions, "references": references}
    hub = Hub(bridge.load(path))(**columns)
    assert hub["some_squad"]["score"] == theirs(path, **columns)["right"] == 1


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("a", r"is 'a' \(str\); some_squad takes an object with id and prediction_text"),
        ({"id": "1"}, r"lacks 'prediction_text'; some_squad takes an object with id and"),
    ],
)
def test_an_object_that_lacks_something_names_it(write: Write, value: Any, words: str) -> None:
    hub = Hub(bridge.load(squad(write)))
    answers = {"id": "1", "answers": {"text": ["a"], "answer_start": [1]}}
    with pytest.raises(InputError, match=rf"predictions\[0\] {words}"):
        hub(predictions=[value], references=[answers])


def test_a_module_of_pictures_is_refused_wherever_they_are(write: Write) -> None:
    path = write("pictures", "return 1", features=both("datasets.Sequence(datasets.Image())"))
    with pytest.raises(MetricError, match=r"pictures takes .* as predictions; a hub has texts"):
        bridge.load(path)


def test_a_column_of_another_name_is_asked_for_by_it(write: Write) -> None:
    features = f'datasets.Features({{"X": datasets.Sequence({FLOAT})}})'
    path = write("distances", "return sum(map(sum, X))", features=features, arguments="X")
    hub = Hub(bridge.load(path))
    assert hub(X=[[0.5, 1.0], [2.0, 3.5]]) == {"distances": {"score": 7}}
    with pytest.raises(InputError, match=r"needs the column 'Xs' \(also read as X\)"):
        hub(predictions=["a"])


@pytest.mark.parametrize("value", ["macro", 2, None])
def test_an_option_of_compute_belongs_to_the_spec(write: Write, value: Any) -> None:
    arguments = "predictions, references, average='micro'"
    path = write("some_f1", "return 1", features=both(INT), arguments=arguments)
    words = rf"average is a parameter of some_f1, .*: evaluate:some_f1\(average={value!r}\)"
    with pytest.raises(InputError, match=words):
        Hub(bridge.load(path)).evaluate(predictions=[1], references=[1], average=value)
    # A column of that name stays with the report.
    Hub(bridge.load(path)).evaluate(predictions=[1], references=[1], average=["macro"])


def test_a_module_that_needs_the_network_for_a_helper_is_there_itself(write: Write) -> None:
    helper = "from .helper import scores  # From: http://127.0.0.1:9/helper.py"
    path = write("with_helper", "return 1", imports=helper)
    with pytest.raises(MetricError, match=r"can't load the module .*with_helper\.py'") as raised:
        bridge.load(path)
    assert "there is no module" not in str(raised.value)
