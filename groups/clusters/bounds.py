"""What an answer may hold: bytes by API, and elements by array. A broker that answers with more is not believed.

Lists of eleven-byte brokers become twenty-five times as many bytes of Python's, so a bound on bytes alone is none on memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from groups.clusters.allowed import ALLOWED, FETCH, METADATA
from groups.wire.codecs.schema import Array, FieldType, Message, Struct
from groups.wire.rpc.apis import Api

ANSWER_BYTES_MOST: Final = 32 * 1024**2
"""2,000 groups of 20 members are 5.2 MB."""

LONG_ANSWERS: Final[Mapping[int, int]] = {METADATA: 64 * 1024**2, FETCH: 64 * 1024**2}
"""By API key. A million partitions with three replicas are 43 MB; a fetched batch comes whole, however large it is."""

BROKERS_MOST: Final = 1_000
"""Brokers of one cluster, and replicas of one partition."""

ELEMENTS_MOST: Final = 100_000
"""Elements of an array that is not named below: groups of a broker, members of a group, partitions of a topic."""

BY_NAME: Final[Mapping[str, int]] = {
    "brokers": BROKERS_MOST,
    "nodeEndpoints": BROKERS_MOST,
    "replicaNodes": BROKERS_MOST,
    "isrNodes": BROKERS_MOST,
    "offlineReplicas": BROKERS_MOST,
    "topics": 500_000,
    "apiKeys": 1_000,
    "supportedFeatures": 1_000,
    "finalizedFeatures": 1_000,
    "mechanisms": 100,
    "clientTags": 1_000,
    "synonyms": 1_000,
}
"""Elements of an array, by its field's name: the same fact has the same name in every API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedApi:
    """An API whose responses are read within these bounds."""

    key: int
    name: str
    request: Message
    response: Message


@cache
def bounded(key: int) -> Api:
    """The API of the list of requests, with bounds on every array of its responses."""
    api = ALLOWED[key].api
    body = _struct(api.response.body)
    response = dataclasses.replace(api.response, body=body)
    return BoundedApi(key=api.key, name=api.name, request=api.request, response=response)


def answer_bytes_most(key: int) -> int:
    """Bytes that an answer of this API may have."""
    return LONG_ANSWERS.get(key, ANSWER_BYTES_MOST)


def _struct(struct: Struct) -> Struct:
    return Struct(
        tuple(dataclasses.replace(field, type=_type(field.type, field.name)) for field in struct.fields)
    )


def _type(declared: FieldType, name: str) -> FieldType:
    match declared:
        case Array():
            return Array(_type(declared.of, name), most=BY_NAME.get(name, ELEMENTS_MOST))
        case Struct():
            return _struct(declared)
    return declared
