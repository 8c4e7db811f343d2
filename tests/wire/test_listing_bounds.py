"""Field by field, at the edges: bytes that are cut off, damaged, or of a version that nobody knows."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from groups.wire.codecs.codec import codec
from groups.wire.errors import (
    RecordError,
)
from groups.wire.inspection import edit, find, guess, inspect, kinds
from groups.wire.logs.record_batch import coordinator_batch, write_batch
from groups.wire.rpc import (
    APIS,
    encode_request,
)
from tests.wire.test_bounds import AT_MS, HEARTBEAT, batch, heartbeat


def listed(kind: str, value: dict[str, Any], path: str, version: int | None = None) -> Any:
    data = kinds()[kind].layout.write(value, version)
    node = find(inspect(kind, data, version=version).fields, path)
    assert node is not None
    return node


@pytest.mark.parametrize(
    ("generation", "meaning"),
    [(-1, "absent"), (0, "the rebalance that it was in"), (7, "the rebalance that it was in")],
)
def test_a_generation_below_zero_is_absent(generation: int, meaning: str) -> None:
    value = {"groupId": "g", "generationId": generation, "memberId": "m", "groupInstanceId": None}
    assert listed("heartbeat-request", value, "generationId", 4).meaning == meaning


def test_a_commit_expires_by_the_brokers_retention_or_at_its_own_time() -> None:
    value = {"offset": 5, "metadata": "", "commitTimestamp": AT_MS, "version": 1}
    for at_ms, by_retention in ((-1, True), (0, False), (AT_MS, False)):
        kind = next(name for name in kinds() if name.startswith("offset-commit") and name.endswith("value"))
        node = listed(kind, {**value, "expireTimestamp": at_ms}, "expireTimestamp")
        assert (node.meaning == "by the broker's retention") is by_retention


def test_each_batch_of_a_segment_is_called_by_its_offsets() -> None:
    data = write_batch(batch((b"\0\0", None))) + write_batch(
        coordinator_batch(base_offset=6, timestamp_ms=AT_MS, records=[(b"\0\0", None)] * 3)
    )
    fields = inspect("segment", data).fields
    assert [node.called for node in fields if node.kind == "batch"] == ["offset 5", "offset 6 to 8"]


def test_a_batch_that_is_cut_off_is_called_by_nothing_that_is_not_there() -> None:
    data = write_batch(batch((b"\0\0", None)))
    for size in range(1, len(data)):
        done = inspect("segment", data[:size])
        assert done.read <= size
        assert [node.called for node in done.fields if node.kind == "batch"] == []


@pytest.mark.parametrize("cut", [0, 1, 5, 9])
def test_a_request_of_an_unknown_version_is_listed_to_its_last_byte(cut: int) -> None:
    raw = bytearray(encode_request(heartbeat()))
    raw[2:4] = (99).to_bytes(2)
    framed = len(raw).to_bytes(4) + bytes(raw)
    for data in (bytes(raw), framed):
        done = inspect("request", data)
        assert done.problem is not None
        assert "no version 99" in done.problem.sentence
        names = [node.name for node in done.fields]
        assert names == (["length", "header"] if data is framed else ["header"])
        assert done.fields[-1].end == len(data)
        header = done.fields[-1].fields
        assert header is not None
        assert [node.name for node in header[:2]] == ["requestApiKey", "requestApiVersion"]
        assert header[0].value == HEARTBEAT.key


def test_of_versions_that_do_not_fit_the_newest_that_comes_farthest_is_taken() -> None:
    name = "join-group-request"
    kind, layout = kinds()[name], kinds()[name].layout
    value = {
        "groupId": "g", "sessionTimeoutMs": 45_000, "memberId": "m", "protocolType": "consumer", "protocols": [],
    }  # fmt: skip
    chosen = set()
    for version in (0, 4, 5, 9):
        whole = layout.write(value | ({"rebalanceTimeoutMs": 5} if version else {}), version)
        for data in (whole[:-1], whole[:-3], whole + b"..."):
            farthest: dict[int, int] = {}
            fits = []
            for tried in APIS[11].request.versions:
                try:
                    farthest[tried] = codec(APIS[11].request, tried).read(data, 0)[1]
                    if farthest[tried] == len(data):
                        fits.append(tried)
                except RecordError as error:
                    farthest[tried] = error.offset or 0
            best = max(fits or farthest, key=lambda tried: (farthest[tried], tried))
            assert inspect(name, data).version == best
            chosen.add(best)
    assert len(chosen) > 1
    assert not kind.layout.appends


def test_a_damaged_batch_is_listed_to_its_end_though_its_checksum_is_wrong() -> None:
    data = bytearray(write_batch(batch((b"\0\0", None))))
    data[17] ^= 1
    done = inspect("batch", bytes(data))
    assert done.problem is not None
    assert (done.problem.path, done.problem.offset) == ("crc", 17)
    assert (done.read, done.stopped) == (len(data), False)


def test_what_is_guessed_reads_to_the_end_before_what_does_not() -> None:
    told = guess(
        kinds()["subscription"].layout.write(
            {"version": 1, "topics": ["foo"], "userData": None, "ownedPartitions": []}, None
        )
    )
    assert told[0].kind == "subscription"
    flags = [each.whole for each in told]
    assert flags == sorted(flags, reverse=True)
    names = [each.kind for each in told]
    assert len(names) == len(set(names))
    nothing = guess(b"\x7f")
    last = {name for name, kind in kinds().items() if kind.last_resort}
    assert last <= {each.kind for each in nothing}, "nothing reads it, so the last resorts are tried, too"


def test_what_is_in_a_blob_is_edited_where_it_stands() -> None:
    inner = kinds()["subscription"].layout.write(
        {"version": 1, "topics": ["foo"], "userData": None, "ownedPartitions": []}, None
    )
    value = {
        "protocolType": "consumer", "generation": 1, "protocol": "range", "leader": "m", "currentStateTimestamp": 1, "version": 3,
        "members": [{
            "memberId": "m", "groupInstanceId": None, "clientId": "c", "clientHost": "/h", "rebalanceTimeout": 1,
            "sessionTimeout": 1, "subscription": base64.b64encode(inner).decode(), "assignment": "",
        }],
    }  # fmt: skip
    kind = "group-metadata-value"
    data = kinds()[kind].layout.write(value, None)
    edited = edit(kind, None, data, "members.0.subscription.topics.0", "bar")
    node = find(inspect(kind, edited).fields, "members.0.subscription.topics.0")
    assert node is not None
    assert node.value == "bar"
    assert len(edited) == len(data)
    clientless = edit(kind, None, data, "members.0.clientId", "d")
    found = find(inspect(kind, clientless).fields, "members.0.clientId")
    assert found is not None
    assert found.value == "d"
