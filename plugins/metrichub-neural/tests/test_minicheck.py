"""MiniCheck: official scores and chunks, claims, and the judge that asks it."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import neural_vectors as vectors
import numpy as np
import pytest
from metrichub_neural.engine.seq2seq import Seq2Seq, seq2seq_of
from metrichub_neural.local_models import find_model
from metrichub_neural.minicheck import checking
from metrichub_neural.minicheck.checking import Claim, checked, chunks_of
from metrichub_neural.minicheck_judge import MiniCheckJudge

from metrichub import Hub, JudgeUnavailable, load_metric
from metrichub.authoring import Prompt
from metrichub.testing import MetricContract

ROWS = vectors.rows("minicheck flan-t5")
DOCUMENTS, CLAIMS = ROWS[0]["documents"], ROWS[0]["claims"]
SUPPORTED = Prompt("supported", "Is it so?", "supported")
STORY = "The old man saw a dog. It is cold today, it will rain. He said it was good."


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model with which the authors' program gave its scores."""
    return vectors.write_t5(tmp_path_factory.mktemp("models") / "minicheck", ROWS[0])


@pytest.fixture
def _by_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """The splitter that the recorded scores were made with."""

    def split(text: str) -> list[str]:
        parts = [part.strip() for part in text.replace(" . ", " .\n").split("\n")]
        return [part for part in parts if part]

    chunks_of.cache_clear()
    monkeypatch.setattr(checking, "sentences", split)
    yield
    chunks_of.cache_clear()


def model_of(folder: Path) -> Seq2Seq:
    return seq2seq_of(find_model(str(folder), needed_by="test"), "float32")


@pytest.mark.usefixtures("_by_stops")
@pytest.mark.parametrize("row", ROWS, ids=["12 words", "400 words"])
def test_support_and_chunks_are_the_official_ones(row: Mapping[str, Any], official: Path) -> None:
    chunks = [chunks_of(document, row["chunk_size"]) for document in DOCUMENTS]
    spaced = [[chunk.replace("  ", " ") for chunk in row_chunks] for row_chunks in row["chunks"]]
    assert [list(chunk) for chunk in chunks] == spaced
    for order in (1, -1):
        hub = Hub(load_metric("minicheck", model=str(official), chunk=row["chunk_size"]))
        report = hub.evaluate(predictions=CLAIMS[::order], sources=DOCUMENTS[::order])
        scores = report.samples()["minicheck"]
        np.testing.assert_allclose(scores["score"][::order], row["support"], atol=1e-6)
        assert scores["supported"][::order].tolist() == [score > 0.5 for score in row["support"]]
    pairs = [(chunk, claim) for texts, claim in zip(chunks, CLAIMS, strict=True) for chunk in texts]
    each = [checked(model_of(official), [Claim(claim, chunk)], 999)[0] for chunk, claim in pairs]
    expected = [score for by_chunk in row["by_chunk"] for score in by_chunk]
    np.testing.assert_allclose([entry.probability for entry in each], expected, atol=1e-6)


def test_a_sentence_that_is_too_long_is_a_chunk_of_its_own() -> None:
    text = "It rains. " + "The old man saw the cat and the dog. " * 2 + "It is cold."
    assert chunks_of(text, 3) == (
        "It rains.",
        "The old man saw the cat and the dog.",
        "The old man saw the cat and the dog.",
        "It is cold.",
    )
    # 2 words, 9, 9, 3.
    assert [len(chunk.split()) for chunk in chunks_of(text, 11)] == [11, 9, 3]
    assert chunks_of("One line.\n\nAnother one. And more.", 99) == (
        "One line.\nAnother one. And more.",
    )
    assert chunks_of(" \n... ", 99) == ()


def test_sentences_are_averaged(official: Path) -> None:
    parts = ["The old man saw the dog.", "It is cold."]
    each = checked(model_of(official), [Claim(part, STORY) for part in parts], 500)
    probabilities = [entry.probability for entry in each]
    threshold = float(np.mean(probabilities))
    metric = load_metric("minicheck", model=str(official), claims="sentences", threshold=threshold)
    scores = Hub(metric)(predictions=[" ".join(parts)], sources=[STORY])["minicheck"]
    expected = {"score": np.mean(probabilities), "supported": 0.5}
    assert scores == pytest.approx(expected, abs=1e-6)
    # Whole, they are another claim.
    hub = Hub(load_metric("minicheck", model=str(official)))
    score = hub(predictions=[" ".join(parts)], sources=[STORY])["minicheck"]["score"]
    assert abs(score - scores["score"]) > 1e-4


