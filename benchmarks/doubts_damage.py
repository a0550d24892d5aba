"""Ways in which people's data are damaged: each takes columns, the rows to hit, and chance."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from benchmarks import doubts_texts as texts
from benchmarks.doubts_data import Columns, Corpus

Damage = Callable[[Columns, list[int], Random], Columns]

PROSE = ("mt", "data to text", "summarization", "simplification", "dialogue")
SHORT = ("answers", "numbers")
MEASURED: Mapping[str, tuple[str, ...]] = {
    "mt": ("bleu", "wer"),
    "data to text": ("bleu", "chrf"),
    "summarization": ("rouge",),
    "simplification": ("sari",),
    "dialogue": ("rouge", "token_f1"),
    "answers": ("exact_match", "token_f1"),
    "numbers": ("exact_match", "numeric_match"),
    "labels": ("classification", "exact_match"),
    "ranking": ("ranking",),
    "keywords": ("keyword_coverage",),
    "speech": ("wer", "cer"),
    "code": ("codebleu", "bleu"),
    "ratings": ("recorded(column='rating')",),
}
"""What a damaged corpus of a kind is measured with, where a way says nothing else."""


class Way(NamedTuple):
    """A damage, the corpora that it happens to, and the doubt that should be raised.

    A doubt is right if its sentence has `words`, a regular expression, and its check is one of
    `checks`. A way that takes all rows, or a single one, has that share alone.
    """

    name: str
    damage: Damage
    kinds: tuple[str, ...]
    words: str
    checks: tuple[str, ...]
    metrics: tuple[str, ...] = ()
    shares: tuple[float, ...] = (0.05, 0.2, 1)
    fits: Callable[[Corpus], bool] = lambda corpus: True

    def measures(self, corpus: Corpus) -> list[str]:
        """The metrics that a damaged corpus is measured with."""
        return [*(self.metrics or MEASURED[corpus.kind])]


def each(text_of: Callable[[Columns, int, Random], Any], column: str = "predictions") -> Damage:
    """The damage that puts another value in the rows of a column."""

    def damage(columns: Columns, rows: list[int], random: Random) -> Columns:
        values = list(columns[column])
        for i in rows:
            values[i] = text_of(columns, i, random)
        return {**columns, column: values}

    return damage


def edited(edit: Callable[[str], str], column: str = "predictions") -> Damage:
    """The damage that edits each text of a column, or all texts of a list in it."""

    def value(columns: Columns, i: int, random: Random) -> Any:
        old = columns[column][i]
        return edit(old) if isinstance(old, str) else [edit(text) for text in old]

    return each(value, column)


def first_reference(columns: Columns, i: int, random: Random) -> str:
    """The first reference of a sample."""
    references = columns["references"][i]
    return references if isinstance(references, str) else str(references[0])


def source(columns: Columns, i: int, random: Random) -> str:
    """The text that a system was given."""
    return str(columns["sources" if "sources" in columns else "questions"][i])


def has_source(corpus: Corpus) -> bool:
    """Whether what a system was given is known."""
    return "sources" in corpus.columns or "questions" in corpus.columns


def in_english(corpus: Corpus) -> bool:
    """Whether most outputs are English."""
    return sum(map(texts.english, corpus.columns["predictions"])) * 2 > corpus.size


def untokenized(corpus: Corpus) -> bool:
    """Whether hardly any reference is tokenized."""
    marks = [first_reference(corpus.columns, i, Random(0)) for i in range(corpus.size)]
    return sum(" ." in text or " ," in text for text in marks) * 10 < corpus.size


def repeated(columns: Columns, rows: list[int], random: Random) -> Columns:
    """Each hit row four times, as after a join on a key that isn't unique."""
    hit = {*rows}
    order = [i for i in range(_size(columns)) for _ in range(4 if i in hit else 1)]
    return {name: [values[i] for i in order] for name, values in columns.items()}


def shifted(columns: Columns, rows: list[int], random: Random) -> Columns:
    """A block of as many predictions, each one row too late."""
    size = _size(columns)
    start = random.randrange(size - len(rows) + 1)
    values = list(columns["predictions"])
    block = values[start : start + len(rows)]
    values[start : start + len(rows)] = [block[-1], *block[:-1]]
    return {**columns, "predictions": values}


