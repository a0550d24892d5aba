"""What harnesses recorded of each sample comes out as they recorded it, with its interval."""

from __future__ import annotations

import json
import logging
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
import pyarrow
import pyarrow.parquet
import pytest

from metrichub import FileError, Hub, Report, load_metric, read
from metrichub.bridges.inspect_logs import Archive
from metrichub.data.files import read_log
from metrichub.data.readers import Log

FOLDER = Path(__file__).parent / "logs"
LM_EVAL = FOLDER / "lm_eval" / "small"


def only(pattern: str, folder: Path = FOLDER) -> Path:
    (path,) = folder.glob(pattern)
    return path


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def described(path: Path) -> Log:
    log = read_log(path)
    assert log is not None
    return log


def recorded(path: Path, column: str, where: Mapping[str, str | Sequence[str]] | None) -> Report:
    """The report of a column, as the log describes it."""
    metric = load_metric("recorded", column=column, **described(path).recorded[column])
    return Hub(metric).evaluate(read(path, where=where))


@pytest.mark.parametrize(
    ("task", "column", "filter"),
    [
        ("last_word", "acc", "none"),
        ("mass", "acc", "none"),
        ("votes", "exact_match", "maj"),
        ("votes", "exact_match", "all"),
    ],
)
def test_numbers_of_lm_eval_and_their_mean(task: str, column: str, filter: str) -> None:
    path = only(f"samples_{task}_*.jsonl", LM_EVAL)
    report = recorded(path, column, {"filter": filter})
    numbers = [row[column] for row in rows(path) if row["filter"] == filter]
    assert report.samples()[column]["score"].tolist() == numbers
    results = json.loads(only("results_*.json", LM_EVAL).read_text("utf-8"))["results"]
    mean = results[task][f"{column},{filter}"]
    assert report[column]["score"] == pytest.approx(mean, rel=1e-12)


# What inspect makes of its letters: correct, incorrect, partial, no answer.
LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


