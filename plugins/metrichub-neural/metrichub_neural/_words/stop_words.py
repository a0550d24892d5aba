"""English function words, which say little of what a text is about."""

_DETERMINERS = """
a an the this that these those each every either neither some any all both half such no
"""
_PRONOUNS = """
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself
she her hers herself it its itself they them their theirs themselves one who whom whose which what
whoever whatever there here
"""
_PREPOSITIONS = """
about above across after against along among around as at before behind below beneath beside
besides between beyond by down during except for from in inside into near of off on onto out
outside over per since than through throughout till to toward towards under until up upon via with
within without
"""
_CONJUNCTIONS = """
and but or nor so yet if unless because although though while whereas whether when where why how
then thus also too very just only even again once more most less least quite rather not
"""
# What tokenizers leave of them is there too: "don't" is "do" and "n't", or "don" and "t".
_AUXILIARIES = """
am is are was were be been being do does did doing done have has had having can could may might
must shall should will would ought 's 't 'd 'll 'm 're 've n't s t d ll m re ve
"""

ENGLISH = frozenset(
    " ".join((_DETERMINERS, _PRONOUNS, _PREPOSITIONS, _CONJUNCTIONS, _AUXILIARIES)).split()
)
