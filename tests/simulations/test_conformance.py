"""``conform`` on a recording of real clients with a real broker, as it is and with lies put into it."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from groups.history.entries import Kind
from groups.history.passes.recorder import Recorder
from simulations.proof.conformance import (
    BadSetting,
    Judge,
    NotJudged,
    Recording,
    Written,
    recordings,
    report,
    settings_of,
)
from simulations.proof.conformance.excuses import LATE_IMAGE
from simulations.proof.conformance.splitting import parts_of
from simulations.recorded_files import Files, read
from simulations.samples import sample

RECORDED = sample("recorded-clients")

SETTINGS = RECORDED.settings

EVERY = 9
"""All of them were tried once; each takes a quarter of a second."""

REQUESTS_JUDGED, RECORDS_JUDGED = 194, 184


@pytest.fixture(scope="module")
def files() -> Files:
    return read(str(RECORDED.requests), [str(RECORDED.segments)], timedelta())


def judged(files: Files, **settings: str) -> dict[str, Any]:
    not_judged = NotJudged()
    judges = judges_of(files, not_judged, **settings)
    return report([judge.tally for judge in judges], not_judged)


def judges_of(files: Files, not_judged: NotJudged, **settings: str) -> list[Judge]:
    told = settings_of({**SETTINGS, **{name.replace("_", "."): text for name, text in settings.items()}})
    judges = [
        Judge(recording, told)
        for recording in recordings(files.requests, files.written, files.images, not_judged)
    ]
    for judge in judges:
        judge.judge()
    return judges


def altered(files: Files, group: str, alter: Callable[[list[Written]], list[Written]]) -> Files:
    written = {**files.written, group: alter(list(files.written[group]))}
    return Files(requests=files.requests, written=written, images=files.images)


def test_what_real_clients_did_is_what_the_simulated_coordinator_would_have_answered_and_written(
    files: Files,
) -> None:
    assert files.problems == []
    assert judged(files) == {
        "requests": REQUESTS_JUDGED,
        "responses": {"equal": REQUESTS_JUDGED, "different": 0},
        "records": {"equal": RECORDS_JUDGED, "different": 0, "missing": 0, "extra": 0},
        "groups": 5,
        "loaded": 0,
        "not_judged": [{"reason": "coordinator not ready", "requests": 34, "records": 0}],
        "excused": [{"reason": LATE_IMAGE, "count": 2}],
        "differences": [],
        "rules": {},
        "unsought": 0,
    }


def test_an_answer_that_the_broker_did_not_give_is_the_one_difference(files: Files) -> None:
    lied = list(files.requests)
    at = next(n for n, each in enumerate(lied) if each.response.get("memberEpoch") == 3)
    lied[at] = replaced(lied[at], response={**lied[at].response, "memberEpoch": 9})
    found = judged(Files(requests=lied, written=files.written, images=files.images))
    (difference,) = found["differences"]
    assert difference["what"].endswith("memberEpoch")
    assert (difference["recorded"], difference["simulated"]) == (9, 3)
    assert found["responses"] == {"equal": REQUESTS_JUDGED - 1, "different": 1}
    assert found["records"]["equal"] == RECORDS_JUDGED


@pytest.mark.parametrize("group", ["clients-join-leave-kill", "clients-regex", "clients-static"])
@pytest.mark.long
def test_a_record_that_is_missing_from_the_log_is_found_whichever_it_is(files: Files, group: str) -> None:
    for gone in range(1, len(files.written[group]), EVERY):
        found = judged_group(
            altered(files, group, lambda records, n=gone: records[:n] + records[n + 1 :]), group
        )
        assert found["differences"], f"without record {gone} nothing was said"


def test_a_field_of_a_record_that_is_otherwise_is_told_with_both_values(files: Files) -> None:
    group = "clients-join-leave-kill"

    def reorder(records: list[Written]) -> list[Written]:
        at = next(n for n, each in enumerate(records) if targets_two(each))
        value = records[at].payload["value"]
        (topic,) = value["topicPartitions"]
        turned = {**topic, "partitions": topic["partitions"][::-1]}
        payload = {**records[at].payload, "value": {**value, "topicPartitions": [turned]}}
        return [*records[:at], replaced(records[at], payload=payload), *records[at + 1 :]]

    found = judged_group(altered(files, group, reorder), group)
    assert found["records"]["different"] == 1
    assert found["records"]["missing"] == found["records"]["extra"] == 0
    difference = found["differences"][0]
    assert difference["what"].startswith("record of type 7 at offset ")
    assert difference["recorded"] != difference["simulated"]


def targets_two(written: Written) -> bool:
    value = written.payload["value"]
    return (
        written.payload["type"] == 7
        and value is not None
        and any(len(topic["partitions"]) > 1 for topic in value["topicPartitions"])
    )


def test_a_removal_before_any_timer_could_run_out_is_explained_by_nothing(files: Files) -> None:
    """The broker's session timeout told as a minute: what the log shows after three seconds is then too early."""
    group = "clients-static"
    without_configs = tuple(replaced(change, configs={}) for change in files.images)
    told = Files(requests=files.requests, written=files.written, images=without_configs)
    not_judged = NotJudged()
    (judge,) = [
        judge
        for judge in judges_of(told, not_judged, group_consumer_session_timeout_ms="60000")
        if judge.recording.group == group
    ]
    assert any("which nothing explains" in each.what for each in judge.tally.differences)


