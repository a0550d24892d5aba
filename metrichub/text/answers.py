r"""Answers: what a reply gives as its final answer, such as the 18 of "so it is \boxed{18}."."""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Sequence
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
_BOX = re.compile(r"\\(?:boxed|fbox)(?=\s*\{)|\\boxed ")
_BRACES = re.compile(r"[{}]")
_MINUS = "\u2212\uff0d\ufe63"
_NUMBER = re.compile(
    r"(?:(?<![\w.])(?:(?<!\w)-)?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|(?<!\w)-?\.\d+)"
    r"(?:[eE][-+]?\d+(?!\w))?"
)
_MARKUP = " \t*_`#>"
_QUOTES = (("$$", "$$"), ("$", "$"), ('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"))
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_SEVERAL = re.compile("[],;:\"'{}()[]")
"""What brackets around a list, a tuple, an interval or an object of JSON have inside."""
_LATEX_TEXT = re.compile(r"\\(?:text|mathrm|mathbf|textbf)\s*\{([^{}]*)\}")
_MARKER = re.compile(
    r"\banswer\b[\s*_]*(?:is|are|was)\b[\s*_]*:?|\banswer\b[*_ \t]*[:=：]"
    r"|####|答案\s*(?:是|为|[:：])",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?:\d|[^\W\d_]{4}|[$)}\]%*])\.(?=\s)")
"""Where an answer ends that more follows; "Dr. Smith" and "J. K. Rowling" stay whole."""
_LETTER = re.compile(r"[\s*_`$(\[{\"']*(?:\\text\{\(?)?([A-Za-z])(?![\w'’])(.?)(.?)", re.DOTALL)

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
    """What follows a model's thinking; nothing if the thinking doesn't end."""
    end = last(THOUGHT.finditer(text))
    rest = text[end.end() :] if end else text
    start = THINKING.search(rest)
    return rest[: start.start()] if start else rest


def without_thoughts(text: str) -> str:
    """All of a text but a model's thinking, which may also stand between two parts of it."""
    *closed, rest = THOUGHT.split(text)
    if not closed and not THINKING.search(rest):
        return text
    # Servers may leave out how the thinking begins.
    spoken = [THINKING.split(part)[0] if THINKING.search(part) else "" for part in closed]
    return "".join([*spoken, THINKING.split(rest)[0]]).strip()


def boxed(text: str) -> str | None:
    r"""The content of the last \boxed{…} or \fbox{…}, or of \boxed x$; None if it doesn't close."""
    box = last(_BOX.finditer(text))
    if box is None:
        return None
    if box[0] == r"\boxed ":
        return text[box.end() :].split("$", 1)[0]
    start, depth = text.index("{", box.end()), 0
    for brace in _BRACES.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return text[start + 1 : brace.start()]
    return None


def last_number(text: str) -> str | None:
    """The last number after any thinking, without separators of thousands; None without one."""
    number = last(_NUMBER.finditer(folded(without_thinking(text))))
    return number[0].replace(",", "") if number else None


def answer(text: str) -> str | None:
    r"""What a reply gives as its answer, after any thinking; None if it gives none.

    This is what the last \boxed{…} holds, or what follows "answer is", "Answer:" or "####",
    whichever comes last; or else the whole reply, if it has one line. Markdown, quotes, the
    brackets around a single thing and the dot at its end are taken off.
    """
    text = folded(without_thinking(text)).strip()
    marker, box = last(_MARKER.finditer(text)), last(_BOX.finditer(text))
    if box and (marker is None or marker.start() < box.start()):
        content = boxed(text)
        return None if content is None else _LATEX_TEXT.sub(r"\1", content).strip() or None
    if marker:
        line = bare_line(text[marker.end() :].lstrip(f"{_MARKUP}\n\r:："))
        end = _SENTENCE.search(line)
        return _bare(line[: end.end()] if end else line) or None
    return None if "\n" in text else _bare(text) or None


def bare_line(text: str) -> str:
    """The first line of a text without Markdown, quotes and a dot at its end."""
    return _bare(text.lstrip().partition("\n")[0])


def _bare(text: str) -> str:
    before = None
    while text != before:
        before, text = text, _unquoted(text.strip(_MARKUP).removesuffix(".").strip(_MARKUP))
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
    final, text = answer(text), folded(without_thinking(text))
    bracketed = {m[1] for m in re.finditer(r"\(([A-Z])\)", text) if m[1] in letters}
    if bracketed and not (_MARKER.search(text) or _BOX.search(text)):
        return bracketed.pop() if len(bracketed) == 1 else None
    if final is not None and (letter := _leading_letter(final, letters)):
        return letter
    place = _repeated(text if final is None else final, choices)
    return None if place is None or place >= len(letters) else letters[place]


def _leading_letter(final: str, letters: str) -> str | None:
    """The letter that an answer begins with, which is neither a word nor the first of one."""
    match = _LETTER.match(final)
    if match is None or match[1].upper() not in letters:
        return None
    letter, after, then = match[1], match[2], match[3]
    may_be_word = letter in "AI" or letter.islower()
    return None if may_be_word and after.isspace() and then.isalpha() else letter.upper()


def _repeated(text: str, choices: Sequence[str]) -> int | None:
    """The place of the only choice whose words stand in the text."""
    words = _words(text)
    places = [
        place
        for place, choice in enumerate(map(_words, choices))
        if choice.strip() and choice in words
    ]
    return places[0] if len(places) == 1 else None


def _words(text: str) -> str:
    words = re.findall(r"\w+", text.casefold())
    return f" {' '.join(words)} "
