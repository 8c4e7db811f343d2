"""Which release wrote a log: what its records and its request log show, and that they show nothing where they do not."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from django.core.management import call_command

from groups import releases
from groups.history.entries import Entry, Kind, RecordPayload
from groups.releases import Bounds, RecordEvidence, Release, bounds_of_apis, release_by
from groups.releases.evidence import (
    EMPTIED_WITH,
    NEW_VERSION,
    OLD_METADATA,
    TIMED_TARGET,
    TRANSACTION_FIELD,
    TRANSACTION_OLD_FIELD,
)
from groups.texts.request_log import LoggedRequest
from simulations.proof.conformance import bounds_of
from simulations.proof.conformance.comparing import removed_in_order
from simulations.protocol.coordinator.consumer.records import group_epoch, removal
from simulations.world.engine import run
from simulations.world.scenario import load

EMPTIED = """
group: orders
brokers: {release}
topics: {{orders: {{partitions: 6}}}}
members: {{A: {{subscribe: [orders]}}, B: {{subscribe: [orders]}}}}
script: [{{at: 0s, join: [A, B]}}, {{at: 20s, leave: [A, B]}}{more}]
until: 120s
"""


def bounds(log: Iterable[Entry]) -> Bounds:
    evidence = RecordEvidence()
    for entry in log:
        if entry.kind is Kind.RECORD:
            evidence.record(entry.payload["type"], entry.payload["key"], entry.payload["value"])
    return evidence.end()


def emptied(release: str, more: str = "") -> Bounds:
    return bounds(run(load(EMPTIED.format(release=release, more=more))))


@pytest.mark.parametrize("release", [Release.V4_3_1, Release.V4_4_0])
def test_a_group_that_empties_shows_which_release_wrote_it(release: Release) -> None:
    shown = emptied(release)
    assert shown.release is release
    assert release_by(shown) == (release, shown.reason)


def test_a_log_of_two_releases_says_so_and_is_judged_as_neither_by_itself() -> None:
    roll = ", {at: 40s, roll: brokers, release: 4.4.0, for: 1s}, {at: 60s, join: [A, B]}, {at: 80s, leave: [A, B]}"
    shown = emptied("4.3.1", roll)
    assert shown.contradict
    assert shown.release is None
    assert shown.reason.startswith("records of two releases: 4.4 or later, as when a group emptied")
    assert release_by(shown)[0] is Release.V4_3_1


def test_what_is_taken_is_never_a_release_that_the_evidence_excludes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases.evidence, "EARLIER", Release.V3_9)
    taken, why = release_by(Bounds().with_seen(TIMED_TARGET))
    assert (taken, why.rpartition("; ")[2]) == (Release.V4_3_1, "4.3.1 is taken")


def test_a_log_that_shows_nothing_is_not_said_to_be_of_a_release() -> None:
    assert Bounds().release is None
    assert release_by(Bounds()) == (
        Release.V4_3_1,
        "the release cannot be known from it; 4.3.1 is taken",
    )
    assert Bounds().with_seen(TIMED_TARGET).release is None, "4.3 or 4.4"
    assert Bounds().with_seen(OLD_METADATA).release is None, "none that is simulated"


def logged(api: str, version: int, **request: object) -> LoggedRequest:
    return LoggedRequest(
        line=1,
        done_ms=1,
        total_ms=1,
        api=api,
        version=version,
        client="c",
        host=None,
        request=request,  # type: ignore[arg-type]
        response={},
    )


@pytest.mark.parametrize(
    ("request_", "seen"),
    [
        (logged("TXN_OFFSET_COMMIT", 5, generationIdOrMemberEpoch=3), TRANSACTION_FIELD),
        (logged("TXN_OFFSET_COMMIT", 5, generationId=3), TRANSACTION_OLD_FIELD),
        (logged("DELETE_GROUPS", 3), NEW_VERSION),
        (logged("DELETE_GROUPS", 2), None),
        (logged("OFFSET_COMMIT", 10, generationIdOrMemberEpoch=3), None),
    ],
)
def test_a_request_log_shows_the_release_by_its_fields_and_versions(
    request_: LoggedRequest, seen: str | None
) -> None:
    shown = bounds_of([request_], {})
    assert seen in (shown.since_why, shown.before_why)


@pytest.mark.parametrize(
    ("versions", "named"),
    [
        ({28: (0, 6), 8: (2, 10), 76: (1, 1), 68: (0, 1)}, "4.4 or later"),
        ({28: (0, 5), 8: (2, 10), 76: (1, 1), 68: (0, 1)}, "4.2 to 4.3"),
        ({28: (0, 5), 8: (2, 9), 76: (1, 1), 68: (0, 1)}, "4.1"),
        ({28: (0, 5), 8: (2, 9), 68: (0, 1)}, "4.0"),
        ({28: (0, 5), 8: (2, 9), 68: (0, 0)}, "older than 4.0"),
        ({}, "older than 4.0"),
    ],
)
def test_a_broker_shows_its_release_by_the_versions_that_it_offers(
    versions: dict[int, tuple[int, int]], named: str
) -> None:
    assert bounds_of_apis(versions).named == named


def test_conform_states_the_release_that_it_judges_by_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("conform", "--sample", "recorded-classic", "--group", "classic-sticky")
    told = json.loads(capsys.readouterr().out)
    assert told["release"] == "4.3.1"
    assert "older than 4.4, as when a group emptied" in told["release_because"]
    call_command("conform", "--sample", "recorded-classic", "--group", "classic-sticky", "--release", "4.3.1")
    assert json.loads(capsys.readouterr().out)["release_because"] == "--release names it"


# -- members that one LeaveGroup removes


def test_members_that_are_removed_at_once_may_be_recorded_in_any_order() -> None:
    epoch = group_epoch("g", 7, 0)
    simulated: tuple[RecordPayload, ...] = (*removal("g", ["A", "B", "C"]), epoch)
    recorded = [*removal("g", ["C", "A", "B"]), epoch]
    assert list(removed_in_order(simulated, recorded)) == recorded


@pytest.mark.parametrize("others", [["C", "A"], ["C", "A", "D"], ["A", "A", "B"]])
def test_another_member_that_is_removed_stays_a_difference(others: list[str]) -> None:
    simulated: tuple[RecordPayload, ...] = (*removal("g", ["A", "B", "C"]), group_epoch("g", 7, 0))
    assert removed_in_order(simulated, removal("g", others)) == simulated


def test_what_only_later_releases_write_is_seen_at_its_record() -> None:
    evidence, seen = RecordEvidence(), []
    for entry in run(load(EMPTIED.format(release="4.4.0", more=""))):
        if entry.kind is Kind.RECORD:
            payload = entry.payload
            seen.append(evidence.record(payload["type"], payload["key"], payload["value"]))
    assert seen.count(EMPTIED_WITH) == 1
