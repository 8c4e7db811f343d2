"""``replace`` of frozen dataclasses, several times as quick as the library's, and drafts of them.

A fold makes a new state for every entry, and ``dataclasses.replace`` would be half of its cost: it goes through an ``__init__``
that sets each field of a frozen object by a call. Here the copy is of a class that can be written to, whose fields are set
plainly; those that change are set again, and then it is given the class that cannot be written to. What has no slots (states
and groups, of which there are few) is copied at once with its dictionary; members, of which there are many, keep slots.

A draft is such a copy that is not closed yet: ``replace`` sets its fields in place and gives the same object back. So functions
that take a state and return the next one, and do not look at the one that they were given again, cost one copy an entry
together. Who opens a draft closes it with ``sealed``, or drops it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, field, fields, make_dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar

T = TypeVar("T")

_Made = Any
"""A class that is made at run time, or an object of one. ``Any``, since no type checker knows its fields."""

if TYPE_CHECKING:
    # For type checkers it is the library's function, whose arguments they know how to check.
    from dataclasses import replace as replace
else:

    def replace(given: T, /, **changes: object) -> T:
        """A copy of ``given`` with some fields changed; ``AttributeError`` for a field that it does not have.

        ``__post_init__`` is not called. Fields that no caller may set are made again, as they would be.
        """
        kind = given.__class__
        if kind in _KINDS:
            _set(given, kind, changes)
            return given
        new = (_COPIERS.get(kind) or _made(kind))(given)
        _set(new, kind, changes)
        new.__class__ = kind
        return new


def draft(given: T, /, **changes: object) -> T:
    """A copy with some fields changed, whose fields ``replace`` goes on to set in place, until it is ``sealed``."""
    kind = given.__class__
    new: T = (_COPIERS.get(kind) or _made(kind))(given)
    _set(new, kind, changes)
    return new


def _set(given: _Made, kind: _Made, changes: dict[str, object]) -> None:
    if kind.__dictoffset__:
        held = given.__dict__
        count = len(held)
        held.update(changes)
        if len(held) != count:
            raise AttributeError(f"{kind.__name__} has no {', '.join(list(held)[count:])}")
        return
    for name, value in changes.items():
        setattr(given, name, value)


def sealed(given: T) -> T:
    """The draft itself, which nobody can change any more."""
    given.__class__ = _KINDS[given.__class__]
    return given


_COPIERS: Final[dict[type, Callable[[_Made], _Made]]] = {}

_KINDS: Final[dict[type, _Made]] = {}
"""The class of drafts → the class of what they become."""


def _made(kind: _Made) -> Callable[[_Made], _Made]:
    """A function that drafts objects of a class: with the ``__init__`` that the library makes where nothing is frozen.

    Of a class without slots all fields are copied at once, a quarter of the cost; that is for what there are few of.
    """
    if kind.__dictoffset__:
        return _made_without_slots(kind)
    known = [(each.name, object) for each in fields(kind) if each.init]
    made = [
        (each.name, object, field(init=False, default_factory=each.default_factory))
        for each in fields(kind)
        if not each.init and each.default_factory is not MISSING
    ]
    plain: _Made = make_dataclass(f"{kind.__name__}Fields", [*known, *made])
    body = {"__slots__": (), "__setattr__": object.__setattr__, "__init__": plain.__init__}
    drafts: _Made = type(f"{kind.__name__}Draft", (kind,), body)
    values = attrgetter(*(name for name, _ in known))

    def copier(given: _Made) -> _Made:
        return drafts(*values(given))

    _COPIERS[kind], _KINDS[drafts] = copier, kind
    return copier


def _made_without_slots(kind: _Made) -> Callable[[_Made], _Made]:
    body = {"__slots__": (), "__setattr__": object.__setattr__}
    drafts: _Made = type(f"{kind.__name__}Draft", (kind,), body)
    made: list[tuple[str, _Made]] = [
        (each.name, each.default_factory) for each in fields(kind) if not each.init
    ]
    new_of = object.__new__

    def copier(given: _Made) -> _Made:
        new = new_of(drafts)
        held = given.__dict__.copy()
        for name, make in made:
            held[name] = make()
        new.__dict__ = held
        return new

    _COPIERS[kind], _KINDS[drafts] = copier, kind
    return copier
