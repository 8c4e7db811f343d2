"""What is known of an upgrade before it is played: what stops it, what it costs, and what to know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final, TypedDict

from groups.history.words import listed
from groups.releases import EARLIER, TABLE
from groups.wire.embedded.user_data import COOPERATIVE_STICKY
from simulations.protocol.assignors.classic.custom import CUSTOM_COOPERATIVE, CUSTOM_USER_DATA, STREAM
from simulations.protocol.client.classic.releases import CLIENTS
from simulations.protocol.coordinator.settings import MigrationPolicy, Settings
from simulations.rehearsal.values import CONSUMER, NEW_BROKERS, Question
from simulations.rehearsal.versions import CONSUMER_PROTOCOL_SINCE, version_of

NAMED_MOST: Final = 4
"""Members that a warning names; of the others it has the number."""


class Level(StrEnum):
    """``stops``: the planned way is refused. ``warning``: it costs, or ends otherwise than one may think. ``note``: to know."""

    STOPS = "stops"
    WARNING = "warning"
    NOTE = "note"


class Warned(TypedDict):
    """``code`` is for programs; ``do`` is what helps, or empty."""

    code: str
    level: str
    says: str
    do: str
    source: str


def warned(code: str, level: Level, text: str, do: str = "", source: str = "") -> Warned:
    return {"code": code, "level": str(level), "says": text, "do": do, "source": source}


def names_of(names: Iterable[str]) -> str:
    every = list(names)
    words = ", ".join(every[:NAMED_MOST])
    return f"{words} and {len(every) - NAMED_MOST} more" if len(every) > NAMED_MOST else words


TIE: Final = "assignor_change_bumps"


def _is_modern(question: Question) -> bool:
    return any(not member.is_classic for member in question.members)


def _has_modern_instances(question: Question) -> bool:
    return any(not member.is_classic and member.instance_id is not None for member in question.members)


CONCERNS: Final[Mapping[str, Callable[[Question], bool]]] = {
    "consumer_protocol": lambda _: True,
    "disabled_policy_refuses_joins": lambda question: question.migration_policy is MigrationPolicy.DISABLED,
    TIE: _is_modern,
    "emptied_writes_target_epoch": _is_modern,
    "full_group_admits_instances": _has_modern_instances,
    "instance_follows_member": _has_modern_instances,
    "replacement_target_only_if_changed": _has_modern_instances,
    "replaced_member_never_in_table": _has_modern_instances,
    "transactions_have_topic_ids": lambda _: True,
    "setting_out_of_range_names_it": lambda _: False,
    "malformed_join_is_inconsistent": lambda question: _is_modern(question) and bool(question.classic),
}
"""Rules of the table, and whether they concern a group; one that is not here does."""


def broker_warnings(question: Question) -> Iterator[Warned]:
    """Each rule that the new release has and the old one has not, where it concerns the group."""
    old, new = question.broker_release.rules, question.new_release.rules
    for rule in TABLE:
        concerns = CONCERNS.get(rule.name)
        differs = getattr(old, rule.name) != getattr(new, rule.name)
        if differs and (concerns is None or concerns(question)):
            yield warned(
                rule.name.replace("_", "-"),
                Level.NOTE,
                f"Before {rule.since}: {rule.before} From {rule.since} on: {rule.now}",
                "",
                rule.source,
            )


def tie_warnings(question: Question) -> Iterator[Warned]:
    """Whether the members' server-side assignors tie, or can while they are changed, where that raises epochs."""
    if not getattr(question.new_release.rules, TIE) or question.to not in (CONSUMER, NEW_BROKERS):
        return
    rule = next(rule for rule in TABLE if rule.name == TIE)
    after = f"on brokers of {rule.since} or newer each heartbeat of one of them raises the group epoch, without end"
    help_ = "Have all members ask for one assignor, or for none; a third member that asks for one of the two ends it, too."
    if question.tied and all(len(who) == 1 for who in question.tied.values()):
        asks = [f"{who[0]} asks for {assignor}" for assignor, who in question.tied.items()]
        yield warned("assignor-tie", Level.WARNING, f"{listed(asks)}: {after}.", help_, rule.source)
    elif question.to == CONSUMER or _is_modern(question):
        yield warned(
            "assignor-roll",
            Level.WARNING if len(question.members) == 2 else Level.NOTE,
            "While you roll group.remote.assignor: as long as one member asks for one assignor, one for another, and nobody else "
            f"for either, {after}.",
            "Change it in all members at once, or in a group of more than two; "
            + help_[0].lower()
            + help_[1:],
            rule.source,
        )


def warnings_of(question: Question) -> list[Warned]:
    """The worst first."""
    if question.to == NEW_BROKERS:
        found = list(broker_warnings(question))
    else:
        found = list(_to_consumer(question) if question.to == CONSUMER else _to_cooperative(question))
        found += _of_any(question)
    found += tie_warnings(question)
    order = [str(each) for each in Level]
    return sorted(found, key=lambda each: order.index(each["level"]))