def samples_of(path: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """What inspect recorded of each sample, by id and epoch: scorer -> value."""
    with path.open("rb") as file, zipfile.ZipFile(file) as names:
        archive = Archive(file, path.name)
        results = [archive.sample(name) for name in names.namelist() if name.startswith("samples/")]
    return {
        (str(sample["id"]), sample["epoch"]): {n: s["value"] for n, s in sample["scores"].items()}
        for sample in results
    }


@pytest.mark.parametrize(
    ("log", "column", "scorer", "key", "metric"),
    [
        ("inspect/*_choices_VH6*.eval", "score.choice", "choice", None, "accuracy"),
        ("inspect/*_choices_SKe*.eval", "score.choice", "choice", None, "accuracy"),
        ("inspect/*_open_PLZ*.eval", "match", "match", None, "accuracy"),
        ("inspect/*_open_PLZ*.eval", "verdict", "verdict", None, "accuracy"),
        ("inspect/*_open_PLZ*.eval", "length.words", "length", "words", "mean"),
        ("inspect/*_open_hie*.eval", "length.short", "length", "short", "mean"),
        ("inspect/*_open_hie*.eval", "verdict", "verdict", None, "accuracy"),
    ],
)
def test_numbers_of_inspect_and_their_mean(
    log: str, column: str, scorer: str, key: str | None, metric: str
) -> None:
    path = only(log)
    samples = read(path)
    by_sample = samples_of(path)
    ids = zip(map(str, samples["id"]), samples["epoch"], strict=True)
    values = [by_sample[name][scorer] for name in ids]
    values = [value if key is None else value[key] for value in values]
    report = recorded(path, column, None)
    (name,) = report.results
    assert report.samples()[name]["score"].tolist() == [LETTERS.get(v, v) for v in values]
    with path.open("rb") as file:
        results = Archive(file, path.name).sample("header.json")["results"]["scores"]
    (mean,) = (
        score["metrics"][metric]["value"]
        for score in results
        if (score["scorer"], score["name"]) == (scorer, key or scorer)
    )
    assert report[name]["score"] == pytest.approx(mean, rel=1e-12)


def test_what_reducers_of_inspect_make_of_epochs_and_its_mean() -> None:
    path = FOLDER / "epochs.eval"
    with path.open("rb") as file:
        results = Archive(file, path.name).sample("header.json")["results"]["scores"]
    # Four samples, of which 0, 1, 2 and 1 of three epochs are right, as inspect's log reports them.
    by_reducer = {(score["name"], score["reducer"]): score["metrics"] for score in results}
    reducers = ("mean", "mode", "max", "median", "at_least_2", "pass_at_2")
    accuracies = [by_reducer["match", reducer]["accuracy"]["value"] for reducer in reducers]
    assert accuracies == pytest.approx([1 / 3, 1 / 4, 3 / 4, 1 / 4, 1 / 4, 7 / 12])
    samples = read(path)
    assert samples["epoch"] == [1] * 4 + [2] * 4 + [3] * 4
    assert sum(samples["match"]) == 4
    assert len(described(path).recorded) == 18
    scorers = (("match", "match", "accuracy"), ("facts.len", "len", "mean"))
    for column, name, metric in (*scorers, ("facts.grade", "grade", "accuracy")):
        for reducer in reducers:
            (result,) = recorded(path, f"{column}.{reducer}", None).results.values()
            expected = by_reducer[name, reducer][metric]["value"]
            assert result.scores()["score"] == pytest.approx(expected, rel=1e-12)
            assert result.count == 4


def test_what_inspect_says_of_its_numbers() -> None:
    log = described(only("inspect/*_open_PLZ*.eval"))
    assert (log.model, log.task) == ("mockllm/small", "open")
    accuracy = {"better": "higher"}
    lengths: dict[str, Any] = {"length.words": {}, "length.short": {}}
    assert log.recorded == {"match": accuracy, "verdict": accuracy, **lengths}
    # The scorer is called choice, which would be taken for the choices of a question.
    choices = described(only("inspect/*_choices_VH6*.eval"))
    assert list(choices.recorded) == ["score.choice"]


def test_letters_of_choices_are_read_again_by_an_extraction() -> None:
    path = only("inspect/*_choices_VH6*.eval")
    samples = read(path)
    assert samples["choices"][0] == ["moo", "woof", "meow"]
    hub = Hub("exact_match", extract="inspect-letter")
    # inspect's choice wants both letters of the question with two; one is enough here.
    assert hub.evaluate(samples).samples()["exact_match"]["score"].tolist() == [1, 1, 1]
    assert samples["score.choice"] == [True, False, True]


def test_what_lm_eval_says_of_its_numbers() -> None:
    words = described(only("samples_last_word_*.jsonl", LM_EVAL))
    assert (words.reader, words.model, words.task) == ("lm_eval", "small", "last_word")
    # Perplexity isn't a mean over samples.
    assert words.recorded == {"acc": {"better": "higher", "share": True}}
    # The task's own function records a probability as acc; answers are asked for three times.
    for task, column in (("mass", "acc"), ("votes", "exact_match")):
        log = described(only(f"samples_{task}_*.jsonl", LM_EVAL))
        assert log.recorded == {column: {"better": "higher"}}


def test_a_log_of_lm_eval_without_its_results_says_less(tmp_path: Path) -> None:
    source = only("samples_last_word_*.jsonl", LM_EVAL)
    path = tmp_path / "model" / source.name
    path.parent.mkdir()
    path.write_bytes(source.read_bytes())
    log = described(path)
    assert (log.model, log.task) == ("model", "last_word")
    assert log.recorded == {"acc": {"better": "higher"}}
    plain = path.rename(tmp_path / "mine.jsonl")
    log = described(plain)
    assert (log.model, log.task, list(log.recorded)) == (None, None, ["acc"])
    path.with_name(only("results_*.json", LM_EVAL).name).write_text("[", encoding="utf-8")
    assert list(described(plain.rename(path)).recorded) == ["acc"]


def test_the_choices_of_lm_eval_can_be_scored_again() -> None:
    samples = read(FOLDER / "samples_choices.jsonl")
    first = rows(FOLDER / "samples_choices.jsonl")[0]
    assert samples["choices"][0] == [pair[1].strip() for pair in pairs(first)]
    likelihoods = [float(pair[0]) for pair in first["filtered_resps"]]
    assert samples["likelihoods"][0] == likelihoods
    assert samples["predictions"][0] == samples["choices"][0][likelihoods.index(max(likelihoods))]
    scores = Hub("exact_match").evaluate(samples).samples()["exact_match"]["score"]
    assert scores.tolist() == samples["acc"]


def pairs(row: Mapping[str, Any]) -> list[list[Any]]:
    return [list(request.values()) for request in row["arguments"].values()]


def test_one_likelihood_a_sample_has_no_predictions() -> None:
    samples = read(only("samples_last_word_*.jsonl", LM_EVAL))
    assert "predictions" not in samples
    assert samples["references"] == [" mat", " spring", " late"]


@pytest.mark.parametrize(
    ("requests", "choices", "prediction"),
    [
        # As Winogrande asks: the choice stands in the context, and what follows is the same.
        (
            {("The cup", " is too large."): -2.0, ("The box", " is too large."): -1.0},
            ["The cup", "The box"],
            "The box",
        ),
        # For acc_mutual_info, each choice is asked for again without the question.
        (
            {("Is it?", " yes"): -2.0, ("Is it?", " no"): -1.0, ("", " yes"): -0.1, ("", " no"): 0},
            ["yes", "no"],
            "no",
        ),
    ],
)
def test_choices_of_lm_eval_are_read_from_its_requests(
    tmp_path: Path, requests: dict[tuple[str, str], float], choices: list[str], prediction: str
) -> None:
    row = rows(FOLDER / "samples_choices.jsonl")[0] | {"target": "1"}
    row["arguments"] = [list(request) for request in requests]
    row["filtered_resps"] = [[str(likelihood), "False"] for likelihood in requests.values()]
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")
    samples = read(path)
    assert samples["choices"] == [choices]
    assert samples["predictions"] == samples["references"] == [prediction]
    assert len(samples["likelihoods"][0]) == 2


def test_answers_in_which_a_filter_finds_nothing_are_empty() -> None:
    path = only("samples_votes_*.jsonl", LM_EVAL)
    samples = read(path, where={"filter": "maj"})
    recorded = [row["filtered_resps"][0] for row in rows(path) if row["filter"] == "maj"]
    assert "[invalid]" in recorded
    assert samples["predictions"] == ["" if text == "[invalid]" else text for text in recorded]
    # The whole replies are beside what the filter left.
    assert [len(replies) for replies in samples["resps"]] == [3] * 6


HELM = FOLDER / "helm" / "simple_mcqa"


def statistics() -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = json.loads((HELM / "per_instance_stats.json").read_text())
    return content


def helm_run(folder: Path, states: Any, stats: Any) -> Path:
    """The run of HELM with other requests and statistics."""
    folder.mkdir()
    content = json.loads((HELM / "scenario_state.json").read_text("utf-8"))
    path = folder / "scenario_state.json"
    path.write_text(json.dumps(content | {"request_states": states}), encoding="utf-8")
    (folder / "per_instance_stats.json").write_text(json.dumps(stats), encoding="utf-8")
    return path


def test_numbers_of_helm_and_their_mean() -> None:
    path = HELM / "scenario_state.json"
    names = list(described(path).recorded)
    # Each kind of exact match, and the same over five completions; no counts, times or costs.
    kinds = ("exact", "quasi_exact", "prefix_exact", "quasi_prefix_exact")
    assert names == [f"{kind}_match{at}" for kind in kinds for at in ("", "@5")]
    for name in names:
        report = recorded(path, name, None)
        (metric,) = report.results
        means = [
            stat["mean"]
            for instance in statistics()
            for stat in instance["stats"]
            if stat["name"]["name"] == name
        ]
        assert report.samples()[metric]["score"].tolist() == means
        # As the stats.json of the same run has it for each of them.
        assert report[metric]["score"] == 0.5
        assert report.intervals()[metric]["score"].method == "Wilson"


def test_what_helm_says_of_a_run_and_its_samples(tmp_path: Path) -> None:
    path = HELM / "scenario_state.json"
    log = described(path)
    assert (log.reader, log.model, log.task) == ("helm", "canned/large", "simple_mcqa")
    # HELM names the folder of a run so; not every file system allows it in a repository.
    states = json.loads(path.read_text("utf-8"))["request_states"]
    run = helm_run(tmp_path / "mmlu:subject=anatomy,model=canned_large,k=5", states, statistics())
    assert described(run).task == "mmlu:subject=anatomy,k=5"
    samples = read(path)
    assert samples["id"] == ["id60", "id38"]
    # A letter stands for its choice; " I think A" isn't a letter.
    assert samples["predictions"] == ["Even", " I think A"]
    assert samples["references"] == [["Even"], ["Even"]]
    assert samples["choices"] == [["Even", "Odd"]] * 2
    assert Hub("exact_match")(samples)["exact_match"]["score"] == 0.5


def test_perturbed_samples_of_helm_are_left_out(tmp_path: Path) -> None:
    states = json.loads((HELM / "scenario_state.json").read_text("utf-8"))["request_states"]
    stats = statistics()
    states[0]["instance"]["perturbation"] = stats[0]["perturbation"] = {"name": "typos"}
    # The same sample, as it was asked without typos, comes after it with numbers of its own.
    path = helm_run(tmp_path / "run", states, stats)
    assert read(path)["id"] == ["id38"]
    assert read(path)["exact_match"] == [0.0]


def split_run(folder: Path) -> Path:
    """A run whose second question is of the validation split, with the statistics of either."""
    states = json.loads((HELM / "scenario_state.json").read_text("utf-8"))["request_states"]
    states[1]["instance"]["split"] = "valid"
    # As it would be read if the order decided.
    path = helm_run(folder, states[::-1], statistics())
    means = [
        {"name": {"name": "exact_match", "split": split}, "count": 1, "mean": mean}
        for split, mean in {"valid": 0.0, "test": 1.0}.items()
    ]
    path.with_name("stats.json").write_text(json.dumps(means), encoding="utf-8")
    return path


def test_the_split_that_helm_reports_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = split_run(tmp_path / "run")
    # HELM's schemas report `main_split`: test where a run has it. The same holds in a run of MMLU
    # by GPT-2 (evaleval/every_eval_ever): .1111 of nine samples, beside one for validation.
    with caplog.at_level(logging.WARNING, "metrichub"):
        samples = read(path)
    assert (samples["id"], samples["split"], samples["exact_match"]) == (["id60"], ["test"], [1.0])
    assert "only samples of the split 'test' are read, as HELM reports it, not 1 of 'valid'" in (
        caplog.text
    )
    assert read(path, where={"split": "valid"})["exact_match"] == [0.0]
    with pytest.raises(FileError, match="each split has separate scores"):
        read(path, where={"split": ["test", "valid"]})
    assert described(path).reported == {"exact_match": {"mean": 1.0}}


def test_likelihoods_and_damaged_statistics_of_helm_are_one_line(tmp_path: Path) -> None:
    states = json.loads((HELM / "scenario_state.json").read_text("utf-8"))["request_states"]
    path = helm_run(tmp_path / "alone", [state | {"reference_index": 0} for state in states], [])
    with pytest.raises(FileError, match="asked for the likelihood of each choice separately"):
        read(path)
    path = helm_run(tmp_path / "damaged", states, [])
    path.with_name("per_instance_stats.json").write_text("[{", encoding="utf-8")
    with pytest.raises(FileError, match=r"per_instance_stats\.json beside it can't be read: "):
        read(path)
    path.with_name("per_instance_stats.json").unlink()
    assert described(path).recorded == {}
    assert read(path)["predictions"] == ["Even", " I think A"]


@pytest.mark.parametrize("name", ["ragas_results.jsonl", "ragas_results.csv"])
@pytest.mark.parametrize(
    ("column", "values"),
    # By the definitions of ragas: equal texts, one minus Levenshtein's share (it rains a lot: 6 of
    # 14 are added), and whether the reference is in the response.
    [
        ("exact_match", [1, 0, 0]),
        ("non_llm_string_similarity", [1, 1 - 6 / 14, 0]),
        ("string_present", [1, 1, 0]),
    ],
)
def test_numbers_of_ragas_and_their_mean(name: str, column: str, values: list[float]) -> None:
    path = FOLDER / name
    assert described(path).recorded[column] == {"better": "higher"}
    report = recorded(path, column, None)
    # ragas writes ten digits into its JSON Lines.
    assert report.samples()[column]["score"].tolist() == pytest.approx(values, abs=1e-9)
    assert report[column]["score"] == pytest.approx(sum(values) / 3, abs=1e-9)


def test_what_ragas_says_of_its_columns(tmp_path: Path) -> None:
    assert described(FOLDER / "ragas.jsonl").recorded == {}
    row = rows(FOLDER / "ragas_results.jsonl")[0]
    path = tmp_path / "r.jsonl"
    more = {"faithfulness": None, "rouge_score(mode=fmeasure)": 0.5, "maliciousness": 1}
    more |= {"noise_sensitivity(mode=relevant)": 0.1, "persona_name": None, "comment": "good"}
    path.write_text(json.dumps(row | more), encoding="utf-8")
    names = ["exact_match", "non_llm_string_similarity", "string_present"]
    higher, lower, unknown = {"better": "higher"}, {"better": "lower"}, dict[str, str]()
    # Whether a critic's 1 is good depends on what it looks for; comments aren't numbers.
    assert described(path).recorded == dict.fromkeys(names, higher) | {
        "faithfulness": higher,
        "rouge_score(mode=fmeasure)": higher,
        "maliciousness": unknown,
        "noise_sensitivity(mode=relevant)": lower,
    }


DEEPEVAL = FOLDER / "deepeval_test_run.json"


def test_numbers_of_deepeval_and_their_mean() -> None:
    run = json.loads(DEEPEVAL.read_text("utf-8"))
    (summary,) = run["metricsScores"]
    report = recorded(DEEPEVAL, summary["metric"], None)
    assert report.samples()["Exact_Match"]["score"].tolist() == summary["scores"]
    assert report["Exact_Match"]["score"] == summary["passes"] / 2
    success = recorded(DEEPEVAL, "success", None)
    assert success["success"]["score"] == run["testPassed"] / 2
    assert success.intervals()["success"]["score"].method == "Wilson"


def test_the_direction_of_a_metric_of_deepeval_is_what_its_verdicts_show(tmp_path: Path) -> None:
    run = json.loads(DEEPEVAL.read_text("utf-8"))
    metrics = [
        {"name": "Bias", "score": 0.75, "threshold": 0.5, "success": False},
        {"name": "Relevancy", "score": 0.75, "threshold": 0.5, "success": True},
        {"name": "At the threshold", "score": 0.5, "threshold": 0.5, "success": True},
        {"name": "Failed", "score": None, "threshold": 0.5, "success": False},
        {"name": "No verdict", "score": 0.75, "threshold": 0.5, "success": None},
    ]
    run["testCases"][0]["metricsData"] = metrics
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run), encoding="utf-8")
    better = {name: facts.get("better") for name, facts in described(path).recorded.items()}
    assert better == {
        "success": "higher",
        "Bias": "lower",
        "Relevancy": "higher",
        "At the threshold": None,
        "Failed": None,
        "No verdict": None,
        # Of the second case, whose score is at its threshold.
        "Exact Match": None,
    }
    assert read(path)["Failed"] == [None, None]
    assert described(FOLDER / "deepeval.jsonl").recorded == {}


