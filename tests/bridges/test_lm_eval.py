"""Metrics in a task of lm-evaluation-harness, run with its dummy model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from metrichub import Hub, InputError, MetricError, MissingColumn, read
from metrichub.bridges import lm_eval as bridge
from tests.bridges import guide
from tests.bridges.hosts import needs

pytestmark = needs("lm_eval", "lm_eval", "torch")

METRICS = ["bleu", "rouge", "wer", "chars = chrf(word_order=2)", "cider"]
# The dummy model says "lol" to everything.
DOCS = [
    {"q": "Where?", "a": ["lol on a mat", "a mat"], "document": "lol"},
    {"q": "What?", "a": ["no", "lol"], "document": "a cat"},
    {"q": "Who?", "a": ["lol lol"], "document": "someone"},
]
YAML = """\
task: {task}
dataset_path: json
dataset_kwargs: {{data_files: "{folder}/docs.jsonl"}}
test_split: train
output_type: generate_until
doc_to_text: "{{{{q}}}}"
doc_to_target: "{{{{a}}}}"
generation_kwargs: {{until: ["\\n"]}}
"""
SCORES = """\
from metrichub import bridges
globals().update(bridges.lm_eval.functions({metrics!r}, references="a", outputs={outputs!r}))
"""


HARNESS = """\
import sys
import lm_eval
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
folder = sys.argv[1]
manager = TaskManager(include_path=folder, include_defaults=False)
found = lm_eval.simple_evaluate(
    model="dummy", tasks=["made_here"], task_manager=manager, log_samples=True, bootstrap_iters=10)
samples = found.pop("samples")
tracker = EvaluationTracker(output_path=f"{folder}/out")
# The first sets the date that the second has in its name.
tracker.save_results_aggregated(results=found, samples=samples)
tracker.save_results_samples(task_name="made_here", samples=samples["made_here"])
"""


@pytest.fixture
def results(tmp_path: Path) -> Any:
    """Runs a task whose YAML has the lines, and gives the results that the harness has stored."""
    offline = {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}

    def run(metrics: list[str], outputs: str = "score", scores: str = "") -> Any:
        docs = "".join(f"{json.dumps(doc)}\n" for doc in DOCS)
        (tmp_path / "docs.jsonl").write_text(docs, encoding="utf-8")
        lines = bridge.yaml(metrics, outputs=outputs)  # type: ignore[arg-type]  # a word of the parameters
        text = YAML.format(task="made_here", folder=tmp_path) + lines
        (tmp_path / "made_here.yaml").write_text(text, encoding="utf-8")
        code = scores or SCORES.format(metrics=metrics, outputs=outputs)
        (tmp_path / "scores.py").write_text(code, encoding="utf-8")
        command = [sys.executable, "-c", HARNESS, str(tmp_path)]
        ran = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, **offline}
        )
        assert ran.returncode == 0, ran.stderr
        (path,) = (tmp_path / "out").rglob("results_*.json")
        return json.loads(path.read_text("utf-8"))

    return run


def shown(results: Any) -> dict[str, float]:
    """The scores that the harness has stored, by their names."""
    result = results["results"]["made_here"]
    return {name.removesuffix(",none"): v for name, v in result.items() if name.endswith(",none")}


def test_the_harness_shows_the_score_of_the_corpus(results: Any, tmp_path: Path) -> None:
    columns = {"predictions": ["lol"] * 3, "references": [doc["a"] for doc in DOCS]}
    expected = Hub(METRICS)(**columns)
    stored = results(METRICS)
    directions = stored["higher_is_better"]["made_here"]
    assert (directions["bleu"], directions["wer"]) == (True, False)
    result = shown(stored)
    for name, scores in expected.items():
        assert result[name] == pytest.approx(scores["score"], rel=1e-12, nan_ok=True)
    # Of several targets the harness would make 1 of every sample with any overlap.
    assert 0 < result["rouge"] < 1
    # And the samples that it wrote give the same again.
    (path,) = (tmp_path / "out").rglob("samples_*.jsonl")
    assert repr(Hub(METRICS)(read(path))) == repr(expected)


def test_other_outputs_have_names_of_their_own(results: Any) -> None:
    columns = {"predictions": ["lol"] * 3, "references": [doc["a"] for doc in DOCS]}
    result = shown(results(["rouge"], outputs="headline"))
    scores = Hub("rouge")(**columns)["rouge"]
    assert result["rouge_rouge1"] == pytest.approx(scores["rouge1"], rel=1e-12)
    assert result["rouge"] == pytest.approx(scores["score"], rel=1e-12)


def test_the_line_of_the_guide(results: Any) -> None:
    (line,) = [line for line in guide.lines() if "bridges.lm_eval" in line]
    code = f"from metrichub import bridges\n{line}\n".replace('"answers"', '"a"')
    assert code.count('"a"') == 1
    assert {"bleu", "rouge"} <= set(shown(results(["bleu", "rouge"], scores=code)))


def test_columns_are_found_by_their_usual_names() -> None:
    functions = bridge.functions("coverage")
    result = functions["process_results"](DOCS[0], ["lol"])
    assert result == {"coverage": {"predictions": "lol", "sources": "lol"}}
    assert functions["coverage"]([result["coverage"]] * 2) == 1.0
    with pytest.raises(MissingColumn, match="bleu needs the column 'references'"):
        bridge.functions("bleu")["process_results"](DOCS[0], ["lol"])


def test_several_answers_are_several_predictions() -> None:
    functions = bridge.functions("exact_match", references="a")
    result = functions["process_results"](DOCS[1], [["x", "lol"]])
    assert functions["exact_match"]([result["exact_match"]]) == 1.0


def test_likelihoods_are_refused() -> None:
    functions = bridge.functions("bleu", references="a")
    with pytest.raises(InputError, match=r"the harness returned .*, not text"):
        functions["process_results"](DOCS[0], [(-1.5, False), (-2.0, True)])


def test_two_functions_of_one_name_are_an_error() -> None:
    with pytest.raises(MetricError, match="two functions would be called 'process_results'"):
        bridge.functions("process_results = bleu")
