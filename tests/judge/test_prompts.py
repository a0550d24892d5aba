"""Prompts are part of a judge's score: signed, saved, and refused by name where they differ."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from metrichub import Hub, Report, compare_all, load_metric
from metrichub.errors import ReportError
from metrichub.evaluation.merge import unranked
from metrichub.evaluation.signature import PROMPTS_UNKNOWN, prompts_hash
from metrichub.judge import prompt_files
from metrichub.judge.prompt_files import SHARED_PROMPTS
from metrichub.testing import Scripted

COLUMNS = {"predictions": ["It is old.", "It is red."], "contexts": [["It is old."]] * 2}
BOTH = ["faithfulness", "hallucination"]
"""They ask with the same two prompts."""


class Model(Scripted):
    """A judge that is taken for a model."""

    is_model = True


JUDGE = Model({"claims": ["It is old."], "supported": ["yes"]})


def measured(metric: object = "faithfulness") -> Report:
    # A spec or a metric, which mypy doesn't see in the tests' parameters.
    return Hub(metric, judge=JUDGE).evaluate(**COLUMNS)  # type: ignore[arg-type]


def hash_of(metric: str, **parameters: object) -> str:
    return prompts_hash(load_metric(metric, judge=JUDGE, **parameters).templates())


@pytest.fixture
def edit(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Changes the text of built-in prompts as long as the test runs."""
    built_in, texts = prompt_files.packaged, dict[str, str]()

    def edited(path: Path) -> object:
        prompt = built_in(path)
        return replace(prompt, text=texts.get(prompt.name, prompt.text))

    monkeypatch.setattr(prompt_files, "packaged", edited)
    return texts.__setitem__


def without_prompts(report: Report, path: Path) -> Report:
    """The report as a version saved it whose signatures held no prompts."""
    report.save(path)
    content = json.loads(path.read_text())
    del content["prompts"]
    for name, result in content["results"].items():
        prompts = f"|prompts:{report.results[name].signature.prompts}"
        result["signature"] = result["signature"].replace(prompts, "")
    path.write_text(json.dumps(content))
    return Report.load(path, [result.metric for result in report.results.values()])


def saved_again(report: Report, path: Path) -> Report:
    report.save(path)
    return Report.load(path, [result.metric for result in report.results.values()])


# What is signed.


def test_the_signature_holds_the_hash_of_the_prompts_that_a_model_is_asked_with() -> None:
    report = measured()
    assert (
        f"|definition:2|prompts:{hash_of('faithfulness')}|" in report.signatures()["faithfulness"]
    )
    assert list(report.prompts()["faithfulness"]) == ["claims", "supported"]


@pytest.mark.parametrize("metric", ["faithfulness", "wer"])
def test_there_are_no_prompts_where_no_model_is_asked(metric: str) -> None:
    columns = {**COLUMNS, "references": ["It is old."] * 2}
    report = Hub(metric, judge="offline").evaluate(**columns)
    assert "prompts:" not in report.signatures()[metric]
    assert report.prompts() == {}
    assert not any("prompts" in note for note in report.notes().get(metric, ()))


def test_the_hash_is_that_of_the_sorted_prompts_as_json() -> None:
    two = {"b": {"text": "ä", "examples": []}, "a": {"text": "x", "examples": []}}
    text = r'[["a", {"text": "x", "examples": []}], ["b", {"text": "\u00e4", "examples": []}]]'
    expected = hashlib.sha256(text.encode("ascii")).hexdigest()[:8]
    assert prompts_hash(two) == prompts_hash(dict(reversed(two.items()))) == expected


def test_what_is_filled_into_a_template_leaves_the_hash_as_it_is() -> None:
    assert hash_of("g_eval", criteria="Brevity.") == hash_of("g_eval", criteria="Wit.")


def test_only_prompts_that_the_parameters_choose_count() -> None:
    assert hash_of("g_eval", steps=("Read it.",)) != hash_of("g_eval")
    assert hash_of("faithfulness", language="zh") != hash_of("faithfulness")


def test_a_user_s_copy_of_the_prompts_has_the_hash_of_the_built_in_ones(tmp_path: Path) -> None:
    for name in ("claims.md", "claims.examples.jsonl", "supported.md"):
        (tmp_path / name).write_bytes((SHARED_PROMPTS / name).read_bytes())
    assert hash_of("faithfulness", prompts=str(tmp_path)) == hash_of("faithfulness")


def test_examples_count_and_so_does_their_order(tmp_path: Path) -> None:
    lines = [
        json.dumps({"fields": {"text": text}, "reply": {"items": [text]}})
        for text in ("It is old.", "It is red.")
    ]
    result = set()
    for shown in (lines, lines[::-1], lines[:1]):
        (tmp_path / "claims.examples.jsonl").write_text("\n".join(shown))
        result.add(hash_of("faithfulness", prompts=str(tmp_path)))
    assert len({*result, hash_of("faithfulness")}) == 4


