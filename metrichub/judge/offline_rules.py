"""The rules of the offline judge: how far words, numbers and negations are in other texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from unicodedata import decimal

from metrichub.judge.sentences import sentences
from metrichub.text.tokenize.porter import porter

_UNSPACED = r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
# Chinese words that are written with a negation and negate nothing: however, not only, not long …
_WHOLE = "不过|不仅|不但|不同|不久|不断|不少|不管|不论|不得不|差不多|未来|淹没|沉没"
_WORD = re.compile(rf"−?\d+(?:[.,:]\d+)*|{_WHOLE}|{_UNSPACED}|[^\W\d_]+(?:['’][^\W\d_]+)*|\w+")
_FUNCTION = frozenset(
    "a an the of to in on at by for with from and or but as is are was were be been being it its "  # noqa: SIM905  # as prose
    "this that these those he she his her hers him they their them has have had do does did would "
    "can could will shall may might must who whom whose which what when where how there here than "
    "then so such i you we our your my me us s".split()
) | frozenset("的了着是有在和与及也就都而之这那吗呢吧啊被把")
_NEGATION = frozenset(
    ("no", "not", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot")
) | frozenset("不没沒未")
_REACH = 3
_THOUSANDS = 3
_PLURALS = dict(
    pair.split(":")
    for pair in (  # noqa: SIM905  # as prose
        "men:man women:woman children:child people:person feet:foot teeth:tooth geese:goose "
        "mice:mouse oxen:ox wives:wife knives:knife wolves:wolf halves:half thieves:thief "
        "shelves:shelf loaves:loaf calves:calf scarves:scarf policemen:policeman "
        "firemen:fireman businessmen:businessman spokesmen:spokesman fishermen:fisherman "
        "policewomen:policewoman businesswomen:businesswoman spokeswomen:spokeswoman "
        "crises:crisis analyses:analysis hypotheses:hypothesis criteria:criterion "
        "phenomena:phenomenon buses:bus gases:gas viruses:virus campuses:campus bonuses:bonus "
        "statuses:status lenses:lens canvases:canvas atlases:atlas circuses:circus geniuses:genius"
    ).split()
)

_UNITS = frozenset(
    "percent dollar dollars euro euros pound pounds yen rupee rupees thousand million billion "  # noqa: SIM905  # as prose
    "trillion 年 月 日".split()
)
_PASSED_OVER = _FUNCTION | _UNITS
_CLAUSE_END = re.compile(r"[;()，；（）–—]|[,:](?!\d)| - - ")
_CURRENCIES = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee"}
_SPACED_NUMBER = re.compile(r"(?<!\d)(\d{1,3}) (?:(,) (?=\d{3}\b)|(\.) (?=\d))")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!\d)")
_MONEY = re.compile(
    r"([$€£¥₹]) ?(−?\d+(?:[.,]\d+)*(?: (?:thousand|million|billion|trillion)\b)?)", re.IGNORECASE
)
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_WIDE_SIGNS = str.maketrans("％＄￥－", "%$¥-")
_WIDE_COLON = re.compile(r"(?<=\d)：(?=\d)")
# A minus stands before a number, and after no number and no word ("2-1", "covid-19"); in Chinese
# after the few words that a negative number is likely to follow.
_MINUS = re.compile(r"(?:(?<![\w)\]%\-–—−])|(?<=[为是到至达约近于]))[-–−](?=\d|[$€£¥₹] ?\d|\.\d)")
_POINT_FIRST = re.compile(r"(?<![\w.])\.(?=\d)")
_MINUS_MONEY = re.compile(r"−([$€£¥₹] ?)")
_SCORE = re.compile(r"(?<![\d.,:])(\d+)(?= ?[-–‒] ?(\d+)(?![.,:]?\d))")
_AFTER = re.compile(r"(?<=\d) ?([$€£¥₹%]|per cent\b)")


def lowercase_words(text: str) -> list[str]:
    """The words of a text in lower case; scripts without spaces give their characters.

    Amounts are words in one form: "$5,000" is "5000 dollar", "5%" is "5 percent", "5.0" is "5",
    "09:00" is "9:00". A negative number has the sign "−", and digits are those of ASCII.
    """
    words = (word.lower() for word in _WORD.findall(_plain_amounts(text)))
    return [_plain_number(word) if is_number(word) else word for word in words]


def is_number(word: str) -> bool:
    """Whether a word is written with digits."""
    return word.removeprefix("−")[:1].isdigit()


def _plain_number(word: str) -> str:
    """A number without the zeros that don't change it."""
    sign, number = word[: word[0] == "−"], word.removeprefix("−")
    integer, point, fraction = number.partition(":" if ":" in number else ".")
    if not (fraction.isdigit() or len(number) == 2):  # a date, a version, an identifier
        return word
    if point == "." and len(fraction) == _THOUSANDS:  # 1.000 may be a thousand
        return word
    fraction = fraction.rstrip("0") if point == "." else fraction
    return f"{sign}{integer.lstrip('0') or '0'}{point if fraction else ''}{fraction}"


