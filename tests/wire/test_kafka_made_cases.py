"""How much of each format Kafka's values reach: every field of every version in each of its forms."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from groups.wire.codecs.schema import Array, Message, Struct
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.generated.requests import LATER
from groups.wire.rpc import APIS, REQUEST_HEADER, RESPONSE_HEADER
from tests.wire.kafka_made import lines

Path = tuple[str | int, ...]


def forms_to_reach(body: Struct, version: int, path: Path) -> Iterator[tuple[Path, set[str]]]:
    """For each field: that it is given, null where it may be, and absent where it is tagged."""
    for field in body.fields:
        if field.is_in(version):
            here = (*path, field.name)
            null = {"null"} if field.is_nullable_in(version) else set()
            yield here, {"given"} | null | ({"absent"} if field.tag is not None else set())
            element = field.type.of if isinstance(field.type, Array) else field.type
            if isinstance(element, Struct):
                yield from forms_to_reach(element, version, here)


def reach(
    reached: dict[Path, set[str]], body: Struct, version: int, value: dict[str, Any], path: Path
) -> None:
    for field in body.fields:
        if field.is_in(version):
            here = (*path, field.name)
            given = value.get(field.name)
            reached[here].add("absent" if field.name not in value else "null" if given is None else "given")
            element = field.type.of if isinstance(field.type, Array) else field.type
            if given and isinstance(element, Struct):
                for each in given if isinstance(given, list) else [given]:
                    reach(reached, element, version, each, here)


def made() -> Iterator[tuple[Message, int, dict[str, Any]]]:
    sides = [message for api in APIS.values() for message in (api.request, api.response)]
    values = [type_.value for type_ in RECORD_TYPES.values()]
    messages = {message.name: message for message in [REQUEST_HEADER, RESPONSE_HEADER, *sides, *values]}
    for name in ("rpcs", "rpcs-oldest", "rpcs-later", "records-later"):
        for line in lines(name):
            # Fields of older versions have the later release's names.
            if name != "rpcs" or line["message"] not in LATER:
                yield messages[line["message"]], line["version"], line["value"]
    for line in lines("records"):
        if line["value"] is not None:
            yield RECORD_TYPES[line["type"]].value, line["version"], line["value"]


def test_every_field_of_every_version_was_made_in_each_of_its_forms():
    reached: defaultdict[Path, set[str]] = defaultdict(set)
    wanted: dict[Path, set[str]] = {}
    for message, version, value in made():
        path = (message.name, version)
        if path not in reached:
            reached[path].add("made")
            wanted |= dict(forms_to_reach(message.body, version, path))
        reach(reached, message.body, version, value, path)

    assert {path: forms - reached[path] for path, forms in wanted.items() if forms - reached[path]} == {}
    assert len(wanted) > 1000
