"""A plugin's metrics in the hub: workers, merging, bucket totals, the HTML report and the app."""

from __future__ import annotations

import base64
import json
import os
import random
import re
import subprocess
import sys
import urllib.request
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import numpy as np
import pytest
from metrichub_neural.engine import models
from metrichub_neural.local_models import ModelFiles
from toys import texts

from metrichub import Hub, Report, load_metric

PREDICTIONS, REFERENCES = texts(24, seed=3), texts(24, seed=4)
ROWS = [
    {"id": str(number), "predictions": [first], "references": [other]}
    for number, (first, other) in enumerate(zip(PREDICTIONS, REFERENCES, strict=True))
]
WORSE = [{**row, "predictions": ["it"]} for row in ROWS]


@pytest.fixture(scope="module")
def hub(bert: Path) -> Hub:
    """One with metrics of every kind: additive and not, in context and not, by an embedder."""
    pytest.importorskip("ot", reason="needs POT: pip install 'metrichub-neural[transport]'")
    model = f"model='{bert}'"
    return Hub(
        [
            f"bertscore({model}, layer=2)",
            f"bertscore_idf({model}, layer=2)",
            f"embedding_average({model}, layer=2)",
            f"greedy_matching({model})",
            f"vector_extrema({model}, layer=1)",
            f"wmd({model}, exact=False)",
            f"moverscore({model}, layer=2)",
            f"sem_score({model})",
            f"smart({model}, matcher='bertscore', layer=2)",
            load_metric("vendi", embedder=f"local({model})"),
        ]
    )


@pytest.fixture(scope="module")
def report(hub: Hub) -> Report:
    return hub.evaluate(ROWS)


def same(first: Report, other: Report) -> None:
    """Whether two reports say the same of all samples, within the tolerance of the cards."""
    assert first.signatures() == other.signatures()
    scores, expected = first.flatten(), other.flatten()
    assert scores.keys() == expected.keys()
    for name, value in expected.items():
        assert scores[name] == pytest.approx(value, abs=1e-5), name


def test_two_workers_give_what_one_process_gives(hub: Hub, report: Report) -> None:
    parts = iter([ROWS[:13], ROWS[13:]])
    same(hub.evaluate(parts, workers=2), report)


