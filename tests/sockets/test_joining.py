"""How announcements become the texts that sockets send."""

from __future__ import annotations

from typing import Any

import orjson

from explorer.push import hub
from explorer.push.hub import joined


def changes(after: int, last: int, *, summary: str | None = None) -> dict[str, Any]:
    listed = orjson.dumps([{"sequence": last}]).decode()
    return {
        "type": "timeline.changes",
        "after": after,
        "last": last,
        "changes": listed,
        "moments": "[]",
        "summary": summary,
    }


def told(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return [orjson.loads(text) for text in joined(messages)]


def test_batches_that_follow_on_each_other_become_one() -> None:
    assert told(changes(0, 5, summary='{"last":5}'), changes(5, 7, summary='{"last":7}'), changes(7, 9)) == [
        {
            "type": "changes",
            "after": 0,
            "last": 9,
            "changes": [{"sequence": 5}, {"sequence": 7}, {"sequence": 9}],
            "moments": [],
            "summary": {"last": 7},
        }
    ]


def test_a_gap_between_batches_stays_a_gap() -> None:
    assert [(m["after"], m["last"]) for m in told(changes(0, 5), changes(7, 9))] == [(0, 5), (7, 9)]


def test_messages_keep_their_order() -> None:
    status = {"type": "timeline.status", "text": '{"type":"status"}'}
    tail = {"type": "timeline.tail", "after": 9, "last": 30}
    assert [m["type"] for m in told(changes(0, 5), status, changes(5, 9), tail)] == [
        "changes",
        "status",
        "changes",
        "tail",
    ]


def test_a_joined_message_does_not_outgrow_its_bound(monkeypatch: Any) -> None:
    monkeypatch.setattr(hub, "MESSAGE_BYTES_MOST", 50)
    assert len(told(*(changes(number, number + 1) for number in range(10)))) > 1
