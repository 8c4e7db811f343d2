"""The steps by which a connection is tested, each with what it found, and the rights that are missing.

A step that fails ends the test: what comes after it could only fail, too, and a password is not sent to a broker that
is not believed. Rights are asked one call at a time, since each has its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from groups.clusters.allowed import (
    ALLOWED,
    CONSUMER_GROUP_DESCRIBE,
    DESCRIBE_CLUSTER,
    OFFSETS_TOPIC,
)
from groups.clusters.brokers import Brokers, Listing, brokers_of
from groups.clusters.channel import resolve
from groups.clusters.connection import Connection, connect
from groups.clusters.faults import ClusterError, Fault
from groups.clusters.fetching import NotReadable, is_readable, replicas_of
from groups.clusters.offsets import committed_of, may_read_settings, topics
from groups.clusters.settings import Address, ClusterSettings, settings_of, unknown_names
from groups.clusters.tls import ends_soon
from groups.history.polls.description import GroupKind, Undescribed
from groups.history.state.declared import As, Named, document
from groups.releases import bounds_of_apis

DESCRIBE_OPERATION: Final = 8
"""``AclOperation.DESCRIBE``'s code: its bit in ``authorizedOperations``."""

OPERATIONS_UNKNOWN: Final = -(2**31)
"""``authorizedOperations`` of a cluster without an authorizer, or of one where no right is held."""

BROKERS_TRIED_MOST: Final = 20

PROBE: Final = "rebalance-explorer-probe"
"""A group that is asked about where there is none: nothing is made by asking."""

GROUPS_TRIED_MOST: Final = 50
"""Groups that are described to find one whose topics may not be seen."""


@document
@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one step found. ``state`` is ``ok``, ``warning`` (it works, and something cannot be seen) or ``failed``."""

    name: str
    state: str
    text: Annotated[str, Named("says")]
    seen: Annotated[str, As(object, lambda seen: seen or None, lambda plain: plain or "")] = ""
    sent: tuple[str, ...] = ()
    """Kafka's requests that were made for it."""

    commands: tuple[str, ...] = ()
    """Lines of ``kafka-acls`` that grant what is missing."""


@dataclass(slots=True)
class _Sent:
    names: list[str] = field(default_factory=list)

    def __call__(self, key: int, version: int) -> None:
        self.names.append(f"{ALLOWED[key].api.name} v{version}")

    def take(self) -> tuple[str, ...]:
        taken, self.names = tuple(dict.fromkeys(self.names)), []
        return taken


async def check(properties: Mapping[str, str], *, by_hand: bool = True) -> AsyncIterator[Step]:
    """Each step as it is done, to the first one that fails."""
    try:
        settings = settings_of(properties, by_hand=by_hand)
    except ClusterError as error:
        yield Step(name="settings", state="failed", text=str(error))
        return
    unknown = unknown_names(properties)
    passed = f" Passed over, since they are not known here: {', '.join(unknown)}." if unknown else ""
    yield Step(
        name="settings", state="warning" if unknown else "ok", text=f"The settings fit together.{passed}"
    )
    sent = _Sent()
    connection = None
    try:
        address = None
        problem = None
        for address in settings.servers:
            try:
                found = await resolve(address)
                break
            except ClusterError as error:
                problem = error
        else:
            assert problem is not None
            yield Step(name="resolve", state="failed", text=str(problem), seen=problem.seen)
            return
        places = ", ".join(sorted({str(one[0]) for one in found}))
        yield Step(name="resolve", state="ok", text=f"{address.host} is {places}.")
        done: list[str] = []
        try:
            connection = await connect(address, settings, sent=sent, step=done.append)
        except ClusterError as error:
            for step in _until(done, settings, address):
                yield step
            name = _failed_at(error, done)
            yield Step(name=name, state="failed", text=str(error), seen=error.seen, sent=sent.take())
            return
        for step in _until(done, settings, address, sent.take(), connection):
            yield step
        async for step in _cluster(connection, settings, sent):
            yield step
    finally:
        if connection is not None:
            await connection.close()


