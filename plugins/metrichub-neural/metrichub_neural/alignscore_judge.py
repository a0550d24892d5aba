"""The judge `alignscore`: claims are verified by AlignScore on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metrichub_neural.alignscore import DEFAULT, Claim, alignments, chunked
from metrichub_neural.claim_judge import ClaimJudge
from metrichub_neural.engine.encoder import ModelName
from metrichub_neural.engine.entailment import Answer, Question, best_of
from metrichub_neural.engine.heads import ALIGNED, CONTRADICTED, alignment_of
from metrichub_neural.local_models import ModelFiles
from metrichub_neural.nli import NliJudge


@dataclass(frozen=True, kw_only=True)
class AlignScoreJudge(NliJudge):
    """A judge that asks AlignScore whether a claim is aligned with the evidence: no key, no server.

    Claims are the sentences of a text, by the rules of the judge `offline`, which answers all else
    that rules can, too. It can't grade or choose.

    Attributes:
        model: The model, whose checkpoint 'metrichub convert' has converted: a name on the Hugging
            Face hub, or a folder; it has to be on this machine.
        threshold: From which probability of alignment on a claim is supported.
    """

    kind = "alignscore"

    model: ModelName = DEFAULT

    def answered(self, files: ModelFiles, questions: Sequence[Question]) -> list[Answer]:
        """The model's answer to each question."""
        model = alignment_of(files, self.dtype)
        texts = {text for question in questions for text in question.texts if text.strip()}
        chunks = {text: chunked(text) for text in texts}
        claims = [
            Claim(item, [chunk for text in evidence for chunk in chunks.get(text, ())])
            for item, evidence in questions
        ]
        return [
            best_of(
                claim.chunks,
                [float(row[ALIGNED]) for row in aligned.outputs],
                [float(row[CONTRADICTED]) for row in aligned.outputs],
            )._replace(flaws=aligned.flaws)
            for claim, aligned in zip(claims, alignments(model, claims), strict=True)
        ]

    def files(self) -> ModelFiles:
        """The model's files, found and not loaded."""
        return ClaimJudge.files(self)
