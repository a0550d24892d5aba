r"""Answers: what a reply gives as its final answer, such as the 18 of "so it is \boxed{18}."."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, zip_longest
from typing import TypeVar

_TAGS = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|analysis)"
THINKING = re.compile(
    rf"<{_TAGS}(?:\s[^>]*)?>|\[THINK\]|◁think▷|<\|channel\|>\s*analysis", re.IGNORECASE
)
"""How thinking begins: tags, those of Mistral and Kimi, and the channel of gpt-oss."""
THOUGHT = re.compile(
    rf"</{_TAGS}\s*>|\[/THINK\]|◁/think▷|<\|channel\|>\s*final\s*<\|message\|>", re.IGNORECASE
)
"""How it ends."""
_OPEN_BOX = r"\\(?:boxed|fbox)(?=\s*\{)|\\boxed "
_BOX = re.compile(_OPEN_BOX)
_BRACES = re.compile(r"[{}]")
_MINUS = "\u2212\uff0d\ufe63"
_DASH = re.compile(r"(?<![^\s($])\u2013(?=[\d.])")
"""An en dash that is a minus sign, since nothing stands before it."""
_NUMBER = re.compile(
    r"(?:(?<![\w.])(?:(?<!\w)-)?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|(?<!\w)-?\.\d+)"
    r"(?:[eE][-+]?\d+(?!\w))?"
)
_LATEX_GROUPS = re.compile(r"(?<=\d)(?:\{,\}(?:\\!)?|,\\!|\\[,!])(?=\d{3}(?!\d))")
_MARKUP = " \t*_`#>"
_LATEX_SIGNS = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))
_QUOTES = (*_LATEX_SIGNS, ('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"))
_DISPLAYED = re.compile(r"(?:\\\[|\$\$)[ \t]*\n(.*?)(?:\\\]|\$\$)", re.DOTALL)
"""A formula on lines of its own."""
_DOTS = (".", "。", "।")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_SEVERAL = re.compile("[],;:\"'{}()[]")
"""The inside of brackets around a list, a tuple, an interval or an object of JSON."""
_LATEX_TEXT = re.compile(r"\\(?:text|mathrm|mathbf|textbf)\s*\{([^{}]*)\}")
_WORDS = (
    r"(?:answer|respuesta|réponse|resposta|risposta|antwort|antwoord|ответ|jawaban(?:nya)?|jibu|cevap"
    r"|đáp án|(?:ال)?إجابة|उत्तर|উত্তর|సమాధానం|คำตอบ)"
)
_KINDS = r"(?:[\s*_]+(?:choice|option|final[ea]?|corr?ect[ae]|correta|corretta|đúng|الصحيحة)\b)?"
_VERBS = (
    r"(?:is|are|was|(?:would|should|must|will)\s+be|es|est|ist|lautet|é|è|adalah|là|это|هي|है|คือ)"
)
_TOPIC = r"(?:(?:to|for)\s(?:\w+\s+){1,6}?)?"
_MARK = re.compile(
    rf"(?P<tag><(?:final_?)?answer>|\[answer\]|<\|begin_of_box\|>)|(?P<box>{_OPEN_BOX})"
    r"|(?P<key>([\"'])(?:\w{0,20}_)?answer\4\s*:\s*)"
    rf"|\b(?:(?:the|my)\s+)?(?:(?:final|correct|right|best)\s+)?{_WORDS}\b{_KINDS}[\s*_]*{_TOPIC}"
    rf"{_VERBS}\b[\s*_]*:?"
    rf"|(?<![^\W_]){_WORDS}{_KINDS}[*_ \t]*[:=：]"
    r"|(?:答案|答え|正解|정답|답)\s*(?:应?为|應?為|是|は|은|选|選|[:：])"
    rf"|^[ \t>#*_]*(?:the\s|my\s)?(?:final\s|correct\s)?{_WORDS}[ \t*_]*$"
    r"|####(?![ \t]*[^\W\d_]{2}[^\n]{0,80}\n\s{0,9}\S)",
    re.IGNORECASE | re.MULTILINE,
)
"""What an answer follows; a heading of Markdown, as "#### Explanation", has more text below."""
_REFERS_BACK = re.compile(r"\b(?:this|that)\s$", re.IGNORECASE)
_CLOSING = re.compile(r"</(?:final_?)?answer>|\[/answer\]|<\|\w+\|>|</s>", re.IGNORECASE)
_VALUE = re.compile(r"(\"(?:[^\"\\]|\\.)*\")|'((?:[^'\\]|\\.)*)'|(\[[^\]]*\]|[^,}\n]*)", re.DOTALL)
_SENTENCE = re.compile(r"(?:\d|[^\W\d_]{4}|[$)}\]%*])\.(?=\s)|[。।]")
"""Where an answer ends that more follows; "Dr. Smith" and "J. K. Rowling" stay whole."""
_OPTION = (
    r"(?:(?i:(?:the |la |a |l['’])?(?:option|choice|letter|opción|opção|opzione|letra|вариант"
    r"|[选選][项項]?)|l[ae]\s)[ \t*_`$(\[{\"':]*)?"
)
_LETTER = (
    rf"[ \t*_`$(\[{{\"':]*{_OPTION}(?:\\text\w*\{{\(?)?([A-Za-z])(?![A-Za-z0-9_'’\u00c0-\u024f])"
    # Not one of several.
    r"(?![)\]*_]*(?:,?\s*(?:and|or|&|/)|,)\s*[(*]*[A-Z][)\]*_]*(?:\s*$|[.,)]|\s(?:and|or|are)\b))"
)
_BEGINS = re.compile(rf"{_LETTER}(.?)(.?)", re.DOTALL)
_BEGINS_ALONE = re.compile(
    rf"{_LETTER}(?:[)\].:,;*_}}\"'`。，、]|\s*[-–—:]\s|\s*$|\s(?:because|since|as)\b)"
)
_ITEM = re.compile(r"(?:^|[\s*_(\[])([A-Za-z])[.):](?=\s|\Z)", re.MULTILINE)
_TAKEN = re.compile(
    r"(?:(?<!not )(?<!n't )(?<!n’t )\b(?i:choose|choosing|pick|select|go with|opt for)\b"
    r"|\b(?i:option|choice|solution|selection|opción|opção|opzione)(?i:\s+corre[ct]+a)?"
    r"(?i:\s+(?:is|es|é|è)\b|\s*[:：])|(?<!不)[选選][项項]?(?:[是为為]|[:：])?)"
    rf"{_LETTER}(?=[\W_]*$|[)\].,:;*。，、]|\s(?:because|since|as)\b)"
    rf"|(?:^|[.,:;]\s|\b(?i:so|thus|hence|therefore)\s){_LETTER}"
    r"[)\]*_.]{0,3}\s(?:(?:is|must\sbe)\s(?:the\s)?(?:correct|right|best|answer)\b)",
    re.MULTILINE,
)
_LONE = re.compile(rf"{_LETTER}[\W_]*\Z")
_LONE_LINE = re.compile(rf"^{_LETTER}(?:[^\w\n]|_)*$", re.MULTILINE)
"""How a reply that has no mark of an answer says which choice it takes."""

_WRONG = re.compile(
    r"(?:\b(?:wrong|incorrect|falsche)\s+(?:answer|option|choice|solution|antwort)"
    r"(?:\s+(?:is|was|ist)\b|\s*[:：])|错误的?答案(?:是|为|[:：]))"
    r"(?:(?!\b(?:correct|right|best|answer|antwort)\b)[^\n.;。])*",
    re.IGNORECASE,
)
"""Words by which a reply rejects an answer."""
_REASON = re.compile(r"\s(?:because|since|as)\b")

Item = TypeVar("Item")


def last(items: Iterable[Item]) -> Item | None:
    """The last of the items; None of none."""
    return next(iter(deque(items, 1)), None)


class _Folded(dict[int, str]):
    """ASCII in place of any script's digits, full-width letters and typographic minus signs."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        digit = unicodedata.decimal(character, None)
        if digit is not None:
            self[code] = str(digit)
        elif "\uff21" <= character <= "\uff5a":
            self[code] = unicodedata.normalize("NFKC", character)
        else:
            self[code] = "-" if character in _MINUS else character
        return self[code]


