"""What other tools have written is read as samples; the files are theirs, see logs/README.md."""

from __future__ import annotations

import io
import json
import logging
import re
import zipfile
from pathlib import Path
from typing import Any

import fsspec
import pytest

import metrichub
from metrichub import FileError, Hub, read
from metrichub.bridges.inspect_logs import Archive
from tests.commands import run

FOLDER = Path(__file__).parent / "logs"
LOG = FOLDER / "capitals.eval"

# The samples of capitals.eval as its script made them: three, each answered twice.
CAPITALS = {
    "id": [10, "a", "b"] * 2,
    "epoch": [1, 1, 1, 2, 2, 2],
    "questions": ["Hauptstadt?", "Where is the cat?", "What is the weather?"] * 2,
    "predictions": [
        *("Wien", "the cat sat on the mat", "it rains in spring"),
        *("wien", "the cat sat", "it rains"),
    ],
    "references": ["Wien", "the cat sat on a mat", ["it rains in the spring", "it rains"]] * 2,
    "language": ["de", None, "en"] * 2,
    # By its scorer, which ignores case and takes a target at the end.
    "match": [True, False, False, True, False, True],
    # What inspect took for the two epochs of each, in the row of the first.
    "match.mean": [1.0, 0.0, 0.5, None, None, None],
}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def json_log() -> dict[str, Any]:
    """The same log as inspect writes it into one JSON file: the header, and the samples in it."""
    with LOG.open("rb") as file, zipfile.ZipFile(file) as names:
        archive = Archive(file, LOG.name)
        result = {name: archive.sample(name) for name in names.namelist()}
    samples = [content for name, content in result.items() if name.startswith("samples/")]
    beside = {"samples": samples, "reductions": result["reductions.json"]}
    log: dict[str, Any] = {**result["header.json"], **beside}
    return log


def without_messages(path: Path) -> dict[str, Any]:
    """The columns of a log but for its messages, whose last ones are the predictions."""
    columns = dict(read(path))
    messages = columns.pop("messages")
    assert [conversation[-1]["content"] for conversation in messages] == CAPITALS["predictions"]
    return columns


def test_a_log_of_inspect_is_read_without_inspect() -> None:
    assert without_messages(LOG) == CAPITALS


def test_a_json_log_of_inspect_gives_the_same(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(json_log()), encoding="utf-8")
    assert without_messages(path) == CAPITALS


def test_ids_epochs_and_short_metadata_stay_with_the_report() -> None:
    report = Hub("exact_match").evaluate(read(LOG))
    assert report.metadata["epoch"] == CAPITALS["epoch"]
    assert report.metadata["language"] == CAPITALS["language"]
    # "Wien" is right, "wien" isn't, and neither sentence about the cat; "it rains" is one of two.
    assert report.samples()["exact_match"]["score"].tolist() == [1, 0, 0, 0, 0, 1]


def test_texts_in_the_metadata_are_not_taken_for_predictions() -> None:
    # A sample's metadata says summary: "weather".
    assert "summary" not in read(LOG)


def test_messages_in_parts_and_texts_stored_beside_are_read(tmp_path: Path) -> None:
    log = json_log()
    sample = log["samples"][0]
    del sample["output"]["completion"]
    parts = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Wien"}]
    sample["output"]["choices"][0]["message"]["content"] = parts
    digest = "0" * 32
    sample["attachments"], sample["target"] = {digest: "a long target"}, f"attachment://{digest}"
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**log, "samples": [sample]}), encoding="utf-8")
    samples = read(path)
    assert (samples["predictions"], samples["references"]) == (["Wien"], ["a long target"])


def test_samples_that_ended_in_an_error_are_left_out_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = json_log()
    error = {"message": "no answer", "traceback": "", "traceback_ansi": ""}
    log["samples"][0] |= {"error": error, "scores": {}}
    # inspect 0.3.285 counts a sample that a scorer had scored before the error.
    log["samples"][1] |= {"error": error}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log), encoding="utf-8")
    with caplog.at_level(logging.WARNING, "metrichub"):
        assert read(path).size == 5
    assert "left out 1 of 6 samples, which ended in an error" in caplog.text


def test_words_that_inspect_takes_for_numbers_are_read_as_these(tmp_path: Path) -> None:
    log = json_log()
    for sample, value in zip(log["samples"], ["yes", "no", "C", "N", "P", 0.25], strict=True):
        sample["scores"]["match"]["value"] = value
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log), encoding="utf-8")
    recorded = {(str(s["id"]), s["epoch"]): s["scores"]["match"]["value"] for s in log["samples"]}
    samples = read(path)
    values = [
        recorded[str(n), epoch] for n, epoch in zip(samples["id"], samples["epoch"], strict=True)
    ]
    expected = {"yes": True, "no": False, "C": True, "N": False, "P": 0.5, 0.25: 0.25}
    assert samples["match"] == [expected[value] for value in values]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"no archive", "isn't a readable inspect log: File is not a zip file"),
        (LOG.read_bytes()[:9000], "this isn't a readable inspect log: "),
    ],
)
def test_what_is_no_log_is_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.eval"
    path.write_bytes(content)
    with pytest.raises(FileError, match=message):
        read(path)


