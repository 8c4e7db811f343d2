"""One declaration for all versions out of one for each version, and the way back.

kio declares every version of a message on its own. Put side by side they say since when a field exists, until when,
and since when it may be null: what a ``Message`` states in one place, and what a reader of bytes wants to be reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from groups.wire.codecs.schema import NEVER, Array, Field, FieldType, Required, Struct


def in_one_version(body: Struct, version: int) -> Struct:
    """The fields that ``body`` has in ``version``; a field that may be null then may be null in all versions."""
    return Struct(
        tuple(
            replace(
                field,
                type=_type_in(field.type, version),
                since=0,
                until=NEVER,
                nullable_since=0 if field.is_nullable_in(version) else NEVER,
            )
            for field in body.fields
            if field.is_in(version)
        )
    )


def _type_in(type_: FieldType, version: int) -> FieldType:
    match type_:
        case Struct():
            return in_one_version(type_, version)
        case Array():
            return Array(_type_in(type_.of, version))
        case _:
            return type_


def merged(name: str, bodies: Mapping[int, Struct]) -> Struct:
    """The one struct that has in each version the fields of that version's body.

    ``bodies`` has every version from the first to the last. ``ValueError`` states which field of ``name`` cannot be
    reported so: it was away for a while, changed its type, its tag or its place, or ceased to be nullable.
    """
    versions = range(min(bodies), max(bodies) + 1)
    return Struct(
        tuple(
            _merged_field(
                f"{name}.{field_name}",
                versions,
                {
                    version: field
                    for version in versions
                    for field in bodies[version].fields
                    if field.name == field_name
                },
            )
            for field_name in _order(name, bodies)
        )
    )


def _order(name: str, bodies: Mapping[int, Struct]) -> list[str]:
    """The names of all versions, in an order that is that of each version too."""
    order: list[str] = []
    for version in sorted(bodies):
        at = 0
        for field in bodies[version].fields:
            if field.name not in order:
                order.insert(at, field.name)
            elif order.index(field.name) < at:
                raise ValueError(f"{name}.{field.name} stands elsewhere in version {version} than before")
            at = order.index(field.name) + 1
    return order


def _merged_field(name: str, versions: range, by_version: Mapping[int, Field]) -> Field:
    first, last = min(by_version), max(by_version)
    newest = by_version[last]
    nullable = [version for version, field in by_version.items() if field.is_nullable_in(version)]
    if len(by_version) != last - first + 1:
        raise ValueError(f"{name} is away for a while between versions {first} and {last}")
    if nullable and len(nullable) != last - min(nullable) + 1:
        raise ValueError(f"{name} ceases to be nullable")
    if len({field.tag for field in by_version.values()}) != 1:
        raise ValueError(f"{name} changes its tag")
    defaults = [field.default for field in by_version.values() if field.default is not Required.REQUIRED]
    return Field(
        newest.name,
        _merged_type(name, {version: field.type for version, field in by_version.items()}),
        # What was there from the start needs no word, whatever number the start has.
        since=0 if first == versions.start else first,
        until=NEVER if last == versions.stop - 1 else last,
        nullable_since=_since(nullable, versions),
        tag=newest.tag,
        default=defaults[-1] if defaults else Required.REQUIRED,
    )


def _since(present: list[int], versions: range) -> int:
    if not present:
        return NEVER
    return 0 if min(present) == versions.start else min(present)


def _merged_type(name: str, types: Mapping[int, FieldType]) -> FieldType:
    newest = types[max(types)]
    if len({type(type_) for type_ in types.values()}) == 1:
        if isinstance(newest, Struct):
            return merged(
                name, {number: type_ for number, type_ in types.items() if isinstance(type_, Struct)}
            )
        if isinstance(newest, Array):
            inner = {number: type_.of for number, type_ in types.items() if isinstance(type_, Array)}
            return Array(_merged_type(name, inner))
        if all(type_ is newest for type_ in types.values()):
            return newest
    raise ValueError(f"{name} changes its type")
