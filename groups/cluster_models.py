"""What is stored of live clusters: how each is reached, and what was last seen of its groups."""

from __future__ import annotations

from typing import Any

from django.db import models

from groups.authors import author_field

CLUSTER_NAME_LENGTH_MOST = 60
GROUP_NAME_LENGTH_MOST = 1000
"""Kafka takes 32,767 letters; what is longer is not recorded."""


class Cluster(models.Model):
    """A cluster that is watched: added by somebody, or named by the environment."""

    class Origin(models.TextChoices):
        PAGE = "page"
        ENVIRONMENT = "environment"
        COMMAND = "command"
        FILE = "file"

    class Status(models.TextChoices):
        WAITING = "waiting"
        CONNECTED = "connected"
        FAILING = "failing"
        PAUSED = "paused"

    id = models.CharField(primary_key=True, max_length=64)
    name = models.CharField(max_length=CLUSTER_NAME_LENGTH_MOST, unique=True)
    origin = models.CharField(max_length=16, choices=Origin, default=Origin.PAGE)
    sealed = models.BinaryField(default=b"")
    """The client properties, encrypted (``groups.watching.secrets``); empty where the environment names their file."""

    status = models.CharField(max_length=16, choices=Status, default=Status.WAITING)
    problem = models.TextField(blank=True)
    """Why it cannot be watched: one plain sentence, empty where all is well."""

    watched = models.BooleanField(default=True)
    seen: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    """Of the last poll: ``cluster_id``, ``brokers``, ``groups``, ``every_s``, ``took_ms``, ``at_ms``, ``silent``, ``requests``."""

    positions: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    """Where the following of ``__consumer_offsets`` goes on, by partition; stored with the entries that led there."""

    lease_owner = models.CharField(max_length=200, blank=True)
    lease_until = models.DateTimeField(null=True)
    author = author_field()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


STATE_LENGTH_MOST = 32
"""Kafka's longest state has 19 letters; a longer one from another broker is cut off."""


def is_recorded(group: str) -> bool:
    """Whether a group of this name can be known again by its row. Kafka takes longer names, and U+0000 in them."""
    return len(group) <= GROUP_NAME_LENGTH_MOST and "\0" not in group


class WatchedGroup(models.Model):
    """A group of a cluster as it was last seen, and the timeline that records it."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="groups")
    group = models.CharField(max_length=GROUP_NAME_LENGTH_MOST)
    kind = models.CharField(max_length=16, blank=True)
    state = models.CharField(max_length=STATE_LENGTH_MOST, blank=True)
    condition = models.CharField(max_length=16, blank=True)
    """Whether it can be seen (``groups.history.polls.recording.Condition``), or ``missing`` from the listing."""

    facts: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    """``group_epoch``, ``assignment_epoch``, ``members``, ``behind``, ``lag``, ``rebalancing``, ``rebalanced_ms``."""

    polled: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    """Where the recording is, so that another process goes on with it."""

    followed: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    """Where the following of the log is with this group (``groups.history.following.group``); empty if it is polled."""

    checkpoint = models.BinaryField(null=True)
    """What the fold remembered at an entry not long ago, so that another process need not fold all of them again."""

    timeline = models.ForeignKey(
        "groups.Timeline", null=True, on_delete=models.SET_NULL, related_name="watched"
    )
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("group",)
        constraints = (models.UniqueConstraint(fields=["cluster", "group"], name="watched_group"),)

    def __str__(self) -> str:
        return f"{self.cluster_id}: {self.group}"
