"""The bodies that receivers of alerts take: our own, and those of chat tools, of Alertmanager, of PagerDuty and of Grafana.

Each is made of the stored message, which is our own form (``deliveries.message_of``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import orjson

Message = Mapping[str, Any]


class Form(StrEnum):
    JSON = "json"
    SLACK = "slack"
    ALERTMANAGER = "alertmanager"
    PAGERDUTY = "pagerduty"
    GRAFANA = "grafana"
    MAIL = "mail"


OFFERED: Final[Mapping[Form, str]] = {
    Form.JSON: "JSON of this program",
    Form.SLACK: "chat (Slack, Mattermost, Rocket.Chat)",
    Form.ALERTMANAGER: "Alertmanager (…/api/v2/alerts)",
    Form.PAGERDUTY: "PagerDuty (…/v2/enqueue)",
    Form.GRAFANA: "Grafana annotation (…/api/annotations)",
    Form.MAIL: "e-mail (mailto:…)",
}

KEYED: Final = frozenset({Form.PAGERDUTY, Form.GRAFANA})
"""Forms that need a key: PagerDuty's routing key is in the body, the token of a Grafana service account in a header."""

HELD_FOR: Final = timedelta(days=7)
"""Alertmanager calls an alert over when nobody repeats it, within five minutes, unless it has an end: one that holds has this end until the real one is sent."""

FOUND_FOR: Final = timedelta(hours=1)
"""A finding has no end; it is shown so long."""


def body_of(form: Form, message: Message, key: str = "") -> bytes:
    """The body of a POST. ``key``: PagerDuty's routing key."""
    return orjson.dumps(_BODIES[form](message, key))


def token_of(form: Form, key: str) -> str:
    """The token that the request shows; empty for none."""
    return key if form is Form.GRAFANA else ""


def mail_of(message: Message) -> tuple[str, str]:
    """Subject and text of an e-mail."""
    status = {"ended": "Over: ", "test": "Test: "}.get(message["status"], "")
    lines = [message["text"], message["headline"], f"Rule: {message['rule']['says']}"]
    return f"{status}[{message['cluster']}] {message['says']}"[:200], "\n\n".join(filter(None, lines)) + "\n"


def _slack(message: Message, key: str) -> Any:
    return {"text": message["text"]}


def _alertmanager(message: Message, key: str) -> Any:
    began = _time(message["since_ms"])
    if message["status"] == "ended":
        ends = _time(message["ended_ms"])
    else:
        ends = _time(message["at_ms"]) + (HELD_FOR if message["status"] == "began" else FOUND_FOR)
    labels = {
        "alertname": f"rebalance_{message['rule']['kind']}",
        "cluster": message["cluster"],
        "group": message["group"],
        "rule": message["rule"]["id"],
        # Alerts with equal labels are one alert there.
        "alert": message["id"] or "test",
    }
    return [
        {
            "labels": labels,
            "annotations": {"summary": message["says"], "description": message["headline"]},
            "startsAt": min(began, ends).isoformat(),
            "endsAt": ends.isoformat(),
            "generatorURL": _link(message),
        }
    ]


def _pagerduty(message: Message, key: str) -> Any:
    status = message["status"]
    event = {
        "routing_key": key,
        "event_action": "resolve" if status == "ended" else "trigger",
        "dedup_key": message["id"] or f"test of {message['rule']['id']}",
        "payload": {
            "summary": message["text"][:1024],
            "source": message["cluster"],
            "severity": "error" if status == "began" else "info",
            "timestamp": _time(message["at_ms"]).isoformat(),
            "group": message["group"],
            "class": message["rule"]["kind"],
            "custom_details": {"headline": message["headline"], "rule": message["rule"]["says"]},
        },
    }
    return event | ({"links": [{"href": link, "text": "The moment"}]} if (link := _link(message)) else {})


def _grafana(message: Message, key: str) -> Any:
    """A line where it began; when it is over, the region from there to its end."""
    began_ms = round(_time(message["since_ms"]).timestamp() * 1000)
    ended = {"timeEnd": message["ended_ms"]} if message["status"] == "ended" else {}
    return {
        "time": began_ms,
        **ended,
        "tags": ["rebalance-explorer", message["rule"]["kind"], message["cluster"], message["group"]],
        "text": "\n".join(filter(None, (message["says"], message["headline"], _link(message)))),
    }


def _time(at_ms: int | None) -> datetime:
    """A time of the watcher's clock; a test has none, and gets the present."""
    return datetime.now(UTC) if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC)


def _link(message: Message) -> str:
    """The address of the moment; empty where it has none, or one without a host, which both receivers refuse."""
    url = message["url"] or ""
    return url if url.startswith("http") else ""


_BODIES: Final[Mapping[Form, Callable[[Message, str], Any]]] = {
    Form.JSON: lambda message, key: message,
    Form.SLACK: _slack,
    Form.ALERTMANAGER: _alertmanager,
    Form.PAGERDUTY: _pagerduty,
    Form.GRAFANA: _grafana,
}
