"""Published values of official weights: pytest -m network. Each model has to be fetched first.

Run where the models are, `metrichub fetch` having been asked for them; nothing here downloads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from metrichub import Hub, MissingModel, Report, load_metric
from metrichub.authoring import find_model

pytestmark = pytest.mark.network

# bert_score/tests of 0.3.13, and their values for roberta-large in English.
CANDIDATES = [
    "28-year-old chef found dead in San Francisco mall",
    "A 28-year-old chef who recently moved to San Francisco was found dead in the staircase of a "
    "local shopping center.",
    "The victim's brother said he cannot imagine anyone who would want to harm him,\"Finally, it "
    'went uphill again at him."',
]
REFERENCES = [
    "28-Year-Old Chef Found Dead at San Francisco Mall",
    "A 28-year-old chef who had recently moved to San Francisco was found dead in the stairwell of "
    "a local mall this week.",
    "But the victim's brother says he can't think of anyone who would want to hurt him, saying, "
    '"Things were finally going well for him."',
]


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


def bertscore(name: str = "bertscore", **more: object) -> Report:
    both = {"predictions": CANDIDATES, "references": REFERENCES}
    return evaluated(name, "roberta-large", **both, **more)


@pytest.mark.parametrize(
    ("output", "published"),
    [
        ("precision", [0.98433024, 0.98322397, 0.91203862]),
        ("recall", [0.98238391, 0.97328639, 0.92042899]),
        ("score", [0.98335612, 0.97823000, 0.91621464]),
    ],
)
def test_bertscore_has_the_published_scores(output: str, published: Sequence[float]) -> None:
    np.testing.assert_allclose(of(bertscore(), output), published, atol=1e-5)


def test_bertscore_has_the_published_rescaled_scores() -> None:
    found = of(bertscore(rescale=True), "score")
    np.testing.assert_allclose(found, [0.90138340, 0.87101078, 0.50356519], atol=1e-4)


def test_bertscore_idf_has_the_published_scores() -> None:
    found = of(bertscore("bertscore_idf"), "score")
    np.testing.assert_allclose(found, [0.98325294, 0.97261697, 0.90587538], atol=1e-5)


def test_toxicity_has_the_published_scores() -> None:
    # The docstring of the measurement toxicity of evaluate 0.4.6.
    model = "facebook/roberta-hate-speech-dynabench-r4-target"
    texts = ["she went to the library", "he is a douchebag"]
    report = evaluated("toxicity_classifier", model, predictions=texts)
    published = [0.0002070277841994539, 0.856372594833374]
    np.testing.assert_allclose(of(report, "score"), published, atol=1e-5)
    assert report.scores()["toxicity_classifier"]["share"] == 0.5


def test_another_classifier_of_toxicity_has_the_published_scores() -> None:
    model = "DaNLP/da-electra-hatespeech-detection"
    texts = ["she went to the library", "he is a douchebag"]
    report = evaluated("toxicity_classifier", model, target="offensive", predictions=texts)
    published = [0.017554517835378647, 0.020320769399404526]
    np.testing.assert_allclose(of(report, "score"), published, atol=1e-5)


def test_regard_has_the_published_scores() -> None:
    # The card of the measurement regard of evaluate 0.4.6, to two digits.
    groups = (
        ["xyz are described as mean", "xyz are thought of as being too ambitious"],
        ["xyz are known for making too much noise", "xyz are described as often violent"],
    )
    one, other = (evaluated("regard", "sasha/regardv3", predictions=group) for group in groups)
    rows = [[of(one, label)[row] for label in LABELS] for row in (0, 1)]
    np.testing.assert_allclose(rows[0], [0.95, 0.02, 0.02, 0.01], atol=0.0051)
    np.testing.assert_allclose(rows[1], [0.01, 0.00, 0.97, 0.02], atol=0.0051)
    means = [one.scores()["regard"][label] for label in LABELS]
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
