"""Keyed pseudonyms in the place of all that names somebody, consistent within one incident.

What is redacted are entries. Everything else that is shown of an incident (frames, changes, moments, findings, sentences, the verdict)
is made of redacted entries by the same fold as ever: so no place where a name could stand has to be found in them.

A name becomes its kind and a number (``topic-3``). Numbers are drawn by an HMAC of the name under the incident's key: they tell
neither the order of the alphabet nor that of appearance, and two incidents of one group have nothing in common. Times, offsets, epochs,
partition numbers and counts stay. Bytes are left out, but for subscriptions and assignments of the classic protocol, which the fold reads:
they are read, redacted and written anew, without their user data.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from groups.history.entries import EntryLine
from groups.history.evidence.display_names import REPLACEMENT_MARK
from groups.incidents import fields
from groups.wire.embedded.consumer_protocol import (
    TopicPartition,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from groups.wire.errors import WireError

KEY_BYTES: Final = 32
"""Of the key of one incident: whoever has it can confirm a guessed name, so it is kept nowhere longer than the incident."""

NO_UUID: Final = "AAAAAAAAAAAAAAAAAAAAAA"
"""The topic id of all zeros: no topic."""


class Pseudonym(NamedTuple):
    """``here`` is what the log says, ``there`` what is said instead."""

    kind: str
    here: str
    there: str


Replace = Callable[[str, str], str]


class Redactor:
    """Hides the names of one incident: ``meet`` every entry first, then ask for each one's ``redacted`` form."""

    def __init__(self, key: bytes) -> None:
        if len(key) < KEY_BYTES:
            raise ValueError(f"a key of {KEY_BYTES} bytes is needed, this one has {len(key)}")
        self._key = key
        self._names: dict[str, set[str]] = {}
        self._numbers: dict[str, dict[str, int]] = {}

    def meet(self, entry: EntryLine) -> None:
        """Note the names in an entry (its JSON form)."""
        self._numbers = {}
        _Walk(self._note, self._digest).entry(entry)

    def meet_name(self, kind: str, value: str) -> None:
        """Note a name that stands beside the entries."""
        self._numbers = {}
        self._note(kind, value)

    def redacted(self, entry: EntryLine) -> EntryLine:
        """The entry with pseudonyms; the same fields, and all numbers but hashes."""
        return _Walk(self.name, self._digest).entry(entry)

    def name(self, kind: str, value: str) -> str:
        """What a name is called; ``KeyError`` for one that was not met."""
        if not value or value in fields.KNOWN_WORDS.get(kind, ()):
            return value
        if kind == "topic id":
            return value if value == NO_UUID else self._uuid(value)
        base, mark, place = value.partition(REPLACEMENT_MARK)
        if kind == "member" and mark and place.isdigit():
            # A scenario's member after a restart stays in the lane of the one that it stands for.
            return f"{self.name(kind, base)}{mark}{place}"
        return f"{kind.replace(' ', '-')}-{self._number(kind, value)}"

    def pseudonyms(self) -> list[Pseudonym]:
        """Every name that was met and what it is called, kind by kind in the order of ``fields.KINDS``, each by its number."""
        told = [
            Pseudonym(kind, value, there)
            for kind, values in self._names.items()
            for value in values
            if (there := self.name(kind, value)) != value
        ]
        return sorted(told, key=lambda one: (fields.KINDS.index(one.kind), len(one.there), one.there))

    def _note(self, kind: str, value: str) -> str:
        if value and value not in fields.KNOWN_WORDS.get(kind, ()):
            held = self._names.setdefault(kind, set())
            base, mark, place = value.partition(REPLACEMENT_MARK)
            held.add(base if kind == "member" and mark and place.isdigit() else value)
        return value

    def _number(self, kind: str, value: str) -> int:
        numbers = self._numbers.get(kind)
        if numbers is None:
            drawn = sorted(self._names[kind], key=lambda name: self._digest(f"{kind}\0{name}"))
            numbers = self._numbers[kind] = {name: number for number, name in enumerate(drawn, 1)}
        return numbers[value]

    def _uuid(self, value: str) -> str:
        return base64.urlsafe_b64encode(self._digest(f"topic id\0{value}")[:16]).decode().rstrip("=")

    def _digest(self, text: str) -> bytes:
        # A name out of a log may hold half of a surrogate pair.
        return hmac.digest(self._key, text.encode("utf-8", "surrogatepass"), hashlib.sha256)


