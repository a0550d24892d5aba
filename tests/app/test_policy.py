"""Policy: which values of a parameter a client of the app may give, by what its author declared."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from metrichub import list_metrics
from metrichub.app import policy
from metrichub.app.policy import Forbidden, RequestedMetric, metric_of, open_members
from metrichub.app.settings import Judging
from metrichub.catalog.parameters import (
    Address,
    LocalPath,
    Parameter,
    Range,
    Secret,
    described_values,
    parameters_of,
)
from metrichub.catalog.registry import Entry
from metrichub.errors import MetrichubError, MissingDependency
from metrichub.judge.metric import JudgeMetric
from metrichub.judge.protocol import Judge
from metrichub.models.embedders import Embedder
from metrichub.testing.under_test import MetricUnderTest
from tests import plugins
from tests.toy_metrics import Length

THE_SERVERS = "the person who starts the server chooses it"
A_FILE = "it names a file or folder of the server's machine"
NOT_PLAIN = "its values aren't text, numbers or choices"


def closed(metric: type, parameter: Parameter) -> str | None:
    """Why a parameter isn't the client's to set, or None if some of its values are."""
    declared = policy._declared(metric, parameter)
    shut = [hint for hint in declared if not open_members(hint)]
    return policy._reason(shut[0]) if shut else None


def reasons(metric: type) -> dict[str, str | None]:
    return {parameter.name: closed(metric, parameter) for parameter in parameters_of(metric)}


@dataclass(frozen=True, kw_only=True)
class Reader(Length):
    """A toy whose parameters are of every kind.

    Attributes:
        text: The path of a file, says this text, but nothing declares it.
    """

    text: str = ""
    texts: tuple[str, ...] = ()
    number: Annotated[float, Range(0)] | None = None
    switch: bool = False
    data: dict[str, Any] | None = None
    place: Annotated[str | None, LocalPath()] = None
    places: tuple[Annotated[str, LocalPath()], ...] = ()
    named: dict[str, Annotated[str, LocalPath()]] | None = None
    path: Path | None = None
    pin: Annotated[int, Secret()] = 0
    server: Annotated[str, Address()] = ""
    critic: str | Judge = "offline"
    panel: tuple[str | Judge, ...] = ()
    vectors: str | Embedder | None = None
    odd: complex | str = 0
    anything: Any = None


def test_a_parameter_is_closed_by_what_it_is_declared_to_be() -> None:
    assert reasons(Reader) == {
        "measure_in": None,
        "text": None,
        "texts": None,
        "number": None,
        "switch": None,
        "data": None,
        "place": A_FILE,
        "places": A_FILE,
        "named": A_FILE,
        "path": A_FILE,
        "pin": "it is a secret",
        "server": THE_SERVERS,
        "critic": THE_SERVERS,
        "panel": THE_SERVERS,
        "vectors": THE_SERVERS,
        "odd": NOT_PLAIN,
        "anything": NOT_PLAIN,
    }


@pytest.mark.parametrize(
    ("hint", "free"),
    [
        (str | Path | int, ["an integer"]),
        (
            dict[str, Any] | bool | Annotated[str, LocalPath()] | None,
            ["a mapping", "True or False", "None"],
        ),
        (Literal["auto"] | Annotated[str, LocalPath()], ["'auto'"]),
        (str | tuple[Annotated[str, LocalPath()], ...] | bool, ["True or False"]),
        (Annotated[str | None, LocalPath()], []),
    ],
)
def test_what_is_beside_a_path_is_open_but_for_text(hint: Any, free: list[str]) -> None:
    assert [word for member in open_members(hint) for word in described_values(member)] == free


@dataclass(frozen=True, kw_only=True)
class Careless(JudgeMetric):
    """A metric that gives inherited parameters other defaults, and forgets what they are."""

    judge: str = "openai"
    prompts: str | None = "/prompts"


def test_what_a_class_closes_stays_closed_where_it_is_declared_anew() -> None:
    assert reasons(Careless) == {"judge": THE_SERVERS, "prompts": A_FILE, "language": None}


CRITIC = """
from dataclasses import dataclass
from pathlib import Path
from metrichub.authoring import Metric
from metrichub.judge.protocol import Judge