LIGHTEVAL = FOLDER / "lighteval"


@pytest.mark.parametrize("model", ["small", "large"])
@pytest.mark.parametrize(("task", "columns"), [("facts", ["acc"]), ("sums", ["em", "f1"])])
def test_numbers_of_lighteval_and_their_mean(model: str, task: str, columns: list[str]) -> None:
    path = only(f"details/{model}/*/details_{task}_*.parquet", LIGHTEVAL)
    table = pyarrow.parquet.read_table(path).to_pylist()
    results = json.loads(only(f"results/{model}/*.json", LIGHTEVAL).read_text("utf-8"))["results"]
    for column in columns:
        report = recorded(path, column, None)
        values = [row["metric"][column] for row in table]
        assert report.samples()[column]["score"].tolist() == values
        assert report[column]["score"] == pytest.approx(results[f"{task}|0"][column], rel=1e-12)


def test_what_lighteval_says_of_its_numbers_and_samples() -> None:
    sums = only("details/small/*/details_sums_*.parquet", LIGHTEVAL)
    log = described(sums)
    assert (log.reader, log.model, log.task) == ("lighteval", "small", "sums|0")
    share = {"better": "higher", "share": True}
    assert log.recorded == {"em": share, "f1": {"better": "higher"}}
    samples = read(sums)
    scores = Hub("exact_match").evaluate(samples).samples()["exact_match"]["score"]
    assert scores.tolist() == samples["em"]
    facts = read(only("details/small/*/details_facts_*.parquet", LIGHTEVAL))
    assert facts["choices"][0] == ["in the east", "in the west", "at noon"]
    assert facts["likelihoods"][0] == [-2.5, -1.25, -5.0]
    scores = Hub("exact_match").evaluate(facts).samples()["exact_match"]["score"]
    assert scores.tolist() == facts["acc"]