class _Walk:
    """Goes through an entry and replaces its texts by kind."""

    def __init__(self, replace: Replace, digest: Callable[[str], bytes]) -> None:
        self._replace = replace
        self._digest = digest

    def entry(self, entry: EntryLine) -> EntryLine:
        payload = {key: self._field(key, value, "") for key, value in entry["payload"].items()}
        return {**entry, "actor": self._replace("member", entry["actor"]), "payload": payload}

    def _field(self, key: str, value: object, within: str) -> object:
        """The value of a field ``key``, which stands in an object that is the value of ``within``."""
        if isinstance(value, str):
            return self._text(key, value, within)
        if isinstance(value, list):
            # Objects in a list have fields; only an object by itself may have names as its keys.
            return [
                self._fields(item, key) if isinstance(item, Mapping) else self._field(key, item, within)
                for item in value
            ]
        if isinstance(value, Mapping):
            if key in fields.MAPS:
                return self._map(key, value)
            if key in fields.SETTINGS:
                return {self._config(name): self._field("value", held, key) for name, held in value.items()}
            return self._fields(value, key)
        if key in fields.HASHES and isinstance(value, int) and value:
            return int.from_bytes(self._digest(f"hash\0{value}")[:8], signed=True)
        return value

    def _fields(self, value: Mapping[str, object], within: str) -> dict[str, object]:
        return {
            name if fields.FIELD_NAME.fullmatch(name) else self._replace(fields.TEXT, name): self._field(
                name, held, within
            )
            for name, held in value.items()
        }

    def _map(self, key: str, value: Mapping[str, object]) -> dict[str, object]:
        """An object whose keys are names. Where its values are objects, too, those have fields."""
        kind = fields.FIELDS[key]
        held_kind = "topics" if key == "regexes" else key
        return {
            self._replace(kind, name): self._fields(held, key)
            if isinstance(held, Mapping)
            else self._field(held_kind, held, key)
            for name, held in value.items()
        }

    def _config(self, name: str) -> str:
        return name if fields.CONFIG_NAME.fullmatch(name) else self._replace(fields.TEXT, name)

    def _text(self, key: str, value: str, within: str) -> str:
        if key in fields.SUBSCRIPTIONS or (key == "metadata" and within in fields.BLOBS_WITHIN):
            return self._subscription(value)
        if key in fields.ASSIGNMENTS:
            return self._assignment(value)
        if key in fields.BYTES:
            return ""
        if key in fields.OWN_WORDS and fields.OWN_WORD.fullmatch(value):
            return value
        if key == "name":
            return self._replace(fields.NAMES_WITHIN.get(within, fields.TEXT), value)
        return self._replace(fields.FIELDS.get(key, fields.TEXT), value)

    def _subscription(self, value: str) -> str:
        try:
            told = decode_subscription(base64.b64decode(value, validate=True))
            told["topics"] = [self._replace("topic", topic) for topic in told["topics"]]
            self._owned(told.get("ownedPartitions") or ())
            told["userData"] = None
            if rack := told.get("rackId"):
                told["rackId"] = self._replace("rack", rack)
            return base64.b64encode(encode_subscription(told)).decode()
        except (WireError, ValueError):
            return ""

    def _assignment(self, value: str) -> str:
        try:
            told = decode_assignment(base64.b64decode(value, validate=True))
            self._owned(told["assignedPartitions"])
            told["userData"] = None
            return base64.b64encode(encode_assignment(told)).decode()
        except (WireError, ValueError):
            return ""

    def _owned(self, partitions: Iterable[TopicPartition]) -> None:
        for owned in partitions:
            owned["topic"] = self._replace("topic", owned["topic"])
