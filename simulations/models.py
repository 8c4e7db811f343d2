"""What is stored of sweeps: what was asked, how far it is, and the answers in blocks."""

from __future__ import annotations

from typing import Any

from django.db import models

from groups.models import TITLE_LENGTH_MOST, Job, Timeline


class Sweep(Job):
    """One sweep over assignors, shapes, events and seeds."""

    class Status(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        COMPLETE = "complete"
        INTERRUPTED = "interrupted"
        FAILED = "failed"
        CANCELLED = "cancelled"

    title = models.CharField(max_length=TITLE_LENGTH_MOST)
    status = models.CharField(max_length=16, choices=Status, default=Status.WAITING)
    stage = models.CharField(max_length=100, blank=True)
    """What goes on before the first answer is there, in words."""

    axes: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField()
    """As ``simulations.sweeps.asked`` reads them."""

    cases = models.IntegerField()
    done = models.IntegerField(default=0)
    """Cases that are answered and stored."""

    master = models.CharField(max_length=500, blank=True)
    cores = models.IntegerField(default=0)
    """Tasks that Spark runs at once; 0 until it has begun."""

    took_ms = models.BigIntegerField(default=0)
    """From Spark's start to the last answer, of all attempts together."""

    attempts = models.IntegerField(default=0)
    """How often it was taken up: a process that runs an earlier attempt has to stop."""

    engine = models.CharField(max_length=64)
    """Digest of the assignors that answer: only the same ones give the same numbers again."""

    def __str__(self) -> str:
        return f"{self.id} ({self.title})"


class Answered(models.Model):
    """The rows of one block: a JSON array of a row for each seed from ``first`` on."""

    sweep = models.ForeignKey(Sweep, on_delete=models.CASCADE, related_name="answered")
    cell = models.IntegerField()
    first = models.IntegerField()
    rows = models.BinaryField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["sweep", "cell", "first"], name="answered_block"),)

    def __str__(self) -> str:
        return f"{self.sweep_id}: cell {self.cell} from seed {self.first}"


class LongQuestion(Job):
    """What a child process answers within minutes."""

    Status = Sweep.Status

    status = models.CharField(max_length=16, choices=Status, default=Status.WAITING)
    stage = models.CharField(max_length=100, blank=True)
    answer: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(null=True)

    class Meta(Job.Meta):
        abstract = True


class RemedySearch(LongQuestion):
    """One search for what would have helped with a timeline's incident.

    Its ``answer`` is ``simulations.remedies.values.Answer``, as far as it is known.
    """

    timeline = models.ForeignKey(Timeline, on_delete=models.CASCADE, related_name="remedy_searches")
    at = models.IntegerField()
    """The entry after which the incident begins."""

    seeds = models.IntegerField()
    runs = models.IntegerField(default=0)
    done = models.IntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.id} ({self.timeline_id} at {self.at})"


class Proof(LongQuestion):
    """An exploration of a scenario, or a recording that is put to the simulated coordinator."""

    title = models.CharField(max_length=TITLE_LENGTH_MOST)
    question: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField()
    """As ``simulations.jobs.proof_child`` reads it."""

    def __str__(self) -> str:
        return f"{self.id} ({self.title})"
