"""State as plain JSON and back, by the types that its dataclasses declare: a field that is added is carried, too.

What is at its default is left out of a dataclass, and a named tuple is the list of its fields. Mappings keep their order. A mapping with whole numbers for keys becomes two lists,
``[keys, values]``, as JSON has no such keys; one without values becomes the list of its keys.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

T = TypeVar("T")

Plain = Mapping[str, Any]
"""What a class wrote of itself into a checkpoint: nobody reads it but the same class. ``Any``, as it was JSON meanwhile."""

_Value = Any
"""A value of a declared type, or its plain form. ``Any``, since the type is known at run time alone."""

_Type = Any
"""A type as a dataclass declares it. ``Any``, since classes, unions and generic aliases have no type in common."""

_As = Callable[[_Value], _Value]

_PLAIN: Final[tuple[_Type, ...]] = (str, int, bool, float, object)


def to_plain(value: object) -> _Value:
    """A dataclass instance as JSON values; ``TypeError`` for a declared type that this does not know."""
    of: _Type = type(value)
    return _codec(of)[0](value)


def from_plain(of: type[T], data: object) -> T:
    """The inverse of ``to_plain`` for a dataclass ``of``; ``TypeError`` or ``LookupError`` on another shape."""
    declared: _Type = of
    made: T = _codec(declared)[1](data)
    return made


def _same(value: T) -> T:
    return value


@cache
def _codec(of: _Type) -> tuple[_As, _As]:
    """How values of a declared type are written, and how they are read."""
    if of in _PLAIN or is_typeddict(of):
        # A typed dict is part of a record's payload: it is as the record holds it.
        return _same, _same
    origin: _Type = get_origin(of)
    inner = get_args(of)
    if origin in (Union, types.UnionType):
        return _optional([each for each in inner if each is not types.NoneType])
    if origin is tuple and len(inner) == 2 and inner[1] is Ellipsis:
        write, read = _codec(inner[0])
        return (lambda some: [write(each) for each in some]), (lambda some: tuple(map(read, some)))
    if origin is tuple:
        codecs = [_codec(each) for each in inner]
        return (
            lambda one: [write(value) for (write, _), value in zip(codecs, one, strict=True)],
            lambda told: tuple(read(value) for (_, read), value in zip(codecs, told, strict=True)),
        )
    if origin is list:
        write, read = _codec(inner[0])
        return (lambda some: [write(each) for each in some]), (lambda some: [read(each) for each in some])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(*inner)
    if isinstance(of, type) and issubclass(of, Enum):
        return (lambda one: one.value), of
    if isinstance(of, type) and issubclass(of, tuple) and hasattr(of, "_fields"):
        return _named_tuple(of)
    if isinstance(of, type) and is_dataclass(of):
        return _dataclass(of)
    raise TypeError(f"{of} cannot be written as plain JSON")


def _optional(inner: list[_Type]) -> tuple[_As, _As]:
    if len(inner) != 1:
        raise TypeError(f"a union of {inner} cannot be written as plain JSON")
    write, read = _codec(inner[0])
    if write is _same:
        return _same, _same
    return (
        lambda value: None if value is None else write(value),
        lambda value: None if value is None else read(value),
    )


def _mapping(key: _Type, value: _Type) -> tuple[_As, _As]:
    if value is object:
        # JSON of which nobody here says more.
        return _same, _same
    if value in (None, types.NoneType):
        return list, dict.fromkeys
    write, read = _codec(value)
    if key is int:
        return (
            lambda some: [list(some), [write(each) for each in some.values()]],
            lambda some: dict(zip(some[0], map(read, some[1]), strict=True)),
        )
    return (
        lambda some: {name: write(each) for name, each in some.items()},
        lambda some: {name: read(each) for name, each in some.items()},
    )


def _named_tuple(of: _Type) -> tuple[_As, _As]:
    """The list of its fields."""
    hints = get_type_hints(of)
    codecs = [_codec(hints[name]) for name in of._fields]
    return (
        lambda one: [write(value) for (write, _), value in zip(codecs, one, strict=True)],
        lambda told: of(*[read(value) for (_, read), value in zip(codecs, told, strict=True)]),
    )


def _dataclass(of: _Type) -> tuple[_As, _As]:
    hints = get_type_hints(of)
    rows = [(each.name, _default(each), *_codec(hints[each.name])) for each in fields(of) if each.init]
    readers = {name: read for name, _, _, read in rows}
    # All fields at once, and no call for what is plain already: a checkpoint writes thousands of these.
    values = _all_of([name for name, _, _, _ in rows])
    told_as = [(name, default, None if write is _same else write) for name, default, write, _ in rows]

    def write(one: object) -> dict[str, _Value]:
        told: dict[str, _Value] = {}
        for value, (name, default, each) in zip(values(one), told_as, strict=True):
            if value is not default and (value != default or type(value) is not type(default)):
                told[name] = value if each is None else each(value)
        return told

    def read(told: Mapping[str, _Value]) -> object:
        return of(**{name: readers[name](value) for name, value in told.items()})

    return write, read


def _all_of(names: list[str]) -> Callable[[object], tuple[_Value, ...]]:
    """A function that gives the values of these fields."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _default(field: Field[_Value]) -> object:
    """The default of a field: an empty container where it is made anew each time."""
    return field.default_factory() if field.default_factory is not MISSING else field.default
