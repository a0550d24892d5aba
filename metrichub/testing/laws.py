"""The fifteen laws that every metric keeps: functions that raise `Broken` with the reason."""

from __future__ import annotations

import ast
import copy
import doctest
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from metrichub.catalog.card import HEADINGS
from metrichub.catalog.parameters import parameters_of
from metrichub.catalog.requirements import required_names
from metrichub.data.batch import Block, Column
from metrichub.errors import JudgeUnavailable
from metrichub.evaluation.observation import (
    measure_objects,
    measure_rows,
    scores_of,
)
from metrichub.evaluation.result_rows import RowsResult
from metrichub.evaluation.result_sums import SumResult
from metrichub.judge.metric import JudgeMetric
from metrichub.metric import Array, CorpusMetric, has_sample_scores
from metrichub.models.resolve import judge_of
from metrichub.report.report import Report
from metrichub.testing.blocks import generated
from metrichub.testing.footprint import footprint
from metrichub.testing.listening import Listening
from metrichub.testing.other_ways import not_concluded, not_of_samples
from metrichub.testing.under_test import HOSTILE, WORDS, Broken, MetricUnderTest

WRITTEN = ("headline", "definition")
"""What a card has to say, though one without it can be read."""
NONSENSE = ("", " \t\n ", "... !? -", "Не знаю, что сказать.", "你好，世界", "😀👍🏽", "zzz qqq")
"""Predictions that deserve nothing: empty, blank, without words, and in other scripts."""
SHORT = ("cat", "the cat", "你好，世界", "مرحبا بالعالم", "😀👍🏽")
"""Texts that a definition of perfection easily forgets: short ones, and those of other scripts."""
HEAVY = ("torch", "transformers", "openai", "tensorflow", "jax")


def one_name(under_test: MetricUnderTest) -> None:
    """Folder, entry point and card have one name, and the packages above import nothing."""
    entry, folder = under_test.entry, under_test.entry.folder
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


def card_is_complete(under_test: MetricUnderTest) -> None:
    """The card parses: all keys and headings, one BibTeX block, current generated blocks."""
    card = under_test.entry.card
    for key in WRITTEN:
        _hold(key in card.keys, f"the front matter has no {key}")
    headings = [name for name in card.sections if name in HEADINGS]
    absent = [repr(name) for name in HEADINGS if name not in headings]
    _hold(not absent, f"the card lacks the heading {', '.join(absent)}")
    _hold(headings == list(HEADINGS), f"the headings are in another order than {list(HEADINGS)}")
    for name, text in card.sections.items():
        _hold(bool(text.strip()), f"the section {name!r} is empty")
    _hold(
        card.body.count("```bibtex") == 1,
        "a card has exactly one bibtex block; without a paper, cite the software",
    )
    _hold(card.bibtex.startswith("@"), "the bibtex block holds no entry")
    expected = generated(under_test)
    found = card.blocks()
    for name in expected.keys() - found.keys():
        lines = f"<!-- generated: {name} --> and <!-- end -->"
        raise Broken(f"the card lacks the generated block {name!r}: add {lines} to it")
    for name in found.keys() - expected.keys():
        raise Broken(f"the generated block {name!r} has nothing to show: delete it")
    for name, text in expected.items():
        _hold(
            found[name] == text,
            f"the generated block {name!r} is old: "
            f"metrichub check {under_test.entry.name} --update",
        )


def inputs_agree(under_test: MetricUnderTest) -> None:
    """The card's inputs are the code's, and so is its judge, who is asked what is declared."""
    card, code = under_test.entry.card.inputs, under_test.metric.inputs()
    _hold(set(card) == set(code), f"the card asks for {list(card)}, the code for {list(code)}")
    for kind in ("judge", "embedder"):
        asks, said = hasattr(under_test.metric, kind), getattr(under_test.entry.card, kind)
        _hold(
            asks == (said is not None),
            f"the card says {kind}: {said}, the code has {'one' if asks else 'none'}",
        )
    if under_test.entry.card.judge == "model":
        refused = False
        try:
            under_test.evaluate(under_test.columns, judge="offline")
        except JudgeUnavailable:
            refused = True
        _hold(refused, "the card says judge: model, but the offline judge serves it")
    if isinstance(under_test.metric, JudgeMetric):
        _asks_what_it_declares(under_test, under_test.metric)


def _asks_what_it_declares(under_test: MetricUnderTest, metric: JudgeMetric) -> None:
    declared = {(kind, name) for kind, names in metric.questions().items() for name in names}
    _hold(bool(declared), "it declares nothing that it asks its judge")
    for _, name in declared:
        metric.prompt(name)
    listening = Listening(judge_of(metric.judge))
    under_test.evaluate(under_test.columns, judge=listening)
    for kind, name in sorted(listening.heard - declared):
        raise Broken(f"it asks its judge to {kind} ({name}), which `asks` doesn't declare")