def _to_consumer(question: Question) -> Iterator[Warned]:
    if question.rolls_brokers:
        yield from _brokers(question)
    if version_of(question.new_client) < CONSUMER_PROTOCOL_SINCE:
        yield warned(
            "client",
            Level.WARNING,
            f"Client {question.new_client} has the consumer protocol as a preview at best; the simulator plays it as 4.3.",
            "Take client 4.0 or newer.",
            "KIP-848",
        )
    yield from _policy(question)
    yield from _custom(question)
    yield from _librdkafka(question)
    strategies = {name for member in question.classic for name in member.assignors}
    if STREAM in strategies:
        yield warned(
            "streams",
            Level.STOPS,
            "Kafka Streams' assignments carry user data: the coordinator answers GROUP_ID_NOT_FOUND and the group stays classic.",
            "Streams has a protocol of its own, group.protocol=streams (KIP-1071), to which there is no online migration.",
            "GroupMetadataManager.validateOnlineUpgrade",
        )
    yield warned(
        "client-settings",
        Level.NOTE,
        "A client with group.protocol=consumer does not start where partition.assignment.strategy, session.timeout.ms or "
        "heartbeat.interval.ms is set.",
        "Take them out in the same bounce. The timeouts become the group's: consumer.session.timeout.ms, "
        "consumer.heartbeat.interval.ms (kafka-configs.sh --entity-type groups).",
        "ConsumerConfig",
    )
    usual = Settings()
    others = [
        member.name for member in question.classic if member.session_timeout_ms != usual.session_timeout_ms
    ]
    if others:
        yield warned(
            "session-timeout",
            Level.WARNING,
            f"{names_of(others)} set a session timeout of their own; a member of the consumer protocol has the group's, "
            f"{usual.session_timeout_ms // 1000} s unless set otherwise.",
            f"Set consumer.session.timeout.ms of the group; the broker takes {usual.min_session_timeout_ms // 1000} s to "
            f"{usual.max_session_timeout_ms // 1000} s by default (group.consumer.min.session.timeout.ms).",
            "KIP-848; GroupConfig",
        )
    yield warned(
        "forming",
        Level.NOTE,
        "A new client that joins while the classic group is still in its first join phase is answered UNKNOWN_SERVER_ERROR, and "
        "does not try again.",
        "Begin when the group is Stable.",
        f"measured on a {EARLIER} broker",
    )


def _brokers(question: Question) -> Iterator[Warned]:
    """The brokers come first, and last on the way back."""
    yield warned(
        "brokers",
        Level.WARNING,
        f"Brokers {question.brokers} do not serve the consumer protocol (group.version is not 1): a new client's heartbeat is "
        "answered UNSUPPORTED_VERSION, and the client stops.",
        "Roll every broker to 4.0 or newer first, then raise the feature: kafka-features.sh upgrade --feature group.version=1.",
        f"KIP-848; feature group.version; measured on brokers of 3.9.1 and {EARLIER}",
    )
    yield warned(
        "brokers-back",
        Level.WARNING,
        "As soon as group.version is 0 again every heartbeat of the consumer protocol is refused, and its clients stop; a broker older than "
        "4.0 does not know a consumer group at all, only its offsets.",
        "Take all clients back first, lower the feature when the group is classic, and roll the brokers last. Take a snapshot of the "
        "metadata log in between: a controller of 3.9.1 does not start as long as it has to read the record that raised the feature.",
        f"measured on brokers of 3.9.1 and {EARLIER}",
    )


def _policy(question: Question) -> Iterator[Warned]:
    policy = question.migration_policy
    key = "group.consumer.migration.policy"
    if not policy.upgrades:
        yield warned(
            "policy",
            Level.STOPS,
            f"{key} is {policy}: a group with members is not converted, and the first new client is answered "
            "GROUP_ID_NOT_FOUND.",
            "Set it to bidirectional (the default), or stop all members first: an empty group is converted whatever the policy.",
            "GroupMetadataManager.validateOnlineUpgrade",
        )
    elif policy is MigrationPolicy.UPGRADE:
        yield warned(
            "one-way",
            Level.WARNING,
            f"{key} is upgrade: when the last new client leaves, the group stays one of the consumer protocol, of classic members.",
            "They go on, served by the coordinator; only an empty group becomes classic again.",
            "GroupMetadataManager.validateOnlineDowngrade",
        )


