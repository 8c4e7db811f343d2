"""What each release of the Java client sends, and what it calls the errors that it is answered with."""

from __future__ import annotations

import pytest
from kio.schema.errors import ErrorCode

from simulations.protocol.client.classic import errors as classic_errors
from simulations.protocol.client.consumer import errors
from tests.simulations.classic_runs import entries, requests

RUN = """
protocol: classic
topics: {orders: {partitions: 4}}
config: {initial_rebalance_delay_ms: 0}
members:
  A: {subscribe: [orders], assignors: [range], client: '%s'}
  B: {subscribe: [orders], assignors: [range], client: '%s'}
script:
  - {at: 0s, join: A}
  - {at: 5s, join: B}
  - {at: 20s, commit: A}
  - {at: 30s, leave: B}
until: 45s
"""

HIGHEST = {
    "2.1": {"JoinGroup": 3, "SyncGroup": 2, "Heartbeat": 2, "LeaveGroup": 2, "OffsetCommit": 6},
    "2.2": {"JoinGroup": 4, "SyncGroup": 2, "Heartbeat": 2, "LeaveGroup": 2, "OffsetCommit": 6},
    "2.3": {"JoinGroup": 5, "SyncGroup": 3, "Heartbeat": 3, "LeaveGroup": 2, "OffsetCommit": 7},
    "2.4": {"JoinGroup": 6, "SyncGroup": 4, "Heartbeat": 4, "LeaveGroup": 4, "OffsetCommit": 8},
    "2.5": {"JoinGroup": 7, "SyncGroup": 5, "Heartbeat": 4, "LeaveGroup": 4, "OffsetCommit": 8},
    "3.0": {"JoinGroup": 7, "SyncGroup": 5, "Heartbeat": 4, "LeaveGroup": 4, "OffsetCommit": 8},
    "3.1": {"JoinGroup": 7, "SyncGroup": 5, "Heartbeat": 4, "LeaveGroup": 4, "OffsetCommit": 8},
    "3.2": {"JoinGroup": 9, "SyncGroup": 5, "Heartbeat": 4, "LeaveGroup": 5, "OffsetCommit": 8},
    "3.5": {"JoinGroup": 9, "SyncGroup": 5, "Heartbeat": 4, "LeaveGroup": 5, "OffsetCommit": 8},
    "4.3": {"JoinGroup": 9, "SyncGroup": 5, "Heartbeat": 4, "LeaveGroup": 5, "OffsetCommit": 9},
}
"""The newest version of each request's schema in these releases of Kafka."""


@pytest.mark.parametrize("release", HIGHEST)
def test_a_client_sends_the_newest_versions_that_its_release_knows(release: str) -> None:
    log = entries(RUN % (release, release))
    sent = {api: {entry.payload["version"] for entry in requests(log, api)} for api in HIGHEST[release]}
    assert sent == {api: {version} for api, version in HIGHEST[release].items()}


def test_errors_have_the_names_and_numbers_of_the_protocol() -> None:
    for code, name in classic_errors.NAMES.items():
        assert ErrorCode(code).name == name.lower()


def test_what_a_poll_throws_is_named_after_the_error_that_it_is_thrown_for() -> None:
    for code, exception in errors.JAVA_EXCEPTIONS.items():
        error = "".join(part.title() for part in ErrorCode(code).name.split("_"))
        assert error.startswith(exception.removesuffix("Exception"))
