"""The laws about a metric's card, which is there, whole and true, and its generated blocks."""

from __future__ import annotations

import ast
import doctest
import re
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from metrichub.authoring import judge_of
from metrichub.catalog.card import FORMER_HEADINGS, HEADINGS, OPTIONAL, Card, bounds_table
from metrichub.catalog.parameters import Parameter, described_values, make, parameters_of
from metrichub.catalog.studies import agreement_block, definition_of, read_studies
from metrichub.errors import JudgeUnavailable, MetrichubError
from metrichub.evaluation.signature import prompts_hash
from metrichub.judge.conversation_metric import ConversationMetric
from metrichub.judge.metric import JudgeMetric
from metrichub.judge.prompt_files import Prompt, Question
from metrichub.judge.protocol import Choice, Fields, Grade, Judge, Sampling, Verdict
from metrichub.metric import MAX_GATHERED, CorpusMetric, Metric, load_metric
from metrichub.testing.under_test import Broken, MetricUnderTest, hold

WRITTEN = ("headline", "definition")
"""What a card has to say, though one without it can be read."""
_PROMPTS = "|prompts:"
_NO_PROSE = r"(?sm)^<!-- generated:.*?^<!-- end -->|^```.*?^```"
_MARKER = r"(?:[-+*]|1[.)]|#{1,6}|>) "
"""What makes a line something else than the next one of a paragraph."""
_ENGLISH = r"\b(?:(?:other|languages) than|outside) English\b|\bUse\b[^.]*\bin English\b"
_DEFAULT = r"(?m)^\|.*\bthe default\b.*\| English \|$"
"""The row of a default model in a table that ends with its languages."""
_DIRECTION = r"(?i)(?:^|[.;] )\**(lower|higher) is better\**[.,;]"
_LEFT_OUT = (
    r"(?s)\b(?:text|prediction|answer|sample)s? .*\b(?:is|are|as) unanswered\b|"
    r"\b(?:text|prediction|answer)s? (?:is|are) left out of the mean"
)
_OWN_FAULT = (
    r"(?s)^(?!.*\b(?:reference|source|question|context|passage|input|sample)).*"
    r"\b(?:text|prediction|answer|reply)\b.*\bunscored\b"
)
"""A prediction's fault: the sentence names no other column."""


def one_name(under_test: MetricUnderTest) -> None:
    """The folder, entry point and card have the same name; the packages above have no code."""
    entry, folder = under_test.entry, under_test.entry.folder
    names = {entry.name, folder.name, entry.card.name}
    hold(len(names) == 1, f"the names differ: {', '.join(sorted(names))}")
    hold((folder / "__init__.py").exists(), f"{folder} has no __init__.py")
    for _ in entry.value.partition(":")[0].split(".")[:-1]:
        folder = folder.parent
        if not (folder / "__init__.py").exists():
            continue
        code = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
        body = code.body[1:] if ast.get_docstring(code) else code.body
        hold(not body, f"{folder / '__init__.py'} has code; listing metrics would run it")


def card_is_complete(under_test: MetricUnderTest) -> None:
    """The card has all keys and headings, one BibTeX block and current generated blocks."""
    card = under_test.entry.card
    for key in WRITTEN:
        hold(key in card.keys, f"the front matter has no {key}")
    former = FORMER_HEADINGS[0] in card.sections
    order = FORMER_HEADINGS if former else HEADINGS
    headings = [name for name in card.sections if name in order]
    absent = [repr(name) for name in order if name not in {*headings, *OPTIONAL}]
    hold(not absent, f"the card lacks the heading {', '.join(absent)}")
    ordered = headings == [name for name in order if name in headings]
    hold(ordered, f"the headings are in another order than {list(order)}")
    lead = "what to use the metric for, what not, and how to report it"
    hold(former or bool(card.lead), f"the card has no paragraph above its first heading: {lead}")
    for name, text in card.sections.items():
        hold(bool(text.strip()), f"the section {name!r} is empty")
    cite = "a card has exactly one bibtex block; without a paper, cite the software"
    hold(card.body.count("```bibtex") == 1, cite)
    hold(card.bibtex.startswith("@"), "the bibtex block has no entry")
    expected, blocks = generated(under_test), card.blocks()
    for name, text in expected.items():
        lines = f"<!-- generated: {name} --> and <!-- end -->"
        hold(name in blocks, f"the card lacks the generated block {name!r}: add {lines} to it")
        update = f"metrichub check {under_test.entry.name} --update"
        hold(blocks[name] == text, f"the generated block {name!r} is old: {update}")
    for name in blocks:
        hold(name in expected, f"the generated block {name!r} has nothing to show: delete it")
    for name, parameters in card.presets.items():
        try:
            make(under_test.entry.load(), parameters, card.name)
        except MetrichubError as error:
            raise Broken(f"the preset {name!r} can't be made: {error}") from error
    studies_agree(under_test)
    prose_agrees(card)


