"""Clients: who is taken for one, and that none of them keeps the others waiting."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("starlette", reason="the extra app is not installed")
pytest.importorskip("python_multipart", reason="the extra app is not installed")

import anyio
import httpx2
from anyio import wait_all_tasks_blocked
from anyio.abc import TaskGroup

from metrichub.app.middleware import client_of
from metrichub.app.pool import Turns
from metrichub.app.problem import Problem
from metrichub.app.settings import ServerLimits, ServerSettings
from tests.app_client import CATS, calling_from, state_of, upload

GREEDY, OTHER = "10.0.0.1", "10.0.0.2"
BLEU = {"metrics": ["bleu"], **CATS}
# 2 to the power of 40 ways to cut the text into runs of "a", none of which a "b" follows.
ENDLESS = {"metrics": ["regex_match"], "predictions": ["a" * 40 + "!"], "patterns": ["(a+)+b"]}
ENDLESS_FILE = json.dumps({"prediction": "a" * 40 + "!", "patterns": "(a+)+b"})


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("10.0.0.7", "10.0.0.7"),
        ("::ffff:10.0.0.7", "10.0.0.7"),
        # A machine may have any address of its network of 64 bits.
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("::1", "::/64"),
        ("testclient", "testclient"),
    ],
)
def test_a_client_is_an_address_or_a_network(address: str, client: str) -> None:
    assert client_of({"client": (address, 5)}) == client


def test_who_calls_through_a_socket_without_addresses_is_one_client() -> None:
    assert client_of({"client": None}) == client_of({}) == ""


def test_no_header_makes_another_client() -> None:
    scope = {"client": ("10.0.0.7", 5), "headers": [(b"x-forwarded-for", b"10.0.0.8")]}
    assert client_of(scope) == "10.0.0.7"


class Story:
    """Clients that take turns, hold them until they are told, and note what happened."""

    def __init__(self, turns: Turns, tasks: TaskGroup) -> None:
        self.turns, self.tasks = turns, tasks
        self.told: dict[str, anyio.Event] = {}
        self.seen: list[str] = []

    async def come(self, name: str) -> None:
        """A job, called by its client's letter and a number, asks for a turn."""
        self.told[name] = anyio.Event()
        self.tasks.start_soon(self._turn, name)
        await wait_all_tasks_blocked()

    async def end(self, name: str) -> None:
        """Its turn is over."""
        self.told[name].set()
        await wait_all_tasks_blocked()

    async def _turn(self, name: str) -> None:
        try:
            async with self.turns.turn(name[0]):
                self.seen.append(name)
                await self.told[name].wait()
        except Problem as error:
            self.seen.append(f"{name} {error.refusal.error}")


def seen(turns: Turns, *steps: str) -> list[str]:
    """What happened when jobs came, and ended where a step says "end"."""

    async def told() -> list[str]:
        async with anyio.create_task_group() as tasks:
            story = Story(turns, tasks)
            for step in steps:
                what, _, name = step.rpartition(" ")
                await (story.end(name) if what else story.come(name))
            found = list(story.seen)
            tasks.cancel_scope.cancel()
        return found

    return anyio.run(told)


def test_a_client_has_its_share_and_the_next_one_is_served_at_once() -> None:
    assert seen(Turns(2, 9), "a1", "a2", "a3", "b1") == ["a1", "a2", "b1"]


def test_who_has_the_fewest_turns_is_next_however_late_it_came() -> None:
    found = seen(Turns(2, 9), "a1", "a2", "b1", "a3", "b2", "c1", "end a1")
    assert found == ["a1", "a2", "b1", "c1"]


def test_among_clients_that_have_equally_many_the_first_is_next() -> None:
    found = seen(Turns(1, 9), "a1", "b1", "d1", "c1", "end b1", "end a1")
    assert found == ["a1", "b1", "d1", "c1"]


def test_a_client_that_fills_its_places_to_wait_fills_no_others() -> None:
    found = seen(Turns(1, 1), "a1", "a2", "a3", "b1", "c1", "d1", "end b1")
    # Twice as many places as a client has: a2 and c1 wait, d1 finds none.
    assert found == ["a1", "a3 Busy", "b1", "d1 Busy", "c1"]


def test_who_gives_up_while_it_waits_leaves_no_trace() -> None:
    async def told() -> bool:
        turns = Turns(1, 1)
        async with turns.turn("a"):
            for _ in range(3):
                with anyio.move_on_after(0):
                    async with turns.turn("a"):
                        raise AssertionError("its turn has come")
        async with turns.turn("a"):
            return turns.taken("a") == 1

    assert anyio.run(told)


async def greedily(
    clients: list[httpx2.AsyncClient], tasks: TaskGroup, ended: list[httpx2.Response]
) -> httpx2.Response:
    """The answer to one client while another sends more runaway patterns than there are workers."""
    greedy, other = clients

    async def endless() -> None:
        ended.append(await greedy.post("/api/score", json=ENDLESS))

    for _ in range(9):
        tasks.start_soon(endless)
    await wait_all_tasks_blocked()
    return await other.post("/api/score", json=BLEU)


def test_patterns_that_run_away_keep_no_other_client_waiting() -> None:
    async def told() -> tuple[int, int]:
        ended: list[httpx2.Response] = []
        settings = ServerSettings(limits=ServerLimits(seconds=60))
        async with (
            calling_from(settings, GREEDY, OTHER) as clients,
            anyio.create_task_group() as tasks,
        ):
            answer = await greedily(clients, tasks, ended)
            tasks.cancel_scope.cancel()
        return answer.status_code, len(ended)

    assert anyio.run(told) == (200, 0)


def test_files_without_end_keep_no_other_client_waiting() -> None:
    async def told() -> list[str]:
        async with calling_from(ServerSettings(), GREEDY, OTHER) as (greedy, other):
            endless = [await upload(greedy, ENDLESS_FILE, "regex_match") for _ in range(3)]
            short = await upload(other, '{"prediction": "a", "reference": "a"}', "wer")
            while await state_of(other, short) == "running":
                pass
            return [await state_of(greedy, one) for one in endless] + [await state_of(other, short)]

    assert anyio.run(told) == ["running", "running", "waiting", "done"]
