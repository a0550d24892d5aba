"""ModelMetric: the base of metrics with a judge or an embedder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from metrichub.catalog.parameters import REQUIRED
from metrichub.judge.aggregate import cosine
from metrichub.metric import Array, Metric, Unscored
from metrichub.models.embedders import Embedder, Vectors, embed_together
from metrichub.models.resolve import RESOLVERS, about, safe_to_show, unset_error


class ModelMetric(Metric):
    """The base of metrics with a judge or an embedder."""

    # All rows of a block are asked about at once, so that a few slow calls hold up little.
    block_characters: ClassVar[int | None] = 4_000_000

    def __post_init__(self) -> None:
        """Check the parameters, and those of the judge and the embedder."""
        super().__post_init__()
        for kind in (kind for kind in RESOLVERS if hasattr(self, kind)):
            service = safe_to_show(getattr(self, kind), RESOLVERS[kind])
            object.__setattr__(self, kind, service)

    def models(self) -> tuple[str, ...]:
        """Which of "judge" and "embedder" it uses; override if it depends on a parameter."""
        return tuple(kind for kind in RESOLVERS if hasattr(self, kind))

    def notes(self, totals: Mapping[str, Array]) -> Sequence[str]:
        """The notes of the judge and the embedder about themselves, after the metric's own."""
        return [*super().notes(totals), *self.about_models()]

    def about_models(self) -> list[str]:
        """The notes of the judge and the embedder, unless they are models."""
        return [*filter(None, (about(self._service(kind)).note for kind in self.models()))]

    def _service(self, kind: str) -> Any:
        """The judge or the embedder.

        Raises:
            JudgeUnavailable: none is chosen.
        """
        if kind not in self._services:
            raise unset_error(self.name, kind)
        return self._services[kind]

    @cached_property
    def _services(self) -> Mapping[str, Any]:
        """The judge and the embedder that are chosen, made of their specs once."""
        chosen = {kind: getattr(self, kind, None) for kind in RESOLVERS}
        return {kind: RESOLVERS[kind](it) for kind, it in chosen.items() if it is not None}

    def __getstate__(self) -> dict[str, Any]:
        """The fields to pickle: what was made of them is made again elsewhere."""
        return {name: value for name, value in vars(self).items() if name != "_services"}

    def _values(self) -> dict[str, object]:
        """The parameters, with the judge and the embedder as they say of themselves."""
        return {
            name: self._services[name].label if name in self._services else value
            for name, value in super()._values().items()
        }


@dataclass(frozen=True, kw_only=True)
class EmbedderMetric(ModelMetric):
    """A metric that uses an embedder; one that also uses a judge derives from both.

    Attributes:
        embedder: The embedder: "offline" (hashed n-grams, a baseline and no model), "openai", a
            spec such as "openai(model='…')", or an embedder object. Required unless the hub has
            one.
    """

    embedder: str | Embedder | None = field(default=None, metadata=REQUIRED)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the texts, (n, d)."""
        return await embed_together(self._service("embedder"), texts)

    async def similarity(self, one: str, other: str) -> float:
        """The cosine of two texts' vectors, -1 to 1; `nan` if a text has the zero vector."""
        vectors = await self.embed([one, other])
        return float(cosine(vectors[:1], vectors[1:])[0, 0])

    async def similarity_to(self, reference: str, prediction: str) -> float | Unscored:
        """The cosine of a prediction and its reference, or which of the two has the zero vector."""
        vectors = await self.embed([reference, prediction])
        if not vectors[0].any():
            return Unscored("the reference has no vector")
        if not vectors[1].any():
            return Unscored("the prediction has no vector", "no_vector")
        return float(cosine(vectors[:1], vectors[1:])[0, 0])
