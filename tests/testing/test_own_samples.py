"""A metric that plain texts don't fit brings its own samples, and its inputs can depend on it."""

import json
from pathlib import Path

import pytest

from metrichub import Hub
from metrichub.catalog.registry import Entry
from metrichub.errors import MissingColumn
from metrichub.metric import load_metric
from metrichub.testing import laws
from metrichub.testing.under_test import MetricUnderTest
from tests import plugins

CODE = '''
from dataclasses import dataclass
from metrichub.metric import Metric

@dataclass(frozen=True, kw_only=True)
class Toy(Metric):
    """Whether a text has as many characters as it should.

    Attributes:
        number: The number for all samples; None takes each sample's own.
    """

    number: int | None = None

    def inputs(self):
        return ("prediction", "number") if self.number is None else ("prediction",)

    def observe(self, prediction, number=None):
        return {"score": int(len(prediction) == (number if self.number is None else self.number))}
'''
CARD = plugins.CARD.replace("[prediction]", "[prediction, number]")


@pytest.fixture
def under_test(site: Path) -> MetricUnderTest:
    plugins.distribution(site, "toy-dist", ["toy = toy_pack.toy:Toy"])
    plugins.metric(site, "toy_pack", "toy", code=CODE, card=CARD)
    rows = [{"predictions": "a" * n, "numbers": n} for n in range(5)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (site / "toy_pack" / "toy" / "samples.jsonl").write_text(lines)
    return MetricUnderTest(Entry("toy", "toy-dist", "1.0", "toy_pack.toy:Toy"))


def test_the_laws_take_the_samples_beside_the_card(under_test: MetricUnderTest) -> None:
    assert under_test.columns["numbers"] == [0, 1, 2, 3, 4]
    assert under_test.evaluate(under_test.columns).scores()["toy"]["score"] == 1
    for law in (laws.inputs_agree, laws.rows_are_finite, laws.measuring_merges):
        law(under_test)
    laws.any_text_is_valid(under_test)


def test_samples_that_are_given_come_first(under_test: MetricUnderTest) -> None:
    test = MetricUnderTest(under_test.entry, {"predictions": ["a"], "numbers": [2]})
    assert test.columns == {"predictions": ["a"], "numbers": [2]}


def test_without_a_file_plain_texts_have_to_do(under_test: MetricUnderTest) -> None:
    (under_test.entry.folder / "samples.jsonl").unlink()
    assert under_test.extra_columns is None
    assert len(under_test.columns["numbers"]) == 8


def test_a_parameter_takes_the_place_of_an_input(under_test: MetricUnderTest) -> None:
    assert Hub(load_metric("toy", number=1))(predictions=["a", ""]) == {"toy": {"score": 0.5}}
    with pytest.raises(MissingColumn, match="numbers"):
        Hub("toy")(predictions=["a", ""])