def outputs_agree(under_test: MetricUnderTest) -> None:
    """The card's outputs are those of the code, "score" and the headline among them."""
    card = under_test.entry.card
    code = under_test.evaluate(under_test.columns).results[under_test.metric.name].scores()
    _hold("score" in code, f"there is no output 'score' in {sorted(code)}")
    unknown = [output for output in code if card.scale(output) is None]
    _hold(not unknown, f"the card doesn't list {', '.join(unknown)}")
    given = {id(card.scale(output)) for output in code}
    missing = [name for name, scale in card.scores.items() if id(scale) not in given]
    _hold(not missing, f"the card lists {', '.join(missing)}, which the code doesn't give")
    absent = [output for output in under_test.metric.headline() if output not in code]
    _hold(not absent, f"the headline names {', '.join(absent)}, which the code doesn't give")


def rows_are_finite(under_test: MetricUnderTest) -> None:
    """N ordinary samples give N rows, all scored and finite."""
    report = under_test.evaluate(under_test.columns)
    result = report.results[under_test.metric.name]
    size = len(next(iter(under_test.columns.values())))
    _hold(result.unscored == 0, f"{result.unscored} of {size} ordinary samples are unscored")
    for name, values in result.samples().items():
        _hold(values.shape == (size,), f"{name} has shape {values.shape} for {size} samples")
        _hold(bool(np.isfinite(values).all()), f"{name} of ordinary samples is {values.tolist()}")
    for name, value in result.scores().items():
        _hold(bool(np.isfinite(value)), f"the corpus {name} of ordinary samples is {value}")


def score_broadcasts(under_test: MetricUnderTest) -> None:
    """`score` gives the same for (), (N,) and (B, N), and what goes with it agrees.

    `score_samples` gives (N,), and a `resampler` what `conclude` gives.
    """
    result = under_test.evaluate(under_test.columns).results[under_test.metric.name]
    if isinstance(result, RowsResult) and isinstance(result.metric, CorpusMetric):
        why = not_concluded(result.metric, result.rows)
        _hold(why is None, str(why))
    metric, rows = under_test.metric, result.statistics
    if rows is None:
        return
    if has_sample_scores(metric):
        why = not_of_samples(metric, rows)
        _hold(why is None, str(why))
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


def measuring_merges(under_test: MetricUnderTest) -> None:
    """Measuring a and b together is measuring a, then b, for any split."""
    whole = under_test.evaluate(under_test.columns)
    for cut in (1, 3, len(next(iter(under_test.columns.values()))) - 1):
        parts = [{k: v[:cut] for k, v in under_test.columns.items()}]
        parts += [{k: v[cut:] for k, v in under_test.columns.items()}]
        merged = under_test.evaluate(parts[0]).merge(under_test.evaluate(parts[1]))
        _same_reports(whole, merged, f"split at {cut}")
        one, other = (r.results[under_test.metric.name] for r in (whole, merged))
        if isinstance(one, SumResult) and isinstance(other, SumResult):
            for name, total in one.totals.items():
                _hold(_same(total, other.totals[name]), f"the sum of {name} differs by the split")


def order_is_irrelevant(under_test: MetricUnderTest) -> None:
    """The samples in reverse give the same corpus scores, and the same sample scores reversed."""
    forward = under_test.evaluate(under_test.columns)
    backward = under_test.evaluate({k: v[::-1] for k, v in under_test.columns.items()})
    name = under_test.metric.name
    for output, value in forward.results[name].scores().items():
        other = backward.results[name].scores()[output]
        _hold(_same(value, other), f"{output} is {value}, and {other} in reverse order")
    for output, values in forward.results[name].samples().items():
        _hold(
            _same(values, backward.results[name].samples()[output][::-1]),
            f"{output} of a sample depends on the order of the samples",
        )


def any_text_is_valid(under_test: MetricUnderTest) -> None:
    """Any text stays in its range or is `nan`, alone and in a corpus, and raises nothing."""
    pool = [*HOSTILE, WORDS[0], "word " * 10_000]
    size = len(pool)
    columns: dict[str, list[Any]] = {}
    for number, column in enumerate(under_test.needed):
        if under_test.own is not None and column not in ("predictions", "references", "sources"):
            values = list(under_test.own[column])
            columns[column] = [values[i % len(values)] for i in range(2 * size)]
            continue
        shift = 0 if number == 0 else 5
        texts = pool + [pool[(i + shift * number) % size] for i in range(size)]
        columns[column] = [[t] for t in texts] if column == "contexts" else texts
    report = under_test.evaluate(columns)
    result = report.results[under_test.metric.name]
    for output, scale in under_test.scales().items():
        for row, value in enumerate([*result.samples()[output].tolist(), result.scores()[output]]):
            shown = {name: repr(v[row])[:60] for name, v in columns.items() if row < len(v)}
            _hold(value in scale, f"{output} is {value}, outside {scale.interval}, for {shown}")


