"""Each law is broken by a metric made for that, and says why: one that can't fail is worthless."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

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

Make = Callable[..., MetricUnderTest]


@pytest.fixture
def make(site: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A function that writes the toy metric, changed in places, and gives it to be tested."""

    def written(
        code: Mapping[str, str] | None = None,
        card: Mapping[str, str] | None = None,
        given: Mapping[str, Sequence[Any]] | None = None,
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
        under_test = MetricUnderTest(Entry("toy", "toy-dist", "1.0", "toy_pack.toy:Toy"), given)
        path.write_text(with_blocks(texts[1], generated(under_test)), encoding="utf-8")
        monkeypatch.setenv("PYTHONPATH", str(site))
        return MetricUnderTest(Entry("toy", "toy-dist", "1.0", "toy_pack.toy:Toy"), given)

    return written


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_the_whole_toy_keeps_every_law(make: Make, law: Callable[[MetricUnderTest], None]) -> None:
    law(make())


# 1: folder, entry and card have one name, and parents import nothing.


def test_a_card_of_another_name_breaks_one_name(make: Make) -> None:
    with pytest.raises(Broken, match=r"the names differ: other, toy"):
        laws.one_name(make(card={"name: toy": "name: other"}))


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


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"headline: [score]\n": ""}, "the front matter has no headline"),
        ({"definition: 1\n": ""}, "the front matter has no definition"),
        ({LEAD: ""}, "no paragraph above its first heading"),
        ({"## Outputs": "## Limits"}, "lacks the heading 'Outputs'"),
        ({"## Inputs\n\nText.": "", "## Citation": "## Inputs\n\nText.\n\n## Citation"}, "order"),
        ({"## Inputs\n\nText.": "## Inputs"}, "the section 'Inputs' is empty"),
        ({BIBTEX: f"{BIBTEX}\n{BIBTEX}"}, "exactly one bibtex block"),
        ({BIBTEX: "None."}, "exactly one bibtex block"),
        ({"@misc{toy, title = {Toy}}": "Toy."}, "the bibtex block has no entry"),
        (
            {"<!-- generated: parameters -->\n<!-- end -->": "None."},
            "lacks the generated block 'parameters'",
        ),
        ({"generated: bounds": "generated: limits"}, "lacks the generated block 'bounds'"),
        (
            {"definition: 1": "definition: 1\npresets: {loud: {n: 1}}"},
            "preset 'loud' can't be made",
        ),
    ],
)
def test_a_card_with_a_part_missing_is_not_complete(
    make: Make, changes: Mapping[str, str], said: str
) -> None:
    with pytest.raises(Broken, match=said):
        laws.card_is_complete(make(card=changes))


def test_a_card_needs_no_section_that_has_nothing_to_say(make: Make) -> None:
    laws.card_is_complete(make(card={"## Differences from other programs\n\nText.\n": ""}))


FORMER = {
    **dict.fromkeys(FORMER_HEADINGS, "Text."),
    "Inputs": "Two.\n\n<!-- generated: parameters -->\n<!-- end -->",
    "Bounds": "<!-- generated: bounds -->\n<!-- end -->",
    "Examples": EXAMPLES,
    "Citation": BIBTEX,
}


def test_a_plugins_card_with_the_former_headings_is_complete(make: Make) -> None:
    under_test = make(card={f"{LEAD}{body_of(SECTIONS)}": body_of(FORMER)})
    laws.card_is_complete(under_test)
    laws.examples_run(under_test)


def test_a_card_with_the_former_headings_keeps_their_order(make: Make) -> None:
    turned = {name: FORMER[name] for name in reversed(FORMER)}
    with pytest.raises(Broken, match="another order"):
        laws.card_is_complete(make(card={f"{LEAD}{body_of(SECTIONS)}": body_of(turned)}))


ANSWERS = {"definition: 1": "definition: 1\nundefined_for: [empty]"}
ENGLISH = {"family: toy": "family: toy, language: [en]"}
MODELS = "| model | languages |\n| --- | --- |\n| `toys`, the default | English |"


