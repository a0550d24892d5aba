"""Words of a caption, nearly as pycocoevalcap gets them from Stanford's PTBTokenizer.

Words are in lower case, their clitics stand apart ("do n't", "dog 's"), and punctuation is gone.
Signs such as "$" and "%" are words, and so are brackets, under the names that the Penn Treebank
gives them.
"""

from __future__ import annotations

import re

KNOWN = 1 << 18
"""Chunks whose words are kept."""

BRACKETS = {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
SHORT = frozenset(
    (
        *("mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "gen", "gov", "sen", "rep", "rev"),
        *("hon", "capt", "col", "lt", "maj", "sgt", "adm", "inc", "corp", "ltd", "co", "bros"),
        *("vs", "etc", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct"),
        *("nov", "dec", "ave", "blvd", "rd", "mt", "ft", "no"),
    )
)
"""Words that keep the point behind them; so do single letters that each have one."""

TWO_WORDS = {
    **{"cannot": "can not", "gonna": "gon na", "gotta": "got ta", "wanna": "wan na"},
    **{"lemme": "lem me", "gimme": "gim me", "'tis": "'t is", "'twas": "'t was"},
}
SIGNS = {**BRACKETS, "£": "#", "€": "$", "¤": "$", "¢": "cents"}
_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"'})
# Whatever is neither ASCII nor punctuation is a letter: \w leaves out the vowel signs of Hindi.
_MARKS = r"\x00-\u02ff\u060c\u061b\u061f\u06d4\u0964\u0965\u2000-\u2bff\u3000-\u303f"
_LETTER = rf"(?:[^\W_¹²³]|[^{_MARKS}])"
_WORDS = re.compile(
    # Words that begin with an apostrophe, among them clitics that stand alone.
    r"(?<!')'(?:tis|twas|em|s|re|ve|ll|m|d|\d\ds?)\b|'n\b'?"
    rf"|(?:(?!\d){_LETTER}\.)+(?:-{_LETTER}+|(?!{_LETTER}))"
    rf"|[@#]?(?!\d){_LETTER}(?:{_LETTER}|_|[-/&@.'+](?={_LETTER}))*(?:\+\+)?\.?"
    # The unit of "8.3m" is a word of its own, those of "5kg" and "1.8m-high" are not.
    rf"|[-+]?\d+(?:[.,:]\d+)+(?=(?!\d){_LETTER}(?:{_LETTER})*+(?!-{_LETTER}))"
    rf"|[-+]?(?:(?<!\.)\.)?\d(?:{_LETTER}|[.,:](?=\d)|[/'-](?={_LETTER}))*"
    r"|[()\[\]{}$£€¤¢¥%#&+=*/<>@^~|\\°©®™§¹²³]"
)
_INITIALS = re.compile(rf"(?:{_LETTER}\.)+")
_CLITIC = re.compile(r"(?<=.)(n't|'(?:s|re|ve|ll|m|d))$")


def words_by_chunk(text: str) -> list[str]:
    """The words of every chunk of a text, but for chunks without a word."""
    return list(filter(None, map(_CHUNKS.__getitem__, text.split())))


def caption_words(chunk: str) -> str:
    """The words of text without white space, with spaces between them; maybe none."""
    words = _WORDS.findall(chunk.lower().translate(_QUOTES))
    return " ".join(map(_word, words))


class _Chunks(dict[str, str]):
    """The words of the chunks that were met; emptied when it holds too many."""

    def __missing__(self, chunk: str) -> str:
        if len(self) >= KNOWN:
            self.clear()
        words = self[chunk] = caption_words(chunk)
        return words


_CHUNKS = _Chunks()
"""A dictionary is asked for a chunk in a fifth of the time that `lru_cache` takes."""


def _word(word: str) -> str:
    if word in SIGNS or word in TWO_WORDS:
        return SIGNS.get(word) or TWO_WORDS[word]
    if word.endswith(".") and word[:-1] not in SHORT and not _INITIALS.fullmatch(word):
        word = word[:-1]
    return _CLITIC.sub(r" \1", word)