def test_what_models_gave_is_not_asked_of_them_again(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An embedder is asked text by text, and MoverScore's model when all texts are together.
    others = ("vendi", "moverscore")
    hub = Hub([metric for metric in hub.metrics if metric.name not in others])
    monkeypatch.setenv("METRICHUB_CACHE", str(tmp_path))
    monkeypatch.setenv("METRICHUB_NO_CACHE", "")
    monkeypatch.setattr("metrichub.evaluation.reuse._SECONDS", 0.0)
    monkeypatch.setattr("metrichub.evaluation.observation.ROWS", 1)
    first = hub.evaluate(ROWS)
    models.forget()
    monkeypatch.setattr(models, "_MODELS", None)
    assert hub.evaluate(ROWS) == first


def test_what_is_kept_of_a_model_depends_on_each_of_its_files(tmp_path: Path) -> None:
    blob, snapshot = tmp_path / "blobs" / "a", tmp_path / "snapshots" / "0"
    for folder in (blob.parent, snapshot):
        folder.mkdir(parents=True)
    blob.write_text("{}")
    (snapshot / "config.json").symlink_to(blob)
    files = ModelFiles("me/model", snapshot, "0")
    states = [files.state(), files.state()]
    assert len({*states}) == 1
    (snapshot / "sentence_bert_config.json").write_text("{}")
    states.append(files.state())
    # Of the same size and time, as by `cp -p`.
    before = blob.stat()
    blob.write_text("[]")
    os.utime(blob, ns=(before.st_atime_ns, before.st_mtime_ns))
    states.append(files.state())
    assert len({*states}) == 3


def test_merged_parts_give_what_all_samples_give(hub: Hub, report: Report, tmp_path: Path) -> None:
    first, second = hub.evaluate(ROWS[:9]), hub.evaluate(ROWS[9:])
    same(first.merge(second), report)
    second.save(tmp_path / "second.json")
    same(first.merge(Report.load(tmp_path / "second.json")), report)


def test_permuted_samples_give_permuted_scores(hub: Hub, report: Report) -> None:
    # torchmetrics 1.9.0 puts BERTScore's scores in another order than its samples.
    order = random.Random(1).sample(range(24), 24)
    permuted = hub.evaluate([ROWS[place] for place in order])
    same(permuted, report)
    for metric, outputs in report.samples().items():
        for output, values in outputs.items():
            np.testing.assert_allclose(
                permuted.samples()[metric][output], np.array(values)[order], atol=1e-5
            )


def test_bucket_totals_have_scores_intervals_and_tests(hub: Hub, report: Report) -> None:
    summed = hub.evaluate(iter([ROWS]), samples=False, key="id")
    # Those that don't add up keep their scores, and have no samples to draw from.
    for name, value in report.flatten().items():
        assert summed.flatten()[name] == pytest.approx(value, abs=1e-5), name
    additive = Hub([metric for metric in hub.metrics if metric.averaging != "corpus"])
    parts = [additive.evaluate(iter([part]), samples=False, key="id") for part in (ROWS, WORSE)]
    for metric, outputs in parts[0].intervals(resamples=200).items():
        low, high = outputs["score"].low, outputs["score"].high
        assert low < parts[0].scores()[metric]["score"] < high
    comparison = parts[0].compare(parts[1], trials=200)["bertscore"]["score"]
    assert comparison.score == pytest.approx(report.scores()["bertscore"]["score"], abs=1e-5)
    assert comparison.other == parts[1].scores()["bertscore"]["score"] < comparison.score
    assert comparison.p < 0.05


def test_the_report_as_a_page_shows_scores_and_every_sample(report: Report, tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="needs the extra plots of metrichub")
    pytest.importorskip("matplotlib", reason="needs the extra plots of metrichub")
    report.to_html(tmp_path / "page.html", resamples=20, trials=20)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for name in report.scores():
        assert name in page
    assert f"{report.scores()['greedy_matching']['recall']:.3f}" in page
    packed = re.search(r'id="texts">([^<]*)<', page)
    assert packed
    shown = zlib.decompress(base64.b64decode(packed[1])).decode()
    assert all(json.dumps(text, ensure_ascii=False) in shown for text in set(PREDICTIONS))


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """The address of `metrichub serve` on a free port of this machine."""
    command = [sys.executable, "-m", "metrichub", "serve", "--port", "0", "--forget", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        line = process.stdout.readline()
        assert line.startswith("metrichub serves at http://"), line
        try:
            yield line.split()[3].rstrip("/")
        finally:
            process.terminate()
            process.communicate(timeout=30)


def posted(address: str, **body: Any) -> Any:
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(
        f"{address}/api/score", json.dumps(body).encode(), headers, method="POST"
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.loads(answer.read())


def test_the_app_scores_and_shows_it_and_no_client_names_a_file(bert: Path) -> None:
    pytest.importorskip("uvicorn", reason="needs the extra app of metrichub")
    pytest.importorskip("fastapi", reason="needs the extra app of metrichub")
    embedder = f"local(model='{bert}')"
    both = {"predictions": PREDICTIONS[:4], "references": REFERENCES[:4]}
    metrics = ["smart(matcher='rouge1')", "vendi"]
    expected = Hub(metrics, embedder=embedder)(**both)
    with serving("--embedder", embedder, "--time-limit", "120") as address:
        scores = posted(address, metrics=metrics, **both)["scores"]
        for name, outputs in expected.items():
            assert scores[name] == pytest.approx(outputs, abs=1e-5)
        with urllib.request.urlopen(f"{address}/metrics/greedy_matching", timeout=60) as answer:
            assert "Several words may be matched with one" in answer.read().decode()
        with pytest.raises(HTTPError) as refused:
            posted(address, metrics=[f"greedy_matching(model='{bert}')"], **both)
        assert "it names a file or folder" in refused.value.read().decode()