@pytest.mark.parametrize(
    ("prose", "front", "said"),
    [
        ("Scores are summed: (1\n+ 0.5)/3.", {}, "doesn't read the line '[+] 0.5"),
        ("It moves nothing and returns\n1. Then it ends.", {}, "doesn't read the line '1. Then"),
        ("A part of\n# 3.", {}, "doesn't read the line '# 3.'"),
        ("Don't use it outside English.", {}, r"'outside English', but .* language: \[any\]"),
        ("Use it to find toys, in English.", {}, "in English', but the front matter"),
        (f"Models:\n\n{MODELS}", {}, "the default . English .', but the front matter"),
        ("Lower is better; 0 is best.", {}, "'Lower is better', but the front matter higher"),
        ("An empty prediction is counted as unanswered.", {}, "has no undefined_for"),
        ("Empty predictions are left out of the mean.", {}, "has no undefined_for"),
        ("A text without words\nis unscored.", ANSWERS, "such a sample is unanswered"),
    ],
)
def test_prose_that_contradicts_the_front_matter_or_is_no_text_breaks_the_law(
    make: Make, prose: str, front: Mapping[str, str], said: str
) -> None:
    with pytest.raises(Broken, match=said):
        laws.card_is_complete(make(card={LEAD: f"{LEAD}{prose}\n", **front}))


@pytest.mark.parametrize(
    ("prose", "front"),
    [
        ("It counts these:\n- hits\n- words\n\n- of all\n  + of each\n\n1. one\n2. two", {}),
        ("$$a\n+b$$ and 2\n-3, in the year\n1996. It\n#5", {}),
        ("```\na\n+ b\n```", {}),
        ("Don't use it outside English.", ENGLISH),
        (f"Models:\n\n{MODELS}", ENGLISH),
        ("The prompts are in English. Scores of English texts are higher than of others.", {}),
        ("Higher is better; for its length lower is better.", {}),
        ("It counts the questions that stay unanswered.", {}),
        ("A text is unanswered without words; without a reference, the text is unscored.", ANSWERS),
    ],
)
def test_prose_as_it_should_be_keeps_the_law(
    make: Make, prose: str, front: Mapping[str, str]
) -> None:
    laws.card_is_complete(make(card={LEAD: f"{LEAD}{prose}\n", **front}))


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


# 3 and 4: the inputs and outputs of card and code agree.


@pytest.mark.parametrize("inputs", ["[prediction]", "[prediction, reference, source]", "[text]"])
def test_a_card_with_other_inputs_does_not_agree(make: Make, inputs: str) -> None:
    with pytest.raises(Broken, match=r"the card asks for .*, the code for "):
        laws.inputs_agree(make(card={"[prediction, reference]": inputs}))


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


def judged(make: Make, code: Mapping[str, str], judge: str = "any") -> MetricUnderTest:
    return make({CODE: JUDGED, **code}, {"license: MIT": f"license: MIT\njudge: {judge}"})


def test_a_judge_that_is_asked_what_is_declared_keeps_the_law(make: Make) -> None:
    laws.inputs_agree(judged(make, {}))


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ('"verify": ("supported",)', r"asks its judge to extract \(claims\), which `asks` doesn't"),
        ('"extract": ("claims",)', r"asks its judge to verify \(supported\), which `asks` doesn't"),
        ("", "but `asks` is empty"),
    ],
)
def test_a_question_that_is_not_declared_breaks_the_law(
    make: Make, declared: str, said: str
) -> None:
    code = {'{"extract": ("claims",), "verify": ("supported",)}': f"{{{declared}}}"}
    with pytest.raises(Broken, match=said):
        laws.inputs_agree(judged(make, code))