def test_a_result_of_an_expression_that_waited_for_its_thread_is_explained_by_the_heartbeat_before(
    files: Files,
) -> None:
    """The recording ends with it: no later heartbeat could have begun it."""
    group, waited_ms = "clients-regex", 60
    records = list(files.written[group])
    last = next(each for each in reversed(records) if each.payload["type"] == 16 and each.payload["value"])

    def late(written: Written) -> Written:
        payload = dict(written.payload)
        if payload["type"] == 16:
            payload["value"] = {**payload["value"], "timestamp": written.at_ms + waited_ms}
        return replaced(written, at_ms=written.at_ms + waited_ms, payload=payload)

    told = Files(
        requests=[each for each in files.requests if each.done_ms <= last.at_ms],
        written={group: [late(e) if e.batch == last.batch else e for e in records if e.batch <= last.batch]},
        images=files.images,
    )
    assert judged_group(told, group)["differences"] == []


def test_a_member_that_stays_beyond_its_session_is_told_once(files: Files) -> None:
    group = "clients-join-leave-kill"
    bare = [
        each
        for each in files.requests
        if each.request.get("groupId") == group and each.api == "CONSUMER_GROUP_HEARTBEAT"
    ]
    joined = bare[-1]
    later = [
        replaced(each, done_ms=each.done_ms + 60_000) if each is joined else each for each in files.requests
    ]
    records = [
        replaced(each, at_ms=each.at_ms + 60_000) if each.at_ms > joined.arrived_ms - 5 else each
        for each in files.written[group]
    ]
    told = Files(requests=later, written={**files.written, group: records}, images=files.images)
    found = judged_group(told, group)
    assert [each["recorded"] for each in found["differences"]].count("the member stays") == 1


def test_a_session_that_ran_out_long_before_the_next_request_is_explained_by_its_timer(files: Files) -> None:
    group = "clients-static"
    expired = next(
        each
        for each in files.written[group]
        if each.payload["type"] == 8
        and each.payload["value"] is None
        and not asked_at(files, group, each.at_ms)
    )
    later = [
        replaced(each, done_ms=each.done_ms + QUIET_MS) if each.done_ms > expired.at_ms else each
        for each in files.requests
    ]
    records = [
        replaced(each, at_ms=each.at_ms + QUIET_MS, payload=moved(each.payload))
        if each.at_ms > expired.at_ms
        else each
        for each in files.written[group]
    ]
    told = Files(requests=later, written={**files.written, group: records}, images=files.images)
    assert judged_group(told, group)["differences"] == []


QUIET_MS = 20_000