_FOLDED = _Folded()


def folded(text: str) -> str:
    """The text with the digits of any script, full-width letters and minus signs as ASCII."""
    return text if text.isascii() else text.translate(_FOLDED)


def without_thinking(text: str) -> str:
    """The text after a model's thinking; nothing if the thinking doesn't end."""
    end = last(THOUGHT.finditer(text))
    answer = text[end.end() :] if end else text
    start = THINKING.search(answer)
    return answer[: start.start()] if start else answer


def without_thoughts(text: str) -> str:
    """All of a text but a model's thinking, which may also stand between two parts of it."""
    *closed, end = THOUGHT.split(text)
    if not closed and not THINKING.search(end):
        return text
    # Servers may leave out how the thinking begins.
    spoken = [THINKING.split(part)[0] if THINKING.search(part) else "" for part in closed]
    return "".join([*spoken, THINKING.split(end)[0]]).strip()


def boxed(text: str) -> str | None:
    r"""The content of the last \boxed{…} or \fbox{…}, or of \boxed x$; None if it doesn't close."""
    box = last(_BOX.finditer(text))
    return None if box is None else _in_box(text, box, len(text))


def _in_box(text: str, box: re.Match[str], end: int) -> str | None:
    if box[0] == r"\boxed ":
        return text[box.end() : end].split("$", 1)[0]
    start, depth = text.index("{", box.end()), 0
    for brace in _BRACES.finditer(text, start, end):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return text[start + 1 : brace.start()]
    return None


