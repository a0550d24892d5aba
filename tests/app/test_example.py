"""Examples: what a form begins with, read out of a card without running anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra app is not installed")

from metrichub.app.describe import TEXTS, example_of
from metrichub.catalog.registry import registry
from tests import plugins

TEXT = """
```python
{code}
```
"""


def example(site: Path, code: str, parameters: tuple[str, ...] = ("n",)) -> Any:
    card = plugins.CARD + TEXT.format(code=code).replace("{", "{{").replace("}", "}}")
    plugins.metric(site, "toy_pack", "shout", card=card)
    plugins.distribution(site, "toy-pack", ["shout = toy_pack.shout:Toy"])
    return example_of(registry().find("shout"), parameters)


@pytest.mark.parametrize(
    "code",
    [
        ">>> Hub('shout')(predictions=['a', 'b'])",
        ">>> Hub(metrics=['shout', 'bleu'])(predictions=['a', 'b'])",
        ">>> Hub('loud = shout')(predictions=['a', 'b'])",
        ">>> hub = Hub(load_metric('shout'))\n>>> hub.evaluate(predictions=['a', 'b']).scores()",
        ">>> m = load_metric('toy-pack/shout')\n>>> h = Hub(m)\n>>> h(predictions=['a', 'b'])",
        ">>> given = {'predictions': ['a', 'b'], 'x': 1}\n>>> Hub('shout')(**given)['shout']",
        ">>> t = 'b'\n>>> Hub('shout')(predictions=['a', t])",
        ">>> Hub('bleu')(predictions=['x'])\n>>> Hub('shout')(predictions=['a', 'b'])",
        ">>> Hub('shout')(predictions=f())\n>>> Hub('shout')(predictions=['a', 'b'])",
        ">>> Hub(load_metric('shout', judge=Scripted({})))(predictions=['a', 'b'])",
    ],
)
def test_a_call_with_literal_columns_is_the_example(site: Path, code: str) -> None:
    found = example(site, code)
    assert found.columns == {"predictions": ["a", "b"]}
    assert (found.parameters, found.source) == ({}, "example")


def test_parameters_of_the_example_are_taken_over(site: Path) -> None:
    assert example(site, ">>> Hub('shout(n=2)')(predictions=['a'])").parameters == {"n": 2}


def test_an_example_without_parameters_goes_first(site: Path) -> None:
    code = ">>> Hub('shout(n=2)')(predictions=['a'])\n>>> Hub('shout')(predictions=['b'])"
    assert example(site, code).columns == {"predictions": ["b"]}


@pytest.mark.parametrize(
    "code",
    [
        ">>> Hub('shout(corpus=1)')(predictions=['a'])",
        ">>> Hub('shout')(predictions=[])",
        ">>> Hub('shout')(predictions='a')",
        ">>> Hub('shout')(predictions=['a'] * 3)",
        ">>> Hub('shout')(references=['a'])",
        ">>> Hub()(predictions=['a'])",
        ">>> Hub('shout')(predictions=['" + "a" * 7000 + "'])",
        ">>> (((",
        ">>> Hub('shout(')(predictions=['a'])",
    ],
)
def test_what_is_not_in_plain_sight_is_left_alone(site: Path, code: str) -> None:
    found = example(site, code)
    assert found.source == "here"
    assert found.columns["predictions"] == TEXTS["predictions"]


def test_nothing_of_a_card_is_run(site: Path) -> None:
    made = site / "made"
    example(site, f">>> Hub('shout')(predictions=[open({str(made)!r}, 'w').name])")
    assert not made.exists()


def test_samples_beside_the_card_come_before_texts_of_ours(site: Path) -> None:
    folder = site / "toy_pack" / "shout"
    plugins.metric(site, "toy_pack", "shout")
    plugins.distribution(site, "toy-pack", ["shout = toy_pack.shout:Toy"])
    (folder / "samples.jsonl").write_text(
        '{"predictions": "mine"}\n{"predictions": "too"}\n{broken'
    )
    found = example_of(registry().find("shout"), ())
    assert (found.columns, found.source) == ({"predictions": ["mine", "too"]}, "samples")
