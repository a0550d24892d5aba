"""The screens of `metrichub list` and `card`: tasks, the metrics of a task, a card."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from metrichub.catalog.card import Card, scale_text
from metrichub.catalog.frontmatter import JUDGES
from metrichub.catalog.registry import Entry, registry
from metrichub.catalog.studies import Board, Study, boards_of
from metrichub.cli.screen import plain, styled
from metrichub.errors import listed

_MOST = 19
_ASK = '{} metrics. Ask in your own words: metrichub list "is my answer grounded?"'
_MORE = "metrichub list --task rag · --judge none · --all · metrichub card bleu"
LINES = 40
_LEAD, _NAME = 8, 9
_FOOT = "--full: definition, limits, examples · metrichub cite {}"
_SERVICES = ("judge", "embedder")
_STARTS = r"Use( it)?|Don't \w+( (it|them))?|Report( it)?|(Lower|Higher) is better"
_SENTENCES = r"(?<=[.!?])\s+(?=[A-Z\"`\[])"
_SAME = r"\b(same|equals?)\b(?!.*\b(differs?|can't)\b)"


def overview(entries: Sequence[Entry], width: int) -> Iterator[str]:
    """A line a task, the largest first: how many metrics it has, and those known best.

    A metric of several tasks counts for each. It is known by the tasks for which its agreement
    with people was measured, then by the words under which it is found.
    """
    tasks: dict[str, list[tuple[int, bool, int, str]]] = {}
    broken = [registry().name_of(entry) for entry in entries if entry.problem]
    for entry in entries:
        for task in () if entry.problem else entry.card.tags.task or ("other",):
            measured = len({study.task for study in entry.studies})
            other = task != next(iter(entry.card.tags.task), task)
            rank = (-measured, other, -len(entry.card.keywords), registry().name_of(entry))
            tasks.setdefault(task, []).append(rank)
    named = {task: [name for *_, name in sorted(ranks)] for task, ranks in tasks.items()}
    order = sorted(named, key=lambda task: (task == "any", -len(named[task]), task))
    shown = order if len(order) <= _MOST + 1 else order[:_MOST]
    column = max((len(task) for task in shown), default=0)
    yield from textwrap.wrap(_ASK.format(len(entries)), width)
    yield ""
    for task in shown:
        start = f"{task:<{column}}  {len(named[task]):>3}   "
        room = width - len(start)
        examples = textwrap.shorten(", ".join(named[task]), room, placeholder=plain(" …"))
        yield styled(start, bold=True) + examples
    if others := order[len(shown) :]:
        yield textwrap.shorten(f"also {', '.join(others)}", width, placeholder=plain(" …"))
    yield ""
    if broken:
        text = f"broken, see metrichub doctor: {', '.join(broken)}"
        yield styled(textwrap.shorten(text, width, placeholder=plain(" …")), fg="red")
    yield from _dim(_MORE, width)


def of_task(
    entries: Sequence[Entry], task: str, studies: Mapping[str, Sequence[Study]], width: int
) -> Iterator[str]:
    """The metrics of a task and what they measure, by agreement with people where it is known."""
    cards = {registry().name_of(entry): entry for entry in entries}
    (board, *_) = [*boards_of({name: studies[name] for name in cards}, task), None]
    values = board.values if board and len(board.values) > 1 else {}
    order = [*values, *sorted(cards.keys() - values)]
    how = f", by agreement with people on {board.dimension}" if board and values else ""
    number = "1 metric" if len(cards) == 1 else f"{len(cards)} metrics"
    yield from textwrap.wrap(f"{number} for {task}{how}.", width)
    yield ""
    column = max(map(len, cards))
    head = board.coefficient if board and values else ""
    figures = {name: plain(f"{values[name]:.3f}".replace("-", "−")) for name in values}
    wide = max(map(len, [head, *figures.values()]))
    if head:
        yield styled(f"{'':<{column}}  {head}", dim=True)
    for name in order:
        figure = f"{figures.get(name, plain('–')):<{wide}}  " if head else ""
        start = f"{name:<{column}}  {figure}"
        room = max(width - len(start), 20)
        first, *more = textwrap.wrap(plain(_about(cards[name])), room, break_on_hyphens=False)
        yield styled(start[:column], bold=True) + start[column:] + first
        yield from (" " * len(start) + line for line in more)
    if board and values:
        yield ""
        yield from _dim(f"{board.coefficient}: {board.data}", width)


def _about(entry: Entry) -> str:
    """The summary of a metric, and its needs."""
    card = entry.card
    judge = {"any": "a judge", "model": "a model as judge"}.get(card.judge or "")
    asked = [judge, card.embedder and "an embedder", entry.lacking and entry.install]
    needs = [text for text in asked if text]
    return f"{card.summary} Needs {listed(needs)}." if needs else card.summary


def card_lines(card: Card, name: str, boards: Sequence[Board], needs: str, width: int) -> list[str]:
    """The lines of a card: at most 40 at 80 columns, however many parameters there are.

    `boards` are measurements of agreement with people, `needs` the command that installs what is
    missing.
    """
    outputs = " · ".join(dict.fromkeys([*card.headline, *card.scores]))
    reads = re.sub(r"\breferences\b", "references (one or several)", ", ".join(card.inputs))
    scale = card.scale(card.headline[0])
    languages = ["any language" if tag == "any" else tag for tag in card.tags.language]
    tags = [", ".join(card.tags.task), scale_text(scale) if scale else "", ", ".join(languages)]
    services = [
        f"{JUDGES[card.judge]} (--judge)" if card.judge else "",
        "an embedder (--embedder)" if card.embedder else "",
    ]
    above = [
        _wrapped(f"{card.title}   {' · '.join(filter(None, tags))}", width, bold=card.title),
        _wrapped(card.summary, width),
        _lead(card, width),
        [
            *_row("Reads", reads, width),
            *_row("Gives", outputs, width),
            *_row("Needs", " · ".join(filter(None, [*services, needs])), width),
            *_tries(card, name, width),
        ],
    ]
    presets = ", ".join(f"{name}({preset})" for preset in card.presets)
    below = [
        [*_row("Presets", presets, width), *_row("Equals", _equal(card), width, lines=1)],
        [*_agreement(card, name, boards, width)],
        _dim(_FOOT.format(name), width),
    ]
    room = LINES - sum(len(block) + 1 for block in [*above, *below] if block)
    blocks = [*above, _parameters(card, width, room), *below]
    return [line for block in blocks if block for line in ("", *block)][1:]


def _lead(card: Card, width: int) -> list[str]:
    """The use, the misuse and how to report it, a sentence a line, as far as there is room."""
    lines: list[str] = []
    for sentence in _sentences(card.lead):
        start = re.match(_STARTS, sentence)
        more = _wrapped(sentence, width, bold=start[0] if start else "")
        if len(lines) + len(more) > _LEAD:
            break
        lines += more
    return lines


def _tries(card: Card, name: str, width: int) -> list[str]:
    """The call for a file, and the one that the card has."""
    services = [("judge", card.judge), ("embedder", card.embedder)]
    options = "".join(f" --{kind} \"openai(model='…')\"" for kind, asked in services if asked)
    calls = [f"metrichub score outputs.jsonl -m {name}{options}"]
    block = re.search(r"(?m)^```\n(metrichub score [^`]*)^```", card.body)
    theirs = block[1].splitlines()[:1] if block else []
    required = [row[0] for row in _table(card) if row[2] == "required"]
    if theirs and ({*required} - {*_SERVICES} or theirs[0].startswith(calls[0])):
        calls = []
    lines = []
    for call in [*calls, *theirs]:
        *first, last = textwrap.wrap(
            call.replace(" --signature", ""), width - _NAME - 2, break_on_hyphens=False,
            subsequent_indent="  ",
        )  # fmt: skip
        lines += [*(f"{line} \\" for line in first), last]
    starts = [styled("Try".ljust(_NAME), bold=True), *[" " * _NAME] * len(lines)]
    return [start + plain(line) for start, line in zip(starts, lines, strict=False)]


def _table(card: Card) -> list[list[str]]:
    """The rows of the card's table of parameters: name, values, default, meaning."""
    rows = re.findall(
        r"(?m)^\| `(\w+)` \| (.+) \| (.*?) \| (.*) \|$", card.sections.get("Parameters", "")
    )
    return [[_prose(cell) for cell in row] for row in rows]


