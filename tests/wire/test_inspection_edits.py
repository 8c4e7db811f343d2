"""Edits: one field changes, and the lengths around it; everything else stays as it was."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.wire.errors import RecordError
from groups.wire.inspection import differences, edit, find, inspect, kinds
from groups.wire.inspection.layouts import Versioned
from groups.wire.inspection.nodes import each_node, value_of, values_of
from tests.tiers import examples
from tests.wire.strategies import bodies
from tests.wire.test_inspection import ASSIGNMENT, SUBSCRIPTION, group_metadata, with_user_data


def test_an_edit_inside_a_blob_inside_a_record_makes_every_length_around_it_anew():
    data = group_metadata("consumer", "range", SUBSCRIPTION, ASSIGNMENT)
    path = "members.0.assignment.assignedPartitions.0.partitions"
    changed = edit("group-metadata-value", None, data, path, [0, 1, 5])
    assert changed == group_metadata(
        "consumer",
        "range",
        SUBSCRIPTION,
        bytes.fromhex("000000000001 0003666f6f 00000003000000000000000100000005 ffffffff".replace(" ", "")),
    )
    assert edit("group-metadata-value", None, changed, path, [0]) == data


def test_text_is_taken_for_what_the_field_is():
    edited = edit("subscription", None, SUBSCRIPTION, "ownedPartitions.0.partitions", "0, 1 5")
    assert edited == SUBSCRIPTION[:-12] + bytes.fromhex("00000003000000000000000100000005")
    edited = edit("subscription", None, SUBSCRIPTION, "topics", "foo bar")
    assert values_of(inspect("subscription", edited).fields)["topics"] == ["foo", "bar"]
    edited = edit("consumer-group-metadata-value", None, bytes.fromhex("00000000000200"), "epoch", "7")
    assert edited == bytes.fromhex("00000000000700")


def test_an_edited_version_drops_what_it_lacks_and_gives_what_is_new_its_default():
    newer = edit("subscription", None, SUBSCRIPTION, "version", 3)
    assert newer == b"\0\3" + SUBSCRIPTION[2:] + bytes.fromhex("ffffffffffff")
    assert edit("subscription", None, newer, "version", "1") == SUBSCRIPTION
    assert edit("subscription", None, SUBSCRIPTION, "version", 0) == b"\0\0" + SUBSCRIPTION[2:15]


def test_what_a_newer_version_appended_is_kept():
    newer = b"\0\4" + SUBSCRIPTION[2:] + bytes.fromhex("00000007ffff") + b"later"
    assert edit("subscription", None, newer, "generationId", 8) == newer.replace(
        bytes.fromhex("00000007ffff"), bytes.fromhex("00000008ffff")
    )


def test_a_tagged_field_that_was_at_its_default_can_be_set_and_unset():
    data = bytes.fromhex("00000000000200")
    tagged = edit("consumer-group-metadata-value", None, data, "metadataHash", 5)
    assert tagged == bytes.fromhex("000000000002 01 00 08 0000000000000005".replace(" ", ""))
    assert edit("consumer-group-metadata-value", None, tagged, "metadataHash", 0) == data


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("members.0.rebalanceTimeout", "soon", "members.0.rebalanceTimeout: 'soon' is not an int32"),
        ("members.0.subscription.topics.0", None, "members.0.subscription.topics.0: None is not a string"),
        ("members.3.memberId", "x", "members.3: there is no such element; the list has 1"),
        ("members.².memberId", "x", "members.²: there is no such element; the list has 1"),
        (f"members.{'9' * 5000}", "x", f"members.{'9' * 5000}: there is no such element; the list has 1"),
        ("epoch", 3, "version 3 has no field 'epoch'"),
        ("generation.0", 3, "generation.0: there is no such field"),
        ("version", 9, "GroupMetadataValue has no version 9 here; known are 0 to 4"),
    ],
)
def test_what_cannot_be_encoded_is_one_line_with_the_path(path: str, value: object, line: str):
    data = group_metadata("consumer", "range", SUBSCRIPTION, ASSIGNMENT)
    with pytest.raises(RecordError) as caught:
        edit("group-metadata-value", None, data, path, value)
    assert str(caught.value) == line


@given(st.data())
@examples(60)
def test_setting_a_field_to_what_it_holds_changes_no_byte(data: st.DataObject):
    versioned = {name: kind.layout for name, kind in kinds().items() if isinstance(kind.layout, Versioned)}
    name = data.draw(st.sampled_from(sorted(versioned)))
    layout = versioned[name]
    version = data.draw(st.sampled_from(layout.versions))
    raw = layout.write({layout.leading_name: version, **data.draw(bodies(layout.message, version))}, None)
    paths = [(path, node) for path, node in each_node(inspect(name, raw).fields) if node.type != "count"]
    path, node = data.draw(st.sampled_from(paths))
    assert edit(name, None, raw, path, value_of(node)) == raw


def test_an_unknown_tag_can_be_edited_and_bytes_that_cannot_be_read_cannot():
    data = bytes.fromhex("000000000002 01 32 02 abcd".replace(" ", ""))
    value = base64.b64encode(b"\x01").decode()
    assert edit("consumer-group-metadata-value", None, data, "_tag50", value) == bytes.fromhex(
        "000000000002013201" + "01"
    )
    with pytest.raises(RecordError, match=r"bytes that cannot be read are not edited \(epoch, byte 2: .*\)"):
        edit("consumer-group-metadata-value", None, data[:4], "epoch", 1)


def test_differences_match_by_name_and_tell_what_a_version_lacks():
    newer = edit("subscription", None, edit("subscription", None, SUBSCRIPTION, "version", 3), "rackId", "a")
    older = edit("subscription", None, SUBSCRIPTION, "ownedPartitions.0.partitions", [1])
    rows = {
        row["path"]: row
        for row in differences(inspect("subscription", newer), inspect("subscription", older))
    }
    assert {path: row["same"] for path, row in rows.items()} == {
        "version": False,
        "topics.0": True,
        "userData": True,
        "ownedPartitions.0.topic": True,
        "ownedPartitions.0.partitions": False,
        "generationId": False,
        "rackId": False,
    }
    assert rows["rackId"] == {"path": "rackId", "a": "a", "same": False, "meaning": "not in version 1"}
    assert (rows["ownedPartitions.0.partitions"]["a"], rows["ownedPartitions.0.partitions"]["b"]) == (
        [0, 1],
        [1],
    )


def test_elements_of_a_list_are_matched_by_what_names_them():
    one = with_user_data(b"")
    two = edit("subscription", None, one, "topics", ["bar", "foo"])
    rows = differences(inspect("subscription", one), inspect("subscription", two))
    assert [row for row in rows if row["path"].startswith("topics")] == [
        {"path": "topics.0", "path_b": "topics.1", "a": "foo", "b": "foo", "same": True, "meaning": ""},
        {"path": "topics.0", "b": "bar", "same": False, "meaning": ""},
    ]
    assert find(inspect("subscription", two).fields, "topics.1") is not None
