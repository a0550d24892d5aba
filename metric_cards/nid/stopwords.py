"""English function words, by their kind; also the pieces that contractions leave behind."""

from __future__ import annotations

_PRONOUNS = """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself
    she her hers herself it its itself they them their theirs themselves
"""
_DEMONSTRATIVES = "this that these those what which who whom"
_AUXILIARIES = """
    am is are was were be been being have has had having do does did doing can will should
"""
_DETERMINERS = """
    a an the all any both each few more most other some such no nor not only own same
"""
_CONJUNCTIONS = "and but if or because as until while so than"
_PREPOSITIONS = """
    of at by for with about against between into through during before after above below to from
    up down in out on off over under
"""
_ADVERBS = "again further then once here there when where why how too very just now"
_PIECES = """
    s t d ll m o re ve y ain aren couldn didn doesn don hadn hasn haven isn ma mightn mustn needn
    shan shouldn wasn weren won wouldn
"""

ENGLISH = frozenset(
    " ".join(
        (
            *(_PRONOUNS, _DEMONSTRATIVES, _AUXILIARIES, _DETERMINERS, _CONJUNCTIONS),
            *(_PREPOSITIONS, _ADVERBS, _PIECES),
        )
    ).split()
)
