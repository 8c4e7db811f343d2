"""A cluster under a lease: pulled and stored, round after round, until somebody says to stop.

What goes wrong with the cluster is a state of it, told in one sentence; the next try comes later and later. The groups
keep what was last seen of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from asgiref.sync import sync_to_async

from groups.cluster_models import Cluster
from groups.clusters.allowed import ALLOWED
from groups.clusters.cluster import Cluster as Brokers
from groups.clusters.faults import ClusterError
from groups.watching import registry, retention
from groups.watching.alerts.deliveries import Sender
from groups.watching.alerts.looking import Lookout
from groups.watching.alerts.registry import ShownAlert
from groups.watching.pulling import Puller, Round
from groups.watching.storing import Store

log = logging.getLogger(__name__)

RETRY_LEAST_S: Final = 1.0
RETRY_MOST_S: Final = 30.0
RENEW_EVERY_S: Final = 4.0
FORGET_EVERY_S: Final = 600.0
ASK_MISSING_EVERY_S: Final = 1.0


@dataclass(slots=True)
class Watching:
    """One cluster that is watched by this process."""

    cluster: Cluster
    owner: str
    stopped: Callable[[], bool] = lambda: False
    groups: Sequence[str] | None = None
    every_s: float | None = None
    on_round: Callable[[Round, list[dict[str, Any]]], None] = lambda seen, rows: None
    on_alert: Callable[[ShownAlert], None] = lambda alert: None
    requests: dict[str, int] = field(default_factory=dict)
    _held: bool = True
    _renewed_s: float = 0.0
    _forgot_s: float = 0.0
    _asked_s: float = 0.0

    async def run(self) -> None:
        """Watch until the lease is gone or ``stopped`` says so. What alerts have to say is sent meanwhile."""
        sending = asyncio.create_task(Sender(self.cluster.pk).run())
        try:
            await self._watch()
        finally:
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sending
        await sync_to_async(registry.give_back)(self.cluster.pk, self.owner)

    async def _watch(self) -> None:
        failures = 0
        while await self._goes_on():
            brokers = None
            try:
                settings = await sync_to_async(registry.settings_for)(self.cluster)
                brokers = Brokers(settings, sent=self._sent)
                puller = Puller(brokers, self.groups, self.every_s)
                store, lookout = Store(self.cluster, self.owner), Lookout(self.cluster)
                while await self._goes_on():
                    seen = await puller.round()
                    failures = 0
                    await self._take(store, puller, brokers, seen)
                    await self._alert(lookout, store, seen)
                    await puller.pause()
            except ClusterError as error:
                failures += 1
                await sync_to_async(self._failing)(error)
                await self._wait(failures)
            finally:
                if brokers is not None:
                    await brokers.close()

    async def _take(self, store: Store, puller: Puller, brokers: Brokers, seen: Round) -> None:
        rows = await sync_to_async(store.take)(seen)
        if time.monotonic() - self._asked_s >= ASK_MISSING_EVERY_S:
            self._asked_s = time.monotonic()
            for name in store.missing()[:20]:
                told = await brokers.find(name)
                if not isinstance(told, ClusterError):
                    rows += await sync_to_async(store.found)(name, told, seen)
        facts = self._facts(puller, brokers, seen)
        await sync_to_async(self._connected)(facts)
        if rows or seen.full:
            await sync_to_async(store.announce)(rows, facts)
        self.on_round(seen, rows)
        if time.monotonic() - self._forgot_s >= FORGET_EVERY_S:
            self._forgot_s = time.monotonic()
            await sync_to_async(retention.forget)(self.cluster)

    async def _alert(self, lookout: Lookout, store: Store, seen: Round) -> None:
        for alert in await sync_to_async(lookout.look)(store.recordings, seen.at_ms):
            self.on_alert(alert)

    def _facts(self, puller: Puller, brokers: Brokers, seen: Round) -> dict[str, Any]:
        return {
            "cluster_id": brokers.cluster_id,
            "brokers": len(brokers.brokers),
            "groups": len(seen.listing.groups),
            "left_out": seen.left_out,
            "every_s": round(puller.period_s, 1),
            "took_ms": seen.took_ms,
            "at_ms": seen.at_ms,
            "silent": {str(node): str(error) for node, error in seen.listing.silent.items()},
            "requests": dict(sorted(self.requests.items())),
        }

    def _connected(self, facts: dict[str, Any]) -> None:
        self.cluster.seen, self.cluster.status, self.cluster.problem = facts, Cluster.Status.CONNECTED, ""
        row = Cluster.objects.filter(pk=self.cluster.pk, lease_owner=self.owner)
        row.update(seen=facts, status=Cluster.Status.CONNECTED, problem="")

    def _failing(self, error: ClusterError) -> None:
        log.info("Cluster %s cannot be watched: %s", self.cluster.name, error)
        self.cluster.status = Cluster.Status.FAILING
        row = Cluster.objects.filter(pk=self.cluster.pk, lease_owner=self.owner)
        row.update(status=Cluster.Status.FAILING, problem=str(error))
        Store(self.cluster, self.owner).announce([], self.cluster.seen | {"problem": str(error)})

    async def _wait(self, failures: int) -> None:
        """Twice as long each time, jittered; the lease is kept."""
        length_s = min(RETRY_LEAST_S * 2 ** min(failures - 1, 10), RETRY_MOST_S) * random.uniform(0.5, 1.0)
        until_s = time.monotonic() + length_s
        while time.monotonic() < until_s and await self._goes_on():
            await asyncio.sleep(min(1.0, max(0.0, until_s - time.monotonic())))

    async def _goes_on(self) -> bool:
        if self.stopped() or not self._held:
            return False
        if time.monotonic() - self._renewed_s >= RENEW_EVERY_S:
            self._renewed_s = time.monotonic()
            self._held = await sync_to_async(registry.renew)(self.cluster.pk, self.owner)
        return self._held

    def _sent(self, key: int, version: int) -> None:
        name = ALLOWED[key].api.name
        self.requests[name] = self.requests.get(name, 0) + 1
