"""What is sent to a broker of one group and what it answers, in the order in which it was noted down.

Requests go out one at a time, each on a connection that waits for nothing else; one that is not answered soon is taken
to be parked, and its answer is noted whenever it comes.
"""

from __future__ import annotations

import select
import time
from collections.abc import Mapping
from typing import Any

from ..node import Node, wait_for_coordinator
from .line import ANSWER_LIMIT_S, Line, now_ms
from .transcript import Restarted, Sent, Transcript

PARKED_S = 0.12
"""A request that is not answered by then waits for something; the broker takes a few milliseconds for the others."""

PARKED_APIS = ("JoinGroup", "SyncGroup")


class Conversation:
    """One group's. ``ids`` and ``generations`` are what each member was last told, by its short name."""

    def __init__(self, node: Node, group: str, transcript: Transcript) -> None:
        self.node = node
        self.name = group
        self.transcript = transcript
        self.ids: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self.epochs: dict[str, int] = {}
        self.owned: dict[str, list[dict[str, Any]]] = {}
        self.leader = ""
        self._instances: dict[str, str] = {}
        self._who: dict[int, str] = {}
        self._lines: list[Line] = []
        self._stopped_ms = 0
        wait_for_coordinator(node, group)

    def close(self) -> None:
        self.transcript.end_ms = now_ms()
        self._hang_up()

    def reconnect(self, node: Node) -> None:
        """After the broker was stopped and started: what was parked is lost."""
        self.node = node
        wait_for_coordinator(node, self.name)
        self.transcript.events.append(Restarted(at_ms=now_ms(), stopped_ms=self._stopped_ms))

    def hang_up(self) -> None:
        """Before the broker is stopped: what it says to parked requests while it stops is not waited for."""
        self._stopped_ms = now_ms()
        self._hang_up()

    def _hang_up(self) -> None:
        for line in self._lines:
            line.socket.close()
        self._lines = []

    # Sending.

    def ask(self, api: str, version: int, body: Mapping[str, Any], who: str = "x") -> Sent:
        """Sends a request and waits for its answer, or as long as shows that it is parked."""
        sent = Sent(
            ticket=len(self.transcript.events) + 1,
            at_ms=now_ms(),
            api=api,
            version=version,
            client=f"c-{who}",
            body=dict(body),
        )
        self.transcript.events.append(sent)
        self._who[sent.ticket] = who
        line = next((line for line in self._lines if line.sent is None), None)
        if line is None:
            line = Line(self.node.port)
            self._lines.append(line)
        line.send(sent)
        limit_s = PARKED_S if api in PARKED_APIS else ANSWER_LIMIT_S
        deadline = time.monotonic() + limit_s
        while sent.answer is None and time.monotonic() < deadline:
            self._listen(deadline - time.monotonic())
        assert sent.answer is not None or api in PARKED_APIS, f"{api} was not answered in {limit_s} s"
        return sent

    def pause(self, seconds: float) -> None:
        """Lets time pass, and notes what is answered meanwhile."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._listen(left)

    def settle(self, limit_s: float = ANSWER_LIMIT_S) -> None:
        """Waits until nothing is parked any more."""
        deadline = time.monotonic() + limit_s
        while waiting := [
            line.sent for line in self._lines if line.sent is not None and not self._superseded(line.sent)
        ]:
            assert time.monotonic() < deadline, f"{self.name}: {waiting} not answered in {limit_s} s"
            self._listen(0.5)

    def _superseded(self, sent: Sent) -> bool:
        """Whether the member has sent another request of this kind since, so that this one is never answered."""
        return any(
            isinstance(each, Sent)
            and each.api == sent.api
            and each.ticket > sent.ticket
            and each.body["memberId"] == sent.body["memberId"] != ""
            for each in self.transcript.events
        )

    def _listen(self, seconds: float) -> None:
        sockets = {line.socket: line for line in self._lines if line.sent is not None}
        if not sockets:
            time.sleep(max(0.0, seconds))
            return
        ready, _, _ = select.select(list(sockets), [], [], max(0.0, seconds))
        for each in ready:
            line = sockets[each]
            sent = line.sent
            if line.read() and sent is not None:
                self._heard(sent)

    def _heard(self, sent: Sent) -> None:
        who, answer = self._who[sent.ticket], sent.answer
        assert answer is not None
        if sent.api == "JoinGroup":
            if answer["memberId"] and answer["errorCode"] in (0, 79):
                self.ids[who] = answer["memberId"]
            if not answer["errorCode"]:
                self.generations[who] = answer["generationId"]
                if answer["leader"] and answer["leader"] == answer["memberId"]:
                    self.leader = who
        elif sent.api == "ConsumerGroupHeartbeat" and not answer["errorCode"]:
            self.epochs[who] = answer["memberEpoch"]
            if answer["assignment"] is not None:
                self.owned[who] = answer["assignment"]["topicPartitions"]