def _until(
    done: list[str],
    settings: ClusterSettings,
    address: Address,
    sent: tuple[str, ...] = (),
    connection: Connection | None = None,
) -> list[Step]:
    """The steps of a connection that went well."""
    steps = []
    if "connect" in done:
        how = (
            "TLS is spoken, and the certificate is believed"
            if settings.tls
            else "No TLS: whoever listens in reads all"
        )
        soon = ends_soon(settings.tls, connection.channel.certificate()) if connection is not None else ""
        text = f"{address} accepts connections. {how}. {soon}".rstrip()
        steps.append(Step(name="connect", state="warning" if soon else "ok", text=text))
    if "versions" in done:
        newest = connection.version(CONSUMER_GROUP_DESCRIBE) if connection is not None else None
        if connection is None:
            text = "A broker answered."
        elif newest is None:
            text = (
                "A broker answered. It has no consumer groups of the new protocol; classic groups are seen."
            )
        else:
            text = "A broker answered; consumer groups are described with their epochs."
        if connection is not None:
            text += f" It runs Kafka {bounds_of_apis(connection.versions).named}."
        steps.append(Step(name="versions", state="ok", text=text, sent=sent))
    if "login" in done:
        login = settings.sasl
        who = f"Logged in{f' as {login.user}' if login.user else ''} with {login.mechanism}." if login else ""
        steps.append(Step(name="login", state="ok", text=who or "No login is wanted."))
    return steps


_AT_CONNECT: Final = frozenset({Fault.CLIENT_CERTIFICATE_WANTED, Fault.CLIENT_CERTIFICATE_REFUSED})
"""Faults that TLS 1.3 reports only at the first read, though they belong to the handshake."""


def _failed_at(error: ClusterError, done: list[str]) -> str:
    if "connect" not in done or error.fault in _AT_CONNECT:
        return "connect"
    return "login" if "versions" in done else "versions"


async def _cluster(connection: Connection, settings: ClusterSettings, sent: _Sent) -> AsyncIterator[Step]:
    """The brokers that the cluster advertises, and what may be asked of them."""
    try:
        found = await brokers_of(connection)
    except ClusterError as error:
        yield Step(name="brokers", state="failed", text=str(error), seen=error.seen, sent=sent.take())
        return
    cluster = Brokers(settings, sent=sent)
    try:
        cluster.learn(found)
        unreachable: dict[Address, ClusterError] = {}
        for node, address in list(cluster.brokers.items())[:BROKERS_TRIED_MOST]:
            try:
                await cluster.connection(node)
            except ClusterError as error:
                unreachable[address] = error
        yield _brokers(cluster, unreachable, sent.take())
        if len(unreachable) < len(cluster.brokers):
            yield await _rights(cluster, settings, sent)
    finally:
        await cluster.close()


def _brokers(cluster: Brokers, unreachable: Mapping[Address, ClusterError], sent: tuple[str, ...]) -> Step:
    count = len(cluster.brokers)
    if not unreachable:
        plural = "s are" if count != 1 else " is"
        return Step(name="brokers", state="ok", text=f"{count} broker{plural} reached.", sent=sent)
    address, error = next(iter(unreachable.items()))
    text = (
        f"The cluster says that its broker is at {address}, which cannot be reached from here: {error} "
        "Its advertised.listeners must name an address that this machine reaches; or use the listener that is meant for "
        "clients outside."
    )
    state = "failed" if len(unreachable) == count else "warning"
    return Step(name="brokers", state=state, text=text, seen=error.seen, sent=sent)


