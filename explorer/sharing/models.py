"""Share links, and the pages that they show."""

from __future__ import annotations

from django.db import models

from groups.authors import author_field
from groups.models import ID_LENGTH_MOST, TITLE_LENGTH_MOST, Timeline

TOKEN_SHOWN = 4
"""The last letters of a link's token, by which its maker distinguishes it from others."""


class Kind(models.TextChoices):
    """What a link shows."""

    TIMELINE = "timeline"
    LABORATORY = "laboratory"
    """A group of the laboratory, with six answers."""

    CELL = "cell"
    """A cell of a sweep: one of its seeds, as a group of the laboratory."""


class Link(models.Model):
    """A link that shows one incident to anyone who has it. Its token is not stored: only its hash is.

    One for people who sign in is opened by its id: nobody gets its token.
    """

    id = models.CharField(primary_key=True, max_length=ID_LENGTH_MOST)
    token_hash = models.CharField(max_length=64, unique=True)
    token_end = models.CharField(max_length=TOKEN_SHOWN)
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.TIMELINE)
    timeline = models.ForeignKey(Timeline, null=True, on_delete=models.SET_NULL, related_name="links")
    """Null once the timeline was deleted, which the link's page then shows; and if it is no timeline's."""

    title = models.CharField(max_length=TITLE_LENGTH_MOST)
    """What a chat tool shows of it: of a link whose names are hidden, with pseudonyms."""

    sentence = models.TextField()
    view = models.CharField(max_length=16)
    hides_names = models.BooleanField()
    signed_in = models.BooleanField(default=False)
    """Only accounts of this server may open it."""

    first = models.BigIntegerField()
    last = models.BigIntegerField()
    embed_origins: models.JSONField[list[str], list[str]] = models.JSONField(default=list)
    """Pages of these origins may show it in a frame; empty: none may."""

    author = author_field()
    created = models.DateTimeField(auto_now_add=True)
    until = models.DateTimeField()
    withdrawn = models.DateTimeField(null=True)
    opened = models.IntegerField(default=0)
    last_opened = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-created", "id")

    def __str__(self) -> str:
        return f"{self.id} (…{self.token_end}, until {self.until:%Y-%m-%d})"


class SharedPage(models.Model):
    """What a link shows: the page as it was made, in gzip. It goes with its timeline, and when the link ends."""

    link = models.OneToOneField(Link, primary_key=True, on_delete=models.CASCADE, related_name="page")
    timeline = models.ForeignKey(Timeline, null=True, on_delete=models.CASCADE, related_name="shared_pages")
    content = models.BinaryField()
    policy = models.TextField()
    card = models.BinaryField()

    def __str__(self) -> str:
        return f"the page of link {self.link_id}"
