"""What a timeline calls the topics whose ids stand in its records."""

from __future__ import annotations

from groups import storage
from groups.models import Timeline


def topic_names(timeline: Timeline) -> dict[str, str]:
    """Names by topic id: those that its records or notes gave, and those that a user gave."""
    topics = storage.summary(timeline).get("topics") or {}
    found = {topic["id"]: name for name, topic in topics.items() if topic.get("id") not in (None, name)}
    return found | timeline.topic_names
