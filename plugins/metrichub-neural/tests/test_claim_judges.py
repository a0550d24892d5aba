"""The judges `alignscore` and `summac`: the verdicts follow the metrics' own numbers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_alignscore
import test_summac
from metrichub_neural.alignscore import Claim, alignments, chunked
from metrichub_neural.alignscore_judge import AlignScoreJudge
from metrichub_neural.engine.classifier import Classifier
from metrichub_neural.engine.heads import ALIGNED, CONTRADICTED, alignment_of
from metrichub_neural.local_models import find_model
from metrichub_neural.summac_judge import SummaCJudge

from metrichub import Hub, JudgeUnavailable, load_metric
from metrichub.authoring import Prompt, Verdict

aligning, entailing = test_alignscore.model, test_summac.model

SUPPORTED = Prompt("supported", "Is it so?", "supported")
PASSAGES = ["The old man saw a dog in the house. It is cold today.", "He said it was good.", " "]
ITEMS = ["The old man saw the cat.", "The bank is in the river.", "It will rain today."]
WORDS = ("yes", "no", "idk")


def verdicts(judge: Any, passages: list[str] = PASSAGES) -> list[Verdict]:
    return asyncio.run(judge.verify(SUPPORTED, ITEMS, {"evidence": passages}, WORDS))


def test_alignscore_supports_what_is_aligned(aligning: Path) -> None:
    model = alignment_of(find_model(str(aligning), needed_by="test"), "float32")
    chunks = [chunk for text in PASSAGES[:2] for chunk in chunked(text)]
    rows = [entry.outputs for entry in alignments(model, [Claim(item, chunks) for item in ITEMS])]
    aligned = [float(row[:, ALIGNED].max()) for row in rows]
    contradicted = [float(row[:, CONTRADICTED].max()) for row in rows]
    middle = sorted(aligned)[1]
    result = verdicts(AlignScoreJudge(model=str(aligning), threshold=middle))
    expected = [
        "yes" if yes >= middle else "no" if no > yes else "idk"
        for yes, no in zip(aligned, contradicted, strict=True)
    ]
    assert [answer.verdict for answer in result] == expected
    assert expected.count("yes") == 2
    for verdict, yes, no in zip(result, aligned, contradicted, strict=True):
        assert verdict.reason.startswith(f"entailed {yes:.2f}, contradicted {no:.2f}, neither ")


def test_summac_supports_what_its_metric_scores_highly(entailing: Path) -> None:
    # One passage and one claim: the claim's score is that of the metric's zero-shot variant.
    metric = load_metric("summac", model=str(entailing), variant="zs")
    columns = {"predictions": ITEMS, "sources": [PASSAGES[0]] * 3}
    scores = Hub(metric).evaluate(columns).samples()["summac"]["score"]
    result = verdicts(SummaCJudge(model=str(entailing)), PASSAGES[:1])
    for verdict, score in zip(result, scores, strict=True):
        _, yes, _, no, *_ = verdict.reason.replace(",", "").split()
        assert float(yes) - float(no) == pytest.approx(score, abs=0.011)
        assert verdict.verdict == ("yes" if score >= 0.5 else "no" if score < 0 else "idk")
    # This model finds all contradicted; a threshold of 0 still asks for more entailment.
    assert np.max(scores) < 0
    assert {
        answer.verdict for answer in verdicts(SummaCJudge(model=str(entailing), threshold=0.0))
    } == {"no"}


@pytest.mark.parametrize("kind", ["alignscore", "summac"])
def test_claims_of_all_samples_are_one_run(
    kind: str, aligning: Path, entailing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[int] = []
    of_pairs = Classifier.of_pairs

    def counted(self: Classifier, pairs: Any, *arguments: Any, **more: Any) -> Any:
        runs.append(len(pairs))
        return of_pairs(self, pairs, *arguments, **more)

    monkeypatch.setattr(Classifier, "of_pairs", counted)
    folder = {"alignscore": aligning, "summac": entailing}[kind]
    hub = Hub("faithfulness", judge=f"{kind}(model='{folder}', threshold=0.25)")
    report = hub.evaluate(
        predictions=["It will rain today. The cat sat on it."] * 20, contexts=[PASSAGES] * 20
    )
    # Two claims a sample; AlignScore reads two chunks, SummaC three sentences.
    assert runs == [20 * 2 * {"alignscore": 2, "summac": 3}[kind]]
    signature = report.signatures()["faithfulness"]
    assert f"judge=\"{kind}(model='model', revision='sha256:" in signature
    assert "threshold=0.25" in signature


def test_no_evidence_supports_nothing(aligning: Path, entailing: Path) -> None:
    for judge in (AlignScoreJudge(model=str(aligning)), SummaCJudge(model=str(entailing))):
        (verdict, *_) = verdicts(judge, [" "])
        assert (verdict.verdict, verdict.reason) == ("idk", "there is no evidence")


@pytest.mark.parametrize("kind", ["alignscore", "summac", "minicheck"])
def test_a_default_that_is_not_here_is_fetched_by_the_metric_s_name(kind: str) -> None:
    hub = Hub("faithfulness", judge=kind)
    with pytest.raises(JudgeUnavailable, match=f"{kind} needs the model .*metrichub fetch {kind}$"):
        hub(predictions=["It rains."], contexts=[["It rains."]])


def test_what_they_cannot_answer_is_refused(aligning: Path, entailing: Path) -> None:
    for kind, folder in (("alignscore", aligning), ("summac", entailing)):
        with pytest.raises(JudgeUnavailable, match=kind):
            Hub("coherence", judge=f"{kind}(model='{folder}')")
