"""Values as plain JSON and back, by what their classes declare: a field that is added is carried, too.

A class has one declaration, its fields with their types, from which a writer and a reader are made once::

    @document
    @dataclass(slots=True)
    class Rhythm:
        paces: Annotated[dict[Place, Pace], As(list[Pace], _in_order, _by_place)] = field(default_factory=dict)
        stops: list[Stop] = field(default_factory=list)
        _held: dict[str, dict[Place, None]] = field(init=False, default_factory=dict)

What a class declares next to the types of its fields is in ``groups.history.state.declared``.

* A dataclass is an object of its fields. What is at its default is left out, but for a ``document``, which has all of them. A ``row``
  is the list of its fields, as a named tuple is.
* A field that no caller may set (``init=False``) is derived: it is not written, and ``__post_init__`` makes it again.
* A field has its own name, without an underscore in front, or the one that ``Named`` gives it. ``As`` writes it as another type.
* Mappings keep their order. One with whole numbers for keys is two lists, ``[keys, values]``, as JSON has no such keys; one without
  values is the list of its keys; one of ``ROWS`` is a list of keys and values side by side.
* A typed dict is as it is: part of a record's payload, or of a page's document. Bytes are JSON already: text.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from operator import attrgetter, itemgetter
from typing import (
    Annotated,
    Any,
    Final,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from groups.history.state.declared import DOCUMENTS, LISTED, As, Named, Rows

T = TypeVar("T")

Plain = Mapping[str, object]
"""What a class wrote of itself: nobody reads it but the same class."""

_Value = Any
"""A value of a declared type, or its plain form. ``Any``, since the type is known at run time alone."""


class PlainError(ValueError):
    """JSON that is not what a class writes: ``at`` which field, by its path, and what is wrong there."""

    def __init__(self, text: str, *at: str) -> None:
        super().__init__(f"{'.'.join(at)}: {text}" if at else text)
        self.text, self.at = text, at


def to_plain(value: object) -> _Value:
    """A dataclass instance as JSON values; ``TypeError`` for a declared type that this does not know."""
    of: object = type(value)
    return _codec(of).write(value)


def from_plain(of: type[T], data: object) -> T:
    """The inverse of ``to_plain`` for a dataclass ``of``; ``PlainError`` for JSON of another form."""
    declared: object = of
    try:
        made: T = _codec(declared).read(data)
    except PlainError as error:
        raise PlainError(error.text, of.__name__, *error.at) from error
    return made


class _Codec(NamedTuple):
    """How values of a declared type are written, and how they are read."""

    write: Callable[[_Value], _Value]
    read: Callable[[_Value], _Value]


def _same(value: T) -> T:
    return value


_AS_IT_IS: Final = _Codec(_same, _same)


@cache
def _codec(of: object) -> _Codec:
    if of in (str, int, bool, float, object) or is_typeddict(of):
        return _AS_IT_IS
    if of is bytes:
        return _Codec(bytes.decode, str.encode)
    if isinstance(of, type) and get_origin(of) is None:
        return _class(of)
    origin, inner = get_origin(of), get_args(of)
    if origin is Annotated:
        return _annotated(*inner)
    if origin in (Union, types.UnionType):
        return _optional([each for each in inner if each is not types.NoneType])
    if origin is list:
        return _list(inner[0])
    if origin is tuple and len(inner) == 2 and inner[1] is Ellipsis:
        write, read = _list(inner[0])
        return _Codec(write, lambda some: tuple(read(some)))
    if origin is tuple:
        return _sequence(tuple, inner)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(*inner)
    raise TypeError(f"{of} cannot be written as plain JSON")


def _class(of: type) -> _Codec:
    if issubclass(of, Enum):
        return _Codec(lambda one: one.value, of)
    if is_dataclass(of):
        return _list_of(of) if of in LISTED else _object_of(of)
    if issubclass(of, tuple) and hasattr(of, "_fields"):
        hints = get_type_hints(of, include_extras=True)
        return _sequence(lambda known: of(*known), [hints[name] for name in of._fields])
    raise TypeError(f"{of} cannot be written as plain JSON")


def _annotated(of: object, *declared: object) -> _Codec:
    for one in declared:
        if isinstance(one, As):
            return _as(one)
        if isinstance(one, Rows):
            return _rows(*get_args(of))
    return _codec(of)


def _as(other: As) -> _Codec:
    (write, read), make, back = _codec(other.kind), other.write, other.read
    return _Codec(
        make if write is _same else lambda value: write(make(value)),
        back if read is _same else lambda known: back(read(known)),
    )


def _optional(inner: list[object]) -> _Codec:
    if len(inner) != 1:
        raise TypeError(f"a union of {inner} cannot be written as plain JSON")
    write, read = each = _codec(inner[0])
    if each is _AS_IT_IS:
        return each
    return _Codec(
        lambda value: None if value is None else write(value),
        lambda value: None if value is None else read(value),
    )


def _list(of: object) -> _Codec:
    write, read = each = _codec(of)
    if each is _AS_IT_IS:
        return _Codec(list, list)
    return _Codec(lambda some: list(map(write, some)), lambda known: list(map(read, known)))


def _sequence(make: Callable[[Sequence[_Value]], _Value], inner: Sequence[object]) -> _Codec:
    """So many values, each of its own type, as a list."""
    codecs = [_codec(each) for each in inner]
    if all(each is _AS_IT_IS for each in codecs):
        # One call for all of them; of too few it raises.
        return _Codec(list, itemgetter(*range(len(inner))) if make is tuple and len(inner) > 1 else make)
    writers, readers = [_called(each.write) for each in codecs], [_called(each.read) for each in codecs]
    return _Codec(
        lambda some: [
            value if each is None else each(value) for each, value in zip(writers, some, strict=True)
        ],
        lambda known: make(
            [value if each is None else each(value) for each, value in zip(readers, known, strict=True)]
        ),
    )


def _called(codec: Callable[[_Value], _Value]) -> Callable[[_Value], _Value] | None:
    """Nothing, where a value stays as it is."""
    return None if codec is _same else codec


def _mapping(key: object, value: object) -> _Codec:
    if value is object:
        # JSON whose structure is not known here.
        return _AS_IT_IS
    if value in (None, types.NoneType):
        return _Codec(list, dict.fromkeys)
    write, read = each = _codec(value)
    if key is int:
        return _Codec(
            lambda some: [list(some), [write(one) for one in some.values()]],
            lambda some: dict(zip(some[0], map(read, some[1]), strict=True)),
        )
    if each is _AS_IT_IS:
        return _Codec(dict, dict)
    return _Codec(
        lambda some: {name: write(one) for name, one in some.items()},
        lambda some: {name: read(one) for name, one in some.items()},
    )


def _rows(key: object, value: object) -> _Codec:
    """A mapping whose keys are tuples, and its values tuples or rows: each is the list of both."""
    keys, values = _codec(key), _codec(value)
    count = len(get_args(key))
    return _Codec(
        lambda some: [[*one, *values.write(held)] for one, held in some.items()],
        lambda known: {keys.read(one): values.read(one[count:]) for one in known},
    )


# -- dataclasses


class _Part(NamedTuple):
    """What has a name in the plain form of a class: a field, or some that stand together in a list."""

    name: str
    of: tuple[str, ...]
    default: object
    """At which it is left out."""
    codec: _Codec


_NEVER: Final = object()
"""The default of what is never left out."""

_MISFITS: Final = (LookupError, TypeError, ValueError, AttributeError)
"""What reading JSON of another form raises."""


def _parts(of: type) -> list[_Part]:
    hints = get_type_hints(of, include_extras=True)
    named: dict[str, list[Field[_Value]]] = {}
    for each in fields(of):
        if each.init:
            named.setdefault(_name(each.name, hints[each.name]), []).append(each)
    whole, parts = of in DOCUMENTS, []
    for name, some in named.items():
        fields_of = tuple(each.name for each in some)
        codecs = [hints[each] for each in fields_of]
        codec = _codec(codecs[0]) if len(some) == 1 else _sequence(tuple, codecs)
        parts.append(_Part(name, fields_of, _NEVER if whole else _default(some[0]), codec))
    order = [name for part in parts for name in part.of]
    if order != [each.name for each in fields(of) if each.init]:
        raise TypeError(f"fields of {of.__name__} that share a name are no neighbours")
    if not whole and order != list(named):
        raise TypeError(f"only a document names its fields otherwise, and {of.__name__} is none")
    return parts


def _name(name: str, hint: object) -> str:
    known = [one.name for one in getattr(hint, "__metadata__", ()) if isinstance(one, Named)]
    return known[0] if known else name.lstrip("_")


def _default(field: Field[_Value]) -> object:
    """The default of a field: an empty container where it is made again each time."""
    if field.default_factory is not MISSING:
        return field.default_factory()
    return _NEVER if field.default is MISSING else field.default


def _list_of(of: type) -> _Codec:
    hints = get_type_hints(of, include_extras=True)
    codecs = {each.name: _codec(hints[each.name]) for each in fields(of)}
    codecs_by_name = [(attrgetter(name), _called(codec.write)) for name, codec in codecs.items()]
    readers = [_called(codec.read) for codec in codecs.values()]
    return _Codec(
        lambda one: [get(one) if each is None else each(get(one)) for get, each in codecs_by_name],
        lambda known: of(
            *[value if each is None else each(value) for each, value in zip(readers, known, strict=True)]
        ),
    )


def _object_of(of: type) -> _Codec:
    parts = _parts(of)
    if of in DOCUMENTS:
        return _Codec(_written_whole(parts), _read_whole(of, parts))
    return _Codec(_written(parts), _read(of, parts))


def _written(parts: Sequence[_Part]) -> Callable[[_Value], _Value]:
    # All fields at once, and no call for what is plain already: a checkpoint writes thousands of these.
    names = [name for part in parts for name in part.of]
    get = attrgetter(*names) if len(names) > 1 else lambda one: [getattr(one, name) for name in names]
    defaults, writers = [part.default for part in parts], [_called(part.codec.write) for part in parts]

    def write(one: object) -> _Value:
        known: dict[str, _Value] = {}
        for value, name, default, each in zip(get(one), names, defaults, writers, strict=True):
            if value is not default and (value != default or type(value) is not type(default)):
                known[name] = value if each is None else each(value)
        return known

    return write


def _written_whole(parts: Sequence[_Part]) -> Callable[[_Value], _Value]:
    codecs_by_name = [(name, attrgetter(*some), _called(codec.write)) for name, some, _, codec in parts]
    return lambda one: {
        name: get(one) if each is None else each(get(one)) for name, get, each in codecs_by_name
    }


def _read(of: type, parts: Sequence[_Part]) -> Callable[[_Value], _Value]:
    readers = {name: _called(codec.read) for name, _, _, codec in parts}

    def read(plain: _Value) -> object:
        try:
            given = {
                name: value if (each := readers[name]) is None else each(value)
                for name, value in plain.items()
            }
            return of(**given)
        except _MISFITS as error:
            raise _misfit(plain, parts) from error

    return read


def _read_whole(of: type, parts: Sequence[_Part]) -> Callable[[_Value], _Value]:
    codecs_by_name = [(name, _called(codec.read), len(some) > 1) for name, some, _, codec in parts]
    names = [name for part in parts for name in part.of]
    named, any_together = any(each.kw_only for each in fields(of)), len(names) > len(parts)

    def values(plain: _Value) -> list[_Value]:
        if not any_together:
            return [plain[name] if each is None else each(plain[name]) for name, each, _ in codecs_by_name]
        found: list[_Value] = []
        for name, each, together in codecs_by_name:
            value = plain[name] if each is None else each(plain[name])
            if together:
                found += value
            else:
                found.append(value)
        return found

    def read(plain: _Value) -> object:
        try:
            if len(plain) == len(codecs_by_name):
                return of(**dict(zip(names, values(plain), strict=True))) if named else of(*values(plain))
        except _MISFITS as error:
            raise _misfit(plain, parts) from error
        raise _misfit(plain, parts)

    return read


def _misfit(known: object, parts: Sequence[_Part]) -> PlainError:
    """Why an object was not read."""
    if not isinstance(known, dict):
        return PlainError(f"an object belongs here, not {known!r:.60}")
    names = [part.name for part in parts]
    for name in known:
        if name not in names:
            return PlainError(f"there is no {name!r:.60} here, only {', '.join(names)}")
    for part in parts:
        if part.name not in known:
            if part.default is _NEVER:
                return PlainError(f"{part.name!r} is missing")
            continue
        try:
            part.codec.read(known[part.name])
        except PlainError as error:
            return PlainError(error.text, part.name, *error.at)
        except _MISFITS:
            return PlainError(f"{known[part.name]!r:.60} does not fit", part.name)
    return PlainError("these do not fit together")
