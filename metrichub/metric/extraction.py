"""Extraction: how the answer is read from a reply before a metric compares it with a reference."""

from __future__ import annotations

import inspect
import re
import string
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal

from metrichub.catalog.frontmatter import Scale
from metrichub.catalog.spec import Spec
from metrichub.errors import ParameterError, SpecError, did_you_mean
from metrichub.metric.base import Metric, Row
from metrichub.text import answers

Read = Callable[[str, Sequence[str]], str | None]
"""Reads the answer out of a reply, given the sample's choices; None for nothing."""


@dataclass(frozen=True)
class Extraction:
    """A way to read answers, by the text that stands for it: "boxed", "after('Answer:')".

    `definition` rises when it reads other answers than before, so that these aren't compared.
    """

    label: str
    read: Read
    reads_choices: bool = False
    definition: int = 1


def extracting(metric: Metric, extract: object) -> Metric:
    """The metric that scores what an extraction reads from predictions; all of them for "none".

    Raises:
        ParameterError: there is no such extraction, or the metric can't be used with one.
    """
    if not isinstance(extract, str):
        raise ParameterError(metric.name, "extract", extract, "a text, such as 'boxed'")
    if extract in ("", "none"):
        return replace(metric, extraction="")
    label = extraction(extract, metric.name).label
    reason = None
    if inspect.iscoroutinefunction(getattr(metric, "observe", None)):
        reason = "metrics that compare texts, as this one asks a judge"
    elif not {"prediction", "predictions"} & {*metric.inputs()}:
        reason = "metrics that read predictions"
    elif not metric.takes_nothing and _worst(metric) is None:
        reason = "metrics whose score is a mean over samples with a worst value, as exact_match is"
    if reason:
        raise ParameterError(metric.name, "extract", extract, f"it for {reason}")
    return replace(metric, extraction=label)


def worst_row(metric: Metric) -> Row:
    """The statistics of a prediction that nothing was read from: the worst of each range."""
    row = _worst(metric)
    assert row is not None, f"{metric.name} was checked by `extracting`"
    return row


def _worst(metric: Metric) -> Row | None:
    if type(metric).statistics() is not None:
        return None
    scales = {output: metric.card.scale(output) or Scale() for output in metric.outputs()}
    bounds = {name: {"higher": s.low, "lower": s.high}.get(s.better) for name, s in scales.items()}
    worst = {name: bound for name, bound in bounds.items() if bound is not None}
    return worst if len(worst) == len(bounds) else None


def read_functions(metrics: Iterable[Metric]) -> dict[str, Read]:
    """The functions that read the answers that these metrics score, by extraction."""
    labels = dict.fromkeys(metric.extraction for metric in metrics if metric.extraction)
    return {label: extraction(label).read for label in labels}


@cache
def extraction(text: str, metric: str | None = None, parameter: str = "extract") -> Extraction:
    r"""The extraction that a text stands for; errors name the metric and its parameter.

    >>> extraction("boxed").read(r"so it is \boxed{18}.", ())
    '18'

    Raises:
        ParameterError: there is no such kind or preset, or an option isn't valid.
    """
    if text in _PRESETS:
        return _PRESETS[text](text)
    try:
        spec = Spec.parse(text, lambda _, first: {"pattern": first})
    except SpecError:
        spec = Spec(text)
    if spec.metric not in _KINDS or spec.alias:
        names = [*_KINDS, *_PRESETS]
        allowed = f"{', '.join(names)} or none{did_you_mean(spec.metric, names)}"
        raise ParameterError(metric, parameter, text, allowed)
    kind = _KINDS[spec.metric]
    options = kind.options(spec.parameters)
    if options is None:
        raise ParameterError(metric, parameter, text, kind.usage)
    written = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return kind.make(f"{spec.metric}({written})" if written else spec.metric, **options)