def asked_at(files: Files, group: str, at_ms: int) -> bool:
    return any(
        each.arrived_ms - 5 <= at_ms <= each.done_ms + 5
        for each in files.requests
        if each.request.get("groupId") == group
    )


def moved(payload: Any) -> Any:
    """The record with the times inside it that much later."""
    value = payload["value"]
    times = {"assignmentTimestamp", "commitTimestamp"} & set(value or ())
    return (
        {**payload, "value": {**value, **{name: value[name] + QUIET_MS for name in times}}}
        if times
        else payload
    )


STOOD_STILL_MS = 2_700


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_requests_is_found_however_long_the_broker_kept_them_waiting(
    files: Files, seed: int
) -> None:
    """As on a machine that stands still: requests were read long before they were handled, and answered long after."""
    told = Files(
        requests=kept_waiting(files.requests, random.Random(seed)), written=files.written, images=files.images
    )
    found = judged(told)
    assert found["differences"] == []
    assert found["records"]["equal"] == RECORDS_JUDGED


def kept_waiting(requests: list[Any], drawn: random.Random) -> list[Any]:
    """Each request read earlier and answered later, while a client still asks one thing after another."""
    out = list(requests)
    by_client: dict[tuple[str, str], list[int]] = {}
    for number, each in enumerate(requests):
        for part in parts_of(each):
            by_client.setdefault((each.client, part.group), []).append(number)
    for numbers in by_client.values():
        free_from_ms = 0.0
        for number, following in zip(numbers, [*numbers[1:], None], strict=True):
            each = requests[number]
            arrived_ms = max(
                min(free_from_ms, each.arrived_ms), each.arrived_ms - drawn.choice([0, STOOD_STILL_MS])
            )
            done_ms = each.done_ms + drawn.choice([0, 0, STOOD_STILL_MS])
            if following is not None:
                done_ms = max(each.done_ms, min(done_ms, int(requests[following].arrived_ms)))
            out[number] = replaced(each, done_ms=done_ms, total_ms=done_ms - arrived_ms)
            free_from_ms = done_ms
    return out


@pytest.mark.parametrize("group", ["clients-slow-poll", "clients-join-leave-kill", "clients-topic-deleted"])
def test_a_coordinator_that_hears_late_of_its_topics_is_not_blamed(files: Files, group: str) -> None:
    earlier = tuple(replaced(change, at_ms=change.at_ms - HEARD_LATE_MS) for change in files.images)
    told = Files(requests=files.requests, written=files.written, images=earlier)
    assert judged_group(told, group)["differences"] == []


HEARD_LATE_MS = 1_500
"""Within what is believed of a machine that the recording does not show to be slow."""


