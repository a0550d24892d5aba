"""Data sets by their address: streamed through `datasets`, split by split, or refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet
import pytest

import metrichub
from metrichub import Hub
from metrichub.data.huggingface import ROWS, DatasetAddress, read_splits
from metrichub.errors import FileError, InputError
from tests import dataset_stub
from tests.commands import JSON, error, program, run, scored

TRAIN = [{"prediction": "a", "reference": "a", "id": 1}]
TEST = [{"prediction": "a b", "reference": "a b", "id": 2}, {"prediction": "c", "reference": "d"}]
# By hand: the one of train is right, and one of two of test.
EXPECTED = {"train": 1.0, "test": 0.5}


def written(folder: Path, **splits: list[dict[str, Any]]) -> str:
    """The address of a data set in a folder."""
    folder.mkdir()
    for split, rows in splits.items():
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (folder / f"{split}.jsonl").write_text(text, encoding="utf-8")
    return f"hf://{folder}"


@pytest.fixture
def address(tmp_path: Path) -> str:
    return written(tmp_path / "data", train=TRAIN, test=TEST)


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("hf://squad", ("squad", None, None)),
        ("hf://owner/name?split=test", ("owner/name", "test", None)),
        ("hf://datasets/owner/name?subset=en", ("owner/name", None, "en")),
        ("hf://owner/name?subset=en&split=test", ("owner/name", "test", "en")),
    ],
)
def test_an_address_has_a_name_a_split_and_a_subset(text: str, parsed: tuple[Any, ...]) -> None:
    address = DatasetAddress.parse(text)
    assert address == parsed
    assert DatasetAddress.parse(str(address)) == address
    # What an address says itself wins over what is chosen beside it.
    _, split, subset = parsed
    assert address.choosing("dev", "fr")[1:] == (split or "dev", subset or "fr")


def test_a_folder_of_save_to_disk_is_read_as_its_rows(tmp_path: Path) -> None:
    saved, several = tmp_path / "saved", tmp_path / "several"
    test = datasets.Dataset.from_list([TEST[0], TEST[1] | {"id": None}])
    test.save_to_disk(saved)
    assert metrichub.read(saved)["id"] == [2, None]
    assert Hub("exact_match").evaluate(saved).scores()["exact_match"]["score"] == EXPECTED["test"]
    train = datasets.Dataset.from_list(TRAIN)
    datasets.DatasetDict({"train": train, "test": test}).save_to_disk(several)
    with pytest.raises(FileError, match=r"several splits; choose one: .*train or .*test"):
        metrichub.read(several)
    assert metrichub.read(several / "train")["prediction"] == ["a"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hf://", "the name of the data set is missing; write hf://owner/name"),
        ("hf://owner/name?spilt=test", "'spilt' isn't an option; did you mean 'split'"),
    ],
)
def test_an_address_that_says_nothing_is_refused(text: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        metrichub.read(text)


def test_a_split_is_read_as_a_file_is(address: str) -> None:
    samples = metrichub.read(f"{address}?split=test")
    assert samples["prediction"] == ["a b", "c"]
    assert samples["id"] == [2, None]
    chosen = metrichub.read(f"{address}?split=train", columns={"predictions": "reference"})
    assert chosen == {"predictions": ["a"]}
    assert Hub("exact_match")(f"{address}?split=test")["exact_match"]["score"] == EXPECTED["test"]


def test_a_data_set_of_one_split_needs_no_choice(tmp_path: Path) -> None:
    assert list(read_splits(written(tmp_path / "one", test=TEST))) == [f"hf://{tmp_path / 'one'}"]


def test_several_splits_ask_for_one_where_one_is_read(address: str) -> None:
    with pytest.raises(InputError) as caught:
        Hub("exact_match").evaluate(address)
    assert f"choose one: {address}?split=train or {address}?split=test" in str(caught.value)


def test_a_split_that_is_not_there_is_told_with_those_that_are(address: str) -> None:
    with pytest.raises(FileError, match=r"can't be read: Bad split: tset.*train.*test"):
        metrichub.read(f"{address}?split=tset")


def test_a_data_set_is_read_by_batches_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    pulled: list[int] = []

    def rows(pulled: list[int]) -> Any:
        for number in range(3 * ROWS):
            pulled.append(number)
            yield {"prediction": "a"}

    def streamed(name: str, subset: str | None, *, split: str, streaming: bool) -> Any:
        assert (name, subset, split, streaming) == ("owner/name", None, "test", True)
        return datasets.IterableDataset.from_generator(rows, gen_kwargs={"pulled": pulled})

    monkeypatch.setattr(datasets, "load_dataset", streamed)
    sizes = []
    for part in metrichub.read_batches("hf://owner/name?split=test"):
        sizes.append(part.size)
        assert len(pulled) <= sum(sizes) + ROWS
        assert part.start == sum(sizes) - part.size
    assert sizes == [ROWS] * 3
    assert len(pulled) == 3 * ROWS


def test_the_command_line_scores_the_split_that_is_chosen(address: str) -> None:
    scores = scored(address, "-m", "exact_match", "--split", "test")
    assert scores["scores"]["exact_match"]["score"] == EXPECTED["test"]


def test_the_splits_of_a_data_set_stand_side_by_side(address: str) -> None:
    systems = scored(address, "-m", "exact_match")["systems"]
    scores = {name: system["scores"]["exact_match"]["score"] for name, system in systems.items()}
    assert scores == {f"{address}?split={split}": score for split, score in EXPECTED.items()}
    # Splits hold other samples, so none is the better one.
    table = run("score", address, "-m", "exact_match", "--format", "markdown").stdout
    assert "1.000" in table
    assert "**" not in table


def test_compare_takes_data_sets_too(address: str, tmp_path: Path) -> None:
    worse = [{**row, "prediction": "z"} for row in TEST]
    other = written(tmp_path / "other", test=worse)
    result = run("compare", address, other, "-m", "exact_match", "--split", "test", *JSON)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["samples"] == 2


def test_a_split_without_a_data_set_is_refused() -> None:
    message = error(run("score", "a.jsonl", "-m", "bleu", "--split", "test"), 2)
    assert message.startswith("--split and --subset apply to data sets only; give hf://NAME")


def environment(tmp_path: Path, endpoint: str, **more: str) -> dict[str, str]:
    return {**os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "home"), **more}


def test_the_hub_is_asked_at_the_endpoint_of_the_environment(tmp_path: Path) -> None:
    with dataset_stub.serving() as (endpoint, asked):
        ran = program(
            *("score", "hf://owner/name", "--split", "test", "-m", "exact_match", *JSON),
            env=environment(tmp_path, endpoint),
            cwd=tmp_path,
        )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["scores"]["exact_match"]["score"] == EXPECTED["test"]
    assert any(path.endswith("/test.jsonl") for path in asked)


def test_a_data_set_that_the_hub_does_not_have_is_one_line(tmp_path: Path) -> None:
    with dataset_stub.serving() as (endpoint, _):
        ran = program(
            *("score", "hf://owner/other", "-m", "exact_match"),
            env=environment(tmp_path, endpoint),
            cwd=tmp_path,
        )
    assert ran.returncode == 3
    text = "metrichub: error: hf://owner/other: can't be read: Dataset 'owner/other' doesn't exist"
    assert ran.stderr.splitlines()[-1].startswith(text)


def test_offline_nothing_is_asked(tmp_path: Path) -> None:
    with dataset_stub.serving() as (endpoint, asked):
        ran = program(
            *("score", "hf://owner/name", "-m", "exact_match"),
            env=environment(tmp_path, endpoint, HF_HUB_OFFLINE="1"),
            cwd=tmp_path,
        )
    assert ran.returncode == 3
    assert ran.stderr.splitlines()[-1].startswith("metrichub: error: hf://owner/name: can't be rea")
    assert asked == []


def _labelled(predictions: list[Any], names: str = "neg pos", **features: Any) -> datasets.Dataset:
    kinds = datasets.Features(
        {"prediction": datasets.Value("string"), "label": datasets.ClassLabel(names=names.split())}
    )
    labels = [0, 1, 1]
    return datasets.Dataset.from_dict(
        {"prediction": predictions, "label": labels},
        features=datasets.Features({**kinds, **features}),
    )


NAMED = _labelled(["neg", "pos", "neg"])


def _saved(folder: Path) -> Path:
    NAMED.save_to_disk(folder / "saved")
    return folder / "saved"


def _parquet(folder: Path) -> Path:
    NAMED.to_parquet(folder / "a.parquet")
    return folder / "a.parquet"


@pytest.mark.parametrize(
    "form",
    [
        lambda _: NAMED,
        lambda _: NAMED.to_iterable_dataset(),
        lambda _: NAMED.with_format("numpy"),
        lambda _: datasets.DatasetDict(test=NAMED),
        lambda _: {name: NAMED[name] for name in NAMED.column_names},
        _saved,
        _parquet,
        lambda folder: _parquet(folder).parent,
        lambda folder: f"hf://{_parquet(folder).parent}",
        lambda folder: pyarrow.parquet.read_table(_parquet(folder)),
        lambda folder: pyarrow.parquet.ParquetFile(_parquet(folder)).iter_batches(),
        lambda folder: metrichub.read(_parquet(folder), columns=["prediction", "label"]),
    ],
)
def test_classes_are_compared_by_their_names(tmp_path: Path, form: Any) -> None:
    # The last of three is wrong.
    hub, columns = Hub(["classification", "exact_match"]), {"references": "label"}
    scores = hub(form(tmp_path), columns=columns)
    assert scores["classification"]["accuracy"] == pytest.approx(2 / 3)
    assert scores["exact_match"]["score"] == pytest.approx(2 / 3)
    by_name = hub(predictions=NAMED["prediction"], references=NAMED["label"])
    assert by_name == hub(NAMED, columns=columns)


@pytest.mark.parametrize(
    ("predictions", "names", "kind", "labels"),
    [
        # Numbers of the same classes stay as they are, as text too.
        ([0, 1, 0], "neg pos", datasets.Value("int64"), ["0", "1"]),
        ([0.0, 1.0, 0.0], "neg pos", datasets.Value("float64"), ["0", "1"]),
        (["0", "1", "0"], "neg pos", datasets.Value("string"), ["0", "1"]),
        ([0, 1, 0], "neg pos", datasets.ClassLabel(names=["neg", "pos"]), ["neg", "pos"]),
        # Names that are numbers: those of numbers 0 and 1 are 1 and 2.
        (["1", "2", "1"], "1 2 3", datasets.Value("string"), ["1", "2"]),
        ([0, 1, 0], "0 1 2", datasets.Value("int64"), ["0", "1"]),
    ],
)
def test_numbers_of_classes_are_compared_with_numbers(
    predictions: list[Any], names: str, kind: Any, labels: list[str]
) -> None:
    data = _labelled(predictions, names, prediction=kind)
    report = Hub("classification").evaluate(data, columns={"references": "label"})
    assert report["classification"]["accuracy"] == pytest.approx(2 / 3)
    assert [row[0] for row in report.tables()["classification"]["labels"][1:]] == labels


@pytest.mark.parametrize("odd", ["I cannot", ""])
def test_an_answer_without_a_number_leaves_the_others_numbers(odd: str) -> None:
    # The labels are 0, 1, 1.
    hub = Hub("exact_match")(_labelled(["0", "1", odd]), columns={"references": "label"})
    assert hub["exact_match"]["score"] == pytest.approx(2 / 3)


def test_numbers_that_may_be_names_are_refused() -> None:
    data = _labelled([1, 2, 2], "1 2 3", prediction=datasets.Value("int64"))
    with pytest.raises(InputError, match="are numbers, and so are the names of the classes, '1'"):
        Hub("classification")(data, columns={"references": "label"})
    parts = [_labelled([*"010"]), NAMED]
    tables = iter(part.with_format("arrow")[:] for part in parts)
    with pytest.raises(InputError, match="were the numbers of classes up to here"):
        Hub("classification")(tables, columns={"references": "label"})


def test_classes_inside_of_lists_and_objects_have_names(tmp_path: Path) -> None:
    kind = datasets.ClassLabel(names=["O", "B-PER"])
    features = {
        "prediction": datasets.Sequence(datasets.Value("string")),
        "doc": {"tags": datasets.Sequence(kind), "first": kind},
    }
    rows = {
        "prediction": [["O", "B-PER"], ["O"]],
        "doc": [{"tags": [0, 1], "first": 0}, {"tags": [1], "first": -1}],
    }
    data = datasets.Dataset.from_dict(rows, features=datasets.Features(features))
    data.to_parquet(tmp_path / "a.parquet")
    hub = Hub("entity_f1(form='tags')")
    for table in (data, tmp_path / "a.parquet"):
        # One of two entities is found: P = 1, R = 1/2.
        scores = hub(table, columns={"references": "doc.tags"})["entity_f1"]
        assert (scores["precision"], scores["recall"]) == (1.0, 0.5)
        with pytest.raises(InputError, match=r"\[1\] is None, not text"):
            Hub("exact_match")(
                table, columns={"predictions": "doc.first", "references": "doc.first"}
            )


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("references", r"{'de': .* 'en': .*columns={'references': 'NAME.de'}"),
        ("translation", r"translation has de and en: name one, translation.de"),
    ],
)
def test_the_languages_of_a_translation_are_named(tmp_path: Path, name: str, problem: str) -> None:
    kinds = {
        "prediction": datasets.Value("string"),
        name: datasets.Translation(languages=["de", "en"]),
    }
    rows = {"prediction": ["Hallo"], name: [{"de": "Hallo", "en": "Hello"}]}
    data = datasets.Dataset.from_dict(rows, features=datasets.Features(kinds))
    data.to_parquet(tmp_path / "a.parquet")
    for table in (data, data.to_pandas(), tmp_path / "a.parquet"):
        with pytest.raises(InputError, match=problem):
            Hub("chrf")(table)
        scores = Hub("chrf")(table, columns={"references": f"{name}.de"})
        assert scores["chrf"]["score"] == 1.0
