"""Which heartbeats are sent when, what they report, and what their answers do (``ConsumerHeartbeatRequestManager``)."""

from __future__ import annotations

from typing import Final

from simulations.protocol.client.consumer import leaving, lookup, membership
from simulations.protocol.client.consumer.effects import Effect, Send, thrown, tidy
from simulations.protocol.client.consumer.errors import HEARTBEAT_REACTIONS, Reaction
from simulations.protocol.client.consumer.state import FOREVER, NOTHING_SENT, ClientState, Sent
from simulations.protocol.client.consumer.states import BEATING, RECEIVING, MemberState
from simulations.protocol.messages.groups import JOIN_EPOCH, UNCHANGED_TIMEOUT, Heartbeat, HeartbeatAnswer

RELEASED_VERSION: Final = 1
PROPOSED_VERSION: Final = 0
"""KIP-848 has this one alone, in which the coordinator makes the member's id."""

# Sending.


def step(m: ClientState, now_ms: int, effects: list[Effect]) -> bool:
    """Sends a heartbeat, if the state asks for one or the interval is over."""
    state = m.state
    if state is MemberState.LEAVING:
        _say_leave(m, now_ms, effects)
        return True
    if m.in_flight is not None or now_ms < due_ms(m):
        return False
    send(m, now_ms, effects)
    return True


def due_ms(m: ClientState) -> int:
    """When the next one is due, or the wait for the answer to the last one is over."""
    if m.in_flight is not None:
        return m.expires_ms
    state = m.state
    if state not in BEATING or not m.lookup.known:
        return FOREVER
    if state is MemberState.ACKNOWLEDGING or (state is MemberState.JOINING and not m.joined_empty):
        return m.not_before_ms
    return max(m.next_beat_ms, m.back_off_until_ms)


def send(m: ClientState, now_ms: int, effects: list[Effect]) -> None:
    """Sends one now. Its contents count as acknowledged, and the state changes, before the response arrives."""
    effects.append(Send(request=_made(m, now_ms)))


def _made(m: ClientState, now_ms: int) -> Heartbeat:
    request = _build(m)
    m.in_flight = request
    m.expires_ms = now_ms + m.config.request_timeout_ms
    m.built_ms = now_ms
    m.next_beat_ms = now_ms + m.interval_ms
    if m.state is MemberState.ACKNOWLEDGING:
        m.enter(MemberState.STABLE if m.current == m.target else MemberState.RECONCILING)
    return request


# What nearly all heartbeats are: no changes, and an empty answer.


def fast_path_send(m: ClientState, now_ms: int) -> Heartbeat | None:
    """A heartbeat, where the alarm rings for an empty one, and nothing else is due; the next alarm is set.

    ``None``, and nothing was done, where anything else may be the case.
    """
    sent = m.sent
    if (
        m.in_flight is not None
        or now_ms < m.next_beat_ms
        or now_ms < m.back_off_until_ms
        or sent.current is not m.current
        or sent.subscription is not m.subscription
        or not 0 < m.interval_ms <= m.config.request_timeout_ms
        or m.lookup.request is not None
        or not m.quiet
    ):
        return None
    request = _made(m, now_ms)
    m.alarm_ms = m.next_beat_ms
    return request


def fast_path_answered(m: ClientState, request: object, answer: HeartbeatAnswer, now_ms: int) -> bool:
    """Takes the answer to the heartbeat in flight if it is empty and nothing else goes on; whether it did."""
    if (
        request is not m.in_flight
        or answer.error_code
        or answer.member_epoch != m.epoch
        or answer.assigned is not None
        or answer.compute
        or answer.heartbeat_interval_ms != m.interval_ms
        or now_ms >= m.next_beat_ms
        or m.alarm_ms != m.next_beat_ms
        or not m.quiet
    ):
        return False
    m.in_flight = None
    m.failures = m.back_off_until_ms = 0
    return True


def _say_leave(m: ClientState, now_ms: int, effects: list[Effect]) -> None:
    """The last one is sent even while another is under way; without a coordinator or an id it is not sent at all."""
    if m.lookup.known and m.member_id:
        send(m, now_ms, effects)
        m.enter(MemberState.UNSUBSCRIBED)
        return
    m.enter(MemberState.UNSUBSCRIBED)
    m.in_flight = None
    leaving.over(m)


def poll_expired(m: ClientState, now_ms: int, effects: list[Effect]) -> None:
    """The application has not polled for too long: the member leaves, and joins again when it is back.

    Nobody waits for the answer, so that it may join before that has come.
    """
    m.enter(MemberState.PREPARE_LEAVING)
    m.enter(MemberState.LEAVING)
    membership.forget_assignment(m, leaving.leave_epoch(m))
    if m.member_id:
        send(m, now_ms, effects)
    m.sent, m.in_flight, m.back_off_until_ms, m.failures = NOTHING_SENT, None, 0, 0
    m.enter(MemberState.STALE)
    m.released = not membership.lose_all(m)