def test_a_prompt_that_is_declared_but_missing_breaks_the_law(make: Make) -> None:
    with pytest.raises(MetricError, match=r"the prompt .*nowhere\.md can't be read"):
        laws.inputs_agree(judged(make, {'("supported",)': '("supported", "nowhere")'}))


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("", "the card says judge: None, the code has one"),
        ("\njudge: any\nembedder: any", "the card says embedder: any, the code has none"),
    ],
)
def test_a_card_that_is_wrong_about_who_is_asked_breaks_the_law(
    make: Make, front: str, said: str
) -> None:
    with pytest.raises(Broken, match=said):
        laws.inputs_agree(make({CODE: JUDGED}, {"license: MIT": f"license: MIT{front}"}))


def test_a_card_that_wants_a_model_where_rules_will_do_breaks_the_law(make: Make) -> None:
    with pytest.raises(Broken, match="the card says judge: model, but the offline judge serves it"):
        laws.inputs_agree(judged(make, {}, judge="model"))


MORE = "    def outputs(self):\n        return {!r}\n\n    def score(self"


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        (("share",), "there is no output 'score'"),
        (("score", "share"), "the card doesn't list share"),
        (("score",), "the card lists more, which the code doesn't return"),
    ],
)
def test_a_card_with_other_outputs_does_not_agree(
    make: Make, outputs: tuple[str, ...], said: str
) -> None:
    code = {
        "    def score(self": MORE.format(outputs),
        '{"score": hits / words}': f"dict.fromkeys({outputs!r}, hits / words)",
    }
    more = {"headline:": "  more: {range: [0, 1], better: higher}\nheadline:"}
    with pytest.raises(Broken, match=said):
        laws.outputs_agree(make(code, more if said.endswith("return") else {}))


def test_a_headline_of_outputs_that_the_code_does_not_give_breaks_the_law(make: Make) -> None:
    code = "    def headline(self):\n        return ('score', 'hits')\n\n    def score(self"
    with pytest.raises(Broken, match="the headline names hits, which the code doesn't return"):
        laws.outputs_agree(make({"    def score(self": code}))


# 5: ordinary samples give finite rows.


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"np.array(hits, np.int64)": "np.where(np.array(words) > 17, np.nan, 1)"}, "unscored"),
        ({"hits / words}": "hits / (words - 17)}"}, "score of ordinary samples is .*inf"),
        ({"hits / words}": "hits / np.where(words > 99, 0, words)}"}, "the corpus score .* is inf"),
    ],
)
def test_ordinary_samples_without_a_finite_score_break_the_law(
    make: Make, changes: Mapping[str, str], said: str
) -> None:
    with pytest.raises(Broken, match=said):
        laws.rows_are_finite(make(changes))


def test_samples_of_another_shape_break_the_law(make: Make) -> None:
    with pytest.raises(Broken, match=r"score has shape \(8, 8\) for 8 samples"):
        laws.rows_are_finite(make({"hits / words}": "(hits / words)[..., None]}"}))


# 6: score broadcasts.


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("hits / np.max(words)", "score of one sample differs from its row"),
        ("hits.sum() / words.sum()", "differs from its row"),
        ("hits / words / max(1, hits.ndim)", r"score differs over \(B, N\)"),
    ],
)
def test_a_score_that_mixes_samples_does_not_broadcast(make: Make, formula: str, said: str) -> None:
    with pytest.raises(Broken, match=said):
        laws.score_broadcasts(make({"hits / words}": f"{formula}}}"}))


OWN = """        return {"score": hits / words}

    def score_samples(self, hits, words):
        \"\"\"Another convention.\"\"\"
        return {"score": %s}
"""


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("np.full(len(hits), np.nan)", "is nan, or should be"),
        ("np.sqrt(hits / words) * len(hits) / hits.cumsum()", "depends on other samples"),
        ("np.nan_to_num(hits / words).mean()", "depends on other samples"),
        ("hits}|{'more': hits", "score_samples returned score, more, but its outputs are score"),
    ],
)
def test_scores_of_samples_have_the_shape_of_samples(make: Make, formula: str, said: str) -> None:
    with pytest.raises((Broken, MetricError), match=re.escape(said)):
        laws.score_broadcasts(make({'        return {"score": hits / words}\n': OWN % formula}))