def scores(text: str) -> frozenset[tuple[str, str]]:
    """The pairs of numbers that a dash joins, in their order: "2-1" is ("2", "1")."""
    pairs = _SCORE.finditer(_plain_amounts(text))
    return frozenset((_plain_number(pair[1]), _plain_number(pair[2])) for pair in pairs)


def _plain_amounts(text: str) -> str:
    if not text.isascii():
        text = _OTHER_DIGIT.sub(lambda digit: str(decimal(digit[0])), text).translate(_WIDE_SIGNS)
        text = _WIDE_COLON.sub(":", text)
    text = _POINT_FIRST.sub("0.", _MINUS.sub("−", text))
    text = _MINUS_MONEY.sub(r"\1−", text)
    text = _SPACED_NUMBER.sub(r"\1\2\3", text)
    text = _GROUPED.sub(lambda number: number[0].replace(",", ""), text)
    text = _MONEY.sub(lambda money: f" {money[2]} {_CURRENCIES[money[1]]} ", text)
    return _AFTER.sub(lambda sign: f" {_CURRENCIES.get(sign[1], 'percent')} ", text)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a word in lower case; an irregular plural has that of its singular."""
    return porter(_PLURALS.get(word, word))


def content(words: Sequence[str]) -> list[str]:
    """The stems of the words that carry content, or of all words where none does."""
    return [stem(word) for word in words if word not in _FUNCTION] or [*map(stem, words)]


def negated(words: Sequence[str]) -> frozenset[str]:
    """The stems of the words that a negation stands before, at most three words away."""
    after = [
        [word for word in words[i + 1 : i + 1 + _REACH] if word not in _FUNCTION]
        for i, word in enumerate(words)
        if word in _NEGATION or word.endswith(("n't", "n’t"))
    ]
    return frozenset(stem(near[0]) for near in after if near)


def words_beside_numbers(text: str) -> Mapping[str, frozenset[str]]:
    """The numbers of a text, and the stems of the nearest word of content on each side.

    Only words of the same clause count, and units ("dollars") are passed over.
    """
    neighbors: dict[str, set[str]] = {}
    for clause in _CLAUSE_END.split(_plain_amounts(text)):
        words = [word for word in lowercase_words(clause) if word not in _PASSED_OVER]
        for ordered in (words, words[::-1]):
            beside: set[str] = set()
            for word in ordered:
                if is_number(word):
                    neighbors.setdefault(word, set()).update(beside)
                else:
                    beside = {stem(word)}
    return {number: frozenset(words) for number, words in neighbors.items()}


def is_year(number: str) -> bool:
    """Whether a number looks like a year."""
    return len(number) == 4 and number.isdecimal() and "1000" <= number <= "2100"


class Support(NamedTuple):
    """How far a claim is supported (0 to 1), where best, and what speaks against it there."""

    share: float
    where: str
    against: str | None


class _Sentence(NamedTuple):
    """A sentence of the evidence as claims are held against it."""

    text: str
    words: frozenset[str]
    negated: frozenset[str]
    beside: Mapping[str, frozenset[str]]
    scores: frozenset[tuple[str, str]]


class Passages:
    """Texts that claims are held against, by their sentences."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._sentences = []
        self._pairs: set[tuple[str, str]] = set()
        for sentence in (sentence for text in texts for sentence in sentences(text)):
            words = lowercase_words(sentence)
            stems = [*map(stem, words)]
            self._pairs |= set(pairwise(stems))
            beside, pairs = words_beside_numbers(sentence), scores(sentence)
            self._sentences.append(
                _Sentence(sentence, frozenset(stems), negated(words), beside, pairs)
            )
        self._all = frozenset().union(*(sentence.words for sentence in self._sentences))
        self._scores = frozenset().union(*(sentence.scores for sentence in self._sentences))
        self._beside = {
            (number, word)
            for sentence in self._sentences
            for number, words in sentence.beside.items()
            for word in words
        }

    def support(self, claim: str) -> Support:
        """Two thirds the content words that one sentence has, one third the pairs of words."""
        words = lowercase_words(claim)
        if not words or not self._sentences:
            return Support(0.0, "", None)
        claimed = content(words)
        counts = [sum(word in sentence.words for word in claimed) for sentence in self._sentences]
        best, against = self._nearest(claim, words, counts)
        pairs = list(pairwise(map(stem, words)))
        worded = max(counts) / len(claimed)
        paired = sum(pair in self._pairs for pair in pairs) / len(pairs) if pairs else worded
        strange = [word for word in words if is_number(word) and stem(word) not in self._all]
        if strange:
            against = f"the number {strange[0]} isn't there"
        return Support((2 * worded + paired) / 3, best.text, against)

    def _nearest(
        self, claim: str, words: Sequence[str], counts: Sequence[int]
    ) -> tuple[_Sentence, str | None]:
        """The sentence with most of the words, if possible one without anything against it."""
        if not (most := max(counts)):
            return self._sentences[0], None
        claimed, denied = words_beside_numbers(claim), negated(words)
        stems = frozenset(map(stem, words))
        best = [s for s, count in zip(self._sentences, counts, strict=True) if count == most]
        for sentence in best:
            against = (
                self._displaced(claimed, sentence)
                or self._reversed(scores(claim), sentence)
                or _contrary(stems, denied, sentence)
            )
            if against is None:
                return sentence, None
        return best[-1], against

    def _displaced(self, claimed: Mapping[str, frozenset[str]], best: _Sentence) -> str | None:
        """That another number of its kind stands by the words of one of the claim's.

        One such word is enough for a year; what is counted has to be the same in other cases.
        """
        for number, words in claimed.items():
            if not words or any((number, word) in self._beside for word in words):
                continue
            for other, its in best.beside.items():
                same = words & its if is_year(number) else words <= its
                if same and is_year(other) == is_year(number) and other not in claimed:
                    return f"it says {other} there, not {number}"
        return None

    def _reversed(self, claimed: frozenset[tuple[str, str]], best: _Sentence) -> str | None:
        """That a score has its numbers the other way round there, and nowhere as in the claim."""
        for ours, theirs in sorted(claimed - self._scores):
            if (theirs, ours) in best.scores:
                return f"it says {theirs}-{ours} there, not {ours}-{theirs}"
        return None


def _contrary(stems: frozenset[str], denied: frozenset[str], best: _Sentence) -> str | None:
    """That a word of both is negated in only one of them."""
    if words := sorted(best.words & stems & (denied ^ best.negated)):
        return f"{words[0]!r} is negated in one of the two"
    return None


@lru_cache(maxsize=512)
def passages_of(texts: tuple[str, ...]) -> Passages:
    """The evidence of these texts, prepared once."""
    return Passages(texts)
