"""What a client of old reads of a newer blob, and what follows from it."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.wire.embedded.consumer_protocol import encode_assignment, encode_subscription
from groups.wire.embedded.older_clients import Consequence, consequences, seen_by
from groups.wire.embedded.user_data import encode_cooperative_sticky, encode_sticky
from groups.wire.errors import MalformedError, TruncatedError
from groups.wire.generated.embedded import ASSIGNMENT, SUBSCRIPTION
from tests.wire.strategies import bodies

FOO = [{"topic": "foo", "partitions": [0, 1]}]
SUBSCRIBED = {"topics": ["foo"], "userData": None}
NEWEST: dict[str, Any] = {**SUBSCRIBED, "ownedPartitions": FOO, "generationId": 7, "rackId": "a"}


def told(newest_known: int, assignor: str, value: dict[str, Any] = NEWEST) -> dict[Consequence, str]:
    seen = seen_by(SUBSCRIPTION, encode_subscription(value), newest_known)
    return {each.consequence: each.sentence for each in consequences(seen, assignor)}


def with_user_data(data: bytes) -> dict[str, Any]:
    return NEWEST | {"userData": base64.b64encode(data).decode()}


@pytest.mark.parametrize(
    ("newest_known", "read", "lost"),
    [
        (0, 15, {"ownedPartitions": FOO, "generationId": 7, "rackId": "a"}),
        (1, 36, {"generationId": 7, "rackId": "a"}),
        (2, 40, {"rackId": "a"}),
        (3, 43, {}),
    ],
)
def test_a_client_reads_up_to_the_last_version_that_it_knows_and_ignores_the_rest(
    newest_known: int, read: int, lost: dict[str, Any]
):
    seen = seen_by(SUBSCRIPTION, encode_subscription(NEWEST), newest_known)

    assert (seen.bytes_read, seen.bytes_ignored) == (read, 43 - read)
    assert seen.lost == lost
    assert seen.value is not None
    assert seen.value == {"version": 3} | {name: NEWEST[name] for name in NEWEST if name not in lost}


def test_nothing_is_lost_of_an_assignment_as_all_versions_have_the_same_fields():
    data = encode_assignment({"assignedPartitions": FOO})
    seen = seen_by(ASSIGNMENT, data, 0)
    assert seen.value == {"version": 3, "assignedPartitions": FOO, "userData": None}
    assert (seen.bytes_ignored, seen.lost) == (0, {})


def test_bytes_that_no_version_has_are_ignored_by_all():
    data = encode_subscription({"version": 0, **SUBSCRIBED}) + b"more"
    for newest_known in range(4):
        seen = seen_by(SUBSCRIPTION, data, newest_known)
        assert (seen.bytes_ignored, seen.lost) == (4, {})


def test_damage_where_a_client_does_not_look_is_none_of_its_affairs():
    data = encode_subscription(NEWEST)[:20]
    old, new = seen_by(SUBSCRIPTION, data, 0), seen_by(SUBSCRIPTION, data, 1)

    assert old.value == {"version": 3, **SUBSCRIBED}
    assert (old.bytes_read, old.bytes_ignored, old.lost) == (15, 5, {})
    assert isinstance(new.fault, TruncatedError)
    assert [each.sentence for each in consequences(new, "range")] == [
        "It cannot read the subscription, and the rebalance fails: "
        "ownedPartitions.0.topic, byte 19: a length needs 2 bytes, 1 is left"
    ]


def test_a_leader_that_knows_version_0_may_give_away_what_a_cooperative_member_still_holds():
    assert told(0, "cooperative-sticky") == {
        Consequence.HOLDINGS_UNSEEN: "It takes the member to hold nothing: it may give foo-0 and foo-1 to others "
        "at once, while the member still holds them.",
        Consequence.RACK_UNSEEN: "It does not learn that the member is in rack a, and assigns as if it were in "
        "none.",
    }


def test_an_eager_assignor_gives_it_away_whatever_version_its_leader_knows():
    one = NEWEST | {"ownedPartitions": [{"topic": "foo", "partitions": [4]}], "rackId": None}
    for newest_known in range(4):
        for assignor in ("range", "roundrobin"):
            assert told(newest_known, assignor, one) == {
                Consequence.HOLDINGS_NOT_ASKED: f"It takes nobody to hold anything, as {assignor} does in every "
                "version: it may give foo-4 to others at once, while the member still holds it."
            }
    many = NEWEST | {"ownedPartitions": [{"topic": "foo", "partitions": list(range(10))}]}
    assert (
        "foo-0, foo-1, foo-2 and 7 more to others" in told(3, "range", many)[Consequence.HOLDINGS_NOT_ASKED]
    )


def test_a_member_that_gave_up_everything_loses_nothing_to_an_old_leader():
    eager = NEWEST | {"ownedPartitions": [], "generationId": -1, "rackId": None}
    for assignor in ("range", "roundrobin", "cooperative-sticky"):
        assert told(0, assignor, eager) == {}


@pytest.mark.parametrize(
    ("user_data", "consequence", "sentence"),
    [
        (
            encode_cooperative_sticky({"generation": 7}),
            Consequence.GENERATION_FROM_USER_DATA,
            "It knows generation 7 from the user data alone.",
        ),
        (
            encode_cooperative_sticky({"generation": 6}),
            Consequence.GENERATION_FROM_USER_DATA,
            "It knows generation 6 from the user data alone, where the subscription has 7.",
        ),
        (
            b"\0",
            Consequence.GENERATION_UNKNOWN,
            "It learns no generation, where the subscription has 7: if two members claim a partition, it cannot "
            "tell which of the claims is stale.",
        ),
    ],
)
def test_a_leader_that_knows_version_1_has_the_generation_of_the_user_data(
    user_data: bytes, consequence: Consequence, sentence: str
):
    assert told(1, "cooperative-sticky", with_user_data(user_data))[consequence] == sentence
    assert consequence not in told(2, "cooperative-sticky", with_user_data(user_data))


def test_sticky_looks_in_the_user_data_alone_in_every_version():
    given_before = with_user_data(encode_sticky({"previousAssignment": FOO, "generation": 5}))
    of_old = with_user_data(encode_sticky({"version": 0, "previousAssignment": FOO}))
    for newest_known in range(4):
        assert told(newest_known, "sticky")[Consequence.PREVIOUS_FROM_USER_DATA] == (
            "It finds no earlier assignment in the user data, where alone sticky looks."
        )
        assert told(newest_known, "sticky", given_before)[Consequence.PREVIOUS_FROM_USER_DATA] == (
            "It knows from the user data alone what the member had: foo-0 and foo-1, generation 5."
        )
        assert told(newest_known, "sticky", of_old)[Consequence.PREVIOUS_FROM_USER_DATA] == (
            "It knows from the user data alone what the member had: foo-0 and foo-1, no generation."
        )


def test_only_assignors_that_ask_for_racks_miss_one():
    without = NEWEST | {"ownedPartitions": []}
    for assignor, misses in (
        ("range", True),
        ("cooperative-sticky", True),
        ("sticky", True),
        ("roundrobin", False),
    ):
        assert (Consequence.RACK_UNSEEN in told(2, assignor, without)) is misses
        assert Consequence.RACK_UNSEEN not in told(3, assignor, without)
        assert Consequence.RACK_UNSEEN not in told(2, assignor, without | {"rackId": ""})


def test_a_negative_version_is_read_by_no_client():
    seen = seen_by(SUBSCRIPTION, b"\xff\xff", 0)
    assert (seen.value, seen.bytes_read, seen.lost) == (None, 0, {})
    assert str(seen.fault) == "byte 0: ConsumerProtocolSubscription has no version -1"


@given(st.integers(0, 3), st.integers(0, 3), st.data())
def test_what_a_client_reads_and_what_it_loses_make_the_whole(version: int, known: int, data: st.DataObject):
    value = {"version": version, **data.draw(bodies(SUBSCRIPTION, version))}
    encoded = encode_subscription(value)
    seen = seen_by(SUBSCRIPTION, encoded, known)
    assert seen.value is not None
    assert seen.value | seen.lost == value
    assert seen.bytes_read + seen.bytes_ignored == len(encoded)


@given(st.integers(0, 3), st.integers(0, 3), st.binary(max_size=60))
def test_any_bytes_are_seen_somehow(version: int, known: int, rest: bytes):
    seen = seen_by(SUBSCRIPTION, bytes((0, version)) + rest, known)
    assert (seen.value is None) is (seen.fault is not None)
    if seen.fault is not None:
        assert isinstance(seen.fault, MalformedError | TruncatedError)
    for assignor in ("range", "sticky", "cooperative-sticky"):
        consequences(seen, assignor)
