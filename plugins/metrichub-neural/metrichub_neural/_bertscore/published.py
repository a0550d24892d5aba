"""The scores that the tests of bert-score 0.3.13 have for roberta-large in English."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metrichub.authoring import Published

_SOURCE = "the tests of bert-score 0.3.13"
_COLUMNS = {
    "predictions": [
        "28-year-old chef found dead in San Francisco mall",
        "A 28-year-old chef who recently moved to San Francisco was found dead in the staircase of "
        "a local shopping center.",
        "The victim's brother said he cannot imagine anyone who would want to harm him,\"Finally, "
        'it went uphill again at him."',
    ],
    "references": [
        "28-Year-Old Chef Found Dead at San Francisco Mall",
        "A 28-year-old chef who had recently moved to San Francisco was found dead in the "
        "stairwell of a local mall this week.",
        "But the victim's brother says he can't think of anyone who would want to hurt him, "
        'saying, "Things were finally going well for him."',
    ],
}


def of_roberta_large(
    scores: Mapping[str, Sequence[float]], rescaled: Mapping[str, Sequence[float]] | None = None
) -> tuple[Published, ...]:
    """Examples with these scores, and with those that are rescaled."""
    model = {"model": "roberta-large"}
    plain = Published(_SOURCE, model, _COLUMNS, scores, 1e-5)
    if rescaled is None:
        return (plain,)
    # Stretching the scores stretches what they differ by.
    return plain, Published(_SOURCE, {**model, "rescale": True}, _COLUMNS, rescaled, 1e-4)