@dataclass(frozen=True)
class _Kind:
    """A kind of extraction: what makes it, its options with what checks each, and an example."""

    make: Callable[..., Extraction]
    usage: str
    checks: Mapping[str, Callable[[Any], bool]]

    def options(self, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """The options that are off their defaults; None if one isn't valid, or is missing."""
        if any(
            name not in self.checks or not self.checks[name](v) for name, v in arguments.items()
        ):
            return None
        if "pattern" in self.checks and "pattern" not in arguments:
            return None
        defaults = self.make.__kwdefaults__ or {}
        return {n: v for n, v in arguments.items() if n not in defaults or defaults[n] != v}


def _is_pattern(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(re.compile(value))
    except (re.error, OverflowError):
        return False


def _are_letters(value: object) -> bool:
    capitals = isinstance(value, str) and value.isascii() and value.isalpha() and value.isupper()
    return capitals and isinstance(value, str) and len({*value}) == len(value)


def _after(label: str, *, pattern: str) -> Extraction:
    """The rest of the line after the last match, whatever its case."""
    compiled = re.compile(pattern, re.IGNORECASE)

    def read(text: str, _: Sequence[str]) -> str | None:
        match = answers.last(compiled.finditer(text))
        return answers.bare_line(text[match.end() :]) or None if match else None

    return Extraction(label, read)


def _regex(
    label: str, *, pattern: str, group: int | None = None, which: Literal["first", "last"] = "last"
) -> Extraction:
    """A match: its group of that number, or else its first group that isn't empty, stripped."""
    compiled = re.compile(pattern)
    if group is not None and group > compiled.groups:
        allowed = f"a group of the pattern, which has {compiled.groups}"
        raise ParameterError(None, "group", group, allowed)

    def read(text: str, _: Sequence[str]) -> str | None:
        match = answers.last(compiled.finditer(text)) if which == "last" else compiled.search(text)
        if match is None:
            return None
        if group is not None:
            answer = match[group]
        elif compiled.groups:
            answer = next(filter(None, match.groups()), "")
        else:
            answer = match[0]
        return None if answer is None else answer.strip()

    return Extraction(label, read)


def _plain(read: Callable[[str], str | None], definition: int = 1) -> Callable[[str], Extraction]:
    return lambda label: Extraction(label, lambda text, _: read(text), definition=definition)


def _choice(
    label: str, *, letters: str = string.ascii_uppercase[:10], texts: bool = False
) -> Extraction:
    """The letter of a choice; with `texts`, also of the choice that the reply repeats."""

    def read(text: str, choices: Sequence[str]) -> str | None:
        return answers.chosen_letter(text, letters, choices if texts else ())

    return Extraction(label, read, reads_choices=texts, definition=2)


def _index(text: str, choices: Sequence[str]) -> str | None:
    """The letter of the choice at a place, from 0."""
    place = int(text) if text.strip().isdecimal() else len(choices)
    return string.ascii_uppercase[place] if place < min(len(choices), 26) else None


def _label(text: str, choices: Sequence[str]) -> str | None:
    """The letter of the choice that the text is."""
    return dict(zip(choices, string.ascii_uppercase, strict=False)).get(text)


_KINDS = {
    "answer": _Kind(_plain(answers.answer, definition=2), "answer without options", {}),
    "boxed": _Kind(_plain(answers.boxed), "boxed without options", {}),
    "last_number": _Kind(
        _plain(answers.last_number, definition=2), "last_number without options", {}
    ),
    "choice": _Kind(
        _choice,
        "its options, as in choice(letters='ABCD', texts=True)",
        {"letters": _are_letters, "texts": lambda value: isinstance(value, bool)},
    ),
    "index": _Kind(lambda label: Extraction(label, _index, True), "index without options", {}),
    "label": _Kind(lambda label: Extraction(label, _label, True), "label without options", {}),
    "after": _Kind(
        _after, "a regular expression, as in after('Answer:')", {"pattern": _is_pattern}
    ),
    "regex": _Kind(
        _regex,
        r"a regular expression and its options, as in regex('is (\\d+)', group=1, which='first')",
        {
            "pattern": _is_pattern,
            "group": lambda value: type(value) is int and value >= 0,
            "which": lambda value: value in ("first", "last"),
        },
    ),
}


# Presets: what the programs read that they are named after, oddities included.


def _last_marked(label: str, *, pattern: str) -> Extraction:
    """A group behind the last "ANSWER:", as inspect's patterns that look ahead for no other."""
    marker, compiled = re.compile(r"ANSWER\s*:", re.IGNORECASE), re.compile(pattern)

    def read(text: str, _: Sequence[str]) -> str | None:
        # Tried from the last two alone, since each try looks ahead to the end.
        starts = [match.start() for match in marker.finditer(text)][-2:]
        match = compiled.search(text, starts[0]) if starts else None
        return match[1] if match else None

    return Extraction(label, read)


_MGSM_PREFIXES = (
    *("Answer", "উত্তর", "Antwort", "Respuesta", "Réponse", "答え", "Ответ", "Jibu", "సమాధానం"),
    *("คำตอบ", "答案"),
)


def _mgsm(text: str) -> str | None:
    """The last number behind the last "Answer" in any of the benchmark's languages."""
    ends = [at + len(prefix) for prefix in _MGSM_PREFIXES if (at := text.rfind(prefix)) >= 0]
    numbers = re.findall(r"\d+\.?\d*", text[max(ends) :].replace(",", "")) if ends else []
    return numbers[-1].rstrip(".") if numbers else None


def _mmlu_pro(text: str) -> str | None:
    """The letter by the first of the leaderboard's three rules that finds one.

    The last is any capital that stands alone. Where nothing is found, the leaderboard guesses.
    """
    stated = re.search(r"answer is \(?([A-J])", text)
    # In the first line that has any, the last one counts.
    stated = stated or re.search(r"^.*[aA]nswer:\s*([A-J])", text, re.MULTILINE)
    letter = stated or answers.last(re.finditer(r"\b([A-J])\b", text))
    return letter[1] if letter else None


def _minerva(text: str) -> str | None:
    """The text of a line between "The final answer is" and "I hope it is correct"."""
    for line in f"{text}I hope it is correct.".split("\n"):
        if match := re.search(
            r"Final Answer: The final answer is(.*?). I hope it is correct.", line
        ):
            return match[1].strip()
    return None


@cache
def _punctuation() -> Mapping[int, None]:
    marks = (i for i in range(sys.maxunicode) if unicodedata.category(chr(i)).startswith("P"))
    return dict.fromkeys(marks)


def _gpqa(text: str, choices: Sequence[str]) -> str | None:
    """The last letter in brackets, else the last choice repeated, else a letter behind a colon."""
    if bracketed := re.findall(r"\([A-Z]\)", text):
        return str(bracketed[-1])
    letters = [chr(ord("A") + place) for place in range(len(choices))]
    plain = [choice.strip().lower().translate(_punctuation()) for choice in choices]
    by_text = dict(zip(plain, letters, strict=True))
    repeated = re.findall("|".join(map(re.escape, plain)), text.lower().translate(_punctuation()))
    if repeated and (last := repeated[-1].strip()):
        return f"({by_text.get(last, last)})"
    behind = re.findall(rf":\s*({'|'.join(letters)})", text)
    return f"({behind[-1]})" if behind and behind[-1] else None


_first = partial(_regex, which="first")
_PRESETS: Mapping[str, Callable[[str], Extraction]] = {
    "gsm8k-strict": partial(_first, pattern=r"#### (\-?[0-9\.\,]+)"),
    "gsm8k-flexible": partial(_regex, pattern=r"(-?[$0-9.,]{2,})|(-?[0-9]+)"),
    "gsm8k-cot": partial(_first, pattern=r"The answer is (\-?[0-9\.\,]+)."),
    "mmlu-pro": _plain(_mmlu_pro, definition=2),
    "lm-eval-mmlu-pro": partial(_first, pattern=r"answer is \(?([ABCDEFGHIJ])\)?"),
    "gpqa": lambda label: Extraction(label, _gpqa, reads_choices=True),
    "mgsm": _plain(_mgsm),
    "minerva": _plain(_minerva),
    "simple-evals": partial(_first, pattern=r"(?i)Answer[ \t]*:[ \t]*\$?([A-D])\$?"),
    "inspect-letter": partial(
        _last_marked, pattern=r"(?is)ANSWER\s*:\s*([A-Za-z])(?:[^\w]|\n|$)(?!.*ANSWER\s*:)"
    ),
    "inspect-word": partial(
        _last_marked,
        pattern=r"(?is)ANSWER\s*:\s*(\S+?)(?=[.,;:!?]?\s*(?:\n|$))(?!.*ANSWER\s*:)",
    ),
    "inspect-line": partial(_last_marked, pattern=r"(?i)ANSWER\s*:\s*([^\n]+)\s*\Z"),
}
