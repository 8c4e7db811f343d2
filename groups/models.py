"""What is stored: timelines, their entries, what the fold made of them, and imports.

Entries are the truth and never change. What the fold computed from them is in a table of its own
(``Folded``), which can be thrown away and made again.
"""

from __future__ import annotations

from typing import Any

from django.db import models

from groups.alert_models import Alert, AlertRule, Delivery
from groups.authors import author_field
from groups.cluster_models import Cluster, WatchedGroup
from groups.note_models import Note
from groups.packs.listed_summary import GROUP_LENGTH_MOST, read_verdict

__all__ = [
    "Alert",
    "AlertRule",
    "Batch",
    "Cluster",
    "Delivery",
    "Digested",
    "Folded",
    "Import",
    "Note",
    "OffsetBlock",
    "Timeline",
    "WatchedGroup",
]

ID_LENGTH_MOST = 64
"""Case studies have their names as ids; all others ten characters."""

TITLE_LENGTH_MOST = 200

TOPIC_LENGTH_MOST = 249
"""Kafka's own limit; of a topic with a longer name no offsets are kept."""


class Job(models.Model):
    """Something that somebody started and a process works on: an import, a sweep, a search."""

    id = models.CharField(primary_key=True, max_length=ID_LENGTH_MOST)
    problem = models.TextField(blank=True)
    """Why it failed or was interrupted: one line, empty where all is well."""

    lease_until = models.DateTimeField(null=True)
    """When the lease expires of the process that waits for it or works on it; null once it has ended."""

    author = author_field()
    created = models.DateTimeField(auto_now_add=True)
    finished = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        ordering = ("-created", "id")


class Timeline(models.Model):
    """A stored log of one incarnation of a group."""

    class Source(models.TextChoices):
        CASE_STUDY = "case-study"
        SIMULATION = "simulation"
        IMPORT = "import"
        LIVE = "live"

    class Status(models.TextChoices):
        RUNNING = "running"
        COMPLETE = "complete"
        INTERRUPTED = "interrupted"
        FAILED = "failed"
        CANCELLED = "cancelled"

    id = models.CharField(primary_key=True, max_length=ID_LENGTH_MOST)
    title = models.CharField(max_length=TITLE_LENGTH_MOST)
    group = models.CharField(max_length=GROUP_LENGTH_MOST, blank=True)
    protocol = models.CharField(max_length=16, blank=True)
    source = models.CharField(max_length=16, choices=Source)
    status = models.CharField(max_length=16, choices=Status, default=Status.RUNNING)
    problem = models.TextField(blank=True)
    """Why it failed or was interrupted: one line, empty where all is well."""

    semantics = models.CharField(max_length=16, blank=True)
    release = models.CharField(max_length=16, blank=True)
    """What the brokers of a run begin with, by its scenario or in place of that; its log states what each coordinator ran."""

    scenario = models.TextField(blank=True)
    seed = models.BigIntegerField(null=True)
    engine = models.CharField(max_length=64, blank=True)
    """Digest of the simulator that made the entries: only the same one makes the same entries again."""

    summary: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    """The whole of it, or what lists show of it (``groups.packs.listed_summary``) where the entries stand in packs. ``in_short`` has the verdict, too."""

    verdict = models.BinaryField(null=True)
    """Of a timeline whose entries are in packs (``headline.packed_verdict``); null: it is in the summary."""

    index_place: models.JSONField[list[Any] | None, list[Any] | None] = models.JSONField(null=True)
    """Where the index is (pack, offset, length) of a timeline whose entries are in packs; null: they are rows."""

    packs: models.JSONField[list[str], list[str]] = models.JSONField(default=list)
    """Every pack that is read for the timeline."""

    headline = models.TextField(blank=True, default="")
    """The text of the verdict's headline (``groups.storage.searching``)."""

    words = models.TextField(blank=True, default="")
    """What a timeline is searched by, apart from its title (``groups.packs.listed_summary.words_of``)."""

    weight = models.BigIntegerField(default=0)
    """How grave its worst problem is (``history.story.problems.gravity``): lists are sorted by it."""

    folder = models.CharField(max_length=ID_LENGTH_MOST, blank=True, db_index=True)
    """The store's folder in which its packs are: the id of the import that wrote them."""

    digest = models.CharField(max_length=64, blank=True)
    """Of all entries: a log that begins with the same ones continues this timeline."""

    topic_names: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(default=dict)
    """Names that a user gave to topic ids; applied when shown, never stored into entries."""

    last = models.BigIntegerField(default=0)
    thinned = models.BigIntegerField(default=0)
    """Of a live group: up to this entry commits are thinned and rows are merged (``groups.storage.thinning``)."""

    entry_format = models.IntegerField()
    fold_version = models.IntegerField()

    lease_owner = models.CharField(max_length=200, blank=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)
    """Writers that took the lease: a run that brings down one worker after the other must not go on for ever."""

    work: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(null=True)
    """Of a run that has ended: ``times`` of its stages (``groups.pipeline.times``), how often it has ``begun_again`` since its worker
    ended, and the last lines of a child that failed (``log``). An import has the same in its report."""

    cluster = models.ForeignKey(Cluster, null=True, on_delete=models.SET_NULL, related_name="timelines")
    """Of a live group: the cluster that it is watched in."""

    provenance = models.CharField(max_length=16, blank=True)
    """Of a live group: whether its records are the log's own (``recorded``), or lie between two polls (``inferred``)."""

    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="forks")
    fork_sequence = models.BigIntegerField(null=True)
    author = author_field()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created", "id")
        indexes = (
            models.Index(fields=["status", "lease_until"], name="timeline_lease"),
            models.Index(fields=["source", "-created"], name="timeline_listing"),
            models.Index(fields=["group"], name="timeline_group"),
        )

    def __str__(self) -> str:
        return f"{self.id} ({self.title})"

    def in_short(self) -> dict[str, Any]:
        """The summary as the row holds it, with the verdict."""
        return (
            self.summary
            if self.verdict is None
            else self.summary | {"verdict": read_verdict(bytes(self.verdict))}
        )


