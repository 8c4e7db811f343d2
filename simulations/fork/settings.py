"""A fork's settings: assignor, timeouts, releases; each the reader's, else the log's or the scenario's, else assumed."""

from __future__ import annotations

from typing import Final

from simulations.fork.group_of_frame import classic_assignors
from simulations.fork.rows import NOT_IN_LOG, Rows
from simulations.fork.values import CLASSIC, CONSUMER, Document, Moment
from simulations.protocol.assignors import SERVER_ASSIGNORS
from simulations.protocol.assignors.classic.strategies import STRATEGIES
from simulations.protocol.client.classic.releases import CLIENTS
from simulations.protocol.coordinator.settings import Settings
from simulations.world.scenario.classic_members import Classic

USUAL_CLIENT: Final = "3.5"
"""Clients of a classic group where nobody gives a release: the table's row for 3.5 to 4.2, so also for the 3.8 of a rehearsal."""

USUAL_REBALANCE_MS: Final = 300_000
"""``max.poll.interval.ms``, which is each member's rebalance timeout."""

USUAL_CALLBACK_MS: Final = 20
"""Time in a rebalance callback, as the simulator's consumers usually take."""


def settings_of(moment: Moment) -> Settings:
    """The brokers' settings: the scenario's, else Kafka's defaults."""
    return moment.scenario.settings if moment.scenario else Settings()


def source_of(moment: Moment) -> str:
    return "the scenario" if moment.scenario else "records"


def apply_settings(rows: Rows, moment: Moment, protocol: str, document: Document) -> None:
    members: Document = document["members"]
    scenario, classic = moment.scenario, protocol == CLASSIC
    settings, source = settings_of(moment), source_of(moment)
    rows.choice("protocol", "Group protocol", protocol, "", (CONSUMER, CLASSIC), "")
    _assignor(rows, moment, protocol, document)
    config = dict(document.get("config") or {})
    known = Classic() if classic else None
    session = [member.get("session_timeout_ms") for member in members.values()] if classic else []
    if scenario and not classic:
        session = [settings.session_timeout_ms]
    session_ms = rows.number(
        "session_timeout_ms",
        "Session timeout, ms",
        session,
        45_000,
        f"{NOT_IN_LOG}: Kafka's default",
        source,
    )
    beats: list[int | None] = []
    if scenario:
        beats = (
            [settings.heartbeat_interval_ms]
            if not classic
            else [
                member.get("heartbeat_interval_ms", Classic().heartbeat_interval_ms)
                for member in members.values()
            ]
        )
    usual_beat = known.heartbeat_interval_ms if known else settings.heartbeat_interval_ms
    shortest = min([each for each in session if each] + ([session_ms] if session_ms else []), default=45_000)
    usual_beat = min(usual_beat, max(1, shortest // 3))
    beat_ms = rows.number(
        "heartbeat_interval_ms", "Heartbeat interval, ms", beats if session_ms is None else [], usual_beat,
        f"{NOT_IN_LOG}: Kafka's default, or a third of the session", source,
    )  # fmt: skip
    rebalance_ms = rows.number(
        "rebalance_timeout_ms",
        "Rebalance timeout, ms",
        [member.get("rebalance_timeout_ms") for member in members.values()],
        USUAL_REBALANCE_MS,
        "max.poll.interval.ms at its default",
    )
    callbacks = (
        [member.get("callback_ms", USUAL_CALLBACK_MS) for member in members.values()] if scenario else []
    )
    callback_ms = rows.number(
        "callback_ms",
        "Time in each rebalance callback, ms",
        callbacks,
        USUAL_CALLBACK_MS,
        NOT_IN_LOG,
        source,
    )
    for key, value, of_member in (
        ("session_timeout_ms", session_ms, classic),
        ("heartbeat_interval_ms", beat_ms, classic),
        ("rebalance_timeout_ms", rebalance_ms, True),
        ("callback_ms", callback_ms, True),
    ):
        if value is None:
            continue
        if not of_member:
            config[key] = value
        for member in members.values() if of_member else ():
            member[key] = value
    if config:
        document["config"] = config
    release, is_new = rows.choice(
        "brokers", "Release of the brokers", str(settings.release) if scenario else None,
        str(settings.release), [], f"{NOT_IN_LOG}: the simulator's usual one", source,
    )  # fmt: skip
    if is_new:
        document["brokers"] = release


def _assignor(rows: Rows, moment: Moment, protocol: str, document: Document) -> None:
    members: Document = document["members"]
    settings, source = settings_of(moment), source_of(moment)
    if protocol == CLASSIC:
        assumed: list[str] = []
        listed = classic_assignors(moment.frame, assumed)
        recorded = (
            moment.frame.get("protocol_name") if moment.frame.get("protocol_name") in STRATEGIES else None
        )
        name, is_new = rows.choice(
            "assignor", "Assignor", recorded, listed[0], tuple(STRATEGIES),
            assumed[0] if assumed else "", source,
        )  # fmt: skip
        document.pop("assignor", None)
        client, _ = (
            rows.choice("client", "Clients", None, USUAL_CLIENT, tuple(CLIENTS), NOT_IN_LOG)
            if not moment.scenario
            else (None, False)
        )
        for member in members.values():
            if is_new or not moment.scenario:
                member["assignors"] = [str(name)] if is_new else listed
            if client is not None:
                member["client"] = client
        return
    asked = {member["assignor"] for member in members.values() if member.get("assignor")}
    recorded = next(iter(asked)) if len(asked) == 1 else None
    usual = (
        document.get("assignor") if document.get("assignor") in SERVER_ASSIGNORS else settings.assignors[0]
    )
    if moment.scenario and recorded is None:
        recorded = str(usual)
    name, is_new = rows.choice(
        "assignor", "Assignor", recorded, str(usual), tuple(SERVER_ASSIGNORS),
        "no member asks for one: the broker's default", source,
    )  # fmt: skip
    if is_new:
        document["assignor"] = name
        for member in members.values():
            member.pop("assignor", None)
            member.pop("assignors", None)
