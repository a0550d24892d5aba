"""`metrichub fetch`: models that metrics run on this machine, downloaded when asked to."""

from __future__ import annotations

import click

from metrichub.cli.program import Command
from metrichub.models.weights import fetch as fetched
from metrichub.models.weights import offered


@click.command(cls=Command, short_help="Download a model that a metric needs.")
@click.argument("name")
@click.option("--revision", metavar="COMMIT", help="A commit, branch or tag.  [default: newest]")
@click.option("--onnx", is_flag=True, help="Take its ONNX file instead of its safetensors.")
@click.option("--yes", is_flag=True, help="Don't ask before the download.")
def fetch(name: str, revision: str | None, onnx: bool, yes: bool) -> None:
    """Download a model from the Hugging Face hub, after its size and licence were shown.

    Nothing else downloads models. It goes into the hub's cache, which other programs share; what
    is there is listed by: metrichub doctor

    metrichub fetch roberta-large
    """
    offer = offered(name, revision, onnx=onnx)
    size = sum(offer.files.values()) / 1e6
    click.echo(f"{name} at {offer.commit}: {size:.1f} MB, licence {offer.license}")
    if not yes:
        click.confirm("download it?", abort=True)
    click.echo(str(fetched(offer).folder))