def constant(columns: Columns, rows: list[int], random: Random) -> Columns:
    """One output for all hit rows."""
    text = columns["predictions"][random.randrange(_size(columns))]
    return each(lambda *_: text)(columns, rows, random)


def references_alike(columns: Columns, rows: list[int], random: Random) -> Columns:
    """The references of one row for all hit rows, as after a broken join."""
    reference = columns["references"][random.randrange(_size(columns))]
    return each(lambda *_: reference, "references")(columns, rows, random)


def cut(unit: str) -> Damage:
    """All outputs cut off at one length, in characters or words, that so many exceed."""

    def damage(columns: Columns, rows: list[int], random: Random) -> Columns:
        split = (lambda text: text.split()) if unit == "words" else list
        lengths = sorted(len(split(text)) for text in columns["predictions"])
        limit = max(1, lengths[max(len(lengths) - len(rows) - 1, len(lengths) * 2 // 5)])
        join = " " if unit == "words" else ""

        def shortened(text: str) -> str:
            parts = split(text)
            return text if len(parts) <= limit else join.join(parts[:limit])

        return edited(shortened)(columns, [*range(len(lengths))], random)

    return damage


def loop(columns: Columns, rows: list[int], random: Random) -> Columns:
    """Hundreds of words in one output, as many as a third of the words of all references."""
    row = random.randrange(_size(columns))
    words = sum(len(first_reference(columns, i, random).split()) for i in range(_size(columns)))
    text = columns["predictions"][row]
    return each(lambda *_: f"{text} {'and so on ' * max(100, words // 3)}")(columns, [row], random)


def foreign(columns: Columns, i: int, random: Random) -> str:
    """Two sentences of a language that the first output isn't in."""
    spoken = "French" if not texts.english(" ".join(columns["predictions"][:50])) else "English"
    language = random.choice([name for name in ("German", "French", "Spanish") if name != spoken])
    return " ".join(random.sample(texts.SENTENCES[language], 2))


def deleted_answer(columns: Columns, rows: list[int], random: Random) -> Columns:
    """Multiple choice, whose letter A is an article to normalization."""
    columns = each(lambda *_: "A", "references")(columns, rows, random)
    return each(lambda *_: "A")(columns, rows, random)


def other_labels(columns: Columns, rows: list[int], random: Random) -> Columns:
    """Predictions as a classifier numbers them."""
    references = sorted({first_reference(columns, i, random) for i in range(_size(columns))})
    names = {label: f"LABEL_{number}" for number, label in enumerate(references)}
    return edited(lambda text: names.get(text, "LABEL_X"))(columns, rows, random)


def missing(columns: Columns, i: int, random: Random) -> str:
    """An empty cell as text, such as "nan"."""
    return random.choice(("nan", "None", "null"))


def prefixed(text: str) -> Callable[[str], str]:
    """The edit that puts a text before."""
    return lambda old: text + old


def nested_spaces(text: str) -> str:
    """Zero-width spaces between words, as copied from a page."""
    return text.replace(" ", " \u200b") if " " in text else f"\u200b{text}"


def refused(columns: Columns, i: int, random: Random) -> str:
    """A refusal that differs in a number."""
    return f"I'm sorry, but I can't help with request {random.randrange(10**6)}."


def unclosed(columns: Columns, i: int, random: Random) -> str:
    """Thinking that was cut off before any answer."""
    return f"<think>\nOkay, I have to look at this one closely. {source_or_output(columns, i)}"


def source_or_output(columns: Columns, i: int) -> str:
    """The text that a model thinks about."""
    asked = columns.get("questions") or columns["predictions"]
    return str(asked[i])


def lower_or_upper(text: str) -> str:
    """A text in the other case."""
    return text.upper() if text != text.upper() else text.lower()


def as_entities(text: str) -> str:
    """A text as HTML escapes it; Moses writes the apostrophe so."""
    return html.escape(text).replace("&#x27;", "&apos;")


def mojibake(text: str) -> str:
    """UTF-8 that was read as the first Western code page."""
    return text.encode().decode("latin-1")


def decomposed(text: str) -> str:
    """A text in NFD."""
    return unicodedata.normalize("NFD", text)


def without_points(text: str) -> str:
    """A text without ASCII punctuation."""
    return "".join(mark for mark in text if mark.isalnum() or mark.isspace() or ord(mark) > 127)


def _size(columns: Mapping[str, Sequence[Any]]) -> int:
    return len(next(iter(columns.values())))
