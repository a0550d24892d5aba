"""`metrichub fetch`: models that metrics run on this machine, downloaded when asked to."""

from __future__ import annotations

import click

from metrichub.cli.program import Command
from metrichub.models.weights import fetch as fetched
from metrichub.models.weights import offered


@click.command(cls=Command)
@click.argument("name")
@click.option("--revision", metavar="COMMIT", help="A commit, branch or tag.  [default: newest]")
@click.option("--onnx", is_flag=True, help="Download the ONNX file instead of the safetensors.")
@click.option("--yes", is_flag=True, help="Download without asking.")
def fetch(name: str, revision: str | None, onnx: bool, yes: bool) -> None:
    """Download a model from the Hugging Face Hub, after showing its size and licence.

    No other command downloads models. Models are stored in the Hub's cache, which other programs
    share; 'metrichub doctor' lists them.

    metrichub fetch roberta-large
    """
    offer = offered(name, revision, onnx=onnx)
    size = sum(offer.files.values()) / 1e6
    click.echo(f"{name} at {offer.commit}: {size:.1f} MB, licence {offer.license}")
    if not yes:
        click.confirm("download it?", abort=True)
    click.echo(str(fetched(offer).folder))
