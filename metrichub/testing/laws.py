"""The fourteen laws that every metric keeps: functions that raise `Broken` with the reason."""

from __future__ import annotations

import ast
import copy
import doctest
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from metrichub.catalog.card import HEADINGS, bounds_table
from metrichub.catalog.parameters import Parameter, parameters_of
from metrichub.catalog.requirements import required_names
from metrichub.data.batch import Block, Column
from metrichub.errors import JudgeUnavailable
from metrichub.evaluation.observation import measure_objects, measure_rows, scores_of
from metrichub.evaluation.result import SumResult
from metrichub.judge.metric import JudgeMetric
from metrichub.metric import Array, CorpusMetric
from metrichub.models.resolve import judge_of
from metrichub.report.report import Report
from metrichub.testing.footprint import footprint
from metrichub.testing.listening import Listening
from metrichub.testing.under_test import HOSTILE, WORDS, Broken, MetricUnderTest

WRITTEN = ("headline", "definition")
"""What a card has to say, though one without it can be read."""
HEAVY = ("torch", "transformers", "openai", "tensorflow", "jax")


def one_name(tested: MetricUnderTest) -> None:
    """Folder, entry point and card have one name, and the packages above import nothing."""
    entry, folder = tested.entry, tested.entry.folder
    names = {entry.name, folder.name, entry.card.name}
    _hold(len(names) == 1, f"the names differ: {', '.join(sorted(names))}")
    _hold((folder / "__init__.py").exists(), f"{folder} has no __init__.py")
    for _ in entry.value.partition(":")[0].split(".")[:-1]:
        folder = folder.parent
        if not (folder / "__init__.py").exists():
            continue
        code = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
        body = code.body[1:] if ast.get_docstring(code) else code.body
        _hold(not body, f"{folder / '__init__.py'} has code; listing metrics would run it")


def card_is_complete(tested: MetricUnderTest) -> None:
    """The card parses: all keys and headings, one BibTeX block, current generated blocks."""
    card = tested.entry.card
    for key in WRITTEN:
        _hold(key in card.keys, f"the front matter has no {key}")
    headings = [name for name in card.sections if name in HEADINGS]
    _hold(headings == list(HEADINGS), f"the headings are {list(card.sections)}, not {HEADINGS}")
    for name, text in card.sections.items():
        _hold(bool(text.strip()), f"the section {name!r} is empty")
    _hold(card.body.count("```bibtex") == 1, "a card has exactly one bibtex block")
    _hold(card.bibtex.startswith("@"), "the bibtex block holds no entry")
    expected = generated(tested)
    found = card.blocks()
    _hold(found.keys() == expected.keys(), f"the card needs the generated blocks {list(expected)}")
    for name, text in expected.items():
        _hold(
            found[name] == text,
            f"the generated block {name!r} is old: metrichub check {tested.entry.name} --update",
        )


def inputs_agree(tested: MetricUnderTest) -> None:
    """The card's inputs are the code's, and so is its judge, who is asked what is declared."""
    card, code = tested.entry.card.inputs, tested.metric.inputs()
    _hold(set(card) == set(code), f"the card asks for {list(card)}, the code for {list(code)}")
    for kind in ("judge", "embedder"):
        asks, said = hasattr(tested.metric, kind), getattr(tested.entry.card, kind)
        _hold(
            asks == (said is not None),
            f"the card says {kind}: {said}, the code has {'one' if asks else 'none'}",
        )
    if tested.entry.card.judge == "model":
        refused = False
        try:
            tested.evaluate(tested.columns, judge="offline")
        except JudgeUnavailable:
            refused = True
        _hold(refused, "the card says judge: model, but the offline judge serves it")
    if isinstance(tested.metric, JudgeMetric):
        _asks_what_it_declares(tested, tested.metric)


def _asks_what_it_declares(tested: MetricUnderTest, metric: JudgeMetric) -> None:
    declared = {(kind, name) for kind, names in metric.questions().items() for name in names}
    _hold(bool(declared), "it declares nothing that it asks its judge")
    for _, name in declared:
        metric.prompt(name)
    listening = Listening(judge_of(metric.judge))
    tested.evaluate(tested.columns, judge=listening)
    for kind, name in sorted(listening.heard - declared):
        raise Broken(f"it asks its judge to {kind} ({name}), which `asks` doesn't declare")


def outputs_agree(tested: MetricUnderTest) -> None:
    """The card's outputs are those of the code, "score" and the headline among them."""
    card = tested.entry.card
    code = tested.evaluate(tested.columns).results[tested.metric.name].scores()
    _hold("score" in code, f"there is no output 'score' in {sorted(code)}")
    unknown = [output for output in code if card.scale(output) is None]
    _hold(not unknown, f"the card doesn't list {', '.join(unknown)}")
    given = {id(card.scale(output)) for output in code}
    missing = [name for name, scale in card.scores.items() if id(scale) not in given]
    _hold(not missing, f"the card lists {', '.join(missing)}, which the code doesn't give")
    absent = [output for output in tested.metric.headline() if output not in code]
    _hold(not absent, f"the headline names {', '.join(absent)}, which the code doesn't give")