def _build(m: ClientState) -> Heartbeat:
    """The fields that changed since they were reported last; all of them when joining."""
    config, sent, subscription, current = m.config, m.sent, m.subscription, m.current
    version = PROPOSED_VERSION if config.is_proposed else RELEASED_VERSION
    joins = m.state is MemberState.JOINING
    is_silent = config.is_librdkafka and m.state is MemberState.LEAVING
    if is_silent or (not joins and sent.current is current and sent.subscription is subscription):
        # Nothing has changed, which is what most of them say.
        return Heartbeat(
            group_id=config.group_id,
            member_id=m.member_id,
            member_epoch=m.epoch,
            instance_id=config.instance_id,
            client_id=config.client_id,
            client_host=config.client_host,
            version=version,
        )
    names_before = regex_before = None
    if sent.subscription is not None:
        names_before, regex_before = sent.subscription.names, sent.subscription.regex
    regex = subscription.regex if joins or subscription.regex != regex_before else None
    if subscription.regex is None and (regex_before is not None or (joins and config.is_librdkafka)):
        regex = ""
    other_names = names_before is None or set(names_before) != set(subscription.names)
    all_again = joins or sent.current is None
    m.sent = Sent(subscription, current)
    return Heartbeat(
        group_id=config.group_id,
        member_id=m.member_id,
        member_epoch=m.epoch,
        instance_id=config.instance_id,
        rack_id=config.rack_id if joins else None,
        rebalance_timeout_ms=config.rebalance_timeout_ms if all_again else UNCHANGED_TIMEOUT,
        subscribed_topic_names=subscription.names if joins or other_names else None,
        subscribed_topic_regex=regex,
        server_assignor=config.server_assignor if all_again else None,
        owned=tidy(current.partitions) if joins or current != sent.current else None,
        client_id=config.client_id,
        client_host=config.client_host,
        version=version,
    )


# Answers.


def answered(m: ClientState, answer: HeartbeatAnswer, now_ms: int, effects: list[Effect]) -> None:
    """The answer to the one in flight; any answer to a leave is as good as another."""
    m.in_flight = None
    if m.state is MemberState.UNSUBSCRIBED:
        leaving.over(m)
        return
    if m.state not in BEATING:
        return
    if answer.error_code:
        _refused(m, answer.error_code, now_ms, effects)
        return
    m.failures = m.back_off_until_ms = 0
    m.member_id = m.member_id or answer.member_id or ""
    m.epoch = answer.member_epoch
    if answer.heartbeat_interval_ms != m.interval_ms:
        m.interval_ms = answer.heartbeat_interval_ms
        m.next_beat_ms = now_ms + m.interval_ms
    if m.state not in RECEIVING:
        return
    if m.state is MemberState.JOINING and _waits_for_more(m, answer):
        m.joined_empty = True
    elif answer.assigned is not None:
        membership.take_target(m, tidy(answer.assigned))
    elif m.state is MemberState.JOINING:
        m.joined_empty = True


def _waits_for_more(m: ClientState, answer: HeartbeatAnswer) -> bool:
    """librdkafka does not acknowledge an empty assignment: it sends all its fields with each heartbeat until it is given something."""
    return m.config.is_librdkafka and answer.assigned is not None and not tidy(answer.assigned)


def failed(m: ClientState, now_ms: int) -> None:
    """There will be no answer to the one in flight; a leave is over all the same."""
    m.in_flight = None
    lookup.lose(m, now_ms)
    if m.state is MemberState.UNSUBSCRIBED:
        leaving.over(m)
    elif m.state in BEATING:
        _note_failure(m, now_ms)


def _note_failure(m: ClientState, now_ms: int) -> None:
    m.sent = NOTHING_SENT
    m.next_beat_ms = now_ms
    m.back_off_until_ms = now_ms + m.back_off_ms(m.failures)
    m.failures += 1
    # A client takes its time to notice: what it sends again at once does not leave in the same millisecond.
    m.not_before_ms = m.built_ms + 1


def _refused(m: ClientState, code: int, now_ms: int, effects: list[Effect]) -> None:
    reaction = HEARTBEAT_REACTIONS.get(code, Reaction.FATAL)
    if reaction in (Reaction.LOOK_UP, Reaction.FENCE):
        m.failures = m.back_off_until_ms = 0
    if reaction is Reaction.FENCE:
        m.sent = NOTHING_SENT
        _fenced(m)
    elif reaction is Reaction.FATAL:
        m.sent = NOTHING_SENT
        _ends(m, code, effects)
    else:
        _note_failure(m, now_ms)
        if reaction is Reaction.LOOK_UP:
            m.failures = m.back_off_until_ms = 0
            lookup.lose(m, now_ms)
        elif reaction is Reaction.RAISE:
            effects.append(thrown(code))


def _fenced(m: ClientState) -> None:
    if m.state is MemberState.PREPARE_LEAVING:
        m.enter(MemberState.UNSUBSCRIBED)
        leaving.over(m)
        return
    m.enter(MemberState.FENCED)
    m.epoch = JOIN_EPOCH
    m.reconciliation = None
    if not membership.lose_all(m):
        membership.rejoin(m)


def _ends(m: ClientState, code: int, effects: list[Effect]) -> None:
    """The poll that calls ``on_partitions_lost`` throws behind it; where there is nothing to lose it throws at once."""
    left = m.state is MemberState.PREPARE_LEAVING
    m.enter(MemberState.FATAL)
    m.reconciliation = None
    if left or not membership.lose_all(m, code):
        effects.append(thrown(code))
    if left:
        leaving.over(m)