@pytest.mark.parametrize("group", ["clients-slow-poll", "clients-join-leave-kill", "clients-regex"])
def test_another_coordinator_that_loads_the_log_in_between_goes_on_alike(files: Files, group: str) -> None:
    asked = [each for each in files.requests if each.request.get("groupId") == group]
    quiet = asked[len(asked) // 2]
    last = [change for change in files.images if change.at_ms <= quiet.done_ms][-1]
    partition = files.written[group][0].partition
    load = replaced(last, at_ms=quiet.done_ms, names=(), deleted=(), configs={}, elected=(partition,))
    images = tuple(sorted([*files.images, load], key=lambda change: change.at_ms))
    told = Files(requests=files.requests, written=files.written, images=images)
    assert judged_group(told, group)["differences"] == []


def test_records_from_before_the_first_request_are_loaded_and_the_rest_is_judged(files: Files) -> None:
    group = "clients-join-leave-kill"
    own = [each for each in files.requests if each.request.get("groupId") == group]
    half = own[len(own) // 2]
    later = [each for each in files.requests if each.arrived_ms > half.done_ms + 20]
    found = judged_group(Files(requests=later, written=files.written, images=files.images), group)
    assert found["loaded"] > 5
    assert found["differences"] == []


def test_share_and_streams_groups_are_named_and_counted_but_not_judged(files: Files) -> None:
    first = files.requests[0]
    asked = [
        replaced(first, api="SHARE_GROUP_HEARTBEAT", request={"groupId": "sh"}, response={"errorCode": 0}),
        replaced(first, api="STREAMS_GROUP_HEARTBEAT", request={"groupId": "st"}, response={"errorCode": 0}),
    ]
    found = judged(Files(requests=asked, images=files.images))
    assert found["requests"] == found["groups"] == 0
    assert found["not_judged"] == [
        {"reason": "share group", "requests": 1, "records": 0},
        {"reason": "streams group", "requests": 1, "records": 0},
    ]


def test_requests_that_lack_fields_are_counted_and_not_judged(files: Files) -> None:
    first = files.requests[0]
    bytes_that_are_none = {"name": "range", "metadata": "not base64"}
    join = {"groupId": "g", "memberId": "", "sessionTimeoutMs": 1, "protocolType": "consumer"}
    asked = [
        replaced(first, api="JOIN_GROUP", request={"groupId": "g"}, response={"errorCode": 0}),
        replaced(
            first,
            api="JOIN_GROUP",
            request={**join, "protocols": [bytes_that_are_none]},
            response={"errorCode": 0},
        ),
        replaced(first, api="LEAVE_GROUP", version=5, request={"groupId": "g"}, response={"errorCode": 0}),
        replaced(first, api="CONSUMER_GROUP_HEARTBEAT", request={"groupId": "g"}, response={"errorCode": 0}),
    ]
    assert judged(Files(requests=asked, images=files.images))["not_judged"] == [
        {"reason": "coordinator not ready", "requests": 0, "records": 0},
        {"reason": "requests that lack fields of their API", "requests": 4, "records": 0},
    ]


def test_the_story_of_a_recording_folds_without_an_anomaly_and_holds_every_record(files: Files) -> None:
    for judge in judges_of(files, NotJudged()):
        entries = judge.story.entries
        assert [entry.sequence for entry in entries] == list(range(1, len(entries) + 1))
        records = [entry.payload for entry in entries if entry.kind is Kind.RECORD]
        assert records == [written.payload for written in judge.recording.written]
        recorder = Recorder(group=judge.recording.group)
        for entry in entries:
            recorder.add(entry)
        batch = recorder.flush(final=True)
        assert batch is not None
        assert batch.summary["state"] == "Empty"


def test_a_difference_stands_on_the_timeline_as_a_moment_of_its_own(files: Files) -> None:
    group = "clients-join-leave-kill"
    told = altered(files, group, lambda records: records[:-1])
    (recording,) = recordings(told.requests, told.written, told.images, NotJudged(), only=group)
    judge = Judge(recording, settings_of(SETTINGS))
    judge.judge()
    recorder = Recorder(group=group)
    for entry in judge.story.entries:
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    faults = [moment["says"] for moment in json.loads(batch.moments) if moment["shape"] == "fault"]
    assert "Differs: record of type 3: simulated, not recorded" in faults


def test_settings_are_told_by_kafkas_names() -> None:
    assert settings_of({"group.consumer.assignors": "range, uniform"}).assignors == ("range", "uniform")
    with pytest.raises(BadSetting, match="sticky is not simulated"):
        settings_of({"group.consumer.assignors": "sticky"})


def judged_group(files: Files, group: str) -> dict[str, Any]:
    not_judged = NotJudged()
    found = list(recordings(files.requests, files.written, files.images, not_judged, only=group))
    judge = Judge(found[0], settings_of(SETTINGS))
    judge.judge()
    return report([judge.tally], not_judged)


def replaced(value: Any, **fields: Any) -> Any:
    return replace(value, **fields)


def test_the_recording_is_small_enough_to_be_kept() -> None:
    files = [RECORDED.requests, *RECORDED.segments.rglob("*.log")]
    assert sum(file.stat().st_size for file in files) < 300_000
    with gzip.open(RECORDED.requests, "rt") as lines:
        assert sum(1 for _ in lines) == REQUESTS_JUDGED + 34


def test_a_recording_can_be_read_as_values(files: Files) -> None:
    assert isinstance(
        next(iter(recordings(files.requests, files.written, files.images, NotJudged()))), Recording
    )