def test_details_of_lighteval_elsewhere_say_less(tmp_path: Path) -> None:
    source = only("details/small/*/details_sums_*.parquet", LIGHTEVAL)
    path = tmp_path / "mine.parquet"
    path.write_bytes(source.read_bytes())
    log = described(path)
    assert (log.model, log.task) == (None, "sums|0")
    assert log.recorded == {"em": {}, "f1": {}}


def test_metrics_of_lighteval_that_are_no_mean_are_left_out(tmp_path: Path) -> None:
    source = only("details/small/*/details_sums_*.parquet", LIGHTEVAL)
    path = tmp_path / "details" / "org" / "model" / "then" / "details_sums_then.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes(source.read_bytes())
    group = {
        "metric_name": ["em", "f1"],
        "sample_level_fn": "ExactMatches(aggregation_function=max, …)",
        "corpus_level_fn": {"em": "mean", "f1": "max"},
        "higher_is_better": {"em": False, "f1": True},
    }
    results = tmp_path / "results" / "org" / "model" / "results_then.json"
    results.parent.mkdir(parents=True)
    results.write_text(json.dumps({"config_tasks": {"sums|0": {"metrics": [group]}}}))
    log = described(path)
    assert log.model == "org/model"
    assert log.recorded == {"em": {"better": "lower", "share": True}}
    results.write_text("[", encoding="utf-8")
    assert list(described(path).recorded) == ["em", "f1"]


