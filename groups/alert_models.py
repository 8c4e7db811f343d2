"""What is stored of alerts: the rules, what they found, and what was sent of it."""

from __future__ import annotations

from typing import Any

from django.db import models

from groups.authors import author_field
from groups.cluster_models import GROUP_NAME_LENGTH_MOST, Cluster


class AlertRule(models.Model):
    """A condition on a cluster's groups, and who is notified when it holds."""

    id = models.CharField(primary_key=True, max_length=64)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="rules")
    kind = models.CharField(max_length=16)
    """One of ``groups.watching.alerts.rules.Kind``."""

    group = models.CharField(max_length=GROUP_NAME_LENGTH_MOST, blank=True)
    """The one group that it is about; empty for all."""

    limits: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    """``for_s``, ``count``, ``within_s``, ``finding``: those that its kind has."""

    sealed = models.BinaryField(default=b"")
    """The webhook's URL, encrypted as a cluster's password is: anyone who has it may post there. Empty for none."""

    enabled = models.BooleanField(default=True)
    author = author_field()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("created", "id")

    def __str__(self) -> str:
        return f"{self.kind} on {self.group or 'all groups'}"


class Alert(models.Model):
    """A rule that held for a group: from when, until when, and the moment of the timeline that shows it."""

    id = models.CharField(primary_key=True, max_length=64)
    rule = models.ForeignKey(AlertRule, on_delete=models.CASCADE, related_name="alerts")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="alerts")
    group = models.CharField(max_length=GROUP_NAME_LENGTH_MOST)
    key = models.CharField(max_length=200, blank=True)
    """Of a finding: which one it was, so that it is reported once; empty for a condition that holds and ends."""

    says = models.TextField()
    since_ms = models.BigIntegerField()
    """Since when the condition holds, on the clock of the watcher."""

    at_ms = models.BigIntegerField()
    """When it was noticed that it held long enough."""

    ended_ms = models.BigIntegerField(null=True)
    timeline = models.ForeignKey(
        "groups.Timeline", null=True, on_delete=models.SET_NULL, related_name="alerts"
    )
    sequence = models.BigIntegerField(null=True)
    silenced = models.BooleanField(default=False)
    """A silence held when it began: no message of it was sent."""

    class Meta:
        ordering = ("-at_ms", "id")
        indexes = (models.Index(fields=["cluster", "-at_ms"], name="alert_listing"),)

    def __str__(self) -> str:
        return f"{self.group}: {self.says}"


class Silence(models.Model):
    """Until a time no message is sent of alerts of some groups and rules of a cluster."""

    id = models.CharField(primary_key=True, max_length=64)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="silences")
    kind = models.CharField(max_length=16, blank=True)
    """The kind of the rules; empty for all."""

    group = models.CharField(max_length=GROUP_NAME_LENGTH_MOST, blank=True)
    """A name or a pattern; empty for all."""

    until_ms = models.BigIntegerField()
    why = models.CharField(max_length=300)
    who = models.CharField(max_length=100, blank=True)
    """A name that was given, where nobody is signed in."""

    author = author_field()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("until_ms", "id")

    def __str__(self) -> str:
        return f"{self.kind or 'all rules'} on {self.group or 'all groups'}: {self.why}"


class Delivery(models.Model):
    """One message to one webhook: what is still to be sent, and the log of what was."""

    class State(models.TextChoices):
        WAITING = "waiting"
        DELIVERED = "delivered"
        FAILED = "failed"
        DROPPED = "dropped"

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="deliveries")
    rule = models.ForeignKey(AlertRule, on_delete=models.CASCADE, related_name="deliveries")
    alert = models.ForeignKey(Alert, null=True, on_delete=models.SET_NULL, related_name="deliveries")
    """Null for a test of the webhook."""

    message: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField()
    state = models.CharField(max_length=16, choices=State, default=State.WAITING)
    tries = models.IntegerField(default=0)
    next_try = models.DateTimeField()
    answer = models.CharField(max_length=300, blank=True)
    """What the last try came to, in one line."""

    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("-id",)
        indexes = (models.Index(fields=["cluster", "state", "next_try"], name="delivery_due"),)

    def __str__(self) -> str:
        return f"{self.state} after {self.tries}: {self.answer}"
