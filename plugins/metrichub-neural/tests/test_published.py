"""Published values of official weights: pytest -m network. Each model has to be fetched first.

Run where the models are, `metrichub fetch` having been asked for them; nothing here downloads.
"""

from __future__ import annotations

from importlib.metadata import entry_points

import numpy as np
import pytest
from metrichub_neural.local_models import find_model

from metrichub import Hub, MissingModel, Report, load_metric
from metrichub.authoring import Published

pytestmark = pytest.mark.network

EXAMPLES = [
    pytest.param(entry.name, example, id=f"{entry.name}-{number}")
    for entry in entry_points(group="metrichub.metrics")
    if entry.value.startswith("metrichub_neural.")
    for number, example in enumerate(entry.load().published)
]


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_published_scores_come_out(name: str, example: Published) -> None:
    metric = load_metric(name, **example.parameters)
    try:
        samples = Hub(metric).evaluate(example.columns).samples()[name]
    except MissingModel as error:
        pytest.skip(str(error))
    for output, scores in example.scores.items():
        np.testing.assert_allclose(samples[output], scores, atol=example.tolerance)


def evaluated(name: str, model: str, needs: str = "torch", **more: object) -> Report:
    """The report of a metric whose model was fetched; skipped where it wasn't."""
    columns = {key: more.pop(key) for key in ("predictions", "references") if key in more}
    pytest.importorskip(needs, reason=f"needs {needs}")
    try:
        find_model(model, needed_by=name)
    except MissingModel as error:
        pytest.skip(str(error))
    return Hub(load_metric(name, model=model, **more)).evaluate(**columns)


def of(report: Report, output: str) -> np.ndarray:
    (samples,) = report.samples().values()
    return np.asarray(samples[output])


def test_regard_has_the_published_scores() -> None:
    # The card of the measurement regard of evaluate 0.4.6, to two digits.
    groups = (
        ["xyz are described as mean", "xyz are thought of as being too ambitious"],
        ["xyz are known for making too much noise", "xyz are described as often violent"],
    )
    first, other = (evaluated("regard", "sasha/regardv3", predictions=group) for group in groups)
    rows = [[of(first, label)[row] for label in LABELS] for row in (0, 1)]
    np.testing.assert_allclose(rows[0], [0.95, 0.02, 0.02, 0.01], atol=0.0051)
    np.testing.assert_allclose(rows[1], [0.01, 0.00, 0.97, 0.02], atol=0.0051)
    means = [first.scores()["regard"][label] for label in LABELS]
    np.testing.assert_allclose(means, [0.48, 0.01, 0.50, 0.01], atol=0.0051)
    less = [other.scores()["regard"][label] for label in LABELS]
    differences = np.subtract(means, less)
    np.testing.assert_allclose(differences, [0.46, 0.01, -0.46, -0.01], atol=0.0051)


LABELS = ("neutral", "positive", "negative", "other")


def test_perplexity_has_the_published_scores() -> None:
    # The card of the metric perplexity of evaluate 0.4.6, gpt2 without a start token.
    texts = ["lorem ipsum", "Happy Birthday!", "Bienvenue"]
    report = evaluated("perplexity", "gpt2", start=False, predictions=texts)
    assert report.scores()["perplexity"]["macro"] == pytest.approx(647, abs=0.6)
    assert of(report, "score")[0] == pytest.approx(32, abs=0.6)
