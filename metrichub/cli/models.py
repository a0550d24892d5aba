"""`metrichub fetch` and `cache`: local models, and the stored answers of judges."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from metrichub.catalog.known_plugins import elsewhere, install_of
from metrichub.catalog.registry import registry
from metrichub.cli.output import emit, result_format
from metrichub.cli.program import Command, Program
from metrichub.errors import JudgeUnavailable, MissingDependency
from metrichub.metric import Checkpoint
from metrichub.models.local_models import Offer, Weights, offered
from metrichub.models.local_models import fetch as fetched
from metrichub.report.tables import Table


@click.command(cls=Command)
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
    weights: Weights = "none" if no_weights else "onnx" if onnx else "safetensors"
    if convert and weights == "safetensors":
        weights = "pickle"
    is_metric = name in registry() or elsewhere(name) is not None
    model = _known_of(name) if is_metric else Checkpoint(name)
    if is_metric and weights == "safetensors":
        weights = "pickle"
    offers = _offers_of(model, revision, weights)
    converter = _converter(context) if any(offer.pickles for offer in offers) else None
    for offer in offers:
        size = sum(offer.files.values()) / 1e6
        pickled = f", converted from {', '.join(offer.pickles)}" if offer.pickles else ""
        click.echo(
            f"{offer.name} at {offer.commit}: {size:.1f} MB, license {offer.license}{pickled}"
        )
    if not yes:
        click.confirm("download it?", abort=True)
    for offer in offers:
        folder = str(fetched(offer))
        if offer.pickles and converter:
            context.invoke(converter, path=str(Path(folder, model.file or "")), base=model.base)
        else:
            click.echo(folder)


def _known_of(metric: str) -> Checkpoint:
    """The model that a metric is known for.

    Raises:
        UnknownMetric: it isn't installed.
        UsageError: it is known for none.
    """
    checkpoints = getattr(registry().find(metric).load(), "checkpoints", ())
    if not checkpoints:
        raise click.UsageError(
            f"{metric} is a metric and not a model; 'metrichub card {metric}' says whether it "
            "needs one"
        )
    model, *others = checkpoints
    if others:
        click.echo(f"{metric} also runs {', '.join(other.name for other in others)}")
    return Checkpoint(*model)


def _offers_of(model: Checkpoint, revision: str | None, weights: Weights) -> list[Offer]:
    """What the hub offers of a model, and of what it takes beside."""
    offer = offered(model.name, revision, weights=weights)
    if model.file:
        others = {*offer.pickles} - {model.file}
        files = {file: size for file, size in offer.files.items() if file not in others}
        offer = offer._replace(files=files)
    return [offered(model.base, weights="none"), offer] if model.base else [offer]


def _converter(context: click.Context) -> click.Command:
    """The command `convert`, which comes with a plugin.

    Raises:
        MissingDependency: it isn't installed.
    """
    program = context.find_root().command
    if isinstance(program, Program) and "convert" in program.plugins:
        command = program.get_command(context, "convert")
        if command is not None:
            return command
    plugin = "metrichub-neural"
    raise MissingDependency("converting a pickle", plugin, install_of(plugin))


@click.group("cache")
def cache() -> None:
    """Show, merge or clear the call store, so that no judge's answer is paid for twice."""


@cache.command(cls=Command)
@click.option("--format", "form", type=click.Choice(("table", "json")), help="The format.")
def info(form: str | None) -> None:
    """Show where the answers are, and how many of each model."""
    from metrichub.models.store import store, stored_files

    answers = store()
    models = answers.models()
    size = sum(path.stat().st_size for path in stored_files())
    emit(
        result_format(form),
        lambda: [Table(("model", "answers"), [(name, f"{n:,}") for name, n in models.items()])],
        lambda: {"path": str(answers.path), "bytes": size, "models": models},
        foot=(f"{answers.path}: {sum(models.values()):,} answers, {size / 1e6:,.1f} MB",),
    )


@cache.command(cls=Command)
@click.option("--model", metavar="NAME", help="Delete only the answers of this model.")
@click.option("--yes", is_flag=True, help="Don't ask.")
def clear(model: str | None, yes: bool) -> None:
    """Delete stored answers; the next run asks, and pays, for them again.

    Without --model, damaged call stores that were moved aside are deleted, too.
    """
    from metrichub.models.store import damaged_files, delete_all, store, store_path

    try:
        models = store().models()
    except JudgeUnavailable:
        # All of it can be deleted, whatever is wrong with it.
        if model is not None:
            raise
        models = {}
    if model is not None and model not in models:
        raise click.UsageError(
            f"no answers of {model!r} are stored (models: {', '.join(models) or 'none'})"
        )
    number = models[model] if model is not None else sum(models.values())
    damaged = damaged_files() if model is None else []
    if (number or damaged) and not yes:
        also = f" and {len(damaged)} damaged files beside it" if damaged else ""
        click.confirm(f"Delete {number:,} answers in {store_path()}{also}?", abort=True, err=True)
    if model is not None:
        store().clear(model)
    else:
        delete_all()
    click.echo(f"{number:,} answers deleted")


@cache.command(cls=Command)
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path)
)
def merge(files: Sequence[Path]) -> None:
    """Merge the call stores of other machines.

    If several machines judged parts of the samples, each with its own store, merge the stores into
    one that holds all answers. A FILE may also be a folder that was used as METRICHUB_CACHE; FILEs
    stay unchanged.
    """
    from metrichub.models.store import store

    answers = store()
    paths = [path / answers.path.name if path.is_dir() else path for path in files]
    if missing := [path for path in paths if not path.is_file()]:
        raise click.UsageError(f"there is no call store {missing[0]}")
    for path in paths:
        click.echo(f"{path}: {answers.merge(path):,} answers merged")
    click.echo(f"{answers.path}: {len(answers):,} answers")
