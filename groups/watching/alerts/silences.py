"""Silences: until a time no message is sent of alerts of some groups and rules. They are found and shown as ever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypedDict

from groups import storage
from groups.alert_models import Silence
from groups.cluster_models import Cluster
from groups.watching.alerts.rules import GROUP_LENGTH_MOST, BadRule, Kind, is_match

SILENCES_MOST: Final = 100
"""Of one cluster, of those that are not over."""

DAYS_MOST: Final = 90
WHY_LENGTH_MOST: Final = 300
WHO_LENGTH_MOST: Final = 100
_DAY_MS: Final = 86_400_000

FIELDS: Final = ("kind", "group", "until", "why", "who")


class SilenceAsked(NamedTuple):
    """``kind``: that of the rules, empty for all. ``group``: a name or a pattern, empty for all and the cluster itself."""

    kind: str
    group: str
    until_ms: int
    why: str
    who: str


class ShownSilence(TypedDict):
    """``who`` is the account that made it, else the name that was given."""

    id: str
    type: str
    kind: str
    group: str
    until_ms: int
    why: str
    who: str


def silence_of(given: Mapping[str, Any]) -> SilenceAsked:
    """A silence from JSON or YAML; ``BadRule`` contains what is wrong, and where."""
    if unknown := next((str(name)[:40] for name in given if name not in FIELDS), None):
        raise BadRule(f"A silence has no field {unknown!r}; it has {', '.join(FIELDS)}.", unknown)
    kind = given.get("kind", "")
    if kind != "" and kind not in list(Kind):
        raise BadRule(f"kind must be empty for all rules, or one of {', '.join(Kind)}.", "kind")
    group = _text(given, "group", GROUP_LENGTH_MOST)
    why = _text(given, "why", WHY_LENGTH_MOST)
    if not why:
        raise BadRule("why must state the reason: others see an alert of which nobody was told.", "why")
    return SilenceAsked(
        str(kind), group, _until(given.get("until")), why, _text(given, "who", WHO_LENGTH_MOST)
    )


def _text(given: Mapping[str, Any], name: str, most: int) -> str:
    value = given.get(name, "")
    if not isinstance(value, str) or len(value.strip()) > most or "\0" in value:
        raise BadRule(f"{name} must be text of {most} letters at most.", name)
    return value.strip()


def _until(given: object) -> int:
    """Milliseconds; YAML gives times as such."""
    if isinstance(given, str):
        try:
            given = datetime.fromisoformat(given)
        except ValueError:
            given = None
    if isinstance(given, datetime):
        return round((given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp() * 1000)
    if isinstance(given, int) and not isinstance(given, bool) and 0 < given < 2**52:
        return given
    raise BadRule("until must be a time such as 2026-12-01T08:00:00Z, or milliseconds since 1970.", "until")


def add(cluster: Cluster, asked: SilenceAsked, now_ms: int) -> Silence:
    """A silence from now on; those that are over are forgotten. ``BadRule`` where its time is past or too far."""
    if not now_ms < asked.until_ms <= now_ms + DAYS_MOST * _DAY_MS:
        raise BadRule(f"until must be later than now, by {DAYS_MOST} days at most.", "until")
    cluster.silences.filter(until_ms__lte=now_ms).delete()
    if cluster.silences.count() >= SILENCES_MOST:
        raise BadRule(f"A cluster has {SILENCES_MOST} silences at most: end one first.", "group")
    return Silence.objects.create(id=storage.new_id(), cluster=cluster, **asked._asdict())


def is_silent(silences: Iterable[Silence], kind: str, group: str, at_ms: int) -> bool:
    """Whether one of them holds for alerts of a rule of this kind on this group (empty: the cluster itself)."""
    return any(
        at_ms < one.until_ms and one.kind in ("", kind) and (not one.group or is_match(one.group, group))
        for one in silences
    )


def shown(row: Silence) -> ShownSilence:
    author = row.author
    return {
        "id": row.pk,
        "type": "silence",
        "kind": row.kind,
        "group": row.group,
        "until_ms": row.until_ms,
        "why": row.why,
        "who": author.get_username() if author is not None else row.who,
    }


def active(cluster: Cluster, now_ms: int) -> list[Silence]:
    return list(cluster.silences.filter(until_ms__gt=now_ms).select_related("author"))
