"""What people write at moments of a timeline: notes, questions, and replies to them."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from groups.authors import author_field

NOTE_LENGTH_MOST = 1000
NOTES_MOST = 500
"""Of one timeline, with replies."""


class Note(models.Model):
    """A note or a question at a moment of a timeline, or a reply to one, which is at the same moment."""

    class Kind(models.TextChoices):
        NOTE = "note"
        QUESTION = "question"

    id = models.CharField(primary_key=True, max_length=64)
    timeline = models.ForeignKey("groups.Timeline", on_delete=models.CASCADE, related_name="notes")
    parent = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="replies")
    sequence = models.BigIntegerField()
    at_ms = models.BigIntegerField(null=True)
    """When the entry was; null before the first."""

    kind = models.CharField(max_length=16, choices=Kind, default=Kind.NOTE)
    text = models.TextField()
    author = author_field()
    mentions = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+")
    """The accounts that the text names as ``@name``."""

    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True)
    versions: models.JSONField[list[dict[str, str]], list[dict[str, str]]] = models.JSONField(default=list)
    """Earlier texts, the newest last: ``text``, ``until``, and ``by``: the account that replaced it."""

    class Meta:
        ordering = ("sequence", "created", "id")

    def __str__(self) -> str:
        return f"{self.id} at {self.sequence} of {self.timeline_id}"
