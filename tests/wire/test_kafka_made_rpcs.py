"""Requests and responses made by Kafka's own classes: read as Kafka prints them, written in Kafka's bytes."""

from collections import Counter

import pytest

from groups.wire.codecs.codec import codec
from groups.wire.codecs.schema import Message
from groups.wire.generated.requests import LATER
from groups.wire.rpc import APIS, REQUEST_HEADER, RESPONSE_HEADER
from tests.wire.kafka_made import as_kafka_prints, as_text, lines

MESSAGES = [
    REQUEST_HEADER,
    RESPONSE_HEADER,
    *(message for api in APIS.values() for message in (api.request, api.response)),
]


def made(message: Message) -> list[dict]:
    files = ("rpcs-later",) if message.name in LATER else ("rpcs-oldest", "rpcs")
    return [line for name in files for line in lines(name) if line["message"] == message.name]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.name)
def test_a_message_reads_as_kafka_prints_it_and_is_written_in_kafkas_bytes(message: Message):
    for line in made(message):
        data, form = bytes.fromhex(line["hex"]), codec(message, line["version"])
        value, end = form.read(data, 0)
        out = bytearray()
        form.write(out, value)

        assert as_text(as_kafka_prints(value)) == as_text(line["value"]), line["version"]
        assert end == len(data), line["version"]
        assert out == data, line["version"]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.name)
def test_a_message_is_written_from_what_kafka_prints_alone(message: Message):
    for line in made(message):
        form = codec(message, line["version"])
        out = bytearray()
        form.write(out, line["value"])
        value, end = form.read(bytes(out), 0)

        assert as_text(value) == as_text(line["value"]), line["version"]
        assert end == len(out), line["version"]


def test_every_version_of_every_message_was_made_by_kafka():
    count = Counter((line["message"], line["version"]) for message in MESSAGES for line in made(message))
    wanted = {(message.name, version) for message in MESSAGES for version in message.versions}
    assert count == dict.fromkeys(wanted, 40)


def test_nothing_that_kafka_made_is_left_unread():
    assert {line["message"] for name in ("rpcs-oldest", "rpcs", "rpcs-later") for line in lines(name)} == {
        message.name for message in MESSAGES
    }