def prose_agrees(card: Card) -> None:
    """Raise `Broken` if the prose contradicts the front matter, or a wrapped line isn't text."""
    prose, lead = re.sub(_NO_PROSE, "\n\n", card.body), " ".join(card.lead.split())
    for paragraph in re.split(r"\n\s*\n", prose):
        # A list after a colon is meant as one.
        text = re.split(rf":\n\s*{_MARKER}", paragraph)[0]
        stray = re.search(rf"\n({_MARKER}.*)", text)
        if stray and not re.match(rf"\s|{_MARKER}|[|#<]", text):
            raise Broken(
                f"Markdown doesn't read the line {stray[1]!r} as text of its paragraph: wrap it "
                "at another word, or put an empty line before it"
            )
    for english in (re.search(_ENGLISH, lead), re.search(_DEFAULT, prose)):
        if english and "any" in card.tags.language:
            raise Broken(
                f"the prose says {english[0]!r}, but the front matter language: [any]; write the "
                "languages of the defaults, as in language: [en]"
            )
    direction, better = re.search(_DIRECTION, lead), card.better("score")
    if direction and direction[1].lower() != better:
        raise Broken(f"the opening says '{direction[1]} is better', but the front matter {better}")
    wrong, right = _LEFT_OUT, "the front matter has no undefined_for"
    if card.undefined_for:
        wrong, right = _OWN_FAULT, "by its undefined_for such a sample is unanswered"
    for sentence in re.split(r"[.:;|]\s", prose):
        hold(not re.search(wrong, sentence), f"{right}, but the prose says {sentence.strip()!r}")


def inputs_agree(under_test: MetricUnderTest) -> None:
    """The card names the inputs and the kind of judge that the code uses.

    A judge is asked only the questions that the metric declares.
    """
    card, code = under_test.entry.card.inputs, under_test.metric.inputs()
    hold(set(card) == set(code), f"the card asks for {list(card)}, the code for {list(code)}")
    for kind in ("judge", "embedder"):
        asks, declared = hasattr(under_test.metric, kind), getattr(under_test.entry.card, kind)
        problem = f"the card says {kind}: {declared}, the code has {'one' if asks else 'none'}"
        hold(asks == (declared is not None), problem)
    if under_test.entry.card.judge == "model":
        with suppress(JudgeUnavailable):
            under_test.evaluate(under_test.columns, judge="offline")
            raise Broken("the card says judge: model, but the offline judge serves it")
    metric = under_test.metric
    if not isinstance(metric, JudgeMetric):
        return
    questions = {(kind, name) for kind, names in metric.questions().items() for name in names}
    hold(bool(questions), "it has a judge, but `asks` is empty")
    for _, name in questions:
        metric.prompt(name)
    spy = JudgeSpy(judge_of(metric.judge))
    under_test.evaluate(under_test.columns, judge=spy)
    for kind, name in sorted(spy.questions - questions):
        raise Broken(f"it asks its judge to {kind} ({name}), which `asks` doesn't declare")


@dataclass(frozen=True)
class JudgeSpy:
    """The judge that it asks, to its caller; `questions` holds each question with its prompt."""

    judge: Judge
    questions: set[tuple[Question, str]] = field(default_factory=set, compare=False)

    @property
    def label(self) -> str:
        """The other judge's."""
        return self.judge.label

    async def extract(self, prompt: Prompt, fields: Fields, limit: int | None = None) -> list[str]:
        """The texts that the other judge finds."""
        self.questions.add(("extract", prompt.name))
        return await self.judge.extract(prompt, fields, limit)

    async def verify(
        self, prompt: Prompt, items: Sequence[str], fields: Fields, verdicts: Sequence[str]
    ) -> list[Verdict]:
        """The other judge's verdicts."""
        self.questions.add(("verify", prompt.name))
        return await self.judge.verify(prompt, items, fields, verdicts)

    async def grade(
        self,
        prompt: Prompt,
        fields: Fields,
        scale: tuple[int, int],
        weighing: Sampling = Sampling(),  # noqa: B008  # immutable
    ) -> Grade:
        """The other judge's grade."""
        self.questions.add(("grade", prompt.name))
        return await self.judge.grade(prompt, fields, scale, weighing)

    async def choose(self, prompt: Prompt, candidates: Sequence[str], fields: Fields) -> Choice:
        """The other judge's choice."""
        self.questions.add(("choose", prompt.name))
        return await self.judge.choose(prompt, candidates, fields)


