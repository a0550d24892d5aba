from collections.abc import Sequence

from metrichub import Hub
from metrichub.authoring import Choice, Fields, Grade, Prompt, Sampling, Verdict


class Generous:
    label = "generous"

    async def extract(self, prompt: Prompt, fields: Fields, limit: int | None = None) -> list[str]:
        return [str(text) for text in fields.values()][:limit]

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        return [Verdict(i, item, verdicts[0], "") for i, item in enumerate(items)]

    async def grade(
        self,
        prompt: Prompt,
        fields: Fields,
        scale: tuple[int, int],
        weighing: Sampling = Sampling(),  # noqa: B008  # immutable
    ) -> Grade:
        return Grade(scale[1], "")

    async def choose(self, prompt: Prompt, candidates: Sequence[str], fields: Fields) -> Choice:
        return Choice(0, "")


hub = Hub("faithfulness", judge=Generous())
report = hub.evaluate("examples/summaries.jsonl")

assert report.scores() == {"faithfulness": {"score": 1.0}}