def test_several_replies_and_several_gold_answers_of_lighteval(tmp_path: Path) -> None:
    source = only("details/small/*/details_sums_*.parquet", LIGHTEVAL)
    row = pyarrow.parquet.read_table(source).to_pylist()[0]
    row["doc"] |= {"choices": ["45", "forty-five", "44"], "gold_index": [0, 1]}
    row["model_response"] |= {
        "text": ["<think>hm</think>45", "44"],
        "text_post_processed": ["45", "44"],
    }
    path = tmp_path / "d.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    samples = read(path)
    assert samples["predictions"] == [["45", "44"]]
    assert samples["resps"] == [["<think>hm</think>45", "44"]]
    assert samples["references"] == [["45", "forty-five"]]


PROMPTFOO = FOLDER / "promptfoo.json"


def promptfoo() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(PROMPTFOO.read_text("utf-8"))
    return content


@pytest.mark.parametrize("column", ["success", "score", "exact", "named"])
def test_numbers_of_promptfoo_and_its_sums(column: str) -> None:
    log = described(PROMPTFOO)
    metric = load_metric("recorded", column=column, **log.recorded[column])
    assert list(log.systems) == ["small", "large"]
    for place, where in enumerate(log.systems.values()):
        report = Hub(metric).evaluate(read(PROMPTFOO, where=where))
        recorded = [
            result.get(column, result["namedScores"].get(column))
            for result in sorted(promptfoo()["results"]["results"], key=lambda r: r["testIdx"])
            if result["promptIdx"] == place
        ]
        (name,) = report.results
        scores = report.samples()[name]["score"]
        numpy.testing.assert_array_equal(scores, [numpy.nan if n is None else n for n in recorded])
        # promptfoo sums up for each system.
        sums = promptfoo()["results"]["prompts"][place]["metrics"]
        total = {"success": sums["testPassCount"], "score": sums["score"], **sums["namedScores"]}
        count = {"success": 3, "score": 3, **sums["namedScoresCount"]}
        assert report[name]["score"] == pytest.approx(total[column] / count[column])


