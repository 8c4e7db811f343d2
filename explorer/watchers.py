"""The clusters that this server watches: a child process for each whose lease is free.

Any number of servers may run next to each other, and ``manage.py watch`` next to them: a lease in the database names the process that
watches a cluster, and a process that finds a cluster without a lease takes it.
"""

from __future__ import annotations

import logging
import threading
import uuid
from typing import Final

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connections

from groups.cluster_models import Cluster
from groups.jobs.announce import announce
from groups.jobs.children import ChildFailed, ParentStops, run_child
from groups.watching import registry

log = logging.getLogger(__name__)

CHILD: Final = "groups.watching.child"

LOOK_EVERY_S: Final = 2.0
"""How long a cluster that was added by another process waits; one that was added here is looked for at once."""

STOP_S: Final = 10.0


class Watchers:
    """One thread that looks for clusters, and one for each child."""

    def __init__(self) -> None:
        self._look = threading.Event()
        self._stopping = threading.Event()
        self._threads: dict[str, threading.Thread] = {}
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
        for thread in [self._main, *self._threads.values()]:
            if thread.is_alive():
                thread.join(STOP_S)

    def _keep_looking(self) -> None:
        while not self._stopping.is_set():
            try:
                registry.take_environment()
                for cluster in registry.open_to_take():
                    self._begin(cluster)
            except DatabaseError as error:
                log.warning("The clusters to watch could not be read: %s", error)
            except Exception:
                log.exception("The clusters to watch could not be looked at.")
            close_old_connections()
            self._look.wait(LOOK_EVERY_S)
            self._look.clear()
        connections.close_all()

    def _begin(self, cluster: Cluster) -> None:
        running = self._threads.get(cluster.pk)
        if running is not None and running.is_alive():
            return
        owner = f"watch {uuid.uuid4()}"
        if registry.take(cluster.pk, owner):
            thread = threading.Thread(
                target=self._watch, args=(cluster.pk, owner), name=f"watch {cluster.name}", daemon=True
            )
            self._threads[cluster.pk] = thread
            thread.start()

    def _watch(self, cluster_id: str, owner: str) -> None:
        question = {"cluster": cluster_id, "owner": owner}
        try:
            for message in run_child(CHILD, question=question, cancelled=self._stopping.is_set):
                if message["type"] == "announce":
                    announce(message["group"], message["message"])
        except ParentStops:
            pass
        except ChildFailed as error:
            log.error("The watching of a cluster ended and is taken up again: %s", error)
        finally:
            registry.give_back(cluster_id, owner)
            connections.close_all()


watchers = Watchers()
"""This process's; it is started with the server (``explorer.asgi``)."""