def test_a_convention_of_its_own_for_samples_keeps_the_law(make: Make) -> None:
    code = {'        return {"score": hits / words}\n': OWN % "np.sqrt(hits / words)"}
    laws.score_broadcasts(make(code))


def concluding(rows: str) -> dict[str, str]:
    """The change to a metric that measures rows and concludes from them."""
    return {
        "class Toy(Metric)": "class Toy(CorpusMetric)",
        'return {"hits"': f'return {rows}\n        return {{"hits"',
        "def score(self, hits, words)": "def conclude(self, rows)",
    }


CONCLUDED = concluding("list(zip(hits, words))")
ROWS = "hits, words = map(np.array, zip(*rows, strict=True))\n        "
POOLED = f"{ROWS}return {{'score': hits.sum() / words.sum()}}\n\n    "
RESAMPLED = f"{POOLED}def resampler(self, rows):\n        {ROWS}return lambda counts: "
CONDENSED = f"{POOLED}def condense(self, rows):\n        return "


@pytest.mark.parametrize(
    "body",
    [
        RESAMPLED + "{'score': counts @ hits / (counts @ words)}",
        CONDENSED + "[(sum(h for h, _ in rows), sum(w for _, w in rows))]",
    ],
)
def test_a_shortcut_that_gives_what_is_concluded_keeps_the_law(make: Make, body: str) -> None:
    laws.score_broadcasts(make(CONCLUDED | {'return {"score": hits / words}': body}))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            RESAMPLED + "{'score': (counts > 0) @ hits / ((counts > 0) @ words)}",
            "the resampler gives score as",
        ),
        (RESAMPLED + "{'score': counts @ hits / sum(words)}", "the resampler gives score as"),
        (CONDENSED + "rows[:1]", "condensed rows give score as"),
        (CONDENSED + "[(sum(h for h, _ in rows), 1)]", "condensed rows give score as"),
    ],
)
def test_a_shortcut_that_gives_another_score_breaks_the_law(
    make: Make, body: str, said: str
) -> None:
    with pytest.raises(Broken, match=said):
        laws.score_broadcasts(make(CONCLUDED | {'return {"score": hits / words}': body}))


# 7 and 8: splits and order are irrelevant.

NOISY = '"words": np.array(words, np.int64)'


def test_a_measure_that_looks_at_its_block_does_not_merge(make: Make) -> None:
    changes = {NOISY: '"words": np.full(len(words), max(words))'}
    with pytest.raises(Broken, match=r"split at 1: score is .*, then "):
        laws.measuring_merges(make(changes))


def test_a_statistic_that_depends_on_the_block_does_not_merge_though_the_score_does(
    make: Make,
) -> None:
    changes = {
        NOISY: f'{NOISY}, "spare": np.arange(len(words))',
        "def score(self, hits, words)": "def score(self, hits, words, spare)",
    }
    with pytest.raises(Broken, match=r"the sum of spare differs by the split"):
        laws.measuring_merges(make(changes))


def test_a_measure_that_weighs_by_position_depends_on_the_order(make: Make) -> None:
    # Hits 1, 0, 1, 0, 0 at places 0 to 4 add 2 to the five words; in reverse order they add 6.
    changes = {NOISY: '"words": np.array(words) + np.array(hits) * np.arange(len(words))'}
    given = {"predictions": list("abcab"), "references": list("axcxx")}
    with pytest.raises(Broken, match=r"score is 0\.28.*, and 0\.18.* in reverse order"):
        laws.order_is_irrelevant(make(changes, given=given))


def test_a_measure_that_swaps_rows_depends_on_the_order(make: Make) -> None:
    changes = {"np.array(hits, np.int64)": "np.roll(hits, 1)"}
    given = {"predictions": list("abcab"), "references": list("axcxb")}
    with pytest.raises(Broken, match=r"score of a sample depends on the order of the samples"):
        laws.order_is_irrelevant(make(changes, given=given))


