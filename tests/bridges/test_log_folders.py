"""Folders of logs are systems, and --as-recorded takes the numbers that their tools recorded."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from metrichub import Hub, compare_all, read
from metrichub.errors import FileError, InputError, SpecError
from tests.commands import JSON, run

ROOT = Path(__file__).parents[2]
LM_EVAL = ROOT / "examples" / "logs"
LOGS = ROOT / "tests" / "bridges" / "logs"
MODELS = ("large", "small")
FACTS, RESULTS = (
    f"logs/small/{next((LM_EVAL / 'small').glob(name)).name}"
    for name in ("samples_facts_*", "results_*")
)


def results(model: str, task: str) -> dict[str, float]:
    """What lm-evaluation-harness says of a task."""
    (path,) = (LM_EVAL / model).glob("results_*.json")
    result: dict[str, float] = json.loads(path.read_text("utf-8"))["results"][task]
    return result


def document(*arguments: str | Path) -> dict[str, Any]:
    ran = run(*map(str, arguments), "--format", "json")
    assert ran.exit_code == 0, ran.output
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


def refused(*arguments: str | Path) -> str:
    ran = run(*map(str, arguments))
    assert ran.exit_code == 2, ran.output
    return ran.stderr


@pytest.mark.parametrize("command", ["score", "compare"])
def test_a_folder_of_two_models_has_the_numbers_of_the_harness(command: str) -> None:
    result = document(command, LM_EVAL, "--as-recorded")
    systems = result["systems"] if command == "score" else result["scores"]
    assert list(systems) == ["large", "small"]
    for model in MODELS:
        scores = systems[model]["scores"] if command == "score" else systems[model]
        recorded = results(model, "facts") | results(model, "sums")
        assert list(scores) == ["acc", "acc_norm", "exact_match"]
        assert scores["acc"]["score"] == pytest.approx(recorded["acc,none"])
        assert scores["acc_norm"]["score"] == pytest.approx(recorded["acc_norm,none"])
        assert scores["exact_match"]["score"] == pytest.approx(recorded["exact_match,strict-match"])


def test_python_reads_folders_as_the_command_line_does() -> None:
    ran = document("compare", str(LM_EVAL), "--as-recorded")
    reports = Hub().evaluate_all(LM_EVAL, as_recorded=True)
    assert {name: dict(report.scores()) for name, report in reports.items()} == ran["scores"]
    rescored = document("compare", str(LM_EVAL), "-m", "token_f1")["scores"]
    for data, systems in ((str(LM_EVAL), None), (read(LM_EVAL), "system")):
        result = Hub("token_f1").evaluate_all(data, systems=systems, key=["task", "id"])
        assert {name: report["token_f1"] for name, report in result.items()} == {
            name: scores["token_f1"] for name, scores in rescored.items()
        }
    some = read(LM_EVAL, where={"task": "facts"})
    assert some.size == read(LM_EVAL, where={"task": ["facts"]}).size > 0
    assert set(some["task"]) == {"facts"}
    both = Hub("token_f1").evaluate_all({"small": LM_EVAL / "small"}, as_recorded=True)
    assert [*both["small"]] == ["acc", "acc_norm", "exact_match", "token_f1"]
    with pytest.raises(
        SpecError, match=r"the hub has no metric; name one, for example Hub\('bleu'"
    ):
        Hub()(predictions=["a"])
    with pytest.raises(InputError, match="as_recorded needs the path of a tool's logs, not"):
        Hub().evaluate_all({"a": [{"x": 1}]}, as_recorded=True)


def test_python_matches_the_samples_of_logs_by_their_ids(tmp_path: Path) -> None:
    shutil.copytree(LM_EVAL, tmp_path / "logs")
    (path,) = (tmp_path / "logs" / "small").glob("samples_facts*")
    lines = path.read_text(encoding="utf-8").splitlines()
    expected = Hub().evaluate_all(LM_EVAL, as_recorded=True, where={"task": "facts"})
    path.write_text("\n".join(reversed(lines)), encoding="utf-8")
    for options in ({}, {"samples": False}, {"keep": []}):
        reports = Hub().evaluate_all(
            tmp_path / "logs", as_recorded=True, where={"task": "facts"}, **options
        )
        test = compare_all(reports).compare("large", "small")["acc"]["score"]
        expected_difference = compare_all(expected).compare("large", "small")["acc"]["score"]
        assert test.difference == expected_difference.difference
        assert test.p == pytest.approx(expected_difference.p, abs=0.01)


def test_two_folders_are_two_systems_with_the_first_as_baseline() -> None:
    result = document("compare", LM_EVAL / "small", f"big={LM_EVAL / 'large'}", "--as-recorded")
    assert (result["baseline"], list(result["scores"])) == ("small", ["small", "big"])
    assert result["comparisons"]["big"]["exact_match"]["score"]["p"] < 0.05


def test_samples_are_matched_by_their_ids(tmp_path: Path) -> None:
    shutil.copytree(LM_EVAL, tmp_path / "logs")
    for log in (tmp_path / "logs" / "small").glob("samples_*"):
        log.write_text("\n".join(reversed(log.read_text("utf-8").splitlines())), encoding="utf-8")
    # The filter that is read is that of the first row.
    strict = ["--as-recorded", "--where", "filter=strict-match", "--where", "filter=none"]
    result = document("compare", tmp_path / "logs", *strict)
    assert result == document("compare", LM_EVAL, *strict)
    text = document("compare", tmp_path / "logs", "-m", "exact_match", "--where", "task=facts")
    assert text == document("compare", LM_EVAL, "-m", "exact_match", "--where", "task=facts")


def test_samples_that_not_all_systems_have_are_refused_and_counted(tmp_path: Path) -> None:
    shutil.copytree(LM_EVAL, tmp_path / "logs")
    (log,) = (tmp_path / "logs" / "small").glob("samples_facts_*")
    lines = log.read_text("utf-8").splitlines()
    facts = ["--as-recorded", "--where", "task=facts"]
    log.write_text("\n".join(lines[:7]), encoding="utf-8")
    ran = run("compare", str(tmp_path / "logs"), *facts)
    assert ran.exit_code == 3
    assert "small lacks 5 of the 12 samples of large (first: task='facts' id='10'); 7" in ran.stderr
    both = document("compare", str(tmp_path / "logs"), *facts, "--common")
    assert both["samples"] == 7
    log.write_text("\n".join([*lines[2:], lines[0]]), encoding="utf-8")
    ran = run("compare", str(tmp_path / "logs"), *facts)
    assert "small lacks 1 of the 12 samples of large (first: task='facts' id='1'); 11" in ran.stderr


def test_tasks_and_filters_are_chosen_by_conditions() -> None:
    where = ["--where", "task=sums", "--where", "filter=flexible-extract"]
    scores = document("compare", LM_EVAL, "--as-recorded", *where)["scores"]
    for model in MODELS:
        recorded = results(model, "sums")["exact_match,flexible-extract"]
        assert scores[model] == {"exact_match": {"score": pytest.approx(recorded)}}
    assert len({results(model, "sums")["exact_match,strict-match"] for model in MODELS}) == 2
    result = document("score", LM_EVAL, "--as-recorded", "--where", "model=small")
    assert result["scores"]["acc"]["score"] == results("small", "facts")["acc,none"]


TOGETHER = "metrics score the samples of facts and sums together; to choose one task: where"
ALONE = "one system; give another FILE, the baseline first"
AS_THEY_ARE = "--as-recorded reads the numbers as they are; add a metric with -m"


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        ("score logs/small -m wer --where task=facts", 0, "also has acc and acc_norm as recorded"),
        (f"score {FACTS} -m recorded(column='acc')", 0, "also has acc_norm as recorded"),
        ("score logs/small -m exact_match", 0, f"{TOGETHER} task=facts"),
        ("compare logs -m exact_match", 0, f"{TOGETHER} task=facts"),
        ("score logs/small --as-recorded --where choices.0=Mars", 0, "with choices.0=Mars: sums"),
        # Choices that nothing meets.
        ("score logs --as-recorded --where filter=loose", 3, "has no samples with filter=loose"),
        ("score logs/small --as-recorded --where colour=red", 3, "the column 'colour', which does"),
        (
            "score logs --as-recorded --where tasks=facts",
            3,
            "of logs, where also takes task and model",
        ),
        ("score logs --as-recorded --where task=fact", 2, "task=fact; did you mean 'facts'?"),
        ("score logs --as-recorded --where task=zzz", 2, "task=zzz (there are: facts and sums)"),
        ("score logs --as-recorded --where model=larger", 2, "=larger; did you mean 'large'?"),
        # Nothing to score or to compare.
        (f"score {LOGS}/lm_eval -m wer", 3, "the task last_word has none; choose another, such as"),
        (f"score {LOGS}/lm_eval -m wer", 3, "to choose one task: where task=mass"),
        ("score logs/none.eval --as-recorded", 3, "no such file"),
        (f"score {RESULTS} --as-recorded", 2, f"they are beside it: give {FACTS}, or the folder"),
        ("score logs/small --as-recorded --extract answer", 2, AS_THEY_ARE),
        # For a metric beside them, an extraction is of use.
        (f"score {FACTS} --as-recorded --extract answer -m exact_match", 0, ""),
        ("score logs/small --as-recorded --columns predictions=resps", 2, AS_THEY_ARE),
        (f"score {LOGS}/ragas.jsonl --as-recorded", 2, "ragas.jsonl has no recorded numbers"),
        ("compare", 2, "give at least two files, the baseline first, or a folder with logs"),
        ("compare --as-recorded", 2, "give at least two files, the baseline first, or a folder"),
        ("compare logs/small --as-recorded", 2, f"logs/small has {ALONE}"),
        ("compare logs --as-recorded --where model=large", 2, "logs has one system, 'large'; give"),
        ("compare logs/large logs/large/ --as-recorded", 2, "large is given twice"),
        ("compare logs", 2, "for example: metrichub compare logs -m chrf"),
        ("compare logs", 2, "or --as-recorded for the numbers in another tool's log"),
    ],
)
def test_what_is_left_out_or_refused_is_said(
    monkeypatch: pytest.MonkeyPatch, command: str, status: int, message: str
) -> None:
    monkeypatch.chdir(LM_EVAL.parent)
    ran = run(*command.split())
    assert ran.exit_code == status, ran.output
    assert message in ran.stderr.replace("\n", " ")
    # One task alone, or the numbers that were recorded, are no mixture.
    assert (TOGETHER in ran.stderr) == (TOGETHER in message)


def test_metrics_score_the_samples_of_a_folder_again() -> None:
    # The same steps as in the task's YAML: without thousands, dollars, the work and a full stop.
    steps = r"exact_match(regexes_to_ignore=[',', '\\$', '(?s).*#### ', '\\.$'], ignore_case=True)"
    result = document("compare", LM_EVAL, "-m", steps, "--where", "task=sums")
    for model in MODELS:
        recorded = results(model, "sums")["exact_match,strict-match"]
        assert result["scores"][model]["exact_match"]["score"] == pytest.approx(recorded)


def test_other_metrics_may_stand_beside_what_was_recorded() -> None:
    facts = ["--where", "task=facts"]
    result = document("score", LM_EVAL / "small", "--as-recorded", "-m", "exact_match", *facts)
    # The likeliest choice is the prediction, so that exact match is acc.
    assert list(result["scores"]) == ["acc", "acc_norm", "exact_match"]
    assert result["scores"]["exact_match"] == result["scores"]["acc"]


def test_a_log_from_stdin_is_scored_without_that_note() -> None:
    (path,) = (LM_EVAL / "small").glob("samples_facts_*")
    ran = run("score", "-", "-m", "exact_match", *JSON, stdin=path.read_text("utf-8"))
    assert (ran.exit_code, ran.stderr) == (0, "")
    scores = json.loads(ran.stdout)["scores"]
    assert scores["exact_match"]["score"] == results("small", "facts")["acc,none"]


def test_the_mean_over_several_tasks_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(LOGS / "lm_eval" / "small", folder)
    (folder / next(folder.glob("samples_votes_*")).name).unlink()
    ran = run("score", str(folder), "--as-recorded")
    assert ran.exit_code == 0, ran.output
    assert (
        "acc is the mean over the samples of last_word and mass; to choose one: where "
        "task=last_word" in ran.stderr
    )


def test_tasks_and_numbers_that_one_system_lacks_are_left_out_and_named(tmp_path: Path) -> None:
    shutil.copytree(LM_EVAL, tmp_path / "logs")
    next((tmp_path / "logs" / "small").glob("samples_sums_*")).unlink()
    log = next((tmp_path / "logs" / "small").glob("samples_facts_*"))
    rows = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    for row in rows:
        row["metrics"] = ["acc"]
    log.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    ran = run("compare", str(tmp_path / "logs"), "--as-recorded", *JSON)
    assert list(json.loads(ran.stdout)["scores"]["large"]) == ["acc"]
    assert "left out tasks that not all systems have: sums" in ran.stderr
    assert "left out numbers that not all systems have: acc_norm" in ran.stderr


def test_tasks_are_a_column_for_keys_and_groups() -> None:
    folder = LM_EVAL / "small"
    strict = ["--where", "task=sums", "--where", "filter=strict-match"]
    keys = ["--key", "task", "--key", "id"]
    result = document("compare", LM_EVAL, "--as-recorded", *strict, *keys)
    assert result["samples"] == 24
    groups = run("score", str(folder), "--as-recorded", "--by", "task", "--format", "csv")
    rows = {row["metric"]: row for row in csv.DictReader(groups.stdout.splitlines())}
    assert float(rows["acc"]["task=facts"]) == results("small", "facts")["acc,none"]


def test_systems_without_a_task_or_a_number_in_common_are_refused(tmp_path: Path) -> None:
    shutil.copytree(LM_EVAL, tmp_path / "logs")
    next((tmp_path / "logs" / "small").glob("samples_sums_*")).unlink()
    next((tmp_path / "logs" / "large").glob("samples_facts_*")).unlink()
    error = refused("compare", tmp_path / "logs", "--as-recorded")
    assert "the systems have no task in common (large: sums; small: facts)" in error
    both = ["--where", "task=sums", "--where", "model=small"]
    error = refused("score", tmp_path / "logs", "--as-recorded", *both)
    assert "the systems have no such logs (large: sums; small: facts)" in error


def test_a_later_log_of_the_same_model_and_task_counts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(LM_EVAL / "small", tmp_path / "small")
    for path in (tmp_path / "small").glob("samples_facts_*"):
        path.write_bytes(next((LM_EVAL / "large").glob("samples_facts_*")).read_bytes())
    for path in (LM_EVAL / "small").iterdir():
        name = path.name.replace("2026-11-25T", "2026-11-26T")
        (tmp_path / "small" / name).write_bytes(path.read_bytes())
    result = document("score", tmp_path, "--as-recorded")
    assert result["scores"]["acc"]["score"] == results("small", "facts")["acc,none"]
    assert "is left out, as" in caplog.text
    assert "is a later log of small about facts" in caplog.text


def test_logs_that_name_no_model_are_systems_by_their_paths(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        shutil.copy(LOGS / "ragas_results.jsonl", tmp_path / name)
    result = document("compare", tmp_path, "--as-recorded")
    assert list(result["scores"]) == ["one", "two"]
    shutil.copy(next((LM_EVAL / "large").glob("samples_facts_*")), tmp_path)
    error = refused("compare", tmp_path, "--as-recorded")
    assert "one/ragas_results.jsonl: ragas_results.jsonl; " in error


def test_what_is_no_log_has_to_name_its_column(tmp_path: Path) -> None:
    path = tmp_path / "plain.jsonl"
    path.write_text('{"acc": 1}\n', encoding="utf-8")
    saved = tmp_path / "saved.json"
    Hub("recorded(column='acc')").evaluate(acc=[1, 0]).save(saved)
    for file, what in {
        path: "isn't a log",
        saved: "isn't a log",
        "-": "isn't a file on this machine, as logs have to be",
        "hf://acme/data": "isn't a file on this machine, as logs have to be",
    }.items():
        error = refused("score", file, "--as-recorded")
        assert f"{file} {what} (metrichub reads those of deepeval, " in error
        assert "name the column of numbers: -m \"recorded(column='acc')\"" in error
    error = refused("score", tmp_path, "--as-recorded")
    assert f"there are no logs in {tmp_path} (metrichub reads those of deepeval, " in error


def test_a_metric_called_like_recorded_numbers_needs_another_name() -> None:
    sums = ["score", str(LM_EVAL / "small"), "--where", "task=sums", "--as-recorded"]
    for spec in ("exact_match(gsm8k)", "exact_match = exact_match(gsm8k)"):
        error = refused(*sums, "-m", spec)
        assert "two metrics are called 'exact_match'; name one of them: " in error
    result = document(*sums, "-m", "mine = exact_match(gsm8k)")
    assert list(result["scores"]) == ["exact_match", "mine"]


def test_other_files_in_a_folder_and_hidden_ones_are_passed_over(tmp_path: Path) -> None:
    shutil.copytree(LM_EVAL / "small", tmp_path / "small")
    pyarrow.parquet.write_table(pyarrow.table({"a": [1]}), tmp_path / "a.parquet")
    (tmp_path / "settings.json").write_text('{"a": 1}', encoding="utf-8")
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    shutil.copytree(LM_EVAL / "large", tmp_path / ".cache")
    result = document("score", tmp_path, "--as-recorded")
    assert result["scores"]["acc"]["score"] == results("small", "facts")["acc,none"]


def inspect_log(**changes: Any) -> str:
    """The JSON log of a sum by large; it has two samples, and inspect says that one is right."""
    samples = [
        {"id": n, "epoch": 1, "input": "1 + 1?", "target": "2", "scores": {"match": {"value": v}}}
        for n, v in enumerate("CI")
    ]
    score = {"name": "match", "scorer": "match", "metrics": {"accuracy": {"value": 0.5}}}
    about = {"task": "add", "dataset": {}, "model": "large"}
    log = {"status": "success", "eval": about, "results": {"scores": [score]}, "samples": samples}
    return json.dumps(log | changes)


ARCHIVE = (LOGS / "capitals.eval").read_bytes()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("damaged.jsonl", b"{", "damaged.jsonl:1: broken JSON"),
        ("empty.json", b"", "empty.json: the file is empty"),
        ("cut.json", b'{"status": ', "cut.json:1: broken JSON"),
        ("cut.eval", ARCHIVE[:9000], "cut.eval: this isn't a readable inspect log"),
        ("cancelled.json", inspect_log(samples=[], status="cancelled").encode(), "no samples"),
        # The later log of the same task: the one that can be read counts.
        ("z.json", inspect_log(samples=None, status="error").encode(), "(status: error)"),
        ("table.csv", b"a,a\n1,2\n", "table.csv:1: two columns are called 'a'"),
        ("row.json", inspect_log(samples=[{"id": 1, "epoch": 1}, 7]).encode(), "row.json: "),
    ],
)
def test_a_log_that_cannot_be_read_is_left_out_of_its_folder(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    good, bad = tmp_path / "good.json", tmp_path / name
    good.write_text(inspect_log(), encoding="utf-8")
    bad.write_bytes(content)
    for options in (["--as-recorded"], ["-m", "recorded(column='match')"]):
        ran = run("score", str(tmp_path), *options, *JSON)
        assert ran.exit_code == 0, ran.stderr
        assert json.loads(ran.stdout)["scores"] == {"match": {"score": 0.5}}
        assert f"note: left out {bad}" in ran.stderr
        assert reason in ran.stderr
    # Alone, or by its name, it is an error.
    assert reason in run("score", str(bad), "--as-recorded").stderr
    good.unlink()
    assert run("score", str(tmp_path), "--as-recorded").exit_code != 0


def test_damage_that_shows_late_leaves_a_log_out_of_a_folder_alone(tmp_path: Path) -> None:
    content = bytearray(ARCHIVE)
    start = ARCHIVE.index(b"samples/a_epoch_1.json") + 30
    content[start : start + 40] = bytes(40)
    bad, good = tmp_path / "bad.eval", tmp_path / "good.json"
    bad.write_bytes(content)
    good.write_text(inspect_log(), encoding="utf-8")
    ran = run("score", str(tmp_path), "--as-recorded", *JSON)
    assert (ran.exit_code, json.loads(ran.stdout)["samples"]) == (0, 2)
    assert f"left out {bad}: its member samples/a_epoch_1.json can't be read" in ran.stderr
    ran = run("compare", str(bad), str(good), "--as-recorded")
    assert ran.exit_code == 3
    assert "can't be read" in ran.stderr


def test_what_a_harness_reports_and_its_samples_do_not_give_is_said(tmp_path: Path) -> None:
    ran = run("score", str(LOGS / "lm_eval_old"), "--as-recorded")
    assert (
        "samples_roll_2026-11-29T00-29-24.185339.jsonl: it has no recorded numbers (no mean over "
        "samples: word_perplexity and bits_per_byte)" in ran.stderr
    )
    for task, metric in {"mc": "mcc", "two": "bleu"}.items():
        text = f"samples_{task}_2026-11-29T00-29-24.185339.jsonl: left out what isn't a mean over "
        assert f"{text}samples: {metric}" in ran.stderr
    path = tmp_path / "log.json"
    metrics = {"worst": {"value": 0.25}, "stderr": {"value": 0.1}}
    score = {"name": "match", "scorer": "match", "metrics": metrics}
    path.write_text(inspect_log(results={"scores": [score]}), encoding="utf-8")
    ran = run("score", str(path), "--as-recorded")
    text = f"{path}: the mean of match is 0.5, but the log reports worst 0.25 and stderr 0.1"
    assert text in ran.stderr
    path.write_text(inspect_log(), encoding="utf-8")
    assert run("score", str(path), "--as-recorded").stderr == ""


def test_numbers_of_epochs_are_one_a_sample_and_metrics_score_each() -> None:
    path = LOGS / "epochs.eval"
    result = document("score", path, "--as-recorded")
    assert (result["samples"], result["scores"]["match_mode"]) == (4, {"score": 0.25})
    both = document("score", path, "--as-recorded", "-m", "mine = exact_match")
    assert both["samples"] == 12
    assert both["scores"]["match_mode"] == {"score": 0.25}
    assert both["counts"]["match_mode"] == {"unscored": 8}


def test_logs_with_and_without_epochs_have_no_numbers_in_common(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    about = {"task": "epochs", "dataset": {}, "model": "large"}
    path.write_text(inspect_log(eval=about), encoding="utf-8")
    error = refused("compare", f"a={path}", f"b={LOGS / 'epochs.eval'}", "--as-recorded")
    assert "the systems have no recorded numbers in common (a: match; b: match.mean, " in error


def test_tasks_whose_samples_all_failed_are_left_out_and_named(tmp_path: Path) -> None:
    failed = [{"id": 1, "epoch": 1, "input": "?", "target": "2", "error": {"message": "no"}}]
    about = {"task": "failed", "dataset": {}, "model": "large"}
    log = inspect_log(samples=failed, eval=about)
    (tmp_path / "failed.json").write_text(log, encoding="utf-8")
    (tmp_path / "good.json").write_text(inspect_log(), encoding="utf-8")
    ran = run("score", str(tmp_path), "--as-recorded", *JSON)
    assert json.loads(ran.stdout)["scores"] == {"match": {"score": 0.5}}
    assert "note: left out tasks without samples: failed" in ran.stderr


def test_samples_without_a_score_are_unscored(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    samples = [{"id": 1, "epoch": 1, "input": "?", "target": "2"}]
    nothing = {"accuracy": {"value": float("nan")}, "worst": {"value": None}}
    results = {"scores": [{"name": "match", "scorer": "match", "metrics": nothing}]}
    path.write_text(inspect_log(samples=samples, results=results), encoding="utf-8")
    ran = run("score", str(path), "--as-recorded")
    assert ran.stderr == "metrichub: note: match: 1 unscored: no match is recorded\n"


def test_warnings_of_readers_are_notes_that_are_printed_once() -> None:
    for verbose in ([], ["--verbose"]):
        ran = run("compare", str(LOGS / "promptfoo.json"), "--as-recorded", *verbose)
        lines = [line for line in ran.stderr.splitlines() if "ended in an error" in line]
        assert len(lines) == 1
        assert lines[0].startswith("metrichub: note: ")


def test_a_file_with_several_systems_is_several_systems() -> None:
    path = LOGS / "promptfoo.json"
    result = document("compare", path, "--as-recorded")
    assert [result["scores"][name]["success"]["score"] for name in MODELS] == [1, 0]
    scored = document("score", path, "-m", "exact_match")["systems"]
    assert [scored[name]["scores"]["exact_match"]["score"] for name in MODELS] == [1, 0]
    for condition in ("provider=small", "promptIdx=0", "model=small"):
        scores = document("score", path, "-m", "exact_match", "--where", condition)
        assert scores["scores"]["exact_match"]["score"] == 0
    # A condition on samples applies to each system.
    result = document("compare", path, "-m", "exact_match", "--where", "city=Rome")
    assert result["samples"] == 1


@pytest.mark.parametrize("folder", ["inspect", "lighteval"])
def test_folders_of_other_tools_are_compared(folder: str) -> None:
    result = document("compare", LOGS / folder, "--as-recorded")
    assert list(result["scores"]) == ["large", "small"]


def test_a_direction_that_one_log_shows_holds_for_the_other(tmp_path: Path) -> None:
    run_of = json.loads((LOGS / "deepeval_test_run.json").read_text("utf-8"))
    (tmp_path / "a.json").write_text(json.dumps(run_of), encoding="utf-8")
    for case in run_of["testCases"]:
        # At its threshold, a score shows no direction.
        case["metricsData"][0] |= {"score": 1.0, "success": True}
    (tmp_path / "b.json").write_text(json.dumps(run_of), encoding="utf-8")
    result = document("compare", tmp_path, "--as-recorded")
    assert result["ranks"]["Exact_Match"]["score"] == {"a": 1, "b": 1}


def test_conditions_on_a_log_choose_the_rows_that_its_reader_sees() -> None:
    log = LOGS / "samples_many.jsonl"
    several = "each filter has separate scores, so 'none' and 'strict' can't be scored together"
    with pytest.raises(FileError, match=several):
        read(log, where={"filter": ["none", "strict"]})
    assert read(log, where={"filter": ["strict", "other"]})["id"] == [0, 1, 2]
    strict = read(log, where={"filter": "strict"})
    assert set(strict["filter"]) == {"strict"}
    assert strict["id"] == [0, 1, 2]
    # Columns of the reader can be used, too.
    assert read(log, where={"filter": "strict", "id": "2"})["id"] == [2]
