"""The judge `nli`: claims are verified by a model of entailment on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metrichub_neural.claim_judge import OFFLINE, ClaimJudge, gathering_of
from metrichub_neural.engine.entailment import Answer, Question, choose_entailment, entailment_of
from metrichub_neural.engine.light import has_only_onnx
from metrichub_neural.local_models import ModelFiles


@dataclass(frozen=True, kw_only=True)
class NliJudge(ClaimJudge):
    """A judge that asks a model whether the evidence entails a claim: no key, no server.

    Claims are the sentences of a text, by the rules of the judge `offline`, which answers all else
    that rules can, too. It can't grade or choose.

    Attributes:
        model: The model, which classifies pairs and has a label "entailment": a name on the Hugging
            Face hub, such as "FacebookAI/roberta-large-mnli" (MIT) or
            "cross-encoder/nli-deberta-v3-base" (Apache 2.0), a folder, or an installed package; it
            has to be on this machine.
        threshold: From which probability of entailment on a claim is supported.
    """

    kind = "nli"

    @property
    def label(self) -> str:
        """The files that are used, and all that bears on its verdicts."""
        engine = ", engine='light'" if has_only_onnx(self.files()) else ""
        return f"{self.kind}({self.settings()}{engine}, rules={OFFLINE.label!r})"

    async def judged(
        self, items: Sequence[str], texts: tuple[str, ...], verdicts: Sequence[str]
    ) -> list[tuple[str, str]]:
        """The verdict on each item, and its reason.

        Affirmative from the threshold on; negative where the evidence contradicts an item more than
        it entails it; else undecided.
        """
        questions = [Question(item, texts) for item in items]
        answers = await gathering_of(self, self.files())(questions)
        return [
            (
                self._word(answer, verdicts),
                self.reason(item, _numbers(answer), answer.window, answer.flaws),
            )
            for item, answer in zip(items, answers, strict=True)
        ]

    def answered(self, files: ModelFiles, questions: Sequence[Question]) -> list[Answer]:
        """The model's answer to each question."""
        return entailment_of(files, self.dtype).answers(questions)

    def supported(self, answer: Answer) -> float:
        """The score that has to reach the threshold."""
        return answer.entailed

    def files(self) -> ModelFiles:
        """The model's files, which name a label for entailment."""
        files = super().files()
        choose_entailment(files)
        return files

    def _word(self, answer: Answer, verdicts: Sequence[str]) -> str:
        yes, no, *unknown = verdicts
        if self.supported(answer) >= self.threshold:
            return yes
        return no if answer.contradicted > answer.entailed else (unknown or [no])[0]


def _numbers(answer: Answer) -> str:
    return (
        f"entailed {answer.entailed:.2f}, contradicted {answer.contradicted:.2f}, "
        f"neither {answer.neutral:.2f}"
    )
