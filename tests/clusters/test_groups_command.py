"""``manage.py groups`` says of living groups what Kafka's own tool says, and in plain words what it cannot tell."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation, ResourceType
from django.core.management import CommandError, call_command

from tests.broker.members import CLASSIC, CONSUMER, Member
from tests.clusters.secure import Secure

pytestmark = [pytest.mark.broker, pytest.mark.once]

TOOL = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"


@pytest.fixture(scope="module")
def living(secure: Secure) -> Iterator[Secure]:
    """A consumer group, a classic one, and a static member in a group whose topic a user may not see."""
    with contextlib.ExitStack() as leftovers, secure.node.connect() as connection:
        for topic, partitions in (("foo", 4), ("bar", 3), ("hidden", 2)):
            connection.create_topic(topic, partitions)
        static = {**CONSUMER, "group.instance.id": "seat"}
        members = [
            Member(secure.node, name, group, topic, settings, program="rdkafka").start()
            for name, group, topic, settings in (
                ("a", "orders", "foo", CONSUMER),
                ("b", "orders", "foo", CONSUMER),
                ("x", "old", "bar", CLASSIC),
                ("s", "secret", "hidden", static),
            )
        ]
        for member in members:
            leftovers.callback(member.kill)
            member.wait_for("ready")
            member.join()
        for member in members:
            member.wait_for("assigned")
        members[0].commit()
        members[0].wait_for("committed")
        yield secure


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    call_command("groups", *words)
    return capsys.readouterr().out


OF_OTHER_KINDS = ("share-topic", "streams-topic")
"""Groups that other tests leave on this broker; Kafka's tool for consumer groups lists none of their kinds."""


def rows(text: str) -> set[tuple[str, ...]]:
    """Each line's cells: the tool's order of members is that of a hash table, its widths are its own."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(OF_OTHER_KINDS)]
    return {tuple(line.split()) for line in lines}


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("list", "--state", "--type"),
        ("describe", "--group", "orders"),
        ("describe", "--group", "orders", "--verbose"),
        ("describe", "--group", "orders", "--members"),
        ("describe", "--group", "orders", "--members", "--verbose"),
        ("describe", "--group", "orders", "--state", "--verbose"),
        ("describe", "--group", "old"),
        ("describe", "--group", "old", "--members", "--verbose"),
        ("describe", "--group", "old", "--state"),
        ("describe", "--group", "secret", "--members", "--verbose"),
    ],
)
def test_the_tables_are_those_of_kafkas_own_tool(
    living: Secure, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--bootstrap-server", living.address("PLAINTEXT"))

    def settled() -> str:
        # Groups of other tests on this broker come and go.
        described = said(capsys, "describe", "--group", "orders", "--json", *where)
        return described + said(capsys, "list", "--state", "--type", *where)

    for _ in range(20):
        # Bracketed: what changed in between compares nothing.
        before = settled()
        ours = said(capsys, *words, *where)
        theirs = living.node.tool(TOOL, *(f"--{words[0]}", *words[1:]), *where)
        if settled() == before:
            assert rows(ours) == rows(theirs)
            return
    pytest.fail("the group did not come to rest")


def test_json_has_epochs_assignments_offsets_and_settings(
    living: Secure, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads(
        said(
            capsys,
            "describe",
            "--group",
            "orders",
            "--json",
            "--bootstrap-server",
            living.address("PLAINTEXT"),
        )
    )
    assert told["type"] == "consumer"
    assert told["group_epoch"] >= told["assignment_epoch"] >= 1
    assert sorted(number for member in told["members"] for number in member["assignment"]["foo"]) == [
        0,
        1,
        2,
        3,
    ]
    assert all(offset["lag"] is not None for offset in told["offsets"])
    assert told["configs"]["consumer.session.timeout.ms"] == "6000"


def file_of(secure: Secure, folder: Path, user: str) -> str:
    """A properties file as Kafka's own tools take it."""
    file = folder / f"{user}.properties"
    file.write_text(
        "".join(
            f"{name}={value.strip()}\n".replace("\n", "\\n", value.strip().count("\n"))
            for name, value in secure.properties("scram-512", user).items()
        )
    )
    return str(file)


def test_a_user_without_rights_sees_no_group_and_is_told_which_right_is_missing(
    living: Secure, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = ("--command-config", file_of(living, tmp_path, "nobody"))
    assert said(capsys, "list", *config) == ""
    with pytest.raises(CommandError) as refused:
        said(capsys, "describe", "--group", "orders", *config)
    assert "the right DESCRIBE on the group is missing" in str(refused.value)
    assert refused.value.returncode == 1


def test_a_group_with_one_topic_that_may_not_be_seen_is_unreadable_as_a_whole(
    living: Secure, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    living.grant(
        "nobody",
        [
            (ResourceType.GROUP, "secret", AclOperation.DESCRIBE),
            (ResourceType.GROUP, "orders", AclOperation.DESCRIBE),
            (ResourceType.TOPIC, "foo", AclOperation.DESCRIBE),
        ],
    )
    config = ("--command-config", file_of(living, tmp_path, "nobody"))
    assert said(capsys, "list", *config).split() == ["orders", "secret"]
    assert "orders" in said(capsys, "describe", "--group", "orders", "--members", *config)
    with pytest.raises(CommandError) as refused:
        said(capsys, "describe", "--group", "secret", *config)
    assert "Group secret is unreadable now" in str(refused.value)


def test_a_group_that_is_not_there_is_said_not_to_exist(
    living: Secure, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandError) as refused:
        said(capsys, "describe", "--group", "nothing", "--bootstrap-server", living.address("PLAINTEXT"))
    assert str(refused.value) == "Group nothing does not exist: its coordinator has no group of this name."


def test_a_cluster_may_be_named_by_the_environment(
    living: Secure, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REBALANCE_CLUSTER_TEST_ONE", file_of(living, tmp_path, "watcher"))
    assert "orders" in said(capsys, "list", "--cluster", "test-one")
    with pytest.raises(CommandError) as refused:
        said(capsys, "list", "--cluster", "test-two")
    assert str(refused.value).startswith("No cluster is named 'test-two'; known: test-one.")


@pytest.mark.parametrize(
    ("regex", "answer"),
    [("orders-.*", None), ("a[", "The regular expression `a[` is invalid: missing closing ].")],
)
def test_a_regular_expression_is_judged_as_the_broker_would(
    regex: str, answer: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    if answer is None:
        assert "is valid" in said(capsys, "validate-regex", regex)
        return
    with pytest.raises(CommandError) as refused:
        said(capsys, "validate-regex", regex)
    assert str(refused.value) == answer
