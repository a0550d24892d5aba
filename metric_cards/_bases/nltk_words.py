"""Words as nltk's `word_tokenize` finds them, which METEOR and IFEval take.

The rules are those of nltk 3.10's `NLTKWordTokenizer` (Apache-2.0), after Robert MacIntyre's script
for the Penn Treebank. nltk finds sentences with Punkt, whose model is a download; here, sentencex
finds them.
"""

from __future__ import annotations

import re

from metrichub.text import well_formed

# What a rule needs one of, its pattern, and what takes the match's place. The order matters.
_RULES = tuple(
    (frozenset(needs), re.compile(pattern), replacement)
    for needs, pattern, replacement in (
        # What opens a quotation becomes "``".
        ("«“‘„`", "[«“‘„]|``?", r" \g<0> "),
        ('"', r'^"', " `` "),
        ("\"'", r"""([ (\[{<])(?:"|'')""", r"\1 `` "),
        # An apostrophe in front is a token, unless it begins a clitic.
        ("'", r"(?i)(?<!\w)'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)", "' "),
        # A point is a token at the end of the sentence, before quotation marks and brackets.
        (".", r"""([^.])\.([\])}>"'»”’ ]*+)\s*$""", r"\1 . \2 "),
        (":,", r"([:,])(\D)", r" \1 \2"),
        (":,", r"[:,]$", r" \g<0> "),
        (".;@#$%&?!‒–—―", r"\.{2,}|[;@#$%&?!‒–—―]", r" \g<0> "),
        ("'", r"(?<!')' ", " ' "),
        ("[](){}<>*-", r"[\]\[(){}<>*]|--", r" \g<0> "),
        # What closes a quotation becomes "''".
        ("»”’", "[»”’]", r" \g<0> "),
        ("'\"", "''|\"", " '' "),
        # Clitics, at the end of a word.
        ("'", r"\s+|$", " "),
        ("'", r"(?i)(?<=[^' ])('[smd]?) ", r" \1 "),
        ("'", r"(?<=[^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r" \1 "),
        ("'", r"(?i)\b(?:(d)('ye)|(more)('n))\b", r" \1\3 \2\4 "),
    )
)
_CLOSING = frozenset("])}>\"'»”’")
KNOWN = 1 << 16
"""Chunks whose tokens are kept, at each place of a sentence."""

_JOINED = re.compile(r"(?i)\b(?:(can)(not)|(gim|lem)(me)|(gon)(na)|(got)(ta)|(wan)(na)(?=\s|$))\b")
_TWAS = tuple(re.compile(rf"(?i)(?<= )('t)({verb})\b") for verb in ("is", "was"))


def word_tokens(text: str) -> list[str]:
    """The lower-cased tokens of a text, sentence by sentence."""
    from sentencex import segment

    # sentencex takes no lone surrogates.
    sentences = segment("en", well_formed(text))
    return [token for sentence in sentences for token in remembered_tokens(sentence)]


def remembered_tokens(sentence: str) -> list[str]:
    """The lower-cased tokens of a sentence, those of known chunks from memory.

    Between spaces, no rule looks beyond a chunk, except whether it is the first or the last
    one, or whether chunks of closing marks follow a point at the end.
    """
    chunks = sentence.rstrip(" ").split(" ")
    white = list(filter(None, chunks)) != sentence.split()
    if len(chunks) == 1 or white or _CLOSING.issuperset(chunks[-1]):
        return sentence_tokens(sentence)
    tokens = list(_FIRST[chunks[0]])
    for chunk in chunks[1:-1]:
        tokens += _MIDDLE[chunk]
    return tokens + _LAST[chunks[-1]]


def sentence_tokens(sentence: str) -> list[str]:
    """The lower-cased tokens of a sentence."""
    return [token.lower() for token in cased_tokens(sentence)]


def cased_tokens(sentence: str) -> list[str]:
    """The tokens of a sentence."""
    text, characters = sentence, set(sentence)
    for needs, pattern, replacement in _RULES:
        if not characters.isdisjoint(needs):
            text = pattern.sub(replacement, text)
    text = _JOINED.sub(r" \1\3\5\7\9 \2\4\6\8\g<10> ", text)
    if "'" in characters:
        for pattern in _TWAS:
            text = pattern.sub(r" \1 \2 ", f" {text}")
    return text.split()


class _Chunks(dict[str, list[str]]):
    """The tokens of the chunks that were met beside others; emptied when it holds too many."""

    def __init__(self, before: bool, after: bool) -> None:
        self._before, self._after = before, after

    def __missing__(self, chunk: str) -> list[str]:
        if len(self) >= KNOWN:
            self.clear()
        beside = sentence_tokens(f"{'x ' * self._before}{chunk}{' x' * self._after}")
        tokens = self[chunk] = beside[self._before : len(beside) - self._after]
        return tokens


_FIRST, _MIDDLE, _LAST = _Chunks(False, True), _Chunks(True, True), _Chunks(True, False)