def rows_are_finite(tested: MetricUnderTest) -> None:
    """N ordinary samples give N rows, all scored and finite."""
    report = tested.evaluate(tested.columns)
    result = report.results[tested.metric.name]
    size = len(next(iter(tested.columns.values())))
    _hold(result.unscored == 0, f"{result.unscored} of {size} ordinary samples are unscored")
    for name, values in result.samples().items():
        _hold(values.shape == (size,), f"{name} has shape {values.shape} for {size} samples")
        _hold(bool(np.isfinite(values).all()), f"{name} of ordinary samples is {values.tolist()}")
    for name, value in result.scores().items():
        _hold(bool(np.isfinite(value)), f"the corpus {name} of ordinary samples is {value}")


def score_broadcasts(tested: MetricUnderTest) -> None:
    """`score` gives the same for (), (N,) and (B, N) leading axes."""
    result = tested.evaluate(tested.columns).results[tested.metric.name]
    if not isinstance(result, SumResult) or result.rows is None:
        return
    metric, rows = tested.metric, result.rows
    count = rows.scored.astype(np.float64)
    flat = scores_of(metric, rows.arrays, count)
    twice: dict[str, Array] = {name: np.stack([a, a]) for name, a in rows.arrays.items()}
    deep = scores_of(metric, twice, np.stack([count, count]))
    for name, values in flat.items():
        _hold(deep[name].shape == (2, *values.shape), f"{name} has the wrong shape over (B, N)")
        for block in deep[name]:
            _hold(_same(block, values), f"{name} differs over (B, N)")
    for row in range(len(rows)):
        one = scores_of(metric, {k: a[row] for k, a in rows.arrays.items()}, count[row])
        for name, value in one.items():
            _hold(value.shape == (), f"{name} of one sample has shape {value.shape}")
            _hold(_same(value, flat[name][row]), f"{name} of one sample differs from its row")


def measuring_merges(tested: MetricUnderTest) -> None:
    """Measuring a and b together is measuring a, then b, for any split."""
    whole = tested.evaluate(tested.columns)
    for cut in (1, 3, len(next(iter(tested.columns.values()))) - 1):
        parts = [{k: v[:cut] for k, v in tested.columns.items()}]
        parts += [{k: v[cut:] for k, v in tested.columns.items()}]
        merged = tested.evaluate(parts[0]).merge(tested.evaluate(parts[1]))
        _same_reports(whole, merged, f"split at {cut}")
        one, other = (r.results[tested.metric.name] for r in (whole, merged))
        if isinstance(one, SumResult) and isinstance(other, SumResult):
            for name, total in one.totals.items():
                _hold(_same(total, other.totals[name]), f"the sum of {name} differs by the split")


def order_is_irrelevant(tested: MetricUnderTest) -> None:
    """The samples in reverse give the same corpus scores, and the same sample scores reversed."""
    forward = tested.evaluate(tested.columns)
    backward = tested.evaluate({k: v[::-1] for k, v in tested.columns.items()})
    name = tested.metric.name
    for output, value in forward.results[name].scores().items():
        other = backward.results[name].scores()[output]
        _hold(_same(value, other), f"{output} is {value}, and {other} in reverse order")
    for output, values in forward.results[name].samples().items():
        _hold(
            _same(values, backward.results[name].samples()[output][::-1]),
            f"{output} of a sample depends on the order of the samples",
        )


def any_text_is_valid(tested: MetricUnderTest) -> None:
    """Any text stays in its range or is `nan`, alone and in a corpus, and raises nothing."""
    pool = [*HOSTILE, WORDS[0], "word " * 10_000]
    size = len(pool)
    columns: dict[str, list[Any]] = {}
    for number, column in enumerate(tested.needed):
        if tested.own is not None and column not in ("predictions", "references", "sources"):
            values = list(tested.own[column])
            columns[column] = [values[i % len(values)] for i in range(2 * size)]
            continue
        shift = 0 if number == 0 else 5
        texts = pool + [pool[(i + shift * number) % size] for i in range(size)]
        columns[column] = [[t] for t in texts] if column == "contexts" else texts
    report = tested.evaluate(columns)
    result = report.results[tested.metric.name]
    for output, scale in tested.scales().items():
        for row, value in enumerate([*result.samples()[output].tolist(), result.scores()[output]]):
            shown = {name: repr(v[row])[:60] for name, v in columns.items() if row < len(v)}
            _hold(value in scale, f"{output} is {value}, outside {scale.interval}, for {shown}")