@dataclass(frozen=True, kw_only=True)
class Toy(Metric):
    critic: str | Judge = "offline"
    where: str | Path | int = 3

    def observe(self, prediction: str) -> float:
        return 0.0
"""


@pytest.fixture
def critic(site: Path) -> str:
    """The name of an installed metric that calls its judge otherwise."""
    plugins.metric(site, "toy_pack", "critic", code=CRITIC)
    plugins.distribution(site, "toy-pack", ["critic = toy_pack.critic:Toy"])
    return "critic"


def test_the_servers_judge_is_given_to_whatever_takes_one(critic: str) -> None:
    metric: Any = metric_of(RequestedMetric(critic), Judging(judge="chance"))
    assert metric.critic == "chance"


def test_a_value_beside_a_path_is_taken_and_text_refused_with_what_to_give(critic: str) -> None:
    metric: Any = metric_of(RequestedMetric(critic, {"where": 4}), Judging())
    assert metric.where == 4
    with pytest.raises(Forbidden, match=f"where can't be set from here: {A_FILE}; give an integer"):
        metric_of(RequestedMetric(critic, {"where": "x"}), Judging())


# Nothing that a client may give is opened: held for the code of every metric, not for its word.

_OPENED: set[str] = set()
_WATCHED: list[str] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _WATCHED and event.startswith(("open", "os.", "glob.", "pathlib.")):
        texts = [str(argument) for argument in arguments if isinstance(argument, (str, Path))]
        _OPENED.update(name for name in _WATCHED for text in texts if name in text)


# A hook can't be taken away again; without a name to watch for it does nothing.
sys.addaudithook(_watch)


@contextmanager
def watching(name: str) -> Iterator[set[str]]:
    """What was opened of all whose path has this name in it."""
    _OPENED.clear()
    _WATCHED.append(name)
    try:
        yield _OPENED
    finally:
        _WATCHED.clear()


def texts_of(entry: Entry) -> list[Parameter]:
    """The parameters of a metric that are text, or may be, and a client's to give."""
    return [
        parameter
        for parameter in parameters_of(entry.load())
        if not closed(entry.load(), parameter)
        and any(
            "a string" in word for m in open_members(parameter.hint) for word in described_values(m)
        )
    ]


OPEN_TEXTS = [(entry, text) for entry in list_metrics() for text in texts_of(entry)]


def scored(entry: Entry, parameter: Parameter, path: Path) -> str:
    """What comes of a path for a parameter, be it scores or an error."""
    is_sequence = any("a sequence" in word for word in described_values(parameter.hint))
    value = (str(path),) * 2 if is_sequence else str(path)
    judge = {"judge": "chance"} if hasattr(entry.load(), "judge") else {}
    try:
        subject = MetricUnderTest(entry)
        report = subject.evaluate(subject.columns, **{parameter.name: value}, **judge)
        return str(report.scores())
    except MissingDependency as missing:
        pytest.skip(str(missing))
    except MetrichubError as error:
        return str(error)


@pytest.mark.parametrize(
    ("entry", "parameter"), OPEN_TEXTS, ids=[f"{e.name}.{p.name}" for e, p in OPEN_TEXTS]
)
def test_text_that_a_client_may_give_is_never_taken_for_a_path(
    entry: Entry, parameter: Parameter, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    canary.write_text("It rained.\n")
    with watching("canary") as opened:
        score = scored(entry, parameter, canary)
    assert not opened
    canary.unlink()
    assert score == scored(entry, parameter, canary)


def test_a_path_that_is_declared_as_one_is_seen_to_be_opened(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    canary.write_text("It rained.\n")
    entry = next(entry for entry in list_metrics() if entry.name == "novelty")
    corpus = next(item for item in parameters_of(entry.load()) if item.name == "corpus")
    with watching("canary") as opened:
        scored(entry, corpus, canary)
    assert opened == {"canary"}