def last_number(text: str) -> str | None:
    """The last number after any thinking, without separators of thousands; None without one."""
    text = _LATEX_GROUPS.sub(",", folded(without_thinking(text)))
    number = last(_NUMBER.finditer(_DASH.sub("-", text)))
    return number[0].replace(",", "") if number else None


def answer(text: str) -> str | None:
    r"""The answer that a reply gives, after any thinking; None if it gives none.

    This is what the last mark that an answer follows gives: a \boxed{…}, a tag as <answer>, a key
    of JSON, "answer is" or "Answer:" in several languages, or "####". Without any mark it is the
    whole reply, if it has one line. Markdown, quotes, the brackets around a single thing and the
    dot at its end are taken off.
    """
    text = _final(text)
    marks = _MARK.search(text)
    if marks or "\n" in text:
        return next(_marked_answers(text), None)
    return _bare(text) or None


def _final(text: str) -> str:
    return folded(without_thinking(text)).strip()


def _marked_answers(text: str) -> Iterator[str]:
    """The answers after all marks, the last first; those that look back ("This is") go last."""
    marks = list(_MARK.finditer(text))
    spans: list[tuple[bool, re.Match[str], int]] = []
    for mark, then in zip_longest(marks, marks[1:]):
        end = then.start() if then else len(text)
        # The next mark's line belongs to it, unless both have the same.
        line = text.rfind("\n", mark.end(), end) if then else -1
        back = bool(_REFERS_BACK.search(text, max(0, mark.start() - 5), mark.start()))
        spans.append((back, mark, end if line < 0 else line))
    for _, mark, end in sorted(reversed(spans), key=lambda span: span[0]):
        if content := _content(text, mark, end):
            yield content


def _content(text: str, mark: re.Match[str], end: int) -> str:
    if mark["box"]:
        return _LATEX_TEXT.sub(r"\1", _in_box(text, mark, end) or "").strip()
    if mark["key"] and (value := _VALUE.match(text, mark.end(), end)):
        quoted = value[1] or ""
        with suppress(ValueError):
            quoted = str(json.loads(quoted, strict=False))
        return _bare(quoted or value[2] or value[3] or "")
    remainder = _CLOSING.split(text[mark.end() : end], maxsplit=1)[0]
    if mark["tag"]:
        return _bare(remainder.strip())
    remainder = remainder.lstrip(f"{_MARKUP}\n\r:：")
    if displayed := _DISPLAYED.match(remainder):
        return _bare(displayed[1].strip())
    line = bare_line(remainder)
    stop = _SENTENCE.search(line)
    return _bare(line[: stop.end()] if stop else line)


