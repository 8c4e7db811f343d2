"""User data of many members are read at once exactly as they are read one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groups.wire.embedded.user_data import STICKY, encode_sticky
from simulations.protocol.assignors.claims import Claims, claims_of, claims_of_all
from simulations.protocol.assignors.interface import MemberSpec
from tests.tiers import examples

TOPICS = st.lists(
    st.fixed_dictionaries(
        {
            "topic": st.sampled_from(["", "t", "orders", "größer", "t\U0001f600"]),
            "partitions": st.lists(st.integers(-(2**31), 2**31 - 1), max_size=3),
        }
    ),
    max_size=4,
)


@st.composite
def user_data(draw: st.DrawFn) -> bytes:
    """Sound ones of both versions, and such with a byte changed, cut off or put behind."""
    value = {"version": draw(st.sampled_from([0, 1])), "previousAssignment": draw(TOPICS)}
    if value["version"] == 1:
        value["generation"] = draw(st.integers(-2, 9))
    data = bytearray(encode_sticky(value))
    for _ in range(draw(st.integers(0, 2))):
        if data:
            data[draw(st.integers(0, len(data) - 1))] = draw(st.sampled_from([0, 1, 2, 127, 128, 255]))
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data) + draw(
        st.sampled_from([b"", b"\0", b"\0\0\0\5"])
    )


@given(st.lists(st.none() | user_data(), max_size=4))
@examples(100)
def test_claims_of_all_members_are_those_of_each(each: list[bytes | None]) -> None:
    members = [MemberSpec(topics=("t",), owned={"t": [1]}, user_data=data) for data in each]
    assert told(claims_of_all(STICKY, members)) == told([claims_of(STICKY, member) for member in members])


def told(claims: list[Claims]) -> list[tuple[list[tuple[str, int]], int | None]]:
    return [([(t, p) for t, owned in each.partitions for p in owned], each.generation) for each in claims]
