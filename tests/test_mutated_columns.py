"""Malformed columns of any metric are refused as data, whatever is wrong with them and how deep."""

import random
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from benchmarks.mutated import Example, examples, mutated, mutated_value
from metrichub import list_metrics
from metrichub.catalog.card import Card
from metrichub.errors import CardError, MetrichubError, ScoringError

TRIES = 25


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    for service in ("JUDGE", "EMBEDDER"):
        monkeypatch.setenv(f"METRICHUB_{service}", "offline")


def test_the_cards_give_columns_of_every_metric() -> None:
    assert {example.metric for example in examples()} == {entry.name for entry in list_metrics()}


@pytest.mark.filterwarnings("ignore::metrichub.DoubtfulScore")
@pytest.mark.parametrize("example", examples(), ids=lambda example: example.metric)
def test_a_malformed_column_is_no_defect(example: Example) -> None:
    for number in range(TRIES):
        columns = mutated(random.Random(f"{example.metric} {number}"), example.columns)
        try:
            report = example.hub.evaluate(columns)
            report.scores()
            report.notes()
        except ScoringError as error:
            pytest.fail(f"{error}: {columns}")
        # Refused as bad data, or as a use that isn't allowed.
        except MetrichubError:
            pass


def test_a_mutated_card_is_refused_or_read(tmp_path: Path) -> None:
    draw, path = random.Random(3), tmp_path / "README.md"
    for entry in list_metrics():
        text = (entry.folder / "README.md").read_text(encoding="utf-8")
        _, front, body = text.split("---\n", 2)
        for _ in range(3):
            matter = mutated_value(draw, yaml.safe_load(front))
            path.write_text(f"---\n{yaml.safe_dump(matter)}---\n{body}", encoding="utf-8")
            with suppress(CardError):
                Card.read(path)
