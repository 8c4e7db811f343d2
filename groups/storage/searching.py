"""The search over stored timelines: one condition for every list of them.

Each word that is asked for is a part of the title or of the words that are stored with the timeline as it is written
(``listed_columns``): group, members, hosts, topics, findings and verdict; or of a note on it. A database compares them one after the other. For thousands
of timelines this takes milliseconds, finds parts of names (``-7f3a``, ``max.poll``), which an index of whole words does not, and is the
same in SQLite and PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any, Final

from django.db.models import Exists, OuterRef, Q

from groups.models import Note, Timeline
from groups.packs.listed_summary import gravity_of, headline_text, plain, words_of


def listed_columns(summary: Mapping[str, Any]) -> dict[str, Any]:
    """``headline``, ``weight`` and ``words`` of a timeline with this summary, which is whole or in short (``packs.listed_summary``)."""
    weight = summary["weight"] if "weight" in summary else gravity_of(summary)
    return {"headline": plain(headline_text(summary)), "weight": weight, "words": plain(words_of(summary))}


FOUND_MOST: Final = 3
"""Words of one timeline that are shown as what was found."""


def matches(text: str) -> Q:
    """Whether a timeline has all words of ``text``."""
    condition = Q()
    for word in text.split():
        noted = Exists(Note.objects.filter(timeline=OuterRef("pk"), text__icontains=word))
        condition &= Q(title__icontains=word) | Q(words__contains=word.lower()) | Q(noted)
    return condition


def found_in(timeline: Timeline, text: str) -> list[str]:
    """What of the timeline has words of ``text`` that its title, group and headline do not have."""
    shown = f"{timeline.title} {timeline.group} {timeline.headline}".lower()
    hidden = [word for word in text.lower().split() if word not in shown]
    found = [one for one in timeline.words.split() if any(word in one for word in hidden)]
    only_noted = [word for word in hidden if word not in timeline.words]
    if only_noted:
        texts = [f"“{one.text}”" for one in timeline.notes.filter(_noted(only_noted))[:FOUND_MOST]]
        found = texts + found
    return found[:FOUND_MOST]


def _noted(words: Iterable[str]) -> Q:
    """Whether a note has one of the words."""
    return reduce(or_, (Q(text__icontains=word) for word in words))