def _parameters(card: Card, width: int, room: int) -> list[str]:
    """The parameters in the lines that there is room for: in full, shortened, or the first ones."""
    rows = [
        (name, _default(default), _choice(values, default) or _sentences(meaning)[0].rstrip("."))
        for name, values, default, meaning in _table(card)
        if name not in _SERVICES
    ]
    if not rows:
        return []
    wide = [max(len(row[i]) for row in rows) for i in (0, 1)]
    starts = [f"  {name:<{wide[0]}}  {default:<{wide[1]}}  " for name, default, _ in rows]
    indent = " " * len(starts[0])
    lines = [
        line
        for start, (*_, text) in zip(starts, rows, strict=True)
        for line in textwrap.wrap(plain(text), width, initial_indent=start,
                                  subsequent_indent=indent)
    ]  # fmt: skip
    if len(lines) >= room - 1:
        wide_enough = max(width - len(indent), 12)
        lines = [
            start + textwrap.shorten(plain(text), wide_enough, placeholder=plain(" …"))
            for start, (*_, text) in zip(starts, rows, strict=True)
        ]
    if len(lines) >= room - 1:
        number = max(room - 3, 0)
        others = "also " + ", ".join(name for name, *_ in rows[number:])
        last = textwrap.shorten(others, width - 2, placeholder=plain(" …"))
        lines = [*lines[:number], f"  {last}"]
    return [styled("Parameters", bold=True), *lines]


