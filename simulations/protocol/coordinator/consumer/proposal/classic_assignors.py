"""Classic members' protocols as assignors: names and user data, which only an assignor that reads version -1 takes.

Source: KIP-848, "JoinGroup Handling", and "Client Side Assignor" of the migration plan.
"""

from __future__ import annotations

from base64 import b64decode
from dataclasses import replace

from groups.history.state.consumer import NO_NOTE, AssignorNote, ConsumerMember
from groups.wire.embedded.consumer_protocol import decode_assignment, decode_subscription
from groups.wire.errors import RecordError
from simulations.protocol.assignors.client_side import FROM_CLASSIC, Metadata, Offer
from simulations.protocol.coordinator.classic.group import Group, Member
from simulations.protocol.coordinator.consumer.outcome import Context
from simulations.protocol.coordinator.consumer.released import upgrading
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.messages.classic_requests import Offered
from simulations.protocol.messages.client_mode import offer_row
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import Heartbeat


def converted_member(group: Group, member: Member, context: Context) -> ConsumerMember:
    """The member with its protocols as assignors, and what its leader's assignor sent it as a note of version -1."""
    found = upgrading.member_of(group, member, context.image, keeps_data=True)
    data = decode_assignment(member.assignment)["userData"] if member.assignment else None
    note = AssignorNote(error=0, version=FROM_CLASSIC, data=data) if data else NO_NOTE
    rows = tuple(offer_row(offer) for offer in offers(member.protocols))
    return replace(found, client_assignors=rows, note=note)


def offers(protocols: Offered) -> tuple[Offer, ...]:
    """JoinGroup Handling: protocols are assignors, the user data their metadata, in version -1, which is all they read."""
    return tuple(
        Offer(
            name=name,
            minimum_version=FROM_CLASSIC,
            maximum_version=FROM_CLASSIC,
            metadata=Metadata(FROM_CLASSIC, _user_data(subscription)),
        )
        for name, subscription in protocols
    )


def _user_data(subscription: bytes) -> bytes:
    try:
        return b64decode(decode_subscription(subscription)["userData"] or "")
    except RecordError:
        return b""


def check_reads_classic(context: Context, request: Heartbeat) -> None:
    """A member of the new protocol that joins next to classic ones: ``INVALID_REQUEST`` if it cannot read their metadata."""
    check_reads(request, [each for each in context.group.members.values() if each.uses_classic])


def check_reads(request: Heartbeat, classic: list[ConsumerMember]) -> None:
    """Client Side Assignor: non-empty metadata want a joiner whose assignor's versions have -1 among them.

    A joiner without assignors of its own reads no metadata: only what assignments carry would be lost with it.
    """
    brought = request.client_assignors or ()
    have_notes = any(
        each.note.data or (brought and any(row["metadata"] for row in each.client_assignors))
        for each in classic
    )
    if have_notes and not any(offer.reads(FROM_CLASSIC) for offer in brought):
        raise refused(
            "its assignments have metadata, and no assignor supports version -1 of them"
            if not brought
            else f"its members have metadata, and {brought[0].name} does not support version -1 of them"
        )


def refused(why: str) -> RequestRefused:
    return RequestRefused(ErrorCode.INVALID_REQUEST, f"The group cannot be upgraded: {why}.")