def bare_line(text: str) -> str:
    """The first line of a text without Markdown, quotes and a dot at its end."""
    return _bare(text.lstrip().partition("\n")[0])


def _bare(text: str) -> str:
    before = None
    while text != before:
        before, text = text, text.strip(_MARKUP)
        text = _unquoted((text[:-1] if text.endswith(_DOTS) else text).strip(_MARKUP))
        if text and _BRACKETS.get(text[0]) == text[-1] and not _SEVERAL.search(text[1:-1]):
            text = text[1:-1]
    return text


def _unquoted(text: str) -> str:
    """The text without quotes or signs of LaTeX around all of it, or one without a partner."""
    for opening, closing in _QUOTES:
        starts, ends = text.startswith(opening), text.endswith(closing)
        inner = text[len(opening) * starts : len(text) - len(closing) * ends]
        if (starts or ends) and opening not in inner and closing not in inner:
            return inner
    return text


def chosen_letter(text: str, letters: str, choices: Sequence[str] = ()) -> str | None:
    """The letter of the choice that a reply takes, one of `letters`; None if it isn't clear.

    With `choices`, a reply that gives no letter takes the only choice whose words it repeats.
    """
    text = _WRONG.sub("", _final(text)).strip()
    contents = list(_marked_answers(text))
    for content in contents:
        if letter := _begun(content, letters) or _repeated(content, letters, choices):
            return letter
    if named := _named(text, letters, bool(contents)):
        return named.pop() if len(named) == 1 else None
    return None if contents else _repeated(text, letters, choices)


def _named(text: str, letters: str, marked: bool) -> set[str]:
    """The letters that a reply says it takes; else those that it names where it has no mark."""
    items = list(map(str.upper, _ITEM.findall(text)))
    taken = list(chain.from_iterable(_TAKEN.findall(text)))
    # The last of several items is a list that was cut off.
    if (lone := _LONE.match(text.rpartition("\n")[2])) and (
        len(items) < 2 or text[-1] not in ".):"
    ):
        taken.append(lone[1])
    # So is a letter alone on the first line, unless more lines are letters.
    first, alone = _LONE_LINE.match(text), _LONE_LINE.findall(text)
    if first and alone[0].isupper() and len(alone) == 1:
        taken += alone if len(items) < 2 or first[0][-1] not in ".):" else []
    if clear := {letter for letter in taken if letter and letter in letters}:
        return clear
    named = [] if marked else re.findall(r"\(([A-Z])\)", text)
    begun = None if marked else _BEGINS_ALONE.match(text)
    if begun and "\n" not in text:
        named += [begun[1].upper(), *items]
    # A line that begins with an item is the choice, and several lines are a list.
    elif begun and begun[1].isupper() and len(items) < 2 and "II." not in text:
        named.append(begun[1])
    elif begun:
        return set()
    return {letter for letter in named if letter in letters}


def _begun(content: str, letters: str) -> str | None:
    """The letter that an answer begins with, which is neither a word nor the first of one."""
    match = _BEGINS.match(content)
    if match is None or match[1].upper() not in letters:
        return None
    letter, after, then = match[1], match[2], match[3]
    may_be_word = (letter in "AI" or letter.islower()) and not _REASON.match(content, match.end(1))
    return None if may_be_word and after.isspace() and then.isalpha() else letter.upper()


def _repeated(text: str, letters: str, choices: Sequence[str]) -> str | None:
    """The letter of the only choice whose words stand in the text."""
    words = _words(text)
    texts = list(map(_words, choices))
    places = [place for place, text in enumerate(texts) if text.strip() and text in words]
    return letters[places[0]] if len(places) == 1 and places[0] < len(letters) else None


def _words(text: str) -> str:
    words = re.findall(r"\w+", text.casefold())
    return f" {' '.join(words)} "