def outputs_agree(under_test: MetricUnderTest) -> None:
    """The card names the outputs that the code returns, "score" and the headline among them."""
    card = under_test.entry.card
    code = under_test.evaluate(under_test.columns).results[under_test.metric.name].scores()
    hold("score" in code, f"there is no output 'score' in {sorted(code)}")
    unknown = [output for output in code if card.scale(output) is None]
    hold(not unknown, f"the card doesn't list {', '.join(unknown)}")
    returned = {id(card.scale(output)) for output in code}
    missing = [name for name, scale in card.scores.items() if id(scale) not in returned]
    hold(not missing, f"the card lists {', '.join(missing)}, which the code doesn't return")
    absent = [output for output in under_test.metric.headline() if output not in code]
    hold(not absent, f"the headline names {', '.join(absent)}, which the code doesn't return")


def examples_run(under_test: MetricUnderTest) -> None:
    """The card's examples run, and set every parameter to a value other than its default."""
    card = under_test.entry.card
    hold(bool(card.examples), "the card has no example")
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    output: list[str] = []
    names: dict[str, Any] = {}
    for number, code in enumerate(card.examples):
        test = doctest.DocTestParser().get_doctest(code, names, f"example {number}", None, 0)
        runner.run(test, out=output.append, clear_globs=False)
        names = test.globs
    hold(not runner.failures, "".join(output))
    code = "\n".join(card.examples)
    shared = {parameter.name for parameter in parameters_of(ConversationMetric)} - {"judge"}
    for parameter in parameters_of(type(under_test.metric)):
        if parameter.name in shared:
            continue
        values = re.findall(rf"\b{parameter.name}=(\"[^\"]*\"|'[^']*'|[^,)\s\"]+)", code)
        off_default = parameter.required or set(values) - {repr(parameter.default)}
        problem = f"no example gives {parameter.name} another value than {parameter.default!r}"
        hold(bool(values and off_default), problem)


def generated(under_test: MetricUnderTest) -> dict[str, str]:
    """The generated blocks of a card as they have to be.

    The bounds, the parameters if there are any, and the agreement if studies of it are shown.
    """
    blocks = {"bounds": bounds_table(under_test.entry.card) + _gathered(under_test.metric)}
    studies = read_studies(under_test.entry.folder)
    without_prompts = [study for study in studies if _PROMPTS not in study.signature]
    unknown = [study for study in without_prompts if load_metric(study.spec).templates()]
    if agreement := agreement_block(studies, under_test.entry.card.tags.task, unknown):
        blocks["agreement"] = agreement
    if parameters := parameters_of(under_test.entry.load()):
        head = "| parameter | values | default | meaning |\n| --- | --- | --- | --- |\n"
        table = head + "".join(map(_row, parameters))
        blocks = {"parameters": table + _presets(under_test.entry.card), **blocks}
    return blocks


def _presets(card: Card) -> str:
    """A table of the presets and what each sets, as in the code."""
    table = "\n| preset | sets |\n| --- | --- |\n" if card.presets else ""
    for name, parameters in card.presets.items():
        settings = ", ".join(f"`{key}={value!r}`" for key, value in parameters.items())
        table += f"| `{card.name}({name})` | {settings} |\n"
    return table


def _gathered(metric: Metric) -> str:
    """A note on what a corpus metric gathers from several machines; "" for other metrics."""
    if not isinstance(metric, CorpusMetric):
        return ""
    is_gathered = {
        "rows": f"the rows of at most {MAX_GATHERED:,} samples are",
        "vocabulary": "their vocabulary is",
        "sums": "sums over them are",
    }[metric.gathers]
    note = f"Scores come from all samples together: across machines, {is_gathered} gathered."
    return "\n".join(["", *textwrap.wrap(note, 100), ""])


def _row(parameter: Parameter) -> str:
    default = "required" if parameter.required else f"`{parameter.default!r}`"
    values = " or ".join(described_values(parameter.hint))
    return f"| `{parameter.name}` | {values} | {default} | {parameter.meaning} |\n"


def studies_agree(under_test: MetricUnderTest) -> None:
    """Raise `Broken` if a study has other parameters or prompts, or is of another definition."""
    entry = under_test.entry
    for study in read_studies(entry.folder):
        metric = load_metric(study.spec)
        name, today = study.data["name"], f"{metric.label()}|definition:{entry.card.definition}"
        measured = definition_of(study.signature)
        if _PROMPTS in measured:
            today += f"{_PROMPTS}{prompts_hash(metric.templates())}"
        if measured != today:
            raise Broken(
                f"agreement.json has {name} for {measured}, and the metric is {today} now; "
                f'measure it again: metrichub agreement FILE -m "{study.spec}" --human COLUMN '
                f"--write {name}"
            )
