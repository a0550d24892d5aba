"""Columns by name: the canonical five, what other tools call them, and tables to read them from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from typing import Any

from metrichub.data.list_columns import LISTS, read_each, read_lists
from metrichub.data.values import (
    Objects,
    TextOf,
    as_list,
    as_texts,
    column_of_path,
    columns_of_path,
    joined,
    sample_error,
)
from metrichub.errors import InputError, MissingColumn, did_you_mean, listed
from metrichub.text.cells import cell_or_text

TEXT = ("predictions", "references", "sources", "questions", "contexts")

ALIASES: Mapping[str, tuple[str, ...]] = {
    "predictions": (
        *("prediction", "response", "responses", "hypothesis", "hypotheses", "hyp", "hyps"),
        *("actual_output", "summary", "summaries", "output", "outputs", "answer", "pred", "preds"),
        *("candidate", "candidates", "generated", "generated_text", "completion"),
        *("model_output", "mt", "prediction_text", "translation", "translations"),
    ),
    "references": (
        *("reference", "expected_output", "ground_truth", "ground_truths", "ref", "refs"),
        *("target", "targets", "gold", "expected", "reference_answer", "reference_summary"),
        *("highlights", "answers", "expected_outcome"),
    ),
    "sources": (
        *("source", "document", "article", "src", "text", "passage", "source_text", "original"),
    ),
    "questions": ("question", "user_input", "query", "queries", "input", "prompt", "prompts"),
    "contexts": (
        *("context", "retrieved_contexts", "retrieval_context", "retrieved_passages", "passages"),
    ),
    "messages": ("message", "conversation", "conversations", "turns", "trajectory", "trace"),
    "reference_messages": (
        *("reference_message", "reference_trajectory", "expected_trajectory"),
        "reference_outputs",
    ),
    "choices": ("choice", "options", "endings"),
    "criteria": ("criterion", "rubrics", "rubric", "checklist"),
    "roles": ("role", "chatbot_role"),
    "topics": ("topic", "reference_topics"),
}
"""The one alias table: what other tools call each column. The first name is the singular."""

MADE = ("predictions", "messages", "contexts")
"""The columns that systems make, in which they may differ on the same samples."""
ASKED = ("questions", "sources", "references")
"""The columns that show which sample a row is, also where no metric reads them."""
UNREAD = "unread:"
"""The beginning of the names of such columns' hashes: systems may differ in them."""
SHOW_THE_SAMPLES = (
    "what was retrieved may differ only where an id, a question, a source or a reference shows "
    "that the samples are the same; give both systems such a column"
)

CONVERSATIONS = ("messages", "reference_messages")
"""The columns whose values are conversations; see `metrichub.data.exchanges`."""

FALLBACKS: Mapping[str, tuple[str, ...]] = {
    "predictions": (
        *("messages", "conversation", "conversations", "turns", "trajectory", "trace"),
        "user_input",
    ),
    "messages": (
        *("user_input", "tools_called", "predictions", "prediction", "response", "outputs"),
        *("actual_output", "output", "answer", "completion"),
    ),
    "reference_messages": ("reference_tool_calls", "expected_tools", "references", "reference"),
    "sources": (
        *("contexts", "retrieved_contexts", "retrieval_context", "retrieved_passages", "passages"),
        *("context", "reference_contexts", "input"),
    ),
}
"""Where a column is read from if it is there under none of its names; the first that is there.

Rows of ragas and deepeval have no column for the text that a prediction was made from. It is what
was retrieved (`context` beside it is what should have been), or else what should have been, or else
the input. Several texts of a sample are joined by line feeds into one, as ragas joins them, and the
report says where they were read from. The prediction of a conversation is its last answer, and a
prediction with its question is a conversation.
"""

_EXPECTED = ("expected_tools", "reference_tool_calls")
"""Columns of calls alone, beside which `tools_called` is compared by itself."""

_RETRIEVED = ("retrieval_context",)
"""Beside it, `context` is what should have been retrieved, as in rows of deepeval."""


_BEGINS_AS_TEXT = re.compile(r"\s*[^\s\[{(aN<n]")
"""No list, and no word for a missing value."""
NUMBERED = re.compile(r"(.*[^\W\d_])[-_. ]?(\d{1,3})")
_SHOWN = 4
"""So many aliases an error names."""
_COLUMN_OF = {alias: column for column, aliases in ALIASES.items() for alias in aliases}


def is_plural(name: str) -> bool:
    """Whether an input asks for the sample's whole list ("references") or one item."""
    return name in ALIASES or (name.endswith("s") and not name.endswith("ss"))


_KNOWN = frozenset(chain(ALIASES, *ALIASES.values(), *FALLBACKS.values()))