async def _rights(cluster: Brokers, settings: ClusterSettings, sent: _Sent) -> Step:
    """What may be read, asked call by call."""
    user = _principal(settings)
    missing: list[str] = []
    commands: list[str] = []

    def lacks(what: str, *resource: str, operation: str = "Describe") -> None:
        missing.append(what)
        commands.append(_acl(settings, user, operation, *resource))

    try:
        if not (sees_all := await _may_describe_cluster(cluster)):
            lacks("groups without a right of their own are not listed (DESCRIBE on the cluster)", "--cluster")
        listing = await cluster.list_groups()
        seen = await topics(cluster)
        unreadable = await _unreadable(cluster, listing)
        configs = await may_read_settings(cluster, next(iter(listing.groups), PROBE))
        may_follow = await _may_follow(cluster)
    except ClusterError as error:
        return Step(name="rights", state="failed", text=str(error), seen=error.seen, sent=sent.take())
    if 30 in unreadable:
        lacks("groups are not described (DESCRIBE on groups)", "--group", "'*'")
    if 29 in unreadable or (not seen and (listing.groups or not sees_all)):
        lacks(
            "topics, and groups that are assigned one of them, are not seen (DESCRIBE on topics)",
            "--topic",
            "'*'",
        )
    if not configs:
        lacks(
            "groups' own settings are not seen (DESCRIBE_CONFIGS on groups)",
            "--group",
            "'*'",
            operation="DescribeConfigs",
        )
    if not may_follow:
        lacks(
            f"the log is not followed, and groups are polled (READ on {OFFSETS_TOPIC})",
            "--topic",
            OFFSETS_TOPIC,
            operation="Read",
        )
    count = len(listing.groups)
    found = f"{count} group{'s' if count != 1 else ''} and {len(seen)} topics may be seen."
    if not missing:
        return Step(name="rights", state="ok", text=found, sent=sent.take())
    return Step(
        name="rights",
        state="warning",
        text=f"{found} Missing: {'; '.join(missing)}. Grant no READ on groups: with it, a client may commit offsets.",
        sent=sent.take(),
        commands=tuple(dict.fromkeys(commands)),
    )


async def _may_describe_cluster(cluster: Brokers) -> bool:
    """A cluster without an authorizer reports no operations at all, and all may be done; so it is taken of a release before 2.8."""
    try:
        response = await cluster.ask_any(DESCRIBE_CLUSTER, {"includeClusterAuthorizedOperations": True})
    except ClusterError as error:
        if error.fault is Fault.VERSION:
            return True
        raise
    operations = int(response["clusterAuthorizedOperations"])
    return operations == OPERATIONS_UNKNOWN or bool(operations >> DESCRIBE_OPERATION & 1)


async def _may_follow(cluster: Brokers) -> bool:
    """Whether the log of groups may be read; true of a cluster that has none yet, since nothing is missing."""
    try:
        replicas = await replicas_of(cluster)
        return not replicas or await is_readable(cluster, replicas)
    except NotReadable:
        return False


async def _unreadable(cluster: Brokers, listing: Listing) -> set[int]:
    """The codes with which groups, or their offsets, were refused."""
    rows = list(listing.groups.values())[:GROUPS_TRIED_MOST]
    codes = {each.code for each in (await cluster.describe(rows)).values() if isinstance(each, Undescribed)}
    for row in rows[:1]:
        if row.kind is not GroupKind.SHARE:
            committed = (await committed_of(cluster, row.broker, [row.group]))[row.group]
            if isinstance(committed, Undescribed):
                codes.add(committed.code)
    return codes


def read_command(settings: ClusterSettings) -> str:
    """The line of ``kafka-acls`` that lets the log of groups be followed."""
    return _acl(settings, _principal(settings), "Read", "--topic", OFFSETS_TOPIC)


def _principal(settings: ClusterSettings) -> str:
    """The name that rights are given to, as far as it is known here."""
    if settings.sasl is not None and settings.sasl.user:
        return settings.sasl.user
    return "THE-USER" if settings.tls is not None or settings.sasl is not None else "ANONYMOUS"


def _acl(settings: ClusterSettings, user: str, operation: str, *resource: str) -> str:
    server = settings.servers[0]
    return (
        f"kafka-acls --bootstrap-server {server} --add --allow-principal User:{user} "
        f"--operation {operation} {' '.join(resource)}"
    )