def _default(text: str) -> str:
    """A default as one types it, cut if it is long."""
    bare = text.strip("'")
    return plain("–" if bare in ("None", "()", "") else bare if len(bare) < _NAME + 2 else
                 f"{bare[:_NAME]}…")  # fmt: skip


def _choice(values: str, default: str) -> str:
    """The other words that a parameter takes; "" if it takes more than words."""
    words = values.split(" or ")
    if not all(re.fullmatch(r"'[^']*'", word) for word in words):
        return ""
    return ", ".join(word.strip("'") for word in words if word != default)


def _equal(card: Card) -> str:
    """The program with the same scores, if the card names one first among its differences."""
    section = card.sections.get("Differences from other programs", "")
    bullet = re.match(r"- (\*\*.*?)(?=\n- |\n\n|\Z)", section, re.DOTALL)
    first = _sentences(bullet[1])[0] if bullet else ""
    return first if re.search(_SAME, first) else ""


def _agreement(card: Card, name: str, boards: Sequence[Board], width: int) -> Iterator[str]:
    """The agreement measured for the card's own tasks, beside the best metric on the same data."""
    title = "Agreement with people"
    if not boards:
        yield styled(title, bold=True) + ": not measured on its own task"
        return
    yield styled(title, bold=True) + " (a place to start; see metrichub agreement)"
    board = boards[0]
    best, value = next(iter(board.values.items()))
    first = "the highest here" if best == name else f"the highest is {best}, {value:.3f}"
    text = f"{board.values[name]:.3f} {board.coefficient} with {board.dimension} ({first})"
    yield from _wrapped(f"  {text}: {board.data}", width, indent="    ")


def _row(name: str, text: str, width: int, lines: int = 2) -> list[str]:
    """A text of at most these lines behind a name; none without a text."""
    room = lines * (width - _NAME) - (lines - 1) * _NAME
    text = f"{name:<{_NAME}}" + textwrap.shorten(plain(text), room, placeholder=plain(" …"))
    return _wrapped(text, width, bold=name, indent=" " * _NAME) if text.strip() != name else []


def _wrapped(text: str, width: int, bold: str = "", indent: str = "") -> list[str]:
    """The lines of a text, whose first words may be bold."""
    lines = textwrap.wrap(plain(text), width, subsequent_indent=indent, break_on_hyphens=False)
    bold = plain(bold)
    if bold and lines[0].startswith(bold):
        lines[0] = styled(bold, bold=True) + lines[0][len(bold) :]
    return lines


def _sentences(text: str) -> list[str]:
    """The sentences of Markdown as text."""
    return [_prose(sentence) for sentence in re.split(_SENTENCES, " ".join(text.split()))]


def _dim(text: str, width: int) -> list[str]:
    return [styled(line, dim=True) for line in textwrap.wrap(plain(text), width)]


def _prose(text: str) -> str:
    """Markdown as text: links by their words, no signs of markup."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(text.split()))
    return re.sub(r"\\([\\`*_\[\]<>|$])", r"\1", re.sub(r"(?<!\\)(`|\*\*)", "", text))
