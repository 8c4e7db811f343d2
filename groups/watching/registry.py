"""Clusters that are added, changed and removed, and those that the environment names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from django.db.models import Q

from groups import storage
from groups.cluster_models import CLUSTER_NAME_LENGTH_MOST, Cluster
from groups.clusters import named
from groups.clusters.faults import ClusterError
from groups.clusters.settings import SECRET, ClusterSettings, settings_of
from groups.jobs.leases import from_now
from groups.models import Timeline
from groups.reserve import makes_room
from groups.watching.secrets import seal, unseal

CLUSTERS_MOST = 50
"""Each is a process that pulls."""


class NoSuchCluster(Exception):
    def __init__(self, cluster_id: str) -> None:
        super().__init__(f"There is no cluster {cluster_id!r}.")


class BadCluster(Exception):
    """A cluster that cannot be taken: one line, and the field that is wrong."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


def get(cluster_id: str) -> Cluster:
    try:
        return Cluster.objects.get(pk=cluster_id)
    except Cluster.DoesNotExist:
        raise NoSuchCluster(cluster_id) from None


def add(name: str, properties: Mapping[str, str], *, by_hand: bool = True) -> Cluster:
    """A cluster that is watched from now on. ``BadCluster`` contains what is wrong; nothing is asked of the cluster here."""
    wanted = name.strip()
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", wanted) or len(wanted) > CLUSTER_NAME_LENGTH_MOST:
        raise BadCluster(
            f"A name has 1 to {CLUSTER_NAME_LENGTH_MOST} letters, digits, dots, underscores and hyphens.",
            "name",
        )
    if Cluster.objects.count() >= CLUSTERS_MOST:
        raise BadCluster(f"{CLUSTERS_MOST} clusters are watched at most: remove one first.", "name")
    try:
        settings_of(properties, by_hand=by_hand)
    except ClusterError as error:
        raise BadCluster(str(error), "properties") from None
    made, is_new = Cluster.objects.get_or_create(
        name=wanted, defaults={"id": storage.new_id(), "sealed": seal(properties)}
    )
    if not is_new:
        raise BadCluster(f"There is a cluster named {wanted} already.", "name")
    return made


def of_command(where: str, properties: Mapping[str, str]) -> Cluster:
    """The cluster from a command's options: trusted as the server's own settings are."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", where)[:CLUSTER_NAME_LENGTH_MOST].strip("-")
    found, _ = Cluster.objects.update_or_create(
        name=name,
        defaults={"origin": Cluster.Origin.COMMAND, "sealed": seal(properties), "watched": True},
        create_defaults={
            "id": storage.new_id(),
            "origin": Cluster.Origin.COMMAND,
            "sealed": seal(properties),
        },
    )
    return found


def take_environment() -> None:
    """Rows for the clusters that the environment names; one that it names no longer is watched no longer."""
    names = set(named.names())
    known = set(Cluster.objects.filter(origin=Cluster.Origin.ENVIRONMENT).values_list("name", flat=True))
    taken = set(Cluster.objects.values_list("name", flat=True))
    for name in sorted(names - taken):
        # Servers that start together all find it missing.
        Cluster.objects.get_or_create(
            name=name, defaults={"id": storage.new_id(), "origin": Cluster.Origin.ENVIRONMENT}
        )
    gone = Cluster.objects.filter(name__in=known - names)
    gone.update(watched=False, status=Cluster.Status.PAUSED, problem="The environment names it no longer.")
    back = Cluster.objects.filter(
        name__in=known & names, watched=False, problem="The environment names it no longer."
    )
    back.update(watched=True, status=Cluster.Status.WAITING, problem="")


def properties_of(cluster: Cluster) -> dict[str, str]:
    if cluster.origin == Cluster.Origin.ENVIRONMENT:
        return named.properties(cluster.name)
    return unseal(bytes(cluster.sealed))


def settings_for(cluster: Cluster) -> ClusterSettings:
    """How the cluster is reached; ``ClusterError`` where its settings cannot be read."""
    by_hand = cluster.origin == Cluster.Origin.PAGE
    return settings_of(properties_of(cluster), by_hand=by_hand)


def shown(cluster: Cluster) -> dict[str, str]:
    """The properties without the secret ones, which nobody is shown again."""
    try:
        properties = properties_of(cluster)
    except ClusterError:
        return {}
    return {name: "…" if name in SECRET else value for name, value in properties.items()}


@makes_room
def set_watched(cluster: Cluster, *, watched: bool) -> Cluster:
    """Watch it, or stop; the process that watches it notices within seconds."""
    status = Cluster.Status.WAITING if watched else Cluster.Status.PAUSED
    Cluster.objects.filter(pk=cluster.pk).update(watched=watched, status=status, problem="")
    return get(cluster.pk)


def remove(cluster_id: str) -> None:
    """Forget a cluster with all that was recorded of it."""
    cluster = get(cluster_id)
    if cluster.origin == Cluster.Origin.ENVIRONMENT and cluster.name in named.names():
        raise BadCluster(f"The environment names {cluster.name} ({named.PREFIX}…): remove it there.", "name")
    timelines = list(Timeline.objects.filter(cluster=cluster).values_list("pk", flat=True))
    makes_room(cluster.delete)()
    storage.delete_all(timelines)


def open_to_take() -> list[Cluster]:
    """Clusters that nobody watches now and that should be."""
    free = Q(lease_owner="") | Q(lease_until__isnull=True) | Q(lease_until__lte=from_now())
    return list(Cluster.objects.filter(free, watched=True))


LEASE_S = 20


def take(cluster_id: str, owner: str) -> bool:
    """Hold the cluster's lease; false where somebody else does."""
    free = Q(lease_owner="") | Q(lease_owner=owner) | Q(lease_until__lte=from_now())
    row = Cluster.objects.filter(free, pk=cluster_id, watched=True)
    return bool(row.update(lease_owner=owner, lease_until=from_now(LEASE_S)))


def renew(cluster_id: str, owner: str) -> bool:
    """False where the cluster was paused, removed, or taken by another."""
    held = Cluster.objects.filter(pk=cluster_id, watched=True, lease_owner=owner)
    return bool(held.update(lease_until=from_now(LEASE_S)))


class LeaseGone(Exception):
    """Somebody else watches the cluster by now: a process that was suspended must not store what it remembers."""


def fence(cluster_id: str, owner: str) -> None:
    """Inside a transaction: nobody takes the lease before it ends. ``LeaseGone`` where somebody did already."""
    held = Cluster.objects.filter(pk=cluster_id, lease_owner=owner)
    if not held.update(lease_owner=owner):
        raise LeaseGone


def give_back(cluster_id: str, owner: str) -> None:
    Cluster.objects.filter(pk=cluster_id, lease_owner=owner).update(lease_owner="", lease_until=None)
