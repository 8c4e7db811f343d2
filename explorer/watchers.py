"""The clusters that this server watches: child processes for those whose lease is free, each for some that are found together.

A large cluster, one that had to be let go by a process that it shared, and those of a process that failed have one of their own.

Any number of servers may run next to each other, and ``manage.py watch`` next to them: a lease in the database names the process that
watches a cluster, and a process that finds a cluster without a lease takes it.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Container, Sequence
from typing import Final

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connections

from groups.cluster_models import Cluster
from groups.jobs.announce import announce
from groups.jobs.children import ChildFailed, ParentStops, run_child
from groups.watching import registry
from groups.watching.child import SHARED_GROUPS_MOST

log = logging.getLogger(__name__)

CHILD: Final = "groups.watching.child"

LOOK_EVERY_S: Final = 2.0
"""How long a cluster that was added by another process waits; one that was added here is looked for at once."""

STOP_S: Final = 10.0

SHARED_MOST: Final = 10
"""Clusters of one process."""


class Watchers:
    """One thread that looks for clusters, and one for each child."""

    def __init__(self) -> None:
        self._look = threading.Event()
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._alone: set[str] = set()
        """Clusters that disturb, or may have disturbed, the others of their process."""
        self._main = threading.Thread(target=self._keep_looking, name="watchers", daemon=True)

    def start(self) -> None:
        if settings.WATCH_CLUSTERS:
            self._main.start()

    def wake(self) -> None:
        """Look at once: a cluster was added or changed."""
        self._look.set()

    def stop(self) -> None:
        """End the children; their leases are given back, or run out."""
        self._stopping.set()
        self._look.set()
        for thread in [self._main, *self._threads]:
            if thread.is_alive():
                thread.join(STOP_S)

    def _keep_looking(self) -> None:
        while not self._stopping.is_set():
            try:
                registry.take_environment()
                for clusters in batches(registry.open_to_take(), self._alone):
                    self._begin(clusters)
            except DatabaseError as error:
                log.warning("The clusters to watch could not be read: %s", error)
            except Exception:
                log.exception("The clusters to watch could not be looked at.")
            close_old_connections()
            self._look.wait(LOOK_EVERY_S)
            self._look.clear()
        connections.close_all()

    def _begin(self, clusters: Sequence[Cluster]) -> None:
        owner = f"watch {uuid.uuid4()}"
        if taken := [cluster.pk for cluster in clusters if registry.take(cluster.pk, owner)]:
            thread = threading.Thread(
                target=self._watch, args=(taken, owner), name=f"watch {len(taken)}", daemon=True
            )
            self._threads = [*(each for each in self._threads if each.is_alive()), thread]
            thread.start()

    def _watch(self, clusters: Sequence[str], owner: str) -> None:
        question = {"clusters": clusters, "owner": owner}
        try:
            for message in run_child(CHILD, question=question, cancelled=self._stopping.is_set):
                if message["type"] == "announce":
                    announce(message["group"], message["message"])
                elif message["type"] == "alone":
                    self._alone.add(message["cluster"])
        except ParentStops:
            pass
        except ChildFailed as error:
            log.error("The watching of clusters ended and is taken up again: %s", error)
            self._alone.update(clusters)
        finally:
            for cluster_id in clusters:
                registry.give_back(cluster_id, owner)
            connections.close_all()


def batches(clusters: Sequence[Cluster], alone: Container[str]) -> list[list[Cluster]]:
    """Clusters by the process that is to watch them: those that are small together, each other one by itself."""
    small: list[Cluster] = []
    large: list[Cluster] = []
    for cluster in clusters:
        is_small = cluster.pk not in alone and (cluster.seen.get("groups") or 0) <= SHARED_GROUPS_MOST
        (small if is_small else large).append(cluster)
    shared = [small[at : at + SHARED_MOST] for at in range(0, len(small), SHARED_MOST)]
    return [*shared, *([each] for each in large)]


watchers = Watchers()
"""This process's; it is started with the server (``explorer.asgi``)."""
