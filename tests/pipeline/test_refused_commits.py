"""Commits that were refused, as Java's client and librdkafka log them."""

from __future__ import annotations

import pytest

from groups.history.entries import Entry, Kind
from groups.history.passes.recorder import Recorder
from groups.texts.formats import formats_of, read_text
from groups.texts.found import LogEvent, TextEntry
from groups.texts.inferred import inferred_entries
from groups.texts.one_axis import Recorded

MEMBER = "consumer-1-0f3cb9d0-0a1b-4c2d-8e3f-1234567890ab"
OTHER = "other-1f3cb9d0-0a1b-4c2d-8e3f-1234567890ab"
JAVA = f"""
[2026-11-27 12:00:00,000] INFO [Consumer clientId=consumer-1, groupId=orders] Successfully joined group with generation Generation{{generationId=1, memberId='{MEMBER}', protocol='range'}} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)
[2026-11-27 12:00:40,000] INFO [GroupCoordinator 1]: Member {MEMBER} in group orders has failed, removing it from the group (kafka.coordinator.group.GroupCoordinator)
[2026-11-27 12:00:41,000] INFO [Consumer clientId=other, groupId=orders] Successfully joined group with generation Generation{{generationId=2, memberId='{OTHER}', protocol='range'}} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)
[2026-11-27 12:00:50,000] ERROR [Consumer clientId=consumer-1, groupId=orders] Offset commit failed on partition orders-3 at offset 180: WHY (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)
"""
RDKAFKA = """
%7|1795782600.000|MEMBERID|rdkafka#consumer-2| [thrd:main]: Group "orders": updating member id "(not-set)" -> "rdkafka-1"
%4|1795782607.239|COMMITFAIL|rdkafka#consumer-2| [thrd:main]: Offset commit (manual) failed for 2/2 partition(s) in join-state wait-unassign-call: Broker: Unknown member: orders[0]@112071(Broker: Unknown member), orders((null))[1]@7(Broker: Unknown member)
"""


def entries_of(text: str) -> list[TextEntry]:
    events = [each for each in read_text(text.splitlines(), formats_of(text)) if isinstance(each, LogEvent)]
    return inferred_entries(events, Recorded())


def notes(entries: list[TextEntry]) -> list[str]:
    return [str(each.payload.get("says")) for each in entries if "refused" in str(each.payload.get("says"))]


@pytest.mark.parametrize(
    ("why", "code", "name"),
    [
        ("The coordinator is not aware of this member.", 25, "UNKNOWN_MEMBER_ID"),
        ("Specified group generation id is not valid.", 22, "ILLEGAL_GENERATION"),
        ("The group is rebalancing, so a rejoin is needed.", 27, "REBALANCE_IN_PROGRESS"),
        ("The member epoch is stale. The member must retry.", 113, "STALE_MEMBER_EPOCH"),
        ("The member epoch is fenced by the group coordinator.", 110, "FENCED_MEMBER_EPOCH"),
    ],
)
def test_a_refused_commit_of_a_java_client_is_a_note_and_the_answer_with_its_error(
    why: str, code: int, name: str
) -> None:
    entries = entries_of(JAVA.replace("WHY", why))
    assert notes(entries) == [f"consumer-1 logs: its commit of orders-3 at 180 was refused ({name})"]
    [answer] = [each.payload for each in entries if each.kind is Kind.RESPONSE]
    assert (answer["api"], answer["to"]) == ("OffsetCommit", MEMBER)
    assert answer["body"]["topics"] == [
        {"name": "orders", "partitions": [{"partitionIndex": 3, "errorCode": code}]}
    ]


def test_a_commit_after_a_removal_is_found_as_that_of_a_zombie() -> None:
    recorder = Recorder(group="orders")
    text = JAVA.replace("WHY", "The coordinator is not aware of this member.")
    for sequence, each in enumerate(entries_of(text), 1):
        recorder.add(
            Entry(
                sequence=sequence, at_ms=each.at_ms, kind=each.kind, actor=each.actor, payload=each.payload,
                provenance=each.provenance, settled=each.settled,
            )
        )  # fmt: skip
    recorder.flush(final=True)
    [found] = [each for each in recorder.findings if each["kind"] == "zombie"]
    assert (
        found["says"]
        == "Zombie member: consumer-1 sent OffsetCommit up to 9.0\N{NARROW NO-BREAK SPACE}s after its removal (UNKNOWN_MEMBER_ID)"
    )


def test_librdkafka_names_all_partitions_of_a_refused_commit_in_one_line() -> None:
    assert notes(entries_of(RDKAFKA)) == [
        "rdkafka logs: its commit of orders-0 at 112071 and orders-1 at 7 was refused (UNKNOWN_MEMBER_ID)"
    ]


def test_a_commit_that_failed_for_another_reason_says_nothing_of_the_group() -> None:
    assert notes(entries_of(JAVA.replace("WHY", "This server does not host this topic-partition."))) == []
    other = RDKAFKA.replace("Broker: Unknown member", "Local: Waiting for coordinator")
    assert notes(entries_of(other)) == []