@lru_cache
def column_of(name: str) -> str:
    """The column that an input reads: "reference" and "references" read `references`.

    A participle has no plural: "retrieved" reads `retrieved`.
    """
    if is_plural(name) or (name.endswith("ed") and not name.endswith("eed")):
        return name
    if name.endswith("y") and name[-2:-1] not in tuple("aeiou"):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "x", "ch", "sh")) else f"{name}s"


def resolve(
    needed: Mapping[str, str], available: Iterable[str], mapping: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The available name to read for every needed column.

    `needed` maps a column to the metric that asks for it, `mapping` a column to the name that
    the caller chose. A column's own name wins over its singular, that over the other aliases,
    those over names that the caller chose for another column, and all over `FALLBACKS`. Nothing
    wins of `context` and `retrieval_context`, which are the ideal passages and the retrieved ones.

    Raises:
        MissingColumn: a needed column isn't there under any name.
        InputError: two aliases of one column are there and nothing says which to take, or the
            mapping names a column that doesn't exist.
    """
    names = list(available)
    chosen = {
        plural if (plural := column_of(column)) in needed else column_of_alias(column): name
        for column, name in (mapping or {}).items()
    }
    for column, name in chosen.items():
        if column not in needed and column not in ALIASES:
            near = _other_way_round(column, name, names) or did_you_mean(column, needed)
            raise InputError(
                f"{column!r} is mapped to {name!r}, but no chosen metric reads it"
                f"{near} (they read: {', '.join(needed)})"
            )
        if not columns_of_path(name, names):
            near = _other_way_round(column, name, names) or did_you_mean(name, names)
            error = MissingColumn(
                f"{column} is mapped to {name!r}, which doesn't exist{near}"
                f" (columns: {', '.join(names) or 'none'})"
            )
            error.column = column
            raise error
    return {
        column: chosen.get(column) or _named(column, metric, names, chosen)
        for column, metric in needed.items()
    }


def present(
    column: str, available: Iterable[str], mapping: Mapping[str, str] | None = None
) -> str | None:
    """The name under which a column is there that no metric asks for; None if it isn't there."""
    names = {column_of_alias(c): name for c, name in (mapping or {}).items()}
    relevant = {c: name for c, name in names.items() if c == column or c in ALIASES}
    try:
        name = resolve({column: column}, available, relevant)[column]
    except MissingColumn:
        return None
    return None if name in FALLBACKS.get(column, ()) else name


def retrieved(fallbacks: Mapping[str, Iterable[str]]) -> set[str]:
    """The columns of what was retrieved: contexts, and sources if they are read from these."""
    instead = map(column_of_alias, fallbacks.get("sources", ()))
    return {"contexts", "sources"} if "contexts" in instead else {"contexts"}


def read_unread(
    chosen: Mapping[str, str],
    fallbacks: Mapping[str, Iterable[str]],
    available: Iterable[str],
    values_of: Callable[[str], Iterable[Any]],
    size: int,
) -> dict[str, Sequence[Any]]:
    """The columns beside passages that show which sample a row is and that no metric reads."""
    columns: dict[str, Sequence[Any]] = {}
    if "contexts" not in chosen and "sources" not in fallbacks:
        return columns
    for name in available:
        column = column_of_alias(name)
        if column in ASKED and column not in chosen:
            with suppress(InputError):
                columns[column] = as_list(name, values_of(name))
    # One prompt for all tells no sample from another.
    return {c: v for c, v in columns.items() if len({*map(str, v)}) >= min(size, 2)}


def own_names(
    objects: Mapping[str, TextOf], available: Iterable[str], mapping: Mapping[str, str] | None
) -> Mapping[str, str] | None:
    """The mapping with the columns in which another tool keeps such objects, if all are there.

    deepeval's rows hold tool calls beside `actual_output` and `expected_output`, which are texts.
    """
    present, mapped = set(available), set(map(column_of_alias, mapping or {}))
    named = {c: way.names for c, way in objects.items() if isinstance(way, Objects) and way.names}
    for names in zip(*named.values(), strict=True):
        if present.issuperset(names):
            free = {c: n for c, n in zip(named, names, strict=True) if c not in present | mapped}
            return free | dict(mapping or {})
    return mapping


def _other_way_round(column: str, name: str, names: Sequence[str]) -> str:
    """A hint for a mapping of a file's name to a column: "answer=predictions"."""
    meant = column_of_alias(name)
    matching = [other for other in names if other == column or column_of_alias(other) == column]
    if meant not in ALIASES or not matching or matching[0] == meant:
        return ""
    return f"; the name in the file goes last: {meant}={matching[0]}"


def fallbacks(
    chosen: Mapping[str, str], mapping: Mapping[str, str] | None
) -> dict[str, tuple[str, ...]]:
    """Those of the resolved columns that are read from a fallback; nobody mapped them."""
    mapped = {column_of_alias(column): name for column, name in (mapping or {}).items()}
    return {
        column: (name,)
        for column, name in chosen.items()
        if name in (instead := FALLBACKS.get(column, ())) or name in map(mapped.get, instead)
        if column not in mapped
    }


def kind_of(name: str) -> str:
    """The kind of value in a column of this name, as an error asks for it."""
    conversations = column_of_alias(name) in CONVERSATIONS
    return "a list of messages" if conversations else "a text ('' is valid)"


def holds_passages(name: str) -> bool:
    """Whether a column of this name holds a sample's list of texts."""
    return column_of_alias(name) == "contexts" or name == "reference_contexts"


def is_typo(name: str, column: str) -> bool:
    """Whether a name is one typing error away from a column, and no name of any column."""
    if name in _KNOWN or name in (column, next(_singulars(column))):
        return False
    from rapidfuzz.distance import OSA

    return OSA.distance(name, column, score_cutoff=1) == 1


def column_of_alias(name: str) -> str:
    """The canonical column that a name or alias stands for; other names stand for themselves."""
    return _COLUMN_OF.get(name, name)


def _named(column: str, metric: str, names: list[str], chosen: Mapping[str, str]) -> str:
    free = shared = names
    if chosen:
        roles = {role: columns_of_path(name, names) for role, name in chosen.items()}
        free = [n for n in names if n not in chain.from_iterable(roles.values())]
        # Texts that are compared with themselves are always right.
        other = {"predictions": "references", "references": "predictions"}.get(column, "")
        shared = [n for n in names if n not in roles.get(other, ())]
    singular, *others = ALIASES.get(column) or (next(_singulars(column)), *_singulars(column))
    matches: list[str] = []
    for pool in (free, shared):
        if column in pool:
            matches = _with_numbered([column], pool) if column == "references" else [column]
            break
        matches = [name for name in others if name in pool]
        rivals = [name for name in matches if name in _RETRIEVED] if singular == "context" else []
        matches = [singular, *rivals] if singular in pool else matches
        matches = _with_numbered(matches, pool) if column == "references" else matches
        if matches:
            break
    instead = FALLBACKS.get(column, ())
    matches = matches or [chosen.get(n, n) for n in instead if n in chosen or n in names][:1]
    if len(matches) > 1:
        error = InputError(f"{' and '.join(map(repr, matches))} could both be {column}")
        raise error.with_remedy("choose_column", column, matches[0])
    if not matches:
        raise missing_column(column, metric, names)
    return matches[0]


def _with_numbered(matches: Sequence[str], names: Iterable[str]) -> list[str]:
    """These references, and those of numbered columns such as ref0 and ref1, which are one.

    A column without a number is the first of them, if they are numbered from 2.
    """
    numbered: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        match = NUMBERED.fullmatch(name)
        if match and column_of_alias(match[1]) == "references":
            numbered.setdefault(match[1], []).append((int(match[2]), name))
    others = [name for name in matches if name not in numbered]
    for stem, columns in numbered.items():
        several = "+".join(name for _, name in sorted(columns))
        if stem in matches and min(columns)[0] == 2:
            several = f"{stem}+{several}"
        elif stem in matches:
            others.append(stem)
        others.append(several)
    return others


def _singulars(column: str) -> Iterator[str]:
    stem = column.removesuffix("s")
    return iter((stem, f"{column.removesuffix('ies')}y", column.removesuffix("es")))


def missing_column(column: str, metric: str, names: Iterable[str]) -> MissingColumn:
    """The error for a column that a metric needs and nobody gave."""
    import difflib

    names = list(names)
    singular = next(_singulars(column))
    others = ALIASES.get(column) or ([singular] if singular != column else [])
    strange = [name for name in names if name not in _KNOWN]
    close = [name for name in strange if difflib.get_close_matches(name.lower(), (column, *others))]
    near = f" (is {close[0]!r} a misspelling of it?)" if close else ""
    more = [*others[_SHOWN:], *FALLBACKS.get(column, ())]
    names_more = f" and {len(more)} other names" if more else ""
    also = f" (also read as {', '.join(others[:_SHOWN])}{names_more})" if others else ""
    usual = column_of_alias(column)
    if usual != column:
        also = f" (to read {usual}, call the parameter {ALIASES[usual][0]!r})"
    if column in CONVERSATIONS and {"role", "content"} <= {*names}:
        near = '; these are messages; write each conversation as {"messages": [...]} on one line'
    error = MissingColumn(
        f"{metric} needs the column {column!r}{also}; given: {', '.join(names) or 'nothing'}{near}"
    )
    error.column = column
    return error


def check_key(error: InputError, data: object, chosen: Mapping[str, str]) -> None:
    """Raise `InputError` if the error's sample is a row without the key of its column."""
    if error.column is None or error.sample is None or not isinstance(data, (list, tuple)):
        return
    row = data[error.sample]
    name = chosen.get(error.column, error.column)
    # A path starts at a key that another row has.
    key = column_of_path(name, chain.from_iterable(data)) or name
    if isinstance(row, Mapping) and key not in row:
        keys = f"has no {key!r}; it has {listed(map(repr, row))}" if row else "is empty"
        raise sample_error(error.column, error.sample, f"is missing: this row {keys}") from error


def chosen_columns(
    chosen: Mapping[str, str],
    values_of: Callable[[str], Iterable[Any]],
    fallbacks: dict[str, tuple[str, ...]],
    objects: Mapping[str, TextOf],
    beside: Callable[[str], str | None],
    shared: dict[str, bool],
) -> dict[str, Sequence[Any]]:
    """The values of every chosen column, those of a fallback with one text per sample.

    `beside` says under which name another column is there. `fallbacks` gets all those of which
    messages are made, and loses predictions whose metrics read conversations. `shared` gets which
    columns of texts hold lists, for all parts of one table.
    """
    read: dict[str, Sequence[Any]] = {}
    columns: dict[str, Sequence[Any]] = {}
    for column, name in chosen.items():
        # Two columns may be read from one, which may be an iterator.
        if name not in read:
            read[name] = as_list(column, values_of(name))
    for column, name in chosen.items():
        values = _with_lists(column, name, read, chosen, objects, shared)
        if column in CONVERSATIONS:
            expected = chosen.get("reference_messages") in _EXPECTED
            calls = expected and (column != "messages" or name == "tools_called")
            values, parts = _messages(column, name, values, values_of, beside, calls)
            if len(parts) > 1:
                fallbacks[column] = tuple(parts)
        elif column == "predictions" and column in fallbacks:
            from metrichub.data.exchanges import predictions_of

            as_conversations = getattr(objects.get(column), "conversations", False)
            values = predictions_of(name, values, as_conversations)
            if as_conversations:
                del fallbacks[column]
        elif column in fallbacks:
            values = joined(values)
        columns[column] = as_texts(column, values, objects[column]) if column in objects else values
    return columns


def _with_lists(
    column: str,
    name: str,
    read: Mapping[str, Sequence[Any]],
    chosen: Mapping[str, str],
    objects: Mapping[str, TextOf],
    shared: dict[str, bool],
) -> Sequence[Any]:
    """The values of a column, with lists and objects that are there as text."""
    values, way = read[name], objects.get(column)
    if shared.get(column) is False or str not in map(type, values):
        return values
    way = _way_of_lists(way) if way else None
    if column == "references" or (way == LISTS and column in TEXT):
        if _BEGINS_AS_TEXT.match(str(values[0])):
            shared[column] = False
            return values
        prediction_lists = _way_of_lists(objects.get("predictions")) == LISTS
        predictions = () if prediction_lists else read.get(chosen.get("predictions", ""), ())
        return read_lists(column, values, way, predictions, shared)
    if column in CONVERSATIONS:
        # What isn't a conversation is said where it is read as one; a reply is a text.
        is_text = column_of_alias(name) in TEXT
        return values if is_text else list(map(cell_or_text, values))
    if column == "contexts" or (column != "predictions" and holds_passages(name)):
        return read_each(column, values, json_objects=False)
    if way is None or column in TEXT:
        return values
    return read_each(column, values, json_objects=True)


def _way_of_lists(way: TextOf | None) -> TextOf | None:
    """How lists in a column become text; not at all where they are several texts."""
    if isinstance(way, Objects) and way.several:
        return LISTS if way.listed else None
    return way


def _messages(
    column: str,
    name: str,
    values: Sequence[Any],
    values_of: Callable[[str], Iterable[Any]],
    beside: Callable[[str], str | None],
    calls: bool,
) -> tuple[Sequence[Any], Sequence[str]]:
    """The conversations of a column, or `calls` alone, and the columns that they were made of."""
    from metrichub.data import exchanges

    if calls or column != "messages":
        return (exchanges.read_calls if calls else exchanges.read_conversations)(column, values), ()
    are_conversations = column_of_alias(name) == column
    make = exchanges.with_replies if are_conversations else exchanges.conversations_of
    return make(name, values, values_of, beside)