def perfection_holds(tested: MetricUnderTest) -> None:
    """A prediction equal to its reference (or source, without references) scores `perfect`."""
    target = next((c for c in ("references", "sources") if c in tested.needed), None)
    if target is None or "predictions" not in tested.needed or tested.own is not None:
        return
    columns = {**tested.columns, "predictions": tested.columns[target]}
    result = tested.evaluate(columns).results[tested.metric.name]
    for output, scale in tested.scales().items():
        if scale.perfect is not None:
            samples = result.samples()[output]
            for value in (*samples[~np.isnan(samples)], result.scores()[output]):
                _hold(_same(value, scale.perfect), f"{output} is {value}, not {scale.perfect}")


def nothing_is_changed(tested: MetricUnderTest) -> None:
    """The caller's lists stay as they are, a second call agrees, pickle and repr round-trip."""
    before = copy.deepcopy(tested.columns)
    first = tested.evaluate(tested.columns)
    _hold(tested.columns == before, "measuring changed the caller's columns")
    _same_reports(first, tested.evaluate(tested.columns), "called twice")
    metric = tested.metric
    _hold(pickle.loads(pickle.dumps(metric)) == metric, "the metric doesn't survive pickling")
    again = eval(repr(metric), {type(metric).__name__: type(metric)})
    _hold(again == metric, f"repr doesn't give the metric back: {metric!r}")


def examples_run(tested: MetricUnderTest) -> None:
    """The card's examples run, and every parameter is given off its default in one of them."""
    card = tested.entry.card
    _hold(bool(card.examples), "the card has no example")
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    said: list[str] = []
    names: dict[str, Any] = {}
    for number, code in enumerate(card.examples):
        test = doctest.DocTestParser().get_doctest(code, names, f"example {number}", None, 0)
        runner.run(test, out=said.append, clear_globs=False)
        names = test.globs
    _hold(not runner.failures, "".join(said))
    code = "\n".join(card.examples)
    shared = {parameter.name for parameter in parameters_of(JudgeMetric)} - {"judge"}
    for parameter in parameters_of(type(tested.metric)):
        if parameter.name in shared:
            continue
        values = re.findall(rf"\b{parameter.name}=([^,)\s\"]+|'[^']*')", code)
        _hold(
            any(parameter.required or value != repr(parameter.default) for value in values),
            f"no example gives {parameter.name} another value than {parameter.default!r}",
        )


def empty_is_nan(tested: MetricUnderTest) -> None:
    """No samples give `nan` for every output, and no exception; no rows are measured as none."""
    view = Block({column: Column((), None) for column in tested.needed}, 0, 0).view(
        tested.metric.inputs()
    )
    if isinstance(tested.metric, CorpusMetric):
        measured = len(measure_objects(tested.metric, view))
    else:
        measured = len(measure_rows(tested.metric, view))
    _hold(measured == 0, f"no rows are measured as {measured}")
    result = tested.evaluate({column: [] for column in tested.needed})
    scores = result.results[tested.metric.name].scores()
    _hold(set(scores) == set(tested.scales()), f"no samples give {scores}")
    _hold(all(np.isnan(value) for value in scores.values()), f"no samples give {scores}")


def nothing_heavy_loads(tested: MetricUnderTest) -> None:
    """Nothing heavy loads before scoring, nor then but what the card requires; no socket opens."""
    found = footprint(tested.spec, tested.columns)
    early = [name for name in HEAVY if name in found.imported]
    due = required_names(tested.entry.card.requires)
    undue = [name for name in HEAVY if name in found.loaded and name not in due]
    _hold(not found.opened, f"scoring opened a socket: {found.opened}")
    _hold(not early, f"importing it loaded {', '.join(early)}")
    _hold(not undue, f"scoring loaded {', '.join(undue)}, which the card doesn't require")


LAWS: tuple[Callable[[MetricUnderTest], None], ...] = (
    one_name,
    card_is_complete,
    inputs_agree,
    outputs_agree,
    rows_are_finite,
    score_broadcasts,
    measuring_merges,
    order_is_irrelevant,
    any_text_is_valid,
    perfection_holds,
    nothing_is_changed,
    examples_run,
    empty_is_nan,
    nothing_heavy_loads,
)


def generated(tested: MetricUnderTest) -> dict[str, str]:
    """The generated blocks of a card as they have to be: the parameters (if any) and the bounds."""
    blocks = {"bounds": bounds_table(tested.entry.card)}
    if parameters := parameters_of(type(tested.metric)):
        head = "| parameter | values | default | meaning |\n| --- | --- | --- | --- |\n"
        blocks = {"parameters": head + "".join(map(_row, parameters)), **blocks}
    return blocks


def _row(parameter: Parameter) -> str:
    default = "required" if parameter.required else f"`{parameter.default!r}`"
    return f"| `{parameter.name}` | {parameter.values} | {default} | {parameter.meaning} |\n"


def _hold(condition: bool, message: str) -> None:
    if not condition:
        raise Broken(message)


def _same(one: Any, other: Any) -> bool:
    return bool(np.allclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True))


def _same_reports(one: Report, other: Report, what: str) -> None:
    for name, result in one.results.items():
        for output, value in result.scores().items():
            again = other.results[name].scores()[output]
            _hold(_same(value, again), f"{what}: {output} is {value}, then {again}")
