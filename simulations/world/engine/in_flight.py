"""A request on its way to a broker and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from simulations.protocol.messages.groups import CommitAnswer

if TYPE_CHECKING:
    from simulations.protocol.client.consumer import Request
    from simulations.world.engine.process import Process
    from simulations.world.engine.raw_sending import ScriptedSender


NOTHING_ANSWERED: Final = CommitAnswer(error_codes=())


class InFlightRequest:
    """``open`` until an answer left for its client, or it has given up; ``broker`` is who it was sent to.

    ``member_id`` is the sender's at that time: in the classic protocol it may have another by the answer. ``entry`` is the sequence of the request's entry, 0 as long as no broker has it.
    ``scripted``: the script wrote it.
    """

    __slots__ = (
        "answered",
        "broker",
        "cause",
        "entry",
        "member_id",
        "open",
        "process",
        "request",
        "scripted",
        "sent_ms",
    )

    def __init__(
        self,
        process: Process | ScriptedSender,
        request: Request,
        cause: int | None,
        broker: str,
        sent_ms: int,
        *,
        scripted: bool = False,
    ) -> None:
        self.process = process
        self.member_id = process.member_id
        self.request = request
        self.cause = cause
        self.broker = broker
        self.sent_ms = sent_ms
        self.entry = 0
        self.open = True
        self.scripted = scripted
        self.answered = NOTHING_ANSWERED
        """Of a commit: the partitions that the broker itself has answered for."""

    def unanswered(self) -> InFlightRequest:
        """What the broker has of it when its connection is gone: nobody will get the answer."""
        copy = InFlightRequest(
            self.process, self.request, self.cause, self.broker, self.sent_ms, scripted=self.scripted
        )
        copy.open, copy.member_id = False, self.member_id
        return copy

    def note_fields(self, api: str, way: str) -> Mapping[str, object]:
        """What an entry contains of one of its messages."""
        known: dict[str, object] = {"member": self.member_id, "api": api, "way": way}
        epoch = getattr(self.request, "member_epoch", None)
        return known if epoch is None else {**known, "epoch": epoch}
