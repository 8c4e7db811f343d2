"""A cluster under a lease: pulled and stored, round after round, until somebody asks to stop.

What goes wrong with the cluster is a state of it, with one sentence; the next try comes later and later. The groups
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
from functools import partial
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.db import DatabaseError, close_old_connections

from groups.cluster_models import Cluster
from groups.clusters.allowed import ALLOWED
from groups.clusters.brokers import Brokers
from groups.clusters.faults import ClusterError, Fault
from groups.watching import registry, retention
from groups.watching.alerts.deliveries import Sender
from groups.watching.alerts.looking import Lookout
from groups.watching.alerts.reach import Reach
from groups.watching.alerts.registry import ShownAlert
from groups.watching.checking import Checks
from groups.watching.group_row import GroupRow
from groups.watching.log_follower import CannotFollow, Follower, FollowFacts, ask_whether, polled_facts
from groups.watching.log_storing import LogStore
from groups.watching.positions import PositionKeeper
from groups.watching.pulling import Puller, Round
from groups.watching.storing import Store
from groups.watching.together import Losses, shown_together

log = logging.getLogger(__name__)

RETRY_LEAST_S: Final = 1.0
RETRY_MOST_S: Final = 30.0
RENEW_EVERY_S: Final = 4.0
FORGET_EVERY_S: Final = 600.0
ASK_MISSING_EVERY_S: Final = 1.0
ASK_WHETHER_EVERY_S: Final = 5.0
"""How often a cluster that is polled is asked whether its log may be followed by now."""


@dataclass(slots=True)
class Watching:
    """One cluster that is watched by this process."""

    cluster: Cluster
    owner: str
    stopped: Callable[[], bool] = lambda: False
    groups: Sequence[str] | None = None
    every_s: float | None = None
    follow: bool | None = None
    """Whether the log is followed; null: as the cluster's settings say, else where the rights allow it."""

    on_round: Callable[[Round, list[GroupRow]], None] = lambda seen, rows: None
    on_alert: Callable[[ShownAlert], None] = lambda alert: None
    on_rows: Callable[[list[GroupRow]], None] = lambda rows: None
    mode: FollowFacts = field(default_factory=lambda: polled_facts("Nothing is known yet."))
    requests: dict[str, int] = field(default_factory=dict)
    _held: bool = True
    _renewed_s: float = 0.0
    _forgot_s: float = 0.0
    _asked_s: float = 0.0
    _kept: PositionKeeper = field(init=False)
    _reach: Reach = field(init=False)
    _losses: Losses = field(default_factory=Losses)

    def __post_init__(self) -> None:
        self._kept = PositionKeeper(self.cluster, self.owner)
        self._reach = Reach(self.cluster)

    async def run(self) -> None:
        """Watch until the lease is gone or ``stopped`` returns true. Alerts are sent meanwhile."""
        sending = asyncio.create_task(Sender(self.cluster.pk).run())
        try:
            await self._keep_watching()
        finally:
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await sending

    async def _keep_watching(self) -> None:
        failures = 0
        while await self._goes_on():
            brokers = None
            try:
                settings = await sync_to_async(registry.settings_for)(self.cluster)
                brokers = Brokers(settings, sent=self._sent)
                await brokers.refresh()
                failures = 0
                await self._watch(brokers)
            except ClusterError as error:
                failures += 1
                await self._failing(error)
                await self._wait(failures)
            except registry.LeaseGone:
                log.warning("Cluster %s is watched by another process by now.", self.cluster.name)
                self._held = False
            except DatabaseError as error:
                # What was not stored is read again, or said to be missing; it finds out itself whether the lease is still held.
                failures += 1
                log.warning("What cluster %s told could not be stored: %s", self.cluster.name, error)
                await sync_to_async(close_old_connections)()
                await self._wait(failures)
            finally:
                if brokers is not None:
                    await brokers.close()
        with contextlib.suppress(DatabaseError, registry.LeaseGone):
            await sync_to_async(self._kept.flush)()
        try:
            await sync_to_async(registry.give_back)(self.cluster.pk, self.owner)
        except DatabaseError:
            log.warning("The lease of %s could not be given back: it runs out.", self.cluster.name)

    async def _watch(self, brokers: Brokers) -> None:
        """Follow the log where the rights allow, else poll; until one of them is not what is right any more."""
        wanted = brokers.settings.follow if self.follow is None else self.follow
        try:
            if wanted is False:
                raise CannotFollow("Following is switched off.")
            await ask_whether(brokers)
        except CannotFollow as problem:
            if wanted and not problem.comes:
                raise ClusterError(Fault.RIGHTS, f"It cannot be followed. {problem}") from problem
            self.mode = polled_facts(str(problem), problem.command)
            await self._poll(brokers, asks_again=wanted is not False)
            return
        with contextlib.suppress(CannotFollow):
            await self._follow(brokers)

    async def _poll(self, brokers: Brokers, *, asks_again: bool) -> None:
        puller = Puller(brokers, self.groups, self.every_s)
        store, lookout = Store(self.cluster, self.owner), Lookout(self.cluster, self._losses)
        asked_s = time.monotonic()
        while await self._goes_on():
            seen = await puller.round()
            rows = await self._take(store, brokers, seen)
            await self._publish(store, lookout, puller, seen, rows)
            if asks_again and time.monotonic() - asked_s >= ASK_WHETHER_EVERY_S:
                asked_s = time.monotonic()
                with contextlib.suppress(CannotFollow):
                    await ask_whether(brokers)
                    return
            await puller.pause()

    async def _follow(self, brokers: Brokers) -> None:
        """The log is read over connections of its own: a fetch waits for news, and nothing waits behind it."""
        readers = Brokers(brokers.settings, sent=self._sent)
        readers.brokers, readers.cluster_id = dict(brokers.brokers), brokers.cluster_id
        store = LogStore(self.cluster, self.owner, self.groups)
        follower = Follower(readers, store, partial(self._publish_rows, store))
        puller = Puller(brokers, self.groups, self.every_s, checks=True, stirred=store.stirred)
        checks = Checks(store)
        try:
            following = asyncio.create_task(follower.run())
            pulling = asyncio.create_task(self._check(puller, follower, checks, brokers))
            done, _ = await asyncio.wait({following, pulling}, return_when=asyncio.FIRST_COMPLETED)
            for task in (following, pulling):
                task.cancel()
            await asyncio.gather(following, pulling, return_exceptions=True)
            for task in done:
                task.result()
            if following not in done:
                # The end was asked for: what waits is stored, so that nothing is read twice.
                await sync_to_async(store.flush)()
        finally:
            await readers.close()

    async def _publish_rows(self, store: LogStore, rows: list[GroupRow]) -> None:
        """Rows that the log changed."""
        await sync_to_async(store.announce)(rows, self.cluster.seen)
        self.on_rows(rows)

    async def _check(self, puller: Puller, follower: Follower, checks: Checks, brokers: Brokers) -> None:
        """Rounds go on while the log is followed: they check, report lags and the cluster's own state, and never fold."""
        lookout = Lookout(self.cluster, self._losses)
        while await self._goes_on():
            try:
                seen = await puller.round()
            except ClusterError as error:
                # The follower has back-offs of its own, and goes on where it was.
                await self._failing(error)
                await asyncio.sleep(RETRY_LEAST_S)
                continue
            rows = await sync_to_async(checks.take)(seen, at_end=follower.at_end, skews=follower.skews)
            self.mode = follower.facts() | {"checked": checks.equal, "different": checks.different}
            await self._publish(checks.store, lookout, puller, seen, rows)
            await puller.pause()

    async def _take(self, store: Store, brokers: Brokers, seen: Round) -> list[GroupRow]:
        rows = await sync_to_async(store.take)(seen)
        if time.monotonic() - self._asked_s >= ASK_MISSING_EVERY_S:
            self._asked_s = time.monotonic()
            for name in store.missing()[:20]:
                answer = await brokers.find(name)
                if not isinstance(answer, ClusterError):
                    rows += await sync_to_async(store.found)(name, answer, seen)
        return rows

    async def _publish(
        self, store: Store | LogStore, lookout: Lookout, puller: Puller, seen: Round, rows: list[GroupRow]
    ) -> None:
        """What a round saw, and the rows that it changed: announced, and held against the alert rules."""
        if seen.positions is not None:
            await sync_to_async(self._kept.take)(seen.positions)
        self._losses.take(store.groups)
        facts = self._facts(puller, seen)
        await self._connected(facts)
        if rows or seen.full:
            await sync_to_async(store.announce)(rows, facts)
        self.on_round(seen, rows)
        self.on_rows(rows)
        self._publish_alerts(await sync_to_async(lookout.look)(store.groups, seen.at_ms))
        if time.monotonic() - self._forgot_s >= FORGET_EVERY_S:
            self._forgot_s = time.monotonic()
            await sync_to_async(retention.forget)(self.cluster)

    def _facts(self, puller: Puller, seen: Round) -> dict[str, Any]:
        return {
            "cluster_id": puller.cluster.cluster_id,
            "brokers": len(puller.cluster.brokers),
            "groups": len(seen.listing.groups),
            "left_out": seen.left_out,
            "every_s": round(puller.period_s, 1),
            "took_ms": seen.took_ms,
            "at_ms": seen.at_ms,
            "silent": {str(node): str(error) for node, error in seen.listing.silent.items()},
            "requests": dict(sorted(self.requests.items())),
            "follow": self.mode,
            "together": None if (last := self._losses.last) is None else shown_together(last),
        }

    async def _connected(self, facts: dict[str, Any]) -> None:
        def store() -> list[ShownAlert]:
            self.cluster.seen, self.cluster.status, self.cluster.problem = facts, Cluster.Status.CONNECTED, ""
            row = Cluster.objects.filter(pk=self.cluster.pk, lease_owner=self.owner)
            row.update(seen=facts, status=Cluster.Status.CONNECTED, problem="")
            return self._reach.answered(facts["at_ms"])

        self._publish_alerts(await sync_to_async(store)())

    async def _failing(self, error: ClusterError) -> None:
        log.info("Cluster %s cannot be watched: %s", self.cluster.name, error)

        def store() -> list[ShownAlert]:
            self.cluster.status = Cluster.Status.FAILING
            row = Cluster.objects.filter(pk=self.cluster.pk, lease_owner=self.owner)
            row.update(status=Cluster.Status.FAILING, problem=str(error))
            Store(self.cluster, self.owner).announce([], self.cluster.seen | {"problem": str(error)})
            return self._reach.failed(str(error), time.time_ns() // 1_000_000)

        with contextlib.suppress(DatabaseError):
            self._publish_alerts(await sync_to_async(store)())

    def _publish_alerts(self, alerts: Sequence[ShownAlert]) -> None:
        for alert in alerts:
            self.on_alert(alert)

    async def _wait(self, failures: int) -> None:
        """Twice as long each time, jittered; the lease is kept, and alerts on an unreachable cluster are evaluated."""
        length_s = min(RETRY_LEAST_S * 2 ** min(failures - 1, 10), RETRY_MOST_S) * random.uniform(0.5, 1.0)
        until_s = time.monotonic() + length_s
        while time.monotonic() < until_s and await self._goes_on():
            await asyncio.sleep(min(1.0, max(0.0, until_s - time.monotonic())))
            with contextlib.suppress(DatabaseError):
                now_ms = time.time_ns() // 1_000_000
                self._publish_alerts(await sync_to_async(self._reach.look)(now_ms))

    async def _goes_on(self) -> bool:
        if self.stopped() or not self._held:
            return False
        if time.monotonic() - self._renewed_s >= RENEW_EVERY_S:
            try:
                self._held = await sync_to_async(registry.renew)(self.cluster.pk, self.owner)
            except DatabaseError:
                # Nobody can say who holds it, and nothing can be stored: it is asked again.
                await sync_to_async(close_old_connections)()
                return True
            self._renewed_s = time.monotonic()
        return self._held

    def _sent(self, key: int, version: int) -> None:
        name = ALLOWED[key].api.name
        self.requests[name] = self.requests.get(name, 0) + 1
