"""A request that the script writes itself, field by field, whatever a client would have sent.

Fields are those of the API's schema in one version: a release's, or KIP-848's in ``kip``. A field that the script leaves out is
the sender's own if the field is about the sender, and else the schema's default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from groups.history.state.group import Semantics
from groups.wire.codecs.schema import Array, Field, FieldType, Primitive, Required, Struct
from groups.wire.codecs.values import Fields, Value
from groups.wire.kip import INSTALL_ASSIGNMENT, KIP_APIS, PREPARE_ASSIGNMENT
from groups.wire.rpc.apis import APIS, Api
from groups.wire.rpc.merging import in_one_version

FETCH: Final = "OffsetFetch"

SENT: Final = frozenset(
    {
        "ConsumerGroupHeartbeat",
        "OffsetCommit",
        FETCH,
        "TxnOffsetCommit",
        "JoinGroup",
        "SyncGroup",
        "Heartbeat",
        "LeaveGroup",
        *(KIP_APIS[key].name for key in (PREPARE_ASSIGNMENT, INSTALL_ASSIGNMENT)),
    }
)
"""What members ask of their group's coordinator."""

ASKS_FOR: Final = {FETCH: "groups", "LeaveGroup": "members"}
"""By API the list that has an element for whom it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRequest:
    """``fields`` are those that the script gives, in Kafka's JSON form; a topic's id may be given as its name."""

    api: str
    version: int
    fields: Mapping[str, Value] = field(default_factory=dict)
    semantics: Semantics = Semantics.KAFKA
    """Whose schema it is."""

    @property
    def schema(self) -> Struct:
        return schema_of(apis_of(self.semantics)[self.api], self.version)


_RELEASED: Final[Mapping[str, Api]] = {api.name: api for api in APIS.values() if api.name in SENT}
_PROPOSED: Final[Mapping[str, Api]] = {api.name: api for api in KIP_APIS.values() if api.name in SENT}


def apis_of(semantics: Semantics) -> Mapping[str, Api]:
    """By name; the proposal has the released ones that it does not change."""
    return {**_RELEASED, **_PROPOSED} if semantics is Semantics.KIP else _RELEASED


def schema_of(api: Api, version: int) -> Struct:
    """Of one version; those below the proposal's one version of an API are the released ones."""
    known = api if version >= api.request.oldest else _RELEASED[api.name]
    return in_one_version(known.request.body, version)


def oldest_of(api: Api) -> int:
    return min(api.request.oldest, _RELEASED.get(api.name, api).request.oldest)


def completed(request: RawRequest, own: Mapping[str, Value], ids: Mapping[str, str]) -> Fields:
    """All fields of the request: those that it lacks as in ``own`` or at their default; topics by ``ids`` (name → id)."""
    given = dict(request.fields)
    if request.api in ASKS_FOR:
        # A request that names no group or member asks for its own.
        given.setdefault(ASKS_FOR[request.api], [{}])
    return _completed(request.schema, given, own, ids)


def _completed(
    struct: Struct, given: Mapping[str, Value], own: Mapping[str, Value], ids: Mapping[str, str]
) -> Fields:
    return {
        each.name: _with_defaults(each.type, given[each.name], own, ids)
        if each.name in given
        else own.get(each.name, _default(each))
        for each in struct.fields
    }


def _with_defaults(type_: FieldType, value: Value, own: Mapping[str, Value], ids: Mapping[str, str]) -> Value:
    match type_:
        case Struct() if value is not None:
            return _completed(type_, value, own, ids)
        case Array(of=of) if value is not None:
            return [_with_defaults(of, each, own, ids) for each in value]
        case Primitive.UUID:
            return ids.get(value, value)
        case _:
            return value


def _default(field: Field) -> Value:
    if field.default is not Required.REQUIRED:
        return list(field.default) if isinstance(field.default, tuple) else field.default
    if field.is_nullable_in(0):
        return None
    return field.type.zero if isinstance(field.type, Primitive) else []