# 9: any text is valid.


def test_a_metric_that_raises_on_some_text_does_not_take_any(make: Make) -> None:
    changes = {"sum(a == b": "len(p[0]) and sum(a == b"}
    with pytest.raises(ScoringError, match=r"failed on sample 0: IndexError: list index out"):
        laws.any_text_is_valid(make(changes))


@pytest.mark.parametrize("wrong", ["2.0", "np.inf", "-0.01"])
def test_a_score_outside_the_cards_range_is_shown_with_its_text(make: Make, wrong: str) -> None:
    changes = {"hits / words}": f"np.where(words == 1, {wrong}, hits / words)}}"}
    with pytest.raises(Broken, match=r"score is .*, outside \[0, 1\], for \{'predictions': "):
        laws.any_text_is_valid(make(changes))


# 10: perfection holds.


def test_a_perfect_prediction_with_another_score_breaks_the_cards_promise(make: Make) -> None:
    with pytest.raises(Broken, match=r"score is 0\.5, not 1"):
        laws.perfection_holds(make({"hits / words}": "hits / words / 2}"}))


def test_a_card_without_a_promise_is_not_held_to_one(make: Make) -> None:
    laws.perfection_holds(make({"hits / words}": "hits / words / 2}"}, {", perfect: 1": ""}))


# 11: nothing is changed.

FIELD = "    least: int = 1"
START = "        pairs ="


def test_a_metric_that_changes_what_it_is_given_breaks_the_law(make: Make) -> None:
    code = {
        "measure(self, prediction, reference)": "measure(self, prediction, record)",
        START: f"        [r.clear() for r in record]\n        reference = prediction\n{START}",
    }
    under_test = make(code, given={"predictions": ["a", "b"], "records": [{"a": 1}, {"b": 2}]})
    with pytest.raises(Broken, match=r"measuring changed the caller's columns"):
        laws.nothing_is_changed(under_test)


def test_a_metric_with_a_memory_breaks_the_law(make: Make) -> None:
    code = {
        "@dataclass(": "SEEN = []\n\n\n@dataclass(",
        START: f"        SEEN.append(1)\n{START}",
        "words = [len(r)": "words = [len(r) + len(SEEN)",
    }
    with pytest.raises(Broken, match=r"called twice: score is .*, then "):
        laws.nothing_is_changed(make(code))


def test_a_metric_without_equality_breaks_the_law(make: Make) -> None:
    with pytest.raises(Broken, match=r"doesn't survive pickling"):
        laws.nothing_is_changed(make({FIELD: f"{FIELD}\n    __eq__ = object.__eq__\n"}))


def test_a_metric_that_cannot_be_pickled_breaks_the_law(make: Make) -> None:
    code = {FIELD: "    least: object = lambda: 1", "self.least": "1"}
    with pytest.raises(Exception, match=r"pickle"):
        laws.nothing_is_changed(make(code))


def test_rows_that_a_file_cannot_hold_break_the_law(make: Make) -> None:
    changes = {
        **CONCLUDED,
        'return {"hits"': 'return [frozenset([1]) for _ in words]\n        return {"hits"',
        "hits / words": "1.0",
    }
    with pytest.raises(Broken, match=r"its report can't be saved: .*frozenset"):
        laws.nothing_is_changed(make(changes))


def test_a_repr_that_is_not_the_metric_breaks_the_law(make: Make) -> None:
    code = {FIELD: f"{FIELD}\n\n    def __repr__(self):\n        return 'Toy(least=3)'"}
    with pytest.raises(Broken, match=r"repr doesn't recreate the metric: Toy\(least=3\)"):
        laws.nothing_is_changed(make(code))


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


# 12: the examples run.


def test_an_example_with_another_result_is_shown_with_both(make: Make) -> None:
    with pytest.raises(Broken, match=r"Expected:\n.*0\.25(.|\n)*Got:\n.*0\.0"):
        laws.examples_run(make(card={"{'score': 0.0}": "{'score': 0.25}"}))