# What is refused.


def test_reports_of_an_edited_prompt_are_refused_by_its_name(
    edit: Callable[[str, str], None], tmp_path: Path
) -> None:
    first = measured(BOTH)
    edit("claims", "Every claim, please.")
    two = measured(BOTH)
    signatures = first.results["faithfulness"].signature, two.results["faithfulness"].signature
    mine, its = (signature.prompts for signature in signatures)
    assert mine != its
    message = rf"different prompts for faithfulness \('claims'\): prompts:{mine} and prompts:{its}"
    for left in (first, saved_again(first, tmp_path / "one.json")):
        for ask in (left.merge, left.compare):
            with pytest.raises(ReportError, match=message):
                ask(two)


def test_the_offline_judge_takes_reports_of_an_edited_prompt(
    edit: Callable[[str, str], None],
) -> None:
    hub = Hub("faithfulness", judge="offline")
    report = hub.evaluate(**COLUMNS)
    edit("claims", "Every claim, please.")
    assert report.compare(hub.evaluate(**COLUMNS), resamples=5, trials=5)["faithfulness"]


def test_parts_of_a_run_in_several_processes_merge() -> None:
    report = Hub("faithfulness", judge=JUDGE).evaluate(**COLUMNS, workers=2)
    assert report.prompts() == measured().prompts()
    assert report == measured()


# What is saved.


def test_a_saved_report_holds_each_prompt_once(tmp_path: Path) -> None:
    path, report = tmp_path / "report.json", measured(BOTH)
    loaded = saved_again(report, path)
    prompts = json.loads(path.read_text())["prompts"]
    assert [(prompt["name"], prompt["metrics"]) for prompt in prompts] == [
        ("claims", BOTH),
        ("supported", BOTH),
    ]
    text = (SHARED_PROMPTS / "supported.md").read_text(encoding="utf-8")
    assert prompts[1]["text"] in text
    assert path.read_text().count(json.dumps(prompts[1]["text"])) == 1
    assert prompts[0]["examples"][0].keys() == {"fields", "reply"}
    assert loaded.prompts() == report.prompts()
    assert loaded == report


def test_a_loaded_report_keeps_the_prompts_that_it_was_measured_with(
    edit: Callable[[str, str], None], tmp_path: Path
) -> None:
    report = measured()
    edit("claims", "Every claim, please.")
    loaded = saved_again(report, tmp_path / "report.json")
    assert loaded.prompts() == report.prompts()
    assert loaded.signatures() == report.signatures()
    assert loaded.compare(report, resamples=5, trials=5)["faithfulness"]


def test_repeats_are_saved_with_their_prompts(tmp_path: Path) -> None:
    report = Hub("faithfulness", judge=JUDGE).evaluate(**COLUMNS, repeats=2)
    assert saved_again(report, tmp_path / "report.json").prompts() == report.prompts() != {}


def test_a_saved_prompt_that_was_changed_is_noticed(tmp_path: Path) -> None:
    path, report = tmp_path / "report.json", measured()
    report.save(path)
    content = json.loads(path.read_text())
    content["prompts"][0]["text"] += " Briefly."
    path.write_text(json.dumps(content))
    with pytest.raises(ReportError, match="its prompts aren't those of faithfulness"):
        Report.load(path, [report.results["faithfulness"].metric])


# What isn't known.


def test_a_report_without_prompts_says_so_and_compares_and_merges(tmp_path: Path) -> None:
    now = measured()
    old = without_prompts(now, tmp_path / "old.json")
    assert PROMPTS_UNKNOWN in old.notes()["faithfulness"]
    assert PROMPTS_UNKNOWN.startswith("prompts unknown")
    assert PROMPTS_UNKNOWN not in now.notes().get("faithfulness", ())
    for first, other in ((old, now), (now, old)):
        assert first.compare(other, resamples=5, trials=5)["faithfulness"]
        merged = first.merge(other)
        assert PROMPTS_UNKNOWN in merged.notes()["faithfulness"]
        assert merged.prompts() == {}


def test_a_report_without_prompts_joins_no_two_that_differ(
    edit: Callable[[str, str], None], tmp_path: Path
) -> None:
    first = measured()
    old = without_prompts(first, tmp_path / "old.json")
    edit("claims", "Every claim, please.")
    two = measured()
    message = r"different prompts for faithfulness \('claims'\)"
    with pytest.raises(ReportError, match=message):
        old.merge(first, two)
    systems = {"old": old, "one": first, "two": two}
    with pytest.raises(ReportError, match=message):
        compare_all(systems, resamples=5, trials=5)
    assert "different prompts" in unranked(systems)["faithfulness"]
