"""Each law is broken by a metric made for that, and says why: one that can't fail is worthless."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from metrichub.catalog.card import FORMER_HEADINGS, HEADINGS, with_blocks
from metrichub.catalog.registry import Entry
from metrichub.errors import MetricError, ScoringError
from metrichub.testing import laws
from metrichub.testing.card_laws import generated
from metrichub.testing.footprint import HEAVY
from metrichub.testing.under_test import Broken, MetricUnderTest
from tests import plugins

CODE = '''\
"""The share of the reference's words that the prediction has in the same place."""

from dataclasses import dataclass

import numpy as np

from metrichub.metric import CorpusMetric, Metric


@dataclass(frozen=True, kw_only=True)
class Toy(Metric):
    """Words in place (micro).

    Attributes:
        least: The shortest word that counts.
    """

    least: int = 1

    def measure(self, prediction, reference):
        """Hits and words, (N,)."""
        pairs = [(p.split(), [w for w in r.split() if len(w) >= self.least])
                 for p, r in zip(prediction, reference, strict=True)]
        hits = [sum(a == b for a, b in zip(p, r, strict=False)) for p, r in pairs]
        words = [len(r) for _, r in pairs]
        return {"hits": np.array(hits, np.int64), "words": np.array(words, np.int64)}

    def score(self, hits, words):
        """Hits over words."""
        return {"score": hits / words}
'''
EXAMPLES = """\
```python
>>> from toy_pack.toy import Toy
>>> from metrichub import Hub
>>> Hub(Toy(least=2))(predictions=["a bc"], references=["x bc"])
{'toy': {'score': 0.0}}

```"""
BIBTEX = "```bibtex\n@misc{toy, title = {Toy}}\n```"
FRONT = """\
---
name: toy
title: Toy
summary: Words in place.
inputs: [prediction, reference]
scores:
  score: {range: [0, 1], better: higher, perfect: 1}
headline: [score]
definition: 1
tags: {task: [testing], dimension: [accuracy], family: toy}
license: MIT
---
"""
SECTIONS = {
    **dict.fromkeys(HEADINGS, "Text."),
    "Example": EXAMPLES,
    "Parameters": "<!-- generated: parameters -->\n<!-- end -->",
    "Outputs": "<!-- generated: bounds -->\n<!-- end -->",
    "Citation": BIBTEX,
}
LEAD = "Use it for toys.\n"


def body_of(sections: Mapping[str, str]) -> str:
    return "".join(f"\n## {name}\n\n{text}\n" for name, text in sections.items())


CARD = f"{FRONT}\n# Toy\n\n{LEAD}{body_of(SECTIONS)}"

INPUTS = "## Inputs\n\nText.\n\n"
BODY = f"{LEAD}{body_of(SECTIONS)}"

Make = Callable[..., MetricUnderTest]
Law = Callable[[MetricUnderTest], None]


@pytest.fixture
def make(site: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A function that writes the toy metric, changed in places, and gives it to be tested."""

    def written(
        code: Mapping[str, str] | None = None,
        card: Mapping[str, str] | None = None,
        columns: Mapping[str, Sequence[Any]] | None = None,
    ) -> MetricUnderTest:
        texts = []
        for text, changes in ((CODE, code), (CARD, card)):
            for old, new in (changes or {}).items():
                assert old in text
                text = text.replace(old, new)
            texts.append(text)
        plugins.distribution(site, "toy-dist", ["toy = toy_pack.toy:Toy"])
        plugins.metric(site, "toy_pack", "toy", code=texts[0])
        path = site / "toy_pack" / "toy" / "README.md"
        path.write_text(texts[1], encoding="utf-8")
        under_test = MetricUnderTest(Entry("toy", "toy-dist", "1.0", "toy_pack.toy:Toy"), columns)
        path.write_text(with_blocks(texts[1], generated(under_test)), encoding="utf-8")
        monkeypatch.setenv("PYTHONPATH", str(site))
        return MetricUnderTest(Entry("toy", "toy-dist", "1.0", "toy_pack.toy:Toy"), columns)

    return written


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_the_whole_toy_keeps_every_law(make: Make, law: Law) -> None:
    law(make())


FORMER = {
    **dict.fromkeys(FORMER_HEADINGS, "Text."),
    "Inputs": "Two.\n\n<!-- generated: parameters -->\n<!-- end -->",
    "Bounds": "<!-- generated: bounds -->\n<!-- end -->",
    "Examples": EXAMPLES,
    "Citation": BIBTEX,
}


JUDGED = '''\
"""The share of the prediction's claims that the reference supports."""