def test_results_of_promptfoo_are_samples_of_each_system(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "metrichub"):
        small, large = (read(PROMPTFOO, where={"provider": name}) for name in ("small", "large"))
    assert "1 of 6 results ended in an error; their replies are empty" in caplog.text
    assert small["predictions"] == ["The capital is Graz.", "I think Tokyo", ""]
    assert large["predictions"] == ["Vienna", "Tokyo", "Rome"]
    for samples in (small, large):
        assert samples["country"] == ["Austria", "Japan", "Italy"]
        assert samples["references"] == [["Vienna"], ["Tokyo"], ["Rome"]]
        assert samples["questions"][1] == "What is the capital of Japan?"
        exact = Hub("exact_match").evaluate(samples).samples()["exact_match"]["score"]
        assert exact.tolist() == [value or 0 for value in samples["exact"]]


def test_several_prompts_of_a_provider_are_several_systems(tmp_path: Path) -> None:
    content = promptfoo()
    for prompt in content["results"]["prompts"]:
        prompt["provider"] = "small"
    path = tmp_path / "results.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert described(path).systems == {
        "small, prompt 1": {"provider": "small", "promptIdx": "0"},
        "small, prompt 2": {"provider": "small", "promptIdx": "1"},
    }


def test_vars_of_promptfoo_with_known_names_are_these_columns(tmp_path: Path) -> None:
    content = promptfoo()
    for result in content["results"]["results"]:
        result["vars"] = {"question": "Capital?", "expected": "a", "output": "b", "context": ["c"]}
        result["namedScores"] = {"answer": 1}
        result["response"] = {"output": {"city": "Graz"}}
    path = tmp_path / "results.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    samples = read(path)
    assert not samples.keys() & {"questions", "references"}
    assert (samples["question"][0], samples["expected"][0]) == ("Capital?", "a")
    assert samples["predictions"][0] == '{"city": "Graz"}'
    # A score with the name of a text isn't taken for one.
    assert "score.answer" in described(path).recorded
    assert samples["score.answer"][0] == 1


def test_lines_of_promptfoo_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps(promptfoo()["results"]["results"][0]), encoding="utf-8")
    with pytest.raises(FileError, match="JSON Lines of promptfoo mix the results of all providers"):
        read(path)
