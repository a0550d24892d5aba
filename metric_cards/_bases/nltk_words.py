"""Words as nltk's `word_tokenize` finds them, which METEOR and IFEval take.

The rules are those of nltk 3.10's `NLTKWordTokenizer` (Apache-2.0), after Robert MacIntyre's script
for the Penn Treebank. nltk finds sentences with Punkt, whose model is a download; here, sentencex
finds them.
"""

from __future__ import annotations

import re

import numpy as np

from metrichub.text import Texts, Tokens, segments

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


class _WordTokens:
    """The tokenizer: the lower-cased tokens of a text or a column, sentence by sentence."""

    __name__ = "word_tokens"

    def __call__(self, text: str) -> list[str]:
        """The tokens of a text."""
        return [token for sentence in segments(text) for token in remembered_tokens(sentence)]

    def of_column(self, texts: Texts) -> Tokens:
        """The tokens of every text, looked up once for each distinct chunk at its place."""
        firsts, ends, plain = [], [], []
        for text, start in zip(texts, texts.characters.rows.tolist(), strict=False):
            sentences = segments(text)
            apart = "".join(sentences) == text and all(s.endswith(" ") for s in sentences[:-1])
            plain.append(apart and all(map(_is_plain, sentences)))
            for sentence in sentences if plain[-1] else ():
                firsts.append(start)
                start += len(sentence)
                ends.append(start)
        chunks = texts.tokens("whitespace")
        first, end = (
            np.searchsorted(chunks.starts, texts.characters.bytes_at(np.array(at, np.int64)))
            for at in (firsts, ends)
        )
        places = np.zeros(len(chunks.starts), np.int64)
        places[first] = 1
        places[end - 1] += 2
        if all(plain):
            return chunks.expand(places, _AT)
        keep, others = np.repeat(plain, chunks.lengths), np.flatnonzero(~np.array(plain))
        tokens = chunks.select(keep).expand(places[keep], _AT)
        return tokens.replace(others, Tokens.of(self(texts[row]) for row in others.tolist()))


word_tokens = _WordTokens()


def _is_plain(sentence: str) -> bool:
    """Whether its tokens are those of its chunks, each at its place.

    Between spaces, no rule looks beyond a chunk, except whether it is the first or the last
    one, or whether chunks of closing marks follow a point at the end.
    """
    text = sentence.rstrip(" ")
    last = text[text.rfind(" ") + 1 :]
    if _CLOSING.issuperset(last) or text[0] == " " or (last == text != sentence):
        return False
    # Of white space, only a space is printable.
    return sentence.isprintable() or list(filter(None, sentence.split(" "))) == sentence.split()


def remembered_tokens(sentence: str) -> list[str]:
    """The lower-cased tokens of a sentence, those of known chunks from memory."""
    if not _is_plain(sentence):
        return sentence_tokens(sentence)
    chunks = sentence.encode().split()
    if len(chunks) == 1:
        return list(_ALONE[chunks[0]])
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


class _Chunks(dict[bytes, list[str]]):
    """The tokens of chunks, in UTF-8, beside others; emptied when it holds too many."""

    def __init__(self, before: bool, after: bool) -> None:
        self._before, self._after = before, after

    def __missing__(self, chunk: bytes) -> list[str]:
        if len(self) >= KNOWN:
            self.clear()
        beside = sentence_tokens(f"{'x ' * self._before}{chunk.decode()}{' x' * self._after}")
        tokens = self[chunk] = beside[self._before : len(beside) - self._after]
        return tokens


_MIDDLE, _FIRST = _Chunks(True, True), _Chunks(False, True)
_LAST, _ALONE = _Chunks(True, False), _Chunks(False, False)
_AT = (_MIDDLE, _FIRST, _LAST, _ALONE)
"""By 1 for the first chunk of a sentence, and 2 for the last."""
