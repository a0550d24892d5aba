"""Prompts and their few-shot examples: packaged, translated, and in files of the user."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from metrichub.errors import MetricError

Question = Literal["extract", "verify", "grade", "choose"]
"""The task of a judge."""

SHARED_PROMPTS = Path(__file__).parent / "prompts"
"""The prompts that come with the hub, for metrics to share."""

SUFFIX = ".examples.jsonl"
"""How the name of a prompt's file of examples ends: claims.examples.jsonl beside claims.md."""

ENGLISH = "en"
"""The language of prompts that are in no folder of a language."""

_SLOT = re.compile(r"\{\{(\w+)\}\}")
_RULE = re.compile(r"<!--\s*offline:\s*(\w+)\s*-->\s*")
_BRACED = re.compile(r"\{\{\s*(\w+)\s*\}\}|(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")
_FIELD = re.compile(r'field "(\w+)"')
_REPLIES: Mapping[frozenset[str], Question] = {
    frozenset({"items"}): "extract",
    frozenset({"verdicts"}): "verify",
    frozenset({"reason", "score"}): "grade",
    frozenset({"reason", "winner"}): "choose",
}
_VERDICT = {"index": int, "reason": str, "verdict": str}
_ITEM = {"index": int, "text": str}


class FewShot(NamedTuple):
    """One example of a prompt: the data and the right reply, both as the JSON text that is sent."""

    data: str
    reply: str
    question: Question


@dataclass(frozen=True)
class Prompt:
    """An instruction to a judge, in Markdown. `rule` names the rule for judges without a model.

    A model sees `examples` before the data.
    """

    name: str
    text: str
    rule: str | None = None
    examples: tuple[FewShot, ...] = ()

    @property
    def sha(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of the text and the examples."""
        parts = [self.text, *(part for shown in self.examples for part in shown)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def filled(self, **slots: str) -> Prompt:
        """The prompt with a text in each of its slots, such as `{{criteria}}`.

        Slots are for instructions by the user of the metric; texts under evaluation are fields,
        never slots.

        Raises:
            MetricError: the prompt has other slots.
        """
        if slots.keys() != (expected := slots_of(self.text)):
            raise MetricError(
                f"the prompt {self.name!r} has the slots {', '.join(sorted(expected)) or 'none'}, "
                f"not {', '.join(sorted(slots)) or 'none'}"
            )
        return replace(self, text=_SLOT.sub(lambda slot: slots[slot[1]], self.text))

    @staticmethod
    def read(path: Path, examples: Path | None = None) -> Prompt:
        """The prompt in a Markdown file, named after the file.

        A first line `<!-- offline: covers -->` names the rule and isn't part of the text. Examples
        are read from the file next to it, such as claims.examples.jsonl, or from the one given.

        Raises:
            MetricError: a file can't be read, or has no examples.
        """
        text = _read(path, "prompt")
        rule = _RULE.match(text)
        shown = read_examples(examples or path.with_name(path.stem + SUFFIX))
        return Prompt(path.stem, without_rule(text).strip(), rule[1] if rule else None, shown)


def _read(path: Path, kind: str) -> str:
    """The text of a file of this kind.

    Raises:
        MetricError: it can't be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it isn't UTF-8"
        raise MetricError(f"the {kind} {path} can't be read: {why}") from error


def without_rule(text: str) -> str:
    """The text of a prompt's file without the offline judge's rule."""
    return _RULE.sub("", text, count=1)


def slots_of(text: str) -> frozenset[str]:
    """The names of a prompt's slots, such as `criteria` of `{{criteria}}`."""
    return frozenset(_SLOT.findall(text))


def prompts_of(owners: Iterable[type]) -> Mapping[str, Path]:
    """The English prompts beside the code of some classes, and the shared ones, by name.

    Those of a later class stand before those of an earlier one.
    """
    prompts = {path.stem: path for path in SHARED_PROMPTS.glob("*.md")}
    for owner in owners:
        file = getattr(sys.modules.get(owner.__module__), "__file__", None)
        prompts |= {path.stem: path for path in Path(file or "").parent.glob("prompts/*.md")}
    return prompts


def user_files(folder: str | None, suffix: str) -> dict[str, Path]:
    """The files with a suffix in a user's folder, by the names of their prompts."""
    paths = sorted(Path(folder).glob(f"*{suffix}")) if folder else []
    return {path.name.removesuffix(suffix): path for path in paths}


def in_language(path: Path, language: str) -> Path:
    """The translation of a prompt, prompts/zh/claims.md for prompts/claims.md."""
    return path if language == ENGLISH else path.parent / language / path.name


def match_language(language: str, languages: Collection[str]) -> str:
    """The language of a tag such as "zh-CN" or "en_US", unless the languages have the tag itself.

    A language that isn't among them stays as it is.
    """
    primary = re.split("[-_]", language)[0].lower()
    return primary if primary in languages and language not in languages else language


def languages(path: Path) -> frozenset[str]:
    """The languages that there is a prompt in."""
    return frozenset(
        {ENGLISH, *(translated.parent.name for translated in path.parent.glob(f"*/{path.name}"))}
    )


@cache
def packaged(path: Path) -> Prompt:
    """The prompt in a file of metrichub or of a package, read once."""
    return Prompt.read(path)


def template(prompt: Prompt) -> dict[str, Any]:
    """The text and the examples of a prompt, as reports save them."""
    examples = [
        {"fields": json.loads(shown.data), "reply": json.loads(shown.reply)}
        for shown in prompt.examples
    ]
    return {"text": prompt.text, "examples": examples}


def slot_problem(mine: Prompt, packaged: Prompt) -> str | None:
    """The words for a user's prompt that would do, if this one is blank or has other slots.

    Prompts made for other tools hold the texts in slots such as `{text}`; here texts are data, in
    a message of their own.
    """
    if not mine.text:
        return f"{mine.name}.md with an instruction in it"
    slots = slots_of(packaged.text)
    for braced in _BRACED.finditer(mine.text):
        name, slot = braced[1] or braced[2], f"{{{{{braced[1] or braced[2]}}}}}"
        if name in slots and braced[0] != slot:
            return f"{mine.name}.md with {slot} in place of {braced[0]}"
        if name not in slots:
            fields = dict.fromkeys(_FIELD.findall(" ".join(packaged.text.split())))
            named = " and ".join(f'the field "{field}"' for field in fields)
            return (
                f"{mine.name}.md without {braced[0]}, which nothing is filled into: the judge gets "
                f"the texts as JSON after the prompt, which may name {named or 'its fields'}"
            )
    if lacking := sorted(slots - slots_of(mine.text)):
        return f"{mine.name}.md with {' and '.join(f'{{{{{name}}}}}' for name in lacking)} in it"
    return None


@cache
def example_problem(
    prompt: Prompt, fields: frozenset[str], verdicts: tuple[str, ...]
) -> str | None:
    """The words for examples that would fit a question, if those of its prompt don't."""
    for shown in prompt.examples:
        names = json.loads(shown.data).keys() - {"items", "candidates"}
        words = {verdict["verdict"] for verdict in json.loads(shown.reply).get("verdicts", ())}
        if names != fields:
            right, wrong = " and ".join(sorted(fields)), " and ".join(sorted(names))
            return f"examples of {prompt.name} with the fields {right} (one has: {wrong})"
        if not words <= {*verdicts}:
            right, wrong = ", ".join(verdicts), ", ".join(sorted(words - {*verdicts}))
            return f"examples of {prompt.name} with the verdicts {right} (one has: {wrong})"
    return None


def read_examples(path: Path) -> tuple[FewShot, ...]:
    """The examples in a file with one `{"fields": {…}, "reply": {…}}` a line; none if no file.

    `fields` is what the model gets as the user message, and `reply` what it sends back: `items`,
    `verdicts`, a `reason` with a `score`, or a `reason` with a `winner`.

    Raises:
        MetricError: the file can't be read, or a line of it isn't such an example.
    """
    if not path.exists():
        return ()
    examples = []
    # Not splitlines: JSON strings may hold the line separators of Unicode.
    for number, line in enumerate(_read(path, "examples").split("\n"), 1):
        try:
            examples += [_example(line)] if line.strip() else []
        except ValueError as error:
            raise MetricError(f"the examples {path}, line {number}: {error}") from error
    return tuple(examples)


def _example(line: str) -> FewShot:
    """The example on a line.

    Raises:
        ValueError: it is none, and why.
    """
    try:
        example = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"no JSON object ({getattr(error, 'msg', 'too deep')})") from error
    if not isinstance(example, dict) or example.keys() != {"fields", "reply"}:
        raise ValueError('an example is {"fields": {…}, "reply": {…}} with no other keys')
    fields, reply = example["fields"], example["reply"]
    if not isinstance(fields, dict) or not fields:
        raise ValueError("`fields` has to be an object with at least one field")
    question = _REPLIES.get(frozenset(reply)) if isinstance(reply, dict) else None
    if question is None:
        raise ValueError(
            "`reply` has to be an object with `items`, with `verdicts`, with `reason` and `score`, "
            "or with `reason` and `winner`"
        )
    _check_reply(fields, reply, question)
    data = json.dumps(fields, ensure_ascii=False, indent=1)
    return FewShot(data, json.dumps(reply, ensure_ascii=False), question)