from dataclasses import dataclass

from metrichub.judge.metric import JudgeMetric


@dataclass(frozen=True, kw_only=True)
class Toy(JudgeMetric):
    """Supported claims over all claims (macro)."""

    asks = {"extract": ("claims",), "verify": ("supported",)}

    async def observe(self, prediction: str, reference: str):
        """The share of one prediction."""
        verdicts = await self.support(await self.claims(prediction), [reference])
        return sum(verdict.verdict == "yes" for verdict in verdicts) / len(verdicts)
'''


JUDGE = {"license: MIT": "license: MIT\njudge: any"}
ASKS = '{"extract": ("claims",), "verify": ("supported",)}'
SCORE = "    def score(self"
MORE = "    def outputs(self):\n        return {!r}\n\n    def score(self"
OWN = """        return {"score": hits / words}

    def score_samples(self, hits, words):
        \"\"\"Another convention.\"\"\"
        return {"score": %s}
"""


def concluding(body: str, rows: str = "list(zip(hits, words))") -> dict[str, str]:
    """The change to a metric that measures rows and concludes from them."""
    return {
        "class Toy(Metric)": "class Toy(CorpusMetric)",
        'return {"hits"': f'return {rows}\n        return {{"hits"',
        "def score(self, hits, words)": "def conclude(self, rows)",
        'return {"score": hits / words}': body,
    }


ROWS = "hits, words = map(np.array, zip(*rows, strict=True))\n        "
POOLED = f"{ROWS}return {{'score': hits.sum() / words.sum()}}\n\n    "
RESAMPLED = f"{POOLED}def resampler(self, rows):\n        {ROWS}return lambda counts: "
CONDENSED = f"{POOLED}def condense(self, rows):\n        return "
NOISY = '"words": np.array(words, np.int64)'
FIELD = "    least: int = 1"
START = "        pairs ="


def outputs(*names: str) -> dict[str, str]:
    """The change to a metric that gives each output the same number."""
    formula = f"dict.fromkeys({names!r}, hits / words)"
    return {SCORE: MORE.format(names), '{"score": hits / words}': formula}


def sampled(formula: str) -> dict[str, str]:
    """The change to a metric that scores samples by a formula of their own."""
    return {'        return {"score": hits / words}\n': OWN % formula}


def scoring(formula: str) -> dict[str, str]:
    """The change to a metric that scores by another formula."""
    return {"hits / words}": f"{formula}}}"}


ANSWERS = {"definition: 1": "definition: 1\nundefined_for: [empty]"}
ENGLISH = {"family: toy": "family: toy, language: [en]"}
MODELS = "Models:\n\n| model | languages |\n| --- | --- |\n| `toys`, the default | English |"


def calling(module: str, call: str) -> dict[str, str]:
    """The change to a metric that calls something before it measures."""
    return {START: f"        import {module}\n        {call}\n{START}"}


def prose(text: str) -> dict[str, str]:
    """The change to a card that says something more above its first heading."""
    return {LEAD: f"{LEAD}{text}\n"}


class Case(NamedTuple):
    """A law, the changes to the toy metric that break it, and the message then."""

    law: Law
    message: str
    code: Mapping[str, str] = {}
    card: Mapping[str, str] = {}
    columns: Mapping[str, Sequence[Any]] | None = None
    error: type[Exception] = Broken


COMPLETE, AGREE, CONCLUDE = laws.card_is_complete, laws.inputs_agree, laws.score_broadcasts
CHANGED, EXAMPLE, FOOTPRINT = laws.nothing_is_changed, laws.examples_run, laws.nothing_heavy_loads
BROKEN = [
    Case(laws.one_name, "the names differ: other, toy", {}, {"name: toy": "name: other"}),
    # The card is complete.
    Case(COMPLETE, "the front matter has no headline", {}, {"headline: [score]\n": ""}),
    Case(COMPLETE, "the front matter has no definition", {}, {"definition: 1\n": ""}),
    Case(COMPLETE, "no paragraph above its first heading", {}, {LEAD: ""}),
    Case(COMPLETE, "lacks the heading 'Outputs'", {}, {"## Outputs": "## Limits"}),
    Case(COMPLETE, "order", {}, {"## Inputs\n\nText.": "", "## Citation": f"{INPUTS}## Citation"}),
    Case(COMPLETE, "the section 'Inputs' is empty", {}, {"## Inputs\n\nText.": "## Inputs"}),
    Case(COMPLETE, "exactly one bibtex block", {}, {BIBTEX: f"{BIBTEX}\n{BIBTEX}"}),
    Case(COMPLETE, "exactly one bibtex block", {}, {BIBTEX: "None."}),
    Case(COMPLETE, "the bibtex block has no entry", {}, {"@misc{toy, title = {Toy}}": "Toy."}),
    Case(COMPLETE, "lacks the generated block 'parameters'", {}, {SECTIONS["Parameters"]: "None."}),
    Case(COMPLETE, "lacks the generated block 'bounds'", {}, {"generated: bounds": "generated: x"}),
    Case(COMPLETE, "preset 'loud' can't be made",
         {}, {"license:": "presets: {loud: {n: 1}}\nlicense:"}),
    Case(COMPLETE, "another order", {}, {BODY: body_of(dict(reversed(FORMER.items())))}),
    # Its prose is text, and agrees with the front matter.
    Case(COMPLETE, "read the line '[+] 0.5", {}, prose("Scores are summed: (1\n+ 0.5)/3.")),
    Case(COMPLETE, "read the line '1. Then", {}, prose("It returns\n1. Then it ends.")),
    Case(COMPLETE, "read the line '# 3.'", {}, prose("A part of\n# 3.")),
    Case(COMPLETE, r"'outside English', but .* language: \[any\]",
         {}, prose("Don't use it outside English.")),
    Case(COMPLETE, "in English', but the front", {}, prose("Use it to find toys, in English.")),
    Case(COMPLETE, "the default . English .', but the front matter", {}, prose(MODELS)),
    Case(COMPLETE, "'Lower is better', but the front matter higher",
         {}, prose("Lower is better; 0 is best.")),
    Case(COMPLETE, "has no undefined_for", {}, prose("An empty prediction is unanswered.")),
    Case(COMPLETE, "has no undefined_for",
         {}, prose("Empty predictions are left out of the mean.")),
    Case(COMPLETE, "such a sample is unanswered",
         {}, prose("A text without words\nis unscored.") | ANSWERS),
    # The inputs, the judge and the outputs of card and code agree.
    Case(AGREE, "the card asks for .*, the code for ", {}, {", reference]": "]"}),
    Case(AGREE, "the card asks for .*, the code for ", {}, {", reference]": ", reference, text]"}),
    Case(AGREE, r"to extract \(claims\), which `asks` doesn't",
         {CODE: JUDGED, ASKS: '{"verify": ("supported",)}'}, JUDGE),
    Case(AGREE, r"to verify \(supported\), which `asks` doesn't",
         {CODE: JUDGED, ASKS: '{"extract": ("claims",)}'}, JUDGE),
    Case(AGREE, "but `asks` is empty", {CODE: JUDGED, ASKS: "{}"}, JUDGE),
    Case(AGREE, r"the prompt .*nowhere\.md can't be read",
         {CODE: JUDGED, '("supported",)': '("supported", "nowhere")'}, JUDGE, error=MetricError),
    Case(AGREE, "the card says judge: None, the code has one", {CODE: JUDGED}),
    Case(AGREE, "the card says embedder: any, the code has none",
         {CODE: JUDGED}, {"license: MIT": "license: MIT\njudge: any\nembedder: any"}),
    Case(AGREE, "the card says judge: model, but the offline judge serves it",
         {CODE: JUDGED}, {"license: MIT": "license: MIT\njudge: model"}),
    Case(laws.outputs_agree, "there is no output 'score'", outputs("share")),
    Case(laws.outputs_agree, "the card doesn't list share", outputs("score", "share")),
    Case(laws.outputs_agree, "the card lists more, which the code doesn't return",
         outputs("score"), {"headline:": "  more: {range: [0, 1], better: higher}\nheadline:"}),
    Case(laws.outputs_agree, "the headline names hits, which the code doesn't return",
         {SCORE: f"    def headline(self):\n        return ('score', 'hits')\n\n{SCORE}"}),
    # Ordinary samples give finite rows.
    Case(laws.rows_are_finite, "unscored",
         {"np.array(hits, np.int64)": "np.where(np.array(words) > 17, np.nan, 1)"}),
    Case(laws.rows_are_finite, "of ordinary samples is .*inf", scoring("hits / (words - 17)")),
    Case(laws.rows_are_finite, "the corpus score .* is inf",
         scoring("hits / np.where(words > 99, 0, words)")),
    Case(laws.rows_are_finite, r"shape \(8, 8\) for 8", scoring("(hits / words)[..., None]")),
    # The score broadcasts, and what goes with it agrees.
    Case(CONCLUDE, "score of one sample differs from its row", scoring("hits / np.max(words)")),
    Case(CONCLUDE, "differs from its row", scoring("hits.sum() / words.sum()")),
    Case(CONCLUDE, r"score differs over \(B, N\)", scoring("hits / words / max(1, hits.ndim)")),
    Case(CONCLUDE, "is nan, or should be", sampled("np.full(len(hits), np.nan)")),
    Case(CONCLUDE, "depends on other samples",
         sampled("np.sqrt(hits / words) * len(hits) / hits.cumsum()")),
    Case(CONCLUDE, "depends on other samples", sampled("np.nan_to_num(hits / words).mean()")),
    Case(CONCLUDE, "score_samples returned score, more, but its outputs are score",
         sampled("hits}|{'more': hits"), error=MetricError),
    Case(CONCLUDE, "the resampler gives score as",
         concluding(RESAMPLED + "{'score': (counts > 0) @ hits / ((counts > 0) @ words)}")),
    Case(CONCLUDE, "the resampler gives score as",
         concluding(RESAMPLED + "{'score': counts @ hits / sum(words)}")),
    Case(CONCLUDE, "condensed rows give score as", concluding(CONDENSED + "rows[:1]")),
    Case(CONCLUDE, "condensed rows give score as",
         concluding(CONDENSED + "[(sum(h for h, _ in rows), 1)]")),
    # Splits and order are irrelevant.
    Case(laws.measuring_merges, "split at 1: score is .*, then ",
         {NOISY: '"words": np.full(len(words), max(words))'}),
    Case(laws.measuring_merges, "the sum of spare differs by the split",
         {NOISY: f'{NOISY}, "spare": np.arange(len(words))', ", words)": ", words, spare)"}),
    # Hits 1, 0, 1, 0, 0 at places 0 to 4 add 2 to the five words; in reverse order they add 6.
    Case(laws.order_is_irrelevant, r"score is 0\.28.*, and 0\.18.* in reverse order",
         {NOISY: '"words": np.array(words) + np.array(hits) * np.arange(len(words))'},
         columns={"predictions": list("abcab"), "references": list("axcxx")}),
    Case(laws.order_is_irrelevant, "score of a sample depends on the order of the samples",
         {"np.array(hits, np.int64)": "np.roll(hits, 1)"},
         columns={"predictions": list("abcab"), "references": list("axcxb")}),
    # Any text is valid, and perfection holds.
    Case(laws.any_text_is_valid, "failed on sample 0: IndexError: list index out",
         {"sum(a == b": "len(p[0]) and sum(a == b"}, error=ScoringError),
    Case(laws.any_text_is_valid, r"score is .*, outside \[0, 1\], for \{'predictions': ",
         scoring("np.where(words == 1, np.inf, hits / words)")),
    Case(laws.any_text_is_valid, r"score is .*, outside \[0, 1\], for \{'predictions': ",
         scoring("np.where(words == 1, -0.01, hits / words)")),
    Case(laws.perfection_holds, r"score is 0\.5, not 1", scoring("hits / words / 2")),
    # Nothing is changed.
    Case(CHANGED, "measuring changed the caller's columns",
         {"prediction, reference)": "prediction, record)",
          START: f"        [r.clear() for r in record]\n        reference = prediction\n{START}"},
         columns={"predictions": ["a", "b"], "records": [{"a": 1}, {"b": 2}]}),
    Case(CHANGED, "called twice: score is .*, then ",
         {"@dataclass(": "SEEN = []\n\n\n@dataclass(", START: f"        SEEN.append(1)\n{START}",
          "words = [len(r)": "words = [len(r) + len(SEEN)"}),
    Case(CHANGED, "doesn't survive pickling", {FIELD: f"{FIELD}\n    __eq__ = object.__eq__\n"}),
    Case(CHANGED, "pickle",
         {FIELD: "    least: object = lambda: 1", "self.least": "1"}, error=Exception),
    Case(CHANGED, "its report can't be saved: .*frozenset",
         concluding("return {'score': 1.0}", "[frozenset([1]) for _ in words]")),
    Case(CHANGED, r"repr doesn't recreate the metric: Toy\(least=3\)",
         {FIELD: f"{FIELD}\n\n    def __repr__(self):\n        return 'Toy(least=3)'"}),
    # The examples run.
    Case(EXAMPLE, r"Expected:\n.*0\.25(.|\n)*Got:\n.*0\.0",
         {}, {"{'score': 0.0}": "{'score': 0.25}"}),
    Case(EXAMPLE, "ZeroDivisionError", {}, {">>> from metrichub": ">>> 1 / 0\n>>> from metrichub"}),
    Case(EXAMPLE, "the card has no example", {}, {EXAMPLES: "None."}),
    Case(EXAMPLE, "no example gives least another value than 1",
         {}, {"Toy(least=2)": "Toy()", "'score': 0.0": "'score': 0.5"}),
    Case(EXAMPLE, "no example gives least another value than 1",
         {}, {"Toy(least=2)": "Toy(least=1)", "'score': 0.0": "'score': 0.5"}),
    # No samples are nan.
    Case(laws.empty_is_nan, r"failed: ValueError: min\(\)",
         {NOISY: '"words": np.array(words) + min(words) * 0'}, error=ScoringError),
    Case(laws.empty_is_nan, "measure returned 1 rows for 0",
         concluding("return {'score': 1.0}", "[*words, 0]"), error=TypeError),
    Case(laws.empty_is_nan, "without samples, the scores are .*share", outputs("score", "share")),
]  # fmt: skip


@pytest.mark.parametrize(
    "case", BROKEN, ids=lambda case: f"{case.law.__name__}: {case.message[:40]}"
)
def test_a_metric_that_breaks_a_law_is_told_how(make: Make, case: Case) -> None:
    with pytest.raises(case.error, match=case.message):
        case.law(make(case.code, case.card, case.columns))


@pytest.mark.parametrize(
    ("law", "code", "card"),
    [
        (COMPLETE, {}, {"## Differences from other programs\n\nText.\n": ""}),
        (COMPLETE, {}, {BODY: body_of(FORMER)}),
        (EXAMPLE, {}, {BODY: body_of(FORMER)}),
        (
            COMPLETE,
            {},
            prose("It counts:\n- hits\n- words\n\n- of all\n  + of each\n\n1. one\n2. two"),
        ),
        (COMPLETE, {}, prose("$$a\n+b$$ and 2\n-3, in the year\n1996. It\n#5")),
        (COMPLETE, {}, prose("```\na\n+ b\n```")),
        (COMPLETE, {}, prose("Don't use it outside English.") | ENGLISH),
        (COMPLETE, {}, prose(MODELS) | ENGLISH),
        (COMPLETE, {}, prose("The prompts are in English. English texts score higher.")),
        (COMPLETE, {}, prose("Higher is better; for its length lower is better.")),
        (COMPLETE, {}, prose("It counts the questions that stay unanswered.")),
        (
            COMPLETE,
            {},
            prose("A text is unanswered without words, and unscored without a reference.")
            | ANSWERS,
        ),
        (AGREE, {CODE: JUDGED}, JUDGE),
        (CONCLUDE, sampled("np.sqrt(hits / words)"), {}),
        (CONCLUDE, concluding(RESAMPLED + "{'score': counts @ hits / (counts @ words)}"), {}),
        (
            CONCLUDE,
            concluding(CONDENSED + "[(sum(h for h, _ in rows), sum(w for _, w in rows))]"),
            {},
        ),
        (laws.perfection_holds, scoring("hits / words / 2"), {", perfect: 1": ""}),
        # To ask whether the machine speaks IPv6 opens nothing.
        (FOOTPRINT, calling("sys", "sys.audit('socket.bind', None, ('::1', 0))"), {}),
        (FOOTPRINT, calling("sys", "assert sys.stdin.read() == ''; print('{}')"), {}),
    ],
)
def test_what_a_law_allows_keeps_it(
    make: Make, law: Law, code: Mapping[str, str], card: Mapping[str, str]
) -> None:
    law(make(code, card))


# 1: folder, entry and card have one name, and parents import nothing.


def test_an_entry_of_another_name_breaks_one_name(make: Make) -> None:
    make()
    with pytest.raises(Broken, match=r"the names differ: alias, toy"):
        laws.one_name(MetricUnderTest(Entry("alias", "toy-dist", "1.0", "toy_pack.toy:Toy")))


def test_code_in_a_package_above_breaks_one_name(make: Make, site: Path) -> None:
    under_test = make()
    above = site / "toy_pack" / "__init__.py"
    above.write_text('"""Only a docstring."""\n')
    laws.one_name(under_test)
    above.write_text('"""And code."""\nimport json\n')
    with pytest.raises(Broken, match=r"has code; listing metrics would run it"):
        laws.one_name(under_test)


def test_a_folder_that_is_no_package_breaks_one_name(make: Make, site: Path) -> None:
    under_test = make()
    (site / "toy_pack" / "toy" / "__init__.py").unlink()
    with pytest.raises(Broken, match=r"toy has no __init__\.py"):
        laws.one_name(under_test)


def test_a_namespace_package_above_keeps_one_name(make: Make, site: Path) -> None:
    under_test = make()
    (site / "toy_pack" / "__init__.py").unlink()
    laws.one_name(under_test)


# 2: the card is complete.


@pytest.mark.parametrize(("old", "block"), [("[0, 1]", "bounds"), ("The shortest", "parameters")])
def test_an_old_generated_block_is_not_complete(
    make: Make, site: Path, old: str, block: str
) -> None:
    make()
    path = site / "toy_pack" / "toy" / "README.md"
    head, text = path.read_text().split("\n# Toy\n")
    path.write_text(f"{head}\n# Toy\n{text.replace(old, 'New')}")
    with pytest.raises(Broken, match=f"'{block}' is old: metrichub check toy --update"):
        laws.card_is_complete(MetricUnderTest(Entry("toy", "toy-dist", "1.0", "toy_pack.toy:Toy")))


# 7, 8, 10 and 11: a tolerance that the card states.

MEASURED = '{"hits": np.array(hits, np.int64)'
UNSTEADY = {
    "import numpy as np\n": "import itertools\n\nimport numpy as np\n",
    "@dataclass": "_calls = itertools.count(1)\n\n\n@dataclass",
    MEASURED: '{"hits": np.array(hits) * (1 - 1e-7 * next(_calls))',
}
"""As in a library that sums in 32 bits: no two calls agree to the last digit."""


@pytest.mark.parametrize(
    "law",
    [
        laws.measuring_merges,
        laws.order_is_irrelevant,
        laws.perfection_holds,
        laws.nothing_is_changed,
    ],
)
def test_a_tolerance_is_needed_and_enough_for_scores_that_are_not_steady(
    make: Make, law: Callable[[MetricUnderTest], None]
) -> None:
    under_test = make(UNSTEADY)
    with pytest.raises(Broken):
        law(under_test)
    path = under_test.entry.folder / "README.md"
    path.write_text(path.read_text().replace("definition: 1", "definition: 1\ntolerance: 1e-5"))
    entry = under_test.entry
    law(MetricUnderTest(Entry(entry.name, entry.distribution, entry.version, entry.value)))


# 14: nothing heavy loads.


@pytest.mark.parametrize("name", HEAVY)
def test_a_metric_that_loads_something_heavy_breaks_the_law(
    make: Make, site: Path, name: str
) -> None:
    (site / f"{name}.py").write_text("")
    under_test = make({START: f"        import {name}\n{START}"})
    with pytest.raises(Broken, match=f"scoring loaded {name}, which isn't required"):
        laws.nothing_heavy_loads(under_test)


def test_what_a_card_requires_may_load_when_it_scores_but_no_sooner(make: Make, site: Path) -> None:
    (site / "torch.py").write_text("")
    card = {"license: MIT": "license: MIT\nrequires: [torch>=2]"}
    laws.nothing_heavy_loads(make({START: f"        import torch\n{START}"}, card))
    path = site / "toy_pack" / "toy" / "__init__.py"
    path.write_text(path.read_text().replace("import numpy", "import torch, numpy"))
    with pytest.raises(Broken, match="importing it loaded torch"):
        laws.nothing_heavy_loads(
            MetricUnderTest(Entry("toy", "toy-dist", "1.0", "toy_pack.toy:Toy"))
        )


def test_what_the_parameters_do_not_need_may_not_load(make: Make, site: Path) -> None:
    (site / "torch.py").write_text("")
    code = {
        START: f"        import torch\n{START}",
        "    def score(self": "    def requires(self):\n"
        "        return ('torch>=2',) if self.least > 1 else ()\n\n    def score(self",
    }
    under_test = make(code, {"license: MIT": "license: MIT\nrequires: [torch>=2]"})
    with pytest.raises(Broken, match="scoring loaded torch, which isn't required"):
        laws.nothing_heavy_loads(under_test)
    laws.nothing_heavy_loads(replace(under_test, parameters={"least": 2}))


def test_the_laws_hold_a_metric_with_the_parameters_that_are_given(make: Make) -> None:
    under_test = make({"hits / words}": "hits / words if self.least > 1 else 2 + 0 * hits}"})
    with pytest.raises(Broken, match="outside"):
        laws.any_text_is_valid(under_test)
    laws.any_text_is_valid(replace(under_test, parameters={"least": 2}))


def test_a_metric_that_works_only_in_this_process_breaks_the_law(make: Make, site: Path) -> None:
    under_test = make()
    assert under_test.metric
    path = site / "toy_pack" / "toy" / "__init__.py"
    path.write_text(path.read_text().replace("import numpy", "import toy_gone, numpy"))
    with pytest.raises(Broken, match=r"scoring in a fresh process failed: .*toy_gone"):
        laws.nothing_heavy_loads(under_test)


PACE = "        if prediction[0][:4] == 'fast':\n            import torch\n"


def test_what_one_metric_loads_neither_blames_nor_hides_the_next(make: Make, site: Path) -> None:
    (site / "torch.py").write_text("")
    columns = {"references": ["a b"]}
    slow = make({START: PACE + START}, columns={"predictions": ["slow"], **columns})
    fast = MetricUnderTest(slow.entry, {"predictions": ["fast"], **columns})
    for _ in range(2):
        with pytest.raises(Broken, match=r"scoring loaded torch"):
            laws.nothing_heavy_loads(fast)
        laws.nothing_heavy_loads(slow)


def test_a_metric_that_ends_its_process_breaks_the_law_and_not_the_next(make: Make) -> None:
    end = "        import os\n        prediction[0] == 'end' and os._exit(7)\n"
    under_test = make({START: end + START}, columns={"predictions": ["end"], "references": ["a"]})
    with pytest.raises(Broken, match=r"scoring in a fresh process failed: exit status 7"):
        laws.nothing_heavy_loads(under_test)
    laws.nothing_heavy_loads(MetricUnderTest(under_test.entry))


def test_a_metric_is_scored_under_the_variables_of_the_moment(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_test = make({START: f"        import os\n        os.environ['TOY_SIZE']\n{START}"})
    with pytest.raises(Broken, match=r"failed: .*TOY_SIZE"):
        laws.nothing_heavy_loads(under_test)
    monkeypatch.setenv("TOY_SIZE", "1")
    laws.nothing_heavy_loads(under_test)


def test_an_interpreter_that_cannot_start_is_a_failure_with_its_exit_status(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_test = make()
    monkeypatch.setattr("sys.executable", "/bin/false")
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    with pytest.raises(Broken, match=r"failed: exit status 1"):
        laws.nothing_heavy_loads(under_test)