class Batch(models.Model):
    """Entries from ``first`` to ``last``: a JSON array as it was appended, or compressed (``groups.storage.thinning``)."""

    timeline = models.ForeignKey(Timeline, on_delete=models.CASCADE, related_name="batches")
    first = models.BigIntegerField()
    last = models.BigIntegerField()
    entries = models.BinaryField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["timeline", "first"], name="batch_first"),)

    def __str__(self) -> str:
        return f"{self.timeline_id}: entries {self.first} to {self.last}"


class Folded(models.Model):
    """What the fold of one version made of the entries from ``first`` to ``last``: a cache.

    ``checkpoint`` (the frame at ``first - 1`` and the state of the findings there) is where a chunk begins;
    the rows up to the next one with a checkpoint are the rest of that chunk. Rows count once the timeline's
    ``fold_version`` is theirs, so that those of a new version can be made next to the old.
    """

    timeline = models.ForeignKey(Timeline, on_delete=models.CASCADE, related_name="folded")
    fold_version = models.IntegerField()
    first = models.BigIntegerField()
    last = models.BigIntegerField()
    changes = models.BinaryField()
    moments = models.BinaryField()
    checkpoint = models.BinaryField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["timeline", "fold_version", "first"], name="folded_first"),
        )
        indexes = (
            models.Index(
                fields=["timeline", "fold_version", "first"],
                name="folded_chunks",
                condition=models.Q(checkpoint__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"{self.timeline_id}: folded {self.first} to {self.last} by version {self.fold_version}"


class Digested(models.Model):
    """What the map shows of the entries from ``first`` to ``last`` at one level (``groups.history.digests``): a cache, like ``Folded``.

    Rows are those of ``Folded``, once for each level; the texts are packed (``groups.storage.digests``). ``columns`` and
    ``moments`` are counts, so that a level is chosen before any text is read.
    """

    timeline = models.ForeignKey(Timeline, on_delete=models.CASCADE, related_name="digested")
    fold_version = models.IntegerField()
    level = models.SmallIntegerField()
    first = models.BigIntegerField()
    last = models.BigIntegerField()
    begins = models.BooleanField()
    columns = models.IntegerField()
    moments = models.IntegerField()
    members_most = models.IntegerField()
    """As many members were there at once."""

    group = models.BinaryField()
    members = models.BinaryField()
    partitions = models.BinaryField()
    members_start = models.BinaryField(null=True)
    partitions_start = models.BinaryField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["timeline", "fold_version", "level", "first"], name="digested_first"
            ),
        )

    def __str__(self) -> str:
        return f"{self.timeline_id}: digest {self.level} of {self.first} to {self.last}"


class Import(Job):
    """One import: what was given, how far it is, and what came of it."""

    class Status(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        COMPLETE = "complete"
        FAILED = "failed"
        CANCELLED = "cancelled"

    title = models.CharField(max_length=TITLE_LENGTH_MOST)
    status = models.CharField(max_length=16, choices=Status, default=Status.WAITING)
    progress: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    report: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    """What ``manage.py import_log`` prints; empty until there is something to report."""

    paths: models.JSONField[list[str], list[str]] = models.JSONField(default=list)
    master = models.CharField(max_length=500, blank=True)
    options: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    """What to read of it: ``groups``, ``from_ms``, ``until_ms``, ``topics`` (names by topic id), ``folder`` where it
    was uploaded to, and ``queue``, where it waits for a worker."""

    timelines = models.ManyToManyField(Timeline, related_name="imports")
    """Its timelines: those that it made, and those that were there already with the same entries."""

    def __str__(self) -> str:
        return f"{self.id} ({self.title})"


class OffsetBlock(models.Model):
    """The offsets of one topic's partitions from ``first_ms`` to ``last_ms``, in columns (``groups.history.lag.samples``).

    Of a cluster that is watched, or of a file that came with an import. Times are the watcher's clock, or the file's.
    """

    class Kind(models.TextChoices):
        END = "end"
        START = "start"
        COMMITTED = "committed"
        """What ``watched`` has committed: of groups that are polled. A followed group's commits are entries of its timeline."""

    cluster = models.ForeignKey(Cluster, null=True, on_delete=models.CASCADE, related_name="offset_blocks")
    imported = models.ForeignKey(Import, null=True, on_delete=models.CASCADE, related_name="offset_blocks")
    watched = models.ForeignKey(
        WatchedGroup, null=True, on_delete=models.CASCADE, related_name="offset_blocks"
    )
    kind = models.CharField(max_length=16, choices=Kind)
    topic = models.CharField(max_length=TOPIC_LENGTH_MOST)
    first_ms = models.BigIntegerField()
    last_ms = models.BigIntegerField()
    thinned = models.BooleanField(default=False)
    columns = models.BinaryField()

    class Meta:
        indexes = (
            models.Index(fields=["cluster", "kind", "topic", "last_ms"], name="offset_block_topic"),
            models.Index(fields=["cluster", "thinned", "last_ms"], name="offset_block_age"),
        )

    def __str__(self) -> str:
        return f"{self.kind} of {self.topic}: {self.first_ms} to {self.last_ms}"