def test_an_example_that_raises_is_shown(make: Make) -> None:
    with pytest.raises(Broken, match=r"ZeroDivisionError"):
        laws.examples_run(make(card={">>> from metrichub": ">>> 1 / 0\n>>> from metrichub"}))


def test_a_card_without_an_example_breaks_the_law(make: Make) -> None:
    with pytest.raises(Broken, match=r"the card has no example"):
        laws.examples_run(make(card={EXAMPLES: "None."}))


@pytest.mark.parametrize("call", ["Toy()", "Toy(least=1)"])
def test_a_parameter_without_an_example_off_its_default_breaks_the_law(
    make: Make, call: str
) -> None:
    with pytest.raises(Broken, match=r"no example gives least another value than 1"):
        laws.examples_run(make(card={"Toy(least=2)": call, "'score': 0.0": "'score': 0.5"}))


# 13: no samples are nan.


def test_a_metric_that_raises_on_no_rows_breaks_the_law(make: Make) -> None:
    changes = {NOISY: '"words": np.array(words) + min(words) * 0'}
    with pytest.raises(ScoringError, match=r"failed: ValueError: min\(\)"):
        laws.empty_is_nan(make(changes))


def test_a_corpus_metric_with_a_row_for_no_sample_breaks_the_law(make: Make) -> None:
    changes = {
        **CONCLUDED,
        'return {"hits"': 'return [*words, 0]\n        return {"hits"',
        "hits / words": "1.0",
    }
    with pytest.raises(TypeError, match=r"measure returned 1 rows for 0"):
        laws.empty_is_nan(make(changes))


def test_outputs_that_the_card_lacks_break_the_law(make: Make) -> None:
    changes = {
        "    def score(self": MORE.format(("score", "share")),
        '{"score": hits / words}': "dict.fromkeys(('score', 'share'), hits / words)",
    }
    with pytest.raises(Broken, match=r"without samples, the scores are .*share"):
        laws.empty_is_nan(make(changes))


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


@pytest.mark.parametrize(
    "call",
    [
        "socket.getaddrinfo('localhost', 9)",
        "socket.socket().connect_ex(('127.0.0.1', 9))",
        "socket.socket().bind(('127.0.0.1', 0))",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
    ],
)
def test_a_metric_that_opens_a_socket_breaks_the_law(make: Make, call: str) -> None:
    under_test = make({START: f"        import socket\n        {call}\n{START}"})
    with pytest.raises(Broken, match=r"scoring opened a socket"):
        laws.nothing_heavy_loads(under_test)


def test_asking_whether_the_machine_speaks_ipv6_opens_nothing(make: Make) -> None:
    probe = "sys.audit('socket.bind', None, ('::1', 0))"
    laws.nothing_heavy_loads(make({START: f"        import sys\n        {probe}\n{START}"}))


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
    slow = make({START: PACE + START}, given={"predictions": ["slow"], **columns})
    fast = MetricUnderTest(slow.entry, {"predictions": ["fast"], **columns})
    for _ in range(2):
        with pytest.raises(Broken, match=r"scoring loaded torch"):
            laws.nothing_heavy_loads(fast)
        laws.nothing_heavy_loads(slow)


def test_a_metric_that_ends_its_process_breaks_the_law_and_not_the_next(make: Make) -> None:
    end = "        import os\n        prediction[0] == 'end' and os._exit(7)\n"
    under_test = make({START: end + START}, given={"predictions": ["end"], "references": ["a"]})
    with pytest.raises(Broken, match=r"scoring in a fresh process failed: exit status 7"):
        laws.nothing_heavy_loads(under_test)
    laws.nothing_heavy_loads(MetricUnderTest(under_test.entry))


def test_a_metric_that_prints_and_reads_keeps_the_law(make: Make) -> None:
    chat = "        import sys\n        assert sys.stdin.read() == ''\n        print('{}')\n"
    laws.nothing_heavy_loads(make({START: chat + START}))


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
