"""A cluster of Kafka Connect: its workers are members, and run connectors and tasks."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from groups.history.entries import Entry
from groups.history.passes.recorder import Recorder
from groups.incidents.redaction import KEY_BYTES, Redactor
from tests.history.logs import Log, record
from tests.wire.test_connect import given, state

Tasks = Mapping[str, list[int]]


def worker(
    name: str, new: Tasks, *, ran: Tasks | None = None, version: int = 2, **more: Any
) -> dict[str, Any]:
    """A worker that ran ``ran`` as it joined and is given ``new``; -1 is the connector itself."""
    more = more if version == 0 else {"revoked": None, "delay": 0} | more
    allocation = None if ran is None or version == 0 else given(version, dict(ran), revoked=None, delay=0)
    return {
        "memberId": name,
        "groupInstanceId": None,
        "clientId": name,
        "clientHost": "/127.0.0.1",
        "rebalanceTimeout": 60_000,
        "sessionTimeout": 10_000,
        "subscription": base64.b64encode(state(version, allocation)).decode(),
        "assignment": base64.b64encode(given(version, dict(new), **more)).decode(),
    }


def generation(number: int, *workers: dict[str, Any], protocol: str = "sessioned") -> dict[str, Any]:
    value = {
        "protocolType": "connect",
        "generation": number,
        "protocol": protocol,
        "leader": workers[0]["memberId"],
        "currentStateTimestamp": 5,
        "members": list(workers),
    }
    return record(2, {"group": "connect-cluster"}, value)


def revoked(**tasks: list[int]) -> list[dict[str, Any]]:
    return [{"connector": name, "tasks": numbers} for name, numbers in tasks.items()]


def scaled_up() -> Log:
    """W runs a connector with three tasks; V joins, a task is revoked in one generation and given to V in the next."""
    log = Log("connect-cluster")
    log.at(1_000).write(generation(1, worker("w", {"sink": [-1, 0, 1, 2]})))
    before = {"sink": [-1, 0, 1, 2]}
    first = worker("w", {}, ran=before, revoked=revoked(sink=[2]))
    log.at(30_000).write(generation(2, first, worker("v", {})))
    rest = worker("w", {}, ran={"sink": [-1, 0, 1]})
    log.at(31_000).write(generation(3, rest, worker("v", {"sink": [2]})))
    return log


def test_the_frame_shows_what_each_worker_runs() -> None:
    frame = scaled_up().frame()
    assert (frame["protocol_type"], frame["leader"], frame["protocol_name"]) == ("connect", "w", "sessioned")
    assert frame["members"]["w"]["assigned"] == {"sink": [0, 1]}
    assert frame["members"]["w"]["worker"] == {
        "url": "http://w-1:8083/",
        "config_offset": 9,
        "connectors": ["sink"],
        "delay_ms": 0,
        "failed": False,
    }
    assert frame["members"]["v"]["assigned"] == {"sink": [2]}
    assert frame["members"]["v"]["worker"]["connectors"] == []
    assert frame["topics"] == {}


def test_a_revoked_task_is_nobodys_until_the_next_generation() -> None:
    log = scaled_up()
    assert log.frame(at=2)["members"]["w"]["assigned"] == {"sink": [0, 1]}
    batch = log.recorded()
    [free] = [one for one in batch.summary["findings"] if one["kind"] == "no_owner" and not one["first"]]
    assert (free["partition"], free["noun"], free["length_ms"]) == ("sink-2", "task", 1_000)
    assert "task" in batch.summary["verdict"]["text"]
    assert "partition" not in batch.summary["verdict"]["text"]


def test_an_eager_worker_stops_everything_and_runs_what_it_is_given() -> None:
    log = Log("connect-cluster")
    log.write(generation(1, worker("w", {"sink": [-1, 0, 1]}, version=0), protocol="default"))
    log.at(60_000).write(
        generation(
            2,
            worker("w", {"sink": [-1, 0]}, version=0),
            worker("v", {"sink": [1]}, version=0),
            protocol="default",
        )
    )
    assert log.frame()["members"]["w"]["assigned"] == {"sink": [0]}
    assert [
        one["assignors"] for one in log.recorded().summary["findings"] if one["kind"] == "eager_rebalance"
    ] == [["default"]]


def test_a_worker_that_runs_a_connector_alone_is_not_idle_and_one_that_runs_nothing_is() -> None:
    log = Log("connect-cluster")
    log.write(generation(1, worker("w", {"sink": [0]}), worker("v", {"sink": [-1]}), worker("u", {})))
    log.at(60_000).note(note="seen")
    [idle] = [one for one in log.recorded().summary["findings"] if one["kind"] == "idle_members"]
    assert idle["members"] == ["u"]


def test_a_delay_and_a_leader_that_was_behind_are_shown() -> None:
    log = Log("connect-cluster")
    log.write(generation(1, worker("w", {}, ran={"sink": [0]}, delay=300_000), worker("v", {}, error=1)))
    members = log.frame()["members"]
    assert (members["w"]["worker"]["delay_ms"], members["w"]["assigned"]) == (300_000, {"sink": [0]})
    assert members["v"]["worker"]["failed"]


def test_a_worker_whose_state_cannot_be_read_runs_nobody_knows_what() -> None:
    log = Log("connect-cluster")
    broken = worker("w", {"sink": [0]}) | {"subscription": "AAA="}
    log.write(generation(1, broken))
    shown = log.frame()["members"]["w"]
    assert (shown["assigned"], sorted(shown["unreadable"])) == (None, ["assignment", "subscription"])


def test_hidden_names_leave_what_workers_run_as_it_is_but_for_names() -> None:
    log = scaled_up()
    redactor = Redactor(bytes(range(KEY_BYTES)))
    for entry in log.entries:
        redactor.meet(entry.to_json())
    group = redactor.name("group", log.group)
    recorder = Recorder(group=group, semantics="kafka")
    hidden = Log(group)
    for entry in log.entries:
        redacted = redactor.redacted(entry.to_json())
        assert "sink" not in base64.b64decode(
            redacted["payload"]["value"]["members"][0]["assignment"]
        ).decode("latin1")
        hidden.entries.append(Entry.from_json(redacted))
        recorder.add(hidden.entries[-1])
    batch = recorder.flush(final=True)
    assert batch is not None
    kinds = [one["kind"] for one in batch.summary["findings"]]
    assert kinds == [one["kind"] for one in log.recorded().summary["findings"]]
    members = hidden.frame()["members"].values()
    assert sorted(sum(len(tasks) for tasks in each["assigned"].values()) for each in members) == [1, 2]
