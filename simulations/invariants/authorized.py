"""ACLs: who lacks a right is answered so, and nobody else is. Holds in addition to a run's other checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.entries import Entry, Kind, Payload
from groups.history.state.group import State
from simulations.invariants.classic_clients import RunChecker
from simulations.invariants.side_checker import SideChecker
from simulations.invariants.violations import Violation

TOPIC_AUTHORIZATION_FAILED: Final = 29
GROUP_AUTHORIZATION_FAILED: Final = 30
UNSUPPORTED_VERSION: Final = 35

AUTHORIZED: Final = "authorized"
WRITES_NOTHING: Final = "unauthorized_writes_nothing"

OFFSET_COMMIT: Final = 1
"""The record type of a committed offset."""


_Right = tuple[str, str, str]
"""Operation, kind of resource, its name."""


class AuthorizedChecker(SideChecker):
    """What ``inner`` finds, and what of ACLs is not kept; notes show who is denied what and since when."""

    def __init__(self, inner: RunChecker) -> None:
        super().__init__(inner)
        self._denied: set[tuple[str, _Right]] = set()
        self._names: dict[str, str] = {}
        self._asked: dict[int, tuple[Entry, frozenset[int], frozenset[str]]] = {}
        """Requests without an answer, with the codes that each is to get as a whole, and the topics that it may not commit."""

    def see(self, entry: Entry, state: State) -> list[Violation]:
        payload = entry.payload
        match entry.kind:
            case Kind.NOTE if payload["note"] == "acl":
                self._noted(payload)
            case Kind.NOTE if payload["note"] == "topics":
                self._names |= {
                    topic["id"]: name for name, topic in payload["topics"].items() if topic is not None
                }
            case Kind.REQUEST if not payload.get("steady"):
                self._asked[entry.sequence] = entry, self._wanted(entry), self._unread(entry)
            case Kind.RECORD if entry.cause in self._asked:
                self._written(entry, *self._asked[entry.cause])
            case Kind.RESPONSE:
                self._answered(entry)
        return super().see(entry, state)

    def steady(self, entry: Entry) -> list[Violation]:
        """A steady heartbeat was accepted: nothing may have stood in its way."""
        if wanted := self._wanted(entry):
            text = f"A heartbeat of {entry.actor} is accepted, not answered {_listed(wanted)}"
            self._violations.add(AUTHORIZED, text, (entry.sequence,), (entry.actor,))
        return super().steady(entry)

    def _noted(self, payload: Payload) -> None:
        resource = "group" if "group" in payload else "topic"
        denial = payload["member"], (payload["operation"], resource, payload[resource])
        if payload["allowed"]:
            self._denied.discard(denial)
        else:
            self._denied.add(denial)

    def _lacks(self, entry: Entry, operation: str, resource: str, name: str) -> bool:
        return (entry.actor.partition("~")[0], (operation, resource, name)) in self._denied

    def _wanted(self, entry: Entry) -> frozenset[int]:
        """Of the errors of authorization the one with which the whole request is to be answered; empty: none."""
        body, api = entry.payload["body"], entry.payload["api"]
        group = str(body.get("groupId"))
        operation = "describe" if api == "OffsetFetch" else "read"
        if self._lacks(entry, operation, "group", group):
            return frozenset({GROUP_AUTHORIZATION_FAILED})
        names = body.get("subscribedTopicNames") or () if api == "ConsumerGroupHeartbeat" else ()
        if any(self._lacks(entry, "describe", "topic", name) for name in names):
            return frozenset({TOPIC_AUTHORIZATION_FAILED})
        return frozenset()

    def _unread(self, entry: Entry) -> frozenset[str]:
        """The topics whose offsets it may not commit."""
        if entry.payload["api"] != "OffsetCommit":
            return frozenset()
        names = [
            self._named(topic.get("topicId") or topic["name"]) for topic in entry.payload["body"]["topics"]
        ]
        return frozenset(name for name in names if self._lacks(entry, "read", "topic", name))

    def _named(self, topic: str) -> str:
        """Answers of older versions contain names, of newer ones ids."""
        return self._names.get(topic, topic)

    def _written(self, entry: Entry, asked: Entry, wanted: frozenset[int], unread: frozenset[str]) -> None:
        """A request that has no answer yet wrote a record."""
        topic = entry.payload["key"]["topic"] if entry.payload["type"] == OFFSET_COMMIT else None
        if wanted or topic in unread:
            what = f"an offset of {topic}" if topic is not None else "a record"
            text = f"{asked.payload['api']} of {asked.actor}, which ACLs refuse, writes {what}"
            self._violations.add(WRITES_NOTHING, text, (asked.sequence, entry.sequence), (asked.actor,))

    def _answered(self, entry: Entry) -> None:
        request = entry.payload.get("request", entry.cause)
        if request not in self._asked:
            return
        asked, wanted, unread = self._asked.pop(request)
        codes = list(_codes(entry.payload["body"]))
        codes_sent = frozenset(code for _, code in codes) & {
            TOPIC_AUTHORIZATION_FAILED,
            GROUP_AUTHORIZATION_FAILED,
        }
        if wanted and UNSUPPORTED_VERSION in {code for _, code in codes}:
            return
        if not wanted and unread:
            wrong = [
                topic
                for topic, code in codes
                if (code == TOPIC_AUTHORIZATION_FAILED) != (self._named(topic) in unread)
            ]
            if not wrong and GROUP_AUTHORIZATION_FAILED not in codes_sent:
                return
            wanted = frozenset({TOPIC_AUTHORIZATION_FAILED})
        elif codes_sent == wanted:
            return
        text = (
            f"{asked.payload['api']} of {asked.actor} is answered {_listed(codes_sent)}, not {_listed(wanted)}, "
            "for what ACLs deny it"
        )
        self._violations.add(AUTHORIZED, text, (asked.sequence, entry.sequence), (asked.actor,))


def _codes(body: Payload) -> Iterator[tuple[str, int]]:
    """Every error of an answer, with the topic that it is of, or without."""
    if "errorCode" in body:
        yield "", body["errorCode"]
    for topic in body.get("topics") or ():
        for partition in topic.get("partitions") or ():
            yield str(topic.get("topicId") or topic.get("name")), partition["errorCode"]


def _listed(codes: frozenset[int]) -> str:
    return " and ".join(map(str, sorted(codes))) or "with neither 29 nor 30"
