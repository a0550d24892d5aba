"""The options of judges on the command line, and `metrichub cache`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests import commands
from tests.batch_stub import serve
from tests.commands import JSON, error, run, scored, write
from tests.judge_stub import Stub, failure
from tests.judge_toys import spec

RULES = ("--judge", "offline", "-m", "faithfulness")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: None) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("METRICHUB_JUDGE", raising=False)
    # The stub calls every claim with the word "unsupported" unsupported.
    rows = [
        {"id": name, "answer": f"Claim {name}. This is unsupported.", "contexts": [f"Of {name}."]}
        for name in ("x", "y")
    ]
    write("in.jsonl", rows)


def test_one_judge_is_for_all_metrics_that_name_none(stub: Stub) -> None:
    mixed = ("-m", "faithfulness", "-m", "rules = faithfulness(judge='offline')")
    scores = scored("in.jsonl", *mixed, "--judge", spec(stub))
    assert scores["scores"]["faithfulness"] == {"score": 0.5}
    # By rules it is one claim, as "x." looks like an initial. Of "claim", "x" and "unsupported" the
    # passage has one, which is two thirds of the share, and of the pairs of words none.
    assert scores["scores"]["rules"] == {"score": pytest.approx(2 / 3 * 1 / 3)}
    assert scores["usage"] | {"seconds": 0} == {
        **{"calls": 4, "cached": 0, "prompt_tokens": 40, "completion_tokens": 12},
        **{"money": None, "seconds": 0, "requests": 4, "models": {"stub": {"stub": 4}}},
    }


def test_an_embedder_is_for_all_too(stub: Stub) -> None:
    write("in.jsonl", [{"prediction": "a b", "reference": "a b"}])
    signed = ("-m", "semantic_similarity", "--signature")
    scores = scored("in.jsonl", *signed, "--embedder", "offline(dimensions=64)")
    assert "dimensions=64" in scores["signatures"]["semantic_similarity"]
    assert "a baseline" in scores["notes"]["semantic_similarity"][0]


def test_an_estimate_says_what_would_be_asked_and_asks_nothing(stub: Stub) -> None:
    judge = spec(stub, prices=[1.0, 1.0])
    estimate = scored("in.jsonl", "-m", "faithfulness", "--judge", judge, "--estimate")["estimate"]
    assert not stub.asked
    assert (estimate["in.jsonl"]["calls"], estimate["in.jsonl"]["cached"]) == (4, 0)
    tokens = estimate["in.jsonl"]["prompt_tokens"] + estimate["in.jsonl"]["completion_tokens"]
    assert estimate["in.jsonl"]["money"] == pytest.approx(tokens / 1e6)
    asked = scored("in.jsonl", "-m", "faithfulness", "--judge", judge)
    assert asked["usage"]["calls"] == 4
    table = run(
        *("score", "in.jsonl", "-m", "faithfulness", "--judge", spec(stub)),
        *("--estimate", "--format", "table", "--repeats", "2"),
    )
    assert "retries come on top" in table.stderr
    # The first of the two runs was made before.
    assert table.stdout.splitlines()[1].split()[:3] == ["in.jsonl", "4", "4"]


def test_an_estimate_of_bad_data_names_the_place(stub: Stub) -> None:
    write("in.jsonl", [{"answer": None, "contexts": ["a"]}])
    result = run("score", "in.jsonl", "-m", "faithfulness", "--judge", spec(stub), "--estimate")
    assert "in.jsonl:1" in error(result, 3)


def test_repeats_say_how_far_the_runs_lie_apart(stub: Stub) -> None:
    scores = scored("in.jsonl", "-m", "faithfulness", "--judge", spec(stub), "--repeats", "3")
    assert scores["usage"]["calls"] == 12
    assert scores["repeated"]["faithfulness"]["score"]["runs"] == [0.5, 0.5, 0.5]
    assert scores["repeated"]["faithfulness"]["score"]["std"] == 0.0
    assert "in 3 runs" in scores["notes"]["faithfulness"][0]


def test_more_failures_than_allowed_end_the_run_and_keep_what_was_answered(stub: Stub) -> None:
    stub.always = failure(500)
    arguments = ("score", "in.jsonl", "-m", "faithfulness", "--judge", spec(stub))
    assert "more than 0 samples failed" in error(run(*arguments, "--max-errors", "0"), 4)
    allowed = run(*arguments, "--max-errors", "2", *JSON)
    assert allowed.exit_code == 4
    assert json.loads(allowed.stdout)["counts"] == {"faithfulness": {"errors": 2}}


def test_a_batch_is_sent_by_hand_and_the_same_command_run_again(stub: Stub) -> None:
    write("other.jsonl", [{"answer": "One more claim.", "contexts": ["Of it."]}] * 2)
    arguments = ("in.jsonl", "other.jsonl", "-m", "faithfulness", "--batch", "judging")
    arguments += ("--judge", "openai(model='stub')")
    for number in range(2):
        waiting = run("score", *arguments)
        assert (waiting.exit_code, waiting.stdout) == (75, "")
        # The two samples of the second file are the same, and so are their calls.
        assert waiting.stderr.startswith(
            f"metrichub: pending: 3 calls of round {number} wait for answers: "
        )
        assert len(waiting.stderr.splitlines()) == 1
        serve(stub, f"judging/round-{number}.jsonl")
    systems = scored(*arguments)["systems"]
    assert systems["in"]["scores"]["faithfulness"] == {"score": 0.5}
    assert systems["other"]["scores"]["faithfulness"] == {"score": 1.0}


def test_without_the_cache_nothing_is_taken_or_kept(stub: Stub) -> None:
    arguments = ("in.jsonl", "-m", "faithfulness", "--judge", spec(stub))
    assert scored(*arguments, "--no-cache")["usage"]["calls"] == 4
    assert json.loads(run("cache", "info", *JSON).stdout)["models"] == {}


def test_a_second_run_is_answered_from_the_store(stub: Stub) -> None:
    arguments = ("in.jsonl", "-m", "faithfulness", "--judge", spec(stub))
    scored(*arguments)
    again = run("score", *arguments, *JSON)
    assert json.loads(again.stdout)["usage"]["cached"] == 4
    assert "0 calls, 4 answers reused" in again.stderr


def test_samples_have_their_claims_verdicts_and_reasons(stub: Stub) -> None:
    scored("in.jsonl", "-m", "faithfulness", "--judge", spec(stub), "--samples", "out.jsonl")
    first = json.loads(Path("out.jsonl").read_text("utf-8").splitlines()[0])
    why = first["explanations"]["faithfulness"]
    assert (why["status"], why["reason"]) == ("ok", None)
    claims = why["steps"][0]["claims"]
    assert [(c["item"], c["verdict"], c["reason"]) for c in claims] == [
        ("Claim x.", "yes", "about 0"),
        ("This is unsupported.", "no", "about 1"),
    ]


def test_samples_as_csv_have_a_status_and_its_reason(stub: Stub) -> None:
    write("in.jsonl", [{"answer": "A.", "contexts": ["a"]}, {"answer": "", "contexts": ["a"]}])
    scored("in.jsonl", *RULES, "--samples", "out.csv")
    with Path("out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["faithfulness.status"] for row in rows] == ["ok", "unanswered"]
    assert rows[1]["faithfulness.reason"] == "the answer makes no claim"


def test_samples_of_plain_metrics_have_no_explanations() -> None:
    commands.write_systems()
    scored("a.jsonl", "-m", "wer", "--samples", "out.jsonl")
    assert "explanations" not in Path("out.jsonl").read_text("utf-8")


def test_compare_asks_the_judge_too(stub: Stub) -> None:
    rows = [{"answer": "Claim x. More.", "contexts": ["Of x."]}] * 2
    write("better.jsonl", rows)
    write("worse.jsonl", [{**row, "answer": "unsupported x."} for row in rows])
    result = run(
        "compare", "worse.jsonl", "better.jsonl", "-m", "faithfulness", "--judge", spec(stub)
    )
    assert result.exit_code == 0, result.stderr
    assert "calls" in result.stderr


@pytest.mark.parametrize(
    ("judge", "text"),
    [
        ("lab/llama", "panel); for a model write \"openai(model='lab/llama')\""),
        ("openai(api_key='sk-1')", "OPENAI_API_KEY"),
        ("openai(gpt-4o)", "\"openai(model='gpt-4o')\""),
    ],
)
def test_a_wrong_judge_is_one_line_without_the_key(judge: str, text: str) -> None:
    message = error(run("score", "in.jsonl", "-m", "faithfulness", "--judge", judge), 2)
    assert text in message
    assert "sk-1" not in message


def test_a_metric_that_needs_a_model_says_which_judge_to_set() -> None:
    write("in.jsonl", [{"prediction": "a", "source": "b"}])
    for judge in ((), ("--judge", "offline")):
        message = error(run("score", "in.jsonl", "-m", "coherence", *judge), 4)
        assert "; add --judge \"openai(model='…')\"" in message


# The store.


def test_the_store_is_shown_and_cleared(stub: Stub) -> None:
    scored("in.jsonl", "-m", "faithfulness", "--judge", spec(stub))
    scored("in.jsonl", "-m", "faithfulness", "--judge", spec(stub, model="other"))
    shown = json.loads(run("cache", "info", *JSON).stdout)
    assert shown["models"] == {"other": 4, "stub": 4}
    assert Path(shown["path"]).exists()
    assert shown["bytes"] > 0
    assert "8 answers" in run("cache", "info").stdout
    assert "no answers of 'x' are stored" in error(run("cache", "clear", "--model", "x"), 2)
    assert run("cache", "clear", "--model", "other", "--yes").stdout == "4 answers deleted\n"
    refused = run("cache", "clear", stdin="n\n")
    assert refused.exit_code == 130
    assert json.loads(run("cache", "info", *JSON).stdout)["models"] == {"stub": 4}
    assert run("cache", "clear", stdin="y\n").exit_code == 0
    assert json.loads(run("cache", "info", *JSON).stdout)["models"] == {}


def test_the_same_note_is_told_once_for_all_metrics_and_systems() -> None:
    rows = [{"answer": "A.", "contexts": ["a"], "reference": "A."}]
    write("a.jsonl", rows)
    write("b.jsonl", rows)
    both = (*RULES, "-m", "context_recall")
    messages = run("score", "a.jsonl", "b.jsonl", *both).stderr.splitlines()
    assert messages == [
        "metrichub: note: faithfulness, context_recall: judged offline by matching words: "
        "a baseline that recognizes no paraphrases"
    ]


def test_metrics_are_listed_by_the_judge_that_they_need() -> None:
    def names(judge: str) -> set[str]:
        document = json.loads(run("list", "--judge", judge, "--format", "json").stdout)
        return {row["name"] for row in document}

    assert "faithfulness" in names("any")
    assert "coherence" in names("model")
    assert {"bleu", "semantic_similarity"} <= names("none")
    assert not names("any") & names("model")


def test_samples_are_readable_in_any_language() -> None:
    write("in.jsonl", [{"answer": "猫がいる。", "contexts": ["猫がいる。"]}] * 2)
    scored("in.jsonl", *RULES, "--samples", "out.jsonl")
    assert "猫がいる。" in Path("out.jsonl").read_text("utf-8")
    write("in.jsonl", [{"id": "\ud800", "answer": "a", "contexts": ["a"]}])
    scored("in.jsonl", *RULES, "--samples", "out.jsonl")
    assert "\\ud800" in Path("out.jsonl").read_text("utf-8")


def test_several_judges_vote(stub: Stub) -> None:
    judges = [text for model in ("a", "b") for text in ("--judge", spec(stub, model=model))]
    asked = ("in.jsonl", "-m", "faithfulness", *judges, "--judge", "offline", "--signature")
    majority = scored(*asked)
    # Both models support the first claim of two and not the second; the rules are outvoted.
    assert majority["scores"]["faithfulness"] == {"score": 0.5}
    assert "vote='majority'" in majority["signatures"]["faithfulness"].replace("\\'", "'")
    assert "the 3 votes of the panel agree on" in majority["notes"]["faithfulness"][0]
    mean = scored(*asked, "--vote", "mean")
    assert "vote='mean'" in mean["signatures"]["faithfulness"].replace("\\'", "'")
    assert mean["scores"] != majority["scores"]
