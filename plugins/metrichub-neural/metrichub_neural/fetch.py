"""`metrichub fetch`: a model of the Hugging Face hub, downloaded to this machine."""

from __future__ import annotations

import click

from metrichub.authoring import Checkpoint, Command
from metrichub.errors import SpecError, UnknownMetric
from metrichub_neural.convert import convert as convert_command
from metrichub_neural.downloads import Offer, Weights, download, offered


@click.command(cls=Command, short_help="Download a model that a metric needs.")
@click.argument("name")
@click.option("--revision", metavar="COMMIT", help="A commit, branch or tag.  [default: newest]")
@click.option("--onnx", is_flag=True, help="Download the ONNX file instead of the safetensors.")
@click.option(
    "--convert", is_flag=True, help="Download pickled weights if need be, and convert them."
)
@click.option("--no-weights", is_flag=True, help="Download the configuration and tokenizer only.")
@click.option("--yes", is_flag=True, help="Download without asking.")
@click.pass_context
def fetch(
    context: click.Context,
    name: str,
    revision: str | None,
    onnx: bool,
    convert: bool,
    no_weights: bool,
    yes: bool,
) -> None:
    """Download a model from the Hugging Face Hub, after showing its size and license.

    NAME is a model, or a metric that is known for one. No other command downloads models. Models
    are stored in the Hub's cache, which other programs share; 'metrichub doctor' lists them.

    metrichub fetch roberta-large
    """
    model = _of_metric(name)
    weights: Weights = "none" if no_weights else "onnx" if onnx else "safetensors"
    if weights == "safetensors" and (convert or model is not None):
        weights = "pickle"
    offers = _offers_of(model or Checkpoint(name), revision, weights)
    for offer in offers:
        size = sum(offer.files.values()) / 1e6
        pickled = f", converted from {', '.join(offer.pickles)}" if offer.pickles else ""
        click.echo(
            f"{offer.name} at {offer.commit}: {size:.1f} MB, license {offer.license}{pickled}"
        )
    if not yes:
        click.confirm("download it?", abort=True)
    for offer in offers:
        folder = download(offer)
        if offer.pickles:
            path = folder / (model.file or "") if model else folder
            context.invoke(convert_command, path=str(path), base=model and model.base)
        else:
            click.echo(str(folder))


def _of_metric(name: str) -> Checkpoint | None:
    """The model that the metric of this name is known for; None if there is no such metric.

    Raises:
        UsageError: the metric is known for no model.
    """
    from metrichub import load_metric

    try:
        checkpoints = load_metric(name).checkpoints
    except (SpecError, UnknownMetric):
        return None
    if not checkpoints:
        raise click.UsageError(
            f"{name} is a metric and not a model; 'metrichub card {name}' says whether it needs one"
        )
    model, *others = checkpoints
    if others:
        click.echo(f"{name} also runs {', '.join(other.name for other in others)}")
    return model


def _offers_of(model: Checkpoint, revision: str | None, weights: Weights) -> list[Offer]:
    """What the hub offers of a model, and of the model that it was trained from."""
    offer = offered(model.name, revision, weights=weights)
    if model.file:
        others = {*offer.pickles} - {model.file}
        files = {file: size for file, size in offer.files.items() if file not in others}
        offer = offer._replace(files=files)
    return [offered(model.base, weights="none"), offer] if model.base else [offer]
