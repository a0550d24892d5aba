"""The judge `minicheck`: claims are verified by MiniCheck on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from metrichub.authoring import Range
from metrichub_neural.claim_judge import OFFLINE, ClaimJudge, gathering_of
from metrichub_neural.engine.encoder import ModelName
from metrichub_neural.engine.joined import Supported
from metrichub_neural.local_models import ModelFiles
from metrichub_neural.minicheck.checking import Claim, checked_by


@dataclass(frozen=True, kw_only=True)
class MiniCheckJudge(ClaimJudge):
    """A judge that asks MiniCheck whether the evidence supports a claim: no key, no server.

    All evidence is one document to it, read in chunks. Claims are the sentences of a text, by the
    rules of the judge `offline`, which answers all else that rules can, too. It can't grade or
    choose, and can't tell a contradicted claim from one that the evidence doesn't mention.

    Attributes:
        model: The model, MiniCheck-Flan-T5-Large, its RoBERTa or DeBERTa, or one like them: a
            name on the Hugging Face hub, a folder, or an installed package; it has to be on this
            machine.
        threshold: Above which probability a claim is supported.
        chunk: How much of the evidence is read at a time, in whole sentences: 500 words by T5, and
            400 tokens by classifiers, unless given.
    """

    kind = "minicheck"

    model: ModelName = "lytang/MiniCheck-Flan-T5-Large"
    chunk: Annotated[int, Range(1)] | None = None

    @property
    def label(self) -> str:
        """The files that are used, and all that bears on its verdicts."""
        return f"minicheck({self.settings()}, chunk={self.chunk!r}, rules={OFFLINE.label!r})"

    def answered(self, files: ModelFiles, questions: Sequence[Claim]) -> list[Supported]:
        """How far each claim is supported."""
        return checked_by(files, self.dtype, questions, self.chunk)

    async def judged(
        self, items: Sequence[str], texts: tuple[str, ...], verdicts: Sequence[str]
    ) -> list[tuple[str, str]]:
        """The verdict on each item, affirmative above the threshold, and its reason."""
        yes, no, *unknown = verdicts
        document = "\n".join(texts)
        claims = [Claim(item, document) for item in items]
        files = self.files()
        answers = await gathering_of(self, files)(claims)
        return [
            (
                yes if answer.probability > self.threshold else (unknown or [no])[0],
                self.reason(item, f"supported {answer.probability:.2f}", *answer[1:]),
            )
            for item, answer in zip(items, answers, strict=True)
        ]
