"""The service: what all requests share: settings, workers, runs, and descriptions of metrics."""

from __future__ import annotations

from dataclasses import dataclass, field

from starlette.requests import Request

from metrichub.app.catalog import Item, items
from metrichub.app.describe import Description, describe
from metrichub.app.pool import Pool
from metrichub.app.problem import problem
from metrichub.app.runs import Runs
from metrichub.app.settings import ServerSettings
from metrichub.errors import did_you_mean


@dataclass
class Service:
    """What all requests share.

    Attributes:
        settings: What the server was started with.
        pool: The workers that score requests.
        runs: The files that were uploaded.
    """

    settings: ServerSettings
    pool: Pool
    runs: Runs
    _described: dict[Item, Description] = field(default_factory=dict)

    def item(self, name: str) -> Item:
        """The installed metric of this name.

        Raises:
            Problem: there is none (404).
        """
        for item in items():
            if name in (item.name, item.entry.qualified):
                return item
        hint = did_you_mean(name[:100], [item.name for item in items()])
        raise problem(404, "UnknownMetric", f"no metric {name[:100]!r} is installed{hint}")

    async def described(self, item: Item, client: str) -> Description:
        """What a form needs to know of a metric; made once.

        Raises:
            Problem: it can't be imported (501).
        """
        if item not in self._described:
            self._described[item] = await self.pool.run(
                describe,
                item.entry.qualified,
                self.settings.judging,
                client=client,
                seconds=max(60, self.settings.limits.seconds),
            )
        return self._described[item]


def service(request: Request) -> Service:
    """What the request shares with all others."""
    shared: Service = request.app.state.service
    return shared