def _check_reply(fields: Mapping[str, Any], reply: Mapping[str, Any], question: Question) -> None:
    """Raise ValueError unless the values of a reply are of the types that a judge's have to be."""
    if question == "extract":
        items = reply["items"]
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise ValueError("`items` has to be a list of strings")
    elif question == "verify":
        items, verdicts = fields.get("items", ()), reply["verdicts"]
        if not _are_objects(verdicts, _VERDICT):
            raise ValueError(
                "`verdicts` has to be a list of objects with index, reason and verdict"
            )
        if not _are_objects(items, _ITEM):
            raise ValueError("`fields` needs `items`, a list of objects with index and text")
        if [item["index"] for item in items] != [verdict["index"] for verdict in verdicts]:
            raise ValueError(
                "`verdicts` has to hold one verdict for each of `items`, in their order"
            )
    elif not isinstance(reply["reason"], str):
        raise ValueError("`reason` has to be a string")
    elif question == "grade" and type(reply["score"]) is not int:
        raise ValueError("`score` has to be a whole number")
    elif question == "choose" and reply["winner"] not in ("A", "B", "tie"):
        raise ValueError("`winner` has to be A, B or tie")


def _are_objects(values: Any, types: Mapping[str, type]) -> bool:
    """Whether this is a list of objects that have these keys, with values of these types."""
    return isinstance(values, list) and all(
        isinstance(value, dict) and {key: type(part) for key, part in value.items()} == types
        for value in values
    )
