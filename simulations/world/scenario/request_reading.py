"""Reads ``send``: a request with its version and its fields, by the schema of its API."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Collection, Mapping
from typing import Final

from groups.history.state.group import Semantics
from groups.wire.codecs.schema import Array, Field, FieldType, Primitive, Struct
from groups.wire.codecs.values import Fields, Value
from groups.wire.kip import KIP_APIS
from simulations.world.scenario.errors import ScenarioError, nearest
from simulations.world.scenario.nodes import Node
from simulations.world.scenario.raw_requests import FETCH, RawRequest, apis_of, oldest_of, schema_of
from simulations.world.scenario.topics import TOPIC_ID

_WHOLE: Final = {
    Primitive.INT8: 8,
    Primitive.INT16: 16,
    Primitive.INT32: 32,
    Primitive.INT64: 64,
    Primitive.UINT16: 16,
}
"""Bits of whole numbers."""


def read_request(
    found: Mapping[str, Node], semantics: Semantics, group: str, topics: Collection[str]
) -> RawRequest:
    """``request``, ``version`` and ``fields`` of a line; ``topics`` are all that there ever are."""
    named = found["request"]
    apis, others = apis_of(semantics), apis_of(_OTHER[semantics])
    name = named.text()
    if name not in apis:
        if name in others:
            raise named.wrong(f"no release has {name}; only semantics: kip has it")
        raise named.wrong(f"unknown API {name}; {nearest(name, apis)}")
    api = apis[name]
    oldest, newest = oldest_of(api), api.request.newest
    version = newest
    if "version" in found:
        whose = "the proposal has" if semantics is Semantics.KIP and name in _PROPOSED else f"{name} has"
        version = found["version"].integer(oldest, newest, f"the versions that {whose}")
    if "fields" not in found:
        return RawRequest(api=name, version=version, semantics=semantics)
    reader = _Reader(topics, _elsewhere(name, semantics, version), name)
    fields = reader.struct(found["fields"], schema_of(api, version))
    asked = [fields, *fields.get("groups", ())] if name == FETCH else [fields]
    for each in asked:
        if each.get("groupId", "").strip() and each["groupId"] != group:
            raise found["fields"].wrong(f"groupId is {group}, or blank: a scenario has this one group")
    if len(fields.get("groups", (None,))) != 1:
        raise found["fields"].wrong("groups has one group: a scenario has no more")
    return RawRequest(api=name, version=version, fields=fields, semantics=semantics)


_PROPOSED: Final = frozenset(api.name for api in KIP_APIS.values())
_OTHER: Final = {Semantics.KAFKA: Semantics.KIP, Semantics.KIP: Semantics.KAFKA}


def _elsewhere(name: str, semantics: Semantics, version: int) -> Mapping[str, str]:
    """Fields of the API that this version lacks, and what has them."""
    has: dict[str, str] = {}
    for other in (_OTHER[semantics], semantics):
        api = apis_of(other).get(name)
        if api is None:
            continue
        whose = "KIP-848" if other is Semantics.KIP and name in _PROPOSED else "a release"
        for number in api.request.versions:
            names = _names(schema_of(api, number))
            said = (
                f"version {number} has it" if other is semantics else f"{whose} has it, in version {number}"
            )
            has |= dict.fromkeys(names, said)
    lacking = has.keys() - _names(schema_of(apis_of(semantics)[name], version))
    return {each: has[each] for each in lacking}


def _names(type_: FieldType) -> set[str]:
    match type_:
        case Struct(fields=fields):
            return {each.name for each in fields} | set().union(*(_names(each.type) for each in fields))
        case Array(of=of):
            return _names(of)
        case _:
            return set()


class _Reader:
    def __init__(self, topics: Collection[str], elsewhere: Mapping[str, str], api: str) -> None:
        self._topics = topics
        self._elsewhere = elsewhere
        self._api = api

    def struct(self, node: Node, struct: Struct) -> Fields:
        known = {each.name: each for each in struct.fields}
        found = node.mapping()
        for name, value in found.items():
            if name not in known:
                hint = self._elsewhere.get(name) or nearest(name, known)
                raise ScenarioError(value.line, value.field, f"no field of {self._api}; {hint}")
        return {name: self._field(value, known[name]) for name, value in found.items()}

    def _field(self, node: Node, field: Field) -> Value:
        if node.kind == "nothing":
            if not field.is_nullable_in(0):
                raise node.wrong("must not be null")
            return None
        return self._value(node, field.type)

    def _value(self, node: Node, type_: FieldType) -> Value:
        match type_:
            case Struct():
                return self.struct(node, type_)
            case Array(of=of):
                return [self._value(item, of) for item in node.items()]
            case Primitive.BOOL:
                return node.yes()
            case Primitive.UUID:
                return self._topic(node)
            case Primitive.BYTES:
                return _bytes(node)
            case Primitive() if type_ in _WHOLE:
                bits = _WHOLE[type_]
                least, most = (
                    (0, 2**bits - 1)
                    if type_ is Primitive.UINT16
                    else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
                )
                return node.integer(least, most, f"an int{bits}")
            case _:
                return node.text(blank=True)

    def _topic(self, node: Node) -> str:
        named = node.text()
        if named not in self._topics and not TOPIC_ID.fullmatch(named):
            raise node.wrong(
                f"expected a topic, or an id as Kafka writes it (22 characters); {nearest(named, self._topics)}"
            )
        return named


def _bytes(node: Node) -> str:
    text = node.text(blank=True)
    try:
        b64decode(text, validate=True)
    except NotBase64:
        raise node.expected("bytes in base64") from None
    return text