def perfection_holds(under_test: MetricUnderTest) -> None:
    """A prediction equal to its reference (or source, without references) scores `perfect`.

    Also a single word, and texts in other scripts, as far as they are scored at all.
    """
    target = next((c for c in ("references", "sources") if c in under_test.needed), None)
    if target is None or "predictions" not in under_test.needed or under_test.own is not None:
        return
    columns = {**under_test.columns, "predictions": under_test.columns[target]}
    for name, values in columns.items():
        columns[name] = [
            *values,
            *(SHORT if name in ("predictions", target) else values[:1] * len(SHORT)),
        ]
    result = under_test.evaluate(columns).results[under_test.metric.name]
    for output, scale in under_test.scales().items():
        if scale.perfect is not None:
            samples = result.samples()[output]
            for value in (*samples[~np.isnan(samples)], result.scores()[output]):
                _hold(_same(value, scale.perfect), f"{output} is {value}, not {scale.perfect}")


def nothing_is_changed(under_test: MetricUnderTest) -> None:
    """The caller's lists stay as they are, a second call agrees, pickle and repr round-trip."""
    before = copy.deepcopy(under_test.columns)
    first = under_test.evaluate(under_test.columns)
    _hold(under_test.columns == before, "measuring changed the caller's columns")
    _same_reports(first, under_test.evaluate(under_test.columns), "called twice")
    metric = under_test.metric
    _hold(pickle.loads(pickle.dumps(metric)) == metric, "the metric doesn't survive pickling")
    again = eval(repr(metric), {type(metric).__name__: type(metric)})
    _hold(again == metric, f"repr doesn't give the metric back: {metric!r}")


def examples_run(under_test: MetricUnderTest) -> None:
    """The card's examples run, and every parameter is given off its default in one of them."""
    card = under_test.entry.card
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
    for parameter in parameters_of(type(under_test.metric)):
        if parameter.name in shared:
            continue
        values = re.findall(rf"\b{parameter.name}=([^,)\s\"]+|'[^']*')", code)
        _hold(
            any(parameter.required or value != repr(parameter.default) for value in values),
            f"no example gives {parameter.name} another value than {parameter.default!r}",
        )


def empty_is_nan(under_test: MetricUnderTest) -> None:
    """No samples give `nan` for every output, and no exception; no rows are measured as none."""
    view = Block({column: Column((), None) for column in under_test.needed}, 0, 0).view(
        under_test.metric.inputs()
    )
    if isinstance(under_test.metric, CorpusMetric):
        measured = len(measure_objects(under_test.metric, view))
    else:
        measured = len(measure_rows(under_test.metric, view))
    _hold(measured == 0, f"no rows are measured as {measured}")
    result = under_test.evaluate({column: [] for column in under_test.needed})
    scores = result.results[under_test.metric.name].scores()
    _hold(set(scores) == set(under_test.scales()), f"no samples give {scores}")
    _hold(all(np.isnan(value) for value in scores.values()), f"no samples give {scores}")


def nothing_heavy_loads(under_test: MetricUnderTest) -> None:
    """Nothing heavy loads before scoring, nor then but what the card requires; no socket opens."""
    found = footprint(under_test.spec, under_test.columns)
    early = [name for name in HEAVY if name in found.imported]
    due = required_names(under_test.entry.card.requires)
    undue = [name for name in HEAVY if name in found.loaded and name not in due]
    _hold(not found.opened, f"scoring opened a socket: {found.opened}")
    _hold(not early, f"importing it loaded {', '.join(early)}")
    _hold(not undue, f"scoring loaded {', '.join(undue)}, which the card doesn't require")


def nonsense_never_pays(under_test: MetricUnderTest) -> None:
    """No prediction takes its sample out of the mean, but where the card declares it."""
    if "predictions" not in under_test.columns:
        return
    name = under_test.metric.name
    for nonsense in NONSENSE:
        columns = dict(under_test.columns)
        columns["predictions"] = [nonsense] * len(columns["predictions"])
        report = under_test.evaluate(columns)
        result = report.results[name]
        failed = report.traces[name].failed if name in report.traces else 0
        lost = result.unscored - failed - result.unanswered.total()
        why = next(iter(result.reasons), "without a reason")
        _hold(
            lost == 0,
            f"the prediction {nonsense!r} is unscored ({why}), so that the mean rises without it; "
            "give it a score, or an undefined_for that the card lists",
        )


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
    nonsense_never_pays,
)


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
