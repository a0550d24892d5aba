"""The scores in the README of maszhongming/UniEval, for `metrichub selftest unieval`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from metrichub.authoring import Published

Columns = Mapping[str, Sequence[object]]

_PARTY = (
    "Peter and Elizabeth took a taxi to attend the night party in the city. While in the party, "
    "Elizabeth collapsed and was rushed to the hospital."
)
_BUTTON = (
    "the 3 horizontal line menu on apps and websites is called a hamburger button .",
    "i do too . did you know the 3 horizontal line menu on apps and websites is called the "
    "hamburger button ?",
)
_SUMMARY: Columns = {
    "predictions": ["Peter and Elizabeth attend party city. Elizabeth rushed hospital."],
    "sources": [_PARTY],
    "references": ["Elizabeth was hospitalized after attending a party with Peter."],
}
_ANSWER: Columns = {
    "predictions": [_BUTTON[1]],
    "sources": [
        "hi , do you know much about the internet ? \n i know a lot about different sites and some "
        "website design , how about you ? \n\n"
    ],
    "contexts": [[_BUTTON[0]]],
}
_FACT: Columns = {"predictions": ["Tom was rushed to hospital."], "sources": [_PARTY]}
_SCORES = {
    "coherence": (_SUMMARY, 0.948185),
    "consistency": (_SUMMARY, 0.883036),
    "fluency": (_SUMMARY, 0.42928),
    "relevance": (_SUMMARY, 0.636075),
    "dialogue_naturalness": (_ANSWER, 0.950218),
    "dialogue_coherence": (_ANSWER, 0.973135),
    "dialogue_engagingness": (_ANSWER, 1.750486),
    "dialogue_groundedness": (_ANSWER, 0.999566),
    "dialogue_understandability": (_ANSWER, 0.946209),
    "fact_consistency": (_FACT, 0.025441),
}


def _each() -> Iterator[Published]:
    for dimension, (columns, score) in _SCORES.items():
        source = f"README of maszhongming/UniEval, {dimension}"
        # Rounded to six digits, on a GPU.
        yield Published(source, {"dimension": dimension}, columns, {"score": [score]}, 1e-4)


PUBLISHED = tuple(_each())