def test_another_archive_and_a_log_without_samples_say_so(tmp_path: Path) -> None:
    path = tmp_path / "x.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme", "hello")
    with pytest.raises(FileError, match="this archive isn't an inspect log"):
        read(path)
    header = json_log()
    del header["samples"], header["version"]
    log = tmp_path / "log.json"
    log.write_text(json.dumps({**header, "status": "started"}))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({"eval": header["eval"]}))
    for empty in (log, path):
        with pytest.raises(FileError, match=r"this inspect log has no samples \(status: started"):
            read(empty)


def test_damage_inside_of_a_log_names_the_sample(tmp_path: Path) -> None:
    content = bytearray(LOG.read_bytes())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        member = archive.getinfo("samples/a_epoch_1.json")
    start = member.header_offset + 30 + len(member.filename)
    content[start : start + 40] = bytes(40)
    path = tmp_path / "x.eval"
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"its member samples/a_epoch_1\.json can't be read"):
        read(path)


def test_a_sample_that_unpacks_to_far_more_than_texts_do_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, header = tmp_path / "x.eval", json_log()
    samples = header.pop("samples")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("samples/a_epoch_1.json", json.dumps(samples[0]) + " " * (2 << 20))
    assert read(path)
    monkeypatch.setenv("METRICHUB_MAX_UNPACKED", "1")
    with pytest.raises(FileError, match=r"more than 1 MB, the limit; .* METRICHUB_MAX_UNPACKED"):
        read(path)


def test_samples_of_lm_eval_are_read_once_for_several_filters(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "metrichub"):
        samples = read(FOLDER / "samples_many.jsonl")
    assert samples["id"] == [0, 1, 2]
    assert samples["predictions"] == ["lol"] * 3
    # The second target of the second sample is the text "['x'".
    assert samples["references"] == [["lol", "on the mat"], ["it rains", "['x'"], ["Wien"]]
    assert samples["questions"] == ["Where is the cat?", "Weather?", "Capital?"]
    assert samples.lines == [1, 2, 3]
    assert "only those of filter 'none' are read, not of 'strict'" in caplog.text


OLD = FOLDER / "lm_eval_old" / "samples_two_2026-11-29T00-29-24.185339.jsonl"
"""A log that doesn't name its filters, but has each document once for either."""


