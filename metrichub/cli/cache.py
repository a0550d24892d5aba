"""`metrichub cache`: the stored answers of judges, and scores of models on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from metrichub.cli.output import emit, result_format
from metrichub.cli.program import Command
from metrichub.errors import JudgeUnavailable
from metrichub.report.tables import Table


@click.group("cache")
def cache() -> None:
    """Show, merge or clear the call store, so that nothing is paid or waited for twice.

    It has the answers of judges, and what models on this machine gave for blocks of texts.
    """


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
    """Delete stored answers; the next run asks for them again, and pays for a server's.

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