def test_an_empty_source_is_unscored_and_an_empty_prediction_is_not(official: Path) -> None:
    for claims in ("whole", "sentences"):
        hub = Hub(load_metric("minicheck", model=str(official), claims=claims))
        report = hub.evaluate(predictions=["", "a cat"], sources=[STORY, " ... "])
        result = report.results["minicheck"]
        assert dict(result.reasons) == {"the source has no sentence": 1}
        assert np.isfinite(result.samples()["score"]).tolist() == [True, False]


def test_predictions_that_were_cut_are_counted(official: Path) -> None:
    long = "the old man saw the cat and " * 400
    hub = Hub(load_metric("minicheck", model=str(official)))
    report = hub.evaluate(predictions=["a cat", "a dog"], sources=[long, STORY])
    (note,) = report.notes()["minicheck"]
    assert "1 of 2 predictions were cut at 2048 tokens, what is read with them included" in note


# The judge.


def test_a_verdict_is_that_of_the_best_chunk_of_all_evidence(official: Path) -> None:
    items = ["The old man saw a dog.", "The bank is in the river.", "It rains."]
    evidence = ["The old man saw a dog. It is cold today.", "The bank of the river."]
    answers = checked(model_of(official), [Claim(item, "\n".join(evidence)) for item in items], 6)
    middle = sorted(answer.probability for answer in answers)[1]
    judge = MiniCheckJudge(model=str(official), threshold=middle, chunk=6)
    for words, other in ((("yes", "no", "idk"), "idk"), (("yes", "no"), "no")):
        verdicts = asyncio.run(judge.verify(SUPPORTED, items, {"evidence": evidence}, words))
        expected = ["yes" if answer.probability > middle else other for answer in answers]
        assert [verdict.verdict for verdict in verdicts] == expected
        assert expected.count("yes") == 1
        assert [(verdict.index, verdict.item) for verdict in verdicts] == list(enumerate(items))
    assert verdicts[0].reason.startswith(f"supported {answers[0].probability:.2f}, by '")


def test_without_evidence_nothing_is_supported(official: Path) -> None:
    judge = MiniCheckJudge(model=str(official), threshold=0)
    (verdict,) = asyncio.run(
        judge.verify(SUPPORTED, ["It rains."], {"evidence": [" "]}, ("yes", "no"))
    )
    assert (verdict.verdict, verdict.reason) == ("no", "there is no evidence")


def test_claims_of_many_samples_are_one_run(
    official: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[int] = []
    first = Seq2Seq.first_tokens

    def counted(self: Seq2Seq, texts: Any, *more: Any, **named: Any) -> Any:
        runs.append(len(texts))
        return first(self, texts, *more, **named)

    monkeypatch.setattr(Seq2Seq, "first_tokens", counted)
    hub = Hub("faithfulness", judge=f"minicheck(model='{official}')")
    report = hub.evaluate(predictions=["It rains. A cat sat."] * 20, contexts=[[STORY]] * 20)
    assert runs == [40]
    assert "judge=\"minicheck(model='minicheck', revision=" in report.signatures()["faithfulness"]
    assert 0 <= report.scores()["faithfulness"]["score"] <= 1


def test_what_it_cannot_answer_is_refused_before_anything_is_scored(official: Path) -> None:
    with pytest.raises(JudgeUnavailable, match="minicheck"):
        Hub("coherence", judge=f"minicheck(model='{official}')")
    judge = MiniCheckJudge(model=str(official))
    with pytest.raises(JudgeUnavailable, match="the judge minicheck can't grade"):
        asyncio.run(judge.grade(SUPPORTED, {}, (1, 5)))


def test_a_model_that_is_not_here_ends_the_run_with_the_command() -> None:
    hub = Hub("faithfulness", judge="minicheck")
    with pytest.raises(
        JudgeUnavailable, match=r"lytang/MiniCheck-Flan-T5-Large, .*: metrichub fetch minicheck"
    ):
        hub(predictions=["It rains."], contexts=[["It rains."]])


def test_the_judge_survives_a_pickle(official: Path) -> None:
    judge = MiniCheckJudge(model=str(official), chunk=40)
    assert pickle.loads(pickle.dumps(judge)) == judge


class TestMiniCheck(MetricContract):
    metric = "minicheck"
    parameters: ClassVar[Mapping[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _model(self, official: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(type(self), "parameters", {"model": str(official)})
