"""WholeMetric: what metrics share that run a whole model, with all on top of its layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metrichub.errors import MissingModel
from metrichub_neural.engine import full, light
from metrichub_neural.engine.encoder import Dtype, ModelName
from metrichub_neural.engine.flaws import ReadingMetric
from metrichub_neural.engine.machine import device
from metrichub_neural.engine.settings import origin_of
from metrichub_neural.local_models import ModelFiles, find_model


@dataclass(frozen=True, kw_only=True)
class FilesMetric(ReadingMetric):
    """A metric that runs the model in some files."""

    def resolved(self) -> Mapping[str, object]:
        """The model's files."""
        files = self.files()
        engine = {"engine": "light"} if light.has_only_onnx(files) else {}
        return {"model": files.name, "revision": files.revision, **engine, **origin_of(files)}

    def requires(self) -> tuple[str, ...]:
        """PyTorch and transformers, or what runs an ONNX file."""
        only_onnx = light.has_only_onnx(self.files())
        return (*self.card.requires, *(light.REQUIRES if only_onnx else full.REQUIRES))

    def one_process(self) -> bool:
        """Whether it runs on a GPU."""
        return device() != "cpu" and not light.has_only_onnx(self.files())


@dataclass(frozen=True, kw_only=True)
class WholeMetric(FilesMetric):
    """A metric that runs a model with all that stands on top of its layers.

    Attributes:
        model: The model: a name on the Hugging Face hub, a folder, or an installed package; it has
            to be on this machine.
        revision: The commit of the hub, or the hash of a folder's files, that has to be used.
        dtype: The type of the model's numbers.
    """

    model: ModelName | None = None
    revision: str | None = None
    dtype: Dtype = "float32"

    def files(self) -> ModelFiles:
        """The model's files, found and not loaded.

        Raises:
            MissingModel: it isn't on this machine, or none was named.
            ModelError: its files are of another revision, or not of such a model.
        """
        if self.model is None:
            named = f"name one, {self.name}(model='…')"
            raise MissingModel(self.name, "of your choice", named)
        names = [checkpoint.name for checkpoint in self.checkpoints]
        return known_files(self.model, self.revision, self.name, names, self.card.name)


def known_files(
    model: str, revision: str | None, needed_by: str, models: Sequence[str], metric: str
) -> ModelFiles:
    """A model's files, found and not loaded; `metrichub fetch METRIC` gets the first of the known.

    Raises:
        MissingModel: it isn't on this machine.
    """
    try:
        return find_model(model, revision, needed_by=needed_by)
    except MissingModel as error:
        if model not in models or revision is not None:
            raise
        name = metric if model == models[0] else f"--convert {model}"
        raise MissingModel(needed_by, model, f"metrichub fetch {name}") from error
