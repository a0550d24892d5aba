"""`metrichub selftest`: published scores, computed again with the model that gave them."""

from __future__ import annotations

import os

import click

from metrichub.authoring import Command, Metric, Published


@click.command(cls=Command, short_help="Compute published scores again.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.pass_context
def selftest(context: click.Context, names: tuple[str, ...]) -> None:
    """Compute published scores again, with the same model; exits with 1 if one differs.

    The tests of a metric of models use models with random weights, which show that the arithmetic
    is right; this shows that the real weights are read right. The models have to be on this
    machine: 'metrichub fetch NAME'.
    """
    from metrichub import load_metric

    os.environ["METRICHUB_NO_CACHE"] = "1"
    differing = 0
    for name in names:
        published = load_metric(name).published
        if not published:
            raise click.UsageError(f"{name} names no published scores")
        for example in published:
            differing += _compared(load_metric(name, **example.parameters), example)
    context.exit(1 if differing else 0)


def _compared(metric: Metric, example: Published) -> int:
    """Print each score beside the one that was published; returns how many differ."""
    from metrichub import Hub

    samples = Hub(metric).evaluate(example.columns).samples()[metric.name]
    click.echo(f"{metric.label()}: {example.source}")
    differing = 0
    for output, scores in example.scores.items():
        for number, (score, expected) in enumerate(zip(samples[output], scores, strict=True), 1):
            near = abs(float(score) - expected) <= example.tolerance
            differing += not near
            verdict = "ok" if near else f"DIFFERS by more than {example.tolerance:g}"
            click.echo(
                f"  {output} {number}: {float(score):.6f}, published {expected:g}  {verdict}"
            )
    return differing
