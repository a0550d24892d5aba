"""Where a metric's prompts lie: beside its code, among those that all share, or translated."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from metrichub.judge.examples import SUFFIX
from metrichub.judge.protocol import SHARED_PROMPTS, Prompt, slots_of

_BRACED = re.compile(r"\{\{\s*(\w+)\s*\}\}|(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")
_FIELD = re.compile(r'field "(\w+)"')

ENGLISH = "en"
"""The language of prompts that are in no folder of a language."""


@cache
def prompts_of(owners: tuple[type, ...]) -> Mapping[str, Path]:
    """The English prompts beside the code of some classes, and the shared ones, by name.

    Those of a later class stand before those of an earlier one.
    """
    found = {path.stem: path for path in SHARED_PROMPTS.glob("*.md")}
    for owner in owners:
        file = getattr(sys.modules.get(owner.__module__), "__file__", None)
        found |= {path.stem: path for path in Path(file or "").parent.glob("prompts/*.md")}
    return found


def given_prompts(folder: str | None) -> dict[str, Path]:
    """The prompts in a user's folder, by name."""
    found = sorted(Path(folder).glob("*.md")) if folder else []
    return {path.stem: path for path in found}


def given_examples(folder: str | None) -> dict[str, Path]:
    """The files of examples in a user's folder, by the names of their prompts."""
    found = sorted(Path(folder).glob(f"*{SUFFIX}")) if folder else []
    return {path.name.removesuffix(SUFFIX): path for path in found}


def in_language(path: Path, language: str) -> Path:
    """The translation of a prompt, prompts/zh/claims.md for prompts/claims.md."""
    return path if language == ENGLISH else path.parent / language / path.name


def spoken(language: str, known: Collection[str]) -> str:
    """The known language that a tag such as "zh-CN" or "en_US" names; others stay as they are.

    A known variant, such as "pt-BR", is told from its language.
    """
    primary = re.split("[-_]", language)[0].lower()
    return primary if primary in known and language not in known else language


def languages(path: Path) -> frozenset[str]:
    """The languages that there is a prompt in."""
    return frozenset(
        {ENGLISH, *(found.parent.name for found in path.parent.glob(f"*/{path.name}"))}
    )


@cache
def packaged(path: Path) -> Prompt:
    """A prompt of the hub's or of a package, which doesn't change while they run."""
    return Prompt.read(path)


def template(prompt: Prompt) -> dict[str, Any]:
    """What a model is told by a prompt, as reports save it: its text and its examples."""
    examples = [
        {"fields": json.loads(one.data), "reply": json.loads(one.reply)} for one in prompt.examples
    ]
    return {"text": prompt.text, "examples": examples}


def misfilled(mine: Prompt, own: Prompt) -> str | None:
    """What a user's prompt should be like that is blank, or whose slots aren't the metric's own.

    Prompts made for other tools hold the texts in slots such as `{text}`; here texts are data, in
    a message of their own.
    """
    if not mine.text:
        return f"{mine.name}.md with an instruction in it"
    slots = slots_of(own.text)
    for braced in _BRACED.finditer(mine.text):
        name, slot = braced[1] or braced[2], f"{{{{{braced[1] or braced[2]}}}}}"
        if name in slots and braced[0] != slot:
            return f"{mine.name}.md with {slot} in place of {braced[0]}"
        if name not in slots:
            fields = dict.fromkeys(_FIELD.findall(" ".join(own.text.split())))
            named = " and ".join(f'the field "{field}"' for field in fields)
            return (
                f"{mine.name}.md without {braced[0]}, which nothing is filled into: the judge gets "
                f"the texts as JSON after the prompt, which may name {named or 'its fields'}"
            )
    if lacking := sorted(slots - slots_of(mine.text)):
        return f"{mine.name}.md with {' and '.join(f'{{{{{name}}}}}' for name in lacking)} in it"
    return None


@cache
def unfit(prompt: Prompt, fields: frozenset[str], verdicts: tuple[str, ...]) -> str | None:
    """Which examples would fit what is asked by a prompt, where its own don't."""
    for shown in prompt.examples:
        given = json.loads(shown.data).keys() - {"items", "candidates"}
        words = {one["verdict"] for one in json.loads(shown.reply).get("verdicts", ())}
        if given != fields:
            right, wrong = " and ".join(sorted(fields)), " and ".join(sorted(given))
            return f"examples of {prompt.name} with the fields {right} (one has: {wrong})"
        if not words <= {*verdicts}:
            right, wrong = ", ".join(verdicts), ", ".join(sorted(words - {*verdicts}))
            return f"examples of {prompt.name} with the verdicts {right} (one has: {wrong})"
    return None