def _custom(question: Question) -> Iterator[Warned]:
    writing = [member.name for member in question.classic if CUSTOM_USER_DATA in member.assignors]
    if writing:
        yield warned(
            "user-data",
            Level.STOPS,
            f"{names_of(writing)} list a class of your own whose assignments carry user data: the coordinator would lose them, and "
            "answers GROUP_ID_NOT_FOUND (“an unsupported custom assignor is in use”).",
            "Go to one of Kafka's assignors first, by two rolling bounces as from range to cooperative-sticky; or stop all members.",
            "GroupMetadataManager.validateOnlineUpgrade",
        )
    own = [member.name for member in question.classic if CUSTOM_COOPERATIVE in member.assignors]
    if own:
        yield warned(
            "own-assignor",
            Level.WARNING,
            f"{names_of(own)} list a class of your own; the broker has uniform and range, and a class of its own only if it is "
            "deployed there (group.consumer.assignors).",
            "Compare what uniform makes of the group in the laboratory.",
            "KIP-848",
        )
    without = sorted(
        {name for member in question.classic for name in member.assignors} & {"roundrobin", "sticky"}
    )
    if without:
        yield warned(
            "no-equivalent",
            Level.NOTE,
            f"{' and '.join(without)} has no namesake on the broker: uniform takes over.",
            "",
            "KIP-848",
        )


def _librdkafka(question: Question) -> Iterator[Warned]:
    clients = [member for member in question.classic if member.is_librdkafka]
    if clients:
        yield warned(
            "librdkafka",
            Level.WARNING,
            f"{names_of(member.name for member in clients)} are clients of librdkafka, which have the consumer protocol for production "
            "from 2.12 on. With group.protocol=consumer they do not start where group.protocol.type is set, either; on the way back not "
            "where eager and cooperative assignors are listed together.",
            "Take group.protocol.type out in the same bounce, and go back to the list of before.",
            "measured on 2.16; confluentinc/librdkafka#4368",
        )
    sticky = [member.name for member in clients if COOPERATIVE_STICKY in member.assignors]
    if sticky:
        yield warned(
            "librdkafka-user-data",
            Level.STOPS,
            f"{names_of(sticky)}: librdkafka's {COOPERATIVE_STICKY} puts user data into the assignments that it makes as a leader, from the "
            "group's second generation on (of static members that form anew here there is only the first). The coordinator would lose "
            "them, and answers GROUP_ID_NOT_FOUND.",
            "Stop all members, start them with group.protocol=consumer: an empty group is converted whatever its assignments were.",
            f"measured on 2.16 and a {EARLIER} broker; GroupMetadataManager.validateOnlineUpgrade",
        )


def _to_cooperative(question: Question) -> Iterator[Warned]:
    old = [member.name for member in question.classic if not CLIENTS[member.release].cooperative]
    if old:
        yield warned(
            "old-clients",
            Level.WARNING,
            f"{names_of(old)} run a client older than 2.4, which does not read what a cooperative member still owns: as a leader it "
            "gives that away.",
            "Every member takes the new release in the first bounce, and stays eager until all have it.",
            "KIP-429",
        )
    if any(STREAM in member.assignors for member in question.classic):
        yield warned(
            "upgrade-from",
            Level.NOTE,
            "Kafka Streams: the first bounce sets upgrade.from to the old release, which keeps the new code eager; the second takes "
            "it out.",
            "",
            "KIP-429; StreamsConfig",
        )
    yield warned(
        "listener",
        Level.NOTE,
        "A ConsumerRebalanceListener is told of what moves alone from then on: onPartitionsAssigned of what is added, "
        "onPartitionsLost where the member was fenced.",
        "Look for code that takes each call as the whole assignment.",
        "KIP-429",
    )


def _of_any(question: Question) -> Iterator[Warned]:
    dynamic = [member.name for member in question.classic if member.instance_id is None]
    if dynamic:
        yield warned(
            "dynamic",
            Level.WARNING,
            f"{names_of(dynamic)} have no group.instance.id: closing leaves the group, so that every bounce moves partitions twice.",
            "With static ids, and back within the session timeout, the others keep what they have.",
            "KIP-345",
        )
    late = [
        member.name
        for member in question.classic
        if member.instance_id is not None and question.away_ms >= member.session_timeout_ms
    ]
    if late:
        yield warned(
            "away-too-long",
            Level.WARNING,
            f"{names_of(late)} are static, but away for {question.away_ms / 1000:g} s, and the session timeout is shorter: they are "
            "removed all the same.",
            "Raise the session timeout, or come back sooner.",
            "KIP-345",
        )
    strategies = {member.assignors for member in question.classic}
    if len(strategies) > 1:
        common = set.intersection(*(set(each) for each in strategies))
        yield warned(
            "mixed-assignors",
            Level.NOTE,
            f"The members list different assignors; the group goes by what all list: {', '.join(sorted(common))}.",
            "",
            "ClassicGroup.selectProtocol",
        )
    mixed = [member.name for member in question.members if not member.is_classic]
    if mixed:
        yield warned(
            "mixed-protocols",
            Level.NOTE,
            f"{names_of(mixed)} are of the consumer protocol already: the group is mixed before the first bounce.",
            "",
            "KIP-848",
        )