def test_filters_that_older_versions_of_lm_eval_do_not_name_are_told_apart(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    unknown = write(tmp_path / "old.jsonl", rows(OLD))
    # As results_*.json names them, and has their scores: .4 and .2.
    for path, names in ((OLD, ("strict", "upper")), (unknown, ("filter-1", "filter-2"))):
        with caplog.at_level(logging.WARNING, "metrichub"):
            samples = read(path)
        assert f"only those of filter {names[0]!r} are read, not of {names[1]!r}" in caplog.text
        assert (samples["id"], samples.lines) == ([0, 1, 2, 3, 4], [1, 2, 3, 4, 5])
        upper = read(path, where={"filter": names[1]})
        assert [sum(log["exact_match"]) / 5 for log in (samples, upper)] == [0.4, 0.2]


def test_repeated_documents_of_lm_eval_are_no_filters_if_their_replies_differ(
    tmp_path: Path,
) -> None:
    first, second = rows(OLD)[:2]
    other = first | {"resps": [["another"]]}
    runs = write(tmp_path / "s.jsonl", [first, second, other, second])
    assert read(runs)["id"] == [0, 1, 0, 1]
    mixed = write(tmp_path / "t.jsonl", [first, second, second, other])
    with pytest.raises(FileError, match=r"t.jsonl:4: document 0 is here again with other replies"):
        read(mixed)


def test_a_target_that_looks_like_a_list_is_a_text_if_it_is_none(tmp_path: Path) -> None:
    (row, *_) = rows(FOLDER / "samples_many.jsonl")
    targets = ["[1] a note", "Wien", 7, "['Wien', 'Vienna']"]
    samples = read(write(tmp_path / "s.jsonl", [{**row, "target": target} for target in targets]))
    assert samples["references"] == ["[1] a note", "Wien", "7", ["Wien", "Vienna"]]


def test_a_target_that_a_document_has_as_a_text_is_one_target(tmp_path: Path) -> None:
    (row, *_) = rows(FOLDER / "samples_many.jsonl")
    target = "['a', 'b']"
    documents: list[Any] = [{"code": target}, {"code": ["a", "b"]}, {}, None]
    lines = [{**row, "target": target, "doc": document} for document in documents]
    samples = read(write(tmp_path / "s.jsonl", lines))
    assert samples["references"] == [target, *[["a", "b"]] * 3]


def test_several_answers_to_a_prompt_are_several_predictions(tmp_path: Path) -> None:
    (row, *_) = rows(FOLDER / "samples_many.jsonl")
    samples = read(write(tmp_path / "s.jsonl", [{**row, "filtered_resps": [["a", "b"]]}]))
    assert samples["predictions"] == [["a", "b"]]
    with pytest.raises(
        FileError, match=r"s\.jsonl:1: filtered_resps holds 1\.5 \(float\), not text"
    ):
        read(write(tmp_path / "s.jsonl", [{**row, "filtered_resps": [1.5]}]))


def test_arguments_of_older_versions_are_read(tmp_path: Path) -> None:
    (row, *_) = rows(FOLDER / "samples_many.jsonl")
    samples = read(write(tmp_path / "s.jsonl", [{**row, "arguments": [["Where?", {"until": []}]]}]))
    assert samples["questions"] == ["Where?"]


# A test run of deepeval has cases once; its data sets hold them twice, as goldens and as cases.
CASES = {
    "input": ["Where?", "Weather?"],
    "actual_output": ["the cat sat", "it rains"],
    "expected_output": ["the cat sat down", "it rains"],
}


def test_test_runs_of_deepeval_are_read() -> None:
    samples = read(FOLDER / "deepeval_test_run.json")
    assert {name: samples[name] for name in CASES} == CASES
    assert samples["retrieval_context"] == [["The cat sat down.", "Dogs."], None]
    assert samples["success"] == [False, True]
    # One of two answers is right, as deepeval's own metric says.
    assert Hub("exact_match")(samples)["exact_match"]["score"] == 0.5


def test_the_tool_calls_of_a_test_run_are_read(tmp_path: Path) -> None:
    run = json.loads((FOLDER / "deepeval_test_run.json").read_text("utf-8"))
    for case in run["testCases"]:
        case["toolsCalled"] = case["expectedTools"] = [
            {"name": "clock", "inputParameters": {"city": "Bern"}}
        ]
    run["testCases"][0]["toolsCalled"] = []
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run), encoding="utf-8")
    assert Hub("tool_call_f1")(path)["tool_call_f1"]["score"] == 0.5


def test_the_latest_test_run_and_the_order_of_its_cases_are_read(tmp_path: Path) -> None:
    run = json.loads((FOLDER / "deepeval_test_run.json").read_text("utf-8"))
    run["testCases"].reverse()
    path = tmp_path / "latest.json"
    path.write_text(json.dumps({"testRunData": run}), encoding="utf-8")
    assert read(path)["input"] == CASES["input"]
    path.write_text(json.dumps({**run, "testCases": [], "conversationalTestCases": [{}]}))
    with pytest.raises(FileError, match="this test run holds conversations; only single-turn"):
        read(path)


@pytest.mark.parametrize("name", ["deepeval.csv", "deepeval.jsonl"])
def test_passages_that_deepeval_joined_by_bars_are_several(name: str) -> None:
    samples = read(FOLDER / name)
    assert {column: samples[column] for column in CASES} == {c: v * 2 for c, v in CASES.items()}
    assert samples["retrieval_context"][0] == ["The cat sat down.", "Dogs."]


@pytest.mark.parametrize("name", ["ragas.csv", "ragas.jsonl"])
def test_rows_of_ragas_are_read_by_their_names(name: str) -> None:
    report = Hub(["exact_match", "coverage"]).evaluate(read(FOLDER / name))
    # "the cat" and "it rains" against "the cat sat" and "it".
    assert report["exact_match"]["score"] == 0.0
    # Both words of the first are in its passages, none of the second in "x".
    assert report.samples()["coverage"]["score"].tolist() == [1.0, 0.0]


def test_the_lines_of_the_guide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    page = (Path(metrichub.__file__).parents[1] / "docs" / "BRIDGES.md").read_text("utf-8")
    lines = [line.split() for line in re.findall(r"`(metrichub score [^`]*)` \|$", page, re.M)]
    result = [line[1:] for line in lines if (FOLDER / line[2]).exists()]
    assert len(result) == 7
    for line in result:
        assert run(*line).exit_code == 0, line


@pytest.mark.parametrize(
    "name", ["capitals.eval", "deepeval.jsonl", "ragas.csv", "samples_many.jsonl"]
)
def test_logs_at_an_address_are_read(name: str) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe(f"/{name}", (FOLDER / name).read_bytes())
    assert read(f"memory://{name}") == read(FOLDER / name)
    memory.rm(f"/{name}")
