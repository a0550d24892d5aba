"""The 25 checks of IFEval (Zhou et al. 2023), with the results of its authors' program.

Their expressions that take quadratic time are written so that time is linear.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from metric_cards._bases.languages import is_in
from metric_cards._bases.nltk_words import cased_tokens
from metric_cards.instruction_following.arguments import (
    COUNT,
    FORBIDDEN,
    KEYWORD,
    KEYWORDS,
    LETTER,
    MARKER,
    PLACE,
    RELATION,
    SECTION,
    TEXT,
    Kind,
    Relation,
)
from metric_cards.instruction_following.sentences import Splitter, split

Check = Callable[[str], bool]

_NAME = "instruction_following"
_ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
# Blank lines before a bullet, which IFEval's `^\s*` takes in, don't change their number.
_STARS = re.compile(r"^[^\S\n]*\*[^*].*$", re.MULTILINE)
_DASHES = re.compile(r"^[^\S\n]*-.*$", re.MULTILINE)


class Instruction(NamedTuple):
    """The arguments that an instruction needs, and whether a text follows it with these."""

    arguments: Mapping[str, Kind]
    follows: Callable[..., bool]
    splits: bool = False


def _frequency(text: str, keyword: re.Pattern[str], frequency: int, relation: Relation) -> bool:
    return relation(len(keyword.findall(text)), frequency)


def _letters(text: str, letter: str, let_frequency: int, let_relation: Relation) -> bool:
    return let_relation(text.lower().count(letter), let_frequency)


def _sentences(text: str, splitter: Splitter, num_sentences: int, relation: Relation) -> bool:
    return relation(len(split(text, splitter)), num_sentences)


def _words(text: str, num_words: int, relation: Relation) -> bool:
    return relation(len(re.findall(r"\w+", text)), num_words)


def _capitals(
    text: str, splitter: Splitter, capital_frequency: int, capital_relation: Relation
) -> bool:
    words = (word for sentence in split(text, splitter) for word in cased_tokens(sentence))
    return capital_relation(sum(map(str.isupper, words)), capital_frequency)


def _parts(text: str, mark: str) -> list[str] | None:
    """The parts between marks but an empty one at either end; None if one between is empty."""
    parts = re.split(mark, text)
    inner = [part for place, part in enumerate(parts) if part.strip() or 0 < place < len(parts) - 1]
    return inner if all(part.strip() for part in inner) else None


def _paragraphs(text: str, num_paragraphs: int) -> bool:
    parts = _parts(text, r"\s?\*\*\*\s?")
    return parts is not None and len(parts) == num_paragraphs


def _first_word(text: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    paragraphs = text.split("\n\n")
    if sum(bool(paragraph.strip()) for paragraph in paragraphs) != num_paragraphs:
        return False
    # Blank paragraphs aren't counted, but have a place.
    words = paragraphs[nth_paragraph - 1].split() if nth_paragraph <= num_paragraphs else []
    if not words:
        return False
    word = words[0].lstrip("'").lstrip('"')
    return re.split("[.,?!'\"]", word, maxsplit=1)[0].lower() == first_word.lower()


def _placeholders(text: str, num_placeholders: int) -> bool:
    closed = (line[: line.rfind("]") + 1] for line in text.split("\n"))
    return sum(len(re.findall(r"\[[^\]]*\]", line)) for line in closed) >= num_placeholders


def _bullets(text: str, num_bullets: int) -> bool:
    return len(_STARS.findall(text)) + len(_DASHES.findall(text)) == num_bullets


def _highlights(text: str, num_highlights: int) -> bool:
    highlights = [*re.findall(r"\*[^\n*]*\*", text), *re.findall(r"\*\*[^\n*]*\*\*", text)]
    return sum(bool(part.strip("*").strip()) for part in highlights) >= num_highlights


def _sections(text: str, section_spliter: re.Pattern[str], num_sections: int) -> bool:
    return len(section_spliter.split(text)) - 1 >= num_sections


def _json(text: str) -> bool:
    text = text.strip()
    for fence in ("```json", "```Json", "```JSON", "```"):
        text = text.removeprefix(fence)
    try:
        json.loads(text.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


def _title(text: str) -> bool:
    for line in text.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        if 0 <= start < end - 2 and line[start : end + 2].lstrip("<").rstrip(">").strip():
            return True
    return False


def _two_responses(text: str) -> bool:
    parts = _parts(text, r"\*{6}")
    return parts is not None and len(parts) == 2 and parts[0].strip() != parts[1].strip()


def _ends(text: str, end_phrase: str) -> bool:
    return text.strip().strip('"').lower().endswith(end_phrase.lower())


def _quoted(text: str) -> bool:
    text = text.strip()
    return len(text) > 1 and text[0] == text[-1] == '"'


def _is_english(text: str) -> bool:
    return is_in(text, "en", _NAME, undetected=True)


INSTRUCTIONS: Mapping[str, Instruction] = {
    "keywords:existence": Instruction(
        {"keywords": KEYWORDS}, lambda text, keywords: all(word.search(text) for word in keywords)
    ),
    "keywords:frequency": Instruction(
        {"keyword": KEYWORD, "frequency": COUNT, "relation": RELATION}, _frequency
    ),
    "keywords:forbidden_words": Instruction(
        {"forbidden_words": FORBIDDEN},
        lambda text, forbidden_words: not any(word.search(text) for word in forbidden_words),
    ),
    "keywords:letter_frequency": Instruction(
        {"letter": LETTER, "let_frequency": COUNT, "let_relation": RELATION}, _letters
    ),
    "language:response_language": Instruction(
        {"language": TEXT}, lambda text, language: is_in(text, language, _NAME, undetected=True)
    ),
    "length_constraints:number_sentences": Instruction(
        {"num_sentences": COUNT, "relation": RELATION}, _sentences, splits=True
    ),
    "length_constraints:number_paragraphs": Instruction({"num_paragraphs": COUNT}, _paragraphs),
    "length_constraints:number_words": Instruction(
        {"num_words": COUNT, "relation": RELATION}, _words
    ),
    "length_constraints:nth_paragraph_first_word": Instruction(
        {"num_paragraphs": PLACE, "nth_paragraph": PLACE, "first_word": TEXT}, _first_word
    ),
    "detectable_content:number_placeholders": Instruction(
        {"num_placeholders": COUNT}, _placeholders
    ),
    "detectable_content:postscript": Instruction(
        {"postscript_marker": MARKER},
        lambda text, postscript_marker: bool(postscript_marker.search(text.lower())),
    ),
    "detectable_format:number_bullet_lists": Instruction({"num_bullets": COUNT}, _bullets),
    "detectable_format:constrained_response": Instruction(
        {}, lambda text: any(answer in text for answer in _ANSWERS)
    ),
    "detectable_format:number_highlighted_sections": Instruction(
        {"num_highlights": COUNT}, _highlights
    ),
    "detectable_format:multiple_sections": Instruction(
        {"section_spliter": SECTION, "num_sections": COUNT}, _sections
    ),
    "detectable_format:json_format": Instruction({}, _json),
    "detectable_format:title": Instruction({}, _title),
    "combination:two_responses": Instruction({}, _two_responses),
    "combination:repeat_prompt": Instruction(
        {"prompt_to_repeat": TEXT},
        lambda text, prompt_to_repeat: text.strip().lower().startswith(prompt_to_repeat.lower()),
    ),
    "startend:end_checker": Instruction({"end_phrase": TEXT}, _ends),
    "startend:quotation": Instruction({}, _quoted),
    "change_case:capital_word_frequency": Instruction(
        {"capital_frequency": COUNT, "capital_relation": RELATION}, _capitals, splits=True
    ),
    "change_case:english_capital": Instruction(
        {}, lambda text: text.isupper() and _is_english(text)
    ),
    "change_case:english_lowercase": Instruction(
        {}, lambda text: text.islower() and _is_english(text)
    ),
    "punctuation:no_comma": Instruction({}, lambda text: "," not in text),
}


def check_of(instruction: str, kwargs: Mapping[str, Any], splitter: Splitter) -> Check:
    """The check of an instruction with its arguments; those that are null aren't there.

    Raises:
        ValueError: there is no such instruction, or an argument is missing, isn't valid or isn't
            one of the instruction's; the text says which.
    """
    if not isinstance(instruction, str) or instruction not in INSTRUCTIONS:
        raise ValueError("isn't an instruction of IFEval")
    kinds, follows, splits = INSTRUCTIONS[instruction]
    kwargs = {name: value for name, value in kwargs.items() if value is not None}
    if other := next((name for name in kwargs if name not in kinds), None):
        raise ValueError(f"takes no {other!r}; it takes {', '.join(kinds) or 'nothing'}")
    arguments: dict[str, Any] = {"splitter": splitter} if splits else {}
    for name, kind in kinds.items():
        if name not in kwargs:
            raise ValueError(f"needs {name} ({kind.words})")
        try:
            arguments[name] = kind.read(kwargs[name])
        except ValueError:
            raise ValueError(f"has {name}={kwargs[name]!r}, which isn't {kind.words}") from None
    if arguments.get("nth_paragraph", 0) > arguments.get("num_paragraphs", 0):
        raise ValueError("has an nth_paragraph above num_paragraphs")
    return lambda text: bool(text.strip()) and bool(follows(text, **arguments))


def variants(text: str) -> Sequence[str]:
    """The texts of which one has to follow an instruction loosely.

    The reply, without its first line, its last and both, and each of these without stars.
    """
    lines = text.split("\n")
    parts = [text, *("\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1]))]
    return list(dict.fromkeys([*parts, *(part.replace("*", "") for part in parts)]))
